// The engine's pages for logout (OpenID Connect RP-Initiated Logout 1.0): confirmation and result.

import type { ErrorPage } from '../../../base/http/context.ts';
import type { AppError } from '../../../base/http/errors.ts';
import { withUiLocales } from '../../../base/http/pages/language.ts';
import { randomToken } from '../../../base/platform/random.ts';
import { appContext } from '../engine/app-context.ts';
import type { KoaContextWithOIDC } from '../engine/library.ts';
import { findUnlessRejected, type ReportRejectedClient } from '../registration/registration-fault.ts';
import type { ClientSource } from '../store/clients.ts';
import { applicationName, readLanguages, xsrfOf } from './engine-forms.ts';

/** The account on the confirmation page. */
export interface AccountName {
  name: string | null;
  username: string;
  email: string | null;
  locale: string | null;
}

export interface LogoutPagesDependencies {
  findAccount(id: string): Promise<AccountName | undefined>;
  /** client_id of this server's own pages, which the pages of a logout don't name. */
  ownClientId: string;
  clients: ClientSource;
  reportRejectedClient: ReportRejectedClient;
}

/** The pages of `/end-session`: those of oidc-provider's `features.rpInitiatedLogout`, and that of a rejected request. */
export function createLogoutPages(dependencies: LogoutPagesDependencies) {
  const { findAccount, ownClientId } = dependencies;
  const nameOf = (ctx: KoaContextWithOIDC) =>
    ctx.oidc.client?.clientId === ownClientId ? undefined : applicationName(ctx);
  return {
    async logoutSource(ctx: KoaContextWithOIDC): Promise<void> {
      const action = withUiLocales(ctx.oidc.urlFor('end_session_confirm'), readLanguages(ctx));
      const xsrf = xsrfOf(ctx);
      // No confirmation is needed; the form submits itself, and has a button for browsers without scripts.
      if (provesThisSession(ctx)) {
        appContext(ctx).render('form-post', { action, appName: undefined, fields: { xsrf, logout: 'yes' } });
        return;
      }
      appContext(ctx).render('logout/confirm', { action, appName: nameOf(ctx), ...(await question(ctx, xsrf)) });
    },

    async postLogoutSuccessSource(ctx: KoaContextWithOIDC): Promise<void> {
      readLanguages(ctx);
      // The user chose to stay signed in.
      const { accountId } = await ctx.oidc.provider.Session.get(ctx);
      appContext(ctx).render('logout/done', { appName: nameOf(ctx), isSignedIn: accountId !== undefined });
    },

    /**
     * The page of a rejected logout request: never the end of the way. A user who is signed in learns that, and can sign out; the
     * fault is for the developer.
     */
    rejectedLogoutPage(ctx: KoaContextWithOIDC): (error: AppError) => Promise<ErrorPage> {
      const { session } = ctx.oidc;
      const { requestId } = appContext(ctx).state.request;
      const faultOf = ({ text, rejectionCode, technical }: AppError) => ({
        problem: text,
        rejectionCode,
        requestId,
        technical,
      });
      if (!session?.accountId) return async (error) => ({ template: 'logout/done', data: faultOf(error) });
      const xsrf = randomToken();
      session.state = { secret: xsrf };
      const action = withUiLocales(ctx.oidc.urlFor('end_session_confirm'), readLanguages(ctx));
      return async (error) => {
        const data = { action, ...(await question(ctx, xsrf)), ...faultOf(error) };
        return { template: 'logout/confirm', data };
      };
    },
  };

  /** The account and the applications that the confirmation page names, and the field that proves the form. */
  async function question(ctx: KoaContextWithOIDC, xsrf: string) {
    const [account, apps] = await Promise.all([
      findAccount(ctx.oidc.session?.accountId ?? ''),
      participatingApplications(dependencies, ctx),
    ]);
    appContext(ctx).state.profileLanguage = account?.locale ?? undefined;
    return { hidden: [{ name: 'xsrf', value: xsrf }], account, apps };
  }
}

/** The names of the applications that take part in the session, sorted. */
async function participatingApplications(
  { clients, ownClientId, reportRejectedClient }: LogoutPagesDependencies,
  { oidc: { session, provider } }: KoaContextWithOIDC,
): Promise<string[]> {
  const ids = Object.keys(session?.authorizations ?? {}).filter((id) => id !== ownClientId);
  const names = ids.map(async (id) => {
    const client = await findUnlessRejected(
      () => provider.Client.find(id),
      (fault) => reportRejectedClient(id, fault),
    );
    return client ? (client.clientName ?? id) : clients.cachedApplicationOf(id)?.name;
  });
  return (await Promise.all(names)).flatMap((name) => name ?? []).sort();
}

/** The engine has verified the hint; every ID token of this server names its session by `sid`. */
function provesThisSession({ oidc: { session, client, entities } }: KoaContextWithOIDC): boolean {
  const sid = entities.IdTokenHint?.payload.sid;
  if (!client || !session?.accountId || sid === undefined) return false;
  return sid === session.sidFor(client.clientId);
}
