// The engine's pages for logout (OpenID Connect RP-Initiated Logout 1.0): confirmation and result.
import { withUiLocales } from '../../http/pages/language.ts';
import { appContext } from '../engine/app-context.ts';
import type { KoaContextWithOIDC } from '../engine/library.ts';
import { findUnlessRejected, type ReportRejectedClient } from '../registration/registration-fault.ts';
import type { ClientSource } from '../store/clients.ts';
import { applicationName, readLanguages, xsrfOf } from './engine-forms.ts';
import { provesThisSession } from './logout-proof.ts';

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
  clients: Pick<ClientSource, 'cachedApplicationOf'>;
  reportRejectedClient: ReportRejectedClient;
}

/** oidc-provider's `features.rpInitiatedLogout` pages. */
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
      const [account, apps] = await Promise.all([
        findAccount(ctx.oidc.session?.accountId ?? ''),
        participatingApplications(dependencies, ctx),
      ]);
      appContext(ctx).state.profileLanguage = account?.locale ?? undefined;
      const hidden = [{ name: 'xsrf', value: xsrf }];
      appContext(ctx).render('logout/confirm', { action, appName: nameOf(ctx), hidden, account, apps });
    },

    async postLogoutSuccessSource(ctx: KoaContextWithOIDC): Promise<void> {
      readLanguages(ctx);
      appContext(ctx).render('logout/done', { appName: nameOf(ctx) });
    },
  };
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
