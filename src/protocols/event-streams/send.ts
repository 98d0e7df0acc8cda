// One request to the receiver of a stream: a webhook with its signatures (Standard Webhooks 1.0), a batch over HTTP with a token, a Security Event
// Token (RFC 8935), syslog over TLS, or a mail in the queue.

import { isIP } from 'node:net';
import tls from 'node:tls';
import { nameAndUsername } from '../../base/http/pages/tokens.ts';
import {
  createAddressPolicy,
  createOutgoingFetch,
  forbidden,
  guardedLookup,
  isPublicAnswer,
  OutgoingError,
  retryAfterSeconds,
  unexpectedAnswer,
} from '../../base/network/outgoing-fetch.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import { nameSlot, sentenceOf } from '../../core/audit/sentence.ts';
import type { Core } from '../../core/core.ts';
import { type EventBody, TEST } from './event.ts';
import { batchOf } from './siem-formats.ts';
import { recipientsOf, type StreamDeclaration, signatures } from './streams.ts';

const TIME_LIMIT_MS = 10_000;
/** As large as what `_bulk` of Elasticsearch answers for a batch. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const SYSLOG_PORT = 6514;

/** What the receiver answered: its status and how long to wait, where it says so. */
export interface Answer {
  status: number;
  /** Of a rejection; empty where the address may be an internal one. */
  text: string;
  /** The transmitter or its key is not accepted, whatever the event is (RFC 8935 2.4). */
  isDenied?: boolean;
  retryAfterSeconds: number | undefined;
}

const DENIED = /"err"\s*:\s*"(authentication_failed|access_denied|invalid_(key|issuer|audience))"/;

type Target = Pick<StreamDeclaration, 'name' | 'kind' | 'url' | 'format'>;

/**
 * Sends events: one to a webhook, any number to a SIEM, and in an alert those that it lists.
 *
 * @param id the same at each attempt (`webhook-id`)
 * @param token the Security Event Token of a `ssf`
 * @param count how many events the alert is about
 * @returns the answer; of syslog, which has none, status 200 once everything is written, and 202 for a mail in the queue
 * @throws OutgoingError
 */
export function createSender(services: Core) {
  const { outgoingRules, now, db } = services;
  const outgoing = createOutgoingFetch({ rules: outgoingRules, timeoutMs: TIME_LIMIT_MS, maxBytes: MAX_ANSWER_BYTES });

  async function post(
    { url, format }: Target,
    body: string,
    headers: Record<string, string>,
    count = 1,
  ): Promise<Answer> {
    // A redirect counts as a failure: it could lead the signed body elsewhere.
    const init = { method: 'POST', headers, body, redirect: 'manual' } as const;
    const response = await outgoing(url, init);
    if (format === 'ecs' && response.ok) await assertStored(response, count);
    const { status } = response;
    const rejection = response.ok ? '' : (await unexpectedAnswer(response)).body;
    const text = isPublicAnswer(response) ? rejection : '';
    return { status, text, isDenied: DENIED.test(rejection), retryAfterSeconds: retryAfterSeconds(response, now()) };
  }

  return async function send(
    target: Target,
    events: readonly EventBody[],
    {
      id,
      secrets,
      token,
      count = events.length,
    }: { id: string; secrets: readonly string[]; token?: string | undefined; count?: number },
  ): Promise<Answer> {
    if (target.kind === 'ssf') {
      const [authorization] = secrets;
      const headers = { 'content-type': 'application/secevent+jwt', accept: 'application/json' };
      return post(target, token ?? '', { ...headers, ...(authorization !== undefined && { authorization }) });
    }
    if (target.kind === 'alert' && recipientsOf(target.url)) {
      await transaction(db, (tx) => queueAlert(services, target, { events, count }, tx));
      return { status: 202, text: '', retryAfterSeconds: undefined };
    }
    if (target.kind === 'webhook' || target.kind === 'alert') {
      const timestamp = Math.floor(now().getTime() / 1000);
      const body = JSON.stringify(target.kind === 'alert' ? alertBody(target, events, count) : events[0]);
      return post(target, body, {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatures(secrets, { id, timestamp, body }),
      });
    }
    const { contentType, scheme, body } = batchOf(target.format, events);
    if (target.format === 'syslog') {
      await sendSyslog(new URL(target.url), body, createAddressPolicy(outgoingRules()));
      return { status: 200, text: '', retryAfterSeconds: undefined };
    }
    const [secret] = secrets;
    const headers = {
      'content-type': contentType,
      ...(secret !== undefined && { authorization: `${scheme} ${secret}` }),
    };
    return post(target, body, headers, events.length);
  };
}

