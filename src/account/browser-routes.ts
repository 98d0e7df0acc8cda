// /account/browsers: the browsers that the account was used in, and whether they may skip the second factor. The user
// can make the server forget each of them.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../base/http/context.ts';
import type { Cookies } from '../base/http/cookies.ts';
import { parseForm } from '../base/http/input.ts';
import { t } from '../base/texts/text.ts';
import type { Audit } from '../core/audit/audit.ts';
import { browserName } from '../core/mail/browser-name.ts';
import type { KnownBrowsers } from '../people/mfa/known-browsers.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';

export interface BrowserRoutesDependencies {
  page: AccountPageHelpers;
  cookies: Cookies;
  knownBrowsers: KnownBrowsers;
  audit: Audit;
}

const HERE = '/account/browsers';
const forgetForm = z.object({ id: z.string().min(1).max(64) });

export function browserRoutes({
  page,
  cookies,
  knownBrowsers,
  audit,
}: BrowserRoutesDependencies): Router<State, Extras> {
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const here = await knownBrowsers.recognize(cookies.get(ctx, 'knownBrowser'), account.id);
    const browsers = await knownBrowsers.list(account.id);
    ctx.render('account/browsers', {
      notice: page.takeNotice(ctx),
      browsers: browsers.map(({ userAgent, ...browser }) => ({
        ...browser,
        name: browserName(userAgent) ?? t('browsers.unknown'),
        isHere: browser.id === here?.id,
      })),
    });
  });

  router.post('/forget', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { id } = await parseForm(ctx, forgetForm);
    await forget(ctx, id);
    page.redirectWithNotice(ctx, HERE, t('browsers.forgotten'));
  });

  router.post('/forget-all', signedIn.requireSignIn, checkChange, async (ctx) => {
    await forget(ctx);
    page.redirectWithNotice(ctx, HERE, t('browsers.all-forgotten'));
  });

  async function forget(ctx: Context, id?: string): Promise<void> {
    const { account } = signedIn.userOf(ctx);
    const count = await knownBrowsers.forget(account.id, id);
    if (count === 0) return;
    const about = { subjectId: account.id, data: { count }, ...page.actorOf(ctx) };
    await audit.record({ type: 'browser.forgotten', outcome: 'success', ...about });
  }

  return router;
}
