// A PostgreSQL of its own that a driver can freeze, stop, kill and start again on the same data, with commits that survive a crash.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { postgresBinaries, postgresOwner } from '../support/database/postgres-binaries.ts';
import { freePort } from '../support/idp.ts';

const PASSWORD = 'faults';

export interface PostgresProcess {
  port: number;
  /** The URL of a database through this port; by default of the maintenance database, for its administrator. */
  url(port: number, names?: { user?: string; database?: string; password?: string }): string;
  start(): Promise<void>;
  /** `SIGINT`: a fast shutdown; `SIGKILL`: a crash of all its processes. */
  end(signal: 'SIGINT' | 'SIGKILL'): Promise<void>;
  /** A crash of one of the processes that serve the user `server`: PostgreSQL ends the others and recovers. */
  killBackend(): void;
  freeze(): void;
  thaw(): void;
  remove(): Promise<void>;
}

/** Makes an empty database cluster, and does not start it. */
export async function postgresProcess(): Promise<PostgresProcess> {
  const home = mkdtempSync(path.join(tmpdir(), 'gatehouse-faults-'));
  const data = path.join(home, 'data');
  const passwordFile = path.join(home, 'password');
  const owner = postgresOwner();
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwordFile, PASSWORD);
  if (owner) for (const file of [home, data, passwordFile]) chownSync(file, owner.uid, owner.gid);
  const binaries = postgresBinaries(home, owner);
  const options = { ...owner, cwd: home, stdio: 'pipe' as const };
  const initdb = [`--pgdata=${data}`, '--username=gatehouse', `--pwfile=${passwordFile}`, '--auth=password'];
  execFileSync(path.join(binaries, 'initdb'), [...initdb, '--encoding=UTF8', '--locale=C', '--no-sync'], options);
  const port = await freePort();
  let server: ChildProcess | undefined;

  const processes = () => {
    const { pid } = server ?? {};
    if (pid === undefined) return [];
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    return [pid, ...children.split('\n').map(Number).filter(Boolean)];
  };
  const signalAll = (signal: NodeJS.Signals) => {
    for (const pid of processes()) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has just ended: each connection is a process.
      }
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    const ending = server;
    if (!ending) return;
    const ended = new Promise((resolve) => ending.once('exit', resolve));
    if (signal === 'SIGKILL') signalAll(signal);
    else ending.kill(signal);
    await ended;
    server = undefined;
  };

  return {
    port,
    url: (through, { user = 'gatehouse', database = 'postgres', password = PASSWORD } = {}) =>
      `postgresql://${user}:${password}@127.0.0.1:${through}/${database}`,
    async start() {
      const flags = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'max_connections=100'];
      const started = spawn(
        path.join(binaries, 'postgres'),
        ['-D', data, '-p', String(port), ...flags.flatMap((flag) => ['-c', flag])],
        { ...owner, cwd: home, stdio: ['ignore', 'ignore', 'pipe'] },
      );
      server = started;
      await new Promise<void>((resolve, reject) => {
        started.stderr.setEncoding('utf8').on('data', (text: string) => {
          if (text.includes('ready to accept connections')) resolve();
        });
        started.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}`)));
      });
    },
    end,
    killBackend() {
      const titles = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(server?.pid)], { encoding: 'utf8' });
      const backend = titles.split('\n').find((line) => / postgres: server .*127\.0\.0\.1/.test(line));
      if (backend) process.kill(Number.parseInt(backend, 10), 'SIGKILL');
    },
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async remove() {
      await end('SIGKILL');
      rmSync(home, { recursive: true, force: true });
    },
  };
}
