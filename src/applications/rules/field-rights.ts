// What each field of a registration gives to the application, and so to everyone who may change it. An application manager sets
// a field only to what the manager holds: people/rbac/authority.ts decides, applications.ts asks it at every change of every path.
// Each field says beside its schema by which of these rules it gives something (fields/application-field.ts).
import type { AttributeSchema } from '../../people/accounts/attributes.ts';
import { attributeNamed, claimsByScope } from '../../people/accounts/claims.ts';
import { isFor } from '../../people/accounts/simple-attributes.ts';
import { isGatehousePattern } from '../../people/accounts/visible-roles.ts';
import type { Change } from '../../people/rbac/authority.ts';
import { type OwnPermission, rightsOfClient, SCIM_SCOPE } from '../../people/rbac/built-in.ts';
import type { FieldRight } from '../fields/application-field.ts';
import { claimSources } from '../fields/claim-settings.ts';
import type { OidcClient } from '../fields/oidc-client.ts';
import { headersOf, type ProxiedSettings } from '../fields/proxied-application.ts';
import type { ServiceProviderSettings } from '../fields/service-provider.ts';

/** The fields of every protocol that have a rule; a registration has those of its protocol. */
export interface Declaration {
  access: OidcClient['access'];
  metadata: Partial<OidcClient> &
    Partial<Pick<ProxiedSettings, 'paths' | 'access_tokens' | 'headers'>> &
    Partial<Pick<ServiceProviderSettings, 'attributes' | 'acs' | 'metadata_url' | 'metadata_xml'>>;
}

interface Rule {
  /** Rights that the application has, or can find out about users, by this value: everyone who changes the application needs them. */
  rights?(metadata: Declaration['metadata']): readonly string[];
  /** What else this change of the value takes. */
  change?(before: Declaration | undefined, after: Declaration, ownFields: AttributeSchema): Change[];
}

/** An actor who may read users and roles knows the rights of each user. */
const RIGHTS_OF_USERS: OwnPermission[] = ['gatehouse.users:read', 'gatehouse.roles:read'];
const ALL_APPLICATIONS: OwnPermission = 'gatehouse.applications:write';
/** A client of a SCIM connection changes people and groups as the connection says, so its secret is as good as a token of it (`heldBy`). */
const SCIM_CONNECTIONS: OwnPermission = 'gatehouse.connections:write';

const rules: Record<FieldRight, Rule> = {
  access: { change: accessChange },
  // All of them, also those who never used it.
  people: {
    rights: ({ provision }) =>
      provision ? ['gatehouse.users:read', ...(provision.groups ? ['gatehouse.groups:read'] : [])] : [],
  },
  // A public part of a website is open to everyone whatever the access rule says, and a closed part only to some of them.
  'path rules': { change: pathChange },
  // Clients that act for themselves have no role and no group, so the access rule does not hold for them.
  programs: { change: programChange },
  // APIs with their scopes: those of Gatehouse are rights, and the others belong to no single application. `scope` counts with `resources`.
  apis: {
    rights: (metadata) => [...rightsOfClient(metadata), ...(isScimClient(metadata) ? [SCIM_CONNECTIONS] : [])],
    change: apiChange,
  },
  // What it can find out about users who never used it, or about rights in Gatehouse.
  evaluation: {
    rights: ({ access_evaluation }) => (access_evaluation === 'all_users' ? ['gatehouse.users:read'] : []),
  },
  permissions: {
    rights: ({ permissions_filter = [] }) => (permissions_filter.some(isGatehousePattern) ? RIGHTS_OF_USERS : []),
  },
  // What the actor may not see of users (visible_to) would go to the application, and so to the actor; with those of `provision`.
  'user fields': { change: fieldChange },
  // Holders of one role get the name of another one at the application.
  'role names': { change: renameChange },
};

/** The permissions for Gatehouse that an application has, or that it can learn as much as by. Everyone who changes it needs them. */
export function rightsOfApplication({ metadata }: Declaration): string[] {
  return [...new Set(Object.values(rules).flatMap((rule) => rule.rights?.(metadata) ?? []))];
}

