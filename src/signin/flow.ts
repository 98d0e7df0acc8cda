// How the sign-in pages hang together: the step that is open in this browser, going on after something was proven, and
// the one end at which the engine hears of the sign-in.
import type { Audit } from '../audit/audit.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { Context } from '../http/context.ts';
import { badRequest } from '../http/errors.ts';
import type { Attempt, Attempts } from './attempts.ts';
import type { Browsers } from './browsers.ts';
import type { Interactions } from './interactions.ts';
import type { Step } from './next-step.ts';
import type { OpenStep, Steps } from './steps.ts';

/** A request below /signin/:uid. */
export type StepContext = Context & { params: Record<string, string> };

export interface Flow {
  open(ctx: StepContext): Promise<OpenStep>;
  /** The open step if it is one of these; a form of another step is answered with the page that is due. */
  expect(ctx: StepContext, ...wanted: Step[]): Promise<OpenStep | undefined>;
  /** Keeps what was proven and goes on with whatever is next: another page, or back to the engine. */
  proceed(ctx: Context, open: OpenStep, changes?: Partial<Attempt>): Promise<void>;
  finish(ctx: Context, open: OpenStep): Promise<void>;
}

export interface FlowNeeds {
  steps: Steps;
  attempts: Attempts;
  interactions: Interactions;
  browsers: Browsers;
  audit: Audit;
  credentials: Pick<Credentials, 'status'>;
}

export function createFlow({ steps, attempts, interactions, browsers, audit, credentials }: FlowNeeds): Flow {
  const open = (ctx: StepContext) => steps.open(ctx, ctx.params.uid ?? '');
  const show = (ctx: Context, { attempt }: OpenStep) => {
    ctx.status = 303;
    ctx.redirect(`/signin/${attempt.uid}`);
  };

  /** A password that was replaced while it was checked, or before the last step, has proven nothing. */
  async function refuseOldPassword(
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

  async function finish(ctx: Context, { account, attempt, clientId, acr, amr }: OpenStep): Promise<void> {
    if (!account) throw badRequest('sign_in_expired');
    const { request } = ctx.state;
    await attempts.remove(attempt.uid);
    await refuseOldPassword(account.id, attempt);
    const about = { actorId: account.id, subjectId: account.id, clientId, request };
    await audit.record({ type: 'sign-in.completed', outcome: 'success', ...about, data: { acr, amr } });
    await browsers.signedIn(ctx, account, { trust: attempt.trustBrowser && amr.includes('mfa') });
    // A fresh sign-in is a choice of account, too.
    await interactions.answer(ctx, { login: { accountId: account.id, acr, amr }, select_account: {} });
    // Again, because a new password ends only what is stored by then.
    await refuseOldPassword(account.id, attempt, () => interactions.withdraw(ctx));
  }

  return {
    open,
    finish,

    async expect(ctx, ...wanted) {
      const at = await open(ctx);
      if (interactions.goesOn(ctx, at.interaction)) return undefined;
      if (wanted.includes(at.step)) return at;
      show(ctx, at);
      return undefined;
    },

    async proceed(ctx, at, changes) {
      const attempt = { ...at.attempt, ...changes };
      if (changes) await attempts.save(attempt);
      const next = await steps.again(ctx, { ...at, attempt });
      if (next.step === 'done') await finish(ctx, next);
      else show(ctx, next);
    },
  };
}
