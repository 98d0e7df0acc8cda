// From the audit chain to the receivers. A job reads the sealed events after the cursor of each stream and stores deliveries; the cursor moves
// in the same transaction, so no event is lost or fanned out twice. The chain has no gap and no late entry, which the ids of the log have on
// PostgreSQL. The deliveries are jobs of a queue (core/jobs/queue.ts) with a lane for each stream.
//
// A receiver that does not answer costs one attempt for each pause: its stream waits (`retryAt`), and only some of its events are fanned out
// (MOST_OPEN). The rest stays in the audit log.

import type { ApplicationServices } from '../../applications/application-services.ts';
import { limits } from '../../base/limits.ts';
import { OutgoingError } from '../../base/network/outgoing-fetch.ts';
import { randomId } from '../../base/platform/random.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { hotStatements } from '../../base/storage/statements.ts';
import { unavailableIn } from '../../base/storage/unavailable.ts';
import type { AuditEventType } from '../../core/audit/events.ts';
import type { Core } from '../../core/core.ts';
import { createOutages, isTried, NO_FAILURES } from '../../core/jobs/outages.ts';
import {
  type AttemptResult,
  createJobQueue,
  type JobOutcome,
  jobTable,
  type QueueStore,
} from '../../core/jobs/queue.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import { bodiesOf, chosen, type EventBody, hasType, matching, ofTypes, type SealedEvent } from './event.ts';
import { createSecurityEvents, signalTypes } from './security-events.ts';
import { type Answer, createSender, queueAlert } from './send.ts';
import { type EventStream, type EventStreams, recipientsOf, type StreamRow, streamOf } from './streams.ts';

/** Events that one turn finds, and a batch has at most. */
const PAGE = 500;
/** Pages of an alert, which has all events since the last one. */
const PAGES_OF_ALERT = 200;
/** Positions that the row of a delivery names. */
const MOST_POSITIONS = 5000;
/** Positions of the log that one statement goes through. */
const WINDOW = 10_000;
/** Reads of the log that streams share in a turn. */
const MOST_SHARED = 3;
/** Events that are read to count as many as `at_least`: its largest value. */
const MOST_COUNTED = 1000;
/** Events that an alert lists. */
const LISTED = 20;
/** Types that an alert tells of at once, whatever it told of before. */
const urgentTypes: readonly AuditEventType[] = ['administrator.added', 'factors.reset', 'integrity.alarm'];
/** The least time between two alerts of those. */
const URGENT_MS = 60_000;
/** Deliveries that wait at once, of one stream. */
const MOST_OPEN = { webhook: 2000, siem: 4, alert: 1, ssf: 2000 };
/** Batches go one after the other, in order. */
const LANE = { webhook: 2, siem: 1, alert: 1, ssf: 1 };
/** Kinds with a delivery for each event. */
const isSingle = (kind: EventStream['kind']) => kind === 'webhook' || kind === 'ssf';
const LEASE_SECONDS = 60;
const POLL_SECONDS = 5;
/** Seconds before each further attempt of one event, as Standard Webhooks recommends: about three days in all. */
const PAUSES = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
const MAX_TEXT = 500;
/** Statuses that are about the receiver and not about the event. */
const OF_RECEIVER = [401, 403, 404, 408, 425, 429];
/** Characters of details in one batch. */
const BATCH_LENGTH = 1_000_000;
/** The condition of a delivery that is not over. */
export const OPEN = { doneAt: null, failedAt: null };
/** The status for a body that is too large (RFC 9110 15.5.14). */
const TOO_LARGE = 413;

const deliveryTable = jobTable('event_deliveries');

