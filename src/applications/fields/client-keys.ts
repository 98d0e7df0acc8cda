// The public keys that a client registers (RFC 7517): what is wrong with each, and which algorithms they fit. The schema reads stored rows
// as well, so it checks only the outline of a set.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { limits } from '../../limits.ts';
import { faultMessage } from '../../platform/fault-messages.ts';
import type { Fault } from '../../platform/faults.ts';

export type Jwk = Readonly<Record<string, unknown>>;
export interface KeySet {
  readonly keys: readonly Jwk[];
}

/** RFC 7518 6 and RFC 8037 2: the members of a public key, and those that are private. */
const members: Record<string, { needed: readonly string[]; secret: readonly string[] }> = {
  RSA: { needed: ['n', 'e'], secret: ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth'] },
  EC: { needed: ['crv', 'x', 'y'], secret: ['d'] },
  OKP: { needed: ['crv', 'x'], secret: ['d'] },
};
/** RFC 7517 4. */
const optionalTexts = ['use', 'alg', 'kid'] as const;
const optionalLists = ['key_ops', 'x5c'] as const;

/** What each algorithm needs of a key (RFC 7518 3.1, RFC 8037 3.1, RFC 9864). */
const algKeys: Record<string, { kty: string; crv?: string }> = {
  RS256: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  Ed25519: { kty: 'OKP', crv: 'Ed25519' },
};
export const signingAlgs = Object.keys(algKeys);

/** The faults of a set whose outline is sound, each with the path of the member. */
export function keySetFaults({ keys }: KeySet): Fault[] {
  return keys.flatMap((jwk, at) =>
    keyFaults(jwk, at + 1).map(({ path, message }) => ({ path: [at, ...path], message })),
  );
}

function keyFaults(jwk: Jwk, number: number): Fault[] {
  const { needed = [], secret = [] } = members[String(jwk.kty)] ?? {};
  const faults: Fault[] = [
    ...secret
      .filter((member) => jwk[member] !== undefined)
      .map((member) => ({ path: [member], message: faultMessage('jwk-private', { number, member }) })),
    ...needed
      .filter((member) => !isText(jwk[member]))
      .map((member) => ({ path: [member], message: faultMessage('jwk-needs', { number, member }) })),
    ...optionalTexts
      .filter((member) => jwk[member] !== undefined && !isText(jwk[member]))
      .map((member) => ({ path: [member], message: faultMessage('jwk-text', { number, member }) })),
    ...optionalLists
      .filter((member) => jwk[member] !== undefined && !isTexts(jwk[member]))
      .map((member) => ({ path: [member], message: faultMessage('jwk-texts', { number, member }) })),
  ];
  if (faults.length > 0) return faults;
  const key = imported(jwk);
  if (!key) return [{ path: [], message: faultMessage('jwk-invalid', { number, family: String(jwk.kty) }) }];
  const { modulusLength: bits } = key.asymmetricKeyDetails ?? {};
  // RFC 7518 3.3: shorter keys must not be used.
  if (bits === undefined || bits >= limits.keys.rsaBits) return [];
  return [{ path: [], message: faultMessage('jwk-rsa-bits', { number, bits, minimum: limits.keys.rsaBits }) }];
}

/** Whether a signature with one of these algorithms can be verified with a key of the set. */
export function hasKeyFor({ keys }: KeySet, algs: readonly string[]): boolean {
  return keys.some((jwk, at) => algs.some((alg) => fits(jwk, alg)) && keyFaults(jwk, at + 1).length === 0);
}

/** RFC 7517 4.2 to 4.4, as the engine selects a key. */
function fits(jwk: Jwk, alg: string): boolean {
  const wanted = algKeys[alg];
  if (!wanted || jwk.kty !== wanted.kty || (wanted.crv !== undefined && jwk.crv !== wanted.crv)) return false;
  if (jwk.use !== undefined && jwk.use !== 'sig') return false;
  if (jwk.alg !== undefined && jwk.alg !== alg) return false;
  return !Array.isArray(jwk.key_ops) || jwk.key_ops.includes('verify');
}

const isText = (value: unknown) => typeof value === 'string' && value !== '';
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);

function imported(jwk: Jwk): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    const { publicExponent } = key.asymmetricKeyDetails ?? {};
    // RFC 8017 3.1: an odd number from 3 on.
    return publicExponent !== undefined && (publicExponent < 3n || publicExponent % 2n === 0n) ? undefined : key;
  } catch {
    return undefined;
  }
}
