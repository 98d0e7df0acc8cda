// Receives a message like the routes do: decode, open, authenticate.
import { decodePost, decodeRedirect } from '../../src/protocols/saml/messages/decode.ts';
import {
  authenticateMessage,
  openMessage,
  type Sender,
  type TrustedMessage,
} from '../../src/protocols/saml/messages/open-message.ts';
import { postBody, schemas, spKeys } from './support.ts';

export const mustSign: Sender = { ...spKeys, requireSigned: true };
export const maySign: Sender = { ...spKeys, requireSigned: false };
const anyKind = ['AuthnRequest', 'LogoutRequest', 'LogoutResponse'] as const;

export function receivePost(
  xml: string,
  sender = mustSign,
  parameter = 'SAMLRequest',
  validateXml = schemas.protocol,
): Promise<TrustedMessage> {
  const decoded = decodePost(postBody(xml, undefined, parameter));
  return authenticateMessage(openMessage(decoded, anyKind, validateXml), sender);
}

export async function receiveRedirect(query: string, sender = mustSign): Promise<TrustedMessage> {
  return authenticateMessage(openMessage(await decodeRedirect(query), anyKind, schemas.protocol), sender);
}
