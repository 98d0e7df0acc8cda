// The log on standard output. Lines are written in blocks, after 100 ms or at exit: one system call for each line costs more than
// many requests. Output that cannot be written, because its disk is full, doesn't stop the process.
import { write, writeSync } from 'node:fs';

const DELAY_MILLISECONDS = 100;
/** Characters that wait for output that cannot be written; further lines are lost. */
const MAX_WAITING = 1024 * 1024;
const MAX_EXIT_DELAY_MILLISECONDS = 1000;
const RETRY_MILLISECONDS = 10;

/** `maxBlock`: characters of a block, which ends with a line. */
export function logOutput(maxBlock: number, fd = 1) {
  const blocks: string[] = [];
  let waiting = 0;
  /** The rest of a block of which only a part was written. */
  let rest: Buffer | undefined;
  let isWriting = false;
  let timer: NodeJS.Timeout | undefined;
  let flushesAtExit = false;

  function next(): Buffer | undefined {
    if (rest) return rest;
    const block = blocks.shift();
    if (block === undefined) return undefined;
    waiting -= block.length;
    return Buffer.from(block);
  }

  function flush(): void {
    const block = isWriting ? undefined : next();
    if (!block) return;
    rest = undefined;
    isWriting = true;
    write(fd, block, (error, written) => {
      isWriting = false;
      rest = restOf(block, error ? 0 : written);
      if (error) flushLater();
      else flush();
    });
  }

  function flushLater(): void {
    if (timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      flush();
    }, DELAY_MILLISECONDS).unref();
  }

  /** At exit, there is no time for a callback. A pipe that is full for a moment (EAGAIN) gets a second; a full disk doesn't. */
  function flushSync(): void {
    const until = performance.now() + MAX_EXIT_DELAY_MILLISECONDS;
    for (let block = next(); block; block = next()) {
      try {
        rest = restOf(block, writeSync(fd, block));
      } catch (error) {
        rest = block;
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > until) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MILLISECONDS);
      }
    }
  }

  return {
    write(line: string): void {
      if (waiting + line.length > MAX_WAITING) return;
      if (!flushesAtExit) process.on('exit', flushSync);
      flushesAtExit = true;
      const last = blocks.at(-1);
      if (last === undefined || last.length + line.length > maxBlock) blocks.push(line);
      else blocks[blocks.length - 1] = last + line;
      waiting += line.length;
      if (blocks.length > 1) flush();
      else flushLater();
    },
    flushSync,
  };
}

function restOf(block: Buffer, written: number): Buffer | undefined {
  return written < block.length ? block.subarray(written) : undefined;
}
