// Patch: Client.prototype.backchannelLogout. The engine sends each logout token once, during the user's request. Here it is
// queued, and a job sends it with retries (OpenID Connect Back-Channel Logout 1.0; docs/logout.md).
import { unexpectedAnswer } from '../../../../base/network/outgoing-fetch.ts';
import { outsideRequest } from '../../../../base/storage/request-scope.ts';
import { Provider, requestStorage } from '../../engine/library.ts';
import { type ReportRejectedClient, registrationFault } from '../../registration.ts';

/** Queues a logout token for one client. */
export type QueueLogoutToken = (clientId: string, accountId: string, sid: string | undefined) => Promise<void>;

/** Sends one logout token now. Throws an UnexpectedAnswer when the relying party does not answer with 200 or 204. */
export type SendLogoutToken = (
  clientId: string,
  accountId: string,
  sid: string | undefined,
) => Promise<'sent' | 'switched_off'>;

interface EngineClient {
  clientId: string;
  backchannelLogoutUri?: string;
  backchannelLogout(accountId: string, sid: string | undefined): Promise<void>;
}

/**
 * The engine's own way to send a logout token; call it before `queueLogoutTokens`. It throws for a client whose registration the engine
 * rejects, so that the token is sent when the registration is corrected before the last retry.
 */
export function createLogoutTokenSender(provider: Provider, report: ReportRejectedClient): SendLogoutToken {
  const { backchannelLogout } = provider.Client.prototype as unknown as EngineClient;
  return async function sendLogoutToken(clientId, accountId, sid) {
    // A request may have started the job, and is not what looks the client up: neither for the engine nor for the database.
    const find = () => outsideRequest(() => requestStorage.exit(() => provider.Client.find(clientId)));
    const found = await find().catch((error: unknown) => {
      const fault = registrationFault(error);
      if (fault !== undefined) report(clientId, fault);
      throw error;
    });
    const client = found as unknown as EngineClient | undefined;
    if (!client?.backchannelLogoutUri) return 'switched_off';
    await backchannelLogout.call(client, accountId, sid).catch(async (error: unknown) => {
      const rejected = error instanceof Error && 'response' in error && error.response instanceof Response;
      throw rejected ? await unexpectedAnswer(error.response as Response) : error;
    });
    return 'sent';
  };
}

export function queueLogoutTokens(provider: Provider, queueLogoutToken: QueueLogoutToken): void {
  const prototype = provider.Client.prototype as unknown as EngineClient;
  prototype.backchannelLogout = async function queueBackchannelLogout(accountId, sid) {
    // The end of the session, which follows, queues a token for every client (store/sessions/session-adapter.ts). Only a user who
    // stays signed in logs out of one client.
    if (Provider.ctx?.oidc.params?.logout) return;
    await queueLogoutToken(this.clientId, accountId, sid);
  };
}
