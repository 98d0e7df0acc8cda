// One worker thread for work that would block every other request, such as bcrypt in JavaScript. Started with the first
// task, stopped when idle; it never keeps the process alive. Why not piscina:
// docs/decisions/0024-own-code-instead-of-a-library.md.
import { Worker } from 'node:worker_threads';
import { unavailable } from '../../base/http/errors.ts';
import { workerModule } from '../../base/platform/package.ts';

export interface WorkerOptions {
  /** A module that exports `perform(task)`, which returns the result or a promise. A TypeScript file is loaded with tsx, for tests and development. */
  file: URL;
  /** Tasks at the same time, waiting ones included; more are rejected with 503. */
  maxWaiting?: number;
  idleSeconds?: number;
  /** How long a task may take, those before it included; then the thread is ended and TaskTimeout thrown. Absent: no limit. */
  timeLimitMs?: number;
  /** The thread ends when its heap needs more. */
  maxHeapMb?: number;
}

/** A task took longer than `timeLimitMs`. */
export class TaskTimeout extends Error {
  override name = 'TaskTimeout';
}

export interface TaskWorker<Task, Result> {
  /** Rejects when the task throws, or the thread ends before it is done. The next task starts another thread. */
  run(task: Task): Promise<Result>;
  /** Ends the thread; tasks that are not done are rejected. */
  close(): Promise<void>;
}

interface Waiting<Result> {
  resolve(result: Result): void;
  reject(error: Error): void;
}

interface RunningThread<Result> {
  thread: Worker;
  waiting: Map<number, Waiting<Result>>;
}

export function createWorker<Task, Result>(options: WorkerOptions): TaskWorker<Task, Result> {
  const { maxWaiting = 100, idleSeconds = 60, timeLimitMs } = options;
  let running: RunningThread<Result> | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;

  function start(): RunningThread<Result> {
    const started = startThread<Result>(options, () => {
      if (running === started) running = undefined;
    });
    return started;
  }

  // The timer keeps nothing alive, and neither does the thread: an exiting process does not wait for them.
  function stopWhenIdle(): void {
    clearTimeout(idle);
    idle = setTimeout(() => running?.waiting.size === 0 && void close(), idleSeconds * 1000).unref();
  }

  async function close(): Promise<void> {
    clearTimeout(idle);
    const ending = running;
    running = undefined;
    await ending?.thread.terminate();
  }

  return {
    async run(task) {
      running ??= start();
      const { thread, waiting } = running;
      if (waiting.size >= maxWaiting) {
        throw unavailable('unavailable', { detail: 'too many tasks are waiting', headers: { 'Retry-After': '5' } });
      }
      lastId += 1;
      const id = lastId;
      thread.ref(); // the process must not exit while a result is awaited
      let timer: NodeJS.Timeout | undefined;
      try {
        return await new Promise<Result>((resolve, reject) => {
          waiting.set(id, { resolve, reject });
          thread.postMessage({ id, task });
          if (timeLimitMs === undefined) return;
          timer = setTimeout(() => {
            reject(new TaskTimeout(`a worker task took longer than ${timeLimitMs} ms`));
            void close();
          }, timeLimitMs);
        });
      } finally {
        clearTimeout(timer);
        waiting.delete(id);
        if (waiting.size === 0) thread.unref();
        stopWhenIdle();
      }
    },
    close,
  };
}

/** Starts the thread; when it ends, `onEnd` is called and every waiting task is rejected. */
function startThread<Result>({ file, maxHeapMb }: WorkerOptions, onEnd: () => void): RunningThread<Result> {
  const thread = new Worker(workerModule('people/credentials/workers/thread.mjs'), {
    workerData: file.href,
    execArgv: [],
    ...(maxHeapMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } }),
  });
  const waiting = new Map<number, Waiting<Result>>();
  thread.on('message', ({ id, result, error }: { id: number; result: Result; error?: string }) => {
    if (error === undefined) waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(`worker task failed: ${error}`));
  });
  const ended = (cause: unknown) => {
    onEnd();
    for (const { reject } of waiting.values()) reject(new Error('the worker thread ended', { cause }));
  };
  thread.on('error', ended);
  thread.on('exit', ended);
  return { thread, waiting };
}
