// Certificates of service providers, which SAML metadata uses as containers of keys (SAML Metadata Interoperability
// Profile): their dates and issuers are not checked, the strength of the key is.
import { type KeyObject, X509Certificate } from 'node:crypto';
import { limits } from '../../limits.ts';
import { SamlError } from './errors.ts';

export interface Certificate {
  pem: string;
  publicKey: KeyObject;
  kind: 'rsa' | 'ec';
  bits: number;
  /** SHA-256, hex with colons, as administrators compare it. */
  fingerprint: string;
  subject: string;
  expiresAt: Date;
}

const curveBits: Record<string, number> = { prime256v1: 256, secp384r1: 384, secp521r1: 521 };

/**
 * Reads a certificate, as PEM or as the base64 of metadata.
 *
 * @throws SamlError metadata_refused when it cannot be read, weak_key when its key is not accepted
 */
export function readCertificate(text: string): Certificate {
  const base64 = text.replace(/-----(BEGIN|END) CERTIFICATE-----/g, '').replace(/\s+/g, '');
  const certificate = parseCertificate(base64);
  const publicKey = publicKeyOf(certificate);
  const { kind, bits } = strengthOf(publicKey);
  return {
    pem: certificate.toString(),
    publicKey,
    kind,
    bits,
    fingerprint: certificate.fingerprint256,
    subject: certificate.subject,
    expiresAt: new Date(certificate.validTo),
  };
}

function parseCertificate(base64: string): X509Certificate {
  try {
    const octets = Buffer.from(base64, 'base64');
    if (octets.length > 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return new X509Certificate(octets);
  } catch (cause) {
    throw new SamlError('metadata_refused', { message: 'A certificate could not be read.', cause });
  }
  throw new SamlError('metadata_refused', { message: 'A certificate could not be read.' });
}

function publicKeyOf(certificate: X509Certificate): KeyObject {
  try {
    return certificate.publicKey;
  } catch (cause) {
    throw new SamlError('weak_key', { cause }); // a key type that OpenSSL does not support
  }
}

function strengthOf(key: KeyObject): { kind: 'rsa' | 'ec'; bits: number } {
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') {
    if (modulusLength < limits.saml.minRsaBits) throw weakKey(`RSA with ${modulusLength} bits`);
    return { kind: 'rsa', bits: modulusLength };
  }
  const bits = key.asymmetricKeyType === 'ec' ? curveBits[namedCurve] : undefined;
  if (!bits) throw weakKey(`${key.asymmetricKeyType ?? 'unknown'} ${namedCurve}`.trim());
  return { kind: 'ec', bits };
}

function weakKey(found: string): SamlError {
  return new SamlError('weak_key', {
    message: `A certificate holds a key that is not accepted (${found}); RSA from 2048 bits or P-256, P-384, P-521.`,
  });
}
