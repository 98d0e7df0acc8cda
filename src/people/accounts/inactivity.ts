// Accounts that nobody uses are disabled after two emails to their people, and deleted after a third one; never one without an address. Each
// use begins again (seen.ts).

import { type Tx, transaction } from '../../base/storage/database.ts';
import { fragment } from '../../base/storage/fragments.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import { genuineText, storeValue } from '../../core/settings/settings.ts';
import type { Account } from './account.ts';
import type { Accounts } from './accounts.ts';
import { stateOf, whereActive } from './active.ts';
import { disableAccount, type EndSession, removeAccount } from './life.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Accounts that are read at once. */
const PIECE = 100;
/** Days between each email and the end, at least. */
const FIRST_DAYS = 14;
const SECOND_DAYS = 3;
/** An email counts for so long: where the setting was off meanwhile, people are told again. */
const NOTICE_DAYS = 30;
/** More people than both in one run need an approval, which is for as many, and their next steps. */
const MANY = 10;
const MANY_SHARE = 0.2;
const APPROVAL_DAYS = FIRST_DAYS + 1;
const STOP = 'inactivity:stop';

type Step = 'first' | 'second' | 'disabled' | 'last' | 'deleted';
/** Without a use until an account is disabled, and from then on until it is deleted; 0: never. */
interface Days {
  days: number;
  deleteDays: number;
}
interface Due {
  id: string;
  step: Step;
  before: { lastSeenAt: Date; idleNotice: string };
}
interface Row {
  id: string;
  lastSeenAt: Date;
  idleNotice: string;
  idleNoticeAt: Date | null;
  isEnabled: boolean;
  activeFrom: Date | null;
  activeUntil: Date | null;
  source: string;
  isManaged: boolean;
  isInvited: boolean;
}
/** A run that would have concerned too many. */
interface Stop {
  /** In milliseconds. */
  approvedAt?: number;
  /** What the setting said. */
  days: number;
  count: number;
  of: number;
}

/** Of people/rbac. */
interface Roles {
  isLastAdmin(userId: string, tx: Tx): Promise<boolean>;
}

export type Inactivity = ReturnType<typeof createInactivity>;

