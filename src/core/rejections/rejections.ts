// Rejected protocol requests, each under a short code that the error page or the response to the application shows: what
// was received, without its secrets, and the rule that was broken. Rows are deleted after some days.

import { z } from 'zod';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { randomToken } from '../../base/platform/random.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { fromTimeCursor, toTimeCursor } from '../../base/storage/cursors.ts';
import { withoutUnstorable } from '../../base/storage/storable-text.ts';
import { isRuleId, type RuleResult } from './rules.ts';

export type RejectionEndpoint =
  | ('authorize' | 'par' | 'token' | 'device' | 'introspect' | 'revoke' | 'end-session' | 'register')
  | ('saml' | 'access' | 'upstream' | 'website' | 'scim');
/** What was received, by parameter; secrets are never among the values. */
export type ReceivedParameters = Record<string, string>;

export interface NewRejection {
  endpoint: RejectionEndpoint;
  /** Error code of the protocol, or one of this server. */
  reason: string;
  /** A sentence for administrators. */
  message: string;
  /** client_id or entity ID as it was sent; it need not be registered. */
  clientId?: string | undefined;
  subjectId?: string | undefined;
  received: ReceivedParameters;
  /** The rules of this request in the order of their checks, with the one that failed. */
  rules: readonly RuleResult[];
}

export interface Rejection extends NewRejection {
  code: string;
  at: Date;
  clientId: string | undefined;
  subjectId: string | undefined;
  requestId: string;
}

export type Rejections = ReturnType<typeof createRejections>;

export interface RejectionQuery {
  clientId?: string | undefined;
  subjectId?: string | undefined;
  requestId?: string | undefined;
  after?: string | undefined;
  limit?: number;
  /** The oldest first. */
  isAscending?: boolean;
}

// Codes are read out on the telephone, so no letter looks like a digit.
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
const MAX_VALUE = 500;
const MAX_CERTIFICATE = 8000;
const MAX_EXPECTED = 4000;
const MAX_VALUES = 40;
const PAGE = 50;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Requests that wait for their row. Writes are short: only a flood, or a database that fails, has more. */
const MAX_WAITING = 1000;
/** Senders that get a log line about unstored requests in the same minute. As many networks, and each SCIM connection, are counted separately. */
const MAX_LINES = 100;
/** Of the row that says how many more of a sender were not stored: `received.count`. */
export const NOT_STORED = 'not_stored';
const TOO_MANY = 'too many from its network or SCIM connection';
/** Above this, the number beside the entry of the navigation says only that there are more. */
export const MOST_COUNTED = 99;

/** The requests of a sender that are not stored, and the row that says how many they are. */
interface Unstored {
  code: string;
  /** The last one. */
  request: RequestInfo;
  rejection: NewRejection;
  count: number;
  /** How many of them the row says, and the lines of the log. */
  stored: number;
  logged: number;
  /** Later ones have another row. */
  until: number;
}

interface RejectionLimit {
  waitSeconds(network: string): number;
  consume(network: string): Promise<{ allowed: boolean }>;
}

