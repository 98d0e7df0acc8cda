// Members of a group as text: a CSV with the columns username, since and until, or usernames alone. Every row is read before anything changes,
// so that all mistakes are known.

import { z } from 'zod';
import { invalidInput } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { CsvError, parseCsv } from '../../base/platform/csv.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { eachChunk } from '../../base/storage/chunks.ts';
import type { Db } from '../../base/storage/database.ts';
import { isStorableTime } from '../../base/storage/storable-text.ts';
import { textFault } from '../../base/texts/faults.ts';
import { type Text, t } from '../../base/texts/text.ts';
import { nameKey } from '../../people/accounts/names.ts';
import type { NewMember } from '../../people/groups/groups.ts';

/** A row that is wrong. */
export interface Mistake {
  /** In the text; the first line is 1. */
  line: number;
  text: Text;
}

export interface MemberRows {
  members: NewMember[];
  /** The first ones. */
  mistakes: Mistake[];
  /** All of them. */
  wrong: number;
}

interface Period {
  since: Date | null;
  until: Date | null;
}

const COLUMNS = ['username', 'since', 'until'];
const LISTED = 100;
/** Rows of one turn of the event loop, and of one statement. */
const ROWS = 500;
// RFC 3339, section 5.6.
const instant = z.iso.datetime({ offset: true });
const day = z.iso.date();

/** Undefined for text that is no time. A day is its first moment, or its last one where something ends. */
function timeOf(text: string, otherwise: Date | null, isEnd: boolean): Date | null | undefined {
  if (text === '') return otherwise;
  const isDay = day.safeParse(text).success;
  if (!isDay && !instant.safeParse(text).success) return undefined;
  const at = new Date(isDay ? `${text}T${isEnd ? '23:59:59' : '00:00:00'}Z` : text);
  return isStorableTime(at) ? at : undefined;
}

/**
 * Reads the text. A first line with `username` names the columns. Throws invalid_input where it can't be read at all.
 * @param period of the rows without one
 */
export async function readMembers(
  text: string,
  period: Period,
  { db, now }: { db: Db; now: () => Date },
): Promise<MemberRows> {
  const entries = await entriesOf(text);
  if (entries.length > limits.groups.members)
    throw wrongText(t('console.groups.bulk-most', { count: limits.groups.members }));
  const ids = await idsOf(entries, db);
  const rows: MemberRows = { members: [], mistakes: [], wrong: 0 };
  const first = new Map<string, number>();
  const at = now();
  for await (const { line, login, hasMore, ...row } of inTurns(entries, ROWS)) {
    const userId = ids.get(nameKey(login.slice(0, 1000)));
    const [since, until] = [timeOf(row.since, period.since, false), timeOf(row.until, period.until, true)];
    const before = userId === undefined ? undefined : first.get(userId);
    const wrong = () => {
      if (hasMore) return t('console.groups.row-cells');
      if (login === '') return t('console.groups.row-empty');
      if (userId === undefined) return t('console.groups.no-such-user', { user: login.slice(0, 100) });
      if (before !== undefined) return t('console.groups.row-same', { line: before });
      if (since === undefined) return t('console.groups.row-time', { value: row.since.slice(0, 100) });
      if (until === undefined) return t('console.groups.row-time', { value: row.until.slice(0, 100) });
      if (until && (until <= at || (since && until <= since))) return t('console.groups.row-end');
      return undefined;
    };
    const mistake = wrong();
    if (mistake) {
      rows.wrong += 1;
      if (rows.mistakes.length < LISTED) rows.mistakes.push({ line, text: mistake });
    } else if (userId !== undefined && since !== undefined && until !== undefined) {
      first.set(userId, line);
      rows.members.push({ userId, since, until });
    }
  }
  return rows;
}

interface Entry {
  line: number;
  login: string;
  since: string;
  until: string;
  /** More cells than columns. */
  hasMore: boolean;
}

async function entriesOf(text: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  const lines = await parseCsv(text).catch((error: unknown) => {
    if (error instanceof CsvError) throw wrongText(t('console.groups.rows-form'));
    throw error;
  });
  const header = (lines[0]?.cells ?? []).map((cell) => cell.toLowerCase());
  if (!header.includes('username')) {
    // Usernames alone, one a line or with commas between.
    for await (const { line, cells } of inTurns(lines, ROWS))
      for (const login of cells.filter(Boolean)) entries.push({ line, login, since: '', until: '', hasMore: false });
    return entries;
  }
  if (header.some((name) => !COLUMNS.includes(name))) throw wrongText(t('console.groups.rows-form'));
  const [username, since, until] = COLUMNS.map((name) => header.indexOf(name)) as [number, number, number];
  for await (const { line, cells } of inTurns(lines.slice(1), ROWS))
    entries.push({
      line,
      login: cells[username] ?? '',
      since: cells[since] ?? '',
      until: cells[until] ?? '',
      hasMore: cells.length > header.length,
    });
  return entries;
}

const wrongText = (text: Text) => invalidInput([textFault(['people'], text)]);

/** The ids of the users with these usernames or email addresses, by the key of the name. */
async function idsOf(entries: readonly Entry[], db: Db): Promise<Map<string, string>> {
  const keys = new Set<string>();
  for await (const { login } of inTurns(entries, ROWS)) keys.add(nameKey(login.slice(0, 1000)));
  const ids = new Map<string, string>();
  const select = { id: true, usernameKey: true, emailKey: true } as const;
  // Usernames last: a username counts more than the same address of someone else.
  for (const column of ['emailKey', 'usernameKey'] as const)
    await eachChunk(
      [...keys],
      async (piece) => {
        const found = await db.asStored.user.findMany({ where: { [column]: { in: piece } }, select });
        for (const user of found) ids.set(user[column] ?? '', user.id);
      },
      ROWS,
    );
  return ids;
}
