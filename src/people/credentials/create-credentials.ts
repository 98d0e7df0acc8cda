// Builds the password services: hashing, strength, breached passwords, and the passwords of accounts.

import type { Clock } from '../../base/platform/clock.ts';
import type { Logger } from '../../base/platform/logger.ts';
import type { Db } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { Sql } from '../../base/storage/statements.ts';
import type { Audit } from '../../core/audit/audit.ts';
import { type BreachedDependencies, createBreached } from './breached.ts';
import { type CredentialsDependencies, createCredentials } from './credentials.ts';
import { createPasswords } from './password.ts';
import { createStrengthMeter } from './strength.ts';

// The meter of the pages is separate from the one that decides, so that a flood of estimates cannot block new passwords.
const MAX_WAITING_ESTIMATES = 8;

export interface PasswordServicesDependencies
  extends Pick<CredentialsDependencies, 'hasSecondFactor' | 'abandonSignIns'> {
  db: Db;
  sql: Sql;
  now: Clock;
  audit: Audit;
  protectedRows: ProtectedRows;
  logger: Logger;
  issuerUrl: URL;
  /** The guarded fetch for outgoing calls. */
  outgoing: NonNullable<BreachedDependencies['rangeFetch']>;
  /** The setting `breached_password_lookup`. */
  isLookupOn(): boolean;
  /** The setting `brand_name`. */
  brandName(): string | undefined;
}

/** Builds the services; `close` ends their worker threads. */
export function createPasswordServices(dependencies: PasswordServicesDependencies) {
  const { db, sql, now, audit, protectedRows, logger, issuerUrl, outgoing, isLookupOn, brandName } = dependencies;
  const { hasSecondFactor, abandonSignIns } = dependencies;
  const passwords = createPasswords();
  const strength = createStrengthMeter();
  const strengthMeter = createStrengthMeter({ maxWaiting: MAX_WAITING_ESTIMATES });
  const breached = createBreached({ strength, logger, rangeFetch: outgoing, isLookupOn });
  const serviceNames = () => ['gatehouse', issuerUrl.hostname, brandName() ?? ''];
  return {
    passwords,
    strengthMeter,
    serviceNames,
    credentials: createCredentials({
      db,
      sql,
      now,
      audit,
      protectedRows,
      passwords,
      breached,
      hasSecondFactor,
      abandonSignIns,
      serviceNames,
    }),
    async close() {
      await Promise.all([passwords.close(), strength.close(), strengthMeter.close()]);
    },
  };
}
