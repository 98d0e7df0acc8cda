// The primary process of WORKERS: it opens the ports, starts workers, replaces those that end, and passes on the signals. It opens no
// database and serves no request.
import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../base/config.ts';
import { tryPorts } from '../../base/http/server.ts';
import { limits } from '../../base/limits.ts';
import type { Logger } from '../../base/platform/logger.ts';
import { atMost, BOX_SECONDS, reportStartError, terminalOf } from '../announce.ts';
import { stopSignal } from '../stop.ts';
import { type ToPrimary, tell } from './messages.ts';

/** One of the places of WORKERS; its number is in the log and in the metrics. */
interface Slot {
  number: number;
  /** The worker that serves; absent while none does. */
  current?: Worker | undefined;
  /** Ends in a row soon after a start. */
  failures: number;
}

/** Resolves with the exit code, when all workers have ended after SIGTERM or SIGINT; 1 when the first one cannot start. */
export async function runPrimary(config: Config, logger: Logger): Promise<number> {
  // The workers accept connections themselves. Handed over by the primary process, a connection would hang forever when its worker is
  // killed before it answers; so the next worker accepts it.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const signal = stopSignal();
  const isFree = await tryPorts(config).then(
    () => true,
    (error: unknown) => reportStartError(config, logger, error),
  );
  if (!isFree) return 1;
  const workers = createWorkers(config.workers, logger, (box, firstJobs) => {
    // Below the line that all workers are ready, and those of the jobs.
    const isComplete = Promise.all([ready, atMost(BOX_SECONDS.jobs, firstJobs)]);
    void atMost(BOX_SECONDS.workers, isComplete, signal).then(() => terminalOf(config).write(box));
  });
  // At a terminal, SIGHUP says that it was closed, and ends the server.
  if (!process.stdin.isTTY) process.on('SIGHUP', () => workers.restartAll());
  // The first one alone: it migrates, applies the configuration file and creates the first administrator.
  const first = workers.startFirst();
  const ready = first.then((outcome) => (outcome === 'started' ? workers.startOthers() : undefined));
  if ((await Promise.race([first, signal])) === 'failed') return 1;
  logger.info({ signal: await signal }, 'signal received');
  const { drainSeconds, closeSeconds } = limits.http;
  const isClean = await workers.stopAll(config.drainSeconds + drainSeconds + 2 * closeSeconds);
  return isClean ? 0 : 1;
}

function createWorkers(
  count: number,
  logger: Logger,
  printFirstAdmin: (box: string, firstJobs: Promise<unknown>) => void,
) {
  const slots = Array.from({ length: count }, (_, index): Slot => ({ number: index + 1, failures: 0 }));
  const current = () => slots.flatMap((slot) => slot.current ?? []);
  const processes = createWorkerProcesses(logger, current, printFirstAdmin);
  const { isStopping } = processes;
  let restarting = Promise.resolve();

  /** Starts a worker in the slot, again and again until one is ready, and another one whenever it ends. */
  async function fill(slot: Slot): Promise<void> {
    while (!isStopping()) {
      const worker = await processes.start(slot.number);
      if (worker) return serve(slot, worker);
      slot.failures += 1;
      await pauseAfter(slot);
    }
  }

  function serve(slot: Slot, worker: Worker): void {
    const since = performance.now();
    slot.current = worker;
    worker.once('exit', (code, signal) => {
      if (isStopping() || slot.current !== worker) return;
      slot.current = undefined;
      slot.failures = isStable(since) ? 0 : slot.failures + 1;
      logger.error({ worker: slot.number, code, signal }, 'a worker ended, and another one is started');
      void pauseAfter(slot).then(() => fill(slot));
    });
  }

  /** Replaces one worker after the other, each when the new one serves. */
  async function replaceAll(): Promise<void> {
    logger.info('SIGHUP: replacing the workers one after the other');
    for (const slot of slots) {
      const old = slot.current;
      if (!old || isStopping()) continue; // a new one is on its way already
      const worker = await processes.start(slot.number);
      if (!worker)
        return logger.error({ worker: slot.number }, 'the new worker did not start: the others are not replaced');
      serve(slot, worker);
      tell(old, { type: 'retire' });
    }
    logger.info('the workers were replaced');
  }

  return {
    stopAll: processes.stopAll,
    async startFirst(): Promise<'started' | 'failed'> {
      const [slot] = slots;
      const worker = slot && (await processes.start(slot.number, { isFirst: true }));
      if (!worker) return 'failed';
      serve(slot, worker);
      return 'started';
    },
    async startOthers(): Promise<void> {
      await Promise.all(slots.slice(1).map(fill));
      if (!isStopping()) logger.info(`${count} workers are ready`);
    },
    /** Once more when called meanwhile. */
    restartAll(): void {
      restarting = restarting.then(replaceAll);
    },
  };
}

