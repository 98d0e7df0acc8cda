// The permissions for Gatehouse in words: in the role editor, on the pages of API keys, and on the error page of a missing permission.

import { allOf, oneOf, type PageText, sentences, type Text, t } from '../../base/texts/text.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import { type Need, parseLimited, permissionsOf, withoutLimit } from '../../people/rbac/rights.ts';
import type { Mark, Option } from './blocks.ts';

const WORDS: Partial<Record<OwnPermission, Text>> = {
  'gatehouse.users:read': t('console.permission.users-read'),
  'gatehouse.users:write': t('console.permission.users-write'),
  'gatehouse.users:unlock': t('console.permission.users-unlock'),
  'gatehouse.users:reset-factors': t('console.permission.users-reset-factors'),
  'gatehouse.users:reset-password': t('console.permission.users-reset-password'),
  'gatehouse.roles:read': t('console.permission.roles-read'),
  'gatehouse.roles:write': t('console.permission.roles-write'),
  'gatehouse.roles:manage': t('console.permission.roles-manage'),
  'gatehouse.groups:read': t('console.permission.groups-read'),
  'gatehouse.groups:write': t('console.permission.groups-write'),
  'gatehouse.sessions:read': t('console.permission.sessions-read'),
  'gatehouse.sessions:write': t('console.permission.sessions-write'),
  'gatehouse.sessions:end': t('console.permission.sessions-end'),
  'gatehouse.applications:read': t('console.permission.applications-read'),
  'gatehouse.applications:write': t('console.permission.applications-write'),
  'gatehouse.connections:read': t('console.permission.connections-read'),
  'gatehouse.connections:write': t('console.permission.connections-write'),
  'gatehouse.audit:read': t('console.permission.audit-read'),
  'gatehouse.audit:write': t('console.permission.audit-write'),
  'gatehouse.mail:read': t('console.permission.mail-read'),
  'gatehouse.mail:write': t('console.permission.mail-write'),
  'gatehouse.settings:read': t('console.permission.settings-read'),
  'gatehouse.settings:write': t('console.permission.settings-write'),
  'gatehouse.settings:write-security': t('console.permission.settings-write-security'),
  'gatehouse.keys:read': t('console.permission.keys-read'),
  'gatehouse.keys:write': t('console.permission.keys-write'),
  'gatehouse.api-keys:read': t('console.permission.api-keys-read'),
  'gatehouse.api-keys:write': t('console.permission.api-keys-write'),
};

/**
 * What an API key can do with a permission. A permission whose every change needs a fresh sign-in, which a key cannot prove, is not
 * offered (docs/decisions/0045-api-keys.md).
 */
const WORDS_OF_KEYS: Partial<Record<OwnPermission, Text>> = {
  ...WORDS,
  'gatehouse.users:write': t('console.permission.users-write.key'),
  'gatehouse.applications:write': t('console.permission.applications-write.key'),
  'gatehouse.api-keys:write': t('console.permission.api-keys-write.key'),
};
const KEY_ORDER: readonly OwnPermission[] = [
  'gatehouse.users:read',
  'gatehouse.users:write',
  'gatehouse.users:unlock',
  'gatehouse.users:reset-password',
  'gatehouse.roles:read',
  'gatehouse.sessions:read',
  'gatehouse.applications:read',
  'gatehouse.applications:write',
  'gatehouse.connections:read',
  'gatehouse.audit:read',
  'gatehouse.mail:read',
  'gatehouse.mail:write',
  'gatehouse.settings:read',
  'gatehouse.keys:read',
  'gatehouse.api-keys:read',
  'gatehouse.api-keys:write',
];

/** The permission in words, also a limited one; the text itself where it is a permission of an application. */
export const permissionWords = (text: string): PageText => wordsOf(text, WORDS);

function wordsOf(text: string, words: typeof WORDS): PageText {
  const permission = words[withoutLimit(text) as OwnPermission] ?? text;
  const limit = parseLimited(text)?.limit;
  if (!limit) return permission;
  if (limit.kind === 'application')
    return t('console.permission.application-only', { permission, application: limit.name });
  return limit.kind === 'group'
    ? t('console.permission.group-only', { permission, group: limit.name })
    : t('console.permission.members-only', { permission, role: limit.name });
}

/** A permission in a list: in words with its code below; of an application only its code. */
export function permissionMark(text: string, words: (text: string) => PageText = permissionWords): Mark {
  const inWords = words(text);
  return inWords === text ? { text, code: true } : { text: inWords, small: text };
}

/** As an API key has it. */
export const keyPermissionMark = (text: string): Mark => permissionMark(text, (one) => wordsOf(one, WORDS_OF_KEYS));

/** The choices for a key of an actor with these permissions. */
export function keyPermissionOptions(grantable: readonly string[]): Option[] {
  const position = (permission: string) => KEY_ORDER.indexOf(withoutLimit(permission) as OwnPermission);
  return grantable
    .filter((permission) => position(permission) >= 0)
    .sort((a, b) => position(a) - position(b))
    .map((permission) => ({ value: permission, label: wordsOf(permission, WORDS_OF_KEYS), hint: permission }));
}

/** Permissions of which one is enough, in a sentence. */
export function quotedPermissions(anyOf: readonly string[]): Text {
  return oneOf(anyOf.map((one) => t('console.permission.quoted', { permission: permissionWords(one) })));
}

/** Which permissions are missing, and who can give them. */
export function missingSentence(missing: readonly Need[]): Text {
  const permissions = allOf(missing.map((need) => quotedPermissions(permissionsOf(need))));
  return sentences([
    t('console.permission.needed', { permissions, count: missing.length }),
    t('console.permission.ask'),
  ]);
}
