// The single sign-on sessions that came from a connection.
import type { Actor } from '../../audit/audit.ts';
import type { EndResult, EndSession } from '../../logout/end-session.ts';
import type { Sessions } from '../../oidc/store/sessions/sessions.ts';
import { inChunks } from '../../storage/chunks.ts';
import type { Db } from '../../storage/database.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import type { ManageableConnections } from './manageable-connections.ts';

export interface SessionActions {
  countSessions(id: string): Promise<number>;
  /** Ends them; returns the result of each that ended. */
  endSessions(id: string, by: Actor): Promise<EndResult[]>;
}

export interface SessionActionsDependencies {
  db: Db;
  endSession: EndSession;
  sessions: Sessions;
}

export function sessionActions(
  dependencies: SessionActionsDependencies,
  { assertMayChange }: ManageableConnections,
): SessionActions {
  const { endSession } = dependencies;
  return {
    countSessions: async (id) => (await sessionsOf(dependencies, id)).length,

    async endSessions(id, by) {
      await assertMayChange(by);
      assertFreshProof(by, 'connection.end-sessions', id);
      const ended: EndResult[] = [];
      for (const uid of await sessionsOf(dependencies, id)) {
        const result = await endSession.several([uid], 'ended-by-admin', by);
        if (result) ended.push(result);
      }
      return ended;
    },
  };
}

/** The live ones: the row of an upstream session stays after it. */
async function sessionsOf({ db, sessions }: SessionActionsDependencies, connectionId: string): Promise<string[]> {
  const rows = await db.upstreamSession.findMany({
    where: { connectionId },
    select: { sessionUid: true },
    distinct: ['sessionUid'],
  });
  return (
    await inChunks(
      rows.map(({ sessionUid }) => sessionUid),
      sessions.findAll,
    )
  ).map(({ uid }) => uid);
}
