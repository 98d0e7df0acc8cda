// LogoutRequest and LogoutResponse as we send them (SAML Core 3.7), always signed: by POST over their own bytes, by
// redirect over the query. The NameID goes out exactly as it was issued; receivers compare it whole.
import { deflateRawSync } from 'node:zlib';
import { limits } from '../limits.ts';
import { samlTime } from './assertion.ts';
import type { SamlStatus } from './errors.ts';
import { type NameId, nameIdElement } from './nameid.ts';
import { statusElement } from './response.ts';
import { type Signer, signElement } from './xml/sign.ts';
import { canonical, element, wireForm, type XmlElement } from './xml/write.ts';

interface Outgoing {
  id: string;
  issuer: string;
  /** Location (of answers: ResponseLocation, where there is one). */
  destination: string;
  now: Date;
}

export interface LogoutRequestInput extends Outgoing {
  nameId: NameId;
  sessionIndexes: readonly string[];
  reason?: 'user' | 'admin';
}

export interface LogoutResponseInput extends Outgoing {
  inResponseTo: string;
  status: SamlStatus;
}

/** The unsigned element; `postMessage` or `redirectUrl` signs it. */
export function logoutRequest(input: LogoutRequestInput): XmlElement {
  return element(
    'samlp:LogoutRequest',
    {
      Destination: input.destination,
      ID: input.id,
      IssueInstant: samlTime(input.now),
      NotOnOrAfter: samlTime(input.now, limits.saml.requestAgeSeconds),
      Reason: input.reason && `urn:oasis:names:tc:SAML:2.0:logout:${input.reason}`,
      Version: '2.0',
    },
    element('saml:Issuer', {}, input.issuer),
    nameIdElement(input.nameId),
    ...input.sessionIndexes.map((index) => element('samlp:SessionIndex', {}, index)),
  );
}

/** The unsigned element; `postMessage` or `redirectUrl` signs it. */
export function logoutResponse(input: LogoutResponseInput): XmlElement {
  return element(
    'samlp:LogoutResponse',
    {
      Destination: input.destination,
      ID: input.id,
      InResponseTo: input.inResponseTo,
      IssueInstant: samlTime(input.now),
      Version: '2.0',
    },
    element('saml:Issuer', {}, input.issuer),
    statusElement(input.status),
  );
}

/** The value of the SAMLRequest or SAMLResponse field of a POST form. */
export function postMessage(message: XmlElement, signer: Signer): string {
  return encodePost(wireForm(signElement(message, 1, signer)));
}

/** Base64 for a form field. */
export function encodePost(xml: string): string {
  return Buffer.from(xml).toString('base64');
}

export interface RedirectInput {
  /** Where the browser is sent; it may have a query of its own. */
  location: string;
  parameter: 'SAMLRequest' | 'SAMLResponse';
  message: XmlElement;
  relayState?: string | undefined;
}

/** The signed redirect URL (SAML Bindings 3.4.4.1). */
export function redirectUrl({ location, parameter, message, relayState }: RedirectInput, signer: Signer): string {
  const deflated = deflateRawSync(wireForm(canonical(message))).toString('base64');
  const parts = [`${parameter}=${percentEncode(deflated)}`];
  if (relayState !== undefined) parts.push(`RelayState=${percentEncode(relayState)}`);
  parts.push(`SigAlg=${percentEncode(signer.algorithm)}`);
  const octets = parts.join('&');
  const signature = percentEncode(signer.sign(octets).toString('base64'));
  return `${location}${location.includes('?') ? '&' : '?'}${octets}&Signature=${signature}`;
}

/** Leaves nothing for a browser to encode on the way: Chromium turns an apostrophe into %27, and the signature dies. */
function percentEncode(text: string): string {
  // A lone surrogate has no UTF-8 form; what came in as UTF-8 has none.
  return encodeURIComponent(Buffer.from(text).toString()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
