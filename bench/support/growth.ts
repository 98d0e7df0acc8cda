// Rows as after years of use, for bench/growth.ts: users, each with a session, a grant, an access token, a refresh token and a browser.
import type { Database } from '../../src/base/storage/database.ts';
import { client } from './target.ts';

/** Rows of one statement. */
const PIECE = 100_000;

/** Adds the users with all that is theirs. `note` hears of each table before it is filled. */
export async function addUsers({ db, kind }: Database, rows: number, note: (what: string) => void): Promise<void> {
  const sqlite = kind === 'sqlite';
  const now = Math.floor(Date.now() / 1000);
  const year = now + 365 * 86_400;
  const instant = (seconds: number) =>
    sqlite
      ? `'${new Date(seconds * 1000).toISOString().replace('Z', '+00:00')}'`
      : `to_timestamp(${seconds}) AT TIME ZONE 'UTC'`;
  // As long as real identifiers, and in no order, so that the rows are spread over the index as real ones are.
  const id = (kindOf: string) =>
    sqlite ? `'${kindOf}' || hex(randomblob(20))` : `'${kindOf}' || md5(random()::text || n)`;
  const payload = `'{"iat":${now},"exp":${year},"accountId":"sub-' || n || '","clientId":"${client.id}","grantId":"g-' || n || '","x":"${'x'.repeat(300)}"}'`;
  const artifact = (model: string, uid = 'NULL') => ({
    table: `oidc_artifacts (id, model, payload, grant_id, uid, account_id, client_id, expires_at, mac)`,
    values: `${id(model)}, '${model}', ${payload}, 'g-' || n, ${uid}, 'sub-' || n, '${client.id}', ${year}, '${'m'.repeat(43)}'`,
  });
  const tables = [
    {
      table:
        'users (id, username, username_key, email, email_key, name, search_key, is_enabled, created_at, updated_at)',
      values: `'sub-' || n, 'user-' || n, 'user-' || n, 'user-' || n || '@example.com', 'user-' || n || '@example.com', 'Ann Smith',
        'user-' || n, true, ${instant(now)}, ${instant(now)}`,
    },
    artifact('Session', `'s-' || n`),
    artifact('Grant'),
    artifact('AccessToken'),
    artifact('RefreshToken'),
    {
      table: 'session_devices (uid, user_id, user_agent, address, created_at, last_seen_at, expires_at)',
      values: `'s-' || n, 'sub-' || n, 'Mozilla/5.0', '192.0.2.1', ${instant(now)}, ${instant(now)}, ${instant(year)}`,
    },
    {
      table: 'known_browsers (id, user_id, token_hash, user_agent, address, created_at, last_seen_at, expires_at)',
      values: `'b-' || n, 'sub-' || n, ${id('h')}, 'Mozilla/5.0', '192.0.2.1', ${instant(now)}, ${instant(now)}, ${instant(year)}`,
    },
  ];
  // One row after the other would change a page of each index; building them at the end sorts instead.
  const indexes = await indexesOf(db, sqlite);
  if (sqlite) await db.$executeRawUnsafe('PRAGMA cache_size = -2000000');
  for (const { name } of indexes) await db.$executeRawUnsafe(`DROP INDEX "${name}"`);
  for (const { table, values } of tables) {
    note(`${rows} × ${table.split(' ')[0]}`);
    for (let from = 0; from < rows; from += PIECE) {
      const last = Math.min(from + PIECE, rows) - 1;
      const numbers = sqlite
        ? `WITH RECURSIVE n(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM n WHERE n < ${last})`
        : `WITH n AS (SELECT generate_series(${from}, ${last})::bigint AS n)`;
      await db.$executeRawUnsafe(`INSERT INTO ${table} ${numbers} SELECT ${values} FROM n`);
    }
  }
  for (const { name, sql } of indexes) {
    note(`index ${name}`);
    await db.$executeRawUnsafe(sql);
  }
  // PostgreSQL does it by itself in time; on SQLite the server never does.
  if (!sqlite) await db.$executeRawUnsafe('VACUUM ANALYZE');
}

/** The indexes of the filled tables, except those of primary keys, and the statements that create them. */
function indexesOf(db: Database['db'], sqlite: boolean): Promise<{ name: string; sql: string }[]> {
  const tables = `('users', 'oidc_artifacts', 'session_devices', 'known_browsers')`;
  return db.$queryRawUnsafe(
    sqlite
      ? `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ${tables}`
      : `SELECT indexname AS name, indexdef AS sql FROM pg_indexes WHERE tablename IN ${tables} AND indexname NOT LIKE '%_pkey'`,
  );
}