/** An alert as a request: the webhooks of chats display `text`. */
function alertBody({ name: stream }: Target, events: readonly EventBody[], count: number) {
  const more = count - events.length;
  const lines = events.map((event) => `${event.timestamp} ${textOf(event)}`);
  if (more > 0) lines.push(`+ ${more}`);
  return {
    type: 'event-stream.alert',
    timestamp: events.at(-1)?.timestamp,
    text: plain([stream, ...lines].join('\n')),
    data: { stream, count, events },
  };
}

/**
 * Text that a chat displays as it is: names that people chose make no mention and no link there.
 * `&`, `<` and `>` as Slack wants them (https://docs.slack.dev/messaging/formatting-message-text).
 */
const plain = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/(^|[^\w.+-])@/g, '$1@\u200b')
    .replaceAll('](', ']\u200b(')
    .replaceAll('://', ':\u200b//');

/** Queues the mail that lists the events, to each address of the stream. */
export async function queueAlert(
  { outbox }: Core,
  { name: stream, url }: Target,
  { events, count }: { events: readonly EventBody[]; count: number },
  tx: Tx,
): Promise<void> {
  const listed = events.map((event) => ({ at: new Date(event.timestamp), text: textOf(event) }));
  for (const email of recipientsOf(url) ?? [])
    await outbox.send({ kind: 'event-alert', to: { email }, stream, count, listed }, tx);
}

/** The sentence of the activity log, or what a test says. */
function textOf({ type, data, timestamp }: EventBody): string {
  if (type === TEST) return String(t('console.event-streams.test.listed'));
  const { id, outcome, reason, actor, subject, actor_application, application, address, details } = data;
  const people = new Map(
    [actor, subject].flatMap((one) => (one ? [[one.id, nameAndUsername({ username: one.id, ...one })]] : [])),
  );
  const parties = { actorId: actor?.id ?? null, actorApp: actor_application, subjectId: subject?.id ?? null };
  const about = { ...parties, clientId: application, address, userAgent: null, requestId: null, erasedBy: null };
  const entry = { id, at: new Date(timestamp), type, outcome, reason, data: details, ...about };
  return String(sentenceOf(entry, (one) => nameSlot(people.get(one.id) ?? one.name ?? one.id)));
}

/** Throws OutgoingError where `_bulk` does not say of each event that it is stored. One with an `_id` that exists (409) was stored before. */
async function assertStored(response: Response, count: number): Promise<void> {
  const answer = (await response.json().catch(() => null)) as { items?: { create?: Item }[] } | null;
  const items = answer?.items ?? [];
  const isStored = (item: Item | undefined) => item?.status === 201 || item?.status === 409;
  const stored = items.filter(({ create }) => isStored(create)).length;
  if (stored === count) return;
  const reason = items.find(({ create }) => !isStored(create))?.create?.error?.reason;
  const shown = isPublicAnswer(response) && typeof reason === 'string' ? `: ${reason.slice(0, 300)}` : '';
  throw new OutgoingError(
    'rejected',
    `answered with status ${response.status} and stored ${stored} of ${count} events${shown}`,
  );
}

interface Item {
  status?: number;
  error?: { reason?: unknown };
}

/** Octet-counted messages over TLS (RFC 5425 4.3). Rejects with an OutgoingError. */
function sendSyslog(url: URL, frames: string, isAllowed: (address: string) => boolean): Promise<void> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const where = `${url.protocol}//${url.host}`;
  return new Promise((resolve, reject) => {
    // A numeric host is never looked up.
    if (isIP(host) && !isAllowed(host)) return reject(forbidden(host));
    const options = { host, port: Number(url.port) || SYSLOG_PORT, servername: isIP(host) ? '' : host };
    const socket = tls.connect({ ...options, lookup: guardedLookup(isAllowed) });
    const timer = setTimeout(
      () => socket.destroy(new OutgoingError('timeout', `${where} did not take the events in ${TIME_LIMIT_MS} ms`)),
      TIME_LIMIT_MS,
    );
    socket.on('error', (cause) => {
      clearTimeout(timer);
      reject(
        cause instanceof OutgoingError
          ? cause
          : new OutgoingError('network', `${where} could not be reached: ${cause.message}`, { cause }),
      );
    });
    socket.resume();
    // Syslog has no answer: the events are with the operating system, and a receiver that leaves its side open holds up nothing.
    socket.end(frames, () => {
      clearTimeout(timer);
      socket.setTimeout(TIME_LIMIT_MS, () => socket.destroy());
      resolve();
    });
  });
}
