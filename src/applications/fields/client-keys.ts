// The public keys that a client registers (RFC 7517): what is wrong with each beside the rule for foreign keys, and which algorithms they fit.
// The schema reads stored rows as well, so it checks only the outline of a set.

import { at, type Fault, fault } from '../../base/texts/faults.ts';
import { type Jwk, jwkFaults, type KeySet, keySetFaults } from '../../core/keys/foreign-keys.ts';

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

/** The faults of a set whose outline is sound, each with the path below `keys`. */
export function clientKeyFaults(keySet: KeySet): Fault[] {
  const optional = keySet.keys.flatMap((jwk, index) => at([index], optionalFaults(jwk, index + 1)));
  return optional.length > 0 ? optional : keySetFaults(keySet);
}

/** RFC 7517 4: members that may be missing. */
function optionalFaults(jwk: Jwk, number: number): Fault[] {
  return [
    ...optionalTexts
      .filter((member) => jwk[member] !== undefined && !isText(jwk[member]))
      .map((member) => fault([member], 'jwk-text', { number, member })),
    ...optionalLists
      .filter((member) => jwk[member] !== undefined && !isTexts(jwk[member]))
      .map((member) => fault([member], 'jwk-texts', { number, member })),
  ];
}

/** Whether a signature with one of these algorithms can be verified with a key of the set. */
export function hasKeyFor({ keys }: KeySet, algs: readonly string[]): boolean {
  return keys.some((jwk, index) => algs.some((alg) => fits(jwk, alg)) && jwkFaults(jwk, index + 1).length === 0);
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
