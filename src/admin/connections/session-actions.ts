// The single sign-on sessions that came from a connection.
import type { Actor } from '../../audit/audit.ts';
import type { EndSession } from '../../logout/end-session.ts';
import type { Db } from '../../storage/database.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import type { ManageableConnections } from './manageable-connections.ts';

export interface SessionActions {
  countSessions(id: string): Promise<number>;
  /** Ends them; returns how many ended. */
  endSessions(id: string, by: Actor): Promise<number>;
}

export function sessionActions(
  { db, endSession }: { db: Db; endSession: Pick<EndSession, 'several'> },
  { assertMayChange }: Pick<ManageableConnections, 'assertMayChange'>,
): SessionActions {
  return {
    countSessions: async (id) => (await sessionsOf(db, id)).length,

    async endSessions(id, by) {
      await assertMayChange(by);
      assertFreshProof(by, 'connection.end-sessions', id);
      let count = 0;
      for (const uid of await sessionsOf(db, id)) if (await endSession.several([uid], 'ended-by-admin', by)) count += 1;
      return count;
    },
  };
}

async function sessionsOf(db: Db, connectionId: string): Promise<string[]> {
  const rows = await db.upstreamSession.findMany({
    where: { connectionId },
    select: { sessionUid: true },
    distinct: ['sessionUid'],
  });
  return rows.map(({ sessionUid }) => sessionUid);
}
