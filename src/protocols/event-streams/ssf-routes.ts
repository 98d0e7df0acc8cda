// /.well-known/ssf-configuration and /ssf: the transmitter of the OpenID Shared Signals Framework 1.0. A receiver is an application that calls
// with its own access token; it has one stream, whose events it gets pushed (RFC 8935) or polls (RFC 8936).
import Router from '@koa/router';
import { z } from 'zod';
import type { OidcApplication } from '../../applications/application.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import { webUriFault } from '../../applications/uris.ts';
import { bearerOf } from '../../base/http/authorization-header.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { conflict, forbidden, invalidInput, notFound, tooManyRequests, unauthorized } from '../../base/http/errors.ts';
import { bodyLimit, parseJson, parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { lineUpTo } from '../../base/schemas/line-schema.ts';
import { fault, faultFrom } from '../../base/texts/faults.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import { ssfApi } from '../../people/rbac/built-in.ts';
import type { ApiTokens } from '../oidc/store/api-access-tokens.ts';
import {
  createSecurityEvents,
  deliveredEvents,
  isReceiver,
  mayLearnAddresses,
  supportedEvents,
  VERIFICATION_REQUESTED,
} from './security-events.ts';
import { type EventStream, type EventStreams, eventStreamFields, type SignalReceiver } from './streams.ts';

const PUSH = 'urn:ietf:rfc:8935';
const POLL = 'urn:ietf:rfc:8936';
/** The names before version 1.0, which Apple Business Manager sends. */
const EARLIER = {
  [PUSH]: 'https://schemas.openid.net/secevent/risc/delivery-method/push',
  [POLL]: 'https://schemas.openid.net/secevent/risc/delivery-method/poll',
};

const delivery = z.object({
  method: z.enum([PUSH, POLL, EARLIER[PUSH], EARLIER[POLL]]),
  endpoint_url: z.string().max(2048).superRefine(faultFrom(webUriFault)).optional(),
  authorization_header: z
    .string()
    .min(1)
    .max(2048)
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/)
    .nullish(),
});
/** What a receiver chooses. `format` is from the drafts of version 1.0. */
const configuration = z.object({
  delivery: delivery.default({ method: POLL }),
  events_requested: z.array(lineUpTo(300)).max(100).default([]),
  description: lineUpTo(255).optional(),
  format: z.enum(['iss_sub', 'email']).optional(),
});
const identified = z.object({
  stream_id: z.string().min(1).max(64),
  // Of the transmitter: the same where they are sent at all (SSF 1.0 8.1.1.3).
  iss: z.unknown().optional(),
  aud: z.unknown().optional(),
});
const changes = identified.extend({
  delivery: delivery.optional(),
  events_requested: configuration.shape.events_requested.unwrap().optional(),
  description: configuration.shape.description,
  format: configuration.shape.format,
});
const replacement = configuration.extend(identified.shape);
const query = z.object({ stream_id: z.string().min(1).max(64).optional() });
const statusChange = z.object({
  stream_id: z.string().min(1).max(64),
  status: z.enum(['enabled', 'paused', 'disabled']),
  reason: lineUpTo(255).optional(),
});
const verification = z.object({ stream_id: z.string().min(1).max(64), state: lineUpTo(1024).optional() });
const jti = z.string().min(1).max(64);
const setError = z.object({ err: lineUpTo(100), description: lineUpTo(300).optional() });
const poll = z.object({
  maxEvents: z.int().min(0).optional(),
  returnImmediately: z.boolean().optional(),
  ack: z.array(jti).max(limits.ssf.acknowledged).default([]),
  setErrs: z.record(jti, setError).default({}),
});

/** The fields of a stream that a receiver does not choose. */
const unused = z.strictObject(eventStreamFields);

type Chosen = z.output<typeof configuration>;

interface Receiver {
  application: OidcApplication;
  by: Actor;
}

