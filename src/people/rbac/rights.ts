// What an actor may do in Gatehouse. A permission may be limited to the members of one role or group, or to one application:
// `gatehouse.users[role:students]:write`. A limited permission is a permission of another name, so that code which knows
// nothing of limits denies it.
import { rule } from '../../base/texts/faults.ts';
import { OWN_PREFIX, type OwnPermission, ownPermissions } from './built-in.ts';

export type Rights = 'everything' | readonly string[];

export interface Limit {
  /** `role`: its members; `group`: the people in it and below it. */
  kind: 'role' | 'group' | 'application';
  /** The role's name; the client_id or entity ID of the application; the id of the group, which people write by its name. */
  name: string;
}

/** What a request is about: users, by the roles and groups they have, or an application, by its client_id or entity ID. */
export type Target = { roles: readonly string[]; groups?: readonly { id: string }[] } | { application: string };

/**
 * What a page or an endpoint needs: one permission without a limit, or one of several. With `limited` a limited one is
 * enough, or only one with a limit of this kind, and the action asks authority.ts about each user or application.
 */
export type Need = OwnPermission | { anyOf: readonly OwnPermission[]; limited: boolean | Limit['kind'] };

const USERS = ['role', 'group'] as const;
/** Which permissions can be limited, and to what. */
const LIMITABLE: Partial<Record<OwnPermission, readonly Limit['kind'][]>> = {
  'gatehouse.users:read': USERS,
  'gatehouse.users:write': USERS,
  'gatehouse.users:unlock': USERS,
  'gatehouse.users:reset-factors': USERS,
  'gatehouse.users:reset-password': USERS,
  'gatehouse.sessions:read': USERS,
  'gatehouse.sessions:end': USERS,
  'gatehouse.audit:read': USERS,
  'gatehouse.roles:manage': ['role'],
  'gatehouse.applications:read': ['application'],
  'gatehouse.applications:write': ['application'],
};

const limitableTo = (kind: Limit['kind']) =>
  ownPermissions.filter((permission) => LIMITABLE[permission]?.includes(kind));
export const LIMITABLE_TO = { role: limitableTo('role'), group: limitableTo('group') };

/** What is wrong with a limit that cannot be understood, for messages. */
export const limitSyntax = rule('limit-syntax');

const LIMITED = /^(gatehouse\.[a-z]+)\[(role|group|application):([^\s]+)\]:([a-z-]+)$/u;

/** Needs one of the permissions; one that is limited to some users or to an application is enough. */
export const within = (...anyOf: OwnPermission[]): Need => ({ anyOf, limited: true });
/** Creates users: a new one has roles from the start, but is in no group, so that a limit to a group allows nobody. */
export const CREATE_USERS: Need = { anyOf: ['gatehouse.users:write'], limited: 'role' };
/** To take an entry out of the configuration file, beside the right to change it. */
export const RELEASE = 'gatehouse.settings:write-security' as const;
/** Needs one of the permissions without a limit. */
export const oneOf = (...anyOf: OwnPermission[]): Need => ({ anyOf, limited: false });

/** The permissions of a need, of which one is enough. */
export const permissionsOf = (need: Need): readonly OwnPermission[] => (typeof need === 'string' ? [need] : need.anyOf);

/** The parts of a limited permission; undefined for every other text, also for a limit that the permission cannot have. */
export function parseLimited(text: string): { permission: OwnPermission; limit: Limit } | undefined {
  const [, resource, kind, encoded, action] = LIMITED.exec(text) ?? [];
  const permission = ownPermissions.find((one) => one === `${resource}:${action}`);
  if (!permission || !encoded || !LIMITABLE[permission]?.some((one) => one === kind)) return undefined;
  const name = encoded.replaceAll('%20', ' ').replaceAll('%25', '%');
  return { permission, limit: { kind: kind as Limit['kind'], name } };
}

/** The permission limited to this role or application, as a role lists it. A space is written %20, a percent sign %25. */
export function limitedTo(permission: OwnPermission, { kind, name }: Limit): string {
  const at = permission.lastIndexOf(':');
  const encoded = name.replaceAll('%', '%25').replaceAll(' ', '%20');
  return `${permission.slice(0, at)}[${kind}:${encoded}]${permission.slice(at)}`;
}

