// The permissions for Gatehouse in words: in the role editor, on the pages of API keys, and on the error page of a missing permission.

import { allOf, oneOf, type PageText, sentences, type Text, t, textAt } from '../../base/texts/text.ts';
import { OWN_PREFIX, type OwnPermission } from '../../people/rbac/built-in.ts';
import { type Need, parseLimited, permissionsOf, withoutLimit } from '../../people/rbac/rights.ts';
import type { Mark, Option } from './blocks.ts';

/** The key of the words of a permission for Gatehouse, such as `console.permission.users-read`. */
const keyOf = (permission: string) =>
  `console.permission.${permission.startsWith(OWN_PREFIX) ? permission.slice(OWN_PREFIX.length).replace(':', '-') : ''}`;

/**
 * What an API key can be given. A permission whose every change needs a fresh sign-in, which a key cannot prove, is not offered
 * (docs/decisions/0045-api-keys.md).
 */
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
export const permissionWords = (text: string): PageText => limitedWords(text, textAt(keyOf(withoutLimit(text))));

/** As an API key has it, which can do less with some. */
const wordsOfKey = (text: string): PageText =>
  limitedWords(text, textAt(`${keyOf(withoutLimit(text))}.key`) ?? textAt(keyOf(withoutLimit(text))));

function limitedWords(text: string, permission: PageText = text): PageText {
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
export const keyPermissionMark = (text: string): Mark => permissionMark(text, wordsOfKey);

/** The choices for a key of an actor with these permissions. */
export function keyPermissionOptions(grantable: readonly string[]): Option[] {
  const position = (permission: string) => KEY_ORDER.indexOf(withoutLimit(permission) as OwnPermission);
  return grantable
    .filter((permission) => position(permission) >= 0)
    .sort((a, b) => position(a) - position(b))
    .map((permission) => ({ value: permission, label: wordsOfKey(permission), hint: permission }));
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
