// The filters of the activity log that each administrator gave a name.
import { conflict } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { randomId } from '../../base/platform/random.ts';
import { t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';

export type SavedFilters = ReturnType<typeof createSavedFilters>;

export function createSavedFilters({ db, now }: Core) {
  return {
    /** By name. */
    list: (userId: string) =>
      db.savedFilter.findMany({
        where: { userId },
        orderBy: { name: 'asc' },
        select: { id: true, name: true, query: true },
      }),

    /** Replaces one of the same name. Throws 409 for one too many. @param query of the address */
    async save(userId: string, { name, query }: { name: string; query: string }): Promise<void> {
      const stored = await db.savedFilter.findMany({ where: { userId }, select: { name: true } });
      if (stored.length >= limits.savedFilters && !stored.some((one) => one.name === name))
        throw conflict('conflict', { message: t('console.audit.too-many', { count: limits.savedFilters }) });
      await db.savedFilter.upsert({
        where: { userId_name: { userId, name } },
        create: { id: randomId(), userId, name, query, createdAt: now() },
        update: { query },
      });
    },

    /** Also of one that is gone. */
    async remove(userId: string, id: string): Promise<void> {
      await db.savedFilter.deleteMany({ where: { id, userId } });
    },
  };
}
