// Our writer claims that its output is exclusive canonical XML. Two canonicalizers that know nothing of it have to
// find nothing to change, on documents nobody would write by hand.
import { DOMParser } from '@xmldom/xmldom';
import { XmlC14NMode, XmlDocument, XmlStringOutputBufferHandler } from 'libxml2-wasm';
import { describe, expect, it } from 'vitest';
import { ExclusiveCanonicalization } from 'xml-crypto';
import { namespaces } from '../../../src/protocols/saml/xml/names.ts';
import type { Prefix, QualifiedName } from '../../../src/protocols/saml/xml/read.ts';
import {
  canonical,
  element,
  replaceForbiddenCharacters,
  wireFormat,
  type XmlElement,
} from '../../../src/protocols/saml/xml/write.ts';
import fc, { anyCharacter, numRuns } from '../../support/property.ts';

const prefixes = (Object.keys(namespaces) as Prefix[]).filter((prefix) => prefix !== 'xml');
const localName = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,6}$/).filter((name) => !/^xml/i.test(name));
const name = fc.tuple(fc.constantFrom(...prefixes), localName).map(([p, l]): QualifiedName => `${p}:${l}`);
const attributeName = fc.oneof(localName, name, fc.constantFrom('xml:lang', 'xml:space'));
const text = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: 'grapheme' }),
  fc.stringMatching(/^[&<>"'\t\n\r {}\]]{1,12}$/),
);
const attributes = fc.dictionary(attributeName, text, { maxKeys: 6, noNullPrototype: true });
const { tree } = fc.letrec<{ tree: XmlElement }>((tie) => ({
  tree: fc
    .tuple(name, attributes, fc.array(fc.oneof({ depthSize: 'small' }, text, tie('tree')), { maxLength: 4 }))
    .map(([n, a, children]) => element(n, a, ...children)),
}));
/** xmldom applies the line-end rules of XML 1.1, which XML 1.0 does not have; `wireForm` exists because of it. */
const parseStrictly = (xml: string) =>
  new DOMParser({
    errorHandler: (level, message) => {
      throw new Error(`${level}: ${message}`);
    },
  }).parseFromString(xml, 'text/xml');

function byLibxml2(xml: string): string {
  const document = XmlDocument.fromBuffer(Buffer.from(xml));
  const output = new XmlStringOutputBufferHandler();
  document.canonicalize(output, { mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0 });
  document.dispose();
  return output.result;
}

describe('the writer', () => {
  it('writes what libxml2 makes of it by exclusive canonicalization, byte for byte', () => {
    fc.assert(
      fc.property(tree, (root) => {
        const written = canonical(root);
        expect(byLibxml2(wireFormat(written))).toBe(written.canonical);
      }),
      { numRuns: numRuns(500) },
    );
  });

  it('writes what xml-crypto makes of it by exclusive canonicalization, byte for byte', () => {
    fc.assert(
      fc.property(tree, (root) => {
        const written = canonical(root);
        const parsed = parseStrictly(wireFormat(written)).documentElement;
        expect(new ExclusiveCanonicalization().process(parsed, {})).toBe(written.canonical);
      }),
      { numRuns: numRuns(500) },
    );
  });

  it('preserves every value that XML can carry', () => {
    fc.assert(
      fc.property(text, (value) => {
        const root = parseStrictly(wireFormat(canonical(element('saml:A', { N: value }, value)))).documentElement;
        expect(root.getAttribute('N')).toBe(replaceForbiddenCharacters(value));
        expect(root.textContent).toBe(replaceForbiddenCharacters(value));
      }),
    );
  });

  it('replaces what XML cannot carry', () => {
    expect(replaceForbiddenCharacters('a\u0000b\u001f\ufffe\uffff\ud800c\udc00')).toBe(
      'a\ufffdb\ufffd\ufffd\ufffd\ufffdc\ufffd',
    );
    expect(replaceForbiddenCharacters('tab\t line\n return\r 😀 \u0085')).toBe('tab\t line\n return\r 😀 \u0085');
  });

  it('writes the same for a part alone and inside the whole', () => {
    const part = element('saml:Assertion', { ID: '_a' }, element('saml:Issuer', {}, 'x'));
    const whole = canonical(element('samlp:Response', {}, element('saml:Issuer', {}, 'x'), part)).canonical;
    expect(whole).toContain(canonical(part).canonical);
    expect(canonical(element('samlp:Response', {}, canonical(part))).canonical).toContain(canonical(part).canonical);
  });

  it('rejects a canonical fragment where it would no longer be canonical', () => {
    const part = canonical(element('saml:Issuer', {}, 'x'));
    expect(() => canonical(element('saml:Assertion', {}, part))).toThrow('already in scope');
  });
});
