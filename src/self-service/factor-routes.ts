// /account/factors: what there is beside the password, the authenticator app, and recovery codes. Every change takes a
// recent proof and is told by mail.
import Router from '@koa/router';
import QRCode from 'qrcode';
import { z } from 'zod';
import type { Context, Extras, State } from '../http/context.ts';
import { tooManyRequests } from '../http/errors.ts';
import { parseForm } from '../http/input.ts';
import { limits } from '../limits.ts';
import type { Factors } from '../mfa/factors.ts';
import type { Passkeys } from '../mfa/passkeys.ts';
import { masked } from '../mfa/phone.ts';
import { hasSecondFactor } from '../mfa/policy.ts';
import type { Totp } from '../mfa/totp.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import type { RpSessions } from '../rp/sessions.ts';
import type { SentCodes } from '../signin/sent-codes.ts';
import type { LongPassword } from './long-password.ts';
import { FACTORS_PAGE, type NewFactor } from './new-factor.ts';
import type { OwnPage } from './page.ts';

export interface FactorRoutesNeeds {
  page: OwnPage;
  factors: Factors;
  totp: Totp;
  passkeys: Pick<Passkeys, 'list'>;
  sentCodes: Pick<SentCodes, 'hasSms'>;
  rateLimits: Pick<RateLimits, 'consume' | 'reset'>;
  rpSessions: Pick<RpSessions, 'proved'>;
  newFactor: NewFactor;
  longPassword: LongPassword;
}

const appForm = z.object({ code: z.string().max(64), sealed: z.string().max(1024) });

export function factorRoutes(needs: FactorRoutesNeeds): Router<State, Extras> {
  const { page, factors, totp, passkeys, sentCodes, rateLimits, rpSessions, newFactor, longPassword } = needs;
  const { signedIn, protect } = page;
  const router = new Router<State, Extras>({ prefix: FACTORS_PAGE });
  const changing = [signedIn.required, signedIn.recentProof, protect] as const;

  router.get('/', signedIn.required, async (ctx) => {
    const { account } = signedIn.of(ctx);
    const own = await factors.of(account.id);
    ctx.render('account/factors', {
      hasApp: own.totp,
      passkeys: await passkeys.list(account.id),
      canAddPasskey: own.passkeys < limits.passkey.maxPerUser,
      offersSms: sentCodes.hasSms(),
      phone: own.phone && masked(own.phone),
      recoveryCodes: own.recoveryCodes,
      fewCodes: own.recoveryCodes < limits.recoveryCodes.warnBelow,
      hasFactor: hasSecondFactor(own) || own.phone !== undefined,
      notice: page.notice(ctx),
    });
  });

  router.get('/app', signedIn.required, signedIn.recentProof, (ctx) => showApp(ctx));

  router.post('/app', ...changing, async (ctx) => {
    const { account, session } = signedIn.of(ctx);
    const { code, sealed } = await parseForm(ctx, appForm);
    const verdict = await rateLimits.consume('code:account', account.id);
    if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds);
    const outcome = await totp.confirm(account, sealed, code, page.by(ctx));
    if (outcome === 'wrong')
      return showApp(ctx, 'This code is not right. Enter the one that the app shows now.', sealed);
    if (outcome === 'expired') return showApp(ctx, 'This took too long. Scan the new picture.');
    await rateLimits.reset('code:account', account.id);
    if (outcome === 'ok') {
      // The code is used up; asking for another one on the way to the next factor would mean to wait for it.
      await rpSessions.proved(session, ['otp']);
      await page.tell(account, 'totp-added', ctx);
    }
    await newFactor.added(ctx, 'The authenticator app was added.', sealed);
  });

  router.post('/app/remove', ...changing, async (ctx) => {
    const { account } = signedIn.of(ctx);
    if (await longPassword.isMissingWithout(account.id, { totp: true })) return longPassword.ask(ctx);
    if (await totp.remove(account.id, page.by(ctx))) await page.tell(account, 'totp-removed', ctx);
    page.back(ctx, FACTORS_PAGE, 'The authenticator app was removed.');
  });

  router.post('/recovery-codes', ...changing, async (ctx) => {
    await page.tell(signedIn.of(ctx).account, 'recovery-codes-created', ctx);
    await newFactor.showNewCodes(ctx);
  });

  async function showApp(ctx: Context, problem?: string, sealed?: string): Promise<void> {
    const { account } = signedIn.of(ctx);
    const enrolment = (sealed ? totp.resume(account, sealed) : undefined) ?? totp.begin(account);
    const svg = await QRCode.toString(enrolment.uri, { type: 'svg', margin: 0 });
    const qr = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
    ctx.render('account/app', { action: `${FACTORS_PAGE}/app`, ...enrolment, qr, problem }, problem ? 400 : 200);
  }

  return router;
}
