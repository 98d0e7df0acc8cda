// /account/profile: the names that applications show for the user.
import Router from '@koa/router';
import { z } from 'zod';
import type { Accounts } from '../accounts/accounts.ts';
import type { Extras, State } from '../http/context.ts';
import { forbidden } from '../http/errors.ts';
import { parseForm } from '../http/input.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';

export interface ProfileRoutesDependencies {
  page: AccountPageHelpers;
  accounts: Pick<Accounts, 'update'>;
}

const nameField = z.string().trim().max(200);
const profileForm = z.object({ name: nameField, given_name: nameField, family_name: nameField });

export function profileRoutes({ page, accounts }: ProfileRoutesDependencies): Router<State, Extras> {
  const { signedIn, checkCsrf } = page;
  const router = new Router<State, Extras>({ prefix: '/account/profile' });

  router.get('/', signedIn.requireSignIn, (ctx) => {
    const { account } = signedIn.userOf(ctx);
    ctx.render('account/profile', { account, isOwnedByFile: account.source === 'file' });
  });

  router.post('/', signedIn.requireSignIn, checkCsrf, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    // The configuration file would restore its own value at the next start.
    if (account.source === 'file') throw forbidden('owned_by_file');
    const { name, given_name, family_name } = await parseForm(ctx, profileForm);
    const changes = { name: name || null, givenName: given_name || null, familyName: family_name || null };
    await accounts.update(account.id, changes, page.actorOf(ctx));
    page.redirectWithNotice(ctx, '/account', 'Your profile was changed.');
  });

  return router;
}
