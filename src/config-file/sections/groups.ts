// `groups`: the groups, their place in the graph, roles, owners and members. A group is made before the applications and connections that name
// it, and filled after the users: in four passes over all groups, so that no state in between breaks a rule that the whole file keeps.

import { sha256 } from '../../base/platform/random.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import type { Tx } from '../../base/storage/database.ts';
import { type Fault, fault } from '../../base/texts/faults.ts';
import type { Core } from '../../core/core.ts';
import { nameKey } from '../../people/accounts/names.ts';
import { MAX_DEPTH } from '../../people/groups/graph.ts';
import { pagesOfIds } from '../../people/groups/read.ts';
import { PERSONAL } from '../../people/groups/rights.ts';
import { isStaff } from '../../people/rbac/built-in.ts';
import { groupKey } from '../../people/rbac/names.ts';
import { differences, type FieldChange, type Planned, type Planning, planEntries, unknownGroups } from '../planning.ts';
import {
  type DeclaredGroup,
  declaredTimed,
  group as groupSchema,
  lasting,
  type Timed,
  timed,
  withoutDefaults,
} from '../schema.ts';

/** The sources of the memberships that a file owns once it declares the members: no connection's and no domain's. */
export const declaredSources = [...PERSONAL, 'file'];
const byFile = { source: 'file' } as const;
/** Longer lists are too long for a line of the plan. */
const MOST_LISTED = 50;

/** Faults of the graph that are reported at once; one is often the cause of all. */
const MOST_FAULTS = 20;

/** A group as it is stored; owners and members by the key of their username. */
interface StoredGroup {
  id: string;
  name: string;
  source: string;
  description: string;
  requests: boolean;
  fileMembers: boolean;
  /** The keys of the groups below. */
  children: string[];
  roles: string[];
  owners: Owner[];
  domains: { domain: string; provenAt: Date | null }[];
  members: Member[];
}
type Owner = Timed & { userId: string; covers: readonly string[] };
type Member = Timed & { userId: string; source: string };

/** The names of the groups that there will be: those that the file declares, and those that it does not own. */
export async function groupNamesAfter({ db }: Core, declared: readonly DeclaredGroup[]): Promise<Set<string>> {
  const stored = await db.group.findMany({ where: { source: { not: 'file' } }, select: { name: true } });
  const keys = new Set(declared.map(({ name }) => groupKey(name)));
  const left = stored.filter(({ name }) => !keys.has(groupKey(name)));
  return new Set([...left, ...declared].map(({ name }) => name));
}

export async function planGroups(planning: Planning): Promise<Planned> {
  const { declared, groups, now } = planning;
  const stored = await storedGroups(planning);
  const graph = await graphAfter(planning, stored);
  const faults = [...(await entryFaults(planning)), ...edgeFaults(graph), ...sensitiveFaults(graph)];
  if (faults.length > 0) return { steps: [], unchanged: 0, faults, warnings: [] };

  return planEntries({
    section: 'groups',
    declared: declared.groups,
    stored,
    nameOf: ({ name }) => name,
    compare(entry, take) {
      const existing = take(groupKey(entry.name));
      const { name, description, requests } = entry;
      const confirmsOwners = existing !== undefined && needsConfirmation(entry, existing, graph);
      const columns = { name, description, fileMembers: entry.members !== undefined };
      return {
        name,
        fields: [...changedFields(entry, existing, now()), ...(confirmsOwners ? [confirmation(entry, graph)] : [])],
        store: (tx) =>
          existing
            ? groups.update(
                existing.id,
                { ...columns, source: 'file', acceptsRequests: existing.requests && requests },
                { ...byFile, tx },
              )
            : groups.create({ ...columns, acceptsRequests: requests }, { ...byFile, tx }),
        afterwards: passes({ planning, entry, stored, existing, confirmsOwners, at: now() }),
      };
    },
    // Its groups leave it first, and it goes when others give what it gave.
    async remove({ id, children }, tx) {
      for (const key of children) await groups.removeChild(id, stored.get(key)?.id ?? '', { ...byFile, tx });
    },
    afterRemoval: ({ id }) => [none, none, (tx) => groups.remove(id, { ...byFile, tx })],
  });
}

const none = async () => {};

