// What happens to a node and its database in chaos.ts.
import { type ChildProcess, execFileSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import { connectSqlite } from '../../src/base/storage/sqlite/connections.ts';
import type { ChaosMail } from './chaos-mail.ts';
import type { PostgresProcess } from './postgres-process.ts';
import type { TcpProxy } from './tcp-proxy.ts';

export interface Node {
  port: number;
  folder: string;
  clockFile: string;
  toDatabase: TcpProxy | undefined;
  process: ChildProcess;
  /** Not to blame for a long answer: it was frozen between these times. */
  frozen: { from: number; to: number }[];
}

export interface Fault {
  name: string;
  /** Ends when it is repaired. */
  run(node: Node): Promise<void>;
}

export interface FaultsDependencies {
  nodes: readonly Node[];
  /** Absent: SQLite. */
  postgres: PostgresProcess | undefined;
  /** The folder of the node is a small file system of its own. */
  isMounted: boolean;
  /** A number of milliseconds in this range of seconds. */
  seconds(from: number, to: number): number;
  start(node: Node): Promise<Node>;
  mail: ChaosMail;
  hasWorkers: boolean;
  /** Makes a backup and verifies it. */
  backUp(node: Node): Promise<void>;
  found(what: string): void;
}

/** Of SIGTERM: 5 s for the proxy, 15 for requests, 5 for the database; and a little for a busy machine. */
const STOP_MS = 27_000;

export function createFaults(dependencies: FaultsDependencies): Fault[] {
  const { nodes, postgres, isMounted, seconds, start, mail, hasWorkers, backUp, found } = dependencies;
  const freezeNode = async (node: Node, ms: number) => {
    const one = { from: performance.now(), to: Number.POSITIVE_INFINITY };
    node.frozen.push(one);
    const pids = [node.process.pid ?? 0, ...(hasWorkers ? workersOf(node) : [])];
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await sleep(ms);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    one.to = performance.now() + 2000;
  };
  const ended = (node: Node) =>
    new Promise<void>((resolve) => {
      const { process } = node;
      if (process.exitCode === null && process.signalCode === null) process.once('exit', () => resolve());
      else resolve();
    });
  const again = async (node: Node) => void Object.assign(node, await start(node));
  const restart = async (node: Node) => {
    const end = ended(node);
    const began = performance.now();
    node.process.kill('SIGTERM');
    await end;
    const ms = Math.round(performance.now() - began);
    if (ms > STOP_MS) found(`SIGTERM: ended after ${ms} ms`);
    await again(node);
  };
  const setClock = (node: Node, ms: number) => writeFileSync(node.clockFile, String(ms));

  const common: Fault[] = [
    {
      name: 'kill -9',
      async run(node) {
        const end = ended(node);
        const workers = hasWorkers ? workersOf(node) : [];
        node.process.kill('SIGKILL');
        await end;
        await gone(workers);
        await again(node);
      },
    },
    { name: 'SIGTERM and start', run: restart },
    {
      name: 'rolling restart',
      async run() {
        for (const node of nodes) await restart(node);
      },
    },
    { name: 'frozen', run: (node) => freezeNode(node, seconds(3, 12)) },
    { name: 'frozen for long', run: (node) => freezeNode(node, seconds(30, 60)) },
    { name: 'backup', run: backUp },
    ...(['silent', 'resets', 'refuses'] as const).map((fault) => ({
      name: `mail server ${fault}`,
      async run() {
        await mail.become(fault);
        await sleep(seconds(5, 20));
        await mail.become('good');
      },
    })),
    {
      name: 'clock 4 minutes ahead, then back',
      async run(node) {
        setClock(node, 240_000);
        await sleep(seconds(3, 10));
        setClock(node, 0);
      },
    },
    {
      name: 'clock 25 minutes ahead on all nodes, then back',
      async run() {
        for (const node of nodes) setClock(node, 1_500_000);
        await sleep(seconds(3, 10));
        for (const node of nodes) setClock(node, 0);
      },
    },
  ];
  const onPostgres: Fault[] = postgres
    ? [
        {
          name: 'PostgreSQL frozen',
          async run() {
            postgres.freeze();
            await sleep(seconds(3, 20));
            postgres.thaw();
          },
        },
        ...(['SIGKILL', 'SIGINT'] as const).map((signal) => ({
          name: `PostgreSQL ended by ${signal}`,
          async run() {
            await postgres.end(signal);
            await sleep(seconds(1, 8));
            await postgres.start();
          },
        })),
        { name: 'old connections silent', run: async (node) => node.toDatabase?.silenceConnections() },
        {
          name: 'database silent for one node',
          async run(node) {
            node.toDatabase?.silenceAll();
            await sleep(seconds(3, 15));
            await node.toDatabase?.serve();
          },
        },
        {
          name: 'database refuses one node',
          async run(node) {
            await node.toDatabase?.refuse();
            await sleep(seconds(2, 10));
            await node.toDatabase?.serve();
          },
        },
        {
          name: 'database resets',
          async run(node) {
            const until = performance.now() + seconds(5, 12);
            while (performance.now() < until) {
              node.toDatabase?.resetConnections();
              await sleep(700);
            }
          },
        },
        {
          name: 'database drips',
          async run(node) {
            node.toDatabase?.drip(20);
            await sleep(seconds(5, 12));
            node.toDatabase?.drip(0);
          },
        },
        {
          name: 'PostgreSQL frozen for long',
          async run() {
            postgres.freeze();
            await sleep(seconds(30, 60));
            postgres.thaw();
          },
        },
        {
          name: 'database slow',
          async run(node) {
            node.toDatabase?.delay(700);
            await sleep(seconds(5, 12));
            node.toDatabase?.delay(0);
          },
        },
      ]
    : [];
  const onSqlite: Fault[] = [
    {
      name: 'file locked by another process',
      async run(node) {
        const other = await connectSqlite(path.join(node.folder, 'gatehouse.db'));
        // The server writes at the same time.
        while (!(await isBegun(other))) await sleep(10);
        await sleep(seconds(1, 8));
        await other.executeScript('ROLLBACK');
        await other.dispose();
      },
    },
    ...(isMounted
      ? [
          {
            name: 'disk full',
            async run(node: Node) {
              const filler = path.join(node.folder, 'filler');
              for (let part = 0; part < 3; part += 1) {
                const { bavail, bsize } = statfsSync(node.folder);
                try {
                  writeFileSync(`${filler}${part}`, Buffer.alloc(bavail * bsize));
                } catch {
                  // Full, which is the purpose.
                }
              }
              await sleep(seconds(3, 12));
              for (let part = 0; part < 3; part += 1) rmSync(`${filler}${part}`, { force: true });
            },
          },
        ]
      : []),
  ];
  const ofWorkers: Fault[] = hasWorkers ? workerFaults(dependencies) : [];
  return [...common, ...(postgres ? onPostgres : onSqlite), ...ofWorkers];
}

const workersOf = ({ process }: Node) =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', String(process.pid)], { encoding: 'utf8' })
    .split('\n')
    .map(Number)
    .filter(Boolean);

/** WORKERS=2: one of the two, or the process above them. */
function workerFaults({ seconds }: FaultsDependencies): Fault[] {
  const freeze = async (node: Node, pids: number[], ms: number) => {
    const one = { from: performance.now(), to: Number.POSITIVE_INFINITY };
    node.frozen.push(one);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await sleep(ms);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    one.to = performance.now() + 2000;
  };
  return [
    {
      name: 'kill -9 of a worker',
      async run(node) {
        const [worker] = workersOf(node);
        if (worker) process.kill(worker, 'SIGKILL');
        await sleep(seconds(1, 3));
      },
    },
    {
      name: 'kill -9 of all workers',
      async run(node) {
        for (const worker of workersOf(node)) process.kill(worker, 'SIGKILL');
        await sleep(seconds(1, 3));
      },
    },
    { name: 'a worker frozen', run: (node) => freeze(node, workersOf(node).slice(0, 1), seconds(3, 20)) },
    {
      name: 'workers replaced by SIGHUP',
      async run(node) {
        node.process.kill('SIGHUP');
        await sleep(seconds(5, 12));
      },
    },
  ];
}

/** Workers end by themselves when the process above them is gone. */
async function gone(pids: number[]): Promise<void> {
  for (const pid of pids) while (isThere(pid)) await sleep(50);
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const isBegun = (connection: SqlDriverAdapter) =>
  connection.executeScript('BEGIN IMMEDIATE').then(
    () => true,
    () => false,
  );
