// The allowed signature algorithms of received messages. Not among them: HMAC (a public key would be its secret), DSA and
// MD5. SHA-1 is accepted only from a service provider whose registration allows it.
import { constants, type KeyObject, verify } from 'node:crypto';
import { SamlError } from './errors.ts';
import { algorithms } from './names.ts';

export interface SignatureAlgorithm {
  uri: string;
  hash: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  key: 'rsa' | 'ec';
  pss?: boolean;
}

const accepted: readonly SignatureAlgorithm[] = [
  { uri: algorithms.rsaSha256, hash: 'sha256', key: 'rsa' },
  { uri: algorithms.rsaSha384, hash: 'sha384', key: 'rsa' },
  { uri: algorithms.rsaSha512, hash: 'sha512', key: 'rsa' },
  { uri: algorithms.rsaPssSha256, hash: 'sha256', key: 'rsa', pss: true },
  { uri: algorithms.ecdsaSha256, hash: 'sha256', key: 'ec' },
  { uri: algorithms.ecdsaSha384, hash: 'sha384', key: 'ec' },
  { uri: algorithms.ecdsaSha512, hash: 'sha512', key: 'ec' },
];
const legacy: SignatureAlgorithm = { uri: algorithms.rsaSha1, hash: 'sha1', key: 'rsa' };

const digests = new Map<string, SignatureAlgorithm['hash']>([
  [algorithms.sha256, 'sha256'],
  [algorithms.sha384, 'sha384'],
  [algorithms.sha512, 'sha512'],
]);

/** The algorithms in the IdP metadata, the preferred one first. */
export const acceptedUris = { signatures: accepted.map(({ uri }) => uri), digests: [...digests.keys()] };

/** The algorithm of this URI. Throws SamlError signature_algorithm. */
export function signatureAlgorithm(uri: string, allowSha1: boolean): SignatureAlgorithm {
  const found = accepted.find((algorithm) => algorithm.uri === uri);
  if (found) return found;
  if (allowSha1 && uri === legacy.uri) return legacy;
  throw uri === legacy.uri ? sha1NotAllowed(uri) : notAccepted(uri, allowSha1);
}

/** The hash of this DigestMethod. Throws SamlError signature_algorithm. */
export function digestAlgorithm(uri: string, allowSha1: boolean): SignatureAlgorithm['hash'] {
  const found = digests.get(uri);
  if (found) return found;
  if (allowSha1 && uri === algorithms.sha1) return 'sha1';
  throw uri === algorithms.sha1 ? sha1NotAllowed(uri) : notAccepted(uri, allowSha1);
}

function notAccepted(uri: string, allowSha1: boolean): SamlError {
  const expected = allowSha1 ? 'SHA-256 and better, SHA-1' : 'SHA-256 and better';
  return new SamlError('signature_algorithm', { detail: uri, received: uri, expected });
}

/** Some service providers sign with SHA-1 by default, so the sentence says what to change. */
function sha1NotAllowed(uri: string): SamlError {
  return new SamlError('signature_algorithm', {
    message: 'The SAML message is signed with SHA-1, which is not accepted. Have the sender sign with SHA-256.',
    detail: uri,
    received: uri,
    expected: 'SHA-256 and better',
  });
}

/** Whether the key made this signature. A key of another kind did not. */
export function verifyOctets(
  algorithm: SignatureAlgorithm,
  octets: string,
  signature: Buffer,
  key: KeyObject,
): boolean {
  if (key.type !== 'public' || key.asymmetricKeyType !== algorithm.key) return false;
  const data = Buffer.from(octets);
  if (algorithm.key === 'ec') {
    // XML Signature encodes r||s (RFC 4050); Java libraries send DER on the redirect binding.
    return (
      verify(algorithm.hash, data, { key, dsaEncoding: 'ieee-p1363' }, signature) ||
      verify(algorithm.hash, data, { key, dsaEncoding: 'der' }, signature)
    );
  }
  if (!algorithm.pss) return verify(algorithm.hash, data, key, signature);
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return verify(algorithm.hash, data, { key, padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }, signature);
}
