// /account/factors/phone: the number that codes by SMS go to. It counts once a code that was sent to it came back.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../http/context.ts';
import { notFound, tooManyRequests } from '../http/errors.ts';
import { parseForm } from '../http/input.ts';
import { masked, type Phones, phoneNumber } from '../mfa/phone.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import type { SentCodes } from '../signin/sent-codes.ts';
import { FACTORS_PAGE, type NewFactor } from './new-factor.ts';
import type { OwnPage } from './page.ts';

export interface PhoneRoutesNeeds {
  page: OwnPage;
  phones: Pick<Phones, 'resume' | 'confirm' | 'remove'>;
  sentCodes: Pick<SentCodes, 'hasSms' | 'sendToNewNumber'>;
  rateLimits: Pick<RateLimits, 'consume' | 'reset'>;
  newFactor: NewFactor;
}

const HERE = `${FACTORS_PAGE}/phone`;
const numberForm = z.object({ phone: z.string().max(40) });
const codeForm = z.object({ code: z.string().max(64), sealed: z.string().max(1024) });

export function phoneRoutes(needs: PhoneRoutesNeeds): Router<State, Extras> {
  const { page, phones, sentCodes, rateLimits, newFactor } = needs;
  const { signedIn, protect } = page;
  const router = new Router<State, Extras>({ prefix: HERE });
  const proven = [signedIn.required, signedIn.recentProof] as const;

  const show = (ctx: Context, shown: { number?: string; sealed?: string; problem?: string } = {}, status = 200) => {
    const { number = '', sealed, problem } = shown;
    const sentTo = sealed && masked(number);
    ctx.render(
      'account/phone',
      { action: HERE, number, sealed, sentTo, problem },
      problem ? Math.max(status, 400) : 200,
    );
  };

  router.get('/', ...proven, (ctx) => {
    if (!sentCodes.hasSms()) throw notFound();
    show(ctx);
  });

  router.post('/', ...proven, protect, async (ctx) => {
    if (!sentCodes.hasSms()) throw notFound();
    const { phone: typed } = await parseForm(ctx, numberForm);
    const number = phoneNumber(typed);
    const wrong = 'This is not a phone number with its country code, such as +49 170 1234567.';
    if (!number) return show(ctx, { number: typed, problem: wrong });
    const result = await sentCodes.sendToNewNumber(signedIn.of(ctx).account, number, ctx.state.request);
    if (result.outcome === 'wait') throw tooManyRequests(result.retryAfterSeconds, { next: back });
    const problem = 'The code could not be sent to this number. Check it, and try again in a moment.';
    if (result.outcome === 'failed' || !result.sealed) return show(ctx, { number: typed, problem }, 502);
    show(ctx, { number, sealed: result.sealed });
  });

  router.post('/confirm', ...proven, protect, async (ctx) => {
    const { account } = signedIn.of(ctx);
    const { code, sealed } = await parseForm(ctx, codeForm);
    const verdict = await rateLimits.consume('code:account', account.id);
    if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds, { next: back });
    const number = phones.resume(account.id, sealed);
    const outcome = await phones.confirm(account.id, sealed, code, page.by(ctx));
    if (outcome === 'wrong' && number)
      return show(ctx, { number, sealed, problem: 'This code is not right. Check what you typed.' });
    if (outcome !== 'ok') return show(ctx, { problem: 'This code has expired. Have a new one sent.' });
    await rateLimits.reset('code:account', account.id);
    await page.tell(account, 'phone-changed', ctx);
    await newFactor.added(ctx, 'Codes by SMS are set up.', sealed);
  });

  router.post('/remove', ...proven, protect, async (ctx) => {
    const { account } = signedIn.of(ctx);
    if (await phones.remove(account.id, page.by(ctx))) await page.tell(account, 'phone-changed', ctx);
    page.back(ctx, FACTORS_PAGE, 'Your phone number was removed.');
  });

  return router;
}

const back = { href: FACTORS_PAGE, label: 'Back to the second factors' };
