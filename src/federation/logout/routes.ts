// /upstream/:id/signed-out, where an upstream returns the browser after a logout, and the two ways in which an OpenID Connect
// upstream ends sessions here: Back-Channel Logout 1.0 and Front-Channel Logout 1.0; also by shared signals (RFC 8935).

import Router from '@koa/router';
import { z } from 'zod';
import { type Context, type Extras, type Middleware, type State, seeOther } from '../../base/http/context.ts';
import { AppError, badRequest, notFound, tooManyRequests } from '../../base/http/errors.ts';
import { bodyLimit, parseForm, parseQuery, readText } from '../../base/http/input.ts';
import { relaxPolicy } from '../../base/http/security-headers.ts';
import { limits } from '../../base/limits.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import type { People } from '../../people/people.ts';
import type { Connection, OidcConnection } from '../connections/connection.ts';
import { FederationError } from '../faults.ts';
import type { FederationServices } from '../federation-services.ts';
import type { UpstreamSignInServices } from '../upstream-sign-in.ts';
import {
  discoveryOf,
  issuersOf,
  type NamedSessions,
  type SecurityEvents,
  verifyLogoutToken,
  verifySecurityEvents,
} from './logout-token.ts';
import { connectionIdOf } from './upstream-participants.ts';

const { logoutTokenBytes } = limits.upstream;
const tokenForm = z.object({ logout_token: z.string().min(1).max(logoutTokenBytes) });
const frontQuery = z.object({ iss: z.string().max(2048), sid: z.string().min(1).max(255) });
const signedOutQuery = z.object({ state: z.string().max(1024).optional() });

export function upstreamLogoutRoutes(services: UpstreamSignInServices): Router<State, Extras> {
  const limited = rateLimit(services);
  const router = new Router<State, Extras>({ prefix: '/upstream/:id' });

  router.post('/backchannel-logout', noStore, limited, bodyLimit(2 * logoutTokenBytes), (ctx) =>
    backChannel(services, ctx, ctx.params.id ?? ''),
  );
  router.post('/security-events', noStore, limited, bodyLimit(logoutTokenBytes), (ctx) =>
    securityEvents(services, ctx, ctx.params.id ?? ''),
  );
  router.get('/frontchannel-logout', noStore, limited, (ctx) => frontChannel(services, ctx, ctx.params.id ?? ''));
  router.get('/signed-out', noStore, (ctx) => signedOut(services, ctx, ctx.params.id ?? ''));
  return router;
}

/** Answers 200, or 400 with an OAuth error (section 2.8); 503 when the keys of the upstream cannot be read. */
async function backChannel(services: UpstreamSignInServices, ctx: Context, id: string): Promise<void> {
  const connection = await oidcConnection(services, id);
  const { request } = ctx.state;
  try {
    const { logout_token: token } = await parseForm(ctx, tokenForm);
    const named = await verifyLogoutToken(services, connection, token);
    await endNamedSessions(services, connection, named, { request, channel: 'back' });
    ctx.status = 200;
    ctx.body = '';
  } catch (error) {
    if (error instanceof FederationError) {
      await services.rejected.record(request, id, error);
      return rejectToken(ctx, error.code === 'upstream_unavailable' ? 503 : 400, error.reason);
    }
    if (!(error instanceof AppError) || error.status !== 400) throw error;
    rejectToken(ctx, 400, 'logout_token is missing');
  }
}

function rejectToken(ctx: Context, status: 400 | 503, description: string): void {
  ctx.status = status;
  ctx.body = { error: 'invalid_request', error_description: description };
}

/** The words of RFC 8935 2.4 for the rule that a token breaks. */
const EVENT_ERRORS: Partial<Record<string, string>> = {
  issuer: 'invalid_issuer',
  audience: 'invalid_audience',
  signed: 'invalid_key',
};

/** Answers 202, also to an event that means nothing here (RFC 8935 2.2), or 400; 503 when the keys of the upstream cannot be read. */
async function securityEvents(services: UpstreamSignInServices, ctx: Context, id: string): Promise<void> {
  const connection = await oidcConnection(services, id);
  const audience = connection.settings.security_events_audience;
  if (audience === undefined) throw notFound();
  const { request } = ctx.state;
  const token = await readText(ctx, 'application/secevent+jwt');
  try {
    const events = await verifySecurityEvents(services, connection, token, audience);
    if (events) {
      await follow(services, connection, events, request);
      await events.done();
    }
    ctx.status = 202;
    ctx.body = '';
  } catch (error) {
    if (!(error instanceof FederationError)) throw error;
    await services.rejected.record(request, id, error);
    ctx.status = error.code === 'upstream_unavailable' ? 503 : 400;
    ctx.body = { err: EVENT_ERRORS[error.rule ?? ''] ?? 'invalid_request', description: error.reason };
  }
}

