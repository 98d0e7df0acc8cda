// The authentication contexts (acr): their list and order, which authentication methods (amr, RFC 8176) reach them, and
// which ones a request asks for. protocols/saml/sso/authn-context.ts maps them to the classes of SAML. Pure.

/** Weakest first. `phr`: phishing resistant (OpenID EAP ACR Values 1.0), a passkey with user verification. */
export const acrValues = ['urn:gatehouse:acr:password', 'urn:gatehouse:acr:mfa', 'phr'] as const;
export type Acr = (typeof acrValues)[number];
export const [PASSWORD_ACR, MFA_ACR, PHISHING_RESISTANT_ACR] = acrValues;

/** The level of PASSWORD_ACR, reached at an upstream identity provider: no password was proven here. */
export const FEDERATED_ACR = 'urn:gatehouse:acr:federated';
/** Every value of `acr` that a sign-in can have. */
export type StatedAcr = Acr | typeof FEDERATED_ACR;

/** Another name of MFA_ACR that requests may use, in OpenID Connect and in SAML. */
export const REFEDS_MFA = 'https://refeds.org/profile/mfa';

/**
 * `swk`: a synced passkey. RFC 8176 has no name for `recovery`, a recovery code, and `email`, a code sent by email. The
 * latter never makes a sign-in multi-factor: access to the mailbox is enough to reset the password, so both prove one thing. `fed`: a sign-in at an upstream identity provider, with
 * `mfa` and `phr` (phishing resistant) where the lists of its connection trust them.
 */
const amrValues = ['pwd', 'otp', 'sms', 'email', 'recovery', 'hwk', 'swk', 'pop', 'user', 'mfa', 'fed', 'phr'] as const;
export type Amr = (typeof amrValues)[number];

/** Adds `mfa` when two different kinds of factor were proven; leaves out unknown values. */
export function withMfa(amr: Iterable<string>): Amr[] {
  const proven = new Set([...amr].filter(isAmr));
  const key = proven.has('hwk') || proven.has('swk');
  const code = proven.has('otp') || proven.has('sms') || proven.has('recovery');
  // The upstream's factor may be a password too, so the two count as one kind.
  const first = proven.has('pwd') || proven.has('fed');
  const kinds = [first, code, key].filter(Boolean).length;
  // A key that verified its user is two factors: the device, and the PIN or biometric that unlocks it.
  if (kinds > 1 || (key && proven.has('user'))) proven.add('mfa');
  return [...proven];
}

/** The acr that these methods reach; undefined when nothing was proven. */
export function acrOf(amr: Iterable<string>): StatedAcr | undefined {
  const proven = new Set(withMfa(amr));
  if (proven.size === 0) return undefined;
  if (proven.has('phr')) return PHISHING_RESISTANT_ACR;
  if ((proven.has('hwk') || proven.has('swk')) && proven.has('user')) return PHISHING_RESISTANT_ACR;
  if (proven.has('mfa')) return MFA_ACR;
  return proven.has('fed') && !proven.has('pwd') ? FEDERATED_ACR : PASSWORD_ACR;
}

/** The acr that an application's own rule demands (its field `mfa`). */
export function acrOfRule(rule: 'mfa' | 'phishing-resistant'): Acr {
  return rule === 'mfa' ? MFA_ACR : PHISHING_RESISTANT_ACR;
}

/** The position in the order: 1 is the weakest, 0 nothing or an unknown value. */
export function acrLevel(acr: string | undefined): number {
  const levels: readonly (string | undefined)[] = acrValues;
  if (acr === FEDERATED_ACR) return levels.indexOf(PASSWORD_ACR) + 1;
  return levels.indexOf(acr === REFEDS_MFA ? MFA_ACR : acr) + 1;
}

/** Whether `reached` satisfies one of the requested values. An unknown value is never satisfied, an empty list always. */
export function satisfies(requested: readonly string[], reached: string | undefined): boolean {
  if (requested.length === 0) return true;
  return requested.some((value) => acrLevel(value) > 0 && acrLevel(reached) >= acrLevel(value));
}

/** The weakest acr that satisfies the request; undefined when no known value is requested. */
export function weakestOf(requested: readonly string[]): Acr | undefined {
  const levels = requested.map(acrLevel).filter((level) => level > 0);
  return levels.length > 0 ? acrValues[Math.min(...levels) - 1] : undefined;
}

/** The strongest of these; undefined for none. */
export function strongestOf(...acrs: (Acr | undefined)[]): Acr | undefined {
  return acrValues[Math.max(0, ...acrs.map(acrLevel)) - 1];
}

/** The member `acr` of the claims parameter (OIDC Core 5.5.1.1). */
export interface AcrClaim {
  essential?: boolean;
  value?: string;
  values?: string[];
}

/** The values of `acr_values`, which a request prefers but does not demand (OIDC Core 3.1.2.1). */
export function voluntaryAcrs(acrValuesParameter: unknown): string[] {
  return String(acrValuesParameter ?? '')
    .split(' ')
    .filter(Boolean);
}

/** The values that a request demands with `acr` as an essential claim (OIDC Core 5.5.1.1). */
export function essentialAcrs(claim: AcrClaim | null | undefined): string[] {
  if (!claim?.essential) return [];
  return claim.values ?? (claim.value === undefined ? [] : [claim.value]);
}

/** The claim `acr` of an authorization request; `params.claims` is JSON that the engine has checked. */
export function acrClaim(params: Record<string, unknown>): AcrClaim | null | undefined {
  return requestedClaims(params)?.acr;
}

/** What an authorization request demands, else what it prefers; `params.claims` is JSON that the engine has checked. */
export function requestedAcrs(params: Record<string, unknown>): string[] {
  const essential = essentialAcrs(acrClaim(params));
  return essential.length > 0 ? essential : voluntaryAcrs(params.acr_values);
}

/**
 * Whether an authorization request demands a code by email, with `amr` as an essential claim (OIDC Core 5.5.1). No acr says
 * that one was entered. `params.claims` is JSON that the engine has checked.
 */
export function demandsMailedCode(params: Record<string, unknown>): boolean {
  const claim = requestedClaims(params)?.amr;
  return claim?.essential === true && (claim.value === 'email' || claim.values?.includes?.('email') === true);
}

/** The claims parameter that demands a code by email. */
export const MAILED_CODE_CLAIMS = JSON.stringify({ id_token: { amr: { essential: true, values: ['email'] } } });

function requestedClaims({ claims }: Record<string, unknown>) {
  if (typeof claims !== 'string') return undefined;
  return (JSON.parse(claims) as { id_token?: { acr?: AcrClaim | null; amr?: AcrClaim | null } | null } | null)
    ?.id_token;
}

function isAmr(value: string): value is Amr {
  return (amrValues as readonly string[]).includes(value);
}
