// Many people join or leave a group, or are signed out, in pieces (bulk-changes.ts): each is a short transaction, so that sign-ins and other
// requests go on in between. Every row is checked before the first piece.
import { setTimeout as sleep } from 'node:timers/promises';
import { badRequest, conflict, notFound } from '../../base/http/errors.ts';
import { randomId } from '../../base/platform/random.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { eachChunk } from '../../base/storage/chunks.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { lockGroups } from '../../base/storage/row-lock.ts';
import { type Fault, fault, textFault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import {
  type BulkChange,
  type BulkChanges,
  changeOf,
  expiryOf,
  isOpen,
  PAUSE_MS,
  PIECE,
  storedActor,
  storePieces,
} from '../bulk-changes.ts';
import { hasAdministrator } from '../rbac/assign-roles.ts';
import { type Groups, isPersonal, type NewMember } from './groups.ts';
import { peopleIn, storedPeople } from './pieces.ts';

export type MemberChange = BulkChange;

export interface WantedChange {
  kind: 'add' | 'remove';
  groupId: string;
  members: readonly NewMember[];
  by: Actor;
}

type PieceOfChange = Omit<WantedChange, 'kind' | 'groupId'> & Pick<BulkChange, 'kind' | 'groupId'>;

/** Rows of one statement, and of one turn of the event loop. */
const ROWS = 100;
/** Mistakes that are listed one by one. */
const LISTED = 50;
const HOUR_MS = 3600 * 1000;

export function createGroupChanges(
  services: Core & {
    groups: Groups;
    bulkChanges: BulkChanges;
    signOutOnRoleChange(userId: string, by: Actor, tx: Tx): Promise<void>;
  },
) {
  const { db, sql, now, groups, signOutOnRoleChange, wake } = services;
  const { actorNow, job } = services.bulkChanges;
  /**
   * Checks every row, and whether the actor may put these people in, or take them out. Throws what `addMembers` of groups.ts throws, and
   * invalid_input with the first mistakes and their number.
   */
  async function check({ kind, groupId, members, by }: WantedChange): Promise<void> {
    await groups.assertMayPut(groupId, 'direct', { by });
    const at = now();
    const known = new Set<string>();
    const rows = members.map(({ userId }) => userId);
    await eachChunk(
      rows,
      async (piece) => {
        const found = await db.asStored.user.findMany({ where: { id: { in: piece } }, select: { id: true } });
        for (const { id } of found) known.add(id);
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
      async (tx) => !(await hasAdministrator(tx, now())) || hasAdministrator(tx, now(), { isLeaving }),
    );
    if (!isKept) throw conflict('last_admin');
  }

  /** Checks and stores a change that `start` starts. One that nobody starts is deleted after an hour. Throws as `check` does. */
  async function prepare(wanted: WantedChange): Promise<MemberChange> {
    await check(wanted);
    const { kind, groupId, members, by } = wanted;
    const id = randomId();
    const at = now();
    const about = { id, kind, groupId, by: storedActor(by), options: '', total: members.length };
    const row = { ...about, state: 'prepared', createdAt: at };
    await db.bulkChange.create({ data: { ...row, expiresAt: new Date(at.getTime() + HOUR_MS) } });
    await storePieces(id, members, storedPeople, db, () => sleep(PAUSE_MS));
    return get(groupId, id);
  }

  /** Starts what was prepared. Throws not_found, and conflict where it is started already. */
  async function start(groupId: string, id: string, by: Actor, tx: Tx): Promise<MemberChange> {
    await groups.assertMayPut(groupId, 'direct', { by }, tx);
    const data = { state: 'waiting', by: storedActor(by), expiresAt: expiryOf(now) };
    const { count } = await tx.bulkChange.updateMany({ where: { id, groupId, state: 'prepared' }, data });
    const change = await get(groupId, id, tx);
    if (count === 0) throw conflict('changed_meanwhile');
    wake('group-changes', tx);
    return change;
  }

  async function get(groupId: string, id: string, tx: Tx = db): Promise<MemberChange> {
    const row = await tx.bulkChange.findFirst({ where: { id, groupId } });
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
  async function next(id: string): Promise<boolean> {
    return transaction(db, async (tx) => {
      await lockGroups(tx, sql, 'shared');
      const where = { id, ...isOpen };
      const change = await tx.bulkChange.findFirst({ where });
      if (!change) return false;
      const [piece] = await tx.bulkChangePiece.findMany({
        where: { changeId: id },
        orderBy: { position: 'asc' },
        take: 1,
      });
      if (!piece) {
        // A piece that another program wrote or deleted is missing.
        const isWhole = change.done === change.total;
        const end = isWhole ? { state: 'done' } : { state: 'failed', error: 'changed_outside' };
        await tx.bulkChange.updateMany({ where, data: { ...end, endedAt: now() } });
        await tx.bulkChangePiece.deleteMany({ where: { changeId: id } });
        return false;
      }
      const { position } = piece;
      // Another node was faster.
      if ((await tx.bulkChangePiece.deleteMany({ where: { changeId: id, position } })).count === 0) return true;
      const members = peopleIn(piece.members);
      const found = changeOf(change);
      const { kind, groupId } = found;
      const by = kind === 'sign_out' ? found.by : await actorNow(found.by, tx);
      const changed = await carryOutPiece({ kind, groupId, members, by }, tx);
      const progress = { done: change.done + members.length, changed: change.changed + changed };
      const data = { ...(change.state === 'waiting' && { state: 'running' }), ...progress };
      const { count } = await tx.bulkChange.updateMany({ where: { ...where, done: change.done }, data });
      if (count === 0) throw conflict('changed_meanwhile');
      return true;
    });
  }

  return {
    check,
    prepare,
    start,
    get,
    /** The newest first, without those that nobody started. */
    async list(groupId: string, limit = 20): Promise<MemberChange[]> {
      const where = { groupId, NOT: { state: 'prepared' } };
      const rows = await db.bulkChange.findMany({
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
    jobs: [job('group-changes', ['sign_out', 'remove', 'add'], next)],
  };
}

/** Throws invalid_input with some of the mistakes, and the number of all. */
const rowsWrong = (faults: readonly Fault[], count: number) =>
  badRequest('invalid_input', { faults, message: t('console.groups.rows-wrong', { count }) });
