// Groups: who is in them, what is in them, and who owns them. people/groups decides who may change what; a change of the group itself names
// the version that it is made for.

import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { type DomainCheck, emailDomain } from '../../base/network/domains.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import { fragment, joinFragments } from '../../base/storage/fragments.ts';
import { lockGroups } from '../../base/storage/row-lock.ts';
import { rule } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { NAMED_PERSON, type NamedPerson } from '../../people/accounts/names.ts';
import type { MemberChange, WantedChange } from '../../people/groups/changes.ts';
import type { GroupDomain } from '../../people/groups/domains.ts';
import type { NewMember } from '../../people/groups/groups.ts';
import { type Group, peopleBelow } from '../../people/groups/read.ts';
import { idsAbove, PERSONAL, rolesConferred } from '../../people/groups/rights.ts';
import { groupKey, isGroupName } from '../../people/rbac/names.ts';
import { findRole, isSensitiveRole } from '../../people/rbac/role.ts';
import type { AdminServices } from '../admin-services.ts';
import type { Answer, Endpoint } from '../api/endpoint.ts';
import type { OnCreated } from '../api/idempotency.ts';
import {
  byId,
  domainCheck,
  domainProof,
  domainProofJson,
  fromCursor,
  givenIn,
  givenTime,
  id,
  jsonOf,
  paged,
  pageOf,
  personFields,
  personJson,
  text,
  time,
  toCursor,
} from '../api/parts.ts';
import { assertVersion, type Expected } from '../api/versions.ts';
import type { NewAdministrators } from '../console/new-administrators.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { answerOf, endpointsOf, type Resource } from '../resource.ts';
import { readMembers } from './member-rows.ts';

/** A group with the groups directly above and below it, and its own roles. */
export interface GroupDetails extends Group {
  parents: { id: string; name: string }[];
  children: { id: string; name: string }[];
  roles: string[];
}

/** A person in a group by one way in. */
export interface Member {
  person: NamedPerson;
  /** The way in. */
  source: string;
  since: Date | null;
  until: Date | null;
}

/** Of a list. */
interface PageQuery {
  /** Part of the names. */
  search?: string | undefined;
  /** `next` of the page before. */
  after?: string | undefined;
  limit?: number | undefined;
}

/** What a group has besides people: a group below it, or a role. */
type Part = { child: string } | { role: string };

/** People, as far as they are counted. */
export interface Counted {
  count: number;
  isMore: boolean;
}

export type GroupAdmin = ReturnType<typeof createGroupAdmin>;

/** New administrators that a question names. */
const FEW = 3;

/** A deletion signs out whose roles it takes, one by one. */
const LONG = { timeout: 120_000 };

