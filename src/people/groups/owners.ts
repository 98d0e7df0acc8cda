// What an owner of groups does: at the account page and by /api/groups alike. Owners are no administrators: they see names of members and put
// people in or take them out, no more (rights.ts).
import { AppError, invalidInput, notFound, tooManyRequests } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { lockGroups } from '../../base/storage/row-lock.ts';
import { textFault } from '../../base/texts/faults.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { NAMED_PERSON, type NamedPerson } from '../accounts/names.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import { assertTimes } from '../rbac/assign-roles.ts';
import type { Groups } from './groups.ts';
import { type GroupChange, PERSONAL } from './rights.ts';

export type GroupOwners = ReturnType<typeof createGroupOwners>;

export interface OwnedMember {
  person: NamedPerson;
  /** The owner can change it. */
  isOwn: boolean;
  since: Date | null;
  until: Date | null;
}

interface MemberRow {
  userId: string;
  source: string;
  since: Date | null;
  until: Date | null;
}

const DAY_MS = 24 * 3600 * 1000;
/** Until when a deputy can act, at most: the end of a day in UTC. */
export const deputyEnd = (now: Date) =>
  new Date((Math.floor(now.getTime() / DAY_MS) + limits.groups.deputyDays + 1) * DAY_MS - 1);

