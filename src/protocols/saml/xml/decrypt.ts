// XML Encryption of assertions that upstream identity providers send: AES-GCM under RSA-OAEP. AES-CBC has no integrity: who can
// send changed ciphertexts learns the plain text from how the server fails (Jager and Somorovsky, 2011). So CBC is accepted by a
// switch only, and only where a signature over the ciphertext was verified before.
import { constants, createDecipheriv, type KeyObject, privateDecrypt } from 'node:crypto';
import { decodeBase64 } from './encoding.ts';
import { SamlError } from './errors.ts';
import { algorithms } from './names.ts';
import { attribute, childOf, childrenOf, textOf } from './read.ts';

export interface DecryptionKeys {
  /** RSA; each is tried, because the sender may not have read the newest metadata. */
  decryptionKeys: readonly KeyObject[];
  /** Accept AES-CBC. Only for a ciphertext whose signature was verified. */
  allowCbc: boolean;
}

interface Cipher {
  name: 'aes-128-gcm' | 'aes-256-gcm' | 'aes-128-cbc' | 'aes-256-cbc';
  keyBytes: number;
}

const ciphers = new Map<string, Cipher>([
  [algorithms.aes128Gcm, { name: 'aes-128-gcm', keyBytes: 16 }],
  [algorithms.aes256Gcm, { name: 'aes-256-gcm', keyBytes: 32 }],
  [algorithms.aes128Cbc, { name: 'aes-128-cbc', keyBytes: 16 }],
  [algorithms.aes256Cbc, { name: 'aes-256-cbc', keyBytes: 32 }],
]);

const GCM = { nonce: 12, tag: 16 };
const BLOCK = 16;

/** The algorithms in the metadata of the service provider, the preferred one first. */
export const acceptedEncryption = [algorithms.aes256Gcm, algorithms.aes128Gcm, algorithms.rsaOaep] as const;

/**
 * The text in a saml:EncryptedAssertion (SAML Core 2.3.4).
 *
 * @throws SamlError encryption_algorithm, or decryption_failed for every other reason
 */
export function decryptAssertion(encrypted: Element, keys: DecryptionKeys): string {
  const data = childOf(encrypted, 'xenc:EncryptedData');
  const cipher = data && cipherOf(data, keys.allowCbc);
  if (!cipher) throw new SamlError('decryption_failed', { detail: 'no EncryptedData' });
  const wrappedKey = encryptedKeyOf(encrypted, data);
  const hash = oaepHashOf(wrappedKey);
  const wrapped = cipherValue(wrappedKey);
  const value = cipherValue(data);
  for (const key of keys.decryptionKeys) {
    const contentKey = unwrap(wrapped, key, hash);
    if (contentKey?.length === cipher.keyBytes) return decipher(value, contentKey, cipher);
  }
  throw new SamlError('decryption_failed', { detail: 'no key of this server decrypts it' });
}

/** The one EncryptedKey: inside the KeyInfo of the data, or beside the data. */
function encryptedKeyOf(encrypted: Element, data: Element): Element {
  const info = childOf(data, 'ds:KeyInfo');
  const found = [...(info ? childrenOf(info, 'xenc:EncryptedKey') : []), ...childrenOf(encrypted, 'xenc:EncryptedKey')];
  const [key, ...others] = found;
  if (!key || others.length > 0) throw new SamlError('decryption_failed', { detail: 'not one EncryptedKey' });
  return key;
}

function cipherOf(data: Element, allowCbc: boolean): Cipher {
  const uri = methodOf(data);
  const cipher = ciphers.get(uri);
  if (cipher && (allowCbc || cipher.name.endsWith('gcm'))) return cipher;
  throw new SamlError('encryption_algorithm', { detail: uri, received: uri, expected: 'AES-GCM' });
}

/** The hash of RSA-OAEP. Where hash and mask differ, node:crypto cannot decrypt. */
function oaepHashOf(key: Element): 'sha1' | 'sha256' {
  const uri = methodOf(key);
  const method = childOf(key, 'xenc:EncryptionMethod');
  const digest = algorithmOf(method && childOf(method, 'ds:DigestMethod')) ?? algorithms.sha1;
  const mask = algorithmOf(method && childOf(method, 'xenc11:MGF')) ?? algorithms.mgf1Sha1;
  if (uri === algorithms.rsaOaep && digest === algorithms.sha1) return 'sha1';
  if (uri === algorithms.rsaOaep11 && digest === algorithms.sha1 && mask === algorithms.mgf1Sha1) return 'sha1';
  if (uri === algorithms.rsaOaep11 && digest === algorithms.sha256 && mask === algorithms.mgf1Sha256) return 'sha256';
  throw new SamlError('encryption_algorithm', { detail: `${uri} ${digest}`, received: uri, expected: 'RSA-OAEP' });
}

function unwrap(wrapped: Buffer, key: KeyObject, oaepHash: 'sha1' | 'sha256'): Buffer | undefined {
  try {
    return privateDecrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash }, wrapped);
  } catch {
    return undefined;
  }
}

function decipher(value: Buffer, key: Buffer, { name }: Cipher): string {
  try {
    const octets = name.endsWith('gcm') ? openGcm(value, key, name) : openCbc(value, key, name);
    return new TextDecoder('utf-8', { fatal: true }).decode(octets);
  } catch (cause) {
    throw new SamlError('decryption_failed', { cause });
  }
}

/** XML Encryption 1.1 section 5.2.4: nonce, ciphertext, tag. */
function openGcm(value: Buffer, key: Buffer, name: Cipher['name']): Buffer {
  if (value.length < GCM.nonce + GCM.tag) throw new Error('too short');
  const decryption = createDecipheriv(name as 'aes-256-gcm', key, value.subarray(0, GCM.nonce), {
    authTagLength: GCM.tag,
  });
  decryption.setAuthTag(value.subarray(-GCM.tag));
  return Buffer.concat([decryption.update(value.subarray(GCM.nonce, -GCM.tag)), decryption.final()]);
}

/** XML Encryption 1.1 section 5.2.1: the last octet is the length of the padding, the others of it are anything. */
function openCbc(value: Buffer, key: Buffer, name: Cipher['name']): Buffer {
  if (value.length < 2 * BLOCK || value.length % BLOCK !== 0) throw new Error('not whole blocks');
  const decryption = createDecipheriv(name, key, value.subarray(0, BLOCK)).setAutoPadding(false);
  const padded = Buffer.concat([decryption.update(value.subarray(BLOCK)), decryption.final()]);
  const padding = padded.at(-1) ?? 0;
  if (padding < 1 || padding > BLOCK) throw new Error('padding');
  return padded.subarray(0, -padding);
}

function cipherValue(parent: Element): Buffer {
  const data = childOf(parent, 'xenc:CipherData');
  const value = data && childOf(data, 'xenc:CipherValue');
  return decodeBase64(value ? textOf(value) : '', 'decryption_failed');
}

function methodOf(parent: Element): string {
  return algorithmOf(childOf(parent, 'xenc:EncryptionMethod')) ?? '';
}

function algorithmOf(element: Element | undefined): string | undefined {
  return element && attribute(element, 'Algorithm');
}
