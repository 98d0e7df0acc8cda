// /dashboard, the portal: the applications that the user may open, and warnings about the account.

import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../base/http/context.ts';
import { parseQuery } from '../../base/http/input.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Credentials } from '../../people/credentials/credentials.ts';
import type { AccountFactors } from '../../people/mfa/account-factors.ts';
import { ADMIN_ROLE, isStaff } from '../../people/rbac/built-in.ts';
import type { Sessions } from '../../protocols/oidc/store/sessions/sessions.ts';
import type { AccountPageHelpers } from '../account-page-helpers.ts';
import { recoveryCodeWarning } from '../factors/recovery-code-warning.ts';
import type { Portal } from './applications.ts';

export interface PortalRoutesDependencies {
  page: AccountPageHelpers;
  portal: Portal;
  sessions: Sessions;
  factors: AccountFactors;
  credentials: Credentials;
}

interface Notice {
  text: PageText;
  href: string;
  label: PageText;
}

const query = z.object({ q: z.string().max(100).default('') });

/** Whether an empty portal links to the console. */
const mayAddApplications = ({ roles, permissions }: Account) =>
  roles.includes(ADMIN_ROLE) || permissions.includes('gatehouse.applications:write');

export function portalRoutes(dependencies: PortalRoutesDependencies): Router<State, Extras> {
  const { page, portal, sessions, factors, credentials } = dependencies;
  const { signedIn } = page;
  const router = new Router<State, Extras>();

  router.get('/dashboard', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { q } = parseQuery(ctx, query);
    const activeSessions = await sessions.list(account.id);
    const inSession = new Set(
      activeSessions.flatMap(({ participants }) => participants.map(({ clientId }) => clientId)),
    );
    const tiles = await portal.tiles(account, { search: q, inSession, language: ctx.state.language() });
    ctx.render('account/portal', {
      account,
      mayOpenConsole: isStaff(account),
      mayAddApplications: mayAddApplications(account),
      search: q,
      tiles,
      notices: await noticesFor(account),
    });
  });

  async function noticesFor({ id, email, emailVerified }: Account): Promise<Notice[]> {
    const accountFactors = await factors.of(id);
    const status = await credentials.status(id);
    const codeWarning = recoveryCodeWarning(accountFactors);
    return [
      ...(codeWarning ? [{ text: codeWarning, href: '/account/factors', label: t('recovery-codes.create') }] : []),
      ...(status?.mustChange
        ? [{ text: t('portal.must-change'), href: '/account/password', label: t('change-password.submit') }]
        : []),
      ...(email && !emailVerified
        ? [{ text: t('portal.unconfirmed'), href: '/account', label: t('verify-email.confirm-submit') }]
        : []),
    ];
  }

  return router;
}
