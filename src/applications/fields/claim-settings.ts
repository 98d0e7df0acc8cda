// Schemas for what an application learns about users: the role and permission filters of both protocols, and the custom
// claims of an OIDC client.

import { z } from 'zod';
import { type Fault, fault, rule } from '../../base/texts/faults.ts';
import { claimsByScope, isUserField } from '../../people/accounts/claims.ts';
import { applicationFields } from './application-field.ts';

const name = z.string().min(1).max(255);
const pattern = name.refine((value) => value.indexOf('*') === value.lastIndexOf('*'), rule('one-star'));

/** `people/accounts/visible-roles.ts` applies them. */
export const viewFields = {
  roles_filter: z
    .array(pattern)
    .optional()
    .describe('which roles it receives, such as `[wiki-*]`; default: all')
    .register(applicationFields, { section: 'roles', gives: 'nothing' }),
  roles_rename: z
    .record(name, name)
    .optional()
    .describe('role to the name that the application uses for it')
    .register(applicationFields, { section: 'roles', gives: 'role names' }),
  permissions_filter: z
    .array(pattern)
    .optional()
    .describe(
      'which permissions it receives, such as `["articles:*"]`; those in Gatehouse only if a pattern begins with `gatehouse.`',
    )
    .register(applicationFields, { section: 'roles', gives: 'permissions' }),
  groups_filter: z
    .array(pattern)
    .optional()
    .describe('which groups it receives, such as `[lab-*]` (`/Science/*` with `groups_as: path`); default: all')
    .register(applicationFields, { section: 'roles', gives: 'nothing' }),
  groups_as: z
    .enum(['name', 'path', 'id'])
    .optional()
    .describe('what names a group in the claim or attribute; default: `name`')
    .register(applicationFields, { section: 'roles', gives: 'nothing' }),
  groups_direct: z
    .boolean()
    .optional()
    .describe('`true`: only the groups that a user is a member of; default: those above them too')
    .register(applicationFields, { section: 'roles', gives: 'nothing' }),
};

/** Patterns that match nothing: a permission is `resource:action`. What is stored already may have them. */
export function permissionFilterFaults({
  permissions_filter: patterns = [],
}: {
  permissions_filter?: string[] | undefined;
}): Fault[] {
  return patterns.flatMap((value, at) => (/[*:]/.test(value) ? [] : [fault(['permissions_filter', at], 'permission')]));
}

/** The product whose setup guide the console displays: the id of a preset. One that this version does not know has no guide. */
export const presetField = {
  preset: z
    .string()
    .max(64)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, rule('preset'))
    .optional()
    .describe('the product whose setup guide the console displays, such as `grafana`')
    .register(applicationFields, {
      section: 'general',
      gives: 'nothing',
      isDescriptive: true,
      options: 'presets',
      isHalf: true,
    }),
};

// Claims about the token and the sign-in (RFC 7519 4.1, OIDC Core 2), and the email address, which must match email_verified.
const RESERVED = new Set(
  (
    'iss sub aud exp iat nbf jti nonce acr amr auth_time azp sid at_hash c_hash s_hash client_id scope cnf act may_act ' +
    'events typ active token_type email email_verified _claim_names _claim_sources'
  ).split(' '),
);

/** A user field that a claim or attribute is taken from. */
export const userField = name.refine(isUserField, rule('user-field'));

/** A user field, alone or with the scope that the claim belongs to: one of OpenID Connect, or one of the application's own. */
const claimSource = z.union([
  userField,
  z.strictObject({
    field: userField,
    scope: z
      .string()
      .max(100)
      .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, rule('scope'))
      .refine((scope) => scope !== 'offline_access', rule('scope-without-claims')),
  }),
]);

/** Claim -> user field. A claim without a scope is in ID token and UserInfo for every scope. */
export const ownClaims = z.record(
  z
    .string()
    .min(1)
    .max(100)
    .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, rule('visible-ascii'))
    // Also in another language (`sub#ja`).
    .refine((claim) => !RESERVED.has(claim.split('#', 1).join('')), rule('reserved-claim')),
  claimSource,
);
export type OwnClaims = z.output<typeof ownClaims>;

/** Each claim with its user field, and its scope where it has one. */
export function claimSources(claims: OwnClaims = {}): { claim: string; field: string; scope?: string }[] {
  return Object.entries(claims).map(([claim, source]) => ({
    claim,
    ...(typeof source === 'string' ? { field: source } : source),
  }));
}

/** The scopes that exist for this application only: those of its claims that OpenID Connect does not define. */
export function ownScopes({ claims, scope }: { claims?: OwnClaims | undefined; scope?: string | undefined }): string[] {
  const named = claimSources(claims).flatMap((source) => source.scope ?? []);
  const allowed = scope?.split(' ');
  return [...new Set(named)].filter(
    (one) => !Object.hasOwn(claimsByScope, one) && (allowed === undefined || allowed.includes(one)),
  );
}
