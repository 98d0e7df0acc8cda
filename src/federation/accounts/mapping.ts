// From the claims of an upstream to the fields of an account and to roles. Unmapped claims and groups are dropped. Pure.
import { domainOf } from '../../base/network/domains.ts';
import { canonicalTag } from '../../base/texts/languages.ts';
import { taggableName } from '../../people/accounts/claims.ts';
import { type MappedField, mappedFields, textFields } from '../../people/accounts/profile-fields.ts';
import { taggedName } from '../../people/accounts/tagged-values.ts';

export interface MappingRules {
  /** Field of an account -> name or path of the claim; `attributes.NAME` is a custom attribute. */
  attributes: Readonly<Record<string, string>>;
  trusted_email: 'never' | 'verified' | 'domains';
  /** Whether the upstream marks verified addresses, with `email_verified`. SAML and LDAP do not: there `trusted_email: verified` trusts each address. */
  marksVerified: boolean;
}

export interface MappedProfile extends Record<MappedField, string | undefined> {
  /** What the upstream calls the user; only a suggestion for a new username. */
  username: string | undefined;
  email: string | undefined;
  /** Whether the upstream proves that the address is the user's. */
  isEmailTrusted: boolean;
  phoneNumber: string | undefined;
  attributes: Record<string, unknown>;
}

/** A claim by its name, which may be a URL, or by a path with dots such as `realm_access.roles`. */
export function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** The text of a claim; the first of a list. */
export function textOf(value: unknown): string | undefined {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof one !== 'string' && typeof one !== 'number') return undefined;
  const text = String(one).normalize('NFC').trim();
  return text === '' ? undefined : text;
}

/** The names in a claim with groups; undefined for a claim that is missing or no list of text. */
export function groupNames(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (!Array.isArray(value)) return undefined;
  return value.every((one) => typeof one === 'string') ? [...new Set(value)] : undefined;
}

/**
 * The profile that the claims state.
 * @param provenDomains those of the connection, ASCII (punycode), in lower case
 */
export function mapProfile(
  claims: Readonly<Record<string, unknown>>,
  rules: MappingRules,
  provenDomains: readonly string[],
): MappedProfile {
  const read = (field: string) => {
    const path = rules.attributes[field];
    return path === undefined ? undefined : textOf(claimAt(claims, path));
  };
  const email = read('email');
  return {
    username: read('username'),
    email,
    isEmailTrusted: email !== undefined && isTrusted(email, claims, rules, provenDomains),
    ...(Object.fromEntries(mappedFields.map((field) => [field, read(textFields[field].claim)])) as Record<
      MappedField,
      string | undefined
    >),
    phoneNumber: read('phone_number'),
    attributes: { ...customAttributes(claims, rules.attributes), ...inOtherLanguages(claims, rules.attributes) },
  };
}

/** `email_verified` is about the claim `email` (OIDC Core 5.1), not about another claim that is mapped to the address. */
function isTrusted(
  email: string,
  claims: Readonly<Record<string, unknown>>,
  { trusted_email: rule, marksVerified }: MappingRules,
  provenDomains: readonly string[],
): boolean {
  const { email_verified: verified } = claims;
  if (verified === false || verified === 'false') return false;
  if (rule === 'domains') return provenDomains.includes(domainOf(email));
  const isVerified = email === textOf(claims.email) && (verified === true || verified === 'true');
  return rule === 'verified' && (!marksVerified || isVerified);
}

function customAttributes(
  claims: Readonly<Record<string, unknown>>,
  mapping: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const found = Object.entries(mapping).flatMap(([field, path]) => {
    const name = /^attributes\.(.+)$/.exec(field)?.[1];
    const value = name === undefined ? undefined : claimAt(claims, path);
    return name !== undefined && isAttribute(value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}

const MAX_TAGGED = 50;

/** The claims with a language tag (`name#ja`, OpenID Connect Core 5.2), by the names that their fields have here. */
function inOtherLanguages(
  claims: Readonly<Record<string, unknown>>,
  mapping: Readonly<Record<string, string>>,
): Record<string, string> {
  const tagged = Object.keys(claims).flatMap((claim) => {
    const parts = taggedName(claim);
    return parts ? [{ claim, ...parts }] : [];
  });
  const found: [string, string][] = [];
  for (const [field, path] of Object.entries(mapping)) {
    const name = taggableName(field);
    if (name === undefined) continue;
    for (const { claim, base, tag } of tagged) {
      const text = base === path ? textOf(claims[claim]) : undefined;
      if (text !== undefined) found.push([`${name}#${canonicalTag(tag)}`, text]);
    }
  }
  return Object.fromEntries(found.slice(0, MAX_TAGGED));
}

function isAttribute(value: unknown): boolean {
  if (['string', 'number', 'boolean'].includes(typeof value)) return true;
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
