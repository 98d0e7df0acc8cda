// The functions that the engine's end-session endpoint calls when the user confirms a logout (OIDC RP-Initiated Logout 1.0).
import type { Cookies } from '../../base/http/cookies.ts';
import { languagesOf } from '../../base/http/pages/language.ts';
import type { OnSessionDestroyed } from '../oidc/store/sessions/session-adapter.ts';
import type { EndSession } from './end-session.ts';
import { createLogoutBrowserOf } from './front-channel/logout-browser.ts';
import type { LogoutCompletion } from './logout-run.ts';
import type { LogoutRunStore } from './logout-run-store.ts';

export interface EngineLogoutHooksDependencies {
  endSession: EndSession;
  runs: LogoutRunStore;
  cookies: Cookies;
  /** client_id of this server's own pages. */
  ownClientId: string;
}

export type EngineLogoutHooks = ReturnType<typeof createEngineLogoutHooks>;

export function createEngineLogoutHooks(dependencies: EngineLogoutHooksDependencies) {
  const { endSession, runs, cookies, ownClientId } = dependencies;
  const logoutBrowserOf = createLogoutBrowserOf({ cookies });
  return {
    queueLogoutToken: endSession.queueLogoutToken,

    endSession: (async (uid, ctx, { clientId, actorId, returnUri }) => {
      // For this server's own pages, the page of the logout run displays the result.
      const isRelyingParty = returnUri !== undefined && clientId !== ownClientId;
      const completion: LogoutCompletion = isRelyingParty ? { kind: 'oidc', uri: returnUri } : { kind: 'page' };
      const ended = await endSession.one(uid, 'signed-out', {
        ...(clientId && { clientId }),
        ...(actorId && { actorId }),
        request: ctx.state.request,
        frontChannel: { browser: logoutBrowserOf(ctx), completion, languages: languagesOf(ctx.query.ui_locales) },
      });
      const run = ended?.run;
      if (!run) return;
      // Without front-channel steps the browser goes straight back; deliveries need no browser.
      if (isRelyingParty && run.browserSteps === 0) await runs.finish(run.id);
      else ctx.state.logoutRunPath = `/signout/${run.id}`;
    }) satisfies OnSessionDestroyed,
  };
}
