// The forms of the enrolment step: the user sets up a second factor that the policy demands and the account lacks.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, Middleware, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { t } from '../../base/texts/text.ts';
import type { NotifyOwner } from '../../core/mail/notify-owner.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Passkeys } from '../../people/mfa/factors/passkeys.ts';
import type { RecoveryCodes } from '../../people/mfa/factors/recovery-codes.ts';
import type { Totp } from '../../people/mfa/factors/totp.ts';
import { parseAttestation } from '../../people/mfa/factors/webauthn-input.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import type { Attempts } from '../attempts.ts';
import type { CurrentStep } from '../current-step.ts';
import type { Flow, StepContext } from '../flow.ts';
import type { StepPages } from '../step-pages.ts';
import { mustVerify } from './pages.ts';
import type { RecoveryCodesPages } from './recovery-codes-page.ts';

export interface EnrolmentRoutesDependencies {
  flow: Flow;
  pages: StepPages;
  attempts: Attempts;
  totp: Totp;
  passkeys: Passkeys;
  recoveryCodes: RecoveryCodes;
  /** Mails a notice about the change to the account's owner. */
  notifyOwner: NotifyOwner;
  rateLimits: RateLimits;
  recoveryCodesPages: RecoveryCodesPages;
  checkCsrf: Middleware;
}

interface Enrolled {
  /** Methods that the enrolment has proven (`amr`). */
  proven: string[];
  /** Identifies this enrolment: its recovery codes are derived from it. */
  enrolment: string;
}

const totpForm = z.object({ code: z.string().max(64), sealed: z.string().max(1024) });
const passkeyForm = z.object({ response: z.string().max(20_000), name: z.string().max(200).default('') });

export function enrolmentRoutes(dependencies: EnrolmentRoutesDependencies): Router<State, Extras> {
  const { checkCsrf } = dependencies;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });
  router.post('/enrol-totp', checkCsrf, (ctx: StepContext) => enrolTotp(dependencies, ctx));
  router.post('/enrol-passkey', checkCsrf, (ctx: StepContext) => enrolPasskey(dependencies, ctx));
  router.post('/keep-factors', checkCsrf, (ctx: StepContext) => keepFactors(dependencies, ctx));
  router.get('/recovery-codes/:value', (ctx: StepContext) => showCodes(dependencies, ctx));
  return router;
}

async function enrolTotp(dependencies: EnrolmentRoutesDependencies, ctx: StepContext): Promise<void> {
  const { flow, pages, totp, rateLimits, notifyOwner } = dependencies;
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

async function enrolPasskey(dependencies: EnrolmentRoutesDependencies, ctx: StepContext): Promise<void> {
  const { flow, pages, passkeys, notifyOwner } = dependencies;
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
async function keepFactors({ flow }: EnrolmentRoutesDependencies, ctx: StepContext): Promise<void> {
  const current = await flow.expect(ctx, 'replace-factor');
  if (current) await flow.proceed(ctx, current, { usedRecoveryCode: undefined });
}

/** With the first second factor come the recovery codes. */
async function finishEnrolment(
  dependencies: EnrolmentRoutesDependencies,
  ctx: Context,
  current: CurrentStep,
  { proven, enrolment }: Enrolled,
): Promise<void> {
  const { flow, attempts, recoveryCodes } = dependencies;
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
  dependencies: EnrolmentRoutesDependencies,
  ctx: Context,
  current: CurrentStep,
  sealed: string,
): Promise<void> {
  const { flow, totp, recoveryCodes } = dependencies;
  const { account } = current;
  const codes = account && totp.resume(account, sealed) && (await recoveryCodes.again(account.id, sealed));
  if (account && codes) await redirectToCodes(dependencies, ctx, current, account, codes);
  else await flow.finish(ctx, current);
}

function redirectToCodes(
  { recoveryCodesPages }: EnrolmentRoutesDependencies,
  ctx: Context,
  { attempt }: CurrentStep,
  account: Account,
  codes: string[],
): Promise<void> {
  const owner = { userId: account.id, session: attempt.uid };
  return recoveryCodesPages.redirect(ctx, `/signin/${attempt.uid}/recovery-codes`, owner, codes);
}

/** The page of stored codes, in the browser of the sign-in. */
async function showCodes({ flow, recoveryCodesPages }: EnrolmentRoutesDependencies, ctx: StepContext): Promise<void> {
  const { account, attempt } = await flow.open(ctx);
  if (!account) throw notFound();
  const owner = { userId: account.id, session: attempt.uid };
  const value = ctx.params.value ?? '';
  await recoveryCodesPages.show(ctx, { account, owner, value, continueUrl: `/signin/${attempt.uid}` });
}
