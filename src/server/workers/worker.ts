// One of the processes of WORKERS. It is an instance like any other, but the primary process has the ports, starts it and stops it.
import cluster from 'node:cluster';
import { once } from 'node:events';
import type { Config } from '../../base/config.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/platform/logger.ts';
import { adminBox, announce, reportStartError } from '../announce.ts';
import { type RunningServer, startServer, type WorkerOptions } from '../start.ts';
import { stopServer } from '../stop.ts';
import type { ToPrimary, ToWorker } from './messages.ts';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Runs until the primary process says stop or retire; the process then ends by itself. */
export async function runWorker(config: Config, primaryLogger: Logger): Promise<never> {
  // These signals also reach the primary process, which decides.
  for (const signal of STOP_SIGNALS) process.on(signal, () => {});
  send({ type: 'online' });
  const [start] = (await once(process, 'message')) as [ToWorker];
  // The server was stopped while this process started.
  if (start.type !== 'start') return process.exit(0);
  const { number, isFirst } = start;
  const logger = primaryLogger.child({ worker: number });
  // Before the start, because the message to stop may arrive during it.
  const end = nextEnd();
  const server = await startServer({ config, logger, worker: createWorkerOptions(number, isFirst) }).catch(
    (error: unknown) => {
      reportStartError(config, logger, error);
      return process.exit(1);
    },
  );
  // Before all else: when this process is killed, the primary process has the password.
  const box = adminBox(server);
  if (box) send({ type: 'first-admin', box });
  if (isFirst) announce(server, logger);
  send({ type: 'ready' });
  void server.firstJobs.then(() => send({ type: 'first-jobs' }));
  process.exit((await ended(server, { end: await end, config, logger })) === 'stopped' ? 0 : 1);
}

/** Ends the server, after its open connections if another worker has replaced it. */
async function ended(
  server: RunningServer,
  { end, config, logger }: { end: End; config: Config; logger: Logger },
): Promise<'stopped' | 'cut off'> {
  // The whole server may stop while this worker retires.
  const last = end === 'retire' ? await Promise.race([server.retire().then(() => end), nextEnd()]) : end;
  return stopServer(server, { announceSeconds: last === 'stop' ? config.drainSeconds : 0, logger });
}

type End = 'stop' | 'retire';

function nextEnd(): Promise<End> {
  return new Promise((resolve) => {
    process.on('message', ({ type }: ToWorker) => {
      if (type === 'stop' || type === 'retire') resolve(type);
    });
  });
}

function send(message: ToPrimary): void {
  cluster.worker?.send(message);
}

/** Answers the primary process with the metrics of this worker, and requests those of all workers from it. */
function createWorkerOptions(number: number, isFirst: boolean): WorkerOptions {
  const waiting = new Map<number, (text: string) => void>();
  let last = 0;
  let readOwnMetrics = async () => '';
  process.on('message', (message: ToWorker) => {
    if (message.type === 'all-metrics') waiting.get(message.id)?.(message.text);
    if (message.type === 'metrics-request')
      void readOwnMetrics().then((text) => send({ type: 'metrics', id: message.id, text }));
  });
  return {
    number,
    isFirst,
    shareMetrics(render) {
      readOwnMetrics = render;
    },
    async allMetrics() {
      last += 1;
      const id = last;
      const all = new Promise<string>((resolve) => waiting.set(id, resolve));
      send({ type: 'all-metrics-request', id });
      const tooLate = new Promise<string>((resolve) => setTimeout(resolve, 2 * limits.workers.metricsMs, '').unref());
      const text = await Promise.race([all, tooLate]);
      waiting.delete(id);
      return text || readOwnMetrics();
    },
  };
}
