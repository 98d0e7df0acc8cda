// Which applications people open with a session that they have already: one audit entry for each person, application and
// hour, so that the portal knows what was used lately without a write for every request.
import type { Audit } from '../audit/audit.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { RequestInfo } from '../platform/request-info.ts';

export type NoteOpened = (accountId: string, clientId: string, request: RequestInfo) => Promise<void>;

const MAX_NOTED = 10_000;

export function createNoteOpened({ audit, now }: { audit: Pick<Audit, 'record'>; now: Clock }): NoteOpened {
  // Spares most of the writes; another instance that does not know of it writes once more.
  const noted = new Map<string, number>();

  return async (accountId, clientId, request) => {
    const key = `${accountId}\n${clientId}`;
    const at = now().getTime();
    if (at - (noted.get(key) ?? Number.NEGATIVE_INFINITY) < limits.opened.seconds * 1000) return;
    if (noted.size >= MAX_NOTED) noted.clear();
    noted.set(key, at);
    const about = { actorId: accountId, subjectId: accountId, clientId, request };
    await audit.record({ type: 'authorization.granted', outcome: 'success', ...about });
  };
}
