// /account/app-passwords: the passwords with which programs of the user sign in to websites behind a proxy. A new one is displayed once.

import Router from '@koa/router';
import { z } from 'zod';
import type { ApplicationServices } from '../applications/application-services.ts';
import type { Extras, State } from '../base/http/context.ts';
import { notFound } from '../base/http/errors.ts';
import { parseForm } from '../base/http/input.ts';
import { limits } from '../base/limits.ts';
import { t } from '../base/texts/text.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';

const HERE = '/account/app-passwords';
const createForm = z.object({ website: z.string().min(1).max(64), name: z.string().trim().min(1).max(100) });
const revokeForm = z.object({ id: z.string().min(1).max(64) });

export function appPasswordRoutes(services: ApplicationServices & { page: AccountPageHelpers }): Router<State, Extras> {
  const { page, appPasswords } = services;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const [passwords, websites] = await Promise.all([appPasswords.list(account.id), appPasswords.websitesFor(account)]);
    ctx.render('account/app-passwords', {
      notice: page.takeNotice(ctx),
      passwords,
      canAdd: websites.length > 0 && passwords.length < limits.appPassword.maxPerUser,
    });
  });

  router.get('/new', ...page.recent, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const websites = await appPasswords.websitesFor(account);
    if (websites.length === 0) throw notFound();
    ctx.render('account/app-password', { websites: websites.map(({ id, name }) => ({ id, name })) });
  });

  router.post('/', ...page.changes, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { website: applicationId, name } = await parseForm(ctx, createForm);
    const websites = await appPasswords.websitesFor(account);
    const website = websites.find(({ id }) => id === applicationId);
    const password = await appPasswords.create(account, { applicationId, name }, page.actorOf(ctx));
    if (!website || password === undefined) throw notFound();
    await page.notifyOwner(account, 'app-password-created', ctx);
    ctx.render('account/app-password', {
      created: { website: website.name, origin: website.clientId, username: account.username, password },
    });
  });

  router.post('/revoke', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { id } = await parseForm(ctx, revokeForm);
    const isRevoked = await appPasswords.revoke(signedIn.userOf(ctx).account.id, id, page.actorOf(ctx));
    if (isRevoked) page.redirectWithNotice(ctx, HERE, t('app-passwords.revoked'));
    else page.redirectWithNotice(ctx, HERE, t('app-passwords.gone'), 'warn');
  });

  return router;
}