/** Whether this is a permission for Gatehouse, also a limited one. */
export function isOwnPermission(text: string): boolean {
  return ownPermissions.some((one) => one === text) || parseLimited(text) !== undefined;
}

/** Whether a permission for Gatehouse is written with brackets and cannot be understood. */
export function isBrokenLimit(text: string): boolean {
  return text.startsWith(OWN_PREFIX) && /[[\]]/.test(text) && !parseLimited(text);
}

/**
 * The permissions to read that these permissions lack: without one, its pages and endpoints find nothing to act on. Each with the
 * permissions that need it. A permission without a limit serves a limited one too.
 */
export function missingReads(permissions: readonly string[]): { read: string; neededBy: string[] }[] {
  const needed = new Map<string, string[]>();
  for (const permission of permissions) {
    const own = withoutLimit(permission);
    if (!isOwnPermission(permission) || own.endsWith(':read') || own === 'gatehouse.roles:manage') continue;
    const read = `${own.slice(0, own.lastIndexOf(':'))}:read`;
    const limited = `${permission.slice(0, permission.lastIndexOf(':'))}:read`;
    if (permissions.includes(read) || permissions.includes(limited)) continue;
    needed.set(limited, [...(needed.get(limited) ?? []), permission]);
  }
  return [...needed].map(([read, neededBy]) => ({ read, neededBy }));
}

/** The permission without its limit. */
export const withoutLimit = (text: string): string => parseLimited(text)?.permission ?? text;

/** Whether the rights contain the permission, for everything or for this target. */
export function permits(rights: Rights, permission: OwnPermission, target?: Target): boolean {
  if (rights === 'everything' || rights.includes(permission)) return true;
  if (!target) return false;
  const names: Partial<Record<Limit['kind'], readonly string[]>> =
    'application' in target
      ? { application: [target.application] }
      : { role: target.roles, group: (target.groups ?? []).map(({ id }) => id) };
  return limitsOf(rights, permission).some((limit) => names[limit.kind]?.includes(limit.name));
}

/** The limits of a permission that is held with limits only. */
export function limitsOf(rights: Rights, permission: OwnPermission): Limit[] {
  if (rights === 'everything') return [];
  return rights.flatMap((text) => {
    const limited = parseLimited(text);
    return limited?.permission === permission ? [limited.limit] : [];
  });
}

/** What a list may contain: everything, or what belongs to these roles, groups and applications; nothing when there are none. */
export type Extent = 'all' | Record<Limit['kind'], readonly string[]>;

export function extentOf(rights: Rights, permission: OwnPermission): Extent {
  if (permits(rights, permission)) return 'all';
  const limits = limitsOf(rights, permission);
  const of = (kind: Limit['kind']) => limits.filter((limit) => limit.kind === kind).map(({ name }) => name);
  return { role: of('role'), group: of('group'), application: of('application') };
}

/** Whether the rights meet the need. A limited permission meets it only where the need says so. */
export function meets(rights: Rights, need: Need): boolean {
  if (typeof need === 'string') return permits(rights, need);
  const { anyOf, limited } = need;
  const isEnough = ({ kind }: Limit) => limited === true || limited === kind;
  return anyOf.some((one) => permits(rights, one) || limitsOf(rights, one).some(isEnough));
}

/** What both have: of `gatehouse.users:read` and `gatehouse.users[role:students]:read` the limited one. */
export function sharedRights(rights: readonly string[], others: Rights): string[] {
  if (others === 'everything') return [...rights];
  const shared = [
    ...rights.filter((one) => includesPermission(others, one)),
    ...others.filter((one) => includesPermission(rights, one)),
  ];
  return [...new Set(shared)].sort();
}

/** Whether an actor with these rights has this permission too, limited or not, for Gatehouse or for an application. */
export function includesPermission(rights: Rights, permission: string): boolean {
  return rights === 'everything' || rights.includes(permission) || rights.includes(withoutLimit(permission));
}
