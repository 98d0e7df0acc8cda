// Decides who may change what. An actor gives, takes away and takes over only rights and roles that the actor has or has an
// explicit right to manage (docs/roles.md). The console, the API, imports and invitations use it.

import { AppError, forbidden, notFound } from '../../base/http/errors.ts';
import type { Tx } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account, AccountGroup } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { ADMIN_ROLE, EVERYTHING, OWN_PREFIX, type OwnPermission } from './built-in.ts';
import { parsePermission } from './names.ts';
import {
  type Extent,
  extentOf,
  includesPermission,
  LIMITABLE_TO,
  limitsOf,
  parseLimited,
  permits,
  type Rights,
} from './rights.ts';

/** A change that an actor wants to make. */
export type Change =
  /** Permissions are put into a role or an application, or taken out. */
  | { what: 'permissions'; permissions: readonly string[] }
  /** A role is given, taken, changed or deleted. */
  | { what: 'role'; role: { name: string; permissions: readonly string[] } }
  /** Groups change, or people are put in or taken out; `roles`: all that the people in these groups get by them. */
  | { what: 'group'; roles: readonly { name: string; permissions: readonly string[] }[] }
  /** People come into groups or leave them: the groups, those above (ids), and the names of all roles that they get. */
  | { what: 'reach'; groups: readonly string[]; roles: readonly string[] }
  /** A user's credentials, address, roles or state change, or the user gets help; `needs`: one of these permissions. */
  | { what: 'user'; id: string; needs: readonly OwnPermission[] }
  /** The application itself changes, by its client_id or entity ID. */
  | { what: 'application'; identifier: string }
  /** An access rule changes or ends that names these roles and groups before or after; `isClosed`: before, it named none. */
  | { what: 'access'; roles: readonly string[]; groups?: readonly string[]; isClosed?: boolean }
  /** An application gets to know the holders of some of these roles under another name. */
  | { what: 'rename'; roles: readonly string[] }
  /** A connection to an upstream or of a directory (SCIM) changes, or the client of one. */
  | { what: 'connections' }
  /** An application gets the values of these own fields, which only administrators see. */
  | { what: 'hidden fields'; fields: readonly string[] };

export type Authority = ReturnType<typeof createAuthority>;

/** The rights, roles and groups of an actor who is not an administrator. */
interface ActorGrants {
  rights: readonly string[];
  roles: readonly string[];
  groups: readonly AccountGroup[];
}

/**
 * With these an actor helps a user back in and gets nothing: the links go to the mailbox of the user. So roles without permissions in
 * Gatehouse, which the actor neither has nor manages, do not stop a help desk.
 */
const RECOVERY: readonly OwnPermission[] = [
  'gatehouse.users:reset-factors',
  'gatehouse.users:reset-password',
  'gatehouse.users:unlock',
];

const MORE_THAN_YOU = t('console.roles.error.more-than-you');
const noSuchUser = (id: string) => notFound({ message: t('console.person.unknown'), detail: { accountId: id } });