/** What the passes over a group need. */
interface GroupChange {
  planning: Planning;
  entry: DeclaredGroup;
  stored: ReadonlyMap<string, StoredGroup>;
  /** The group of the entry. */
  existing: StoredGroup | undefined;
  /** The owners that stay have to be confirmed. */
  confirmsOwners: boolean;
  at: Date;
}

/** What to do in each pass over all groups. */
const passes = (change: GroupChange) =>
  [takeWhatForbids, give, takeRest, letPeopleIn].map((pass) => (tx: Tx) => pass(change, tx));

/** Takes what could forbid what others get. */
async function takeWhatForbids({ planning, entry, existing, stored, at }: GroupChange, tx: Tx): Promise<void> {
  if (!existing) return;
  const { groups, groupDomains } = planning;
  const options = { ...byFile, tx };
  const owners = entry.owners && new Set(lasting(entry.owners.map(timed), at).map(({ name }) => nameKey(name)));
  for (const { name, userId } of existing.owners)
    if (owners && !owners.has(name)) await groups.dismissOwner(existing.id, userId, options);
  for (const { domain } of existing.domains)
    if (!entry.domains.includes(domain)) await groupDomains.remove(existing.id, domain, options);
  const children = entry.groups.map(groupKey);
  for (const key of existing.children)
    if (!children.includes(key)) await groups.removeChild(existing.id, stored.get(key)?.id ?? '', options);
}

async function give(change: GroupChange, tx: Tx): Promise<void> {
  const { planning, entry, existing } = change;
  const { groups } = planning;
  const options = { ...byFile, tx };
  const id = await idOf(change, entry.name, tx);
  for (const name of entry.groups) await groups.addChild(id, await idOf(change, name, tx), options);
  for (const role of entry.roles) await groups.addRole(id, role, options);
  const wanted = wantedMembers(change);
  const staying = (existing?.members ?? []).filter((row) => row.source === 'file' && isSame(row, wanted.get(row.name)));
  for (const { name } of staying) wanted.delete(name);
  if (wanted.size > 0)
    await groups.addMembers(id, await withUserIds([...wanted.values()], tx), {
      ...options,
      via: 'file',
      instead: PERSONAL,
    });
}

async function takeRest(change: GroupChange, tx: Tx): Promise<void> {
  const { planning, entry, existing } = change;
  if (!existing) return;
  const { groups } = planning;
  const { id, members } = existing;
  const options = { ...byFile, tx };
  for (const name of existing.roles) {
    // A role that the file no longer declares is deleted by now, and its groups have lost it.
    const isLost = !entry.roles.includes(name) && (await tx.asStored.role.findUnique({ where: { name } }));
    if (isLost) await groups.removeRole(id, name, options);
  }
  const wanted = wantedMembers(change);
  const leaving = members.filter(({ name, source }) => source === 'file' && !wanted.has(name));
  if (leaving.length > 0) await groups.removeMembers(id, userIdsOf(leaving), { ...options, via: 'file' });
  const others = entry.members === undefined ? [] : members.filter(({ source }) => source !== 'file');
  if (others.length > 0) await groups.removeMembers(id, userIdsOf(others), options);
}

async function letPeopleIn(change: GroupChange, tx: Tx): Promise<void> {
  const { planning, entry, existing, confirmsOwners, at } = change;
  const { groups, groupDomains } = planning;
  const options = { ...byFile, tx };
  const id = await idOf(change, entry.name, tx);
  const known = confirmsOwners ? [] : (existing?.owners ?? []);
  const isKnown = (owner: Timed) => known.some((one) => one.name === nameKey(owner.name) && isSame(one, owner));
  const appointed = lasting((entry.owners ?? []).map(timed), at).filter((owner) => !isKnown(owner));
  for (const owner of await withUserIds(appointed, tx)) await groups.appointOwner(id, owner, options);
  for (const domain of entry.domains) await groupDomains.add(id, domain, options);
  if (entry.requests) await groups.update(id, { acceptsRequests: true }, options);
}

const idOf = async ({ planning: { groups }, stored }: GroupChange, name: string, tx: Tx): Promise<string> =>
  stored.get(groupKey(name))?.id ?? (await groups.find(name, tx))?.id ?? '';

