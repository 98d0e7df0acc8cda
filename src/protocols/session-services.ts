// Creates what ends and lists sessions: the sessions of the engine, the logout runs, and the end of sessions for every reason.
import type { Tx } from '../base/storage/database.ts';
import type { Core } from '../core/core.ts';
import type { People } from '../people/people.ts';
import { createEndSession, createLogoutOnRoleChange } from './logout/end-session.ts';
import { createLogoutRunStore } from './logout/logout-run-store.ts';
import type { PlanUpstream } from './logout/upstream.ts';
import { createSessions } from './oidc/store/sessions/sessions.ts';

export type SessionServices = ReturnType<typeof createSessionServices>;

export interface SessionOptions {
  /** The client of the account pages and the console. */
  ownClientId: string;
  /** Ends the sign-ins of an account that are not finished. */
  abandonSignIns(userId: string, tx: Tx): Promise<void>;
  planUpstream: PlanUpstream;
  /** Starts the logout deliveries without waiting for the next run of their job. */
  wakeLogoutDeliveries(): void;
}

export function createSessionServices(services: Core & People, options: SessionOptions) {
  const { mfa, settings } = services;
  const idleSeconds = () => settings.latest().session_idle_minutes * 60;
  const sessions = createSessions({ ...services, idleSeconds });
  const runs = createLogoutRunStore({ ...services, ...options });
  const endSession = createEndSession({
    ...services,
    ...options,
    sessions,
    runs,
    endTrust: async (accountId, { sessions: uids, except }, tx) =>
      mfa.knownBrowsers.endTrust(accountId, tx, {
        ...(uids && { only: await sessions.browsersOf(uids, tx) }),
        ...(except && { except: await sessions.browsersOf([except], tx) }),
      }),
  });
  return {
    sessions,
    runs,
    endSession,
    logoutOnRoleChange: createLogoutOnRoleChange(services, { sessions, endSession }),
  };
}
