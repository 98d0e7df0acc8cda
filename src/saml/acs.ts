// Where the answer to an AuthnRequest goes. The request may choose among the addresses that are registered for its
// service provider; it can never bring one along (SAML Profiles 4.1.4.1).
import type { AuthnRequest } from './authn-request.ts';
import { SamlError } from './errors.ts';
import { bindings } from './names.ts';

export interface AcsEndpoint {
  url: string;
  /** Binding URI. Answers go to HTTP-POST endpoints only. */
  binding: string;
  index?: number | undefined;
  isDefault?: boolean | undefined;
}

/** The registered address that the request means, or a refusal that must not be sent anywhere. */
export function resolveAcs(
  request: Pick<AuthnRequest, 'acsUrl' | 'acsIndex'>,
  registered: readonly AcsEndpoint[],
): AcsEndpoint {
  const usable = registered.filter((endpoint) => endpoint.binding === bindings.post);
  const { acsUrl, acsIndex } = request;
  // Core 3.4.1 makes them exclusive: with both, two readers could disagree on the address.
  if (acsUrl !== undefined && acsIndex !== undefined) {
    throw new SamlError('acs_not_registered', { detail: 'both URL and index' });
  }
  let found: AcsEndpoint | undefined;
  if (acsUrl !== undefined) found = usable.find((endpoint) => endpoint.url === acsUrl);
  else if (acsIndex !== undefined) found = usable.find((endpoint) => endpoint.index === acsIndex);
  else found = defaultAcs(usable);
  if (!found) throw new SamlError('acs_not_registered', { detail: { acsUrl, acsIndex } });
  return found;
}

/** Metadata 2.2.3: the one marked so, else the first not marked otherwise, else the first. */
export function defaultAcs(registered: readonly AcsEndpoint[]): AcsEndpoint | undefined {
  const usable = registered.filter((endpoint) => endpoint.binding === bindings.post);
  return (
    usable.find((endpoint) => endpoint.isDefault === true) ??
    usable.find((endpoint) => endpoint.isDefault === undefined) ??
    usable[0]
  );
}

/** Of what may be told to the service provider: only HTTP-POST is offered. */
export function checkProtocolBinding(request: Pick<AuthnRequest, 'protocolBinding'>): void {
  if (request.protocolBinding !== undefined && request.protocolBinding !== bindings.post) {
    throw new SamlError('unsupported_binding', { detail: request.protocolBinding });
  }
}
