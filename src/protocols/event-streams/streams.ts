// The event streams: which events go where, in which form, and the secret with which they are signed or sent. A stream gets what the audit log
// has, so who declares one must be allowed to read the log.
import { createHmac, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { webUriFault } from '../../applications/uris.ts';
import { conflict, invalidInput, notFound, ownedByFile } from '../../base/http/errors.ts';
import { defined } from '../../base/platform/defined.ts';
import { randomId } from '../../base/platform/random.ts';
import { nameUpTo } from '../../base/schemas/line-schema.ts';
import {
  type Db,
  isUniqueConstraintError,
  type Tx,
  transaction,
  withinTransaction,
} from '../../base/storage/database.ts';
import { check, type Fault, fault, faultFrom, rule, textFault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { NO_FAILURES } from '../../core/jobs/outages.ts';
import { eventPattern, TEST_SEQ } from './event.ts';

const MOST_STREAMS = 20;
const MOST_RECEIVERS = 100;
const MOST_CHOICES = 100;
/** How long a replaced secret signs beside the new one. */
const OVERLAP_DAYS = 7;
const DAY_MS = 24 * 3600 * 1000;
const KNOWN_MS = 30_000;

const isSyslogUrl = (value: string) =>
  /^syslog:\/\/(\[[\da-f:.]+\]|[\w.-]+)(:(?!0+$)\d{1,5})?$/i.test(value) && URL.canParse(value);
const MAIL_ADDRESS = /^[^\s@,?%<>"]{1,64}@[\w.-]{1,255}$/;
const MOST_RECIPIENTS = 10;

/** The addresses of `mailto:ann@example.com,bob@example.com` (RFC 6068, without header fields); undefined for another URL. */
export function recipientsOf(url: string): string[] | undefined {
  const [scheme, list] = [url.slice(0, 7).toLowerCase(), url.slice(7).split(',')];
  const isList = list.length <= MOST_RECIPIENTS && list.every((one) => MAIL_ADDRESS.test(one));
  return scheme === 'mailto:' && isList ? list : undefined;
}

function urlFault(value: string): Fault | undefined {
  if (isSyslogUrl(value) || recipientsOf(value)) return undefined;
  if (/^mailto:/i.test(value)) return fault([], 'stream-recipients');
  return /^syslog:/i.test(value) ? fault([], 'stream-url') : webUriFault(value);
}

const minutes = (most: number) => z.int().min(0).max(most);
const choices = (what: string) => z.array(z.string().min(1).max(1024)).max(MOST_CHOICES).default([]).describe(what);

/** The fields of a stream in the API and in the configuration file, without its secret. */
export const eventStreamFields = {
  name: nameUpTo(100, z.string().trim()).describe('of the receiver, such as “HR system”'),
  kind: z
    .enum(['webhook', 'siem', 'alert'])
    .default('webhook')
    .describe(
      '`webhook`: a request for each event, signed by Standard Webhooks; `siem`: batches; `alert`: few messages, for people',
    ),
  url: z
    .string()
    .max(2048)
    .superRefine(faultFrom(urlFault))
    .describe(
      '`https://…`, or `syslog://host:6514` (TLS, RFC 5425) with the format `syslog`; of an `alert` also `mailto:` and up to 10 addresses',
    ),
  format: z
    .enum(['json', 'splunk', 'ecs', 'ocsf', 'syslog'])
    .default('json')
    .describe('of a `siem`: JSON array, Splunk HEC, Elastic Common Schema (`_bulk`), OCSF 1.3 or RFC 5424'),
  events: z
    .array(
      z
        .string()
        .max(64)
        .refine((one) => eventPattern(one) !== undefined, rule('event-pattern')),
    )
    .min(1)
    .max(MOST_CHOICES)
    .default(['*'])
    .describe('types of events, such as `sign-in.*`, `role.assigned`, `user.*` or `*`'),
  applications: choices('client_ids and entity IDs; none: events of all applications and of none'),
  groups: choices('names of groups; none: events about everybody'),
  body: z
    .enum(['thin', 'full'])
    .default('thin')
    .describe('`thin`: people by their `sub`; `full`: also username, name and email, as an `alert` always has'),
  at_least: z.int().min(1).max(1000).default(1).describe('of an `alert`: it is sent after so many events'),
  within_minutes: minutes(1440).min(1).default(10).describe('of an `alert`: that happened in this time'),
  quiet_minutes: minutes(10_080)
    .default(60)
    .describe('of an `alert`: the time until the next one, which has the events since'),
  enabled: z.boolean().default(true).describe('whether it sends'),
};
const declared = z.strictObject(eventStreamFields);
/** An `ssf` is declared by its receiver alone (ssf-routes.ts). */
export type StreamDeclaration = Omit<z.output<typeof declared>, 'kind'> & {
  kind: z.output<typeof declared>['kind'] | 'ssf';
};

/** What the receiver of shared signals chose. */
export interface SignalReceiver {
  /** The row of its application: another one may get its client_id. */
  applicationId: string;
  clientId: string;
  /** The delivery method as it was sent. */
  method: string;
  isPolled: boolean;
  /** By the receiver, which alone ends this pause. */
  isPaused?: boolean;
  /** The subject identifier format (RFC 9493). */
  format: 'iss_sub' | 'email';
  description?: string | undefined;
}

/** The secret that a webhook signs with, or the token that a SIEM asks for. */
export const streamSecret = z
  .string()
  .min(8)
  .max(1024)
  .regex(/^[\x21-\x7e]+$/, rule('visible-ascii'));

export interface EventStream extends StreamDeclaration {
  id: string;
  source: 'local' | 'file';
  /** Of a `ssf`. */
  receiver: SignalReceiver | undefined;
  hasSecret: boolean;
  createdAt: Date;
  updatedAt: Date;
  /** The last position of the audit chain that was looked at. */
  cursor: number;
  replayUntil: number | null;
  failingSince: Date | null;
  retryAt: Date | null;
  pausedAt: Date | null;
  lastError: string | null;
  lastSuccessAt: Date | null;
}

/** Whether the configuration file changes it, which alone changes what it declares. */
interface StreamChange {
  source?: 'local' | 'file';
  tx?: Tx;
}

/** What a receiver chose, only the receiver changes. Throws conflict (409). */
export function notOfReceiver(stream: EventStream): EventStream {
  if (stream.kind === 'ssf') throw conflict('conflict', { message: t('console.event-streams.error.receiver') });
  return stream;
}

export type EventStreams = ReturnType<typeof createEventStreams>;

const OF_ALERTS = ['at_least', 'within_minutes', 'quiet_minutes'] as const;

/** The faults of fields that do not go together. */
export function streamRules(given: StreamDeclaration): Fault[] {
  const { kind, format, url } = given;
  const faults: Fault[] = [];
  if (kind !== 'siem' && format !== 'json') faults.push(fault(['format'], 'only-siem'));
  const isChosen = (name: (typeof OF_ALERTS)[number]) => given[name] !== eventStreamFields[name].parse(undefined);
  if (kind !== 'alert') faults.push(...OF_ALERTS.filter(isChosen).map((name) => fault([name], 'only-alert')));
  const isOfFormat = isSyslogUrl(url) === (kind === 'siem' && format === 'syslog');
  const isOfKind = kind === 'alert' || recipientsOf(url) === undefined;
  if (!isOfFormat || !isOfKind) faults.push(fault(['url'], kind === 'alert' ? 'stream-recipients' : 'stream-url'));
  return faults;
}

/** Whether each request is signed (Standard Webhooks): the secret never leaves, and a replaced one signs for a while. */
export const isSigned = ({ kind, url }: Pick<StreamDeclaration, 'kind' | 'url'>): boolean =>
  kind === 'webhook' || (kind === 'alert' && !recipientsOf(url));

/** The faults of a secret, such as one that was read from a file. */
export function secretFaults(stream: StreamDeclaration, secret: string): Fault[] {
  if (recipientsOf(stream.url)) return [fault([], 'not-with', { key: 'url: mailto:' })];
  const read = check(streamSecret, secret);
  if (!read.ok) return read.faults;
  return isSigned(stream) && !isWebhookSecret(secret) ? [fault([], 'webhook-secret')] : [];
}

/**
 * The faults of a change. A secret stays with the origin that it came with, whose receiver knows it and could sign events for another one.
 * @param secret the one for the new address, of a SIEM or in the configuration file
 */
export function changeFaults(stored: EventStream, given: StreamDeclaration, secret: string | undefined): Fault[] {
  if (given.kind !== stored.kind) return [fault(['kind'], 'never-changes')];
  if (isSigned(given) !== isSigned(stored)) return [fault(['url'], 'alert-address')];
  const isMoved = originOf(given.url) !== originOf(stored.url);
  if (!stored.hasSecret || !isMoved || secret !== undefined) return [];
  return [isSigned(stored) ? fault(['url'], 'stream-origin') : fault(['secret'], 'empty')];
}

export function createEventStreams({ db, vault, now, audit, wake }: Core) {
  const seal = (id: string, secret: string) => vault.seal(secret, `event_streams:${id}`);
  const open = (id: string, sealed: string) => vault.open(sealed, `event_streams:${id}`).toString();

  const known = { areAny: false, readAt: 0 };

  /** The path of an address can be a credential, such as that of a chat's webhook, and other streams send the log elsewhere. */
  const logged = <T extends { url?: string }>(given: T): T =>
    given.url === undefined ? given : { ...given, url: addressOf(given.url) };

  function record(
    type: 'created' | 'updated' | 'deleted' | 'secret-changed' | 'resumed' | 'replayed' | 'redelivered' | 'tested',
    one: Named,
    by: Actor,
    tx: Tx,
    data = {},
  ) {
    const event = { type: `event-stream.${type}`, outcome: 'success' } as const;
    return audit.record({ ...by, ...event, data: { streamId: one.id, name: one.name, ...data } }, tx);
  }

  /** The secrets that sign now, the newest first; of a SIEM its token. */
  function secretsOf({ id, secretSealed, previousSecretSealed, previousUntil }: StreamRow): string[] {
    const isLasting = previousUntil !== null && previousUntil > now();
    return [secretSealed, isLasting ? previousSecretSealed : null].flatMap((sealed) =>
      sealed === null ? [] : [open(id, sealed)],
    );
  }

  /** The position of the newest event: a stream that begins there gets the events to come. */
  async function headOf(tx: Tx): Promise<number> {
    const head = await tx.auditChain.findUnique({ where: { id: 'head' }, select: { seq: true } });
    return head?.seq ?? 0;
  }

  async function get(id: string, tx: Tx = db): Promise<EventStream> {
    const row = await tx.eventStream.findUnique({ where: { id } });
    const [stream] = row ? await withNames([streamOf(row)], tx) : [];
    if (!stream) throw notFound({ message: t('console.event-streams.error.unknown') });
    return stream;
  }

  /** With the names of their groups in place of the ids, so far as the groups exist. */
  async function withNames(streams: readonly EventStream[], tx: Tx): Promise<EventStream[]> {
    const ids = streams.flatMap(({ groups }) => groups);
    const rows = ids.length === 0 ? [] : await tx.group.findMany({ where: { id: { in: ids } } });
    const names = new Map(rows.map(({ id, name }) => [id, name]));
    return streams.map((one) => ({ ...one, groups: one.groups.map((id) => names.get(id) ?? id) }));
  }

  /** As they are stored: groups by their ids, so that another name changes nothing. Throws invalid_input for a group that `before` has not. */
  async function storedColumns(given: StreamDeclaration, before: readonly string[], tx: Tx) {
    const { groups } = given;
    const rows = groups.length === 0 ? [] : await tx.group.findMany({ where: { name: { in: groups } } });
    const ids = new Map(rows.map(({ id, name }) => [name, id]));
    const unknown = groups.filter((name) => !ids.has(name) && !before.includes(name));
    if (unknown.length > 0) throw invalidInput([fault(['groups'], 'unknown-group', { groups: unknown.join(', ') })]);
    return columnsOf({ ...given, groups: groups.map((name) => ids.get(name) ?? name) });
  }

  /** What one stream signs must be valid at no other one. Throws invalid_input. */
  async function assertOwn(id: string, secret: string | undefined, tx: Tx): Promise<void> {
    if (secret === undefined) return;
    const rows = await tx.eventStream.findMany({ where: { id: { not: id }, kind: { in: ['webhook', 'alert'] } } });
    if (rows.some((row) => secretsOf(row).includes(secret))) throw invalidInput([fault(['secret'], 'secret-in-use')]);
  }

  async function changeable(id: string, source: 'local' | 'file', tx: Tx): Promise<EventStream> {
    const before = await get(id, tx);
    if (before.source === 'file' && source !== 'file') throw ownedByFile('event-stream', before);
    return before;
  }

  return {
    /** Whether there are streams, as this process knew half a minute ago at most: a request never waits for the answer. */
    areAny(): boolean {
      const at = now().getTime();
      if (Math.abs(at - known.readAt) > KNOWN_MS) {
        known.readAt = at;
        const note = (count: number) => {
          known.areAny = count > 0;
        };
        db.eventStream.count({ where: { enabled: true } }).then(note, () => {}); // a later request reads it again
      }
      return known.areAny;
    },

    /** Throws not_found (404). */
    get,

    /** The stream of this receiver of shared signals: each application has one at most. */
    async ofReceiver({ id, clientId }: { id: string; clientId: string }, tx: Tx = db): Promise<EventStream[]> {
      const where = { kind: 'ssf', applications: JSON.stringify([clientId]) };
      const rows = await tx.eventStream.findMany({ where });
      return rows.map(streamOf).filter(({ receiver }) => receiver?.applicationId === id);
    },

    /** What the receiver of shared signals changes itself. A stream that it disabled begins again with the events to come. */
    changeReceiver: (stream: EventStream, change: ReceiverChange, by: Actor) =>
      transaction(db, async (tx): Promise<EventStream> => {
        const { id } = stream;
        const { authorization, receiver, events, status, reason = null, ...declared } = change;
        const at = now();
        const chosen = receiver ?? stream.receiver;
        const isPaused = status === undefined ? stream.receiver?.isPaused : status === 'paused';
        const choices = defined({
          ...declared,
          receiver: chosen && JSON.stringify({ ...chosen, isPaused }),
          events: events && JSON.stringify(events),
          secretSealed: authorization && seal(id, authorization),
        });
        const ofStatus = status && {
          ...NO_FAILURES,
          enabled: status !== 'disabled',
          pausedAt: status === 'paused' ? at : null,
          lastError: status === 'enabled' ? null : reason,
          ...(!stream.enabled && { cursor: await headOf(tx) }),
        };
        if (status === 'disabled')
          await tx.eventDelivery.deleteMany({ where: { streamId: id, doneAt: null, failedAt: null } });
        const data = { ...choices, ...ofStatus, updatedAt: at };
        await tx.eventStream.update({ where: { id }, data, select: { id: true } });
        await record('updated', stream, by, tx, { after: { ...logged(declared), receiver, events, status } });
        wake('event-streams', tx);
        return get(id, tx);
      }),

    /** By name. Those that another program wrote are left out. */
    async list(): Promise<EventStream[]> {
      const rows = await db.eventStream.findMany({ orderBy: { name: 'asc' } });
      return withNames(rows.map(streamOf), db);
    },

    /**
     * A new stream, from the events to come. `secret` is made where requests are signed and none is given. Throws conflict (409) for a name that
     * exists, and for too many.
     */
    create: (
      given: StreamDeclaration,
      secret: string | undefined,
      by: Actor,
      {
        source = 'local',
        id = randomId(),
        receiver,
        tx,
      }: StreamChange & { id?: string; receiver?: SignalReceiver } = {},
    ) =>
      withinTransaction(db, tx, async (own): Promise<{ stream: EventStream; secret: string | undefined }> => {
        const isReceiver = given.kind === 'ssf';
        const most = isReceiver ? MOST_RECEIVERS : MOST_STREAMS;
        const kind = isReceiver ? given.kind : { not: 'ssf' };
        if ((await own.eventStream.count({ where: { kind } })) >= most)
          throw conflict('conflict', { message: t('console.event-streams.error.too-many', { count: most }) });
        if (isSigned(given)) await assertOwn(id, secret, own);
        const made = secret ?? (isSigned(given) ? newWebhookSecret() : undefined);
        const at = now();
        const data = {
          id,
          ...(await storedColumns(given, [], own)),
          receiver: receiver ? JSON.stringify(receiver) : '',
          source,
          secretSealed: made === undefined ? null : seal(id, made),
          previousSecretSealed: null,
          previousUntil: null,
          cursor: await headOf(own),
          createdAt: at,
          updatedAt: at,
        };
        await own.eventStream.create({ data }).catch(throwTaken);
        known.areAny = true;
        await record('created', { id, name: given.name }, by, own, { after: logged(given) });
        return { stream: await get(id, own), secret: made };
      }),

    /**
     * Throws as `create` does, not_found (404), owned_by_file (403), and invalid_input for another kind or for a token that would go to another
     * origin: `secret` is the one for there.
     */
    update: (
      id: string,
      given: StreamDeclaration,
      by: Actor,
      { source = 'local', tx, secret }: StreamChange & { secret?: string | undefined } = {},
    ) =>
      withinTransaction(db, tx, async (own): Promise<EventStream> => {
        const stored = notOfReceiver(await changeable(id, source, own));
        const faults = changeFaults(stored, given, stored.kind === 'siem' || source === 'file' ? secret : undefined);
        if (faults.length > 0) throw invalidInput(faults);
        const before = declarationOf(stored);
        const secrets = stored.kind === 'siem' && secret !== undefined ? { secretSealed: seal(id, secret) } : {};
        const columns = await storedColumns(given, before.groups, own);
        const data = { ...columns, ...secrets, source, updatedAt: now() };
        await own.eventStream.update({ where: { id }, data, select: { id: true } }).catch(throwTaken);
        const difference = { before: logged(before), after: logged(given) };
        if (!isDeepStrictEqual(before, declarationOf(given)))
          await record('updated', { id, name: given.name }, by, own, difference);
        wake('event-streams', own);
        return get(id, own);
      }),

    remove: (id: string, by: Actor, { source = 'local', tx }: StreamChange = {}) =>
      withinTransaction(db, tx, async (own): Promise<void> => {
        const { name } = await changeable(id, source, own);
        await own.eventStream.delete({ where: { id }, select: { id: true } });
        await record('deleted', { id, name }, by, own);
      }),

    /**
     * Replaces the secret, and returns the new one. One that signed signs too, for seven days. Throws invalid_input for an alert by email, for a
     * secret of another stream, and for a SIEM without a token.
     */
    changeSecret: (id: string, given: string | undefined, by: Actor, { source = 'local', tx }: StreamChange = {}) =>
      withinTransaction(db, tx, async (own): Promise<string> => {
        const stored = notOfReceiver(await changeable(id, source, own));
        const { name } = stored;
        if (recipientsOf(stored.url)) throw invalidInput([fault(['secret'], 'not-with', { key: 'url: mailto:' })]);
        if (isSigned(stored)) await assertOwn(id, given, own);
        else if (given === undefined) throw invalidInput([fault(['secret'], 'empty')]);
        const row = await own.eventStream.findUniqueOrThrow({ where: { id } });
        const secret = given ?? newWebhookSecret();
        const previous = isSigned(stored) ? row.secretSealed : null;
        const data = {
          secretSealed: seal(id, secret),
          previousSecretSealed: previous,
          previousUntil: previous === null ? null : new Date(now().getTime() + OVERLAP_DAYS * DAY_MS),
          updatedAt: now(),
        };
        await own.eventStream.update({ where: { id }, data, select: { id: true } });
        await record('secret-changed', { id, name }, by, own);
        return secret;
      }),

    secretsOf,

    async secrets(id: string): Promise<string[]> {
      const row = await db.eventStream.findUnique({ where: { id } });
      return row ? secretsOf(row) : [];
    },

    /** Sends again what waits, at once: after a pause, or instead of the next attempt. */
    resume: (id: string, by: Actor) =>
      withinTransaction(db, undefined, async (tx): Promise<EventStream> => {
        const stream = await get(id, tx);
        if (stream.receiver?.isPaused) notOfReceiver(stream);
        const data = { ...NO_FAILURES, pausedAt: null };
        await tx.eventStream.update({ where: { id }, data, select: { id: true } });
        await tx.eventDelivery.updateMany({
          where: { streamId: id, doneAt: null, failedAt: null },
          data: { nextTryAt: now() },
        });
        await record('resumed', stream, by, tx);
        wake('event-streams', tx);
        return get(id, tx);
      }),

    /**
     * Sends the events of a time again, beside the new ones; returns how many positions of the log that are. Throws conflict (409) for an alert, and
     * while events of another replay wait.
     */
    replay: (id: string, { from, until }: { from: Date; until: Date }, by: Actor) =>
      withinTransaction(db, undefined, async (tx): Promise<number> => {
        const stream = notOfReceiver(await get(id, tx));
        if (stream.kind === 'alert')
          throw conflict('conflict', { message: t('console.event-streams.error.alert-replay') });
        const isWaiting = { streamId: id, isReplay: true, tries: 0, doneAt: null, failedAt: null };
        const running = conflict('conflict', { message: t('console.event-streams.replay.running') });
        if (await tx.eventDelivery.findFirst({ where: isWaiting, select: { id: true } })) throw running;
        const where = { at: { gte: from, lt: until }, chainSeq: { not: null, lte: stream.cursor } };
        const { _min, _max } = await tx.auditEvent.aggregate({
          where,
          _min: { chainSeq: true },
          _max: { chainSeq: true },
        });
        if (_min.chainSeq === null || _max.chainSeq === null) return 0;
        const data = { replayCursor: _min.chainSeq - 1, replayUntil: _max.chainSeq };
        const { count } = await tx.eventStream.updateMany({ where: { id, replayUntil: null }, data });
        if (count === 0) throw running;
        await record('replayed', stream, by, tx, { from, until });
        wake('event-streams', tx);
        return _max.chainSeq - _min.chainSeq + 1;
      }),

    /** Sends a delivery again that is done or was given up; false where the stream has none with this id. */
    redeliver: (streamId: string, id: string, by: Actor) =>
      withinTransaction(db, undefined, async (tx): Promise<boolean> => {
        const data = { doneAt: null, failedAt: null, tries: 0, nextTryAt: now() };
        const isOver = { OR: [{ doneAt: { not: null } }, { failedAt: { not: null } }] };
        const where = { id, streamId, seq: { not: TEST_SEQ }, ...isOver };
        const { count } = await tx.eventDelivery.updateMany({ where, data });
        if (count === 0) return false;
        const { seq } = await tx.eventDelivery.findUniqueOrThrow({ where: { id }, select: { seq: true } });
        await record('redelivered', await get(streamId, tx), by, tx, { seq });
        wake('event-deliveries', tx);
        return true;
      }),

    /** Records that a test was sent. */
    tested: (stream: EventStream, isTaken: boolean, by: Actor) =>
      transaction(db, (tx) => record('tested', stream, by, tx, { ok: isTaken })),

    /** Hands a stream of the configuration file back; false where it owns none with this id. */
    async release(id: string, tx: Tx): Promise<boolean> {
      const data = { source: 'local', updatedAt: now() };
      return (await tx.eventStream.updateMany({ where: { id, source: 'file' }, data })).count > 0;
    },
  };
}

type Named = { id: string; name: string };

interface ReceiverChange {
  url?: string;
  receiver?: SignalReceiver;
  events?: readonly string[];
  /** The header of a push; null: none. */
  authorization?: string | null | undefined;
  status?: 'enabled' | 'paused' | 'disabled';
  /** Of the status. */
  reason?: string | undefined;
}

/** An address without what may be a credential: `https://hooks.example.com/…`, or the addresses of a mail. */
export const addressOf = (url: string): string =>
  recipientsOf(url)?.join(', ') ?? (/^[^/]+\/\/[^/]+\/?$/.test(url) ? url : `${originOf(url)}/…`);

/** Scheme, host and port, also of syslog. */
function originOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/** The declaration of a stream, as the API and the configuration file have it. */
export function declarationOf(stream: StreamDeclaration): StreamDeclaration {
  const { name, kind, url, format, events, applications, groups, body, enabled } = stream;
  const { at_least, within_minutes, quiet_minutes } = stream;
  return {
    name,
    kind,
    url,
    format,
    events,
    applications,
    groups,
    body,
    at_least,
    within_minutes,
    quiet_minutes,
    enabled,
  };
}

function columnsOf(given: StreamDeclaration) {
  const { events, applications, groups, at_least, within_minutes, quiet_minutes, ...same } = declarationOf(given);
  return {
    ...same,
    events: JSON.stringify(events),
    applications: JSON.stringify(applications),
    groups: JSON.stringify(groups),
    atLeast: at_least,
    withinMinutes: within_minutes,
    quietMinutes: quiet_minutes,
  };
}

/** A row of `event_streams`. */
export type StreamRow = NonNullable<Awaited<ReturnType<Db['eventStream']['findFirst']>>>;

/** A pattern of another version is kept, and means no event. */
export function streamOf(row: StreamRow): EventStream {
  const { id, createdAt, updatedAt, cursor, replayUntil } = row;
  const { failingSince, retryAt, pausedAt, lastError, lastSuccessAt } = row;
  const list = (text: string) => JSON.parse(text) as string[];
  const lists = { events: list(row.events), applications: list(row.applications), groups: list(row.groups) };
  const alert = { at_least: row.atLeast, within_minutes: row.withinMinutes, quiet_minutes: row.quietMinutes };
  const declaration = declarationOf({ ...(row as unknown as StreamDeclaration), ...lists, ...alert });
  const state = { cursor, replayUntil, failingSince, retryAt, pausedAt, lastError, lastSuccessAt };
  const source = row.source === 'file' ? 'file' : 'local';
  const receiver = row.receiver === '' ? undefined : (JSON.parse(row.receiver) as SignalReceiver);
  return { id, ...declaration, source, receiver, hasSecret: row.secretSealed !== null, createdAt, updatedAt, ...state };
}

function throwTaken(error: unknown): never {
  if (!isUniqueConstraintError(error)) throw error;
  throw conflict('conflict', { faults: [textFault(['name'], t('console.event-streams.error.taken'))], cause: error });
}

// The secret of a webhook, and the signatures with it (Standard Webhooks 1.0).

/** Bytes of a secret, in Base64 after this prefix. */
const SECRET = { prefix: 'whsec_', least: 24, most: 64, made: 32 };
const newWebhookSecret = (): string => `${SECRET.prefix}${randomBytes(SECRET.made).toString('base64')}`;

function isWebhookSecret(secret: string): boolean {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const { length } = Buffer.from(encoded, 'base64');
  return length >= SECRET.least && length <= SECRET.most;
}

/** The header `webhook-signature`: HMAC-SHA-256 over id, time and body under each secret. */
export function signatures(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  const one = (secret: string) => {
    const key = Buffer.from(secret.slice(SECRET.prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  };
  return secrets.map(one).join(' ');
}
