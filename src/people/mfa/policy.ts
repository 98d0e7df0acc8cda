// What a sign-in still needs: the settings, the application and the request (acr_values, RFC 9470;
// RequestedAuthnContext, SAML Core 3.3.2.2.1) each demand a level, the strongest applies, and only the missing factor
// is demanded. Pure.
import {
  type Acr,
  acrLevel,
  acrOf,
  acrOfRule,
  MFA_ACR,
  PASSWORD_ACR,
  PHISHING_RESISTANT_ACR,
  type StatedAcr,
  strongestOf,
  weakestOf,
} from './acr.ts';

export type MfaSetting = 'off' | 'optional' | 'required';
export type AdminMfaSetting = 'optional' | 'required' | 'phishing-resistant';
export type FactorSettings = { mfa: MfaSetting; admin_mfa: AdminMfaSetting };
/** What an application, or the setting `admin_mfa`, demands. */
export type FactorRule = 'mfa' | 'phishing-resistant' | undefined;
export type SecondFactor = 'totp' | 'passkey' | 'email' | 'sms' | 'recovery-code';
export type Enrollable = 'totp' | 'passkey';

/** What the account has set up. */
export interface FactorSet {
  totp: boolean;
  passkeys: number;
  /** How many of them verify their user: those are phishing resistant without a password. */
  verifyingPasskeys: number;
  recoveryCodes: number;
  /** Codes to a verified address or number, if the settings allow them. */
  email?: boolean;
  sms?: boolean;
}

export interface PolicyInput {
  setting: MfaSetting;
  factors: FactorSet;
  /** The methods proven in this session or attempt (`amr`). */
  proven: readonly string[];
  /** The rule of the application or for staff, which neither the setting `off` nor a remembered browser lowers. */
  rule?: FactorRule;
  /** acr_values, or the levels of a RequestedAuthnContext; any of them suffices. */
  requestedAcr?: readonly string[];
  /** The user chose to skip the second factor in this browser, and the settings allow it. */
  isRememberedBrowser?: boolean;
  /** The request demands a code by email. Only accounts without a stronger factor need it. */
  demandsMailedCode?: boolean;
  /** On the account pages a recovery code replaces every other factor: there the user replaces a lost one. */
  recoveryStandsIn?: boolean;
}

export type Need =
  | { need: 'nothing'; acr: StatedAcr }
  | { need: 'first-factor' }
  /** One of these is demanded. Codes by email reach no level: they come before the enrolment of a factor that does. */
  | { need: 'second-factor'; methods: SecondFactor[]; level: Acr }
  /** No suitable factor is set up: the user sets up one of these now. */
  | { need: 'enrolment'; methods: Enrollable[]; level: Acr }
  /** Second factors are off and the account has none: the request cannot be met. */
  | { need: 'impossible'; level: Acr };

/** A session, and what a request asks of it. */
export interface SessionContext {
  amr: readonly string[];
  /** The values of `acr` as an essential claim (OIDC Core 5.5.1.1): the request fails where the account cannot reach one. */
  essentialAcr: readonly string[];
  /**
   * acr_values (voluntary, OIDC Core 3.1.2.1; step-up, RFC 9470) and the levels of a RequestedAuthnContext: demanded where the account can
   * reach one. Otherwise the response says which acr was reached, and SAML answers NoAuthnContext.
   */
  requestedAcr: readonly string[];
  /** The request demands a code by email, which accounts without a stronger factor enter. */
  demandsMailedCode: boolean;
  /** The application's own rule, which neither settings nor request can lower. */
  application: FactorRule;
  /** What the user has just done for this request. */
  answered: 'sign-in' | 'step-up' | undefined;
  isTrustedBrowser(): Promise<boolean>;
  /** Whether the upstream of the session can prove one of these acr values. */
  canReachUpstream(acrs: readonly string[]): Promise<boolean>;
}

/**
 * `step-up`: only the missing factor is prompted for. `unreachable`: the account cannot reach an essential acr. `rejected`: the user has
 * signed in, and not as the application requires.
 */
export type SessionNeed = 'nothing' | 'step-up' | 'unreachable' | 'rejected';

