// `npm run bench:growth`: what an operation costs with a million users, sessions, tokens and known browsers in the database, beside the
// same server on an empty one, in paired bursts. The rows are written by SQL and belong to other users, so they need no MACs.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from '../src/base/storage/database.ts';
import { startPostgres } from '../test/support/database/postgres-start.ts';
import { passwordSignIn, samlSignOn, scenarios } from './scenarios.ts';
import { addUsers } from './support/growth.ts';
import { closeConnections } from './support/load.ts';
import { measure, medianOf } from './support/measure.ts';
import { isWithin, type Row, table } from './support/report.ts';
import { gatehouseFolder, startGatehouse } from './support/target.ts';

/** An operation at a million users costs at most this much more; one finding of an index takes a few pages more. */
const TARGET = 1.25;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rows: { type: 'string', default: '1000000' },
    bursts: { type: 'string', default: '15' },
    postgresql: { type: 'boolean', default: false },
  },
});

const folders = [gatehouseFolder(), gatehouseFolder()] as const;
const databases = options.postgresql ? await Promise.all([startPostgres(), startPostgres()]) : [];
try {
  // First start: creates the tables, the application and the user.
  await (await startGatehouse(folders[0], { databaseUrl: databases[0]?.url })).stop();
  const file = path.join(folders[0], 'data', 'gatehouse.db');
  const database = await openDatabase(databases[0]?.url ?? `file:${file}`);
  await addUsers(database, Number(options.rows), (what) => process.stderr.write(`${what} …\n`));
  await database.close();
  const [large, empty] = await Promise.all(
    folders.map((folder, at) => startGatehouse(folder, { databaseUrl: databases[at]?.url })),
  );
  if (!large || !empty) throw new Error('the servers did not start');
  const rows: Row[] = [];
  for (const one of [...scenarios, samlSignOn, passwordSignIn].filter(({ name }) => name.includes(options.only))) {
    process.stderr.write(`${one.name} …\n`);
    const contenders = [large, empty].map((target) => ({ target, worker: () => one.worker(target) }));
    const measured = await measure(contenders, { ...one, bursts: Number(options.bursts) });
    rows.push({
      name: one.name,
      unit: 'ms CPU',
      gatehouse: medianOf(measured, ([ms = Number.NaN]) => ms),
      limit: medianOf(measured, ([, ms = Number.NaN]) => ms),
      ratio: medianOf(measured, ([ms = Number.NaN, other = Number.NaN]) => ms / other),
      limitName: 'an empty database',
      target: TARGET,
    });
  }
  const start = { gatehouse: large.startMs, limit: empty.startMs, limitName: 'an empty database' };
  if (options.only === '') rows.push({ name: 'start', unit: 'ms', ...start });
  await Promise.all([large.stop(), empty.stop()]);
  process.stdout.write(
    `\n${options.rows} of each, ${options.postgresql ? 'PostgreSQL' : 'SQLite'}\n\n${table(rows)}\n`,
  );
  process.exitCode = rows.every(isWithin) ? 0 : 1;
} finally {
  closeConnections();
  await Promise.all(databases.map((database) => database.stop()));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