/** Changes throw StepUpNeeded, and what people/groups throws; those of the group itself throw precondition_failed for another version. */
export function createGroupAdmin(services: AdminServices) {
  const { db, sql, applications, authority, groups, groupChanges, groupDomains, groupRequests, now } = services;
  const get = async (groupId: string, tx?: Tx): Promise<GroupDetails> => ({
    ...(await groups.get(groupId, tx)),
    ...(await groups.relations(groupId, tx)),
  });

  /** The names of the roles with permissions in Gatehouse that its members get: then nobody but administrators puts people in. */
  const sensitiveRoles = async (groupId: string): Promise<string[]> =>
    (await rolesConferred([groupId], db)).filter(isSensitiveRole).map(({ name }) => name);

  /** The names of such roles that the people in the group get by a role that is added, or those in a group that is added by this one. */
  async function newSensitiveRoles(groupId: string, added: Part, by: Actor): Promise<string[]> {
    const ofGroup = await rolesConferred([groupId], db);
    const role = 'role' in added ? await findRole(added.role, db) : undefined;
    const [gained, held] =
      'role' in added
        ? [await authority.assignable(by, role ? [role] : []), ofGroup]
        : [ofGroup, await rolesConferred([added.child], db)];
    return gained
      .filter((one) => isSensitiveRole(one) && !held.some(({ id }) => id === one.id))
      .map(({ name }) => name);
  }

  /** The people in the group and below it: the first of them, and how many, up to `limits.lists.counted`. */
  async function peopleIn(groupId: string): Promise<Counted & { people: NamedPerson[] }> {
    const { counted } = limits.lists;
    const people = peopleBelow(groupId, counted * 3);
    const [total] = await db.$queryRaw<{ count: number | bigint }[]>(
      fragment`SELECT COUNT(*) AS count FROM (SELECT user_id FROM (${people}) AS some LIMIT ${counted + 1}) AS found`,
    );
    const first = await db.$queryRaw<{ id: string }[]>(
      fragment`SELECT user_id AS id FROM (${people}) AS found LIMIT ${FEW}`,
    );
    const count = Number(total?.count ?? 0);
    const ids = first.map(({ id }) => id);
    const personOf = await peopleById(ids);
    return { count: Math.min(count, counted), isMore: count > counted, people: ids.map(personOf) };
  }

  /** Runs a change of one group under the lock of all. */
  const changing = <T>(
    groupId: string,
    by: Actor,
    change: 'group.change' | 'group.change-members' | 'group.delete',
    work: (tx: Tx, before: GroupDetails) => Promise<T>,
  ): Promise<T> =>
    transaction(
      db,
      async (tx) => {
        await lockGroups(tx, sql, change === 'group.change-members' ? 'shared' : 'exclusive');
        const before = await get(groupId, tx);
        const result = await work(tx, before);
        assertFreshProof(by, change, before.name);
        return result;
      },
      LONG,
    );

  /** Adds people, or changes their end, or ends their own memberships; all or none. Returns how many changed. */
  const changeAtOnce = (
    { kind, groupId, members, by }: WantedChange,
    onDone: OnCreated<number> = async () => {},
  ): Promise<number> =>
    changing(groupId, by, 'group.change-members', async (tx) => {
      const ids = members.map(({ userId }) => userId);
      const count = await (kind === 'add'
        ? groups.addMembers(groupId, members, { by, tx })
        : groups.removeMembers(groupId, ids, { by, tx }));
      await onDone(count, tx);
      return count;
    });

  /** Checks and stores a change of many members, which `start` starts. */
  async function prepare(wanted: WantedChange): Promise<MemberChange> {
    const { groupId, by } = wanted;
    await groups.assertMayPut(groupId, 'direct', { by });
    assertFreshProof(by, 'group.change-members', (await groups.get(groupId)).name);
    return groupChanges.prepare(wanted);
  }

  const start = (
    groupId: string,
    changeId: string,
    by: Actor,
    onDone: OnCreated<MemberChange> = async () => {},
  ): Promise<MemberChange> =>
    changing(groupId, by, 'group.change-members', async (tx) => {
      const started = await groupChanges.start(groupId, changeId, by, tx);
      await onDone(started, tx);
      return started;
    });

  return {
    get,
    /** As of groups.ts, with the websites whose rules for paths name the group. */
    async losses(id: string) {
      const { totals, ...lost } = await groups.losses(id);
      const websites = await applications.withPathsFor('group', (await groups.get(id)).name);
      return { ...lost, websites: websites.slice(0, 20), totals: { ...totals, websites: websites.length } };
    },
    find: (name: string, tx?: Tx) => groups.find(name, tx),
    findAll: (names: readonly string[]) => groups.findAll(names),
    sensitiveRoles,

    /**
     * Who gets permissions in Gatehouse by a change of the group, which a page asks first; undefined: nobody. Throws forbidden for a role or
     * people that the actor may not add.
     */
    async newAdministrators(
      groupId: string,
      change: Part | { members: readonly string[] },
      by: Actor,
    ): Promise<NewAdministrators | undefined> {
      const { name: group } = await groups.get(groupId);
      const isOfMembers = 'members' in change;
      const roles = isOfMembers ? await sensitiveRoles(groupId) : await newSensitiveRoles(groupId, change, by);
      if (roles.length === 0) return undefined;
      await groups.assertMayPut(groupId, 'direct', { by });
      if (isOfMembers) {
        const personOf = await peopleById(change.members.slice(0, FEW));
        return { roles, group, people: change.members.slice(0, FEW).map(personOf), count: change.members.length };
      }
      const given = await peopleIn('child' in change ? change.child : groupId);
      return given.count > 0 ? { roles, group, ...given } : undefined;
    },

    /** A page of the groups, by name. */
    async list({ search, after, limit = limits.api.pageSize }: PageQuery) {
      const name = fromCursor(after);
      const found = await groups.list({ ...(search && { search }), ...(name && { after: name }), limit: limit + 1 });
      const page = found.slice(0, limit);
      return { groups: page, next: found.length > limit ? toCursor(page.at(-1)?.name) : null };
    },

    /**
     * The people in each of these groups itself, and with those below it. The more groups, the fewer are counted of each, so that a page of
     * fifty large ones reads as much as one of five: 1,000 and 10,000 people.
     */
    async counts(ids: readonly string[]): Promise<Map<string, { direct: Counted; all: Counted }>> {
      if (ids.length === 0) return new Map();
      const most = Math.min(limits.lists.counted, 1000 * Math.max(1, Math.floor(50 / ids.length)));
      const memberships = most * 2;
      const counts = ids.map(
        (groupId) => fragment`SELECT ${groupId} AS id, (SELECT COUNT(*) FROM
            (SELECT DISTINCT user_id FROM group_members WHERE group_id = ${groupId} LIMIT ${most + 1}) AS own) AS direct,
          COUNT(*) AS "all", SUM(ways) AS ways FROM (${peopleBelow(groupId, memberships + 1)}) AS found`,
      );
      type Row = { id: string; direct: unknown; all: unknown; ways: unknown };
      const rows = await db.$queryRaw<Row[]>(joinFragments(counts, ' UNION ALL '));
      const upToMost = (count: number, isMore = count > most) => ({ count: Math.min(count, most), isMore });
      return new Map(
        rows.map((row) => {
          const [direct, found, ways] = [Number(row.direct), Number(row.all), Number(row.ways)];
          // Of those in more memberships, the group's own may not be among the first.
          const all = Math.max(found, direct);
          return [row.id, { direct: upToMost(direct), all: upToMost(all, all > most || ways > memberships) }];
        }),
      );
    },

    /** `onCreated` runs in the transaction. */
    create: (
      declared: { name: string; description?: string | undefined; acceptsRequests?: boolean | undefined },
      by: Actor,
      onCreated: OnCreated<GroupDetails> = async () => {},
      within?: Tx,
    ): Promise<GroupDetails> =>
      withinTransaction(db, within, async (tx) => {
        const { id: groupId, name } = await groups.create(declared, { by, tx });
        assertFreshProof(by, 'group.create', name);
        const made = await get(groupId, tx);
        await onCreated(made, tx);
        return made;
      }),

    /** Of these names, those of groups. */
    async existing(names: readonly string[]): Promise<string[]> {
      const found = new Set((await groups.findAll(names)).map(({ name }) => groupKey(name)));
      return names.filter((name) => found.has(groupKey(name)));
    },

    /** Creates those of these groups that are missing; joins the transaction `tx`. Throws forbidden without gatehouse.groups:write. */
    async createMissing(wanted: readonly { name: string; description?: string }[], by: Actor, tx: Tx): Promise<void> {
      for (const { name, description = '' } of wanted) {
        if (await groups.find(name, tx)) continue;
        await groups.create({ name, description }, { by, tx });
        assertFreshProof(by, 'group.create', name);
      }
    },

    update: (
      groupId: string,
      changes: { name?: string | undefined; description?: string | undefined; acceptsRequests?: boolean | undefined },
      by: Actor,
      expected: Expected = 'any',
    ): Promise<GroupDetails> =>
      changing(groupId, by, 'group.change', async (tx, before) => {
        assertVersion(expected, before);
        await groups.update(groupId, changes, { by, tx });
        return get(groupId, tx);
      }),

    remove: (groupId: string, by: Actor, expected: Expected = 'any'): Promise<void> =>
      changing(groupId, by, 'group.delete', async (tx, before) => {
        assertVersion(expected, before);
        await groups.remove(groupId, { by, tx });
      }),

    /** Makes a group, or a role, part of this one. False where it was. `before` runs first, in the transaction. */
    add: (
      groupId: string,
      part: Part,
      by: Actor,
      before: (tx: Tx) => Promise<void> = async () => {},
    ): Promise<boolean> =>
      changing(groupId, by, 'group.change', async (tx) => {
        await before(tx);
        return 'child' in part
          ? groups.addChild(groupId, part.child, { by, tx })
          : groups.addRole(groupId, part.role, { by, tx });
      }),

    /** False where it was none. */
    take: (groupId: string, part: Part, by: Actor): Promise<boolean> =>
      changing(groupId, by, 'group.change', async (tx) =>
        'child' in part
          ? groups.removeChild(groupId, part.child, { by, tx })
          : groups.removeRole(groupId, part.role, { by, tx }),
      ),

    /** By username. `isConfirmed`: the appointment covers every role of the group and of those below it. */
    async owners(groupId: string) {
      await groups.get(groupId);
      const [rows, roles] = [await groups.owners(groupId), await groups.rolesOfOwners(groupId)];
      const personOf = await peopleById(rows.flatMap(({ userId, deputyOf }) => [userId, deputyOf ?? []].flat()));
      return rows
        .map(({ userId, until, covers, deputyOf }) => ({
          person: personOf(userId),
          deputyOf: deputyOf === null ? null : personOf(deputyOf),
          until,
          isConfirmed: roles.every((role) => (JSON.parse(covers) as string[]).includes(role.id)),
        }))
        .sort((a, b) => (a.person.username < b.person.username ? -1 : 1));
    },

    appointOwner: (groupId: string, owner: { userId: string; until?: Date | null }, by: Actor): Promise<void> =>
      changing(groupId, by, 'group.change', (tx) => groups.appointOwner(groupId, owner, { by, tx })),

    dismissOwner: (groupId: string, userId: string, by: Actor): Promise<boolean> =>
      changing(groupId, by, 'group.change', (tx) => groups.dismissOwner(groupId, userId, { by, tx })),

    async domains(groupId: string): Promise<GroupDomain[]> {
      await groups.get(groupId);
      return groupDomains.list(groupId);
    },

    /** False where it was. */
    addDomain: (groupId: string, domain: string, by: Actor): Promise<boolean> =>
      changing(groupId, by, 'group.change', (tx) => groupDomains.add(groupId, domain, { by, tx })),

    /** Who is in the group by the domain leaves it. */
    removeDomain: (groupId: string, domain: string, by: Actor): Promise<boolean> =>
      changing(groupId, by, 'group.change', (tx) => groupDomains.remove(groupId, domain, { by, tx })),

    /** Looks up the DNS record. Members leave where it is gone, so it takes the right to take them out. */
    async checkDomain(groupId: string, domain: string, by: Actor): Promise<DomainCheck> {
      await groups.assertMayPut(groupId, 'direct', { by });
      assertFreshProof(by, 'group.change', (await groups.get(groupId)).name);
      return groupDomains.check(groupId, domain, by);
    },

    /** A page of the memberships of the group itself, by name; a person who is in it by two ways is in the list twice. */
    async members(groupId: string, { search, after, limit = limits.api.pageSize }: PageQuery) {
      await groups.get(groupId);
      const page = await groups.membersByName(groupId, { search, after: fromCursor(after), limit });
      const personOf = await peopleById(page.members.map((row) => row.userId));
      const members = page.members.map(
        ({ userId, source, since, until }): Member => ({ person: personOf(userId), source, since, until }),
      );
      return { members, next: toCursor(page.next) };
    },

    /** The open requests to join, the oldest first. */
    async requests(groupId: string) {
      await groups.get(groupId);
      return groupRequests.openFor([groupId]);
    },

    countRequests: groupRequests.countOpen,

    /** Approves or declines a request; the person gets an email. */
    decide: (
      groupId: string,
      requestId: string,
      decision: { isGranted: boolean; answer?: string | undefined; until?: Date | null | undefined },
      by: Actor,
    ): Promise<void> =>
      changing(groupId, by, 'group.change-members', (tx) => {
        const { isGranted, answer = '', until = null } = decision;
        return groupRequests.decide(requestId, { groupId, isGranted, answer, until }, { by, tx });
      }),

    /** Adds people, or changes their end; all or none. Returns how many were not in, or had another end. */
    addMembers: (groupId: string, members: readonly NewMember[], by: Actor): Promise<number> =>
      changeAtOnce({ kind: 'add', groupId, members, by }),

    changeAtOnce,

    /** The same with every mistake in the rows; many people are added, or leave, by a job, which it returns. */
    async changeMany(wanted: WantedChange, onDone: OnCreated<number | MemberChange>): Promise<number | MemberChange> {
      const { groupId, members, by } = wanted;
      if (members.length > limits.groups.atOnce) return start(groupId, (await prepare(wanted)).id, by, onDone);
      await groupChanges.check(wanted);
      return changeAtOnce(wanted, onDone);
    },

    prepare,
    start,
    change: groupChanges.get,
    /** The newest first. */
    async changes(groupId: string): Promise<MemberChange[]> {
      await groups.get(groupId);
      return groupChanges.list(groupId);
    },

    /** Members as text; the first mistakes, if there are any. */
    readMembers: (text: string, period: { since: Date | null; until: Date | null }) =>
      readMembers(text, period, { db, now }),

    /** Ends the own memberships of these people; what a connection, a domain or the file gives stays. Returns how many were in. */
    removeMembers: (groupId: string, userIds: readonly string[], by: Actor): Promise<number> =>
      changing(groupId, by, 'group.change-members', (tx) => groups.removeMembers(groupId, userIds, { by, tx })),

    /** For a page: throws what putting people in would throw. */
    assertMayPut: (groupId: string, by: Actor): Promise<void> => groups.assertMayPut(groupId, 'direct', { by }),

    /** The applications whose access rule names the group, one above it, or a role that they give; by name, each with these. */
    async applications(groupId: string) {
      const groupIn = { groupId: { in: await idsAbove([groupId], db) } };
      const roleIn = { roleId: { in: (await rolesConferred([groupId], db)).map(({ id }) => id) } };
      return db.asStored.application.findMany({
        where: { access: 'roles', OR: [{ groups: { some: groupIn } }, { roles: { some: roleIn } }] },
        select: {
          id: true,
          clientId: true,
          protocol: true,
          enabled: true,
          source: true,
          groups: { where: groupIn, select: { group: { select: { id: true, name: true } } } },
          roles: { where: roleIn, select: { role: { select: { name: true } } } },
        },
        orderBy: [{ name: 'asc' }, { id: 'asc' }],
        take: limits.api.pageSize,
      });
    },
  };

  /** The people with these ids; of a deleted one the id is left. */
  async function peopleById(ids: readonly string[]) {
    const found = await inChunks([...new Set(ids)], (piece) =>
      db.asStored.user.findMany({
        where: { id: { in: piece } },
        select: NAMED_PERSON,
      }),
    );
    const people = new Map<string, NamedPerson>(found.map((person) => [person.id, person]));
    const nothing = { name: null, givenName: null, familyName: null, picture: null };
    return (id: string): NamedPerson => people.get(id) ?? { id, username: id, ...nothing };
  }
}

