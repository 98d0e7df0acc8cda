// The way in, as the routes take it: decode, open, authenticate.
import { decodePost, decodeRedirect } from '../../src/saml/decode.ts';
import { authenticateMessage, openMessage, type Sender, type TrustedMessage } from '../../src/saml/inbound.ts';
import { postBody, schemas, spKeys } from './support.ts';

export const mustSign: Sender = { ...spKeys, requireSigned: true };
export const maySign: Sender = { ...spKeys, requireSigned: false };
const anyKind = ['AuthnRequest', 'LogoutRequest', 'LogoutResponse'] as const;

export function receivePost(
  xml: string,
  sender = mustSign,
  parameter = 'SAMLRequest',
  judge = schemas.protocol,
): TrustedMessage {
  const decoded = decodePost(postBody(xml, undefined, parameter));
  return authenticateMessage(openMessage(decoded, anyKind, judge), sender);
}

export async function receiveRedirect(query: string, sender = mustSign): Promise<TrustedMessage> {
  return authenticateMessage(openMessage(await decodeRedirect(query), anyKind, schemas.protocol), sender);
}
