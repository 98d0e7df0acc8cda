// Finds the account of each declared user: by its `sub`, so that the file can change a username, else by its username.
// Reports conflicts: a subject, name or address that belongs to another account.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Fault } from '../../base/platform/faults.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import type { Db } from '../../base/storage/database.ts';
import type { Account } from '../../people/accounts/account.ts';
import { nameKey } from '../../people/accounts/names.ts';
import { addressOf } from '../../people/accounts/profile-fields.ts';
import type { DeclaredUser } from '../schema.ts';

export type StoredUser = Account & {
  /** The connection at which `ssoId` is the subject. */
  ssoConnection: string | null;
  usernameKey: string;
  emailKey: string | null;
  hash: string | null;
};
export type Match = { entry: DeclaredUser; existing: StoredUser | undefined };

/** The accounts that the declaration may touch, and those of its subjects that were retired. */
export async function storedFor(declared: readonly DeclaredUser[], db: Db) {
  const subjects = declared.flatMap(({ sub }) => sub ?? []);
  const emails: string[] = [];
  const names: string[] = [];
  for await (const { username, email } of inTurns(declared)) {
    names.push(nameKey(username));
    if (email) emails.push(nameKey(email));
  }
  const select = { id: true } as const;
  const touched = [
    await ownedByFile(db),
    await inChunks(names, (piece) => db.asStored.user.findMany({ where: { usernameKey: { in: piece } }, select })),
    await inChunks(emails, (piece) => db.asStored.user.findMany({ where: { emailKey: { in: piece } }, select })),
    // A username may be an address, and must not be that of another account.
    await inChunks(names, (piece) => db.asStored.user.findMany({ where: { emailKey: { in: piece } }, select })),
    await inChunks(emails, (piece) => db.asStored.user.findMany({ where: { usernameKey: { in: piece } }, select })),
    await inChunks(subjects, (piece) => db.asStored.user.findMany({ where: { id: { in: piece } }, select })),
  ];
  const ids = [...new Set(touched.flat().map(({ id }) => id))];
  const stored = await inChunks(ids, (piece) => loadUsers(piece, db));
  const retired = await inChunks(subjects, (piece) => db.retiredSubject.findMany({ where: { id: { in: piece } } }));
  return { stored, retired: new Set(retired.map(({ id }) => id)) };
}

async function ownedByFile(db: Db): Promise<{ id: string }[]> {
  const found: { id: string }[] = [];
  for (let piece = [{ id: '' }]; piece.length > 0; ) {
    const after = piece.at(-1)?.id ?? '';
    const where = { source: 'file', id: { gt: after } };
    piece = await db.asStored.user.findMany({ where, select: { id: true }, orderBy: { id: 'asc' }, take: 500 });
    found.push(...piece);
    await nextTurn();
  }
  return found;
}

async function loadUsers(ids: string[], db: Db): Promise<StoredUser[]> {
  const include = {
    password: { select: { hash: true } },
    roles: { where: { via: '' }, select: { role: { select: { name: true } } } },
    externalIdentities: { select: { connectionId: true, subject: true } },
  };
  const rows = await db.asStored.user.findMany({ where: { id: { in: ids } }, include });
  return rows.map(({ password, roles, attributes, address, externalIdentities: identities, ...row }) => ({
    ...row,
    ssoConnection: identities.find(({ subject }) => subject === row.ssoId)?.connectionId ?? null,
    address: addressOf(address),
    attributes: JSON.parse(attributes) as Record<string, unknown>,
    roles: roles.map(({ role }) => role.name).sort(),
    permissions: [],
    hash: password?.hash ?? null,
  }));
}

/** The account of each entry, in the order of the file. */
export async function matchUsers(declared: readonly DeclaredUser[], stored: readonly StoredUser[]): Promise<Match[]> {
  const bySubject = new Map(stored.map((user) => [user.id, user]));
  const byName = new Map(stored.map((user) => [user.usernameKey, user]));
  const matches: Match[] = [];
  for await (const entry of inTurns(declared)) {
    const bySub = entry.sub === undefined ? undefined : bySubject.get(entry.sub);
    matches.push({ entry, existing: bySub ?? byName.get(nameKey(entry.username)) });
  }
  return matches;
}

type Known = { roles: ReadonlySet<string>; retired: ReadonlySet<string>; stored: readonly StoredUser[] };

/** The conflicts of each entry; `index` is its position in the file. */
export async function matchFaults(
  matches: readonly Match[],
  { roles, retired, stored }: Known,
): Promise<{ index: number; faults: Fault[] }[]> {
  const first = new Map<string, number>();
  for (const [index, { existing }] of matches.entries()) {
    if (existing && !first.has(existing.id)) first.set(existing.id, index);
  }
  // Only accounts that stay: those that the file no longer declares are deleted first, which frees their names.
  const staying = stored.filter(({ id, source }) => source !== 'file' || first.has(id));
  const byName = new Map(staying.map((user) => [user.usernameKey, user]));
  const byEmail = new Map(staying.flatMap((user) => (user.emailKey ? [[user.emailKey, user] as const] : [])));

  const found: { index: number; faults: Fault[] }[] = [];
  for await (const [index, { entry, existing }] of inTurns(matches.entries())) {
    const faults: Fault[] = [];
    const reject = (field: string, message: string) => faults.push({ path: [field], message });
    for (const role of entry.roles) if (!roles.has(role)) reject('roles', `this role doesn’t exist: ${role}`);
    if (entry.sub !== undefined && retired.has(entry.sub)) reject('sub', 'belonged to a deleted account');
    if (entry.sub !== undefined && existing && existing.id !== entry.sub) {
      reject('sub', `the account ${entry.username} has another subject, which can't change`);
    }
    const before = existing ? first.get(existing.id) : undefined;
    if (before !== undefined && before !== index) reject('username', `is the account of users[${before}]`);
    const namesake = byName.get(nameKey(entry.username));
    if (namesake && namesake.id !== existing?.id) reject('username', 'is the username of another account');
    const addressee = byEmail.get(nameKey(entry.username));
    if (addressee && addressee.id !== existing?.id) reject('username', 'is the email address of another account');
    const bearer = entry.email ? byName.get(nameKey(entry.email)) : undefined;
    if (bearer && bearer.id !== existing?.id)
      reject('email', `is the username of another account (${bearer.username})`);
    const holder = entry.email ? byEmail.get(nameKey(entry.email)) : undefined;
    if (holder && holder.id !== existing?.id) reject('email', `is the address of another account (${holder.username})`);
    found.push({ index, faults });
  }
  return found;
}