const named = z.array(z.object({ id: z.string(), name: z.string() }));
const summary = z
  .object({
    id: z.string(),
    name: z.string(),
    path: z.string().describe('The names from the top: `/Science/Physics`'),
    description: z.string(),
    accepts_requests: z.boolean().describe('People may ask to become members'),
    source: z.enum(['local', 'file']).describe('file: declared in the configuration file'),
    file_members: z.boolean().describe('The configuration file declares the members too'),
    created_at: time,
  })
  .meta({ id: 'GroupSummary' });
const schema = summary
  .extend({
    parents: named.describe('The groups directly above'),
    children: named.describe('The groups directly below'),
    roles: z.array(z.string()).describe('Its own; its members have those of the groups above too'),
  })
  .meta({ id: 'Group' });
export const memberSource = z.enum([...PERSONAL, 'file', 'domain', 'connection', 'scim']);
const member = z
  .object({
    ...personFields,
    source: memberSource.describe('The way in'),
    source_id: z
      .string()
      .nullable()
      .describe('The domain, or the id of the connection or SCIM connection; null for the other sources'),
    since: time.nullable().describe('null: from the beginning'),
    until: time.nullable().describe('null: no end'),
  })
  .meta({ id: 'GroupMember' });
const owner = z
  .object({
    ...personFields,
    until: time.nullable(),
    deputy_of: z.string().nullable().describe('A deputy, whom the owner with this id named'),
    confirmed: z
      .boolean()
      .describe(
        'false: the group has got a role since the appointment, so the owner adds nobody until appointed again',
      ),
  })
  .meta({ id: 'GroupOwner' });
