// The SQL condition “the user has one of these roles”, for lists of which the caller may see only a part.
import { type Fragment, fragment, joinFragments, trustedText } from '../../base/storage/fragments.ts';
import { isStorable } from '../../base/storage/storable-text.ts';

/**
 * Whether the user in this column has one of the roles.
 * @param column from the source code, never from a request
 */
export function isMemberOf(column: string, roleNames: readonly string[]): Fragment {
  const names = roleNames.filter(isStorable);
  if (names.length === 0) return fragment`1 = 0`;
  return fragment`EXISTS (SELECT 1 FROM user_roles ur JOIN roles r ON r.id = ur.role_id
    WHERE ur.user_id = ${trustedText(column)} AND r.name IN (${joinFragments(names, ', ')}))`;
}
