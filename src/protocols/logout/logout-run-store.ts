// Logout runs in the database: any instance continues where another one stopped, and conditional updates decide which of
// two concurrent requests counts.

import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { sha256 } from '../../base/platform/random.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { ProbeResult } from './front-channel/next-step.ts';
import {
  type LogoutRun,
  type NewRun,
  type Participant,
  type RunRef,
  storedProbeResult,
  storedState,
  toRun,
} from './logout-run.ts';
import { insertRun, UNBOUND } from './new-run.ts';
import { isOpen, type Outcome, recordBrowserFailure, settleParticipant } from './participant-outcome.ts';

export type LogoutRunStore = ReturnType<typeof createLogoutRunStore>;

export interface LogoutRunStoreDependencies {
  db: Db;
  now: Clock;
  audit: Audit;
  /** A run or participant that another program wrote or changed is absent: it leads nowhere, and nobody is notified for it. */
  protectedRows: ProtectedRows;
  /** Starts the deliveries without waiting for the next run of their job. */
  wakeLogoutDeliveries(): void;
}

const WITH_PARTICIPANTS = { participants: { orderBy: { position: 'asc' } } } as const;

export function createLogoutRunStore(dependencies: LogoutRunStoreDependencies) {
  const { db, now, audit, protectedRows, wakeLogoutDeliveries } = dependencies;
  const storage = { db, now, audit, protectedRows };
  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000);

  async function find(id: string): Promise<LogoutRun | undefined> {
    const row = await db.asStored.logoutRun.findUnique({ where: { id }, include: WITH_PARTICIPANTS });
    return row && row.expiresAt > now() ? toRun(row, protectedRows) : undefined;
  }

  return {
    /** The run of this ID, whatever the browser. */
    find,
    create: (run: NewRun, tx: Tx): Promise<RunRef> => insertRun(run, { tx, at: now(), audit, protectedRows }),
    /** Stores the outcome with its audit event; false when there is one already. */
    settle: (participant: Pick<Participant, 'id'>, outcome: Outcome, tx?: Tx): Promise<boolean> =>
      settleParticipant(storage, participant, outcome, tx),
    /** The browser did not complete the step: falls back to SOAP where there is an endpoint, else stores the failure. */
    browserFailed: (participant: Participant, reason: string): Promise<void> =>
      recordBrowserFailure(storage, participant, reason, wakeLogoutDeliveries),
    /** Runs that their browser left without completing them. */
    abandoned: (): Promise<LogoutRun[]> => abandonedRuns(dependencies, inSeconds(-limits.logout.abandonedSeconds)),

    /** A participant of a run that has not expired. */
    async participant(id: string): Promise<Participant | undefined> {
      const row = await db.asStored.logoutParticipant.findUnique({ where: { id }, select: { runId: true } });
      const run = row && (await find(row.runId));
      return run?.participants.find((one) => one.id === id);
    },

    /** The run, if it belongs to this browser or is opened for the first time. */
    async openInBrowser(id: string, cookie: string | undefined): Promise<LogoutRun | 'other-browser' | undefined> {
      const bound = await bindToBrowser(db, id, cookie, now());
      return bound === true ? find(id) : bound;
    },

    async saveProbeResult(id: string, result: ProbeResult): Promise<void> {
      const data = { probeResult: storedProbeResult(result) };
      await db.logoutParticipant.updateMany({ where: { id, probeResult: null }, data });
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
      const data = { state: storedState('sent'), messageId: messageId ?? null, deadline: inSeconds(seconds) };
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

/**
 * Binds the run to the browser with this cookie, unless it belongs to another one. Undefined when the run does not exist,
 * has expired, or has no steps in a browser.
 */
async function bindToBrowser(
  db: Db,
  id: string,
  cookie: string | undefined,
  at: Date,
): Promise<true | 'other-browser' | undefined> {
  const run = await db.asStored.logoutRun.findUnique({ where: { id }, select: { browserHash: true, expiresAt: true } });
  if (!run || run.browserHash === null || run.expiresAt <= at) return undefined;
  if (!cookie) return 'other-browser';
  const hash = sha256(cookie);
  // One statement binds the run on the first visit and updates when the browser was last here.
  const ofBrowser = { id, browserHash: { in: [hash, UNBOUND] } };
  const { count } = await db.logoutRun.updateMany({ where: ofBrowser, data: { browserHash: hash, seenAt: at } });
  return count === 1 || 'other-browser';
}

/** The first of the runs that are incomplete and whose browser was last here before this time. */
async function abandonedRuns(
  { db, now, protectedRows }: LogoutRunStoreDependencies,
  before: Date,
): Promise<LogoutRun[]> {
  const rows = await db.asStored.logoutRun.findMany({
    where: { finishedAt: null, seenAt: { lt: before } },
    include: WITH_PARTICIPANTS,
    orderBy: { seenAt: 'asc' },
    take: 100,
  });
  const runs = rows.map((row) => ({ id: row.id, run: toRun(row, protectedRows) }));
  // Those of another program end here: they must not hold up others.
  const forged = runs.flatMap(({ id, run }) => (run ? [] : [id]));
  if (forged.length > 0) await db.logoutRun.updateMany({ where: { id: { in: forged } }, data: { finishedAt: now() } });
  return runs.flatMap(({ run }) => run ?? []);
}
