// Who may set up the first second factor of an account. With the password alone, the first to do so is trusted: an attacker
// who has it could set up a factor before the owner. The setting `first_factor` limits that to the first days of the
// account or of the requirement, or to users whom an administrator allowed it.
import type { Account } from '../accounts/account.ts';
import type { Actor, Audit } from '../audit/audit.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, type Tx, transaction } from '../storage/database.ts';

export type FirstFactorSetting = 'open' | 'window' | 'approval';

export interface FirstFactorState {
  /** When the user needed the approval for the first time. */
  requestedAt: Date | null;
  /** Until when an administrator allows it. */
  allowedUntil: Date | null;
}

interface PresentFactors {
  totp: boolean;
  passkeys: number;
  phone: string | undefined;
}

export interface FirstFactorRule {
  /** Whether the user may set up a factor now. Always with a factor, because its proof is demanded before. */
  isAllowed(account: Pick<Account, 'id' | 'createdAt'>, factors: PresentFactors): Promise<boolean>;
  /** Records that the user needs the approval; administrators see it. */
  request(userId: string, by: Actor): Promise<void>;
  /** Allows it for `limits.firstFactor.allowedDays`. */
  allow(userId: string, by: Actor): Promise<void>;
  state(userId: string): Promise<FirstFactorState>;
  /** Users who need the approval, the newest first. */
  waiting(): Promise<{ id: string; username: string; requestedAt: Date }[]>;
}

export interface FirstFactorDependencies {
  db: Db;
  now: Clock;
  audit: Audit;
  settings(): { first_factor: FirstFactorSetting; first_factor_days: number };
  /** Since when every user needs a second factor, if they do. */
  requiredSince(): Promise<Date | undefined>;
}

const DAY_MS = 86_400_000;

export function createFirstFactorRule(dependencies: FirstFactorDependencies): FirstFactorRule {
  const { db, now, audit, settings, requiredSince } = dependencies;

  async function state(userId: string): Promise<FirstFactorState> {
    const row = await db.firstFactorApproval.findUnique({ where: { userId } });
    return { requestedAt: row?.requestedAt ?? null, allowedUntil: row?.allowedUntil ?? null };
  }

  async function isInWindow(createdAt: Date): Promise<boolean> {
    const since = Math.max(createdAt.getTime(), (await requiredSince())?.getTime() ?? 0);
    return now().getTime() < since + settings().first_factor_days * DAY_MS;
  }

  return {
    state,

    async isAllowed({ id, createdAt }, { totp, passkeys, phone }) {
      const rule = settings().first_factor;
      if (rule === 'open' || totp || passkeys > 0 || phone !== undefined) return true;
      if (rule === 'window' && (await isInWindow(createdAt))) return true;
      const { allowedUntil } = await state(id);
      return allowedUntil !== null && allowedUntil > now();
    },

    async request(userId, by) {
      if ((await state(userId)).requestedAt !== null) return;
      const requestedAt = now();
      await transaction(db, async (tx) => {
        await tx.firstFactorApproval.upsert({
          where: { userId },
          create: { userId, requestedAt },
          update: { requestedAt },
        });
        await audit.record({ ...by, type: 'factors.approval-requested', outcome: 'success', subjectId: userId }, tx);
      });
    },

    allow: (userId, by) =>
      transaction(db, async (tx) => {
        await allowFirstFactor(tx, userId, now());
        await audit.record({ ...by, type: 'factors.approved', outcome: 'success', subjectId: userId }, tx);
      }),

    async waiting() {
      const rows = await db.firstFactorApproval.findMany({
        where: { requestedAt: { not: null }, user: { isActive: true } },
        select: { requestedAt: true, user: { select: { id: true, username: true } } },
        orderBy: { requestedAt: 'desc' },
        take: limits.firstFactor.maxListed,
      });
      return rows.flatMap(({ requestedAt, user }) => (requestedAt ? [{ ...user, requestedAt }] : []));
    },
  };
}

/** Lets the user set up a first factor again: an administrator allows it, or has removed the ones before. */
export async function allowFirstFactor(tx: Tx, userId: string, at: Date): Promise<void> {
  const allowedUntil = new Date(at.getTime() + limits.firstFactor.allowedDays * DAY_MS);
  const change = { allowedUntil, requestedAt: null };
  await tx.firstFactorApproval.upsert({ where: { userId }, create: { userId, ...change }, update: change });
}
