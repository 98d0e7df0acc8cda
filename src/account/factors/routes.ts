// /account/factors: the list of second factors, the authenticator app and the recovery codes. Every change demands a
// recent proof and sends a notice by mail.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { tooManyRequests } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { AccountFactors } from '../../people/mfa/account-factors.ts';
import type { CodeDelivery } from '../../people/mfa/factors/code-delivery.ts';
import type { Passkeys } from '../../people/mfa/factors/passkeys.ts';
import { maskNumber } from '../../people/mfa/factors/phone-number.ts';
import type { Totp } from '../../people/mfa/factors/totp.ts';
import { hasSecondFactor } from '../../people/mfa/policy.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import type { AccountPageHelpers } from '../account-page-helpers.ts';
import type { SingleFactorPasswordRule } from '../password/single-factor-rule.ts';
import type { RpSessions } from '../rp/sessions.ts';
import { FACTORS_PAGE, type FactorRecoveryCodes } from './recovery-codes.ts';

export interface FactorRoutesDependencies {
  page: AccountPageHelpers;
  factors: AccountFactors;
  totp: Totp;
  passkeys: Passkeys;
  codeDelivery: CodeDelivery;
  rateLimits: RateLimits;
  rpSessions: RpSessions;
  factorRecoveryCodes: FactorRecoveryCodes;
  singleFactorPasswordRule: SingleFactorPasswordRule;
}

const authenticatorAppForm = z.object({ code: z.string().max(64), sealed: z.string().max(1024) });

export function factorRoutes(dependencies: FactorRoutesDependencies): Router<State, Extras> {
  const { page, factorRecoveryCodes } = dependencies;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: FACTORS_PAGE });
  const changeGuards = [signedIn.requireSignIn, signedIn.recentAuthentication, checkChange] as const;

  router.get('/', signedIn.requireSignIn, (ctx) => showFactors(dependencies, ctx));
  router.get('/app', signedIn.requireSignIn, signedIn.recentAuthentication, page.mayEnrol, (ctx) =>
    showAuthenticatorApp(dependencies, ctx),
  );
  router.post('/app', ...changeGuards, page.mayEnrol, (ctx) => addAuthenticatorApp(dependencies, ctx));
  router.post('/app/remove', ...changeGuards, (ctx) => removeAuthenticatorApp(dependencies, ctx));
  router.post('/recovery-codes', ...changeGuards, async (ctx) => {
    await page.notifyOwner(signedIn.userOf(ctx).account, 'recovery-codes-created', ctx);
    await factorRecoveryCodes.makeNew(ctx);
  });
  router.get('/recovery-codes/:value', signedIn.requireSignIn, (ctx) =>
    factorRecoveryCodes.show(ctx, ctx.params.value ?? ''),
  );
  return router;
}

async function showFactors(dependencies: FactorRoutesDependencies, ctx: Context): Promise<void> {
  const { page, factors, passkeys, codeDelivery } = dependencies;
  const { account } = page.signedIn.userOf(ctx);
  const own = await factors.of(account.id);
  ctx.render('account/factors', {
    hasTotp: own.totp,
    passkeys: await passkeys.list(account.id),
    canAddPasskey: own.passkeys < limits.passkey.maxPerUser,
    offersSms: codeDelivery.hasSms(),
    phone: own.phone && maskNumber(own.phone),
    recoveryCodes: own.recoveryCodes,
    hasFewCodes: own.recoveryCodes < limits.recoveryCodes.warnBelow,
    hasFactor: hasSecondFactor(own) || own.phone !== undefined,
    notice: page.takeNotice(ctx),
  });
}

/** The QR code of a new authenticator app, or after a rejected form that of the same one (`sealed`). */
async function showAuthenticatorApp(
  { page, totp }: FactorRoutesDependencies,
  ctx: Context,
  problem?: PageText,
  sealed?: string,
): Promise<void> {
  const { account } = page.signedIn.userOf(ctx);
  const enrolment = (sealed ? totp.resume(account, sealed) : undefined) ?? totp.begin(account);
  const { qrCode } = await import('../../base/http/pages/qr-code.ts');
  const qr = await qrCode(enrolment.uri);
  ctx.render(
    'account/authenticator-app',
    { action: `${FACTORS_PAGE}/app`, ...enrolment, qr, problem },
    problem ? 400 : 200,
  );
}

async function addAuthenticatorApp(dependencies: FactorRoutesDependencies, ctx: Context): Promise<void> {
  const { page, totp, rateLimits, rpSessions, factorRecoveryCodes } = dependencies;
  const { account, session } = page.signedIn.userOf(ctx);
  const { code, sealed } = await parseForm(ctx, authenticatorAppForm);
  const verdict = await rateLimits.consume('code:account', account.id);
  if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds);
  const outcome = await totp.confirm(account, sealed, code, page.actorOf(ctx));
  if (outcome === 'wrong') return showAuthenticatorApp(dependencies, ctx, t('enrol.wrong-code'), sealed);
  if (outcome === 'expired') return showAuthenticatorApp(dependencies, ctx, t('enrol.expired'));
  await rateLimits.reset('code:account', account.id);
  if (outcome === 'ok') {
    // This code cannot be used again. Without this, adding another factor next would demand a new code.
    await rpSessions.addProof(session, ['otp']);
    await page.notifyOwner(account, 'totp-added', ctx);
  }
  await factorRecoveryCodes.afterAdding(ctx, t('factors.app-done'), sealed);
}

async function removeAuthenticatorApp(
  { page, totp, singleFactorPasswordRule }: FactorRoutesDependencies,
  ctx: Context,
): Promise<void> {
  const { account } = page.signedIn.userOf(ctx);
  if (await singleFactorPasswordRule.needsLongerPassword(account.id, { totp: true }))
    return singleFactorPasswordRule.requireLonger(ctx);
  const isRemoved = await totp.remove(account.id, page.actorOf(ctx));
  if (isRemoved) await page.notifyOwner(account, 'totp-removed', ctx);
  if (isRemoved) page.redirectWithNotice(ctx, FACTORS_PAGE, t('factors.app-removed'));
  else page.redirectWithNotice(ctx, FACTORS_PAGE, t('factors.app-gone'), 'warn');
}
