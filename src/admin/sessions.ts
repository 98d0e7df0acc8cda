// Single sign-on sessions as administrators see them: whose, since when, in which browser, with which applications.
import type { Applications } from '../applications/applications.ts';
import type { By } from '../audit/audit.ts';
import { notFound } from '../http/errors.ts';
import { limits } from '../limits.ts';
import type { EndSession } from '../logout/end-session.ts';
import type { SessionEntry, Sessions } from '../oidc/sessions.ts';
import type { Db } from '../platform/db.ts';

export interface SessionView extends SessionEntry {
  username: string;
  /** Absent for a moment after the sign-in. */
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
  end(uid: string, by: By): Promise<void>;
  /** Ends every session that the application takes part in. Returns how many. */
  endOfApplication(id: string, by: By): Promise<number>;
}

export interface SessionAdminNeeds {
  db: Db;
  sessions: Pick<Sessions, 'find' | 'findAll' | 'list'>;
  endSession: Pick<EndSession, 'one' | 'ofApplication'>;
  applications: Pick<Applications, 'get'>;
}

export function createSessionAdmin(needs: SessionAdminNeeds): SessionAdmin {
  const { db, sessions, endSession, applications } = needs;

  async function views(found: readonly SessionEntry[]): Promise<SessionView[]> {
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

  return {
    async list({ limit = limits.api.pageSize, after }) {
      const cursor = parseCursor(after);
      const shown: SessionView[] = [];
      let last = cursor;
      // Ended sessions leave their row behind for a while, so a page may take more than one look.
      for (;;) {
        const rows = await db.sessionDevice.findMany({
          where: last
            ? { createdAt: { lte: last.at }, OR: [{ createdAt: { lt: last.at } }, { uid: { lt: last.uid } }] }
            : {},
          orderBy: [{ createdAt: 'desc' }, { uid: 'desc' }],
          take: limit,
          select: { uid: true, createdAt: true },
        });
        const live = await views(await sessions.findAll(rows.map(({ uid }) => uid)));
        for (const { uid, createdAt } of rows) {
          const session = live.find((one) => one.uid === uid);
          if (session && shown.length === limit) return { sessions: shown, next: cursorOf(last) };
          if (session) shown.push(session);
          last = { at: createdAt, uid };
        }
        if (rows.length < limit) return { sessions: shown };
      }
    },

    ofUser: async (userId) => views(await sessions.list(userId)),

    async get(uid) {
      const session = await sessions.find(uid);
      const [view] = session ? await views([session]) : [];
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
