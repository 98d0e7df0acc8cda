// GATEHOUSE_SECRET: its forms, its file, and two processes that start at once.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/base/config.ts';

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64url');
let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'gatehouse-secret-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));
const load = (env: Record<string, string> = {}) => loadConfig(env, { cwd });

describe('GATEHOUSE_SECRET', () => {
  it('accepts several keys, the first of which encrypts', () => {
    const { secrets } = load({ GATEHOUSE_SECRET: `${key(1)}, ${key(2)}=` });
    expect(secrets.map((secret) => secret[0])).toEqual([1, 2]);
  });

  it.each([
    ['short', Buffer.alloc(31, 1).toString('base64url'), /31 bytes/],
    ['long', Buffer.alloc(33, 1).toString('base64url'), /33 bytes/],
    ['not base64url', '+'.repeat(43), /43 characters that are not base64url/],
    ['empty in a list', `${key(1)},`, /value 2: nothing/],
  ])('rejects a key that is %s', (_name, value, found) => {
    expect(() => load({ GATEHOUSE_SECRET: value })).toThrow(found);
  });

  it('may come from a file, as Docker secrets do', () => {
    writeFileSync(path.join(cwd, 'key'), `${key(3)}\n`);
    expect(load({ GATEHOUSE_SECRET_FILE: 'key' }).secrets[0]?.[0]).toBe(3);
    expect(() => load({ GATEHOUSE_SECRET_FILE: 'key', GATEHOUSE_SECRET: key(1) })).toThrow(
      /^GATEHOUSE_SECRET_FILE: .*one of the two/,
    );
    expect(() => load({ GATEHOUSE_SECRET_FILE: 'none' })).toThrow(/^GATEHOUSE_SECRET_FILE: found "none" \(ENOENT\)/);
  });
});

describe('the generated secret', () => {
  it('is stored in a file that only its owner can read, and does not change', () => {
    const first = load();
    const file = path.join(cwd, 'data/secret.key');
    expect(first.secretFile).toBe(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(first.secrets[0]).toHaveLength(32);
    expect(load().secrets).toEqual(first.secrets);
    expect(readdirSync(path.join(cwd, 'data'))).toEqual(['secret.key']);
  });

  it('gets mode 0600 again, with a warning, when others could read it', () => {
    load();
    const file = path.join(cwd, 'data/secret.key');
    chmodSync(file, 0o644);
    expect(load().warnings).toEqual([expect.stringContaining('could be read by others (mode 0644)')]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(load().warnings).toEqual([]);
  });

  it('is rejected when the file is damaged', () => {
    load();
    writeFileSync(path.join(cwd, 'data/secret.key'), 'short');
    expect(() => load()).toThrow(/^GATEHOUSE_SECRET: found 3 bytes in .*secret\.key; allowed: 32 bytes base64url/);
  });

  it('stops the start when the folder cannot be created', () => {
    writeFileSync(path.join(cwd, 'data'), '');
    expect(() => load()).toThrow(/^DATA_DIR: found ".*data" \(E[A-Z]+\); allowed: a folder this user may write/);
  });

  it('is the same for processes that start at once', async () => {
    const script = `import { loadConfig } from ${JSON.stringify(path.resolve('src/base/config.ts'))};
      console.log(loadConfig({}).secrets[0].toString('base64url'));`;
    const start = () =>
      new Promise<string>((resolve, reject) => {
        const child = spawn(
          process.execPath,
          ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', script],
          { cwd },
        );
        let text = '';
        child.stdout.on('data', (chunk) => {
          text += chunk;
        });
        child.on('error', reject).on('close', () => resolve(text.trim()));
      });
    const seen = await Promise.all(Array.from({ length: 4 }, start));
    expect(new Set(seen)).toEqual(new Set([readFileSync(path.join(cwd, 'data/secret.key'), 'utf8').trim()]));
  });
});
