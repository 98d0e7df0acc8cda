// A first start on a full disk, and a restore into a place that this user cannot write: each ends with one line that says what is full or
// not writable, for which user, and what to do. A small tmpfs and another user take root; elsewhere these tests are skipped.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import fs, {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { secretFromFile } from '../../src/base/config/secret.ts';
import { startError } from '../../src/server/writable.ts';
import { databaseKind } from '../support/database/database.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { freePort, startIdp } from '../support/idp.ts';

import { isLongRun, some } from '../support/long-run.ts';
import { programArguments } from '../support/program.ts';
import { testSecret } from '../support/secret.ts';

const NOBODY = 65_534;
const home = mkdtempSync(path.join(tmpdir(), 'gatehouse-unwritable-'));
const disk = path.join(home, 'disk');
const secret = Buffer.alloc(32, 7).toString('base64url');
mkdirSync(disk);
chmodSync(home, 0o755);
const isRoot = process.getuid?.() === 0;
const canMount = isRoot && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', disk]).status === 0;
const backup = path.join(home, 'backup.db');
/** Whether another user can read this checkout. */
const canChangeUser =
  isRoot && spawnSync('test', ['-r', path.resolve('package.json')], { uid: NOBODY, gid: NOBODY }).status === 0;

beforeAll(async () => {
  const idp = await startIdp();
  const { databaseUrl } = idp.services.config;
  await idp.stop();
  if (databaseKind() === 'postgresql') return;
  copyFileSync(databaseUrl.slice('file:'.length), backup);
  chmodSync(backup, 0o644);
});
afterAll(() => {
  if (canMount) execFileSync('umount', ['-l', disk]);
  rmSync(home, { recursive: true, force: true });
});

async function run(
  program: 'main' | 'cli',
  {
    args = [],
    user,
    ...environment
  }: { args?: string[]; user?: number; [name: string]: string | string[] | number | undefined },
) {
  const { status, stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [...programArguments(program), ...args],
    {
      env: {
        PATH: process.env.PATH,
        LOG_FORMAT: 'json',
        LOG_LEVEL: 'warn',
        ...(environment as Record<string, string>),
      },
      ...(user !== undefined && { uid: user, gid: user }),
      timeout: 60_000,
    },
  ).then(
    (output) => ({ status: 0, ...output }),
    ({ code, stdout, stderr }) => ({ status: code as number | null, stdout: String(stdout), stderr: String(stderr) }),
  );
  const lines = `${stdout}${stderr}`.trim().split('\n');
  const messages = lines.map((line) => (line.startsWith('{') ? String(JSON.parse(line).msg) : line));
  return { status, messages };
}

it('names a full disk whatever error hides it, and leaves other errors as they are', () => {
  const config = { databaseUrl: `file:${home}/data/gatehouse.db` } as never;
  const full = Object.assign(new Error('write'), { code: 'ENOSPC' });
  for (const error of [full, new Error('a migration failed', { cause: full })])
    expect(String(startError(config, error))).toMatch(
      /the database cannot be written: the disk of .* is full for .*uid \d+.*: free space there, or choose/,
    );
  const other = new Error('other');
  expect(startError(config, other)).toBe(other);
});

it('a secret that cannot be written leaves no draft', () => {
  const folder = path.join(home, 'secret');
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  for (const step of ['writeSync', 'fsyncSync'] as const) {
    const failing = vi.spyOn(fs, step).mockImplementation(() => {
      throw full;
    });
    syncBuiltinESMExports();
    expect(() => secretFromFile(folder)).toThrow('ENOSPC');
    failing.mockRestore();
    syncBuiltinESMExports();
    expect(readdirSync(folder)).toEqual([]);
  }
  expect(secretFromFile(folder)).toMatchObject({ generated: true });
});

