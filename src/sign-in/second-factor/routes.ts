// The forms of the second factor: a code from an authenticator app, a message or the list of recovery codes; a passkey or security key;
// and the request to send a code. A passkey also signs in without a password.

import Router from '@koa/router';
import { z } from 'zod';
import { type Context, type Extras, type State, seeOther } from '../../base/http/context.ts';
import { badRequest, notFound } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { parseForm } from '../../base/http/input.ts';
import { withLanguage } from '../../base/http/pages/language.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { traced } from '../../base/platform/tracing.ts';
import { t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../../people/accounts/account.ts';
import { inactiveReason, inactiveText } from '../../people/accounts/active.ts';
import { parseAssertion, parseAttestation } from '../../people/mfa/factors/webauthn-ceremony.ts';
import type { People } from '../../people/people.ts';
import type { Attempt } from '../attempts.ts';
import { accountOf, type CurrentStep } from '../current-step.ts';
import { type SignInFlow, type StepContext, StepError, tooManyTries } from '../flow.ts';
import { type CodeMethod, keysOfAccount, mustVerify } from './pages.ts';

const METHODS = ['totp', 'recovery-code', 'email', 'sms'] as const;
const AMR = { totp: 'otp', email: 'email', sms: 'sms', 'recovery-code': 'recovery' } as const;
const codeForm = z.object({ code: z.string().max(64), method: z.enum(METHODS), remember: z.literal('yes').optional() });
const sendForm = z.object({ method: z.enum(['email', 'sms']) });
const keyForm = z.object({ response: z.string().max(20_000), remember: z.literal('yes').optional() });

export function secondFactorRoutes(services: SignInFlow): Router<State, Extras> {
  const { flow } = services;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });
  router.post('/code', ...flow.form(['second-factor'], (ctx, current) => verifyCode(services, ctx, current)));
  router.post('/send-code', ...flow.form(['second-factor'], (ctx, current) => sendCode(services, ctx, current)));
  router.post(
    '/passkey',
    ...flow.form(['second-factor', 'identify'], (ctx, current) => verifyPasskey(services, ctx, current)),
  );
  return router;
}

async function verifyCode(services: SignInFlow, ctx: StepContext, current: CurrentStep): Promise<void> {
  const account = accountOf(current);
  const { code, method, remember } = await parseForm(ctx, codeForm);
  if (!current.methods.includes(method)) throw badRequest('invalid_input', { detail: { method } });
  const sentTo = (method === 'email' || method === 'sms' ? current.channels[method] : undefined) ?? '';
  const result = await checkCode(services, ctx, account, { method, sentTo, code });
  if (result.outcome === 'wait') throw tooManyTries(result.retryAfterSeconds);
  const usedRecoveryCode = method === 'recovery-code';
  if (result.outcome === 'wrong' && usedRecoveryCode)
    throw new StepError('sign_in_failed', { message: t('second-factor.wrong-recovery-code') });
  if (result.outcome !== 'ok') {
    const isWrong = result.outcome === 'wrong';
    throw new StepError('sign_in_failed', {
      message: isWrong ? t('second-factor.wrong-code') : t('second-factor.expired-code'),
    });
  }
  if (usedRecoveryCode) await services.notifyOwner(account, 'recovery-code-used', ctx.state.request);
  await services.flow.proceed(ctx, current, { ...proven(current, [AMR[method]], remember), usedRecoveryCode });
}

interface SentCode {
  method: CodeMethod;
  /** The address or number that the code was sent to; empty for other methods. */
  sentTo: string;
  code: string;
}

/** Tries are limited per account over all instances, and counted before the code is checked. */
async function checkWithinLimits(
  services: Core & Http & People,
  { state: { request } }: Context,
  account: Account,
  sent: SentCode,
): Promise<{ outcome: 'ok' | 'wrong' | 'expired' } | { outcome: 'wait'; retryAfterSeconds: number }> {
  const { rateLimits, audit, metrics, repeatedEntries } = services;
  const { method } = sent;
  const about = { subjectId: account.id, request };
  const { allowed, retryAfterSeconds } = await rateLimits.consume('code:account', account.id);
  if (!allowed) {
    metrics.signIns.inc({ outcome: 'throttled', method });
    const reason = 'too_many_codes';
    await repeatedEntries.record({ type: 'sign-in.throttled', outcome: 'failure', reason, ...about });
    return { outcome: 'wait', retryAfterSeconds };
  }
  const result = await resultOf(services, account.id, sent, request);
  const isRight = result === 'ok';
  metrics.signIns.inc({ outcome: isRight ? 'success' : 'failure', method });
  await audit.record({
    type: 'sign-in.second-factor',
    outcome: isRight ? 'success' : 'failure',
    ...about,
    data: { method },
    ...(isRight ? { actorId: account.id } : { reason: result }),
  });
  if (!isRight) return { outcome: result === 'expired' || result === 'too-many-tries' ? 'expired' : 'wrong' };
  await rateLimits.reset('code:account', account.id);
  return { outcome: 'ok' };
}

