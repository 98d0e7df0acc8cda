// Signatures inside the message: the one shape that is accepted, and everything that is only nearly it.
import { createHmac, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type AuthnRequest, readAuthnRequest } from '../../../src/protocols/saml/messages/authn-request.ts';
import { readCertificate } from '../../../src/protocols/saml/xml/certificates.ts';
import { algorithms } from '../../../src/protocols/saml/xml/names.ts';
import fc from '../../support/property.ts';
import { mustSign, receivePost, receiveRedirect } from '../receive.ts';
import {
  aCredential,
  authnRequestXml,
  redirectQuery,
  samlErrorCode,
  signQuery,
  signXml,
  spCredential,
  unknownKey,
} from '../support.ts';

const plain = authnRequestXml({ attributes: ' ForceAuthn="true"' });
const signed = signXml(plain);
const inclusive = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const withComments = 'http://www.w3.org/2001/10/xml-exc-c14n#WithComments';
const { exclusiveC14n, enveloped } = algorithms;
const anySender = (...pems: string[]) => ({
  ...mustSign,
  signingKeys: pems.map((pem) => readCertificate(pem).publicKey),
});
const edit = (pattern: RegExp | string, replacement: string, xml = signed) => {
  const edited = xml.replace(pattern, replacement);
  if (edited === xml) throw new Error('the edit changed nothing');
  return edited;
};

