// XML Encryption of an assertion: a new AES-256-GCM key per assertion, encrypted for the service provider with RSA-OAEP.
// The identifier rsa-oaep-mgf1p with SHA-1 is the one that every SAML library supports; OAEP does not depend on the
// collision resistance of the hash.
import { constants, createCipheriv, type KeyObject, publicEncrypt } from 'node:crypto';
import { randomToken } from '../../platform/random.ts';
import { algorithms } from './names.ts';
import { type CanonicalXml, element, wireFormat, type XmlElement } from './write.ts';

/** The saml:EncryptedAssertion of an assertion that may be signed (SAML Core 2.3.4). */
export function encryptAssertion(assertion: CanonicalXml, recipient: KeyObject): XmlElement {
  const contentKey = randomOctets(32);
  const wrapped = publicEncrypt(
    { key: recipient, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' },
    contentKey,
  );
  const encryptedKey = element(
    'xenc:EncryptedKey',
    {},
    element(
      'xenc:EncryptionMethod',
      { Algorithm: algorithms.rsaOaep },
      element('ds:DigestMethod', { Algorithm: algorithms.sha1 }),
    ),
    cipherData(wrapped),
  );
  const encryptedData = element(
    'xenc:EncryptedData',
    { Type: 'http://www.w3.org/2001/04/xmlenc#Element' },
    element('xenc:EncryptionMethod', { Algorithm: algorithms.aes256Gcm }),
    element('ds:KeyInfo', {}, encryptedKey),
    cipherData(encrypt(wireFormat(assertion), contentKey)),
  );
  return element('saml:EncryptedAssertion', {}, encryptedData);
}

/** XML Encryption 1.1 section 5.2.4: 96-bit nonce, ciphertext, 128-bit tag. */
function encrypt(text: string, key: Buffer): Buffer {
  const nonce = randomOctets(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function cipherData(octets: Buffer): XmlElement {
  return element('xenc:CipherData', {}, element('xenc:CipherValue', {}, octets.toString('base64')));
}

function randomOctets(count: number): Buffer {
  return Buffer.from(randomToken(count), 'base64url');
}
