// Who may set up the first second factor of an account. With the password alone, the first to do so is trusted: an attacker
// who has it could set up a factor before the owner. The setting `first_factor` limits that to the first days of the
// account or of the requirement, or to users whom an administrator allowed it. A user with a right in Gatehouse who replaced the
// password by a mailed link needs the approval whatever the setting says: the mailbox alone must not open the console.

import { forbidden } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { type Db, type Tx, transaction } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../accounts/account.ts';
import { stateOf as accountState } from '../accounts/active.ts';
import { isStaff } from '../rbac/built-in.ts';

export type FirstEnrolmentSetting = 'open' | 'window' | 'approval';

export interface FirstEnrolmentState {
  /** When the user needed the approval for the first time. */
  requestedAt: Date | null;
  /** Until when an administrator allows it. */
  allowedUntil: Date | null;
  /** When the password was replaced by a mailed link; null after an approval, or after the proof of a second factor. */
  resetByMailAt: Date | null;
}

interface PresentFactors {
  totp: boolean;
  passkeys: number;
  phone: string | undefined;
}

const DAY_MS = 86_400_000;

export function createFirstEnrolmentRule(core: Core) {
  const { db, now, audit } = core;
  return {
    state: (userId: string): Promise<FirstEnrolmentState> => stateOf(core, userId),
    /** Whether the user may set up a factor now. Always with a factor, because its proof is demanded before. */
    isAllowed: (account: Account, factors: PresentFactors): Promise<boolean> => isAllowed(core, account, factors),

    /** Records that the user needs the approval, which administrators see, and throws 403. */
    async demandApproval(account: Account, by: Actor): Promise<never> {
      await requestApproval(core, account.id, by);
      throw forbidden(
        'first_factor_needs_approval',
        (await isAfterReset(core, account)) ? afterResetText(account) : {},
      );
    },

    /** The password of the user is replaced by a mailed link, in this transaction. */
    async passwordResetByMail(userId: string, tx: Tx): Promise<void> {
      const resetByMailAt = now();
      await tx.firstFactorApproval.upsert({
        where: { userId },
        create: { userId, resetByMailAt },
        update: { resetByMailAt },
      });
    },

    /** The user has proven a second factor, so it was the owner who reset the password before. */
    secondFactorProven: (userId: string): Promise<void> => clearResetByMail(db, userId),

    /** Allows it for `limits.firstEnrolment.allowedDays`. Throws 403 when users allow it to themselves. */
    async allow(userId: string, by: Actor): Promise<void> {
      if (by.actorId === userId) throw forbidden('forbidden', { message: 'Another administrator must allow it.' });
      await transaction(db, async (tx) => {
        await allowFirstFactor(tx, userId, now());
        await audit.record({ ...by, type: 'factors.approved', outcome: 'success', subjectId: userId }, tx);
      });
    },

    /** Users who need the approval, the newest first. */
    async waiting(): Promise<{ id: string; username: string; requestedAt: Date }[]> {
      const activity = { isEnabled: true, activeFrom: true, activeUntil: true } as const;
      const { maxListed } = limits.firstEnrolment;
      // Not with a condition on the accounts: SQLite would begin with all of them.
      const rows = await db.asStored.firstFactorApproval.findMany({
        where: { requestedAt: { not: null } },
        select: { requestedAt: true, user: { select: { id: true, username: true, ...activity } } },
        orderBy: { requestedAt: 'desc' },
        take: maxListed * 10,
      });
      return rows
        .flatMap(({ requestedAt, user }) => {
          const { id, username } = user;
          return requestedAt && accountState(user, now()) === 'active' ? [{ id, username, requestedAt }] : [];
        })
        .slice(0, maxListed);
    },
  };
}

async function isAllowed(core: Core, account: Account, factors: PresentFactors): Promise<boolean> {
  const rule = core.settings.latest().first_factor;
  if (hasFactor(factors)) return true;
  if (await isAfterReset(core, account)) return false;
  if (rule === 'open') return true;
  if (rule === 'window' && (await isInWindow(core, account.createdAt))) return true;
  const { allowedUntil } = await stateOf(core, account.id);
  return allowedUntil !== null && allowedUntil > core.now();
}

async function isInWindow({ now, settings }: Core, createdAt: Date): Promise<boolean> {
  const { mfa, first_factor_days: days } = settings.latest();
  const requiredSince = mfa === 'required' ? await settings.changedAt('mfa') : undefined;
  const since = Math.max(createdAt.getTime(), requiredSince?.getTime() ?? 0);
  return now().getTime() < since + days * DAY_MS;
}

async function isAfterReset(core: Core, account: Account): Promise<boolean> {
  return isStaff(account) && (await stateOf(core, account.id)).resetByMailAt !== null;
}

async function requestApproval(core: Core, userId: string, by: Actor): Promise<void> {
  const { db, now, audit } = core;
  if ((await stateOf(core, userId)).requestedAt !== null) return;
  const requestedAt = now();
  await transaction(db, async (tx) => {
    await tx.firstFactorApproval.upsert({
      where: { userId },
      create: { userId, requestedAt },
      update: { requestedAt },
    });
    await audit.record({ ...by, type: 'factors.approval-requested', outcome: 'success', subjectId: userId }, tx);
  });
}

async function stateOf({ db }: { db: Db }, userId: string): Promise<FirstEnrolmentState> {
  const row = await db.firstFactorApproval.findUnique({ where: { userId } });
  const { requestedAt = null, allowedUntil = null, resetByMailAt = null } = row ?? {};
  return { requestedAt, allowedUntil, resetByMailAt };
}

function hasFactor({ totp, passkeys, phone }: PresentFactors): boolean {
  return totp || passkeys > 0 || phone !== undefined;
}

/** What the user does next. */
function afterResetText({ username }: Account) {
  return {
    message: t('approval.after-reset'),
    advice: t('approval.after-reset-advice', { command: `gatehouse user allow-factor ${username}` }),
  };
}

/**
 * Ends the need for an approval after a reset by mail. Called in the transaction that stores a factor, after which the password
 * alone proves nothing any more.
 */
export async function clearResetByMail(db: Db | Tx, userId: string): Promise<void> {
  await db.firstFactorApproval.updateMany({
    where: { userId, resetByMailAt: { not: null } },
    data: { resetByMailAt: null },
  });
}

/** An administrator lets the user set up a first factor. */
async function allowFirstFactor(tx: Tx, userId: string, at: Date): Promise<void> {
  await allowReplacement(tx, userId, at);
  await clearResetByMail(tx, userId);
}

/** Lets the user set up a factor in place of those that an administrator has removed, unless a reset by mail came before. */
export async function allowReplacement(tx: Tx, userId: string, at: Date): Promise<void> {
  const allowedUntil = new Date(at.getTime() + limits.firstEnrolment.allowedDays * DAY_MS);
  const change = { allowedUntil, requestedAt: null };
  await tx.firstFactorApproval.upsert({ where: { userId }, create: { userId, ...change }, update: change });
}
