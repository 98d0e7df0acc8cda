// Who has a role now, directly or by a group, or is in a group, as SQL for lists and counts. It verifies no MACs: a decision reads the
// account instead.
import { systemClock } from '../../base/platform/clock.ts';
import { type Fragment, fragment, joinFragments, trustedText } from '../../base/storage/fragments.ts';
import { isStorable } from '../../base/storage/storable-text.ts';

/**
 * Whether the user in this column has one of the roles, for lists of which the caller may see only a part.
 * @param column from the source code, never from a request
 */
export function hasRoleNamed(column: string, roleNames: readonly string[], now = systemClock()): Fragment {
  const names = roleNames.filter(isStorable);
  if (names.length === 0) return fragment`1 = 0`;
  return hasRole(column, fragment`SELECT id FROM roles WHERE name IN (${joinFragments(names, ', ')})`, now);
}

/** The same for the ids of roles: a list, or a SELECT of them. */
export function hasRole(column: string, roleIds: Fragment, now: Date): Fragment {
  const granted = fragment`SELECT 1 FROM user_roles ur
    WHERE ur.user_id = ${trustedText(column)} AND ur.role_id IN (${roleIds}) AND ${isNow('ur', now)}`;
  const groups = fragment`SELECT a.group_id FROM group_roles gr JOIN group_ancestors a ON a.ancestor_id = gr.group_id
    WHERE gr.role_id IN (${roleIds})`;
  return fragment`(${isFound(granted)} OR ${isMember(column, groups, now)})`;
}

/** Whether the user in this column has one of the roles, or is in one of the groups, which are given by id. */
export function isWithinExtent(
  column: string,
  { role, group }: { role: readonly string[]; group: readonly string[] },
  now = systemClock(),
): Fragment {
  const byRole = hasRoleNamed(column, role, now);
  return group.length === 0 ? byRole : fragment`(${byRole} OR ${isInGroups(column, group, now)})`;
}

/** Whether the user in this column is in one of these groups, or in one below it. */
export function isInGroups(column: string, groupIds: readonly string[], now: Date): Fragment {
  const below = fragment`SELECT group_id FROM group_ancestors WHERE ancestor_id IN (${joinFragments([...groupIds], ', ')})`;
  return isMember(column, below, now);
}

/** SELECTs the `user_id` of everyone who is in one of these groups, or in one below it. */
export function usersInGroups(groupIds: readonly string[], now: Date): Fragment {
  return fragment`SELECT m.user_id FROM group_ancestors a JOIN group_members m ON m.group_id = a.group_id
    WHERE a.ancestor_id IN (${joinFragments([...groupIds], ', ')}) AND ${isNow('m', now)}`;
}

/** Whether the user in this column is in one of the groups of these names, or in one below it. */
export function isInGroupNamed(column: string, groupNames: readonly string[], now: Date): Fragment {
  const names = groupNames.filter(isStorable);
  if (names.length === 0) return fragment`1 = 0`;
  const below = fragment`SELECT a.group_id FROM groups g JOIN group_ancestors a ON a.ancestor_id = g.id
    WHERE g.name IN (${joinFragments(names, ', ')})`;
  return isMember(column, below, now);
}

/** SELECTs the `user_id` of everyone who has one of these roles, once for each way of having it. */
export function usersWithRoles(roleIds: Fragment, now = systemClock()): Fragment {
  return fragment`SELECT ur.user_id FROM user_roles ur WHERE ur.role_id IN (${roleIds}) AND ${isNow('ur', now)}
    UNION ALL SELECT m.user_id FROM group_roles gr JOIN group_ancestors a ON a.ancestor_id = gr.group_id
      JOIN group_members m ON m.group_id = a.group_id WHERE gr.role_id IN (${roleIds}) AND ${isNow('m', now)}`;
}

/** SELECTs `user_id` and role `name` of these users, once for each way of having a role. */
export function rolesOfUsers(userIds: Fragment, now: Date): Fragment {
  return fragment`SELECT ur.user_id AS "userId", r.name FROM user_roles ur JOIN roles r ON r.id = ur.role_id
      WHERE ur.user_id IN (${userIds}) AND ${isNow('ur', now)}
    UNION ALL SELECT m.user_id AS "userId", r.name FROM group_members m JOIN group_ancestors a ON a.group_id = m.group_id
      JOIN group_roles gr ON gr.group_id = a.ancestor_id JOIN roles r ON r.id = gr.role_id
      WHERE m.user_id IN (${userIds}) AND ${isNow('m', now)}`;
}

/** SELECTs `user_id`, and the `names` of the groups that these users are in themselves, in lines. */
export function groupsOfUsers(userIds: Fragment, now: Date): Fragment {
  return fragment`SELECT user_id AS "userId", string_agg(name, ${'\n'}) AS names FROM
    (SELECT DISTINCT m.user_id, g.name FROM group_members m JOIN groups g ON g.id = m.group_id
      WHERE m.user_id IN (${userIds}) AND ${isNow('m', now)}) AS held GROUP BY user_id`;
}

/** Whether the grant or membership in this table has begun and has not ended. */
function isNow(alias: 'ur' | 'm', now: Date): Fragment {
  const [since, until] = [trustedText(`${alias}.since`), trustedText(`${alias}.until`)];
  return fragment`(${since} IS NULL OR ${since} <= ${now}) AND (${until} IS NULL OR ${until} > ${now})`;
}

/**
 * Whether the user in this column is a member of one of these groups, itself. `IS TRUE` keeps PostgreSQL from looking for the user in each
 * group: it looks for each group of the user among these.
 */
function isMember(column: string, groupIds: Fragment, now: Date): Fragment {
  return isFound(fragment`SELECT 1 FROM group_members m
    WHERE m.user_id = ${trustedText(column)} AND (m.group_id IN (${groupIds})) IS TRUE AND ${isNow('m', now)}`);
}

/**
 * Whether there is such a row. PostgreSQL would answer an EXISTS for all users at once, however few a page reads: it does not know how soon
 * the page is full.
 */
function isFound(rows: Fragment): Fragment {
  return fragment`(${rows} LIMIT 1) IS NOT NULL`;
}