export function createSsf(
  services: Core & People & ApplicationServices & { tokens: ApiTokens; eventStreams: EventStreams },
) {
  const { applications, audit, config, db, eventStreams, now, rateLimits, tokens, wake } = services;
  const { issuer } = config;
  const base = ssfApi(issuer);
  const securityEvents = createSecurityEvents(services);

  /** The receiver that calls. Throws 401, 403 without the scope, and 429 after too many calls. */
  async function identify(ctx: Context, scope: 'ssf.manage' | 'ssf.read'): Promise<Receiver> {
    ctx.set('Cache-Control', 'no-store');
    const { request } = ctx.state;
    const network = { address: request.address };
    const failures = await rateLimits.peek('api:address', network);
    if (!failures.allowed) throw tooManyRequests(failures.retryAfterSeconds);
    const bearer = bearerOf(ctx);
    const token = bearer === undefined ? undefined : await tokens.find(bearer);
    // A user's token is rejected: the stream is about everybody who uses the application.
    const isOfClient = token?.audience === base && token.accountId === undefined;
    const application = isOfClient ? await applications.find(token.clientId) : undefined;
    if (!token || !isReceiver(application, issuer)) {
      await rateLimits.consume('api:address', network);
      const challenge = `Bearer realm="${base}"${bearer === undefined ? '' : ', error="invalid_token"'}`;
      const headers = { 'WWW-Authenticate': challenge };
      throw unauthorized(bearer === undefined ? 'unauthenticated' : 'invalid_token', { headers });
    }
    const counted = await rateLimits.consume('api:caller', application.clientId);
    if (!counted.allowed) throw tooManyRequests(counted.retryAfterSeconds);
    if (!token.scopes.includes(scope) && !token.scopes.includes('ssf.manage')) {
      const headers = { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` };
      throw forbidden('forbidden', { headers });
    }
    ctx.state.sender = 'trusted';
    return { application, by: { actorApp: application.clientId, request } };
  }

  /** The stream with this id; throws 404, also for one of another receiver. */
  async function streamOf({ application }: Receiver, id: string): Promise<EventStream> {
    const stream = (await eventStreams.ofReceiver(application)).find((one) => one.id === id);
    if (!stream) throw notFound();
    return stream;
  }

  function receiverOf({ delivery: { method }, format = 'iss_sub', description }: Chosen, app: OidcApplication) {
    const isPolled = method === POLL || method === EARLIER[POLL];
    const chosen = { method, isPolled, format, ...(description !== undefined && { description }) };
    return { applicationId: app.id, clientId: app.clientId, ...chosen } satisfies SignalReceiver;
  }

  /** Throws invalid_input. */
  function assertSound({ delivery: { method, endpoint_url: url }, format }: Chosen, app: OidcApplication): void {
    const isPush = method === PUSH || method === EARLIER[PUSH];
    if (isPush && url === undefined) throw invalidInput([fault(['delivery', 'endpoint_url'], 'empty')]);
    if (format === 'email' && !mayLearnAddresses(app))
      throw invalidInput([fault(['format'], 'not-with', { key: 'scope' })]);
  }

  const pollUrl = (id: string) => `${base}/poll/${id}`;

  function json({ id, url, events, receiver }: EventStream, application: OidcApplication) {
    const { clientId, method, isPolled, format, description } = receiver ?? {};
    return {
      stream_id: id,
      iss: issuer,
      aud: clientId,
      delivery: { method, endpoint_url: isPolled ? pollUrl(id) : url },
      events_supported: supportedEvents,
      events_requested: events,
      events_delivered: deliveredEvents(events, application),
      min_verification_interval: limits.ssf.verificationSeconds,
      format,
      ...(description !== undefined && { description }),
    };
  }

  const statusJson = ({ id, enabled, pausedAt, lastError }: EventStream) => ({
    stream_id: id,
    status: enabled ? (pausedAt ? 'paused' : 'enabled') : 'disabled',
    ...((pausedAt || !enabled) && lastError !== null && { reason: lastError }),
  });

  /** Goes through the audit log, so that it arrives behind the events before it. */
  async function verify({ id, name }: Pick<EventStream, 'id' | 'name'>, state: string | undefined, by: Actor) {
    const data = { streamId: id, name, ...(state !== undefined && { state }) };
    await audit.record({ ...by, type: VERIFICATION_REQUESTED, outcome: 'success', data }, db);
    wake('audit-chain', db);
  }

  /** Throws invalid_input for a sent value other than the stream's own. */
  function assertUnchanged(key: 'iss' | 'aud', given: unknown, own: string): void {
    if (given !== undefined && String(given) !== own) throw invalidInput([fault([key], 'never-changes')]);
  }

  /** What the receiver has chosen, as it would send it. */
  const choiceOf = ({ receiver, url, events }: EventStream) =>
    ({
      delivery: { method: receiver?.method, ...(!receiver?.isPolled && { endpoint_url: url }) },
      events_requested: [...events],
      description: receiver?.description,
      format: receiver?.format,
    }) as Chosen;

  const urlOf = ({ isPolled }: SignalReceiver, { delivery: { endpoint_url: url } }: Chosen): string =>
    isPolled || url === undefined ? base : url;

  /** What the request lacks has its default with PUT, and stays with PATCH. */
  async function change(ctx: Context, method: 'patch' | 'put'): Promise<void> {
    const { application, by } = await identify(ctx, 'ssf.manage');
    const given: Partial<Chosen> & z.output<typeof identified> = await parseJson(
      ctx,
      method === 'put' ? replacement : changes,
    );
    const stream = await streamOf({ application, by }, given.stream_id);
    assertUnchanged('iss', given.iss, issuer);
    assertUnchanged('aud', given.aud, application.clientId);
    const chosen = { ...(method === 'put' ? configuration.parse({}) : choiceOf(stream)), ...given };
    assertSound(chosen, application);
    const receiver = receiverOf(chosen, application);
    const url = urlOf(receiver, chosen);
    const { authorization_header: sent } = chosen.delivery;
    // A header is for the address that it came with.
    const authorization = url === stream.url ? sent : (sent ?? null);
    const changed = { url, receiver, events: chosen.events_requested, authorization };
    ctx.body = json(await eventStreams.changeReceiver(stream, changed, by), application);
  }

  const router = new Router<State, Extras>();
  const limited = bodyLimit(limits.ssf.bytes);

  router.get('/.well-known/ssf-configuration', (ctx) => {
    ctx.body = {
      spec_version: '1_0',
      issuer,
      jwks_uri: `${issuer}/jwks`,
      delivery_methods_supported: [PUSH, POLL],
      configuration_endpoint: `${base}/streams`,
      status_endpoint: `${base}/status`,
      verification_endpoint: `${base}/verify`,
      authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
      // The people who used the receiver's application.
      default_subjects: 'ALL',
    };
  });

  router.post('/ssf/streams', limited, async (ctx) => {
    const { application, by } = await identify(ctx, 'ssf.manage');
    const chosen = await parseJson(ctx, configuration);
    assertSound(chosen, application);
    if ((await eventStreams.ofReceiver(application)).length > 0)
      throw conflict('conflict', { message: 'This receiver has a stream already.' });
    const receiver = receiverOf(chosen, application);
    const { clientId } = application;
    const declared = unused.parse({
      name: `SSF ${clientId.slice(0, 60)} ${application.id}`,
      url: urlOf(receiver, chosen),
      applications: [clientId],
    });
    const { stream } = await eventStreams.create(
      { ...declared, kind: 'ssf', events: chosen.events_requested },
      chosen.delivery.authorization_header ?? undefined,
      by,
      { receiver },
    );
    // Receivers wait for one before they trust the stream.
    if (!receiver.isPolled) await verify(stream, undefined, by);
    ctx.status = 201;
    ctx.body = json(stream, application);
  });
  router.get('/ssf/streams', async (ctx) => {
    const receiver = await identify(ctx, 'ssf.read');
    const { stream_id: id } = parseQuery(ctx, query);
    const { application } = receiver;
    if (id !== undefined) ctx.body = json(await streamOf(receiver, id), application);
    else ctx.body = (await eventStreams.ofReceiver(application)).map((one) => json(one, application));
  });
  router.patch('/ssf/streams', limited, (ctx) => change(ctx, 'patch'));
  router.put('/ssf/streams', limited, (ctx) => change(ctx, 'put'));
  router.delete('/ssf/streams', async (ctx) => {
    const receiver = await identify(ctx, 'ssf.manage');
    const { stream_id: id = '' } = parseQuery(ctx, query);
    await eventStreams.remove((await streamOf(receiver, id)).id, receiver.by);
    ctx.status = 204;
  });

  router.get('/ssf/status', async (ctx) => {
    const receiver = await identify(ctx, 'ssf.read');
    const { stream_id: id = '' } = parseQuery(ctx, query);
    ctx.body = statusJson(await streamOf(receiver, id));
  });
  router.post('/ssf/status', limited, async (ctx) => {
    const receiver = await identify(ctx, 'ssf.manage');
    const { stream_id: id, status, reason } = await parseJson(ctx, statusChange);
    const stream = await streamOf(receiver, id);
    ctx.body = statusJson(await eventStreams.changeReceiver(stream, { status, reason }, receiver.by));
  });

  router.post('/ssf/verify', limited, async (ctx) => {
    const receiver = await identify(ctx, 'ssf.manage');
    const { stream_id: id, state } = await parseJson(ctx, verification);
    const stream = await streamOf(receiver, id);
    const { allowed, retryAfterSeconds } = await rateLimits.consume('ssf-verification:stream', id);
    if (!allowed) throw tooManyRequests(retryAfterSeconds);
    await verify(stream, state, receiver.by);
    ctx.status = 204;
  });

  // RFC 8936 allows an answer at once also where the receiver would wait.
  router.post('/ssf/poll/:id', limited, async (ctx) => {
    const receiver = await identify(ctx, 'ssf.read');
    const stream = await streamOf(receiver, ctx.params.id ?? '');
    if (!stream.receiver?.isPolled) throw notFound();
    const { ack, setErrs, maxEvents = limits.ssf.polled } = await parseJson(ctx, poll);
    await settle(stream, ack, setErrs);
    ctx.body = await waiting(stream, Math.min(maxEvents, limits.ssf.polled));
  });

  async function settle({ id: streamId }: EventStream, ack: string[], errors: z.output<typeof poll>['setErrs']) {
    const open = { streamId, doneAt: null, failedAt: null };
    const at = now();
    let count = 0;
    if (ack.length > 0) {
      const data = { doneAt: at, tries: 1, answer: 'acknowledged' };
      ({ count } = await db.eventDelivery.updateMany({ where: { ...open, id: { in: ack } }, data }));
    }
    for (const [id, { err, description }] of Object.entries(errors).slice(0, limits.ssf.polled)) {
      const lastError = [err, description].filter(Boolean).join(': ');
      const data = { failedAt: at, tries: 1, lastError };
      count += (await db.eventDelivery.updateMany({ where: { ...open, id }, data })).count;
    }
    if (count === 0) return;
    await db.eventStream.updateMany({ where: { id: streamId }, data: { lastSuccessAt: at } });
    // There is room for others now.
    wake('event-streams', db);
  }

  async function waiting(stream: EventStream, most: number) {
    if (!stream.enabled || stream.pausedAt) return { sets: {}, moreAvailable: false };
    const rows = await db.eventDelivery.findMany({
      where: { streamId: stream.id, doneAt: null, failedAt: null },
      orderBy: [{ seq: 'asc' }],
      take: most + 1,
    });
    const page = rows.slice(0, most);
    const sets = await securityEvents.tokensOf(page, stream);
    const empty = page.flatMap(({ id }) => (sets.has(id) ? [] : id));
    if (empty.length > 0) {
      const data = { failedAt: now(), lastError: 'the receiver gets nothing of this event now' };
      await db.eventDelivery.updateMany({ where: { id: { in: empty } }, data });
    }
    return { sets: Object.fromEntries(sets), moreAvailable: rows.length > most };
  }

  return { router };
}
