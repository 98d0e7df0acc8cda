// One row of the table: a scenario at one server beside the same or another scenario at a second one, in paired bursts.
import { measure, medianOf, type Scenario } from './measure.ts';
import type { Row } from './report.ts';
import type { Target } from './target.ts';

export type Contestant = Scenario & { target: Target };

/** Measures both in paired bursts; the row is about `own`, with the median of the ratios. `target` is the highest ratio that is met. */
export async function pairRow(
  own: Contestant,
  limit: Contestant,
  { limitName, target, bursts }: { limitName: string; target?: number | undefined; bursts: number },
): Promise<Row> {
  const contenders = [own, limit].map((one) => ({ target: one.target, worker: () => one.worker(one.target) }));
  const measured = await measure(contenders, { operations: own.operations, workers: own.workers, bursts });
  return {
    name: own.name,
    unit: 'ms CPU',
    gatehouse: medianOf(measured, ([ms = Number.NaN]) => ms),
    limit: medianOf(measured, ([, ms = Number.NaN]) => ms),
    ratio: medianOf(measured, ([one = Number.NaN, other = Number.NaN]) => one / other),
    limitName,
    ...(target === undefined ? {} : { target }),
  };
}
