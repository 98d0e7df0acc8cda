// The ACS that a Response goes to. A request may only choose among the registered ones of its service provider (SAML
// Profiles 4.1.4.1).
import type { AuthnRequest } from '../messages/authn-request.ts';
import type { AcsEndpoint } from '../metadata/parse.ts';
import { isSameAddress } from '../xml/addresses.ts';
import { SamlError } from '../xml/errors.ts';
import { bindings } from '../xml/names.ts';

/**
 * The registered ACS that the request names, by URL or index, or the default one.
 *
 * @throws SamlError acs_not_registered, which must not be sent to any URL of the request
 */
export function resolveAcs(
  request: Pick<AuthnRequest, 'acsUrl' | 'acsIndex'>,
  registered: readonly AcsEndpoint[],
): AcsEndpoint {
  const usable = registered.filter((endpoint) => endpoint.binding === bindings.post);
  const { acsUrl, acsIndex } = request;
  let found: AcsEndpoint | undefined;
  if (acsUrl !== undefined) found = endpointAt(acsUrl, usable);
  else if (acsIndex !== undefined) found = usable.find((endpoint) => endpoint.index === acsIndex);
  else found = defaultAcs(usable);
  // Core 3.4.1 makes them exclusive, because two readers of both could choose different ones. Some toolkits send both of the same one.
  if (acsUrl !== undefined && acsIndex !== undefined && found?.index !== acsIndex) {
    throw new SamlError('acs_not_registered', {
      message: 'The request names an ACS URL and the index of another one.',
      detail: 'both URL and index',
      received: `${acsUrl} and index ${acsIndex}`,
      expected: 'one of the two, or both of the same ACS',
    });
  }
  if (!found) {
    const isByIndex = acsUrl === undefined && acsIndex !== undefined;
    throw new SamlError('acs_not_registered', {
      ...(isByIndex && { message: 'The ACS index in the request isn’t registered for this application.' }),
      detail: { acsUrl, acsIndex },
      received: acsUrl ?? (isByIndex ? `index ${acsIndex}` : 'the default'),
      expected: usable.map(({ url, index }) => (isByIndex ? `index ${index}: ${url}` : url)).join('\n'),
    });
  }
  return found;
}

/** The registered endpoint at this address: the Response goes to the URL as it is registered. */
function endpointAt(url: string, usable: readonly AcsEndpoint[]): AcsEndpoint | undefined {
  return usable.find((endpoint) => endpoint.url === url) ?? usable.find((endpoint) => isSameAddress(endpoint.url, url));
}

/** SAML Metadata 2.2.3: the one with isDefault=true, else the first without isDefault, else the first. */
export function defaultAcs(registered: readonly AcsEndpoint[]): AcsEndpoint | undefined {
  const usable = registered.filter((endpoint) => endpoint.binding === bindings.post);
  return (
    usable.find((endpoint) => endpoint.isDefault === true) ??
    usable.find((endpoint) => endpoint.isDefault === undefined) ??
    usable[0]
  );
}

/** Only HTTP-POST is offered for Responses. Throws SamlError unsupported_binding, which has a status. */
export function checkProtocolBinding(request: Pick<AuthnRequest, 'protocolBinding'>): void {
  if (request.protocolBinding !== undefined && request.protocolBinding !== bindings.post) {
    const { protocolBinding } = request;
    throw new SamlError('unsupported_binding', {
      detail: protocolBinding,
      received: protocolBinding,
      expected: 'HTTP-POST',
    });
  }
}