// Hot statements, because each event to a webhook makes them.
export const statements = hotStatements('event-deliveries', {
  complete: `UPDATE event_deliveries SET done_at = ?, last_error = NULL, answer = ?
    WHERE id = ? AND done_at IS NULL AND failed_at IS NULL`,
  events: `SELECT id, at, type, outcome, reason, actor_id AS "actorId", actor_app AS "actorApp", subject_id AS "subjectId",
    client_id AS "clientId", address, user_agent AS "userAgent", request_id AS "requestId", data, digest, erased_by AS "erasedBy",
    chain_seq AS "chainSeq", chain_hash AS "chainHash"
    FROM audit_events WHERE chain_seq IN (?, ?)`,
});

/** A delivery with its stream as they are stored. */
interface Delivery {
  id: string;
  lane: string;
  tries: number;
  lastError: string | null;
  seq: number;
  untilSeq: number;
  afterSeq: number | null;
  /** Of a batch whose events applications or groups chose. */
  positions: string | null;
  isReplay: boolean;
  createdAt: Date;
  stream: EventStream;
  /** Of the stream: its secret belongs to the address that was read with it. */
  row: StreamRow;
}

/** What an attempt sends: a Security Event Token, or events. Neither: the log, or the stream, has the event no more. */
interface Content {
  token?: string | undefined;
  events: readonly SealedEvent[];
  /** The event of the stream before them. */
  before?: SealedEvent | undefined;
  /** How many events there are: an alert lists some of them. */
  count: number;
}

/** Which events of the audit log. */
type EventsWhere = NonNullable<NonNullable<Parameters<Core['db']['auditEvent']['findMany']>[0]>['where']>;

/** What all streams share in one run of the job. */
interface Turn {
  /** The position of the newest event in the chain. */
  head: number;
  read: ReturnType<typeof sharedReads>;
}

/** A stream that is on, and how many more deliveries of it, or of its replay, may wait. */
interface Target {
  row: StreamRow;
  stream: EventStream;
  room: number;
}

/** What one turn stores for a stream. */
interface Plan {
  id: string;
  /** The stream as it was read, so that a change by others stores nothing. */
  where: object;
  /** Where its cursor goes. */
  data: object;
  deliveries: (Range & {
    id: string;
    streamId: string;
    isReplay: boolean;
    tries: number;
    nextTryAt: Date;
    createdAt: Date;
  })[];
  hasMore: boolean;
}

