// From XML to what the browser carries: a form field of the HTTP-POST binding, or the signed URL of the HTTP-Redirect
// binding (SAML Bindings 3.5 and 3.4).

import { deflateRawSync } from 'node:zlib';
import { randomToken } from '../../../base/platform/random.ts';
import { type Signer, signElement } from '../xml/sign.ts';
import { canonical, wireFormat, type XmlElement } from '../xml/write.ts';

/** The value of the SAMLRequest or SAMLResponse field of a POST form, signed when a signer is given. */
export function postMessage(message: XmlElement, signer?: Signer): string {
  return encodePost(wireFormat(signer ? signElement(message, 1, signer) : canonical(message)));
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

/** The redirect URL (SAML Bindings 3.4.4.1), signed when a signer is given. */
export function redirectUrl({ location, parameter, message, relayState }: RedirectInput, signer?: Signer): string {
  const deflated = deflateRawSync(wireFormat(canonical(message))).toString('base64');
  const parts = [`${parameter}=${percentEncode(deflated)}`];
  if (relayState !== undefined) parts.push(`RelayState=${percentEncode(relayState)}`);
  if (signer) {
    parts.push(`SigAlg=${percentEncode(signer.algorithm)}`);
    parts.push(`Signature=${percentEncode(signer.sign(parts.join('&')).toString('base64'))}`);
  }
  return `${location}${location.includes('?') ? '&' : '?'}${parts.join('&')}`;
}

/** Leaves nothing for a browser to encode on the way: Chromium turns an apostrophe into %27, which makes the signature invalid. */
function percentEncode(text: string): string {
  // A lone surrogate has no UTF-8 form; what came in as UTF-8 has none.
  return encodeURIComponent(Buffer.from(text).toString()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

// The ID of a message or assertion (SAML Core 1.3.4).

/** A new random ID of 160 bits; an xs:ID must begin with a letter or an underscore. */
export function newMessageId(): string {
  return `_${randomToken(20)}`;
}
