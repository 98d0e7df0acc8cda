// The sign-in pages: one dispatcher at /signin/:uid that shows the step that is next, and a POST for each step, which
// leads back to it. The engine hears of a sign-in once, when everything is proven.
import Router from '@koa/router';
import { z } from 'zod';
import type { Account } from '../accounts/account.ts';
import type { Audit, By } from '../audit/audit.ts';
import type { Consents } from '../consents/consents.ts';
import type { Credentials } from '../credentials/credentials.ts';
import { passwordAdvice } from '../credentials/password-policy.ts';
import type { Context, Extras, Middleware, State } from '../http/context.ts';
import { badRequest } from '../http/errors.ts';
import { parseForm } from '../http/input.ts';
import { limits } from '../limits.ts';
import type { Attempts } from './attempts.ts';
import { askedFor, consentScopes } from './consent.ts';
import type { FirstFactor } from './first-factor.ts';
import type { Flow, StepContext } from './flow.ts';
import type { Interactions } from './interactions.ts';
import type { OpenStep } from './steps.ts';
import type { Views } from './views.ts';

export interface SignInRoutesNeeds {
  flow: Flow;
  views: Views;
  interactions: Interactions;
  attempts: Attempts;
  firstFactor: FirstFactor;
  credentials: Pick<Credentials, 'setPassword' | 'status'>;
  /** What follows from a new password: other sessions end, trusted browsers are asked again, and the owner is told. */
  passwordChanged(account: Account, keptSession: string | undefined, by: By): Promise<void>;
  consents: Consents;
  audit: Audit;
  /** Refuses posts that do not come from our own pages. */
  protect: Middleware;
}

const identifyForm = z.object({
  username: z.string().max(254),
  password: z.string().max(4096),
  altcha: z.string().max(8192).optional(),
  ticket: z.string().max(1024).optional(),
});
const changeForm = z.object({ password: z.string().max(4096) });
const decisionForm = z.object({ decision: z.enum(['allow', 'deny', 'other', 'continue']) });

const WRONG = 'The user name or the password is wrong.';
const CAPTCHA = 'There were several failed sign-ins. Confirm that you are a person, and enter your password again.';

export function signInRoutes(needs: SignInRoutesNeeds): Router<State, Extras> {
  const { flow, views, interactions, attempts, firstFactor, credentials, passwordChanged, consents, audit, protect } =
    needs;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });

  router.get('/', async (ctx: StepContext) => {
    const open = await flow.open(ctx);
    if (interactions.goesOn(ctx, open.interaction)) return;
    if (open.step === 'done') return flow.finish(ctx, open);
    await views.show(ctx, open);
  });

  router.post('/password', protect, async (ctx: StepContext) => {
    const open = await flow.expect(ctx, 'identify');
    if (!open) return;
    const input = await parseForm(ctx, identifyForm);
    const loginHint = input.username;
    const result = await firstFactor.verify(ctx, input);
    if (result.outcome === 'wait') {
      const next = { href: `/unlock/ask?signin=${open.attempt.uid}`, label: 'Unlock by mail' };
      return views.wait(ctx, open, result.retryAfterSeconds, { next, loginHint });
    }
    if (result.outcome === 'captcha') {
      const { waiting } = result;
      const seconds = waiting?.waitSeconds ?? limits.captcha.waitSeconds;
      return views.wait(ctx, open, seconds, { problem: CAPTCHA, loginHint, waiting });
    }
    if (result.outcome === 'wrong') return views.show(ctx, open, { problem: WRONG, loginHint, status: 401 });
    // The password on top of what the same person has proven already, or the beginning of a sign-in.
    const proven = open.account?.id === result.account.id ? open.amr : [];
    const passwordSetAt = result.setAt.getTime();
    await flow.proceed(ctx, open, { userId: result.account.id, amr: [...new Set(['pwd', ...proven])], passwordSetAt });
  });

  router.post('/new-password', protect, async (ctx: StepContext) => {
    const open = await flow.expect(ctx, 'change-password');
    if (!open?.account) return;
    const { password } = await parseForm(ctx, changeForm);
    const by = { actorId: open.account.id, request: ctx.state.request };
    const result = await credentials.setPassword(open.account, password, { ...by, event: 'password.changed' });
    if (result !== 'ok')
      return views.show(ctx, open, {
        problem: result.map((fault) => passwordAdvice(fault, open.amr.includes('mfa'))).join(' '),
        status: 400,
      });
    await passwordChanged(open.account, open.interaction.session?.uid, by);
    // Kept anew: with the old password ended whatever had been begun with it.
    const passwordSetAt = (await credentials.status(open.account.id))?.changedAt.getTime();
    await flow.proceed(ctx, open, { passwordSetAt });
  });

  router.post('/account', protect, async (ctx: StepContext) => {
    const open = await flow.expect(ctx, 'select-account', 'refused');
    if (!open) return;
    const { decision } = await parseForm(ctx, decisionForm);
    if (decision === 'deny') return interactions.refuse(ctx, 'the account may not open this application');
    if (decision === 'other') return useAnother(ctx, open);
    if (open.step === 'select-account') return interactions.answer(ctx, { select_account: {} });
    throw badRequest('invalid_input');
  });

  router.post('/consent', protect, async (ctx: StepContext) => {
    const open = await flow.expect(ctx, 'consent');
    if (!open?.account) return;
    const { decision } = await parseForm(ctx, decisionForm);
    if (decision === 'other') return useAnother(ctx, open);
    const granted = askedFor(open.interaction, consentScopes);
    const about = {
      actorId: open.account.id,
      subjectId: open.account.id,
      clientId: open.clientId,
      request: ctx.state.request,
    };
    if (decision !== 'allow') {
      await audit.record({ type: 'consent.denied', outcome: 'success', ...about });
      return interactions.refuse(ctx, 'the person did not allow access');
    }
    await consents.allow(open.account.id, open.applicationId, granted);
    await audit.record({ type: 'consent.granted', outcome: 'success', ...about, data: { ...granted } });
    await interactions.answer(ctx, { consent: {} });
  });

  router.post('/cancel', protect, async (ctx: StepContext) => {
    const open = await flow.open(ctx);
    await attempts.remove(open.attempt.uid);
    await interactions.refuse(ctx, 'the person cancelled the sign-in');
  });

  const useAnother = (ctx: Context, open: OpenStep) =>
    flow.proceed(ctx, open, { userId: undefined, amr: [], wantsOther: true, passwordSetAt: undefined });

  return router;
}
