// Who can open an application and why, which applications a person can open, and what gives and takes this: a role or a group that the access
// rule names. A rule names no persons.

import { z } from 'zod';
import { type Application, isServiceAccount } from '../../applications/application.ts';
import type { AccessWay, ApplicationPeople, PeopleQuery, PersonWithAccess } from '../../applications/people.ts';
import { invalidInput } from '../../base/http/errors.ts';
import { type Tx, withinTransaction } from '../../base/storage/database.ts';
import { textFault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { csvCell } from '../../core/audit/export.ts';
import type { Account } from '../../people/accounts/account.ts';
import { within } from '../../people/rbac/rights.ts';
import type { AdminServices } from '../admin-services.ts';
import { type Endpoint, endpoint, type Streamed } from '../api/endpoint.ts';
import { byId, iso, paged, pageOf, personFields, personJson, text, time } from '../api/parts.ts';
import type { GroupAdmin } from '../groups/groups.ts';
import type { RoleAdmin } from '../roles/roles.ts';
import type { UserAdmin } from '../users/actions.ts';
import { isPersonal } from '../users/grants.ts';
import type { ApplicationAdmin } from './actions.ts';

/** What an access rule names; `isNew`: it is created first. */
export interface Opening {
  kind: 'role' | 'group';
  name: string;
  isNew?: boolean;
}

/** What lets a person in and can be taken, and what cannot be taken here. */
export interface Takeable {
  ways: AccessWay[];
  roles: string[];
  groups: { id: string; name: string }[];
  /** A connection, a domain, the configuration file or `everyone` gives it. */
  stays: boolean;
}

/** An application that a person can open. */
interface OpenedApplication extends PersonWithAccess {
  application: Application;
}

/** Whether anything can be taken. */
export const isTakeable = ({ roles, groups }: Takeable): boolean => roles.length + groups.length > 0;

/** The permission that creating one takes. */
export const CREATES = { role: 'gatehouse.roles:write', group: 'gatehouse.groups:write' } as const;
/** The choices of a form that create one: no role and no group has such a name. */
export const NEW_CHOICE = { role: '+role', group: '+group' } as const;

export type PeopleAdmin = ReturnType<typeof createPeopleAdmin>;

const PAGE = 200;
const MOST_NAMED = 100;

interface Admin {
  applications: ApplicationAdmin;
  users: UserAdmin;
  roles: RoleAdmin;
  groups: GroupAdmin;
}

export function createPeopleAdmin(services: AdminServices, { applications, users, roles, groups }: Admin) {
  const { db, accounts, authority, audit, applicationPeople } = services;

  async function queryOf(query: PeopleQuery, by: Actor): Promise<PeopleQuery> {
    const extent = await authority.extent(by, 'gatehouse.users:read');
    return extent === 'all' ? query : { ...query, visible: [extent] };
  }

  async function* rows(application: Application, by: Actor): AsyncGenerator<string> {
    yield `${COLUMNS.join(',')}\r\n`;
    let after: string | undefined;
    do {
      const page = await applicationPeople.list(application, await queryOf({ limit: PAGE, after }, by));
      yield page.people.flatMap(csvRows).join('');
      after = page.next;
    } while (after);
  }

  /** Gives it to the person, in the transaction. */
  async function give({ kind, name }: Opening, userId: string, until: Date | null, by: Actor, tx: Tx) {
    const times = { since: null, until };
    if (kind === 'role') return users.giveRole(userId, name, times, by, tx);
    const group = await groups.find(name, tx);
    if (!group) throw invalidInput([textFault(['open_group'], t('console.groups.error.unknown'))]);
    return users.join(group.id, { userId, ...times }, by, tx);
  }

  async function create(openings: readonly Opening[], by: Actor, tx: Tx): Promise<void> {
    for (const { kind, name } of openings)
      if (kind === 'role') await roles.create({ name, description: '' }, by, undefined, tx);
      else await groups.create({ name }, by, undefined, tx);
  }

  /** What can be taken of the access of each, in the order of the list; three statements for all of them. */
  async function takeables(found: readonly PersonWithAccess[]): Promise<Takeable[]> {
    const openings = found.map(openingGroups);
    const inOpenings = { ancestorId: { in: [...new Set(openings.flat())] } };
    const memberships = await db.groupMember.findMany({
      where: {
        userId: { in: [...new Set(found.map(({ account }) => account.id))] },
        group: { ancestors: { some: inOpenings } },
      },
      include: { group: true },
    });
    const groupIds = [...new Set(memberships.map(({ groupId }) => groupId))];
    const lines = await db.groupAncestor.findMany({ where: { groupId: { in: groupIds }, ...inOpenings } });
    return found.map(({ account, ways }, at) => {
      const isBelow = (groupId: string) =>
        lines.some((line) => line.groupId === groupId && openings[at]?.includes(line.ancestorId));
      const joined = memberships.filter(({ userId, groupId }) => userId === account.id && isBelow(groupId));
      const ownGroups = joined.filter(
        ({ source, group }) => isPersonal(source) && !(group.source === 'file' && group.fileMembers),
      );
      const held = ways.filter(({ by, givenBy }) => by === 'role' && givenBy === undefined);
      // The file declares the roles of its users.
      const ownRoles = account.source === 'file' ? [] : held.filter(({ connection }) => connection === undefined);
      return {
        ways,
        roles: ownRoles.map(({ name }) => name),
        groups: ownGroups.map(({ group: { id, name } }) => ({ id, name })),
        stays:
          ways.some(({ by }) => by === 'everyone') || ownGroups.length < joined.length || ownRoles.length < held.length,
      };
    });
  }

  async function takeable(application: Application, account: Account): Promise<Takeable> {
    const found = await applicationPeople.withAccess(application, [account]);
    const [one] = await takeables(found);
    return one ?? { ways: [], roles: [], groups: [], stays: false };
  }

  /** A page of the applications that the person can open, by name; those for no one but themselves are left out of it. */
  async function openTo(
    account: Account,
    page: { limit: number; after?: string | undefined },
    by: Actor,
  ): Promise<{ open: OpenedApplication[]; next?: string | undefined }> {
    const { applications: found, next } = await applications.openTo(account, page, by);
    return { open: await withWays(found, account, applicationPeople), next };
  }

  async function* openRows(account: Account, by: Actor): AsyncGenerator<string> {
    yield `${['id', 'protocol', 'identifier', 'name', ...WAY_COLUMNS].join(',')}\r\n`;
    let after: string | undefined;
    do {
      const { open, next } = await openTo(account, { limit: PAGE, after }, by);
      const rows = open
        .map(openedJson)
        .flatMap((one) => waysCsv([one.id, one.protocol, one.identifier, one.name], one.ways));
      yield rows.join('');
      after = next;
    } while (after);
  }

  return {
    /** Only people whom the actor may see. */
    list: async (application: Application, query: PeopleQuery, by: Actor) =>
      applicationPeople.list(application, await queryOf(query, by)),

    /** All of them as CSV, a row for each way. It is audited. */
    async export(application: Application, by: Actor): Promise<Streamed> {
      const { clientId } = application;
      await audit.record({ ...by, type: 'users.exported', outcome: 'success', clientId });
      return { stream: rows(application, by), type: CSV, fileName: 'people.csv' };
    },

    of: openTo,

    /** All applications that the person can open as CSV, a row for each way. */
    exportOf: (account: Account, by: Actor): Streamed => ({
      stream: openRows(account, by),
      type: CSV,
      fileName: 'applications.csv',
    }),

    /** Whether the rule lets anybody in. */
    hasAny: async (application: Application): Promise<boolean> =>
      (await applicationPeople.accounts({ ...application, enabled: true }, { limit: 1 })).accounts.length > 0,

    /** The application that has this name or identifier, else the only one that has the text in them. */
    async named(text: string, by: Actor): Promise<Application | undefined> {
      if (text === '') return undefined;
      const { applications: found } = await applications.list({ search: text, limit: MOST_NAMED }, by);
      const exact = found.find(({ clientId, name }) => clientId === text || name === text);
      return exact ?? (found.length === 1 ? found[0] : undefined);
    },

    /**
     * Opens the application to a role or a group, and gives it to the person, in one transaction: what is new is created, and the access rule
     * changed where it does not name it. Throws what each of these throws.
     */
    async open(
      application: Application,
      opening: Opening,
      person: { userId: string; until: Date | null } | undefined,
      by: Actor,
    ): Promise<void> {
      const { access } = application;
      const { kind, name, isNew = false } = opening;
      const { roles, groups = [] } = access === 'everyone' ? { roles: [] } : access;
      const names = [...(kind === 'role' ? roles : groups)];
      const after = async (tx: Tx) => {
        if (person) await give(opening, person.userId, person.until, by, tx);
      };
      if (names.includes(name)) return withinTransaction(db, undefined, after);
      const before = async (tx: Tx) => {
        if (isNew) await create([opening], by, tx);
      };
      names.push(name);
      // As a JSON merge patch has it.
      const rule = kind === 'role' ? { roles: names } : { roles, groups: names };
      await applications.update(application, { access: rule }, by, 'any', { before, after });
    },

    /** Takes the group out of the access rule. Throws invalid_input where the rule names nothing else. */
    async close(application: Application, group: string, by: Actor): Promise<void> {
      const { access } = application;
      if (access === 'everyone') return;
      const groups = access.groups?.filter((name) => name !== group) ?? [];
      const rule = { roles: access.roles, groups: groups.length > 0 ? groups : null };
      await applications.update(application, { access: rule }, by);
    },

    /** Creates these roles and groups, in the transaction; an access rule names them. */
    create,

    takeable,
    takeables,

    /** The names of the other applications that the person can open by what is taken alone, of the first ones that they can open. */
    async lostWith({ roles: held, groups: joined }: Takeable, application: Application, account: Account, by: Actor) {
      const isTaken = ({ by: kind, name, givenBy, via, connection }: AccessWay) =>
        kind === 'role' && givenBy === undefined
          ? connection === undefined && held.includes(name)
          : joined.some((group) => group.name === (via ?? givenBy ?? name));
      const { open } = await openTo(account, { limit: PAGE }, by);
      return open
        .filter((one) => one.application.id !== application.id && one.ways.every(isTaken))
        .map((one) => one.application.name);
    },

    /** Takes from the person what lets them in, as far as it can be taken; resolves with whether they can still open it. */
    async take(application: Application, account: Account, by: Actor): Promise<{ isOpen: boolean }> {
      const { roles: held, groups: joined } = await takeable(application, account);
      await withinTransaction(db, undefined, async (tx) => {
        for (const name of held) await users.takeRole(account.id, name, by, tx);
        for (const { id } of joined) await users.leave(id, account.id, by, tx);
      });
      const after = await accounts.find(account.id);
      const left = after ? await applicationPeople.withAccess(application, [after]) : [];
      return { isOpen: left.length > 0 };
    },
  };
}

/** The ids of the groups that let the person in: those that the rule names, and those that give a role which it names. */
function openingGroups({ account, ways }: PersonWithAccess): string[] {
  const names = new Set(ways.map(({ by, name, givenBy }) => (by === 'group' ? name : givenBy)));
  return account.groups.filter(({ name }) => names.has(name)).map(({ id }) => id);
}

/** Of these applications those that let the person in, with every way; one for no person but itself is left out. */
export async function withWays(
  found: readonly Application[],
  account: Account,
  applicationPeople: ApplicationPeople,
): Promise<OpenedApplication[]> {
  const open: OpenedApplication[] = [];
  for (const application of found) {
    if (isServiceAccount(application)) continue;
    const [one] = await applicationPeople.withAccess(application, [account]);
    if (one) open.push({ application, ...one });
  }
  return open;
}

const CSV = 'text/csv; charset=utf-8; header=present';
const WAY_COLUMNS = ['by', 'role_or_group', 'given_by', 'via', 'connection', 'until'];
const COLUMNS = ['id', 'username', 'name', ...WAY_COLUMNS];

function csvRows({ account, ways: all }: PersonWithAccess): string[] {
  const { user, username, name } = personJson(account);
  return waysCsv([user, username, name], all.map(wayJson));
}

/** A row for each way. @param about the cells before it */
const waysCsv = (about: readonly (string | null)[], all: readonly z.output<typeof way>[]): string[] =>
  all.map(({ by, name, given_by, via, connection, until }) => {
    const cells = [...about, by, name, given_by, via, connection, until];
    return `${cells.map(csvCell).join(',')}\r\n`;
  });

const way = z
  .object({
    by: z.enum(['everyone', 'role', 'group']),
    name: z.string().nullable().describe('The role or group that the access rule names'),
    given_by: z.string().nullable().describe('The group that gives the role'),
    via: z.string().nullable().describe('The group below it whose member the user is'),
    connection: z.string().nullable().describe('Id of the connection that gives the role'),
    until: time.nullable().describe('null: no end'),
  })
  .meta({ id: 'AccessWay' });
const ways = z.array(way).describe('Every way in which the access rule lets the user in');
const person = z.object({ ...personFields, ways }).meta({ id: 'PersonWithAccess' });
const opened = z
  .object({
    id: z.string(),
    protocol: z.enum(['oidc', 'saml', 'proxy']),
    identifier: z.string(),
    name: z.string(),
    ways,
  })
  .meta({ id: 'OpenApplication' });

/** A way of the list, for the API, CSV and the command line. */
export function wayJson({ by, name, givenBy, via, connection, until }: AccessWay): z.output<typeof way> {
  return {
    by,
    name: name || null,
    given_by: givenBy ?? null,
    via: via ?? null,
    connection: connection ?? null,
    until: iso(until),
  };
}

export const accessJson = ({ account, ways: all }: PersonWithAccess) => ({
  ...personJson(account),
  ways: all.map(wayJson),
});

export const openedJson = ({
  application: { id, protocol, clientId: identifier, name },
  ways: all,
}: OpenedApplication): z.output<typeof opened> => ({ id, protocol, identifier, name, ways: all.map(wayJson) });

/** To see who can open an application. */
export const PEOPLE_OF = [within('gatehouse.applications:read'), within('gatehouse.users:read')] as const;

/** /api/admin/applications/{id}/people, and /api/admin/users/{id}/applications. */
export function peopleEndpoints(
  people: PeopleAdmin,
  { applications, users }: Pick<Admin, 'applications' | 'users'>,
): Endpoint[] {
  const applicationOf = async (id: string, by: Actor) => (await applications.get(id, by)).application;
  return [
    endpoint('listApplicationPeople', 'GET /applications/{id}/people', {
      tag: 'Applications',
      needs: PEOPLE_OF,
      summary: 'The users who can open the application, newest first, and why',
      description: 'By the access rule alone: a disabled application has none, and networks don’t count.',
      params: byId,
      query: z.object({ ...paged, search: text.optional().describe('Part of the username, email or name') }),
      response: pageOf(person),
      async handle({ params, query: { cursor, ...query }, by }) {
        const page = await people.list(await applicationOf(params.id, by), { ...query, after: cursor }, by);
        return { body: { items: page.people.map(accessJson), next: page.next ?? null } };
      },
    }),
    endpoint('exportApplicationPeople', 'GET /applications/{id}/people/export', {
      tag: 'Applications',
      needs: PEOPLE_OF,
      summary: 'The same list as one CSV stream, with a row for each way',
      params: byId,
      streams: ['text/csv'],
      handle: async ({ params, by }) => people.export(await applicationOf(params.id, by), by),
    }),
    endpoint('listUserApplications', 'GET /users/{id}/applications', {
      tag: 'Users',
      needs: PEOPLE_OF,
      summary: 'The applications that the user can open, by name, and why',
      params: byId,
      query: z.object(paged),
      response: pageOf(opened),
      async handle({ params, query: { limit, cursor }, by }) {
        const account = await users.find(params.id, by, 'gatehouse.users:read');
        const page = await people.of(account, { limit, after: cursor }, by);
        return { body: { items: page.open.map(openedJson), next: page.next ?? null } };
      },
    }),
  ];
}
