// /sign-up: people make an account of their own, where the setting allows it; otherwise there is nothing here. (/register
// is the dynamic registration of applications, RFC 7591.)
import Router from '@koa/router';
import { z } from 'zod';
import { emailFault } from '../accounts/names.ts';
import { minimumLength, passwordAdvice } from '../credentials/password-policy.ts';
import type { Extras, Middleware, State } from '../http/context.ts';
import { notFound } from '../http/errors.ts';
import { parseForm } from '../http/input.ts';
import { limits } from '../limits.ts';
import { createMailedLink, type MailedLinkNeeds } from './mailed-links.ts';
import { answerQuietly } from './quiet-answer.ts';
import type { Registration } from './registration.ts';
import { createWayBack } from './way-back.ts';

export interface RegistrationRoutesNeeds extends MailedLinkNeeds {
  registration: Registration;
  protect: Middleware;
}

const askForm = z.object({ email: z.string().trim().max(254) });
const finishForm = z.object({
  username: z.string().max(254),
  name: z.string().max(200),
  password: z.string().max(4096),
});
const minLength = minimumLength(false);

export function registrationRoutes(needs: RegistrationRoutesNeeds): Router<State, Extras> {
  const { registration, protect, rateLimits } = needs;
  const router = new Router<State, Extras>({ prefix: '/sign-up' });
  const wayBack = createWayBack(needs);
  const link = createMailedLink(needs, { cookie: 'reset', next: { href: '/sign-up', label: 'Ask for a new link' } });

  const whenOpen: Middleware = (_ctx, next) => {
    if (!registration.isOpen()) throw notFound();
    return next();
  };

  router.get('/', whenOpen, wayBack.note, (ctx) => {
    ctx.render('registration/register', { action: '/sign-up', signInUrl: wayBack.back(ctx).href });
  });

  router.post('/', whenOpen, protect, async (ctx) => {
    const { email } = await parseForm(ctx, askForm);
    if (emailFault(email)) {
      const problem = 'This is not an e-mail address. One looks like name@example.com.';
      const signInUrl = wayBack.next(ctx).href;
      return ctx.render('registration/register', { action: '/sign-up', signInUrl, email, problem }, 400);
    }
    const work = () => registration.request(email, ctx.state.request);
    await answerQuietly(ctx, { rateLimits, policy: 'registration:address' }, { work, page: '/sign-up/sent' });
  });

  router.get('/sent', whenOpen, (ctx) => {
    ctx.render('self-service/message', {
      title: 'Look into your mail',
      lead: `We have sent a link to that address. It works for ${limits.emailVerification.hours} hours.`,
      hint: 'Nothing there after a few minutes? Look into the spam folder, and check that the address was right.',
      other: { href: '/sign-up', label: 'Try again' },
    });
  });

  router.get('/finish', whenOpen, link.open, async (ctx) => {
    const { found: email } = await link.follow(ctx, registration.find);
    ctx.render('registration/finish', { action: '/sign-up/finish', email, minLength });
  });

  router.post('/finish', whenOpen, protect, async (ctx) => {
    const { token, found: email } = await link.follow(ctx, registration.find);
    const { username, name, password } = await parseForm(ctx, finishForm);
    link.expectShown(username, email);
    const result = await registration.finish(token, { name, password }, ctx.state.request);
    if (result.outcome === 'invalid') return link.refuse(ctx);
    if (result.outcome === 'refused') {
      const problem = result.faults.map((fault) => passwordAdvice(fault, false)).join(' ');
      return ctx.render('registration/finish', { action: '/sign-up/finish', email, minLength, name, problem }, 400);
    }
    link.done(ctx, '/sign-up/done');
  });

  router.get('/done', whenOpen, (ctx) => {
    link.showDone(ctx, {
      title: 'Your account is ready',
      lead: 'You sign in with your e-mail address and your password.',
      next: wayBack.next(ctx),
    });
  });

  return router;
}
