// A server moves from SQLite to PostgreSQL and back by `gatehouse backup` and `restore`: every value is the same there, and users and
// applications go on with the passwords, sessions and tokens that they have.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Db, openDatabase } from '../../src/base/storage/database.ts';
import type { Finding } from '../../src/cli/doctor/findings.ts';
import { Prisma } from '../../src/generated/sqlite/client.ts';
import { aPng } from '../brand/pictures.ts';
import { type Application, anApplication, authorizeUrl, signIn } from '../oidc/support.ts';
import { emptyDatabaseUrl } from '../storage/empty-database.ts';
import { databaseKind, testFolder } from '../support/database/database.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { commandLine } from './support.ts';

/** What the restore itself writes, and what only a running process has a use for. */
const OWN = ['AuditEvent', 'AuditChain', 'AuditCheckpoint', 'DirectoryRevision', 'JobLock'];

/** The rows of each model as Prisma reads them, so that a date, a flag, a large number and bytes have their type. */
async function contentOf(url: string): Promise<Record<string, unknown[]>> {
  const { db, close } = await openDatabase(url);
  try {
    const content: Record<string, unknown[]> = {};
    for (const model of Object.values(Prisma.ModelName).filter((name) => !OWN.includes(name)))
      content[model] = (await rowsOf(db, model)).sort();
    return content;
  } finally {
    await close();
  }
}

async function rowsOf(db: Db, model: string): Promise<string[]> {
  const name = model.charAt(0).toLowerCase() + model.slice(1);
  const { findMany } = (db.asStored as unknown as Record<string, { findMany(): Promise<object[]> }>)[name] ?? {};
  const typed = (_name: string, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof Uint8Array ? `bytes ${Buffer.from(value).toString('hex')}` : value;
  };
  return ((await findMany?.()) ?? []).map((row) => JSON.stringify(row, typed));
}

