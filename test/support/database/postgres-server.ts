// A process of its own around a throw-away PostgreSQL, started by postgres.ts. It lives as long as the channel
// to its parent: when the test run ends, by Ctrl-C or by a crash too, it stops the server and removes the data.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { postgresBinaries, postgresOwner } from './postgres-binaries.ts';
import type { PostgresOptions } from './postgres-start.ts';
import { parentFolder } from './temporary-folder.ts';

const user = 'gatehouse';
const password = randomBytes(16).toString('hex');
const options: PostgresOptions = JSON.parse(process.argv[2] ?? '{}');
// Nothing here outlives the run, so nothing needs to reach a disk.
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // With hundreds of databases, several processes start every second just to look for work.
  autovacuum: 'off',
  jit: 'off',
  // In the data folder, which a killed server leaves nothing outside of.
  dynamic_shared_memory_type: 'mmap',
  max_connections: '200',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  ...options.settings,
};

let home = '';
let dataHome = '';
let server: ChildProcess | undefined;

process.on('disconnect', () => shutDown(0));
process.on('message', () => shutDown(0)); // "stop"
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => shutDown(0));

try {
  process.send?.({ url: await start() });
} catch (error) {
  process.send?.({ failure: error instanceof Error ? error.message : String(error) }, () => shutDown(1));
}

async function start(): Promise<string> {
  home = mkdtempSync(path.join(tmpdir(), 'gatehouse-postgres-'));
  // Apart from the programs, because a file system in memory may not allow those.
  dataHome = mkdtempSync(path.join(options.folder ?? parentFolder(), 'gatehouse-postgres-data-'));
  const owner = postgresOwner();
  const binaries = postgresBinaries(home, owner);
  const dataDir = path.join(dataHome, 'data');
  const passwordFile = path.join(home, 'password');
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(passwordFile, password);
  if (owner) for (const file of [home, dataHome, dataDir, passwordFile]) chownSync(file, owner.uid, owner.gid);

  const initdb = [`--pgdata=${dataDir}`, `--username=${user}`, `--pwfile=${passwordFile}`, '--auth=password'];
  execFileSync(
    path.join(binaries, 'initdb'),
    [...initdb, '--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-sync'],
    { ...owner, cwd: home, stdio: 'pipe' },
  );
  const port = await freePort();
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  await ready(
    spawn(path.join(binaries, 'postgres'), ['-D', dataDir, '-p', String(port), ...flags], {
      ...owner,
      cwd: home,
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  );
  return `postgresql://${user}:${password}@127.0.0.1:${port}/postgres`;
}

function ready(started: ChildProcess): Promise<void> {
  server = started;
  let log = '';
  return new Promise((resolve, reject) => {
    started.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-4000);
      if (text.includes('ready to accept connections')) resolve();
    });
    started.on('error', reject);
    started.on('exit', (code) => reject(new Error(`the server ended with ${code}:\n${log}`)));
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port on 127.0.0.1');
  return address.port;
}

let isEnding = false;

function shutDown(code: number): void {
  if (isEnding) return;
  isEnding = true;
  const finish = () => {
    // The test run does not wait until thousands of small files are removed.
    if (process.connected) process.send?.({ stopped: true });
    for (const folder of [home, dataHome]) if (folder) rmSync(folder, { recursive: true, force: true });
    process.exit(code);
  };
  server?.removeAllListeners('exit').once('exit', finish);
  const isSignalled = server?.kill('SIGQUIT'); // at once: the data is not needed any more
  if (!isSignalled) finish();
}
