// Refused protocol requests, each under a short code that is on the person's page or in the application's answer: what was
// received, without its secrets, so that an administrator finds the reason without reading a log. Swept after some days.
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Db } from '../platform/db.ts';
import type { Logger } from '../platform/logger.ts';
import { randomToken } from '../platform/random.ts';
import type { RequestInfo } from '../platform/request-info.ts';

export type RefusalEndpoint = 'authorize' | 'par' | 'token' | 'end-session' | 'saml' | 'access';
/** What was received, by parameter; secrets are never among the values. */
export type ReceivedParameters = Record<string, string>;

export interface NewRefusal {
  endpoint: RefusalEndpoint;
  /** Code of the protocol or of ours. */
  reason: string;
  /** A sentence for administrators. */
  message: string;
  /** client_id or entity ID as it was sent; it need not be registered. */
  clientId?: string | undefined;
  subjectId?: string | undefined;
  received: ReceivedParameters;
}

export interface Refusal extends NewRefusal {
  code: string;
  at: Date;
  clientId: string | undefined;
  subjectId: string | undefined;
  requestId: string;
}

export interface Refusals {
  /** The code of this request's refusal; the same whenever it is asked. */
  codeOf(request: RequestInfo): string;
  /** The code, if this request was refused. */
  known(request: RequestInfo): string | undefined;
  /** Keeps it; a second word on the same request replaces the first. Returns the code and never fails. */
  keep(request: RequestInfo, refusal: NewRefusal): string;
  find(code: string): Promise<Refusal | undefined>;
  /** Newest first. */
  list(query: RefusalQuery): Promise<{ refusals: Refusal[]; next?: string }>;
}

export interface RefusalQuery {
  clientId?: string | undefined;
  subjectId?: string | undefined;
  requestId?: string | undefined;
  after?: string | undefined;
  limit?: number;
}

export interface RefusalsNeeds {
  db: Db;
  now: Clock;
  logger: Logger;
  /** False when this address has left enough of them for now: strangers must not fill the table. */
  admit(address: string): Promise<boolean>;
}

// Read out on the telephone: no letter looks like a digit.
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
const MAX_VALUE = 500;
const MAX_VALUES = 40;
const PAGE = 50;

export function createRefusals({ db, now, logger, admit }: RefusalsNeeds): Refusals {
  const codes = new WeakMap<RequestInfo, string>();
  // A page is shown before its row is written; whoever looks the code up on this instance waits for it.
  const writing = new Set<Promise<void>>();

  function codeOf(request: RequestInfo): string {
    const code = codes.get(request) ?? newCode();
    codes.set(request, code);
    return code;
  }

  async function write(code: string, request: RequestInfo, refusal: NewRefusal): Promise<void> {
    if (!(await admit(request.address))) return;
    const { endpoint, reason, message, clientId, subjectId, received } = refusal;
    const values = {
      at: now(),
      endpoint,
      reason: clipped(reason),
      message: clipped(message),
      clientId: clientId === undefined ? null : clipped(clientId, 1024),
      subjectId: subjectId ?? null,
      requestId: request.requestId,
      data: JSON.stringify(
        Object.fromEntries(
          Object.entries(received)
            .slice(0, MAX_VALUES)
            .map(([name, value]) => [clipped(name, 100), clipped(value, name === 'certificate' ? 8000 : MAX_VALUE)]),
        ),
      ),
      expiresAt: new Date(now().getTime() + limits.refusals.keepDays * 86_400_000),
    };
    await db.refusal.upsert({ where: { id: code }, create: { id: code, ...values }, update: values });
  }

  return {
    codeOf,
    known: (request) => codes.get(request),

    keep(request, refusal) {
      const code = codeOf(request);
      const work = Promise.allSettled([...writing])
        .then(() => write(code, request, refusal))
        .catch((err: unknown) => logger.error({ err }, 'a refusal was not kept'))
        .finally(() => writing.delete(work));
      writing.add(work);
      return code;
    },

    async find(code) {
      await Promise.allSettled([...writing]);
      const row = await db.refusal.findUnique({ where: { id: tidied(code) } });
      return row ? fromRow(row) : undefined;
    },

    async list({ clientId, subjectId, requestId, after, limit = PAGE }) {
      await Promise.allSettled([...writing]);
      const [, time, id] = /^(\d{1,15})\.([\w-]{1,20})$/.exec(after ?? '') ?? [];
      const at = time === undefined ? undefined : new Date(Number(time));
      const equals = {
        ...(clientId && { clientId }),
        ...(subjectId && { subjectId }),
        ...(requestId && { requestId }),
      };
      const cursor = at && id ? { at: { lte: at }, OR: [{ at: { lt: at } }, { id: { lt: id } }] } : {};
      const rows = await db.refusal.findMany({
        where: { AND: [equals, cursor] },
        orderBy: [{ at: 'desc' }, { id: 'desc' }],
        take: limit + 1,
      });
      const refusals = rows.slice(0, limit).map(fromRow);
      const last = refusals.at(-1);
      return rows.length > limit && last ? { refusals, next: `${last.at.getTime()}.${last.code}` } : { refusals };
    },
  };
}

function newCode(): string {
  const bytes = Buffer.from(randomToken(8), 'base64url');
  const letters = [...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** As people type it: in whatever case, with or without the dash. */
function tidied(code: string): string {
  const letters = code.toUpperCase().replace(/[^0-9A-Z]/g, '');
  return `${letters.slice(0, 4)}-${letters.slice(4, 8)}`;
}

function clipped(text: string, length = MAX_VALUE): string {
  const clean = text.replace(/[\0\p{Cs}]/gu, '');
  return clean.length > length ? `${clean.slice(0, length)}…` : clean;
}

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

function fromRow({ id, endpoint, clientId, subjectId, data, ...row }: Row): Refusal {
  return {
    at: row.at,
    reason: row.reason,
    message: row.message,
    requestId: row.requestId,
    code: id,
    endpoint: endpoint as RefusalEndpoint,
    clientId: clientId ?? undefined,
    subjectId: subjectId ?? undefined,
    received: JSON.parse(data) as ReceivedParameters,
  };
}
