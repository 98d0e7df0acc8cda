import { bindings } from '../xml/names.ts';
import { attribute, booleanAttribute, childrenOf, textOf } from '../xml/read.ts';
import { type LeftOut, noEndpoint, usableEndpointUrl } from './endpoint-url.ts';
import { openMetadata, readSlo, type SloEndpoint } from './entity.ts';
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
  const { entity, descriptor, entityId, validUntil } = openMetadata(xml, 'IDPSSODescriptor', now);
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
