// Requests for membership: a person asks for a group that opens an application, an owner or an administrator decides, and an open one lapses.
import { conflict, notFound, tooManyRequests } from '../../base/http/errors.ts';
import { fullName } from '../../base/http/pages/tokens.ts';
import { limits } from '../../base/limits.ts';
import { randomId } from '../../base/platform/random.ts';
import { type Db, type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import { lockGroups, lockRow } from '../../base/storage/row-lock.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { whereActive } from '../accounts/active.ts';
import { NAMED_PERSON, nameKey } from '../accounts/names.ts';
import { assertTimes, type Batch, type Page } from '../rbac/assign-roles.ts';
import type { Groups } from './groups.ts';
import { type GroupChange, ownersOf } from './rights.ts';

export type RequestState = 'open' | 'granted' | 'denied' | 'withdrawn' | 'lapsed';
/** As its person sees it: `ended` is granted, but the membership is over. */
type DisplayedState = RequestState | 'ended';

interface NewRequest {
  userId: string;
  groupId: string;
  /** The application that the person wants to open. */
  applicationId: string;
  reason: string;
  /** The end that the person wishes; null: none. */
  until: Date | null;
}

interface Decision {
  isGranted: boolean;
  /** The group that the request must be for; any by default. */
  groupId?: string;
  /** To the person. */
  answer?: string;
  /** Of the membership; null: no end. */
  until?: Date | null;
}

const DAY = 24 * 3600;
/** Requests that a page lists. */
const LISTED = 100;

export function createGroupRequests(core: Core & { groups: Groups; accounts: Accounts }) {
  const { db, sql, now, audit, outbox, groups, accounts } = core;

  const isOpen = () => ({ state: 'open', expiresAt: { gt: now() } });
  const about = { group: true, user: true } as const;

  /** Groups that accept requests and have an owner with an active account. */
  function askableGroup() {
    const owners = { some: { user: whereActive(now()), OR: [{ until: null }, { until: { gt: now() } }] } };
    return { acceptsRequests: true, ancestors: { some: { ancestor: { owners } } } };
  }
  const closed = { enabled: true, access: 'roles' };

  /** An enabled application with each group that opens it, accepts requests and has an owner. @param groupId only this one of them */
  function openings(applicationId: string, { groupId, tx = db }: { groupId?: string; tx?: Tx } = {}) {
    return tx.asStored.applicationGroup.findMany({
      where: {
        application: { id: applicationId, ...closed },
        group: { ...askableGroup(), ...(groupId !== undefined && { id: groupId }) },
      },
      select: {
        application: { select: { id: true, name: true } },
        group: { select: { id: true, name: true, description: true } },
      },
      orderBy: { group: { nameKey: 'asc' } },
      take: LISTED,
    });
  }

  /**
   * Asks for membership and tells the owners. A second request for the same group changes nothing. Throws not_found where the group does not
   * open the application or takes no requests, too_many_requests (429), invalid_input for an end that has passed.
   */
  function ask({ userId, groupId, applicationId, reason, until }: NewRequest, { by = {} }: GroupChange = {}) {
    return transaction(db, async (tx) => {
      const group = await groups.get(groupId, tx);
      const [opening] = await openings(applicationId, { groupId, tx });
      if (!group.acceptsRequests || !opening) throw notFound();
      const at = now();
      assertTimes({ since: null, until }, at);
      await lockRow(tx, sql, 'users', userId);
      const account = await accounts.find(userId, tx);
      if (!account || account.groups.some(({ id }) => id === groupId)) return;
      if (await tx.groupRequest.findFirst({ where: { userId, groupId, ...isOpen() } })) return;
      const ofDay = { userId, createdAt: { gt: new Date(at.getTime() - DAY * 1000) } };
      const asked = await tx.groupRequest.count({ where: ofDay });
      if (asked >= limits.groups.requestsPerDay) throw tooManyRequests(DAY);
      const id = randomId();
      const expiresAt = new Date(at.getTime() + limits.groups.requestDays * DAY * 1000);
      const columns = { id, groupId, userId, applicationId, reason, until, expiresAt };
      await tx.groupRequest.create({ data: { ...columns, state: 'open', createdAt: at } });
      await record('group.request-made', { group, userId }, { by }, tx, { applicationId });
      const person = { username: account.username, name: fullName(account) };
      const facts = { group: group.name, groupId, ...person, application: opening.application.name };
      for (const owner of await ownersOf(groupId, at, tx)) {
        const to = recipientOf(owner);
        if (to) await outbox.send({ to, kind: 'group-request', ...facts }, tx);
      }
    });
  }

  const record = (
    type: `group.request-${'made' | 'granted' | 'denied' | 'withdrawn'}`,
    { group, userId }: { group: { id: string; name: string }; userId: string },
    { by = {} }: GroupChange,
    tx: Tx,
    data = {},
  ) => {
    const parties = { ...by, type, outcome: 'success', subjectId: userId } as const;
    return audit.record({ ...parties, data: { groupId: group.id, groupName: group.name, ...data } }, tx);
  };

  /** Closes an open request. Throws changed_meanwhile (409) when it is decided, withdrawn or lapsed already. */
  async function close(
    id: string,
    changes: { state: RequestState; answer?: string; decidedBy?: string | null },
    tx: Tx,
  ) {
    const data = { ...changes, decidedAt: now() };
    const { count } = await tx.groupRequest.updateMany({ where: { id, ...isOpen() }, data });
    if (count === 0) throw conflict('changed_meanwhile');
  }

  async function find(id: string, tx: Tx) {
    const request = await tx.groupRequest.findUnique({ where: { id }, include: about });
    if (!request) throw notFound();
    return request;
  }

  /**
   * An owner decides, or an administrator who may give what the group gives; the person gets a mail. Throws not_found, forbidden,
   * group_unconfirmed (403), changed_meanwhile (409), invalid_input.
   */
  function decide(
    id: string,
    { isGranted, groupId: expected, answer = '', until = null }: Decision,
    { by = {}, tx: outer }: GroupChange = {},
  ) {
    return withinTransaction(db, outer, async (tx) => {
      await lockGroups(tx, sql, 'shared');
      const { group, user, groupId, userId } = await find(id, tx);
      if (expected !== undefined && expected !== groupId) throw notFound();
      const isOwner = by.actorId !== undefined && (await groups.owns(by.actorId, groupId, tx));
      const via = isOwner ? 'request' : 'direct';
      // An owner says no without a confirmed appointment too: that gives nothing.
      if (isGranted || via === 'direct') await groups.assertMayPut(groupId, via, { by }, tx);
      const state = isGranted ? 'granted' : 'denied';
      await close(id, { state, answer, decidedBy: by.actorId ?? null }, tx);
      if (isGranted) await groups.addMembers(groupId, [{ userId, until }], { by, tx, via });
      await record(`group.request-${state}`, { group, userId }, { by }, tx, isGranted ? { until } : {});
      const to = recipientOf(user);
      const facts = { group: group.name, isGranted, until: isGranted ? until : null };
      if (to) await outbox.send({ to, kind: 'group-answer', ...facts }, tx);
    });
  }

  /** With the application that each is for; null where none is named, or it was deleted. */
  async function withApplications<Row extends { applicationId: string | null }>(rows: readonly Row[]) {
    const ids = [...new Set(rows.flatMap(({ applicationId }) => applicationId ?? []))];
    const select = { id: true, name: true } as const;
    const found =
      ids.length === 0 ? [] : await db.asStored.application.findMany({ where: { id: { in: ids } }, select });
    return rows.map((row) => ({ ...row, application: found.find(({ id }) => id === row.applicationId) ?? null }));
  }

  /** By the person who asked. Throws not_found, changed_meanwhile (409). */
  function withdraw(id: string, userId: string, { by = {} }: GroupChange = {}) {
    return transaction(db, async (tx) => {
      const request = await find(id, tx);
      if (request.userId !== userId) throw notFound();
      await close(id, { state: 'withdrawn' }, tx);
      await record('group.request-withdrawn', request, { by }, tx);
    });
  }

  return {
    openings,
    ask,
    decide,
    withdraw,

    /**
     * Applications that a person may ask for, by name, except those of the condition `except`, which are open. `isOpen`: an open request of the
     * person would open it.
     */
    async askable(userId: string, { except, search, limit }: { except: object; search: string; limit: number }) {
      const groups = { some: { group: askableGroup() } };
      const named = search === '' ? {} : { nameKey: { contains: nameKey(search) } };
      const found = await db.asStored.application.findMany({
        where: { ...closed, ...named, groups, NOT: except },
        select: { id: true, name: true, groups: { select: { groupId: true } } },
        orderBy: [{ nameKey: 'asc' }, { id: 'asc' }],
        take: limit,
      });
      const open = await db.groupRequest.findMany({ where: { userId, ...isOpen() }, select: { groupId: true } });
      const requested = new Set(open.map(({ groupId }) => groupId));
      return found.map(({ id, name, groups: opening }) => ({
        name,
        ask: { href: askHref(id), isOpen: opening.some(({ groupId }) => requested.has(groupId)) },
      }));
    },

    /** The page on which a person asks for an application, and whether an open request of theirs would open it; undefined where none could. */
    async offer({ id, isActive }: { id: string; isActive: boolean }, applicationId: string) {
      const groupIds = (await openings(applicationId)).map(({ group }) => group.id);
      if (!isActive || groupIds.length === 0) return undefined;
      const open = await db.groupRequest.count({ where: { userId: id, groupId: { in: groupIds }, ...isOpen() } });
      return { href: askHref(applicationId), isOpen: open > 0 };
    },

    /** The requests of a person, the latest first; those that lapsed since the last job are lapsed. */
    async of(userId: string) {
      const rows = await db.groupRequest.findMany({
        where: { userId },
        include: { group: { select: { id: true, name: true } } },
        orderBy: { createdAt: 'desc' },
        take: LISTED,
      });
      const memberOf = (await accounts.find(userId))?.groups ?? [];
      const stateOf = ({ state, expiresAt, groupId }: (typeof rows)[number]) => {
        if (state === 'open' && expiresAt <= now()) return 'lapsed';
        return state === 'granted' && !memberOf.some(({ id }) => id === groupId) ? 'ended' : state;
      };
      return (await withApplications(rows)).map((row) => ({ ...row, state: stateOf(row) as DisplayedState }));
    },

    /** The open requests for these groups, the oldest first. */
    async openFor(groupIds: readonly string[]) {
      const rows = await db.groupRequest.findMany({
        where: { groupId: { in: [...groupIds] }, ...isOpen() },
        include: { user: { select: NAMED_PERSON } },
        orderBy: { createdAt: 'asc' },
        take: LISTED,
      });
      return withApplications(rows);
    },

    /** How many requests for the group are open, as far as a page lists them. */
    countOpen: (groupId: string): Promise<number> =>
      db.groupRequest.count({ where: { groupId, ...isOpen() }, orderBy: { createdAt: 'asc' }, take: LISTED }),
  };
}

const askHref = (applicationId: string) => `/account/groups/ask?application=${encodeURIComponent(applicationId)}`;

/** Of the job `ends`: a batch of open requests lapses. */
export async function lapseRequests(
  { audit, db }: { audit: Audit; db: Tx | Db },
  at: Date,
  page: Page,
): Promise<Batch> {
  const where = { state: 'open', expiresAt: { lte: at } };
  const query = { where, orderBy: { id: 'asc' }, ...page } as const;
  const found = await db.groupRequest.count(query);
  const rows = await db.groupRequest.findMany({ ...query, include: { group: { select: { name: true } } } });
  for (const { id, groupId, userId, group } of rows) {
    if ((await db.groupRequest.updateMany({ where: { id, ...where }, data: { state: 'lapsed' } })).count === 0)
      continue;
    const data = { groupId, groupName: group.name };
    await audit.record({ type: 'group.request-lapsed', outcome: 'success', subjectId: userId, data }, db);
  }
  return { found, forged: found - rows.length };
}
