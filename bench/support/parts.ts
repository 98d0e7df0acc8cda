// What a server adds to the engine, one part at a time and each in its least form, for bench/bound.ts: no pages, no administration, no
// configuration, no error handling.
import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import { pino } from 'pino';
import { Histogram, Registry } from 'prom-client';
import { hmacSha256 } from '../../src/base/platform/hmac.ts';
import type { Adapter, AdapterPayload, Provider } from '../../src/protocols/oidc/engine/library.ts';

/** In the order in which bench/bound.ts adds them, with what each gives. */
export const PARTS = {
  storage: 'tokens, grants and sessions are rows of SQLite: committed before the answer, read at each use',
  fresh: 'one look for what other processes changed (a disabled client)',
  hashed: 'a row has the hash of its bearer value, and a MAC that is verified when it is read',
  secret: 'the secret of the client is stored as a MAC',
  headers: 'request id and seven security headers',
  log: 'one JSON line in the log and one observation of the metrics',
} as const;
export type Part = keyof typeof PARTS;

const mac = hmacSha256(randomBytes(32));
const isSame = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

interface Row {
  payload: string;
  mac: string;
}

/** The engine's adapter on the SQLite file, with the pragmas and the indexes of Gatehouse. */
export function storage(file: string, parts: ReadonlySet<string>): { new (model: string): Adapter } {
  const db = new Sqlite(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4000; PRAGMA wal_autocheckpoint = 1000;
    CREATE TABLE rows (id TEXT PRIMARY KEY NOT NULL, model TEXT NOT NULL, payload TEXT NOT NULL, grant_id TEXT, uid TEXT,
      account_id TEXT, client_id TEXT, expires_at INTEGER, consumed_at INTEGER, mac TEXT NOT NULL);
    CREATE INDEX of_grant ON rows (grant_id) WHERE grant_id IS NOT NULL;
    CREATE INDEX of_uid ON rows (uid, model) WHERE uid IS NOT NULL;
    CREATE INDEX of_account ON rows (account_id, model, expires_at) WHERE account_id IS NOT NULL;
    CREATE INDEX by_end ON rows (expires_at)`);
  const upsert =
    db.prepare(`INSERT INTO rows (id, model, payload, grant_id, uid, account_id, client_id, expires_at, mac)
    VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, mac = excluded.mac`);
  const byId = db.prepare<[string], Row>('SELECT payload, mac FROM rows WHERE id = ?');
  const byUid = db.prepare<[string, string], Row>('SELECT payload, mac FROM rows WHERE uid = ? AND model = ?');
  const consume = db.prepare('UPDATE rows SET consumed_at = ? WHERE id = ?');
  const remove = db.prepare('DELETE FROM rows WHERE id = ?');
  const isHashed = parts.has('hashed');
  const read = (row: Row | undefined) =>
    row && (!isHashed || isSame(mac(row.payload), row.mac)) ? (JSON.parse(row.payload) as AdapterPayload) : undefined;

  return class implements Adapter {
    readonly #model: string;
    constructor(model: string) {
      this.#model = model;
    }
    #id(value: string): string {
      return isHashed ? hash('sha256', `${this.#model}:${value}`, 'base64url') : `${this.#model}:${value}`;
    }
    async upsert(value: string, payload: AdapterPayload, expiresIn: number) {
      const { grantId = null, uid = null, accountId = null, clientId = null } = payload;
      const text = JSON.stringify(payload);
      const end = Math.floor(Date.now() / 1000) + expiresIn;
      const owner = [grantId, uid, accountId, clientId];
      upsert.run(this.#id(value), this.#model, text, ...owner, end, isHashed ? mac(text) : '');
    }
    async find(value: string) {
      return read(byId.get(this.#id(value)));
    }
    async findByUid(uid: string) {
      return read(byUid.get(uid, this.#model));
    }
    async findByUserCode() {
      return undefined;
    }
    async consume(value: string) {
      consume.run(1, this.#id(value));
    }
    async destroy(value: string) {
      remove.run(this.#id(value));
    }
    async revokeByGrantId() {}
  };
}

/** The parts around the engine. */
export function around(provider: Provider, file: string, parts: ReadonlySet<string>): void {
  if (parts.has('log')) provider.use(log());
  if (parts.has('headers')) {
    provider.use((ctx, next) => {
      ctx.set('X-Request-Id', randomBytes(12).toString('base64url'));
      for (const [name, value] of HEADERS) ctx.set(name, value);
      return next();
    });
  }
  if (parts.has('fresh')) {
    const look = new Sqlite(file).prepare('PRAGMA data_version').pluck();
    provider.use((_ctx, next) => {
      look.get();
      return next();
    });
  }
  if (parts.has('secret')) {
    const prototype = provider.Client.prototype as unknown as { clientSecret: string };
    const macs = new Map<string, string>();
    Object.assign(prototype, {
      async compareClientSecret(this: { clientSecret: string }, actual: string) {
        const { clientSecret } = this;
        const stored = macs.get(clientSecret) ?? createHmac('sha256', 'key').update(clientSecret).digest('base64url');
        macs.set(clientSecret, stored);
        return isSame(secretMac(actual), stored);
      },
    });
  }
}
const secretMac = hmacSha256(Buffer.from('key'));

const HEADERS = Object.entries({
  'X-Frame-Options': 'SAMEORIGIN',
  'Strict-Transport-Security': 'max-age=63072000; includeSubDomains; preload',
  'Content-Security-Policy':
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:",
  'X-Content-Type-Options': 'nosniff',
  'X-XSS-Protection': '1; mode=block',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Permissions-Policy': 'geolocation=(), microphone=(), camera=()',
});

function log(): Parameters<Provider['use']>[0] {
  const logger = pino({ base: null }, pino.destination({ dest: 1, sync: false, minLength: 8192, periodicFlush: 100 }));
  const registers = [new Registry()];
  const labelNames = ['method', 'route', 'status'];
  const seconds = new Histogram({ name: 'requests_seconds', help: 'Requests', labelNames, registers });
  return (ctx, next) => {
    const begin = performance.now();
    const { method, path } = ctx;
    ctx.res.once('close', () => {
      const ms = performance.now() - begin;
      const status = ctx.res.statusCode;
      const requestId = String(ctx.response.get('X-Request-Id'));
      logger.info({ requestId, method, path, status, ms, address: ctx.socket.remoteAddress }, 'request');
      seconds.observe({ method, route: path, status: String(status) }, ms / 1000);
    });
    return next();
  };
}
