// What an OpenID Connect application receives about users, in the console: its own claims, alone or by a scope, and whether ID tokens
// hold the claims of scopes.
import type { OidcApplication } from '../../../applications/application.ts';
import { claimSources, type OwnClaims } from '../../../applications/fields/claim-settings.ts';
import { badRequest } from '../../../http/errors.ts';
import type { Field } from '../../console/blocks.ts';
import { lines } from '../../console/text-area.ts';
import type { Declaration } from '../saml-declarations.ts';

type Metadata = OidcApplication['metadata'];

/** The claim has no space, but may have `=` where a space follows it; neither do field and scope. */
const LINE = /^(?:(\S+)\s+=|([^\s=]+)=)\s*(\S+)(?:\s+\((\S+)\))?$/;

/** The fields of the edit form. */
export function claimFields({ claims, id_token_claims: idTokenClaims = 'always' }: Metadata): Field[] {
  const typed = claimLines(claims);
  return [
    {
      name: 'claims',
      label: 'Own claims',
      type: 'textarea',
      rows: Math.max(2, typed.length + 1),
      value: typed.join('\n'),
      hint: 'One a line: claim = user field, such as dept = attributes.department. With a scope behind it, dept = attributes.department (hr), the claim is given only when that scope is granted.',
    },
    {
      name: 'id_token_claims',
      label: 'Claims of scopes',
      type: 'select',
      value: idTokenClaims,
      options: [
        { value: 'always', label: 'In ID tokens and at UserInfo' },
        { value: 'conform', label: 'At UserInfo only (OpenID Connect Core 5.4)' },
      ],
    },
  ];
}

/** Each own claim as a line of the form. */
export function claimLines(claims: OwnClaims | undefined): string[] {
  return claimSources(claims).map(({ claim, field, scope }) => `${claim} = ${field}${scope ? ` (${scope})` : ''}`);
}

/** The part of the JSON merge patch that is about claims; nothing when the form does not hold them. Throws invalid_input. */
export function claimsPatch(given: Record<string, string>, before: Metadata): Declaration {
  return {
    ...(given.claims !== undefined && { claims: ownClaimsPatch(given.claims, before.claims) }),
    // An absent value means always.
    ...(given.id_token_claims !== undefined &&
      given.id_token_claims !== (before.id_token_claims ?? 'always') && {
        id_token_claims: given.id_token_claims === 'always' ? null : given.id_token_claims,
      }),
  };
}

function ownClaimsPatch(text: string, before: OwnClaims = {}): Declaration | null {
  const typed = Object.fromEntries(lines(text).map(sourceOf));
  if (Object.keys(typed).length === 0) return null;
  const removed = Object.keys(before).filter((claim) => !Object.hasOwn(typed, claim));
  return { ...Object.fromEntries(removed.map((claim) => [claim, null])), ...typed };
}

function sourceOf(line: string): [claim: string, source: string | { field: string; scope: string }] {
  const [, spaced, compact, field, scope] = LINE.exec(line) ?? [];
  const claim = spaced ?? compact;
  if (claim === undefined || field === undefined) {
    const message = `must be claim = user field, or claim = user field (scope): ${line}`;
    throw badRequest('invalid_input', { fields: [{ field: 'claims', message }] });
  }
  return [claim, scope === undefined ? field : { field, scope }];
}
