// /verify-email (contract, "Routes"): a mailed link, and a button that confirms the address.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, Middleware, State } from '../http/context.ts';
import { parseForm } from '../http/input.ts';
import { createMailedLink, type MailedLinkNeeds } from './mailed-links.ts';
import type { EmailProof } from './verify-email.ts';

export interface VerifyEmailRoutesNeeds extends MailedLinkNeeds {
  emailProof: EmailProof;
  protect: Middleware;
}

const confirmForm = z.object({ shown: z.string().max(254) });

export function verifyEmailRoutes(needs: VerifyEmailRoutesNeeds): Router<State, Extras> {
  const { emailProof, protect } = needs;
  const router = new Router<State, Extras>();
  const link = createMailedLink(needs, { cookie: 'link', next: { href: '/account', label: 'Go to your account' } });

  router.get('/verify-email', link.open, async (ctx) => {
    const { found } = await link.follow(ctx, emailProof.find);
    ctx.render('self-service/confirm', {
      title: found.isChange ? 'Use this address?' : 'Confirm your address',
      lead: found.isChange
        ? 'It becomes the e-mail address of your account, in place of the old one.'
        : 'Then we know that mail to it reaches you.',
      value: found.email,
      action: '/verify-email',
      button: found.isChange ? 'Use this address' : 'Confirm this address',
    });
  });

  router.post('/verify-email', protect, async (ctx) => {
    const { token, found } = await link.follow(ctx, emailProof.find);
    link.expectShown((await parseForm(ctx, confirmForm)).shown, found.email);
    const result = await emailProof.confirm(token, { request: ctx.state.request });
    if (result === 'invalid') return link.refuse(ctx);
    link.done(ctx, '/verify-email/done');
  });

  router.get('/verify-email/done', (ctx) => {
    link.showDone(ctx, {
      title: 'Your address is confirmed',
      lead: 'You can close this page.',
      next: { href: '/account', label: 'Go to your account' },
    });
  });

  return router;
}
