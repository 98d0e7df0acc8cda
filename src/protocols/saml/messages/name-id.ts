// NameIDs (SAML Core 8.3): which format a request gets, and its value and qualifiers. Pure: the stored persistent value
// and the random transient one are parameters.

import { SamlError } from '../xml/errors.ts';
import { type NameIdFormatName, nameIdFormatOf, nameIdFormats, standardFormat } from '../xml/names.ts';
import { attribute, childOf, textOf } from '../xml/read.ts';
import { element, type XmlElement } from '../xml/write.ts';

export interface NameId {
  value: string;
  /** Format URI. */
  format: string;
  nameQualifier?: string;
  spNameQualifier?: string;
}

/** NameIDPolicy of an AuthnRequest. */
export interface NameIdPolicy {
  format: string | undefined;
  allowCreate: boolean | undefined;
  spNameQualifier: string | undefined;
}

export interface NameIdChoice {
  entityId: string;
  /** The format that the administrator configured, if any. */
  configured?: NameIdFormatName | undefined;
  /** The configured format is used whatever a request asks for. */
  isForced?: boolean | undefined;
  /** Format URIs that its metadata names. */
  offered: readonly string[];
}

/**
 * The format of the NameID. The configured format and the metadata limit what a request may choose, so that no service
 * provider gets an email address just by requesting it; without either, every supported format is allowed.
 *
 * @throws SamlError invalid_name_id_policy
 */
export function chooseNameIdFormat(policy: NameIdPolicy | undefined, choice: NameIdChoice): NameIdFormatName {
  if (policy?.spNameQualifier && policy.spNameQualifier !== choice.entityId) {
    throw new SamlError('invalid_name_id_policy', {
      rule: 'qualifier',
      detail: `SPNameQualifier ${policy.spNameQualifier}`,
      received: policy.spNameQualifier,
      expected: choice.entityId,
    });
  }
  if (choice.isForced && choice.configured) return choice.configured;
  const offered = choice.offered.map(nameIdFormatOf).filter((name) => name !== undefined);
  const byDefault = choice.configured ?? offered.find((name) => name !== 'unspecified') ?? offered[0] ?? 'persistent';
  const requested = policy?.format === undefined ? undefined : nameIdFormatOf(policy.format);
  if (!policy?.format || requested === 'unspecified') return byDefault;
  const anyFormat = choice.configured === undefined && offered.length === 0;
  if (requested && (anyFormat || requested === choice.configured || offered.includes(requested))) return requested;
  throw new SamlError('invalid_name_id_policy', {
    detail: `Format ${policy.format}`,
    received: policy.format,
    expected: choice.configured ?? 'a format that its metadata names',
  });
}

/**
 * Whether a new persistent NameID may be created for a user who has none at this service provider. By default it
 * may: errata E14 lets an identity provider assume that its users have identifiers in advance, whatever AllowCreate says, and
 * service providers omit it, or send "false" (pysaml2), and expect one. Where it is required, only "true" permits it.
 */
export function mayCreateNameId(policy: NameIdPolicy | undefined, requireAllowCreate: boolean): boolean {
  return !requireAllowCreate || policy?.allowCreate === true;
}

export type NameIdField = 'sub' | 'username' | 'email';

export interface NameIdSource {
  format: NameIdFormatName;
  /** The configured field of the user that is the value of `persistent` and `unspecified`. Each is unique among users. */
  field?: NameIdField | undefined;
  identityProvider: string;
  serviceProvider: string;
  /** The `sub` of OpenID Connect, which is never reassigned. */
  userId: string;
  /** Also for `unspecified`, when no field is configured. */
  username: string;
  /** A verified address: with an unverified one a user could sign in as another user of the application. */
  verifiedEmail: string | undefined;
  /** The stored opaque value of this user at this service provider; undefined: there is none, and none may be created. */
  persistent: string | undefined;
  /** A new random value. */
  transient: () => string;
}

