// The job of what begins and ends by itself: memberships, roles and ownerships. Whether one holds is judged on each read; the job deletes
// what has ended, signs out whose roles changed by time, and finds what ends soon.
import { inChunks } from '../../base/storage/chunks.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import { deleteEndedGrants, grantsWarned, reportBegunGrants } from '../rbac/assign-roles.ts';
import type { LogoutOnRoleChange } from '../rbac/connection-roles.ts';

/** Rows of one transaction. */
const BATCH = 100;
/** How long before the end people are told. */
export const NOTICE_DAYS = 7;

export type Ends = ReturnType<typeof createEnds>;

export function createEnds({ db, now, audit, logoutOnRoleChange }: Core & { logoutOnRoleChange: LogoutOnRoleChange }) {
  /** Runs a batch until one is not full. */
  async function inBatches(signal: AbortSignal | undefined, run: (tx: Tx) => Promise<number>): Promise<void> {
    while (!signal?.aborted && (await transaction(db, run)) === BATCH);
  }

  /** Deletes what has ended and reports what has begun. */
  async function tidy(signal?: AbortSignal): Promise<void> {
    const ended = { until: { lte: now() } };
    const begun = { notice: 'begins', since: { lte: now() } };
    await inBatches(signal, async (tx) => {
      const include = { group: { select: { name: true } } } as const;
      const rows = await tx.asStored.groupMember.findMany({ where: ended, include, take: BATCH });
      for (const { groupId, userId, source, group } of rows) {
        if ((await tx.groupMember.deleteMany({ where: { groupId, userId, source, ...ended } })).count === 0) continue;
        const data = { groupId, groupName: group.name, via: source };
        await audit.record({ type: 'group.member-expired', outcome: 'success', subjectId: userId, data }, tx);
        await logoutOnRoleChange(userId, {}, tx);
      }
      return rows.length;
    });
    await inBatches(signal, (tx) => deleteEndedGrants({ audit, logoutOnRoleChange }, now(), tx, BATCH));
    await inBatches(signal, async (tx) => {
      const include = { group: { select: { name: true } } } as const;
      const rows = await tx.asStored.groupOwner.findMany({ where: ended, include, take: BATCH });
      for (const { groupId, userId, group } of rows) {
        if ((await tx.groupOwner.deleteMany({ where: { groupId, userId, ...ended } })).count === 0) continue;
        await tx.groupInvitation.deleteMany({ where: { groupId, invitedBy: userId, acceptedAt: null } });
        const data = { groupId, groupName: group.name, ended: true };
        await audit.record({ type: 'group.owner-removed', outcome: 'success', subjectId: userId, data }, tx);
      }
      return rows.length;
    });
    await inBatches(signal, async (tx) => {
      const members = await tx.groupMember.findMany({ where: begun, take: BATCH });
      for (const { groupId, userId, source } of members) {
        const where = { groupId, userId, source };
        const { count } = await tx.groupMember.updateMany({ where, data: { notice: '' } });
        if (count > 0) await logoutOnRoleChange(userId, {}, tx);
      }
      return members.length;
    });
    await inBatches(signal, (tx) => reportBegunGrants({ logoutOnRoleChange }, now(), tx, BATCH));
  }

  return {
    tidy,

    /**
     * Memberships and roles that end within NOTICE_DAYS and whose people were not told, the next one first. Call `told` in the transaction
     * that queues the mail.
     */
    async endingSoon(limit = BATCH) {
      const before = new Date(now().getTime() + NOTICE_DAYS * 24 * 3600 * 1000);
      const query = {
        where: { until: { gt: now(), lte: before }, notice: '' },
        orderBy: { until: 'asc' },
        take: limit,
      } as const;
      const members = await db.groupMember.findMany({ ...query, include: { group: true, user: true } });
      const grants = await db.userRole.findMany({ ...query, include: { role: true, user: true } });
      return { members, grants };
    },

    async told(
      {
        members,
        grants,
      }: {
        members: readonly { groupId: string; userId: string; source: string }[];
        grants: readonly { userId: string; roleId: string; via: string }[];
      },
      tx: Tx,
    ): Promise<void> {
      await inChunks(members, async (rows) => {
        for (const { groupId, userId, source } of rows)
          await tx.groupMember.updateMany({ where: { groupId, userId, source }, data: { notice: 'warned' } });
        return [];
      });
      await grantsWarned(grants, tx);
    },
  };
}

export function endJobs({ tidy }: Ends): ScheduledJob[] {
  return [{ name: 'ends', everySeconds: 60, run: (signal) => tidy(signal) }];
}