const losses = z
  .object({
    limited: z
      .array(z.string())
      .describe('The first 20 roles with permissions that are limited to the group, which end'),
    members: z.int().describe('People in the group and in those below it, counted up to 10,001 in 30,000 memberships'),
    children: z.int(),
    owners: z.int(),
    roles: z.array(z.string()).describe('The first 20'),
    applications: z.array(z.string()).describe('The first 20'),
    closed: z.array(z.string()).describe('The first 20 of those that nothing else opens'),
    apis: z.array(z.string()).describe('The first 20'),
    websites: z.array(z.string()).describe('The first 20 whose rules for paths name the group'),
    totals: z.object({
      roles: z.int(),
      applications: z.int(),
      closed: z.int(),
      apis: z.int(),
      limited: z.int(),
      websites: z.int(),
    }),
  })
  .meta({ id: 'GroupLosses' });

const change = z
  .object({
    id: z.string(),
    kind: z
      .enum(['add', 'remove', 'sign_out'])
      .describe('sign_out: whose roles or groups a change of the group changed'),
    group: z.string(),
    state: z
      .enum(['prepared', 'waiting', 'running', 'done', 'failed'])
      .describe(
        'prepared: checked in the console and not started; failed: `error` says why, and who is in by then stays',
      ),
    total: z.int().describe('People'),
    done: z.int().describe('Of them'),
    changed: z.int().describe('Of those who are done: who were not in or had other times; or who were in'),
    error: z.string().nullable().describe('The code of the error'),
    created_at: time,
    ended_at: time.nullable(),
  })
  .meta({ id: 'GroupChange' });

