// What a sign-in amounts to and what it still lacks: combines the settings, the account's factors, the application's
// rule, the requested authentication context and the browser, and applies the pure rules of people/mfa/policy.ts.

import type { Account } from '../people/accounts/account.ts';
import type { OwnFactors } from '../people/mfa/account-factors.ts';
import { type Acr, acrLevel, acrOf, acrOfRule, MFA_ACR, PASSWORD_ACR, weakestOf, withMfa } from '../people/mfa/acr.ts';
import type { CodeDelivery } from '../people/mfa/factors/code-delivery.ts';
import {
  type AdminMfaSetting,
  type Enrollable,
  type FactorRule,
  hasSecondFactor,
  type MfaSetting,
  mailedCodeIsStrongest,
  type Need,
  nextFactor,
  requiredLevel,
  type SecondFactor,
  stricterRule,
  strongestLevel,
} from '../people/mfa/policy.ts';
import type { StrongestProof } from '../people/mfa/step-up.ts';
import type { People } from '../people/people.ts';
import { isStaff } from '../people/rbac/built-in.ts';
import type { Progress } from './next-step.ts';

export interface SignInRequirements extends Pick<Progress, 'missing' | 'mustChangePassword'> {
  /** How the missing factor can be given, or what can be set up. */
  methods: (SecondFactor | Enrollable)[];
  /** The acr that the missing factor has to reach. */
  level: Acr;
  /** The acr of the whole sign-in that is not reached yet; also where no factor of this server can reach it. */
  lacked?: Acr | undefined;
  /** The addresses that codes can be sent to. */
  channels: ReturnType<CodeDelivery['channels']>;
}

export type ApplicationRule = FactorRule;

export interface SignInContext {
  /** Everything that was proven, here and at an upstream, */
  amr: string[];
  /** and here alone. */
  ownAmr: string[];
  /** The password of this server is among it. */
  hasOwnPassword: boolean;
  /** acr values of the request; any of them suffices. */
  requestedAcr: string[];
  /** The request demands a code by email. */
  demandsMailedCode: boolean;
  application: ApplicationRule;
  /** The sign-in is for Gatehouse's own pages, where lost factors are replaced. */
  isOwnPages: boolean;
  isTrustedBrowser: boolean;
  /**
   * After a sign-in at an upstream. `own-factor`: a second factor of this server has to follow, whatever was proven. `own-account`:
   * the account is proven here because an identity is linked to it, with its second factor if it has one.
   */
  demand?: 'own-factor' | 'own-account' | undefined;
}

export type SignInPolicy = ReturnType<typeof createSignInPolicy>;

export function createSignInPolicy(
  dependencies: People & { settings(): { mfa: MfaSetting; admin_mfa: AdminMfaSetting } },
) {
  const { settings } = dependencies;
  const staffAcr = (account: Account): Acr | undefined => {
    const rule = staffRule(settings(), account);
    return rule && acrOfRule(rule);
  };

  return {
    /** The proven methods as `amr` (RFC 8176), with `mfa` when there is more than one kind. */
    amrOf: withMfa,
    /** The acr that the setting `admin_mfa` demands; undefined for users without a right in Gatehouse. */
    staffAcr,
    /** The acr that the settings demand of each session of the account, however it began; undefined when they demand none. */
    async settingsAcr(account: Account, isTrustedBrowser: () => Promise<boolean>): Promise<Acr | undefined> {
      const demanded = staffAcr(account);
      if (demanded || settings().mfa !== 'required') return demanded;
      return (await isTrustedBrowser()) ? undefined : MFA_ACR;
    },
    acrOf: (amr: string[]): string => acrOf(amr) ?? PASSWORD_ACR,

    requirementsOf: (account: Account, context: SignInContext): Promise<SignInRequirements> =>
      requirementsOf(dependencies, account, context),

    /** Whether the account has, or may now set up, the factors for one of the requested contexts. */
    async canSatisfyAcr(account: Account, requestedAcr: string[], application: ApplicationRule): Promise<boolean> {
      if (weakestOf(requestedAcr) === undefined) return false;
      const { factors } = await factorsOf(dependencies, account);
      const rule = stricterRule(application, staffRule(settings(), account));
      const input = { setting: settings().mfa, factors, rule, requestedAcr };
      // After a password, and still when a second factor that is not strong enough follows it.
      return [['pwd'], ['pwd', 'mfa']].every((proven) => nextFactor({ ...input, proven }).need !== 'impossible');
    },

    /** Whether the account has a second factor that can be proven now. */
    hasOwnFactor: async (account: Account): Promise<boolean> =>
      strongestLevel((await factorsOf(dependencies, account)).factors) !== PASSWORD_ACR,

    /** The strongest proof that the account can give now. */
    async strongestProof(account: Account): Promise<StrongestProof> {
      const { factors: own } = await factorsOf(dependencies, account);
      return { acr: strongestLevel(own), mailedCode: mailedCodeIsStrongest(own) };
    },
  };
}