/** @param countDelivery counts in the metrics */
export function createEventDeliveries(
  services: Core & ApplicationServices & { eventStreams: EventStreams },
  countDelivery: (outcome: JobOutcome) => void = () => {},
) {
  const { db, now, audit, logger, notifyAdministrators, eventStreams, wake } = services;
  const send = createSender(services);
  const securityEvents = createSecurityEvents(services);

  /**
   * The next events of the stream, or of its replay; undefined where there are none, or enough are waiting. Removes the stream of a deleted
   * application.
   * @param open how many wait
   */
  async function planOf(
    row: StreamRow,
    { isReplay, open }: { isReplay: boolean; open: number },
    turn: Turn,
  ): Promise<Plan | undefined> {
    const stream = streamOf(row);
    if (stream.kind === 'ssf' && !(await securityEvents.ownerOf(stream))) {
      await eventStreams.remove(row.id, {});
      return undefined;
    }
    if (!row.enabled || row.pausedAt) return undefined;
    const target = { row, stream, room: MOST_OPEN[stream.kind] - open };
    return isReplay ? planOfReplay(target, turn) : planOfStream(target, turn);
  }

  async function planOfStream(target: Target, { head: end, read }: Turn): Promise<Plan | undefined> {
    const { row, stream, room } = target;
    const { id, cursor, lastSeq } = row;
    const wasQuiet = isQuiet(row);
    if (wasQuiet && !(await endsQuiet(row, stream))) return undefined;
    if (end <= cursor || room <= 0) return undefined;
    // Events from before the stream may have joined the chain after its creation.
    const { seqs, last } = await nextEvents(target, { cursor, end, since: stream.createdAt }, read);
    return {
      id,
      where: { id, enabled: true, pausedAt: null, cursor },
      data: { cursor: last, lastSeq: seqs.at(-1), ...(wasQuiet && { retryAt: null }) },
      deliveries: deliveriesOf(rangesOf(seqs, stream, lastSeq), { streamId: id, isReplay: false }),
      hasMore: last < end,
    };
  }

  async function planOfReplay(target: Target, { read }: Turn): Promise<Plan | undefined> {
    const { row, stream, room } = target;
    const { id } = row;
    const [cursor, end] = [row.replayCursor ?? 0, row.replayUntil ?? 0];
    if (isQuiet(row) || room <= 0) return undefined;
    const { seqs, last } = await nextEvents(target, { cursor, end }, read);
    const before = seqs[0] === undefined ? null : await previous(stream, seqs[0]);
    return {
      id,
      where: { id, enabled: true, pausedAt: null, replayCursor: cursor },
      data: last < end ? { replayCursor: last } : { replayCursor: null, replayUntil: null },
      deliveries: deliveriesOf(rangesOf(seqs, stream, before), { streamId: id, isReplay: true }),
      hasMore: last < end,
    };
  }

  function deliveriesOf(ranges: readonly Range[], of: { streamId: string; isReplay: boolean }): Plan['deliveries'] {
    const at = now();
    return ranges.map((range) => ({ id: randomId(), ...range, ...of, tries: 0, nextTryAt: at, createdAt: at }));
  }

  /** The positions of the events behind `cursor`, up to `end`, that the stream gets next, and the last position that was looked at. */
  async function nextEvents(
    { stream, room }: Target,
    { cursor, end, since }: { cursor: number; end: number; since?: Date },
    read: Turn['read'],
  ): Promise<{ seqs: number[]; last: number }> {
    const take = isSingle(stream.kind) ? Math.min(PAGE, room) : PAGE;
    const pages = stream.kind === 'alert' ? PAGES_OF_ALERT : 1;
    const seqs: number[] = [];
    let last = cursor;
    for (let page = 0; page < pages && last < end; page += 1) {
      const until = Math.min(end, last + WINDOW);
      const inWindow = await read({ chainSeq: { gt: last, lte: until }, ...typesOf(stream) }, take);
      const events = withinSize(inWindow);
      // With all events of the window, the next turn begins behind it.
      const isWhole = events.length === inWindow.length && inWindow.length < take;
      last = isWhole ? until : (events.at(-1)?.chainSeq ?? until);
      const own = since ? events.filter(({ at }) => at >= since) : events;
      const wanted = stream.kind === 'ssf' ? securityEvents.matching(own, stream) : matching(own, stream, services);
      seqs.push(...(await wanted).flatMap(({ chainSeq }) => chainSeq ?? []));
    }
    return { seqs, last };
  }

  /** Whether it is too early for another alert, which has all events since the last one then. */
  const isQuiet = ({ kind, retryAt }: StreamRow) => kind === 'alert' && retryAt !== null && retryAt > now();

  /** Whether an alert has an event of `urgentTypes`, for which its quiet time ends. */
  async function endsQuiet({ cursor, failingSince, lastSuccessAt }: StreamRow, stream: EventStream): Promise<boolean> {
    const since = now().getTime() - (lastSuccessAt?.getTime() ?? 0);
    const types = urgentTypes.filter((type) => hasType(stream, type));
    if (stream.at_least > 1 || failingSince !== null || since < URGENT_MS || types.length === 0) return false;
    const where = { chainSeq: { gt: cursor }, type: { in: types }, at: { gte: stream.createdAt } };
    const found = await db.auditEvent.findMany({ where, take: PAGE });
    return (await matching(found, stream, services)).length > 0;
  }

  /** The position of the event of the stream before this one; null where groups choose, whose members have changed since. */
  async function previous(stream: EventStream, seq: number): Promise<number | null> {
    if (stream.groups.length > 0) return null;
    const take = stream.applications.length > 0 ? PAGE : 1;
    const where = { chainSeq: { lt: seq }, ...typesOf(stream) };
    const found = await db.auditEvent.findMany({ where, orderBy: { chainSeq: 'desc' }, take });
    return chosen(found, stream)[0]?.chainSeq ?? null;
  }

  /** Moves the cursors and stores the deliveries in one transaction; those that were stored. */
  const store = (plans: readonly Plan[]) =>
    transaction(db, async (tx) => {
      const stored: Plan[] = [];
      for (const plan of plans) {
        const { count } = await tx.eventStream.updateMany({ where: plan.where, data: plan.data });
        // Another instance was first, or the stream was stopped.
        if (count !== 1) continue;
        if (plan.deliveries.length > 0) await tx.eventDelivery.createMany({ data: plan.deliveries });
        stored.push(plan);
      }
      return stored;
    });

  /** All streams go through the log side by side: those with the same events share what is read. */
  async function fanOutAll(signal: AbortSignal): Promise<void> {
    let count = 0;
    const head = await db.auditChain.findUnique({ where: { id: 'head' }, select: { seq: true } });
    const turn = { head: head?.seq ?? 0, read: sharedReads(services) };
    let rows = await db.eventStream.findMany({ orderBy: { id: 'asc' } });
    while (rows.length > 0 && !signal.aborted) {
      const unfinished: string[] = [];
      for await (const { id, deliveries, hasMore } of fanOut(rows, turn)) {
        count += deliveries.length;
        if (hasMore) unfinished.push(id);
      }
      const where = { id: { in: unfinished } };
      rows = unfinished.length > 0 ? await db.eventStream.findMany({ where, orderBy: { id: 'asc' } }) : [];
    }
    if (count > 0) wake('event-deliveries', db);
  }

  /** Plans the next events of each stream and of its replay, stores the plans of several streams in one commit, and yields those that were stored. */
  async function* fanOut(rows: readonly StreamRow[], turn: Turn): AsyncGenerator<Plan> {
    const waiting = await db.eventDelivery.groupBy({ by: ['streamId', 'isReplay'], where: OPEN, _count: true });
    let plans: Plan[] = [];
    for (const row of rows)
      for (const isReplay of row.replayUntil === null ? [false] : [false, true])
        try {
          const open = waiting.find((one) => one.streamId === row.id && one.isReplay === isReplay)?._count ?? 0;
          const plan = await planOf(row, { isReplay, open }, turn);
          if (plan) plans.push(plan);
          if (plans.reduce((sum, { deliveries }) => sum + deliveries.length, 0) < PAGE) continue;
          yield* await store(plans);
          plans = [];
        } catch (err) {
          if (unavailableIn(err)) throw err;
          // The others are not to wait for it.
          logger.error({ err, stream: row.name }, 'events were not read for a stream');
        }
    if (plans.length > 0) yield* await store(plans);
  }

  async function contentOf(delivery: Delivery): Promise<Content | 'too few'> {
    const { id, stream } = delivery;
    if (stream.kind === 'alert') return alertOf(delivery);
    if (stream.kind === 'ssf') {
      const tokens = await securityEvents.tokensOf([delivery], stream);
      return { token: tokens.get(id), events: [], count: 0 };
    }
    const { events, before } = await eventsOf(delivery, services);
    return { events, before, count: events.length };
  }

  async function attempt(delivery: Delivery): Promise<AttemptResult> {
    const { id, seq, stream, row } = delivery;
    const content = await contentOf(delivery);
    if (content === 'too few') return { outcome: 'done', detail: content };
    const { token, events, before, count } = content;
    if (token === undefined && events.length === 0)
      return { outcome: 'give-up', reason: 'the audit log or the stream has the event no more' };
    const body = stream.kind === 'alert' ? 'full' : stream.body;
    const bodies = token === undefined ? await bodiesOf(events, { body, before }, db) : [];
    if (stream.kind === 'alert' && recipientsOf(stream.url)) return mail(delivery, bodies, count);
    const secrets = eventStreams.secretsOf(row);
    const webhookId = stream.kind === 'webhook' ? webhookIdOf(seq, bodies[0]?.chain.hash ?? '') : id;
    let answer: Answer;
    try {
      answer = await send(stream, bodies, { id: webhookId, secrets, token, count });
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error;
      return away(stream, error.message);
    }
    return resultOf(delivery, answer, events);
  }

  async function resultOf(delivery: Delivery, answer: Answer, events: readonly SealedEvent[]): Promise<AttemptResult> {
    const { stream } = delivery;
    const { status, text, retryAfterSeconds } = answer;
    const reason = `answered with status ${status}${text && `: ${text}`}`.slice(0, MAX_TEXT);
    switch (meaningOf(answer, stream.kind)) {
      case 'taken':
        await succeeded(stream);
        return { outcome: 'done', detail: String(status) };
      case 'ended':
        await outages.ended(stream, reason);
        return { outcome: 'retry', reason, closesLane: true, pauseSeconds: 5 };
      case 'away':
        return away(stream, reason, retryAfterSeconds);
      case 'too large':
        return events.length > 1 ? halve(delivery, events, reason) : rejected(delivery, reason);
      case 'rejected':
        return rejected(delivery, reason);
    }
  }

  /** The receiver does not want this event: it is tried again for three days. */
  async function rejected(delivery: Delivery, reason: string): Promise<AttemptResult> {
    const { tries, stream } = delivery;
    // A receiver that rejects all events, such as one with another secret, is paused after three days.
    const tookNothing = stream.lastSuccessAt === null || stream.lastSuccessAt < delivery.createdAt;
    if (tookNothing && (await outages.rejected(stream, reason)))
      return { outcome: 'retry', reason, pauseSeconds: 1, closesLane: true, isUncounted: true };
    // RFC 8935 2.3: the receiver cannot use this token.
    const pauseSeconds = stream.kind === 'ssf' ? undefined : PAUSES[tries];
    return pauseSeconds === undefined ? { outcome: 'give-up', reason } : { outcome: 'retry', reason, pauseSeconds };
  }

  /** Two smaller batches in place of one; each is tried, and halved again if need be. */
  async function halve(delivery: Delivery, events: readonly SealedEvent[], reason: string): Promise<AttemptResult> {
    const { id, positions, row } = delivery;
    const seqs = events.flatMap(({ chainSeq }) => chainSeq ?? []);
    const middle = Math.floor(seqs.length / 2);
    const [first, second] = [seqs.slice(0, middle), seqs.slice(middle)];
    const [last = 0, next = 0] = [first.at(-1), second[0]];
    const listed = (seqs: readonly number[]) => (positions === null ? null : JSON.stringify(seqs));
    const at = now();
    await transaction(db, async (tx) => {
      const data = { untilSeq: last, positions: listed(first) };
      const { count } = await tx.eventDelivery.updateMany({ where: { id, ...OPEN }, data });
      if (count === 0) return;
      const rest = { isReplay: delivery.isReplay, tries: 0, nextTryAt: at, createdAt: at };
      const range = { seq: next, untilSeq: delivery.untilSeq, afterSeq: last, positions: listed(second) };
      await tx.eventDelivery.create({ data: { id: randomId(), streamId: row.id, ...range, ...rest } });
    });
    return { outcome: 'retry', reason, pauseSeconds: 1, isUncounted: true };
  }

  /** Queues the alert as a mail, unless another instance did after this one's lease had ended. */
  async function mail({ id, stream }: Delivery, events: readonly EventBody[], total: number): Promise<AttemptResult> {
    await transaction(db, async (tx) => {
      const data = { doneAt: now(), lastError: null, answer: 'queued' };
      const { count } = await tx.eventDelivery.updateMany({ where: { id, ...OPEN }, data });
      if (count === 0) return;
      await queueAlert(services, stream, { events, count: total }, tx);
      await succeeded(stream, tx);
    });
    return { outcome: 'done', detail: 'queued' };
  }

  /** The events of an alert, with those before them since the last alert in the time that the stream names. */
  async function alertOf({ seq, untilSeq, positions, stream }: Delivery): Promise<Content | 'too few'> {
    const chosenSeqs = positions === null ? undefined : (JSON.parse(positions) as number[]);
    const types = typesOf(stream);
    const where = { chainSeq: chosenSeqs ? { in: chosenSeqs } : { gte: seq, lte: untilSeq }, ...types };
    if (stream.at_least === 1) return summaryOf(where);
    const newest = await db.auditEvent.findMany({ where, orderBy: { chainSeq: 'desc' }, take: MOST_COUNTED });
    const earlier = await earlierThan(seq, stream);
    if (!isBurst([...earlier, ...newest], stream)) return 'too few';
    const earlierSeqs = earlier.flatMap(({ chainSeq }) => chainSeq ?? []);
    const first = Math.min(seq, ...earlierSeqs);
    const chainSeq = chosenSeqs ? { in: [...earlierSeqs, ...chosenSeqs] } : { gte: first, lte: untilSeq };
    return summaryOf({ chainSeq, ...types });
  }

  /** How many events there are; an alert lists the newest of each type, the rarest types first, so that many of one type hide no other. */
  async function summaryOf(where: EventsWhere): Promise<Content> {
    const types = await db.auditEvent.groupBy({ by: ['type'], where, _count: true });
    types.sort((one, other) => one._count - other._count);
    const listed: SealedEvent[] = [];
    for (const [index, { type }] of types.entries()) {
      const take = Math.ceil((LISTED - listed.length) / (types.length - index));
      if (take > 0)
        listed.push(
          ...(await db.auditEvent.findMany({ where: { ...where, type }, orderBy: { chainSeq: 'desc' }, take })),
        );
    }
    listed.sort((one, other) => (one.chainSeq ?? 0) - (other.chainSeq ?? 0));
    return { events: listed, count: types.reduce((sum, { _count }) => sum + _count, 0) };
  }

  /** The events of an alert before this position since the last alert, in the time that the stream names. */
  async function earlierThan(seq: number, stream: EventStream): Promise<SealedEvent[]> {
    const { within_minutes: within, lastSuccessAt, createdAt } = stream;
    const first = await db.auditEvent.findFirst({ where: { chainSeq: seq } });
    if (!first) return [];
    const since = new Date(Math.max(first.at.getTime() - within * 60_000, (lastSuccessAt ?? createdAt).getTime()));
    const found = await db.auditEvent.findMany({
      where: { chainSeq: { lt: seq }, at: { gt: since }, ...typesOf(stream) },
      orderBy: { chainSeq: 'desc' },
      take: MOST_COUNTED,
    });
    return matching(found.reverse(), stream, services);
  }

  /** Nothing follows an alert for a while, so that many events make few of them. */
  async function succeeded(
    { id, kind, quiet_minutes, lastSuccessAt, failingSince }: EventStream,
    tx: Tx = db,
  ): Promise<void> {
    const at = now();
    // Once a minute is enough, but for an alert and after failures.
    const isNoted = lastSuccessAt !== null && at.getTime() - lastSuccessAt.getTime() <= 60_000;
    if (kind !== 'alert' && isNoted && failingSince === null) return;
    const retryAt = kind === 'alert' ? new Date(at.getTime() + quiet_minutes * 60_000) : null;
    const data = { ...NO_FAILURES, lastSuccessAt: at, retryAt };
    await tx.eventStream.updateMany({ where: { id }, data });
  }

  /** The receiver is away: its stream waits, and after three days it is paused. The attempt does not count for the event. */
  async function away(stream: EventStream, reason: string, pauseSeconds?: number): Promise<AttemptResult> {
    logger.warn({ stream: stream.name, reason }, 'an event stream cannot be delivered');
    await outages.failed(stream, reason, pauseSeconds);
    // At the stream's next attempt, so that the order stays.
    return { outcome: 'retry', reason, pauseSeconds: 1, closesLane: true, isUncounted: true };
  }

  const outages = createOutages<EventStream>(services, {
    read: ({ id }, tx) => tx.eventStream.findUnique({ where: { id } }),
    write: ({ id }, data, tx) => tx.eventStream.updateMany({ where: { id }, data }),
    async paused({ id, name }, { reason }, tx) {
      const data = { streamId: id, name, answer: reason };
      await audit.record({ type: 'event-stream.paused', outcome: 'failure', data }, tx);
      await notifyAdministrators({ kind: 'event-stream-paused', stream: name, streamId: id, detail: reason }, tx);
    },
  });

  const queue = createJobQueue<Delivery>({
    now,
    store: deliveryStore(services),
    attempt,
    onOutcome: (_delivery, outcome) => countDelivery(outcome),
    leaseSeconds: LEASE_SECONDS,
    reopensLanes: true,
    concurrency: {
      lane: (lane) => LANE[lane.slice(0, lane.indexOf(':')) as EventStream['kind']],
      total: limits.delivery.atOnce,
    },
  });

  const jobs: ScheduledJob[] = [
    { name: 'event-streams', everySeconds: POLL_SECONDS, run: fanOutAll },
    { name: 'event-deliveries', everySeconds: POLL_SECONDS, ...queue },
  ];
  return { jobs };
}

