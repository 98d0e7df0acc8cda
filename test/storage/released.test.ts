// A database of each released schema, made by its own version (released/README.md): `gatehouse upgrade check` tries its
// migrations, a start applies them, and its users, keys, applications and audit log work as before.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SAML } from '@node-saml/node-saml';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/storage/database.ts';
import { parseDatabaseUrl } from '../../src/storage/database-url.ts';
import { readMigrations } from '../../src/storage/migrations/files.ts';
import { openMigrationSession } from '../../src/storage/migrations/session.ts';
import { touchedTables } from '../../src/storage/upgrade/script-tables.ts';
import { tryMigrations } from '../../src/storage/upgrade/trial.ts';
import { commandLine } from '../cli/support.ts';
import { redirectUri, signIn } from '../oidc/support.ts';
import { relyingParty } from '../support/applications/rp.ts';
import { databaseKind, testFolder } from '../support/database/database.ts';
import { PASSWORD } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { testSecret } from '../support/secret.ts';
import { emptyDatabaseUrl } from './empty-database.ts';

interface Released {
  name: string;
  /** How many migrations its schema has. */
  applied: number;
  /** Of the client "shop". */
  secret: Record<ReturnType<typeof databaseKind>, string>;
  /** Whether its rows have MACs. */
  hasMacs: boolean;
}

const released: Released[] = [
  {
    ...{ name: '0.1.0-first', applied: 5, hasMacs: false },
    secret: {
      sqlite: 'QN3cHA-Ta4MfWG2x1Wjg_nRRcdRT8z9SbnCanz6dAto',
      postgresql: 'It8RaL2TtOFXRK_ZVKSQBRxmR91YdDq8KJmPo9A99_0',
    },
  },
  {
    ...{ name: '0.1.0-console', applied: 7, hasMacs: false },
    secret: {
      sqlite: 'zLm6gPfgvFAmUD1dqnXHKRZM34lqzl1YuHZt4Eje5cY',
      postgresql: 'gzh43iCg9gtYrof8-JAMvHw7gXQYBwVFDr_xSPAYlr8',
    },
  },
  {
    ...{ name: '0.1.0-federation', applied: 21, hasMacs: true },
    secret: {
      sqlite: 'RqWWlihqXyrjRDl4KXZU8EcozzbsFiNsflpvBbp70yQ',
      postgresql: 'zGRNkw7RlKjMwshHaYKGcysOADM0Bx016Ss0fBZx3hk',
    },
  },
];

let cli: Awaited<ReturnType<typeof commandLine>>;
let idp: TestIdp | undefined;
beforeAll(async () => {
  cli = await commandLine();
});
afterAll(async () => {
  await cli.close();
  await idp?.stop();
});

async function load(name: string): Promise<string> {
  const url = await emptyDatabaseUrl();
  const session = await openMigrationSession(parseDatabaseUrl(url));
  const locked = await session.tryLock();
  const file = path.join(import.meta.dirname, 'released', `${name}.${databaseKind()}.sql`);
  await locked?.adapter.executeScript(readFileSync(file, 'utf8'));
  await locked?.commit();
  await session.close();
  return url;
}

/** Every migration that is recorded, and the names of the users. */
async function stateOf(url: string): Promise<unknown> {
  const { db, close } = await openDatabase(url);
  const rows = (sql: string) => db.$queryRawUnsafe(sql);
  try {
    return [
      await rows('SELECT migration_name FROM _prisma_migrations ORDER BY migration_name'),
      await rows('SELECT id, username, updated_at FROM users ORDER BY id'),
      await rows('SELECT count(*) AS count FROM audit_events'),
    ];
  } finally {
    await close();
  }
}

it.each(released)('the server migrates a database of $name, whose users sign in as before', async (release) => {
  const { name, applied, hasMacs, secret } = release;
  const DATABASE_URL = await load(name);
  const env = { DATABASE_URL, GATEHOUSE_SECRET: testSecret.toString('base64url'), DATA_DIR: testFolder() };
  const before = await stateOf(DATABASE_URL);

  const check = await cli.gatehouse(['upgrade', 'check', '--json'], { env });
  const report = JSON.parse(check.out);
  expect(report.migrations).toHaveLength(readMigrations(databaseKind()).length - applied);
  if (report.migrations.length > 0)
    expect(report.trial, JSON.stringify(report.trial)).toMatchObject({ ok: true, on: 'copy with rows' });
  const adopt = { code: 1, problems: [expect.stringContaining('gatehouse secrets adopt')] };
  expect({ code: check.code, problems: report.problems }).toEqual(hasMacs ? { code: 0, problems: [] } : adopt);
  expect(await stateOf(DATABASE_URL)).toEqual(before);

  if (!hasMacs) {
    await expect(startIdp({ environment: env })).rejects.toThrow('gatehouse secrets adopt');
    expect((await cli.gatehouse(['secrets', 'adopt'], { env })).code).toBe(0);
  }
  await idp?.stop();
  idp = await startIdp({ environment: env });
  const user = { username: 'ann', password: PASSWORD } as Parameters<typeof signIn>[2];
  const clientSecret = secret[databaseKind()];
  const options = { issuer: idp.issuer, clientId: 'shop', clientSecret, redirectUri };
  const app = { ...options, applicationId: '', rp: await relyingParty(options) };
  const { tokens } = await signIn(httpClient(idp.issuer), app, user);
  expect(tokens.claims()).toMatchObject({ email: 'ann@example.com', name: 'Ann Example' });
  expect(await signInWithSaml(idp)).toMatchObject({ nameIDFormat: expect.stringContaining('persistent') });

  const admin = await idp.services.accounts.findByLogin('root');
  expect(admin?.roles).toContain('admin');
  expect(await idp.services.auditChain.verify()).toMatchObject({ ok: true });
  const doctor = JSON.parse((await cli.gatehouse(['doctor', '--json'], { env })).out) as {
    check: string;
    status: string;
  }[];
  expect(
    doctor.filter(({ check: of, status }) => ['rows', 'keys', 'admins', 'migrations'].includes(of) && status !== 'ok'),
  ).toEqual([]);
});

