// What a sign-in amounts to and what it still lacks: the setting, the account's factors, the application's rule, the
// requested context and the browser, weighed by the pure rules of mfa/policy.ts.
import type { Account } from '../accounts/account.ts';
import type { Credentials } from '../credentials/credentials.ts';
import { type Acr, acrOf, PASSWORD_ACR, weakestOf, withMfa } from '../mfa/acr.ts';
import type { Factors, OwnFactors } from '../mfa/factors.ts';
import {
  type Enrollable,
  hasSecondFactor,
  type MfaSetting,
  nextFactor,
  type PolicyInput,
  type SecondFactor,
  strongestLevel,
} from '../mfa/policy.ts';
import type { Progress } from './next-step.ts';
import type { SentCodes } from './sent-codes.ts';

export interface Judgement extends Pick<Progress, 'missing' | 'mustChangePassword'> {
  /** How the missing factor can be given, or what can be set up. */
  methods: (SecondFactor | Enrollable)[];
  /** What it has to amount to. */
  level: Acr;
  /** Where codes can be sent. */
  channels: ReturnType<SentCodes['channels']>;
}

export type ApplicationRule = PolicyInput['application'];

export interface Circumstances {
  amr: string[];
  /** acr values of the request; any of them will do. */
  requestedAcr: string[];
  application: ApplicationRule;
  /** Our own pages, where lost factors are replaced. */
  isOwnPages: boolean;
  isTrustedBrowser: boolean;
}

export interface SignInPolicy {
  /** The proven methods as `amr` (RFC 8176), `mfa` added where there is more than one kind. */
  amrOf(proven: string[]): string[];
  acrOf(amr: string[]): string;
  judge(account: Account, circumstances: Circumstances): Promise<Judgement>;
  /** Whether the account has, or may now set up, the factors for one of the requested contexts. */
  canReach(account: Account, requestedAcr: string[], application: ApplicationRule): Promise<boolean>;
  /** How strongly the account can prove itself now. */
  strongestAcr(account: Account): Promise<Acr>;
}

export interface SignInPolicyNeeds {
  credentials: Pick<Credentials, 'status'>;
  factors: Pick<Factors, 'of'>;
  settings(): { mfa: MfaSetting };
  sentCodes: Pick<SentCodes, 'channels'>;
}

export function createSignInPolicy({ credentials, factors, settings, sentCodes }: SignInPolicyNeeds): SignInPolicy {
  async function look(account: Account) {
    const own: OwnFactors = await factors.of(account.id);
    const channels = sentCodes.channels(account, own);
    const { email, sms } = channels;
    return { channels, factors: { ...own, email: email !== undefined, sms: sms !== undefined } };
  }

  return {
    amrOf: withMfa,
    acrOf: (amr) => acrOf(amr) ?? PASSWORD_ACR,

    async judge(account, { amr, requestedAcr, application, isOwnPages, isTrustedBrowser }) {
      const { channels, factors: own } = await look(account);
      const status = amr.includes('pwd') ? await credentials.status(account.id) : undefined;
      const isShort = status !== undefined && !status.long && !hasSecondFactor(own);
      const mustChangePassword = status?.mustChange === true || isShort;
      const next = nextFactor({
        setting: settings().mfa,
        factors: own,
        proven: amr,
        application,
        requestedAcr,
        isRememberedBrowser: isTrustedBrowser,
        recoveryStandsIn: isOwnPages,
      });
      // What can't be reached is told to the application: by the acr of the answer, or NoAuthnContext.
      const missing = next.need === 'second-factor' || next.need === 'enrolment' ? next.need : 'nothing';
      const level = 'level' in next ? next.level : PASSWORD_ACR;
      return { missing, mustChangePassword, methods: 'methods' in next ? next.methods : [], level, channels };
    },

    async canReach(account, requestedAcr, application) {
      if (weakestOf(requestedAcr) === undefined) return false;
      const { factors: own } = await look(account);
      const input = { setting: settings().mfa, factors: own, proven: ['pwd'], application, requestedAcr };
      return nextFactor(input).need !== 'impossible';
    },

    strongestAcr: async (account) => strongestLevel((await look(account)).factors),
  };
}
