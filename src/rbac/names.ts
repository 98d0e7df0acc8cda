// The syntax of role names and permissions. A permission is `resource:action`, split at the last colon, so that a resource
// may be a URN. Names contain no control characters, because some queries join them with line breaks.

export interface PermissionName {
  resource: string;
  action: string;
}

const ROLE = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M} ._:/-]{0,98}[\p{L}\p{N}\p{M}])?$/u;
const PERMISSION = /^([^\s:\p{C}](?:[^\s\p{C}]{0,198}[^\s\p{C}])?):([^\s:\p{C}]{1,100})$/u;

export function isRoleName(name: string): boolean {
  return ROLE.test(name);
}

/** The parts of `resource:action`; undefined when it is not one. */
export function parsePermission(text: string): PermissionName | undefined {
  const [, resource, action] = PERMISSION.exec(text) ?? [];
  return resource && action ? { resource, action } : undefined;
}
