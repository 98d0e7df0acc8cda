// What the operations on connections share.

import type { Tx } from '../../base/storage/database.ts';
import type { Actor, Audit } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { LogoutOnRoleChange } from '../../people/rbac/assign-roles.ts';
import type { Authority } from '../../people/rbac/authority.ts';

/** `gatehouse doctor` has no more of the core. */
export type ConnectionCore = Pick<
  Core,
  'db' | 'sql' | 'vault' | 'audit' | 'now' | 'logger' | 'outgoing' | 'notifyAdministrators'
>;
export type ConnectionsContext = ConnectionCore & {
  assertMay: Authority['assertMay'];
  logoutOnRoleChange: LogoutOnRoleChange;
};

export interface Change {
  by?: Actor;
  tx?: Tx | undefined;
  /** Only the configuration file may change what it declares. */
  source?: 'local' | 'file';
}

type EventType = Extract<Parameters<Audit['record']>[0]['type'], `connection.${string}`>;

/** Records a successful change of a connection in its transaction. */
export function recordChange(
  { audit }: { audit: Audit },
  type: EventType,
  connectionId: string,
  tx: Tx,
  by: Actor = {},
  data: Record<string, unknown> = {},
): Promise<void> {
  return audit.record({ ...by, type, outcome: 'success', data: { connection: connectionId, ...data } }, tx);
}
