// From the audit chain to the receivers. A job reads the sealed events after the cursor of each stream and stores deliveries; the cursor moves
// in the same transaction, so no event is lost or fanned out twice. The chain has no gap and no late entry, which the ids of the log have on
// PostgreSQL. The deliveries are jobs of a queue (core/jobs/queue.ts) with a lane for each stream.
//
// A receiver that does not answer costs one attempt for each pause: its stream waits (`retryAt`), and only some of its events are fanned out
// (MOST_OPEN). The rest stays in the audit log.
import { OutgoingError } from '../../base/network/outgoing-fetch.ts';
import { randomId } from '../../base/platform/random.ts';
import { transaction } from '../../base/storage/database.ts';
import type { Core } from '../../core/core.ts';
import { type AttemptResult, createJobQueue, type QueueStore } from '../../core/jobs/queue.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import { bodiesOf, matching } from './event.ts';
import { type Answer, createSender } from './send.ts';
import { type EventStream, type EventStreams, streamOf } from './streams.ts';

/** Events that one turn looks at, and a batch of a SIEM has at most. */
const PAGE = 500;
/** Deliveries that wait at once, of one stream. */
const MOST_OPEN = { webhook: 2000, siem: 4 };
/** A SIEM gets its batches one after the other, in order. */
const LANE = { webhook: 2, siem: 1 };
const LEASE_SECONDS = 60;
const POLL_SECONDS = 5;
/** Seconds before each further attempt of one event, as Standard Webhooks recommends: about three days in all. */
const PAUSES = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
/** Seconds before a receiver that is away gets the next attempt. */
const AWAY_PAUSES = [5, 10, 30, 60, 300, 900, 1800, 3600];
const PAUSED_AFTER_MS = 3 * 24 * 3600 * 1000;
const MAX_TEXT = 500;
const OPEN = { doneAt: null, failedAt: null };

/** A delivery with its stream as they are stored. */
interface Delivery {
  id: string;
  lane: string;
  tries: number;
  lastError: string | null;
  seq: number;
  untilSeq: number;
  afterSeq: number | null;
  stream: EventStream;
}

