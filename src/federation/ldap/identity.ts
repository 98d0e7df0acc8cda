// From the entry of a user to its identity: attributes as claims, and the identifier that is never reused. Pure.
import type { Entry } from 'ldapts';
import { plural } from '../../base/platform/plural.ts';
import { attributesOf, type LdapConnection } from '../connections/connection.ts';
import type { LdapSettings } from '../connections/kinds/ldap.ts';
import { FederationError } from '../faults.ts';
import { attributesOfLogin, equals } from './filter.ts';

/** Attributes whose values are bytes, by the name that directories give them. */
const BINARY = ['objectGUID', 'objectSid', 'logonHours'];
const GUID_BYTES = 16;
/** The order of the bytes in Active Directory, which is its own inverse: the first three parts are little-endian (MS-DTYP 2.3.4.2). */
const GUID_ORDER = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
const inGuidOrder = (bytes: Buffer) => Buffer.from(GUID_ORDER.map((at) => bytes[at] as number));

/** What a search for a user requests. */
export function requestedAttributes(connection: LdapConnection): { attributes: string[]; binary: string[] } {
  const { subject_attribute: subject, groups, filter, active_directory: isActiveDirectory } = connection.settings;
  const mapped = Object.values(attributesOf(connection));
  const ofGroups = groups && !groups.base_dn ? [groups.attribute] : [];
  const ofPrimaryGroup = groups && isActiveDirectory ? ['primaryGroupID', 'objectSid'] : [];
  const attributes = [...new Set([subject, ...mapped, ...ofGroups, ...ofPrimaryGroup, ...attributesOfLogin(filter)])];
  const isBinary = (name: string) => BINARY.some((one) => one.toLowerCase() === name.toLowerCase());
  return { attributes, binary: [...BINARY, ...attributes.filter(isBinary)] };
}

