// `gatehouse backup`, `verify` and `restore` on the database of a server that signs users in meanwhile.
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/base/storage/database.ts';
import { aPng } from '../brand/pictures.ts';
import { type Application, anApplication, postAs, signIn } from '../oidc/support.ts';
import { emptyDatabaseUrl } from '../storage/empty-database.ts';
import { testFolder } from '../support/database/database.ts';
import { itOnBothInLongRun, itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { commandLine, type Ended } from './support.ts';

let cli: Awaited<ReturnType<typeof commandLine>>;
let idp: TestIdp;
let app: Application;
let refreshToken: string;
/** The address of the picture of the application. */
let picture: string;
/** The users whose creation was answered before the backup began, and all of them. */
let acknowledged: TestUser[];
let users: TestUser[];
/** What the command printed that made the backup, and its entry in the audit log. */
let made: { ended: Ended; events: { data: string }[] };
let isRunning = true;
const folder = testFolder();
const file = path.join(folder, 'backup');
const call = (args: string[], env: Record<string, string> = {}) =>
  cli.gatehouse(args, { env: { ...(idp.environment as Record<string, string>), ...env } });

beforeAll(async () => {
  [cli, idp] = await Promise.all([commandLine(), startIdp()]);
  app = await anApplication(idp, { grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] });
  await idp.services.pictures.choose(app.applicationId, aPng());
  picture = String(await idp.services.pictures.addressOf(app.clientId));
  await backUpUnderLoad();
});
afterAll(async () => {
  await cli.close();
  await stopServer();
});

async function stopServer(): Promise<void> {
  if (isRunning) await idp.stop();
  isRunning = false;
}
async function startServer(): Promise<void> {
  if (!isRunning) idp = await startIdp({ environment: idp.environment as Record<string, string> });
  isRunning = true;
}

/** Users, tokens and sign-ins, until the result is called. */
function underLoad(): () => Promise<void> {
  let isOver = false;
  const repeat = async (work: () => Promise<unknown>) => {
    while (!isOver) await work();
  };
  const loops = [
    repeat(async () => users.push(await aUser(idp.services))),
    repeat(() => postAs(idp, app, '/token', { grant_type: 'client_credentials' })),
    repeat(async () => signIn(httpClient(idp.issuer), app, users[0] as TestUser)),
  ];
  return async () => {
    isOver = true;
    await Promise.all(loops);
  };
}

async function backUpUnderLoad(): Promise<void> {
  users = [await aUser(idp.services)];
  const browser = httpClient(idp.issuer);
  const { tokens } = await signIn(browser, app, users[0] as TestUser, { scope: 'openid offline_access' });
  refreshToken = String(tokens.refresh_token);
  const stop = underLoad();
  await vi.waitFor(() => expect(users.length).toBeGreaterThan(3), { timeout: 60_000 });
  acknowledged = [...users];
  // The row that triggers of SQLite write while `verify` loads the backup.
  const row = { shard: 0, revision: 1n };
  await idp.services.db.directoryRevision.upsert({ where: { shard: 0 }, create: row, update: row });
  const ended = await call(['backup', file]);
  await stop();
  made = { ended, events: await idp.services.db.auditEvent.findMany({ where: { type: 'backup.created' } }) };
}

/** A copy of the backup, with FILE.json, changed by `change`. */
function changed(name: string, change: (copy: string) => void): string {
  const copy = path.join(folder, name);
  copyFileSync(file, copy);
  if (cli.kind === 'sqlite') copyFileSync(`${file}.json`, `${copy}.json`);
  change(copy);
  return copy;
}

/** A copy of the backup in which one bit is another one. */
const flipped = (name: string) =>
  changed(name, (copy) => {
    const content = readFileSync(copy);
    const middle = Math.floor(content.length / 2);
    content[middle] = (content[middle] ?? 0) ^ 1;
    writeFileSync(copy, content);
  });

