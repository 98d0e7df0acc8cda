// The log: JSON lines, or colored text on a terminal. Secrets are removed by key name at any depth of an object; a caller
// must not put one into the message text.
import { write, writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { sourceStack } from './source-stack.ts';
import { traceFields } from './tracing.ts';

export type { Logger };

export interface LoggerOptions {
  level: string;
  format: 'pretty' | 'json';
  /** Several processes write to the same standard output: no line may end up inside another. */
  isShared?: boolean;
  /** Where lines are written; standard output unless given. */
  destination?: DestinationStream;
  /** Each line names the trace in which it was written. */
  withTraces?: boolean;
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
const BLOCK = 8192;
/** What a pipe takes as a whole (PIPE_BUF), in ASCII. */
const PIPE_BLOCK = 4096;

/** Makes the logger of the process. */
export function createLogger({
  level,
  format,
  destination,
  isShared = false,
  withTraces = false,
}: LoggerOptions): Logger {
  const output = destination ?? logOutput(isShared ? PIPE_BLOCK : BLOCK);
  const stream = format === 'pretty' ? prettyStream(output, destination === undefined && process.stdout.isTTY) : output;
  const options = {
    level,
    base: null,
    ...(withTraces && { mixin: () => traceFields() }),
    serializers: { err: (error: unknown) => error }, // already a plain object: the log formatter runs first
    timestamp: createTimes(),
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => withoutSecrets(fields, 0) as Record<string, unknown>,
    },
  };
  return pino(options, stream);
}

/** The time of a line as pino expects it, `,"time":"<ISO 8601>"`. All but the milliseconds is formatted once a second. */
function createTimes(): () => string {
  let second = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    const ms = now % 1000;
    if (now - ms !== second) {
      second = now - ms;
      text = `,"time":"${new Date(second).toISOString().slice(0, -4)}`;
    }
    return `${text}${String(ms).padStart(3, '0')}Z"`;
  };
}

/** Each line is written at once, in order with what others write to the terminal. */
function prettyStream(output: DestinationStream & { flushSync?(): void }, colorize: boolean): DestinationStream {
  const pretty = prettyFactory({
    colorize,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname',
    singleLine: true,
  });
  return {
    write(line) {
      output.write(pretty(line));
      output.flushSync?.();
    },
  };
}

function withoutSecrets(value: unknown, depth: number): unknown {
  if (value instanceof Error) return describeError(value, depth);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth >= MAX_DEPTH) return '[deep]';
  if (Array.isArray(value)) return value.map((entry) => withoutSecrets(entry, depth + 1));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  const cleaned: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(value)) {
    const content = isSecret(knownPlainKey(key), entry) ? REMOVED : withoutSecrets(entry, depth + 1);
    // Unlike an assignment, this makes an own property of `__proto__` too.
    if (key === '__proto__') Object.defineProperty(cleaned, key, { value: content, enumerable: true });
    else cleaned[key] = content;
  }
  return cleaned;
}

function describeError(error: Error, depth: number): Record<string, unknown> {
  // An error that happens again and again while its cause lasts says what to log of it (base/storage/unavailable.ts).
  if ('logFields' in error) return { type: error.name, ...(withoutSecrets(error.logFields, depth + 1) as object) };
  const { name, message, stack, cause, ...rest } = error as Error & Record<string, unknown>;
  return {
    type: name,
    message,
    ...(withoutSecrets(rest, depth + 1) as object),
    stack: sourceStack(stack),
    ...(cause === undefined || depth >= MAX_DEPTH ? {} : { cause: withoutSecrets(cause, depth + 1) }),
  };
}

function isSecret(key: string, entry: unknown): boolean {
  if (entry === undefined || entry === null || !SECRET_KEYS.has(key)) return false;
  // `code` is an authorization code, a one-time code or an error code: only an error code is a single word.
  return !(key === 'code' && typeof entry === 'string' && /^([A-Z][A-Z0-9_]{0,40}|[a-z][a-z_]{0,40})$/.test(entry));
}

const plainKeys = new Map<string, string>();
const MAX_PLAIN_KEYS = 1000;

/** `plainKey`, remembered for the keys of the source code. */
function knownPlainKey(key: string): string {
  const known = plainKeys.get(key);
  if (known !== undefined) return known;
  const plain = plainKey(key);
  if (plainKeys.size < MAX_PLAIN_KEYS) plainKeys.set(key, plain);
  return plain;
}

// newPassword, new_password and New-Password become the same key.
function plainKey(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, '');
}

// The log on standard output. Lines are written in blocks, after 100 ms or at exit: one system call for each line costs more than
// many requests. Output that cannot be written, because its disk is full, doesn't stop the process.

const DELAY_MILLISECONDS = 100;
/** Characters that wait for output that cannot be written; further lines are lost. */
const MAX_WAITING = 1024 * 1024;
const MAX_EXIT_DELAY_MILLISECONDS = 1000;
const RETRY_MILLISECONDS = 10;

/** `maxBlock`: characters of a block, which ends with a line. */
export function logOutput(maxBlock: number, fd = 1) {
  const blocks: string[] = [];
  let waiting = 0;
  /** The rest of a block of which only a part was written. */
  let rest: Buffer | undefined;
  let isWriting = false;
  let timer: NodeJS.Timeout | undefined;
  let flushesAtExit = false;

  function next(): Buffer | undefined {
    if (rest) return rest;
    const block = blocks.shift();
    if (block === undefined) return undefined;
    waiting -= block.length;
    return Buffer.from(block);
  }

  function flush(): void {
    const block = isWriting ? undefined : next();
    if (!block) return;
    rest = undefined;
    isWriting = true;
    write(fd, block, (error, written) => {
      isWriting = false;
      rest = restOf(block, error ? 0 : written);
      if (error) flushLater();
      else flush();
    });
  }

  function flushLater(): void {
    if (timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      flush();
    }, DELAY_MILLISECONDS).unref();
  }

  /** At exit, there is no time for a callback. A pipe that is full for a moment (EAGAIN) gets a second; a full disk doesn't. */
  function flushSync(): void {
    const until = performance.now() + MAX_EXIT_DELAY_MILLISECONDS;
    for (let block = next(); block; block = next()) {
      try {
        rest = restOf(block, writeSync(fd, block));
      } catch (error) {
        rest = block;
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > until) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MILLISECONDS);
      }
    }
  }

  return {
    write(line: string): void {
      if (waiting + line.length > MAX_WAITING) return;
      if (!flushesAtExit) process.on('exit', flushSync);
      flushesAtExit = true;
      const last = blocks.at(-1);
      if (last === undefined || last.length + line.length > maxBlock) blocks.push(line);
      else blocks[blocks.length - 1] = last + line;
      waiting += line.length;
      if (blocks.length > 1) flush();
      else flushLater();
    },
    flushSync,
  };
}

function restOf(block: Buffer, written: number): Buffer | undefined {
  return written < block.length ? block.subarray(written) : undefined;
}
