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
/** Accounts that a page looks at. */
const LOOKED = 1000;
/** Days between each email and the end, at least. */
const FIRST_DAYS = 14;
const SECOND_DAYS = 3;
const BETWEEN_DAYS = FIRST_DAYS - SECOND_DAYS;
/** An email counts for so long: where the setting was off meanwhile, people are told again. */
const NOTICE_DAYS = 30;
/** More people than both in one run need an approval, which is for as many in each run of APPROVAL_DAYS: their next steps too. */
const MANY = 10;
const MANY_SHARE = 0.2;
const APPROVAL_DAYS = FIRST_DAYS + 1;
const STOP = 'inactivity:stop';

/** Two emails before an account is disabled, one before it is deleted. */
type Step = 'first' | 'second' | 'disabled' | 'last' | 'deleted';
/** Days from a step until the account is disabled or deleted. */
const DAYS_AFTER: Readonly<Record<Step, number>> = {
  first: FIRST_DAYS,
  second: SECOND_DAYS,
  disabled: 0,
  last: FIRST_DAYS,
  deleted: 0,
};
/** Without a use until an account is disabled, and from then on until it is deleted; 0: never. */
interface Days {
  days: number;
  deleteDays: number;
}
/** What comes next for an account, and when. */
interface Next {
  step: Step;
  at: Date;
}
/** The end of an account that nobody uses. */
export interface UnusedEnd {
  what: 'disabled' | 'deleted';
  /** The soonest that it can be: an approval or an email may delay it. */
  at: Date;
  /** The last email about it, and the next one; null: none. */
  toldAt: Date | null;
  tellAt: Date | null;
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

  /** Undefined: nothing. */
  function nextOf(row: Row, { days, deleteDays }: Days): Next | undefined {
    const isExcepted = row.source === 'file' || row.isManaged || row.isInvited;
    if (isExcepted || days === 0) return undefined;
    const { idleNotice: notice, idleNoticeAt } = row;
    const toldAt = idleNoticeAt?.getTime() ?? 0;
    const isTold = (step: Step) => notice === step && toldAt > daysAgo(NOTICE_DAYS).getTime();
    const next = (step: Step, ...times: number[]) => ({ step, at: new Date(Math.max(...times)) });
    if (row.isEnabled) {
      if (stateOf(row, now()) !== 'active') return undefined;
      const end = sinceOf(row) + days * DAY_MS;
      if (isTold('second')) return next('disabled', end, toldAt + SECOND_DAYS * DAY_MS);
      if (isTold('first')) return next('second', end - SECOND_DAYS * DAY_MS, toldAt + BETWEEN_DAYS * DAY_MS);
      return next('first', end - FIRST_DAYS * DAY_MS);
    }
    // Never without a mail server, where nobody receives the email.
    if (deleteDays === 0 || idleNoticeAt === null || !mailServer.isSet()) return undefined;
    if (isTold('last')) return next('deleted', toldAt + FIRST_DAYS * DAY_MS);
    if (notice === 'disabled') return next('last', toldAt + (deleteDays - FIRST_DAYS) * DAY_MS);
    return notice === 'last' ? next('last', toldAt + NOTICE_DAYS * DAY_MS) : undefined;
  }

  /** What is due for an account; undefined: nothing. */
  function stepOf(row: Row, all: Days): Step | undefined {
    const next = nextOf(row, all);
    return next && next.at <= now() ? next.step : undefined;
  }

  /** When the account is disabled or deleted, at the soonest. */
  function endAfter({ step, at }: Next, row: Row, { days }: Days): Date {
    const soonest = Math.max(at.getTime(), now().getTime()) + DAYS_AFTER[step] * DAY_MS;
    return new Date(row.isEnabled ? Math.max(sinceOf(row) + days * DAY_MS, soonest) : soonest);
  }