const isStable = (since: number) => performance.now() - since >= limits.workers.stableSeconds * 1000;

async function pauseAfter({ failures }: Slot): Promise<void> {
  const { firstPauseSeconds, maxPauseSeconds } = limits.workers;
  // The first one is replaced at once.
  if (failures > 1) await sleep(Math.min(firstPauseSeconds * 2 ** (failures - 2), maxPauseSeconds) * 1000);
}

// The processes of the workers, as the primary process starts and stops them.

/**
 * @param current the workers that serve, one for each number
 * @param printFirstAdmin prints the box with the first administrator; `firstJobs` resolves when the jobs of its worker have logged, or it
 *   has ended
 */
function createWorkerProcesses(
  logger: Logger,
  current: () => Worker[],
  printFirstAdmin: (box: string, firstJobs: Promise<unknown>) => void,
) {
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
          switch (message.type) {
            case 'online':
              // A process that is not online yet does not receive the order to stop.
              return tell(worker, isStopping ? { type: 'stop' } : { type: 'start', number, isFirst });
            case 'ready':
              isReady = true;
              return resolve(worker);
            case 'first-admin':
              return printFirstAdmin(message.box, firstJobs);
            case 'first-jobs':
              return;
            default:
              return metrics.receive(worker, message);
          }
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

// A scrape reaches one worker, which gets the metrics of all workers from the primary process.

/** `workers` are the workers whose metrics are combined: one for each number. */
function createMetricsExchange(workers: () => Worker[]) {
  const waiting = new Map<number, (text: string) => void>();
  let last = 0;

  function metricsOf(worker: Worker): Promise<string> {
    last += 1;
    const id = last;
    return new Promise((resolve) => {
      const done = (text: string) => {
        clearTimeout(tooLate);
        waiting.delete(id);
        resolve(text);
      };
      const tooLate = setTimeout(done, limits.workers.metricsMs, '');
      waiting.set(id, done);
      tell(worker, { type: 'metrics-request', id });
    });
  }

  return {
    receive(from: Worker, message: Extract<ToPrimary, { id: number }>): void {
      if (message.type === 'metrics') waiting.get(message.id)?.(message.text);
      else
        void Promise.all(workers().map(metricsOf)).then((texts) =>
          tell(from, { type: 'all-metrics', id: message.id, text: mergeMetrics(texts) }),
        );
    },
  };
}

// Puts the texts of /metrics (Prometheus text format) of several processes together. Their series differ by the label `worker`.

/** Each metric once, with its HELP and TYPE lines and the series of all texts, which Prometheus requires to follow each other. */
function mergeMetrics(texts: readonly string[]): string {
  const metrics = new Map<string, { head: Set<string>; series: string[] }>();
  for (const part of texts.flatMap((text) => text.split(/^(?=# HELP )/m))) {
    const [, name] = /^# HELP (\S+)/.exec(part) ?? [];
    if (name === undefined) continue;
    const { head, series } = metrics.get(name) ?? { head: new Set(), series: [] };
    metrics.set(name, { head, series });
    for (const line of part.split('\n')) {
      if (/^# (HELP|TYPE) /.test(line)) head.add(line);
      else if (line !== '') series.push(line);
    }
  }
  const lines = [...metrics.values()].flatMap(({ head, series }) => [...head, ...series, '']);
  return `${lines.join('\n')}\n`;
}