/** Whether the account has a second factor of its own: then 8 characters suffice for its password. */
export function hasSecondFactor({ totp, passkeys }: FactorSet): boolean {
  return totp || passkeys > 0;
}

export function nextFactor(input: PolicyInput): Need {
  const reached = acrOf(input.proven);
  if (!reached) return { need: 'first-factor' };
  const level = requiredLevel(input);
  if (isReached(input, reached, level)) {
    const isMissing = input.demandsMailedCode === true && mailedCodeIsStrongest(input.factors);
    if (!isMissing || input.proven.includes('email')) return { need: 'nothing', acr: reached };
    return { need: 'second-factor', methods: ['email'], level };
  }

  const { setting, rule } = input;
  const methods = usable(input, level);
  if (methods.length > 0) return { need: 'second-factor', methods, level };
  // Before a stronger factor is set up, the strongest present one must be proven.
  const first = usable(input, MFA_ACR);
  if (acrLevel(reached) < acrLevel(MFA_ACR) && first.length > 0) {
    return { need: 'second-factor', methods: first, level: MFA_ACR };
  }
  // With `off` users set up no factors, except for such a rule.
  if (setting === 'off' && !rule) return { need: 'impossible', level };
  // A password alone does not set up the first factor where a code can be sent to the owner.
  if (acrLevel(reached) < acrLevel(MFA_ACR) && input.factors.email === true && !input.proven.includes('email')) {
    return { need: 'second-factor', methods: ['email'], level };
  }
  return { need: 'enrolment', methods: level === PHISHING_RESISTANT_ACR ? ['passkey'] : ['passkey', 'totp'], level };
}

/** The level this sign-in has to reach. */
export function requiredLevel(input: PolicyInput): Acr {
  const { setting, factors, rule, requestedAcr = [], isRememberedBrowser = false } = input;
  const demanded = strongestOf(rule && acrOfRule(rule), weakestOf(requestedAcr)) ?? PASSWORD_ACR;
  // A remembered browser only replaces the factor that the setting demands, and acr states only what was proven.
  const isSetUp = hasSecondFactor(factors) || factors.sms === true;
  const bySetting = setting === 'required' || (setting === 'optional' && isSetUp);
  return strongestOf(demanded, bySetting && !isRememberedBrowser ? MFA_ACR : undefined) ?? demanded;
}

/** The stricter of two rules. */
export function stricterRule(one: FactorRule, other: FactorRule): FactorRule {
  return one === 'phishing-resistant' ? one : (other ?? one);
}

/** The strongest level that the account can prove with its factors; the account pages demand it before a change. */
export function strongestLevel(factors: FactorSet): Acr {
  if (factors.verifyingPasskeys > 0) return PHISHING_RESISTANT_ACR;
  return hasSecondFactor(factors) || factors.sms ? MFA_ACR : PASSWORD_ACR;
}

/** Whether a code by email is the best that the account can prove beside its password. */
export function mailedCodeIsStrongest(factors: FactorSet): boolean {
  return factors.email === true && strongestLevel(factors) === PASSWORD_ACR;
}

function isReached({ recoveryStandsIn, proven }: PolicyInput, reached: StatedAcr, level: Acr): boolean {
  if (acrLevel(reached) >= acrLevel(level)) return true;
  return recoveryStandsIn === true && proven.includes('recovery') && acrLevel(reached) >= acrLevel(MFA_ACR);
}

function usable({ factors, proven, recoveryStandsIn }: PolicyInput, level: Acr): SecondFactor[] {
  const isStrict = level === PHISHING_RESISTANT_ACR;
  const hasOwn = hasSecondFactor(factors) || factors.sms === true;
  const methods: [boolean, SecondFactor][] = [
    [(isStrict ? factors.verifyingPasskeys : factors.passkeys) > 0, 'passkey'],
    [factors.totp && !isStrict && !proven.includes('otp'), 'totp'],
    [factors.sms === true && !isStrict && !proven.includes('sms'), 'sms'],
    // Only beside another factor, for a user who lost it.
    [
      factors.recoveryCodes > 0 && hasOwn && !proven.includes('recovery') && (!isStrict || recoveryStandsIn === true),
      'recovery-code',
    ],
  ];
  return methods.filter(([available]) => available).map(([, method]) => method);
}