export function createAuthority({ accounts }: { accounts: Accounts }) {
  const actorRights = createActorRights({ accounts });
  const { rightsOfActor, grantsOfActor, rightsOfUser, targetOf } = actorRights;

  return {
    /** Every permission of a user; none for a disabled account. For `Actor.grantedRights`. */
    rightsOfUser,

    /** Throws forbidden, or not_found for a user or an application outside the limits of the actor's permission. */
    async assertMay(by: Actor, change: Change, tx?: Tx): Promise<void> {
      if (change.what === 'connections') return assertMayConnect(actorRights, by, tx);
      if (change.what === 'reach') return assertReachStays(actorRights, by, change, tx);
      const rights = await rightsOfActor(by, tx);
      if (rights === 'everything') return;
      if (change.what === 'permissions') return assertHolds(rights, change.permissions);
      if (change.what === 'hidden fields') return assertSees(rights, change.fields);
      if (change.what === 'application') return assertCoversApplication(rights, change.identifier);
      const actor = { rights, ...(await grantsOfActor(by, tx)) };
      if (change.what === 'role') return assertMayUseRole(actor, change.role);
      if (change.what === 'group') return assertMayUseGroup(actor, change.roles);
      if (change.what === 'access') return assertMayOpen(actor, change);
      if (change.what === 'rename') return assertMayRename(actor, change.roles);
      return assertMayChangeUser({ ...actorRights, accounts }, { by, actor }, change, tx);
    },

    /** Which users (by their roles and groups) or applications the actor's permission covers; the condition of a list. */
    async extent(by: Actor, permission: OwnPermission, tx?: Tx): Promise<Extent> {
      return extentOf(await rightsOfActor(by, tx), permission);
    },

    /** Throws not_found unless the actor's permission covers this user. */
    async assertCovers(by: Actor, permission: OwnPermission, userId: string): Promise<void> {
      const rights = await rightsOfActor(by);
      if (permits(rights, permission)) return;
      if (!permits(rights, permission, await targetOf(userId))) throw noSuchUser(userId);
    },

    /** Of these roles, those that the actor may give and take. */
    async assignable<R extends { name: string; permissions: readonly string[] }>(
      by: Actor,
      roles: readonly R[],
    ): Promise<R[]> {
      const rights = await rightsOfActor(by);
      if (rights === 'everything') return [...roles];
      const actor = { rights, ...(await grantsOfActor(by)) };
      return roles.filter((role) => mayUseRole(actor, role));
    },
  };
}

async function assertMayChangeUser(
  { accounts, targetOf }: ActorRights & { accounts: Accounts },
  { by, actor }: { by: Actor; actor: ActorGrants },
  { id, needs }: Extract<Change, { what: 'user' }>,
  tx?: Tx,
): Promise<void> {
  const of = await targetOf(id, tx);
  if (!needs.some((permission) => permits(actor.rights, permission, of))) throw noSuchUser(id);
  if (by.actorId === id && !by.grantedRights) return;
  // An attacker who takes an account over may wait until its later roles begin, or until it is enabled again.
  const { roles, groups, permissions } = (await accounts.findWithLater(id, tx)) ?? NOTHING;
  if (roles.includes(ADMIN_ROLE) || !holdsOwn(actor, permissions)) {
    throw forbidden('forbidden', { message: MORE_THAN_YOU });
  }
  if (needs.some((permission) => RECOVERY.includes(permission))) return;
  const other = roles.find((name) => !mayManageRole(actor, name, needs));
  if (other !== undefined) {
    const message = t('console.roles.error.other-role', { role: other });
    throw forbidden('forbidden', { message });
  }
  const group = groups.find((one) => one.isDirect && !mayManageMember(actor, one, groups, needs));
  if (group) throw forbidden('forbidden', { message: t('console.roles.error.other-group', { group: group.name }) });
  // An owner puts people in, and so gives what the group gives.
  for (const { group, roles } of await accounts.ownerships(id, tx))
    if (!permits(actor.rights, 'gatehouse.groups:write') || !roles.every((name) => mayManageRole(actor, name, needs)))
      throw forbidden('forbidden', { message: t('console.roles.error.owner', { group }) });
}

/**
 * Whether the actor may give, take or change the role, and change its members: the actor has the role, or an explicit
 * right to manage it. A permission of `needs` that is limited to the members of the role is such a right.
 */
function mayManageRole({ rights, roles }: ActorGrants, name: string, needs: readonly OwnPermission[]): boolean {
  if (roles.includes(name) || permits(rights, 'gatehouse.roles:manage', { roles: [name] })) return true;
  return needs.some((permission) =>
    limitsOf(rights, permission).some((limit) => limit.kind === 'role' && limit.name === name),
  );
}

/**
 * Whether the actor may take over someone who is in the group, and may so use the applications that it opens: the actor is in it too,
 * manages groups, or has a permission of `needs` that is limited to it or to a group above it.
 */
