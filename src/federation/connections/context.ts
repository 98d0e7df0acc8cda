// What the operations on connections share.

import type { Clock } from '../../base/platform/clock.ts';
import type { Logger } from '../../base/platform/logger.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { Sql } from '../../base/storage/statements.ts';
import type { Actor, Audit } from '../../core/audit/audit.ts';
import type { AdministratorMail } from '../../core/mail/messages.ts';
import type { Authority } from '../../people/rbac/authority.ts';

export interface ConnectionsContext {
  db: Db;
  sql: Sql;
  vault: Vault;
  audit: Audit;
  now: Clock;
  logger: Logger;
  protectedRows: ProtectedRows;
  assertMay: Authority['assertMay'];
  /** Queues a mail to each administrator. */
  notifyAdministrators(message: AdministratorMail, tx: Tx): Promise<void>;
}

export interface Change {
  by?: Actor;
  tx?: Tx | undefined;
  /** Only the configuration file may change what it declares. */
  source?: 'local' | 'file';
}

type EventType = Extract<Parameters<Audit['record']>[0]['type'], `connection.${string}`>;

/** Records a successful change of a connection in its transaction. */
export function recordChange(
  { audit }: Pick<ConnectionsContext, 'audit'>,
  type: EventType,
  connectionId: string,
  tx: Tx,
  by: Actor = {},
  data: Record<string, unknown> = {},
): Promise<void> {
  return audit.record({ ...by, type, outcome: 'success', data: { connection: connectionId, ...data } }, tx);
}
