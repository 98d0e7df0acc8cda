// /account: the overview page of a signed-in user, with a link to each of the pages below it.
import Router from '@koa/router';
import type { Credentials } from '../credentials/credentials.ts';
import type { Extras, State } from '../http/context.ts';
import { day } from '../http/pages/dates.ts';
import type { AccountFactors, OwnFactors } from '../mfa/account-factors.ts';
import { hasSecondFactor } from '../mfa/policy.ts';
import { isStaff } from '../rbac/built-in.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';
import { recoveryCodeWarning } from './factors/recovery-code-warning.ts';

export interface OverviewRoutesDependencies {
  page: AccountPageHelpers;
  factors: Pick<AccountFactors, 'of'>;
  credentials: Pick<Credentials, 'status'>;
}

export function overviewRoutes({ page, factors, credentials }: OverviewRoutesDependencies): Router<State, Extras> {
  const { signedIn } = page;
  const router = new Router<State, Extras>({ prefix: '/account' });

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const ownFactors = await factors.of(account.id);
    const password = await credentials.status(account.id);
    ctx.render('account/overview', {
      account,
      mayOpenConsole: isStaff(account),
      notice: page.takeNotice(ctx),
      warnings: warningsOf(ownFactors),
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
            { href: '/account/factors', label: 'Second factors and passkeys', hint: describeFactors(ownFactors) },
            { href: '/account/connections', label: 'Connected sign-ins', hint: 'Services where you sign in instead' },
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
      logoutUrl: '/logout',
    });
  });

  return router;
}

function warningsOf(own: OwnFactors) {
  const href = '/account/factors';
  const hasFactor = hasSecondFactor(own) || own.phone !== undefined;
  if (!hasFactor) {
    const text = 'A password can be stolen. A second factor makes that useless to the thief.';
    return [{ text, href, label: 'Set one up' }];
  }
  const text = recoveryCodeWarning(own);
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
