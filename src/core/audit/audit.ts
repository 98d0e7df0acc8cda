// The audit log: one row for each security event, written in the same transaction as the change that it reports.
// The request fails when its event cannot be written, so that no change goes unrecorded.

import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import { type Fragment, fragment, joinFragments, trustedText } from '../../base/storage/fragments.ts';
import { hotStatements } from '../../base/storage/statements.ts';
import { type AuditEventType, type AuditOutcome, auditEventTypes, type EventDetails } from './events.ts';
import { type AuditContent, proofOf } from './row-mac.ts';

/** The actor and the request of an event. Domain functions take it as a parameter for the events that they record. */
export interface Actor {
  /** The account that acts; absent for the server itself, the command line and the configuration file. */
  actorId?: string;
  /** The application that acts, on behalf of the user or without one. */
  actorApp?: string;
  /** The API key with which a program acts for the account. */
  apiKey?: { id: string; name: string };
  /** The SCIM connection that acts. */
  scim?: { id: string; name: string };
  /** The actor's permissions, as `resource:action`; absent: those of the account's roles. An actor cannot grant more. */
  grantedRights?: 'everything' | readonly string[];
  /** How strong and recent the sign-in of the account is; dangerous changes of an administrator need it. */
  proof?: Proof;
  request?: RequestInfo;
}

/** The sign-in behind a request (people/mfa/step-up.ts). */
export interface Proof {
  /** Recent, and as strong as the account can prove. */
  isFresh: boolean;
  /** Recent, whatever its acr. */
  isRecent: boolean;
  /** The acr that a fresh sign-in reaches. */
  acr: string;
  /** A fresh sign-in includes a code by email. */
  mailedCode?: boolean;
  authTime: Date;
  /** How long a sign-in is recent: the setting `recent_authentication_minutes`. */
  minutes: number;
}

export interface AuditInput<Type extends AuditEventType = AuditEventType> extends Actor {
  type: Type;
  outcome: AuditOutcome;
  /** A short code for what went wrong; it is never displayed to the user. */
  reason?: string;
  /** The account that the event is about. */
  subjectId?: string;
  /** The client_id or SAML entity ID that the event is about. */
  clientId?: string;
  data?: EventDetails<Type> | undefined;
}

export interface AuditEntry extends Omit<AuditContent, 'data'> {
  id: number;
  data: Record<string, unknown>;
  /** The entry that says that the personal data of this one was erased. */
  erasedBy: number | null;
}

export type Audit = ReturnType<typeof createAudit>;

const PAGE = 100;

