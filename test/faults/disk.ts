// Driver: a server process whose file system is full or read-only, and starts that cannot write. `npm test` does not run it.
//   npm run build && npx tsx test/faults/disk.ts
// It mounts a small tmpfs, which takes root and a machine that permits mount; where it does not, it says so and skips that part.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpClient } from '../support/http.ts';
import { freePort } from '../support/idp.ts';
import { programArguments } from '../support/program.ts';

const NOBODY = 65_534;
/** A start that has neither failed nor succeeded by then does neither. */
const START_MS = 60_000;
const home = mkdtempSync(path.join(tmpdir(), 'gatehouse-disk-'));
chmodSync(home, 0o755);
const mount = path.join(home, 'mount');
mkdirSync(mount);
const print = (line: string) => void process.stdout.write(`${line}\n`);
let isMet = true;
let server: ChildProcess | undefined;
const expect = (what: string, passed: boolean) => {
  isMet &&= passed;
  print(`  ${passed ? 'met    ' : 'NOT MET'}  ${what}`);
};
const run = (command: string, ...values: string[]) => execFileSync(command, values, { stdio: 'pipe' });

interface Started {
  issuer: string;
  /** The output until it was ready or ended. */
  output: string;
  code: number | null;
}

async function start(folder: string, user?: number): Promise<Started> {
  const port = await freePort();
  const child = spawn(process.execPath, programArguments('main'), {
    env: {
      PATH: process.env.PATH,
      DATA_DIR: folder,
      GATEHOUSE_SECRET: Buffer.alloc(32, 7).toString('base64url'),
      LOG_FORMAT: 'json',
      LOG_LEVEL: 'warn',
      MIN_FREE_MB: '30',
      PORT: String(port),
    },
    ...(user !== undefined && { uid: user, gid: user }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  server = child;
  let output = '';
  await new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (text.includes('Gatehouse is ready')) resolve();
      });
    child.once('close', () => resolve());
    setTimeout(resolve, START_MS).unref();
  });
  return { issuer: `http://localhost:${port}`, output, code: child.exitCode };
}

async function stop(): Promise<void> {
  const ending = server;
  server = undefined;
  if (!ending || ending.exitCode !== null) return;
  const ended = new Promise((resolve) => ending.once('exit', resolve));
  ending.kill('SIGKILL');
  await ended;
}

interface Readiness {
  status: number;
  reasons?: Record<string, string>;
  warnings?: Record<string, string>;
}

async function readiness(issuer: string): Promise<Readiness> {
  const page = await httpClient(issuer).get('/readyz');
  return { ...page.json<object>(), status: page.status };
}

/** Until `/readyz` has this status, for at most 20 s. */
async function readyWith(issuer: string, status: number): Promise<Readiness> {
  let last = await readiness(issuer);
  for (let tries = 0; tries < 40 && last.status !== status; tries += 1) {
    await sleep(500);
    last = await readiness(issuer);
  }
  return last;
}

async function signInStatus(issuer: string): Promise<number> {
  const client = httpClient(issuer);
  const page = await client.follow(await client.get('/account', { headers: { accept: 'text/html' } }));
  if (page.status !== 200) return page.status;
  return (await client.submit(page, { username: 'admin', password: 'a wrong password' })).status;
}

function fill(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  try {
    writeFileSync(path.join(folder, 'filler'), Buffer.alloc(bavail * bsize));
  } catch {
    // Full, which is the purpose.
  }
}

async function fullAndReadOnly(): Promise<void> {
  try {
    run('mount', '-t', 'tmpfs', '-o', 'size=40m,mode=0755', 'tmpfs', mount);
  } catch (error) {
    print(`skipped: this machine permits no mount (${error instanceof Error ? error.message.trim() : error})`);
    return;
  }
  try {
    print('\na full disk');
    const { issuer } = await start(mount);
    expect('ready before', (await readiness(issuer)).status === 200);
    writeFileSync(path.join(mount, 'half'), Buffer.alloc(15 * 1024 * 1024));
    const low = await readiness(issuer);
    expect(
      `below MIN_FREE_MB it stays ready and warns: ${low.warnings?.disk}`,
      low.status === 200 && !!low.warnings?.disk,
    );
    fill(mount);
    doctor('on a full disk', mount, 1);
    const full = await readyWith(issuer, 503);
    expect(`/readyz: ${full.status} ${JSON.stringify(full.reasons)}`, full.status === 503);
    const status = await signInStatus(issuer);
    expect(`a sign-in: ${status}`, status === 503);
    for (const name of ['filler', 'half']) rmSync(path.join(mount, name), { force: true });
    expect('ready again by itself', (await readyWith(issuer, 200)).status === 200);
    expect(`a sign-in is answered as before: ${await signInStatus(issuer)}`, (await signInStatus(issuer)) < 500);
    await stop();

    print('\na start on a full disk');
    fill(mount);
    const onFull = await start(mount);
    report(onFull);
    rmSync(path.join(mount, 'filler'), { force: true });
    await stop();

    print('\na start on a read-only file system');
    run('mount', '-o', 'remount,ro', mount);
    report(await start(mount));
    doctor('on a read-only file system', mount, 1);
  } finally {
    await stop();
    run('umount', '-l', mount);
  }
}

/** `gatehouse doctor` ends with this code, and prints what failed. */
function doctor(where: string, folder: string, expected: number): void {
  const env = { PATH: process.env.PATH, DATA_DIR: folder, GATEHOUSE_SECRET: Buffer.alloc(32, 7).toString('base64url') };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...programArguments('cli'), 'doctor'], {
    env,
    encoding: 'utf8',
  });
  const failed = `${stdout}${stderr}`.split('\n').filter((line) => /FAILED|^gatehouse|error/i.test(line));
  for (const line of failed) print(`  ${line.trim()}`);
  expect(`doctor ${where} ends with ${status}`, status === expected && failed.length > 0);
}

/** The start has ended with one line. */
function report({ output, code }: Started): void {
  const lines = output.trim().split('\n');
  const messages = lines.map((line) => (line.startsWith('{') ? JSON.parse(line).msg : line));
  for (const message of messages) print(`  ${message}`);
  expect(`it ended with ${code}, and one line`, code === 1 && messages.length === 1);
}

async function withoutRights(): Promise<void> {
  print('\na start by a user without rights');
  if (process.getuid?.() !== 0) return print('skipped: only root can start a process as another user');
  const folder = path.join(home, 'data');
  mkdirSync(folder, { mode: 0o755 });
  report(await start(folder, NOBODY));
  await start(folder);
  await stop();
  chmodSync(path.join(folder, 'gatehouse.db'), 0o644);
  report(await start(folder, NOBODY));
}

try {
  await withoutRights();
  await fullAndReadOnly();
} finally {
  await stop();
  rmSync(home, { recursive: true, force: true });
}
process.exit(isMet ? 0 : 1);
