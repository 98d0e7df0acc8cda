// Ended sessions, stored as rows until they would have expired. The engine has a session in memory while it serves a
// request and saves it afterwards. Without these rows, a running request would store an ended session again.
import type { Tx } from '../../../../base/storage/database.ts';

/**
 * SQL condition: the session whose uid is in `column` has not ended. Stored ids are hashes without a colon, so `ended:`
 * cannot collide.
 */
export function notEndedCondition(column: string): string {
  return `NOT EXISTS (SELECT 1 FROM oidc_artifacts e WHERE e.id = 'ended:' || ${column})`;
}

/** The uids whose sessions have ended. */
export async function findEnded(tx: Tx, uids: string[]): Promise<Set<string>> {
  const rows = await tx.oidcArtifact.findMany({ where: { id: { in: uids.map(endedId) } }, select: { id: true } });
  const ids = new Set(rows.map(({ id }) => id));
  return new Set(uids.filter((uid) => ids.has(endedId(uid))));
}

/** Marks a session as ended. False when another caller was first. */
export async function markEnded(tx: Tx, uid: string, untilSeconds: number): Promise<boolean> {
  const changed = await tx.$executeRaw`INSERT INTO oidc_artifacts (id, model, payload, expires_at)
    VALUES (${endedId(uid)}, 'EndedSession', '{}', ${untilSeconds}) ON CONFLICT (id) DO NOTHING`;
  return changed > 0;
}

function endedId(uid: string): string {
  return `ended:${uid}`;
}