// A hot statement, because each sign-in records several events.
export const statements = hotStatements('audit', {
  insert: `INSERT INTO audit_events (at, type, outcome, reason, actor_id, actor_app, subject_id, client_id,
    address, user_agent, request_id, data, salt, digest, row_mac) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
});

/** `recorded` is called once an event is stored, or soon will be. */
export function createAudit({ db, sql, vault, logger, now }: Base, recorded: (tx: Tx) => void = () => {}) {
  function sealed(event: AuditInput) {
    const row = toRow(event, now());
    const proof = proofOf(row, vault);
    // Also logged, so that the request ID on an error page finds both the audit entry and the log lines, and that a copy of
    // the log reveals which entries were removed before they joined the chain.
    const log = () =>
      logger.info(
        { audit: { ...row, at: undefined, data: undefined, digest: proof.digest } },
        `audit ${row.type} ${row.outcome}`,
      );
    return { row, proof, log };
  }

  return {
    /** Writes one event, inside `tx` when it reports a change that this transaction makes; else at the end of the request at the latest. */
    async record<Type extends AuditEventType>(event: AuditInput<Type>, tx?: Tx): Promise<void> {
      const { row, proof, log } = sealed(event);
      const parties = [row.actorId, row.actorApp, row.subjectId, row.clientId];
      const request = [row.address, row.userAgent, row.requestId];
      const content = [row.at, row.type, row.outcome, row.reason, ...parties, ...request, row.data];
      const values = [...content, proof.salt, proof.digest, proof.rowMac];
      recorded(tx ?? db);
      if (!tx) return sql.later(statements.insert, values, log);
      await sql.in(tx).execute(statements.insert, ...values);
      log();
    },

    /** Writes one event in the transaction, and returns its id. */
    async recordWithId<Type extends AuditEventType>(event: AuditInput<Type>, tx: Tx): Promise<number> {
      recorded(tx);
      const { row, proof, log } = sealed(event);
      const { id } = await tx.auditEvent.create({ data: { ...row, ...proof }, select: { id: true } });
      log();
      return id;
    },

    /** Writes the events of a change of many rows, such as a hundred, with one statement. */
    async recordAll(events: readonly AuditInput[], tx: Tx): Promise<void> {
      if (events.length === 0) return;
      recorded(tx);
      const entries = events.map(sealed);
      await tx.auditEvent.createMany({ data: entries.map(({ row, proof }) => ({ ...row, ...proof })) });
      for (const { log } of entries) log();
    },

    /** Lists the entries that match the filter, newest first unless it says otherwise. */
    async list({ isVisible, ...filter }: AuditFilter = {}): Promise<AuditEntry[]> {
      const { isOldestFirst, limit = PAGE } = filter;
      const where = isVisible ? { id: { in: await limitedIds(db, { ...filter, limit }, isVisible) } } : whereOf(filter);
      const rows = await db.auditEvent.findMany({
        where,
        orderBy: { id: isOldestFirst ? 'asc' : 'desc' },
        take: limit,
        omit: { salt: true, digest: true, rowMac: true, chainSeq: true, chainHash: true },
      });
      return rows.map((row) => ({ ...row, data: JSON.parse(row.data) as Record<string, unknown> }));
    },
  };
}

function toRow(event: AuditInput, at: Date): AuditContent {
  const { application } = event.request ?? {};
  return {
    at,
    type: event.type,
    outcome: event.outcome,
    reason: cleanText(event.reason),
    actorId: cleanText(event.actorId),
    actorApp: cleanText(event.scim ? directoryActor(event.scim.id) : event.actorApp, 1024),
    subjectId: cleanText(event.subjectId),
    clientId: cleanText(event.clientId, 1024),
    address: cleanText(event.request?.address),
    userAgent: cleanText(event.request?.userAgent, 512),
    requestId: cleanText(event.request?.requestId),
    data: limitedJson(
      {
        ...event.data,
        ...(event.apiKey && { apiKey: event.apiKey }),
        ...(event.scim && { scim: event.scim }),
        // A step of a sign-in is about the user; which application it was for is in the data.
        ...(application !== undefined && !event.clientId && { application: cleanText(application, 1024) }),
      },
      limits.audit.dataBytes,
    ),
  };
}

/** How a SCIM connection is named as the actor of an event. */
export const directoryActor = (id: string) => `scim:${id}`;

const COLUMNS = {
  outcome: 'outcome',
  actorId: 'actor_id',
  actorApp: 'actor_app',
  subjectId: 'subject_id',
  clientId: 'client_id',
  address: 'address',
  requestId: 'request_id',
} as const satisfies Partial<Record<keyof AuditFilter, string>>;

const GROUP_EVENTS = auditEventTypes.filter((type) => type.startsWith('group.'));
/** How the data of every event about a group begins (people/groups). */
const dataOfGroup = (groupId: string) => `{"groupId":${JSON.stringify(groupId)}`;

function whereOf(filter: Omit<AuditFilter, 'isVisible'>) {
  const { types, partyId, groupId, from, until, before, after, isOldestFirst: _, limit: _limit, ...equals } = filter;
  return {
    ...equals,
    ...(types && { type: { in: types } }),
    ...(groupId !== undefined && { type: { in: types ?? GROUP_EVENTS }, data: { startsWith: dataOfGroup(groupId) } }),
    ...(partyId && { OR: [{ subjectId: partyId }, { actorId: partyId }] }),
    ...((from || until) && { at: { ...(from && { gte: from }), ...(until && { lt: until }) } }),
    ...(before !== undefined && { id: { lt: before } }),
    ...(after !== undefined && { id: { gt: after } }),
  };
}

/** The ids of a page of the entries that match the filter and are about users for whom `isVisible` holds, in its order. */
async function limitedIds(
  db: Db,
  {
    types,
    partyId,
    groupId,
    from,
    until,
    before,
    after,
    isOldestFirst,
    limit,
    ...equals
  }: AuditFilter & {
    limit: number;
  },
  isVisible: (column: string) => Fragment,
): Promise<number[]> {
  // Not those by such users: what an administrator who has the role does to the server is nothing about the role.
  const where: Fragment[] = [isVisible('e.subject_id')];
  for (const [name, column] of Object.entries(COLUMNS)) {
    const value = equals[name as keyof typeof COLUMNS];
    if (value !== undefined) where.push(fragment`e.${trustedText(column)} = ${value}`);
  }
  if (types) where.push(types.length > 0 ? fragment`e.type IN (${joinFragments(types, ', ')})` : fragment`1 = 0`);
  if (partyId !== undefined) where.push(fragment`(e.subject_id = ${partyId} OR e.actor_id = ${partyId})`);
  if (groupId !== undefined)
    where.push(
      fragment`e.type IN (${joinFragments(GROUP_EVENTS, ', ')}) AND e.data LIKE ${`${dataOfGroup(groupId)}%`}`,
    );
  if (from) where.push(fragment`e.at >= ${from}`);
  if (until) where.push(fragment`e.at < ${until}`);
  if (before !== undefined) where.push(fragment`e.id < ${before}`);
  if (after !== undefined) where.push(fragment`e.id > ${after}`);
  const order = trustedText(isOldestFirst ? 'ASC' : 'DESC');
  const rows = await db.$queryRaw<{ id: number | bigint }[]>`
    SELECT e.id FROM audit_events e WHERE ${joinFragments(where, ' AND ')} ORDER BY e.id ${order} LIMIT ${limit}`;
  return rows.map(({ id }) => Number(id));
}

// Cleans the values of an audit entry: removes characters that a database cannot store or a reader cannot see, and secrets
// that a caller passes by mistake (recognized by the name of the key).

const SECRET_KEY =
  /^(?:(?:current|new|old|client|totp|one time)? ?(?:password|passphrase|secret|otp|code)|(?:\w+ )?token|recovery codes?|code verifier|password hash|hash|code hash|token hash|private \w+|\w+ sealed|assertion|client assertion|saml ?(?:request|response)|cookie|authorization|csrf|proof)$/;
const REMOVED = '[removed]';
const MAX_DEPTH = 6;
const MAX_ITEMS = 200;
const MAX_TEXT = 2000;

/** Replaces NUL (which PostgreSQL rejects), other control characters and lone surrogates; cuts to `max` characters. */
function cleanText(text: string | undefined, max = 256): string | null {
  if (text === undefined) return null;
  // A cut through a surrogate pair leaves a lone half, so replace after cutting.
  return text.slice(0, max).replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
}

/** The JSON of a copy without secrets. Longer than `maxBytes`, its texts and lists are cut, and `truncated` says how many bytes it had. */
export function limitedJson(data: Record<string, unknown>, maxBytes: number): string {
  const whole = JSON.stringify(withoutSecrets(data));
  const bytes = Buffer.byteLength(whole);
  if (bytes <= maxBytes) return whole;
  for (let part = 2; part <= MAX_ITEMS; part *= 2) {
    const cut = { text: Math.ceil(MAX_TEXT / part), items: Math.ceil(MAX_ITEMS / part) };
    const text = JSON.stringify({ ...(withoutSecrets(data, cut) as object), truncated: bytes });
    if (Buffer.byteLength(text) <= maxBytes) return text;
  }
  return JSON.stringify({ truncated: bytes });
}

/** A copy that can be stored as JSON, with the values of secret-looking keys removed. */
export function withoutSecrets(value: unknown, max = { text: MAX_TEXT, items: MAX_ITEMS }, depth = 0): unknown {
  if (typeof value === 'string') return cleanText(value, max.text);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= MAX_DEPTH) return '[deep]';
  if (Array.isArray(value)) return value.slice(0, max.items).map((item) => withoutSecrets(item, max, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, max.items)
      .map(([key, item]) => [
        key.slice(0, max.text),
        isSecret(key, item) ? REMOVED : withoutSecrets(item, max, depth + 1),
      ]),
  );
}

// Text, lists and objects can hold a secret; `{ password: true }` only says that one exists.
function isSecret(key: string, item: unknown): boolean {
  if (typeof item !== 'string' && !Array.isArray(item) && typeof item !== 'object') return false;
  return item !== null && SECRET_KEY.test(words(key));
}

// newPassword, new_password and New-Password become the same words.
function words(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .toLowerCase();
}

// The filter of a list of audit entries.

export interface AuditFilter {
  types?: AuditEventType[];
  outcome?: AuditOutcome;
  actorId?: string;
  actorApp?: string;
  subjectId?: string;
  /** The account that acted, or that the event is about. */
  partyId?: string;
  /** Only events about this group. */
  groupId?: string;
  clientId?: string;
  address?: string;
  requestId?: string;
  from?: Date;
  until?: Date;
  /** The cursor: the id of the last entry of the previous page. Only older entries are listed. */
  before?: number;
  /** The oldest first; then `after` is the cursor. */
  isOldestFirst?: boolean;
  /** The cursor from the oldest on: only newer entries are listed. */
  after?: number;
  limit?: number;
  /** Condition on a column that holds a user: only entries about such users. */
  isVisible?: (column: string) => Fragment;
}
