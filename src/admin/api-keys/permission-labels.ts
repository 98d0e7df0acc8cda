// The permissions that the form of the console offers, in words. It leaves out those whose every change needs a fresh sign-in, which
// an API key cannot prove (docs/decisions/0045-api-keys.md).
import type { OwnPermission } from '../../rbac/built-in.ts';
import { parseLimited, withoutLimit } from '../../rbac/rights.ts';
import type { Option } from '../console/blocks.ts';

const LABELS: Partial<Record<OwnPermission, string>> = {
  'gatehouse.users:read': 'View users',
  'gatehouse.users:write': 'Add users without roles and edit profiles',
  'gatehouse.users:unlock': 'Unlock users',
  'gatehouse.users:reset-password': 'Send password reset links',
  'gatehouse.roles:read': 'View roles',
  'gatehouse.sessions:read': 'View sessions',
  'gatehouse.applications:read': 'View applications and APIs',
  'gatehouse.applications:write': 'Change names, logos, and links of applications',
  'gatehouse.connections:read': 'View identity providers',
  'gatehouse.audit:read': 'View the activity log',
  'gatehouse.mail:read': 'View queued email',
  'gatehouse.mail:write': 'Retry queued email',
  'gatehouse.settings:read': 'View settings',
  'gatehouse.keys:read': 'View signing keys',
  'gatehouse.api-keys:read': 'View API keys',
  'gatehouse.api-keys:write': 'Revoke your API keys',
};
const ORDER = Object.keys(LABELS);

/** The choices for an actor with these permissions. */
export function permissionOptions(grantable: readonly string[]): Option[] {
  const position = (permission: string) => ORDER.indexOf(withoutLimit(permission));
  return grantable
    .filter((permission) => position(permission) >= 0)
    .sort((a, b) => position(a) - position(b))
    .map((permission) => ({ value: permission, label: labelOf(permission), hint: permission }));
}

function labelOf(permission: string): string {
  const label = LABELS[withoutLimit(permission) as OwnPermission] ?? permission;
  const limit = parseLimited(permission)?.limit;
  if (!limit) return label;
  return limit.kind === 'role' ? `${label}, members of ${limit.name} only` : `${label}, ${limit.name} only`;
}