/** The declared members whose time has not ended, by the key of the username. */
const wantedMembers = ({ entry: { members = [] }, at }: GroupChange): Map<string, Timed> =>
  new Map(lasting(members.map(timed), at).map((member) => [nameKey(member.name), member]));

const userIdsOf = (members: readonly Member[]) => [...new Set(members.map(({ userId }) => userId))];

function isSame(row: Timed, wanted: Timed | undefined): boolean {
  const isEqual = (a: Date | null, b: Date | null) => a?.getTime() === b?.getTime();
  return wanted !== undefined && isEqual(row.since, wanted.since) && isEqual(row.until, wanted.until);
}

/** People by username. One who is missing was deleted since the plan, which is then made again. */
async function withUserIds(people: readonly Timed[], tx: Tx) {
  const keys = people.map(({ name }) => nameKey(name));
  const rows = await inChunks(keys, (piece) =>
    tx.asStored.user.findMany({ where: { usernameKey: { in: piece } }, select: { id: true, usernameKey: true } }),
  );
  const ids = new Map(rows.map(({ id, usernameKey }) => [usernameKey, id]));
  return people.map(({ name, since, until }) => ({ userId: ids.get(nameKey(name)) ?? '', since, until }));
}

// The plan of an entry.

function changedFields(entry: DeclaredGroup, stored: StoredGroup | undefined, now: Date): FieldChange[] {
  const { name, description, requests } = entry;
  const declared = entry.members && lasting(entry.members.map(timed), now);
  const after = {
    ...(stored && { name }),
    description,
    requests,
    groups: entry.groups.map(groupKey).sort(),
    roles: [...entry.roles].sort(),
    ...(entry.owners && { owners: listed(lasting(entry.owners.map(timed), now)) }),
    domains: [...new Set(entry.domains)].sort(),
    ...(declared && { members: listed(declared) }),
  };
  if (!stored) return differences({}, after);
  const members = lasting(stored.members, now);
  const isOfOthers = declared !== undefined && members.some(({ source }) => source !== 'file');
  const fields = differences(
    {
      name: stored.name,
      description: stored.description,
      requests: stored.requests,
      groups: [...stored.children].sort(),
      roles: [...stored.roles].sort(),
      ...(entry.owners && { owners: listed(lasting(stored.owners, now)) }),
      // One that is not proven is not the one of the file, which is.
      domains: stored.domains.map(({ domain, provenAt }) => (provenAt ? domain : `${domain} (not proven)`)),
      ...((stored.fileMembers || isOfOthers) && { members: listed(members) }),
    },
    after,
  );
  // The same people, whom others put in until now.
  const isTaken = isOfOthers && stored.source === 'file' && !fields.some(({ field }) => field === 'members');
  return isTaken ? [...fields, { field: 'members', from: 'put in by people', to: 'declared by the file' }] : fields;
}

/** Each person once, by the key of the username. */
function listed(people: readonly Timed[]) {
  const all = new Map(people.map((one) => [nameKey(one.name), one]));
  const list = [...all.keys()]
    .sort()
    .map((key) => declaredTimed('username', { ...(all.get(key) as Timed), name: key }));
  return list.length > MOST_LISTED ? `${list.length} people, SHA-256 ${sha256(JSON.stringify(list))}` : list;
}

/** Whether a group, or one below it, gets a role by the file that the appointment of an owner does not cover. */
function needsConfirmation({ name, owners }: DeclaredGroup, stored: StoredGroup, graph: Graph): boolean {
  const roles = [...rolesOfOwner(graph, groupKey(name))];
  const staying = new Set((owners ?? []).map((owner) => nameKey(timed(owner).name)));
  return stored.owners.some((owner) => staying.has(owner.name) && roles.some((role) => !owner.covers.includes(role)));
}

const confirmation = ({ name }: DeclaredGroup, graph: Graph): FieldChange => ({
  field: 'owners',
  to: `confirmed for ${[...rolesOfOwner(graph, groupKey(name))].sort().join(', ')}`,
});

// The graph as it will be, and its faults at the entries that declare them.