/** Checks a code of the account, counts and audits it. */
export const checkCode = traced('sign-in second factor', checkWithinLimits, ({ outcome }) => ({
  'gatehouse.outcome': outcome,
}));

async function resultOf(
  { mfa: { totp, recoveryCodes, oneTimeCodes, phones } }: People,
  userId: string,
  { method, sentTo, code }: SentCode,
  request: RequestInfo,
) {
  if (method === 'totp') return totp.verify(userId, code);
  if (method === 'recovery-code') return recoveryCodes.redeem(userId, code, { actorId: userId, request });
  const outcome = await oneTimeCodes.verify(userId, method, sentTo, code);
  if (method === 'sms' && outcome === 'ok') await phones.used(userId, sentTo);
  return outcome;
}

async function sendCode(services: SignInFlow, ctx: StepContext, current: CurrentStep): Promise<void> {
  const { attempts, codeDelivery } = services;
  const { method } = await parseForm(ctx, sendForm);
  const to = current.channels[method];
  if (!current.methods.includes(method) || !to) throw badRequest('invalid_input', { detail: { method } });
  const result = await codeDelivery.send(accountOf(current), method, to, withLanguage(ctx));
  if (result.outcome === 'wait') throw tooManyTries(result.retryAfterSeconds);
  if (result.outcome === 'failed') throw new StepError('upstream_failed', { message: t('second-factor.not-sent') });
  await attempts.save({ ...current.attempt, sent: method });
  seeOther(ctx, `/signin/${current.attempt.uid}?method=${method}`);
}

/** As the second factor, or in place of the password. */
async function verifyPasskey(services: SignInFlow, ctx: StepContext, current: CurrentStep): Promise<void> {
  const { accounts, audit, flow, repeatedEntries, mfa } = services;
  if (current.step === 'identify' && current.needsPassword)
    throw new StepError('bad_request', { message: t('second-factor.needs-password') });
  const { response, remember } = await parseForm(ctx, keyForm);
  const answer = parseAssertion(response);
  const { challenge } = current.attempt;
  const owner = current.step === 'second-factor' ? keysOfAccount(current) : undefined;
  const result = answer && challenge ? await mfa.passkeys.authenticate(answer, { challenge, ...owner }) : undefined;
  const about = { type: 'sign-in.passkey', request: ctx.state.request } as const;
  const method = 'passkey';
  if (result?.outcome !== 'ok') {
    // Anyone can send this form, and as often as they like.
    await repeatedEntries.record({ ...about, outcome: 'failure', reason: result?.outcome ?? 'malformed' });
    throw new StepError('sign_in_failed', { message: t('second-factor.passkey-failed'), method });
  }
  const { userId } = result;
  const account = await accounts.find(userId);
  if (account && !account.isActive) {
    const reason = inactiveReason(account);
    await repeatedEntries.record({ ...about, outcome: 'failure', reason, subjectId: userId });
    throw new StepError('account_inactive', { message: inactiveText(account), method });
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

interface Enrolled {
  /** Methods that the enrolment has proven (`amr`). */
  proven: string[];
  /** Identifies this enrolment: its recovery codes are derived from it. */
  enrolment: string;
}

const totpForm = z.object({ code: z.string().max(64), sealed: z.string().max(1024) });
const passkeyForm = z.object({ response: z.string().max(20_000), name: z.string().max(200).default('') });

export function enrolmentRoutes(services: SignInFlow): Router<State, Extras> {
  const { flow } = services;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });
  router.post(
    '/enrol-totp',
    ...flow.form(['enrol', 'replace-factor', 'done'], (ctx, current) => enrolTotp(services, ctx, current)),
  );
  router.post(
    '/enrol-passkey',
    ...flow.form(['enrol', 'replace-factor'], (ctx, current) => enrolPasskey(services, ctx, current)),
  );
  // The user has the other factor still, or replaces it later.
  router.post(
    '/keep-factors',
    ...flow.form(['replace-factor'], (ctx, current) => flow.proceed(ctx, current, { usedRecoveryCode: undefined })),
  );
  router.get('/recovery-codes/:value', (ctx: StepContext) => showCodes(services, ctx));
  return router;
}

