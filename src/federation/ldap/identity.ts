// From the entry of a user to its identity: attributes as claims, and the identifier that is never reused. Pure.
import type { Entry } from 'ldapts';
import { plural } from '../../base/platform/plural.ts';
import type { LdapConnection } from '../connections/connection.ts';
import { attributesOf } from '../connections/connection.ts';
import { FederationError } from '../faults.ts';
import { attributesOfLogin, equals } from './filter.ts';

/** Attributes whose values are bytes, by the name that directories give them. */
const BINARY = ['objectGUID', 'objectSid', 'logonHours'];
const GUID_BYTES = 16;
/** The order of the bytes, which is its own inverse. */
const GUID_ORDER = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];

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
    message: 'The user’s entry has no identifier, or several.',
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
  return equals(attribute, isGuid ? Buffer.from(GUID_ORDER.map((at) => bytes[at] as number)) : bytes);
}

/** Active Directory writes the first three parts of a GUID in little-endian order (MS-DTYP 2.3.4.2). */
function identifierOf(bytes: Buffer, isActiveDirectory: boolean): string {
  if (!isActiveDirectory || bytes.length !== GUID_BYTES) return bytes.toString('hex');
  const hex = GUID_ORDER.map((at) => (bytes[at] as number).toString(16).padStart(2, '0'));
  return [0, 4, 6, 8, 10].map((from, at) => hex.slice(from, [4, 6, 8, 10, 16][at]).join('')).join('-');
}