const changeJson = (found: MemberChange) => jsonOf(change, found, { group: found.groupId ?? '' });

const manyPeople = {
  name: 'members',
  max: limits.groups.inRequest,
  advice: t('console.groups.request-most', { count: limits.groups.inRequest }),
};

/** Of a change of many people: what is done, or its job. */
const manyAnswer = (groupId: string, done: number | MemberChange): Answer<object> =>
  typeof done === 'number'
    ? { body: { changed: done } }
    : { status: 202, body: changeJson(done), location: `/groups/${groupId}/changes/${done.id}` };

const groupName = z.string().refine(isGroupName, rule('group-name-form'));
/** A new group. */
export const newGroup = z.strictObject({
  name: groupName
    .meta({ minLength: 1, maxLength: 200 })
    .describe('Without a slash; unique, also by look-alike letters'),
  description: z.string().max(1000).optional(),
  accepts_requests: z.boolean().optional(),
});
/** A time of a body; null: none. */
export const moment = givenTime.nullable();

const summaryJson = (group: Group): z.output<typeof summary> => jsonOf(summary, group, {});

export const request = z
  .object({
    id: z.string(),
    ...personFields,
    application: named.element.nullable().describe('What the person wants to open'),
    reason: z.string(),
    until: time.nullable().describe('The end that the person wishes'),
    created_at: time,
    expires_at: time.describe('It lapses then'),
  })
  .meta({ id: 'GroupRequest' });

