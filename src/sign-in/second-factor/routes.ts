// The forms of the second factor: a code, a passkey or security key, and the request to send a code. A passkey also
// signs in without a password.

import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, Middleware, State } from '../../base/http/context.ts';
import { badRequest } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { withLanguage } from '../../base/http/pages/language.ts';
import { t } from '../../base/texts/text.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { RepeatedEntries } from '../../core/audit/repeated-entries.ts';
import type { NotifyOwner } from '../../core/mail/notify-owner.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import type { CodeDelivery } from '../../people/mfa/factors/code-delivery.ts';
import type { Passkeys } from '../../people/mfa/factors/passkeys.ts';
import { parseAssertion } from '../../people/mfa/factors/webauthn-input.ts';
import type { Attempt, Attempts } from '../attempts.ts';
import type { CurrentStep } from '../current-step.ts';
import type { Flow, StepContext } from '../flow.ts';
import type { StepPages } from '../step-pages.ts';
import type { SecondFactorCodes } from './codes.ts';
import { keysOfAccount } from './pages.ts';

export interface SecondFactorRoutesDependencies {
  accounts: Accounts;
  flow: Flow;
  pages: StepPages;
  codes: SecondFactorCodes;
  passkeys: Passkeys;
  audit: Audit;
  repeatedEntries: RepeatedEntries;
  attempts: Attempts;
  codeDelivery: CodeDelivery;
  /** Mails a notice to the account's owner. */
  notifyOwner: NotifyOwner;
  checkCsrf: Middleware;
}

const METHODS = ['totp', 'recovery-code', 'email', 'sms'] as const;
const codeForm = z.object({ code: z.string().max(64), method: z.enum(METHODS), remember: z.literal('yes').optional() });
const sendForm = z.object({ method: z.enum(['email', 'sms']) });
const keyForm = z.object({ response: z.string().max(20_000), remember: z.literal('yes').optional() });

const PROBLEMS = {
  wrong: t('second-factor.wrong-code'),
  expired: t('second-factor.expired-code'),
} as const;
const NOT_SENT = t('second-factor.not-sent');

export function secondFactorRoutes(dependencies: SecondFactorRoutesDependencies): Router<State, Extras> {
  const { checkCsrf } = dependencies;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });
  router.post('/code', checkCsrf, (ctx: StepContext) => verifyCode(dependencies, ctx));
  router.post('/send-code', checkCsrf, (ctx: StepContext) => sendCode(dependencies, ctx));
  router.post('/passkey', checkCsrf, (ctx: StepContext) => verifyPasskey(dependencies, ctx));
  return router;
}

async function verifyCode(dependencies: SecondFactorRoutesDependencies, ctx: StepContext): Promise<void> {
  const { flow, pages, codes, notifyOwner } = dependencies;
  const current = await flow.expect(ctx, 'second-factor');
  if (!current?.account) return;
  const { code, method, remember } = await parseForm(ctx, codeForm);
  if (!current.methods.includes(method)) throw badRequest('invalid_input', { detail: { method } });
  const sentTo = (method === 'email' || method === 'sms' ? current.channels[method] : undefined) ?? '';
  const result = await codes.verify(current.account, method, sentTo, code, ctx.state.request);
  if (result.outcome === 'wait') return pages.showWait(ctx, current, result.retryAfterSeconds, { method });
  const usedRecoveryCode = method === 'recovery-code';
  if (result.outcome !== 'ok') {
    const isWrong = usedRecoveryCode && result.outcome === 'wrong';
    const problem = isWrong ? t('second-factor.wrong-recovery-code') : PROBLEMS[result.outcome];
    return pages.show(ctx, current, { problem, status: 401, method });
  }
  if (usedRecoveryCode) await notifyOwner(current.account, 'recovery-code-used', ctx.state.request);
  await flow.proceed(ctx, current, { ...proven(current, [result.amr], remember), usedRecoveryCode });
}

async function sendCode(dependencies: SecondFactorRoutesDependencies, ctx: StepContext): Promise<void> {
  const { flow, pages, attempts, codeDelivery } = dependencies;
  const current = await flow.expect(ctx, 'second-factor');
  if (!current?.account) return;
  const { method } = await parseForm(ctx, sendForm);
  const to = current.channels[method];
  if (!current.methods.includes(method) || !to) throw badRequest('invalid_input', { detail: { method } });
  const result = await codeDelivery.send(current.account, method, to, withLanguage(ctx));
  if (result.outcome === 'wait') return pages.showWait(ctx, current, result.retryAfterSeconds, { method });
  if (result.outcome === 'failed') return pages.show(ctx, current, { problem: NOT_SENT, status: 502, method });
  await attempts.save({ ...current.attempt, sent: method });
  ctx.status = 303;
  ctx.redirect(`/signin/${current.attempt.uid}?method=${method}`);
}

/** As the second factor, or in place of the password. */
async function verifyPasskey(dependencies: SecondFactorRoutesDependencies, ctx: StepContext): Promise<void> {
  const { accounts, flow, pages, passkeys, audit, repeatedEntries } = dependencies;
  const current = await flow.expect(ctx, 'second-factor', 'identify');
  if (!current) return;
  if (current.step === 'identify' && current.needsPassword)
    return pages.show(ctx, current, { problem: t('second-factor.needs-password'), status: 400 });
  const { response, remember } = await parseForm(ctx, keyForm);
  const answer = parseAssertion(response);
  const { challenge } = current.attempt;
  const owner = current.step === 'second-factor' ? keysOfAccount(current) : undefined;
  const result = answer && challenge ? await passkeys.authenticate(answer, { challenge, ...owner }) : undefined;
  const about = { type: 'sign-in.passkey', request: ctx.state.request } as const;
  if (result?.outcome !== 'ok') {
    // Anyone can send this form, and as often as they like.
    await repeatedEntries.record({ ...about, outcome: 'failure', reason: result?.outcome ?? 'malformed' });
    const problem = t('second-factor.passkey-failed');
    return pages.show(ctx, current, { problem, status: 401, method: 'passkey' });
  }
  const { userId } = result;
  if (!(await accounts.find(userId))?.isActive) {
    await repeatedEntries.record({ ...about, outcome: 'failure', reason: 'disabled_account', subjectId: userId });
    return pages.show(ctx, current, { problem: t('sign-in.disabled'), status: 403, method: 'passkey' });
  }
  await audit.record({ ...about, outcome: 'success', actorId: userId, subjectId: userId });
  if (current.step === 'identify') return flow.proceed(ctx, current, { userId, amr: result.amr, challenge: undefined });
  await flow.proceed(ctx, current, proven(current, result.amr, remember));
}

/** What the attempt becomes with this second factor. */
function proven(current: CurrentStep, amr: string[], remember: 'yes' | undefined): Partial<Attempt> {
  const { userId, amr: before } = current.attempt;
  return {
    userId: userId ?? current.account?.id,
    // In a step-up the session has proven the first factor.
    amr: [...new Set([...(before.length > 0 ? before : current.amr), ...amr])],
    challenge: undefined,
    sent: undefined,
    trustBrowser: remember === 'yes',
  };
}
