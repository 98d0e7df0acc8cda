// The documented environment: defaults, and one line for each invalid value that names the variable and leaks nothing.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/base/config/config-error.ts';
import { loadConfig } from '../../src/base/config.ts';

const key = Buffer.alloc(32, 7).toString('base64url');
let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'gatehouse-config-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const load = (env: Record<string, string>) => loadConfig({ GATEHOUSE_SECRET: key, ...env }, { cwd, terminal: false });

function faultsOf(env: Record<string, string>): string {
  try {
    load(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('nothing was rejected');
}

describe('the environment', () => {
  it('has documented defaults', () => {
    expect(load({})).toMatchObject({
      issuer: 'http://localhost:3000',
      secure: false,
      host: '127.0.0.1',
      port: 3000,
      databaseUrl: `file:${path.join(cwd, 'data/gatehouse.db')}`,
      databaseKind: 'sqlite',
      dataDir: path.join(cwd, 'data'),
      metrics: {},
      trustProxy: 0,
      workers: 1,
      drainSeconds: 0,
      logLevel: 'info',
      logFormat: 'json',
      warnings: [],
    });
    expect(load({})).not.toHaveProperty('configFile');
    expect(loadConfig({ GATEHOUSE_SECRET: key }, { cwd, terminal: true }).logFormat).toBe('pretty');
  });

  it('reads every variable', () => {
    const config = load({
      ISSUER: 'https://ID.example.com:8443/',
      HOST: '::',
      PORT: '80',
      DATABASE_URL: 'postgresql://gate:p%40ss@db:5432/gate?sslmode=require',
      DATA_DIR: 'state',
      METRICS_PORT: '9090',
      METRICS_TOKEN: 'ab'.repeat(16),
      SMTP_URL: 'smtps://me:secret@mail.example.com',
      MAIL_FROM: 'Sign in <no-reply@example.com>',
      TRUST_PROXY: '2',
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'pretty',
    });
    expect(config).toMatchObject({
      issuer: 'https://id.example.com:8443',
      secure: true,
      host: '::',
      port: 80,
      databaseKind: 'postgresql',
      dataDir: path.join(cwd, 'state'),
      metrics: { listen: { host: '127.0.0.1', port: 9090 }, token: 'ab'.repeat(16) },
      smtpUrl: 'smtps://me:secret@mail.example.com',
      mailFrom: 'Sign in <no-reply@example.com>',
      trustProxy: 2,
      logLevel: 'debug',
      logFormat: 'pretty',
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it.each([
    'http://localhost',
    'http://127.0.0.1:3000',
    'http://[::1]:3000',
    'http://gate.localhost',
    'https://10.0.0.1',
  ])('accepts the issuer %s', (issuer) => {
    expect(load({ ISSUER: `${issuer}/` }).issuer).toBe(issuer);
  });

  it.each([
    ['ISSUER', 'http://id.example.com'],
    ['ISSUER', 'http://localhost.example.com'],
    ['ISSUER', 'https://id.example.com/auth'],
    ['ISSUER', 'https://id.example.com?x=1'],
    ['ISSUER', 'https://id.example.com/#x'],
    ['ISSUER', 'https://id.example.com//'],
    ['ISSUER', 'id.example.com'],
    ['ISSUER', 'ftp://localhost'],
    ['HOST', 'http://0.0.0.0'],
    ['HOST', '-bad-'],
    ['PORT', 'http'],
    ['PORT', '0'],
    ['PORT', '65536'],
    ['PORT', '3e3'],
    ['PORT', '-1'],
    ['METRICS_PORT', '3000'],
    ['METRICS_PORT', 'off'],
    ['METRICS_HOST', '0.0.0.0'],
    ['DATABASE_URL', 'mysql://db/gate'],
    ['DATABASE_URL', 'gatehouse.db'],
    ['DATABASE_URL', 'file:'],
    ['DATABASE_URL', 'file::memory:'],
    ['DATABASE_URL', 'postgresql://db'],
    ['SMTP_URL', 'mail.example.com'],
    ['SMTP_URL', 'http://mail.example.com'],
    ['MAIL_FROM', 'nobody'],
    ['MAIL_FROM', 'a@b, c@d'],
    ['MAIL_FROM', 'x\r\nBcc: <a@b>'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '-1'],
    ['FORWARD_AUTH_FROM', '10.1.1.1:80'],
    ['FORWARD_AUTH_FROM', '127.0.0.1,[::1]:80'],
    ['FORWARD_AUTH_FROM', '10.1'],
    ['DRAIN_SECONDS', '601'],
    ['WORKERS', '0'],
    ['WORKERS', 'all'],
    ['LOG_LEVEL', 'verbose'],
    ['LOG_FORMAT', 'xml'],
    ['GATEHOUSE_CONFIG', './missing.yaml'],
  ])('rejects %s=%s in one line', (name, value) => {
    const message = faultsOf({ [name]: value });
    expect(message).toMatch(new RegExp(`^${name}: found .+; allowed: .+$`));
    expect(message).toContain(value.replace(/\r\n/, '\\r\\n'));
    expect(message.split('\n')).toHaveLength(1);
  });

  it('reports each of several faults in its own line', () => {
    expect(faultsOf({ PORT: 'x', LOG_LEVEL: 'y' }).split('\n')).toEqual([
      expect.stringMatching(/^PORT: /),
      expect.stringMatching(/^LOG_LEVEL: /),
    ]);
  });

  it('rejects an unknown variable with the prefix GATEHOUSE_', () => {
    expect(faultsOf({ GATEHOUSE_SECRETS: 'x' })).toBe(
      'GATEHOUSE_SECRETS: found a variable that does not exist; allowed: of this prefix only GATEHOUSE_CONFIG, GATEHOUSE_SECRET, GATEHOUSE_SECRET_FILE',
    );
  });

  it('ignores the variables that Kubernetes sets for a service named gatehouse', () => {
    const injected = {
      GATEHOUSE_SERVICE_HOST: '10.0.0.1',
      GATEHOUSE_PORT: 'tcp://10.0.0.1:80',
      GATEHOUSE_PORT_80_TCP: 'tcp://x',
    };
    expect(load(injected).port).toBe(3000);
  });

  it('treats an empty value as not set', () => {
    expect(load({ ISSUER: '', SMTP_URL: ' ' })).toMatchObject({ issuer: 'http://localhost:3000' });
  });

  it('uses gatehouse.yaml of the folder, or the file of GATEHOUSE_CONFIG', () => {
    writeFileSync(path.join(cwd, 'other.yaml'), '');
    expect(load({ GATEHOUSE_CONFIG: 'other.yaml' }).configFile).toBe(path.join(cwd, 'other.yaml'));
    writeFileSync(path.join(cwd, 'gatehouse.yaml'), '');
    expect(load({}).configFile).toBe(path.join(cwd, 'gatehouse.yaml'));
    rmSync(path.join(cwd, 'gatehouse.yaml'));
  });
});

describe('a rejected value', () => {
  it.each([
    ['DATABASE_URL', 'mysql://root:hunter2@db/gate'],
    ['DATABASE_URL', 'postgresql://root:hunter2@db'],
    ['DATABASE_URL', 'postgresql://root:hunt#er2@db/gate'],
    ['DATABASE_URL', 'root:hunter2@tcp(db)/gate'],
    ['DATABASE_URL', 'mysql://db/gate?password=hunter2'],
    ['SMTP_URL', 'http://me:hunter2@mail'],
    ['SMTP_URL', 'smtp://me:12/hunter2@mail'],
    ['SMTP_URL', 'me:hunter2@mail'],
    ['ISSUER', 'https://me:hunter2@id.example.com'],
    ['METRICS_TOKEN', 'hunter2'],
    ['GATEHOUSE_SECRET', 'hunter2'],
    ['GATEHOUSE_SECRET', `${key},hunter2`],
    ['GATEHOUSE_SECRET', 'hunter2 with spaces'],
  ])('never shows the password in %s', (name, value) => {
    const message = faultsOf({ [name]: value });
    expect(message).toContain(`${name}: found `);
    expect(message).not.toMatch(/hunt|er2/);
    expect(message).not.toContain(key);
  });
});
