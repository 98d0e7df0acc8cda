// Signatures beside the message: over the octets that travelled, by a registered key, with an accepted algorithm.
import { constants, createHmac, createPublicKey, sign } from 'node:crypto';
import { SAML } from '@node-saml/node-saml';
import { describe, expect, it } from 'vitest';
import { readAuthnRequest } from '../../src/protocols/saml/messages/authn-request.ts';
import { decodeRedirect } from '../../src/protocols/saml/messages/decode.ts';
import { readCertificate } from '../../src/protocols/saml/xml/certificates.ts';
import { algorithms } from '../../src/protocols/saml/xml/names.ts';
import fc from '../support/property.ts';
import { mustSign, receiveRedirect } from './receive.ts';
import {
  aCredential,
  authnRequestXml,
  idp,
  redirectQuery,
  samlErrorCode,
  signQuery,
  sp,
  spCredential,
  unknownKey,
} from './support.ts';

const relayState = `state with ' and "`;
const query = redirectQuery(authnRequestXml({ attributes: ' ForceAuthn="true"' }), relayState);
const curve = aCredential('ec', 256);
const anySender = (...pems: string[]) => ({
  ...mustSign,
  signingKeys: pems.map((pem) => readCertificate(pem).publicKey),
});

describe('a signed redirect', () => {
  it.each([
    [algorithms.rsaSha256, 'sha256'],
    [algorithms.rsaSha384, 'sha384'],
    [algorithms.rsaSha512, 'sha512'],
  ])('is accepted with %s', async (algorithm, hash) => {
    const message = await receiveRedirect(signQuery(query, { algorithm, hash }));
    expect(message.signed).toBe(true);
    expect(readAuthnRequest(message).forceAuthn).toBe(true);
  });

  it.each([
    [algorithms.ecdsaSha256, 'sha256'],
    [algorithms.ecdsaSha384, 'sha384'],
    [algorithms.ecdsaSha512, 'sha512'],
  ])('is accepted with %s', async (algorithm, hash) => {
    const signed = signQuery(query, { algorithm, hash, key: curve.privateKey });
    expect((await receiveRedirect(signed, anySender(curve.certificatePem))).signed).toBe(true);
  });

  it('is accepted with ECDSA in DER, as Java writes it, and with RSA-PSS', async () => {
    const octets = (uri: string) => Buffer.from(`${query}&SigAlg=${encodeURIComponent(uri)}`);
    const der = sign('sha256', octets(algorithms.ecdsaSha256), curve.privateKey).toString('base64');
    const ecdsa = `${octets(algorithms.ecdsaSha256)}&Signature=${encodeURIComponent(der)}`;
    expect((await receiveRedirect(ecdsa, anySender(curve.certificatePem))).signed).toBe(true);
    const key = { key: spCredential.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
    const pss = sign('sha256', octets(algorithms.rsaPssSha256), key).toString('base64');
    const rsa = `${octets(algorithms.rsaPssSha256)}&Signature=${encodeURIComponent(pss)}`;
    expect((await receiveRedirect(rsa)).signed).toBe(true);
  });

  it('is accepted by any registered key, so that the sender can roll over', async () => {
    const sender = anySender(curve.certificatePem, aCredential().certificatePem, spCredential.certificatePem);
    expect((await receiveRedirect(signQuery(query), sender)).signed).toBe(true);
  });

  it('is accepted with SHA-1 only where that was allowed', async () => {
    const signed = signQuery(query, { algorithm: algorithms.rsaSha1, hash: 'sha1' });
    expect(await samlErrorCode(() => receiveRedirect(signed))).toBe('signature_algorithm');
    expect((await receiveRedirect(signed, { ...mustSign, allowSha1: true })).signed).toBe(true);
  });

  it.each([
    ['without signature', query, 'signature_missing'],
    ['by an unknown key', signQuery(query, { key: unknownKey }), 'signature_invalid'],
    ['naming another hash than was used', signQuery(query, { hash: 'sha512' }), 'signature_invalid'],
    ['naming ECDSA for an RSA key', signQuery(query, { algorithm: algorithms.ecdsaSha256 }), 'signature_invalid'],
    ['with DSA', signQuery(query, { algorithm: 'http://www.w3.org/2000/09/xmldsig#dsa-sha1' }), 'signature_algorithm'],
    ['with no known algorithm', signQuery(query, { algorithm: 'none' }), 'signature_algorithm'],
  ])('is rejected %s', async (_name, signed, code) => {
    expect(await samlErrorCode(() => receiveRedirect(signed))).toBe(code);
  });

  it('is rejected with HMAC whose secret is the public key', async () => {
    const secret = createPublicKey(spCredential.certificatePem).export({ format: 'pem', type: 'spki' });
    const hmacSha256 = 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256';
    for (const algorithm of [hmacSha256, algorithms.rsaSha256]) {
      const octets = `${query}&SigAlg=${encodeURIComponent(algorithm)}`;
      const mac = createHmac('sha256', secret).update(octets).digest('base64');
      const code = await samlErrorCode(() => receiveRedirect(`${octets}&Signature=${encodeURIComponent(mac)}`));
      expect(code).toBe(algorithm === hmacSha256 ? 'signature_algorithm' : 'signature_invalid');
    }
  });

  it('is rejected when its sender has no registered key, signed or not', async () => {
    expect(await samlErrorCode(() => receiveRedirect(signQuery(query), anySender()))).toBe('no_signing_key');
    const lenient = { ...anySender(), requireSigned: false };
    expect(await samlErrorCode(() => receiveRedirect(signQuery(query), lenient))).toBe('no_signing_key');
    expect((await receiveRedirect(query, lenient)).signed).toBe(false);
  });

  it('is rejected when the signature is wrong although none was required', async () => {
    const signed = signQuery(query, { key: unknownKey });
    expect(await samlErrorCode(() => receiveRedirect(signed, { ...mustSign, requireSigned: false }))).toBe(
      'signature_invalid',
    );
  });

  it('is rejected with the signature of another message or another RelayState', async () => {
    const other = signQuery(redirectQuery(authnRequestXml({ id: '_other' }), 'x'));
    const signature = other.slice(other.indexOf('&SigAlg='));
    expect(await samlErrorCode(() => receiveRedirect(`${query}${signature}`))).toBe('signature_invalid');
    const signed = signQuery(query);
    expect(await samlErrorCode(() => receiveRedirect(signed.replace('state', 'stats')))).toBe('signature_invalid');
    expect(await samlErrorCode(() => receiveRedirect(signed.replace(/&RelayState=[^&]*/, '')))).toBe(
      'signature_invalid',
    );
  });

  it('is accepted from node-saml, which signs another spelling of the query than it sends', async () => {
    const sender = new SAML({
      callbackUrl: sp.acs,
      entryPoint: idp.sso,
      issuer: sp.entityId,
      idpCert: spCredential.certificatePem,
      privateKey: spCredential.privatePem,
      signatureAlgorithm: 'sha256',
    });
    const url = await sender.getAuthorizeUrlAsync(`it's "here" (too)!*~`, undefined, {});
    expect((await receiveRedirect(url.slice(url.indexOf('?') + 1))).signed).toBe(true);
  });

  it('is read as it was signed, or rejected, after any change of any character', async () => {
    const signed = signQuery(query);
    const original = readAuthnRequest(await receiveRedirect(signed));
    const characters = 'ABCabc019+/=&%-_.~ ';
    let rejectedCount = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(signed.length - 1),
        fc.constantFrom(...characters),
        fc.constantFrom('replace', 'insert', 'delete'),
        async (at, character, edit) => {
          const rest = edit === 'insert' ? at : at + 1;
          const changed = signed.slice(0, at) + (edit === 'delete' ? '' : character) + signed.slice(rest);
          fc.pre(changed !== signed);
          const [message, decoded] = await Promise.all([
            receiveRedirect(changed).catch(() => undefined),
            decodeRedirect(changed).catch(() => undefined),
          ]);
          // An empty parameter more, or %2b for %2B in the signature itself, changes nothing that is read.
          if (!message) rejectedCount += 1;
          else expect([readAuthnRequest(message), decoded?.relayState]).toEqual([original, relayState]);
        },
      ),
      { numRuns: 1500 },
    );
    expect(rejectedCount).toBeGreaterThan(1300);
  });
});
