// Signing keys, single sign-on sessions with their logout, and roles, whose change may end sessions.

import { FIRST_PARTY_CLIENT_ID } from '../../account/rp/first-party-client.ts';
import { createKeyring } from '../../core/keys/keyring.ts';
import { createSetConnectionRoles } from '../../people/rbac/connection-roles.ts';
import { createRoles } from '../../people/rbac/roles.ts';
import { createEndSession } from '../../protocols/logout/end-session.ts';
import { createLogoutRunStore } from '../../protocols/logout/logout-run-store.ts';
import { createLogoutOnRoleChange } from '../../protocols/logout/role-change.ts';
import { createSessions } from '../../protocols/oidc/store/sessions/sessions.ts';
import { abandonSignIns } from '../../sign-in/abandon-sign-ins.ts';
import type { Base } from './base.ts';
import type { FederationServices } from './federation.ts';
import type { UserServices } from './users.ts';

export interface SessionServicesDependencies {
  base: Base;
  users: UserServices;
  federation: FederationServices;
  /** Starts the logout deliveries without waiting for the next run of their job. */
  wakeLogoutDeliveries(): void;
}

export type SessionServices = ReturnType<typeof createSessionServices>;

export function createSessionServices({
  base,
  users: { accounts, mfa },
  federation: { planUpstream },
  wakeLogoutDeliveries,
}: SessionServicesDependencies) {
  const { config, logger, now, db, sql, vault, audit, protectedRows, settings } = base;
  const { issuer } = config;
  const setting = settings.latest;
  const sessionSeconds = () => setting().session_hours * 3600;
  const keyring = createKeyring({ db, vault, now, issuer, logger, audit, sessionSeconds });
  const idleSeconds = () => setting().session_idle_minutes * 60;
  const sessions = createSessions({ db, sql, now, protectedRows, idleSeconds });
  const runs = createLogoutRunStore({ db, now, audit, protectedRows, wakeLogoutDeliveries });
  const endSession = createEndSession({
    abandonSignIns,
    db,
    now,
    audit,
    protectedRows,
    sessions,
    runs,
    planUpstream,
    wakeLogoutDeliveries,
    ownClientId: FIRST_PARTY_CLIENT_ID,
    endTrust: async (accountId, { sessions: uids, except }, tx) =>
      mfa.knownBrowsers.endTrust(accountId, tx, {
        ...(uids && { only: await sessions.browsersOf(uids, tx) }),
        ...(except && { except: await sessions.browsersOf([except], tx) }),
      }),
  });
  const logoutOnRoleChange = createLogoutOnRoleChange({
    isEnabled: () => setting().sign_out_on_role_change,
    sessions,
    endSession,
  });
  return {
    keyring,
    sessions,
    runs,
    endSession,
    roles: createRoles({ db, now, audit, accounts, protectedRows, logoutOnRoleChange }),
    setConnectionRoles: createSetConnectionRoles({ db, audit, protectedRows, logoutOnRoleChange }),
  };
}
