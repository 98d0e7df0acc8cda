// Rows of users as they are stored, whatever their MAC: for `gatehouse user delete`, because a row that another program changed is
// unknown to everything else.

import { notFound } from '../http/errors.ts';
import type { Db, Tx } from '../storage/database.ts';
import type { ProtectedRows } from '../storage/protected-rows.ts';
import type { AccountContext } from './change-accounts.ts';
import { nameKey } from './names.ts';
import { isGenuineUser } from './protected-users.ts';

export interface StoredAccount {
  id: string;
  username: string;
  email: string | null;
  source: string;
  /** False: another program wrote the row. */
  isGenuine: boolean;
}

/** The rows with this id, username or email address: more than one only where another program wrote one of them. */
export async function findStored(
  { db, protectedRows }: { db: Db; protectedRows: ProtectedRows },
  login: string,
): Promise<StoredAccount[]> {
  const key = nameKey(login);
  const rows = await db.user.findMany({ where: { OR: [{ id: login }, { usernameKey: key }, { emailKey: key }] } });
  return rows.map((row) => {
    const { id, username, email, source } = row;
    return { id, username, email, source, isGenuine: isGenuineUser(row, protectedRows) };
  });
}

/** Deletes the row. Its id stays retired. Throws not_found (404). */
export async function removeStored(
  { now, audit }: Pick<AccountContext, 'now' | 'audit'>,
  { id, username, email, source, isGenuine }: StoredAccount,
  tx: Tx,
): Promise<void> {
  const { count } = await tx.user.deleteMany({ where: { id } });
  if (count === 0) throw notFound({ detail: { accountId: id } });
  await tx.retiredSubject.upsert({ where: { id }, create: { id, retiredAt: now() }, update: {} });
  const data = { before: { username, email, source }, changedOutside: !isGenuine };
  await audit.record({ type: 'account.deleted', outcome: 'success', subjectId: id, data }, tx);
}
