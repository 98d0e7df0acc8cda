// Logout runs in the database: any instance continues where another one stopped, and conditional updates decide which of
// two concurrent requests counts.

import { limits } from '../../base/limits.ts';
import { randomId, randomToken, sha256 } from '../../base/platform/random.ts';
import { type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import type { Core } from '../../core/core.ts';
import { isSettled, needsBrowser, type ParticipantState, type ProbeResult } from './front-channel/next-step.ts';
import {
  deliveryToParticipant,
  type FrontChannel,
  isDirectDelivery,
  type LogoutRun,
  type NewParticipant,
  type NewRun,
  outcomeEvent,
  type Participant,
  type StartedRun,
  toRun,
} from './logout-run.ts';

export type LogoutRunStore = ReturnType<typeof createLogoutRunStore>;

const WITH_PARTICIPANTS = { participants: { orderBy: { position: 'asc' } } } as const;

export function createLogoutRunStore({ db, now, audit, wake }: Core) {
  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000);

  /** The run of this ID, whatever the browser. */
  async function find(id: string): Promise<LogoutRun | undefined> {
    const row = await db.logoutRun.findUnique({ where: { id }, include: WITH_PARTICIPANTS });
    return row && row.expiresAt > now() ? toRun(row) : undefined;
  }

  /**
   * Stores a new run with its participants and deliveries, in the transaction that ends the sessions. Audits the participants that
   * cannot be notified; queues the deliveries that take no browser.
   */
  async function create(newRun: NewRun, tx: Tx): Promise<StartedRun> {
    const { userId, participants } = newRun;
    const at = now();
    const id = randomToken();
    const run = runRow(id, newRun, at);
    const rows = participants.map((one, position) => ({ ...participantRow(one, position, at), runId: id }));
    await tx.logoutRun.create({ data: run, select: { id: true } });
    if (rows.length > 0) await tx.logoutParticipant.createMany({ data: rows });
    const deliveries = rows.filter(({ channel, state }) => isDirectDelivery(channel) && state === 'waiting');
    if (deliveries.length > 0) {
      await tx.logoutDelivery.createMany({ data: deliveries.map((row) => deliveryToParticipant(row, userId, at)) });
      wake('logout-deliveries', tx);
    }
    for (const row of rows) if (isSettled(row)) await audit.record(outcomeEvent(row, run), tx);
    const waiting = participants.filter(({ state }) => state === 'waiting');
    const browserSteps = waiting.filter(needsBrowser).length;
    const notNotified = participants.filter(({ state }) => state === 'unsupported' || state === 'failed');
    const namesOf = (some: readonly NewParticipant[]) => [...new Set(some.map(({ name }) => name))];
    return {
      id,
      browserSteps,
      deliveries: waiting.length - browserSteps,
      notified: namesOf(waiting),
      notNotified: namesOf(notNotified),
    };
  }

  /**
   * Stores the outcome of a participant once, with its audit event, also when two requests are concurrent, and in the transaction of
   * the caller if there is one; false when there is an outcome already.
   */
  function settle({ id }: { id: string }, { state, reason }: Outcome, within?: Tx): Promise<boolean> {
    return withinTransaction(db, within, async (tx) => {
      const data = { state, reason: reason ?? null, settledAt: now(), deadline: null };
      const unsettled = { OR: [{ state: { in: OPEN } }, { state: 'failed', reason: { in: LATE_RESPONSE_COUNTS } }] };
      const { count } = await tx.logoutParticipant.updateMany({ where: { id, ...unsettled }, data });
      if (count === 0) return false;
      if (state === 'retrying') return true; // no final outcome
      await tx.logoutDelivery.deleteMany({ where: { participantId: id, doneAt: null, failedAt: null } });
      const row = await tx.asStored.logoutParticipant.findUniqueOrThrow({ where: { id }, include: { run: true } });
      await audit.record(outcomeEvent(row, row.run), tx);
      return true;
    });
  }

  /** The browser did not complete the step: falls back to SOAP where there is an endpoint, else stores the failure. */
  async function browserFailed(participant: Participant, reason: string): Promise<void> {
    const { id, runId, clientId, channel, data, probeResult } = participant;
    // Its response to the probe already said that the session has ended.
    if (probeResult === 'confirmed') return void (await settle(participant, { state: 'done' }));
    if (!data.hasSoap || channel === 'soap') return void (await settle(participant, { state: 'failed', reason }));
    await transaction(db, async (tx) => {
      const bySoap = { channel: 'soap', state: 'waiting', reason, deadline: null };
      const where = { id, channel: { not: 'soap' }, state: { in: OPEN } };
      const { count } = await tx.logoutParticipant.updateMany({ where, data: bySoap });
      if (count === 0) return;
      const { userId } = await tx.asStored.logoutRun.findUniqueOrThrow({
        where: { id: runId },
        select: { userId: true },
      });
      const row = { id, clientId, channel: 'soap', data: JSON.stringify(data) };
      await tx.logoutDelivery.create({ data: deliveryToParticipant(row, userId, now()) });
      wake('logout-deliveries', tx);
    });
  }

  return {
    find,
    create,
    settle,
    browserFailed,

    /** The first of the runs that are incomplete and that their browser left. */
    async abandoned(): Promise<LogoutRun[]> {
      const left = { finishedAt: null, seenAt: { lt: inSeconds(-limits.logout.abandonedSeconds) } };
      const orderBy = { seenAt: 'asc' } as const;
      const found = await db.asStored.logoutRun.findMany({ where: left, orderBy, take: 100, select: { id: true } });
      const ids = found.map(({ id }) => id);
      const runs = await db.logoutRun.findMany({ where: { id: { in: ids } }, include: WITH_PARTICIPANTS, orderBy });
      // Runs that another program changed end here: they must not hold up others.
      const forged = ids.filter((one) => !runs.some(({ id }) => id === one));
      if (forged.length > 0)
        await db.logoutRun.updateMany({ where: { id: { in: forged } }, data: { finishedAt: now() } });
      return runs.map(toRun);
    },

    /** A participant of a run that has not expired. */
    async participant(id: string): Promise<Participant | undefined> {
      const row = await db.asStored.logoutParticipant.findUnique({ where: { id }, select: { runId: true } });
      const run = row && (await find(row.runId));
      return run?.participants.find((one) => one.id === id);
    },

    /**
     * The run, if it belongs to the browser with this cookie or is opened for the first time, which binds it. Undefined when it
     * does not exist, has expired, or has no steps in a browser.
     */
    async openInBrowser(id: string, cookie: string | undefined): Promise<LogoutRun | 'other-browser' | undefined> {
      const select = { browserHash: true, expiresAt: true };
      const run = await db.asStored.logoutRun.findUnique({ where: { id }, select });
      if (!run || run.browserHash === null || run.expiresAt <= now()) return undefined;
      if (!cookie) return 'other-browser';
      const browserHash = sha256(cookie);
      // One statement binds the run on the first visit and updates when the browser was last here.
      const ofBrowser = { id, browserHash: { in: [browserHash, UNBOUND] } };
      const { count } = await db.logoutRun.updateMany({ where: ofBrowser, data: { browserHash, seenAt: now() } });
      return count === 1 ? find(id) : 'other-browser';
    },

    async saveProbeResult(id: string, result: ProbeResult): Promise<void> {
      await db.logoutParticipant.updateMany({ where: { id, probeResult: null }, data: { probeResult: result } });
    },

    /** Begins to wait for these frames to open; repeated calls change nothing. */
    async startFrameTimeout(ids: readonly string[], seconds: number): Promise<void> {
      await db.logoutParticipant.updateMany({
        where: { id: { in: [...ids] }, state: 'waiting', deadline: null },
        data: { deadline: inSeconds(seconds) },
      });
    },

    /** Begins to wait for the application; false when that has begun before. */
    async startWaiting(id: string, { messageId, seconds }: { messageId?: string; seconds: number }): Promise<boolean> {
      const data = { state: 'sent', messageId: messageId ?? null, deadline: inSeconds(seconds) };
      const { count } = await db.logoutParticipant.updateMany({ where: { id, state: 'waiting' }, data });
      return count === 1;
    },

    /** The participant that the LogoutRequest of this ID was sent to, while its LogoutResponse still counts. */
    async findByMessageId(messageId: string): Promise<Participant | undefined> {
      const row = await db.asStored.logoutParticipant.findUnique({ where: { messageId } });
      if (!row || !isOpen(row)) return undefined;
      return (await find(row.runId))?.participants.find(({ id }) => id === row.id);
    },

    /** Marks the run as complete; false when it was before. */
    async finish(id: string): Promise<boolean> {
      const { count } = await db.logoutRun.updateMany({ where: { id, finishedAt: null }, data: { finishedAt: now() } });
      return count === 1;
    },
  };
}