/** What is missing for a NameID. `allow-create`: AllowCreate in the request, for a first persistent one. */
export type MissingForNameId = 'verified-email' | 'allow-create';

/** What the account, or the request, lacks for a value in this format; undefined: nothing. */
export function missingForNameId(source: NameIdSource): MissingForNameId | undefined {
  const { format, field, verifiedEmail, persistent } = source;
  const isOfField = format === 'persistent' || format === 'unspecified';
  const isAddress = format === 'emailAddress' || (isOfField && field === 'email');
  if (isAddress) return verifiedEmail === undefined ? 'verified-email' : undefined;
  const isStored = format === 'persistent' && field === undefined;
  return isStored && persistent === undefined ? 'allow-create' : undefined;
}

const FAULTS = {
  'verified-email': { rule: 'email', detail: 'no verified email address', expected: 'a verified email address' },
  'allow-create': {
    rule: 'allow_create',
    received: 'no AllowCreate="true"',
    expected: 'AllowCreate="true"',
    detail:
      'require_allow_create is set, the request lacks AllowCreate="true", and the user has no identifier here yet',
  },
} as const;

/** The NameID of one Response. Throws SamlError invalid_name_id_policy when the account lacks a value for the format. */
export function nameIdFor(source: NameIdSource): NameId {
  const missing = missingForNameId(source);
  if (missing) throw new SamlError('invalid_name_id_policy', FAULTS[missing]);
  const format = nameIdFormats[source.format];
  const qualifiers = { nameQualifier: source.identityProvider, spNameQualifier: source.serviceProvider };
  switch (source.format) {
    case 'persistent':
      return { value: fieldOf(source) ?? source.persistent ?? '', format, ...qualifiers };
    case 'transient':
      return { value: source.transient(), format, ...qualifiers };
    case 'unspecified':
      return { value: fieldOf(source) ?? source.username, format };
    case 'emailAddress':
      return { value: source.verifiedEmail ?? '', format };
  }
}

function fieldOf({ field, userId, username, verifiedEmail }: NameIdSource): string | undefined {
  return field && { sub: userId, username, email: verifiedEmail }[field];
}

/** The NameID in this element, without trust in what it says. A missing format is empty. */
export function readNameId(parent: Element): NameId | undefined {
  const element = childOf(parent, 'saml:NameID');
  if (!element) return undefined;
  const nameQualifier = attribute(element, 'NameQualifier');
  const spNameQualifier = attribute(element, 'SPNameQualifier');
  return {
    value: textOf(element),
    format: attribute(element, 'Format') ?? '',
    ...(nameQualifier && { nameQualifier }),
    ...(spNameQualifier && { spNameQualifier }),
  };
}

/** The element, in assertions and in LogoutRequests alike. */
export function nameIdElement(nameId: NameId): XmlElement {
  return element(
    'saml:NameID',
    {
      Format: nameId.format,
      NameQualifier: nameId.nameQualifier,
      SPNameQualifier: nameId.spNameQualifier,
    },
    nameId.value,
  );
}

/** A missing or unspecified format stands for any: several service providers do not return the format. */
export function sameFormat(issued: string, received: string): boolean {
  const format = standardFormat(received);
  return format === '' || format === nameIdFormats.unspecified || format === standardFormat(issued);
}

/** Whether both name the same user, whatever their formats. A missing qualifier stands for the party it would name (Core 8.3.7). */
export function sameNameId(
  issued: NameId,
  received: NameId,
  parties: { identityProvider: string; serviceProvider: string },
): boolean {
  const { identityProvider, serviceProvider } = parties;
  return (
    issued.value === received.value &&
    (received.nameQualifier ?? identityProvider) === (issued.nameQualifier ?? identityProvider) &&
    (received.spNameQualifier ?? serviceProvider) === (issued.spNameQualifier ?? serviceProvider)
  );
}
