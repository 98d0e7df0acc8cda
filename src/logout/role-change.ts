// Ends the sessions of a user whose roles change, where the setting `sign_out_on_role_change` says so.
import type { Actor } from '../audit/audit.ts';
import type { Sessions } from '../oidc/store/sessions/sessions.ts';
import type { Tx } from '../storage/database.ts';
import type { EndSession } from './end-session.ts';

export interface RoleChangeDependencies {
  /** The setting. */
  signOutOnRoleChange(): boolean;
  sessions: Pick<Sessions, 'list'>;
  endSession: Pick<EndSession, 'all'>;
}

/** Returns what is called in the transaction of a role change. */
export function createLogoutOnRoleChange({ signOutOnRoleChange, sessions, endSession }: RoleChangeDependencies) {
  return async function logoutOnRoleChange(userId: string, by: Actor, tx: Tx): Promise<void> {
    if (!signOutOnRoleChange() || (await sessions.list(userId, tx)).length === 0) return;
    await endSession.all(userId, 'roles-changed', by, tx);
  };
}