export function createInactivity(services: Core & { accounts: Accounts; roles: Roles; endSession: EndSession }) {
  const { db, now, settings, accounts, roles, audit, outbox, logger } = services;
  const daysAgo = (days: number) => new Date(now().getTime() - days * DAY_MS);
  const unusedDays = () => settings.get('inactive_after_days');

  /** What is due for an account; undefined: nothing. */
  function stepOf(row: Row, { days, deleteDays }: Days): Step | undefined {
    const isExcepted = row.source === 'file' || row.isManaged || row.isInvited;
    if (isExcepted) return undefined;
    if (!row.isEnabled) return deleteDays > 0 ? stepToDeletion(row, deleteDays) : undefined;
    if (stateOf(row, now()) !== 'active') return undefined;
    const since = Math.max(row.lastSeenAt.getTime(), row.activeFrom?.getTime() ?? 0);
    const isUnused = (count: number) => since <= daysAgo(count).getTime();
    const isTold = (notice: Step) =>
      row.idleNotice === notice && row.idleNoticeAt !== null && row.idleNoticeAt > daysAgo(NOTICE_DAYS);
    const isOver = (count: number) => row.idleNoticeAt !== null && row.idleNoticeAt <= daysAgo(count);
    if (isTold('second')) return isUnused(days) && isOver(SECOND_DAYS) ? 'disabled' : undefined;
    if (isTold('first')) return isUnused(days - SECOND_DAYS) && isOver(FIRST_DAYS - SECOND_DAYS) ? 'second' : undefined;
    return isUnused(days - FIRST_DAYS) ? 'first' : undefined;
  }

  /** Of an account that was disabled because nobody used it: an email, and 14 days later the deletion. */
  function stepToDeletion({ idleNotice, idleNoticeAt: at }: Row, deleteDays: number): Step | undefined {
    if (at === null || (idleNotice !== 'disabled' && idleNotice !== 'last')) return undefined;
    if (idleNotice === 'disabled') return at <= daysAgo(deleteDays - FIRST_DAYS) ? 'last' : undefined;
    if (at <= daysAgo(NOTICE_DAYS)) return 'last';
    return at <= daysAgo(FIRST_DAYS) ? 'deleted' : undefined;
  }

  /** The accounts for which something is due, found by the index of the last use. COALESCE keeps SQLite from the index of all invitations. */
  async function allDue(all: Days, signal: AbortSignal | undefined): Promise<Due[]> {
    const found: Due[] = [];
    for (let last = { lastSeenAt: new Date(0), id: '' }; !signal?.aborted; ) {
      const rows = await db.$queryRaw<Row[]>(fragment`SELECT u.id, u.last_seen_at AS "lastSeenAt",
          u.idle_notice AS "idleNotice", u.idle_notice_at AS "idleNoticeAt", u.is_enabled AS "isEnabled",
          u.active_from AS "activeFrom", u.active_until AS "activeUntil", u.source,
          EXISTS (SELECT 1 FROM scim_users s WHERE s.user_id = u.id) AS "isManaged",
          EXISTS (SELECT 1 FROM mail_tokens t WHERE t.user_id = u.id AND t.purpose = 'invite'
            AND COALESCE(t.used_at, t.bounced_at) IS NULL AND t.expires_at > ${now()}) AS "isInvited"
        FROM users u WHERE (u.last_seen_at, u.id) > (${last.lastSeenAt}, ${last.id}) AND u.email IS NOT NULL
          AND u.last_seen_at <= ${daysAgo(all.days - FIRST_DAYS)} ORDER BY u.last_seen_at, u.id LIMIT ${PIECE}`);
      const read = rows.map(rowOf);
      for (const row of read) {
        const step = stepOf(row, all);
        const { id, lastSeenAt, idleNotice } = row;
        if (step) found.push({ id, step, before: { lastSeenAt, idleNotice } });
      }
      last = read.at(-1) ?? last;
      if (rows.length < PIECE) break;
    }
    return found;
  }

  const isLastAdmin = async ({ id, roles: held }: Account, tx: Tx): Promise<boolean> =>
    held.length > 0 && roles.isLastAdmin(id, tx);

  const take = ({ id, step, before }: Due, days: number): Promise<void> =>
    transaction(db, async (tx) => {
      const account = await accounts.findWithLater(id, tx);
      if (!account || (await isLastAdmin(account, tx))) return;
      const at = now();
      // Only as it was read: its person came meanwhile, or an administrator changed it.
      const isDisabled = step === 'last' || step === 'deleted';
      const where = { id, ...before, ...(isDisabled ? { isEnabled: false } : whereActive(at)) };
      const data = { idleNotice: step, idleNoticeAt: at, updatedAt: account.updatedAt };
      if ((await tx.user.updateMany({ where, data })).count === 0) return;
      if (step === 'disabled') {
        await disableAccount(services, id, {}, tx, 'unused');
        return;
      }
      if (step === 'deleted') {
        await removeAccount(services, id, {}, tx);
        return;
      }
      const to = recipientOf(account);
      if (!to) return;
      const atLeast = at.getTime() + (step === 'second' ? SECOND_DAYS : FIRST_DAYS) * DAY_MS;
      const until = new Date(isDisabled ? atLeast : Math.max(before.lastSeenAt.getTime() + days * DAY_MS, atLeast));
      await outbox.send({ to, kind: 'account-unused', since: before.lastSeenAt, until, isDisabled }, tx);
    });

  const readStop = async (tx: Tx = db): Promise<Stop | undefined> => {
    const text = await genuineText(tx, STOP);
    const stop = text === undefined ? null : (JSON.parse(text) as Stop | null);
    return stop ?? undefined;
  };
  const storeStop = (stop: Stop | null, tx: Tx) =>
    storeValue(tx, STOP, stop, { source: 'local', at: now(), isProtected: true });

  /** Whether so many may be warned or disabled now; otherwise an administrator has to approve it. */
  async function isAllowed(count: number, days: number): Promise<boolean> {
    const stop = await readStop();
    const isApproved =
      stop?.approvedAt !== undefined &&
      stop.days === days &&
      count <= stop.count &&
      stop.approvedAt > daysAgo(APPROVAL_DAYS).getTime();
    if (isApproved) return true;
    const of = count > MANY ? await db.asStored.user.count({ where: whereActive(now()) }) : 0;
    if (count <= MANY || count <= of * MANY_SHARE) {
      if (stop) await storeStop(null, db);
      return true;
    }
    if (stop && stop.approvedAt === undefined && stop.days === days) return false;
    await transaction(db, async (tx) => {
      await storeStop({ days, count, of }, tx);
      await audit.record({ type: 'inactivity.stopped', outcome: 'failure', data: { count, of, days } }, tx);
    });
    return false;
  }

  async function run(signal?: AbortSignal): Promise<void> {
    const days = await unusedDays();
    const deleteDays = await settings.get('delete_unused_after_days');
    const due = days > 0 ? await allDue({ days, deleteDays }, signal) : [];
    if (signal?.aborted || !(await isAllowed(due.length, days))) return;
    for (const one of due) {
      if (signal?.aborted) return;
      await take(one, days).catch((err: unknown) => logger.error({ err }, 'an unused account was not handled'));
    }
  }

  return {
    run,

    /** How many people the last run would have warned or disabled, of how many; undefined: nothing waits for an approval. */
    async stopped(): Promise<{ count: number; of: number } | undefined> {
      const stop = await readStop();
      return stop && stop.approvedAt === undefined && stop.days === (await unusedDays()) ? stop : undefined;
    },

    /** The next run goes on, and so do the next steps for those people. */
    approve: (by: Actor): Promise<void> =>
      transaction(db, async (tx) => {
        const stop = await readStop(tx);
        if (!stop || stop.approvedAt !== undefined) return;
        await storeStop({ ...stop, approvedAt: now().getTime() }, tx);
        const { count, of, days } = stop;
        await audit.record({ ...by, type: 'inactivity.approved', outcome: 'success', data: { count, of, days } }, tx);
      }),

    job: { name: 'inactivity', everySeconds: 3600, run } satisfies ScheduledJob as ScheduledJob,
  };
}

/** The databases return times and flags of plain SQL as other types. */
function rowOf(row: Row): Row {
  const time = (at: Date | null) => at && new Date(at);
  return {
    ...row,
    lastSeenAt: new Date(row.lastSeenAt),
    idleNoticeAt: time(row.idleNoticeAt),
    activeFrom: time(row.activeFrom),
    activeUntil: time(row.activeUntil),
    isEnabled: Boolean(row.isEnabled),
    isManaged: Boolean(row.isManaged),
    isInvited: Boolean(row.isInvited),
  };
}