/** Streams at one position of the log that have the same types share what is read. Only the last few reads are kept: one may hold a megabyte. */
function sharedReads({ db }: Core) {
  const reads = new Map<string, Promise<SealedEvent[]>>();
  return (where: EventsWhere, take: number) => {
    const key = JSON.stringify([where, take]);
    const known = reads.get(key);
    if (known) return known;
    const made = db.auditEvent.findMany({ where, orderBy: { chainSeq: 'asc' }, take });
    reads.set(key, made);
    for (const old of [...reads.keys()].slice(0, -MOST_SHARED)) reads.delete(old);
    return made;
  };
}

/** Whether as many of the events as the alert needs happened in the time that it names. */
function isBurst(events: readonly SealedEvent[], { at_least, within_minutes }: EventStream): boolean {
  const times = events.map(({ at }) => at.getTime()).sort((one, other) => one - other);
  const lastOfBurst = (index: number) => times[index + at_least - 1] ?? Number.POSITIVE_INFINITY;
  return times.some((first, index) => lastOfBurst(index) - first < within_minutes * 60_000);
}

/** The first of the events, with no more details than one batch has. */
function withinSize(events: readonly SealedEvent[]): SealedEvent[] {
  let length = 0;
  const end = events.findIndex(({ data }, index) => {
    length += data.length;
    return index > 0 && length > BATCH_LENGTH;
  });
  return end < 0 ? [...events] : events.slice(0, end);
}

