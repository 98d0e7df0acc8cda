// What every service is created with: configuration, log, clock, database and encryption.
import type { Config } from './config.ts';
import type { Clock } from './platform/clock.ts';
import type { Logger } from './platform/logger.ts';
import type { Vault } from './platform/vault.ts';
import type { Db } from './storage/database.ts';
import type { Sql } from './storage/statements.ts';

export interface Base {
  config: Config;
  logger: Logger;
  now: Clock;
  db: Db;
  sql: Sql;
  vault: Vault;
}
