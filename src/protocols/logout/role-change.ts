// Ends the sessions of a user whose roles change, if the setting `sign_out_on_role_change` is on.

import type { Tx } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { Sessions } from '../oidc/store/sessions/sessions.ts';
import type { EndSession } from './end-session.ts';

/** Returns a function to call in the transaction of a role change. */
export function createLogoutOnRoleChange(
  { settings }: Core,
  { sessions, endSession }: { sessions: Sessions; endSession: EndSession },
) {
  return async function logoutOnRoleChange(userId: string, by: Actor, tx: Tx): Promise<void> {
    if (!settings.latest().sign_out_on_role_change || (await sessions.list(userId, tx)).length === 0) return;
    await endSession.all(userId, 'roles-changed', by, tx);
  };
}