  function endOf(row: Row, all: Days): UnusedEnd | undefined {
    const next = nextOf(row, all);
    if (!next) return undefined;
    const { step } = next;
    const isFirstEmail = step === 'first' || step === 'last';
    const isEmail = isFirstEmail || step === 'second';
    const toldAt = isFirstEmail ? null : row.idleNoticeAt;
    const tellAt = isEmail ? new Date(Math.max(next.at.getTime(), now().getTime())) : null;
    return { what: row.isEnabled ? 'disabled' : 'deleted', at: endAfter(next, row, all), toldAt, tellAt };
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

  /** Those that were not used since then, in pieces, found by the index of the last use. */
  async function* unusedSince(before: Date): AsyncGenerator<Row[]> {
    for (let last = { lastSeenAt: new Date(0), id: '' }; ; ) {
      const rows = await read(
        fragment`(u.last_seen_at, u.id) > (${last.lastSeenAt}, ${last.id})
          AND u.last_seen_at <= ${before} ORDER BY u.last_seen_at, u.id LIMIT ${PIECE}`,
      );
      yield rows;
      last = rows.at(-1) ?? last;
      if (rows.length < PIECE) return;
    }
  }

  /** The accounts for which something is due. */
  async function allDue(all: Days, signal: AbortSignal | undefined): Promise<Due[]> {
    const due: Due[] = [];
    for await (const rows of unusedSince(daysAgo(all.days - FIRST_DAYS))) {
      for (const row of rows) {
        const step = stepOf(row, all);
        if (step) due.push({ id: row.id, step, lastSeenAt: row.lastSeenAt });
      }
      if (signal?.aborted) break;
    }
    return due;
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
      if (step === 'disabled') return void (await disableAccount(services, id, {}, tx, 'unused'));
      if (step === 'deleted') return void (await removeAccount(services, id, {}, tx));
      const to = recipientOf(account);
      if (!to) return;
      const until = endAfter({ step, at }, row, all);
      await outbox.send({ to, kind: 'account-unused', since: row.lastSeenAt, until, isDisabled: !row.isEnabled }, tx);
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

  /** How many of these the approval is for: all that were due then, or none where they are more now. */
  function approvedOf(due: readonly Due[], { seenBy, count, deletions }: Stop): number {
    const then = due.filter(({ lastSeenAt }) => lastSeenAt.getTime() <= seenBy);
    return then.length <= count && deletionsIn(then) <= deletions ? then.length : 0;
  }

  /** Whether these may be warned, disabled or deleted now; otherwise an administrator has to approve it. */
  async function isAllowed(due: readonly Due[], all: Days): Promise<boolean> {
    const stored = await readStop();
    const stop = stored && isOf(stored, all) ? stored : undefined;
    const isApproved = stop?.approvedAt !== undefined && stop.approvedAt > daysAgo(APPROVAL_DAYS).getTime();
    const count = due.length - (isApproved ? approvedOf(due, stop) : 0);
    const of = count > MANY ? await db.asStored.user.count({ where: whereActive(now()) }) : 0;
    if (count <= MANY || count <= of * MANY_SHARE) {
      if (stored && !isApproved) await storeStop(null, db);
      return true;
    }
    if (stop && stop.approvedAt === undefined) return false;
    const data = { ...all, count: due.length, deletions: deletionsIn(due), of };
    await transaction(db, async (tx) => {
      await storeStop({ ...data, seenBy: daysAgo(all.days - FIRST_DAYS).getTime() }, tx);
      await audit.record({ type: 'inactivity.stopped', outcome: 'failure', data }, tx);
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

    /** When the account is disabled or deleted if nobody uses it; undefined: never, with the settings of now. */
    async endOf(account: Account): Promise<UnusedEnd | undefined> {
      const all = await daysNow();
      const [row] = all.days > 0 ? await read(fragment`u.id = ${account.id}`) : [];
      const end = row && endOf(row, all);
      return end && !(await isLastAdmin(account, db)) ? end : undefined;
    },

    /** The accounts that are disabled or deleted within 30 days if nobody uses them, the first ones, from those unused the longest. */
    async soon(most: number): Promise<{ id: string; end: UnusedEnd }[]> {
      const all = await daysNow();
      const found: { id: string; end: UnusedEnd }[] = [];
      let looked = 0;
      for await (const rows of all.days > 0 ? unusedSince(daysAgo(all.days - NOTICE_DAYS)) : []) {
        for (const row of rows) {
          const end = endOf(row, all);
          if (end && end.at <= daysAgo(-NOTICE_DAYS)) found.push({ id: row.id, end });
        }
        looked += rows.length;
        if (found.length >= most || looked >= LOOKED) break;
      }
      return found.sort((one, other) => one.end.at.getTime() - other.end.at.getTime()).slice(0, most);
    },

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

/** Since when, in milliseconds, it could be used and was not. */
const sinceOf = ({ lastSeenAt, activeFrom }: Row): number => Math.max(lastSeenAt.getTime(), activeFrom?.getTime() ?? 0);

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
