// /account: the overview page of a signed-in user, with a link to each of the pages below it.
import Router from '@koa/router';
import type { Credentials } from '../credentials/credentials.ts';
import type { Extras, State } from '../http/context.ts';
import { day } from '../http/pages/dates.ts';
import type { AccountFactors, OwnFactors } from '../mfa/account-factors.ts';
import { hasSecondFactor } from '../mfa/policy.ts';
import { plural } from '../platform/plural.ts';
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
          title: 'Personal info',
          links: [
            { href: '/account/profile', label: 'Profile', hint: account.name ?? 'Your name' },
            { href: '/account/email', label: 'Email address', hint: account.email ?? 'Not set' },
          ],
        },
        {
          title: 'Sign-in and security',
          links: [
            {
              href: '/account/password',
              label: 'Password',
              hint: password ? `Changed ${day(password.changedAt)}` : 'Not set',
            },
            {
              href: '/account/factors',
              label: 'Two-step verification and passkeys',
              hint: describeFactors(ownFactors),
            },
            { href: '/account/connections', label: 'Connected sign-ins', hint: 'Other services you can sign in with' },
            { href: '/account/browsers', label: 'Known browsers', hint: 'Browsers you’ve signed in from' },
            { href: '/account/activity', label: 'Activity', hint: 'Sign-ins and changes of your account' },
          ],
        },
        {
          title: 'Apps and sessions',
          links: [
            { href: '/dashboard', label: 'Your apps', hint: 'Apps you can open' },
            { href: '/account/sessions', label: 'Where you’re signed in', hint: 'Your sessions, by browser' },
            { href: '/account/applications', label: 'Apps with access', hint: 'What each app can see and do' },
          ],
        },
      ],
    });
  });

  return router;
}

function warningsOf(own: OwnFactors) {
  const href = '/account/factors';
  const hasFactor = hasSecondFactor(own) || own.phone !== undefined;
  if (!hasFactor) {
    const text = 'Protect your account with two-step verification.';
    return [{ text, href, label: 'Set up two-step verification' }];
  }
  const text = recoveryCodeWarning(own);
  return text ? [{ text, href, label: 'Create new codes' }] : [];
}

function describeFactors({ totp, passkeys, phone }: OwnFactors): string {
  const parts = [
    totp ? 'authenticator app' : '',
    passkeys > 0 ? plural(passkeys, 'passkey') : '',
    phone ? 'text message codes' : '',
  ].filter(Boolean);
  const text = parts.join(', ') || 'not set up';
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
