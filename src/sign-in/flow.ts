// Moves a sign-in from step to step: finds the current step of this browser, continues after a factor was proven, and
// reports the finished sign-in to the OIDC engine, in one place.
import type { Audit } from '../audit/audit.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { Context } from '../http/context.ts';
import { badRequest } from '../http/errors.ts';
import type { Attempt, Attempts } from './attempts.ts';
import type { CurrentStep, Steps } from './current-step.ts';
import type { Interactions } from './interactions.ts';
import type { KnownBrowserCookie } from './known-browser-cookie.ts';
import type { Step } from './next-step.ts';

/** A request below /signin/:uid. */
export type StepContext = Context & { params: Record<string, string> };

export interface Flow {
  open(ctx: StepContext): Promise<CurrentStep>;
  /** The current step if it is one of `expected`; otherwise undefined, after a redirect to the page of the step. */
  expect(ctx: StepContext, ...expected: Step[]): Promise<CurrentStep | undefined>;
  /** Saves what was proven and continues: to the page of the next step, or to the engine after the last one. */
  proceed(ctx: Context, current: CurrentStep, changes?: Partial<Attempt>): Promise<void>;
  /** Reports the sign-in to the engine. */
  finish(ctx: Context, current: CurrentStep): Promise<void>;
}

export interface FlowDependencies {
  steps: Steps;
  attempts: Attempts;
  interactions: Interactions;
  browserCookie: KnownBrowserCookie;
  audit: Audit;
  credentials: Pick<Credentials, 'status'>;
}

export function createFlow(dependencies: FlowDependencies): Flow {
  const { steps, attempts, interactions, browserCookie, audit, credentials } = dependencies;
  const open = (ctx: StepContext) => steps.open(ctx, ctx.params.uid ?? '');
  const redirectToStep = (ctx: Context, { attempt }: CurrentStep) => {
    ctx.status = 303;
    ctx.redirect(`/signin/${attempt.uid}`);
  };

  /** Rejects the sign-in if the password was replaced while it was checked or before the last step. */
  async function rejectOldPassword(
    accountId: string,
    { passwordSetAt }: Attempt,
    undo: () => Promise<void> = async () => {},
  ): Promise<void> {
    if (passwordSetAt === undefined) return;
    const status = await credentials.status(accountId);
    if (status?.changedAt.getTime() === passwordSetAt) return;
    await undo();
    throw badRequest('sign_in_expired');
  }

  async function finish(ctx: Context, { account, attempt, clientId, acr, amr }: CurrentStep): Promise<void> {
    if (!account) throw badRequest('sign_in_expired');
    const { request } = ctx.state;
    await attempts.remove(attempt.uid);
    await rejectOldPassword(account.id, attempt);
    const about = { actorId: account.id, subjectId: account.id, clientId, request };
    await audit.record({ type: 'sign-in.completed', outcome: 'success', ...about, data: { acr, amr } });
    await browserCookie.signedIn(ctx, account, { trust: attempt.trustBrowser && amr.includes('mfa') });
    // A new sign-in answers the select_account prompt too.
    await interactions.answer(ctx, { login: { accountId: account.id, acr, amr }, select_account: {} });
    // Checked again: a password change ends only the sessions and interactions that are stored at that moment.
    await rejectOldPassword(account.id, attempt, () => interactions.withdraw(ctx));
  }

  return {
    open,
    finish,

    async expect(ctx, ...expected) {
      const current = await open(ctx);
      if (interactions.resumeIfAnswered(ctx, current.interaction)) return undefined;
      if (expected.includes(current.step)) return current;
      redirectToStep(ctx, current);
      return undefined;
    },

    async proceed(ctx, current, changes) {
      const attempt = { ...current.attempt, ...changes };
      if (changes) await attempts.save(attempt);
      const next = await steps.again(ctx, { ...current, attempt });
      if (next.step === 'done') await finish(ctx, next);
      else redirectToStep(ctx, next);
    },
  };
}