interface Node {
  name: string;
  /** Its place among the entries; undefined where the file does not declare it. */
  index: number | undefined;
  children: string[];
  parents: string[];
  roles: string[];
  /** Which key of an entry lets others than administrators put people in; `group_mappings` is one of a connection. */
  opened: 'owners' | 'domains' | 'requests' | 'group_mappings' | undefined;
}
interface Graph {
  nodes: ReadonlyMap<string, Node>;
  isSensitive(role: string): boolean;
}

async function graphAfter(planning: Planning, stored: ReadonlyMap<string, StoredGroup>): Promise<Graph> {
  const { declared, roles } = planning;
  const nodes = new Map<string, Node>();
  const mapped = await mappedAfter(planning);
  for (const [key, group] of stored)
    if (group.source !== 'file')
      nodes.set(key, { ...group, index: undefined, parents: [], opened: openedBy(group, mapped.has(key)) });
  for (const [index, entry] of declared.groups.entries()) {
    const key = groupKey(entry.name);
    const owners = entry.owners ?? stored.get(key)?.owners ?? [];
    const opened = openedBy({ ...entry, owners }, mapped.has(key));
    nodes.set(key, { ...entry, index, children: entry.groups.map(groupKey), parents: [], opened });
  }
  for (const [key, { children }] of nodes) for (const child of children) nodes.get(child)?.parents.push(key);
  const stays = (await roles.list()).filter(({ source }) => source !== 'file');
  const permissions = new Map([...stays, ...declared.roles].map((role) => [role.name, role.permissions]));
  return { nodes, isSensitive: (name) => isStaff({ roles: [name], permissions: permissions.get(name) ?? [] }) };
}

function openedBy(
  { owners, domains, requests }: { owners: readonly unknown[]; domains: readonly unknown[]; requests: boolean },
  isMapped: boolean,
): Node['opened'] {
  if (owners.length > 0) return 'owners';
  if (domains.length > 0) return 'domains';
  if (requests) return 'requests';
  return isMapped ? 'group_mappings' : undefined;
}

/** The keys of the groups that a connection puts people in once the file is applied. */
async function mappedAfter({ declared, db }: Planning): Promise<Set<string>> {
  // A row that another program wrote counts: it may be one that the server reads again.
  const rows = await db.asStored.connectionGroupMapping.findMany({
    where: { connection: { source: { not: 'file' } } },
    select: { connectionId: true, group: { select: { nameKey: true } } },
  });
  const ofFile = new Set(declared.connections.map(({ id }) => id));
  const kept = rows.filter(({ connectionId }) => !ofFile.has(connectionId)).map(({ group }) => group.nameKey);
  const names = declared.connections.flatMap(({ group_mappings }) => Object.values(group_mappings).flat());
  return new Set([...kept, ...names.map(groupKey)]);
}

function reached({ nodes }: Graph, from: string, direction: 'parents' | 'children'): Set<string> {
  const keys = new Set([from]);
  for (const key of keys) for (const next of nodes.get(key)?.[direction] ?? []) keys.add(next);
  return keys;
}

const rolesGiven = (graph: Graph, keys: ReadonlySet<string>) =>
  new Set([...keys].flatMap((key) => graph.nodes.get(key)?.roles ?? []));

/** The roles that an owner of the group can give: also those of the groups below it, and of those above these. */
function rolesOfOwner(graph: Graph, key: string): Set<string> {
  const below = [...reached(graph, key, 'children')];
  return rolesGiven(graph, new Set(below.flatMap((one) => [...reached(graph, one, 'parents')])));
}

/** Cycles, and more than MAX_DEPTH levels: at the name of the child that is too far down. */
function edgeFaults(graph: Graph): Fault[] {
  const { nodes } = graph;
  const levels = new Map([...nodes.keys()].map((key) => [key, 1]));
  const faults = new Map<string, Fault>();
  const work = [...nodes.keys()];
  for (let key = work.pop(); key !== undefined && faults.size < MOST_FAULTS; key = work.pop()) {
    const { index, children, name } = nodes.get(key) as Node;
    const level = (levels.get(key) ?? 1) + 1;
    for (const [position, child] of children.entries()) {
      if (!nodes.has(child) || (levels.get(child) ?? 1) >= level) continue;
      if (level <= MAX_DEPTH) {
        levels.set(child, level);
        work.push(child);
        continue;
      }
      const place = index === undefined ? ['groups'] : ['groups', index, 'groups', position];
      const isCycle = reached(graph, child, 'children').has(key);
      const wrong = isCycle
        ? fault(place, 'group-cycle', { group: name })
        : fault(place, 'group-depth', { max: MAX_DEPTH });
      faults.set(`${key}/${child}`, wrong);
    }
  }
  return [...faults.values()];
}

