// What a sign-in or a session amounts to and what it still lacks: combines the settings, the account's factors, the application's
// rule, the requested authentication context and the browser, and applies the pure rules of people/mfa/policy.ts.

import type { Account } from '../people/accounts/account.ts';
import { type OwnFactors, staffRule } from '../people/mfa/account-factors.ts';
import {
  type Acr,
  acrLevel,
  acrOf,
  acrOfRule,
  MFA_ACR,
  PASSWORD_ACR,
  satisfies,
  weakestOf,
  withMfa,
} from '../people/mfa/acr.ts';
import type { CodeDelivery } from '../people/mfa/factors/code-delivery.ts';
import {
  type Enrollable,
  type FactorRule,
  type FactorSettings,
  hasSecondFactor,
  mailedCodeIsStrongest,
  type Need,
  nextFactor,
  requiredLevel,
  type SecondFactor,
  type SessionContext,
  type SessionNeed,
  stricterRule,
  strongestLevel,
} from '../people/mfa/policy.ts';
import type { StrongestProof } from '../people/mfa/step-up.ts';
import type { People } from '../people/people.ts';
import type { Progress } from './next-step.ts';

export interface SignInRequirements extends Pick<Progress, 'missing' | 'mustChangePassword'> {
  /** How the missing factor can be given, or what can be set up. */
  methods: (SecondFactor | Enrollable)[];
  /** The acr that the missing factor has to reach; of the whole sign-in where none is missing. */
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

type SignInPolicyDependencies = People & { settings(): FactorSettings };

export function createSignInPolicy(dependencies: SignInPolicyDependencies) {
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
    acrOf: (amr: string[]): string => acrOf(amr) ?? PASSWORD_ACR,

    requirementsOf: (account: Account, context: SignInContext): Promise<SignInRequirements> =>
      requirementsOf(dependencies, account, context),

    sessionNeed: (account: Account, session: SessionContext): Promise<SessionNeed> =>
      sessionNeed(dependencies, account, session),

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

/** The proven methods that count: where an account or factor of this server is demanded, not what the upstream states. */
function countedMethods({ demand, amr, ownAmr }: SignInContext): string[] {
  if (demand === 'own-factor') return ['fed'];
  return demand === 'own-account' ? ownAmr : amr;
}

async function requirementsOf(
  dependencies: SignInPolicyDependencies,
  account: Account,
  context: SignInContext,
): Promise<SignInRequirements> {
  const { credentials, settings } = dependencies;
  const { application, demand } = context;
  const { channels, factors: own } = await factorsOf(dependencies, account);
  const status = context.hasOwnPassword ? await credentials.status(account.id) : undefined;
  const isTooShortAlone = status !== undefined && !status.long && !hasSecondFactor(own);
  const mustChangePassword = status?.mustChange === true || isTooShortAlone;
  const input = {
    setting: settings().mfa,
    factors: own,
    proven: countedMethods(context),
    rule: stricterRule(stricterRule(application, staffRule(settings(), account)), demandedRule(demand, own)),
    requestedAcr: context.requestedAcr,
    demandsMailedCode: context.demandsMailedCode,
    isRememberedBrowser: context.isTrustedBrowser,
    recoveryStandsIn: context.isOwnPages,
  };
  const next = nextFactor(input);
  // An impossible level does not stop the sign-in: the application learns it from `acr`, or from NoAuthnContext.
  const missing = await missingStep(dependencies, account, own, next.need);
  const required = requiredLevel(input);
  const level = 'level' in next ? next.level : required;
  const isLacked = next.need !== 'nothing' && acrLevel(acrOf(input.proven)) < acrLevel(required);
  const methods = 'methods' in next ? next.methods : [];
  return { missing, mustChangePassword, methods, level, channels, lacked: isLacked ? required : undefined };
}

/** What a session that began earlier, perhaps for another application, lacks for a request. */
async function sessionNeed(
  dependencies: SignInPolicyDependencies,
  account: Account,
  session: SessionContext,
): Promise<SessionNeed> {
  const { amr, essentialAcr, requestedAcr, application, answered } = session;
  const lacks = (acrs: readonly string[]) => !satisfies(acrs, acrOf(amr));
  const canReach = async (acrs: readonly string[]) => {
    // The step-up already ended without a stronger factor.
    if (answered === 'step-up') return false;
    if (await canSatisfyAcr(dependencies, account, acrs)) return true;
    return answered === undefined && session.canReachUpstream(acrs);
  };
  if (lacks(essentialAcr) && !(await canReach(essentialAcr))) return 'unreachable';
  // The sign-in pages finish only when this rule is met. Otherwise the result is an error instead of a loop.
  if (application && lacks([acrOfRule(application)])) return answered ? 'rejected' : 'step-up';
  if (lacks(essentialAcr)) return 'step-up';
  if (answered) return 'nothing';
  if (lacks(requestedAcr) && (await canReach(requestedAcr))) return 'step-up';
  const demanded = await settingsAcr(dependencies.settings(), account, session);
  if (demanded && lacks([demanded])) return 'step-up';
  if (!session.demandsMailedCode || amr.includes('email')) return 'nothing';
  return mailedCodeIsStrongest((await factorsOf(dependencies, account)).factors) ? 'step-up' : 'nothing';
}

/** Whether the account has, or may now set up, the factors for one of the requested contexts. */
async function canSatisfyAcr(
  dependencies: SignInPolicyDependencies,
  account: Account,
  requestedAcr: readonly string[],
): Promise<boolean> {
  if (weakestOf(requestedAcr) === undefined) return false;
  const { settings } = dependencies;
  const { factors } = await factorsOf(dependencies, account);
  const input = { setting: settings().mfa, factors, rule: staffRule(settings(), account), requestedAcr };
  // After a password, and still when a second factor that is not strong enough follows it.
  return [['pwd'], ['pwd', 'mfa']].every((proven) => nextFactor({ ...input, proven }).need !== 'impossible');
}

/** The acr that the settings demand of each session of the account, however it began; undefined when they demand none. */
async function settingsAcr(
  settings: FactorSettings,
  account: Account,
  { isTrustedBrowser }: SessionContext,
): Promise<Acr | undefined> {
  const rule = staffRule(settings, account);
  if (rule) return acrOfRule(rule);
  return settings.mfa === 'required' && !(await isTrustedBrowser()) ? MFA_ACR : undefined;
}

/** The account's factors, those by email and SMS only while codes can be sent. */
async function factorsOf({ codeDelivery, mfa: { factors } }: People, account: Account) {
  const own: OwnFactors = await factors.of(account.id);
  const channels = codeDelivery.channels(account, own);
  const { email, sms } = channels;
  return { channels, factors: { ...own, email: email !== undefined, sms: sms !== undefined } };
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
