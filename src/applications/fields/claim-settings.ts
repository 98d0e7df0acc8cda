// Schemas for what an application learns about users: the role and permission filters of both protocols, and the custom
// claims of an OIDC client.
import { z } from 'zod';
import { isUserField } from '../../accounts/claims.ts';

const name = z.string().min(1).max(255);
const pattern = name.refine((value) => value.indexOf('*') === value.lastIndexOf('*'), 'must not have more than one *');

/** `accounts/visible-roles.ts` applies them. */
export const viewFields = {
  roles_filter: z.array(pattern).optional(),
  roles_rename: z.record(name, name).optional(),
  permissions_filter: z.array(pattern).optional(),
};

// Claims about the token and the sign-in (RFC 7519 4.1, OIDC Core 2), and the e-mail address, which must match email_verified.
const RESERVED = new Set(
  (
    'iss sub aud exp iat nbf jti nonce acr amr auth_time azp sid at_hash c_hash s_hash client_id scope cnf act may_act ' +
    'events typ active token_type email email_verified _claim_names _claim_sources'
  ).split(' '),
);

/** A user field that a claim or attribute is taken from. */
export const userField = name.refine(isUserField, 'must be a field of the user');

/** Claim -> user field, in ID token and UserInfo for every scope. */
export const ownClaims = z.record(
  z
    .string()
    .min(1)
    .max(100)
    .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be visible ASCII characters without spaces')
    .refine((claim) => !RESERVED.has(claim), 'is a claim of Gatehouse itself'),
  userField,
);
