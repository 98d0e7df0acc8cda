// The event streams: declared, tried, resumed and replayed. A stream sends what the audit log has, so who changes one must be able to read
// the whole log, and each change asks for a fresh sign-in.

import { z } from 'zod';
import { invalidInput, notFound } from '../../base/http/errors.ts';
import { OutgoingError } from '../../base/network/outgoing-fetch.ts';
import { defined } from '../../base/platform/defined.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { at } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { meets } from '../../people/rbac/rights.ts';
import { webhookIdOf } from '../../protocols/event-streams/deliveries.ts';
import { bodyOf, deliveriesOf, deliveryStates, recordTest } from '../../protocols/event-streams/delivery-list.ts';
import { testEvent } from '../../protocols/event-streams/event.ts';
import { createSender } from '../../protocols/event-streams/send.ts';
import {
  addressOf,
  declarationOf,
  type EventStream,
  type EventStreams,
  eventStreamFields,
  isSigned,
  notOfReceiver,
  type StreamDeclaration,
  secretFaults,
  streamRules,
  streamSecret,
} from '../../protocols/event-streams/streams.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { byId, changesOf, iso, jsonOf, paged, pageOf, time } from '../api/parts.ts';
import { assertVersion, type Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { answerOf, createdAnswerOf, endpointsOf, type Resource } from '../resource.ts';

/** `secret` is readable only now; undefined of a SIEM without one. */
export type CreatedStream = { stream: EventStream; secret: string | undefined };
/** What came of a test: the status, or why there is none. */
export type StreamTest = { ok: boolean; status: number | null; answer: string; milliseconds: number };
export type EventDelivery = Awaited<ReturnType<typeof deliveriesOf>>['items'][number];

export type EventStreamAdmin = ReturnType<typeof createEventStreamAdmin>;

/** Changes throw StepUpNeeded, owned_by_file, precondition_failed for another version, and not_found. */
export function createEventStreamAdmin(services: Core & { eventStreams: EventStreams }) {
  const { db, now, eventStreams: streams } = services;
  const send = createSender(services);

  async function assertExpected(id: string, expected: Expected, tx: Tx): Promise<EventStream> {
    const stream = await streams.get(id, tx);
    assertVersion(expected, declarationOf(stream));
    return stream;
  }

  function assertSound(given: StreamDeclaration, secret?: string): void {
    const faults = [
      ...streamRules(given),
      ...(secret === undefined ? [] : at(['secret'], secretFaults(given, secret))),
    ];
    if (faults.length > 0) throw invalidInput(faults);
  }

  return {
    list: streams.list,
    get: (id: string) => streams.get(id),

    /** `onCreated` runs in the transaction. Throws invalid_input. */
    create: (
      given: StreamDeclaration,
      secret: string | undefined,
      by: Actor,
      onCreated: OnCreated<CreatedStream> = async () => {},
    ) =>
      transaction(db, async (tx): Promise<CreatedStream> => {
        assertSound(given, secret);
        assertFreshProof(by, 'event-stream.create', given.name);
        const made = await streams.create(given, secret, by, { tx });
        await onCreated(made, tx);
        return made;
      }),

    /** `secret`: the token for another origin. */
    update: (
      id: string,
      { secret, ...changes }: Partial<StreamDeclaration> & { secret?: string | undefined },
      by: Actor,
      expected: Expected = 'any',
    ) =>
      transaction(db, async (tx): Promise<EventStream> => {
        const before = await assertExpected(id, expected, tx);
        const after = { ...declarationOf(before), ...changes };
        assertSound(after, secret);
        assertFreshProof(by, 'event-stream.change', before.name);
        return streams.update(id, after, by, { tx, secret });
      }),

    remove: (id: string, by: Actor, expected: Expected = 'any') =>
      transaction(db, async (tx): Promise<void> => {
        const { name } = await assertExpected(id, expected, tx);
        assertFreshProof(by, 'event-stream.delete', name);
        await streams.remove(id, by, { tx });
      }),

    /** Returns the new secret. */
    async changeSecret(id: string, secret: string | undefined, by: Actor): Promise<CreatedStream> {
      const stream = await streams.get(id);
      assertSound(stream, secret);
      assertFreshProof(by, 'event-stream.change-secret', stream.name);
      return { stream, secret: await streams.changeSecret(id, secret, by) };
    },

    /** Sends an event of the type `event-stream.test`, which is not in the audit log, and stores its delivery. */
    async test(id: string, by: Actor): Promise<StreamTest> {
      const stream = notOfReceiver(await streams.get(id));
      const startedAt = performance.now();
      const createdAt = now();
      const answer = async () => {
        const about = { id: `evt_test_${createdAt.getTime()}`, secrets: await streams.secrets(id) };
        const { status, text } = await send(stream, [testEvent(createdAt)], about);
        return { ok: status >= 200 && status < 300, status, answer: text };
      };
      const result = await answer().catch((error: unknown) => {
        if (!(error instanceof OutgoingError)) throw error;
        return { ok: false, status: null, answer: error.message };
      });
      const { ok, status, answer: text } = result;
      const reason = status === null ? text : `answered with status ${status}${text && `: ${text}`}`;
      await recordTest(services, {
        streamId: id,
        createdAt,
        ...(ok ? { answer: String(status) } : { lastError: reason }),
      });
      const milliseconds = Math.round(performance.now() - startedAt);
      await streams.tested(stream, ok, by);
      return { ...result, milliseconds };
    },

    resume: (id: string, by: Actor) => streams.resume(id, by),

    async replay(id: string, range: { from: Date; until: Date }, by: Actor): Promise<number> {
      assertFreshProof(by, 'event-stream.replay', (await streams.get(id)).name);
      return streams.replay(id, range, by);
    },

    /** A page of the deliveries of a stream, the newest first. */
    deliveries: (streamId: string, page: Omit<Parameters<typeof deliveriesOf>[1], 'streamId'>) =>
      deliveriesOf(services, { streamId, ...page }),

    /** One with what it sends; null of a receiver of shared signals, whose tokens have its names of people. Throws not_found. */
    async delivery(streamId: string, id: string) {
      const stream = await streams.get(streamId);
      const [found] = (await deliveriesOf(services, { streamId, id, limit: 1 })).items;
      if (!found) throw notFound();
      const ofEvent = found.hash === null ? null : webhookIdOf(found.seq, found.hash);
      const webhookId = stream.kind === 'webhook' ? ofEvent : isSigned(stream) ? id : null;
      return { ...found, webhookId, body: stream.kind === 'ssf' ? null : await bodyOf(services, stream, found) };
    },

    /** Sends one again, also one that was given up. Throws not_found. */
    async redeliver(streamId: string, id: string, by: Actor): Promise<void> {
      await streams.get(streamId);
      if (!(await streams.redeliver(streamId, id, by))) throw notFound();
    },
  };
}

const { kind, ...changeable } = eventStreamFields;
const schema = z
  .object({
    id: z.string(),
    ...changeable,
    kind: z
      .enum([...kind.unwrap().options, 'ssf'])
      .describe('`ssf`: a receiver of shared signals, which changes it itself'),
    events: z.array(z.string()).describe('of a `ssf`: the event types that the receiver requested'),
    source: z.enum(['local', 'file']).describe('file: declared in the configuration file'),
    created_at: time,
    updated_at: time,
    last_success_at: time.nullable().describe('At most a minute old'),
    failing_since: time.nullable(),
    retry_at: time.nullable(),
    paused_at: time.nullable().describe('Nothing is sent until it is resumed'),
    last_error: z.string().nullable(),
  })
  .meta({ id: 'EventStream' });
const deliverySchema = z
  .object({
    id: z.string(),
    seq: z.int().describe('Position in the audit chain; 0: a test'),
    until_seq: z.int().describe('The last one of a batch'),
    type: z.string().nullable().describe('`event-stream.test`: a test; null: the audit log has the event no more'),
    state: z.enum(deliveryStates),
    is_replay: z.boolean(),
    tries: z.int().describe('Without those while the receiver was away'),
    next_try_at: time.nullable(),
    answer: z.string().nullable(),
    error: z.string().nullable(),
    created_at: time,
  })
  .meta({ id: 'EventDelivery' });

export const deliveryJson = (one: EventDelivery) =>
  jsonOf(deliverySchema, one, {
    next_try_at: one.state === 'waiting' ? iso(one.nextTryAt) : null,
    error: one.lastError,
  });

/** `body: full` sends the names and addresses of users, and their own fields, also those that only administrators see. */
export const WRITE_STREAMS = [
  'gatehouse.audit:read',
  'gatehouse.users:read',
  'gatehouse.settings:write',
  'gatehouse.settings:write-security',
] as const;

export const eventStreamNoun = (streams: EventStreamAdmin): Resource<EventStream> => ({
  names: ['EventStream', 'EventStreams'],
  tag: 'Audit log',
  api: '/event-streams',
  home: '/admin/event-streams',
  title: t('console.navigation.event-streams'),
  nameOf: ({ name }) => name,
  declared: { what: 'connection', entryOf: ({ id, source }) => ({ section: 'event_streams', name: id, source }) },
  read: ['gatehouse.audit:read'],
  write: WRITE_STREAMS,
  keyOf: ({ id }) => id,
  get: (id) => streams.get(id),
  schema,
  json: (stream) => jsonOf(schema, stream, declarationOf(stream)),
  version: declarationOf,
});

/** A new stream, as the API and the console read it. */
export const newStream = z.strictObject({ ...eventStreamFields, secret: streamSecret.optional() });
const secretAnswer = z.object({ secret: z.string().nullable().describe('It is in this answer only') });
export const replayRange = z.strictObject({
  from: z.iso.datetime({ offset: true }),
  until: z.iso.datetime({ offset: true }),
});

/** /api/admin/event-streams. */
export function eventStreamEndpoints(streams: EventStreamAdmin): Endpoint[] {
  const noun = eventStreamNoun(streams);
  /** The path of an address can be a credential, which is for those who may change it. */
  const seenBy = (stream: EventStream, { grantedRights: rights = [] }: Actor): EventStream =>
    noun.write.every((need) => meets(rights, need)) ? stream : { ...stream, url: addressOf(stream.url) };
  const { list, create, get, update, remove, action } = endpointsOf({
    ...noun,
    get: async (id, by) => seenBy(await noun.get(id, by), by),
  });
  const byDelivery = byId.extend({ delivery: z.string().min(1).max(64) });
  return [
    list({
      summary: 'The event streams, by name',
      response: z.object({ items: z.array(schema) }),
      handle: async (_query, by) => ({ items: (await streams.list()).map((one) => noun.json(seenBy(one, by))) }),
    }),
    create({
      summary: 'A new event stream',
      description: 'It sends the events from now on. Without `secret`, a webhook gets a new one.',
      body: newStream,
      response: schema.extend(secretAnswer.shape).meta({ id: 'NewEventStream' }),
      run: ({ secret, ...given }, by, onCreated) => streams.create(given, secret, by, onCreated),
      answer: ({ stream, secret }: CreatedStream) => createdAnswerOf(noun, stream, { secret: secret ?? null }),
    }),
    get({ summary: 'One event stream' }),
    update({
      summary: 'Changes the given fields',
      body: changesOf(changeable).extend({
        secret: streamSecret.optional().describe('the token of a `siem`, needed with another origin'),
      }),
      run: async (id, body, by, version) => answerOf(noun, await streams.update(id, defined(body), by, version)),
    }),
    remove({
      summary: 'Deletes the event stream',
      description: 'What wasn’t delivered stays in the audit log.',
      run: streams.remove,
    }),
    action('changeEventStreamSecret', 'POST /secret', {
      summary: 'Replaces the secret',
      description: 'The old secret of a webhook signs beside the new one for seven days.',
      body: z.strictObject({
        secret: streamSecret.optional().describe('required for a `siem`; otherwise a new one is made'),
      }),
      response: secretAnswer,
      run: async ({ key, body, by }) => ({
        body: { secret: (await streams.changeSecret(key, body.secret, by)).secret ?? null },
      }),
    }),
    action('testEventStream', 'POST /test', {
      summary: 'Sends a test event, and returns the answer',
      response: z.object({
        ok: z.boolean(),
        status: z.int().nullable(),
        answer: z.string(),
        milliseconds: z.int(),
      }),
      run: async ({ key, by }) => ({ body: await streams.test(key, by) }),
    }),
    action('resumeEventStream', 'POST /resume', {
      summary: 'Sends what waits at once, also after a pause',
      response: schema,
      run: async ({ key, by }) => ({ body: noun.json(await streams.resume(key, by)) }),
    }),
    action('replayEventStream', 'POST /replay', {
      summary: 'Sends the events of a time again',
      body: replayRange,
      response: z.object({
        events: z.int().describe('Events of the log in this time, whatever the stream has of them'),
      }),
      run: async ({ key, body, by }) => ({
        body: { events: await streams.replay(key, { from: new Date(body.from), until: new Date(body.until) }, by) },
      }),
    }),
    endpoint('listEventDeliveries', 'GET /event-streams/{id}/deliveries', {
      tag: noun.tag,
      needs: noun.read,
      summary: 'The deliveries of a stream, the newest first',
      params: byId,
      query: z.strictObject({ ...paged, state: z.enum(deliveryStates).optional().describe('`failed`: given up') }),
      response: pageOf(deliverySchema),
      async handle({ params: { id }, query: { limit, cursor, state } }) {
        await streams.get(id);
        const { items, next = null } = await streams.deliveries(id, { limit, after: cursor, state });
        return { body: { items: items.map(deliveryJson), next } };
      },
    }),
    action('getEventDelivery', 'GET /deliveries/{delivery}', {
      needs: noun.write,
      params: byDelivery,
      summary: 'A delivery with what it sends',
      response: deliverySchema
        .extend({
          webhook_id: z.string().nullable().describe('Of a signed request'),
          body: z.string().nullable().describe('Of a batch the first 20 events; null of a `ssf`'),
        })
        .meta({ id: 'EventDeliveryWithBody' }),
      run: async ({ key, params }) => {
        const { body, webhookId, ...one } = await streams.delivery(key, params.delivery ?? '');
        return { body: { ...deliveryJson(one), webhook_id: webhookId, body } };
      },
    }),
    action('retryEventDelivery', 'POST /deliveries/{delivery}/retry', {
      params: byDelivery,
      summary: 'Sends a delivery again',
      status: 204,
      run: async ({ key, params, by }) => void (await streams.redeliver(key, params.delivery ?? '', by)),
    }),
  ];
}
