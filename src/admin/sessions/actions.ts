// Single sign-on sessions: their user, browser and applications, and their end.
import type { Applications } from '../../applications/applications.ts';
import type { Actor } from '../../audit/audit.ts';
import { notFound } from '../../http/errors.ts';
import { limits } from '../../limits.ts';
import type { EndSession } from '../../logout/end-session.ts';
import type { SessionEntry, Sessions } from '../../oidc/store/sessions.ts';
import type { Db } from '../../storage/database.ts';

export interface SessionView extends SessionEntry {
  username: string;
  /** Not yet stored in the first moment after the sign-in. */
  device?: { userAgent: string; address: string; lastSeenAt: Date };
}

export interface SessionPage {
  sessions: SessionView[];
  next?: string;
}

export interface SessionAdmin {
  /** All live sessions, the newest first. */
  list(query: { limit?: number | undefined; after?: string | undefined }): Promise<SessionPage>;
  ofUser(userId: string): Promise<SessionView[]>;
  get(uid: string): Promise<SessionView>;
  end(uid: string, by: Actor): Promise<void>;
  /** Ends every session that the application takes part in. Returns their number. */
  endOfApplication(id: string, by: Actor): Promise<number>;
}

export interface SessionAdminDependencies {
  db: Db;
  sessions: Pick<Sessions, 'find' | 'findAll' | 'list'>;
  endSession: Pick<EndSession, 'one' | 'ofApplication'>;
  applications: Pick<Applications, 'get'>;
}

/** `get` and `end` throw not_found for a session that has ended. */
export function createSessionAdmin(dependencies: SessionAdminDependencies): SessionAdmin {
  const { db, sessions, endSession, applications } = dependencies;

  return {
    list: ({ limit = limits.api.pageSize, after }) => listSessions(dependencies, limit, parseCursor(after)),

    ofUser: async (userId) => viewsOf(db, await sessions.list(userId)),

    async get(uid) {
      const session = await sessions.find(uid);
      const [view] = session ? await viewsOf(db, [session]) : [];
      if (!view) throw notFound({ message: 'There is no such session, or it has ended.' });
      return view;
    },

    async end(uid, by) {
      if (!(await endSession.one(uid, 'ended-by-admin', by))) {
        throw notFound({ message: 'There is no such session, or it has ended.' });
      }
    },

    async endOfApplication(id, by) {
      const { clientId } = await applications.get(id);
      return endSession.ofApplication(clientId, 'ended-by-admin', by);
    },
  };
}

/** The live sessions after the cursor, at most `limit`. */
async function listSessions(
  { db, sessions }: SessionAdminDependencies,
  limit: number,
  cursor: Cursor | undefined,
): Promise<SessionPage> {
  const found: SessionView[] = [];
  let last = cursor;
  // The rows of ended sessions are deleted later, so a page may take more than one query.
  for (;;) {
    const rows = await db.sessionDevice.findMany({
      where: last
        ? { createdAt: { lte: last.at }, OR: [{ createdAt: { lt: last.at } }, { uid: { lt: last.uid } }] }
        : {},
      orderBy: [{ createdAt: 'desc' }, { uid: 'desc' }],
      take: limit,
      select: { uid: true, createdAt: true },
    });
    const live = await viewsOf(db, await sessions.findAll(rows.map(({ uid }) => uid)));
    for (const { uid, createdAt } of rows) {
      const session = live.find((one) => one.uid === uid);
      if (session && found.length === limit) return { sessions: found, next: cursorOf(last) };
      if (session) found.push(session);
      last = { at: createdAt, uid };
    }
    if (rows.length < limit) return { sessions: found };
  }
}

/** Each session with its user name and its browser. */
async function viewsOf(db: Db, found: readonly SessionEntry[]): Promise<SessionView[]> {
  const [devices, users] = await Promise.all([
    db.sessionDevice.findMany({ where: { uid: { in: found.map(({ uid }) => uid) } } }),
    db.user.findMany({
      where: { id: { in: found.map(({ accountId }) => accountId) } },
      select: { id: true, username: true },
    }),
  ]);
  return found.map((session) => {
    const device = devices.find(({ uid }) => uid === session.uid);
    const username = users.find(({ id }) => id === session.accountId)?.username ?? '';
    return { ...session, username, ...(device && { device }) };
  });
}

interface Cursor {
  at: Date;
  uid: string;
}

function cursorOf(cursor: Cursor | undefined): string {
  return cursor ? `${cursor.at.getTime()}.${cursor.uid}` : '';
}

function parseCursor(text: string | undefined): Cursor | undefined {
  const [, time, uid] = /^(\d{1,14})\.([\w-]{1,64})$/.exec(text ?? '') ?? [];
  return time && uid ? { at: new Date(Number(time)), uid } : undefined;
}
