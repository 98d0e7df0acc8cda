// Puts the sign-out together from the services: the walk through the applications, the calls to them, and what is to be
// done when time ends a session or a browser walks away.
import type { Context } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { createAbandonedRuns } from '../logout/abandoned.ts';
import { createLogoutDeliveries } from '../logout/deliveries.ts';
import { createProbe } from '../logout/probe.ts';
import { signOutRoutes } from '../logout/routes.ts';
import type { Answer, Participant, Walker } from '../logout/run.ts';
import type { SamlMessages } from '../logout/saml-messages.ts';
import type { SamlProbe } from '../logout/saml-probe.ts';
import type { SendLogoutToken, SignOutHooks } from '../oidc/sign-out.ts';
import type { Metrics } from '../platform/metrics.ts';
import { randomToken } from '../platform/random.ts';
import { OWN_CLIENT_ID } from '../rp/own-client.ts';
import type { Services } from '../services.ts';

export interface SignOutParts {
  services: Services;
  metrics: Metrics;
  cookies: Cookies;
  samlMessages: SamlMessages;
  samlProbe: SamlProbe;
  serviceProviders: Parameters<typeof signOutRoutes>[0]['serviceProviders'];
  sendLogoutToken: SendLogoutToken;
}

export function assembleSignOut(parts: SignOutParts) {
  const { services, metrics, cookies, samlMessages, samlProbe, serviceProviders, sendLogoutToken } = parts;
  const { applications, audit, config, db, endSession, now, outgoing, runs, sessions } = services;

  async function frontChannelUrl({ clientId, data }: Participant): Promise<string | undefined> {
    const application = await applications.find(clientId);
    if (!application?.enabled || application.protocol !== 'oidc') return undefined;
    const { frontchannel_logout_uri: uri } = application.metadata;
    if (!uri) return undefined;
    const url = new URL(uri);
    url.searchParams.set('iss', config.issuer);
    if (data.sid) url.searchParams.set('sid', data.sid);
    return url.href;
  }

  return {
    routes: signOutRoutes({
      now,
      cookies,
      runs,
      probe: createProbe({ fetch: outgoing as typeof fetch }),
      samlProbe,
      samlMessages,
      serviceProviders,
      accountHere: async (ctx) => (await sessions.ofCookie(cookies.get(ctx, 'session')))?.accountId,
      frontChannelUrl,
    }),
    jobs: {
      deliver: createLogoutDeliveries({
        db,
        now,
        audit,
        runs,
        send: sendLogoutToken,
        async sendSoap(participantId) {
          const row = await db.logoutParticipant.findUnique({ where: { id: participantId }, select: { runId: true } });
          const run = row && (await runs.find(row.runId));
          const participant = run?.participants.find(({ id }) => id === participantId);
          return participant ? samlMessages.call(participant) : 'no-such-client';
        },
        counted: (outcome) => metrics.logoutDeliveries.inc({ outcome }),
      }),
      finishAbandoned: createAbandonedRuns({ runs }),
      endExpired: endSession.expired,
    },
  };
}

/** The browser that walks a sign-out, known again by a cookie. */
export function walkers({ cookies }: { cookies: Cookies }) {
  return function walkerOf(ctx: Context): Walker {
    // A form from another site comes without our cookies; the redirect that answers it brings them.
    if (ctx.method === 'POST' && ctx.get('Sec-Fetch-Site') !== 'same-origin') return 'first-to-open';
    const cookie = cookies.get(ctx, 'signOut') ?? randomToken();
    cookies.set(ctx, 'signOut', cookie);
    return { cookie };
  };
}

/** What the engine's end-session endpoint does when a sign-out is confirmed. */
export function engineSignOut({ services, cookies }: Pick<SignOutParts, 'services' | 'cookies'>): SignOutHooks {
  const { endSession, runs } = services;
  const walkerOf = walkers({ cookies });
  return {
    queueLogout: endSession.queue,

    async endSession(uid, ctx, { clientId, actorId, returnUri }) {
      // Our own pages have no other place for the result than the page of it.
      const hasPlace = returnUri !== undefined && clientId !== OWN_CLIENT_ID;
      const answer: Answer = hasPlace ? { kind: 'oidc', uri: returnUri } : { kind: 'page' };
      const ended = await endSession.one(uid, 'signed-out', {
        ...(clientId && { clientId }),
        ...(actorId && { actorId }),
        request: ctx.state.request,
        walk: { browser: walkerOf(ctx), answer },
      });
      const run = ended?.run;
      if (!run) return;
      // Straight back where the browser has nobody to visit; the calls of ours need no one to wait for them.
      if (hasPlace && run.visits === 0) await runs.finish(run.id);
      else ctx.state.goOnAt = `/signout/${run.id}`;
    },
  };
}
