// Builds single logout across both protocols: the pages of a logout run, /saml/slo, and the jobs of the deliveries.

import type { ApplicationServices } from '../../applications/application-services.ts';
import type { Http } from '../../base/http/http.ts';
import { limits } from '../../base/limits.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import type { People } from '../../people/people.ts';
import type { SendLogoutToken } from '../oidc/patches/provider/logout-token-queue.ts';
import type { SamlServices } from '../saml/sso/saml-services.ts';
import { createLogoutDeliveries } from './deliveries.ts';
import { isSettled, needsBrowser } from './front-channel/next-step.ts';
import { logoutRoutes } from './front-channel/routes.ts';
import type { Participant } from './logout-run.ts';
import type { LogoutRunStore } from './logout-run-store.ts';
import { createOutgoingSamlMessages } from './saml/outgoing-messages.ts';
import { samlLogoutRoutes } from './saml/routes.ts';
import type { SessionServices } from './session-services.ts';
import type { UpstreamParticipants } from './upstream.ts';

export function createLogout(
  given: Core &
    Http &
    People &
    ApplicationServices &
    SessionServices &
    SamlServices & { sendLogoutToken: SendLogoutToken; upstreams: UpstreamParticipants },
) {
  const services = { ...given, outgoingMessages: createOutgoingSamlMessages(given) };
  const { runs, metrics, sendLogoutToken, outgoingMessages } = services;
  const deliveries = createLogoutDeliveries({
    ...services,
    send: sendLogoutToken,
    async sendSoap(participantId) {
      const participant = await runs.participant(participantId);
      return participant ? outgoingMessages.sendBySoap(participant) : 'switched_off';
    },
    countDelivery: (outcome) => metrics.logoutDeliveries.inc({ outcome }),
  });
  return {
    routers: [samlLogoutRoutes(services), logoutRoutes(services)],
    jobs: [
      { name: 'logout-deliveries', everySeconds: limits.delivery.pollSeconds, ...deliveries },
      { name: 'abandoned-sign-outs', everySeconds: 30, run: createAbandonedLogouts({ runs }) },
    ] satisfies ScheduledJob[],
  };
}

// Logout runs that their browser left: the remaining applications are notified by SOAP where they have an endpoint, else
// recorded as not notified. Run as a job, by one instance at a time.

/** Completes abandoned runs. Returns how many. */
export function createAbandonedLogouts({ runs }: { runs: LogoutRunStore }) {
  async function settle(participant: Participant): Promise<void> {
    const { channel, state, probeResult } = participant;
    const wasSent = state === 'sent';
    // Its frame was open when the browser left.
    if (channel === 'front' && wasSent && probeResult !== 'unreachable')
      await runs.settle(participant, { state: 'notified' });
    else await runs.browserFailed(participant, wasSent ? 'no_answer' : 'browser_left');
  }

  return async function finishAbandoned(signal?: AbortSignal): Promise<number> {
    let count = 0;
    for (const run of await runs.abandoned()) {
      if (signal?.aborted) break;
      for (const participant of run.participants)
        if (!isSettled(participant) && needsBrowser(participant)) await settle(participant);
      await runs.finish(run.id);
      count += 1;
    }
    return count;
  };
}