export type Range = Pick<Delivery, 'seq' | 'untilSeq' | 'afterSeq' | 'positions'>;

/**
 * The events of a delivery, chosen once more, because its row has no MAC and the stream may have changed, and the one before them. Not by the
 * groups: a person may have left since then.
 */
export async function eventsOf(
  { seq, untilSeq, afterSeq, positions, stream }: Range & { stream: EventStream },
  { db, sql }: Core,
) {
  const near = await sql.query<SealedEvent>(statements.events, seq, afterSeq ?? seq);
  const before = near.find(({ chainSeq }) => chainSeq === afterSeq);
  const chainSeq = positions === null ? { gte: seq, lte: untilSeq } : { in: JSON.parse(positions) as number[] };
  const found =
    seq === untilSeq
      ? near.filter((event) => event.chainSeq === seq && hasType(stream, event.type))
      : await db.auditEvent.findMany({
          where: { chainSeq, ...typesOf(stream) },
          orderBy: { chainSeq: 'asc' },
          take: PAGE,
        });
  return { events: chosen(found, stream), before };
}

/** What the answer says about the receiver, or about what was sent. */
function meaningOf({ status, isDenied }: Answer, kind: EventStream['kind']) {
  if (status >= 200 && status < 300) return 'taken';
  // A SIEM rejects no single event.
  if (kind === 'siem') return status === TOO_LARGE ? 'too large' : 'away';
  if (status === 410) return 'ended';
  // Nor does a receiver that redirects, or knows neither the secret nor the address.
  const isOfReceiver = OF_RECEIVER.includes(status) || (kind === 'ssf' && isDenied);
  return isSingle(kind) && status >= 400 && status < 500 && !isOfReceiver ? 'rejected' : 'away';
}

