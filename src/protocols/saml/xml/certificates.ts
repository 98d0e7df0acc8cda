// Certificates of service providers, which SAML metadata uses as containers of keys (SAML Metadata Interoperability
// Profile): their dates and issuers are not checked, their keys are (core/keys/foreign-keys.ts).

import type { KeyObject, X509Certificate } from 'node:crypto';
import { type Fault, fault, sentenceOf } from '../../../base/texts/faults.ts';
import { foreignKeyFault, parseCertificate, strengthOf } from '../../../core/keys/foreign-keys.ts';
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

/**
 * Reads a certificate, as PEM (the first one of the text) or as the base64 of metadata.
 *
 * @throws SamlError metadata_rejected when it cannot be read, weak_key when its key is not accepted
 */
export function readCertificate(text: string): Certificate {
  const certificate = parseCertificate(text);
  if (!certificate) throw new SamlError('metadata_rejected', { message: 'A certificate could not be read.' });
  const publicKey = publicKeyOf(certificate);
  const kind = publicKey.asymmetricKeyType;
  if (kind !== 'rsa' && kind !== 'ec') throw weakKey(fault([], 'key-type', { name: String(kind) }));
  const found = foreignKeyFault(publicKey);
  if (found) throw weakKey(found);
  return {
    pem: certificate.toString(),
    publicKey,
    kind,
    bits: strengthOf(publicKey),
    fingerprint: certificate.fingerprint256,
    subject: certificate.subject,
    expiresAt: new Date(certificate.validTo),
  };
}

function publicKeyOf(certificate: X509Certificate): KeyObject {
  try {
    return certificate.publicKey;
  } catch (cause) {
    throw new SamlError('weak_key', { cause }); // a key type that OpenSSL does not support
  }
}

function weakKey(found: Fault): SamlError {
  return new SamlError('weak_key', {
    message: `${sentenceOf(found, 'A certificate')} Accepted are RSA and the curves P-256, P-384 and P-521.`,
  });
}
