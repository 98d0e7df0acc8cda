// Identity provider metadata as plain data (SAML Metadata 2.4.3), or the reason why it is rejected. Parsed when a connection
// to an upstream is made and when its document is read again.
import { limits } from '../../../base/limits.ts';
import { SamlError } from '../xml/errors.ts';
import { bindings, namespaces } from '../xml/names.ts';
import { parseXml } from '../xml/parse.ts';
import { attribute, booleanAttribute, childrenOf, textOf } from '../xml/read.ts';
import { type LeftOut, noEndpoint, usableEndpointUrl } from './endpoint-url.ts';
import { earliestValidUntil, readSlo, rejected, type SloEndpoint, singleEntityDescriptor } from './entity.ts';
import { type MetadataKeys, readKeys } from './keys.ts';
import { readDisplayName } from './presentation.ts';

export interface SsoEndpoint {
  binding: 'redirect' | 'post';
  location: string;
}

export interface IdpMetadata extends MetadataKeys {
  entityId: string;
  displayName: string | undefined;
  sso: SsoEndpoint[];
  slo: SloEndpoint[];
  wantAuthnRequestsSigned: boolean;
  /** Format URIs in the order of preference. */
  nameIdFormats: string[];
  validUntil: Date | undefined;
  /** Endpoints that cannot be used. */
  leftOut: LeftOut[];
}

/** Throws SamlError metadata_rejected, weak_key or a code of xml/parse.ts; its message is for the administrator. */
export function parseIdentityProviderMetadata(xml: string, now: Date): IdpMetadata {
  if (Buffer.byteLength(xml) > limits.saml.metadataBytes) throw new SamlError('too_large');
  const { root } = parseXml(xml, { kind: 'metadata' });
  const entity = singleEntityDescriptor(root);
  const descriptor = idpSsoDescriptor(entity);
  const validUntil = earliestValidUntil([root, entity, descriptor]);
  if (validUntil && validUntil <= now) throw rejected(`The metadata expired on ${validUntil.toISOString()}.`);
  const entityId = attribute(entity, 'entityID') ?? '';
  if (!entityId || entityId.length > 1024) throw rejected('The entity ID is missing or longer than 1024 characters.');
  const leftOut: LeftOut[] = [];
  const sso = readSso(descriptor, leftOut);
  return {
    ...readKeys(descriptor),
    entityId,
    displayName: readDisplayName(entity, descriptor),
    sso,
    slo: readSlo(descriptor, leftOut),
    leftOut,
    wantAuthnRequestsSigned: booleanAttribute(descriptor, 'WantAuthnRequestsSigned') ?? false,
    nameIdFormats: childrenOf(descriptor, 'md:NameIDFormat').map(textOf),
    validUntil,
  };
}

function idpSsoDescriptor(entity: Element): Element {
  const descriptors = childrenOf(entity, 'md:IDPSSODescriptor').filter((descriptor) =>
    (attribute(descriptor, 'protocolSupportEnumeration') ?? '').split(/\s+/).includes(namespaces.samlp),
  );
  const [descriptor, ...others] = descriptors;
  if (!descriptor || others.length > 0) throw rejected('The metadata has to describe one SAML 2.0 identity provider.');
  return descriptor;
}

function readSso(descriptor: Element, leftOut: LeftOut[]): SsoEndpoint[] {
  const what = 'SingleSignOnService';
  const endpoints = childrenOf(descriptor, 'md:SingleSignOnService').flatMap((service): SsoEndpoint[] => {
    const uri = attribute(service, 'Binding') ?? '';
    const binding = (['redirect', 'post'] as const).find((name) => bindings[name] === uri);
    if (!binding) return [];
    const location = usableEndpointUrl(attribute(service, 'Location') ?? '', what, leftOut);
    return location === undefined ? [] : [{ binding, location }];
  });
  if (endpoints.length > 0) return endpoints;
  throw noEndpoint('No SingleSignOnService with the HTTP-Redirect or HTTP-POST binding.', what, leftOut);
}
