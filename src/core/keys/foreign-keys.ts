// The rule for every public key of another party: in SAML metadata and certificates, `jwks`, `jwks_uri`, the JWKS
// of an upstream, the header of a DPoP proof, a passkey. RSA from 2048 to 8192 bits with an exponent of at most 32 bits, known curves, a few
// keys for each use: otherwise one signature that nobody made would take seconds to verify. A document that breaks the rule is rejected as a
// whole, and the one before it stays in use.
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { limits } from '../../base/limits.ts';
import { at, type Fault, fault, sentenceOf } from '../../base/texts/faults.ts';

export type Jwk = Readonly<Record<string, unknown>>;
export interface KeySet {
  readonly keys: readonly Jwk[];
}

const { minRsaBits, maxRsaBits, maxExponent, perUse } = limits.foreignKeys;

/** RFC 7518 6 and RFC 8037 2: the members of a public key, and those that are private. */
const members: Record<string, { needed: readonly string[]; secret: readonly string[] }> = {
  RSA: { needed: ['n', 'e'], secret: ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth'] },
  EC: { needed: ['crv', 'x', 'y'], secret: ['d'] },
  OKP: { needed: ['crv', 'x'], secret: ['d'] },
};
/** RFC 7518 6.2.1.1 and RFC 8037 2. */
const curvesOf: Record<string, readonly string[]> = {
  EC: ['P-256', 'P-384', 'P-521'],
  OKP: ['Ed25519', 'Ed448', 'X25519', 'X448'],
};
/** What OpenSSL calls the curves of RFC 7518, which are those of certificates too. */
const namedCurves = new Map([
  ['prime256v1', 256],
  ['secp384r1', 384],
  ['secp521r1', 521],
]);

/** What is wrong with a key; undefined: it is accepted. */
export function foreignKeyFault(key: KeyObject): Fault | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails = {} } = key;
  const { modulusLength: bits = 0, publicExponent = 0n, namedCurve } = asymmetricKeyDetails;
  if (['ed25519', 'ed448', 'x25519', 'x448'].includes(type ?? '')) return undefined;
  if (type === 'ec') {
    // Without a name, the certificate spells the parameters of its curve out.
    const curve = namedCurve ?? 'explicit parameters';
    return namedCurves.has(curve) ? undefined : fault([], 'curve', { curve });
  }
  if (type !== 'rsa') return fault([], 'rsa-or-ec');
  if (bits < minRsaBits || bits > maxRsaBits)
    return fault([], 'rsa-bits', { bits, minimum: minRsaBits, maximum: maxRsaBits });
  // RFC 8017 3.1: an odd number from 3 on.
  const isSound = publicExponent >= 3n && publicExponent % 2n === 1n && publicExponent <= maxExponent;
  return isSound ? undefined : fault([], 'rsa-exponent');
}

/** The strength of an accepted key of a certificate. */
export function strengthOf({ asymmetricKeyDetails = {} }: KeyObject): number {
  return asymmetricKeyDetails.modulusLength ?? namedCurves.get(asymmetricKeyDetails.namedCurve ?? '') ?? 0;
}

/** What is wrong with a certificate in PEM form whose key verifies signatures or encrypts; undefined: it is accepted. */
export function certificateFault(pem: string): Fault | undefined {
  const key = certificateKey(pem);
  if (!key) return fault([], 'certificate');
  return key.asymmetricKeyType?.startsWith('ed') ? fault([], 'rsa-or-ec') : foreignKeyFault(key);
}

/** The same for the certificate of an authority. */
export function authorityFault(pem: string): Fault | undefined {
  const key = certificateKey(pem);
  return key ? foreignKeyFault(key) : fault([], 'certificate');
}

function certificateKey(text: string): KeyObject | undefined {
  try {
    return parseCertificate(text)?.publicKey;
  } catch {
    return undefined; // a key type that OpenSSL does not support
  }
}

