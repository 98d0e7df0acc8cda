// /account/browsers: browsers the account was used in, and those that may skip the second factor; each can be forgotten.
import Router from '@koa/router';
import { z } from 'zod';
import type { Audit } from '../audit/audit.ts';
import type { Context, Extras, State } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { parseForm } from '../http/input.ts';
import { browserName } from '../mail/browser-name.ts';
import type { KnownBrowsers } from '../mfa/known-browsers.ts';
import type { OwnPage } from './page.ts';

export interface BrowserRoutesNeeds {
  page: OwnPage;
  cookies: Cookies;
  knownBrowsers: Pick<KnownBrowsers, 'list' | 'recognise' | 'forget'>;
  audit: Audit;
}

const HERE = '/account/browsers';
const forgetForm = z.object({ id: z.string().min(1).max(64) });

export function browserRoutes({ page, cookies, knownBrowsers, audit }: BrowserRoutesNeeds): Router<State, Extras> {
  const { signedIn, protect } = page;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', signedIn.required, async (ctx) => {
    const { account } = signedIn.of(ctx);
    const here = await knownBrowsers.recognise(cookies.get(ctx, 'knownBrowser'), account.id);
    const browsers = await knownBrowsers.list(account.id);
    ctx.render('account/browsers', {
      notice: page.notice(ctx),
      browsers: browsers.map(({ userAgent, ...browser }) => ({
        ...browser,
        name: browserName(userAgent) ?? 'Unknown browser',
        isHere: browser.id === here?.id,
      })),
    });
  });

  router.post('/forget', signedIn.required, protect, async (ctx) => {
    const { id } = await parseForm(ctx, forgetForm);
    await forget(ctx, id);
    page.back(ctx, HERE, 'This browser is a new one from now on.');
  });

  router.post('/forget-all', signedIn.required, protect, async (ctx) => {
    await forget(ctx);
    page.back(ctx, HERE, 'Every browser is a new one from now on.');
  });

  async function forget(ctx: Context, id?: string): Promise<void> {
    const { account } = signedIn.of(ctx);
    const count = await knownBrowsers.forget(account.id, id);
    if (count === 0) return;
    const about = { subjectId: account.id, data: { count }, ...page.by(ctx) };
    await audit.record({ type: 'browser.forgotten', outcome: 'success', ...about });
  }

  return router;
}
