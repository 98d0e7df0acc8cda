// The pages behind a mailed link that sets a password: the form, and the page that reports the change. For password
// resets and invitations.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import type { Http } from '../../base/http/http.ts';
import { parseForm } from '../../base/http/input.ts';
import { withLanguage } from '../../base/http/pages/language.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { type PageText, sentences, t } from '../../base/texts/text.ts';
import type { Account } from '../../people/accounts/account.ts';
import { passwordAdvice } from '../../people/credentials/password-advice.ts';
import { minimumLength, type PasswordFault } from '../../people/credentials/password-policy.ts';
import type { People } from '../../people/people.ts';
import { createLinkPage, type DoneMessage } from './link-page.ts';
import type { LinkOutcome } from './set-password.ts';

export interface OtherWay {
  connectionId: string;
  name: string;
  /** The password of a directory is entered on the sign-in page. */
  isDirectory: boolean;
}

export interface NewPasswordRoutesOptions {
  path: string;
  /** Replace the texts of a password reset. */
  texts?: { title: PageText; lead: PageText };
  /** The account of a usable link; does not use it up. */
  find(token: string): Promise<Account | undefined>;
  setPassword(token: string, password: string, request: RequestInfo): Promise<LinkOutcome>;
  hasSecondFactor(accountId: string): Promise<boolean>;
  doneMessage(ctx: Context): DoneMessage;
  /** The connection at which the user can sign in without this password. */
  otherSignIn?(account: Account): Promise<OtherWay | undefined>;
}

const passwordForm = z.object({ username: z.string().max(254), password: z.string().max(4096) });

export function addNewPasswordRoutes(
  router: Router<State, Extras>,
  services: Http & People,
  { path, texts, find, setPassword, hasSecondFactor, doneMessage, otherSignIn }: NewPasswordRoutesOptions,
): void {
  const {
    csrf: { check: checkCsrf },
  } = services;

  const next = { href: '/forgot-password', label: t('mailed-link.new') };
  const page = createLinkPage(services, { cookie: 'reset', next });

  router.get(path, page.receiveToken, async (ctx) => {
    const { found: account } = await page.resolve(ctx, find);
    await show(ctx, account);
  });

  router.post(path, checkCsrf, async (ctx) => {
    const { token, found: account } = await page.resolve(ctx, find);
    const { username, password } = await parseForm(ctx, passwordForm);
    page.assertUnchanged(username, account.username);
    const result = await setPassword(token, password, withLanguage(ctx));
    if (result.outcome === 'invalid') return page.reject(ctx);
    if (result.outcome === 'rejected') return show(ctx, account, result.faults);
    page.redirectToDone(ctx, `${path}/done`);
  });

  router.get(`${path}/done`, (ctx) => page.renderDone(ctx, doneMessage(ctx)));

  async function show(ctx: Context, account: Account, faults: PasswordFault[] = []): Promise<void> {
    const { id, username } = account;
    const hasFactor = await hasSecondFactor(id);
    const other = await otherSignIn?.(account);
    const form = { ...texts, action: path, username, minLength: minimumLength(hasFactor), other };
    if (faults.length === 0) return ctx.render('mailed-links/new-password', form);
    const error = sentences(faults.map((fault) => passwordAdvice(fault, hasFactor)));
    ctx.render('mailed-links/new-password', { ...form, error }, 400);
  }
}
