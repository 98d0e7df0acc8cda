// The checks of /readyz: whether this instance can serve a sign-in, which writes to the database.
import path from 'node:path';
import type { Check, CheckResult } from '../http/health.ts';
import { createWriteProbe } from '../jobs/write-probe.ts';
import { freeBytes } from '../platform/folders.ts';
import type { Services } from '../services.ts';
import { sqliteFileOf } from '../storage/database-url.ts';
import { createSchemaCheck } from '../storage/migrations/newer.ts';
import { unavailableIn } from '../storage/unavailable.ts';

const MIB = 1024 * 1024;

export function readinessChecks({ config, db, keyring, logger, now }: Services): Record<string, Check> {
  const write = createWriteProbe({ db, now });
  const newerSchema = createSchemaCheck(db);
  const report = createReporter((message) => logger.error(message));
  const reportSpace = createReporter((message) => logger.warn(message));
  return {
    database: () =>
      withReason(async () => {
        await write();
        return true;
      }),
    keys: async () => keyring.jwks().keys.length > 0,
    // A newer version migrated the database while this server runs.
    schema: () =>
      withReason(async () => {
        const message = await newerSchema();
        report(message);
        return message === undefined;
      }),
    async disk() {
      const message = lowSpace(config);
      reportSpace(message);
      return message === undefined ? true : { passed: true, warning: message };
    },
  };
}

/** The result of a check; when the database cannot be used, the reason for it, so that no other fault is suspected. */
async function withReason(check: () => Promise<boolean>): Promise<CheckResult> {
  try {
    return await check();
  } catch (error) {
    return { passed: false, reason: unavailableIn(error)?.reason ?? 'failed' };
  }
}

/** Which folder has less free space than MIN_FREE_MB; undefined when none has. */
function lowSpace({ dataDir, databaseUrl, minFreeMb }: Services['config']): string | undefined {
  const file = sqliteFileOf(databaseUrl);
  for (const folder of [...(file === undefined ? [] : [path.dirname(file)]), dataDir]) {
    const free = Math.floor(freeBytes(folder) / MIB);
    if (free < minFreeMb) return `${free} MB free, less than MIN_FREE_MB (${minFreeMb})`;
  }
  return undefined;
}

/** Logs a message once, until it is gone. */
function createReporter(log: (message: string) => void): (message: string | undefined) => void {
  let isReported = false;
  return (message) => {
    if (message !== undefined && !isReported) log(message);
    isReported = message !== undefined;
  };
}