export function createEventDeliveries(services: Core & { eventStreams: EventStreams }) {
  const { db, now, audit, logger, notifyAdministrators, eventStreams, wake } = services;
  const send = createSender(services);

  /** Stores deliveries for the next events of the stream; false when there are none now, or enough are waiting. */
  const fanOut = (id: string): Promise<boolean> =>
    transaction(db, async (tx) => {
      const row = await tx.eventStream.findUnique({ where: { id } });
      if (!row?.enabled || row.pausedAt) return false;
      const stream = streamOf(row);
      const open = await tx.eventDelivery.count({ where: { streamId: id, ...OPEN } });
      const most = MOST_OPEN[stream.kind];
      if (open >= most) return false;
      const isReplay = row.replayUntil !== null;
      const cursor = isReplay ? (row.replayCursor ?? 0) : row.cursor;
      const events = await tx.auditEvent.findMany({
        where: { chainSeq: { gt: cursor, ...(isReplay && { lte: row.replayUntil ?? 0 }) } },
        orderBy: { chainSeq: 'asc' },
        take: stream.kind === 'webhook' ? Math.min(PAGE, most - open) : PAGE,
      });
      const last = events.at(-1)?.chainSeq;
      const isOver = isReplay && (last === undefined || last === null || last >= (row.replayUntil ?? 0));
      if (last === undefined || last === null) {
        if (isOver)
          await tx.eventStream.update({
            where: { id },
            data: { replayCursor: null, replayUntil: null },
            select: { id: true },
          });
        return isOver;
      }
      // Events from before the stream may have joined the chain after its creation.
      const own = isReplay ? events : events.filter(({ at }) => at >= stream.createdAt);
      const seqs = (await matching(own, stream, tx as typeof db)).flatMap(({ chainSeq }) => chainSeq ?? []);
      const [first] = seqs;
      const newest = seqs.at(-1);
      const before = isReplay ? null : row.lastSeq;
      const ranges =
        first === undefined || newest === undefined
          ? []
          : stream.kind === 'siem'
            ? [{ seq: first, untilSeq: newest, afterSeq: before }]
            : seqs.map((seq, index) => ({ seq, untilSeq: seq, afterSeq: seqs[index - 1] ?? before }));
      const at = now();
      if (ranges.length > 0)
        await tx.eventDelivery.createMany({
          data: ranges.map((range) => ({
            id: randomId(),
            streamId: id,
            ...range,
            isReplay,
            tries: 0,
            nextTryAt: at,
            createdAt: at,
          })),
        });
      const position = isReplay
        ? isOver
          ? { replayCursor: null, replayUntil: null }
          : { replayCursor: last }
        : { cursor: last, ...(newest !== undefined && { lastSeq: newest }) };
      // Another instance may have read the same cursor: then it has stored these deliveries, and this transaction has to end.
      const { count } = await tx.eventStream.updateMany({
        where: { id, ...(isReplay ? { replayCursor: cursor } : { cursor }) },
        data: position,
      });
      if (count !== 1) throw new CursorMoved();
      return events.length === PAGE || isOver;
    });

  async function fanOutAll(signal: AbortSignal): Promise<void> {
    for (const { id } of await eventStreams.list())
      try {
        while (!signal.aborted && (await fanOut(id)));
      } catch (error) {
        if (!(error instanceof CursorMoved)) throw error;
      }
    wake('event-deliveries', db);
  }

  async function attempt({ id, seq, untilSeq, afterSeq, tries, stream }: Delivery): Promise<AttemptResult> {
    const rows = await db.auditEvent.findMany({
      where: { chainSeq: { gte: seq, lte: untilSeq } },
      orderBy: { chainSeq: 'asc' },
    });
    // Once more, because the row of a delivery has no MAC, and the stream may have changed.
    const events = await matching(rows, stream, db);
    if (events.length === 0)
      return {
        outcome: 'give-up',
        reason: rows.length === 0 ? 'the audit log has the event no more' : 'the stream has such events no more',
      };
    const bodies = await bodiesOf(events, { body: stream.body, after: afterSeq }, db);
    const secrets = await eventStreams.secrets(stream.id);
    const webhookId = stream.kind === 'webhook' ? `evt_${seq}` : id;
    let answer: Answer;
    try {
      answer = await send(stream, bodies, { id: webhookId, secrets });
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error;
      return away(stream, error.message);
    }
    await db.eventDelivery.updateMany({
      where: { id },
      data: { answer: `${answer.status} ${answer.text}`.trim().slice(0, MAX_TEXT) },
    });
    if (answer.status >= 200 && answer.status < 300) {
      await succeeded(stream);
      return { outcome: 'done' };
    }
    const reason = `answered with status ${answer.status}`;
    if (stream.kind === 'webhook' && answer.status === 410) {
      await pause(stream, reason);
      return { outcome: 'retry', reason, closesLane: true, pauseSeconds: 5 };
    }
    // A SIEM rejects no single event: whatever it answers, the batch waits.
    if (stream.kind === 'siem' || answer.status === 429 || answer.status >= 500)
      return away(stream, reason, answer.retryAfterSeconds);
    const pauseSeconds = PAUSES[tries];
    return pauseSeconds === undefined ? { outcome: 'give-up', reason } : { outcome: 'retry', reason, pauseSeconds };
  }

  async function succeeded({ id, lastSuccessAt, failingSince }: EventStream): Promise<void> {
    const isOld = lastSuccessAt === null || now().getTime() - lastSuccessAt.getTime() > 60_000;
    if (!isOld && failingSince === null) return;
    const data = { lastSuccessAt: now(), failingSince: null, retryAt: null, failures: 0, lastError: null };
    await db.eventStream.updateMany({ where: { id }, data });
  }

  /** The receiver is away: its stream waits, and after three days it is paused. */
  async function away(stream: EventStream, reason: string, retryAfterSeconds?: number): Promise<AttemptResult> {
    const row = await db.eventStream.findUnique({ where: { id: stream.id } });
    const failures = row?.failures ?? 0;
    const at = now();
    const failingSince = row?.failingSince ?? at;
    const pauseSeconds = retryAfterSeconds ?? AWAY_PAUSES[Math.min(failures, AWAY_PAUSES.length - 1)] ?? 3600;
    const retryAt = new Date(at.getTime() + pauseSeconds * 1000);
    const data = { failures: failures + 1, failingSince, retryAt, lastError: reason.slice(0, MAX_TEXT) };
    await db.eventStream.updateMany({ where: { id: stream.id }, data });
    logger.warn({ stream: stream.name, reason }, 'an event stream cannot be delivered');
    if (at.getTime() - failingSince.getTime() >= PAUSED_AFTER_MS) await pause(stream, reason);
    // At the stream's next attempt, so that the order stays.
    return { outcome: 'retry', reason, pauseSeconds: 1, closesLane: true };
  }

  async function pause({ id, name }: EventStream, reason: string): Promise<void> {
    await transaction(db, async (tx) => {
      const { count } = await tx.eventStream.updateMany({
        where: { id, pausedAt: null },
        data: { pausedAt: now(), lastError: reason.slice(0, MAX_TEXT) },
      });
      if (count === 0) return;
      await audit.record(
        {
          type: 'event-stream.paused',
          outcome: 'failure',
          data: { streamId: id, name, answer: reason },
        },
        tx,
      );
      await notifyAdministrators({ kind: 'event-stream-paused', stream: name, streamId: id, detail: reason }, tx);
    });
  }

  const queue = createJobQueue<Delivery>({
    now,
    store: deliveryStore(services),
    attempt,
    leaseSeconds: LEASE_SECONDS,
    concurrency: { lane: (lane) => LANE[lane.startsWith('siem:') ? 'siem' : 'webhook'], total: 16 },
  });

  const jobs: ScheduledJob[] = [
    { name: 'event-streams', everySeconds: POLL_SECONDS, run: fanOutAll },
    { name: 'event-deliveries', everySeconds: POLL_SECONDS, ...queue },
  ];
  return { jobs, send };
}

