// The processes of the workers, as the primary process starts and stops them.
import cluster, { type Worker } from 'node:cluster';
import type { Logger } from '../../base/platform/logger.ts';
import { type ToPrimary, tell } from './messages.ts';
import { createMetricsExchange } from './metrics-exchange.ts';

export type WorkerProcesses = ReturnType<typeof createWorkerProcesses>;

export interface WorkerProcessesDependencies {
  logger: Logger;
  /** The workers that serve, one for each number. */
  current(): Worker[];
  /** Prints the box with the first administrator; `firstJobs` resolves when the jobs of its worker have logged, or it has ended. */
  printFirstAdmin(box: string, firstJobs: Promise<unknown>): void;
}

export function createWorkerProcesses({ logger, current, printFirstAdmin }: WorkerProcessesDependencies) {
  const metrics = createMetricsExchange(current);
  const running = new Set<Worker>();
  let isStopping = false;

  return {
    isStopping: (): boolean => isStopping,

    /** Starts a worker with this number; undefined when it ended before it was ready. */
    start(number: number, { isFirst = false }: { isFirst?: boolean } = {}): Promise<Worker | undefined> {
      const worker = cluster.fork();
      running.add(worker);
      const firstJobs = new Promise<void>((resolve) => {
        worker.once('exit', resolve);
        worker.on('message', ({ type }: ToPrimary) => type === 'first-jobs' && resolve());
      });
      let isReady = false;
      return new Promise((resolve) => {
        worker.on('message', (message: ToPrimary) => {
          // A process that is not online yet does not receive the order to stop.
          if (message.type === 'online') {
            tell(worker, isStopping ? { type: 'stop' } : { type: 'start', number, isFirst });
          } else if (message.type === 'ready') {
            isReady = true;
            resolve(worker);
          } else if (message.type === 'first-admin') printFirstAdmin(message.box, firstJobs);
          else if (message.type !== 'first-jobs') metrics.receive(worker, message);
        });
        worker.once('exit', (_code, signal) => {
          running.delete(worker);
          // A worker that ends by itself has logged why.
          if (!isReady && signal && !isStopping)
            logger.error({ worker: number, signal }, 'a worker was ended by a signal during its start');
          resolve(undefined);
        });
      });
    },

    /** Stops all; resolves with whether they ended in order within so many seconds. */
    async stopAll(seconds: number): Promise<boolean> {
      isStopping = true;
      const ends = [...running].map((worker) => {
        const end = new Promise<number | null>((resolve) => worker.once('exit', resolve));
        tell(worker, { type: 'stop' });
        return end;
      });
      const timer = setTimeout(() => {
        logger.error('ending workers that did not stop in time');
        for (const worker of running) worker.process.kill('SIGKILL');
      }, seconds * 1000);
      const codes = await Promise.all(ends);
      clearTimeout(timer);
      return codes.every((code) => code === 0);
    },
  };
}