describe('a POSTed message with an enveloped signature', () => {
  it('is accepted, and read from the signed bytes', async () => {
    const message = await receivePost(signed);
    expect(message.signed).toBe(true);
    expect(message.root.textContent).not.toContain('MII'); // the signature is not part of what it signs
    expect(readAuthnRequest(message)).toMatchObject({ id: '_request1', forceAuthn: true, signed: true });
  });

  it('is accepted with RSA-SHA-512 and a SHA-512 digest', async () => {
    const xml = signXml(plain, {
      signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
      digestAlgorithm: algorithms.sha512,
    });
    expect((await receivePost(xml)).signed).toBe(true);
  });

  it.each([256, 384, 521])('is accepted with ECDSA on P-%i, r||s as XML Signature wants it', async (bits) => {
    const curve = aCredential('ec', bits);
    const xml = signXml(plain, { key: curve.privateKey, signatureAlgorithm: algorithms.ecdsaSha256 });
    expect((await receivePost(xml, anySender(spCredential.certificatePem, curve.certificatePem))).signed).toBe(true);
    expect(await samlErrorCode(() => receivePost(xml))).toBe('signature_invalid');
  });

  it('is accepted by any registered key, whatever certificate it carries along', async () => {
    const sender = anySender(aCredential().certificatePem, spCredential.certificatePem);
    expect((await receivePost(edit(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, ''), sender)).signed).toBe(true);
    expect((await receivePost(signXml(plain, { certificatePem: aCredential().certificatePem }), sender)).signed).toBe(
      true,
    );
  });

  it('is accepted with SHA-1 only where that was allowed', async () => {
    const sha1 = signXml(plain, { signatureAlgorithm: algorithms.rsaSha1, digestAlgorithm: algorithms.sha1 });
    const digest = signXml(plain, { digestAlgorithm: algorithms.sha1 });
    expect(await samlErrorCode(() => receivePost(sha1))).toBe('signature_algorithm');
    expect(await samlErrorCode(() => receivePost(digest))).toBe('signature_algorithm');
    expect((await receivePost(sha1, { ...mustSign, allowSha1: true })).signed).toBe(true);
  });

  it('is accepted with canonicalization that keeps comments, which no message has', async () => {
    for (const canonicalization of [exclusiveC14n, withComments]) {
      const xml = signXml(plain, { transforms: [enveloped, withComments], canonicalization });
      expect(xml.split(withComments).length).toBeGreaterThan(canonicalization === withComments ? 2 : 1);
      expect(readAuthnRequest(await receivePost(xml))).toMatchObject({
        id: '_request1',
        forceAuthn: true,
        signed: true,
      });
      const commented = xml.replace('sp.example/metadata<', 'sp.example/<!-- -->metadata<');
      expect(await samlErrorCode(() => receivePost(commented))).toBe('forbidden_markup');
      expect(await samlErrorCode(() => receivePost(xml.replace('"true"', '"false"')))).toBe('signature_invalid');
    }
  });

  it('is rejected when its own certificate is the only one that fits', async () => {
    const otherCredential = aCredential();
    const xml = signXml(plain, { key: otherCredential.privateKey, certificatePem: otherCredential.certificatePem });
    expect(await samlErrorCode(() => receivePost(xml))).toBe('signature_invalid');
    expect(await samlErrorCode(() => receivePost(signXml(plain, { key: unknownKey })))).toBe('signature_invalid');
    expect(await samlErrorCode(() => receivePost(xml, anySender()))).toBe('no_signing_key');
  });

  it('is rejected with HMAC whose secret is the public key', async () => {
    const info = /<ds:SignedInfo>.*<\/ds:SignedInfo>/s.exec(signed)?.[0] ?? '';
    const secret = createPublicKey(spCredential.certificatePem).export({ format: 'pem', type: 'spki' });
    for (const uri of [
      'http://www.w3.org/2000/09/xmldsig#hmac-sha1',
      'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256',
    ]) {
      const forgedInfo = info
        .replace(algorithms.rsaSha256, uri)
        .replace('<ds:SignedInfo>', '<ds:SignedInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#">');
      const mac = createHmac(uri.endsWith('sha1') ? 'sha1' : 'sha256', secret)
        .update(forgedInfo)
        .digest('base64');
      const xml = edit(algorithms.rsaSha256, uri, edit(/(<ds:SignatureValue>)[^<]*/, `$1${mac}`));
      expect(await samlErrorCode(() => receivePost(xml))).toBe('signature_algorithm');
    }
  });

  it.each([
    ['no signature', plain, 'signature_missing'],
    ['two signatures', signXml(signed), 'not_schema_valid'],
    ['no enveloped transform', edit(/<ds:Transform Algorithm="[^"]*enveloped-signature"\/>/, ''), 'signature_shape'],
    ['only the enveloped transform', signXml(plain, { transforms: [enveloped] }), 'signature_shape'],
    ['inclusive c14n', signXml(plain, { transforms: [enveloped, inclusive] }), 'signature_shape'],
    ['transforms in another order', signXml(plain, { transforms: [exclusiveC14n, enveloped] }), 'signature_shape'],
    ['XSLT', edit(exclusiveC14n, 'http://www.w3.org/TR/1999/REC-xslt-19991116'), 'signature_shape'],
    ['a reference to nothing', edit('URI="#_request1"', 'URI="#_other"'), 'signature_shape'],
    ['a reference to the whole document', edit('URI="#_request1"', 'URI=""'), 'signature_shape'],
    ['a reference by XPointer', edit('URI="#_request1"', 'URI="#xpointer(/)"'), 'signature_shape'],
    ['a reference elsewhere', edit('URI="#_request1"', 'URI="https://evil.example/#_request1"'), 'signature_shape'],
    ['an Object', edit('</ds:Signature>', '<ds:Object/></ds:Signature>'), 'signature_shape'],
    ['a second Reference', edit(/(<ds:Reference.*<\/ds:Reference>)/s, '$1$1'), 'signature_shape'],
    ['a truncated digest', edit(/(<ds:DigestValue>.{8})[^<]*/, '$1'), 'signature_invalid'],
    ['an empty digest', edit(/(<ds:DigestValue>)[^<]*/, '$1'), 'signature_shape'],
    ['base64 with stray bits', edit(/(<ds:DigestValue>[^<]{42}).=/, '$1B='), 'not_schema_valid'],
    ['an empty signature', edit(/(<ds:SignatureValue>)[^<]*/, '$1'), 'signature_shape'],
    [
      'parameters of the algorithm',
      edit(/(<ds:SignatureMethod [^>]*)\/>/, '$1><ds:HMACOutputLength>8</ds:HMACOutputLength></ds:SignatureMethod>'),
      'signature_shape',
    ],
    [
      'parameters of the canonicalization',
      edit(
        /(<ds:CanonicalizationMethod [^>]*)\/>/,
        '$1><e:InclusiveNamespaces xmlns:e="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="x"/></ds:CanonicalizationMethod>',
      ),
      'signature_shape',
    ],
    ['DSA', edit(algorithms.rsaSha256, 'http://www.w3.org/2000/09/xmldsig#dsa-sha1'), 'signature_algorithm'],
    ['an MD5 digest', edit(algorithms.sha256, 'http://www.w3.org/2001/04/xmldsig-more#md5'), 'signature_algorithm'],
    ['a changed attribute', edit('ForceAuthn="true"', 'ForceAuthn="false"'), 'signature_invalid'],
    ['a changed text', edit('sp.example/metadata', 'sp.example/other'), 'signature_invalid'],
    [
      'an added element',
      edit('</samlp:AuthnRequest>', '<samlp:NameIDPolicy/></samlp:AuthnRequest>'),
      'signature_invalid',
    ],
    ['an added attribute', edit(' ForceAuthn', ' IsPassive="true" ForceAuthn'), 'signature_invalid'],
  ])('is rejected with %s', async (_name, xml, code) => {
    expect(await samlErrorCode(() => receivePost(xml))).toBe(code);
  });

  it('is ignored by redirect, where the signature is in the query', async () => {
    expect(await samlErrorCode(() => receiveRedirect(redirectQuery(signed)))).toBe('signature_shape');
    const forged = edit('ForceAuthn="true"', 'ForceAuthn="false"');
    expect(await samlErrorCode(() => receiveRedirect(redirectQuery(forged)))).toBe('signature_shape');
    const { root } = await receiveRedirect(signQuery(redirectQuery(forged)));
    expect(root.getAttribute('ForceAuthn')).toBe('false');
    const foreign = signQuery(redirectQuery(signed), { key: unknownKey });
    expect(await samlErrorCode(() => receiveRedirect(foreign))).toBe('signature_invalid');
  });

  it('is read as it was signed, or rejected, after any change of any character', async () => {
    const original = readAuthnRequest(await receivePost(signed));
    const characters = '<>/="\'& \n#:ABab01.é!-';
    let rejectedCount = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(signed.length - 1),
        fc.constantFrom(...characters),
        fc.constantFrom('replace', 'insert', 'delete'),
        async (at, character, how) => {
          const rest = how === 'insert' ? at : at + 1;
          const changed = signed.slice(0, at) + (how === 'delete' ? '' : character) + signed.slice(rest);
          fc.pre(changed !== signed);
          let read: AuthnRequest | undefined;
          const code = await samlErrorCode(async () => {
            read = readAuthnRequest(await receivePost(changed));
          }).catch(() => undefined);
          // KeyInfo and white space between attributes are not signed, and not read either.
          if (code) rejectedCount += 1;
          else expect(read).toEqual(original);
        },
      ),
      { numRuns: 1500 },
    );
    expect(rejectedCount).toBeGreaterThan(300);
  });
});