/** Stands for "the next browser that opens the run"; it equals no hash. */
const UNBOUND = '';

function runRow(id: string, { userId, reason, initiator, frontChannel }: NewRun, at: Date) {
  const { completion = { kind: 'page' }, languages } = frontChannel ?? {};
  return {
    id,
    browserHash: browserHashOf(frontChannel),
    userId,
    reason,
    initiator: initiator ?? null,
    completion: JSON.stringify({ ...completion, languages }),
    createdAt: at,
    seenAt: at,
    finishedAt: frontChannel ? null : at,
    expiresAt: new Date(at.getTime() + limits.logout.keepSeconds * 1000),
  };
}

/** Hash of the cookie that binds the run to a browser; null when no browser takes part. */
function browserHashOf(frontChannel: FrontChannel | undefined): string | null {
  if (!frontChannel) return null;
  const { browser } = frontChannel;
  return browser === 'first-to-open' ? UNBOUND : sha256(browser.cookie);
}

function participantRow(one: NewParticipant, position: number, at: Date) {
  return {
    id: randomId(),
    position,
    clientId: one.clientId,
    protocol: one.protocol,
    name: one.name,
    channel: one.channel,
    data: JSON.stringify(one.data),
    state: one.state,
    reason: one.reason ?? null,
    settledAt: isSettled(one) ? at : null,
  };
}

/** The outcome of a participant. */
export interface Outcome {
  state: Exclude<ParticipantState, 'waiting' | 'sent'>;
  reason?: string | undefined;
}

/** After these failures a late LogoutResponse still counts. */
const LATE_RESPONSE_COUNTS = ['no_answer', 'browser_left'];
const OPEN: string[] = ['waiting', 'sent', 'retrying'] satisfies ParticipantState[];

/** Whether an outcome of this participant can still be stored. */
function isOpen({ state, reason }: { state: string; reason: string | null }): boolean {
  return OPEN.includes(state) || LATE_RESPONSE_COUNTS.includes(reason ?? '');
}