/** The websites for which a client can request tokens of its own (client_credentials), by their addresses. */
export function websitesOfClient({ metadata }: Declaration): string[] {
  const { grant_types = [], resources = [] } = metadata;
  if (!grant_types.includes('client_credentials')) return [];
  return resources.map((one) => (URL.canParse(one) ? new URL(one).origin : one));
}

/**
 * What everyone needs who changes the application or gets a credential of it, because they could use what it has: its rights, and the roles
 * and groups for which a website is meant that lets it in as itself. `websites`: those of websitesOfClient.
 */
export function heldBy(application: Declaration, websites: readonly Declaration[]): Change[] {
  const letIn = websites.filter(({ metadata }) => metadata.access_tokens === 'all');
  return [
    { what: 'permissions', permissions: rightsOfApplication(application) },
    ...(isScimClient(application.metadata) ? [{ what: 'connections' as const }] : []),
    ...letIn.map(({ access }) => openingOf(access, isClosed(access))),
  ];
}

/** What else the actor needs for this registration, or for this change of one: each for Authority.assertMay. `ownFields`: user_attributes. */
export function neededFor(before: Declaration | undefined, after: Declaration, ownFields: AttributeSchema): Change[] {
  return Object.values(rules).flatMap((rule) => rule.change?.(before, after, ownFields) ?? []);
}

/** A changed access rule, also of an API, gives what was meant for the roles and groups that it names, or takes it from them. */
export function accessChange(
  before: { access: Declaration['access'] } | undefined,
  { access }: { access: Declaration['access'] },
): Change[] {
  const [old, next] = [rolesOf(before?.access), rolesOf(access)];
  const wasClosed = before !== undefined && isClosed(before.access);
  const [oldGroups, nextGroups] = [groupsOf(before?.access), groupsOf(access)];
  const areSame = (one: readonly string[], other: readonly string[]) =>
    one.length === other.length && one.every((name) => other.includes(name));
  const isSame = areSame(old, next) && areSame(oldGroups, nextGroups) && wasClosed === isClosed(access);
  if (before && isSame) return [];
  const groups = [...new Set([...oldGroups, ...nextGroups])];
  return [{ what: 'access', roles: [...old, ...next], groups, isClosed: wasClosed }];
}

/**
 * What a rule opens, or closes again, was meant for the roles and groups that it names; with a public part also for those of the access
 * rule, because every other rule is an exception from it.
 */
function pathChange(before: Declaration | undefined, { access, metadata }: Declaration): Change[] {
  const [old, next] = [before?.metadata.paths ?? [], metadata.paths ?? []];
  if (JSON.stringify(old) === JSON.stringify(next)) return [];
  const rules = [...old, ...next].map(({ rule }) => rule);
  const named = rules.filter((rule) => typeof rule !== 'string');
  const opened = rules.includes('public') ? access : 'everyone';
  const roles = [...rolesOf(opened), ...named.flatMap((rule) => rule.roles)];
  const groups = [...groupsOf(opened), ...named.flatMap((rule) => rule.groups)];
  return [{ what: 'access', roles: [...new Set(roles)], groups: [...new Set(groups)], isClosed: isClosed(opened) }];
}

/** A change to or from `all` opens what was meant for the roles and groups of the access rule, or closes it. */
function programChange(before: Declaration | undefined, after: Declaration): Change[] {
  const [was, is] = [before, after].map((one) => one?.metadata.access_tokens === 'all');
  return was === is ? [] : [openingOf(after.access, before !== undefined && isClosed(after.access))];
}

const openingOf = (access: Declaration['access'], wasClosed: boolean): Change => ({
  what: 'access',
  roles: rolesOf(access),
  groups: groupsOf(access),
  isClosed: wasClosed,
});

