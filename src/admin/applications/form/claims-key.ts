// The claims of an OpenID Connect application, a row each: name, user field, and the scope that it belongs to.

import { claimSources, type OwnClaims } from '../../../applications/fields/claim-settings.ts';
import { t } from '../../../base/texts/text.ts';
import { userFieldNames } from '../../../people/accounts/claims.ts';
import { assertDistinct, rowsKey } from './keys.ts';

/** The suggestions where a user field is typed. */
export const userFields = [...userFieldNames, 'attributes.department'];

export const claimsKey = rowsKey(
  {
    key: 'claims',
    label: t('console.fields.own-claims.label'),
    hint: t('console.fields.own-claims.hint'),
  },
  {
    adds: t('console.fields.own-claims.adds'),
    columns: [
      { name: 'name', label: t('console.fields.own-claims.claim') },
      { name: 'field', label: t('console.shared.value'), suggestions: userFields },
      { name: 'scope', label: t('console.fields.own-claims.scope') },
    ],
    toLines: (value) => claimSources(value as OwnClaims).map(({ claim, field, scope = '' }) => [claim, field, scope]),
    fromLines(lines) {
      assertDistinct('claims', lines);
      if (lines.length === 0) return undefined;
      return Object.fromEntries(lines.map(([claim, field, scope]) => [claim, scope ? { field, scope } : field]));
    },
  },
);
