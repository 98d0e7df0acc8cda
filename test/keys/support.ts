import { pino } from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { createVault } from '../../src/base/platform/vault.ts';
import type { Database } from '../../src/base/storage/database.ts';
import { createAudit } from '../../src/core/audit/audit.ts';
import { createKeyring, type Keyring } from '../../src/core/keys/keyring.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { testSecret } from '../support/secret.ts';
import { servicesOf } from '../support/services-of.ts';

export interface Instance {
  keyring: Keyring;
  clock: TestClock;
}

export interface InstanceOptions extends Pick<Database, 'db' | 'sql'> {
  secrets?: Buffer[];
  clock?: TestClock;
  sessionSeconds?: () => number;
  /** Collects the log lines. */
  log?: string[];
}

export const startOfTests = new Date('2026-05-01T00:00:00Z');

/** The keyring of one instance of the service. All instances share a secret unless `secrets` is given. */
export function anInstance({
  db,
  sql,
  secrets = [testSecret],
  clock = testClock(startOfTests),
  log,
  sessionSeconds,
}: InstanceOptions): Instance {
  const logger = log
    ? pino({ level: 'trace' }, { write: (line: string) => void log.push(line) })
    : pino({ level: 'silent' });
  const keyring = createKeyring({
    ...servicesOf({
      db,
      vault: createVault(secrets),
      now: clock.now,
      config: { issuer: 'https://id.example.com' } as never,
      logger,
    }),
    audit: createAudit(servicesOf({ db, sql, vault: createVault(secrets), logger, now: clock.now })),
    sessionSeconds,
  });
  return { keyring, clock };
}

/** The keys as `oidc active RS256`, in the order of keyring.list(). */
export async function statesOf(keyring: Keyring): Promise<string[]> {
  return (await keyring.list()).map(({ use, state, alg }) => `${use} ${state} ${alg}`);
}

/** RSA keys of 1024 bits for the tests of this file or describe block, which take a twentieth of the time: for tests of rows and dates. */
export function smallRsaKeys(): void {
  const { rsaBits } = limits.keys;
  beforeAll(() => void Object.assign(limits.keys, { rsaBits: 1024 }));
  afterAll(() => void Object.assign(limits.keys, { rsaBits }));
}
