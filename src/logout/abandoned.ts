// Sign-outs whose browser went away in the middle: what it would have visited is called where that is possible, and
// noted as not told where not. Run as a job, by one instance at a time.
import { isSettled, needsBrowser } from './next-hop.ts';
import type { Runs } from './runs.ts';

/** Finishes them. Returns how many. */
export function createAbandonedRuns({ runs }: { runs: Pick<Runs, 'abandoned' | 'fail' | 'settle' | 'finish'> }) {
  return async function finishAbandoned(signal?: AbortSignal): Promise<number> {
    let count = 0;
    for (const run of await runs.abandoned()) {
      if (signal?.aborted) break;
      for (const participant of run.participants) {
        if (isSettled(participant) || !needsBrowser(participant)) continue;
        // It was in its frame when the browser left.
        const wasShown =
          participant.channel === 'front' && participant.state === 'asked' && participant.reach !== 'dead';
        if (wasShown) await runs.settle(participant, { state: 'told' });
        else await runs.fail(participant, participant.state === 'asked' ? 'no_answer' : 'browser_left');
      }
      await runs.finish(run.id);
      count += 1;
    }
    return count;
  };
}
