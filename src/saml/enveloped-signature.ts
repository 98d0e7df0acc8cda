// Verifies the signature inside a POSTed message. xml-crypto does the canonicalization; which signatures are looked at
// at all is decided here, because a valid signature over *something* proves nothing (signature wrapping, XSW): exactly
// one in the document, a child of the root, over the root, by two fixed transforms. The caller gets the signed bytes and
// reads nothing else. xml-crypto's SignedXml does the same by searching the document a dozen times, quadratic in what a
// stranger sends; it is the oracle of the tests instead.
import { createHash, type KeyObject } from 'node:crypto';
import { ExclusiveCanonicalization } from 'xml-crypto';
import { decodeBase64 } from './decode.ts';
import { SamlError } from './errors.ts';
import { algorithms } from './names.ts';
import { digestAlgorithm, type SignatureAlgorithm, signatureAlgorithm, verifyOctets } from './signature-algorithms.ts';
import type { ParsedXml } from './xml/parse.ts';
import { attribute, childOf, childrenOf, elements, everyElement, isElement } from './xml/read.ts';

export interface SenderKeys {
  signingKeys: readonly KeyObject[];
  allowSha1: boolean;
}

/** Every ds:Signature of the document, wherever it hides. */
export function signaturesIn(root: Element): Element[] {
  return [...everyElement(root)].filter((element) => isElement(element, 'ds:Signature'));
}

/** The canonical text that one of the sender's keys signed. Takes the signature out of the tree, which is then used up. */
export function verifyEnveloped({ root }: ParsedXml, { signingKeys, allowSha1 }: SenderKeys): string {
  const { signature, info, value, algorithm, digest, prefixes } = acceptedShape(root, allowSha1);
  // First whether a registered key signed SignedInfo at all: a stranger's message is not worth canonicalizing.
  const octets = canonicalize(info, []);
  if (!signingKeys.some((candidate) => verifyOctets(algorithm, octets, value, candidate))) {
    throw new SamlError('signature_invalid', { detail: 'no registered key made it' });
  }
  // The one reference is to the root, so that its transforms come down to this (see the top of the file).
  root.removeChild(signature);
  const signed = canonicalize(root, prefixes);
  const found = createHash(digest.hash).update(signed, 'utf8').digest();
  if (!found.equals(digest.value)) throw new SamlError('signature_invalid', { detail: 'digest mismatch' });
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

/** The rules that leave no room to wrap: see the top of the file. */
function acceptedShape(root: Element, allowSha1: boolean): AcceptedSignature {
  const signatures = signaturesIn(root);
  const signature = required(signatures[0], 'no signature');
  demand(signatures.length === 1, 'more than one signature');
  demand(signature.parentNode === root, 'signature is not a child of the root');
  const info = onlyChild(signature, 'ds:SignedInfo');
  const value = onlyChild(signature, 'ds:SignatureValue');
  const rest = elements(signature).filter((child) => child !== info && child !== value);
  demand(
    rest.length <= 1 && rest.every((child) => isElement(child, 'ds:KeyInfo')),
    'signature holds more than SignedInfo, SignatureValue and KeyInfo',
  );
  const canonicalization = onlyChild(info, 'ds:CanonicalizationMethod');
  demand(algorithmOf(canonicalization) === algorithms.exclusiveC14n, 'canonicalization of SignedInfo');
  demand(elements(canonicalization).length === 0, 'parameters in CanonicalizationMethod');
  const method = onlyChild(info, 'ds:SignatureMethod');
  demand(elements(method).length === 0, 'parameters in SignatureMethod');
  const reference = onlyChild(info, 'ds:Reference');
  demandReferenceToRoot(reference, root);
  const prefixes = demandTransforms(reference);
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

function demandReferenceToRoot(reference: Element, root: Element): void {
  const id = attribute(root, 'ID');
  demand(Boolean(id) && attribute(reference, 'URI') === `#${id}`, 'reference is not to the root');
  const seen = new Set<string>();
  for (const element of everyElement(root)) {
    for (const item of Array.from(element.attributes)) {
      // xml-crypto finds its target by any attribute of these local names; so does whoever wants to confuse it.
      if (!/^id$/i.test(item.localName)) continue;
      demand(!seen.has(item.value), 'an ID occurs twice');
      seen.add(item.value);
    }
  }
}

/** Enveloped signature, then exclusive c14n; returns the prefixes that the latter is told to treat inclusively. */
function demandTransforms(reference: Element): string[] {
  const transforms = childrenOf(onlyChild(reference, 'ds:Transforms'), 'ds:Transform');
  const uris = transforms.map(algorithmOf);
  demand(
    uris.length === 2 && uris[0] === algorithms.enveloped && uris[1] === algorithms.exclusiveC14n,
    `transforms ${uris.join(' ')}`,
  );
  // The only parameter of the two; some writers (xml-crypto) put it into both, where the first has no use for it.
  const lists = transforms.map(elements);
  demand(
    lists.every((list) => list.length <= 1 && list.every(isInclusiveNamespaces)),
    'parameters of a Transform',
  );
  const list = lists[1]?.[0];
  return ((list && attribute(list, 'PrefixList')) ?? '').split(/\s+/).filter(Boolean);
}

function isInclusiveNamespaces({ localName, namespaceURI, parentNode }: Element): boolean {
  return localName === 'InclusiveNamespaces' && namespaceURI === algorithmOf(parentNode as Element);
}

function onlyChild(parent: Element, name: `ds:${string}`): Element {
  demand(childrenOf(parent, name).length === 1, `${name} has to occur once`);
  return required(childOf(parent, name), name);
}

function algorithmOf(element: Element): string {
  return attribute(element, 'Algorithm') ?? '';
}

function strictBase64(element: Element): Buffer {
  return decodeBase64((element.textContent ?? '').replace(/[ \t]/g, ''), 'accept line breaks', 'signature_shape');
}

function demand(condition: boolean, detail: string): void {
  if (!condition) throw new SamlError('signature_shape', { detail });
}

function required(element: Element | undefined, detail: string): Element {
  if (!element) throw new SamlError('signature_shape', { detail });
  return element;
}
