// Keys, senders and judges for the SAML tests. Messages from outside are made by other libraries than the one that
// reads them, and what we write is read by other libraries than the one that wrote it.
import { type BinaryLike, sign as cryptoSign, generateKeyPairSync, type KeyLike, type KeyObject } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { SignedXml } from 'xml-crypto';
import { readCertificate } from '../../src/protocols/saml/xml/certificates.ts';
import { SamlError, type SamlErrorCode } from '../../src/protocols/saml/xml/errors.ts';
import { algorithms } from '../../src/protocols/saml/xml/names.ts';
import { loadSamlSchemas } from '../../src/protocols/saml/xml/schema.ts';
import { createSigner } from '../../src/protocols/saml/xml/sign.ts';
import { anRsaKey, type RsaKey, reservedRsaKey } from '../support/applications/rsa-keys.ts';
import { selfSigned } from './certificate.ts';

export const schemas = loadSamlSchemas();
export const now = new Date('2031-05-04T10:00:00Z');
export const idp = { entityId: 'https://id.example/saml/metadata', sso: 'https://id.example/saml/sso' };
export const sp = { entityId: 'https://sp.example/metadata', acs: 'https://sp.example/acs' };

export interface Credential {
  privateKey: KeyObject;
  privatePem: string;
  publicKey: KeyObject;
  certificatePem: string;
}

/** A key with a self-signed certificate, another one at each call of a test file. */
export function aCredential(kind: 'rsa' | 'ec' = 'rsa', bits = 2048): Credential {
  if (kind === 'ec') return selfSignedCredential(generateKeyPairSync('ec', { namedCurve: `P-${bits}` }));
  return selfSignedCredential(bits === 2048 ? anRsaKey() : generateKeyPairSync('rsa', { modulusLength: bits }));
}

function selfSignedCredential({ privateKey, publicKey }: RsaKey): Credential {
  return {
    privateKey,
    privatePem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    publicKey,
    certificatePem: selfSigned(privateKey, publicKey),
  };
}

// Shared by several files: a test must not change these keys.
export const idpCredential = selfSignedCredential(reservedRsaKey(0));
export const spCredential = selfSignedCredential(reservedRsaKey(1));
export const signer = createSigner(idpCredential);
export const spKeys = { signingKeys: [readCertificate(spCredential.certificatePem).publicKey], allowSha1: false };

/** A key that nobody registered. */
export const unknownKey = reservedRsaKey(2).privateKey;

export interface RequestParts {
  id?: string;
  attributes?: string;
  issuer?: string;
  destination?: string;
  body?: string;
  acs?: string;
}

/** An AuthnRequest as text, unsigned. */
export function authnRequestXml(parts: RequestParts = {}): string {
  const { id = '_request1', attributes = '', issuer = sp.entityId, destination = idp.sso, body = '' } = parts;
  const acs = parts.acs === undefined ? ` AssertionConsumerServiceURL="${sp.acs}"` : parts.acs;
  return (
    `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="${id}" Version="2.0"` +
    ` IssueInstant="${now.toISOString()}" Destination="${destination}"${acs}${attributes}>` +
    `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${issuer}</saml:Issuer>${body}</samlp:AuthnRequest>`
  );
}

/** A LogoutRequest as text, unsigned. */
export function logoutRequestXml(nameId = 'alice', body = '', id = '_logout1'): string {
  return (
    `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"` +
    ` xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0"` +
    ` IssueInstant="${now.toISOString()}" Destination="https://id.example/saml/slo">` +
    `<saml:Issuer>${sp.entityId}</saml:Issuer><saml:NameID>${nameId}</saml:NameID>${body}</samlp:LogoutRequest>`
  );
}

export interface SignOptions {
  key?: KeyObject | string;
  signatureAlgorithm?: string;
  digestAlgorithm?: string;
  transforms?: string[];
  /** Of SignedInfo. */
  canonicalization?: string;
  reference?: string;
  certificatePem?: string;
  /** XPath of the element in which the signature comes first; by default it follows the Issuer. */
  firstIn?: string;
}

/** xml-crypto lacks ECDSA; r||s by node:crypto. */
class EcdsaSha256 {
  getAlgorithmName = () => algorithms.ecdsaSha256;
  verifySignature = () => false;
  getSignature = (octets: BinaryLike, key: KeyLike): string =>
    cryptoSign('sha256', Buffer.from(String(octets)), { key: key as KeyObject, dsaEncoding: 'ieee-p1363' }).toString(
      'base64',
    );
}

/** An enveloped signature after the Issuer, made by xml-crypto. */
export function signXml(xml: string, options: SignOptions = {}): string {
  const signed = new SignedXml({
    privateKey: options.key ?? spCredential.privateKey,
    publicCert: options.certificatePem ?? spCredential.certificatePem,
    signatureAlgorithm: options.signatureAlgorithm ?? algorithms.rsaSha256,
    canonicalizationAlgorithm: (options.canonicalization ??
      algorithms.exclusiveC14n) as typeof algorithms.exclusiveC14n,
    getKeyInfoContent: SignedXml.getKeyInfoContent,
  });
  signed.SignatureAlgorithms[algorithms.ecdsaSha256] = EcdsaSha256;
  signed.addReference({
    xpath: options.reference ?? '/*',
    digestAlgorithm: options.digestAlgorithm ?? algorithms.sha256,
    transforms: options.transforms ?? [algorithms.enveloped, algorithms.exclusiveC14n],
  });
  signed.computeSignature(xml, {
    prefix: 'ds',
    location: options.firstIn
      ? { reference: options.firstIn, action: 'prepend' }
      : { reference: "/*/*[local-name()='Issuer']", action: 'after' },
  });
  return signed.getSignedXml();
}

export function postBody(xml: string, relayState?: string, parameter = 'SAMLRequest'): string {
  const fields = new URLSearchParams({ [parameter]: Buffer.from(xml).toString('base64') });
  if (relayState !== undefined) fields.set('RelayState', relayState);
  return fields.toString();
}

export function redirectQuery(xml: string, relayState?: string, parameter = 'SAMLRequest'): string {
  const value = encodeURIComponent(deflateRawSync(xml).toString('base64'));
  return `${parameter}=${value}${relayState === undefined ? '' : `&RelayState=${encodeURIComponent(relayState)}`}`;
}

/** The redirect binding's signature, made by node:crypto over the octets as they travel. */
export function signQuery(
  query: string,
  { algorithm = algorithms.rsaSha256 as string, hash = 'sha256', key = spCredential.privateKey } = {},
): string {
  const octets = `${query}&SigAlg=${encodeURIComponent(algorithm)}`;
  const signature = cryptoSign(hash, Buffer.from(octets), { key, dsaEncoding: 'ieee-p1363' });
  return `${octets}&Signature=${encodeURIComponent(signature.toString('base64'))}`;
}

/** The code of the SamlError that is thrown; a result, or an error of another kind, fails the test. */
export async function samlErrorCode(act: () => unknown): Promise<SamlErrorCode> {
  let result: unknown;
  try {
    result = await act();
  } catch (error) {
    if (error instanceof SamlError) return error.code;
    throw error;
  }
  throw new Error(`was accepted: ${JSON.stringify(result)}`);
}
