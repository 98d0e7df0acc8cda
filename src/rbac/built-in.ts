// The rights in Gatehouse itself, as roles and permissions of the same tables as everybody's (seed 2.5).

const RESOURCES = [
  'gatehouse.users',
  'gatehouse.sessions',
  'gatehouse.applications',
  'gatehouse.roles',
  'gatehouse.keys',
  'gatehouse.audit',
  'gatehouse.settings',
  'gatehouse.mail',
] as const;
export type OwnResource = (typeof RESOURCES)[number];
export type OwnAction = 'read' | 'write' | 'unlock' | 'reset-factors' | 'reset-password' | 'end';
export type OwnPermission = `${OwnResource}:${OwnAction}`;

export const ADMIN_ROLE = 'admin';
/** The right to be an administrator. No permission is called so: it is none that a role could be given. */
export const EVERYTHING = 'everything';
/** Rights in Gatehouse itself begin with it. */
export const OWN_PREFIX = 'gatehouse.';
/** The scope of the admin API that stands for all rights of whoever is behind the token. */
export const EVERYTHING_SCOPE = 'admin:*';

const all = (action: OwnAction): OwnPermission[] => RESOURCES.map((resource): OwnPermission => `${resource}:${action}`);
const SUPPORT: OwnPermission[] = [
  'gatehouse.users:read',
  'gatehouse.users:unlock',
  'gatehouse.users:reset-factors',
  'gatehouse.users:reset-password',
  'gatehouse.sessions:read',
  'gatehouse.sessions:end',
  'gatehouse.audit:read',
];

/** Made at the first start and kept complete at each later one. */
export const builtInRoles: readonly { name: string; description: string; permissions: readonly OwnPermission[] }[] = [
  {
    name: ADMIN_ROLE,
    description: 'May do everything in Gatehouse',
    permissions: [...new Set([...all('read'), ...all('write'), ...SUPPORT])],
  },
  { name: 'auditor', description: 'May look at everything in Gatehouse and change nothing', permissions: all('read') },
  {
    name: 'support',
    description: 'May help people who cannot get in: unlock, reset factors and passwords, end sessions',
    permissions: SUPPORT,
  },
];

/** Every right in Gatehouse, sorted: also the scopes of the admin API. */
export const ownPermissions: readonly OwnPermission[] = [...(builtInRoles[0]?.permissions ?? [])].sort();

/** The APIs of this very server, as resources that a client may ask tokens for: identifier -> scopes. */
export function ownResources(issuer: string): Record<string, readonly string[]> {
  return { [adminApi(issuer)]: [EVERYTHING_SCOPE, ...ownPermissions], [accessApi(issuer)]: [] };
}

export const adminApi = (issuer: string): string => `${issuer}/api/admin`;
export const accessApi = (issuer: string): string => `${issuer}/access/v1`;

/** Which rights in Gatehouse an application could use by itself, as it is registered. */
export function rightsOfClient({ resources = [], scope = '' }: { resources?: string[]; scope?: string }): string[] {
  if (!resources.some((resource) => resource.endsWith('/api/admin'))) return [];
  const named = scope.split(' ');
  return named.includes(EVERYTHING_SCOPE) ? [EVERYTHING] : named.filter((one) => one.startsWith(OWN_PREFIX));
}
