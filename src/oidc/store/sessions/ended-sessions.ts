// Ended sessions, stored as rows until they would have expired. The engine holds a session in memory while it serves a
// request and saves it afterwards; without these rows a running request would store an ended session again.
import type { Tx } from '../../../storage/database.ts';

/** A condition that holds while the session named by `column` was not ended. A stored id is a hash: no colon in it. */
export function notEnded(column: string): string {
  return `NOT EXISTS (SELECT 1 FROM oidc_artifacts e WHERE e.id = 'ended:' || ${column})`;
}

/** Those of the sessions that were ended. */
export async function endedAmong(tx: Tx, uids: string[]): Promise<Set<string>> {
  const rows = await tx.oidcArtifact.findMany({ where: { id: { in: uids.map(idOf) } }, select: { id: true } });
  const ids = new Set(rows.map(({ id }) => id));
  return new Set(uids.filter((uid) => ids.has(idOf(uid))));
}

/** Marks a session as ended. False when another caller was first. */
export async function markEnded(tx: Tx, uid: string, untilSeconds: number): Promise<boolean> {
  const changed = await tx.$executeRaw`INSERT INTO oidc_artifacts (id, model, payload, expires_at)
    VALUES (${idOf(uid)}, 'EndedSession', '{}', ${untilSeconds}) ON CONFLICT (id) DO NOTHING`;
  return changed > 0;
}

function idOf(uid: string): string {
  return `ended:${uid}`;
}
