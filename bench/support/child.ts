// A server under load as a separate process, so that its CPU time can be measured.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMeter, mainThreadMs, memoryMb, processTree } from './process-tree.ts';

export interface Child {
  pid: number;
  /** CPU time of all its threads and child processes since it started, in milliseconds. */
  cpuMs(): number;
  /** CPU time of its main thread, on which no password is hashed. */
  mainThreadMs(): number;
  /** Resident memory of the same, in MB. */
  memoryMb(): number;
  /** How long the event loop was blocked; needs event-loop.mjs in the child. */
  watchEventLoop(work: () => Promise<void>): Promise<HeldUp>;
  stop(): Promise<void>;
}

export interface ChildOptions {
  /** Another program than Node. */
  program?: string;
  arguments: string[];
  cwd: string;
  env: Record<string, string>;
  /** Returns 200 when the server is ready. */
  readyUrl: string;
  /** How long it may take to get ready (60). */
  readySeconds?: number;
}

export interface StartedChild extends Child {
  /** From starting the process to its first response. */
  startMs: number;
  /** CPU time until then. */
  startCpuMs: number;
}

/** Milliseconds of CPU in a busy turn of the event loop, and the result of monitorEventLoopDelay. */
export interface HeldUp {
  p50: number;
  p99: number;
  max: number;
  /** The longest turn without garbage collection. */
  own: number;
  /** The longest collection, by the clock. */
  gc: number;
  clockP99: number;
  clockMax: number;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) killTree(child);
});

const LOG_CHARACTERS = 5000;

/** Starts `node <arguments>`, or another program, and waits until it responds; throws with its last output otherwise. */
export async function startChild(options: ChildOptions): Promise<StartedChild> {
  const { program = process.execPath, arguments: args, cwd, env, readyUrl, readySeconds = 60 } = options;
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  const system = { PATH, HOME, ...(TMPDIR ? { TMPDIR } : {}), NODE_ENV: 'production' };
  const started = performance.now();
  const child = spawn(program, args, {
    cwd,
    env: { ...system, ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(program === process.execPath ? ['ipc' as const] : [])],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-LOG_CHARACTERS);
    });
  while (!(await answers(readyUrl))) {
    if (child.exitCode !== null) throw new Error(`${program} ${args.join(' ')} ended with ${child.exitCode}:\n${log}`);
    if (performance.now() - started > readySeconds * 1000)
      throw new Error(`${program} ${args.join(' ')} did not get ready:\n${log}`);
    await sleep(5);
  }
  const { pid = 0 } = child;
  const startMs = performance.now() - started;
  const readCpuMs = cpuMeter(pid);
  return {
    pid,
    startMs,
    startCpuMs: readCpuMs(),
    cpuMs: readCpuMs,
    mainThreadMs: () => mainThreadMs(pid),
    memoryMb: () => memoryMb(pid),
    async watchEventLoop(work) {
      child.send('begin');
      await work();
      const report = once(child, 'message');
      child.send('end');
      return (await report)[0];
    },
    stop: () => stop(child),
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const hurry = setTimeout(() => killTree(child), 20_000);
  await ended;
  clearTimeout(hurry);
}

/** Also what a start script runs: that would live on without it. */
function killTree({ pid }: ChildProcess): void {
  for (const one of pid === undefined ? [] : processTree(pid)) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}
