// The session at the upstream behind a single sign-on session: which connection it came from, and what a logout at the upstream
// needs. A row is written at the end of the sign-in, and gets the session when the engine has stored that.
import { z } from 'zod';
import type { ProtectedRows } from '../audit/protected-rows.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { randomId, sha256 } from '../platform/random.ts';
import type { Vault } from '../platform/vault.ts';
import type { Db, Tx } from '../storage/database.ts';
import type { UpstreamSessionHandle } from './upstream.ts';

export interface UpstreamSession {
  id: string;
  /** The single sign-on session. */
  sessionUid: string;
  connectionId: string;
  userId: string;
  subject: string;
  handle: UpstreamSessionHandle | undefined;
}

export interface UpstreamSessions {
  /** Stores it for a sign-in that is finished; returns the id for `attach`. */
  begin(session: Omit<UpstreamSession, 'id' | 'sessionUid'>, tx: Tx): Promise<string>;
  /** Binds it to the single sign-on session. */
  attach(id: string, session: { uid: string; accountId: string; endsAt: Date }): Promise<void>;
  /** The connection of a sign-in that is not stored yet; undefined for an unknown or forged row. */
  connectionOf(id: string): Promise<string | undefined>;
  /** The connection that the session came from last; undefined when it came from none. */
  ofSession(sessionUid: string): Promise<string | undefined>;
  /** The sessions of one connection under this value of a NameID. */
  ofNameId(connectionId: string, nameIdValue: string): Promise<UpstreamSession[]>;
}

export interface UpstreamSessionsDependencies {
  db: Db;
  vault: Pick<Vault, 'seal' | 'open'>;
  now: Clock;
  protectedRows: ProtectedRows;
}

/** In place of the session until `attach`. No session has it: uids of the engine have no dot. */
const NOT_ATTACHED = '.';

export const handleSchema: z.ZodType<UpstreamSessionHandle> = z.union([
  z.object({ kind: z.literal('oidc'), sid: z.string().optional(), idToken: z.string() }).transform((one) => ({
    ...one,
    sid: one.sid,
  })),
  z
    .object({
      kind: z.literal('saml'),
      sessionIndex: z.string().optional(),
      nameId: z.record(z.string(), z.string()),
    })
    .transform((one) => ({ ...one, sessionIndex: one.sessionIndex })),
]);

/** What a LogoutRequest is looked up by. Its qualifiers are compared afterwards, because senders leave them out. */
function nameIdHash({ value = '' }: Record<string, string>): string {
  return sha256(value);
}

interface Row {
  id: string;
  sessionUid: string;
  connectionId: string;
  userId: string;
  subject: string;
  mac: string;
}

export function createUpstreamSessions(dependencies: UpstreamSessionsDependencies): UpstreamSessions {
  const { db, vault, now, protectedRows } = dependencies;
  const fieldsOf = ({ id, sessionUid, connectionId, userId, subject }: Omit<Row, 'mac'>) => [
    id,
    sessionUid,
    connectionId,
    userId,
    subject,
  ];
  const isGenuine = (row: Row) => protectedRows.isGenuine('upstream_sessions', fieldsOf(row), row.mac);

  return {
    async begin({ connectionId, userId, subject, handle }, tx) {
      const row = { id: randomId(), sessionUid: NOT_ATTACHED, connectionId, userId, subject };
      const createdAt = now();
      await tx.upstreamSession.create({
        data: {
          ...row,
          sid: (handle?.kind === 'oidc' ? handle.sid : handle?.sessionIndex) ?? null,
          nameIdHash: handle?.kind === 'saml' ? nameIdHash(handle.nameId) : null,
          dataSealed: vault.seal(JSON.stringify(handle ?? null), `upstream_sessions:${row.id}`),
          mac: protectedRows.macOf('upstream_sessions', fieldsOf(row)),
          createdAt,
          expiresAt: new Date(createdAt.getTime() + limits.interaction.seconds * 1000),
        },
      });
      return row.id;
    },

    async attach(id, { uid, accountId, endsAt }) {
      const row = await db.upstreamSession.findUnique({ where: { id } });
      if (!row || row.userId !== accountId || !isGenuine(row)) return;
      const mac = protectedRows.macOf('upstream_sessions', fieldsOf({ ...row, sessionUid: uid }));
      await db.upstreamSession.update({ where: { id }, data: { sessionUid: uid, expiresAt: endsAt, mac } });
    },

    async connectionOf(id) {
      const row = await db.upstreamSession.findUnique({ where: { id } });
      return row && isGenuine(row) ? row.connectionId : undefined;
    },

    async ofSession(sessionUid) {
      const rows = await db.upstreamSession.findMany({
        where: { sessionUid },
        orderBy: { createdAt: 'desc' },
        take: 10,
      });
      return rows.find(isGenuine)?.connectionId;
    },

    async ofNameId(connectionId, nameIdValue) {
      const rows = await db.upstreamSession.findMany({
        where: { connectionId, nameIdHash: nameIdHash({ value: nameIdValue }), expiresAt: { gt: now() } },
      });
      return rows
        .filter((row) => isGenuine(row) && row.sessionUid !== NOT_ATTACHED)
        .map((row) => ({
          ...{ id: row.id, sessionUid: row.sessionUid, connectionId, userId: row.userId, subject: row.subject },
          handle:
            handleSchema
              .nullable()
              .parse(JSON.parse(vault.open(row.dataSealed, `upstream_sessions:${row.id}`).toString())) ?? undefined,
        }));
    },
  };
}
