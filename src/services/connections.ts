// Registered upstream identity providers.
import { createConnections } from '../connections/connections.ts';
import { createAuthority } from '../rbac/authority.ts';
import type { Base } from './base.ts';
import type { UserServices } from './users.ts';

export interface ConnectionServicesDependencies {
  base: Base;
  users: UserServices;
}

export function createConnectionServices({ base, users }: ConnectionServicesDependencies) {
  const { db, sql, vault, audit, now, logger, protectedRows } = base;
  const { assertMay } = createAuthority({ accounts: users.accounts });
  const connections = createConnections({ db, sql, vault, audit, now, logger, protectedRows, assertMay });
  return { connections };
}
