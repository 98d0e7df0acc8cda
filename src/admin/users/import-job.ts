// The import of a file on the server: a trial of every row, which the administrator reads and starts, or the rows at once; then the invitations.
// Each row and its result are one transaction, so another node, or the next process after a kill, repeats none and leaves none out.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { type ErrorCode, forbidden } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { unavailableIn } from '../../base/storage/unavailable.ts';
import { jsonWithTexts, readJsonWithTexts } from '../../base/texts/stored-text.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import { mailOf } from '../../core/mail/message-store.ts';
import { type BulkChange, IMPORT_JOB, PIECE } from '../../people/bulk-changes.ts';
import { falseIfForbidden } from '../../people/rbac/authority.ts';
import { groupKey } from '../../people/rbac/names.ts';
import { isSensitiveRole } from '../../people/rbac/role.ts';
import type { UserServices } from '../admin-services.ts';
import {
  type FileRow,
  type ImportOptions,
  type ImportOutcome,
  type ImportRow,
  importOptions,
  namesIn,
  type RowOptions,
  type UserFile,
  type UserImport,
  type Values,
} from './import.ts';

/** Pieces of a report that one statement reads. */
const REPORTED = 20;

/** New administrators that a trial names. */
const NAMED = 3;

const storedOptions = importOptions.extend({
  shared: z.array(z.string()),
  columns: z.array(z.string()),
  givesRoles: z.boolean(),
  /** Groups of the file that do not exist, for who may create them. */
  missing: z.array(z.string()),
  /** Pieces in which the people are found who are invited afterwards; absent: none are. */
  collected: z.int().optional(),
  /** Who has an invitation of this import then. */
  invitations: z.int().optional(),
  /** Whom rows give roles with permissions in Gatehouse: the first of them, and how many. */
  administrators: z.object({ usernames: z.array(z.string()), roles: z.array(z.string()), count: z.int() }),
});

/** An import, for who began it. */
export interface StoredImport extends Omit<BulkChange, 'kind' | 'groupId' | 'options' | 'by'> {
  isTrial: boolean;
  options: z.output<typeof storedOptions>;
  counts: Partial<Record<ImportOutcome, number>>;
  error: ErrorCode | null;
}

/** As it is stored: a text is made again in the language of who reads it. */
type StoredRow = Omit<FileRow, 'error'> & { error?: string };
type StoredResult = Omit<ImportRow, 'error'> & { error?: string; userId?: string };

const written = (error: PageText | undefined) => error !== undefined && { error: jsonWithTexts({ error }) };
const textIn = (stored: string | undefined) =>
  stored === undefined ? {} : { error: (readJsonWithTexts(stored) as { error: PageText }).error };

function importOf({ kind, options, ...change }: BulkChange): StoredImport {
  const { groupId: _group, by: _by, ...rest } = change;
  return { ...rest, isTrial: kind === 'trial', options: storedOptions.parse(JSON.parse(options)) };
}

export type ImportJobs = ReturnType<typeof createImportJobs>;

