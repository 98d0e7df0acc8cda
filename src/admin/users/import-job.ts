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
import { isSensitiveRole } from '../../people/rbac/role.ts';
import type { UserServices } from '../admin-services.ts';
import {
  type FileRow,
  type ImportOptions,
  type ImportOutcome,
  type ImportRow,
  importOptions,
  namesIn,
  type UserFile,
  type UserImport,
} from './import.ts';

/** Pieces of a report that one statement reads. */
const REPORTED = 20;

/** New administrators that a trial names. */
const NAMED = 3;

const storedOptions = importOptions.extend({
  unknown: z.array(z.string()),
  shared: z.array(z.string()),
  givesRoles: z.boolean(),
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
    { rows, unknown, shared, givesRoles }: UserFile,
    { isTrial, ...options }: ImportOptions & { isTrial: boolean },
    by: Actor,
  ): Promise<StoredImport> {
    if (!isTrial) userImport.assertMayBegin(by, { ...options, givesRoles });
    const list = rows.map(({ error, ...row }): StoredRow => ({ ...row, ...written(error) }));
    const given = {
      kind: isTrial ? 'trial' : 'import',
      options: JSON.stringify({
        ...options,
        unknown,
        shared,
        givesRoles,
        administrators: await administratorsIn(rows, by),
      }),
    } as const;
    const change = await stored.store(
      { ...given, rows: list, by },
      unknown.length > 0 && options.unknown_columns === 'reject',
    );
    return importOf(change);
  }

  async function administratorsIn(rows: readonly FileRow[], by: Actor) {
    const all = await authority.assignable(by, (await roles.list()).filter(isSensitiveRole));
    const names = all.map(({ name }) => name);
    const ofGroup = new Map<string, string[]>();
    async function rolesOf(group: string): Promise<string[]> {
      const known = ofGroup.get(group);
      if (known) return known;
      const found = await groups.find(group);
      const given = found ? (await groups.rolesConferred(found.id)).map(({ name }) => name) : [];
      ofGroup.set(group, given);
      return given;
    }
    const usernames: string[] = [];
    const given = new Set<string>();
    let count = 0;
    for await (const { username, values } of inTurns(rows, 200)) {
      const inGroups = await Promise.all(namesIn(values.groups).map(rolesOf));
      const gained = [...namesIn(values.roles), ...inGroups.flat()].filter((name) => names.includes(name));
      if (gained.length === 0) continue;
      count += 1;
      if (usernames.length < NAMED) usernames.push(username);
      for (const name of gained) given.add(name);
    }
    return { usernames, roles: [...given].sort(), count };
  }

  const get = async (id: string, by: Actor): Promise<StoredImport> => importOf(await stored.get(id, by));

  /** Begins the trial of a file with unknown columns, or the import after its trial. Throws StepUpNeeded, and conflict where it is started. */
  const start = (id: string, by: Actor): Promise<StoredImport> =>
    transaction(db, async (tx) => {
      const { isTrial, done, total, options } = importOf(await stored.get(id, by, tx));
      const isTried = isTrial && done === total;
      if (isTried) userImport.assertMayBegin(by, options);
      return importOf(await stored.start(id, by, isTried ? 'import' : 'trial', tx));
    });

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
    const more = change.kind === 'import' ? await inviteOne(change, by) : 'none';
    if (more === 'none') await stored.finish(change);
    return more === 'invited';
  }

  /** The rest of a piece. */
  async function rowsOf(change: BulkChange, by: Actor, signal: AbortSignal): Promise<boolean> {
    const isTrial = change.kind === 'trial';
    const { options } = importOf(change);
    const position = Math.floor(change.done / PIECE);
    const { rows, report } = await stored.piece<StoredRow, StoredResult>(change.id, position);
    let progress = { change, report };
    function after(results: readonly StoredResult[]): typeof progress {
      const counts = { ...progress.change.counts };
      for (const { outcome } of results) counts[outcome] = (counts[outcome] ?? 0) + 1;
      const done = progress.change.done + results.length;
      return {
        change: { ...progress.change, state: 'running', done, counts },
        report: [...progress.report, ...results],
      };
    }
    async function note(results: readonly StoredResult[], tx: Tx): Promise<void> {
      const next = after(results);
      const isEnd = !isTrial && next.report.length === rows.length;
      const left = isEnd && { left: next.report.flatMap(({ userId = [] }) => userId) };
      await stored.note(progress.change, next.change, { position, report: next.report, ...left }, tx);
    }
    const tried: StoredResult[] = [];
    for (const { error, ...row } of rows.slice(report.length)) {
      if (signal.aborted) break;
      const about = { line: row.line, username: row.username };
      let noted: StoredResult | undefined;
      const { outcome, error: reason } = await userImport
        .carryOut(
          { ...row, ...textIn(error) },
          {
            isTrial,
            by,
            options,
            isInvitedLater: true,
            async onDone(outcome, tx, userId) {
              noted = { ...about, outcome, ...(outcome === 'invited' && { userId }) };
              await note([noted], tx);
            },
          },
        )
        .catch((err: unknown): ImportRow => {
          if (unavailableIn(err)) throw err;
          // A mistake of the program in one row stops no other.
          logger.error({ err, line: row.line }, 'a row of an import failed');
          return { ...about, outcome: 'failed', error: t('error.internal') };
        });
      const result: StoredResult = { ...about, outcome, ...written(reason) };
      if (isTrial) tried.push(result);
      else {
        // A row that failed took its note back.
        const kept = outcome === 'failed' ? undefined : noted;
        if (!kept) await transaction(db, (tx) => note([result], tx));
        progress = after([kept ?? result]);
      }
      await nextTurn();
    }
    if (tried.length > 0) await transaction(db, (tx) => note(tried, tx));
    return true;
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
    report,
    /** Of the last week, the newest first; without those that are being stored. */
    list: async (by: Actor): Promise<StoredImport[]> => (await stored.list(by)).map(importOf),
    /** Stops it; the rows that are done stay. Throws changed_meanwhile where it has ended. */
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