describe.skipIf(!canMount)('on a full disk', () => {
  // Beside a remote database, there is only the secret to write.
  const [count, sizes] = databaseKind() === 'sqlite' ? [2, ['8k', '300k', '1m']] : [1, ['8k', '1m']];
  it.each(some(count, sizes))('a first start ends with one line: %s', async (size) => {
    for (const name of ['data', 'filler']) rmSync(path.join(disk, name), { recursive: true, force: true });
    execFileSync('mount', ['-o', `remount,size=${size}`, disk]);
    const full = await run('main', { DATA_DIR: path.join(disk, 'data'), PORT: String(await freePort()) });
    expect(full.status).toBe(1);
    expect(full.messages).toEqual([
      expect.stringMatching(
        /the disk of .*disk.* is full for .*: free space there, or choose a folder on another disk$/,
      ),
    ]);
    expect(readdirSync(path.join(disk, 'data')).filter((name) => name.startsWith('secret.key.'))).toEqual([]);
  });

  it.runIf(databaseKind() === 'sqlite').each(some(2, ['100k', '8k', '4k']))(
    'a restore ends with one line, and leaves nothing behind: %s',
    async (size) => {
      rmSync(path.join(disk, 'data'), { recursive: true, force: true });
      execFileSync('mount', ['-o', `remount,size=${size}`, disk]);
      const free = () => statfsSync(disk).bavail;
      mkdirSync(path.join(disk, 'data'));
      const before = free();
      const environment = { DATA_DIR: path.join(disk, 'data'), GATEHOUSE_SECRET: secret };
      const { status, messages } = await run('cli', { args: ['restore', backup], ...environment });
      expect(status).toBe(1);
      expect(messages.at(-1)).toMatch(/the disk of .* is full for .*Nothing was changed$/);
      expect(messages.filter((line) => /^\s+at /.test(line))).toEqual([]);
      expect(free()).toBe(before);
      expect(readdirSync(path.join(disk, 'data'))).toEqual([]);
    },
  );

  it.runIf(isLongRun && databaseKind() === 'sqlite')(
    'a restore that nearly fits leaves nothing behind, and one that just fits says that the database is restored',
    async () => {
      const data = path.join(disk, 'data');
      const environment = { DATA_DIR: data, GATEHOUSE_SECRET: testSecret.toString('base64url') };
      const restore = async (kilobytes: number) => {
        rmSync(data, { recursive: true, force: true });
        execFileSync('mount', ['-o', `remount,size=${Math.ceil(statSync(backup).size / 1024) + kilobytes}k`, disk]);
        const { status, messages } = await run('cli', { args: ['restore', backup], ...environment });
        expect(messages.filter((line) => /^\s+at /.test(line))).toEqual([]);
        return { status, messages, isDone: existsSync(path.join(data, 'gatehouse.db')) };
      };
      // The smallest disk on which it fits.
      let kilobytes = 24;
      let { status, messages, isDone } = await restore(kilobytes);
      expect(isDone).toBe(false);
      while (!isDone) {
        expect(status).toBe(1);
        expect(messages.at(-1)).toMatch(/^the disk of .* is full for .*Nothing was changed$/);
        kilobytes += 8;
        ({ status, messages, isDone } = await restore(kilobytes));
      }
      expect(status).toBe(1);
      expect(messages.slice(-2)).toEqual([
        expect.stringMatching(
          /^Restored .*: 1 user\. But this cannot be recorded in the audit log: the database cannot be written: the disk of .* is full for .*\.$/,
        ),
        'Correct that. Then, before the server starts, run: gatehouse audit accept-restore',
      ]);
      expect(readFileSync(path.join(data, 'gatehouse.db'))).toEqual(readFileSync(backup));
      execFileSync('mount', ['-o', 'remount,size=40m', disk]);
      expect((await run('cli', { args: ['audit', 'accept-restore'], ...environment })).status).toBe(0);
      expect((await run('cli', { args: ['audit', 'verify'], ...environment })).status).toBe(0);
    },
  );

  itOnSqlite('upgrade check says that no version starts there', async () => {
    const data = path.join(disk, 'data');
    execFileSync('mount', ['-o', 'remount,size=40m', disk]);
    rmSync(data, { recursive: true, force: true });
    mkdirSync(data);
    copyFileSync(backup, path.join(data, 'gatehouse.db'));
    execFileSync('mount', ['-o', `remount,size=${Math.ceil(statSync(backup).size / 1024) + 300}k`, disk]);
    const environment = { DATA_DIR: data, GATEHOUSE_SECRET: testSecret.toString('base64url') };
    const { status, messages } = await run('cli', { args: ['upgrade', 'check'], ...environment });
    expect(status).toBe(1);
    expect(messages).toContainEqual(expect.stringMatching(/^Disk: 0\.\d MB free, up to 1\.0 MB needed: TOO LITTLE\.$/));
  });
});

describe.skipIf(!canChangeUser)('by a user without rights', () => {
  itOnSqlite('a restore below a folder that the user cannot write ends with one line', async () => {
    const closed = path.join(home, 'closed');
    mkdirSync(closed, { recursive: true, mode: 0o755 });
    for (const folder of some(2, [closed, path.join(closed, 'new'), path.join(closed, 'new', 'deep')])) {
      const environment = { DATA_DIR: folder, GATEHOUSE_SECRET: secret };
      const { status, messages } = await run('cli', { args: ['restore', backup], user: NOBODY, ...environment });
      expect(status).toBe(1);
      expect(messages).toEqual([
        'Restoring…',
        expect.stringMatching(
          /closed \(owner uid 0.*\) is not writable by .*uid 65534.*To restore, run this as .*Nothing was/,
        ),
      ]);
    }
  });

  itOnSqlite('each command on a database of another user ends with one line', async () => {
    const folder = path.join(home, 'of-another');
    mkdirSync(folder, { mode: 0o755 });
    copyFileSync(backup, path.join(folder, 'gatehouse.db'));
    chmodSync(path.join(folder, 'gatehouse.db'), 0o644);
    const environment = { DATA_DIR: folder, GATEHOUSE_SECRET: testSecret.toString('base64url'), user: NOBODY };
    const commands = [
      ['user', 'list'],
      ['audit', 'verify'],
      ['upgrade', 'check'],
      ['backup', path.join(home, 'no.db')],
    ];
    for (const args of some(2, commands)) {
      const { status, messages } = await run('cli', { args, ...environment });
      expect([status, messages], args.join(' ')).toEqual([
        1,
        [expect.stringMatching(/the database cannot be (written|used): .*(uid 65534|as the user of the server)/)],
      ]);
    }
  });

  it('a first start there says so too', async () => {
    const closed = path.join(home, 'closed');
    mkdirSync(closed, { recursive: true, mode: 0o755 });
    const folder = path.join(closed, 'data');
    const { status, messages } = await run('main', { DATA_DIR: folder, user: NOBODY, PORT: String(await freePort()) });
    expect(status).toBe(1);
    expect(messages).toEqual([
      expect.stringMatching(/^DATA_DIR: found .*EACCES.*closed .* is not writable by .*65534/),
    ]);
  });
});
