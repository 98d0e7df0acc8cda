// doctor: rows that the server does not use, because it did not write them as they are, of every table that has MACs
// (server/secrets/protected-tables.ts). Named one by one: no command repairs them.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { plural } from '../../base/platform/plural.ts';
import type { Db } from '../../base/storage/database.ts';
import type { ProtectedRows, ProtectedTable } from '../../base/storage/protected-rows.ts';
import {
  coveredOf,
  nameOfRow,
  type ProtectedRow,
  type ProtectedTableEntry,
  rowsOf,
  tablesInOrder,
  uniqueKey,
} from '../../server/secrets/protected-tables.ts';
import { type Finding, failure } from './findings.ts';

const MAX_NAMED = 20;
const PAGE = 500;

const RESTORE = 'Find out who changed it. Restore it from a backup or delete it.';
const AGAIN: Partial<Record<ProtectedTable, string>> = {
  users: 'Find out who changed it. Restore it from a backup, or delete it: gatehouse user delete.',
  password_credentials: 'Find out who changed it. Delete the row and send the user a reset link.',
  passkeys: 'Find out who changed it. Delete the row; the user adds the passkey again.',
  phone_factors: 'Find out who changed it. Delete the row; the user adds the number again.',
  user_roles:
    'Find out who wrote it. Delete the row; an administrator gives the role again if the user should have it.',
  external_identities: 'Find out who wrote it. Delete the row; the user connects the sign-in again.',
};
const ENDS = 'Find out who wrote it, and delete the row: the user has to start again.';

export async function rowFindings({
  database: { db },
  macs = db.macs,
}: {
  database: { db: Db };
  macs?: ProtectedRows;
}): Promise<Finding[]> {
  const changed: Finding[] = [];
  let more = 0;
  for (const [table, entry] of tablesInOrder) {
    for await (const row of changedRows(db, table, entry, macs)) {
      if (changed.length >= MAX_NAMED) more += 1;
      else {
        const advice = entry.isShortLived ? ENDS : (AGAIN[table] ?? RESTORE);
        const name = nameOfRow(table, row);
        changed.push(failure('rows', `another program wrote ${name}, so Gatehouse ignores it`, advice));
      }
    }
  }
  if (more > 0)
    changed.push(
      failure('rows', `another program wrote ${plural(more, 'more row', 'more rows')}`, 'Restore a backup.'),
    );
  return changed;
}

async function* changedRows(
  db: Db,
  table: ProtectedTable,
  entry: ProtectedTableEntry,
  { isGenuine }: ProtectedRows,
): AsyncGenerator<ProtectedRow> {
  const { key, where = {}, include, omit } = entry;
  const query = {
    where,
    orderBy: key.map((column) => ({ [column]: 'asc' })),
    take: PAGE,
    ...(include && { include }),
    ...(omit && { omit }),
  };
  let last: ProtectedRow | undefined;
  for (;;) {
    const after = last && { cursor: uniqueKey(entry, last), skip: 1 };
    const rows = await rowsOf(db, entry).findMany({ ...query, ...after });
    for (const row of rows) if (!isGenuine(table, coveredOf(entry, row), row.mac)) yield row;
    last = rows.at(-1);
    if (rows.length < PAGE) return;
    await yieldToEventLoop();
  }
}