async function enrolTotp(services: SignInFlow, ctx: StepContext, current: CurrentStep): Promise<void> {
  const { notifyOwner, rateLimits, mfa } = services;
  const account = accountOf(current);
  const { code, sealed } = await parseForm(ctx, totpForm);
  if (current.step === 'done') return showCodesAgain(services, ctx, current, sealed);
  const { allowed, retryAfterSeconds } = await rateLimits.consume('code:account', account.id);
  if (!allowed) throw tooManyTries(retryAfterSeconds);
  const by = { actorId: account.id, request: ctx.state.request };
  const outcome = await mfa.totp.confirm(account, sealed, code, by);
  if (outcome === 'wrong') throw new StepError('bad_request', { message: t('enrol.wrong-code') });
  if (outcome === 'expired') throw new StepError('bad_request', { message: t('enrol.expired') });
  await rateLimits.reset('code:account', account.id);
  if (outcome === 'ok') await notifyOwner(account, 'totp-added', ctx.state.request);
  // The code that confirmed the app also proves the factor for this sign-in.
  await finishEnrolment(services, ctx, current, { proven: ['otp'], enrolment: sealed });
}

async function enrolPasskey(services: SignInFlow, ctx: StepContext, current: CurrentStep): Promise<void> {
  const account = accountOf(current);
  const { response, name } = await parseForm(ctx, passkeyForm);
  const answer = parseAttestation(response);
  const { challenge } = current.attempt;
  const by = { actorId: account.id, request: ctx.state.request };
  const enrolment = { challenge: challenge ?? '', name, mustVerify: mustVerify(current), ...by };
  const result = answer && challenge ? await services.mfa.passkeys.register(account, answer, enrolment) : undefined;
  if (result?.outcome !== 'ok') {
    const isKnown = result?.outcome === 'already-registered';
    throw new StepError('bad_request', { message: isKnown ? t('enrol.passkey-exists') : t('enrol.passkey-failed') });
  }
  await services.notifyOwner(account, 'passkey-added', ctx.state.request);
  // The user has just proven it: an answer that could be forged here could be forged in a sign-in with the same key too.
  await finishEnrolment(services, ctx, current, { proven: result.amr, enrolment: challenge ?? '' });
}

/** With the first second factor come the recovery codes. */
async function finishEnrolment(
  services: SignInFlow,
  ctx: Context,
  current: CurrentStep,
  { proven, enrolment }: Enrolled,
): Promise<void> {
  const { attempts, flow, mfa } = services;
  const { id } = accountOf(current);
  const { userId, amr } = current.attempt;
  const changes = {
    userId: userId ?? id,
    amr: [...new Set([...(amr.length > 0 ? amr : current.amr), ...proven])],
    challenge: undefined,
    usedRecoveryCode: undefined,
  };
  const by = { actorId: id, request: ctx.state.request };
  const codes = await mfa.recoveryCodes.createFor(id, enrolment, by);
  if (!codes) return flow.proceed(ctx, current, changes);
  await attempts.save({ ...current.attempt, ...changes });
  await redirectToCodes(services, ctx, current, codes);
}

/** The form was sent twice: leads to the same codes, which the browser may have lost with the first response. */
async function showCodesAgain(services: SignInFlow, ctx: Context, current: CurrentStep, sealed: string): Promise<void> {
  const { flow, mfa } = services;
  const account = accountOf(current);
  const codes = mfa.totp.resume(account, sealed) && (await mfa.recoveryCodes.again(account.id, sealed));
  if (codes) await redirectToCodes(services, ctx, current, codes);
  else await flow.finish(ctx, current);
}

function redirectToCodes(
  { recoveryCodesPages }: SignInFlow,
  ctx: Context,
  current: CurrentStep,
  codes: string[],
): Promise<void> {
  const { uid } = current.attempt;
  const owner = { userId: accountOf(current).id, session: uid };
  return recoveryCodesPages.redirect(ctx, `/signin/${uid}/recovery-codes`, owner, codes);
}

/** The page of stored codes, in the browser of the sign-in. */
async function showCodes({ flow, recoveryCodesPages }: SignInFlow, ctx: StepContext): Promise<void> {
  const { account, attempt } = await flow.open(ctx);
  if (!account) throw notFound();
  const owner = { userId: account.id, session: attempt.uid };
  const value = ctx.params.value ?? '';
  await recoveryCodesPages.show(ctx, { account, owner, value, continueUrl: `/signin/${attempt.uid}` });
}
