// The allow-list of inbound signature algorithms, on node:crypto. What is not in it does not exist: no HMAC (a public
// key would be its secret), no DSA, no RSA 1.5 with MD5; SHA-1 only for a service provider that was allowed it.
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

/** What service providers may sign with, for our metadata: the preferred one first. */
export const acceptedUris = { signatures: accepted.map(({ uri }) => uri), digests: [...digests.keys()] };

/** The algorithm of this URI, or a refusal. */
export function signatureAlgorithm(uri: string, allowSha1: boolean): SignatureAlgorithm {
  const found = accepted.find((algorithm) => algorithm.uri === uri);
  if (found) return found;
  if (allowSha1 && uri === legacy.uri) return legacy;
  throw uri === legacy.uri ? sha1Refused(uri) : new SamlError('signature_algorithm', { detail: uri });
}

/** The hash of this DigestMethod, or a refusal. */
export function digestAlgorithm(uri: string, allowSha1: boolean): SignatureAlgorithm['hash'] {
  const found = digests.get(uri);
  if (found) return found;
  if (allowSha1 && uri === algorithms.sha1) return 'sha1';
  throw uri === algorithms.sha1 ? sha1Refused(uri) : new SamlError('signature_algorithm', { detail: uri });
}

/** The one that is met in the field: some stacks sign so until they are told otherwise. */
function sha1Refused(uri: string): SamlError {
  return new SamlError('signature_algorithm', {
    message: 'The SAML message is signed with SHA-1, which is not accepted. Have the application sign with SHA-256.',
    detail: uri,
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
    // XML Signature says r||s (RFC 4050); Java stacks send DER on the redirect binding.
    return (
      verify(algorithm.hash, data, { key, dsaEncoding: 'ieee-p1363' }, signature) ||
      verify(algorithm.hash, data, { key, dsaEncoding: 'der' }, signature)
    );
  }
  if (!algorithm.pss) return verify(algorithm.hash, data, key, signature);
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return verify(algorithm.hash, data, { key, padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }, signature);
}
