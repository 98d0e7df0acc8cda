// Sign-outs on their way, kept in the database: any instance goes on where another one stopped, and conditional updates
// decide who was first.
import type { Audit } from '../audit/audit.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import { randomId, randomToken, sha256 } from '../platform/random.ts';
import { type Hop, isSettled, needsBrowser, type ParticipantState, type Reach } from './next-hop.ts';
import {
  deliveryOf,
  eventOf,
  isCall,
  type LogoutRun,
  type NewRun,
  type Participant,
  type RunRef,
  toParticipant,
  toRun,
} from './run.ts';

export interface Outcome {
  state: Exclude<ParticipantState, 'waiting' | 'asked'>;
  reason?: string | undefined;
}

export interface Runs {
  create(run: NewRun, tx: Tx): Promise<RunRef>;
  /** The run, when this browser walks it or is the first to open it. */
  open(id: string, cookie: string | undefined): Promise<LogoutRun | 'other-browser' | undefined>;
  /** The run of that id, for jobs and for answers that prove themselves. */
  find(id: string): Promise<LogoutRun | undefined>;
  noteReach(participantId: string, reach: Reach): Promise<void>;
  /** Their frames are on a page: begins to wait for those to open, once. */
  noteShown(participantIds: readonly string[], seconds: number): Promise<void>;
  /** Begins to wait for an application, once. */
  ask(participantId: string, options: { messageId?: string; seconds: number }): Promise<boolean>;
  /** The participant that our LogoutRequest of this ID was for, while its answer counts. */
  awaiting(messageId: string): Promise<Participant | undefined>;
  /** Notes an outcome, unless there is one already, with its audit event. */
  settle(participant: Pick<Participant, 'id'>, outcome: Outcome): Promise<boolean>;
  /** The browser did not get through: unless it is done already, call it where that is possible, else it has failed. */
  fail(participant: Participant, reason: string): Promise<void>;
  /** Marks the run as answered; false when it was before. */
  finish(id: string): Promise<boolean>;
  /** Runs whose browser has not been seen for a while. */
  abandoned(): Promise<LogoutRun[]>;
}

export interface RunsNeeds {
  db: Db;
  now: Clock;
  audit: Audit;
  /** Wakes the calls of ours. */
  deliverSoon(): void;
}

/** No hash is that short: the next browser to open the run. */
const UNBOUND = '';
/** An answer that comes after all still counts. */
const NOT_HEARD = ['no_answer', 'browser_left'];
const OPEN: ParticipantState[] = ['waiting', 'asked', 'retrying'];
const WITH_PARTICIPANTS = { participants: { orderBy: { position: 'asc' } } } as const;

