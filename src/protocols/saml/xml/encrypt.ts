// XML Encryption of an assertion: a new AES key per assertion, encrypted for the service provider with RSA-OAEP. If its metadata names no
// algorithms, AES-256-GCM, and OAEP with SHA-1, which every SAML library supports; OAEP does not depend on the collision resistance of
// the hash. AES-CBC has no integrity, so it takes a switch. RSA PKCS #1 v1.5 and Triple DES are never used.
import { constants, createCipheriv, type KeyObject, publicEncrypt } from 'node:crypto';
import { randomToken } from '../../../base/platform/random.ts';
import { algorithms } from './names.ts';
import { type CanonicalXml, element, wireFormat, type XmlElement } from './write.ts';

/** md:EncryptionMethod (SAML Metadata 2.4.1.1) of one key. */
export interface EncryptionMethod {
  algorithm: string;
  /** ds:DigestMethod and xenc11:MGF of RSA-OAEP. */
  digest?: string | undefined;
  mask?: string | undefined;
}

/** How assertions are encrypted for one service provider. */
export interface Encryption {
  key: KeyObject;
  cipher: Cipher;
  transport: Transport;
}

interface Cipher {
  uri: string;
  name: 'aes-256-gcm' | 'aes-192-gcm' | 'aes-128-gcm' | 'aes-256-cbc' | 'aes-192-cbc' | 'aes-128-cbc';
  keyBytes: number;
}

interface Transport {
  uri: string;
  hash: 'sha1' | 'sha256';
}

const aes256Gcm: Cipher = { uri: algorithms.aes256Gcm, name: 'aes-256-gcm', keyBytes: 32 };
const gcm: readonly Cipher[] = [
  aes256Gcm,
  { uri: algorithms.aes192Gcm, name: 'aes-192-gcm', keyBytes: 24 },
  { uri: algorithms.aes128Gcm, name: 'aes-128-gcm', keyBytes: 16 },
];
const cbc: readonly Cipher[] = [
  { uri: algorithms.aes256Cbc, name: 'aes-256-cbc', keyBytes: 32 },
  { uri: algorithms.aes192Cbc, name: 'aes-192-cbc', keyBytes: 24 },
  { uri: algorithms.aes128Cbc, name: 'aes-128-cbc', keyBytes: 16 },
];
const oaep: Transport = { uri: algorithms.rsaOaep, hash: 'sha1' };
const KEY_TRANSPORT = /#(rsa|ECDH|dh|kw-)/i;

/**
 * The first method of the metadata that is used here, or why there is none: the service provider decrypts AES-CBC only and the switch
 * is off, or nothing that this server encrypts with.
 */
export function chooseEncryption(
  key: KeyObject,
  methods: readonly EncryptionMethod[],
  allowCbc: boolean,
): Encryption | 'cbc' | 'unsupported' {
  const isTransport = ({ algorithm }: EncryptionMethod) => KEY_TRANSPORT.test(algorithm);
  const transports = methods.filter(isTransport);
  const ciphers = methods.filter((method) => !isTransport(method));
  const transport = transports.length === 0 ? oaep : transports.map(transportOf).find((one) => one !== undefined);
  if (!transport) return 'unsupported';
  const named = (known: readonly Cipher[]) =>
    ciphers.flatMap(({ algorithm }) => known.filter(({ uri }) => uri === algorithm))[0];
  const cipher = ciphers.length === 0 ? aes256Gcm : (named(gcm) ?? (allowCbc ? named(cbc) : undefined));
  if (cipher) return { key, cipher, transport };
  return named(cbc) ? 'cbc' : 'unsupported';
}

/** Hash and mask are the same one, as node:crypto has them. */
function transportOf({ algorithm, digest = algorithms.sha1, mask }: EncryptionMethod): Transport | undefined {
  if (algorithm === algorithms.rsaOaep && digest === algorithms.sha1) return oaep;
  if (algorithm !== algorithms.rsaOaep11) return undefined;
  if (digest === algorithms.sha256 && mask === algorithms.mgf1Sha256) return { uri: algorithm, hash: 'sha256' };
  return digest === algorithms.sha1 && (mask ?? algorithms.mgf1Sha1) === algorithms.mgf1Sha1
    ? { uri: algorithm, hash: 'sha1' }
    : undefined;
}

/** The saml:EncryptedAssertion of an assertion that may be signed (SAML Core 2.3.4). */
export function encryptAssertion(assertion: CanonicalXml, { key, cipher, transport }: Encryption): XmlElement {
  const contentKey = randomOctets(cipher.keyBytes);
  const wrapped = publicEncrypt(
    { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: transport.hash },
    contentKey,
  );
  const isSha256 = transport.hash === 'sha256';
  const encryptedKey = element(
    'xenc:EncryptedKey',
    {},
    element(
      'xenc:EncryptionMethod',
      { Algorithm: transport.uri },
      element('ds:DigestMethod', { Algorithm: isSha256 ? algorithms.sha256 : algorithms.sha1 }),
      transport.uri === algorithms.rsaOaep11
        ? element('xenc11:MGF', { Algorithm: isSha256 ? algorithms.mgf1Sha256 : algorithms.mgf1Sha1 })
        : undefined,
    ),
    cipherData(wrapped),
  );
  const encryptedData = element(
    'xenc:EncryptedData',
    { Type: 'http://www.w3.org/2001/04/xmlenc#Element' },
    element('xenc:EncryptionMethod', { Algorithm: cipher.uri }),
    element('ds:KeyInfo', {}, encryptedKey),
    cipherData(encrypt(wireFormat(assertion), contentKey, cipher)),
  );
  return element('saml:EncryptedAssertion', {}, encryptedData);
}

/** XML Encryption 1.1 section 5.2.4: 96-bit nonce, ciphertext, 128-bit tag; 5.2.2 for CBC: a block, and padding. */
function encrypt(text: string, key: Buffer, { name }: Cipher): Buffer {
  if (name.endsWith('cbc')) {
    const start = randomOctets(16);
    const blocks = createCipheriv(name, key, start);
    return Buffer.concat([start, blocks.update(text, 'utf8'), blocks.final()]);
  }
  const nonce = randomOctets(12);
  const cipher = createCipheriv(name as 'aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function cipherData(octets: Buffer): XmlElement {
  return element('xenc:CipherData', {}, element('xenc:CipherValue', {}, octets.toString('base64')));
}

function randomOctets(count: number): Buffer {
  return Buffer.from(randomToken(count), 'base64url');
}
