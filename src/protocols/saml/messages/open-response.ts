// Opens a Response of an upstream identity provider in two steps, as open-message.ts does: `openResponse` reads only the claimed
// issuer, `authenticateResponse` verifies and decrypts, and returns trees that were parsed from signed bytes. The signature is
// over the Response or over its only assertion, and each signature in the document has to be valid; nothing that none of them
// covers is returned.
import { type DecryptionKeys, decryptAssertion } from '../xml/decrypt.ts';
import { type SenderKeys, signaturesIn, verifySignatureOf } from '../xml/enveloped-signature.ts';
import { SamlError } from '../xml/errors.ts';
import { type ParsedXml, parseXml } from '../xml/parse.ts';
import { attribute, childOf, childrenOf, everyElement, isElement, textOf } from '../xml/read.ts';
import type { XmlValidator } from '../xml/schema.ts';

export interface OpenedResponse {
  /** Unauthenticated: only for finding the keys. */
  claimedIssuer: string;
  readonly unverified: ParsedXml;
}

export interface ResponseKeys extends SenderKeys, Pick<DecryptionKeys, 'decryptionKeys'> {
  /** Accept AES-CBC where the Response is signed as a whole. */
  allowCbc: boolean;
  /** Accept encrypted assertions only. */
  wantEncrypted: boolean;
}

export interface TrustedResponse {
  /** The Response, where it is signed as a whole. */
  response: Element | undefined;
  /** Undefined in a signed Response with an error status. */
  assertion: Element | undefined;
  wasEncrypted: boolean;
}

/** Parses and validates a Response. Throws SamlError. */
export function openResponse(xml: string, validateXml: XmlValidator): OpenedResponse {
  const unverified = parseXml(xml, { kind: 'response', validateXml });
  const { root } = unverified;
  if (!isElement(root, 'samlp:Response')) throw new SamlError('wrong_root', { detail: root.nodeName });
  if (attribute(root, 'Version') !== '2.0') throw new SamlError('wrong_version');
  // The Issuer of a Response that is not signed may be missing (Profiles 4.1.4.2).
  const assertion = childOf(root, 'saml:Assertion');
  const issuer = childOf(root, 'saml:Issuer') ?? (assertion && childOf(assertion, 'saml:Issuer'));
  const claimedIssuer = issuer ? textOf(issuer) : '';
  if (!claimedIssuer || claimedIssuer.length > 1024) throw new SamlError('wrong_issuer', { detail: 'no Issuer' });
  return { claimedIssuer, unverified };
}

/**
 * Verifies every signature and decrypts the assertion. Changes the tree, so a Response is opened again for another sender.
 *
 * @throws SamlError
 */
export async function authenticateResponse(
  { unverified }: OpenedResponse,
  keys: ResponseKeys,
  validateXml: XmlValidator,
): Promise<TrustedResponse> {
  const { root } = unverified;
  checkShape(root);
  const isSigned = childrenOf(root, 'ds:Signature').length > 0;
  const response = isSigned ? parsedAgain(await verifySignatureOf(root, root, keys), 'samlp:Response') : undefined;
  const outer = response ?? root;
  const encrypted = childOf(outer, 'saml:EncryptedAssertion');
  if (encrypted) {
    const text = decryptAssertion(encrypted, { ...keys, allowCbc: keys.allowCbc && isSigned });
    // A document of its own: nothing of it was validated with the Response.
    const { root: plain } = parseXml(text, { kind: 'response', validateXml });
    if (!isElement(plain, 'saml:Assertion')) throw new SamlError('wrong_root', { detail: plain.nodeName });
    checkSignatures(plain, [plain]);
    return { response, assertion: await authenticAssertion(plain, plain, isSigned, keys), wasEncrypted: true };
  }
  const assertion = childOf(outer, 'saml:Assertion');
  if (!assertion) {
    if (!response) throw missing();
    return { response, assertion: undefined, wasEncrypted: false };
  }
  if (keys.wantEncrypted) {
    const expected = keys.allowCbc ? 'AES-GCM or AES-CBC' : 'AES-GCM';
    throw new SamlError('encryption_missing', { received: 'not encrypted', expected });
  }
  return { response, assertion: await authenticAssertion(assertion, outer, isSigned, keys), wasEncrypted: false };
}

/** One assertion at most, as a child of the Response, and no signature but those of the two. */
function checkShape(root: Element): void {
  const isAssertion = (one: Element) => isElement(one, 'saml:Assertion') || isElement(one, 'saml:EncryptedAssertion');
  const assertions = [...everyElement(root)].filter(isAssertion);
  if (assertions.length > 1 || assertions.some((one) => one.parentNode !== root))
    throw new SamlError('assertion_count', { detail: assertions.length });
  checkSignatures(root, [root, ...assertions]);
}

function checkSignatures(root: Element, signable: readonly Element[]): void {
  const parents = signaturesIn(root).map((signature) => signature.parentNode as Element);
  if (parents.some((parent) => !signable.includes(parent)) || new Set(parents).size !== parents.length)
    throw new SamlError('signature_shape', { detail: 'a signature is neither of the Response nor of its assertion' });
}

async function authenticAssertion(
  assertion: Element,
  root: Element,
  isCovered: boolean,
  keys: ResponseKeys,
): Promise<Element> {
  if (childrenOf(assertion, 'ds:Signature').length > 0)
    return parsedAgain(await verifySignatureOf(assertion, root, keys), 'saml:Assertion');
  if (!isCovered) throw missing();
  return assertion;
}

function parsedAgain(text: string, name: 'samlp:Response' | 'saml:Assertion'): Element {
  const { root } = parseXml(text, { kind: 'response' });
  if (!isElement(root, name)) throw new SamlError('signature_shape', { detail: root.nodeName });
  return root;
}

function missing(): SamlError {
  return new SamlError('signature_missing', { received: 'no signature', expected: 'a signed Response or assertion' });
}