class CursorMoved extends Error {}

/** The table `event_deliveries`, without those of streams that wait, are paused or disabled. */
function deliveryStore({ db, now }: Core): QueueStore<Delivery> {
  const leased = ({ id, tries }: Delivery) => ({ id, tries: tries + 1, ...OPEN });
  return {
    async due({ limit, exceptLanes }) {
      const at = now();
      const closed = exceptLanes.map((lane) => lane.slice(lane.indexOf(':') + 1));
      const streams = (
        await db.eventStream.findMany({
          where: {
            enabled: true,
            pausedAt: null,
            OR: [{ retryAt: null }, { retryAt: { lte: at } }],
            id: { notIn: closed },
          },
        })
      ).map(streamOf);
      const rows = await db.eventDelivery.findMany({
        where: { ...OPEN, nextTryAt: { lte: at }, streamId: { in: streams.map(({ id }) => id) } },
        orderBy: [{ seq: 'asc' }, { createdAt: 'asc' }],
        take: limit,
      });
      return rows.flatMap(({ id, streamId, tries, lastError, seq, untilSeq, afterSeq }) => {
        const stream = streams.find((one) => one.id === streamId);
        return stream
          ? { id, lane: `${stream.kind}:${streamId}`, tries, lastError, seq, untilSeq, afterSeq, stream }
          : [];
      });
    },
    async claim({ id, tries }, leaseUntil) {
      const { count } = await db.eventDelivery.updateMany({
        where: { id, tries, ...OPEN },
        data: { tries: tries + 1, nextTryAt: leaseUntil },
      });
      return count === 1;
    },
    complete: async ({ id }) =>
      void (await db.eventDelivery.updateMany({ where: { id, ...OPEN }, data: { doneAt: now(), lastError: null } })),
    retry: async (delivery, { reason, nextTryAt }) =>
      void (await db.eventDelivery.updateMany({ where: leased(delivery), data: { lastError: reason, nextTryAt } })),
    giveUp: async (delivery, reason) =>
      void (await db.eventDelivery.updateMany({
        where: leased(delivery),
        data: { lastError: reason, failedAt: now() },
      })),
    waitAtMost: async (until) =>
      void (await db.eventDelivery.updateMany({
        where: { ...OPEN, nextTryAt: { gt: until } },
        data: { nextTryAt: until },
      })),
  };
}

/** The newest deliveries of a stream, each with its state and the type of its event; of a batch that of the first one. */
export async function deliveriesOf(
  { db }: Core,
  { streamId, state, limit }: { streamId: string; state?: keyof typeof STATES | undefined; limit: number },
) {
  const rows = await db.eventDelivery.findMany({
    where: { streamId, ...(state && STATES[state]) },
    orderBy: [{ createdAt: 'desc' }, { seq: 'desc' }],
    take: limit,
  });
  const events = await db.auditEvent.findMany({
    where: { chainSeq: { in: rows.map(({ seq }) => seq) } },
    select: { chainSeq: true, type: true },
  });
  const types = new Map(events.map(({ chainSeq, type }) => [chainSeq, type]));
  return rows.map((row) => ({
    ...row,
    state: row.doneAt ? ('done' as const) : row.failedAt ? ('failed' as const) : ('waiting' as const),
    type: types.get(row.seq) ?? null,
  }));
}

const STATES = { waiting: OPEN, done: { doneAt: { not: null } }, failed: { failedAt: { not: null } } };
