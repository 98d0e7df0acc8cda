// The audit log: one row for each security event, written in the transaction of what it reports when there is one.
// An event that cannot be written fails the request: what is not recorded must not happen.
import type { Clock } from '../platform/clock.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import { type Db, sqlIn, type Tx } from '../platform/db.ts';
import type { Logger } from '../platform/logger.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';
import type { AuditEventType, AuditOutcome } from './events.ts';
import { cleanText, withoutSecrets } from './scrub.ts';

/** Who did it and from where; what domain functions ask for so that their events name an actor. */
export interface By {
  /** The account that acts; absent for the server itself, the command line and the configuration file. */
  actorId?: string;
  /** The application that acts, for the person or by itself. */
  actorApp?: string;
  /** What the actor may do here, `resource:action`; absent: whatever the account's roles say now. Nobody grants more. */
  holds?: 'everything' | readonly string[];
  request?: RequestInfo;
}

export interface AuditInput extends By {
  type: AuditEventType;
  outcome: AuditOutcome;
  /** A short code for what went wrong, never shown to the person. */
  reason?: string;
  /** The account it is about. */
  subjectId?: string;
  /** The OIDC client or SAML entity it is about. */
  clientId?: string;
  data?: Record<string, unknown>;
}

export interface AuditEntry {
  id: number;
  at: Date;
  type: string;
  outcome: string;
  reason: string | null;
  actorId: string | null;
  actorApp: string | null;
  subjectId: string | null;
  clientId: string | null;
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
  data: Record<string, unknown>;
}

export interface AuditFilter {
  types?: AuditEventType[];
  outcome?: AuditOutcome;
  actorId?: string;
  actorApp?: string;
  subjectId?: string;
  clientId?: string;
  address?: string;
  requestId?: string;
  from?: Date;
  until?: Date;
  /** Entries older than this one: the cursor, the id of the last entry of the page before. */
  before?: number;
  limit?: number;
}

export interface Audit {
  /** Writes one event, inside `tx` when it reports what that transaction does. */
  record(event: AuditInput, tx?: Tx): Promise<void>;
  /** Newest first. */
  list(filter?: AuditFilter): Promise<AuditEntry[]>;
}

export interface AuditNeeds {
  db: Db;
  sql: Sql;
  kind: DatabaseKind;
  logger: Logger;
  now: Clock;
}

const PAGE = 100;

// Plain: several events for each sign-in.
const SQL = {
  insert: `INSERT INTO audit_events (at, type, outcome, reason, actor_id, actor_app, subject_id, client_id,
    address, user_agent, request_id, data) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`,
};

export function createAudit({ db, sql, kind, logger, now }: AuditNeeds): Audit {
  const text = sqlFor(kind, SQL);

  return {
    async record(event, tx) {
      const row = toRow(event, now());
      const who = [row.actorId, row.actorApp, row.subjectId, row.clientId];
      const from = [row.address, row.userAgent, row.requestId];
      const values = [row.at, row.type, row.outcome, row.reason, ...who, ...from, row.data];
      await (tx ? sqlIn(tx) : sql).execute(text.insert, ...values);
      // Also a log line, so that the request id of an error page leads to both.
      logger.info({ audit: { ...row, at: undefined, data: undefined } }, `audit ${row.type} ${row.outcome}`);
    },

    async list({ types, from, until, before, limit = PAGE, ...equals } = {}) {
      const rows = await db.auditEvent.findMany({
        where: {
          ...equals,
          ...(types ? { type: { in: types } } : {}),
          ...(from || until ? { at: { ...(from ? { gte: from } : {}), ...(until ? { lt: until } : {}) } } : {}),
          ...(before === undefined ? {} : { id: { lt: before } }),
        },
        orderBy: { id: 'desc' },
        take: limit,
        omit: { chainSeq: true, chainHash: true },
      });
      return rows.map((row) => ({ ...row, data: JSON.parse(row.data) as Record<string, unknown> }));
    },
  };
}

function toRow(event: AuditInput, at: Date) {
  return {
    at,
    type: event.type,
    outcome: event.outcome,
    reason: cleanText(event.reason),
    actorId: cleanText(event.actorId),
    actorApp: cleanText(event.actorApp, 1024),
    subjectId: cleanText(event.subjectId),
    clientId: cleanText(event.clientId, 1024),
    address: cleanText(event.request?.address),
    userAgent: cleanText(event.request?.userAgent, 512),
    requestId: cleanText(event.request?.requestId),
    data: JSON.stringify(withoutSecrets(event.data ?? {})),
  };
}
