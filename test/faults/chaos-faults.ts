// What happens to a node and its database in chaos.ts.
import type { ChildProcess } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import { connectSqlite } from '../../src/storage/sqlite/connections.ts';
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
}

export function createFaults({ nodes, postgres, isMounted, seconds, start }: FaultsDependencies): Fault[] {
  const freezeNode = async (node: Node, ms: number) => {
    const one = { from: performance.now(), to: Number.POSITIVE_INFINITY };
    node.frozen.push(one);
    node.process.kill('SIGSTOP');
    await sleep(ms);
    node.process.kill('SIGCONT');
    one.to = performance.now() + 2000;
  };
  const ended = (node: Node) =>
    new Promise<void>((resolve) => {
      const { process } = node;
      if (process.exitCode === null && process.signalCode === null) process.once('exit', () => resolve());
      else resolve();
    });
  const again = async (node: Node) => void Object.assign(node, await start(node));
  const setClock = (node: Node, ms: number) => writeFileSync(node.clockFile, String(ms));

  const common: Fault[] = [
    {
      name: 'kill -9',
      async run(node) {
        const end = ended(node);
        node.process.kill('SIGKILL');
        await end;
        await again(node);
      },
    },
    {
      name: 'SIGTERM and start',
      async run(node) {
        const end = ended(node);
        node.process.kill('SIGTERM');
        await end;
        await again(node);
      },
    },
    { name: 'frozen', run: (node) => freezeNode(node, seconds(3, 12)) },
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
  return [...common, ...(postgres ? onPostgres : onSqlite)];
}

const isBegun = (connection: SqlDriverAdapter) =>
  connection.executeScript('BEGIN IMMEDIATE').then(
    () => true,
    () => false,
  );