describe('gatehouse backup', () => {
  it('holds everything that was acknowledged before it began, while users sign in', () => {
    expect(made.ended).toMatchObject({ code: 0, out: expect.stringMatching(/^.+backup: \d+\.\d MB\n$/) });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(users.length).toBeGreaterThan(acknowledged.length);
    expect(made.events[0]?.data).toContain(file);
  });

  itOnSqlite('leaves a file that is there as it is', async () => {
    expect(await call(['backup', file])).toMatchObject({ code: 1, err: expect.stringContaining('already exists') });
    const other = path.join(folder, 'other');
    writeFileSync(`${other}.json`, '{"mine":true}');
    expect(await call(['backup', other])).toMatchObject({ code: 1, err: expect.stringContaining('already exists') });
    expect(readFileSync(`${other}.json`, 'utf8')).toBe('{"mine":true}');
  });

  itOnBothInLongRun('replaces what a removed backup left beside it', async () => {
    const again = path.join(folder, 'again');
    for (const _ of ['first', 'second']) {
      expect(await call(['backup', again])).toMatchObject({ code: 0, out: expect.stringContaining(again) });
      expect(await call(['verify', again])).toMatchObject({ code: 0, out: expect.stringContaining('0 failed') });
      rmSync(again);
    }
    expect(await call(['verify', again])).toMatchObject({ code: 1, err: expect.stringContaining('does not exist') });
  });
});

describe('gatehouse verify', () => {
  type BackupResult = {
    ok: boolean;
    rows: Record<string, number>;
    findings: { check: string; status: string; message: string }[];
  };
  async function verify(name: string, env: Record<string, string> = {}) {
    const { code, out } = await call(['verify', name, '--json'], env);
    const decision = JSON.parse(out) as BackupResult;
    return { code, ...decision, of: (check: string) => decision.findings.find((finding) => finding.check === check) };
  }

  itOnBothInLongRun(
    'accepts the backup, with the MAC of each row and the audit log, and leaves it as it is',
    async () => {
      const before = readFileSync(file);
      const decision = await verify(file);
      expect(decision.findings.filter(({ status }) => status !== 'ok')).toEqual([]);
      for (const check of ['backup', 'content', 'counts', 'schema', 'secret', 'rows', 'audit log'])
        expect(decision.of(check)?.status).toBe('ok');
      expect(decision).toMatchObject({ code: 0, ok: true });
      expect(decision.rows.users).toBeGreaterThan(acknowledged.length);
      expect(readFileSync(file).equals(before)).toBe(true);
    },
  );

  itOnSqlite('rejects a damaged, a truncated and a foreign file', async () => {
    expect((await verify(flipped('flipped'))).of('content')).toMatchObject({
      status: 'failure',
      message: expect.stringMatching(/damaged/),
    });
    const short = changed('short', (copy) => truncateSync(copy, statSync(copy).size - 5000));
    expect(await verify(short)).toMatchObject({ code: 1, ok: false });
    const foreign = changed('foreign', (copy) => writeFileSync(copy, 'a letter'));
    expect(await call(['verify', foreign])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not a backup of Gatehouse'),
    });
  });

  itOnSqlite('says that the secret is another one, and verifies the rest without it', async () => {
    const other = await verify(file, { GATEHOUSE_SECRET: Buffer.alloc(32, 9).toString('base64url') });
    expect(other.code).toBe(1);
    expect(other.of('secret')?.status).toBe('failure');
    const none = await verify(file, { GATEHOUSE_SECRET: '', DATA_DIR: path.join(folder, 'nothing') });
    expect(none.code).toBe(0);
    expect(none.of('secret')).toMatchObject({ status: 'warning', message: expect.stringContaining('not verified') });
  });

  itOnBothInLongRun('names a row that another program changed in the database, or in the backup', async () => {
    const [user] = acknowledged;
    const forged =
      cli.kind === 'sqlite'
        ? changed('forged', () => {})
        : changed('forged', (copy) => {
            const text = gunzipSync(readFileSync(copy)).toString();
            writeFileSync(copy, gzipSync(text.replace(`"${user?.username}@example.com"`, '"thief@example.com"')));
          });
    if (cli.kind === 'sqlite') {
      const { db, close } = await openDatabase(`file:${forged}`);
      await db.asStored.user.update({ where: { id: user?.account.id ?? '' }, data: { email: 'thief@example.com' } });
      await close();
      const { of } = await verify(forged);
      expect(of('content')?.message).toContain('digest differs');
      writeFileSync(`${forged}.json`, '');
      expect(await call(['verify', forged, '--json'])).toMatchObject({ code: 1 });
      copyFileSync(forged, `${forged}-alone`);
      expect((await verify(`${forged}-alone`)).of('rows')).toMatchObject({
        status: 'failure',
        message: expect.stringContaining(`user ${user?.username}`),
      });
    } else expect((await verify(forged)).of('content')?.message).toContain('digest differs');
  });
});

