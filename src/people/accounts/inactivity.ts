// Accounts that nobody uses are disabled after two emails to their people, and deleted after a third one; never one without an address. Each
// use begins again (seen.ts).

import { type Tx, transaction } from '../../base/storage/database.ts';
import { type Fragment, fragment } from '../../base/storage/fragments.ts';
import { lockRow } from '../../base/storage/row-lock.ts';
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
/** More people than both in one run need an approval, which is for as many in each run of APPROVAL_DAYS: their next steps too. */
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
  lastSeenAt: Date;
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
  /** What the settings said. */
  days: number;
  deleteDays: number;
  count: number;
  /** Those of them who are told that they are deleted, or are deleted. */
  deletions: number;
  of: number;
  /** In milliseconds: nobody of them was seen later, so that the approval is for nobody who is due after them. */
  seenBy: number;
}

/** Of people/rbac. */
interface Roles {
  isLastAdmin(userId: string, tx: Tx): Promise<boolean>;
}

export type Inactivity = ReturnType<typeof createInactivity>;

export function createInactivity(services: Core & { accounts: Accounts; roles: Roles; endSession: EndSession }) {
  const { db, sql, now, settings, accounts, roles, audit, outbox, mailServer, logger } = services;
  const daysAgo = (days: number) => new Date(now().getTime() - days * DAY_MS);
  const latestDays = (): Days => {
    const { inactive_after_days: days, delete_unused_after_days: deleteDays } = settings.latest();
    return { days, deleteDays };
  };
  const daysNow = async (): Promise<Days> => {
    await settings.get('inactive_after_days');
    return latestDays();
  };

  /** What is due for an account; undefined: nothing. */
  function stepOf(row: Row, { days, deleteDays }: Days): Step | undefined {
    const isExcepted = row.source === 'file' || row.isManaged || row.isInvited;
    if (isExcepted || days === 0) return undefined;
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

  /**
   * Of an account that was disabled because nobody used it: an email, and 14 days later the deletion; never without a mail server, where nobody
   * receives the email.
   */
  function stepToDeletion({ idleNotice, idleNoticeAt: at }: Row, deleteDays: number): Step | undefined {
    if (!mailServer.isSet() || at === null || (idleNotice !== 'disabled' && idleNotice !== 'last')) return undefined;
    if (idleNotice === 'disabled') return at <= daysAgo(deleteDays - FIRST_DAYS) ? 'last' : undefined;
    if (at <= daysAgo(NOTICE_DAYS)) return 'last';
    return at <= daysAgo(FIRST_DAYS) ? 'deleted' : undefined;
  }

  /** COALESCE keeps SQLite from the index of all invitations. */
  async function read(which: Fragment, tx: Tx = db): Promise<Row[]> {
    const rows = await tx.$queryRaw<Row[]>(fragment`SELECT u.id, u.last_seen_at AS "lastSeenAt",
        u.idle_notice AS "idleNotice", u.idle_notice_at AS "idleNoticeAt", u.is_enabled AS "isEnabled",
        u.active_from AS "activeFrom", u.active_until AS "activeUntil", u.source,
        EXISTS (SELECT 1 FROM scim_users s WHERE s.user_id = u.id) AS "isManaged",
        EXISTS (SELECT 1 FROM mail_tokens t WHERE t.user_id = u.id AND t.purpose = 'invite'
          AND COALESCE(t.used_at, t.bounced_at) IS NULL AND t.expires_at > ${now()}) AS "isInvited"
      FROM users u WHERE u.email IS NOT NULL AND ${which}`);
    return rows.map(rowOf);
  }

  /** The accounts for which something is due, found by the index of the last use. */
  async function allDue(all: Days, signal: AbortSignal | undefined): Promise<Due[]> {
    const found: Due[] = [];
    for (let last = { lastSeenAt: new Date(0), id: '' }; !signal?.aborted; ) {
      const rows = await read(
        fragment`(u.last_seen_at, u.id) > (${last.lastSeenAt}, ${last.id})
          AND u.last_seen_at <= ${daysAgo(all.days - FIRST_DAYS)} ORDER BY u.last_seen_at, u.id LIMIT ${PIECE}`,
      );
      for (const row of rows) {
        const step = stepOf(row, all);
        if (step) found.push({ id: row.id, step, lastSeenAt: row.lastSeenAt });
      }
      last = rows.at(-1) ?? last;
      if (rows.length < PIECE) break;
    }
    return found;
  }

  const isLastAdmin = async ({ id, roles: held }: Account, tx: Tx): Promise<boolean> =>
    held.length > 0 && roles.isLastAdmin(id, tx);

  const take = ({ id, step }: Due): Promise<void> =>
    transaction(db, async (tx) => {
      const account = await accounts.findWithLater(id, tx);
      if (!account || (await isLastAdmin(account, tx))) return;
      await lockRow(tx, sql, 'users', id);
      const all = latestDays();
      const [row] = await read(fragment`u.id = ${id}`, tx);
      // Its person came meanwhile, it was invited or changed, or the settings were.
      if (!row || stepOf(row, all) !== step) return;
      const at = now();
      const data = { idleNotice: step, idleNoticeAt: at, updatedAt: account.updatedAt };
      if ((await tx.user.updateMany({ where: { id }, data })).count === 0) return;
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
      const isDisabled = step === 'last';
      const { lastSeenAt: since } = row;
      const until = new Date(isDisabled ? atLeast : Math.max(since.getTime() + all.days * DAY_MS, atLeast));
      await outbox.send({ to, kind: 'account-unused', since, until, isDisabled }, tx);
    });

  const readStop = async (tx: Tx = db): Promise<Stop | undefined> => {
    const text = await genuineText(tx, STOP);
    const stop = text === undefined ? null : (JSON.parse(text) as Stop | null);
    return stop ?? undefined;
  };
  const storeStop = (stop: Stop | null, tx: Tx) =>
    storeValue(tx, STOP, stop, { source: 'local', at: now(), isProtected: true });

  const isOf = (stop: Stop, { days, deleteDays }: Days) => stop.days === days && stop.deleteDays === deleteDays;
  const deletionsIn = (due: readonly Due[]) => due.filter(({ step }) => step === 'last' || step === 'deleted').length;

  /** Whether these may be warned, disabled or deleted now; otherwise an administrator has to approve it. */
  async function isAllowed(due: readonly Due[], all: Days): Promise<boolean> {
    const stored = await readStop();
    const stop = stored && isOf(stored, all) ? stored : undefined;
    const isApproved = stop?.approvedAt !== undefined && stop.approvedAt > daysAgo(APPROVAL_DAYS).getTime();
    const approved = isApproved ? due.filter(({ lastSeenAt }) => lastSeenAt.getTime() <= stop.seenBy) : [];
    const fits = approved.length <= (stop?.count ?? 0) && deletionsIn(approved) <= (stop?.deletions ?? 0);
    const count = fits ? due.length - approved.length : due.length;
    const of = count > MANY ? await db.asStored.user.count({ where: whereActive(now()) }) : 0;
    if (count <= MANY || count <= of * MANY_SHARE) {
      if (stored && !isApproved) await storeStop(null, db);
      return true;
    }
    if (stop && stop.approvedAt === undefined) return false;
    const found = { ...all, count: due.length, deletions: deletionsIn(due), of };
    await transaction(db, async (tx) => {
      await storeStop({ ...found, seenBy: daysAgo(all.days - FIRST_DAYS).getTime() }, tx);
      await audit.record({ type: 'inactivity.stopped', outcome: 'failure', data: found }, tx);
    });
    return false;
  }

  async function run(signal?: AbortSignal): Promise<void> {
    const all = await daysNow();
    const due = all.days > 0 ? await allDue(all, signal) : [];
    if (signal?.aborted || !(await isAllowed(due, all))) return;
    for (const one of due) {
      if (signal?.aborted) return;
      await take(one).catch((err: unknown) => logger.error({ err }, 'an unused account was not handled'));
    }
  }

  return {
    run,

    /**
     * How many people the last run would have warned, disabled or deleted, of how many, and for how many of them it was about the deletion;
     * undefined: nothing waits for an approval.
     */
    async stopped(): Promise<{ count: number; deletions: number; of: number } | undefined> {
      const stop = await readStop();
      return stop && stop.approvedAt === undefined && isOf(stop, await daysNow()) ? stop : undefined;
    },

    /** Of an email that nobody received: the days until the deletion begin again. */
    async notReceived({ kind, userId }: { kind: string; userId: string | null }, tx: Tx): Promise<void> {
      if (kind !== 'account-unused' || userId === null) return;
      const told = { id: userId, idleNotice: 'last' };
      const user = await tx.user.findFirst({ where: told, select: { updatedAt: true } });
      const data = { idleNotice: 'disabled', idleNoticeAt: now() };
      if (user) await tx.user.updateMany({ where: told, data: { ...data, ...user } });
    },

    /** The next run goes on, and so do the next steps for those people: no deletions that the stop did not count. */
    approve: (by: Actor): Promise<void> =>
      transaction(db, async (tx) => {
        const stop = await readStop(tx);
        if (!stop || stop.approvedAt !== undefined) return;
        await storeStop({ ...stop, approvedAt: now().getTime() }, tx);
        const { seenBy: _seenBy, ...data } = stop;
        await audit.record({ ...by, type: 'inactivity.approved', outcome: 'success', data }, tx);
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
