// The syntax of role names and permissions. A permission is `resource:action`, split at the last colon, so that a resource
// may be a URN. Names contain no control characters, because some queries join them with line breaks. Two names that look alike
// have the same key (people/accounts/names.ts, after UTS 39): no actor adds one that looks like another.
import { nameKey } from '../accounts/names.ts';
import { OWN_PREFIX } from './built-in.ts';

export interface PermissionName {
  resource: string;
  action: string;
}

const ROLE = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M} ._:/-]{0,98}[\p{L}\p{N}\p{M}])?$/u;
const PERMISSION = /^([^\s:\p{C}](?:[^\s\p{C}]{0,198}[^\s\p{C}])?):([^\s:\p{C}]{1,100})$/u;

// A superset, because patterns with \p{…} are not portable between languages.
const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f';
const NO_LETTER = `${CONTROLS}!-/:-@\\[-\`{-~`;
/** `isRoleName` as a pattern of JSON Schema: outside ASCII it also has to be letters, marks and digits. */
export const roleNameSchema = {
  minLength: 1,
  maxLength: 100,
  pattern: `^[^ ${NO_LETTER}]([ ._:/-]*[^ ${NO_LETTER}])*$`,
};
/** `parsePermission` as a pattern of JSON Schema. */
export const permissionSchema = {
  minLength: 3,
  maxLength: 301,
  pattern: `^[^\\s:${CONTROLS}]([^\\s${CONTROLS}]{0,198}[^\\s${CONTROLS}])?:[^\\s:${CONTROLS}]{1,100}$`,
};

export const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

export function isRoleName(name: string): boolean {
  return ROLE.test(name) && !INVISIBLE.test(name);
}

const GROUP = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M} ._:@&()+'-]{0,98}[\p{L}\p{N}\p{M})])?$/u;

/** No slash, which separates the names of a path. */
export function isGroupName(name: string): boolean {
  return name.length <= 200 && GROUP.test(name) && !INVISIBLE.test(name);
}

/** Equal for names of groups that look alike. */
export function groupKey(name: string): string {
  return nameKey(name.slice(0, 1000)).replace(/\s+/gu, ' ');
}

/** The one of these names that another name looks like; a name does not look like itself. */
export function lookAlike(name: string, others: readonly string[]): string | undefined {
  const key = keyOf(name);
  return others.find((other) => other !== name && keyOf(other) === key);
}

/** Whether a permission contains invisible characters, or only looks like one for Gatehouse. */
export function isDeceptivePermission(text: string): boolean {
  return INVISIBLE.test(text) || (looksOwn(text) && !text.startsWith(OWN_PREFIX));
}

/** Whether a name is that of a permission for Gatehouse, or looks like one. */
export const looksOwn = (text: string): boolean => keyOf(text).startsWith(OWN_PREFIX);

const keyOf = (name: string): string => nameKey(name).replace(/\s+/gu, ' ');

/** The parts of `resource:action`; undefined when it is not one. */
export function parsePermission(text: string): PermissionName | undefined {
  const [, resource, action] = PERMISSION.exec(text) ?? [];
  return resource && action ? { resource, action } : undefined;
}
