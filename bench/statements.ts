// `npm run bench:statements`: what each hot statement costs beside the same query through Prisma, on SQLite and on a
// throw-away PostgreSQL. CPU time of this process per call, medians of short rounds that take turns.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Database, openDatabase } from '../src/base/storage/database.ts';
import { migrate } from '../src/base/storage/migrations/migrate.ts';
import { startPostgres } from '../test/support/database/postgres-start.ts';
import { median } from './support/measure.ts';
import { type Comparison, comparisons, fillTables } from './support/statements.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '15' },
    calls: { type: 'string', default: '40' },
  },
});

interface Result {
  name: string;
  prisma: number;
  plain: number;
}

function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function round(work: (turn: number) => Promise<unknown>, from: number): Promise<number> {
  const calls = Number(options.calls);
  const before = cpuMicroseconds();
  for (let turn = 0; turn < calls; turn += 1) await work(from + turn);
  return (cpuMicroseconds() - before) / calls;
}

async function compare({ name, plain, prisma }: Comparison): Promise<Result> {
  const times = { plain: [] as number[], prisma: [] as number[] };
  const rounds = Number(options.rounds);
  let from = 0;
  for (let at = -6; at < rounds; at += 1) {
    const order = at % 2 === 0 ? (['plain', 'prisma'] as const) : (['prisma', 'plain'] as const);
    for (const side of order) {
      const time = await round(side === 'plain' ? plain : prisma, from);
      from += Number(options.calls);
      if (at >= 0) times[side].push(time); // the first rounds warm up
    }
  }
  return { name, prisma: median(times.prisma), plain: median(times.plain) };
}

async function measureOn(url: string): Promise<Map<string, Result>> {
  await migrate(url);
  const database: Database = await openDatabase(url);
  const results = new Map<string, Result>();
  try {
    await fillTables(database);
    for (const comparison of comparisons(database)) {
      if (!comparison.name.includes(options.only) || (comparison.isRemote && database.kind === 'sqlite')) continue;
      const result = await compare(comparison);
      results.set(comparison.name, result);
      process.stderr.write(`${result.name}: ${result.prisma.toFixed(0)} / ${result.plain.toFixed(0)} µs\n`);
    }
  } finally {
    await database.close();
  }
  return results;
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-statements-'));
const postgres = await startPostgres();
try {
  const sqlite = await measureOn(`file:${path.join(folder, 'gatehouse.db')}`);
  const postgresql = await measureOn(postgres.url);
  const cells = (result: Result | undefined) =>
    result
      ? `${result.prisma.toFixed(0)}, ${result.plain.toFixed(0)}, ${(result.prisma / result.plain).toFixed(1)}`
      : '';
  const rows = [...postgresql.keys()].map(
    (name) => `| ${name} | ${cells(sqlite.get(name))} | ${cells(postgresql.get(name))} |`,
  );
  process.stdout.write(
    `| statement | SQLite: Prisma µs, plain µs, ratio | PostgreSQL: the same |\n|---|---|---|\n${rows.join('\n')}\n`,
  );
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
