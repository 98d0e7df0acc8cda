// How strongly somebody was authenticated: amr (RFC 8176), and the acr that follows from it, so that it tells the truth.
// The SAML classes of the same levels are in saml/authn-context.ts. Pure.

/** Weakest first. `phr`: phishing resistant (OpenID EAP ACR values 1.0), a passkey with user verification. */
export const acrValues = ['urn:gatehouse:acr:password', 'urn:gatehouse:acr:mfa', 'phr'] as const;
export type Acr = (typeof acrValues)[number];
export const [PASSWORD_ACR, MFA_ACR, PHISHING_RESISTANT_ACR] = acrValues;

/** What others call our `mfa` level, in OpenID Connect as in SAML. */
const REFEDS_MFA = 'https://refeds.org/profile/mfa';

/**
 * `pwd` knows, `otp` one-time code, `hwk`/`swk` key in hardware or synced, `user` verified by the device, `pop`; ours:
 * `recovery`, a recovery code, for which RFC 8176 has no name.
 */
export type Amr = 'pwd' | 'otp' | 'sms' | 'recovery' | 'hwk' | 'swk' | 'pop' | 'user' | 'mfa';

/** Completes amr with `mfa` where two different kinds of factor were proven. */
export function withMfa(amr: Iterable<string>): Amr[] {
  const proven = new Set([...amr].filter(isAmr));
  const key = proven.has('hwk') || proven.has('swk');
  const code = proven.has('otp') || proven.has('sms') || proven.has('recovery');
  const kinds = [proven.has('pwd'), code, key].filter(Boolean).length;
  // A key that verified its user is two factors: the device, and what unlocks it.
  if (kinds > 1 || (key && proven.has('user'))) proven.add('mfa');
  return [...proven];
}

/** The level that these methods reach; undefined when nothing was proven. */
export function acrOf(amr: Iterable<string>): Acr | undefined {
  const proven = new Set(withMfa(amr));
  if (proven.size === 0) return undefined;
  if ((proven.has('hwk') || proven.has('swk')) && proven.has('user')) return PHISHING_RESISTANT_ACR;
  return proven.has('mfa') ? MFA_ACR : PASSWORD_ACR;
}

/** Orders levels: 1 the weakest, 0 for nothing or an unknown value. */
export function acrLevel(acr: string | undefined): number {
  const levels: readonly (string | undefined)[] = acrValues;
  return levels.indexOf(acr === REFEDS_MFA ? MFA_ACR : acr) + 1;
}

/** Whether `reached` satisfies any of the requested values; unknown ones cannot be satisfied, none ask for nothing. */
export function satisfies(requested: readonly string[], reached: string | undefined): boolean {
  if (requested.length === 0) return true;
  return requested.some((value) => acrLevel(value) > 0 && acrLevel(reached) >= acrLevel(value));
}

/** The weakest level that satisfies the request; undefined when nothing known is requested. */
export function weakestOf(requested: readonly string[]): Acr | undefined {
  const levels = requested.map(acrLevel).filter((level) => level > 0);
  return levels.length > 0 ? acrValues[Math.min(...levels) - 1] : undefined;
}

const AMR: readonly string[] = ['pwd', 'otp', 'sms', 'recovery', 'hwk', 'swk', 'pop', 'user', 'mfa'] satisfies Amr[];

function isAmr(value: string): value is Amr {
  return AMR.includes(value);
}
