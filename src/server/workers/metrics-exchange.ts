// A scrape reaches one worker, which gets the metrics of all workers from the primary process.
import type { Worker } from 'node:cluster';
import { limits } from '../../base/limits.ts';
import { type ToPrimary, tell } from './messages.ts';

export type MetricsExchange = ReturnType<typeof createMetricsExchange>;

/** `workers` are the workers whose metrics are combined: one for each number. */
export function createMetricsExchange(workers: () => Worker[]) {
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
  const families = new Map<string, { head: string[]; series: string[] }>();
  for (const text of texts) {
    let family: { head: string[]; series: string[] } | undefined;
    for (const line of text.split('\n')) {
      const [, kind, name = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (kind === 'HELP') {
        family = families.get(name) ?? { head: [], series: [] };
        families.set(name, family);
      }
      if (kind) {
        if (family && !family.head.includes(line)) family.head.push(line);
      } else if (line !== '') family?.series.push(line);
    }
  }
  const lines = [...families.values()].flatMap(({ head, series }) => [...head, ...series, '']);
  return `${lines.join('\n')}\n`;
}
