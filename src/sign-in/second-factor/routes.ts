// The forms of the second factor: a code, a passkey or security key, and the request to send a code. A passkey also
// signs in without a password.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { badRequest, notFound } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { parseForm } from '../../base/http/input.ts';
import { withLanguage } from '../../base/http/pages/language.ts';
import { t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../../people/accounts/account.ts';
import { parseAssertion, parseAttestation } from '../../people/mfa/factors/webauthn-input.ts';
import type { People } from '../../people/people.ts';
import type { Attempt, Attempts } from '../attempts.ts';
import type { CurrentStep } from '../current-step.ts';
import type { Flow, StepContext } from '../flow.ts';
import type { StepPages } from '../step-pages.ts';
import type { SecondFactorCodes } from './codes.ts';
import { keysOfAccount, mustVerify } from './pages.ts';
import type { RecoveryCodesPages } from './recovery-codes-page.ts';

const METHODS = ['totp', 'recovery-code', 'email', 'sms'] as const;
const codeForm = z.object({ code: z.string().max(64), method: z.enum(METHODS), remember: z.literal('yes').optional() });
const sendForm = z.object({ method: z.enum(['email', 'sms']) });
const keyForm = z.object({ response: z.string().max(20_000), remember: z.literal('yes').optional() });

const PROBLEMS = {
  wrong: t('second-factor.wrong-code'),
  expired: t('second-factor.expired-code'),
} as const;
const NOT_SENT = t('second-factor.not-sent');

export function secondFactorRoutes(
  dependencies: Core & Http & People & { flow: Flow; pages: StepPages; codes: SecondFactorCodes; attempts: Attempts },
): Router<State, Extras> {
  const {
    csrf: { check: checkCsrf },
  } = dependencies;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });
  router.post('/code', checkCsrf, (ctx: StepContext) => verifyCode(dependencies, ctx));
  router.post('/send-code', checkCsrf, (ctx: StepContext) => sendCode(dependencies, ctx));
  router.post('/passkey', checkCsrf, (ctx: StepContext) => verifyPasskey(dependencies, ctx));
  return router;
}