async function requirementsOf(
  dependencies: People & { settings(): { mfa: MfaSetting; admin_mfa: AdminMfaSetting } },
  account: Account,
  context: SignInContext,
): Promise<SignInRequirements> {
  const { credentials, settings } = dependencies;
  const { amr, ownAmr, hasOwnPassword, application, isOwnPages, isTrustedBrowser, demand, ...request } = context;
  const { channels, factors: own } = await factorsOf(dependencies, account);
  const status = hasOwnPassword ? await credentials.status(account.id) : undefined;
  const isShort = status !== undefined && !status.long && !hasSecondFactor(own);
  const mustChangePassword = status?.mustChange === true || isShort;
  const input = {
    setting: settings().mfa,
    factors: own,
    proven: demand === 'own-factor' ? ['fed'] : demand === 'own-account' ? ownAmr : amr,
    rule: stricterRule(stricterRule(application, staffRule(settings(), account)), demandedRule(demand, own)),
    ...request,
    isRememberedBrowser: isTrustedBrowser,
    recoveryStandsIn: isOwnPages,
  };
  const next = nextFactor(input);
  // An impossible level does not stop the sign-in: the application learns it from `acr`, or from NoAuthnContext.
  const missing = await missingStep(dependencies, account, own, next.need);
  const level = 'level' in next ? next.level : PASSWORD_ACR;
  const required = requiredLevel(input);
  const isLacked = next.need !== 'nothing' && acrLevel(acrOf(input.proven)) < acrLevel(required);
  const methods = 'methods' in next ? next.methods : [];
  return { missing, mustChangePassword, methods, level, channels, lacked: isLacked ? required : undefined };
}

/** The account's factors, those by email and SMS only while codes can be sent. */
async function factorsOf({ codeDelivery, mfa: { factors } }: People, account: Account) {
  const own: OwnFactors = await factors.of(account.id);
  const channels = codeDelivery.channels(account, own);
  const { email, sms } = channels;
  return { channels, factors: { ...own, email: email !== undefined, sms: sms !== undefined } };
}

/** What the setting `admin_mfa` demands of users with a right in Gatehouse. */
function staffRule({ admin_mfa: rule }: { admin_mfa: AdminMfaSetting }, account: Account): FactorRule {
  if (rule === 'optional' || !isStaff(account)) return undefined;
  return rule === 'required' ? 'mfa' : rule;
}

async function missingStep(
  { mfa: { firstEnrolment } }: People,
  account: Account,
  own: OwnFactors,
  need: Need['need'],
): Promise<Progress['missing']> {
  if (need === 'enrolment') return (await firstEnrolment.isAllowed(account, own)) ? 'enrolment' : 'approval';
  return need === 'second-factor' ? need : 'nothing';
}

function demandedRule(demand: SignInContext['demand'], own: OwnFactors): FactorRule {
  if (demand === undefined) return undefined;
  return demand === 'own-factor' || strongestLevel(own) !== PASSWORD_ACR ? 'mfa' : undefined;
}
