// Verifies the signature inside a POSTed message. xml-crypto does the canonicalization; the shape is checked here, because
// a valid signature over some other element proves nothing (signature wrapping, XSW): exactly one signature in the
// document, a child of the element that it is over (the root, or the assertion of a Response), with two fixed transforms. The caller gets the signed bytes and reads
// nothing else. xml-crypto's SignedXml searches the document repeatedly, in quadratic time; the tests compare with it.
import { createHash, type KeyObject } from 'node:crypto';
import { ExclusiveCanonicalization } from 'xml-crypto';
import type { RuleId } from '../../../core/rejections/rules.ts';
import { decodeBase64 } from './encoding.ts';
import { SamlError } from './errors.ts';
import { algorithms } from './names.ts';
import type { ParsedXml } from './parse.ts';
import { attribute, childOf, childrenOf, elements, everyElement, isElement } from './read.ts';
import { digestAlgorithm, isSigned, type SignatureAlgorithm, signatureAlgorithm } from './signature-algorithms.ts';

export interface SenderKeys {
  signingKeys: readonly KeyObject[];
  allowSha1: boolean;
}

/** Every ds:Signature at any depth of the document. */
export function signaturesIn(root: Element): Element[] {
  return [...everyElement(root)].filter((element) => isElement(element, 'ds:Signature'));
}

/**
 * The canonical text that one of the sender's keys signed. Removes the signature from the tree.
 *
 * @throws SamlError signature_shape, signature_algorithm or signature_invalid
 */
export async function verifyEnveloped({ root }: ParsedXml, keys: SenderKeys): Promise<string> {
  const { length } = signaturesIn(root);
  check(length === 1, `${length} signatures`, { expected: 'one signature' });
  return verifySignatureOf(root, root, keys);
}

/**
 * The canonical text of an element of this document that one of the sender's keys signed. Removes the signature from the tree.
 * The caller checks which other signatures the document may have.
 *
 * @throws SamlError signature_shape, signature_algorithm or signature_invalid
 */
export async function verifySignatureOf(
  target: Element,
  root: Element,
  { signingKeys, allowSha1 }: SenderKeys,
): Promise<string> {
  const { signature, info, value, algorithm, digest, prefixes } = acceptedShape(target, root, allowSha1);
  // First whether a registered key signed SignedInfo: messages without one are not canonicalized in full.
  const octets = canonicalize(info, []);
  if (!(await isSigned(algorithm, [octets], value, signingKeys))) {
    throw new SamlError('signature_invalid', { detail: 'no registered key made it' });
  }
  // The only reference is to the target, so its two transforms are: remove the signature, canonicalize.
  target.removeChild(signature);
  const signed = canonicalize(target, prefixes);
  // A canonicalizer that returns nothing would make the digest of nothing match.
  check(signed !== '', 'empty canonical form');
  const found = createHash(digest.hash).update(signed, 'utf8').digest();
  if (!found.equals(digest.value))
    throw new SamlError('signature_invalid', {
      rule: 'digest',
      detail: 'digest mismatch',
      received: `digest ${found.toString('base64')}`,
      expected: `digest ${digest.value.toString('base64')}, which was signed`,
    });
  return signed;
}

function canonicalize(element: Element, inclusiveNamespacesPrefixList: string[]): string {
  try {
    return new ExclusiveCanonicalization().process(element, { inclusiveNamespacesPrefixList });
  } catch (cause) {
    throw new SamlError('signature_invalid', { cause });
  }
}

interface Digest {
  hash: SignatureAlgorithm['hash'];
  value: Buffer;
}

interface AcceptedSignature {
  signature: Element;
  info: Element;
  value: Buffer;
  algorithm: SignatureAlgorithm;
  digest: Digest;
  /** PrefixList of exclusive c14n's InclusiveNamespaces, which OpenSAML writes. */
  prefixes: string[];
}

