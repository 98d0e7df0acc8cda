// The confirmation pages of mailed links: a page with a button, and a page with the result. For the verification of an
// email address and for unlocking an account.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, Middleware, State } from '../../base/http/context.ts';
import type { Http } from '../../base/http/http.ts';
import { parseForm } from '../../base/http/input.ts';
import type { PageText } from '../../base/texts/text.ts';
import type { People } from '../../people/people.ts';
import { createLinkPage, type DoneMessage, type LinkPageOptions } from './link-page.ts';

export interface ConfirmRoutesOptions<Link> {
  path: string;
  /** Where the user can request a new link. */
  next: LinkPageOptions['next'];
  /** Before the pages of a link that only one user can use. */
  requireSignIn?: Middleware;
  /** Finds a valid link without consuming it. */
  find(token: string, ctx: Context): Promise<Link | undefined>;
  /** The texts of the page; `value` is the address or username that the link is about. */
  describe(found: Link): { title: PageText; lead: PageText; value: string; button: PageText };
  /** Consumes the link; false if it was already used or has expired. */
  confirm(ctx: Context, token: string): Promise<boolean>;
  doneMessage(ctx: Context): DoneMessage;
}

const proceed: Middleware = (_ctx, next) => next();
const confirmForm = z.object({ displayedValue: z.string().max(254) });

export function addConfirmRoutes<Link>(
  router: Router<State, Extras>,
  services: Http & People,
  { path, next, requireSignIn = proceed, find, describe, confirm, doneMessage }: ConfirmRoutesOptions<Link>,
): void {
  const {
    csrf: { check: checkCsrf },
  } = services;

  const page = createLinkPage(services, { cookie: 'link', next });

  router.get(path, page.receiveToken, requireSignIn, async (ctx) => {
    const { found } = await page.resolve(ctx, (token) => find(token, ctx));
    ctx.render('mailed-links/confirm', { ...describe(found), action: path });
  });

  router.post(path, requireSignIn, checkCsrf, async (ctx) => {
    const { token, found } = await page.resolve(ctx, (sent) => find(sent, ctx));
    page.assertUnchanged((await parseForm(ctx, confirmForm)).displayedValue, describe(found).value);
    if (!(await confirm(ctx, token))) return page.reject(ctx);
    page.redirectToDone(ctx, `${path}/done`);
  });

  router.get(`${path}/done`, (ctx) => page.renderDone(ctx, doneMessage(ctx)));
}
