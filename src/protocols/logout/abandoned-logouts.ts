// Logout runs that their browser left: the remaining applications are notified by SOAP where they have an endpoint, else
// recorded as not notified. Run as a job, by one instance at a time.

import { isSettled, needsBrowser } from './front-channel/next-step.ts';
import type { LogoutRunStore } from './logout-run-store.ts';

/** Completes abandoned runs. Returns how many. */
export function createAbandonedLogouts({ runs }: { runs: LogoutRunStore }) {
  return async function finishAbandoned(signal?: AbortSignal): Promise<number> {
    let count = 0;
    for (const run of await runs.abandoned()) {
      if (signal?.aborted) break;
      for (const participant of run.participants) {
        if (isSettled(participant) || !needsBrowser(participant)) continue;
        // Its frame was open when the browser left.
        const hadFrame =
          participant.channel === 'front' && participant.state === 'sent' && participant.probeResult !== 'unreachable';
        if (hadFrame) await runs.settle(participant, { state: 'notified' });
        else await runs.browserFailed(participant, participant.state === 'sent' ? 'no_answer' : 'browser_left');
      }
      await runs.finish(run.id);
      count += 1;
    }
    return count;
  };
}
