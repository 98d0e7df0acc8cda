// Writes the MACs of the passwords of an older version, as part of `gatehouse secrets adopt`.
import type { ProtectedRows } from '../audit/protected-rows.ts';
import type { Db } from '../storage/database.ts';

/** Writes the MAC of every password, whatever it is; returns the number of rows. */
export async function adoptPasswords(db: Db, protectedRows: Pick<ProtectedRows, 'macOf'>): Promise<number> {
  const rows = await db.passwordCredential.findMany({ select: { userId: true, hash: true } });
  for (const { userId, hash } of rows) {
    const mac = protectedRows.macOf('password_credentials', [userId, hash]);
    await db.passwordCredential.update({ where: { userId }, data: { mac } });
  }
  return rows.length;
}
