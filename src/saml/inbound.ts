// Opens a message from outside in two steps that cannot be mixed up: `openMessage` reads no more than who claims to
// have sent it; `authenticateMessage` takes what is known of that sender and returns the only tree to be read.
import type { DecodedMessage } from './decode.ts';
import { type SenderKeys, signaturesIn, verifyEnveloped } from './enveloped-signature.ts';
import { SamlError } from './errors.ts';
import { signatureAlgorithm, verifyOctets } from './signature-algorithms.ts';
import { type ParsedXml, parseXml } from './xml/parse.ts';
import { attribute, childOf, isElement, textOf } from './xml/read.ts';
import type { XmlJudge } from './xml/schema.ts';

export type MessageName = 'AuthnRequest' | 'LogoutRequest' | 'LogoutResponse';

export interface OpenedMessage {
  name: MessageName;
  /** Not to be believed before authentication; good for finding the keys. */
  claimedIssuer: string;
  readonly decoded: DecodedMessage;
  readonly unverified: ParsedXml;
}

export interface TrustedMessage {
  name: MessageName;
  /** From the signed bytes when the message was signed by POST. */
  root: Element;
  signed: boolean;
}

export interface Sender extends SenderKeys {
  requireSigned: boolean;
}

/** Parses and judges the message, and checks that it is one of the kinds that belong at this address. */
export function openMessage(decoded: DecodedMessage, expected: readonly MessageName[], judge: XmlJudge): OpenedMessage {
  const unverified = parseXml(decoded.xml, { judge });
  const { root } = unverified;
  const name = expected.find((candidate) => isElement(root, `samlp:${candidate}`));
  // A request in SAMLResponse, or the reverse, would dodge the checks of its kind.
  const parameter = name === 'LogoutResponse' ? 'SAMLResponse' : 'SAMLRequest';
  if (!name || decoded.parameter !== parameter) throw new SamlError('wrong_root', { detail: root.nodeName });
  if (attribute(root, 'Version') !== '2.0') throw new SamlError('wrong_version');
  const issuer = childOf(root, 'saml:Issuer');
  const claimedIssuer = issuer ? textOf(issuer) : '';
  if (!claimedIssuer || claimedIssuer.length > 1024) throw new SamlError('wrong_issuer', { detail: 'no Issuer' });
  return { name, claimedIssuer, decoded, unverified };
}

/** A signature that is there has to be right, also where none is required. */
export function authenticateMessage(message: OpenedMessage, sender: Sender): TrustedMessage {
  const { name, decoded, unverified } = message;
  const enveloped = signaturesIn(unverified.root);
  if (!decoded.querySignature && enveloped.length === 0) {
    if (sender.requireSigned) throw new SamlError('signature_missing');
    return { name, root: unverified.root, signed: false };
  }
  if (sender.signingKeys.length === 0) throw new SamlError('no_signing_key');
  if (decoded.binding === 'redirect') {
    // Bindings 3.4.4.1: by redirect the signature travels beside the message. One inside, which pysaml2 leaves in its
    // LogoutResponses, counts for nothing: the other covers every byte of the message, so that all of it may be read.
    if (!decoded.querySignature) throw new SamlError('signature_shape', { detail: 'only an enveloped signature' });
    verifyQuery(decoded, sender);
    return { name, root: unverified.root, signed: true };
  }
  const signedText = verifyEnveloped(unverified, sender);
  const { root } = parseXml(signedText);
  if (!isElement(root, `samlp:${name}`)) throw new SamlError('signature_shape', { detail: root.nodeName });
  return { name, root, signed: true };
}

function verifyQuery(decoded: DecodedMessage, { signingKeys, allowSha1 }: SenderKeys): void {
  const signature = decoded.querySignature;
  if (!signature) throw new SamlError('signature_missing');
  const algorithm = signatureAlgorithm(signature.algorithm, allowSha1);
  for (const octets of signature.octets) {
    if (signingKeys.some((key) => verifyOctets(algorithm, octets, signature.value, key))) return;
  }
  throw new SamlError('signature_invalid');
}
