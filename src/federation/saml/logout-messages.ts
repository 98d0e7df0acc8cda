// The LogoutRequests and LogoutResponses that are exchanged with SAML upstreams: whose keys verify them, and how they are sent.

import type { Base } from '../../base/base.ts';
import { postMessage, redirectUrl } from '../../protocols/saml/messages/encode.ts';
import type { NameId } from '../../protocols/saml/messages/name-id.ts';
import type { Sender } from '../../protocols/saml/messages/open-message.ts';
import type { SloEndpoint } from '../../protocols/saml/metadata/entity.ts';
import type { XmlElement } from '../../protocols/saml/xml/write.ts';
import type { SamlConnection } from '../connections/connection.ts';
import type { UpstreamRedirect } from '../upstream.ts';
import type { IdentityProvider } from './identity-provider.ts';
import type { ServiceProvider } from './service-provider.ts';

/** What the head of a message from this upstream must say. */
export function expectedFrom(
  { serviceProvider, now, skewSeconds }: Base & { serviceProvider: ServiceProvider; skewSeconds(): number },
  entityId: string,
) {
  return { entityId, endpoint: serviceProvider.sloUrl, now: now(), skewSeconds: skewSeconds() };
}

/** Ending a session takes a signature. */
export function senderKeys({ settings }: SamlConnection, { signingKeys }: IdentityProvider): Sender {
  return { signingKeys, allowSha1: settings.allow_sha1, requireSigned: true };
}

export function asNameId({ value = '', format = '', nameQualifier, spNameQualifier }: Record<string, string>): NameId {
  return { value, format, ...(nameQualifier && { nameQualifier }), ...(spNameQualifier && { spNameQualifier }) };
}

/** By this binding, else by the other one. */
export function browserEndpoint(slo: readonly SloEndpoint[], binding: 'redirect' | 'post'): SloEndpoint | undefined {
  const offered = slo.filter((endpoint) => endpoint.binding !== 'soap');
  return offered.find((endpoint) => endpoint.binding === binding) ?? offered[0];
}

export function encodeForBinding(
  { signer }: ServiceProvider,
  { binding, location }: SloEndpoint,
  parameter: 'SAMLRequest' | 'SAMLResponse',
  message: XmlElement,
  relayState: string | undefined,
): UpstreamRedirect {
  if (binding === 'redirect')
    return { method: 'redirect', url: redirectUrl({ location, parameter, message, relayState }, signer()) };
  const fields = {
    [parameter]: postMessage(message, signer()),
    ...(relayState !== undefined && { RelayState: relayState }),
  };
  return { method: 'post', url: location, fields };
}
