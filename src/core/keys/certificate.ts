// The self-signed X.509 certificate of the SAML signing key (SAML Metadata 2.4.1.1). Service providers trust its key, not an
// issuer, so it holds only the fields that RFC 5280 requires.
import { X509Certificate } from 'node:crypto';
import type { CertificateRequest } from './make-certificate.ts';

export interface CertificateInfo {
  subject: string;
  /** SHA-256 in the usual notation, AB:CD:… */
  fingerprint: string;
  until: Date;
}

/** Makes a certificate for an RSA key, signed with SHA-256, and returns it as PEM. */
export async function selfSignedCertificate(request: CertificateRequest): Promise<string> {
  const { makeCertificate } = await import('./make-certificate.ts');
  return makeCertificate(request);
}

/** The values that administrators compare with the configuration of a service provider. */
export function certificateInfo(pem: string): CertificateInfo {
  const { subject, fingerprint256, validTo } = new X509Certificate(pem);
  return { subject, fingerprint: fingerprint256, until: new Date(validTo) };
}
