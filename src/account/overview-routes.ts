// /account: the overview page of a signed-in user, with a link to each of the pages below it.

import Router from '@koa/router';
import type { ApplicationServices } from '../applications/application-services.ts';
import type { Extras, State } from '../base/http/context.ts';
import { fullName } from '../base/http/pages/tokens.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/platform/defined.ts';
import { enumeration, type PageText, t } from '../base/texts/text.ts';
import type { OwnFactors } from '../people/mfa/account-factors.ts';
import { hasSecondFactor } from '../people/mfa/policy.ts';
import type { People } from '../people/people.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';

export function overviewRoutes(
  services: People & ApplicationServices & { page: AccountPageHelpers },
): Router<State, Extras> {
  const { page, appPasswords, credentials } = services;
  const { factors } = services.mfa;
  const { signedIn } = page;
  const router = new Router<State, Extras>({ prefix: '/account' });

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const ownFactors = await factors.of(account.id);
    const password = await credentials.status(account.id);
    const hasAppPasswords =
      (await appPasswords.websitesFor(account)).length > 0 || (await appPasswords.list(account.id)).length > 0;
    ctx.render('account/overview', {
      account,
      notice: page.takeNotice(ctx),
      warnings: warningsOf(ownFactors),
      unproven: account.emailVerified ? undefined : account.email,
      sections: [
        {
          title: t('overview.personal'),
          links: [
            { href: '/account/profile', label: t('profile.title'), hint: fullName(account) ?? t('overview.name-hint') },
            { href: '/account/email', label: t('email.title'), hint: account.email ?? t('overview.not-set') },
            { href: '/account/data', label: t('own-data.title'), hint: t('overview.own-data-hint') },
          ],
        },
        {
          title: t('overview.security'),
          links: [
            {
              href: '/account/password',
              label: t('sign-in.password'),
              hint: password ? t('overview.password-changed', { date: password.changedAt }) : t('overview.not-set'),
            },
            {
              href: '/account/factors',
              label: t('factors.heading'),
              hint: describeFactors(ownFactors),
            },
            { href: '/account/connections', label: t('connections.title'), hint: t('overview.connections-hint') },
            ...(hasAppPasswords
              ? [
                  {
                    href: '/account/app-passwords',
                    label: t('app-passwords.title'),
                    hint: t('overview.app-passwords-hint'),
                  },
                ]
              : []),
            { href: '/account/browsers', label: t('browsers.title'), hint: t('overview.browsers-hint') },
            { href: '/account/activity', label: t('activity.title'), hint: t('overview.activity-hint') },
          ],
        },
        {
          title: t('overview.apps'),
          links: [
            { href: '/dashboard', label: t('page.your-apps'), hint: t('overview.apps-hint') },
            { href: '/account/groups', label: t('groups.title'), hint: t('overview.groups-hint') },
            { href: '/account/sessions', label: t('sessions.title'), hint: t('overview.sessions-hint') },
            { href: '/account/applications', label: t('consents.title'), hint: t('overview.consents-hint') },
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
    const text = t('overview.protect');
    return [{ text, href, label: t('enrol.set-up') }];
  }
  const text = recoveryCodeWarning(own);
  return text ? [{ text, href, label: t('recovery-codes.create') }] : [];
}

function describeFactors({ totp, passkeys, phone }: OwnFactors): PageText {
  const factors = present([
    totp && t('overview.factor-app'),
    passkeys > 0 && t('overview.factor-passkeys', { count: passkeys }),
    phone && t('overview.factor-sms'),
  ]);
  return factors.length > 0 ? enumeration(factors) : t('overview.no-factors');
}

// The warning that few recovery codes are left.

/** Undefined while there are enough, or while the account has no second factor that they could replace. */
export function recoveryCodeWarning(own: OwnFactors): PageText | undefined {
  const hasFactor = hasSecondFactor(own) || own.phone !== undefined;
  if (!hasFactor || own.recoveryCodes >= limits.recoveryCodes.warnBelow) return undefined;
  return t(own.recoveryCodes === 0 ? 'recovery-codes.left' : 'recovery-codes.few', { count: own.recoveryCodes });
}
