// Ends the sessions of a user whose roles change, if the setting `sign_out_on_role_change` is on.

import type { Tx } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Sessions } from '../oidc/store/sessions/sessions.ts';
import type { EndSession } from './end-session.ts';

export interface RoleChangeDependencies {
  /** The setting `sign_out_on_role_change`. */
  isEnabled(): boolean;
  sessions: Sessions;
  endSession: EndSession;
}

/** Returns a function to call in the transaction of a role change. */
export function createLogoutOnRoleChange({ isEnabled, sessions, endSession }: RoleChangeDependencies) {
  return async function logoutOnRoleChange(userId: string, by: Actor, tx: Tx): Promise<void> {
    if (!isEnabled() || (await sessions.list(userId, tx)).length === 0) return;
    await endSession.all(userId, 'roles-changed', by, tx);
  };
}
