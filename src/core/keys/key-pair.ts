// One stored key: generates it, names it by its RFC 7638 thumbprint, and encrypts and decrypts its private part.

import { createPrivateKey, createPublicKey, generateKeyPair, type JsonWebKey, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { limits } from '../../base/limits.ts';
import { messageOf, OperatorError } from '../../base/platform/errors.ts';
import { sha256 } from '../../base/platform/random.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { KeyAlg, StoredAlg } from './rotation.ts';

/** A private key in the form that the OIDC engine takes. */
export type PrivateJwk = JsonWebKey & { kid: string; alg: KeyAlg; use: 'sig' };

export interface KeyPair {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

const generate = promisify(generateKeyPair);

const keyTypes: Record<StoredAlg, KeyObject['asymmetricKeyType']> = {
  RS256: 'rsa',
  PS256: 'rsa',
  ES256: 'ec',
  EdDSA: 'ed25519',
  'RSA-OAEP': 'rsa',
};

/** Generates a key pair in the thread pool, because an RSA key on the event loop would stall every request. */
export async function makeKeyPair(alg: StoredAlg): Promise<KeyPair> {
  const { privateKey, publicKey } = await generateFor(alg);
  return { kid: thumbprint(publicKey), privateKey, publicKey };
}

/** PS256 has an RSA key of its own: one key for two algorithms would weaken both (RFC 8725 3.1). */
function generateFor(alg: StoredAlg) {
  if (alg === 'EdDSA') return generate('ed25519');
  if (alg === 'ES256') return generate('ec', { namedCurve: 'P-256' });
  return generate('rsa', { modulusLength: limits.keys.rsaBits });
}

/** Encrypts the private part for its row. */
export function sealKey({ kid, privateKey }: KeyPair, vault: Vault): string {
  return vault.seal(privateKey.export({ type: 'pkcs8', format: 'der' }), contextOf(kid));
}

/** Decrypts a stored private key; throws OperatorError when it does not match the kid and the algorithm of its row. */
export function openKey(row: { kid: string; alg: StoredAlg; privateSealed: string }, vault: Vault): KeyPair {
  const { kid, alg, privateSealed } = row;
  try {
    const privateKey = createPrivateKey({
      key: vault.open(privateSealed, contextOf(kid)),
      type: 'pkcs8',
      format: 'der',
    });
    const publicKey = createPublicKey(privateKey);
    if (thumbprint(publicKey) !== kid || privateKey.asymmetricKeyType !== keyTypes[alg])
      throw new Error('the row holds another key');
    return { kid, privateKey, publicKey };
  } catch (cause) {
    const reason = messageOf(cause);
    throw new OperatorError(`signing key ${kid} cannot be opened: ${reason}`, { cause });
  }
}

export function privateJwk({ kid, privateKey }: KeyPair, alg: KeyAlg): PrivateJwk {
  return { ...privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
}

export function publicJwk({ kid, publicKey }: KeyPair, alg: StoredAlg): JsonWebKey {
  return { ...publicKey.export({ format: 'jwk' }), kid, alg, use: alg === 'RSA-OAEP' ? 'enc' : 'sig' };
}

/** The RFC 7638 thumbprint: SHA-256 over the required members in alphabetical order, base64url. */
function thumbprint(key: KeyObject): string {
  const { kty, e, n, crv, x, y } = key.export({ format: 'jwk' });
  if (kty === 'RSA') return sha256(JSON.stringify({ e, kty, n }));
  return sha256(JSON.stringify(kty === 'OKP' ? { crv, kty, x } : { crv, kty, x, y })); // OKP: RFC 8037 2
}

function contextOf(kid: string): string {
  return `signing_keys:${kid}`;
}
