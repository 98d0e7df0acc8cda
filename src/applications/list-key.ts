// The key by which lists of applications are sorted: their name as the names of users are compared, so that case does not matter.
import { nameKey } from '../accounts/names.ts';
import type { Db } from '../storage/database.ts';

/** An entry of an index on PostgreSQL holds 2704 bytes, and compatibility forms may be 18 times as long as the name. */
const MAX_CHARACTERS = 255;

export function listKey(name: string): string {
  return [...nameKey(name)].slice(0, MAX_CHARACTERS).join('');
}

/** Completes the keys that an earlier version or the migration has written, whose lower() may know ASCII letters only. */
export async function completeListKeys(db: Db): Promise<void> {
  const rows = await db.application.findMany({ select: { id: true, name: true, nameKey: true, updatedAt: true } });
  for (const { id, name, nameKey: stored, updatedAt } of rows) {
    // Another instance may have renamed the application meanwhile.
    if (listKey(name) !== stored)
      await db.application.updateMany({ where: { id, name, updatedAt }, data: { nameKey: listKey(name), updatedAt } });
  }
}
