// The job of what begins and ends by itself: memberships, roles and ownerships. Whether one holds is judged on each read; the job deletes
// what has ended, signs out whose roles or groups changed by time, and finds what ends soon.
import { displayName } from '../../base/http/pages/tokens.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import { type Activity, stateOf } from '../accounts/active.ts';
import {
  type Batch,
  deleteEndedGrants,
  type LogoutOnRoleChange,
  markWarned,
  type Page,
  reportBegunGrants,
} from '../rbac/assign-roles.ts';
import { lapseRequests } from './requests.ts';
import { endDeputies, endInvitations, ownersOf } from './rights.ts';

/** Rows of one transaction. */
const BATCH = 100;
const BY_KEY = [{ groupId: 'asc' }, { userId: 'asc' }, { source: 'asc' }] as const;
/** How long before the end people are told. */
export const NOTICE_DAYS = 7;

export type Ends = ReturnType<typeof createEnds>;

export function createEnds(core: Core & { logoutOnRoleChange: LogoutOnRoleChange }) {
  const { db, now, audit, outbox, logoutOnRoleChange } = core;

  /** Runs a batch until one is not full, and skips the forged rows of those before. */
  async function inBatches(
    signal: AbortSignal | undefined,
    run: (tx: Tx, page: Page) => Promise<Batch>,
  ): Promise<void> {
    let skip = 0;
    while (!signal?.aborted) {
      const { found, forged = 0 } = await transaction(db, (tx) => run(tx, { take: BATCH, skip }));
      if (found < BATCH) return;
      skip += forged;
    }
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
        await logoutOnRoleChange([userId], {}, tx);
      }
      return { found: rows.length };
    });
    await inBatches(signal, (tx, page) => deleteEndedGrants({ audit, logoutOnRoleChange }, now(), tx, page));
    await inBatches(signal, async (tx) => {
      const include = { group: { select: { name: true } } } as const;
      const rows = await tx.asStored.groupOwner.findMany({ where: ended, include, take: BATCH });
      for (const { groupId, userId, deputyOf, group } of rows) {
        if ((await tx.groupOwner.deleteMany({ where: { groupId, userId, ...ended } })).count === 0) continue;
        const data = { groupId, groupName: group.name, ended: true };
        const type = deputyOf === null ? 'group.owner-removed' : 'group.deputy-removed';
        await audit.record({ type, outcome: 'success', subjectId: userId, data }, tx);
        await endInvitations(groupId, userId, now(), tx);
        await endDeputies(core, { id: groupId, name: group.name }, { deputyOf: userId }, {}, tx, { ended: true });
      }
      return { found: rows.length };
    });
    await inBatches(signal, async (tx, page) => {
      const query = { where: begun, orderBy: [...BY_KEY], ...page };
      const found = await tx.groupMember.count(query);
      const members = await tx.groupMember.findMany(query);
      for (const { groupId, userId, source } of members) {
        const where = { groupId, userId, source };
        const { count } = await tx.groupMember.updateMany({ where, data: { notice: '' } });
        if (count > 0) await logoutOnRoleChange([userId], {}, tx);
      }
      return { found, forged: found - members.length };
    });
    await inBatches(signal, (tx, page) => reportBegunGrants({ logoutOnRoleChange }, now(), tx, page));
    await inBatches(signal, (tx, page) => lapseRequests({ audit, db: tx }, now(), page));
  }

  /** What ends within NOTICE_DAYS and whose people were not told. */
  function endingSoon() {
    const before = new Date(now().getTime() + NOTICE_DAYS * 24 * 3600 * 1000);
    return { until: { gt: now(), lte: before }, notice: '' };
  }

  /** Mails the people whose memberships or roles end soon, and the owners of the groups, each once. */
  async function warn(signal?: AbortSignal): Promise<void> {
    await inBatches(signal, async (tx, page) => {
      const ending = new Map<string, Ending[]>();
      const query = { where: endingSoon(), orderBy: [{ until: 'asc' as const }, ...BY_KEY], ...page };
      const found = await tx.groupMember.count(query);
      const members = await tx.groupMember.findMany({ ...query, include: { group: true, user: true } });
      for (const { groupId, userId, source, until, group, user } of members) {
        const row = { groupId, userId, source, until, notice: '' };
        // With another end since, the next run decides.
        if ((await tx.groupMember.updateMany({ where: row, data: { notice: 'warned' } })).count === 0) continue;
        const others = await tx.groupMember.findMany({ where: { groupId, userId, NOT: { source } } });
        if (!until || others.some((other) => other.until === null || other.until > until)) continue;
        await mailPerson(user, { of: 'group', name: group.name, until }, tx);
        ending.set(groupId, [...(ending.get(groupId) ?? []), { group: group.name, name: displayName(user), until }]);
      }
      for (const [groupId, list] of ending) await mailOwners(groupId, list, tx);
      return { found, forged: found - members.length };
    });
    await inBatches(signal, async (tx, page) => {
      const orderBy = [{ until: 'asc' as const }, { userId: 'asc' as const }, { roleId: 'asc' as const }];
      const query = { where: endingSoon(), orderBy, ...page };
      const found = await tx.userRole.count(query);
      const grants = await tx.userRole.findMany({ ...query, include: { role: true, user: true } });
      for (const { role, user, ...grant } of grants)
        if ((await markWarned(grant, tx)) && grant.until)
          await mailPerson(user, { of: 'role', name: role.name, until: grant.until }, tx);
      return { found, forged: found - grants.length };
    });
  }

  async function mailPerson(user: MailedUser, end: { of: 'group' | 'role'; name: string; until: Date }, tx: Tx) {
    const to = stateOf(user, now()) === 'active' ? recipientOf(user) : undefined;
    if (to) await outbox.send({ to, kind: 'membership-end', ...end }, tx);
  }

  async function mailOwners(groupId: string, members: readonly Ending[], tx: Tx) {
    const group = members[0]?.group ?? '';
    for (const owner of await ownersOf(groupId, now(), tx)) {
      const to = recipientOf(owner);
      if (to) await outbox.send({ to, kind: 'members-end', group, groupId, members }, tx);
    }
  }

  return { tidy, warn };
}

interface Ending {
  group: string;
  /** Of the member. */
  name: string;
  until: Date;
}

type MailedUser = Parameters<typeof recipientOf>[0] & Activity;

export function endJobs({ tidy, warn }: Ends): ScheduledJob[] {
  return [
    {
      name: 'ends',
      everySeconds: 60,
      async run(signal) {
        await tidy(signal);
        await warn(signal);
      },
    },
  ];
}