describe.runIf(databaseKind() === 'postgresql')('a server that moves to the other kind of database', () => {
  let cli: Awaited<ReturnType<typeof commandLine>>;
  let idp: TestIdp;
  let app: Application;
  let user: TestUser;
  let browser: HttpClient;
  let refreshToken: string;
  let picture: string;
  const folder = testFolder();
  const sqliteUrl = (name: string) => `file:${path.join(folder, name, 'gatehouse.db')}`;
  const call = (args: string[], env: Record<string, string> = {}) =>
    cli.gatehouse(args, { env: { ...(idp.environment as Record<string, string>), ...env } });
  /** What `gatehouse doctor` finds on any machine of a test, such as an issuer without TLS. */
  let before: Finding[];
  const findings = async () => {
    const all = JSON.parse((await call(['doctor', '--json'])).out) as Finding[];
    return all.filter(({ status }) => status !== 'ok');
  };

  beforeAll(async () => {
    [cli, idp] = await Promise.all([commandLine(), startIdp({ environment: { DATABASE_URL: sqliteUrl('first') } })]);
    app = await anApplication(idp);
    await idp.services.pictures.choose(app.applicationId, aPng());
    picture = String(await idp.services.pictures.addressOf(app.clientId));
    user = await aUser(idp.services, { name: 'Zoë "Quote" \\ O’Neil 🦉', attributes: { team: 'a\tb\nc' } });
    browser = httpClient(idp.issuer);
    const { tokens } = await signIn(browser, app, user, { scope: 'openid offline_access', prompt: 'consent' });
    refreshToken = String(tokens.refresh_token);
    const { account } = await aUser(idp.services);
    const passkey = { id: 'a', name: 'key', publicKey: Buffer.from([0, 1, 92, 34, 255]), counter: 2n ** 60n + 1n };
    await idp.services.db.asStored.passkey.create({ data: { ...passkey, userId: account.id } });
    await signRows(idp.services);
    before = await findings();
  });
  afterAll(async () => {
    await idp?.stop();
    await cli?.close();
  });

  /** Backs up the running server, restores into `DATABASE_URL` and starts there; returns what `restore` printed. */
  async function moveTo(DATABASE_URL: string): Promise<{ backup: string; out: string; err: string }> {
    const backup = path.join(folder, `backup-${path.basename(DATABASE_URL)}-${Date.now()}`);
    expect(await call(['backup', backup])).toMatchObject({ code: 0 });
    await idp.stop();
    const before = await contentOf(String(idp.environment.DATABASE_URL));
    const restored = await call(['restore', backup], { DATABASE_URL });
    expect({ code: restored.code, err: restored.err }).toMatchObject({ code: 0 });
    expect(await contentOf(DATABASE_URL)).toEqual(before);
    idp = await startIdp({ environment: { ...(idp.environment as Record<string, string>), DATABASE_URL } });
    return { backup, ...restored };
  }

  async function expectUnchangedFor(user: TestUser): Promise<void> {
    const silent = await browser.get(authorizeUrl(idp, app.clientId, { prompt: 'none' }));
    expect(new URL(String(silent.location)).searchParams.get('code')).toBeTruthy();
    const tokens = await app.rp.refresh(refreshToken);
    refreshToken = String(tokens.refresh_token ?? refreshToken);
    await signIn(httpClient(idp.issuer), app, user);
    expect((await httpClient(idp.issuer).get(picture)).status).toBe(200);
    expect(await call(['audit', 'verify'])).toMatchObject({ code: 0 });
    expect(await findings()).toEqual(before);
  }

  async function lastEvent(): Promise<number> {
    return (await idp.services.db.auditEvent.findFirstOrThrow({ orderBy: { id: 'desc' } })).id;
  }

  it('stays where it is when the copy is damaged, or the secret is another one', async () => {
    const backup = path.join(folder, 'damaged');
    expect(await call(['backup', backup])).toMatchObject({ code: 0 });
    const DATABASE_URL = await emptyDatabaseUrl();
    const wrong = Buffer.alloc(32, 9).toString('base64url');
    expect(await call(['restore', backup], { DATABASE_URL, GATEHOUSE_SECRET: wrong })).toMatchObject({
      code: 1,
      err: expect.stringContaining('does not open this backup'),
    });
    const content = readFileSync(backup);
    content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 1;
    writeFileSync(backup, content);
    expect(await call(['restore', backup], { DATABASE_URL })).toMatchObject({
      code: 1,
      err: expect.stringContaining('its digest differs'),
    });
    const { db, close } = await openDatabase(DATABASE_URL);
    expect(await db.$queryRaw`SELECT 1 FROM pg_tables WHERE schemaname = current_schema()`).toEqual([]);
    await close();
  });

  it('says that the audit log of a copy was changed, and restores it', async () => {
    const copy = path.join(folder, 'forged');
    await idp.services.auditChain.seal();
    expect(await call(['backup', copy])).toMatchObject({ code: 0 });
    rmSync(`${copy}.json`);
    const { db, close } = await openDatabase(`file:${copy}`);
    const { id } = await db.auditEvent.findFirstOrThrow({ where: { chainSeq: { not: null } } });
    await db.auditEvent.update({ where: { id }, data: { data: '{}', reason: 'forged' } });
    await close();
    const restored = await call(['restore', copy], { DATABASE_URL: await emptyDatabaseUrl() });
    expect(restored).toMatchObject({ code: 1, out: expect.stringContaining('Restored') });
    expect(restored.err).toMatch(/Place in the chain: \d/);
  });

  it('has the same rows on PostgreSQL, where sessions, tokens and passwords work', async () => {
    const last = await lastEvent();
    const { out } = await moveTo(await emptyDatabaseUrl());
    expect(out).toMatch(/^Restored .*: 3 users\./);
    expect(out).toMatch(/audit log is intact: \d+ entries/);
    expect(await lastEvent()).toBeGreaterThan(last);
    await expectUnchangedFor(user);
  });

  it('has the same rows on SQLite again', async () => {
    const last = await lastEvent();
    await moveTo(sqliteUrl('second'));
    expect(await lastEvent()).toBeGreaterThan(last);
    await expectUnchangedFor(user);
  });
});
