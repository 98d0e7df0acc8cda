// The engine's adapter for sessions. When a logout is confirmed at the end-session endpoint, the engine destroys the
// session: at that moment this server's own logout runs, which ends session and tokens, queues the deliveries and writes
// the audit entry in one transaction, as for every other way a session ends.

import type { Context } from '../../../../base/http/context.ts';
import { appContext } from '../../engine/app-context.ts';
import { type Adapter, Provider } from '../../engine/library.ts';

/** Who requested the logout of this browser's session, and where the browser goes afterwards. */
export interface EndSessionRequest {
  clientId?: string;
  actorId?: string;
  /** `post_logout_redirect_uri` with `state`; the engine has checked it. */
  returnUri?: string;
}

/** Ends a session and notifies every client that takes part in it; may send the browser elsewhere than requested. */
export type OnSessionDestroyed = (uid: string, ctx: Context, request: EndSessionRequest) => Promise<void>;

/** What the engine keeps of a logout request until it is confirmed. */
interface LogoutState {
  clientId?: string;
  postLogoutRedirectUri?: string;
  state?: string;
}

/** @param adapter stores the sessions */
export function createSessionAdapter(adapter: Adapter, endSession: OnSessionDestroyed): Adapter {
  return {
    ...adapter,
    async destroy(id) {
      const { ctx } = Provider;
      const session = ctx?.oidc.session;
      if (ctx && session?.jti === id) {
        const { clientId, postLogoutRedirectUri, state } = (session.state ?? {}) as LogoutState;
        await endSession(session.uid, appContext(ctx), {
          ...(clientId && { clientId }),
          ...(session.accountId && { actorId: session.accountId }),
          ...(postLogoutRedirectUri && { returnUri: withState(postLogoutRedirectUri, state) }),
        });
      }
      await adapter.destroy(id);
    },
  };
}

/** OpenID Connect RP-Initiated Logout 1.0, section 3. */
function withState(uri: string, state: string | undefined): string {
  const url = new URL(uri);
  if (state !== undefined) url.searchParams.set('state', state);
  return url.href;
}
