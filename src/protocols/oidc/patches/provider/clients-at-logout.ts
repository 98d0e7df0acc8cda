// Patch: Client.find. A confirmed logout looks up every client of the session, and the engine ends the request at one whose stored
// registration it rejects. Here that client is unknown to the logout, so that all others are signed out.
import { type Client, Provider } from '../../engine/library.ts';
import { findUnlessRejected, type ReportRejectedClient } from '../../registration/registration-fault.ts';

export function skipRejectedClients(provider: Provider, report: ReportRejectedClient): void {
  const { find } = provider.Client;
  // Every request of a client passes here, so there is no promise of its own for the others.
  provider.Client.find = function findForLogout(id: string): Promise<Client | undefined> {
    if (Provider.ctx?.oidc?.route !== 'end_session_confirm') return find.call(provider.Client, id);
    return findUnlessRejected(
      () => find.call(provider.Client, id),
      (fault) => report(id, fault),
    );
  };
}
