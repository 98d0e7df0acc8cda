// The key pair of the SAML application: it signs its messages and decrypts its assertions.
import { generateKeyPairSync } from 'node:crypto';
import { selfSignedCertificate } from '../../keys/certificate.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A fresh RSA key with a certificate for a day, both as PEM. */
export async function createCredential(): Promise<{ privateKey: string; certificate: string }> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const now = Date.now();
  const [from, until] = [new Date(now), new Date(now + DAY_MS)];
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: await selfSignedCertificate({ privateKey, publicKey, host: 'demo-saml-app', from, until }),
  };
}
