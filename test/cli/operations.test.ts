// `gatehouse backup` and `gatehouse doctor`. What a backup holds is tested in backup.test.ts.
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/base/storage/database.ts';
import { checkMail } from '../../src/cli/doctor/check-network.ts';
import { defaultSettings } from '../../src/core/settings/settings.ts';
import { smallRsaKeys } from '../keys/support.ts';
import { itOnBothInLongRun, itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { headerProxy } from '../support/header-proxy.ts';
import { startIdp } from '../support/idp.ts';
import { commandLine } from './support.ts';

let cli: Awaited<ReturnType<typeof commandLine>>;
beforeAll(async () => {
  cli = await commandLine();
  await cli.gatehouse(['user', 'add', 'admin', '--role', 'admin']);
});
afterAll(() => cli.close());

describe('gatehouse backup', () => {
  it('copies a database that is in use, whole and readable by its owner only', async () => {
    const file = path.join(cli.folder, 'backup.db');
    const result = await cli.gatehouse(['backup', file]);
    expect(result).toMatchObject({ code: 0, out: expect.stringContaining(file) });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    if (cli.kind === 'sqlite') {
      const copy = await openDatabase(`file:${file}`);
      expect(await copy.db.asStored.user.findMany()).toEqual(await cli.db.asStored.user.findMany());
      await copy.close();
    }
    const before = readFileSync(file);
    expect(await cli.gatehouse(['backup', file])).toMatchObject({
      code: 1,
      err: expect.stringContaining('already exists'),
    });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(await cli.gatehouse(['backup', '/nowhere/backup.db'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('The backup failed'),
    });
  });
});

describe('gatehouse doctor', () => {
  smallRsaKeys();
  type Finding = { check: string; status: string; message: string; advice?: string };
  // The issuer points to a port where nothing listens, whatever else runs on this machine.
  const quiet = { ISSUER: 'http://127.0.0.1:9', DATA_DIR: '' };
  async function doctor(env: Record<string, string> = {}) {
    const { code, out } = await cli.gatehouse(['doctor', '--json'], {
      env: { ...quiet, DATA_DIR: path.join(cli.folder, 'data'), ...env },
    });
    const findings = JSON.parse(out) as Finding[];
    return { code, of: (check: string) => findings.find((finding) => finding.check === check), findings };
  }

  it('reports no failure for a working server, and warnings for what is not set up', async () => {
    await cli.gatehouse(['keys', 'rotate', '--now']); // makes the keys
    const { code, of } = await doctor();
    expect(code).toBe(0);
    for (const check of ['environment', 'secret', 'migrations', 'rate limits', 'keys', 'admins'])
      expect(of(check)?.status).toBe('ok');
    expect(of('mail')).toMatchObject({ status: 'warning', advice: expect.stringContaining('SMTP_URL') });
    expect(of('address')).toMatchObject({ status: 'warning', message: expect.stringContaining('does not answer') });
  });

  it('names what to fix, and fails', async () => {
    const working = cli;
    cli = await commandLine();
    onTestFinished(async () => {
      await cli.close();
      cli = working;
    });
    await cli.gatehouse(['user', 'add', 'other']);
    await cli.gatehouse(['keys', 'rotate', '--now']);
    await cli.db.setting.create({ data: { key: 'rate_limits', value: 'false' } });
    await cli.gatehouse(['app', 'add', '--client-id', 'web', '--redirect-uri', 'https://a.example/']);
    await cli.db.clientSecret.deleteMany();
    const bad = path.join(cli.folder, 'bad.yaml');
    writeFileSync(bad, 'user: []');
    const env = {
      ISSUER: 'https://id.invalid',
      GATEHOUSE_SECRET: Buffer.alloc(32, 9).toString('base64url'),
      GATEHOUSE_CONFIG: bad,
    };
    const { metadata, id } = await cli.db.asStored.application.findFirstOrThrow({ where: { clientId: 'web' } });
    const withoutPkce = JSON.stringify({ ...JSON.parse(metadata), require_pkce: false });
    await cli.db.asStored.application.update({ where: { id }, data: { metadata: withoutPkce } });
    const { code, of } = await doctor(env);
    expect(code).toBe(1);
    expect(of('pkce')).toMatchObject({ status: 'warning', message: 'client web can sign users in without PKCE' });
    expect(of('proxy')).toMatchObject({ status: 'failure', advice: expect.stringContaining('TRUST_PROXY') });
    expect(of('keys')).toMatchObject({ status: 'failure', advice: expect.stringContaining('GATEHOUSE_SECRET') });
    expect(of('rate limits')).toMatchObject({
      status: 'failure',
      message: expect.stringContaining('RATE LIMITS ARE OFF'),
    });
    expect(of('admins')).toMatchObject({ status: 'failure', advice: expect.stringContaining('--role admin') });
    expect(of('secrets')).toMatchObject({ status: 'warning', advice: 'Run: gatehouse app secret web' });
    expect(of('file')).toMatchObject({
      status: 'failure',
      message: expect.stringContaining('user isn’t a known field. Did you mean users?'),
    });
    const text = await cli.gatehouse(['doctor'], { env });
    expect(text.out).toMatch(/^FAILED {3}rate limits/m);
    expect(text.out).toMatch(/\d failed, \d warnings?, \d+ passed\n$/);
  });

  it('names the event streams that take nothing for an hour', async () => {
    const [url, at] = ['https://siem.example/events', new Date(Date.now() - 7_200_000)];
    const kind = { kind: 'webhook', format: 'json', body: 'thin', atLeast: 1, withinMinutes: 1, quietMinutes: 1 };
    const chosen = { events: '["*"]', applications: '[]', groups: '[]', enabled: true, cursor: 0 };
    const times = { createdAt: at, updatedAt: at, failingSince: at };
    for (const [name, since] of Object.entries({ hr: at, new: new Date() }))
      await cli.db.asStored.eventStream.create({
        data: { id: name, name, url, ...kind, ...chosen, ...times, failingSince: since, lastError: 'status 503' },
      });
    const { findings } = await doctor();
    const message = 'hr takes nothing: status 503';
    expect(findings.filter(({ check }) => check === 'event streams')).toMatchObject([{ status: 'warning', message }]);
    await cli.db.asStored.eventStream.deleteMany();
  });

  itOnSqlite('connects to the mail server, and reports one that does not speak SMTP', async () => {
    const server = createServer((socket) => void socket.resume().end(greeting));
    let greeting = '220 ready\r\n';
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const SMTP_URL = `smtp://user:hunter2@127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    expect((await doctor({ SMTP_URL })).of('mail')?.status).toBe('ok');
    greeting = 'HTTP/1.1 400 Bad Request\r\n';
    const { of, findings } = await doctor({ SMTP_URL });
    expect(of('mail')).toMatchObject({ status: 'failure', message: expect.stringContaining('HTTP/1.1 400') });
    expect(JSON.stringify(findings)).not.toContain('hunter2');
    await new Promise((resolve) => server.close(resolve));
  });

  itOnSqlite('checks the mail server of the settings, and the DNS records of its sender', async () => {
    const server = createServer((socket) => void socket.resume().end('220 ready\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const settings = {
      ...defaultSettings,
      mail_server: { host: '127.0.0.1', port, tls: 'none' as const },
      mail_sender: { address: 'sso@example.com' },
    };
    const config = { issuerUrl: new URL('https://id.example.com'), outboxDir: '/nowhere' } as never;
    const records: Record<string, string[]> = { 'example.com': ['v=spf1 mx -all'] };
    const findings = await checkMail(config, settings, async (name) => records[name] ?? []);
    expect(findings).toEqual([
      { check: 'mail', status: 'ok', message: `127.0.0.1:${port} responds; email is sent from sso@example.com` },
      { check: 'SPF', status: 'ok', message: 'example.com has v=spf1 mx -all' },
      { check: 'DKIM', status: 'ok', message: expect.stringContaining('without its selector') },
      {
        check: 'DMARC',
        status: 'warning',
        message: expect.stringContaining('Nothing says'),
        advice: 'TXT record of _dmarc.example.com: v=DMARC1; p=none; rua=mailto:postmaster@example.com',
      },
    ]);
    await new Promise((resolve) => server.close(resolve));
  });

  itOnSqlite.each<[string, Record<string, string | string[] | undefined>, string]>([
    ['replaces', { 'referrer-policy': 'no-referrer' }, 'changes the header Referrer-Policy to "no-referrer"'],
    [
      'adds to',
      { 'referrer-policy': ['strict-origin-when-cross-origin', 'no-referrer'] },
      'changes the header Referrer-Policy to "strict-origin-when-cross-origin, no-referrer"',
    ],
    ['removes', { 'content-security-policy': undefined }, 'removes the header Content-Security-Policy'],
    [
      'forbids passkeys by',
      { 'permissions-policy': 'publickey-credentials-get=()' },
      'changes the header Permissions-Policy to "publickey-credentials-get=()"',
    ],
  ])('names the header that a proxy %s', async (_what, changes, message) => {
    const proxy = await headerProxy(changes);
    const idp = await startIdp({ environment: { ISSUER: proxy.origin } });
    proxy.forwardTo(Number(idp.environment.PORT));
    const { of } = await doctor({ ISSUER: proxy.origin });
    expect(of('address')?.status).toBe('ok');
    expect(of('headers')).toMatchObject({ status: 'warning', message: `a proxy ${message}` });
    await Promise.all([proxy.close(), idp.stop()]);
  });

  itOnSqlite('finds the headers unchanged behind a proxy that repeats them', async () => {
    const proxy = await headerProxy({ 'x-frame-options': ['SAMEORIGIN', 'SAMEORIGIN'] });
    const idp = await startIdp({ environment: { ISSUER: proxy.origin } });
    proxy.forwardTo(Number(idp.environment.PORT));
    expect((await doctor({ ISSUER: proxy.origin })).of('headers')?.status).toBe('ok');
    await Promise.all([proxy.close(), idp.stop()]);
  });

  itOnSqlite('reports only the invalid setting', async () => {
    const { code, findings } = await doctor({ PORT: 'x' });
    expect(code).toBe(1);
    expect(findings).toEqual([
      expect.objectContaining({
        check: 'environment',
        status: 'failure',
        message: expect.stringContaining('PORT: found "x"'),
      }),
    ]);
  });

  itOnBothInLongRun('notices a database file that others can read', async () => {
    if (cli.kind === 'postgresql') return;
    const file = cli.url.slice('file:'.length);
    chmodSync(file, 0o644);
    expect((await doctor()).of('database')).toMatchObject({ status: 'warning', advice: `Run: chmod 600 ${file}` });
  });

  it('reports a database whose secret is missing', async () => {
    const DATA_DIR = path.join(cli.folder, 'restored');
    const { code, findings } = await doctor({ GATEHOUSE_SECRET: '', DATA_DIR });
    expect(code).toBe(1);
    const missing = `${path.join(DATA_DIR, 'secret.key')} is missing, and the keys in this database are encrypted with it`;
    expect(findings).toContainEqual(expect.objectContaining({ check: 'secret', status: 'failure', message: missing }));
    expect(existsSync(DATA_DIR)).toBe(false);
  });

  itOnBothInLongRun('creates nothing where there is no database yet', async () => {
    const DATA_DIR = path.join(cli.folder, 'fresh');
    const { code, of } = await doctor({ DATABASE_URL: '', GATEHOUSE_SECRET: '', DATA_DIR });
    expect({ code, status: of('database')?.status }).toEqual({ code: 0, status: 'warning' });
    expect(of('secret')).toMatchObject({ status: 'warning', message: expect.stringContaining("doesn't exist yet") });
    expect(existsSync(DATA_DIR)).toBe(false);
  });
});

describe('the wrong folder', () => {
  const read = [
    'user list',
    'user show ann',
    'app list',
    'keys list',
    'keys rotate',
    'audit verify',
    'export',
    'backup x.db',
  ];

  itOnBothInLongRun.each(read)('is reported by %s, which creates nothing there', async (command) => {
    const DATA_DIR = path.join(cli.folder, 'elsewhere');
    const { code, err } = await cli.gatehouse(command.split(' '), {
      env: { DATABASE_URL: '', GATEHOUSE_SECRET: '', DATA_DIR },
    });
    expect(code).toBe(1);
    expect(err).toContain(`There is no database at ${path.join(DATA_DIR, 'gatehouse.db')}`);
    expect(existsSync(DATA_DIR)).toBe(false);
  });

  itOnBothInLongRun('becomes the data folder when the first user is added', async () => {
    const DATA_DIR = path.join(cli.folder, 'begun');
    const env = { DATABASE_URL: '', GATEHOUSE_SECRET: '', DATA_DIR };
    expect(await cli.gatehouse(['user', 'add', 'ann'], { env })).toMatchObject({ code: 0 });
    expect((await cli.gatehouse(['user', 'list'], { env })).out).toContain('ann');
  });
});
