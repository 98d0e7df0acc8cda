// XML Signature over the canonical text that write.ts produces: enveloped, one reference, exclusive c14n, SHA-256. Nothing
// is parsed again; the cost is two hashes and one RSA operation (docs/decisions/0024-own-code-instead-of-a-library.md).
import { createHash, createPrivateKey, sign as cryptoSign, type KeyObject, X509Certificate } from 'node:crypto';
import { algorithms } from './names.ts';
import { type CanonicalXml, canonical, element, type XmlElement } from './write.ts';

export type Signer = ReturnType<typeof createSigner>;

/** Imports the key once. Throws unless it is RSA of at least 2048 bits and belongs to the certificate. */
export function createSigner(credential: { privateKey: KeyObject | string; certificatePem: string }) {
  const { privateKey, certificatePem } = credential;
  const key = typeof privateKey === 'string' ? createPrivateKey(privateKey) : privateKey;
  const certificate = new X509Certificate(certificatePem);
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < 2048) {
    throw new Error('SAML messages are signed with an RSA key of at least 2048 bits');
  }
  if (!certificate.checkPrivateKey(key)) throw new Error('the SAML certificate does not belong to its private key');
  return {
    /** The URI for SignatureMethod and SigAlg. */
    algorithm: algorithms.rsaSha256,
    /** Base64 DER, as X509Certificate wants it. */
    certificate: certificate.raw.toString('base64'),
    sign: (octets: string): Buffer => cryptoSign('sha256', Buffer.from(octets), key),
  };
}

/**
 * Signs an element with an ID. The signature becomes child number `position`: after the Issuer (1) in messages and
 * assertions, first (0) in metadata.
 */
export function signElement(unsigned: XmlElement, position: 0 | 1, signer: Signer): CanonicalXml {
  const id = unsigned.attributes.ID;
  if (!id) throw new Error('only an element with an ID can be signed');
  const digest = createHash('sha256').update(canonical(unsigned).canonical).digest('base64');
  const info = signedInfo(id, digest, signer.algorithm);
  const signature = element(
    'ds:Signature',
    {},
    info,
    element('ds:SignatureValue', {}, signer.sign(canonical(info).canonical).toString('base64')),
    element('ds:KeyInfo', {}, element('ds:X509Data', {}, element('ds:X509Certificate', {}, signer.certificate))),
  );
  const children = [...unsigned.children.slice(0, position), signature, ...unsigned.children.slice(position)];
  return canonical({ ...unsigned, children });
}

function signedInfo(id: string, digest: string, algorithm: string): XmlElement {
  const method = (name: 'CanonicalizationMethod' | 'SignatureMethod' | 'Transform' | 'DigestMethod', uri: string) =>
    element(`ds:${name}`, { Algorithm: uri });
  return element(
    'ds:SignedInfo',
    {},
    method('CanonicalizationMethod', algorithms.exclusiveC14n),
    method('SignatureMethod', algorithm),
    element(
      'ds:Reference',
      { URI: `#${id}` },
      element(
        'ds:Transforms',
        {},
        method('Transform', algorithms.enveloped),
        method('Transform', algorithms.exclusiveC14n),
      ),
      method('DigestMethod', algorithms.sha256),
      element('ds:DigestValue', {}, digest),
    ),
  );
}
