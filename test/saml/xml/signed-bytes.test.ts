// The text that is read of a signed message, beside what xml-crypto's own SignedXml says was signed: the slow and
// public way is the oracle of the quick one.
import { DOMParser } from '@xmldom/xmldom';
import { describe, expect, it } from 'vitest';
import { SignedXml } from 'xml-crypto';
import { verifyEnveloped } from '../../../src/protocols/saml/xml/enveloped-signature.ts';
import { algorithms } from '../../../src/protocols/saml/xml/names.ts';
import { parseXml } from '../../../src/protocols/saml/xml/parse.ts';
import fc, { numRuns } from '../../support/property.ts';
import { authnRequestXml, samlErrorCode, signXml, spCredential, spKeys } from '../support.ts';

const exclusive = algorithms.exclusiveC14n;

function byOracle(xml: string): string | undefined {
  const check = new SignedXml({ publicCert: spCredential.publicKey, getCertFromKeyInfo: () => null });
  const document = new DOMParser().parseFromString(xml);
  const signature = document.getElementsByTagNameNS('http://www.w3.org/2000/09/xmldsig#', 'Signature')[0];
  if (!signature) throw new Error('nothing is signed');
  check.loadSignature(signature);
  return check.checkSignature(xml) ? check.getSignedReferences()[0] : undefined;
}

// Elements and attributes in namespaces of many prefixes, redeclared here and there, with text of every kind.
const prefix = fc.constantFrom('a', 'b', 'c');
const content = fc
  .string({ unit: 'grapheme', maxLength: 12 })
  .map((text) =>
    text
      .replace(/[^\t\n\x20-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
      .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`),
  );
const { tree } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc
    .record({
      of: prefix,
      uris: fc.record({ a: fc.webUrl(), b: fc.constant('urn:b'), c: fc.constantFrom('urn:c', 'urn:b') }),
      attribute: content,
      children: fc.array(fc.oneof({ maxDepth: 3 }, content, tie('tree')), { maxLength: 3 }),
    })
    .map(
      ({ of, uris, attribute, children }) =>
        `<${of}:x xmlns:a="${uris.a.replaceAll('&', '&amp;')}" xmlns:b="${uris.b}" xmlns:c="${uris.c}" z="1"` +
        ` ${of}:y="${attribute}">${children.join('')}</${of}:x>`,
    ),
}));

describe('the signed text', () => {
  it('equals the result of xml-crypto, for any content', async () => {
    await fc.assert(
      fc.asyncProperty(tree, async (extension) => {
        const xml = signXml(authnRequestXml({ body: `<samlp:Extensions>${extension}</samlp:Extensions>` }));
        fc.pre(xml.split('<').length < 390 && xml.split('=').length < 390);
        expect(await verifyEnveloped(parseXml(xml), spKeys)).toBe(byOracle(xml));
      }),
      { numRuns: numRuns(150) },
    );
  });

  it('may name prefixes to be treated inclusively, as OpenSAML does, and nothing else', async () => {
    const list = `<ec:InclusiveNamespaces xmlns:ec="${exclusive}" PrefixList="a b"/>`;
    const body = '<samlp:Extensions xmlns:b="urn:b"><a:x xmlns:a="urn:a"/></samlp:Extensions>';
    const signed = new SignedXml({
      privateKey: spCredential.privateKey,
      signatureAlgorithm: algorithms.rsaSha256,
      canonicalizationAlgorithm: exclusive,
    });
    signed.addReference({
      xpath: '/*',
      digestAlgorithm: algorithms.sha256,
      transforms: [algorithms.enveloped, exclusive],
      inclusiveNamespacesPrefixList: ['a', 'b'],
    });
    signed.computeSignature(authnRequestXml({ body }), {
      prefix: 'ds',
      location: { reference: "/*/*[local-name()='Issuer']", action: 'after' },
    });
    const xml = signed.getSignedXml();
    expect(xml).toContain('PrefixList="a b"');
    expect(await verifyEnveloped(parseXml(xml), spKeys)).toBe(byOracle(xml));
    const plain = signXml(authnRequestXml());
    const last = `<ds:Transform Algorithm="${exclusive}"/>`;
    const withParameter = (parameter: string) =>
      plain.replace(last, last.replace('/>', `>${parameter}</ds:Transform>`));
    expect(await samlErrorCode(() => verifyEnveloped(parseXml(withParameter(list + list)), spKeys))).toBe(
      'signature_shape',
    );
    expect(
      await samlErrorCode(() =>
        verifyEnveloped(parseXml(withParameter('<ds:XPath>not(self::node())</ds:XPath>')), spKeys),
      ),
    ).toBe('signature_shape');
  });
});