/**
 * The certificate in a text that was copied from anywhere: the first PEM of it or base64 alone, with escaped line breaks and invisible
 * characters. Undefined: there is none.
 */
export function parseCertificate(text: string): X509Certificate | undefined {
  const [, content = text] = /-{5}BEGIN [A-Z0-9 ]*CERTIFICATE-{5}([\s\S]*?)-{5}END/.exec(text) ?? [];
  const base64 = content.replace(/\\[rn]|[\s\u00ad\u200b-\u200f\u2060]+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined;
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}

/** The same as PEM; a text without a certificate as it is. */
export function certificatePem(text: string): string {
  return parseCertificate(text)?.toString().trim() ?? text;
}

/** What is wrong with the number of keys, each given with its use; a key without one is for both. Asked before a key is read. */
export function keyCountFault(uses: readonly unknown[]): Fault | undefined {
  const signing = uses.filter((use) => use !== 'enc' && use !== 'encryption').length;
  const encryption = uses.filter((use) => use !== 'sig' && use !== 'signing').length;
  if (signing > perUse) return fault([], 'signing-keys', { count: signing, maximum: perUse });
  return encryption > perUse ? fault([], 'encryption-keys', { count: encryption, maximum: perUse }) : undefined;
}

/**
 * The keys of a JWK Set that was fetched, without those of families that nothing here uses (RFC 7517 5).
 *
 * @throws Error with what is wrong
 */
export function fetchedKeySet(document: unknown): KeySet {
  const keys = isRecord(document) ? document.keys : undefined;
  if (!Array.isArray(keys) || !keys.every(isRecord)) throw new Error('keys must be a list of keys');
  const known = keys.filter(({ kty }) => isFamily(kty));
  const [found] = keySetFaults({ keys: known });
  if (found) throw new Error(sentenceOf(found, 'keys'));
  return { keys: known };
}

/** The faults of a JWK Set (RFC 7517 5) whose outline is sound, each with the path below `keys`. */
export function keySetFaults({ keys }: KeySet): Fault[] {
  const count = keyCountFault(keys.map(({ use }) => use));
  if (count) return [count];
  return keys.flatMap((jwk, index) => at([index], jwkFaults(jwk, index + 1)));
}

/** The faults of one key of a set, each with the path of the member. */
export function jwkFaults(jwk: Jwk, number: number): Fault[] {
  const family = String(jwk.kty);
  const { needed = [], secret = [] } = members[family] ?? {};
  const faults: Fault[] = [
    ...secret
      .filter((member) => jwk[member] !== undefined)
      .map((member) => fault([member], 'jwk-private', { number, member })),
    ...needed
      .filter((member) => typeof jwk[member] !== 'string' || jwk[member] === '')
      .map((member) => fault([member], 'jwk-needs', { number, member })),
  ];
  if (faults.length > 0) return faults;
  const found = materialFault(jwk);
  return found ? [{ path: [], code: 'jwk-wrong', values: { number, sentence: found } }] : [];
}

/** What is wrong with a single public key in JSON form; undefined: it is accepted. */
export function jwkFault(jwk: unknown): Fault | undefined {
  return isRecord(jwk) && isFamily(jwk.kty) ? materialFault(jwk) : fault([], 'rsa-or-ec');
}

function materialFault(jwk: Jwk): Fault | undefined {
  const family = String(jwk.kty);
  const curves = curvesOf[family];
  if (curves && !curves.includes(String(jwk.crv))) return fault([], 'curve', { curve: String(jwk.crv).slice(0, 64) });
  try {
    return foreignKeyFault(createPublicKey({ key: { ...jwk }, format: 'jwk' }));
  } catch {
    return fault([], 'invalid-key', { family });
  }
}

const isRecord = (value: unknown): value is Jwk => typeof value === 'object' && value !== null && !Array.isArray(value);
const isFamily = (kty: unknown): kty is string => typeof kty === 'string' && Object.hasOwn(members, kty);
