// What a sign-in still needs (seed 5.6; RFC 9470; SAML RequestedAuthnContext): the setting, the application and the
// request each name a level, the strongest wins, and only the missing factor is asked for. Pure.
import {
  type Acr,
  acrLevel,
  acrOf,
  acrValues,
  MFA_ACR,
  PASSWORD_ACR,
  PHISHING_RESISTANT_ACR,
  weakestOf,
} from './acr.ts';

export type MfaSetting = 'off' | 'optional' | 'required';
export type SecondFactor = 'totp' | 'passkey' | 'email' | 'sms' | 'recovery-code';
export type Enrollable = 'totp' | 'passkey';

/** What the account has set up. */
export interface Factors {
  totp: boolean;
  passkeys: number;
  /** Of these, the ones known to verify their user: phishing-resistant without a password. */
  verifyingPasskeys: number;
  recoveryCodes: number;
  /** Codes to a proven address or number, where the settings allow them as second factor. */
  email?: boolean;
  sms?: boolean;
}

export interface PolicyInput {
  setting: MfaSetting;
  factors: Factors;
  /** amr proven in this session or attempt. */
  proven: readonly string[];
  /** The application's own rule. */
  application?: 'mfa' | 'phishing-resistant' | undefined;
  /** acr_values, or the levels of a RequestedAuthnContext; any of them will do. */
  requestedAcr?: readonly string[];
  /** The person asked not to be asked again at this browser, and the setting allows it. */
  isRememberedBrowser?: boolean;
  /** On the person's own pages a recovery code does for any factor: it is there for when that one is lost. */
  recoveryStandsIn?: boolean;
}

export type Need =
  | { need: 'nothing'; acr: Acr }
  | { need: 'first-factor' }
  /** Ask for one of these. */
  | { need: 'second-factor'; methods: SecondFactor[]; level: Acr }
  /** Nothing suitable is set up: have one of these set up now. */
  | { need: 'enrolment'; methods: Enrollable[]; level: Acr }
  /** Second factors are off and the account has none: the request cannot be met. */
  | { need: 'impossible'; level: Acr };

/** Whether the account has a second factor of its own: then 8 characters suffice for its password. */
export function hasSecondFactor({ totp, passkeys }: Factors): boolean {
  return totp || passkeys > 0;
}

export function nextFactor(input: PolicyInput): Need {
  const reached = acrOf(input.proven);
  if (!reached) return { need: 'first-factor' };
  const level = requiredLevel(input);
  if (isReached(input, reached, level)) return { need: 'nothing', acr: reached };

  const { setting, application } = input;
  const methods = usable(input, level);
  if (methods.length > 0) return { need: 'second-factor', methods, level };
  // Nobody sets up a stronger factor without having proven the strongest one there is.
  const first = usable(input, MFA_ACR);
  if (acrLevel(reached) < acrLevel(MFA_ACR) && first.length > 0) {
    return { need: 'second-factor', methods: first, level: MFA_ACR };
  }
  // Off is for people who were not asked to; an application's own rule asks them.
  if (setting === 'off' && !application) return { need: 'impossible', level };
  return { need: 'enrolment', methods: level === PHISHING_RESISTANT_ACR ? ['passkey'] : ['passkey', 'totp'], level };
}

/** The level this sign-in has to reach. */
export function requiredLevel(input: PolicyInput): Acr {
  const { setting, factors, application, requestedAcr = [], isRememberedBrowser = false } = input;
  const levels: Acr[] = [PASSWORD_ACR];
  if (application) levels.push(application === 'mfa' ? MFA_ACR : PHISHING_RESISTANT_ACR);
  const requested = weakestOf(requestedAcr);
  if (requested) levels.push(requested);
  // "Remember this browser" answers for the setting only; who names a level gets it, and acr stays what was proven.
  const isSetUp = hasSecondFactor(factors) || factors.sms === true;
  const bySetting = setting === 'required' || (setting === 'optional' && isSetUp);
  if (bySetting && !isRememberedBrowser) levels.push(MFA_ACR);
  return acrValues[Math.max(...levels.map(acrLevel)) - 1] ?? PASSWORD_ACR;
}

/** How strongly an account can prove itself with what it has set up, as its own pages ask before a change. */
export function strongestLevel(factors: Factors): Acr {
  if (factors.verifyingPasskeys > 0) return PHISHING_RESISTANT_ACR;
  return hasSecondFactor(factors) || factors.sms ? MFA_ACR : PASSWORD_ACR;
}

function isReached({ recoveryStandsIn, proven }: PolicyInput, reached: Acr, level: Acr): boolean {
  if (acrLevel(reached) >= acrLevel(level)) return true;
  return recoveryStandsIn === true && proven.includes('recovery') && acrLevel(reached) >= acrLevel(MFA_ACR);
}

function usable({ factors, proven, recoveryStandsIn }: PolicyInput, level: Acr): SecondFactor[] {
  const isStrict = level === PHISHING_RESISTANT_ACR;
  const hasOwn = hasSecondFactor(factors) || factors.sms === true;
  const codes = !isStrict && !proven.includes('otp');
  const methods: [boolean, SecondFactor][] = [
    [(isStrict ? factors.verifyingPasskeys : factors.passkeys) > 0, 'passkey'],
    [factors.totp && codes, 'totp'],
    [factors.sms === true && !isStrict && !proven.includes('sms'), 'sms'],
    // Whoever reads the mail can reset the password too, so beside a factor of the account's own this would weaken it.
    [factors.email === true && !hasOwn && codes, 'email'],
    // A way back in for who lost the others, not a factor of its own.
    [
      factors.recoveryCodes > 0 && hasOwn && !proven.includes('recovery') && (!isStrict || recoveryStandsIn === true),
      'recovery-code',
    ],
  ];
  return methods.filter(([available]) => available).map(([, method]) => method);
}
