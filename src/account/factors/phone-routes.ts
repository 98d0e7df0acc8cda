// /account/factors/phone: the phone number for codes by SMS. Stored after verification by a code.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { notFound, tooManyRequests } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import type { CodeDelivery } from '../../people/mfa/factors/code-delivery.ts';
import { maskNumber, type Phones, phoneNumber } from '../../people/mfa/factors/phone-number.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import type { AccountPageHelpers } from '../account-page-helpers.ts';
import { FACTORS_PAGE, type FactorRecoveryCodes } from './recovery-codes.ts';

export interface PhoneRoutesDependencies {
  page: AccountPageHelpers;
  accounts: Accounts;
  phones: Phones;
  codeDelivery: CodeDelivery;
  rateLimits: RateLimits;
  factorRecoveryCodes: FactorRecoveryCodes;
}

const PATH = `${FACTORS_PAGE}/phone`;
const numberForm = z.object({ phone: z.string().max(40) });
const codeForm = z.object({ code: z.string().max(64), sealed: z.string().max(1024) });

interface PhoneForm {
  number?: string;
  sealed?: string;
  problem?: PageText;
}

function show(ctx: Context, { number = '', sealed, problem }: PhoneForm = {}, status = 200): void {
  const sentTo = sealed && maskNumber(number);
  ctx.render('account/phone', { action: PATH, number, sealed, sentTo, problem }, problem ? Math.max(status, 400) : 200);
}

export function phoneRoutes(dependencies: PhoneRoutesDependencies): Router<State, Extras> {
  const { page, accounts, phones, codeDelivery, rateLimits, factorRecoveryCodes } = dependencies;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: PATH });
  const recentAuthentication = [signedIn.requireSignIn, signedIn.recentAuthentication] as const;

  router.get('/', ...recentAuthentication, page.mayEnrol, (ctx) => {
    if (!codeDelivery.hasSms()) throw notFound();
    show(ctx);
  });

  router.post('/', ...recentAuthentication, checkChange, page.mayEnrol, async (ctx) => {
    if (!codeDelivery.hasSms()) throw notFound();
    const { phone: typed } = await parseForm(ctx, numberForm);
    const number = phoneNumber(typed);
    const invalidNumber = t('phone.invalid');
    if (!number) return show(ctx, { number: typed, problem: invalidNumber });
    const result = await codeDelivery.sendToNewNumber(signedIn.userOf(ctx).account, number, ctx.state.request);
    if (result.outcome === 'wait') throw tooManyRequests(result.retryAfterSeconds, { next: backLink });
    const problem = t('phone.not-sent');
    if (result.outcome === 'failed' || !result.sealed) return show(ctx, { number: typed, problem }, 502);
    show(ctx, { number, sealed: result.sealed });
  });

  router.post('/confirm', ...recentAuthentication, checkChange, page.mayEnrol, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { code, sealed } = await parseForm(ctx, codeForm);
    const verdict = await rateLimits.consume('code:account', account.id);
    if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds, { next: backLink });
    const number = phones.resume(account.id, sealed);
    const outcome = await phones.confirm(account.id, sealed, code, page.actorOf(ctx));
    if (outcome === 'wrong' && number) return show(ctx, { number, sealed, problem: t('phone.wrong-code') });
    if (outcome !== 'ok') return show(ctx, { problem: t('second-factor.expired-code') });
    await rateLimits.reset('code:account', account.id);
    // The number in the profile is the same, so it is proven too.
    if (account.phoneNumber && phoneNumber(account.phoneNumber) === number)
      await accounts.confirmPhoneNumber(account.id, account.phoneNumber, page.actorOf(ctx));
    await page.notifyOwner(account, 'phone-changed', ctx);
    await factorRecoveryCodes.afterAdding(ctx, t('factors.sms-done'), sealed);
  });

  router.post('/remove', ...recentAuthentication, checkChange, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const isRemoved = await phones.remove(account.id, page.actorOf(ctx));
    if (isRemoved) await page.notifyOwner(account, 'phone-changed', ctx);
    if (isRemoved) page.redirectWithNotice(ctx, FACTORS_PAGE, t('phone.removed'));
    else page.redirectWithNotice(ctx, FACTORS_PAGE, t('phone.none'), 'warn');
  });

  return router;
}

const backLink = { href: FACTORS_PAGE, label: t('factors.back') };
