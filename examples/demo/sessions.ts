// The in-memory session store of a demo application: a session per browser, found by its cookie and by the identifiers
// in a logout message of Gatehouse.
import { randomBytes } from 'node:crypto';

/** The session store of one running application; `Started` is the state that the response to a sign-in must match. */
export function createSessions<Session, Started = never>() {
  const sessions = new Map<string, Session>();
  const started = new Map<string, Started>();
  const endedFromOutside = new Set<string>();
  const newId = () => randomBytes(32).toString('base64url');

  return {
    find: (id: string | undefined) => (id === undefined ? undefined : sessions.get(id)),

    /** Always a new id, against session fixation. */
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

    /** Ends the sessions that a logout message names; returns their number. */
    endThose(isMeant: (session: Session) => boolean): number {
      const meant = [...sessions].filter(([, session]) => isMeant(session));
      for (const [id] of meant) {
        sessions.delete(id);
        endedFromOutside.add(id);
      }
      return meant.length;
    },

    /** Whether Gatehouse ended this session; true only once. */
    wasEndedFromOutside: (id: string | undefined) => id !== undefined && endedFromOutside.delete(id),

    startSignIn(signIn: Started): string {
      const id = newId();
      started.set(id, signIn);
      return id;
    },

    /** The sign-in that this browser started; valid for one response. */
    takeStarted(id: string | undefined): Started | undefined {
      const signIn = id === undefined ? undefined : started.get(id);
      if (id !== undefined) started.delete(id);
      return signIn;
    },
  };
}
