// /account/connections: the identities at other services with which the user signs in, connecting another and disconnecting one.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../base/http/context.ts';
import { parseForm } from '../base/http/input.ts';
import { t } from '../base/texts/text.ts';
import type { Links } from '../federation/links.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';

const PATH = '/account/connections';
const unlinkForm = z.object({ id: z.string().min(1).max(64) });

export function connectionRoutes({ page, links }: { page: AccountPageHelpers; links: Links }): Router<State, Extras> {
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: PATH });
  const changeGuards = [signedIn.requireSignIn, signedIn.recentAuthentication, checkChange] as const;

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    ctx.render('account/connections', { ...(await links.list(account.id)), notice: page.takeNotice(ctx) });
  });

  router.post('/:connectionId/link', ...changeGuards, async (ctx: Context & { params: Record<string, string> }) => {
    const { session } = signedIn.userOf(ctx);
    const start = await links.begin(ctx.params.connectionId ?? '', session, ctx.state.request);
    if (start.method === 'post') return ctx.render('form-post', { action: start.url, fields: start.fields });
    ctx.status = 303;
    ctx.redirect(start.url);
  });

  // No `recentAuthentication`: it was required where this began (`/link`), and `finish` accepts only the same session.
  router.get('/finish/:answerId', signedIn.requireSignIn, async (ctx) => {
    const { account, session } = signedIn.userOf(ctx);
    const name = await links.finish(ctx.params.answerId ?? '', session, account, page.actorOf(ctx));
    page.redirectWithNotice(ctx, PATH, t('connections.added', { connection: name }));
  });

  router.post('/unlink', ...changeGuards, async (ctx) => {
    const { id: identityId } = await parseForm(ctx, unlinkForm);
    const isRemoved = await links.unlink(signedIn.userOf(ctx).account, identityId, page.actorOf(ctx));
    if (isRemoved) page.redirectWithNotice(ctx, PATH, t('connections.removed'));
    else page.redirectWithNotice(ctx, PATH, t('connections.gone'), 'warn');
  });

  return router;
}
