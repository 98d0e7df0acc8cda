// POSTs of the second step: a code, a security key, or the wish to have a code sent.
import Router from '@koa/router';
import { z } from 'zod';
import type { Audit } from '../audit/audit.ts';
import type { Context, Extras, Middleware, State } from '../http/context.ts';
import { badRequest } from '../http/errors.ts';
import { parseForm } from '../http/input.ts';
import type { Passkeys } from '../mfa/passkeys.ts';
import { parseAssertion } from '../mfa/webauthn-input.ts';
import type { Attempts } from './attempts.ts';
import { ownersKeys } from './factor-pages.ts';
import type { Flow, StepContext } from './flow.ts';
import type { SecondFactorCodes } from './second-factor.ts';
import type { SentCodes } from './sent-codes.ts';
import type { OpenStep } from './steps.ts';
import type { Views } from './views.ts';

export interface SecondFactorRoutesNeeds {
  flow: Flow;
  views: Views;
  codes: SecondFactorCodes;
  passkeys: Pick<Passkeys, 'authenticate'>;
  audit: Audit;
  attempts: Pick<Attempts, 'save'>;
  sentCodes: Pick<SentCodes, 'send'>;
  protect: Middleware;
}

const METHODS = ['totp', 'recovery-code', 'email', 'sms'] as const;
const codeForm = z.object({ code: z.string().max(64), method: z.enum(METHODS), remember: z.literal('yes').optional() });
const sendForm = z.object({ method: z.enum(['email', 'sms']) });
const keyForm = z.object({ response: z.string().max(20_000), remember: z.literal('yes').optional() });

const PROBLEMS = {
  wrong: 'This code is not right, or was already used. Wait for the next one, or check what you typed.',
  expired: 'This code has expired. Have a new one sent.',
} as const;
const NOT_SENT = 'The code could not be sent. Try again in a moment, or choose another way.';

export function secondFactorRoutes(needs: SecondFactorRoutesNeeds): Router<State, Extras> {
  const { flow, views, attempts, codes, passkeys, audit, sentCodes, protect } = needs;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });

  router.post('/code', protect, async (ctx: StepContext) => {
    const open = await flow.expect(ctx, 'second-factor');
    if (!open?.account) return;
    const { code, method, remember } = await parseForm(ctx, codeForm);
    if (!open.methods.includes(method)) throw badRequest('invalid_input', { detail: { method } });
    const sentTo = (method === 'email' || method === 'sms' ? open.channels[method] : undefined) ?? '';
    const result = await codes.verify(open.account, method, sentTo, code, ctx.state.request);
    if (result.outcome === 'wait') return views.wait(ctx, open, result.retryAfterSeconds, { method });
    if (result.outcome !== 'ok')
      return views.show(ctx, open, { problem: PROBLEMS[result.outcome], status: 401, method });
    await prove(ctx, open, [result.amr], remember);
  });

  router.post('/send-code', protect, async (ctx: StepContext) => {
    const open = await flow.expect(ctx, 'second-factor');
    if (!open?.account) return;
    const { method } = await parseForm(ctx, sendForm);
    const to = open.channels[method];
    if (!open.methods.includes(method) || !to) throw badRequest('invalid_input', { detail: { method } });
    const result = await sentCodes.send(open.account, method, to, ctx.state.request);
    if (result.outcome === 'wait') return views.wait(ctx, open, result.retryAfterSeconds, { method });
    if (result.outcome === 'failed') return views.show(ctx, open, { problem: NOT_SENT, status: 502, method });
    await attempts.save({ ...open.attempt, sent: method });
    ctx.status = 303;
    ctx.redirect(`/signin/${open.attempt.uid}?method=${method}`);
  });

  router.post('/passkey', protect, async (ctx: StepContext) => {
    const open = await flow.expect(ctx, 'second-factor', 'identify');
    if (!open) return;
    if (open.step === 'identify' && open.needsPassword)
      return views.show(ctx, open, { problem: 'This application wants your password.', status: 400 });
    const { response, remember } = await parseForm(ctx, keyForm);
    const answer = parseAssertion(response);
    const { challenge } = open.attempt;
    const owner = open.step === 'second-factor' ? ownersKeys(open) : undefined;
    const checked = answer && challenge ? await passkeys.authenticate(answer, { challenge, ...owner }) : undefined;
    const isRight = checked?.outcome === 'ok';
    await audit.record({
      type: 'sign-in.passkey',
      outcome: isRight ? 'success' : 'failure',
      request: ctx.state.request,
      ...(isRight
        ? { actorId: checked.userId, subjectId: checked.userId }
        : { reason: checked?.outcome ?? 'malformed' }),
    });
    if (!isRight) {
      const problem = 'This passkey was not accepted. Try again, or sign in another way.';
      return views.show(ctx, open, { problem, status: 401, method: 'passkey' });
    }
    if (open.step === 'identify')
      return flow.proceed(ctx, open, { userId: checked.userId, amr: checked.amr, challenge: undefined });
    await prove(ctx, open, checked.amr, remember);
  });

  function prove(ctx: Context, open: OpenStep, amr: string[], remember: 'yes' | undefined): Promise<void> {
    const { userId, amr: before } = open.attempt;
    return flow.proceed(ctx, open, {
      userId: userId ?? open.account?.id,
      // In a step-up the first factor is the session's.
      amr: [...new Set([...(before.length > 0 ? before : open.amr), ...amr])],
      challenge: undefined,
      sent: undefined,
      trustBrowser: remember === 'yes',
    });
  }

  return router;
}
