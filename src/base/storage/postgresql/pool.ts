// The connections to PostgreSQL and every time limit on them. A connection whose answer does not come in time is destroyed: the
// server may be frozen, or a firewall may have forgotten the connection, and nothing else would ever tell.
import pg from 'pg';
import { packageVersion } from '../../platform/package.ts';
import type { DatabaseLocation } from '../database-url.ts';
import type { DatabaseLimits } from '../open-options.ts';
import { asUnavailable, DatabaseUnavailable } from '../unavailable.ts';

type Location = Extract<DatabaseLocation, { kind: 'postgresql' }>;

export interface PoolOptions {
  limits: DatabaseLimits;
  /** The largest number of connections. */
  max: number;
  /** Where the pool notes what it waits for. */
  waits?: Waits;
}

/** The queries that wait for their answer. */
export type Waits = Set<{ since: number; end(): void }>;

/** Ends the connections whose query waits for longer than this: the server does not know them any more, or is away. */
export function endWaits(waits: Waits, longerThanMs: number): void {
  const before = performance.now() - longerThanMs;
  for (const { since, end } of waits) if (since <= before) end();
}

/** The configuration of a pool, as pg and Prisma's adapter take it. */
export function poolConfig(location: Location, { limits, max, waits }: PoolOptions): pg.PoolConfig {
  return {
    ...clientConfig(location, limits),
    max,
    idleTimeoutMillis: limits.idleMs,
    Client: timedClient(limits.answerMs, waits),
  } as pg.PoolConfig; // `Client` is documented, and missing in the types
}

/**
 * Connects without the pool and asks for something; rejects when one of the two takes longer than `limits.lookMs`. A login alone proves
 * nothing: a pooler in front of the server may have answered it.
 */
export async function lookAtServer(location: Location, limits: DatabaseLimits): Promise<void> {
  const Client = timedClient(limits.lookMs);
  const client = new Client({ ...clientConfig(location, limits), connectionTimeoutMillis: limits.lookMs });
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    client.end().catch(() => {}); // a server that does not answer is not waited for
  }
}

/** Closes the idle connections of a pool: after a failover or a lost network they may be dead, and nobody would notice. */
export function closeIdleConnections(pool: pg.Pool): void {
  const idle = pool.idleCount;
  for (let count = 0; count < idle; count += 1) pool.connect((_error, _client, release) => release?.(true));
}

function clientConfig(
  { connectionString, schema, keepsStatements }: Location,
  limits: DatabaseLimits,
): pg.ClientConfig {
  return {
    connectionString,
    application_name: `gatehouse ${packageVersion()}`, // for `gatehouse restore` and `upgrade check`
    connectionTimeoutMillis: limits.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: limits.keepAliveMs,
    // Raw SQL names tables without their schema.
    ...(schema === 'public' ? {} : { options: `-c search_path=${schema}` }),
    // A pooler like PgBouncer rejects these parameters of the connection; there only the limit of the client holds.
    ...(keepsStatements
      ? {
          statement_timeout: limits.statementMs,
          lock_timeout: limits.lockMs,
          idle_in_transaction_session_timeout: limits.idleInTransactionMs,
        }
      : {}),
  };
}

/** The private parts of a client of pg. */
interface Internals {
  connection: { stream: { destroy(error: Error): void } };
}

type Connected = (error: Error | undefined, ...rest: unknown[]) => void;
type Connect = (callback?: Connected) => Promise<unknown> | undefined;

/**
 * Connects; an error here is always about the database and never about a statement: besides a lost network also a changed password,
 * a user who may not log in, a renamed database, a certificate that has expired. Both forms of pg's method.
 */
function connectOrUnavailable(connect: Connect, limitMs: number, callback?: Connected): Promise<unknown> | undefined {
  const began = performance.now();
  const unavailable = (error: unknown) => {
    const waited = Math.round(performance.now() - began);
    // pg ends the connection itself after its limit, and then reports what a server that hangs up gives.
    if (waited >= limitMs && error instanceof Error && error.message === 'Connection terminated unexpectedly')
      return noAnswerIn(waited);
    return asUnavailable(error) ?? new DatabaseUnavailable('unreachable', error);
  };
  if (callback) return connect((error, ...rest) => callback(error && unavailable(error), ...rest));
  return connect()?.catch((error: unknown) => {
    throw unavailable(error);
  });
}

function noAnswerIn(ms: number): DatabaseUnavailable {
  return new DatabaseUnavailable('no answer', new Error(`no answer in ${ms} ms`));
}

/** The client class of pg, with a limit for each answer. pg's own query_timeout leaves the connection in use, still waiting. */
function timedClient(answerMs: number, waits: Waits = new Set()): typeof pg.Client {
  return class TimedClient extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      // The queries under way report it; without a listener the event would end the process.
      this.on('error', () => {});
      const query = this.query.bind(this) as (...values: unknown[]) => unknown;
      const connect = this.connect.bind(this) as Connect;
      const connectMs = (typeof config === 'object' && config.connectionTimeoutMillis) || Number.POSITIVE_INFINITY;
      Object.assign(this, {
        query: (...values: unknown[]) => this.#limited(query, values),
        connect: (callback?: Connected) => connectOrUnavailable(connect, connectMs, callback),
      });
    }

    // Both forms of pg's method: with a callback at the end, as its pool calls it, and with a promise.
    #limited(query: (...values: unknown[]) => unknown, values: unknown[]): unknown {
      const stop = this.#limitAnswer();
      const callback = values.at(-1);
      if (typeof callback === 'function') {
        const stopped = (...results: unknown[]) => {
          stop();
          callback(...results);
        };
        return query(...values.slice(0, -1), stopped);
      }
      const result = query(...values);
      if (result instanceof Promise) result.then(stop, stop);
      return result;
    }

    /** Destroys the connection when no answer comes in time; the returned function ends the wait. */
    #limitAnswer(): () => void {
      const since = performance.now();
      const wait = {
        since,
        // After a pause of this process the answer may be here already, unread: it is read before the immediate runs.
        end: () =>
          void setImmediate(() => {
            if (!waits.delete(wait)) return;
            const { stream } = (this as unknown as Internals).connection;
            stream.destroy(noAnswerIn(Math.round(performance.now() - since)));
          }),
      };
      waits.add(wait);
      const timer = setTimeout(wait.end, answerMs);
      return () => {
        waits.delete(wait);
        clearTimeout(timer);
      };
    }
  };
}