export function createRuns({ db, now, audit, deliverSoon }: RunsNeeds): Runs {
  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000);

  async function find(id: string): Promise<LogoutRun | undefined> {
    const row = await db.logoutRun.findUnique({ where: { id }, include: WITH_PARTICIPANTS });
    return row && row.expiresAt > now() ? toRun(row) : undefined;
  }

  async function settle({ id }: Pick<Participant, 'id'>, { state, reason }: Outcome): Promise<boolean> {
    return transaction(db, async (tx) => {
      const data = { state, reason: reason ?? null, settledAt: now(), deadline: null };
      const isOpen = { OR: [{ state: { in: OPEN } }, { state: 'failed', reason: { in: NOT_HEARD } }] };
      const { count } = await tx.logoutParticipant.updateMany({ where: { id, ...isOpen }, data });
      if (count === 0) return false;
      if (state === 'retrying') return true; // not an outcome yet
      await tx.logoutDelivery.deleteMany({ where: { participantId: id, doneAt: null, failedAt: null } });
      const row = await tx.logoutParticipant.findUniqueOrThrow({ where: { id }, include: { run: true } });
      await audit.record(eventOf(row, row.run), tx);
      return true;
    });
  }

  return {
    find,
    settle,

    async create({ userId, reason, askedBy, participants, walk }, tx) {
      const id = randomToken();
      const visits = participants.filter((one) => needsBrowser(one) && one.state === 'waiting').length;
      const calls = participants.filter(
        ({ state, channel }) => state === 'waiting' && !needsBrowser({ channel }),
      ).length;
      const browserHash = walk ? (walk.browser === 'first-to-open' ? UNBOUND : sha256(walk.browser.cookie)) : null;
      const rows = participants.map((one, position) => ({
        id: randomId(),
        position,
        clientId: one.clientId,
        protocol: one.protocol,
        name: one.name,
        channel: one.channel,
        data: JSON.stringify(one.data),
        state: one.state,
        reason: one.reason ?? null,
        settledAt: isSettled(one) ? now() : null,
      }));
      const run = {
        id,
        browserHash,
        userId,
        reason,
        askedBy: askedBy ?? null,
        answer: JSON.stringify(walk?.answer ?? { kind: 'page' }),
        createdAt: now(),
        seenAt: now(),
        finishedAt: walk ? null : now(),
        expiresAt: inSeconds(limits.signOut.keepSeconds),
      };
      await tx.logoutRun.create({ data: run, select: { id: true } });
      if (rows.length > 0) await tx.logoutParticipant.createMany({ data: rows.map((row) => ({ ...row, runId: id })) });
      const deliveries = rows.filter(({ channel, state }) => isCall(channel) && state === 'waiting');
      if (deliveries.length > 0) {
        await tx.logoutDelivery.createMany({ data: deliveries.map((row) => deliveryOf(row, userId, now())) });
      }
      for (const row of rows) if (isSettled(row as Pick<Hop, 'state'>)) await audit.record(eventOf(row, run), tx);
      const untold = participants.filter(({ state }) => state === 'unsupported' || state === 'failed');
      return { id, visits, calls, untold: [...new Set(untold.map(({ name }) => name))] };
    },

    async open(id, cookie) {
      const run = await db.logoutRun.findUnique({ where: { id }, select: { browserHash: true, expiresAt: true } });
      if (!run || run.browserHash === null || run.expiresAt <= now()) return undefined;
      const hash = cookie ? sha256(cookie) : undefined;
      if (!hash) return 'other-browser';
      // Binds it on the first visit, in one statement with the note that the browser is here.
      const mine = { id, browserHash: { in: [hash, UNBOUND] } };
      const { count } = await db.logoutRun.updateMany({ where: mine, data: { browserHash: hash, seenAt: now() } });
      return count === 1 ? find(id) : 'other-browser';
    },

    async noteReach(id, reach) {
      await db.logoutParticipant.updateMany({ where: { id, reach: null }, data: { reach } });
    },

    async noteShown(ids, seconds) {
      await db.logoutParticipant.updateMany({
        where: { id: { in: [...ids] }, state: 'waiting', deadline: null },
        data: { deadline: inSeconds(seconds) },
      });
    },

    async ask(id, { messageId, seconds }) {
      const data = { state: 'asked', messageId: messageId ?? null, deadline: inSeconds(seconds) };
      const { count } = await db.logoutParticipant.updateMany({ where: { id, state: 'waiting' }, data });
      return count === 1;
    },

    async awaiting(messageId) {
      const row = await db.logoutParticipant.findUnique({ where: { messageId }, include: { run: true } });
      if (!row || row.run.expiresAt <= now()) return undefined;
      const isOpen = OPEN.includes(row.state as ParticipantState) || NOT_HEARD.includes(row.reason ?? '');
      return isOpen ? toParticipant(row) : undefined;
    },

    async fail(participant, reason) {
      const { id, runId, data, reach } = participant;
      // It has said so to us, and finds nothing more to end.
      if (reach === 'confirmed') return void (await settle(participant, { state: 'done' }));
      if (!data.hasSoap || participant.channel === 'soap')
        return void (await settle(participant, { state: 'failed', reason }));
      const changed = await transaction(db, async (tx) => {
        const asCall = { channel: 'soap', state: 'waiting', reason, deadline: null };
        const where = { id, channel: { not: 'soap' }, state: { in: OPEN } };
        const { count } = await tx.logoutParticipant.updateMany({ where, data: asCall });
        if (count === 0) return false;
        const { userId } = await tx.logoutRun.findUniqueOrThrow({ where: { id: runId }, select: { userId: true } });
        const row = { id, clientId: participant.clientId, channel: 'soap', data: JSON.stringify(data) };
        await tx.logoutDelivery.create({ data: deliveryOf(row, userId, now()) });
        return true;
      });
      if (changed) deliverSoon();
    },

    async finish(id) {
      const { count } = await db.logoutRun.updateMany({ where: { id, finishedAt: null }, data: { finishedAt: now() } });
      return count === 1;
    },

    async abandoned() {
      const rows = await db.logoutRun.findMany({
        where: { finishedAt: null, seenAt: { lt: inSeconds(-limits.signOut.abandonedSeconds) } },
        include: WITH_PARTICIPANTS,
        orderBy: { seenAt: 'asc' },
        take: 100,
      });
      return rows.map(toRun);
    },
  };
}