async function verifyCode(
  dependencies: Core & { flow: Flow; pages: StepPages; codes: SecondFactorCodes },
  ctx: StepContext,
): Promise<void> {
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

async function sendCode(
  dependencies: People & { flow: Flow; pages: StepPages; attempts: Attempts },
  ctx: StepContext,
): Promise<void> {
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
async function verifyPasskey(
  dependencies: Core & People & { flow: Flow; pages: StepPages },
  ctx: StepContext,
): Promise<void> {
  const {
    accounts,
    flow,
    pages,
    audit,
    repeatedEntries,
    mfa: { passkeys },
  } = dependencies;
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

// The forms of the enrolment step: the user sets up a second factor that the policy demands and the account lacks.

interface EnrolmentRoutesDependencies {
  flow: Flow;
  pages: StepPages;
  attempts: Attempts;
  recoveryCodesPages: RecoveryCodesPages;
}

interface Enrolled {
  /** Methods that the enrolment has proven (`amr`). */
  proven: string[];
  /** Identifies this enrolment: its recovery codes are derived from it. */
  enrolment: string;
}

const totpForm = z.object({ code: z.string().max(64), sealed: z.string().max(1024) });
const passkeyForm = z.object({ response: z.string().max(20_000), name: z.string().max(200).default('') });

export function enrolmentRoutes(
  dependencies: Core & Http & People & EnrolmentRoutesDependencies,
): Router<State, Extras> {
  const {
    csrf: { check: checkCsrf },
  } = dependencies;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });
  router.post('/enrol-totp', checkCsrf, (ctx: StepContext) => enrolTotp(dependencies, ctx));
  router.post('/enrol-passkey', checkCsrf, (ctx: StepContext) => enrolPasskey(dependencies, ctx));
  router.post('/keep-factors', checkCsrf, (ctx: StepContext) => keepFactors(dependencies, ctx));
  router.get('/recovery-codes/:value', (ctx: StepContext) => showCodes(dependencies, ctx));
  return router;
}

async function enrolTotp(dependencies: Core & People & EnrolmentRoutesDependencies, ctx: StepContext): Promise<void> {
  const {
    flow,
    pages,
    rateLimits,
    notifyOwner,
    mfa: { totp },
  } = dependencies;
  const current = await flow.expect(ctx, 'enrol', 'replace-factor', 'done');
  if (!current?.account) return;
  const { code, sealed } = await parseForm(ctx, totpForm);
  if (current.step === 'done') return showCodesAgain(dependencies, ctx, current, sealed);
  const verdict = await rateLimits.consume('code:account', current.account.id);
  if (!verdict.allowed) return pages.showWait(ctx, current, verdict.retryAfterSeconds, { sealed });
  const by = { actorId: current.account.id, request: ctx.state.request };
  const outcome = await totp.confirm(current.account, sealed, code, by);
  if (outcome === 'wrong' || outcome === 'expired') {
    const problem = outcome === 'expired' ? t('enrol.expired') : t('enrol.wrong-code');
    return pages.show(ctx, current, { problem, status: 400, ...(outcome === 'wrong' && { sealed }) });
  }
  await rateLimits.reset('code:account', current.account.id);
  if (outcome === 'ok') await notifyOwner(current.account, 'totp-added', ctx.state.request);
  // The code that confirmed the app also proves the factor for this sign-in.
  await finishEnrolment(dependencies, ctx, current, { proven: ['otp'], enrolment: sealed });
}

async function enrolPasskey(
  dependencies: Core & People & EnrolmentRoutesDependencies,
  ctx: StepContext,
): Promise<void> {
  const {
    flow,
    pages,
    notifyOwner,
    mfa: { passkeys },
  } = dependencies;
  const current = await flow.expect(ctx, 'enrol', 'replace-factor');
  if (!current?.account) return;
  const { response, name } = await parseForm(ctx, passkeyForm);
  const answer = parseAttestation(response);
  const { challenge } = current.attempt;
  const by = { actorId: current.account.id, request: ctx.state.request };
  const result =
    answer && challenge
      ? await passkeys.register(current.account, answer, { challenge, name, mustVerify: mustVerify(current), ...by })
      : undefined;
  if (result?.outcome !== 'ok') {
    const problem = result?.outcome === 'already-registered' ? t('enrol.passkey-exists') : t('enrol.passkey-failed');
    return pages.show(ctx, current, { problem, status: 400 });
  }
  await notifyOwner(current.account, 'passkey-added', ctx.state.request);
  await finishEnrolment(dependencies, ctx, current, { proven: [], enrolment: challenge ?? '' });
}

/** The user has the other factor still, or replaces it later. */
async function keepFactors({ flow }: { flow: Flow }, ctx: StepContext): Promise<void> {
  const current = await flow.expect(ctx, 'replace-factor');
  if (current) await flow.proceed(ctx, current, { usedRecoveryCode: undefined });
}

/** With the first second factor come the recovery codes. */
async function finishEnrolment(
  dependencies: People & { flow: Flow; attempts: Attempts; recoveryCodesPages: RecoveryCodesPages },
  ctx: Context,
  current: CurrentStep,
  { proven, enrolment }: Enrolled,
): Promise<void> {
  const {
    flow,
    attempts,
    mfa: { recoveryCodes },
  } = dependencies;
  if (!current.account) return;
  const { userId, amr } = current.attempt;
  const changes = {
    userId: userId ?? current.account.id,
    amr: [...new Set([...(amr.length > 0 ? amr : current.amr), ...proven])],
    challenge: undefined,
    usedRecoveryCode: undefined,
  };
  const by = { actorId: current.account.id, request: ctx.state.request };
  const codes = await recoveryCodes.createFor(current.account.id, enrolment, by);
  if (!codes) return flow.proceed(ctx, current, changes);
  await attempts.save({ ...current.attempt, ...changes });
  await redirectToCodes(dependencies, ctx, current, current.account, codes);
}

/** The form was sent twice: leads to the same codes, which the browser may have lost with the first response. */
async function showCodesAgain(
  dependencies: People & { flow: Flow; recoveryCodesPages: RecoveryCodesPages },
  ctx: Context,
  current: CurrentStep,
  sealed: string,
): Promise<void> {
  const {
    flow,
    mfa: { totp, recoveryCodes },
  } = dependencies;
  const { account } = current;
  const codes = account && totp.resume(account, sealed) && (await recoveryCodes.again(account.id, sealed));
  if (account && codes) await redirectToCodes(dependencies, ctx, current, account, codes);
  else await flow.finish(ctx, current);
}

function redirectToCodes(
  { recoveryCodesPages }: { recoveryCodesPages: RecoveryCodesPages },
  ctx: Context,
  { attempt }: CurrentStep,
  account: Account,
  codes: string[],
): Promise<void> {
  const owner = { userId: account.id, session: attempt.uid };
  return recoveryCodesPages.redirect(ctx, `/signin/${attempt.uid}/recovery-codes`, owner, codes);
}

/** The page of stored codes, in the browser of the sign-in. */
async function showCodes(
  { flow, recoveryCodesPages }: { flow: Flow; recoveryCodesPages: RecoveryCodesPages },
  ctx: StepContext,
): Promise<void> {
  const { account, attempt } = await flow.open(ctx);
  if (!account) throw notFound();
  const owner = { userId: account.id, session: attempt.uid };
  const value = ctx.params.value ?? '';
  await recoveryCodesPages.show(ctx, { account, owner, value, continueUrl: `/signin/${attempt.uid}` });
}
