// Creates what ends and lists sessions: the sessions of the engine, the logout runs, and the end of sessions for every reason.
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import { createSessions } from '../oidc/store/sessions/sessions.ts';
import { createEndSession, createSignOutOnRoleChange, type SessionOptions } from './end-session.ts';
import { createLogoutRunStore } from './logout-run-store.ts';

export type SessionServices = ReturnType<typeof createSessionServices>;

export function createSessionServices(services: Core & People, options: SessionOptions) {
  const sessions = createSessions(services);
  const runs = createLogoutRunStore(services);
  const endSession = createEndSession({ ...services, ...options, sessions, runs });
  return {
    sessions,
    runs,
    endSession,
    signOutOnRoleChange: createSignOutOnRoleChange(services, { sessions, endSession }),
  };
}
