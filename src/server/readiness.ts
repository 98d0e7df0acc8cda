// The checks of /readyz: whether this instance can serve a sign-in, which writes to the database.
import path from 'node:path';
import type { Check, CheckResult } from '../base/http/health.ts';
import { freeBytes, isFull } from '../base/platform/folders.ts';
import { sqliteFileOf } from '../base/storage/database-url.ts';
import { createSchemaCheck } from '../base/storage/migrations/newer.ts';
import { unavailableIn } from '../base/storage/unavailable.ts';
import { createWriteProbe } from '../core/jobs/scheduler.ts';
import type { Services } from './services.ts';

const MIB = 1024 * 1024;

export function readinessChecks(services: Services): Record<string, Check> {
  const { config, db, keyring, logger } = services;
  const write = createWriteProbe(services);
  const newerSchema = createSchemaCheck(db);
  const report = createReporter((message) => logger.error(message));
  const reportFault = createReporter((message) => logger.error(message));
  const reportSpace = createReporter((message) => logger.warn(message));

  async function schema(): Promise<CheckResult> {
    const message = await newerSchema();
    report(message);
    reportFault(undefined);
    return message === undefined;
  }

  return {
    database: async () => failedBy(await faultOf(write)) ?? true,
    keys: async () => keyring.jwks().keys.length > 0,
    // A newer version migrated the database while this server runs.
    async schema() {
      try {
        return await schema();
      } catch {
        // The write knows more: a full pool is busy, whatever its connections wait for. Where it succeeds, one read says nothing yet.
        const failed = failedBy(await faultOf(write));
        if (failed) return failed;
      }
      return schema().catch((error: unknown) => {
        if (!unavailableIn(error)) reportFault(`the schema of the database could not be read: ${String(error)}`);
        return failedBy(error) ?? false;
      });
    },
    async disk() {
      const message = lowSpace(config);
      reportSpace(message);
      if (isDatabaseDiskFull(config)) return { passed: false, reason: 'disk full' };
      return message === undefined ? true : { passed: true, warning: message };
    },
  };
}

async function faultOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error ?? 'unknown';
  }
}

/** The result of a check that this error has ended, with the reason when the database cannot be used, so that no other fault is suspected. */
function failedBy(error: unknown): CheckResult | undefined {
  return error === undefined ? undefined : { passed: false, reason: unavailableIn(error)?.reason ?? 'failed' };
}

function isDatabaseDiskFull({ databaseUrl }: Services['config']): boolean {
  const file = sqliteFileOf(databaseUrl);
  return file !== undefined && isFull(path.dirname(file));
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
