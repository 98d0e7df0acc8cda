// When each client secret was last used, so that an administrator knows when an old one can be revoked. At most one write for each secret
// and hour, apart from the answer that it belongs to.
import { limits } from '../base/limits.ts';
import type { Clock } from '../base/platform/clock.ts';
import type { Logger } from '../base/platform/logger.ts';
import type { Db } from '../base/storage/database.ts';

export type RecordSecretUse = (secretId: string) => void;

const MAX_REMEMBERED = 10_000;

export interface SecretUsesDependencies {
  db: Db;
  now: Clock;
  logger: Logger;
}

/** Returns without waiting; a use that could not be stored is logged. */
export function createSecretUses({ db, now, logger }: SecretUsesDependencies): RecordSecretUse {
  // Saves most of the writes; another instance does not know of it and writes once more.
  const recordedAt = new Map<string, number>();

  return (secretId) => {
    const lastUsedAt = now();
    const before = recordedAt.get(secretId) ?? Number.NEGATIVE_INFINITY;
    if (lastUsedAt.getTime() - before < limits.applicationUsage.seconds * 1000) return;
    if (recordedAt.size >= MAX_REMEMBERED) recordedAt.clear();
    recordedAt.set(secretId, lastUsedAt.getTime());
    const row = { secretId, lastUsedAt };
    db.clientSecretUse
      .upsert({ where: { secretId }, create: row, update: { lastUsedAt } })
      .catch((err: unknown) => logger.warn({ err }, 'the use of a client secret was not stored'));
  };
}
