// The backup of each release (released/VERSION.sqlite and .postgresql), and one of this version: `gatehouse restore` takes it, `gatehouse upgrade check` reports on it, a start applies them, and its users, keys, applications and audit log work as before.
// A release keeps its own: KEEP_RELEASE=1 npx vitest run test/storage/released.test.ts
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SAML } from '@node-saml/node-saml';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageVersion } from '../../src/base/platform/package.ts';
import { openDatabase } from '../../src/base/storage/database.ts';
import { touchedTables } from '../../src/base/storage/upgrade/inspect.ts';
import { commandLine } from '../cli/support.ts';
import { redirectUri, signIn } from '../oidc/support.ts';
import { relyingParty } from '../support/applications/rp.ts';
import { databaseKind, testFolder } from '../support/database/database.ts';
import { PASSWORD } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { testSecret } from '../support/secret.ts';
import { emptyDatabaseUrl } from './empty-database.ts';

let cli: Awaited<ReturnType<typeof commandLine>>;
let idp: TestIdp | undefined;
beforeAll(async () => {
  cli = await commandLine();
  await makeBackup();
});
afterAll(async () => {
  await cli.close();
  await idp?.stop();
});

const folder = path.join(import.meta.dirname, 'released');
const releases = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(`.${databaseKind()}`)) : [];
const current = path.join(testFolder(), `current.${databaseKind()}`);
const SHOP_SECRET = 'the-secret-of-shop-in-each-release-0123456789';
const CONFIGURATION = `
clients:
  - client_id: shop
    client_name: Shop
    client_secret: ${SHOP_SECRET}
    redirect_uris: [${redirectUri}]
    grant_types: [authorization_code, refresh_token]
    consent: implicit
service_providers:
  - entity_id: https://wiki.example/metadata
    name: Wiki
    acs_url: [http://127.0.0.1:4100/acs]
`;

/** Users by the command line, applications by the file, and one start of the server. */
async function makeBackup(): Promise<void> {
  const file = path.join(testFolder(), 'released.yaml');
  writeFileSync(file, CONFIGURATION);
  const env = await environment();
  const add = (login: string, ...options: string[]) =>
    cli.gatehouse(
      ['user', 'add', login, '--email', `${login}@example.com`, '--email-verified', '--password-stdin', ...options],
      {
        stdin: PASSWORD,
        env,
      },
    );
  expect(await add('ann', '--name', 'Ann Example')).toMatchObject({ code: 0 });
  expect(await add('root', '--name', 'Root', '--role', 'admin')).toMatchObject({ code: 0 });
  const server = await startIdp({ environment: { ...env, GATEHOUSE_CONFIG: file } });
  await server.stop();
  const { code, err } = await cli.gatehouse(['backup', current], { env });
  expect({ code, err }).toMatchObject({ code: 0 });
  if (!process.env.KEEP_RELEASE) return;
  mkdirSync(folder, { recursive: true });
  for (const end of ['', '.json'].filter((one) => existsSync(`${current}${one}`)))
    copyFileSync(`${current}${end}`, path.join(folder, `${packageVersion()}.${databaseKind()}${end}`));
}

async function environment(): Promise<Record<string, string>> {
  const DATA_DIR = mkdtempSync(path.join(testFolder(), 'released-'));
  return { DATABASE_URL: await emptyDatabaseUrl(), GATEHOUSE_SECRET: testSecret.toString('base64url'), DATA_DIR };
}

async function restored(file: string): Promise<Record<string, string>> {
  const env = await environment();
  const { code, err } = await cli.gatehouse(['restore', file], { env });
  expect({ code, err }).toMatchObject({ code: 0 });
  return env;
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

it.each([...releases, 'current'])(
  'the server migrates the database of the release %s, whose users sign in as before',
  async (name) => {
    const env = await restored(name === 'current' ? current : path.join(folder, name));
    const { DATABASE_URL = '' } = env;
    const before = await stateOf(DATABASE_URL);
    const check = await cli.gatehouse(['upgrade', 'check', '--json'], { env });
    const report = JSON.parse(check.out);
    expect({ code: check.code, errors: report.errors }).toEqual({ code: 0, errors: [] });
    expect(await stateOf(DATABASE_URL)).toEqual(before);

    await idp?.stop();
    idp = await startIdp({ environment: env });
    const user = { username: 'ann', password: PASSWORD } as Parameters<typeof signIn>[2];
    const options = { issuer: idp.issuer, clientId: 'shop', clientSecret: SHOP_SECRET, redirectUri };
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
      doctor.filter(
        ({ check: of, status }) => ['rows', 'keys', 'admins', 'migrations'].includes(of) && status !== 'ok',
      ),
    ).toEqual([]);
  },
);

it('an upgrade check names the tables that a migration changes', () => {
  const sql = 'ALTER TABLE "user_roles" ADD COLUMN note TEXT;';
  expect(touchedTables(sql, databaseKind())).toContainEqual({ table: 'user_roles', change: 'changed' });
});

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
  for (const command of ['user list', `backup ${testFolder()}/x`, 'upgrade check']) {
    const { code, err } = await cli.gatehouse(command.split(' '), { env });
    expect({ command, code }).toEqual({ command, code: 1 });
    expect(err.trimEnd().split('\n').at(-1)).toContain(line);
  }
  const doctor = await cli.gatehouse(['doctor', '--json'], { env });
  expect(doctor.out).toContain(line);
});