export const requestJson = (row: Awaited<ReturnType<GroupAdmin['requests']>>[number]): z.output<typeof request> =>
  jsonOf(request, row, personJson(row.user));

export const decisionBody = z.strictObject({
  decision: z.enum(['approve', 'decline']),
  answer: z.string().trim().max(500).optional().describe('To the person'),
  until: moment.optional().describe('The end of the membership'),
});

/** As people/groups takes it. */
export const decisionOf = ({ decision, answer = '', until = null }: z.output<typeof decisionBody>) => ({
  isGranted: decision === 'approve',
  answer,
  until,
});

/** The way in, beside its domain or connection. */
export function sourceJson(source: string) {
  const [, kind, sourceId] = /^(domain|connection|scim):(.+)$/s.exec(source) ?? [];
  return { source: memberSource.parse(kind ?? source), source_id: sourceId ?? null };
}

const memberJson = (one: Member): z.output<typeof member> =>
  jsonOf(member, one, { ...personJson(one.person), ...sourceJson(one.source) });

export const groupNoun = (groups: GroupAdmin): Resource<GroupDetails> => ({
  names: ['Group', 'Groups'],
  tag: 'Groups',
  api: '/groups',
  home: '/admin/groups',
  title: t('console.navigation.groups'),
  nameOf: ({ name }) => name,
  declared: { what: 'group', entryOf: ({ name, source }) => ({ section: 'groups', name, source }) },
  read: ['gatehouse.groups:read'],
  write: ['gatehouse.groups:write'],
  keyOf: (group) => group.id,
  get: (groupId) => groups.get(groupId),
  schema,
  json: (group) => jsonOf(schema, group, {}),
  version: (group) => group,
});

/** The names of people are what the right to read users is for. */
export const PEOPLE = ['gatehouse.groups:read', 'gatehouse.users:read'] as const;

