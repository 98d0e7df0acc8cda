// Which step of a sign-in is open: the engine's question, what this attempt has proven, and the policy, put together
// for the pure order in next-step.ts.
import type { Interaction } from 'oidc-provider';
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Context } from '../http/context.ts';
import { badRequest } from '../http/errors.ts';
import { PASSWORD_ACR } from '../mfa/acr.ts';
import type { Attempt, Attempts } from './attempts.ts';
import type { Interactions } from './interactions.ts';
import { isStepUp, nextStep, type Step } from './next-step.ts';
import type { ApplicationRule, Judgement, SignInPolicy } from './policy.ts';

export interface OpenStep {
  interaction: Interaction;
  attempt: Attempt;
  step: Step;
  /** Who is signing in, or whom the question is about. */
  account: Account | undefined;
  clientId: string;
  applicationId: string;
  /** How a missing factor can be given or set up, how strong it has to be, and where codes would go. */
  methods: Judgement['methods'];
  level: Judgement['level'];
  channels: Judgement['channels'];
  /** What the sign-in amounts to when nothing more is added. */
  acr: string;
  amr: string[];
  /** The password has to be given, whatever else is proven (SAML: exactly the class of passwords). */
  needsPassword: boolean;
}

export interface Steps {
  /** The open step of the page that this browser asks for. */
  open(ctx: Context, uid: string): Promise<OpenStep>;
  /** The open step after something was proven. */
  again(ctx: Context, at: OpenStep): Promise<OpenStep>;
}

export interface StepsNeeds {
  interactions: Interactions;
  attempts: Attempts;
  accounts: Pick<Accounts, 'find'>;
  policy: SignInPolicy;
  applicationOf(clientId: string): Promise<{ id: string; mfa: ApplicationRule } | undefined>;
  /** The client of our own pages. */
  ownClientId: string;
  /** acr values that the request wants, in either protocol, and whether it wants the password itself. */
  wishes(ctx: Context, interaction: Interaction): Promise<{ acrs: string[]; needsPassword: boolean }>;
  /** Whether this account need not give a second factor in this browser. */
  isTrustedBrowser(ctx: Context, accountId: string): Promise<boolean>;
}

const NOTHING_MISSING: Judgement = {
  missing: 'nothing',
  mustChangePassword: false,
  methods: [],
  level: PASSWORD_ACR,
  channels: {},
};

export function createSteps(needs: StepsNeeds): Steps {
  const { interactions, attempts, accounts, policy, applicationOf, ownClientId, wishes, isTrustedBrowser } = needs;

  async function look(ctx: Context, interaction: Interaction, attempt: Attempt): Promise<OpenStep> {
    const question = { prompt: interaction.prompt.name, reasons: interaction.prompt.reasons };
    const stepsUp = isStepUp(question) && !attempt.wantsOther;
    const session = interaction.session;
    const isAboutSession =
      stepsUp || (['consent', 'access', 'select_account'].includes(question.prompt) && !attempt.wantsOther);
    const accountId = attempt.userId ?? (isAboutSession ? session?.accountId : undefined);
    const account = accountId ? await accounts.find(accountId) : undefined;
    const clientId = String(interaction.params.client_id);
    const application = await applicationOf(clientId);
    if (!application || (account && !account.isActive)) throw badRequest('sign_in_expired');

    // What the session has proven counts again only while the same person adds to it.
    const carried = stepsUp && attempt.userId === undefined ? (session?.amr ?? []) : [];
    const amr = policy.amrOf([...new Set([...carried, ...attempt.amr])]);
    const wished = await wishes(ctx, interaction);
    const needsPassword = wished.needsPassword && !amr.includes('pwd');
    const isIdentified = account !== undefined && amr.length > 0 && !needsPassword;
    const isSigningIn = isIdentified && !['consent', 'access', 'select_account'].includes(question.prompt);
    const { methods, level, channels, ...state } =
      account && (isSigningIn || attempt.wantsOther) && isIdentified
        ? await policy.judge(account, {
            amr,
            requestedAcr: wished.acrs,
            application: application.mfa,
            isOwnPages: clientId === ownClientId,
            isTrustedBrowser: await isTrustedBrowser(ctx, account.id),
          })
        : NOTHING_MISSING;
    // "Use another account" turns any question into a sign-in.
    const asked = attempt.wantsOther ? { ...question, prompt: 'login' } : question;
    const step = nextStep(asked, { isIdentified, ...state });
    return {
      interaction,
      attempt,
      step,
      account,
      clientId,
      applicationId: application.id,
      methods,
      level,
      channels,
      acr: policy.acrOf(amr),
      amr,
      needsPassword,
    };
  }

  return {
    async open(ctx, uid) {
      const interaction = await interactions.open(ctx, uid);
      return look(ctx, interaction, await attempts.find(interaction.uid));
    },
    again: (ctx, { interaction, attempt }) => look(ctx, interaction, attempt),
  };
}
