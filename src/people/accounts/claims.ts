// Account fields released as OIDC claims (by scope, OIDC Core 5.4) and SAML attributes (by the mapping of the service
// provider). One list for both, so that both protocols release the same values.
import { fullName } from '../../base/http/pages/tokens.ts';
import {
  type AddressPart,
  addressParts,
  type TextClaim,
  textClaims,
  textFieldNames,
  textFields,
} from './profile-fields.ts';
import { taggableClaims } from './tagged-values.ts';
import type { VisibleAccount } from './visible-roles.ts';

type Field = (account: VisibleAccount) => unknown;

const fields = {
  sub: (account) => account.id,
  ...(Object.fromEntries(
    textFieldNames.map((field): [TextClaim, Field] => [textFields[field].claim, (account) => account[field]]),
  ) as Record<TextClaim, Field>),
  name: fullName,
  preferred_username: (account) => account.username,
  updated_at: (account) => Math.floor(account.updatedAt.getTime() / 1000),
  email: (account) => account.email,
  email_verified: (account) => (account.email === null ? null : account.emailVerified),
  phone_number: (account) => account.phoneNumber,
  phone_number_verified: (account) => (account.phoneNumber === null ? null : account.phoneNumberVerified),
  address: (account) => account.address,
  roles: (account) => account.roles,
  permissions: (account) => account.permissions,
  groups: (account) => account.groupNames,
} as const satisfies Record<string, Field>;

export type ClaimName = keyof typeof fields;

/** True where the account has more groups than an answer may hold; it has none of them then. */
export const GROUPS_OVERAGE = 'groups_overage';

/** The claims of each scope; the engine is configured with the same table. */
export const claimsByScope = {
  openid: ['sub'],
  profile: [...textClaims, 'preferred_username', 'updated_at'],
  email: ['email', 'email_verified'],
  phone: ['phone_number', 'phone_number_verified'],
  address: ['address'],
  roles: ['roles'],
  permissions: ['permissions'],
  groups: ['groups', GROUPS_OVERAGE],
} as const satisfies Record<string, readonly (ClaimName | typeof GROUPS_OVERAGE)[]>;

// Other names of the same fields that a mapping may use: those of the columns and of the admin API.
const aliases: Record<string, ClaimName> = {
  id: 'sub',
  username: 'preferred_username',
  ...Object.fromEntries(textFieldNames.map((field) => [field, textFields[field].claim])),
  emailVerified: 'email_verified',
  phone: 'phone_number',
  phoneNumber: 'phone_number',
  phoneNumberVerified: 'phone_number_verified',
  updatedAt: 'updated_at',
};
const PART = /^address\.(\w+)$/;
const ATTRIBUTE = /^attributes\.([^\s.][^\s]{0,99})$/;

/** The name of the attribute of an account that a field names: `attributes.badge`; undefined for another field. */
export const attributeNamed = (field: string): string | undefined => ATTRIBUTE.exec(field)?.[1];

/** Every standard claim that has a value. The engine filters by the requested scopes. */
export function claimsFor(account: VisibleAccount): Record<string, unknown> {
  const claims = Object.entries(fields).map(([name, read]) => [name, read(account)] as const);
  return { ...Object.fromEntries(claims.filter(hasValue)), ...(hasOverage(account) && { [GROUPS_OVERAGE]: true }) };
}

const hasOverage = ({ groupNames }: VisibleAccount): boolean => groupNames === undefined;

/** The application's own claims: claim name to user field; empty fields are left out, and `sub` cannot be replaced. */
export function customClaims(account: VisibleAccount, mapping: Record<string, string>): Record<string, unknown> {
  const claims = Object.entries(mapping).map(([name, field]) => [name, fieldValue(account, field)] as const);
  const overage = Object.values(mapping).includes('groups') && hasOverage(account) && { [GROUPS_OVERAGE]: true };
  return {
    ...Object.fromEntries(claims.filter(([name, value]) => name !== 'sub' && hasValue([name, value]))),
    ...overage,
  };
}

function hasValue([, value]: readonly [string, unknown]): boolean {
  return value !== null && value !== undefined;
}

/** SAML attributes: attribute name to user field, each with a list of strings; a field without a value is left out. */
export function attributesFor(account: VisibleAccount, mapping: Record<string, string>): Record<string, string[]> {
  const attributes = Object.entries(mapping).map(
    ([name, field]) => [name, toStrings(fieldValue(account, field))] as const,
  );
  const overage = Object.values(mapping).includes('groups') && hasOverage(account) && { [GROUPS_OVERAGE]: ['true'] };
  return { ...Object.fromEntries(attributes.filter(([, values]) => values.length > 0)), ...overage };
}

/** The names of user fields to choose from; `attributes.NAME` names each further one. */
export const userFieldNames: readonly string[] = [
  ...Object.keys(fields),
  ...Object.keys(addressParts).map((part) => `address.${part}`),
];

/** Whether `field` names a user field: `email`, `roles`, `address.locality`, `attributes.department`, … */
export function isUserField(field: string): boolean {
  return (
    Object.hasOwn(fields, field) ||
    Object.hasOwn(aliases, field) ||
    ATTRIBUTE.test(field) ||
    partOf(field) !== undefined
  );
}

/**
 * The name that values of a user field have in the attributes of an account, before a language tag: `department`, `given_name`. Undefined
 * for a field without such values: who may write attributes must not be able to replace, say, roles.
 */
export function taggableName(field: string): string | undefined {
  const name = attributeNamed(field) ?? (Object.hasOwn(aliases, field) ? aliases[field] : field);
  return ATTRIBUTE.test(field) || (name !== undefined && taggableClaims.has(name)) ? name : undefined;
}

/** The value that a mapping takes from an account; undefined for a field that does not exist. */
export function fieldValue(account: VisibleAccount, field: string): unknown {
  const attribute = attributeNamed(field);
  if (attribute !== undefined) {
    return Object.hasOwn(account.attributes, attribute) ? account.attributes[attribute] : undefined;
  }
  const part = partOf(field);
  if (part) return account.address?.[part];
  const name = Object.hasOwn(aliases, field) ? aliases[field] : field;
  return name !== undefined && Object.hasOwn(fields, name) ? fields[name as ClaimName](account) : undefined;
}

function partOf(field: string): AddressPart | undefined {
  const part = PART.exec(field)?.[1];
  return part !== undefined && Object.hasOwn(addressParts, part) ? (part as AddressPart) : undefined;
}

function toStrings(value: unknown): string[] {
  if (value === null || value === undefined || value === '') return [];
  if (Array.isArray(value)) return value.flatMap(toStrings);
  return [typeof value === 'object' ? JSON.stringify(value) : String(value)];
}