/** /api/admin/groups and everything below. */
export function groupEndpoints(groups: GroupAdmin): Endpoint[] {
  const noun = groupNoun(groups);
  const { list, create, get, update, remove, action, items } = endpointsOf(noun);
  const byUser = byId.extend({ user: id });
  const byChild = byId.extend({ child: id });
  const byDomain = byId.extend({ domain: z.string().min(1).max(253).pipe(emailDomain) });
  const byRole = byId.extend({ role: z.string().min(1).max(100) });
  return [
    list({
      summary: 'The groups, by name',
      query: z.object({ ...paged, search: text.optional().describe('Part of the name') }),
      response: pageOf(summary),
      async handle({ limit, cursor, search }) {
        const page = await groups.list({ limit, after: cursor, search });
        return { items: page.groups.map(summaryJson), next: page.next };
      },
    }),
    create({
      summary: 'A new group',
      body: newGroup,
      run: (body, by, onCreated) => groups.create(givenIn(body), by, onCreated),
    }),
    get({ summary: 'One group, with the groups above and below it and its roles' }),
    update({
      summary: 'Changes the given fields',
      body: newGroup.partial(),
      run: async (key, body, by, version) => answerOf(noun, await groups.update(key, givenIn(body), by, version)),
    }),
    remove({
      summary: 'Deletes the group; the groups below it stay',
      description: 'GET /groups/{id}/losses says first what its members lose.',
      run: groups.remove,
    }),
    action('getGroupLosses', 'GET /losses', {
      needs: noun.read,
      summary: 'What is lost when the group is deleted',
      response: losses,
      run: async ({ key }) => ({ body: await groups.losses(key) }),
    }),
    action('listGroupMembers', 'GET /members', {
      needs: PEOPLE,
      summary: 'The people directly in the group, by name; one who is in by two ways twice',
      query: z.object({ ...paged, search: text.optional().describe('Part of the username, email or name') }),
      response: pageOf(member),
      async run({ key, query: { limit, cursor, search } }) {
        const { members, next } = await groups.members(key, { limit, search, after: cursor });
        return { body: { items: members.map(memberJson), next } };
      },
    }),
    action('addGroupMembers', 'POST /members', {
      summary: 'Adds people, or changes when they begin and end; with a mistake in any row, nobody',
      description: `Takes the right to give every role of the group and of the groups above it. More than ${limits.groups.atOnce} people are added by a job, piece by piece.`,
      idempotent: true,
      maxBodyBytes: limits.groups.requestBytes,
      longList: manyPeople,
      body: z.strictObject({
        members: z
          .array(z.strictObject({ user: id, since: moment.optional(), until: moment.optional() }))
          .min(1)
          .max(limits.groups.inRequest),
      }),
      response: z.object({ changed: z.int().describe('How many were not in, or had other times') }),
      accepted: change,
      async run({ key: groupId, body, by, record }) {
        const members = body.members.map(({ user: userId, ...times }) => ({ userId, ...times }));
        const wanted = { kind: 'add', groupId, members, by } as const;
        return manyAnswer(
          groupId,
          await groups.changeMany(wanted, (done, tx) => record(manyAnswer(groupId, done), tx)),
        );
      },
    }),
    action('removeGroupMembers', 'POST /members/removal', {
      summary: 'Takes people out; with a mistake in any row, nobody',
      description: `As DELETE /groups/{id}/members/{user} does. More than ${limits.groups.atOnce} people leave by a job, piece by piece.`,
      idempotent: true,
      maxBodyBytes: limits.groups.requestBytes,
      longList: manyPeople,
      body: z.strictObject({
        members: z
          .array(z.strictObject({ user: id }))
          .min(1)
          .max(limits.groups.inRequest),
      }),
      response: z.object({ changed: z.int().describe('How many were in') }),
      accepted: change,
      async run({ key: groupId, body, by, record }) {
        const members = body.members.map(({ user: userId }) => ({ userId }));
        const wanted = { kind: 'remove', groupId, members, by } as const;
        return manyAnswer(
          groupId,
          await groups.changeMany(wanted, (done, tx) => record(manyAnswer(groupId, done), tx)),
        );
      },
    }),
    items('listGroupChanges', '/changes', {
      summary: 'The jobs of a week that add many people, take them out or sign them out, the newest first; at most 20',
      item: change,
      run: async ({ key }) => (await groups.changes(key)).map(changeJson),
    }),
    action('getGroupChange', 'GET /changes/{change}', {
      needs: noun.read,
      summary: 'A job for many people, with its progress',
      params: byId.extend({ change: id }),
      response: change,
      run: async ({ key, params }) => ({ body: changeJson(await groups.change(key, params.change)) }),
    }),
    action('removeGroupMember', 'DELETE /members/{user}', {
      summary: 'Takes a person out',
      description: 'What a connection, a domain or the configuration file gives stays.',
      params: byUser,
      status: 204,
      run: async ({ key, params, by }) => void (await groups.removeMembers(key, [params.user], by)),
    }),
    ...(['PUT', 'DELETE'] as const).flatMap((method): Endpoint[] => {
      const isAdded = method === 'PUT';
      const change = isAdded ? groups.add : groups.take;
      return [
        action(isAdded ? 'addChildGroup' : 'removeChildGroup', `${method} /children/{child}`, {
          summary: isAdded ? 'Puts a group below this one' : 'Takes a group from below this one',
          params: byChild,
          status: 204,
          run: async ({ key, params, by }) => void (await change(key, { child: params.child }, by)),
        }),
        action(isAdded ? 'addGroupRole' : 'removeGroupRole', `${method} /roles/{role}`, {
          summary: isAdded
            ? 'Gives the people in the group, and below it, the role of this name'
            : 'Takes the role of this name from the group',
          params: byRole,
          status: 204,
          run: async ({ key, params, by }) => void (await change(key, { role: params.role }, by)),
        }),
      ];
    }),
    items('listGroupOwners', '/owners', {
      needs: PEOPLE,
      summary: 'Who may add and remove people',
      item: owner,
      run: async ({ key }) =>
        (await groups.owners(key)).map((one) =>
          jsonOf(owner, one, {
            ...personJson(one.person),
            deputy_of: one.deputyOf?.id ?? null,
            confirmed: one.isConfirmed,
          }),
        ),
    }),
    items('listGroupRequests', '/requests', {
      needs: PEOPLE,
      summary: 'The open requests to join, the oldest first, up to 100',
      item: request,
      run: async ({ key }) => (await groups.requests(key)).map(requestJson),
    }),
    action('answerGroupRequest', 'POST /requests/{request}/decision', {
      summary: 'Approves or declines a request; the person gets an email',
      description: 'Takes the right to give every role of the group and of the groups above it.',
      params: byId.extend({ request: id }),
      body: decisionBody,
      status: 204,
      run: async ({ key, params, body, by }) => void (await groups.decide(key, params.request, decisionOf(body), by)),
    }),
    action('appointGroupOwner', 'PUT /owners/{user}', {
      summary: 'Makes a person an owner, changes the end, or confirms the owner after the group has got a role',
      params: byUser,
      body: z.strictObject({ until: moment.optional() }),
      status: 204,
      run: async ({ key, params, body, by }) =>
        void (await groups.appointOwner(key, { userId: params.user, until: body.until ?? null }, by)),
    }),
    action('dismissGroupOwner', 'DELETE /owners/{user}', {
      summary: 'Dismisses an owner, whose open invitations end',
      params: byUser,
      status: 204,
      run: async ({ key, params, by }) => void (await groups.dismissOwner(key, params.user, by)),
    }),
    items('listGroupDomains', '/domains', {
      summary: 'The email domains whose people join at sign-in, each with the DNS record that proves it',
      item: domainProof,
      run: async ({ key }) => (await groups.domains(key)).map(domainProofJson),
    }),
    action('addGroupDomain', 'PUT /domains/{domain}', {
      summary: 'Adds an email domain; its people join once a DNS record proves it',
      description: 'Not for a group that gives permissions in Gatehouse.',
      params: byDomain,
      status: 204,
      run: async ({ key, params, by }) => void (await groups.addDomain(key, params.domain, by)),
    }),
    action('removeGroupDomain', 'DELETE /domains/{domain}', {
      summary: 'Removes an email domain; who is in the group by it leaves it',
      params: byDomain,
      status: 204,
      run: async ({ key, params, by }) => void (await groups.removeDomain(key, params.domain, by)),
    }),
    action('checkGroupDomain', 'POST /domains/{domain}/check', {
      summary: 'Looks up the DNS record of a domain now',
      params: byDomain,
      response: domainCheck,
      run: async ({ key, params, by }) => ({
        body: { result: await groups.checkDomain(key, params.domain, by) },
      }),
    }),
  ];
}
