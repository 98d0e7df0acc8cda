// The deliveries of a stream as administrators see them, with those of tests and with what each sends.
import { randomId } from '../../base/platform/random.ts';
import type { Core } from '../../core/core.ts';
import { eventsOf, OPEN, type Range } from './deliveries.ts';
import { bodiesOf, TEST, TEST_SEQ, testEvent } from './event.ts';
import { batchOf } from './siem-formats.ts';
import type { EventStream } from './streams.ts';

/** Events of a batch whose text is displayed. */
const DISPLAYED = 20;

/** The states of deliveries, each with its condition. */
const STATES = { waiting: OPEN, done: { doneAt: { not: null } }, failed: { failedAt: { not: null } } };
export const deliveryStates = ['waiting', 'done', 'failed'] as const satisfies (keyof typeof STATES)[];

/** The newest deliveries of a stream, each with its state and the type of its event; of a batch that of the first one. @param after `next` of the page before */
export async function deliveriesOf(
  { db }: Core,
  given: {
    streamId: string;
    id?: string;
    state?: keyof typeof STATES | undefined;
    after?: string | undefined;
    limit: number;
  },
) {
  const { streamId, id, state, after = '', limit } = given;
  const [, at, position, last = ''] = /^(\d{1,14})\.(\d{1,15})\.([\w-]{1,64})$/.exec(after) ?? [];
  const [createdAt, seq] = [new Date(Number(at)), Number(position)];
  const isOlder = {
    OR: [{ createdAt: { lt: createdAt } }, { createdAt, seq: { lt: seq } }, { createdAt, seq, id: { lt: last } }],
  };
  const found = await db.eventDelivery.findMany({
    where: {
      streamId,
      ...(id !== undefined && { id }),
      AND: [state ? STATES[state] : {}, at === undefined ? {} : isOlder],
    },
    orderBy: [{ createdAt: 'desc' }, { seq: 'desc' }, { id: 'desc' }],
    take: limit + 1,
  });
  const rows = found.slice(0, limit);
  const events = await db.auditEvent.findMany({
    where: { chainSeq: { in: rows.map((row) => row.seq) } },
    select: { chainSeq: true, chainHash: true, type: true },
  });
  const eventAt = new Map(events.map((event) => [event.chainSeq, event]));
  const end = found.length > limit ? rows.at(-1) : undefined;
  return {
    items: rows.map((row) => ({
      ...row,
      state: stateOf(row),
      type: row.seq === TEST_SEQ ? TEST : (eventAt.get(row.seq)?.type ?? null),
      hash: eventAt.get(row.seq)?.chainHash ?? null,
    })),
    next: end ? `${end.createdAt.getTime()}.${end.seq}.${end.id}` : undefined,
  };
}

function stateOf({ doneAt, failedAt }: { doneAt: Date | null; failedAt: Date | null }): 'done' | 'failed' | 'waiting' {
  if (doneAt) return 'done';
  return failedAt ? 'failed' : 'waiting';
}

/** What a delivery sends of its first events, as the log and the stream are now. */
export async function bodyOf(
  services: Core,
  stream: EventStream,
  { createdAt, ...range }: Range & { createdAt: Date },
): Promise<string> {
  const { events, before } = await eventsOf({ ...range, stream }, services);
  const bodies =
    range.seq === TEST_SEQ
      ? [testEvent(createdAt)]
      : await bodiesOf(events.slice(0, DISPLAYED), { body: stream.body, before }, services.db);
  if (stream.kind === 'siem' && stream.format !== 'json') return batchOf(stream.format, bodies).body;
  return JSON.stringify(stream.kind === 'webhook' ? bodies[0] : bodies, null, 2) ?? '';
}

/** Stores what came of a test, for the list of deliveries. Its event is as old as the row. */
export async function recordTest(
  { db, now }: Core,
  {
    streamId,
    createdAt,
    ...outcome
  }: { streamId: string; createdAt: Date } & ({ answer: string } | { lastError: string }),
): Promise<void> {
  const at = now();
  const ended = 'answer' in outcome ? { doneAt: at } : { failedAt: at };
  const row = { id: randomId(), streamId, seq: TEST_SEQ, untilSeq: TEST_SEQ, tries: 1, nextTryAt: at, createdAt };
  await db.eventDelivery.create({ data: { ...row, ...outcome, ...ended } });
}