/** Owners, domains, requests and connections of groups that give permissions in Gatehouse. */
function sensitiveFaults(graph: Graph): Fault[] {
  return [...graph.nodes].flatMap(([key, { index, name, opened }]) => {
    if (opened === undefined) return [];
    const above = reached(graph, key, 'parents');
    if (![...rolesGiven(graph, above)].some(graph.isSensitive)) return [];
    const ofEntry = opened === 'group_mappings' ? [] : [opened];
    const place = index === undefined ? ['groups'] : ['groups', index, ...ofEntry];
    return [fault(place, 'group-sensitive', { group: name })];
  });
}

/** Names that nothing has once the file is applied. */
async function entryFaults(planning: Planning): Promise<Fault[]> {
  const { declared, db, roleNames } = planning;
  const people = declared.groups.flatMap(({ members = [], owners = [] }) => [...members, ...owners].map(timed));
  const ofFile = new Set(declared.users.map(({ username }) => nameKey(username)));
  const subjects = new Set(declared.users.flatMap(({ sub }) => sub ?? []));
  const others = [...new Set(people.map(({ name }) => nameKey(name)))].filter((key) => !ofFile.has(key));
  const rows = await inChunks(others, (piece) =>
    db.user.findMany({
      where: { usernameKey: { in: piece }, source: { not: 'file' } },
      select: { id: true, usernameKey: true },
    }),
  );
  const known = new Set([...ofFile, ...rows.flatMap(({ id, usernameKey }) => (subjects.has(id) ? [] : usernameKey))]);
  const unknownPeople = (list: DeclaredGroup['members'] = [], path: Fault['path']) =>
    list.flatMap((person, index) => {
      const { name } = timed(person);
      return known.has(nameKey(name)) ? [] : [fault([...path, index], 'unknown-user', { user: name })];
    });
  return declared.groups.flatMap(({ members, owners, roles, groups }, index) => [
    ...unknownPeople(members, ['groups', index, 'members']),
    ...unknownPeople(owners, ['groups', index, 'owners']),
    ...unknownGroups(groups, planning, ['groups', index, 'groups']),
    ...roles.flatMap((role, position) =>
      roleNames.has(role) ? [] : [fault(['groups', index, 'roles', position], 'unknown-role', { roles: role })],
    ),
  ]);
}

// Reading and exporting.

/** The groups that this server wrote, by the key of the name; with the members that the file declares or will declare. */
async function storedGroups({ db, declared }: Planning): Promise<Map<string, StoredGroup>> {
  const user = { select: { usernameKey: true } } as const;
  const [rows, edges, roleRows, ownerRows, domains] = await Promise.all([
    db.group.findMany({ orderBy: { nameKey: 'asc' } }),
    db.groupChild.findMany(),
    db.groupRole.findMany({ include: { role: { select: { name: true } } } }),
    db.groupOwner.findMany({ where: { deputyOf: null }, include: { user } }),
    db.groupDomain.findMany({ orderBy: { domain: 'asc' } }),
  ]);
  const keys = new Map(rows.map(({ id, nameKey: key }) => [id, key]));
  const roleNames = new Map((await db.role.findMany({ select: { id: true, name: true } })).map((r) => [r.id, r.name]));
  const childrenOf = byGroup(edges, ({ parentId }) => parentId);
  const rolesOf = byGroup(roleRows, ({ groupId }) => groupId);
  const ownersOf = byGroup(ownerRows, ({ groupId }) => groupId);
  const domainsOf = byGroup(domains, ({ groupId }) => groupId);
  const declaring = new Set(declared.groups.flatMap(({ name, members }) => (members ? [groupKey(name)] : [])));
  const stored = new Map<string, StoredGroup>();
  for (const row of rows) {
    const { id, name, source, description, acceptsRequests: requests, fileMembers } = row;
    const hasMembers = fileMembers || declaring.has(row.nameKey);
    const members = hasMembers ? await declaredMembers(id, db) : [];
    stored.set(row.nameKey, {
      id,
      name,
      source,
      description,
      requests,
      fileMembers,
      children: (childrenOf.get(id) ?? []).flatMap(({ childId }) => keys.get(childId) ?? []),
      roles: (rolesOf.get(id) ?? []).map(({ role }) => role.name),
      owners: (ownersOf.get(id) ?? []).map(({ user: { usernameKey }, userId, until, covers }) => ({
        name: usernameKey,
        userId,
        since: null,
        until,
        covers: (JSON.parse(covers) as string[]).flatMap((roleId) => roleNames.get(roleId) ?? []),
      })),
      domains: domainsOf.get(id) ?? [],
      members: members.map(({ user: { usernameKey }, userId, source: via, since, until }) => ({
        name: usernameKey,
        userId,
        source: via,
        since,
        until,
      })),
    });
  }
  return stored;
}