/**
 * A revoked session ends the sessions from the upstream; an account that is disabled or gone there ends all that it opened here. A session that
 * began after the event is none of them: the upstream let the person in again.
 */
async function follow(
  services: UpstreamSignInServices,
  connection: OidcConnection,
  { named, types, at }: SecurityEvents,
  request: RequestInfo,
): Promise<void> {
  const { audit, endSession, identities } = services;
  if (!named) return;
  if (types.includes('session-revoked'))
    await endNamedSessions(services, connection, named, { request, channel: 'signal', before: at });
  const event = types.find((type) => type === 'account-disabled' || type === 'account-purged');
  if (event === undefined || named.sub === undefined) return;
  const sessions = await services.upstreamSessions.named(connection.id, { sub: named.sub });
  if (sessions.some(({ beganAt }) => beganAt > at)) return;
  const [session] = sessions;
  const userId = session?.userId ?? (await identities.find(connection.id, named.sub))?.userId;
  if (userId === undefined) return;
  const data = { connection: connection.id, channel: 'signal', event };
  await audit.record({ type: 'upstream.logout', outcome: 'success', subjectId: userId, request, data });
  await endSession.all(userId, 'upstream-signed-out', { request });
}

/** By `iss` and `sid` alone: a frame of another site brings no cookie. */
async function frontChannel(services: UpstreamSignInServices, ctx: Context, id: string): Promise<void> {
  const connection = await oidcConnection(services, id);
  const { iss, sid } = parseQuery(ctx, frontQuery);
  if (!(await issuersOf(services, connection)).includes(iss)) throw badRequest('malformed_url');
  const { end_session_endpoint: endpoint = iss } = await discoveryOf(services, connection);
  ctx.remove('X-Frame-Options'); // knows no other origins
  const sources = [iss, endpoint].map((url) => new URL(url).origin);
  relaxPolicy(ctx, {
    directive: 'frame-ancestors',
    sources,
    reason: 'OpenID Connect front-channel logout by an upstream',
  });
  // A probe before the frame (HEAD) ends nothing.
  if (ctx.method === 'GET') {
    await endNamedSessions(services, connection, { sid }, { request: ctx.state.request, channel: 'front' });
  }
  ctx.type = 'text/plain';
  ctx.body = 'Signed out.';
}

/** `state` names the logout run, which continues in its own browser only. */
async function signedOut({ connections, runs }: UpstreamSignInServices, ctx: Context, id: string): Promise<void> {
  if (!(await connections.find(id))) throw notFound();
  const { state } = parseQuery(ctx, signedOutQuery);
  const participant = state === undefined ? undefined : await runs.findByMessageId(state);
  if (!participant || connectionIdOf(participant) !== id) return ctx.render('logout/done', {});
  await runs.settle(participant, { state: 'done' });
  seeOther(ctx, `/signout/${participant.runId}`);
}

async function oidcConnection({ connections }: FederationServices, id: string): Promise<OidcConnection> {
  // A disabled one may still end its sessions.
  const connection = await connections.find(id);
  if (connection?.kind !== 'oidc') throw notFound();
  return connection;
}

const noStore: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  return next();
};

function rateLimit({ rateLimits }: People): Middleware {
  return async (ctx, next) => {
    const { address } = ctx.state.request;
    const { allowed, retryAfterSeconds } = await rateLimits.consume('upstream-logout:address', { address });
    if (!allowed) throw tooManyRequests(retryAfterSeconds);
    return next();
  };
}

/**
 * Ends them without a browser: applications are notified by the server. A name that no session has is no error, because the
 * session may have ended before (OIDC Back-Channel Logout 1.0 section 2.8).
 */
async function endNamedSessions(
  { upstreamSessions: sessions, endSession, audit }: UpstreamSignInServices,
  { id }: Connection,
  named: NamedSessions,
  { request, channel, before }: { request: RequestInfo; channel: 'back' | 'front' | 'signal'; before?: Date },
): Promise<void> {
  const found = (await sessions.named(id, named)).filter(({ beganAt }) => before === undefined || beganAt <= before);
  const [first] = found;
  if (!first) return;
  const uids = found.map(({ sessionUid }) => sessionUid);
  if (!(await endSession.several(uids, 'upstream-signed-out', { request }))) return;
  const data = { connection: id, channel };
  await audit.record({ type: 'upstream.logout', outcome: 'success', subjectId: first.userId, request, data });
}
