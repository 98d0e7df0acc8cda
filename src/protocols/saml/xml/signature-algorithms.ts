// The allowed signature algorithms of received messages. Not among them: HMAC (a public key would be its secret), DSA and
// MD5. SHA-1 is accepted only from a service provider whose registration allows it.
import { constants, type KeyObject, type VerifyKeyObjectInput, verify } from 'node:crypto';
import { promisify } from 'node:util';
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

type AlgorithmRule = 'algorithm' | 'digest_algorithm';

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
  throw uri === algorithms.sha1
    ? sha1NotAllowed(uri, 'digest_algorithm')
    : notAccepted(uri, allowSha1, 'digest_algorithm');
}

function notAccepted(uri: string, allowSha1: boolean, rule: AlgorithmRule = 'algorithm'): SamlError {
  const expected = allowSha1 ? 'SHA-256 and better, SHA-1' : 'SHA-256 and better';
  return new SamlError('signature_algorithm', { rule, detail: uri, received: uri, expected });
}

/** Some service providers sign with SHA-1 by default, so the sentence says what to change. */
function sha1NotAllowed(uri: string, rule: AlgorithmRule = 'algorithm'): SamlError {
  return new SamlError('signature_algorithm', {
    rule,
    message: 'The SAML message is signed with SHA-1, which is not accepted. Have the sender sign with SHA-256.',
    detail: uri,
    received: uri,
    expected: 'SHA-256 and better',
  });
}

// With a callback it runs in the thread pool.
const verifyInPool = promisify<string, Buffer, KeyObject | VerifyKeyObjectInput, Buffer, boolean>(verify);

/** Whether one of the keys made this signature over one of the texts. Keys of another kind did not. Runs off the event loop. */
export async function isSigned(
  algorithm: SignatureAlgorithm,
  texts: readonly string[],
  signature: Buffer,
  keys: readonly KeyObject[],
): Promise<boolean> {
  const fitting = keys.filter(
    ({ type, asymmetricKeyType }) => type === 'public' && asymmetricKeyType === algorithm.key,
  );
  for (const text of new Set(texts)) {
    const octets = Buffer.from(text);
    for (const key of fitting) {
      for (const way of waysToVerify(algorithm, key))
        if (await verifyInPool(algorithm.hash, octets, way, signature)) return true;
    }
  }
  return false;
}

function waysToVerify(algorithm: SignatureAlgorithm, key: KeyObject): (KeyObject | VerifyKeyObjectInput)[] {
  // XML Signature encodes r||s (RFC 4050); Java libraries send DER on the redirect binding.
  if (algorithm.key === 'ec')
    return [
      { key, dsaEncoding: 'ieee-p1363' },
      { key, dsaEncoding: 'der' },
    ];
  if (!algorithm.pss) return [key];
  return [{ key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }];
}