it('the server tries migrations on a copy: one that fails is named, and nothing stays of it', async () => {
  const url = await load('0.1.0-console');
  const before = await stateOf(url);
  const [applied, missing] = [readMigrations(databaseKind()).slice(0, 7), readMigrations(databaseKind()).slice(7)];
  const progress: string[] = [];
  const options = { applied, withRows: true, onProgress: (message: string) => void progress.push(message) };
  const bad = { name: 'bad', checksum: '', sql: 'CREATE UNIQUE INDEX one_type ON audit_events (outcome);' };
  const location = parseDatabaseUrl(url);
  expect(await tryMigrations(location, { ...options, missing: [bad] })).toMatchObject({
    ok: false,
    failed: { name: 'bad', message: expect.stringMatching(/unique/i) },
  });
  // Without rows there is nothing that the index could not hold.
  if (databaseKind() === 'postgresql')
    expect(await tryMigrations(location, { ...options, withRows: false, missing: [bad] })).toMatchObject({
      ok: true,
      on: 'schema without rows',
    });
  expect(progress[0]).toMatch(/^Copying/);
  if (databaseKind() === 'postgresql') {
    const limited = await limitedUser(url);
    const trial = await tryMigrations(parseDatabaseUrl(limited), { ...options, missing });
    expect(trial, JSON.stringify(trial)).toMatchObject({
      ok: true,
      on: 'nothing',
      where: expect.stringContaining("can't create a schema"),
    });
  }
  expect(await stateOf(url)).toEqual(before);
  expect(touchedTables(missing[0]?.sql ?? '', databaseKind())).toContainEqual({
    table: 'user_roles',
    change: databaseKind() === 'sqlite' ? 'rewritten' : 'changed',
  });
});

/** The URL for a user who reads the tables and may create no schema. */
async function limitedUser(address: string): Promise<string> {
  const { db, close } = await openDatabase(address);
  const name = `limited_${Date.now()}`;
  await db.$executeRawUnsafe(`CREATE ROLE ${name} LOGIN PASSWORD 'limited'`);
  await db.$executeRawUnsafe(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${name}`);
  await close();
  return Object.assign(new URL(address), { username: name, password: 'limited' }).href;
}

async function signInWithSaml({ issuer }: TestIdp): Promise<unknown> {
  const metadata = (await httpClient().get(`${issuer}/saml/metadata`)).text;
  const saml = new SAML({
    idpCert: [...metadata.matchAll(/<ds:X509Certificate>([^<]+)</g)].map((match) => match[1] ?? ''),
    issuer: 'https://wiki.example/metadata',
    callbackUrl: 'http://127.0.0.1:4100/acs',
    entryPoint: `${issuer}/saml/sso`,
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: false,
    identifierFormat: null,
    disableRequestedAuthnContext: true,
  });
  const browser = httpClient(issuer);
  const page = await browser.follow(await browser.get(await saml.getAuthorizeUrlAsync('', undefined, {})));
  const answer = await browser.follow(await browser.submit(page, { username: 'ann', password: PASSWORD }));
  const { profile } = await saml.validatePostResponseAsync(answer.forms[0]?.fields ?? {});
  return profile;
}

it('the server answers 503 on /readyz when a newer version has migrated the database of a running server', async () => {
  if (!idp) throw new Error('the server of the test above runs on');
  const { db } = idp.services;
  const later = { id: 'later', checksum: 'x', migration_name: '99990101000000_later', logs: 'gatehouse 7.1.0' };
  await db.$executeRawUnsafe(
    `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, logs, started_at, applied_steps_count)
     VALUES ('${later.id}', '${later.checksum}', CURRENT_TIMESTAMP, '${later.migration_name}', '${later.logs}', CURRENT_TIMESTAMP, 1)`,
  );
  const page = await httpClient(idp.issuer).get('/readyz', { headers: { accept: 'application/json' } });
  expect(page.status).toBe(503);
  expect(page.json()).toMatchObject({ checks: { database: 'ok', schema: 'failed' } });
  const line =
    'does not know a migration (99990101000000_later). Start Gatehouse 7.1.0 or newer, or restore the backup';
  expect(idp.log.filter((text) => text.includes(line))).toHaveLength(1);
  const env = idp.environment as Record<string, string>;
  for (const command of ['user list', `backup ${testFolder()}/x`, 'upgrade check', 'secrets adopt']) {
    const { code, err } = await cli.gatehouse(command.split(' '), { env });
    expect({ command, code }).toEqual({ command, code: 1 });
    expect(err.trimEnd().split('\n').at(-1)).toContain(line);
  }
  const doctor = await cli.gatehouse(['doctor', '--json'], { env });
  expect(doctor.out).toContain(line);
});
