// Runs after the session of a sign-in is stored: records the browser, and ends the user's oldest sessions if there are more than
// the settings allow.
import type { Cookies } from '../../../base/http/cookies.ts';
import type { Logger } from '../../../base/platform/logger.ts';
import type { KnownBrowsers } from '../../../people/mfa/known-browsers.ts';
import { upstreamLogin } from '../patches/provider/session-auth-time.ts';
import type { SignedInSession } from '../patches/provider/session-saving.ts';
import type { SessionDevices } from '../store/sessions/session-devices.ts';
import { appContext } from './app-context.ts';
import { Provider } from './library.ts';

export interface AfterSignInDependencies {
  cookies: Cookies;
  logger: Logger;
  knownBrowsers: KnownBrowsers;
  sessions: SessionDevices;
  /** Ends the oldest sessions of an account with too many. */
  limitSessions(accountId: string): Promise<void>;
  /** Links the session at an upstream to the session that started with it. */
  attachUpstream(id: string, session: SignedInSession): Promise<void>;
}

/** The sign-in itself is complete, so a failure here is only logged. */
export function createAfterSignIn(dependencies: AfterSignInDependencies) {
  const { cookies, logger, knownBrowsers, sessions, limitSessions, attachUpstream } = dependencies;

  async function recordBrowser(session: SignedInSession): Promise<void> {
    if (!Provider.ctx) return;
    const ctx = appContext(Provider.ctx);
    const browser = await knownBrowsers.recognize(cookies.get(ctx, 'knownBrowser'), session.accountId);
    await sessions.recordDevice(session, ctx.state.request, browser?.id);
  }

  return async function onSignedIn(session: SignedInSession): Promise<void> {
    const upstream = upstreamLogin()?.upstream;
    // Without the upstream session, applications that require a connection reject this session.
    if (upstream)
      await attachUpstream(upstream, session).catch((err) =>
        logger.error({ err }, 'the upstream session was not attached'),
      );
    await recordBrowser(session).catch((err) => logger.error({ err }, 'the browser of a session was not recorded'));
    await limitSessions(session.accountId).catch((err) =>
      logger.error({ err }, 'the sessions over the limit were not ended'),
    );
  };
}
