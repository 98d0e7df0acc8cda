// Users, each with a password, a role and a session, move from SQLite to PostgreSQL and back: a hundred thousand in `npm run test:long`.
// The durations are annotated.
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { openDatabase } from '../../src/base/storage/database.ts';
import { migrate } from '../../src/base/storage/migrations/migrate.ts';
import { emptyDatabaseUrl } from '../storage/empty-database.ts';
import { databaseKind, testFolder } from '../support/database/database.ts';
import { isLongRun } from '../support/long-run.ts';
import { commandLine } from './support.ts';

const USERS = isLongRun ? 100_000 : 5000;
const folder = testFolder();
const first = `file:${path.join(folder, 'first', 'gatehouse.db')}`;
const second = `file:${path.join(folder, 'second', 'gatehouse.db')}`;

/** What the users add up to: a row that is missing, doubled or changed gives another sum. */
async function sumOf(url: string): Promise<unknown> {
  const { db, close } = await openDatabase(url);
  try {
    const last = { orderBy: { id: 'desc' }, take: 3, include: { password: true, roles: true } } as const;
    return {
      users: await db.user.aggregate({ _count: true, _min: { createdAt: true }, _max: { createdAt: true, id: true } }),
      active: await db.user.count({ where: { isEnabled: true } }),
      passwords: await db.passwordCredential.count({ where: { mustChange: true } }),
      roles: await db.userRole.count({ where: { roleId: 'r-many' } }),
      sessions: await db.oidcArtifact.aggregate({ _count: true, _sum: { expiresAt: true } }),
      last: await db.asStored.user.findMany(last),
    };
  } finally {
    await close();
  }
}

describe.runIf(databaseKind() === 'postgresql')('many users', () => {
  let cli: Awaited<ReturnType<typeof commandLine>>;

  beforeAll(async () => {
    cli = await commandLine();
    await migrate(first);
    expect(await cli.gatehouse(['keys', 'list'], { env: { DATABASE_URL: first } })).toMatchObject({ code: 0 }); // makes data keys
    const numbers = `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ${USERS - 1})`;
    const at = `strftime('%Y-%m-%dT%H:%M:%f+00:00', 1767225600.123 + n, 'unixepoch')`;
    const { db, close } = await openDatabase(first);
    await db.role.create({ data: { id: 'r-many', name: 'many' } });
    for (const statement of [
      `INSERT INTO users (id, username, username_key, email, email_key, name, search_key, is_enabled, created_at, updated_at)
        ${numbers} SELECT 'sub-' || n, 'user-' || n, 'user-' || n, 'user-' || n || '@example.com', 'user-' || n || '@example.com',
        'Zoë "' || n || '"', 'user-' || n, n % 1000 <> 0, ${at}, ${at} FROM n`,
      `INSERT INTO password_credentials (user_id, hash, must_change, changed_at)
        ${numbers} SELECT 'sub-' || n, '$argon2id$' || hex(randomblob(32)), n % 10 = 0, ${at} FROM n`,
      `INSERT INTO user_roles (user_id, role_id) SELECT id, 'r-many' FROM users`,
      `INSERT INTO oidc_artifacts (id, model, payload, account_id, expires_at)
        ${numbers} SELECT 's-' || n, 'Session', '{"x":"${'x'.repeat(300)}"}', 'sub-' || n, 4102444800 + n FROM n`,
    ])
      await db.$executeRawUnsafe(statement);
    await close();
  }, 300_000);
  afterAll(() => cli?.close());

  async function move({ annotate }: TestContext, from: string, to: string): Promise<void> {
    const backup = path.join(folder, `backup-of-${new URL(from).protocol.slice(0, -1)}`);
    for (const [args, DATABASE_URL] of [
      [['backup', backup], from],
      [['restore', backup], to],
    ] as const) {
      const start = performance.now();
      const { code, err } = await cli.gatehouse([...args], { env: { DATABASE_URL } });
      if (code !== 0) throw new Error(err);
      await annotate(`${args[0]} of ${from.slice(0, 10)}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
    }
    expect(await sumOf(to)).toEqual(await sumOf(first));
  }

  it('move to PostgreSQL, and back to SQLite', async (context) => {
    const postgres = await emptyDatabaseUrl();
    await move(context, first, postgres);
    await move(context, postgres, second);
  }, 1_200_000);
});
