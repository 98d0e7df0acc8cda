// /account: the signed-in person's own page, and what is on each of the pages below it.
import Router from '@koa/router';
import { z } from 'zod';
import type { Accounts } from '../accounts/accounts.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { Context, Extras, State } from '../http/context.ts';
import { day } from '../http/dates.ts';
import { forbidden } from '../http/errors.ts';
import { parseForm } from '../http/input.ts';
import type { Factors, OwnFactors } from '../mfa/factors.ts';
import { hasSecondFactor } from '../mfa/policy.ts';
import { fewCodes } from './few-codes.ts';
import type { OwnPage } from './page.ts';

export interface AccountRoutesNeeds {
  page: OwnPage;
  accounts: Pick<Accounts, 'update'>;
  factors: Pick<Factors, 'of'>;
  credentials: Pick<Credentials, 'status'>;
}

const line = z.string().trim().max(200);
const profileForm = z.object({ name: line, given_name: line, family_name: line });

export function accountRoutes({ page, accounts, factors, credentials }: AccountRoutesNeeds): Router<State, Extras> {
  const { signedIn, protect } = page;
  const router = new Router<State, Extras>({ prefix: '/account' });

  router.get('/', signedIn.required, async (ctx) => {
    const { account } = signedIn.of(ctx);
    const own = await factors.of(account.id);
    const password = await credentials.status(account.id);
    ctx.render('account/overview', {
      account,
      notice: page.notice(ctx),
      warnings: warningsOf(own),
      unproven: account.emailVerified ? undefined : account.email,
      sections: [
        {
          title: 'You',
          links: [
            { href: '/account/profile', label: 'Profile', hint: account.name ?? 'Your name' },
            { href: '/account/email', label: 'E-mail address', hint: account.email ?? 'None yet' },
          ],
        },
        {
          title: 'Signing in',
          links: [
            {
              href: '/account/password',
              label: 'Password',
              hint: password ? `Changed on ${day(password.changedAt)}` : 'None yet',
            },
            { href: '/account/factors', label: 'Second factors and passkeys', hint: describeFactors(own) },
            { href: '/account/browsers', label: 'Known browsers', hint: 'Where you signed in before' },
          ],
        },
        {
          title: 'In use',
          links: [
            { href: '/dashboard', label: 'Your applications', hint: 'What you may open' },
            { href: '/account/sessions', label: 'Where you are signed in', hint: 'Browsers and their applications' },
            { href: '/account/applications', label: 'Applications you allowed', hint: 'What they may see' },
          ],
        },
      ],
      signOutUrl: '/logout',
    });
  });

  router.get('/profile', signedIn.required, (ctx) => showProfile(ctx));

  router.post('/profile', signedIn.required, protect, async (ctx) => {
    const { account } = signedIn.of(ctx);
    // The file would write it back at the next start.
    if (account.source === 'file') throw forbidden('owned_by_file');
    const { name, given_name, family_name } = await parseForm(ctx, profileForm);
    const changes = { name: name || null, givenName: given_name || null, familyName: family_name || null };
    await accounts.update(account.id, changes, page.by(ctx));
    page.back(ctx, '/account', 'Your profile was changed.');
  });

  function showProfile(ctx: Context): void {
    const { account } = signedIn.of(ctx);
    ctx.render('account/profile', { account, isOwnedByFile: account.source === 'file' });
  }

  return router;
}

function warningsOf(own: OwnFactors) {
  const href = '/account/factors';
  const hasFactor = hasSecondFactor(own) || own.phone !== undefined;
  if (!hasFactor) {
    const text = 'A password can be stolen. A second factor makes that useless to the thief.';
    return [{ text, href, label: 'Set one up' }];
  }
  const text = fewCodes(own);
  return text ? [{ text, href, label: 'Make new ones' }] : [];
}

function describeFactors({ totp, passkeys, phone }: OwnFactors): string {
  const parts = [
    totp ? 'authenticator app' : '',
    passkeys > 0 ? `${passkeys} passkey${passkeys === 1 ? '' : 's'}` : '',
    phone ? 'codes by SMS' : '',
  ].filter(Boolean);
  const text = parts.join(', ') || 'none yet';
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
