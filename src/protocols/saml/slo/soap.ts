// Single logout by SOAP (SAML Bindings 3.2): a signed LogoutRequest in an envelope, and the answer of the service
// provider. For logouts without a browser.

import type { DecodedMessage } from '../messages/decode.ts';
import { openMessage } from '../messages/open-message.ts';
import { receiveLogoutResponse } from '../messages/read-logout.ts';
import type { ServiceProvider } from '../metadata/service-providers.ts';
import { SamlError } from '../xml/errors.ts';
import { parseXml } from '../xml/parse.ts';
import { childOf, elements, isElement } from '../xml/read.ts';
import type { XmlValidator } from '../xml/schema.ts';
import { type Signer, signElement } from '../xml/sign.ts';
import { canonical, element, wireFormat, type XmlElement } from '../xml/write.ts';

export interface SoapParties {
  sp: ServiceProvider;
  /** Where the request went. */
  location: string;
  now: Date;
  skewSeconds: number;
  validateXml: XmlValidator;
}

/** The envelope around the signed message. */
export function soapEnvelope(message: XmlElement, signer: Signer): string {
  const signed = signElement(message, 1, signer);
  return wireFormat(canonical(element('soap:Envelope', {}, element('soap:Body', {}, signed))));
}

/** The headers that go with it. */
export const soapHeaders = {
  'Content-Type': 'text/xml; charset=utf-8',
  SOAPAction: '"http://www.oasis-open.org/committees/security"',
} as const;

/** The message in an envelope. Throws SamlError. */
export function openSoap(text: string, parameter: DecodedMessage['parameter']): DecodedMessage {
  const { root } = parseXml(text);
  const body = isElement(root, 'soap:Envelope') ? childOf(root, 'soap:Body') : undefined;
  const [content, ...more] = body ? elements(body) : [];
  if (!content || more.length > 0) throw new SamlError('wrong_root', { detail: root.nodeName });
  // As a document of its own, with the namespaces of the envelope; its exclusive canonical form is the same.
  return {
    binding: 'post',
    parameter,
    xml: content.toString(),
    relayState: undefined,
    isRelayStateTooLong: false,
    querySignature: undefined,
  };
}

/** Whether the LogoutResponse has the status Success. Throws SamlError when it is not authentic. */
export async function readSoapAnswer(text: string, requestId: string, parties: SoapParties): Promise<boolean> {
  const { sp, location, now, skewSeconds, validateXml } = parties;
  const decoded = openSoap(text, 'SAMLResponse');
  const opened = openMessage(decoded, ['LogoutResponse'], validateXml);
  const isProvenByTransport = new URL(location).protocol === 'https:';
  // A response on the same connection needs no Destination.
  const expectation = { entityId: sp.entityId, endpoint: undefined, now, skewSeconds, requestId, isProvenByTransport };
  return (await receiveLogoutResponse(opened, sp, expectation)).succeeded;
}
