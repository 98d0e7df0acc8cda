// Who is signed in to a demo application, in memory: a session for each browser, found again by its cookie, and by what
// Gatehouse says of it when it ends.
import { randomBytes } from 'node:crypto';

/** The session store of one running application; `Started` is what must come back with the answer to a sign-in. */
export function createSessions<Session, Started = never>() {
  const sessions = new Map<string, Session>();
  const started = new Map<string, Started>();
  const endedFromOutside = new Set<string>();
  const newId = () => randomBytes(32).toString('base64url');

  return {
    find: (id: string | undefined) => (id === undefined ? undefined : sessions.get(id)),

    /** Always a new id: one that was known before the sign-in could be known to somebody else. */
    create(session: Session): string {
      const id = newId();
      sessions.set(id, session);
      return id;
    },

    end(id: string | undefined): Session | undefined {
      const session = id === undefined ? undefined : sessions.get(id);
      if (id !== undefined) sessions.delete(id);
      return session;
    },

    /** Ends what a message of Gatehouse is about; returns how many sessions that were. */
    endThose(isMeant: (session: Session) => boolean): number {
      const meant = [...sessions].filter(([, session]) => isMeant(session));
      for (const [id] of meant) {
        sessions.delete(id);
        endedFromOutside.add(id);
      }
      return meant.length;
    },

    /** Whether Gatehouse ended this session; told once. */
    wasEndedFromOutside: (id: string | undefined) => id !== undefined && endedFromOutside.delete(id),

    startSignIn(signIn: Started): string {
      const id = newId();
      started.set(id, signIn);
      return id;
    },

    /** The sign-in that this browser started; each is good for one answer. */
    takeStarted(id: string | undefined): Started | undefined {
      const signIn = id === undefined ? undefined : started.get(id);
      if (id !== undefined) started.delete(id);
      return signIn;
    },
  };
}
