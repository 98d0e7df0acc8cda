// The table `application_pictures` as a queue of jobs (jobs/queue.ts): the pictures that have to be read from their logo_uri.
import type { QueuedJob, QueueStore } from '../../jobs/queue.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Db } from '../../storage/database.ts';

export interface PictureJob extends QueuedJob {
  url: string;
}

export function createPictureQueueStore({ db, now }: { db: Db; now: Clock }): QueueStore<PictureJob> {
  return {
    // A lane for each application, so that a server that does not answer delays no other.
    async due({ limit, exceptLanes }) {
      const rows = await db.applicationPicture.findMany({
        where: { url: { not: null }, nextTryAt: { lte: now() }, applicationId: { notIn: [...exceptLanes] } },
        orderBy: { nextTryAt: 'asc' },
        take: limit,
        select: { applicationId: true, url: true, tries: true, lastError: true },
      });
      return rows.map(({ applicationId, url, ...row }) => ({
        ...row,
        id: applicationId,
        lane: applicationId,
        url: url ?? '',
      }));
    },

    async claim({ id, url, tries }, leaseUntil) {
      const where = { applicationId: id, url, tries, nextTryAt: { not: null } };
      const { count } = await db.applicationPicture.updateMany({
        where,
        data: { tries: tries + 1, nextTryAt: leaseUntil },
      });
      return count === 1;
    },

    // The attempt has stored the picture.
    complete: async () => {},

    async retry({ id, url, tries }, { reason, nextTryAt }) {
      const where = { applicationId: id, url, tries: tries + 1, nextTryAt: { not: null } };
      await db.applicationPicture.updateMany({ where, data: { lastError: reason, nextTryAt, updatedAt: now() } });
    },

    // There is no last try.
    giveUp: async () => {},

    async waitAtMost(until) {
      await db.applicationPicture.updateMany({ where: { nextTryAt: { gt: until } }, data: { nextTryAt: until } });
    },
  };
}
