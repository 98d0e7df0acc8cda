// Puts the pages of a signed-in user together: the portal (/dashboard) and the account pages (/account).

import Router from '@koa/router';
import { z } from 'zod';
import type { ApplicationServices } from '../applications/application-services.ts';
import { type Context, type Extras, type State, seeOther } from '../base/http/context.ts';
import type { Http } from '../base/http/http.ts';
import { parseForm } from '../base/http/input.ts';
import { type PageText, t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import type { Links } from '../federation/links.ts';
import type { People } from '../people/people.ts';
import type { LogoutBrowser } from '../protocols/logout/logout-run.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import type { RpSessions } from '../protocols/oidc/store/sessions/rp-sessions.ts';
import type { RecoveryCodesPages } from '../sign-in/second-factor/recovery-codes-page.ts';
import { type AccountPageHelpers, createAccountPageHelpers } from './account-page-helpers.ts';
import { activityRoutes } from './activity-routes.ts';
import { appPasswordRoutes } from './app-passwords.ts';
import { confirmationRoutes } from './confirmation-routes.ts';
import { consentRoutes } from './consents.ts';
import type { Deletion } from './deletion.ts';
import { createFactorRecoveryCodes, factorRoutes, passkeyRoutes, phoneRoutes } from './factors.ts';
import { groupRoutes, joinRoutes } from './groups.ts';
import { overviewRoutes } from './overview-routes.ts';
import type { OwnData } from './own-data.ts';
import { ownDataRoutes } from './own-data-routes.ts';
import { passwordRoutes, strengthRoutes } from './password.ts';
import { createPortal, portalRoutes } from './portal.ts';
import { emailRoutes, emailVerificationRoutes, profilePhoneRoutes, profileRoutes } from './profile.ts';
import type { EmailVerification } from './registration/email-verification.ts';
import type { Confirmation } from './rp/confirmation.ts';
import type { SignedIn } from './rp/signed-in.ts';
import { browserRoutes, sessionRoutes } from './session-routes.ts';

export interface AccountPagesDependencies {
  brandName: () => string | undefined;
  deletion: Deletion;
  ownData: OwnData;
  emailVerification: EmailVerification;
  /** Identities at upstream identity providers. */
  links: Links;
  rpSessions: RpSessions;
  confirmation: Confirmation;
  signedIn: SignedIn;
  /** The browser of a request, for a logout that goes through it. */
  logoutBrowserOf: (ctx: Context) => LogoutBrowser;
  /** The name of a SAML application in the language of the page. */
  titleOf: (row: { id: string; clientId: string; name: string; updatedAt: Date; metadata: string }) => PageText;
  recoveryCodesPages: RecoveryCodesPages;
}

export function createAccountPages(
  dependencies: Core & Http & People & ApplicationServices & SessionServices & AccountPagesDependencies,
) {
  const { emailVerification, mfa, rpSessions } = dependencies;
  const { signedIn, logoutBrowserOf, titleOf } = dependencies;
  const { recoveryCodes } = mfa;
  const page = createAccountPageHelpers({ ...dependencies, signedIn });
  const factorRecoveryCodes = createFactorRecoveryCodes({
    page,
    recoveryCodes,
    recoveryCodesPages: dependencies.recoveryCodesPages,
  });
  const portal = createPortal({ ...dependencies, titleOf });
  return {
    page,
    routers: [
      // First: it hands requests to the others.
      confirmationRoutes(dependencies),
      portalRoutes({ ...dependencies, page, portal }),
      overviewRoutes({ ...dependencies, page }),
      profilePhoneRoutes({ ...dependencies, page }),
      profileRoutes({ ...dependencies, page }),
      passwordRoutes({ ...dependencies, page, links: dependencies.links }),
      strengthRoutes(dependencies),
      emailRoutes({ ...dependencies, page, emailVerification }),
      emailVerificationRoutes({ ...dependencies, emailVerification, signedIn }),
      factorRoutes({ ...dependencies, page, rpSessions, factorRecoveryCodes }),
      passkeyRoutes({ ...dependencies, page, rpSessions, factorRecoveryCodes }),
      phoneRoutes({ ...dependencies, page, rpSessions, factorRecoveryCodes }),
      connectionRoutes({ page, links: dependencies.links }),
      browserRoutes({ ...dependencies, page }),
      appPasswordRoutes({ ...dependencies, page }),
      activityRoutes({ ...dependencies, page, brandName: dependencies.brandName }),
      ownDataRoutes({ ...dependencies, page }),
      groupRoutes({ ...dependencies, page }),
      joinRoutes({ ...dependencies, page }),
      consentRoutes({ ...dependencies, page }),
      sessionRoutes({ ...dependencies, page, logoutBrowserOf, titleOf }),
    ],
  };
}

// /account/connections: the identities at other services with which the user signs in, connecting another and disconnecting one.

const PATH = '/account/connections';
const unlinkForm = z.object({ id: z.string().min(1).max(64) });

function connectionRoutes({ page, links }: { page: AccountPageHelpers; links: Links }): Router<State, Extras> {
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: PATH });
  const changeGuards = [signedIn.requireSignIn, signedIn.requireRecentAuthentication, checkChange] as const;

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    ctx.render('account/connections', { ...(await links.list(account.id)), notice: page.takeNotice(ctx) });
  });

  router.post('/:connectionId/link', ...changeGuards, async (ctx: Context & { params: Record<string, string> }) => {
    const { session } = signedIn.userOf(ctx);
    const start = await links.begin(ctx.params.connectionId ?? '', session, ctx.state.request);
    if (start.method === 'post') return ctx.render('form-post', { action: start.url, fields: start.fields });
    seeOther(ctx, start.url);
  });

  // No `recentAuthentication`: it was required where this began (`/link`), and `finish` accepts only the same session.
  router.get('/finish/:answerId', signedIn.requireSignIn, async (ctx) => {
    const { account, session } = signedIn.userOf(ctx);
    const name = await links.finish(ctx.params.answerId ?? '', session, account, page.actorOf(ctx));
    page.redirectWithNotice(ctx, PATH, t('connections.added', { connection: name }));
  });

  router.post('/unlink', ...changeGuards, async (ctx) => {
    const { id: identityId } = await parseForm(ctx, unlinkForm);
    const isRemoved = await links.unlink(signedIn.userOf(ctx).account, identityId, page.actorOf(ctx));
    if (isRemoved) page.redirectWithNotice(ctx, PATH, t('connections.removed'));
    else page.redirectWithNotice(ctx, PATH, t('connections.gone'), 'warn');
  });

  return router;
}
