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
  const logNewerSchema = createOnceLogger((message) => logger.error(message));
  const logSchemaError = createOnceLogger((message) => logger.error(message));
  const logLowSpace = createOnceLogger((message) => logger.warn(message));

  async function checkSchema(): Promise<CheckResult> {
    const message = await newerSchema();
    logNewerSchema(message);
    logSchemaError(undefined);
    return message === undefined;
  }

  return {
    database: async () => {
      const error = await errorOf(write);
      return error === undefined ? true : failedBy(error);
    },
    keys: async () => keyring.jwks().keys.length > 0,
    // A newer version migrated the database while this server runs.
    async schema() {
      try {
        return await checkSchema();
      } catch {
        // The read may have failed only because the pool was full. The write gives the better reason; where it succeeds, a second read decides.
        const error = await errorOf(write);
        if (error !== undefined) return failedBy(error);
      }
      return checkSchema().catch((error: unknown) => {
        if (!unavailableIn(error)) logSchemaError(`the schema of the database could not be read: ${String(error)}`);
        return failedBy(error);
      });
    },
    async disk() {
      const message = lowSpace(config);
      logLowSpace(message);
      if (isDatabaseDiskFull(config)) return { passed: false, reason: 'disk full' };
      return message === undefined ? true : { passed: true, warning: message };
    },
  };
}

async function errorOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error ?? 'unknown';
  }
}

/** A check that failed with this error; the reason says when it is only that the database cannot be used. */
function failedBy(error: unknown): CheckResult {
  return { passed: false, reason: unavailableIn(error)?.reason ?? 'failed' };
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

/** Logs a message once, and again when it was gone in between (undefined). */
function createOnceLogger(log: (message: string) => void): (message: string | undefined) => void {
  let isReported = false;
  return (message) => {
    if (message !== undefined && !isReported) log(message);
    isReported = message !== undefined;
  };
}