/** The memberships that a file declares, or takes over: page by page, so that a large group leaves the event loop free. */
async function declaredMembers(groupId: string, db: Core['db']) {
  const members = [];
  for await (const userIds of pagesOfIds({ groupId }, db)) {
    const where = { groupId, userId: { in: userIds }, source: { in: declaredSources } };
    const include = { user: { select: { usernameKey: true, username: true } } } as const;
    members.push(...(await db.groupMember.findMany({ where, include })));
  }
  return members;
}

function byGroup<Row>(rows: readonly Row[], groupOf: (row: Row) => string): Map<string, Row[]> {
  const byId = new Map<string, Row[]>();
  for (const row of rows) {
    const list = byId.get(groupOf(row));
    if (list) list.push(row);
    else byId.set(groupOf(row), [row]);
  }
  return byId;
}

/** @param known the names of the roles and users that the export has */
export async function exportGroups(
  { db, now }: Core,
  known: { roles: ReadonlySet<string>; users: ReadonlySet<string> | undefined },
): Promise<{ name: string }[]> {
  const at = now();
  const rows = await db.group.findMany({ orderBy: { nameKey: 'asc' } });
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  // Of several memberships of a person the one that lasts longest.
  const end = ({ until }: { until: Date | null }) => until?.getTime() ?? Number.POSITIVE_INFINITY;
  const people = (list: readonly { user: { username: string }; since?: Date | null; until: Date | null }[]) => {
    const longest = new Map<string, Timed>();
    for (const { user, since = null, until } of lasting(list, at)) {
      const { username: name } = user;
      const before = longest.get(name);
      if (known.users?.has(name) && (!before || end(before) < end({ until })))
        longest.set(name, { name, since, until });
    }
    return [...longest.values()].map((one) => declaredTimed('username', one));
  };
  const user = { select: { username: true } } as const;
  const orderBy = { user: { usernameKey: 'asc' } } as const;
  const exported: { name: string }[] = [];
  for (const { id: groupId, name, description, acceptsRequests, fileMembers } of rows) {
    const rows = await declaredMembers(groupId, db);
    const members = people(rows.sort((a, b) => (a.user.usernameKey < b.user.usernameKey ? -1 : 1)));
    const domains = await db.groupDomain.findMany({ where: { groupId }, orderBy: { domain: 'asc' } });
    const owners = people(
      await db.groupOwner.findMany({ where: { groupId, deputyOf: null }, include: { user }, orderBy }),
    );
    const edges = await db.groupChild.findMany({ where: { parentId: groupId } });
    const groups = edges.flatMap(({ childId }) => names.get(childId) ?? []).sort();
    const given = await db.groupRole.findMany({ where: { groupId }, include: { role: { select: { name: true } } } });
    const roles = given.map(({ role }) => role.name).filter((role) => known.roles.has(role));
    const entry = {
      description,
      members: known.users && (fileMembers || members.length > 0) ? members : undefined,
      groups,
      roles: roles.sort(),
      owners: owners.length > 0 ? owners : undefined,
      domains: domains.map(({ domain }) => domain),
      requests: acceptsRequests,
    };
    exported.push({ name, ...withoutDefaults(entry, groupSchema.parse({ name })) });
  }
  return exported;
}
