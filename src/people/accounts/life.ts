// How accounts end: disabled, deleted, or by time (active.ts decides when) with a job, which tells people and administrators before. Each signs
// their people out everywhere.
import { displayName } from '../../base/http/pages/tokens.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import { type Accounts, END_NOTICE_DAYS } from './accounts.ts';
import { type Activity, whereActive } from './active.ts';

/** Accounts of one transaction. */
const BATCH = 100;
const DAY_MS = 24 * 3600 * 1000;

/** Of protocols/logout: ends every session of an account and revokes its tokens. */
export interface EndSession<Ended = unknown> {
  all(
    userId: string,
    reason: 'account-disabled' | 'account-ended' | 'account-deleted',
    by: Actor,
    tx: Tx,
  ): Promise<Ended>;
}

interface Ending<Ended> {
  accounts: Accounts;
  endSession: EndSession<Ended>;
}

/**
 * Disables an account and ends all that it opened, in the transaction in which the caller has checked that it may: it is not that of the last
 * administrator. What ended; undefined: it was disabled already.
 * @param reason why the server does it
 */
export async function disableAccount<Ended>(
  { accounts, endSession }: Ending<Ended>,
  id: string,
  by: Actor,
  tx: Tx,
  reason?: 'unused',
): Promise<Ended | undefined> {
  if (!(await accounts.setActive(id, false, by, tx, reason))) return undefined;
  return endSession.all(id, 'account-disabled', by, tx);
}

/** The same for a deletion. */
export async function removeAccount(
  { accounts, endSession }: Ending<unknown>,
  id: string,
  by: Actor,
  tx: Tx,
): Promise<void> {
  await endSession.all(id, 'account-deleted', by, tx);
  await accounts.remove(id, by, tx);
}

type Dated = Activity & { isActive: boolean };

/**
 * Signs out a person in the transaction that changes when the account begins or ends, if it was or is not active: sessions that the job had not
 * ended yet would live again.
 */
export async function endByPeriod(
  endSession: EndSession,
  id: string,
  [before, after]: [Dated, Dated],
  by: Actor,
  tx: Tx,
): Promise<void> {
  const isMoved =
    before.activeFrom?.getTime() !== after.activeFrom?.getTime() ||
    before.activeUntil?.getTime() !== after.activeUntil?.getTime();
  if (!isMoved || !before.isEnabled || (before.isActive && after.isActive)) return;
  await endSession.all(id, 'account-ended', by, tx);
}

export function createAccountLife(services: Core & { endSession: EndSession }) {
  const { db, now, audit, outbox, notifyAdministrators, endSession } = services;
  /** Runs a batch until one is not full. Each marks what it has done, so that the next finds others. */
  async function inBatches(signal: AbortSignal | undefined, run: () => Promise<number>): Promise<void> {
    while (!signal?.aborted) if ((await run()) < BATCH) return;
  }

  /** Where the clock was set back, the end comes again. */
  async function reopen(): Promise<number> {
    const early = { activeUntil: { gt: now() }, endNotice: 'ended' };
    const found = await db.asStored.user.findMany({ where: early, select: { id: true }, take: BATCH });
    for (const { id } of found) await db.user.updateMany({ where: { id, ...early }, data: { endNotice: 'warned' } });
    return found.length;
  }

  /** Signs out whose account has ended. */
  async function end(): Promise<number> {
    const ended = { activeUntil: { lte: now() }, endNotice: { not: 'ended' } };
    const rows = await db.asStored.user.findMany({
      where: ended,
      select: { id: true, activeUntil: true },
      take: BATCH,
    });
    for (const { id, activeUntil } of rows)
      await transaction(db, async (tx) => {
        // With another end since, the next run decides.
        if ((await tx.user.updateMany({ where: { id, ...ended }, data: { endNotice: 'ended' } })).count === 0) return;
        const data = { activeUntil };
        await audit.record({ type: 'account.ended', outcome: 'success', subjectId: id, data }, tx);
        await endSession.all(id, 'account-ended', {}, tx);
      });
    return rows.length;
  }

  /** Mails the people whose accounts end soon, and the administrators, each once. */
  async function warn(tx: Tx): Promise<number> {
    const at = now();
    const soon = { gt: at, lte: new Date(at.getTime() + END_NOTICE_DAYS * DAY_MS) };
    const ending = { ...whereActive(at), activeUntil: soon, endNotice: '' };
    const query = { where: ending, orderBy: { activeUntil: 'asc' as const }, take: BATCH };
    const found = await tx.asStored.user.findMany({ ...query, select: { id: true } });
    const told: { name: string; until: Date }[] = [];
    for (const { id } of found) {
      if ((await tx.user.updateMany({ where: { id, ...ending }, data: { endNotice: 'warned' } })).count === 0) continue;
      const user = await tx.user.findUnique({ where: { id } });
      if (!user?.activeUntil) continue;
      const to = recipientOf(user);
      if (to) await outbox.send({ to, kind: 'account-end', until: user.activeUntil }, tx);
      told.push({ name: displayName(user), until: user.activeUntil });
    }
    if (told.length > 0) await notifyAdministrators({ kind: 'accounts-end', accounts: told }, tx);
    return found.length;
  }

  return {
    async run(signal?: AbortSignal): Promise<void> {
      await inBatches(signal, reopen);
      await inBatches(signal, end);
      await inBatches(signal, () => transaction(db, warn));
    },
  };
}

export type AccountLife = ReturnType<typeof createAccountLife>;

export const accountLifeJob = ({ run }: AccountLife): ScheduledJob => ({ name: 'accounts', everySeconds: 60, run });
