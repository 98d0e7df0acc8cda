// The session at the upstream behind a single sign-on session: which connection it came from, and what a logout at the upstream
// needs. A row is written at the end of the sign-in, and gets the session when the engine has stored that.

import { decodeJwt } from 'jose';
import { z } from 'zod';
import { limits } from '../base/limits.ts';
import { randomId, sha256 } from '../base/platform/random.ts';
import type { Db, Tx } from '../base/storage/database.ts';
import { hotStatements } from '../base/storage/statements.ts';
import type { Core } from '../core/core.ts';
import type { NamedSessions } from './logout/logout-token.ts';
import type { UpstreamSessionHandle } from './upstream.ts';

const TABLE = 'upstream_sessions';

export type UpstreamSessions = ReturnType<typeof createUpstreamSessions>;

export const statements = hotStatements('upstream-sessions', {
  begin: `INSERT INTO upstream_sessions (id, session_uid, connection_id, user_id, subject, sid, name_id_hash, data_sealed, mac,
      created_at, expires_at) VALUES (?,?,?,?,?,?,?,?,?,?,?)`,
  find: `SELECT id, session_uid AS "sessionUid", connection_id AS "connectionId", user_id AS "userId", subject,
      data_sealed AS "dataSealed", created_at AS "createdAt", mac FROM upstream_sessions WHERE id = ?`,
  attach: 'UPDATE upstream_sessions SET session_uid = ?, expires_at = ?, mac = ? WHERE id = ?',
});

export function createUpstreamSessions({ db, sql, now, vault }: Core) {
  const contextOf = (id: string) => `${TABLE}:${id}`;
  const seal = (id: string, handle: UpstreamSessionHandle | undefined) =>
    vault.seal(JSON.stringify(handle ?? null), contextOf(id));

  function toSession(row: SessionRow): UpstreamSession {
    const { id, sessionUid, connectionId, userId, subject, dataSealed, createdAt } = row;
    const data: unknown = JSON.parse(vault.open(dataSealed, contextOf(id)).toString());
    const handle = handleSchema.nullable().parse(data) ?? undefined;
    return { id, sessionUid, connectionId, userId, subject, handle, beganAt: new Date(createdAt) };
  }

  const find = async (id: string): Promise<SessionRow | undefined> => {
    const [row] = await sql.genuine<SessionRow>(TABLE, statements.find, id);
    return row;
  };
  const latest = async (sessionUid: string, tx: Tx | Db = db): Promise<SessionRow | undefined> => {
    const [row] = await tx.upstreamSession.findMany({
      where: { sessionUid },
      orderBy: { createdAt: 'desc' },
      take: 10,
    });
    return row;
  };

  return {
    /** Stores it for a sign-in that is finished; returns the id for `attach`. */
    async begin(
      { connectionId, userId, subject, handle }: Omit<UpstreamSession, 'id' | 'sessionUid' | 'beganAt'>,
      tx?: Tx,
    ): Promise<string> {
      const row = { id: randomId(), sessionUid: NOT_ATTACHED, connectionId, userId, subject };
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + limits.interaction.seconds * 1000);
      const sid = (handle?.kind === 'oidc' ? handle.sid : handle?.sessionIndex) ?? null;
      await (tx ? sql.in(tx) : sql).execute(
        statements.begin,
        row.id,
        row.sessionUid,
        connectionId,
        userId,
        subject,
        sid,
        handle ? nameHash(handle) : null,
        seal(row.id, handle),
        sql.macs.macOf(TABLE, row),
        createdAt,
        expiresAt,
      );
      return row.id;
    },

    /** Binds it to the single sign-on session. */
    async attach(
      id: string,
      { uid, accountId, endsAt }: { uid: string; accountId: string; endsAt: Date },
    ): Promise<void> {
      const row = await find(id);
      if (row?.userId !== accountId) return;
      const mac = sql.macs.macOf(TABLE, { ...row, sessionUid: uid });
      await sql.execute(statements.attach, uid, endsAt, mac, id);
    },

    /** The connection of a sign-in that is not stored yet; undefined for an unknown or forged row. */
    connectionOf: async (id: string): Promise<string | undefined> => (await find(id))?.connectionId,

    /** The connection that the session came from last; undefined when it came from none. */
    ofSession: async (sessionUid: string): Promise<string | undefined> => (await latest(sessionUid))?.connectionId,

    /** The session at the upstream that this session came from last. */
    async latest(sessionUid: string, tx?: Tx): Promise<UpstreamSession | undefined> {
      const row = await latest(sessionUid, tx);
      return row && toSession(row);
    },

    async find(id: string): Promise<UpstreamSession | undefined> {
      const row = await find(id);
      return row && toSession(row);
    },

    /** The sessions of an OpenID Connect connection whose ID token has this `sid`, this `sub`, or both. */
    async named(connectionId: string, { sid, sub }: NamedSessions): Promise<UpstreamSession[]> {
      const where = sid === undefined ? { nameIdHash: sha256(sub) } : { sid };
      const rows = await db.upstreamSession.findMany({
        where: { connectionId, ...where, expiresAt: { gt: now() } },
      });
      const attached = rows.filter((row) => row.sessionUid !== NOT_ATTACHED);
      // The columns only find rows; what is stored encrypted decides.
      return attached.map(toSession).filter(({ handle }) => {
        if (handle?.kind !== 'oidc' || (sid !== undefined && handle.sid !== sid)) return false;
        return sub === undefined || decodeJwt(handle.idToken).sub === sub;
      });
    },

    /** The sessions of one connection under this value of a NameID. */
    async ofNameId(connectionId: string, nameIdValue: string): Promise<UpstreamSession[]> {
      const rows = await db.upstreamSession.findMany({
        where: { connectionId, nameIdHash: nameIdHash({ value: nameIdValue }), expiresAt: { gt: now() } },
      });
      return rows.filter((row) => row.sessionUid !== NOT_ATTACHED).map(toSession);
    },
  };
}

// A session at an upstream as a row: what of it is encrypted, and what finds it.

export interface UpstreamSession {
  id: string;
  /** The single sign-on session. */
  sessionUid: string;
  connectionId: string;
  userId: string;
  subject: string;
  handle: UpstreamSessionHandle | undefined;
  beganAt: Date;
}

/** In place of the session until `attach`. No session has it: uids of the engine have no dot. */
const NOT_ATTACHED = '.';

export const handleSchema: z.ZodType<UpstreamSessionHandle> = z.union([
  z.object({ kind: z.literal('oidc'), sid: z.string().optional(), idToken: z.string() }),
  z.object({
    kind: z.literal('saml'),
    sessionIndex: z.string().optional(),
    nameId: z.record(z.string(), z.string()),
  }),
]);

/** What a LogoutRequest is looked up by. Its qualifiers are compared afterwards, because senders leave them out. */
function nameIdHash({ value = '' }: Record<string, string>): string {
  return sha256(value);
}

/** What a logout by the upstream looks up: the NameID, or the `sub` of the ID token. */
function nameHash(handle: UpstreamSessionHandle): string {
  return handle.kind === 'saml' ? nameIdHash(handle.nameId) : sha256(decodeJwt(handle.idToken).sub ?? '');
}

interface SessionRow {
  id: string;
  sessionUid: string;
  connectionId: string;
  userId: string;
  subject: string;
  dataSealed: string;
  createdAt: Date;
}
