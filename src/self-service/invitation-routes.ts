// /invitation: the owner of an account that somebody else made chooses its first password.
import Router from '@koa/router';
import { z } from 'zod';
import { minimumLength, passwordAdvice } from '../credentials/password-policy.ts';
import type { Extras, Middleware, State } from '../http/context.ts';
import { parseForm } from '../http/input.ts';
import type { Invitations } from './invitation.ts';
import { createMailedLink, type MailedLinkNeeds } from './mailed-links.ts';

export interface InvitationRoutesNeeds extends MailedLinkNeeds {
  invitations: Invitations;
  protect: Middleware;
}

const passwordForm = z.object({ username: z.string().max(254), password: z.string().max(4096) });
const PAGE = {
  title: 'Choose a password',
  lead: 'Your account is ready. Choose the password that you will sign in with.',
  action: '/invitation',
  // Nobody has a second factor before the first password.
  minLength: minimumLength(false),
};

export function invitationRoutes(needs: InvitationRoutesNeeds): Router<State, Extras> {
  const { invitations, protect } = needs;
  const router = new Router<State, Extras>();
  const link = createMailedLink(needs, {
    cookie: 'reset',
    next: { href: '/forgot-password', label: 'Ask for a new link' },
  });

  router.get('/invitation', link.open, async (ctx) => {
    const { found } = await link.follow(ctx, invitations.find);
    ctx.render('password/new', { ...PAGE, username: found.username });
  });

  router.post('/invitation', protect, async (ctx) => {
    const { token, found } = await link.follow(ctx, invitations.find);
    const { username, password } = await parseForm(ctx, passwordForm);
    link.expectShown(username, found.username);
    const result = await invitations.accept(token, password, ctx.state.request);
    if (result.outcome === 'invalid') return link.refuse(ctx);
    if (result.outcome === 'refused') {
      const problem = result.faults.map((fault) => passwordAdvice(fault, false)).join(' ');
      return ctx.render('password/new', { ...PAGE, username: found.username, problem }, 400);
    }
    link.done(ctx, '/invitation/done');
  });

  router.get('/invitation/done', (ctx) => {
    link.showDone(ctx, {
      title: 'Welcome',
      lead: 'Your password is set. From now on you sign in with it.',
      next: { href: '/account', label: 'Sign in' },
    });
  });

  return router;
}
