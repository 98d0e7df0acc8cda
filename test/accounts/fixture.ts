// A database with accounts for the tests of other domains: real tables, a clock that the test moves, no HTTP.

import { Writable } from 'node:stream';
import { createLogger } from '../../src/base/platform/logger.ts';
import { randomToken } from '../../src/base/platform/random.ts';
import { createVault } from '../../src/base/platform/vault.ts';
import { createProtectedRows } from '../../src/base/storage/protected-rows.ts';
import { createAudit } from '../../src/core/audit/audit.ts';
import type { Account } from '../../src/people/accounts/account.ts';
import { createAccounts, type NewAccount } from '../../src/people/accounts/accounts.ts';
import { createAuthority } from '../../src/people/rbac/authority.ts';
import { testClock } from '../support/clock.ts';
import { testDatabase } from '../support/database/database.ts';
import { fixedSettings, servicesOf } from '../support/services-of.ts';

/** Opens one; close it in afterAll. */
export async function openPeople() {
  const { database, url, close } = await testDatabase();
  const { db, sql } = database;
  const clock = testClock('2026-03-01T12:00:00Z');
  const log: string[] = [];
  const destination = new Writable({ write: (line, _encoding, done) => done(void log.push(String(line))) });
  const logger = createLogger({ level: 'info', format: 'json', destination });
  const vault = createVault([Buffer.from(randomToken(32), 'base64url')]);
  const audit = createAudit(servicesOf({ db, sql, vault, logger, now: clock.now }));
  const alarms: string[] = [];
  const alarm = { raise: async (_kind: string, message: string) => void alarms.push(message) };
  database.protect(createProtectedRows({ vault, alarm }));
  const accounts = createAccounts(
    servicesOf({ ...database, vault, now: clock.now, audit, settings: fixedSettings(), wake: () => {} }),
  );
  const authority = createAuthority({ accounts });

  /** A new account for each test. */
  const person = (fields: Partial<NewAccount> = {}): Promise<Account> => {
    const username = fields.username ?? `person-${randomToken(6).toLowerCase().replaceAll('_', '-')}x`;
    return accounts.create({ email: `${username}@example.com`, ...fields, username });
  };
  return {
    db,
    sql,
    url,
    clock,
    now: clock.now,
    log,
    logger,
    audit,
    accounts,
    authority,
    alarms,
    vault,
    person,
    close,
  };
}

export type People = Awaited<ReturnType<typeof openPeople>>;

/** The results of `count` parallel calls of `work`. */
export function together<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => work(index)));
}
