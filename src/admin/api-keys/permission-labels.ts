// The permissions that the form of the console offers, in words. It leaves out those whose every change needs a fresh sign-in, which
// an API key cannot prove (docs/decisions/0045-api-keys.md).
import type { OwnPermission } from '../../rbac/built-in.ts';
import { parseLimited, withoutLimit } from '../../rbac/rights.ts';
import { type PageText, type Text, t } from '../../texts/text.ts';
import type { Option } from '../console/blocks.ts';

const LABELS: Partial<Record<OwnPermission, Text>> = {
  'gatehouse.users:read': t('console.api-keys.permission.users-read'),
  'gatehouse.users:write': t('console.api-keys.permission.users-write'),
  'gatehouse.users:unlock': t('console.api-keys.permission.users-unlock'),
  'gatehouse.users:reset-password': t('console.api-keys.permission.users-reset-password'),
  'gatehouse.roles:read': t('console.api-keys.permission.roles-read'),
  'gatehouse.sessions:read': t('console.api-keys.permission.sessions-read'),
  'gatehouse.applications:read': t('console.api-keys.permission.applications-read'),
  'gatehouse.applications:write': t('console.api-keys.permission.applications-write'),
  'gatehouse.connections:read': t('console.api-keys.permission.connections-read'),
  'gatehouse.audit:read': t('console.api-keys.permission.audit-read'),
  'gatehouse.mail:read': t('console.api-keys.permission.mail-read'),
  'gatehouse.mail:write': t('console.api-keys.permission.mail-write'),
  'gatehouse.settings:read': t('console.api-keys.permission.settings-read'),
  'gatehouse.keys:read': t('console.api-keys.permission.keys-read'),
  'gatehouse.api-keys:read': t('console.api-keys.permission.api-keys-read'),
  'gatehouse.api-keys:write': t('console.api-keys.permission.api-keys-write'),
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

function labelOf(text: string): PageText {
  const permission = LABELS[withoutLimit(text) as OwnPermission] ?? text;
  const limit = parseLimited(text)?.limit;
  if (!limit) return permission;
  return limit.kind === 'role'
    ? t('console.api-keys.permission.members-only', { permission, role: limit.name })
    : t('console.api-keys.permission.application-only', { permission, application: limit.name });
}
