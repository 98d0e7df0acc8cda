// Work on many people, in pieces: they join or leave a group, are signed out (groups/changes.ts), or come from a file (admin/users). A change is a
// row with its progress, and what is left is in pieces; what a transaction carries out, it also takes off there. So another node, or the next
// process after a kill, goes on with what is left, and each piece checks the rights of the actor again.
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, conflict, type ErrorCode, forbidden, notFound } from '../base/http/errors.ts';
import { limits } from '../base/limits.ts';
import type { Clock } from '../base/platform/clock.ts';
import { randomId } from '../base/platform/random.ts';
import { type Tx, transaction } from '../base/storage/database.ts';
import { lockRow } from '../base/storage/row-lock.ts';
import { unavailableIn } from '../base/storage/unavailable.ts';
import { t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import type { ScheduledJob } from '../core/jobs/scheduler.ts';
import type { Authority } from './rbac/authority.ts';
import { EVERYTHING, rightsOfClient } from './rbac/built-in.ts';
import { sharedRights } from './rbac/rights.ts';

/** What a change does with its people; `trial`: an import that is taken back. */
export type BulkKind = 'add' | 'remove' | 'sign_out' | 'trial' | 'import';

export interface BulkChange {
  id: string;
  kind: BulkKind;
  /** Null: an import, or whose rights changed since their group or role was deleted. */
  groupId: string | null;
  by: Actor;
  total: number;
  done: number;
  /**
   * Of those who are done: who were not in or had other times, or who were in and are no longer. Of an import: the invitations that were sent.
   */
  changed: number;
  /** Of an import: rows of each outcome. */
  counts: Partial<Record<string, number>>;
  /** Of an import. */
  options: string;
  /** `reading`: its rows are being stored; `prepared`: everything is checked, and nobody has started it. */
  state: 'reading' | 'prepared' | 'waiting' | 'running' | 'done' | 'failed' | 'canceled';
  /** Why it failed. */
  error: ErrorCode | null;
  createdAt: Date;
  endedAt: Date | null;
}

/** People of one piece. */
export const PIECE = 25;
/** Pieces that one statement stores. */
const STORED = 10;
/** Between two transactions, in which other processes may write. */
export const PAUSE_MS = 2;
export const IMPORT_JOB = 'user-import';
const HOUR_MS = 3600 * 1000;
/** How long it may take to store a file. */
const READING_MS = 5 * 60 * 1000;

export const isOpen = { state: { in: ['waiting', 'running'] } };

export type BulkChanges = ReturnType<typeof createBulkChanges>;

export function createBulkChanges({ db, sql, vault, now, wake, authority }: Core & { authority: Authority }) {
  /** The actor with the rights of this moment. Throws forbidden where the application or the key may no longer act. */
  async function actorNow(by: Actor, tx: Tx = db): Promise<Actor> {
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

  /** Ends a change that is under way, or waits for its start; what is done stays, and so does the report. False where it has ended. */
  async function end(id: string, data: { state: 'failed' | 'canceled'; error?: ErrorCode }, tx: Tx): Promise<boolean> {
    const where = { id, state: { in: ['reading', 'prepared', 'waiting', 'running'] } };
    const { count } = await tx.bulkChange.updateMany({ where, data: { ...data, endedAt: now() } });
    await tx.bulkChangePiece.deleteMany({ where: { changeId: id, reportSealed: '' } });
    await tx.bulkChangePiece.updateMany({ where: { changeId: id }, data: { rowsSealed: '' } });
    return count > 0;
  }

  /** A job of the server for changes of these kinds. @param step reads the change and does one piece; false when there is none left for now */
  function job(
    name: string,
    kinds: readonly BulkKind[],
    step: (id: string, signal: AbortSignal) => Promise<boolean>,
  ): ScheduledJob {
    /** False when there is no work for now. */
    async function carryOut({ id, kind }: { id: string; kind: string }, signal: AbortSignal): Promise<boolean> {
      let count = 0;
      try {
        for (; count < IN_A_ROW && !signal.aborted && (await step(id, signal)); count += 1) await sleep(PAUSE_MS);
      } catch (error) {
        if (!(error instanceof AppError) || error.status >= 500) throw error;
        // Another request or node was faster.
        if (error.code === 'changed_meanwhile') return true;
        // A sign-out follows from a change that is done: it is tried again.
        if (kind === 'sign_out') throw error;
        const { code } = error;
        await transaction(db, (tx) => end(id, { state: 'failed', error: code }, tx));
        return true;
      }
      return count > 0;
    }

    return {
      name,
      everySeconds: limits.groups.changesPollSeconds,
      async run(signal) {
        // An import may wait for the mail server, and a change may meet an error: then the others have their turn.
        const resting = new Set<string>();
        const errors: unknown[] = [];
        while (!signal.aborted) {
          const [open] = await db.bulkChange.findMany({
            where: { ...isOpen, kind: { in: [...kinds] }, id: { notIn: [...resting] } },
            // Logouts and the end of memberships come before new memberships.
            orderBy: [{ kind: 'desc' }, { createdAt: 'asc' }, { id: 'asc' }],
            take: 1,
          });
          if (!open) break;
          const hasMore = await carryOut(open, signal).catch((error: unknown) => {
            if (unavailableIn(error)) throw error;
            errors.push(error);
            return false;
          });
          if (!hasMore) resting.add(open.id);
        }
        if (errors.length > 0) throw new AggregateError(errors, 'changes of many people failed');
      },
    };
  }

  // Imports: their rows are personal data and hashes of passwords, so they are encrypted, and removed as soon as they are done; those that failed
  // stay with the report, to be corrected.

  const contextOf = (id: string) => `bulk_change_pieces:${id}`;
  const seal = (id: string, list: readonly unknown[]) =>
    list.length === 0 ? '' : vault.seal(JSON.stringify(list), contextOf(id));
  const open = <Item>(id: string, sealed: string): Item[] =>
    sealed === '' ? [] : (JSON.parse(vault.open(sealed, contextOf(id)).toString()) as Item[]);

  /** Throws conflict while another import of this actor is under way: one at a time. */
  async function assertFree(by: Actor, tx: Tx, id = ''): Promise<void> {
    const { actorId, actorApp } = by;
    if (actorId !== undefined) await lockRow(tx, sql, 'users', actorId);
    const application =
      actorId === undefined && (await tx.application.findFirst({ where: { clientId: actorApp ?? '' } }));
    if (application) await lockRow(tx, sql, 'applications', application.id);
    // A server may have been killed while it stored a file.
    const reading = { state: 'reading', expiresAt: { gt: now() } };
    const where = { OR: [isOpen, reading], actor: actorOf(by), NOT: { id } };
    const others = await tx.bulkChange.count({ where });
    if (others > 0) throw conflict('conflict', { message: t('console.import.error.running') });
  }

  async function getImport(id: string, by: Actor, tx: Tx = db): Promise<BulkChange> {
    const row = await tx.bulkChange.findFirst({ where: { id, groupId: null, kind: { in: ['trial', 'import'] } } });
    const change = row && changeOf(row);
    // The report names people, whom another administrator may not see.
    if (!change || actorOf(change.by) !== actorOf(by)) throw notFound({ detail: { importId: id } });
    return change;
  }

  async function storedPiece(id: string, position: number) {
    const piece = await db.bulkChangePiece.findUnique({ where: { id: pieceId(id, position) } });
    if (!piece) throw conflict('changed_outside');
    return piece;
  }

  /**
   * Stores a file. What the actor has not started is replaced. Throws conflict (409).
   * @param startsLater with `start`; otherwise it begins at once
   */
  async function store(
    { rows, by, ...given }: { kind: 'trial' | 'import'; options: string; rows: readonly unknown[]; by: Actor },
    startsLater: boolean,
  ): Promise<BulkChange> {
    const [id, at] = [randomId(), now()];
    await transaction(db, async (tx) => {
      await assertFree(by, tx);
      await tx.bulkChange.deleteMany({ where: { actor: actorOf(by), state: { in: ['reading', 'prepared'] } } });
      const row = { id, ...given, groupId: null, by: storedActor(by), actor: actorOf(by), total: rows.length };
      const expiresAt = new Date(at.getTime() + READING_MS);
      await tx.bulkChange.create({ data: { ...row, state: 'reading', createdAt: at, expiresAt } });
    });
    try {
      const sealed = (some: readonly unknown[], key: string) => ({ members: '', rowsSealed: seal(key, some) });
      await storePieces(id, rows, sealed, db, () => sleep(PAUSE_MS));
      return await transaction(db, async (tx) => {
        const data = { state: 'prepared', expiresAt: new Date(now().getTime() + 24 * HOUR_MS) };
        await tx.bulkChange.updateMany({ where: { id, state: 'reading' }, data });
        return startsLater ? getImport(id, by, tx) : start(id, by, { kind: given.kind }, tx);
      });
    } catch (error) {
      // Otherwise the next import of the actor would have to wait.
      await db.bulkChange.deleteMany({ where: { id, state: 'reading' } }).catch(() => {});
      throw error;
    }
  }

  /** Begins what was stored, from its first row. Throws conflict and changed_meanwhile (409). */
  async function start(
    id: string,
    by: Actor,
    given: { kind: 'trial' | 'import'; options?: string },
    tx: Tx,
  ): Promise<BulkChange> {
    await assertFree(by, tx, id);
    await getImport(id, by, tx);
    const begin = { ...given, state: 'waiting', by: storedActor(by), done: 0, changed: 0, counts: '' };
    const data = { ...begin, expiresAt: expiryOf(now) };
    const { count } = await tx.bulkChange.updateMany({ where: { id, state: 'prepared' }, data });
    if (count === 0) throw conflict('changed_meanwhile');
    await tx.bulkChangePiece.updateMany({ where: { changeId: id }, data: { reportSealed: '' } });
    wake(IMPORT_JOB, tx);
    return getImport(id, by, tx);
  }

  return {
    actorNow,
    job,
    imports: {
      store,
      start,
      get: getImport,

      /** Goes on with an import that is done. Throws conflict and changed_meanwhile (409). */
      async resume(id: string, by: Actor, options: string, tx: Tx): Promise<BulkChange> {
        await assertFree(by, tx, id);
        await getImport(id, by, tx);
        const data = { options, state: 'waiting', by: storedActor(by), endedAt: null, expiresAt: expiryOf(now) };
        const { count } = await tx.bulkChange.updateMany({ where: { id, kind: 'import', state: 'done' }, data });
        if (count === 0) throw conflict('changed_meanwhile');
        wake(IMPORT_JOB, tx);
        return getImport(id, by, tx);
      },

      /** Notes who of a piece is to be invited. Throws changed_meanwhile (409). */
      async collect(
        before: BulkChange,
        { counts, options }: BulkChange,
        { position, report, left }: { position: number; report: readonly unknown[]; left: readonly string[] },
        tx: Tx,
      ): Promise<void> {
        const data = { options, counts: JSON.stringify(counts), state: 'running' };
        const where = { id: before.id, options: before.options, ...isOpen };
        const { count } = await tx.bulkChange.updateMany({ where, data });
        if (count === 0) throw conflict('changed_meanwhile');
        const key = pieceId(before.id, position);
        const sealed = { reportSealed: seal(key, report), rowsSealed: seal(key, left) };
        await tx.bulkChangePiece.updateMany({ where: { id: key }, data: sealed });
      },

      /** Undefined where it has ended. */
      async underWay(id: string): Promise<BulkChange | undefined> {
        const row = await db.bulkChange.findFirst({ where: { id, ...isOpen } });
        return row ? changeOf(row) : undefined;
      },

      async piece<Row, Result>(id: string, position: number): Promise<{ rows: Row[]; report: Result[] }> {
        const piece = await storedPiece(id, position);
        return { rows: open(piece.id, piece.rowsSealed), report: open(piece.id, piece.reportSealed) };
      },

      /** What became of the rows of the pieces from one position up to another, which one statement reads. */
      async reportOf<Result>(id: string, { from, to }: { from: number; to: number }): Promise<Result[]> {
        const where = { changeId: id, position: { gte: from, lt: to } };
        const pieces = await db.bulkChangePiece.findMany({ where, orderBy: { position: 'asc' } });
        if (pieces.length < to - from) throw conflict('changed_outside');
        return pieces.flatMap((piece) => open<Result>(piece.id, piece.reportSealed));
      },

      /** Of the last week, the newest first. */
      async list(by: Actor): Promise<BulkChange[]> {
        const rows = await db.bulkChange.findMany({
          where: { actor: actorOf(by), groupId: null, kind: { in: ['trial', 'import'] }, NOT: { state: 'reading' } },
          orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
          take: 20,
        });
        return rows.map(changeOf).filter((change) => actorOf(change.by) === actorOf(by));
      },

      /** Ends an import; the rows that are done stay, those of a trial are deleted. Throws changed_meanwhile (409) where it has ended. */
      async cancel(id: string, by: Actor, tx: Tx): Promise<BulkChange> {
        const { kind } = await getImport(id, by, tx);
        if (!(await end(id, { state: 'canceled' }, tx))) throw conflict('changed_meanwhile');
        if (kind === 'trial') {
          // Its report has the cells of rows that failed.
          await tx.bulkChangePiece.deleteMany({ where: { changeId: id } });
          await tx.bulkChange.updateMany({ where: { id }, data: { done: 0, counts: '' } });
        }
        return getImport(id, by, tx);
      },

      /** Notes that rows are done, in their transaction. Throws changed_meanwhile where another node was faster, or it was canceled. */
      async note<Result>(
        { id, done: before, state }: BulkChange,
        { done, counts }: BulkChange,
        { position, report, left }: { position: number; report: readonly Result[]; left?: readonly unknown[] },
        tx: Tx,
      ): Promise<void> {
        const data = { done, counts: JSON.stringify(counts), ...(state === 'waiting' && { state: 'running' }) };
        const { count } = await tx.bulkChange.updateMany({ where: { id, done: before, ...isOpen }, data });
        if (count === 0) throw conflict('changed_meanwhile');
        const key = pieceId(id, position);
        const sealed = { reportSealed: seal(key, report), ...(left && { rowsSealed: seal(key, left) }) };
        await tx.bulkChangePiece.updateMany({ where: { id: key }, data: sealed });
      },

      /** The first piece of an import whose rows are done that has people left to invite. */
      async toInvite(id: string): Promise<{ position: number; left: string[] } | undefined> {
        const where = { changeId: id, NOT: { rowsSealed: '' } };
        const [piece] = await db.bulkChangePiece.findMany({ where, orderBy: { position: 'asc' }, take: 1 });
        return piece && { position: piece.position, left: open(piece.id, piece.rowsSealed) };
      },

      /** Notes in its transaction that a person was invited, or is left out. */
      async noteInvited(
        { id, changed }: BulkChange,
        { position, left, isInvited }: { position: number; left: readonly string[]; isInvited: boolean },
        tx: Tx,
      ): Promise<void> {
        const where = { id, changed, ...isOpen };
        const data = { changed: isInvited ? changed + 1 : changed };
        const { count } = await tx.bulkChange.updateMany({ where, data });
        if (count === 0) throw conflict('changed_meanwhile');
        const key = pieceId(id, position);
        await tx.bulkChangePiece.updateMany({ where: { id: key }, data: { rowsSealed: seal(key, left) } });
      },

      /** All rows are done: a trial waits for its start, with its rows; an import has ended. */
      async finish({ id, kind, total }: BulkChange): Promise<void> {
        const end = kind === 'trial' ? { state: 'prepared' } : { state: 'done', endedAt: now() };
        await transaction(db, (tx) => tx.bulkChange.updateMany({ where: { id, done: total, ...isOpen }, data: end }));
      },
    },
  };
}

/** Pieces of one change before the next one is looked for: nobody waits for the end of a long one to be signed out. */
const IN_A_ROW = 20;

const pieceId = (changeId: string, position: number): string => `${changeId}.${position}`;

/** Stores what a change is about, in pieces. @param contentOf of a piece with this id */
export async function storePieces<Item>(
  changeId: string,
  items: readonly Item[],
  contentOf: (some: readonly Item[], id: string) => { members: string; rowsSealed?: string },
  tx: Tx,
  pause: () => Promise<unknown>,
): Promise<void> {
  const count = Math.ceil(items.length / PIECE);
  for (let first = 0; first < count; first += STORED) {
    const positions = Array.from({ length: Math.min(STORED, count - first) }, (_, offset) => first + offset);
    const data = positions.map((position) => {
      const [id, some] = [pieceId(changeId, position), items.slice(position * PIECE, (position + 1) * PIECE)];
      return { id, changeId, position, ...contentOf(some, id) };
    });
    await tx.bulkChangePiece.createMany({ data });
    await pause();
  }
}

type Granted = NonNullable<Actor['grantedRights']>;

/** What the scopes say with which the application is registered. */
function registeredRights({ metadata }: { metadata: string }): Granted {
  const rights = rightsOfClient(JSON.parse(metadata) as Parameters<typeof rightsOfClient>[0]);
  return rights.includes(EVERYTHING) ? EVERYTHING : rights;
}

const bothGrant = (one: Granted, other: Granted): Granted => (one === EVERYTHING ? other : sharedRights(one, other));

/** Without the proof, which was asked for when the change was started. */
export function storedActor({ proof: _proof, ...by }: Actor): string {
  return JSON.stringify(by);
}

const actorOf = ({ actorId, actorApp = '' }: Actor): string =>
  actorId === undefined ? `app ${actorApp}` : `user ${actorId}`;

/** When the row of a change is deleted. */
export const expiryOf = (now: Clock): Date => new Date(now().getTime() + limits.groups.keepChangesDays * 24 * HOUR_MS);

type StoredChange = Omit<BulkChange, 'kind' | 'by' | 'state' | 'error' | 'counts'> &
  Record<'kind' | 'by' | 'state' | 'counts', string> & { error: string | null };

export function changeOf(row: StoredChange): BulkChange {
  const { id, groupId, total, done, changed, options, createdAt, endedAt } = row;
  const { kind, state, error } = row as unknown as Pick<BulkChange, 'kind' | 'state' | 'error'>;
  const [by, counts] = [JSON.parse(row.by) as Actor, row.counts === '' ? {} : (JSON.parse(row.counts) as object)];
  return { id, kind, groupId, by, total, done, changed, counts, options, state, error, createdAt, endedAt };
}
