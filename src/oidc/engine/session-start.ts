// What follows a sign-in, once its session is stored: the browser is recorded, and the user's oldest sessions end where there
// are more than the settings allow.
import type { Cookies } from '../../http/cookies.ts';
import type { KnownBrowsers } from '../../mfa/known-browsers.ts';
import type { Logger } from '../../platform/logger.ts';
import type { SignedInSession } from '../patches/session-saving.ts';
import type { SessionDevices } from '../store/session-devices.ts';
import { appContext } from './app-context.ts';
import { Provider } from './library.ts';

export interface SessionStartDependencies {
  cookies: Cookies;
  logger: Logger;
  knownBrowsers: Pick<KnownBrowsers, 'recognise'>;
  sessions: Pick<SessionDevices, 'recordDevice'>;
  /** Ends the oldest sessions of an account with too many. */
  limitSessions(accountId: string): Promise<void>;
}

/** The sign-in itself is complete, so a failure here is only logged. */
export function createSessionStart(dependencies: SessionStartDependencies) {
  const { cookies, logger, knownBrowsers, sessions, limitSessions } = dependencies;

  async function recordBrowser(session: SignedInSession): Promise<void> {
    if (!Provider.ctx) return;
    const ctx = appContext(Provider.ctx);
    const browser = await knownBrowsers.recognise(cookies.get(ctx, 'knownBrowser'), session.accountId);
    await sessions.recordDevice(session, ctx.state.request, browser?.id);
  }

  return async function signedIn(session: SignedInSession): Promise<void> {
    await recordBrowser(session).catch((err) => logger.error({ err }, 'the browser of a session was not recorded'));
    await limitSessions(session.accountId).catch((err) => logger.error({ err }, 'the oldest session did not end'));
  };
}