/** The rules against signature wrapping at the top of this file. */
function acceptedShape(target: Element, root: Element, allowSha1: boolean): AcceptedSignature {
  const [signature, ...others] = childrenOf(target, 'ds:Signature');
  if (!signature || others.length > 0) throw new SamlError('signature_shape', { detail: 'not one signature' });
  const info = onlyChild(signature, 'ds:SignedInfo');
  const value = onlyChild(signature, 'ds:SignatureValue');
  const rest = elements(signature).filter((child) => child !== info && child !== value);
  check(
    rest.length <= 1 && rest.every((child) => isElement(child, 'ds:KeyInfo')),
    'signature holds more than SignedInfo, SignatureValue and KeyInfo',
  );
  const canonicalization = onlyChild(info, 'ds:CanonicalizationMethod');
  const exclusive = { rule: 'canonicalization', expected: 'exclusive canonicalization' } as const;
  check(isExclusive(algorithmOf(canonicalization)), algorithmOf(canonicalization), exclusive);
  check(elements(canonicalization).length === 0, 'parameters in CanonicalizationMethod', exclusive);
  const method = onlyChild(info, 'ds:SignatureMethod');
  check(elements(method).length === 0, 'parameters in SignatureMethod');
  const reference = onlyChild(info, 'ds:Reference');
  checkReference(reference, target, root);
  const prefixes = checkTransforms(reference);
  const digestUri = algorithmOf(onlyChild(reference, 'ds:DigestMethod'));
  const digestValue = strictBase64(onlyChild(reference, 'ds:DigestValue'));
  return {
    signature,
    info,
    value: strictBase64(value),
    algorithm: signatureAlgorithm(algorithmOf(method), allowSha1),
    digest: { hash: digestAlgorithm(digestUri, allowSha1), value: digestValue },
    prefixes,
  };
}

function checkReference(reference: Element, target: Element, root: Element): void {
  const id = attribute(target, 'ID');
  const uri = attribute(reference, 'URI') ?? '';
  check(Boolean(id) && uri === `#${id}`, `Reference to ${uri || 'the whole document'}`, {
    rule: 'reference',
    expected: `Reference to #${id}`,
  });
  const ids = new Set<string>();
  for (const element of everyElement(root)) {
    for (const item of Array.from(element.attributes)) {
      // xml-crypto finds the target by any attribute with one of these local names.
      if (!/^id$/i.test(item.localName)) continue;
      const value = item.value.trim();
      check(!ids.has(value), 'an ID occurs twice', { rule: 'reference', expected: 'each ID once' });
      ids.add(value);
    }
  }
}

/** Enveloped signature, then exclusive c14n; returns the PrefixList of the latter. */
function checkTransforms(reference: Element): string[] {
  const transforms = childrenOf(onlyChild(reference, 'ds:Transforms'), 'ds:Transform');
  const uris = transforms.map(algorithmOf);
  check(
    uris.length === 2 && uris[0] === algorithms.enveloped && isExclusive(uris[1]),
    uris.join(' ') || 'no transforms',
    { rule: 'canonicalization', expected: 'enveloped signature and exclusive canonicalization' },
  );
  // InclusiveNamespaces is the only parameter; xml-crypto writes it into both, where the first ignores it.
  const lists = transforms.map(elements);
  check(
    lists.every((list) => list.length <= 1 && list.every(isInclusiveNamespaces)),
    'parameters of a Transform',
  );
  const list = lists[1]?.[0];
  return ((list && attribute(list, 'PrefixList')) ?? '').split(/\s+/).filter(Boolean);
}

/** With comments it is the same: a reference to an ID leaves them out (XML Signature 4.4.3.3), and no message is parsed with one. */
function isExclusive(uri: string | undefined): boolean {
  return uri === algorithms.exclusiveC14n || uri === algorithms.exclusiveC14nWithComments;
}

function isInclusiveNamespaces({ localName, namespaceURI, parentNode }: Element): boolean {
  const method = algorithmOf(parentNode as Element);
  return (
    localName === 'InclusiveNamespaces' && namespaceURI === (isExclusive(method) ? algorithms.exclusiveC14n : method)
  );
}

function onlyChild(parent: Element, name: `ds:${string}`): Element {
  check(childrenOf(parent, name).length === 1, `${name} has to occur once`);
  return required(childOf(parent, name), name);
}

function algorithmOf(element: Element): string {
  return attribute(element, 'Algorithm') ?? '';
}

function strictBase64(element: Element): Buffer {
  return decodeBase64(element.textContent ?? '', 'signature_shape');
}

function check(condition: boolean, detail: string, options: { rule?: RuleId; expected?: string } = {}): void {
  if (!condition) throw new SamlError('signature_shape', { detail, ...options });
}

function required(element: Element | undefined, detail: string): Element {
  if (!element) throw new SamlError('signature_shape', { detail });
  return element;
}
