// The log: JSON lines, or coloured text on a terminal. Secrets are removed by key name before a line is
// written, whatever object they arrive in; callers must still not put one into the message text.
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { PinoPretty } from 'pino-pretty';

export type { Logger };

export interface LoggerOptions {
  level: string;
  format: 'pretty' | 'json';
  /** Where lines go; standard output unless a test reads them. */
  destination?: DestinationStream;
}

const SECRET_KEYS = new Set(
  [
    'authorization cookie set_cookie password new_password current_password secret client_secret token access_token',
    'refresh_token id_token id_token_hint logout_token registration_access_token code code_verifier otp totp',
    'recovery_code private_key private_jwk assertion client_assertion samlrequest samlresponse csrf _csrf proof',
    'token_hash secret_sealed private_sealed body_sealed smtp_url database_url gatehouse_secret user_code device_code',
  ]
    .join(' ')
    .split(' ')
    .map(plainKey),
);
const REMOVED = '[removed]';
const MAX_DEPTH = 6;

/** Makes the one logger of the process; domains get it, or a child of it, handed in. */
export function createLogger({ level, format, destination }: LoggerOptions): Logger {
  const stream = format === 'pretty' ? prettyStream(destination) : (destination ?? bufferedOutput());
  const options = {
    level,
    base: null,
    serializers: { err: (error: unknown) => error }, // already plain: the log formatter below has seen it
    timestamp: stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => withoutSecrets(fields, 0) as Record<string, unknown>,
    },
  };
  return stream ? pino(options, stream) : pino(options);
}

/** A system call for each line would cost more than many a request; written at the latest after a moment, and at exit. */
function bufferedOutput(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: 8192, periodicFlush: 100 });
}

function prettyStream(destination?: DestinationStream) {
  return PinoPretty({
    colorize: destination === undefined && process.stdout.isTTY === true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname',
    singleLine: true,
    sync: true,
    ...(destination ? { destination } : {}),
  });
}

function withoutSecrets(value: unknown, depth: number): unknown {
  if (value instanceof Error) return describeError(value, depth);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth >= MAX_DEPTH) return '[deep]';
  if (Array.isArray(value)) return value.map((entry) => withoutSecrets(entry, depth + 1));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [
      key,
      isSecret(plainKey(key), entry) ? REMOVED : withoutSecrets(entry, depth + 1),
    ]),
  );
}

function describeError(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause, ...rest } = error as Error & Record<string, unknown>;
  return {
    type: name,
    message,
    ...(withoutSecrets(rest, depth + 1) as object),
    stack,
    ...(cause === undefined || depth >= MAX_DEPTH ? {} : { cause: withoutSecrets(cause, depth + 1) }),
  };
}

function isSecret(key: string, entry: unknown): boolean {
  if (entry === undefined || entry === null || !SECRET_KEYS.has(key)) return false;
  // `code` is an authorization or one-time code, or the reason of an error: keep what reads like a word.
  return !(key === 'code' && typeof entry === 'string' && /^([A-Z][A-Z0-9_]{0,40}|[a-z][a-z_]{0,40})$/.test(entry));
}

// newPassword, new_password, New-Password: one spelling.
function plainKey(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, '');
}
