// What applications learn about a person: one list of fields from which OIDC claims (by scope, OIDC Core 5.4) and SAML
// attributes (by the service provider's mapping, seed 2.3) are both taken, so that the two never disagree.
import type { Account } from './account.ts';

type Field = (account: Account) => unknown;

const fields = {
  sub: (account) => account.id,
  name: (account) => account.name,
  given_name: (account) => account.givenName,
  family_name: (account) => account.familyName,
  preferred_username: (account) => account.username,
  picture: (account) => account.picture,
  locale: (account) => account.locale,
  zoneinfo: (account) => account.zoneinfo,
  updated_at: (account) => Math.floor(account.updatedAt.getTime() / 1000),
  email: (account) => account.email,
  email_verified: (account) => (account.email === null ? null : account.emailVerified),
  phone_number: (account) => account.phoneNumber,
  roles: (account) => account.roles,
  permissions: (account) => account.permissions,
} as const satisfies Record<string, Field>;

export type ClaimName = keyof typeof fields;

/** Which claims a scope asks for; also the engine's own scope table. */
export const claimsByScope = {
  openid: ['sub'],
  profile: ['name', 'given_name', 'family_name', 'preferred_username', 'picture', 'locale', 'zoneinfo', 'updated_at'],
  email: ['email', 'email_verified'],
  phone: ['phone_number'],
  roles: ['roles'],
  permissions: ['permissions'],
} as const satisfies Record<string, readonly ClaimName[]>;

// Other spellings of the same fields, for mappings written by hand: the columns' names and the API's.
const aliases: Record<string, ClaimName> = {
  id: 'sub',
  username: 'preferred_username',
  givenName: 'given_name',
  familyName: 'family_name',
  emailVerified: 'email_verified',
  phone: 'phone_number',
  phoneNumber: 'phone_number',
  updatedAt: 'updated_at',
};
const ATTRIBUTE = /^attributes\.([^\s.][^\s]{0,99})$/;

/** Claims of these scopes, or every standard claim when the engine filters by itself. Empty fields are left out. */
export function claimsFor(
  account: Account,
  scopes: Iterable<string> = Object.keys(claimsByScope),
  custom: Record<string, string> = {},
): Record<string, unknown> {
  const names = [...scopes].flatMap((scope): readonly ClaimName[] =>
    Object.hasOwn(claimsByScope, scope) ? claimsByScope[scope as keyof typeof claimsByScope] : [],
  );
  const claims = [
    ...names.map((name) => [name, fields[name](account)] as const),
    ...Object.entries(custom).map(([claim, path]) => [claim, fieldValue(account, path)] as const),
  ];
  return {
    ...Object.fromEntries(claims.filter(([, value]) => value !== null && value !== undefined)),
    sub: account.id,
  };
}

/** SAML attributes: attribute name to user field, as a list of texts; a field without a value gives no attribute. */
export function attributesFor(account: Account, mapping: Record<string, string>): Record<string, string[]> {
  const attributes = Object.entries(mapping).map(([name, path]) => [name, texts(fieldValue(account, path))] as const);
  return Object.fromEntries(attributes.filter(([, values]) => values.length > 0));
}

/** Whether `path` names a user field: `email`, `roles`, `attributes.department`, … */
export function isUserField(path: string): boolean {
  return Object.hasOwn(fields, path) || Object.hasOwn(aliases, path) || ATTRIBUTE.test(path);
}

/** The value that a mapping takes from an account; undefined for a field that does not exist. */
export function fieldValue(account: Account, path: string): unknown {
  const attribute = ATTRIBUTE.exec(path)?.[1];
  if (attribute !== undefined) {
    return Object.hasOwn(account.attributes, attribute) ? account.attributes[attribute] : undefined;
  }
  const name = Object.hasOwn(aliases, path) ? aliases[path] : path;
  return name !== undefined && Object.hasOwn(fields, name) ? fields[name as ClaimName](account) : undefined;
}

function texts(value: unknown): string[] {
  if (value === null || value === undefined || value === '') return [];
  if (Array.isArray(value)) return value.flatMap(texts);
  return [typeof value === 'object' ? JSON.stringify(value) : String(value)];
}
