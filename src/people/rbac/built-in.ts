// The built-in roles and permissions for Gatehouse itself; stored in the same tables as those for applications.
import { type Text, t } from '../../base/texts/text.ts';

const RESOURCES = [
  'gatehouse.users',
  'gatehouse.sessions',
  'gatehouse.applications',
  'gatehouse.api-keys',
  'gatehouse.connections',
  'gatehouse.roles',
  'gatehouse.groups',
  'gatehouse.keys',
  'gatehouse.audit',
  'gatehouse.settings',
  'gatehouse.mail',
] as const;
export type OwnResource = (typeof RESOURCES)[number];
export type OwnAction =
  | ('read' | 'write' | 'end')
  | ('unlock' | 'reset-factors' | 'reset-password')
  /** Of roles: counts as holding the role wherever a change needs that. */
  | 'manage'
  /** Of settings: those that protect the server and its users (admin/settings/setting-tabs.ts). */
  | 'write-security';
export type OwnPermission = `${OwnResource}:${OwnAction}`;

export const ADMIN_ROLE = 'admin';
/** The right to be an administrator. It is not a permission, so no role can contain it. */
export const EVERYTHING = 'everything';
/** The prefix of all permissions for Gatehouse itself. */
export const OWN_PREFIX = 'gatehouse.';
/** Whether an account has any right in Gatehouse itself. */
export function isStaff({ roles, permissions }: { roles: readonly string[]; permissions: readonly string[] }): boolean {
  return roles.includes(ADMIN_ROLE) || permissions.some((permission) => permission.startsWith(OWN_PREFIX));
}

/** The scope of the admin API for all permissions of the token's user or client. */
export const EVERYTHING_SCOPE = 'admin:*';
/** For the groups that the user owns. Not `groups`, which releases the claim: an application that reads groups must not change them. */
export const OWNERS_SCOPE = 'groups:manage';

/** For applications that provision people with their own access tokens (protocols/scim). */
export const SCIM_SCOPE = 'scim';

/** For applications that receive shared signals (protocols/event-streams). */
export const SSF_SCOPES = ['ssf.manage', 'ssf.read'] as const;

const all = (action: OwnAction): OwnPermission[] => RESOURCES.map((resource): OwnPermission => `${resource}:${action}`);
const HELP: OwnPermission[] = [
  'gatehouse.users:read',
  'gatehouse.users:unlock',
  'gatehouse.users:reset-factors',
  'gatehouse.users:reset-password',
  'gatehouse.sessions:read',
  'gatehouse.sessions:end',
];

/** Created at the first start and updated at each later one, with their descriptions in English. */
export const builtInRoles: readonly { name: string; description: Text; permissions: readonly OwnPermission[] }[] = [
  {
    name: ADMIN_ROLE,
    description: t('console.roles.built-in.admin'),
    permissions: [
      ...new Set([
        ...[...all('read'), ...all('write'), ...HELP],
        ...(['gatehouse.roles:manage', 'gatehouse.settings:write-security'] as const),
      ]),
    ],
  },
  {
    name: 'user-manager',
    description: t('console.roles.built-in.user-manager'),
    permissions: ['gatehouse.users:write', 'gatehouse.roles:read', ...HELP],
  },
  {
    name: 'application-manager',
    description: t('console.roles.built-in.application-manager'),
    permissions: ['gatehouse.applications:read', 'gatehouse.applications:write', 'gatehouse.roles:read'],
  },
  {
    name: 'auditor',
    description: t('console.roles.built-in.auditor'),
    permissions: all('read'),
  },
  {
    name: 'support',
    description: t('console.roles.built-in.support'),
    permissions: [...HELP, 'gatehouse.audit:read'],
  },
];

/** Every permission for Gatehouse itself, sorted; these are also the scopes of the admin API. */
export const ownPermissions: readonly OwnPermission[] = [...(builtInRoles[0]?.permissions ?? [])].sort();

/** The APIs of this server as resources (RFC 8707): identifier -> scopes. */
export function ownResources(issuer: string): Record<string, readonly string[]> {
  return {
    [adminApi(issuer)]: [EVERYTHING_SCOPE, ...ownPermissions],
    [ownersApi(issuer)]: [OWNERS_SCOPE],
    [accessApi(issuer)]: [],
    [scimApi(issuer)]: [SCIM_SCOPE],
    [ssfApi(issuer)]: SSF_SCOPES,
  };
}

export const adminApi = (issuer: string): string => `${issuer}/api/admin`;
export const ownersApi = (issuer: string): string => `${issuer}/api/groups`;
export const scimApi = (issuer: string): string => `${issuer}/scim/v2`;
export const ssfApi = (issuer: string): string => `${issuer}/ssf`;
export const accessApi = (issuer: string): string => `${issuer}/access/v1`;

/** The permissions for Gatehouse that a client can use by client credentials, as it is registered. */
export function rightsOfClient({ resources = [], scope = '' }: { resources?: string[]; scope?: string }): string[] {
  if (!resources.some((resource) => resource.endsWith('/api/admin'))) return [];
  const named = scope.split(' ');
  return named.includes(EVERYTHING_SCOPE) ? [EVERYTHING] : named.filter((one) => one.startsWith(OWN_PREFIX));
}
