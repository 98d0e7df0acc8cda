// NameIDs (SAML Core 8.3): which format a request may have, and what value and qualifiers it then carries. Pure; the
// stored persistent value and the random transient one are handed in.
import { SamlError } from './errors.ts';
import { type NameIdFormatName, nameIdFormats } from './names.ts';
import { element, type XmlElement } from './xml/write.ts';

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
  /** What the administrator chose for this service provider, if anything. */
  configured?: NameIdFormatName | undefined;
  /** Format URIs that its metadata names. */
  offered: readonly string[];
}

/**
 * The format to answer with, or the refusal InvalidNameIDPolicy. An explicit choice and the metadata bound what a
 * request may ask for, so that nobody obtains an e-mail address by asking for one; without either, any format we
 * serve is given.
 */
export function chooseNameIdFormat(policy: NameIdPolicy | undefined, choice: NameIdChoice): NameIdFormatName {
  if (policy?.spNameQualifier && policy.spNameQualifier !== choice.entityId) {
    throw new SamlError('invalid_name_id_policy', { detail: `SPNameQualifier ${policy.spNameQualifier}` });
  }
  const offered = choice.offered.map(formatName).filter((name) => name !== undefined);
  const usual = choice.configured ?? offered.find((name) => name !== 'unspecified') ?? offered[0] ?? 'persistent';
  if (!policy?.format || policy.format === nameIdFormats.unspecified) return usual;
  const asked = formatName(policy.format);
  const free = choice.configured === undefined && offered.length === 0;
  if (asked && (free || asked === choice.configured || offered.includes(asked))) return asked;
  throw new SamlError('invalid_name_id_policy', { detail: `Format ${policy.format}` });
}

/** Whether a persistent identifier may be made for somebody who has none at this service provider yet. */
export function mayCreateNameId(policy: NameIdPolicy | undefined): boolean {
  // Core 3.4.1.1 says "false" when absent; service providers that leave it out do not mean that, those that write it do.
  return policy?.allowCreate !== false;
}

export interface NameIdSource {
  format: NameIdFormatName;
  identityProvider: string;
  serviceProvider: string;
  /** The user name, for `unspecified`. */
  username: string;
  /** An address that was verified: an unverified one would let its owner in as somebody else. */
  verifiedEmail: string | undefined;
  /** The stored opaque value of this user at this service provider. */
  persistent: () => string;
  /** A fresh random value. */
  transient: () => string;
}

/** The NameID of one answer, or InvalidNameIDPolicy when the account lacks what the format needs. */
export function nameIdFor(source: NameIdSource): NameId {
  const format = nameIdFormats[source.format];
  const qualifiers = { nameQualifier: source.identityProvider, spNameQualifier: source.serviceProvider };
  switch (source.format) {
    case 'persistent':
      return { value: source.persistent(), format, ...qualifiers };
    case 'transient':
      return { value: source.transient(), format, ...qualifiers };
    case 'unspecified':
      return { value: source.username, format };
    case 'emailAddress':
      if (!source.verifiedEmail)
        throw new SamlError('invalid_name_id_policy', { detail: 'no verified e-mail address' });
      return { value: source.verifiedEmail, format };
  }
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

/**
 * Whether both name the same person. A missing qualifier stands for the party it would name (Core 8.3.7); a format
 * left unspecified leaves it to us, and several service providers drop it on the way back.
 */
export function sameNameId(
  issued: NameId,
  received: NameId,
  parties: { identityProvider: string; serviceProvider: string },
): boolean {
  const { identityProvider, serviceProvider } = parties;
  const anyFormat = !received.format || received.format === nameIdFormats.unspecified;
  return (
    issued.value === received.value &&
    (anyFormat || issued.format === received.format) &&
    (received.nameQualifier ?? identityProvider) === (issued.nameQualifier ?? identityProvider) &&
    (received.spNameQualifier ?? serviceProvider) === (issued.spNameQualifier ?? serviceProvider)
  );
}

function formatName(uri: string): NameIdFormatName | undefined {
  const names = Object.keys(nameIdFormats) as NameIdFormatName[];
  return names.find((name) => nameIdFormats[name] === uri);
}
