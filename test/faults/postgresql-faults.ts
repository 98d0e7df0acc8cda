// What happens to PostgreSQL, or on the way to it, in postgresql.ts.
import pg from 'pg';
import type { PostgresProcess } from './postgres-process.ts';
import type { TcpProxy } from './tcp-proxy.ts';

export interface Fault {
  begin(postgres: PostgresProcess, proxy: TcpProxy, server: { workers(): number[] }): Promise<void> | void;
  end(postgres: PostgresProcess, proxy: TcpProxy): Promise<void> | void;
  /** The database was good for new connections all the time. */
  isInstant?: boolean;
}

/** The user of the server, who is no superuser, and owns the database of this name. */
export const SERVER = { user: 'server', database: 'gatehouse' };

/** Creates the database of the server. */
export const createDatabase = (postgres: PostgresProcess) =>
  run(
    postgres,
    { database: 'postgres' },
    "CREATE ROLE server LOGIN PASSWORD 'faults'",
    "CREATE ROLE other LOGIN PASSWORD 'faults'",
    'CREATE DATABASE gatehouse OWNER server',
  );

type Names = { user?: string; database?: string };

/** Statements of another client, past the proxy. */
async function run(postgres: PostgresProcess, names: Names, ...statements: string[]): Promise<void> {
  const client = await connected(postgres, names);
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

async function connected({ url, port }: PostgresProcess, names: Names): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url(port, names) });
  client.on('error', () => {});
  await client.connect();
  return client;
}

const END_SESSIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'server'";
const CONNECTIONS = 100;
const asAdmin = { database: 'postgres' };
const clients: pg.Client[] = [];
let timer: NodeJS.Timeout | undefined;

function every(ms: number, work: () => Promise<void> | void): void {
  timer = setInterval(() => void Promise.resolve(work()).catch(() => {}), ms);
}

async function endAll(): Promise<void> {
  clearInterval(timer);
  await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})));
}

export const faults: Record<string, Fault> = {
  frozen: { begin: (postgres) => postgres.freeze(), end: (postgres) => postgres.thaw() },
  silent: { begin: (_, proxy) => proxy.silenceConnections(), end: () => {}, isInstant: true },
  unreachable: { begin: (_, proxy) => proxy.silenceAll(), end: (_, proxy) => proxy.serve() },
  stopped: { begin: (postgres) => postgres.end('SIGINT'), end: (postgres) => postgres.start() },
  killed: { begin: (postgres) => postgres.end('SIGKILL'), end: (postgres) => postgres.start() },
  /** With `--workers`: no worker can start before the database is back. */
  'stopped-and-workers-killed': {
    async begin(postgres, _proxy, { workers }) {
      await postgres.end('SIGINT');
      for (const worker of workers()) process.kill(worker, 'SIGKILL');
    },
    end: (postgres) => postgres.start(),
  },
  /** All connections are reset every second, in the middle of what they carry. */
  reset: { begin: (_, proxy) => every(1000, proxy.resetConnections), end: endAll },
  drips: { begin: (_, proxy) => proxy.drip(20), end: (_, proxy) => proxy.drip(0) },
  slow: { begin: (_, proxy) => proxy.delay(700), end: (_, proxy) => proxy.delay(0) },
  /** An administrator ends the sessions of the server again and again. */
  terminated: { begin: (postgres) => every(500, () => run(postgres, asAdmin, END_SESSIONS)), end: endAll },
  'backend-killed': { begin: (postgres) => every(5000, () => postgres.killBackend()), end: endAll },
  'read-only': {
    begin: (postgres) =>
      run(postgres, asAdmin, 'ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()'),
    end: (postgres) =>
      run(
        postgres,
        asAdmin,
        'SET default_transaction_read_only = off',
        'ALTER SYSTEM RESET default_transaction_read_only',
        'SELECT pg_reload_conf()',
      ),
  },
  /** Other clients hold all connections, and the sessions of the server are ended. */
  crowded: {
    async begin(postgres) {
      const admin = await connected(postgres, asAdmin);
      clients.push(admin);
      const others = Array.from({ length: CONNECTIONS }, () => connected(postgres, { user: 'other' }));
      for (const result of await Promise.allSettled(others))
        if (result.status === 'fulfilled') clients.push(result.value);
      await admin.query(END_SESSIONS);
      every(10, async () => void clients.push(await connected(postgres, { user: 'other' })));
    },
    end: endAll,
  },
  /** Another session locks tables that every sign-in writes. */
  locked: {
    async begin(postgres) {
      const client = await connected(postgres, { database: 'gatehouse' });
      clients.push(client);
      await client.query('BEGIN');
      await client.query('LOCK TABLE users, oidc_artifacts, audit_events IN ACCESS EXCLUSIVE MODE');
    },
    end: endAll,
  },
  /** The password of the database user was changed, and its sessions are ended. */
  'wrong-password': {
    begin: (postgres) => run(postgres, asAdmin, "ALTER ROLE server PASSWORD 'changed'", END_SESSIONS),
    end: (postgres) => run(postgres, asAdmin, "ALTER ROLE server PASSWORD 'faults'"),
  },
  /** Its user may not connect any more. */
  'no-login': {
    begin: (postgres) => run(postgres, asAdmin, 'ALTER ROLE server NOLOGIN', END_SESSIONS),
    end: (postgres) => run(postgres, asAdmin, 'ALTER ROLE server LOGIN'),
  },
  /** The database has another name, as during a restore by other tools. */
  renamed: {
    begin: (postgres) =>
      run(
        postgres,
        asAdmin,
        'ALTER DATABASE gatehouse ALLOW_CONNECTIONS false',
        END_SESSIONS,
        'SELECT pg_sleep(0.5)',
        'ALTER DATABASE gatehouse RENAME TO away',
      ),
    end: (postgres) =>
      run(
        postgres,
        asAdmin,
        'ALTER DATABASE away RENAME TO gatehouse',
        'ALTER DATABASE gatehouse ALLOW_CONNECTIONS true',
      ),
  },
};
