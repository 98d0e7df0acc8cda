// /account/profile/phone: the phone number that applications may see. A user sets it by entering a code that was sent to it, so
// it is verified; it is no second factor.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { forbidden, notFound, tooManyRequests } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import type { CodeDelivery } from '../../people/mfa/factors/code-delivery.ts';
import { maskNumber, type Phones, phoneNumber } from '../../people/mfa/factors/phone-number.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import type { AccountPageHelpers } from '../account-page-helpers.ts';

export interface ProfilePhoneRoutesDependencies {
  page: AccountPageHelpers;
  accounts: Accounts;
  phones: Phones;
  codeDelivery: CodeDelivery;
  rateLimits: RateLimits;
}

const PATH = '/account/profile/phone';
const back = { href: '/account/profile', label: t('profile.title') };
const numberForm = z.object({ phone: z.string().max(40) });
const codeForm = z.object({ code: z.string().max(64), sealed: z.string().max(1024) });

export function profilePhoneRoutes(dependencies: ProfilePhoneRoutesDependencies): Router<State, Extras> {
  const { page, accounts, phones, codeDelivery, rateLimits } = dependencies;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: PATH });
  const recentAuthentication = [signedIn.requireSignIn, signedIn.recentAuthentication] as const;

  const show = (ctx: Context, form: { number?: string; sealed?: string; problem?: PageText } = {}, status = 200) => {
    const { number = signedIn.userOf(ctx).account.phoneNumber ?? '', sealed, problem } = form;
    const sentTo = sealed && maskNumber(number);
    const view = { action: PATH, number, sealed, sentTo, problem, title: t('phone.number'), back };
    ctx.render('account/phone', view, problem ? Math.max(status, 400) : 200);
  };

  /** The declared number of an account from the configuration file can be verified, but not replaced. */
  const assertMaySet = (ctx: Context, number: string | undefined) => {
    const { account } = signedIn.userOf(ctx);
    if (account.source === 'file' && (number === undefined || phoneNumber(account.phoneNumber ?? '') !== number))
      throw forbidden('owned_by_file');
  };

  router.get('/', ...recentAuthentication, (ctx) => {
    if (!codeDelivery.hasSms()) throw notFound();
    show(ctx);
  });

  router.post('/', ...recentAuthentication, checkChange, async (ctx) => {
    if (!codeDelivery.hasSms()) throw notFound();
    const { phone: typed } = await parseForm(ctx, numberForm);
    const number = phoneNumber(typed);
    const invalidNumber = t('phone.invalid');
    if (!number) return show(ctx, { number: typed, problem: invalidNumber });
    assertMaySet(ctx, number);
    const result = await codeDelivery.sendToNewNumber(signedIn.userOf(ctx).account, number, ctx.state.request);
    if (result.outcome === 'wait') throw tooManyRequests(result.retryAfterSeconds, { next: back });
    const problem = t('phone.not-sent');
    if (result.outcome === 'failed' || !result.sealed) return show(ctx, { number: typed, problem }, 502);
    show(ctx, { number, sealed: result.sealed });
  });

  router.post('/confirm', ...recentAuthentication, checkChange, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { code, sealed } = await parseForm(ctx, codeForm);
    const verdict = await rateLimits.consume('code:account', account.id);
    if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds, { next: back });
    const number = phones.resume(account.id, sealed);
    const outcome = await phones.prove(account.id, sealed, code);
    if (outcome === 'wrong' && number) return show(ctx, { number, sealed, problem: t('phone.wrong-code') });
    if (outcome !== 'ok' || !number) return show(ctx, { problem: t('second-factor.expired-code') });
    assertMaySet(ctx, number);
    await rateLimits.reset('code:account', account.id);
    await confirmNumber(accounts, account, number, page.actorOf(ctx));
    page.redirectWithNotice(ctx, '/account', t('phone.verified'));
  });

  router.post('/remove', ...recentAuthentication, checkChange, async (ctx) => {
    assertMaySet(ctx, undefined);
    await accounts.update(signedIn.userOf(ctx).account.id, { phoneNumber: null }, page.actorOf(ctx));
    page.redirectWithNotice(ctx, '/account', t('phone.removed'));
  });

  return router;
}

/** Stores the proven number; one that the account has in another spelling stays as it is written. */
export async function confirmNumber(
  accounts: Accounts,
  account: { id: string; phoneNumber: string | null },
  number: string,
  by: Parameters<Accounts['confirmPhoneNumber']>[2],
): Promise<void> {
  const { phoneNumber: stored } = account;
  const isSame = stored !== null && phoneNumber(stored) === number;
  await accounts.confirmPhoneNumber(account.id, isSame ? stored : number, by);
}