function mayManageMember(
  { rights, groups }: ActorGrants,
  { id, name }: AccountGroup,
  all: readonly AccountGroup[],
  needs: readonly OwnPermission[],
): boolean {
  if (groups.some((one) => one.id === id) || permits(rights, 'gatehouse.groups:write')) return true;
  const covering = all.filter((one) => one.id === id || one.via === name);
  return needs.some((permission) =>
    limitsOf(rights, permission).some(
      (limit) => limit.kind === 'group' && covering.some((one) => one.id === limit.name),
    ),
  );
}

/** Only administrators manage the role `admin`, and a role with rights in Gatehouse takes these rights. */
function mayUseRole(
  actor: ActorGrants,
  { name, permissions }: { name: string; permissions: readonly string[] },
): boolean {
  return name !== ADMIN_ROLE && holdsOwn(actor, permissions) && mayManageRole(actor, name, ['gatehouse.users:write']);
}

/** Whether the actor has all of these permissions that are for Gatehouse. */
function holdsOwn({ rights }: ActorGrants, permissions: readonly string[]): boolean {
  return permissions.every((one) => !one.startsWith(OWN_PREFIX) || includesPermission(rights, one));
}

function assertMayUseRole(actor: ActorGrants, role: { name: string; permissions: readonly string[] }): void {
  if (mayUseRole(actor, role)) return;
  const message = t('console.roles.error.not-yours', { role: role.name });
  throw forbidden('forbidden', { message, detail: { role: role.name } });
}

function assertMayUseGroup(actor: ActorGrants, roles: Extract<Change, { what: 'group' }>['roles']): void {
  if (!permits(actor.rights, 'gatehouse.groups:write')) throw forbidden('forbidden');
  for (const role of roles) assertMayUseRole(actor, role);
}

/**
 * Whose connection it is can be each of its people. A user needs the role admin, whatever the scopes of the token; an application without a user
 * needs the scope admin:*.
 */
async function assertMayConnect({ rightsOfActor, rightsOfUser }: ActorRights, by: Actor, tx?: Tx): Promise<void> {
  const rights = by.actorId === undefined ? await rightsOfActor(by, tx) : await rightsOfUser(by.actorId, tx);
  if (rights !== 'everything') throw forbidden('forbidden', { message: t('console.connections.only-full-change') });
}

/**
 * Whose permission is limited to the people in a group, or with a role, does not decide who these are: they would extend it. Judged by all
 * permissions of the person, whatever the token or key of this request carries.
 */
async function assertReachStays(
  { rightsOfActor, rightsOfUser }: ActorRights,
  by: Actor,
  { groups, roles }: Extract<Change, { what: 'reach' }>,
  tx?: Tx,
): Promise<void> {
  const rights = by.actorId === undefined ? await rightsOfActor(by, tx) : await rightsOfUser(by.actorId, tx);
  if (rights === 'everything') return;
  const isExtended = rights.some((text) => {
    const { permission, limit } = parseLimited(text) ?? {};
    if (!permission || !LIMITABLE_TO.group.includes(permission) || rights.includes(permission)) return false;
    return (limit?.kind === 'group' ? groups : roles).includes(limit?.name ?? '');
  });
  if (isExtended) throw forbidden('forbidden', { message: t('groups.own-reach') });
}

function assertMayOpen(
  actor: ActorGrants,
  { roles, groups = [], isClosed = false }: Extract<Change, { what: 'access' }>,
): void {
  // A group in an access rule opens the application to every member, so the actor needs the right to manage members.
  if (groups.length > 0 && !permits(actor.rights, 'gatehouse.groups:write')) throw forbidden('forbidden');
  // The roles of the rule were deleted, so no single role gives the right to open it again.
  if (isClosed && !permits(actor.rights, 'gatehouse.roles:manage')) {
    throw forbidden('forbidden', { message: t('console.roles.error.closed') });
  }
  const other = roles.find((name) => !mayManageRole(actor, name, []));
  if (other === undefined) return;
  const message = t('console.roles.error.access-role', { role: other });
  throw forbidden('forbidden', { message });
}

