// What an operation costs at PostgreSQL, by the counters of its server.
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { repeat } from './load.ts';
import type { Scenario } from './measure.ts';
import { cpuMeter } from './process-tree.ts';
import type { Target } from './target.ts';

/** For startPostgres. */
export const withCounters = {
  folder: tmpdir(),
  settings: { shared_preload_libraries: 'pg_stat_statements', shared_buffers: '512MB' },
};

export type Counters = Awaited<ReturnType<typeof countersOf>>;

/** What the server has done since it was started, by its own counters. */
export async function countersOf(url: string) {
  const client = new pg.Client(url);
  client.on('error', () => {}); // the database may be stopped first
  await client.connect();
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  const { rows } = await client.query(`SELECT current_setting('data_directory') AS folder`);
  const cpuMs = cpuMeter(Number(readFileSync(path.join(rows[0].folder, 'postmaster.pid'), 'utf8').split('\n')[0]));
  return {
    close: () => client.end(),
    async read(): Promise<number[]> {
      const { rows: found } = await client.query(`SELECT sum(calls)::float AS statements,
        sum(rows) FILTER (WHERE query ~* '^\\s*(select|with)' AND query !~* 'insert|update|delete')::float AS read,
        sum(rows) FILTER (WHERE query ~* 'insert|update|delete')::float AS written, sum(wal_bytes)::float AS wal
        FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'`);
      const { statements, read, written, wal } = found[0];
      return [cpuMs(), statements, read, written, wal].map(Number);
    },
  };
}

/** The head of the table of `costAtDatabase`. */
export const costHead = `| | CPU, ms | statements | rows returned | rows written | WAL, bytes |
| --- | --- | --- | --- | --- | --- |`;

/** A row of the table: an operation at each of two servers. @param counters of the databases of the targets */
export async function costAtDatabase(
  { name, operations, workers, worker }: Scenario,
  targets: readonly Target[],
  counters: readonly Counters[],
): Promise<string> {
  const costs: number[][] = [];
  for (const [at, target] of targets.entries()) {
    const work = await Promise.all(Array.from({ length: workers }, () => worker(target)));
    const before = (await counters[at]?.read()) ?? [];
    await repeat(work, operations * 4);
    const after = (await counters[at]?.read()) ?? [];
    costs.push(after.map((value, index) => (value - (before[index] ?? 0)) / (operations * 4)));
  }
  const [full = [], none = []] = costs;
  const digits = (value = Number.NaN) => value.toFixed(value < 10 ? 2 : 0);
  return `| ${[name, ...full.map((value, index) => `${digits(value)}, ${digits(none[index])}`)].join(' | ')} |`;
}
