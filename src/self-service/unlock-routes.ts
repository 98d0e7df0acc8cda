// /unlock: ask for a link that ends the pause after failed sign-ins, and use it. The browser in which it is used is a
// known one from then on, so the attacker who brought the pause about cannot shut the owner out again.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, Middleware, State } from '../http/context.ts';
import { parseForm } from '../http/input.ts';
import { limits } from '../limits.ts';
import type { KnownBrowsers } from '../mfa/known-browsers.ts';
import { createMailedLink, type MailedLinkNeeds } from './mailed-links.ts';
import { answerQuietly } from './quiet-answer.ts';
import type { Unlock } from './unlock.ts';
import { createWayBack } from './way-back.ts';

export interface UnlockRoutesNeeds extends MailedLinkNeeds {
  unlock: Unlock;
  knownBrowsers: Pick<KnownBrowsers, 'newCookie' | 'remember'>;
  protect: Middleware;
}

const confirmForm = z.object({ shown: z.string().max(254) });
const askForm = z.object({ username: z.string().trim().min(1).max(254) });

export function unlockRoutes(needs: UnlockRoutesNeeds): Router<State, Extras> {
  const { unlock, knownBrowsers, cookies, rateLimits, protect } = needs;
  const router = new Router<State, Extras>();
  const wayBack = createWayBack(needs);
  const link = createMailedLink(needs, { cookie: 'link', next: { href: '/unlock/ask', label: 'Ask for a new link' } });

  router.get('/unlock/ask', wayBack.note, (ctx) => {
    ctx.render('self-service/ask', {
      title: 'Unlock your account',
      lead: 'After too many failed sign-ins there is a pause. We send a link to your e-mail address that ends it.',
      action: '/unlock/ask',
      button: 'Send me a link',
      back: wayBack.back(ctx),
    });
  });

  router.post('/unlock/ask', protect, async (ctx) => {
    const { username } = await parseForm(ctx, askForm);
    const work = () => unlock.request(username, ctx.state.request, cookies.get(ctx, 'knownBrowser'));
    await answerQuietly(ctx, { rateLimits, policy: 'reset:address' }, { work, page: '/unlock/sent' });
  });

  router.get('/unlock/sent', (ctx) => {
    ctx.render('self-service/message', {
      title: 'Look into your mail',
      lead: `If there is an account of that name and it is paused, a link is on its way to its e-mail address. It works for ${limits.unlockLink.minutes} minutes.`,
      hint: 'Without a pause no mail is sent: just sign in.',
      other: { href: '/forgot-password', label: 'I forgot my password' },
    });
  });

  router.get('/unlock', link.open, async (ctx) => {
    const { found } = await link.follow(ctx, unlock.find);
    ctx.render('self-service/confirm', {
      title: 'Unlock your account?',
      lead: 'You can sign in again at once, in this browser also when the failed sign-ins go on.',
      value: found.username,
      action: '/unlock',
      button: 'Unlock my account',
    });
  });

  router.post('/unlock', protect, async (ctx) => {
    const { token, found } = await link.follow(ctx, unlock.find);
    link.expectShown((await parseForm(ctx, confirmForm)).shown, found.username);
    const account = await unlock.confirm(token, ctx.state.request);
    if (!account) return link.refuse(ctx);
    const browser = cookies.get(ctx, 'knownBrowser') ?? knownBrowsers.newCookie();
    await knownBrowsers.remember(browser, account.id, ctx.state.request);
    cookies.set(ctx, 'knownBrowser', browser);
    link.done(ctx, '/unlock/done');
  });

  router.get('/unlock/done', (ctx) => {
    link.showDone(ctx, {
      title: 'Your account is unlocked',
      lead: 'Sign in with your password, here or in your application.',
      next: wayBack.next(ctx),
      other: { href: '/forgot-password', label: 'I forgot my password' },
    });
  });

  return router;
}
