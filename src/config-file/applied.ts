// Remembers a configuration file that has nothing left to change, so that a start with the same file and the same rows need not parse and
// plan it. Any other change since then, also by the console or by SQL, gives another state, and the file is planned and wins.

import { createHash, type Hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageVersion } from '../base/platform/package.ts';
import { sha256 } from '../base/platform/random.ts';
import type { Db } from '../base/storage/database.ts';
import type { Core } from '../core/core.ts';
import { genuineText, settingNames, storeValue } from '../core/settings/settings.ts';
import { CREDENTIALS_PREFIX } from './sections/declared-credentials.ts';
import { declaredSources } from './sections/groups.ts';

/** Its key in the table of settings, where no setting has it. */
export const APPLIED_KEY = 'configuration:applied';
const PURPOSE = 'configuration-file';
/** Users read at once. */
const PIECE = 500;

type Applied = {
  /** A MAC, because a file may declare passwords: a digest in the database would let them be guessed fast. */
  source: string;
  /** The other files that the plan read, by path, with their SHA-256. */
  files: Record<string, string>;
  state: string;
  /** When the plan may be another one without any change. */
  until: string | null;
};

/** What a plan depends on outside of the database: the text and its place, this server, and the rules of this version. */
function sourceOf(text: string, file: string, issuer: string): string {
  return JSON.stringify([packageVersion(), issuer, path.resolve(file), text]);
}

/** Those whose rows a plan compares as a whole. */
const TABLES = [
  'resource',
  'role',
  'permission',
  'rolePermission',
  'application',
  'applicationRole',
  'applicationGroup',
  'clientSecret',
  'connection',
  'connectionSecret',
  'connectionRoleMapping',
  'connectionGroupMapping',
  'signUpCode',
  'group',
  'groupChild',
  'groupRole',
] as const;

/** A digest of the rows that a plan compares, with every column that it may read: a change by SQL is a change. */
export async function stateOf(db: Db): Promise<string> {
  const hash = createHash('sha256');
  const where = { OR: [{ key: { in: settingNames } }, { key: { startsWith: CREDENTIALS_PREFIX } }] };
  addRows(hash, await db.setting.findMany({ where, select: { key: true, value: true, source: true, mac: true } }));
  for (const name of TABLES) addRows(hash, await (db.asStored[name] as { findMany(): Promise<object[]> }).findMany());
  addRows(hash, await db.asStored.connectionDomain.findMany({ omit: { checkedAt: true } }));
  addRows(hash, await db.asStored.groupOwner.findMany({ where: { deputyOf: null } }));
  addRows(hash, await db.asStored.groupDomain.findMany({ omit: { checkedAt: true } }));
  await addUsers(hash, db);
  await addMembers(hash, db);
  return hash.digest('base64url');
}

/** The users that the file declares: an applied file owns each of them. */
async function addUsers(hash: Hash, db: Db): Promise<void> {
  const include = {
    password: { select: { hash: true } },
    roles: { where: { via: '' }, select: { roleId: true, since: true, until: true }, orderBy: { roleId: 'asc' } },
    externalIdentities: { select: { connectionId: true, subject: true }, orderBy: { id: 'asc' } },
  } as const;
  let after: string | undefined = '';
  while (after !== undefined) {
    const users: { id: string }[] = await db.asStored.user.findMany({
      where: { source: 'file', id: { gt: after } },
      include,
      orderBy: { id: 'asc' },
      take: PIECE,
    });
    addRows(hash, users);
    after = users.at(-1)?.id;
  }
}

/** The members that the file declares. */
async function addMembers(hash: Hash, db: Db): Promise<void> {
  const groups = await db.asStored.group.findMany({ where: { fileMembers: true }, select: { id: true } });
  for (const { id: groupId } of groups.sort((a, b) => (a.id < b.id ? -1 : 1)))
    addRows(
      hash,
      await db.asStored.groupMember.findMany({
        where: { groupId, source: { in: declaredSources } },
        omit: { notice: true },
      }),
    );
}

/** In an order that does not depend on the database. */
function addRows(hash: Hash, rows: readonly object[]): void {
  const lines = rows.map((row) => JSON.stringify(row)).sort();
  hash.update(lines.join('\n')).update('\n\n');
}

/** `state` is that from before the plan, so that a change made meanwhile is planned at the next start. */
export async function rememberApplied(
  { config: { issuer }, db, vault, now }: Core,
  file: { text: string; path: string },
  { files, state }: { files: Applied['files']; state: string },
): Promise<void> {
  const next = await db.asStored.clientSecret.findFirst({
    where: { expiresAt: { gt: now() } },
    orderBy: { expiresAt: 'asc' },
    select: { expiresAt: true },
  });
  const source = vault.mac(sourceOf(file.text, file.path, issuer), PURPOSE);
  const value: Applied = { source, files, state, until: next?.expiresAt?.toISOString() ?? null };
  await storeValue(db, APPLIED_KEY, value, { source: 'local', at: now(), isProtected: true });
}

/** Whether the file was applied as it is, and no row has changed since. */
export async function isApplied({ config: { issuer }, db, vault, now }: Core, file: string): Promise<boolean> {
  const stored = await genuineText(db, APPLIED_KEY);
  if (stored === undefined) return false;
  const { source, files, state, until }: Applied = JSON.parse(stored);
  if (until !== null && now() >= new Date(until)) return false;
  const text = await readFile(file, 'utf8').catch(() => undefined); // readValidFile says what is wrong with it
  if (text === undefined || !vault.macMatches(sourceOf(text, file, issuer), source, PURPOSE)) return false;
  for (const [name, digest] of Object.entries(files)) {
    const bytes = await readFile(name).catch(() => undefined); // the plan says what is wrong with it
    if (bytes === undefined || sha256(bytes) !== digest) return false;
  }
  return state === (await stateOf(db));
}