/** Stores rejected requests behind the response, and reads them. */
export function createRejections(
  dependencies: Base & {
    /** How many one network may cause, so that an attacker cannot fill the table. */
    limit: RejectionLimit;
    /** The network of a customer, for an address in it. */
    networkOf(address: string): string;
  },
) {
  const { db, logger, limit, networkOf, now } = dependencies;
  const codes = new WeakMap<RequestInfo, string>();
  /** One write after the other. The page is sent before its row is written; a look-up on this instance waits for the row. */
  let written: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const unstored = createUnstoredCounts(dependencies, (code, request, row) => {
    written = written
      .then(() => write(dependencies, code, request, row))
      .catch((err: unknown) => logger.error({ err }, 'how many requests were not stored was not stored'));
  });

  /** Whose budget it is. A connection has its own: its directory may call from the network of others. */
  const senderOf = ({ address }: RequestInfo, { endpoint, clientId }: NewRejection): string =>
    endpoint === 'scim' ? `scim ${clientId}` : networkOf(address);

  /** All that was rejected until now is stored, or counted. */
  async function settled(): Promise<void> {
    await written;
    unstored.storeCounts();
    await written;
  }

  async function store(code: string, request: RequestInfo, rejection: NewRejection): Promise<boolean> {
    const sender = senderOf(request, rejection);
    try {
      const { allowed } = await limit.consume(sender);
      if (allowed) await write(dependencies, code, request, rejection);
      else unstored.count(sender, code, { request, rejection, why: TOO_MANY });
      return allowed;
    } catch (err) {
      if (unstored.isFirstLine('failed')) logger.error({ err }, 'a rejected request was not stored');
      return false;
    }
  }

  /** Whether it was stored. Never fails. */
  async function storeInTurn(code: string, request: RequestInfo, rejection: NewRejection): Promise<boolean> {
    const sender = senderOf(request, rejection);
    const isOver = limit.waitSeconds(sender) > 0;
    if (isOver || waiting >= MAX_WAITING) {
      const why = isOver ? TOO_MANY : 'too many wait for the database';
      unstored.count(sender, code, { request, rejection, why });
      return false;
    }
    waiting += 1;
    const stored = written
      .then(() => store(code, request, rejection))
      .finally(() => {
        waiting -= 1;
      });
    written = stored;
    return stored;
  }

  function assignCode(request: RequestInfo): string {
    const code = codes.get(request) ?? newCode();
    codes.set(request, code);
    return code;
  }

  return {
    /** The code, if this request was rejected. */
    codeOf: (request: RequestInfo): string | undefined => codes.get(request),

    /** Stores it; a second call for the same request replaces the first. Returns the code and never fails. */
    record(request: RequestInfo, rejection: NewRejection): string {
      const code = assignCode(request);
      void storeInTurn(code, request, rejection);
      return code;
    },

    /** The same for a client that can wait for the row. Undefined: it was not stored, so that there is nothing to look up. */
    async recordFirst(request: RequestInfo, rejection: NewRejection): Promise<string | undefined> {
      const code = assignCode(request);
      return (await storeInTurn(code, request, rejection)) ? code : undefined;
    },

    /** By its code, in either case and with or without the dash. */
    async find(code: string): Promise<Rejection | undefined> {
      await settled();
      const row = await db.rejection.findUnique({ where: { id: normalized(code) } });
      return row ? fromRow(row) : undefined;
    },

    /** How many there were in the last 24 hours, up to MOST_COUNTED + 1; 0 where the database fails. */
    async countRecent(): Promise<number> {
      await written;
      // Prisma would sort by the id.
      const where = { at: { gte: new Date(now().getTime() - DAY_MS) } };
      return db.rejection.count({ where, orderBy: { at: 'desc' }, take: MOST_COUNTED + 1 }).catch((err: unknown) => {
        logger.warn({ err }, 'rejected requests were not counted');
        return 0;
      });
    },

    /** Newest first. */
    async list(query: RejectionQuery): Promise<{ rejections: Rejection[]; next?: string }> {
      await settled();
      return listRejections(dependencies, query);
    },
  };
}

/**
 * Counts the rejected requests that are not stored. The first one of a sender in a minute has a line in the log; how many more there were is in
 * a later line, and in one row of the sender, which `storeRow` stores.
 */
function createUnstoredCounts(
  { logger, now, limit }: Base & { limit: RejectionLimit },
  storeRow: (code: string, request: RequestInfo, row: NewRejection) => void,
) {
  const unstored = new Map<string, Unstored>();
  let logged = { until: 0, senders: new Set<string>() };
  let isReportDue = false;

  /** Whether no line of this minute is about the sender yet. */
  function isFirstLine(sender: string): boolean {
    const at = now().getTime();
    if (logged.until <= at) logged = { until: at + MINUTE_MS, senders: new Set() };
    if (logged.senders.has(sender) || logged.senders.size >= MAX_LINES) return false;
    logged.senders.add(sender);
    return true;
  }

  /** Undefined where too many networks are counted. */
  function addTo(sender: string, request: RequestInfo, rejection: NewRejection): Unstored | undefined {
    const at = now().getTime();
    const before = unstored.get(sender);
    const isNew = !before || before.until <= at;
    if (isNew && unstored.size >= MAX_LINES && rejection.endpoint !== 'scim') return undefined;
    const until = at + Math.max(MINUTE_MS, limit.waitSeconds(sender) * 1000);
    const one = isNew ? { code: newCode(), request, rejection, count: 0, stored: 0, logged: 0, until } : before;
    Object.assign(one, { request, rejection, count: one.count + 1 });
    unstored.set(sender, one);
    if (!isReportDue) setTimeout(report, MINUTE_MS).unref();
    isReportDue = true;
    return one;
  }

  /** Once a minute: how many more, in the log and in the row of each sender. */
  function report(): void {
    isReportDue = false;
    storeCounts();
    for (const [sender, one] of unstored) {
      const more = one.count - one.logged;
      if (more > 0) logger.warn({ sender, unstored: more }, `${more} more rejected requests were not stored`);
      one.logged = one.count;
      if (one.until <= now().getTime()) unstored.delete(sender);
    }
  }

  function storeCounts(): void {
    for (const one of unstored.values()) {
      if (one.count === one.stored) continue;
      const { code, request, count, rejection } = one;
      one.stored = count;
      const { endpoint, clientId } = rejection;
      const message = `${count} more requests of this sender were rejected, and not stored.`;
      const received = { count: String(count), address: request.address };
      const row = { endpoint, reason: NOT_STORED, message, received, rules: [] };
      storeRow(code, request, endpoint === 'scim' ? { ...row, clientId } : row);
    }
  }

  return {
    isFirstLine,

    count(
      sender: string,
      code: string,
      { request, rejection, why }: { request: RequestInfo; rejection: NewRejection; why: string },
    ): void {
      const counted = addTo(sender, request, rejection);
      if (!isFirstLine(sender)) return;
      if (counted) counted.logged += 1;
      const { requestId, address } = request;
      const { endpoint, reason, message, clientId, rules } = rejection;
      logger.warn(
        {
          rejection: code,
          endpoint,
          reason: clipped(reason),
          detail: clipped(message),
          rule: rules.find(({ state }) => state === 'failed')?.rule,
          requestId,
          address,
          client: clientId && clipped(clientId),
        },
        `a rejected request was not stored: ${why}; a later line says how many others of the same sender`,
      );
    },

    /** Stores the counts now, for those who look, instead of at the end of the minute. */
    storeCounts,
  };
}

