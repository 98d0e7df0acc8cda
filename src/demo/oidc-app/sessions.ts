// Who is signed in to the demo application, in memory: a session for each browser, found again by its cookie, and by
// the `sid` or `sub` that a logout token names.
import { randomBytes } from 'node:crypto';

export interface Session {
  subject: string;
  /** The session at Gatehouse that this one came from. */
  sid: string | undefined;
  idToken: string;
  refreshToken: string | undefined;
  claims: Record<string, unknown>;
  userinfo: Record<string, unknown>;
  accessTokenSeconds: number | undefined;
  tokensAt: Date;
  refreshes: number;
}

/** What must come back with the answer to a started sign-in. */
export interface StartedSignIn {
  state: string;
  nonce: string;
  codeVerifier: string;
}

export type Sessions = ReturnType<typeof createSessions>;

/** The session store of one running application. */
export function createSessions() {
  const sessions = new Map<string, Session>();
  const started = new Map<string, StartedSignIn>();
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

    /** Ends what a logout token is about; returns how many sessions that were. */
    endAll({ sid, subject }: { sid: string | undefined; subject: string | undefined }): number {
      const meant = [...sessions].filter(([, session]) => (sid ? session.sid === sid : session.subject === subject));
      for (const [id] of meant) {
        sessions.delete(id);
        endedFromOutside.add(id);
      }
      return meant.length;
    },

    /** Whether Gatehouse ended this session; told once. */
    wasEndedFromOutside: (id: string | undefined) => id !== undefined && endedFromOutside.delete(id),

    startSignIn(signIn: StartedSignIn): string {
      const id = newId();
      started.set(id, signIn);
      return id;
    },

    /** The sign-in that this browser started; each is good for one answer. */
    takeStarted(id: string | undefined): StartedSignIn | undefined {
      const signIn = id === undefined ? undefined : started.get(id);
      if (id !== undefined) started.delete(id);
      return signIn;
    },
  };
}
