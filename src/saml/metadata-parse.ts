// Metadata of a service provider (SAML Metadata 2.4.4) as plain data, or the reason why it cannot be accepted. Read
// when an administrator registers it and at each refresh, never while somebody signs in.
import { limits } from '../limits.ts';
import type { AcsEndpoint } from './acs.ts';
import { checkEndpointUrl } from './endpoint-url.ts';
import { SamlError } from './errors.ts';
import { type MetadataKeys, readKeys } from './metadata-keys.ts';
import {
  type Contact,
  type RequestedAttribute,
  readContacts,
  readDisplayName,
  readRequestedAttributes,
} from './metadata-people.ts';
import { bindings, namespaces } from './names.ts';
import { readWithSamlify } from './samlify.ts';
import { parseXml } from './xml/parse.ts';
import {
  attribute,
  booleanAttribute,
  childrenOf,
  isElement,
  numberAttribute,
  textOf,
  timeAttribute,
} from './xml/read.ts';

export interface SloEndpoint {
  binding: 'redirect' | 'post' | 'soap';
  location: string;
  /** Where answers go, when that is somewhere else. */
  responseLocation?: string;
}

export interface SpMetadata extends MetadataKeys {
  entityId: string;
  displayName: string | undefined;
  acs: AcsEndpoint[];
  slo: SloEndpoint[];
  authnRequestsSigned: boolean;
  wantAssertionsSigned: boolean;
  /** Format URIs in the order of preference. */
  nameIdFormats: string[];
  requestedAttributes: RequestedAttribute[];
  contacts: Contact[];
  validUntil: Date | undefined;
}

/** Throws SamlError `metadata_refused`, `weak_key` or one of the XML refusals; its message is for the administrator. */
export function parseServiceProviderMetadata(xml: string, now: Date): SpMetadata {
  if (Buffer.byteLength(xml) > limits.saml.metadataBytes) throw new SamlError('too_large');
  const { root, text } = parseXml(xml, { kind: 'metadata' });
  const entity = onlyEntity(root);
  const role = serviceProviderRole(entity);
  const validUntil = earliestValidUntil([root, entity, role]);
  if (validUntil && validUntil <= now) throw refused(`The metadata expired on ${validUntil.toISOString()}.`);
  const entityId = (attribute(entity, 'entityID') ?? '').trim();
  if (!entityId || entityId.length > 1024) throw refused('The entity ID is missing or longer than 1024 characters.');
  const keys = readKeys(role);
  const authnRequestsSigned = booleanAttribute(role, 'AuthnRequestsSigned') ?? false;
  if (authnRequestsSigned && keys.signingCertificates.length === 0) {
    throw refused('The metadata says that requests are signed, but holds no signing certificate.');
  }
  const metadata: SpMetadata = {
    ...keys,
    entityId,
    displayName: readDisplayName(entity, role),
    acs: readAcs(role),
    slo: readSlo(role),
    authnRequestsSigned,
    wantAssertionsSigned: booleanAttribute(role, 'WantAssertionsSigned') ?? false,
    nameIdFormats: childrenOf(role, 'md:NameIDFormat').map(textOf),
    requestedAttributes: readRequestedAttributes(role),
    contacts: readContacts(entity),
    validUntil,
  };
  demandAgreement(metadata, text, root === entity);
  return metadata;
}

function onlyEntity(root: Element): Element {
  if (isElement(root, 'md:EntityDescriptor')) return root;
  if (!isElement(root, 'md:EntitiesDescriptor'))
    throw new SamlError('wrong_root', { message: 'This is not metadata.' });
  const nested = childrenOf(root, 'md:EntitiesDescriptor');
  const [entity, ...more] = childrenOf(root, 'md:EntityDescriptor');
  if (!entity || more.length > 0 || nested.length > 0) {
    throw refused('The metadata has to describe exactly one entity.');
  }
  return entity;
}

function serviceProviderRole(entity: Element): Element {
  const roles = childrenOf(entity, 'md:SPSSODescriptor').filter((role) =>
    (attribute(role, 'protocolSupportEnumeration') ?? '').split(/\s+/).includes(namespaces.samlp),
  );
  const [role, ...more] = roles;
  if (!role || more.length > 0) throw refused('The metadata has to describe one SAML 2.0 service provider.');
  return role;
}

function earliestValidUntil(carriers: Element[]): Date | undefined {
  const times = carriers
    .filter((carrier) => attribute(carrier, 'validUntil') !== undefined)
    .map((carrier) => timeAttribute(carrier, 'validUntil')?.getTime());
  if (times.includes(undefined)) throw refused('validUntil is not a time.');
  return times.length === 0 ? undefined : new Date(Math.min(...times.map(Number)));
}

function readAcs(role: Element): AcsEndpoint[] {
  const endpoints = childrenOf(role, 'md:AssertionConsumerService').map((service) => {
    const index = numberAttribute(service, 'index');
    return {
      url: checkEndpointUrl((attribute(service, 'Location') ?? '').trim(), 'AssertionConsumerService'),
      binding: (attribute(service, 'Binding') ?? '').trim(),
      ...(index === undefined ? {} : { index }),
      isDefault: booleanAttribute(service, 'isDefault'),
    };
  });
  const indexes = endpoints.map(({ index }) => index).filter((index) => index !== undefined);
  if (new Set(indexes).size < indexes.length) throw refused('Two AssertionConsumerServices have the same index.');
  if (!endpoints.some(({ binding }) => binding === bindings.post)) {
    throw refused('No AssertionConsumerService with the HTTP-POST binding.');
  }
  return endpoints;
}

function readSlo(role: Element): SloEndpoint[] {
  return childrenOf(role, 'md:SingleLogoutService').flatMap((service): SloEndpoint[] => {
    const uri = (attribute(service, 'Binding') ?? '').trim();
    const binding = (['redirect', 'post', 'soap'] as const).find((name) => bindings[name] === uri);
    if (!binding) return []; // artifact is not spoken here
    const location = checkEndpointUrl((attribute(service, 'Location') ?? '').trim(), 'SingleLogoutService');
    const response = attribute(service, 'ResponseLocation')?.trim();
    if (!response) return [{ binding, location }];
    return [{ binding, location, responseLocation: checkEndpointUrl(response, 'SingleLogoutService') }];
  });
}

/** Two independent readers have to see the same entity and the same addresses: a trick on one of them is not enough. */
function demandAgreement(metadata: SpMetadata, text: string, isSingleEntity: boolean): void {
  const other = isSingleEntity ? readWithSamlify(text) : undefined;
  if (!other) return;
  const ours = metadata.acs.map(({ url }) => url).sort();
  const theirs = [...other.acsUrls].sort();
  if (other.entityId !== metadata.entityId || ours.join('\n') !== theirs.join('\n')) {
    throw refused('The metadata is ambiguous: two readers understand it differently.');
  }
}

function refused(message: string): SamlError {
  return new SamlError('metadata_refused', { message });
}
