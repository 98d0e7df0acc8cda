// /forgot-password and /reset-password (contract, "Routes"): ask for a link, and choose a new password with it.
import Router from '@koa/router';
import { z } from 'zod';
import { minimumLength, passwordAdvice } from '../credentials/password-policy.ts';
import type { Reset } from '../credentials/reset.ts';
import type { Extras, Middleware, State } from '../http/context.ts';
import { parseForm } from '../http/input.ts';
import { createMailedLink, type MailedLinkNeeds } from './mailed-links.ts';
import { answerQuietly } from './quiet-answer.ts';
import { createWayBack } from './way-back.ts';

export interface PasswordResetRoutesNeeds extends MailedLinkNeeds {
  reset: Reset;
  hasSecondFactor(accountId: string): Promise<boolean>;
  minutes(): number;
  protect: Middleware;
}

const askForm = z.object({ username: z.string().trim().min(1).max(254) });
const passwordForm = z.object({ username: z.string().max(254), password: z.string().max(4096) });

export function passwordResetRoutes(needs: PasswordResetRoutesNeeds): Router<State, Extras> {
  const { reset, hasSecondFactor, minutes, protect, rateLimits } = needs;
  const router = new Router<State, Extras>();
  const wayBack = createWayBack(needs);
  const link = createMailedLink(needs, {
    cookie: 'reset',
    next: { href: '/forgot-password', label: 'Ask for a new link' },
  });

  router.get('/forgot-password', wayBack.note, (ctx) => {
    ctx.render('self-service/ask', {
      title: 'Forgot your password?',
      lead: 'Tell us who you are, and we send a link to your e-mail address. With it you choose a new password.',
      action: '/forgot-password',
      button: 'Send me a link',
      back: wayBack.back(ctx),
    });
  });

  router.post('/forgot-password', protect, async (ctx) => {
    const { username } = await parseForm(ctx, askForm);
    const work = () => reset.request(username, ctx.state.request, needs.cookies.get(ctx, 'knownBrowser'));
    await answerQuietly(ctx, { rateLimits, policy: 'reset:address' }, { work, page: '/forgot-password/sent' });
  });

  router.get('/forgot-password/sent', (ctx) => {
    ctx.render('self-service/message', {
      title: 'Look into your mail',
      lead: `If there is an account of that name, a link is on its way to its e-mail address. It works for ${minutes()} minutes.`,
      hint: 'Nothing there after a few minutes? Look into the spam folder, or try again with the exact name.',
      other: { href: '/forgot-password', label: 'Try again' },
    });
  });

  router.get('/reset-password', link.open, async (ctx) => {
    const { found: account } = await link.follow(ctx, reset.find);
    const minLength = minimumLength(await hasSecondFactor(account.id));
    ctx.render('password/new', { action: '/reset-password', username: account.username, minLength });
  });

  router.post('/reset-password', protect, async (ctx) => {
    const { token, found: account } = await link.follow(ctx, reset.find);
    const { username: shown, password } = await parseForm(ctx, passwordForm);
    link.expectShown(shown, account.username);
    const result = await reset.redeem(token, password, ctx.state.request);
    if (result.outcome === 'invalid') return link.refuse(ctx);
    if (result.outcome === 'refused') {
      const hasFactor = await hasSecondFactor(account.id);
      const problem = result.faults.map((fault) => passwordAdvice(fault, hasFactor)).join(' ');
      const { username } = account;
      const minLength = minimumLength(hasFactor);
      return ctx.render('password/new', { action: '/reset-password', username, minLength, problem }, 400);
    }
    link.done(ctx, '/reset-password/done');
  });

  router.get('/reset-password/done', (ctx) => {
    link.showDone(ctx, {
      title: 'Your password was changed',
      lead: 'You were signed out everywhere. Sign in with the new password, here or in your application.',
      hint: 'Then look through your passkeys, second factors and signed-in devices, in case somebody else has added one.',
      next: wayBack.next(ctx),
      other: { href: '/account', label: 'Look through my account' },
    });
  });

  return router;
}