async function write({ db, now }: Base, code: string, request: RequestInfo, rejection: NewRejection): Promise<void> {
  const { endpoint, reason, message, clientId, subjectId } = rejection;
  const values = {
    endpoint,
    reason: clipped(reason),
    message: clipped(message),
    clientId: clientId === undefined ? null : clipped(clientId, 1024),
    subjectId: subjectId ?? null,
    data: dataOf(rejection),
    at: now(),
    requestId: request.requestId,
    expiresAt: new Date(now().getTime() + limits.rejections.keepDays * 86_400_000),
  };
  await db.rejection.upsert({ where: { id: code }, create: { id: code, ...values }, update: values });
}

/** The newest first by default; `next` names the end of the page by time and code. */
async function listRejections({ db }: Base, { after, limit = PAGE, isAscending = false, ...filter }: RejectionQuery) {
  const { clientId, subjectId, requestId } = filter;
  const place = fromTimeCursor(after);
  const equals = {
    ...(clientId && { clientId }),
    ...(subjectId && { subjectId }),
    ...(requestId && { requestId }),
  };
  const [beyond, orSame, order] = isAscending ? (['gt', 'gte', 'asc'] as const) : (['lt', 'lte', 'desc'] as const);
  const isAfter = place && {
    at: { [orSame]: place.at },
    OR: [{ at: { [beyond]: place.at } }, { id: { [beyond]: place.id } }],
  };
  // As stored, because a forged row counts for the page.
  const rows = await db.asStored.rejection.findMany({
    where: { AND: [equals, isAfter ?? {}] },
    orderBy: [{ at: order }, { id: order }],
    take: limit + 1,
  });
  const page = rows.slice(0, limit);
  const rejections = page.filter((row) => db.macs.isGenuine(TABLE, row, row.mac)).map(fromRow);
  const last = page.at(-1);
  return rows.length > limit && last ? { rejections, next: toTimeCursor(last.at, last.id) } : { rejections };
}

function newCode(): string {
  const bytes = Buffer.from(randomToken(8), 'base64url');
  const letters = [...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** The stored form of a code that was typed in either case, with or without the dash. */
function normalized(code: string): string {
  const letters = code.toUpperCase().replace(/[^0-9A-Z]/g, '');
  return `${letters.slice(0, 4)}-${letters.slice(4, 8)}`;
}

function clipped(text: string, length = MAX_VALUE): string {
  const clean = withoutUnstorable(text);
  return clean.length > length ? `${clean.slice(0, length)}…` : clean;
}

function dataOf({ received, rules }: NewRejection): string {
  const parameters = Object.entries(received)
    .slice(0, MAX_VALUES)
    .map(([name, value]) => [clipped(name, 100), clipped(value, name === 'certificate' ? MAX_CERTIFICATE : MAX_VALUE)]);
  return JSON.stringify({
    received: Object.fromEntries(parameters),
    rules: rules.map(({ received: sent, expected, ...rule }) => ({
      ...rule,
      ...(sent === undefined ? {} : { received: clipped(sent) }),
      ...(expected === undefined ? {} : { expected: clipped(expected, MAX_EXPECTED) }),
    })),
  });
}

const dataSchema = z.object({
  received: z.record(z.string(), z.string()),
  rules: z.array(
    z.object({
      rule: z.string().refine(isRuleId),
      state: z.enum(['passed', 'failed', 'unknown']),
      received: z.string().optional(),
      expected: z.string().optional(),
    }),
  ),
});

interface Row {
  id: string;
  at: Date;
  endpoint: string;
  reason: string;
  message: string;
  clientId: string | null;
  subjectId: string | null;
  requestId: string;
  data: string;
}

const TABLE = 'rejections';

function fromRow({ id, endpoint, clientId, subjectId, data, ...row }: Row): Rejection {
  return {
    at: row.at,
    reason: row.reason,
    message: row.message,
    requestId: row.requestId,
    code: id,
    endpoint: endpoint as RejectionEndpoint,
    clientId: clientId ?? undefined,
    subjectId: subjectId ?? undefined,
    ...dataSchema.parse(JSON.parse(data)),
  };
}
