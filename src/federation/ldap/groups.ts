// The groups of a user: an attribute of the entry (memberOf), or a search for groups that have the user as a member, with the
// groups of those groups, and the primary group of Active Directory, which is in neither. A list that may be cut short says so, and
// changes no roles then.
import type { Entry } from 'ldapts';
import { limits } from '../../base/limits.ts';
import type { LdapConnection } from '../connections/connection.ts';
import type { LdapSettings } from '../connections/kinds/ldap.ts';
import { domainRootOf } from './dn.ts';
import { allOf, equals, filterWith } from './filter.ts';
import { valuesOf } from './identity.ts';
import type { DirectorySession } from './session.ts';

export interface GroupList {
  names: string[];
  isComplete: boolean;
}

type GroupSettings = NonNullable<LdapSettings['groups']>;

/** LDAP_MATCHING_RULE_IN_CHAIN of Active Directory: members of members, in one search. */
const IN_CHAIN = '(&(objectClass=group)(member:1.2.840.113556.1.4.1941:={dn}))';

/** Undefined: the connection has no groups. `session` is bound to search. */
export async function groupsOf(
  session: DirectorySession,
  { settings }: Pick<LdapConnection, 'settings'>,
  entry: Entry,
): Promise<GroupList | undefined> {
  const { groups, active_directory: isActiveDirectory, base_dn: base } = settings;
  if (!groups) return undefined;
  if (!isActiveDirectory) {
    if (groups.base_dn === undefined) return listedGroups(entry, groups);
    return groups.nested ? nestedGroups(session, groups, entry.dn) : membersOf(session, groups, entry.dn);
  }
  const root = groups.base_dn ?? domainRootOf(base);
  const primary = await primaryGroupOf(session, { ...groups, base_dn: root }, entry);
  const inChain = { ...groups, base_dn: root, filter: IN_CHAIN };
  const lists = groups.nested
    ? await Promise.all([entry, ...primary].map(({ dn }) => membersOf(session, inChain, dn)))
    : [groups.base_dn === undefined ? listedGroups(entry, groups) : await membersOf(session, groups, entry.dn)];
  // A group outside of the base DN is named by its DN, as in memberOf.
  const isListed = !groups.nested && groups.base_dn === undefined;
  const names = [
    ...lists.flatMap((list) => list.names),
    ...(isListed ? primary.map(({ dn }) => dn) : namesOf(primary, groups)),
  ];
  return { names: [...new Set(names)], isComplete: lists.every(({ isComplete }) => isComplete) };
}

/** The group whose SID has the domain of the user and `primaryGroupID` (MS-ADTS 3.1.1.4.5.34); no member lists it. */
async function primaryGroupOf(session: DirectorySession, groups: GroupSettings, entry: Entry): Promise<Entry[]> {
  const [sid] = valuesOf(entry, 'objectSid');
  const id = Number(valuesOf(entry, 'primaryGroupID')[0]);
  if (!Buffer.isBuffer(sid) || sid.length < 12 || !Number.isInteger(id)) return [];
  const ofGroup = Buffer.from(sid);
  ofGroup.writeUInt32LE(id, sid.length - 4);
  const { entries } = await session.search({
    base: groups.base_dn ?? '',
    scope: 'sub',
    max: 1,
    filter: allOf(equals('objectClass', 'group'), equals('objectSid', ofGroup)),
    attributes: [groups.name_attribute],
  });
  return entries;
}

/** The attribute of the user: DNs of groups. Active Directory cuts a long one (`memberOf;range=0-1499`). */
function listedGroups(entry: Entry, { attribute }: GroupSettings): GroupList {
  const name = attribute.toLowerCase();
  const ranges = Object.keys(entry).filter((key) => key.toLowerCase().startsWith(`${name};`));
  const values = [attribute, ...ranges].flatMap((one) => valuesOf(entry, one));
  const names = values.filter((value) => typeof value === 'string').slice(0, limits.ldap.maxGroups);
  return { names, isComplete: ranges.length === 0 && names.length === values.length };
}

async function membersOf(session: DirectorySession, groups: GroupSettings, dn: string): Promise<GroupList> {
  const { entries, isCut } = await searchGroups(session, groups, dn);
  return { names: namesOf(entries, groups), isComplete: !isCut };
}

/** Level by level, each group once. */
async function nestedGroups(session: DirectorySession, groups: GroupSettings, dn: string): Promise<GroupList> {
  const found = new Map<string, Entry>();
  let members = [dn];
  for (let level = 0; level < limits.ldap.nestedLevels && members.length > 0; level += 1) {
    const next: string[] = [];
    for (const member of members) {
      const { entries, isCut } = await searchGroups(session, groups, member);
      const added = entries.filter((one) => !found.has(one.dn.toLowerCase()));
      for (const one of added) found.set(one.dn.toLowerCase(), one);
      next.push(...added.map((one) => one.dn));
      if (isCut || found.size > limits.ldap.maxGroups)
        return { names: namesOf([...found.values()], groups), isComplete: false };
    }
    members = next;
  }
  return { names: namesOf([...found.values()], groups), isComplete: members.length === 0 };
}

function searchGroups(
  session: DirectorySession,
  { base_dn: base = '', filter, name_attribute }: GroupSettings,
  dn: string,
) {
  return session.search({
    base,
    scope: 'sub',
    filter: filterWith(filter, 'dn', dn),
    attributes: [name_attribute],
    max: limits.ldap.maxGroups,
  });
}

/** The name of each group; its DN where it has no name. */
function namesOf(entries: readonly Entry[], { name_attribute: attribute }: GroupSettings): string[] {
  const names = entries.map((entry) => {
    const [name] = valuesOf(entry, attribute);
    return typeof name === 'string' && name !== '' ? name : entry.dn;
  });
  return [...new Set(names)];
}
