// `npm run bench:scim`: what the requests of a directory cost with many users in it, beside a directory with 2,000; then how long its first
// synchronization takes, and how long sign-ins take while it goes on at 25 requests a second. Times by the clock mean something on an idle
// machine only; the CPU time does on every one.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openDatabase } from '../src/base/storage/database.ts';
import { startPostgres } from '../test/support/database/postgres-start.ts';
import { passwordSignIn } from './scenarios.ts';
import { type Counters, costAtDatabase, costHead, countersOf, withCounters } from './support/counters.ts';
import { closeConnections, repeat } from './support/load.ts';
import { measure, median, medianOf } from './support/measure.ts';
import { isWithin, type Row, table } from './support/report.ts';
import { addPeople, ask, provision, scimScenarios } from './support/scim.ts';
import { gatehouseFolder, signRows, startGatehouse, type Target } from './support/target.ts';

/** As bench/growth.ts. */
const TARGET = 1.25;
const SMALL = 2000;
/** Requests a second of Entra ID, and as many at a time. */
const RATE = 25;
const PARALLEL = 5;
/** Users of a first synchronization, and its longest time. */
const SYNC = { users: 50_000, minutes: 40 };
const PAGE_MS = 150;
const SIGN_IN_TARGET = 1.5;
const SIGN_INS = 40;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rows: { type: 'string', default: '100000' },
    bursts: { type: 'string', default: '15' },
    users: { type: 'string', default: '1000' }, // of the synchronization, from which that of 50,000 is computed
    postgresql: { type: 'boolean', default: false },
  },
});

const folders = [gatehouseFolder(), gatehouseFolder()] as const;
const databases = options.postgresql
  ? await Promise.all([startPostgres(withCounters), startPostgres(withCounters)])
  : [];
const counters: Counters[] = [];
try {
  for (const [at, folder] of folders.entries()) {
    const url = databases[at]?.url;
    // First start: creates the tables and the connection.
    await (await startGatehouse(folder, { databaseUrl: url })).stop();
    const database = await openDatabase(url ?? `file:${path.join(folder, 'data', 'gatehouse.db')}`);
    await addPeople(database, at === 0 ? Number(options.rows) : SMALL);
    await database.close();
    await signRows(folder, url);
  }
  const start = (at: 0 | 1) => startGatehouse(folders[at], { databaseUrl: databases[at]?.url });
  const [large, small] = [await start(0), await start(1)];
  counters.push(...(await Promise.all(databases.map(({ url }) => countersOf(url)))));
  const rows: Row[] = [];
  const atDatabase: string[] = [];
  for (const one of scimScenarios.filter(({ name }) => name.includes(options.only))) {
    process.stderr.write(`${one.name} …\n`);
    const contenders = [large, small].map((target) => ({ target, worker: () => one.worker(target) }));
    const measured = await measure(contenders, { ...one, bursts: Number(options.bursts) });
    const own = medianOf(measured, ([ms = Number.NaN]) => ms);
    rows.push({
      name: one.name,
      unit: 'ms CPU',
      gatehouse: own,
      limit: medianOf(measured, ([, ms = Number.NaN]) => ms),
      ratio: medianOf(measured, ([ms = Number.NaN, other = Number.NaN]) => ms / other),
      limitName: `${SMALL} users`,
      target: TARGET,
    });
    process.stderr.write(`${table(rows.slice(-1)).split('\n').at(-1)}\n`);
    if (counters.length > 0) atDatabase.push(await costAtDatabase(one, [large, small], counters));
  }
  for (const [name, work] of [
    ['page by the clock', aPage],
    ['first synchronization', aSync],
    ['sign-in', signInsBeside],
  ] as const) {
    if (!name.includes(options.only)) continue;
    // The server has closed those that were idle.
    closeConnections();
    rows.push(...(await work(large)));
  }
  await Promise.all([large.stop(), small.stop(), ...counters.map(({ close }) => close())]);
  process.stdout.write(`\n${options.rows} users, ${options.postgresql ? 'PostgreSQL' : 'SQLite'}\n\n${table(rows)}\n`);
  if (atDatabase.length > 0)
    process.stdout.write(
      `\nAt the database, for one operation: ${options.rows} users, and ${SMALL}\n\n${costHead}\n${atDatabase.join('\n')}\n`,
    );
  process.exitCode = rows.every(isWithin) ? 0 : 1;
} finally {
  closeConnections();
  await Promise.all(databases.map((database) => database.stop()));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function aPage(target: Target): Promise<Row[]> {
  const times: number[] = [];
  for (let turn = 0; turn < 15; turn += 1) times.push(await timeOf(() => ask(target, '/Users?count=1000')));
  const name = 'SCIM, a page of 1,000 users, by the clock';
  return [{ name, unit: 'ms', gatehouse: median(times), target: PAGE_MS }];
}

/** A part of a first synchronization, as fast as the server can, five requests at a time. */
async function aSync(target: Target): Promise<Row[]> {
  const users = Number(options.users);
  process.stderr.write(`${users} users …\n`);
  const before = target.cpuMs();
  const ms = await timeOf(() =>
    repeat(
      Array.from({ length: PARALLEL }, () => () => provision(target)),
      users,
    ),
  );
  const cpu = (target.cpuMs() - before) / users;
  const name = `minutes for ${SYNC.users} users`;
  const inMinutes = (each: number) => (each * SYNC.users) / 60_000;
  const minutes = (what: string, each: number, more: object = {}): Row => ({
    name: `${name}, ${what}`,
    unit: 'min',
    gatehouse: inMinutes(each),
    ...more,
  });
  return [minutes('CPU', cpu), minutes('by the clock', ms / users, { target: SYNC.minutes })];
}

/** Sign-ins one after the other, alone and beside the directory. */
async function signInsBeside(target: Target): Promise<Row[]> {
  const signIn = await passwordSignIn.worker(target);
  const timesOf = async () => {
    const times: number[] = [];
    for (let turn = 0; turn < SIGN_INS; turn += 1) times.push(await timeOf(signIn));
    return median(times);
  };
  await timesOf();
  const alone = await timesOf();
  const state = { isOver: false, requests: 0 };
  const began = performance.now();
  const load = (async () => {
    const open: Promise<unknown>[] = [];
    while (!state.isOver) {
      // Two requests.
      open.push(provision(target));
      state.requests += 2;
      await sleep(2000 / RATE);
    }
    await Promise.all(open);
  })();
  const beside = await timesOf();
  state.isOver = true;
  await load;
  const seconds = (performance.now() - began) / 1000;
  const name = `sign-in beside ${(state.requests / seconds).toFixed(0)} SCIM requests a second`;
  const clock = { gatehouse: beside, limit: alone, limitName: 'alone' };
  return [{ name, unit: 'ms', ...clock, target: SIGN_IN_TARGET }];
}
