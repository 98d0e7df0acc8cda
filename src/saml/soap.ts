// Single logout by SOAP (SAML Bindings 3.2): a signed LogoutRequest in an envelope, posted by us to the service provider,
// and what it answers. For sign-outs that no browser takes part in.
import { SamlError } from './errors.ts';
import { authenticateMessage, openMessage } from './inbound.ts';
import type { ServiceProvider } from './service-providers.ts';
import { readLogoutResponse } from './slo.ts';
import { parseXml } from './xml/parse.ts';
import { childOf, elements, isElement } from './xml/read.ts';
import type { XmlJudge } from './xml/schema.ts';
import { type Signer, signElement } from './xml/sign.ts';
import { canonical, element, wireForm, type XmlElement } from './xml/write.ts';

export interface SoapParties {
  sp: ServiceProvider;
  /** Where the request went. */
  location: string;
  now: Date;
  skewSeconds: number;
  judge: XmlJudge;
}

/** The envelope around the signed message. */
export function soapEnvelope(message: XmlElement, signer: Signer): string {
  const signed = signElement(message, 1, signer);
  return wireForm(canonical(element('soap:Envelope', {}, element('soap:Body', {}, signed))));
}

/** The headers that go with it. */
export const soapHeaders = {
  'Content-Type': 'text/xml; charset=utf-8',
  SOAPAction: '"http://www.oasis-open.org/committees/security"',
} as const;

/** Whether the service provider says that it is done. Throws SamlError when the answer proves nothing. */
export function readSoapAnswer(text: string, requestId: string, parties: SoapParties): boolean {
  const { sp, location, now, skewSeconds, judge } = parties;
  const { root } = parseXml(text);
  const body = isElement(root, 'soap:Envelope') ? childOf(root, 'soap:Body') : undefined;
  const [content, ...more] = body ? elements(body) : [];
  if (!content || more.length > 0) throw new SamlError('wrong_root', { detail: root.nodeName });
  // As a document of its own, with the namespaces that it had in the envelope; exclusive c14n is the same for both.
  const xml = content.toString();
  const decoded = {
    binding: 'post' as const,
    parameter: 'SAMLResponse' as const,
    xml,
    relayState: undefined,
    querySignature: undefined,
  };
  const opened = openMessage(decoded, ['LogoutResponse'], judge);
  // Bindings 3.2.3: over TLS the answer comes from where the request went; without it only a signature says so.
  const isProvenByTransport = new URL(location).protocol === 'https:';
  const message = authenticateMessage(opened, { ...sp, requireSigned: !isProvenByTransport });
  // An answer on the same connection needs no Destination.
  const expectation = { entityId: sp.entityId, endpoint: undefined, now, skewSeconds, requestId };
  return readLogoutResponse({ ...message, signed: true }, expectation).succeeded;
}