export function createGroupOwners(core: Core & { groups: Groups; accounts: Accounts; rateLimits: RateLimits }) {
  const { db, sql, now, groups, accounts, rateLimits } = core;

  /** One entry for each person: their own membership, else another one, which an owner cannot change. */
  async function named(rows: readonly MemberRow[], tx: Tx = db): Promise<OwnedMember[]> {
    const names = await tx.asStored.user.findMany({
      where: { id: { in: rows.map(({ userId }) => userId) } },
      select: NAMED_PERSON,
    });
    return names.map((person) => {
      const held = rows.filter(({ userId }) => userId === person.id);
      const own = held.find(({ source }) => PERSONAL.some((one) => one === source));
      const { since = null, until = null } = own ?? held[0] ?? {};
      return { person, isOwn: own !== undefined, since, until };
    });
  }

  /** Throws not_found for a person who is not in the group itself. */
  async function member(groupId: string, userId: string, tx: Tx = db): Promise<OwnedMember> {
    const [found] = await named(await tx.groupMember.findMany({ where: { groupId, userId } }), tx);
    if (!found) throw notFound();
    return found;
  }

  /** Counts so many additions by the person, or throws too_many_requests (429) and counts none, so that fewer can still be allowed. */
  async function countAdditions(count: number, userId: string): Promise<void> {
    for (let counted = 0; counted < count; counted += 1) {
      const { allowed, retryAfterSeconds } = await rateLimits.consume('group-additions:account', userId);
      if (allowed) continue;
      for (let refunded = 0; refunded < counted; refunded += 1)
        await rateLimits.refund('group-additions:account', userId);
      throw tooManyRequests(retryAfterSeconds);
    }
  }

  return {
    member,

    groupsOf: groups.ownedBy,

    /** The groups that the person was appointed to, and can have a deputy for. */
    own: groups.ownershipsOf,
    deputies: groups.deputies,
    dismissDeputy: groups.dismissDeputy,

    /**
     * Makes the person with exactly this username or address the actor's deputy in all of these groups, or in none. Each group sends an email,
     * and so is counted as an addition, also when nobody has that name.
     * Throws forbidden, group_sensitive, too_many_requests (429), and invalid_input for an end that has passed or is too late.
     */
    async appointDeputy(
      groupIds: readonly string[],
      { login, until }: { login: string; until: Date },
      { by = {} }: GroupChange,
    ): Promise<void> {
      assertTimes({ since: null, until }, now());
      if (until > deputyEnd(now()))
        throw invalidInput([textFault(['until'], t('groups.deputy-day', { days: limits.groups.deputyDays }))]);
      await countAdditions(groupIds.length, by.actorId ?? '');
      const deputy = await accounts.findByLogin(login);
      await transaction(db, async (tx) => {
        for (const id of groupIds) {
          await groups.assertMayDeputize(id, { by, tx });
          if (deputy?.isActive && deputy.id !== by.actorId)
            await groups.appointDeputy(id, { userId: deputy.id, until }, { by, tx });
        }
      });
    },

    /** Throws not_found, as for a group that does not exist, unless the person owns it or one above it. */
    async group(groupId: string, userId: string) {
      if (!(await groups.owns(userId, groupId, db))) throw notFound();
      return groups.get(groupId);
    },

    /** Why the owner can put nobody in now, in sentences, and whether the owner can take people out; undefined where nothing stops them. */
    async whyBlocked(
      { id, source, fileMembers }: { id: string; source: string; fileMembers: boolean },
      options: GroupChange,
    ): Promise<{ why: PageText[]; mayRemove: boolean } | undefined> {
      if (source === 'file' && fileMembers) return { why: [t('groups.by-file')], mayRemove: false };
      try {
        await groups.assertMayPut(id, 'owner', options);
        return undefined;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return { why: [error.text, error.advice ?? []].flat(), mayRemove: error.code === 'group_unconfirmed' };
      }
    },

    /** The people of the group itself, by name; `next`: for `after`, unless it is the last page. */
    async members(groupId: string, { after, limit }: { after?: string | undefined; limit: number }) {
      const page = await groups.membersByName(groupId, { after, limit, isByPerson: true });
      const ids = [...new Set(page.members.map(({ userId }) => userId))];
      const people = await named(await db.groupMember.findMany({ where: { groupId, userId: { in: ids } } }));
      return { members: ids.flatMap((id) => people.find(({ person }) => person.id === id) ?? []), next: page.next };
    },

    /**
     * Adds the person with exactly this username or address, or changes the end; does the same for a name that nobody has. Throws forbidden,
     * group_unconfirmed, group_sensitive, owned_by_file, too_many_requests (429), and invalid_input for an end that has passed.
     */
    async add(
      groupId: string,
      { login, until }: { login: string; until: Date | null },
      { by = {} }: GroupChange,
      onDone: (done: undefined, tx: Tx) => Promise<void> = async () => {},
    ): Promise<void> {
      assertTimes({ since: null, until }, now());
      const options = { by, via: 'owner' } as const;
      await groups.assertMayPut(groupId, 'owner', options);
      const tries = await rateLimits.consume('group-additions:account', by.actorId ?? '');
      if (!tries.allowed) throw tooManyRequests(tries.retryAfterSeconds);
      const found = await accounts.findByLogin(login);
      const members = found?.isActive ? [{ userId: found.id, until }] : [];
      await transaction(db, async (tx) => {
        await groups.addMembers(groupId, members, { ...options, tx });
        await onDone(undefined, tx);
      });
    },

    /**
     * Changes the end of a membership that an owner can change. Nobody is added here: that counts attempts. `check` gets the membership as it
     * is, in the transaction of the change.
     */
    setEnd: (
      groupId: string,
      userId: string,
      until: Date | null,
      { by = {} }: GroupChange,
      check: (before: OwnedMember) => void = () => {},
    ): Promise<OwnedMember> =>
      transaction(db, async (tx) => {
        await lockGroups(tx, sql, 'shared');
        const before = await member(groupId, userId, tx);
        if (!before.isOwn) throw notFound();
        check(before);
        const times = { userId, since: before.since, until };
        await groups.addMembers(groupId, [times], { by, tx, via: 'owner' });
        return member(groupId, userId, tx);
      }),

    /** Ends the own membership of a person, and returns whether there was one; what a connection or the file gives stays. */
    remove: async (groupId: string, userId: string, { by = {} }: GroupChange): Promise<boolean> =>
      (await groups.removeMembers(groupId, [userId], { by, via: 'owner' })) > 0,
  };
}
