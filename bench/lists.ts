// `npm run bench:lists`: response times of every list of the console with 100,000 rows of everything, one request at
// a time: median and maximum, from the first byte sent to the last byte read.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from '../src/base/storage/database.ts';
import { startPostgres } from '../test/support/database/postgres-start.ts';
import { readExport } from './support/export.ts';
import { fill, pagesOf } from './support/fill.ts';
import { closeConnections, send } from './support/load.ts';
import { median } from './support/measure.ts';
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
    // Of an earlier run, which stays: filled when it is empty. SQLite only.
    folder: { type: 'string' },
  },
});

const folder = options.folder ?? gatehouseFolder({ isAdministrator: true });
if (options.folder) gatehouseFolder({ isAdministrator: true }, options.folder);
const isFilled = existsSync(path.join(folder, 'data', 'filled'));
const postgres = options.postgresql ? await startPostgres() : undefined;
try {
  // First start: creates the tables and the applications that fill.ts copies.
  await (await startGatehouse(folder, { databaseUrl: postgres?.url })).stop();
  const database = await openDatabase(postgres?.url ?? `file:${path.join(folder, 'data', 'gatehouse.db')}`);
  if (!isFilled) await fill(database, Number(options.rows));
  const pages = await pagesOf(database);
  await database.close();
  if (!isFilled) await signRows(folder, postgres?.url);
  writeFileSync(path.join(folder, 'data', 'filled'), '');
  const server = await startGatehouse(folder, { databaseUrl: postgres?.url });
  const cookie = await signInToConsole(server);
  const rows: string[] = [];
  for (const [name, page] of Object.entries(pages)) {
    if (!name.includes(options.only)) continue;
    const times: number[] = [];
    const address = `${server.origin}${page}`;
    await send(address, { headers: { cookie }, expect: 200 });
    const before = server.cpuMs();
    for (let turn = 0; turn < Number(options.requests); turn += 1) {
      const start = performance.now();
      await send(address, { headers: { cookie }, expect: 200 });
      times.push(performance.now() - start);
    }
    const cpu = (server.cpuMs() - before) / times.length;
    const [middle, worst] = [median(times), Math.max(...times)];
    if (middle > LIMIT_MS) process.exitCode = 1;
    const cells = [name, middle.toFixed(0), worst.toFixed(0), cpu.toFixed(0)];
    rows.push(`| ${cells.join(' | ')} |`);
    process.stderr.write(`${cells.join(', ')}\n`);
  }
  process.stdout.write(`| page | median ms | worst ms | CPU ms |\n|---|---|---|---|\n${rows.join('\n')}\n`);
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
