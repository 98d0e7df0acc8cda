// `npm run bench:lists`: response times of every list of the console with 100,000 rows of everything, one request at
// a time: median and maximum, from the first byte sent to the last byte read, and the CPU time of the server and of PostgreSQL, which other
// programs on the machine hardly change.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Database, openDatabase } from '../src/base/storage/database.ts';
import { startPostgres } from '../test/support/database/postgres-start.ts';
import { readExport } from './support/export.ts';
import { fill, pagesOf } from './support/fill.ts';
import { closeConnections, send } from './support/load.ts';
import { median } from './support/measure.ts';
import { cpuMeter } from './support/process-tree.ts';
import { signInToConsole } from './support/sign-in.ts';
import { gatehouseFolder, signRows, startGatehouse } from './support/target.ts';

const LIMIT_MS = 100;
const exports = {
  'export of the audit log': '/admin/audit/export?format=csv',
  'export of the users': '/admin/import/export',
};

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    requests: { type: 'string', default: '15' },
    rows: { type: 'string', default: '100000' },
    postgresql: { type: 'boolean', default: false },
    // Of an earlier run, which stays: filled when it is empty. With PostgreSQL beside the URL of the server.
    folder: { type: 'string' },
    url: { type: 'string' },
  },
});

const folder = options.folder ?? gatehouseFolder({ isAdministrator: true });
if (options.folder) gatehouseFolder({ isAdministrator: true }, options.folder);
const isFilled = existsSync(path.join(folder, 'data', 'filled'));
const postgres = options.postgresql && !options.url ? await startPostgres() : undefined;
const databaseUrl = options.url ?? postgres?.url;
try {
  // First start: creates the tables and the applications that fill.ts copies.
  await (await startGatehouse(folder, { databaseUrl })).stop();
  const database = await openDatabase(databaseUrl ?? `file:${path.join(folder, 'data', 'gatehouse.db')}`);
  if (!isFilled) await fill(database, Number(options.rows));
  const pages = await pagesOf(database);
  const databaseCpuMs = databaseUrl ? await postgresCpuMs(database) : () => 0;
  await database.close();
  if (!isFilled) await signRows(folder, databaseUrl);
  writeFileSync(path.join(folder, 'data', 'filled'), '');
  const server = await startGatehouse(folder, { databaseUrl });
  const cookie = await signInToConsole(server);
  const rows: string[] = [];
  for (const [name, page] of Object.entries(pages)) {
    if (!name.includes(options.only)) continue;
    const times: number[] = [];
    const address = `${server.origin}${page}`;
    await send(address, { headers: { cookie }, expect: 200 });
    const before = [server.cpuMs(), databaseCpuMs()] as const;
    for (let turn = 0; turn < Number(options.requests); turn += 1) {
      const start = performance.now();
      await send(address, { headers: { cookie }, expect: 200 });
      times.push(performance.now() - start);
    }
    const cpu = [server.cpuMs() - before[0], databaseCpuMs() - before[1]].map((ms) => (ms / times.length).toFixed(0));
    const [middle, worst] = [median(times), Math.max(...times)];
    if (middle > LIMIT_MS) process.exitCode = 1;
    const cells = [name, middle.toFixed(0), worst.toFixed(0), ...cpu];
    rows.push(`| ${cells.join(' | ')} |`);
    process.stderr.write(`${cells.join(', ')}\n`);
  }
  process.stdout.write(
    `| page | median ms | worst ms | CPU ms, server | CPU ms, database |\n|---|---|---|---|---|\n${rows.join('\n')}\n`,
  );
  for (const [name, page] of Object.entries(exports)) {
    if (!name.includes(options.only)) continue;
    const before = { cpu: server.cpuMs(), memory: server.memoryMb() };
    const { firstByteMs, wholeMs, longestPauseMs, megabytes } = await readExport(`${server.origin}${page}`, cookie);
    const seconds = [wholeMs, server.cpuMs() - before.cpu].map((ms) => (ms / 1000).toFixed(1));
    process.stdout.write(
      `${name}: begins after ${firstByteMs.toFixed(0)} ms, takes ${seconds[0]} s (${megabytes.toFixed(0)} MB, ${seconds[1]} s of CPU), ` +
        `longest pause ${longestPauseMs.toFixed(0)} ms, memory ${before.memory.toFixed(0)} to ${server.memoryMb().toFixed(0)} MB\n`,
    );
  }
  await server.stop();
} finally {
  closeConnections();
  await postgres?.stop();
  if (!options.folder) rmSync(folder, { recursive: true, force: true });
}

/** The CPU time of all processes of PostgreSQL since it started. */
async function postgresCpuMs({ db }: Database): Promise<() => number> {
  const [row] = await db.$queryRawUnsafe<{ folder: string }[]>(`SELECT current_setting('data_directory') AS folder`);
  return cpuMeter(Number(readFileSync(path.join(row?.folder ?? '', 'postmaster.pid'), 'utf8').split('\n')[0]));
}
