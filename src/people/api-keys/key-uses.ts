// The uses of API keys: when each was last used, and one audit event an hour for each, so that no call has to write. What a call
// changes is audited besides, with the key.

import { limits } from '../../base/limits.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { ApiKey } from './api-keys.ts';

export type RecordKeyUse = (key: ApiKey, by: Actor) => void;

const MAX_REMEMBERED = 10_000;

/** Returns without waiting; a use that could not be stored is logged. */
export function createKeyUses({ db, audit, now, logger }: Core): RecordKeyUse {
  // Another instance does not know of it and writes once more.
  const recordedAt = new Map<string, number>();

  return ({ id, name, ownerId, lastUsedAt }, by) => {
    const at = now();
    const isRecent = (time = 0) => Math.abs(at.getTime() - time) < limits.applicationUsage.seconds * 1000;
    if (isRecent(recordedAt.get(id)) || isRecent(lastUsedAt?.getTime())) return;
    if (recordedAt.size >= MAX_REMEMBERED) recordedAt.clear();
    recordedAt.set(id, at.getTime());
    const data = { keyId: id, name };
    Promise.all([
      db.apiKey.updateMany({ where: { id }, data: { lastUsedAt: at } }),
      audit.record({ ...by, type: 'api-key.used', outcome: 'success', subjectId: ownerId, data }),
    ]).catch((err: unknown) => logger.warn({ err }, 'the use of an API key was not stored'));
  };
}
