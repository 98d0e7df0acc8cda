// Builds single logout across both protocols: the pages of a logout run, /saml/slo, and the jobs of the deliveries.

import type { ApplicationServices } from '../../applications/application-services.ts';
import type { Context } from '../../base/http/context.ts';
import type { Http } from '../../base/http/http.ts';
import { limits } from '../../base/limits.ts';
import type { Core } from '../../core/core.ts';
import type { JobQueue } from '../../core/jobs/queue.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import type { People } from '../../people/people.ts';
import type { SendLogoutToken } from '../oidc/patches/provider/logout-token-queue.ts';
import type { Sessions } from '../oidc/store/sessions/sessions.ts';
import type { Saml } from '../saml/create-saml.ts';
import { createLogoutDeliveries } from './deliveries.ts';
import type { EndSession } from './end-session.ts';
import { isSettled, needsBrowser } from './front-channel/next-step.ts';
import { logoutRoutes } from './front-channel/routes.ts';
import { createFrontChannelUrl, createLogoutSteps } from './front-channel/steps.ts';
import { createLogoutBrowserOf } from './logout-run.ts';
import type { LogoutRunStore } from './logout-run-store.ts';
import { createOutgoingSamlMessages, type OutgoingSamlMessages } from './saml/outgoing-messages.ts';
import { createFrameProbe, createSamlProbe } from './saml/probe.ts';
import { createLogoutRequests, createLogoutResponses } from './saml/received-messages.ts';
import { samlLogoutRoutes } from './saml/routes.ts';
import type { UpstreamParticipants } from './upstream.ts';

export interface LogoutDependencies {
  endSession: EndSession;
  runs: LogoutRunStore;
  sessions: Sessions;
  sendLogoutToken: SendLogoutToken;
  upstreams: UpstreamParticipants;
  /** The functions of the SAML identity provider for single logout. */
  saml: Saml['slo'];
}

export function createLogout(dependencies: Core & Http & People & ApplicationServices & LogoutDependencies) {
  const {
    now,
    cookies,
    applications,
    endSession,
    runs,
    sessions,
    outgoing,
    saml,
    config: { issuer: base },
  } = dependencies;
  const { accounts, upstreams } = dependencies;
  const accountIdOf = async (ctx: Context) => (await sessions.ofCookie(cookies.get(ctx, 'session')))?.accountId;
  const { entityId: issuer, validateXml, skewSeconds, signer, rateLimit } = saml;
  const { nameIds, serviceProviders, seenMessages, sessionParticipants } = saml;
  const logoutBrowserOf = createLogoutBrowserOf({ cookies });
  const frontChannelUrl = createFrontChannelUrl({ issuer: base, applications });
  const soap = { now, skewSeconds, validateXml, fetch: outgoing };
  const outgoingMessages = createOutgoingSamlMessages({ ...dependencies, ...soap, issuer, signer, serviceProviders });
  const steps = createLogoutSteps({
    ...dependencies,
    runs,
    frontChannelUrl,
    upstreams,
    outgoingMessages,
    serviceProviders,
    frameProbe: createFrameProbe({ fetch: outgoing }),
    samlProbe: createSamlProbe({ ...dependencies, ...soap, outgoingMessages }),
  });
  return {
    routers: [
      samlLogoutRoutes({
        ...dependencies,
        validateXml,
        serviceProviders,
        outgoingMessages,
        rateLimit,
        async accountOf(ctx) {
          const id = await accountIdOf(ctx);
          return id === undefined ? undefined : accounts.find(id);
        },
        logoutRequests: createLogoutRequests({
          ...dependencies,
          issuer,
          skewSeconds,
          seenMessages,
          sessionParticipants,
          nameIds,
          endSession,
          logoutBrowserOf,
        }),
        logoutResponses: createLogoutResponses({ ...dependencies, skewSeconds, serviceProviders, seenMessages, runs }),
      }),
      logoutRoutes({ ...dependencies, runs, steps, upstreams, outgoingMessages, accountOf: accountIdOf }),
    ],
    jobs: deliveryJobs(dependencies, outgoingMessages),
  };
}

/** Notify applications by server calls, and complete the logout runs that were abandoned in the browser. */
function deliveryJobs(
  services: Core & Http & { runs: LogoutRunStore; sendLogoutToken: SendLogoutToken },
  outgoingMessages: OutgoingSamlMessages,
) {
  const { runs, metrics, sendLogoutToken } = services;

  return logoutJobs({
    deliveries: createLogoutDeliveries({
      ...services,
      runs,
      send: sendLogoutToken,
      async sendSoap(participantId) {
        const participant = await runs.participant(participantId);
        return participant ? outgoingMessages.sendBySoap(participant) : 'switched_off';
      },
      countDelivery: (outcome) => metrics.logoutDeliveries.inc({ outcome }),
    }),
    finishAbandoned: createAbandonedLogouts({ runs }),
  });
}

// Logout runs that their browser left: the remaining applications are notified by SOAP where they have an endpoint, else
// recorded as not notified. Run as a job, by one instance at a time.

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

// The periodic jobs of the logout.

export const LOGOUT_JOB = 'logout-deliveries';

function logoutJobs({
  deliveries,
  finishAbandoned,
}: {
  deliveries: JobQueue;
  finishAbandoned: ScheduledJob['run'];
}): ScheduledJob[] {
  return [
    { name: LOGOUT_JOB, everySeconds: limits.delivery.pollSeconds, ...deliveries },
    { name: 'abandoned-sign-outs', everySeconds: 30, run: finishAbandoned },
  ];
}
