// `npm run bench:growth`: what an operation costs with a million users, sessions, tokens and known browsers in the database, beside the
// same server on an empty one, in paired bursts. The rows are written by SQL and belong to other users, so they need no MACs. On PostgreSQL
// it also prints what an operation costs there: CPU, statements, rows and bytes of WAL. `--rows 10000000` needs the disk for it, in TMPDIR.
// `--groups 50` compares a person in so many groups, by which the applications are opened and which they receive, with one in none instead.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from '../src/base/storage/database.ts';
import { startPostgres } from '../test/support/database/postgres-start.ts';
import { appList, passwordSignIn, samlSignOn, scenarios } from './scenarios.ts';
import { type Counters, costAtDatabase, costHead, countersOf, withCounters } from './support/counters.ts';
import { addUsers } from './support/growth.ts';
import { closeConnections } from './support/load.ts';
import { measure, medianOf } from './support/measure.ts';
import { isWithin, type Row, table } from './support/report.ts';
import { gatehouseFolder, startGatehouse } from './support/target.ts';

/** An operation at a million users costs at most this much more; one finding of an index takes a few pages more. */
const TARGET = 1.25;
/** For a person in many groups. */
const GROUPS_TARGET = 1.05;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rows: { type: 'string', default: '1000000' },
    bursts: { type: 'string', default: '15' },
    groups: { type: 'string', default: '0' },
    postgresql: { type: 'boolean', default: false },
  },
});

const groups = Number(options.groups);
const limitName = groups > 0 ? 'in no group' : 'an empty database';
const folders = [gatehouseFolder({ groups }), gatehouseFolder()] as const;
const databases = options.postgresql
  ? await Promise.all([startPostgres(withCounters), startPostgres(withCounters)])
  : [];
const counters: Counters[] = [];
try {
  // First start: creates the tables, the application and the user.
  await (await startGatehouse(folders[0], { databaseUrl: databases[0]?.url })).stop();
  if (groups === 0) await fill(databases[0]?.url ?? `file:${path.join(folders[0], 'data', 'gatehouse.db')}`);
  const scope = groups > 0 ? { scope: 'openid profile email groups' } : {};
  const [large, empty] = await Promise.all(
    folders.map(async (folder, at) => ({
      ...(await startGatehouse(folder, { databaseUrl: databases[at]?.url })),
      ...scope,
    })),
  );
  if (!large || !empty) throw new Error('the servers did not start');
  const rows: Row[] = [];
  counters.push(...(await Promise.all(databases.map(({ url }) => countersOf(url)))));
  const atDatabase: string[] = [];
  for (const one of [...scenarios, samlSignOn, appList, passwordSignIn].filter(({ name }) =>
    name.includes(options.only),
  )) {
    process.stderr.write(`${one.name} …\n`);
    const contenders = [large, empty].map((target) => ({ target, worker: () => one.worker(target) }));
    const measured = await measure(contenders, { ...one, bursts: Number(options.bursts) });
    rows.push({
      name: one.name,
      unit: 'ms CPU',
      gatehouse: medianOf(measured, ([ms = Number.NaN]) => ms),
      limit: medianOf(measured, ([, ms = Number.NaN]) => ms),
      ratio: medianOf(measured, ([ms = Number.NaN, other = Number.NaN]) => ms / other),
      limitName,
      target: groups > 0 ? GROUPS_TARGET : TARGET,
    });
    process.stderr.write(`${table(rows.slice(-1)).split('\n').at(-1)}\n`);
    if (counters.length > 0) atDatabase.push(await costAtDatabase(one, [large, empty], counters));
    if (counters.length > 0) process.stderr.write(`${atDatabase.at(-1)}\n`);
  }
  const start = { gatehouse: large.startMs, limit: empty.startMs, limitName };
  if (options.only === '' && groups === 0) rows.push({ name: 'start', unit: 'ms', ...start });
  await Promise.all([large.stop(), empty.stop(), ...counters.map(({ close }) => close())]);
  process.stdout.write(
    `\n${groups > 0 ? `A person in ${groups} groups` : `${options.rows} of each`}, ${options.postgresql ? 'PostgreSQL' : 'SQLite'}\n\n${table(rows)}\n`,
  );
  if (atDatabase.length > 0)
    process.stdout.write(
      `\nAt the database, for one operation: full, and empty\n\n${costHead}\n${atDatabase.join('\n')}\n`,
    );
  process.exitCode = rows.every(isWithin) ? 0 : 1;
} finally {
  closeConnections();
  await Promise.all(databases.map((database) => database.stop()));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

async function fill(url: string): Promise<void> {
  const database = await openDatabase(url);
  await addUsers(database, Number(options.rows), (what) => process.stderr.write(`${what} …\n`));
  if (options.postgresql) {
    const [size] = await database.db.$queryRawUnsafe<{ mb: number }[]>(
      'SELECT (pg_database_size(current_database()) / 1e6)::float AS mb',
    );
    process.stderr.write(`the database has ${size?.mb.toFixed(0)} MB\n`);
  }
  await database.close();
}
