// Makes the certificates of certificate.ts. The library is in a file apart, because it takes 165 ms and 12 MB
// (docs/decisions/0024-own-code-instead-of-a-library.md), and a certificate is made every few years.
import 'reflect-metadata'; // tsyringe, which the library uses, needs this first
import { createHash, type KeyObject, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';

export interface CertificateRequest {
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** The host of the issuer; becomes the common name. */
  host: string;
  from: Date;
  until: Date;
}

const MAX_COMMON_NAME = 64; // ub-common-name
const SERIAL_BYTES = 16;
const ALGORITHM = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };

/** Makes a certificate for an RSA key, signed with SHA-256, and returns it as PEM. */
export async function makeCertificate(request: CertificateRequest): Promise<string> {
  const { privateKey, publicKey, host, from, until } = request;
  const { subtle } = webcrypto;
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const name = new x509.Name([{ CN: [{ utf8String: host.slice(0, MAX_COMMON_NAME) }] }]);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: name,
    issuer: name,
    notBefore: from,
    notAfter: until,
    publicKey: await subtle.importKey('spki', spki, ALGORITHM, true, ['verify']),
    signingKey: await subtle.importKey('pkcs8', pkcs8, ALGORITHM, false, ['sign']),
    signingAlgorithm: ALGORITHM,
    extensions: [
      // No keyUsage: without keyCertSign in it, OpenSSL rejects the certificate as its own issuer, which breaks
      // service providers that trust it as a root.
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.SubjectKeyIdentifierExtension(createHash('sha256').update(spki).digest('hex').slice(0, 40)),
    ],
  });
  return new X509Certificate(Buffer.from(certificate.rawData)).toString();
}

/** Random, positive and without a leading zero byte (RFC 5280 4.1.2.2), as hex. */
function serialNumber(): string {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}
