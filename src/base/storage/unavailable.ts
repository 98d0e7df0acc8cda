// Decides whether an error means that the database cannot be used at the moment. Any other error of a database is a fault of a
// statement, or a result such as a violated constraint.
import { causesOf, messageOf } from '../platform/errors.ts';

/** Why the database cannot be used now; a word for the log and for /readyz, which never contains a value or an address. */
export type UnavailableReason =
  | 'unreachable'
  | 'no answer'
  | 'busy'
  | 'read-only'
  | 'disk full'
  | 'input/output error'
  | 'file missing';

/**
 * The database cannot be used at the moment; a later attempt may succeed. The driver's error is the cause. The fields are those that
 * Koa and oidc-provider read from any error, so both answer 503, and OAuth endpoints `temporarily_unavailable` (RFC 6749 4.1.2.1).
 */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
  readonly reason: UnavailableReason;
  readonly status = 503;
  readonly statusCode = 503;
  readonly expose = true;
  readonly error = 'temporarily_unavailable';
  readonly error_description = 'the database cannot be used at the moment, try again';
  readonly allow_redirect = true;

  constructor(reason: UnavailableReason, cause?: unknown) {
    super('temporarily_unavailable', { cause });
    this.reason = reason;
  }

  /** Fields for the log, without the stack of the driver: every request has this error while the fault lasts. */
  get logFields(): { database: UnavailableReason; cause?: string } {
    // The cause was logged already.
    if (!(this.cause instanceof Error) || this.cause instanceof DatabaseUnavailable) return { database: this.reason };
    return { database: this.reason, cause: driverMessage(this.cause) };
  }

  /** Whether the connection or the server is lost, and not only this operation. */
  get isConnectionLost(): boolean {
    return this.reason === 'unreachable' || this.reason === 'no answer';
  }
}

/** The driver's message, also if Prisma's adapter replaced it by a general one or Node has one error per address. */
export function driverMessage(error: Error): string {
  const { cause, message, errors } = error as DriverError & { cause?: { originalMessage?: unknown }; message: string };
  if (typeof cause?.originalMessage === 'string') return cause.originalMessage;
  if (message !== '' || !Array.isArray(errors)) return message;
  return errors.map(messageOf).join('; ');
}

/** `error` or one of its causes, if it is a DatabaseUnavailable; undefined for any other error. */
export const unavailableIn = (error: unknown): DatabaseUnavailable | undefined =>
  causesOf(error).find((one) => one instanceof DatabaseUnavailable);

/** For `catch`: rethrows DatabaseUnavailable and returns undefined for any other error. */
export function undefinedUnlessUnavailable(error: unknown): undefined {
  if (unavailableIn(error)) throw error;
}

/** Converts an error of a driver or of Prisma's adapter to DatabaseUnavailable; undefined for any other fault. */
export function asUnavailable(error: unknown): DatabaseUnavailable | undefined {
  const known = unavailableIn(error);
  if (known) return known;
  if (!(error instanceof Error)) return undefined;
  const reason = reasonOf(error);
  return reason && new DatabaseUnavailable(reason, error);
}

interface DriverError {
  name?: unknown;
  message?: unknown;
  /** From the driver: SQLSTATE, a code of SQLite, or a code of the socket. */
  code?: unknown;
  /** From Node, when a host name has several addresses. */
  errors?: unknown;
  /** From Prisma's adapter. */
  cause?: { kind?: unknown; originalCode?: unknown; code?: unknown };
}

function reasonOf(error: Error): UnavailableReason | undefined {
  const { code, cause, message } = error as DriverError;
  for (const candidate of [code, cause?.originalCode, cause?.code]) {
    const reason = typeof candidate === 'string' ? reasonOfCode(candidate) : undefined;
    if (reason) return reason;
  }
  if (typeof cause?.kind === 'string' && KINDS[cause.kind]) return KINDS[cause.kind];
  return MESSAGES.find(([pattern]) => pattern.test(String(message)))?.[1];
}

/** Kinds of Prisma's adapter errors, where the code of the driver is lost. */
const KINDS: Record<string, UnavailableReason> = {
  DatabaseNotReachable: 'unreachable',
  ConnectionClosed: 'unreachable',
  TlsConnectionError: 'unreachable',
  SocketTimeout: 'busy',
  TooManyConnections: 'busy',
};

/** Errors of pg that have no code. */
const MESSAGES: [RegExp, UnavailableReason][] = [
  [/^timeout exceeded when trying to connect$/, 'busy'],
  [/^Connection terminated due to connection timeout$|^timeout expired$/, 'no answer'],
  [/^Connection terminated|^Client has encountered a connection error|^Client was closed/, 'unreachable'],
  [/^Cannot use a pool after calling end/, 'unreachable'],
  [/^The database connection is not open$/, 'unreachable'],
];

const SOCKET = /^E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|HOSTDOWN|NETDOWN|AI_AGAIN|NOENT)$/;

function reasonOfCode(code: string): UnavailableReason | undefined {
  if (code.startsWith('SQLITE_')) return SQLITE.find(([prefix]) => code.startsWith(prefix))?.[1];
  if (SQLSTATES[code]) return SQLSTATES[code];
  if (/^08[0-9A-Z]{3}$/.test(code)) return 'unreachable'; // connection exceptions
  return SOCKET.test(code) || code === 'ENOTFOUND' ? 'unreachable' : undefined;
}

const SQLITE: [string, UnavailableReason][] = [
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_PROTOCOL', 'busy'],
  ['SQLITE_FULL', 'disk full'],
  ['SQLITE_READONLY', 'read-only'],
  ['SQLITE_IOERR', 'input/output error'],
  ['SQLITE_CANTOPEN', 'file missing'],
];

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const SQLSTATES: Record<string, UnavailableReason> = {
  '25006': 'read-only',
  '25P03': 'no answer', // idle in transaction for too long
  '53000': 'busy',
  '53100': 'disk full',
  '53200': 'busy',
  '53300': 'busy',
  '55P03': 'busy', // lock_timeout
  '57014': 'busy', // statement_timeout
  '57P01': 'unreachable', // shut down
  '57P02': 'unreachable', // another process of the server crashed
  '57P03': 'unreachable', // starting or stopping
  '57P05': 'unreachable',
  '58000': 'input/output error',
  '58030': 'input/output error',
};
