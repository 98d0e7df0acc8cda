// One worker thread for work that would hold up every other request: bcrypt in JavaScript (300 ms at cost 12) and the
// strength estimate (up to 270 ms). Started when first needed, stopped when idle, never keeping the process alive.
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { unavailable } from '../http/errors.ts';

export interface WorkerOptions {
  /** Body of `(modules, task) => result`, plain JavaScript: it runs as text, so that it needs no file after the build. */
  task: string;
  /** Packages handed to it, by name. */
  modules: string[];
  /** More waiting tasks than this are refused with 503. */
  maxWaiting?: number;
  idleSeconds?: number;
}

export interface TaskWorker<Task, Result> {
  run(task: Task): Promise<Result>;
  close(): Promise<void>;
}

interface Waiting<Result> {
  resolve(result: Result): void;
  reject(error: Error): void;
}

interface Running<Result> {
  thread: Worker;
  waiting: Map<number, Waiting<Result>>;
}

const FRAME = `
const { parentPort, workerData } = require('node:worker_threads');
const modules = workerData.paths.map((path) => require(path));
const work = new Function('modules', 'task', workerData.task);
const state = {};
parentPort.on('message', ({ id, task }) => {
  try { parentPort.postMessage({ id, result: work.call(state, modules, task) }); }
  catch (error) { parentPort.postMessage({ id, error: String(error && error.message) }); }
});`;

const { resolve: resolvePackage } = createRequire(import.meta.url);

export function createWorker<Task, Result>(options: WorkerOptions): TaskWorker<Task, Result> {
  const { task, modules, maxWaiting = 100, idleSeconds = 60 } = options;
  let running: Running<Result> | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;

  function start(): Running<Result> {
    const paths = modules.map((name) => resolvePackage(name));
    const thread = new Worker(FRAME, { eval: true, workerData: { paths, task }, execArgv: [] });
    const waiting = new Map<number, Waiting<Result>>();
    thread.on('message', ({ id, result, error }: { id: number; result: Result; error?: string }) => {
      if (error === undefined) waiting.get(id)?.resolve(result);
      else waiting.get(id)?.reject(new Error(`worker task failed: ${error}`));
    });
    const started = { thread, waiting };
    const ended = (cause: unknown) => {
      if (running === started) running = undefined; // the next task starts another one
      for (const { reject } of waiting.values()) reject(new Error('the worker thread ended', { cause }));
    };
    thread.on('error', ended);
    thread.on('exit', ended);
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
    async run(input) {
      running ??= start();
      const { thread, waiting } = running;
      if (waiting.size >= maxWaiting) throw unavailable('unavailable', { headers: { 'Retry-After': '5' } });
      lastId += 1;
      const id = lastId;
      thread.ref(); // while somebody waits for an answer, the process must not end for want of other work
      try {
        return await new Promise<Result>((resolve, reject) => {
          waiting.set(id, { resolve, reject });
          thread.postMessage({ id, task: input });
        });
      } finally {
        waiting.delete(id);
        if (waiting.size === 0) thread.unref();
        stopWhenIdle();
      }
    },
    close,
  };
}