function assertMayRename(actor: ActorGrants, roles: readonly string[]): void {
  const other = roles.find((name) => !mayManageRole(actor, name, []));
  if (other === undefined) return;
  const message = t('console.roles.error.renamed-role', { role: other });
  throw forbidden('forbidden', { message });
}

function assertHolds(rights: Rights, permissions: readonly string[]): void {
  const missing = permissions.filter((permission) => !includesPermission(rights, permission));
  if (missing.length === 0) return;
  throw forbidden('forbidden', { message: t('console.roles.error.grant'), detail: { missing } });
}

/** Who may change settings sees every own field. */
function assertSees(rights: Rights, [field]: readonly string[]): void {
  if (field === undefined || permits(rights, 'gatehouse.settings:write')) return;
  throw forbidden('forbidden', { message: t('console.roles.error.hidden-field', { field }), detail: { field } });
}

function assertCoversApplication(rights: Rights, identifier: string): void {
  if (permits(rights, 'gatehouse.applications:write', { application: identifier })) return;
  throw notFound({ message: t('console.roles.error.no-application'), detail: { identifier } });
}

/** The result of a check that threw: false for forbidden and not_found. Throws any other error again. */
export function falseIfForbidden(error: unknown): false {
  if (error instanceof AppError && [403, 404].includes(error.status)) return false;
  throw error;
}

const NOTHING: Pick<Account, 'roles' | 'groups' | 'permissions'> = { roles: [], groups: [], permissions: [] };

type ActorRights = ReturnType<typeof createActorRights>;

function createActorRights({ accounts }: { accounts: Accounts }) {
  const rightsOfUser = async (userId: string, tx?: Tx): Promise<'everything' | string[]> => {
    const account = await accounts.find(userId, tx);
    if (!account?.isActive) return [];
    // Administrators have every permission, also those of applications that none of their roles lists.
    return account.roles.includes(ADMIN_ROLE) ? EVERYTHING : [...account.permissions];
  };

  return {
    /** Every permission of a user; none for a disabled account. */
    rightsOfUser,

    async rightsOfActor({ actorId, grantedRights }: Actor, tx?: Tx): Promise<Rights> {
      if (grantedRights) return grantedRights;
      // No actor: the command line, the configuration file, or the server itself.
      return actorId === undefined ? 'everything' : rightsOfUser(actorId, tx);
    },

    async targetOf(userId: string, tx?: Tx) {
      const { roles, groups } = (await accounts.find(userId, tx)) ?? NOTHING;
      return { roles, groups };
    },

    /** The actor's own roles and groups; none for a disabled account, or an application that acts without a user. */
    async grantsOfActor({ actorId }: Actor, tx?: Tx) {
      const account = actorId === undefined ? undefined : await accounts.find(actorId, tx);
      const { roles, groups } = account?.isActive ? account : NOTHING;
      return { roles, groups };
    },
  };
}

// Decides whether a user has a permission: one of the user's roles must contain it. One look-up of the account each, which also
// verifies the MACs of grants and roles.

export type Permissions = ReturnType<typeof createPermissions>;

export function createPermissions({ accounts }: { accounts: Accounts }) {
  async function list(userId: string, { evenDisabled = false } = {}, tx?: Tx): Promise<string[]> {
    const account = await accounts.find(userId, tx);
    return account && (account.isActive || evenDisabled) ? [...account.permissions] : [];
  }

  async function can(userId: string, resource: string, action: string, tx?: Tx): Promise<boolean> {
    return (await list(userId, {}, tx)).includes(`${resource}:${action}`);
  }

  return {
    can,
    /** Every permission of the account, sorted. A disabled account has none, unless `evenDisabled`. */
    list,

    /** `permission` is `resource:action`; false for any other text. */
    async holds(userId: string, permission: string, tx?: Tx): Promise<boolean> {
      const name = parsePermission(permission);
      return name !== undefined && can(userId, name.resource, name.action, tx);
    },
  };
}
