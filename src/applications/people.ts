// Who can open an application, and why. SQL finds the people of a page (people/accounts/account-list.ts), and accessDecision decides about
// each of them as at a sign-in, so that no row without its MAC opens anything.
import { inChunks } from '../base/storage/chunks.ts';
import { isStorable } from '../base/storage/storable-text.ts';
import type { Core } from '../core/core.ts';
import { type Account, isCurrent } from '../people/accounts/account.ts';
import type { AccountCount, ListAccounts, MemberOf } from '../people/accounts/account-list.ts';
import type { People } from '../people/people.ts';
import { accessDecision, grantingGroups, grantingRoles, type ProtectedApplication } from './access-decision.ts';

/** One way in which the access rule lets a person in. */
export interface AccessWay {
  by: 'everyone' | 'role' | 'group';
  /** The role or group of the rule; empty for `everyone`. */
  name: string;
  /** The group that gives the role. */
  givenBy?: string;
  /** The group below whose member the person is; absent: a member itself, or the role is the person's own. */
  via?: string;
  /** The connection that gives the role. */
  connection?: string;
  until: Date | null;
}

export interface PersonWithAccess {
  account: Account;
  ways: AccessWay[];
}

interface ApplicationPeoplePage {
  people: PersonWithAccess[];
  next?: string;
  count(): Promise<AccountCount>;
}

export type PeopleQuery = Pick<ListAccounts, 'search' | 'sort' | 'after' | 'limit'> & {
  /** Only people whom the caller may see. */
  visible?: readonly MemberOf[];
};

export type ApplicationPeople = ReturnType<typeof createApplicationPeople>;

export function createApplicationPeople({ db, accounts, now }: Core & People) {
  /** The list of accounts that the rule opens to; undefined: nobody. */
  async function queryOf(
    { enabled, access }: ProtectedApplication,
    { visible = [], ...query }: PeopleQuery,
  ): Promise<ListAccounts | undefined> {
    if (!enabled) return undefined;
    if (access === 'everyone') return { ...query, state: 'active', memberOf: visible };
    const names = (access.groups ?? []).filter(isStorable);
    const groups = await inChunks(names, (piece) =>
      db.asStored.group.findMany({ where: { name: { in: piece } }, select: { id: true } }),
    );
    const rule = { role: access.roles, group: groups.map(({ id }) => id) };
    return { ...query, state: 'active', memberOf: [rule, ...visible] };
  }

  /** Reads what gives these roles to these people; returns a function that picks the ways of one person to one role. */
  async function readRoleWays(people: readonly Account[], roles: readonly string[]) {
    const role = { name: { in: roles.filter(isStorable) } };
    const userIds = people.map(({ id }) => id);
    const groupIds = [...new Set(people.flatMap(({ groups }) => groups.map(({ id }) => id)))];
    const own = await inChunks(userIds, (piece) =>
      db.userRole.findMany({ where: { userId: { in: piece }, role }, include: { role: { select: { name: true } } } }),
    );
    const byGroup = await inChunks(groupIds, (piece) =>
      db.groupRole.findMany({ where: { groupId: { in: piece }, role }, include: { role: { select: { name: true } } } }),
    );
    const at = now();
    return ({ id, groups }: Account, name: string): AccessWay[] => [
      ...own
        .filter((row) => row.userId === id && row.role.name === name && isCurrent(row, at))
        .map(({ via, until }): AccessWay => {
          const connection = via === '' ? undefined : via.replace(/^connection:/, '');
          return { by: 'role', name, until, ...(connection !== undefined && { connection }) };
        }),
      ...byGroup
        .filter((row) => row.role.name === name)
        .flatMap(({ groupId }) => groups.filter((group) => group.id === groupId))
        .map((group): AccessWay => ({ by: 'role', name, givenBy: group.name, ...wayIn(group) })),
    ];
  }

  /** The people of these whom the application lets in, each with every way. */
  async function withAccess(
    application: ProtectedApplication,
    people: readonly Account[],
  ): Promise<PersonWithAccess[]> {
    const { access } = application;
    const allowed = people.filter((account) => accessDecision(application, account).allowed);
    if (access === 'everyone')
      return allowed.map((account) => ({ account, ways: [{ by: 'everyone', name: '', until: null }] }));
    const roleWays = access.roles.length === 0 ? () => [] : await readRoleWays(allowed, access.roles);
    return allowed.map((account) => ({
      account,
      ways: [
        ...grantingRoles(access, account).flatMap((name) => roleWays(account, name)),
        ...grantingGroups(access, account).map(
          (group): AccessWay => ({ by: 'group', name: group.name, ...wayIn(group) }),
        ),
      ],
    }));
  }

  return {
    withAccess,

    /** A page of the accounts that the rule opens it to, without why. */
    async accounts(application: ProtectedApplication, query: PeopleQuery = {}) {
      const listed = await queryOf(application, query);
      if (!listed) return { accounts: [] };
      const { ids, next } = await accounts.listIds(listed);
      return { accounts: await accounts.findAll(ids), next };
    },

    /** A page of the people who can open it, the cursor of the next one, and how many there are, as far as they are counted. */
    async list(application: ProtectedApplication, query: PeopleQuery = {}): Promise<ApplicationPeoplePage> {
      const listed = await queryOf(application, query);
      if (!listed) return { people: [], count: async () => ({ count: 0, isMore: false }) };
      const { ids, ...rest } = await accounts.listIds(listed);
      return { people: await withAccess(application, await accounts.findAll(ids)), ...rest };
    },
  };
}

const wayIn = ({ isDirect, via, until }: Account['groups'][number]) => ({ until, ...(!isDirect && { via }) });
