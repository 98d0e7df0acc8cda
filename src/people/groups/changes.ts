// Many people join or leave a group, or are signed out, in pieces: each is a short transaction, so that sign-ins and other requests go on in
// between. Every row is checked before the first piece. A piece is deleted in the transaction that carries it out, so a server that is
// killed, or another node, goes on with what is left, and each piece of a group asks again for the right of who asked.
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, badRequest, conflict, type ErrorCode, forbidden, notFound } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { randomId } from '../../base/platform/random.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { lockGroups } from '../../base/storage/row-lock.ts';
import { type Fault, fault, textFault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import { hasAdministrator } from '../rbac/assign-roles.ts';
import type { Authority } from '../rbac/authority.ts';
import { EVERYTHING, rightsOfClient } from '../rbac/built-in.ts';
import { sharedRights } from '../rbac/rights.ts';
import { type Groups, isPersonal, type NewMember } from './groups.ts';
import { expiryOf, PIECE, peopleIn, storedActor, storePieces } from './pieces.ts';

/** What a change does with its people. */
export type ChangeKind = 'add' | 'remove' | 'sign_out';

export interface MemberChange {
  id: string;
  kind: ChangeKind;
  /** Null: whose rights changed since their group or role was deleted. */
  groupId: string | null;
  by: Actor;
  total: number;
  done: number;
  /** Of those who are done: who were not in or had other times, or who were in and are no longer. */
  changed: number;
  /** `prepared`: everything is checked, and nobody has started it. */
  state: 'prepared' | 'waiting' | 'running' | 'done' | 'failed';
  /** Why it failed. */
  error: ErrorCode | null;
  createdAt: Date;
  endedAt: Date | null;
}

export interface WantedChange {
  kind: Exclude<ChangeKind, 'sign_out'>;
  groupId: string;
  members: readonly NewMember[];
  by: Actor;
}

type PieceOfChange = Omit<WantedChange, 'kind' | 'groupId'> & Pick<MemberChange, 'kind' | 'groupId'>;

export type GroupChanges = ReturnType<typeof createGroupChanges>;

/** Between two transactions, in which other processes may write. */
const PAUSE_MS = 2;
/** Rows of one statement, and of one turn of the event loop. */
const ROWS = 100;
/** Pieces of one change before the next one is looked for: nobody waits for the end of a long one to be signed out. */
const IN_A_ROW = 20;
/** Mistakes that are listed one by one. */
const LISTED = 50;
const HOUR_MS = 3600 * 1000;

export function createGroupChanges({
  db,
  sql,
  now,
  groups,
  authority,
  signOutOnRoleChange,
  wake,
}: Core & {
  groups: Groups;
  authority: Authority;
  signOutOnRoleChange(userId: string, by: Actor, tx: Tx): Promise<void>;
}) {
  /**
   * Checks every row, and whether the actor may put these people in, or take them out. Throws what `addMembers` of groups.ts throws, and
   * invalid_input with the first mistakes and their number.
   */
  async function check({ kind, groupId, members, by }: WantedChange): Promise<void> {
    await groups.assertMayAdd(groupId, { by });
    const at = now();
    const known = new Set<string>();
    const rows = members.map(({ userId }) => userId);
    await inChunks(
      rows,
      async (piece) => {
        const found = await db.asStored.user.findMany({ where: { id: { in: piece } }, select: { id: true } });
        for (const { id } of found) known.add(id);
        return [];
      },
      ROWS,
    );
    const faults: Fault[] = [];
    let wrong = 0;
    const note = (row: number, field: string, make: (path: (string | number)[]) => Fault) => {
      wrong += 1;
      if (faults.length < LISTED) faults.push(make(['members', row, field]));
    };
    const before = new Set<string>();
    let row = 0;
    for await (const { userId, since = null, until = null } of inTurns(members, ROWS)) {
      if (!known.has(userId)) note(row, 'user', (path) => textFault(path, t('console.person.unknown')));
      else if (until && (until <= at || (since && until <= since)))
        note(row, 'until', (path) => fault(path, 'end-passed'));
      else if (before.has(userId)) note(row, 'user', (path) => fault(path, 'twice', { entry: userId }));
      before.add(userId);
      row += 1;
    }
    if (wrong > 0) throw rowsWrong(faults, wrong);
    await assertAdministrator({ kind, groupId, members });
  }

  /** One administrator has the role without an end, also after this change. Throws last_admin (409). */
  async function assertAdministrator({ kind, groupId, members }: Omit<WantedChange, 'by'>): Promise<void> {
    if (!(await groups.confersAdmin(groupId))) return;
    const isEnding = ({ since, until }: NewMember) => kind === 'remove' || Boolean(since || until);
    if (!members.every(isEnding)) return;
    const ids = new Set(members.map(({ userId }) => userId));
    const isLeaving = (row: { groupId: string; userId: string; source: string }) =>
      row.groupId === groupId && isPersonal(row.source) && ids.has(row.userId);
    const isKept = await transaction(
      db,
      async (tx) => !(await hasAdministrator(tx, now())) || hasAdministrator(tx, now(), {}, isLeaving),
    );
    if (!isKept) throw conflict('last_admin');
  }

  /** Checks and stores a change that `start` starts. One that nobody starts is deleted after an hour. Throws as `check` does. */
  async function prepare(wanted: WantedChange): Promise<MemberChange> {
    await check(wanted);
    const { kind, groupId, members, by } = wanted;
    const id = randomId();
    const at = now();
    const row = { id, kind, groupId, by: storedActor(by), total: members.length, state: 'prepared', createdAt: at };
    await db.groupChange.create({ data: { ...row, expiresAt: new Date(at.getTime() + HOUR_MS) } });
    await storePieces(id, members, db, () => sleep(PAUSE_MS));
    return get(groupId, id);
  }

  /** Starts what was prepared. Throws not_found, and conflict where it is started already. */
  async function start(groupId: string, id: string, by: Actor, tx: Tx): Promise<MemberChange> {
    await groups.assertMayAdd(groupId, { by }, tx);
    const data = { state: 'waiting', by: storedActor(by), expiresAt: expiryOf(now) };
    const { count } = await tx.groupChange.updateMany({ where: { id, groupId, state: 'prepared' }, data });
    const change = await get(groupId, id, tx);
    if (count === 0) throw conflict('changed_meanwhile');
    wake('group-changes', tx);
    return change;
  }

  async function get(groupId: string, id: string, tx: Tx = db): Promise<MemberChange> {
    const row = await tx.groupChange.findFirst({ where: { id, groupId } });
    if (!row) throw notFound({ detail: { changeId: id } });
    return changeOf(row);
  }

  /**
   * Carries out one piece; how many people changed. Who was deleted since the check is left out, and so is a membership that has ended since.
   * Throws what `addMembers` and `removeMembers` of groups.ts throw.
   */
  async function carryOutPiece({ kind, groupId, members, by }: PieceOfChange, tx: Tx): Promise<number> {
    // What it follows from is done, whatever right who asked for that has by now.
    if (groupId === null || kind === 'sign_out') {
      for await (const { userId } of inTurns(members, 1)) await signOutOnRoleChange(userId, by, tx);
      return members.length;
    }
    if (kind === 'remove')
      return groups.removeMembers(
        groupId,
        members.map(({ userId }) => userId),
        { by, tx },
      );
    const ids = members.map(({ userId }) => userId);
    const found = await tx.user.findMany({ where: { id: { in: ids } }, select: { id: true } });
    const left = members.filter(
      ({ userId, until }) => found.some(({ id }) => id === userId) && !(until && until <= now()),
    );
    return groups.addMembers(groupId, left, { by, tx });
  }

  /** Carries out the next piece. False when there is none left, or the change is over. */
  async function next({ id }: { id: string }): Promise<boolean> {
    return transaction(db, async (tx) => {
      await lockGroups(tx, sql, 'shared');
      const where = { id, state: { in: ['waiting', 'running'] } };
      const change = await tx.groupChange.findFirst({ where });
      if (!change) return false;
      const [piece] = await tx.groupChangePiece.findMany({
        where: { changeId: id },
        orderBy: { position: 'asc' },
        take: 1,
      });
      if (!piece) {
        // A piece that another program wrote or deleted is missing.
        const isWhole = change.done === change.total;
        const end = isWhole ? { state: 'done' } : { state: 'failed', error: 'changed_outside' };
        await tx.groupChange.updateMany({ where, data: { ...end, endedAt: now() } });
        await tx.groupChangePiece.deleteMany({ where: { changeId: id } });
        return false;
      }
      const { position } = piece;
      // Another node was faster.
      if ((await tx.groupChangePiece.deleteMany({ where: { changeId: id, position } })).count === 0) return true;
      const members = peopleIn(piece.members);
      const { kind, groupId } = changeOf(change);
      const by = kind === 'sign_out' ? (JSON.parse(change.by) as Actor) : await actorNow(change.by, tx);
      const changed = await carryOutPiece({ kind, groupId, members, by }, tx);
      const progress = { done: change.done + members.length, changed: change.changed + changed };
      const data = { ...(change.state === 'waiting' && { state: 'running' }), ...progress };
      const { count } = await tx.groupChange.updateMany({ where: { ...where, done: change.done }, data });
      if (count === 0) throw conflict('changed_meanwhile');
      return true;
    });
  }

  /** Who asked, with the rights of this moment. Throws forbidden where the application or the key may no longer act. */
  async function actorNow(stored: string, tx: Tx): Promise<Actor> {
    const by = JSON.parse(stored) as Actor;
    const { actorId, actorApp, apiKey } = by;
    if (by.grantedRights === undefined) return by;
    let grantedRights = by.grantedRights;
    if (actorApp !== undefined) {
      const application = await tx.application.findFirst({ where: { clientId: actorApp, enabled: true } });
      if (!application) throw forbidden('forbidden');
      grantedRights = bothGrant(grantedRights, registeredRights(application));
    }
    if (apiKey) {
      const key = await tx.apiKey.findUnique({ where: { id: apiKey.id } });
      if (!key || key.revokedAt || key.expiresAt <= now()) throw forbidden('forbidden');
    }
    if (actorId === undefined) return { ...by, grantedRights };
    return { ...by, grantedRights: bothGrant(grantedRights, await authority.rightsOfUser(actorId, tx)) };
  }

  /** Ends a change that cannot go on; what is done stays. */
  async function fail(id: string, error: ErrorCode): Promise<void> {
    await transaction(db, async (tx) => {
      const data = { state: 'failed', error, endedAt: now() };
      await tx.groupChange.updateMany({ where: { id, state: { in: ['waiting', 'running'] } }, data });
      await tx.groupChangePiece.deleteMany({ where: { changeId: id } });
    });
  }

  async function carryOut(change: { id: string; kind: string }, signal: AbortSignal): Promise<void> {
    try {
      for (let count = 0; count < IN_A_ROW && !signal.aborted && (await next(change)); count += 1)
        await sleep(PAUSE_MS);
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      // A person joined by another way at the same moment.
      if (error.code === 'changed_meanwhile') return;
      // It follows from a change that is done.
      if (change.kind === 'sign_out') throw error;
      await fail(change.id, error.code);
    }
  }

  const job: ScheduledJob = {
    name: 'group-changes',
    everySeconds: limits.groups.changesPollSeconds,
    async run(signal) {
      while (!signal.aborted) {
        const [open] = await db.groupChange.findMany({
          where: { state: { in: ['waiting', 'running'] } },
          // Who is to be signed out, or to leave, comes before who joins.
          orderBy: [{ kind: 'desc' }, { createdAt: 'asc' }, { id: 'asc' }],
          take: 1,
        });
        if (!open) return;
        await carryOut(open, signal);
      }
    },
  };

  return {
    check,
    prepare,
    start,
    get,
    /** The newest first, without those that nobody started. */
    async list(groupId: string, limit = 20): Promise<MemberChange[]> {
      const where = { groupId, NOT: { state: 'prepared' } };
      const rows = await db.groupChange.findMany({
        where,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: limit,
      });
      return rows.map(changeOf);
    },
    /** Carries out a change at once, in pieces: of a program that waits for it. Returns how many changed. Throws as `check` does. */
    async runNow(wanted: WantedChange, onPiece: (done: number) => void = () => {}): Promise<number> {
      await check(wanted);
      const { members } = wanted;
      let changed = 0;
      for (let at = 0; at < members.length; at += PIECE) {
        const piece = members.slice(at, at + PIECE);
        changed += await transaction(db, (tx) => carryOutPiece({ ...wanted, members: piece }, tx));
        onPiece(at + piece.length);
        await sleep(PAUSE_MS);
      }
      return changed;
    },
    jobs: [job],
  };
}

type Granted = NonNullable<Actor['grantedRights']>;

/** What the scopes say with which the application is registered. */
function registeredRights({ metadata }: { metadata: string }): Granted {
  const rights = rightsOfClient(JSON.parse(metadata) as Parameters<typeof rightsOfClient>[0]);
  return rights.includes(EVERYTHING) ? EVERYTHING : rights;
}

const bothGrant = (one: Granted, other: Granted): Granted => (one === EVERYTHING ? other : sharedRights(one, other));

/** Throws invalid_input with some of the mistakes, and the number of all. */
const rowsWrong = (faults: readonly Fault[], count: number) =>
  badRequest('invalid_input', {
    faults,
    message: t('console.groups.rows-wrong', { count }),
  });

type StoredChange = Omit<MemberChange, 'kind' | 'by' | 'state' | 'error'> &
  Record<'kind' | 'by' | 'state', string> & { error: string | null };

function changeOf(row: StoredChange): MemberChange {
  const { id, groupId, total, done, changed, createdAt, endedAt } = row;
  const { kind, state, error } = row as unknown as Pick<MemberChange, 'kind' | 'state' | 'error'>;
  return { id, kind, groupId, by: JSON.parse(row.by) as Actor, total, done, changed, state, error, createdAt, endedAt };
}
