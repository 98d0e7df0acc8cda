// The claims of an OpenID Connect application, a row each: name, user field, and the scope that it belongs to.
import { userFieldNames } from '../../../accounts/claims.ts';
import { claimSources, type OwnClaims } from '../../../applications/fields/claim-settings.ts';
import { assertDistinct, rowsKey } from './keys.ts';

/** The suggestions where a user field is typed. */
export const userFields = [...userFieldNames, 'attributes.department'];

export const claimsKey = rowsKey(
  {
    key: 'claims',
    label: 'Additional claims',
    hint: 'The value is a field of the user, such as email or attributes.department. A claim with a scope needs that scope.',
  },
  {
    adds: 'claim',
    columns: [
      { name: 'name', label: 'Claim' },
      { name: 'field', label: 'Value', suggestions: userFields },
      { name: 'scope', label: 'Scope (optional)' },
    ],
    toLines: (value) => claimSources(value as OwnClaims).map(({ claim, field, scope = '' }) => [claim, field, scope]),
    fromLines(lines) {
      assertDistinct('claims', lines);
      if (lines.length === 0) return undefined;
      return Object.fromEntries(lines.map(([claim, field, scope]) => [claim, scope ? { field, scope } : field]));
    },
  },
);
