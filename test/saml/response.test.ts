// What we issue, judged by node-saml, samlify, xml-crypto and the OASIS schemas.
import { createPublicKey } from 'node:crypto';
import { DOMParser } from '@xmldom/xmldom';
import { describe, expect, it } from 'vitest';
import { SignedXml } from 'xml-crypto';
import {
  type SignedParts,
  statusResponse,
  successResponse,
} from '../../src/protocols/saml/messages/signed-response.ts';
import { chooseEncryption } from '../../src/protocols/saml/xml/encrypt.ts';
import { contextClasses, nameIdFormats, statusCodes } from '../../src/protocols/saml/xml/names.ts';
import { createSigner } from '../../src/protocols/saml/xml/sign.ts';
import { acceptedByNodeSaml, acceptedBySamlify, aSuccess } from './receivers.ts';
import { aCredential, idp, idpCredential, schemas, signer, sp, spCredential } from './support.ts';

const encryption = chooseEncryption(createPublicKey(spCredential.certificatePem), [], false);
if (typeof encryption === 'string') throw new Error(encryption);
const ways: [SignedParts, boolean][] = [
  ['assertion', false],
  ['response', false],
  ['both', false],
  ['assertion', true],
  ['response', true],
  ['both', true],
];

/** The number of signatures that xml-crypto finds and verifies. */
function verifiedSignatures(xml: string): number {
  const document = new DOMParser().parseFromString(xml, 'text/xml');
  const signatures = Array.from(document.getElementsByTagNameNS('http://www.w3.org/2000/09/xmldsig#', 'Signature'));
  for (const signature of signatures) {
    const check = new SignedXml({ publicCert: idpCredential.certificatePem, getCertFromKeyInfo: () => null });
    check.loadSignature(signature);
    expect(check.checkSignature(xml)).toBe(true);
  }
  return signatures.length;
}

describe('a success response', () => {
  it.each(ways)('follows the schema, signed by %s, encrypted: %s', (sign, encrypt) => {
    const xml = successResponse(aSuccess({ sign, encryption: encrypt ? encryption : undefined }), signer);
    expect(schemas.protocol(xml)).toBeUndefined();
    expect(xml.includes('opaque-1')).toBe(!encrypt);
    const readable = (sign === 'assertion' ? 0 : 1) + (sign === 'response' || encrypt ? 0 : 1);
    expect(verifiedSignatures(xml)).toBe(readable);
  });

  it.each(ways)('is accepted by node-saml, signed by %s, encrypted: %s', async (sign, encrypt) => {
    const xml = successResponse(aSuccess({ sign, encryption: encrypt ? encryption : undefined }), signer);
    const profile = await acceptedByNodeSaml(xml, sign);
    expect(profile).toMatchObject({
      issuer: idp.entityId,
      nameID: 'opaque-1',
      nameIDFormat: nameIdFormats.persistent,
      sessionIndex: 'session-1',
      email: 'alice@example.com',
      role: ['editor', 'admin'],
      inResponseTo: '_request1',
    });
  });

  it.each(
    ways.filter(([sign, encrypt]) => !(sign === 'response' && encrypt)), // samlify has no such mode
  )('is accepted by samlify, signed by %s, encrypted: %s', async (sign, encrypt) => {
    const xml = successResponse(aSuccess({ sign, encryption: encrypt ? encryption : undefined }), signer);
    const extract = await acceptedBySamlify(xml, sign);
    expect(extract.nameID).toBe('opaque-1');
    expect(extract.attributes).toEqual({ email: 'alice@example.com', role: ['editor', 'admin'] });
    expect(extract.sessionIndex.sessionIndex).toBe('session-1');
    expect(extract.response.inResponseTo).toBe('_request1');
  });

  it('is rejected after any change', async () => {
    const xml = successResponse(aSuccess({ sign: 'both' }), signer);
    await expect(acceptedByNodeSaml(xml.replace('opaque-1', 'opaque-2'), 'both')).rejects.toThrow();
    await expect(acceptedByNodeSaml(xml.replace('editor', 'owner'), 'assertion')).rejects.toThrow();
  });

  it('has no InResponseTo when it is IdP-initiated', async () => {
    const xml = successResponse(aSuccess({ inResponseTo: undefined }), signer);
    expect(xml).not.toContain('InResponseTo');
    expect(schemas.protocol(xml)).toBeUndefined();
    await expect(acceptedByNodeSaml(xml, 'assertion', null)).resolves.toMatchObject({ nameID: 'opaque-1' });
  });

  it('is valid for five minutes, and a minute back for slow clocks', () => {
    const xml = successResponse(aSuccess({ now: new Date('2031-05-04T10:00:00.900Z') }), signer);
    expect(xml).toContain('<saml:Conditions NotBefore="2031-05-04T09:59:00Z" NotOnOrAfter="2031-05-04T10:05:00Z">');
    expect(xml).toContain(`NotOnOrAfter="2031-05-04T10:05:00Z" Recipient="${sp.acs}"`);
  });

  it('states how the user signed in', () => {
    const xml = successResponse(aSuccess({ contextClass: contextClasses.passkey }), signer);
    expect(xml).toContain(`<saml:AuthnContextClassRef>${contextClasses.passkey}</saml:AuthnContextClassRef>`);
  });
});

describe('a status response', () => {
  const status = { code: statusCodes.Responder, subcode: statusCodes.NoPassive, message: 'a <b> & "c"' };
  const input = { id: '_r', issuer: idp.entityId, acsUrl: sp.acs, inResponseTo: '_request1', now: new Date(), status };

  it('follows the schema, is signed and holds no assertion', () => {
    const xml = statusResponse(input, signer);
    expect(schemas.protocol(xml)).toBeUndefined();
    expect(verifiedSignatures(xml)).toBe(1);
    expect(xml).not.toContain('Assertion ');
    expect(xml).toContain('a &lt;b&gt; &amp; "c"');
  });

  it('is understood by node-saml as an error', async () => {
    // node-saml reads NoPassive as "not signed in", without a profile and without an error.
    await expect(acceptedByNodeSaml(statusResponse(input, signer), 'both')).rejects.toThrow('no profile');
    const denied = { code: statusCodes.Requester, subcode: statusCodes.RequestDenied };
    const xml = statusResponse({ ...input, status: denied }, signer);
    await expect(acceptedByNodeSaml(xml, 'both')).rejects.toThrow('RequestDenied');
  });
});

describe('the signer', () => {
  it('rejects weak keys, elliptic curves and a certificate of another key', () => {
    const [weak, curve, other] = [aCredential('rsa', 1024), aCredential('ec', 256), aCredential()];
    expect(() => createSigner(weak)).toThrow('2048');
    expect(() => createSigner(curve)).toThrow('RSA');
    expect(() => createSigner({ ...other, certificatePem: idpCredential.certificatePem })).toThrow('does not belong');
  });
});