/** The values of an attribute; its name is compared without case (RFC 4512 2.5). */
export function valuesOf(entry: Entry, name: string): (string | Buffer)[] {
  const wanted = name.toLowerCase();
  const [, value] = Object.entries(entry).find(([key]) => key !== 'dn' && key.toLowerCase() === wanted) ?? [];
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

/** The attributes that are text, under the names that the connection gives them. */
export function claimsOf(entry: Entry, connection: LdapConnection): Record<string, unknown> {
  const found = Object.values(attributesOf(connection)).flatMap((name) => {
    const values = valuesOf(entry, name).filter((value) => typeof value === 'string');
    return values.length === 0 ? [] : [[name, values.length === 1 ? values[0] : values] as const];
  });
  return Object.fromEntries(found);
}

/** The one value of the subject attribute. Throws upstream_no_identity. */
export function subjectOf(entry: Entry, { settings }: LdapConnection): string {
  const values = valuesOf(entry, settings.subject_attribute);
  const [value] = values;
  if (values.length === 1 && value !== undefined && value.length > 0)
    return typeof value === 'string' ? value.toLowerCase() : identifierOf(value, settings.active_directory);
  throw new FederationError('upstream_no_identity', {
    rule: 'subject',
    reason: 'The user’s entry has no identifier, or several.',
    expected: `one value of ${settings.subject_attribute}`,
    received: plural(values.length, 'value'),
  });
}

/** The filter that finds the entry of a subject again. */
export function subjectFilter(subject: string, { settings }: LdapConnection) {
  const { subject_attribute: attribute, active_directory: isActiveDirectory } = settings;
  if (!BINARY.some((one) => one.toLowerCase() === attribute.toLowerCase())) return equals(attribute, subject);
  const bytes = Buffer.from(subject.replaceAll('-', ''), 'hex');
  const isGuid = isActiveDirectory && bytes.length === GUID_BYTES;
  return equals(attribute, isGuid ? inGuidOrder(bytes) : bytes);
}

/** A GUID of Active Directory with its hyphens, another value as it is. */
function identifierOf(bytes: Buffer, isActiveDirectory: boolean): string {
  if (!isActiveDirectory || bytes.length !== GUID_BYTES) return bytes.toString('hex');
  const hex = inGuidOrder(bytes).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

// What a directory says about the state of an account: in Active Directory why it would reject even the right password, in others
// whether it is locked. Pure.

export type AccountRejection =
  | 'account_disabled'
  | 'account_expired'
  | 'account_locked'
  | 'password_expired'
  | 'password_must_change'
  | 'not_now';

const ACTIVE_DIRECTORY = [
  ...['userAccountControl', 'msDS-User-Account-Control-Computed', 'accountExpires', 'pwdLastSet', 'logonHours'],
  'msDS-ResultantPSO',
];
/** Of OpenLDAP (ppolicy) and 389 Directory Server. */
const OTHERS = ['pwdAccountLockedTime', 'nsAccountLock'];

export const stateAttributes = ({ active_directory }: LdapSettings): string[] =>
  active_directory ? ACTIVE_DIRECTORY : OTHERS;

/** MS-ADTS 2.2.16 and 3.1.1.4.5.17. */
const DISABLED = 0x2;
const LOCKED = 0x10;
const NEVER_EXPIRES = 0x10000;
const PASSWORD_EXPIRED = 0x80_0000;

/** Why a sign-in with the right password would be rejected; undefined where nothing is known against it. */
export function accountRejection(
  entry: Entry,
  { active_directory: isActiveDirectory }: LdapSettings,
  now: Date,
): AccountRejection | undefined {
  return isActiveDirectory ? activeDirectoryRejection(entry, now) : otherRejection(entry);
}

function otherRejection(entry: Entry): AccountRejection | undefined {
  if (textOf(entry, 'nsAccountLock')?.toLowerCase() === 'true') return 'account_disabled';
  const lockedAt = textOf(entry, 'pwdAccountLockedTime');
  // Locked by an administrator, without an end (draft-behera-ldap-password-policy-11 5.3.3).
  if (lockedAt === '000001010000Z') return 'account_disabled';
  return lockedAt === undefined ? undefined : 'account_locked';
}

function activeDirectoryRejection(entry: Entry, now: Date): AccountRejection | undefined {
  const control = Number(textOf(entry, 'userAccountControl') ?? 0);
  const computed = Number(textOf(entry, 'msDS-User-Account-Control-Computed') ?? 0);
  const expires = timeOf(textOf(entry, 'accountExpires'));
  if ((control & DISABLED) !== 0) return 'account_disabled';
  if (expires !== undefined && expires <= now) return 'account_expired';
  if ((computed & LOCKED) !== 0) return 'account_locked';
  if ((control & NEVER_EXPIRES) === 0) {
    if (textOf(entry, 'pwdLastSet') === '0') return 'password_must_change';
    if ((computed & PASSWORD_EXPIRED) !== 0) return 'password_expired';
  }
  const [hours] = valuesOf(entry, 'logonHours');
  return Buffer.isBuffer(hours) && !isWithin(hours, now) ? 'not_now' : undefined;
}

function textOf(entry: Entry, name: string): string | undefined {
  const [value] = valuesOf(entry, name);
  return typeof value === 'string' ? value : undefined;
}

/** Intervals of 100 ns since 1601 (FILETIME); undefined for never. */
function timeOf(text: string | undefined): Date | undefined {
  if (text === undefined || !/^\d{1,19}$/.test(text) || text === '0' || text === '9223372036854775807')
    return undefined;
  const at = new Date(Number(BigInt(text) / 10_000n) - 11_644_473_600_000);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** One bit for each hour of the week, from Sunday 00:00 UTC (MS-ADA2 2.48). */
function isWithin(hours: Buffer, now: Date): boolean {
  if (hours.length !== 21) return true;
  const hour = now.getUTCDay() * 24 + now.getUTCHours();
  return ((hours[hour >> 3] as number) & (1 << (hour & 7))) !== 0;
}
