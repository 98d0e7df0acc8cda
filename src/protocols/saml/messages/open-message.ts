// Opens a received message in two steps: `openMessage` reads only the claimed issuer; `authenticateMessage` verifies it
// with the keys of that sender and returns the tree to read.

import type { RuleId } from '../../../core/rejections/rules.ts';
import { type SenderKeys, signaturesIn, verifyEnveloped } from '../xml/enveloped-signature.ts';
import { SamlError } from '../xml/errors.ts';
import { type ParsedXml, parseXml } from '../xml/parse.ts';
import { attribute, childOf, isElement, textOf } from '../xml/read.ts';
import type { XmlValidator } from '../xml/schema.ts';
import { isSigned, signatureAlgorithm } from '../xml/signature-algorithms.ts';
import type { DecodedMessage } from './decode.ts';

/** The rules that every message from a service provider can break, in the order in which decode.ts and this file check them. */
export const MESSAGE_RULES = [
  ...(['form', 'parameters', 'base64', 'compression', 'size', 'charset', 'xml', 'schema', 'kind', 'version'] as const),
  ...(['sender', 'client', 'signed', 'signing_key', 'signature_place', 'signature_form', 'canonicalization'] as const),
  ...(['reference', 'algorithm', 'digest_algorithm', 'certificate', 'signature', 'digest', 'issuer'] as const),
] satisfies RuleId[];

const MAX_ISSUER = 1024;

export type MessageName = 'AuthnRequest' | 'LogoutRequest' | 'LogoutResponse';

export interface ClaimedMessage {
  /** Unauthenticated: only for finding the keys, and for the list of rejected requests. */
  claimedIssuer: string;
  readonly decoded: DecodedMessage;
}

export interface OpenedMessage extends ClaimedMessage {
  name: MessageName;
  readonly unverified: ParsedXml;
}

export interface TrustedMessage {
  name: MessageName;
  /** Parsed from the signed bytes when the message was signed by POST. */
  root: Element;
  signed: boolean;
}

export interface Sender extends SenderKeys {
  requireSigned: boolean;
}

/** Parses and validates the message, and checks that it is one of the expected kinds. Throws SamlError. */
export function openMessage(
  decoded: DecodedMessage,
  expected: readonly MessageName[],
  validateXml: XmlValidator,
): OpenedMessage {
  const unverified = parseXml(decoded.xml, { validateXml });
  const { root } = unverified;
  const name = expected.find((candidate) => isElement(root, `samlp:${candidate}`));
  // A request in SAMLResponse, or the reverse, would bypass the checks of its kind.
  const parameter = name === 'LogoutResponse' ? 'SAMLResponse' : 'SAMLRequest';
  if (!name || decoded.parameter !== parameter)
    throw new SamlError('wrong_root', {
      detail: root.nodeName,
      received: `${root.localName} in ${decoded.parameter}`,
      expected: expected
        .map((one) => `${one} in ${one.endsWith('Response') ? 'SAMLResponse' : 'SAMLRequest'}`)
        .join(' or '),
    });
  const version = attribute(root, 'Version');
  if (version !== '2.0') throw new SamlError('wrong_version', { received: version });
  const issuer = childOf(root, 'saml:Issuer');
  const claimedIssuer = issuer ? textOf(issuer) : '';
  if (!claimedIssuer || claimedIssuer.length > MAX_ISSUER)
    throw new SamlError('wrong_issuer', {
      rule: 'sender',
      detail: 'no Issuer',
      expected: 'an Issuer of up to 1,024 characters',
    });
  return { name, claimedIssuer, decoded, unverified };
}

/** Who claims to have sent a message that cannot be opened, such as one that breaks the schema. */
export function claimOf(decoded: DecodedMessage): ClaimedMessage | undefined {
  try {
    const issuer = childOf(parseXml(decoded.xml).root, 'saml:Issuer');
    const claimedIssuer = issuer ? textOf(issuer).slice(0, MAX_ISSUER) : '';
    return claimedIssuer ? { claimedIssuer, decoded } : undefined;
  } catch {
    return undefined;
  }
}

/** Verifies the signature, which has to be valid also where none is required. Throws SamlError. */
export async function authenticateMessage(message: OpenedMessage, sender: Sender): Promise<TrustedMessage> {
  const { name, decoded, unverified } = message;
  const enveloped = signaturesIn(unverified.root);
  if (!decoded.querySignature && enveloped.length === 0) {
    if (sender.requireSigned) {
      throw new SamlError('signature_missing', { received: 'no signature', expected: 'a signed message' });
    }
    return { name, root: unverified.root, signed: false };
  }
  if (sender.signingKeys.length === 0) throw new SamlError('no_signing_key', { received: 'a signature' });
  if (decoded.binding === 'redirect') {
    // Bindings 3.4.4.1: by redirect the signature is in the query and covers the whole message. One inside the message,
    // which pysaml2 leaves in its LogoutResponses, is ignored.
    if (!decoded.querySignature)
      throw new SamlError('signature_shape', {
        rule: 'signature_place',
        detail: 'only an enveloped signature',
        received: 'a signature inside the message',
        expected: 'SigAlg and Signature in the query (HTTP-Redirect)',
      });
    await verifyQuery(decoded, sender);
    return { name, root: unverified.root, signed: true };
  }
  const signedText = await verifyEnveloped(unverified, sender);
  const { root } = parseXml(signedText);
  if (!isElement(root, `samlp:${name}`)) throw new SamlError('signature_shape', { detail: root.nodeName });
  return { name, root, signed: true };
}

async function verifyQuery(decoded: DecodedMessage, { signingKeys, allowSha1 }: SenderKeys): Promise<void> {
  const signature = decoded.querySignature;
  if (!signature) throw new SamlError('signature_missing');
  const algorithm = signatureAlgorithm(signature.algorithm, allowSha1);
  if (!(await isSigned(algorithm, signature.octets, signature.value, signingKeys)))
    throw new SamlError('signature_invalid');
}
