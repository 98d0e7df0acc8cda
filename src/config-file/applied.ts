// Remembers a configuration file that has nothing left to change, so that a start with the same file and the same rows need not read and
// plan it. Any other change since then, also by the console or by SQL, gives another state, and the file is planned and wins.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../base/platform/clock.ts';
import type { Db } from '../base/storage/database.ts';
import type { ProtectedRows } from '../base/storage/protected-rows.ts';
import { settingNames } from '../core/settings/settings.ts';
import { storedRow, storeValue } from '../core/settings/stored-values.ts';
import { brandSchemas } from '../core/settings/value-schemas.ts';
import { type ConfigurationFile, fingerprintOf } from './read-file.ts';
import { entrySections } from './schema.ts';

type Needs = { db: Db; protectedRows: ProtectedRows; now: Clock };

/** Its key in the table of settings, where no setting has it. */
export const APPLIED_KEY = 'configuration:applied';
/** Their plan depends on nothing but the file and the rows of `stateOf`. Others read files, fetch URLs or compare passwords. */
const PLAIN_SECTIONS = ['resources', 'clients', 'roles'];

/** A digest of the rows that a plan of the plain sections compares, with every column: a change by SQL is a change. */
export async function stateOf(db: Db): Promise<string> {
  const hash = createHash('sha256');
  const tables = [
    () =>
      db.setting.findMany({
        where: { key: { in: settingNames } },
        select: { key: true, value: true, source: true, mac: true },
      }),
    () => db.asStored.resource.findMany(),
    () => db.role.findMany(),
    () => db.permission.findMany(),
    () => db.rolePermission.findMany(),
    () => db.asStored.application.findMany(),
    () => db.asStored.applicationRole.findMany(),
    () => db.asStored.clientSecret.findMany(),
    () => db.asStored.connection.findMany(),
    () => db.asStored.signUpCode.findMany(),
  ];
  for (const read of tables) hash.update(textOf(await read())).update('\n\n');
  return hash.digest('base64url');
}

/** The rows in an order that does not depend on the database. */
function textOf(rows: readonly object[]): string {
  return rows
    .map((row) => JSON.stringify(row))
    .sort()
    .join('\n');
}

/** Whether a plan of the file would find the same rows at the next start, until a client secret expires. */
export function canRemember({ declared, fingerprint }: ConfigurationFile): boolean {
  if (fingerprint === undefined) return false;
  const others = entrySections.filter((section) => !PLAIN_SECTIONS.includes(section));
  if (others.some((section) => declared[section].length > 0)) return false;
  return !Object.keys(declared.settings).some((name) => name in brandSchemas); // these may name pictures in files
}

/** `state` is that from before the plan, so that a change made meanwhile is planned at the next start. */
export async function rememberApplied(
  { db, protectedRows, now }: Needs,
  { fingerprint }: ConfigurationFile,
  state: string,
): Promise<void> {
  const next = await db.asStored.clientSecret.findFirst({
    where: { expiresAt: { gt: now() } },
    orderBy: { expiresAt: 'asc' },
    select: { expiresAt: true },
  });
  const value = { fingerprint, state, until: next?.expiresAt?.toISOString() ?? null };
  const mac = (text: string) => protectedRows.macOf('settings', { key: APPLIED_KEY, value: text });
  await storeValue(db, APPLIED_KEY, value, { source: 'local', at: now(), mac });
}

/** Whether the file was applied as it is, and no row has changed since. */
export async function isApplied({ db, protectedRows, now }: Needs, file: string): Promise<boolean> {
  const row = await storedRow(db, APPLIED_KEY);
  if (!row || !protectedRows.isGenuine('settings', { key: APPLIED_KEY, value: row.value }, row.mac)) return false;
  const { fingerprint, state, until } = JSON.parse(row.value) as {
    fingerprint: string;
    state: string;
    until: string | null;
  };
  if (until !== null && now() >= new Date(until)) return false;
  const text = await readFile(file, 'utf8').catch(() => undefined); // readValidFile says what is wrong with it
  return text !== undefined && fingerprint === fingerprintOf(text) && state === (await stateOf(db));
}
