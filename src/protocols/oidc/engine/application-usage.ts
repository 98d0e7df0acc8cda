// Application usage: which applications users open with a session that they already have. One audit entry for each account,
// application and hour, so that the portal can list what was used lately without a write for each request.

import { limits } from '../../../base/limits.ts';
import type { RequestInfo } from '../../../base/platform/request-info.ts';
import type { Core } from '../../../core/core.ts';

export type RecordUsage = (accountId: string, clientId: string, request: RequestInfo) => Promise<void>;

const MAX_REMEMBERED = 10_000;

export function createUsageRecorder({
  audit,
  now,
  exceptOf,
}: Core & {
  /** The client_id of the server's own pages, whose use is not recorded. */
  exceptOf: string;
}): RecordUsage {
  // Saves most of the writes; another instance does not know of it and writes once more.
  const recordedAt = new Map<string, number>();

  return async function recordUsage(accountId, clientId, request) {
    if (clientId === exceptOf) return;
    const key = `${accountId}\n${clientId}`;
    const at = now().getTime();
    if (at - (recordedAt.get(key) ?? Number.NEGATIVE_INFINITY) < limits.applicationUsage.seconds * 1000) return;
    if (recordedAt.size >= MAX_REMEMBERED) recordedAt.clear();
    recordedAt.set(key, at);
    await audit.record({
      type: 'authorization.granted',
      outcome: 'success',
      actorId: accountId,
      subjectId: accountId,
      clientId,
      request,
    });
  };
}
