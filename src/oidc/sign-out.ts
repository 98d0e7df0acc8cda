// A sign-out confirmed at the engine's end-session endpoint is done by our own operation: session, tokens, deliveries
// and audit in one transaction, as for every other way a session ends. Also how logout tokens leave the engine.

import type { Context } from '../http/context.ts';
import { Provider } from './library.ts';
import { outer } from './pages.ts';

/** Who wants the session of this browser ended, and where they want to be then. */
export interface SignOutRequest {
  clientId?: string;
  actorId?: string;
  /** `post_logout_redirect_uri` with `state`; both were checked. */
  returnUri?: string;
}

export interface SignOutHooks {
  /** Ends the session and tells every application that took part in it; may lead the browser elsewhere than asked. */
  endSession(uid: string, ctx: Context, request: SignOutRequest): Promise<void>;
  /** Tells one application that it is signed out (OIDC Back-Channel Logout 1.0); nobody waits for it to answer. */
  queueLogout(clientId: string, accountId: string, sid: string | undefined): Promise<void>;
}

export type SendLogoutToken = (
  clientId: string,
  accountId: string,
  sid: string | undefined,
) => Promise<'sent' | 'no-such-client'>;

interface ClientPrototype {
  clientId: string;
  backchannelLogoutUri?: string;
  backchannelLogout(accountId: string, sid: string | undefined): Promise<void>;
  includeSid(): boolean;
}

interface SessionPrototype {
  uid: string;
  accountId?: string;
  state?: { clientId?: string; postLogoutRedirectUri?: string; state?: string };
  destroy(): Promise<void>;
}

/** Puts our sign-out in place of the engine's; returns the engine's own way to send one logout token. */
export function takeOverSignOut(provider: Provider, { endSession, queueLogout }: SignOutHooks): SendLogoutToken {
  const session = provider.Session.prototype as unknown as SessionPrototype;
  const destroy = session.destroy;
  session.destroy = async function end() {
    const { ctx } = Provider;
    const { clientId, postLogoutRedirectUri, state } = this.state ?? {};
    if (ctx) {
      await endSession(this.uid, outer(ctx), {
        ...(clientId && { clientId }),
        ...(this.accountId && { actorId: this.accountId }),
        ...(postLogoutRedirectUri && { returnUri: withState(postLogoutRedirectUri, state) }),
      });
    }
    await destroy.call(this);
  };

  const client = provider.Client.prototype as unknown as ClientPrototype;
  const send = client.backchannelLogout;
  client.backchannelLogout = async function queue(accountId, sid) {
    // The end of the session, which follows, tells everybody; only who stays signed in lets go of one application.
    if (Provider.ctx?.oidc.params?.logout) return;
    await queueLogout(this.clientId, accountId, sid);
  };
  // Every ID token names its session, so that a sign-out request can prove which one it means (sign-out-proof.ts).
  client.includeSid = () => true;

  return async function sendLogoutToken(clientId, accountId, sid) {
    const found = (await provider.Client.find(clientId)) as unknown as ClientPrototype | undefined;
    if (!found?.backchannelLogoutUri) return 'no-such-client';
    await send.call(found, accountId, sid);
    return 'sent';
  };
}

/** As the engine writes it (RP-Initiated Logout 1.0, section 3). */
function withState(uri: string, state: string | undefined): string {
  const url = new URL(uri);
  if (state !== undefined) url.searchParams.set('state', state);
  return url.href;
}
