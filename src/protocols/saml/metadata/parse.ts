// Service provider metadata as plain data (SAML Metadata 2.4.4), or the reason why it is rejected. Parsed at registration
// and refresh, and never during a sign-in.

import samlify from 'samlify';
import { type Text, t } from '../../../base/texts/text.ts';
import type { Certificate } from '../xml/certificates.ts';
import { bindings } from '../xml/names.ts';
import { attribute, booleanAttribute, childrenOf, numberAttribute, textOf } from '../xml/read.ts';
import { type LeftOut, noEndpoint, usableEndpointUrl } from './endpoint-url.ts';
import { openMetadata, readSlo, rejected, type SloEndpoint, shortestCacheDuration } from './entity.ts';
import { type EncryptionCertificate, encryptionOf, type MetadataKeys, readKeys } from './keys.ts';
import {
  type Contact,
  type RequestedAttribute,
  readContacts,
  readDisplayName,
  readNames,
  readRequestedAttributes,
} from './presentation.ts';

export interface AcsEndpoint {
  url: string;
  /** Binding URI. Responses are sent only to HTTP-POST endpoints. */
  binding: string;
  index?: number | undefined;
  isDefault?: boolean | undefined;
}

/** What sign-ins and logouts use of the metadata, or of what an administrator entered in its place. */
export interface SpParts {
  /** Language -> name. */
  names: Record<string, string>;
  acs: AcsEndpoint[];
  slo: SloEndpoint[];
  signingCertificates: Certificate[];
  encryptionCertificates: EncryptionCertificate[];
  authnRequestsSigned: boolean;
  /** Format URIs in the order of preference. */
  nameIdFormats: string[];
  contacts: Contact[];
}

export interface SpMetadata extends SpParts, MetadataKeys {
  entityId: string;
  displayName: string | undefined;
  /** Endpoints that cannot be used. */
  leftOut: LeftOut[];
  wantAssertionsSigned: boolean;
  requestedAttributes: RequestedAttribute[];
  encryption: ReturnType<typeof encryptionOf>;
  validUntil: Date | undefined;
  /** cacheDuration: how long the document may be used before it is read again. */
  cacheSeconds: number | undefined;
}

/** Throws SamlError metadata_rejected, weak_key or a code of xml/parse.ts; its message is for the administrator. */
export function parseServiceProviderMetadata(xml: string, now: Date): SpMetadata {
  const { root, text, entity, descriptor, entityId, validUntil } = openMetadata(xml, 'SPSSODescriptor', now);
  const keys = readKeys(descriptor);
  const authnRequestsSigned = booleanAttribute(descriptor, 'AuthnRequestsSigned') ?? false;
  if (authnRequestsSigned && keys.signingCertificates.length === 0) {
    throw rejected('The metadata says that requests are signed, but holds no signing certificate.');
  }
  const leftOut: LeftOut[] = [];
  const acs = readAcs(descriptor, leftOut);
  const metadata: SpMetadata = {
    ...keys,
    entityId,
    displayName: readDisplayName(entity, descriptor),
    names: readNames(descriptor),
    acs,
    slo: readSlo(descriptor, leftOut),
    leftOut,
    authnRequestsSigned,
    wantAssertionsSigned: booleanAttribute(descriptor, 'WantAssertionsSigned') ?? false,
    nameIdFormats: childrenOf(descriptor, 'md:NameIDFormat').map(textOf),
    requestedAttributes: readRequestedAttributes(descriptor),
    contacts: readContacts(entity),
    encryption: encryptionOf(keys),
    validUntil,
    cacheSeconds: shortestCacheDuration([root, entity, descriptor]),
  };
  compareWithSamlify(metadata, text, root === entity ? acsLocations(descriptor) : undefined);
  return metadata;
}

/** What its application is called where nobody says so. */
export function nameFrom({ displayName, entityId }: SpMetadata): string {
  const host = URL.canParse(entityId) ? new URL(entityId).host : '';
  return displayName ?? (host || entityId);
}

function readAcs(descriptor: Element, leftOut: LeftOut[]): AcsEndpoint[] {
  const what = 'AssertionConsumerService';
  const services = childrenOf(descriptor, 'md:AssertionConsumerService');
  const indexes = services.map((service) => numberAttribute(service, 'index')).filter((index) => index !== undefined);
  if (new Set(indexes).size < indexes.length) throw rejected('Two AssertionConsumerServices have the same index.');
  const endpoints = services.flatMap((service): AcsEndpoint[] => {
    const index = numberAttribute(service, 'index');
    const url = usableEndpointUrl(attribute(service, 'Location') ?? '', what, leftOut);
    if (url === undefined) return [];
    const endpoint = {
      url,
      binding: attribute(service, 'Binding') ?? '',
      ...(index === undefined ? {} : { index }),
      isDefault: booleanAttribute(service, 'isDefault'),
    };
    return [endpoint];
  });
  if (endpoints.some(({ binding }) => binding === bindings.post)) return endpoints;
  throw noEndpoint('No AssertionConsumerService with the HTTP-POST binding.', what, leftOut);
}

/** As they are written, also those that cannot be used. */
function acsLocations(descriptor: Element): string[] {
  return childrenOf(descriptor, 'md:AssertionConsumerService').map((service) => attribute(service, 'Location') ?? '');
}

/** Two independent parsers have to read the same entity and ACS URLs: against parser differentials. */
function compareWithSamlify({ entityId }: SpMetadata, text: string, locations: string[] | undefined): void {
  const bySamlify = locations && readWithSamlify(text);
  if (!bySamlify) return;
  const acsUrls = [...locations].sort();
  const otherAcsUrls = [...bySamlify.acsUrls].sort();
  if (bySamlify.entityId !== entityId || acsUrls.join('\n') !== otherAcsUrls.join('\n')) {
    throw rejected('The metadata is ambiguous: two XML parsers disagree.');
  }
}

// samlify as the second parser of service provider metadata, independent of parse.ts: a document that the two read
// differently is rejected. It does nothing else in this server: it accepts wrapped
// signatures (tngan/samlify#634) and needs ten times as long to sign. Metadata of SAML 1.1 and 2.0 in one entity is ambiguous to it.

interface SecondReading {
  entityId: string;
  acsUrls: string[];
}

/** What samlify reads, or undefined when it cannot read the document. */
export function readWithSamlify(xml: string): SecondReading | undefined {
  let meta: { getEntityID(): unknown; meta: Record<string, unknown> };
  try {
    meta = samlify.ServiceProvider({ metadata: xml }).entityMeta as unknown as typeof meta;
  } catch {
    return undefined;
  }
  const entityId = meta.getEntityID();
  if (typeof entityId !== 'string') return undefined;
  const services = [meta.meta.assertionConsumerService ?? []].flat() as { location?: unknown }[];
  return {
    entityId: entityId.trim(),
    acsUrls: services.map(({ location }) => String(location).trim()),
  };
}

// What of a metadata document is not used, in words for administrators.

/** Endpoints that are left out. */
export function endpointWarnings(leftOut: readonly LeftOut[]): Text[] {
  return leftOut.map(({ what, location, fault }) =>
    t('console.applications.metadata.left-out', { what, location, fault }),
  );
}

/** The same of a service provider, and its keys that nothing can be encrypted for. */
export function metadataWarnings({ leftOut, encryption }: SpMetadata): Text[] {
  const warnings = endpointWarnings(leftOut);
  return encryption === 'curve' ? [...warnings, t('console.applications.metadata.curve')] : warnings;
}