describe('gatehouse restore', () => {
  it('is rejected while a server runs on the database, and where there is content', async () => {
    await startServer();
    expect(await call(['restore', file, '--replace'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('stop all servers first. Nothing was changed'),
    });
    await stopServer();
    expect(await call(['restore', file])).toMatchObject({
      code: 1,
      err: expect.stringContaining('to replace its content, add --replace. Nothing was changed'),
    });
    const wrong = { GATEHOUSE_SECRET: Buffer.alloc(32, 9).toString('base64url') };
    expect(await call(['restore', file, '--replace'], wrong)).toMatchObject({
      code: 1,
      err: expect.stringContaining('does not open this backup'),
    });
    const none = { GATEHOUSE_SECRET: '', DATA_DIR: path.join(folder, 'nothing') };
    expect(await call(['restore', file, '--replace'], none)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is missing: put the secret of the server there'),
    });
  });

  itOnSqlite('changes nothing when the backup is damaged', async () => {
    await stopServer();
    const before = await contentOf(idp.environment.DATABASE_URL ?? '');
    expect(await call(['restore', flipped('damaged'), '--replace'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/damaged/),
    });
    expect(await contentOf(idp.environment.DATABASE_URL ?? '')).toEqual(before);
  });

  it('gives a new machine every acknowledged user, its sessions and its keys', async () => {
    const DATABASE_URL = await emptyDatabaseUrl();
    const DATA_DIR = path.join(testFolder(), 'new-machine');
    const { code, out, err } = await call(['restore', file, '--json'], { DATABASE_URL, DATA_DIR });
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(JSON.parse(out).rows.users).toBeGreaterThan(acknowledged.length);
    await stopServer(); // the new machine has its address
    const moved = await startIdp({
      environment: { ...(idp.environment as Record<string, string>), DATABASE_URL, DATA_DIR },
    });
    for (const { account, username } of acknowledged)
      expect(await moved.services.accounts.find(account.id)).toMatchObject({ username });
    await signIn(httpClient(moved.issuer), app, acknowledged.at(-1) as TestUser);
    expect(await app.rp.refresh(refreshToken)).toMatchObject({ token_type: 'bearer' });
    expect((await httpClient(moved.issuer).get(picture)).status).toBe(200);
    expect(await moved.services.auditChain.verify()).toMatchObject({ ok: true });
    const types = (await moved.services.db.auditEvent.findMany({ orderBy: { id: 'desc' } })).map(({ type }) => type);
    expect(types).toContain('backup.restored');
    await moved.stop();
  });

  it('replaces a database, and sets the checkpoint file of the audit log aside', async () => {
    await stopServer();
    mkdirSync(idp.services.config.dataDir, { recursive: true });
    writeFileSync(idp.services.config.checkpointFile, '');
    const { code, out, err } = await call(['restore', file, '--replace', '--json']);
    expect({ code, err }).toMatchObject({ code: 0 });
    const { checkpoint_file, replaced_file } = JSON.parse(out);
    expect(checkpoint_file).toContain('audit-checkpoints.jsonl.');
    if (cli.kind === 'sqlite') expect(statSync(replaced_file).size).toBeGreaterThan(0);
    expect((await call(['audit', 'verify'])).code).toBe(0);
    expect((await call(['doctor', '--json'])).out).not.toContain('another program');
    await startServer();
    await signIn(httpClient(idp.issuer), app, acknowledged[0] as TestUser);
  });
});

async function contentOf(url: string): Promise<unknown> {
  const { db, close } = await openDatabase(url);
  try {
    return [await db.asStored.user.findMany({ orderBy: { id: 'asc' } }), await db.auditEvent.count()];
  } finally {
    await close();
  }
}