/** The condition of the types of events that a stream has. */
const typesOf = (stream: EventStream) => (stream.kind === 'ssf' ? { type: { in: [...signalTypes] } } : ofTypes(stream));

/** One delivery for each event, or one for all. @param before position of the event before the first one */
function rangesOf(
  seqs: readonly number[],
  { kind, applications, groups }: EventStream,
  before: number | null,
): Range[] {
  const [first, newest] = [seqs[0], seqs.at(-1)];
  if (first === undefined || newest === undefined) return [];
  const positions = groups.length + applications.length > 0 ? JSON.stringify(seqs.slice(-MOST_POSITIONS)) : null;
  if (!isSingle(kind)) return [{ seq: first, untilSeq: newest, afterSeq: before, positions }];
  return seqs.map((seq, index) => ({ seq, untilSeq: seq, afterSeq: seqs[index - 1] ?? before, positions: null }));
}

/** The table `event_deliveries`, without those of streams that wait, are paused or disabled. */
function deliveryStore(services: Core): QueueStore<Delivery> {
  const { db, sql, now } = services;
  const rows = deliveryTable(services);
  return {
    async due({ limit, exceptLanes }) {
      const at = now();
      const closed = exceptLanes.map((lane) => lane.slice(lane.indexOf(':') + 1));
      const found = await db.eventStream.findMany({
        where: { enabled: true, ...isTried(at), id: { notIn: closed } },
      });
      const streams = found
        .map((row) => ({ row, stream: streamOf(row) }))
        .filter((one) => !one.stream.receiver?.isPolled);
      if (streams.length === 0) return [];
      const deliveries = await db.eventDelivery.findMany({
        where: { ...OPEN, nextTryAt: { lte: at }, streamId: { in: streams.map(({ row }) => row.id) } },
        // A replay waits for what happens now.
        orderBy: [{ isReplay: 'asc' }, { seq: 'asc' }, { createdAt: 'asc' }],
        take: limit,
      });
      return deliveries.flatMap((delivery) => {
        const target = streams.find(({ row }) => row.id === delivery.streamId);
        return target ? { ...delivery, ...target, lane: `${target.row.kind}:${target.row.id}` } : [];
      });
    },
    claim: rows.claim,
    complete: async ({ id }, answer = '') => void (await sql.execute(statements.complete, now(), answer, id)),
    retry: rows.retry,
    giveUp: async ({ id, tries }, reason) =>
      void (await db.eventDelivery.updateMany({
        where: { id, tries: tries + 1, ...OPEN },
        data: { lastError: reason, failedAt: now() },
      })),
    waitAtMost: rows.waitAtMost,
  };
}

/** The header `webhook-id`: the same at each attempt and in a replay. After a restore, another event can have the position. */
export const webhookIdOf = (seq: number, hash: string): string => `evt_${seq}_${hash.slice(0, 16)}`;