export function createImportJobs(
  {
    db,
    accounts,
    authority,
    groups,
    roles,
    bulkChanges: { actorNow, imports: stored, job },
    logger,
    registration: { invitations },
  }: UserServices,
  userImport: UserImport,
) {
  /** Stores a file. Throws invalid_input, StepUpNeeded, and conflict (409) while another import of the actor is under way. */
  async function begin(
    { columns, rows, unknown, shared, givesRoles }: UserFile,
    { isTrial, ...options }: ImportOptions & { isTrial: boolean },
    by: Actor,
  ): Promise<StoredImport> {
    if (!isTrial) userImport.assertMayBegin(by, { ...options, givesRoles });
    const list = rows.map(({ error, ...row }): StoredRow => ({ ...row, ...written(error) }));
    const found = await foundIn(rows, userImport.reader(columns), by);
    const given = {
      kind: isTrial ? 'trial' : 'import',
      options: JSON.stringify({ ...options, columns, shared, givesRoles, ...found }),
    } as const;
    const change = await stored.store(
      { ...given, rows: list, by },
      unknown.length > 0 && options.unknown_columns === 'reject',
    );
    return importOf(change);
  }

  /** The administrators that the rows make, and the groups that they lack. */
  async function foundIn(rows: readonly FileRow[], read: (cells: readonly string[]) => Values, by: Actor) {
    const mayCreate = await authority.assertMay(by, { what: 'group', roles: [] }).then(() => true, falseIfForbidden);
    const missing: string[] = [];
    const all = await authority.assignable(by, (await roles.list()).filter(isSensitiveRole));
    const names = all.map(({ name }) => name);
    const ofGroup = new Map<string, string[]>();
    async function rolesOf(group: string): Promise<string[]> {
      const key = groupKey(group);
      const known = ofGroup.get(key);
      if (known) return known;
      const found = await groups.find(group);
      // Names with another separator are no names.
      if (!found && mayCreate && !group.includes(',')) missing.push(group);
      const given = found ? (await groups.rolesConferred(found.id)).map(({ name }) => name) : [];
      ofGroup.set(key, given);
      return given;
    }
    const usernames: string[] = [];
    const given = new Set<string>();
    let count = 0;
    for await (const { username, cells } of inTurns(rows, 200)) {
      const values = read(cells);
      const inGroups = await Promise.all(namesIn(values.groups).map(rolesOf));
      const gained = [...namesIn(values.roles), ...inGroups.flat()].filter((name) => names.includes(name));
      if (gained.length === 0) continue;
      count += 1;
      if (usernames.length < NAMED) usernames.push(username);
      for (const name of gained) given.add(name);
    }
    const administrators = { usernames, roles: [...given].sort(), count };
    return { administrators, missing: missing.length > limits.import.newGroups ? [] : missing };
  }

  const get = async (id: string, by: Actor): Promise<StoredImport> => importOf(await stored.get(id, by));

  /** Begins the trial of a file with unknown columns, or the import after its trial. Throws StepUpNeeded, and conflict where it is started. */
  const start = (id: string, by: Actor): Promise<StoredImport> =>
    transaction(db, async (tx) => {
      const { isTrial, done, total, options } = importOf(await stored.get(id, by, tx));
      const isTried = isTrial && done === total;
      if (isTried) userImport.assertMayBegin(by, options);
      return importOf(await stored.start(id, by, { kind: isTried ? 'import' : 'trial' }, tx));
    });

  /** Tries the file again, with the groups that it lacks. Throws conflict and changed_meanwhile (409). */
  const tryWithGroups = (id: string, by: Actor): Promise<StoredImport> =>
    transaction(db, async (tx) => {
      const { options } = importOf(await stored.get(id, by, tx));
      const given = JSON.stringify({ ...options, missing_groups: 'create' });
      return importOf(await stored.start(id, by, { kind: 'trial', options: given }, tx));
    });

  /** The people of these results who have no way to sign in, and no invitation. */
  async function uninvited(results: readonly StoredResult[]): Promise<string[]> {
    const ids = results.flatMap(({ userId }) => userId ?? []);
    if (ids.length === 0) return [];
    const { accounts: found } = await accounts.list({ ids, invitation: 'needed', limit: ids.length });
    return found.flatMap(({ id, email, isEnabled }) => (email !== null && isEnabled ? id : []));
  }

  /** How many people of an import that is done need an invitation. */
  async function countUninvited(id: string, by: Actor): Promise<number> {
    const end = Math.ceil((await get(id, by)).done / PIECE);
    let count = 0;
    for (let first = 0; first < end; first += REPORTED) {
      const to = Math.min(first + REPORTED, end);
      count += (await uninvited(await stored.reportOf<StoredResult>(id, { from: first, to }))).length;
      await nextTurn();
    }
    return count;
  }

  /** Invites the people of an import that is done. @param count what `countUninvited` found. Throws conflict and changed_meanwhile (409). */
  const invite = (
    id: string,
    { message, count }: { message: string; count: number },
    by: Actor,
  ): Promise<StoredImport> =>
    transaction(db, async (tx) => {
      const { options, counts } = importOf(await stored.get(id, by, tx));
      const invitations = (counts.invited ?? 0) + count;
      const given = JSON.stringify({ ...options, message, collected: 0, invitations });
      return importOf(await stored.resume(id, by, given, tx));
    });

  /** Finds the people of the next piece who are to be invited. */
  async function collectOne(change: BulkChange, position: number): Promise<void> {
    const { report } = await stored.piece<StoredRow, StoredResult>(change.id, position);
    const left = await uninvited(report);
    const counts = { ...change.counts };
    const invited = report.map((one): StoredResult => {
      if (one.outcome !== 'created' || !left.includes(one.userId ?? '')) return one;
      counts.created = (counts.created ?? 0) - 1;
      counts.invited = (counts.invited ?? 0) + 1;
      return { ...one, outcome: 'invited' };
    });
    const options = JSON.stringify({ ...importOf(change).options, collected: position + 1 });
    await transaction(db, (tx) =>
      stored.collect(change, { ...change, counts, options }, { position, report: invited, left }, tx),
    );
  }

  /** What became of the rows so far, in turns of the event loop. @param from row */
  async function* report(id: string, by: Actor, from = 0): AsyncGenerator<ImportRow[]> {
    const end = Math.ceil((await get(id, by)).done / PIECE);
    for (let first = Math.floor(from / PIECE); first < end; first += REPORTED) {
      const results = await stored.reportOf<StoredResult>(id, { from: first, to: Math.min(first + REPORTED, end) });
      yield results
        .slice(Math.max(0, from - first * PIECE))
        .map(({ error, userId: _id, ...row }) => ({ ...row, ...textIn(error) }));
      await nextTurn();
    }
  }

  async function carryOut(id: string, signal: AbortSignal): Promise<boolean> {
    const change = await stored.underWay(id);
    if (!change) return false;
    const by = await actorNow(change.by);
    const extent = await authority.extent(by, 'gatehouse.users:write');
    if (extent !== 'all' && extent.role.length + extent.group.length === 0) throw forbidden('forbidden');
    if (change.done < change.total) return rowsOf(change, by, signal);
    const { collected } = importOf(change).options;
    if (collected !== undefined && collected < Math.ceil(change.total / PIECE)) {
      await collectOne(change, collected);
      return true;
    }
    const more = change.kind === 'import' ? await inviteOne(change, by) : 'none';
    if (more === 'none') await stored.finish(change);
    return more === 'invited';
  }

  /** The rest of a piece. Rows of an import are noted one by one, those of a trial, which changes nothing, together. */
  async function rowsOf(change: BulkChange, by: Actor, signal: AbortSignal): Promise<boolean> {
    const isTrial = change.kind === 'trial';
    const { options } = importOf(change);
    const position = Math.floor(change.done / PIECE);
    const { rows, report } = await stored.piece<StoredRow, StoredResult>(change.id, position);
    const read = userImport.reader(options.columns);
    let progress = { change, report };
    function progressAfter(results: readonly StoredResult[]): typeof progress {
      const counts = { ...progress.change.counts };
      for (const { outcome } of results) counts[outcome] = (counts[outcome] ?? 0) + 1;
      const done = progress.change.done + results.length;
      return {
        change: { ...progress.change, state: 'running', done, counts },
        report: [...progress.report, ...results],
      };
    }
    async function note(results: readonly StoredResult[], tx: Tx): Promise<void> {
      const next = progressAfter(results);
      const isEnd = !isTrial && next.report.length === rows.length;
      const left = isEnd && {
        left: next.report.flatMap(({ outcome, userId = [] }) => (outcome === 'invited' ? userId : [])),
      };
      await stored.note(progress.change, next.change, { position, report: next.report, ...left }, tx);
    }
    const tried: StoredResult[] = [];
    for (const row of rows.slice(report.length)) {
      if (signal.aborted) break;
      const given = { isTrial, by, options, isInvitedLater: true };
      const { result, isNoted } = await carryOutRow(row, read, given, (noted, tx) => note([noted], tx));
      if (isTrial) tried.push(result);
      else {
        if (!isNoted) await transaction(db, (tx) => note([result], tx));
        progress = progressAfter([result]);
      }
      await nextTurn();
    }
    if (tried.length > 0) await transaction(db, (tx) => note(tried, tx));
    return true;
  }

  /** @param note notes the result of a row that changes something, within its transaction */
  async function carryOutRow(
    { error, ...row }: StoredRow,
    read: (cells: readonly string[]) => Values,
    given: RowOptions,
    note: (result: StoredResult, tx: Tx) => Promise<void>,
  ): Promise<{ result: StoredResult; isNoted: boolean }> {
    const about = { line: row.line, username: row.username };
    let noted: StoredResult | undefined;
    async function onDone(outcome: ImportOutcome, tx: Tx, userId: string): Promise<void> {
      noted = { ...about, outcome, ...((outcome === 'invited' || outcome === 'created') && { userId }) };
      await note(noted, tx);
    }
    const done = userImport.carryOut({ ...row, ...textIn(error) }, read, { ...given, onDone });
    const { outcome, error: reason } = await done.catch((err: unknown): ImportRow => {
      if (unavailableIn(err)) throw err;
      // A mistake of the program in one row stops no other.
      logger.error({ err, line: row.line }, 'a row of an import failed');
      return { ...about, outcome: 'failed', error: t('error.internal') };
    });
    // A row that failed took its note back.
    if (outcome === 'failed')
      return { result: { ...about, outcome, ...written(reason), cells: row.cells }, isNoted: false };
    return { result: noted ?? { ...about, outcome }, isNoted: noted !== undefined };
  }

  /** Invites the next person, unless many mails wait: those of other people do not wait behind thousands. */
  async function inviteOne(change: BulkChange, by: Actor): Promise<'invited' | 'later' | 'none'> {
    const next = await stored.toInvite(change.id);
    if (!next) return 'none';
    const most = limits.import.waitingMail;
    if ((await db.mailMessage.count({ where: mailOf.waiting, take: most })) >= most) return 'later';
    const { position, left } = next;
    const [id = '', ...rest] = left;
    const { message } = importOf(change).options;
    await transaction(db, async (tx) => {
      const account = await accounts.find(id, tx);
      // People who are deleted or disabled by now, or whom the actor may no longer change, get no mail; the others do.
      const target = { what: 'user', id, needs: ['gatehouse.users:write'] } as const;
      const isAllowed =
        account !== undefined && (await authority.assertMay(by, target, tx).then(() => true, falseIfForbidden));
      const isInvited = isAllowed && (await invitations.invite(account, by, { tx, message })) === 'sent';
      await stored.noteInvited(change, { position, left: rest, isInvited }, tx);
    });
    return 'invited';
  }

  return {
    begin,
    get,
    start,
    tryWithGroups,
    countUninvited,
    invite,
    report,
    /** Of the last week, the newest first; without those that are being stored. */
    list: async (by: Actor): Promise<StoredImport[]> => (await stored.list(by)).map(importOf),
    /** Stops it; the rows that are done stay, those of a trial are deleted. Throws changed_meanwhile where it has ended. */
    cancel: (id: string, by: Actor): Promise<StoredImport> =>
      transaction(db, async (tx) => importOf(await stored.cancel(id, by, tx))),
    /** The first rows of each of these outcomes, up to a number of them. */
    async firstOf(
      found: StoredImport,
      by: Actor,
      wanted: Partial<Record<ImportOutcome, number>>,
    ): Promise<Partial<Record<ImportOutcome, ImportRow[]>>> {
      const lists = Object.entries(wanted).map(([outcome, limit]) => {
        const rows: ImportRow[] = [];
        return { outcome, rows, most: Math.min(limit, found.counts[outcome as ImportOutcome] ?? 0) };
      });
      if (lists.some(({ most }) => most > 0))
        for await (const some of report(found.id, by)) {
          for (const { outcome, rows, most } of lists)
            rows.push(...some.filter((row) => row.outcome === outcome).slice(0, most - rows.length));
          if (lists.every(({ rows, most }) => rows.length === most)) break;
        }
      return Object.fromEntries(lists.map(({ outcome, rows }) => [outcome, rows]));
    },
    job: job(IMPORT_JOB, ['import', 'trial'], carryOut) satisfies ScheduledJob,
  };
}