/** APIs belong to no application, so a right that is limited to one adds none. */
function apiChange(before: Declaration | undefined, { metadata }: Declaration): Change[] {
  const namedBy = (declared: Declaration['metadata'] = {}) => [
    ...(declared.resources ?? []),
    ...scopesOf(declared),
    ...(declared.may_exchange ?? []).map((one) => `exchange ${one}`),
    ...Object.entries(declared.id_jag_clients ?? {}).map((entry) => entry.join(' as ')),
  ];
  const known = new Set(namedBy(before?.metadata));
  const isNew = namedBy(metadata).some((one) => !known.has(one));
  return isNew ? [{ what: 'permissions', permissions: [ALL_APPLICATIONS] }] : [];
}

const isScimClient = ({ resources = [], scope = '' }: Declaration['metadata']) =>
  resources.some((one) => one.endsWith('/scim/v2')) && scope.split(' ').includes(SCIM_SCOPE);

/** The scopes of APIs; those of OpenID Connect say nothing beyond the claims. */
function scopesOf({ resources = [], scope = '' }: Declaration['metadata'] = {}): string[] {
  const standard = ['offline_access', 'address', ...Object.keys(claimsByScope)];
  return resources.length === 0 ? [] : scope.split(' ').filter((one) => one !== '' && !standard.includes(one));
}

/** Hidden own fields that the application did not get before: as this, and at this place. */
function fieldChange(before: Declaration | undefined, after: Declaration, ownFields: AttributeSchema): Change[] {
  const known = new Set(before && sentFields(before.metadata).map(({ way }) => way));
  const isHidden = (name: string | undefined) => name !== undefined && !isFor('desk', ownFields, name, 'visible_to');
  const added = sentFields(after.metadata).filter(({ way }) => !known.has(way));
  const fields = added.flatMap(({ field }) => (isHidden(attributeNamed(field)) ? field : []));
  return fields.length === 0 ? [] : [{ what: 'hidden fields', fields: [...new Set(fields)] }];
}

/** The user fields that leave by a declaration. `way`: as what, and to which place. */
function sentFields(metadata: Declaration['metadata']): { field: string; way: string }[] {
  const { claims, redirect_uris = [], attributes = {}, headers = {}, provision } = metadata;
  const { acs, metadata_url, metadata_xml } = metadata;
  const sent = (place: unknown, mapping: Readonly<Record<string, string>>, scope?: string) =>
    Object.entries(mapping).map(([name, field]) => ({ field, way: JSON.stringify([place, name, field, scope]) }));
  return [
    ...['', ...redirect_uris].flatMap((uri) =>
      claimSources(claims).flatMap(({ claim, field, scope }) => sent(uri, { [claim]: field }, scope)),
    ),
    ...sent([acs, metadata_url, metadata_xml], attributes),
    ...sent('headers', headersOf(headers)),
    ...sent(provision?.url, provision?.attributes ?? {}),
  ];
}

/** The roles on both sides of each changed entry, and those that get the same name already. */
function renameChange(before: Declaration | undefined, { metadata }: Declaration): Change[] {
  const [old, next] = [before?.metadata.roles_rename ?? {}, metadata.roles_rename ?? {}];
  const changed = Object.keys({ ...old, ...next }).filter((role) => old[role] !== next[role]);
  const given = changed.flatMap((role) => [old[role] ?? [], next[role] ?? []].flat());
  const others = Object.keys(old).filter((role) => given.includes(old[role] ?? ''));
  const roles = [...new Set([...changed, ...given, ...others])];
  return roles.length === 0 ? [] : [{ what: 'rename', roles }];
}

/** The roles of an access rule; none for `everyone`. */
export function rolesOf(access: Declaration['access'] | undefined): readonly string[] {
  return access === undefined || access === 'everyone' ? [] : access.roles;
}

/** The groups of an access rule. */
export const groupsOf = (access: Declaration['access'] | undefined): readonly string[] =>
  access === undefined || access === 'everyone' ? [] : (access.groups ?? []);

/** Whether an access rule lets nobody in, because it names no role and no group (any more). */
export function isClosed(access: Declaration['access']): boolean {
  return access !== 'everyone' && access.roles.length === 0 && groupsOf(access).length === 0;
}
