// `npm run bench`: the CPU cost of Gatehouse compared with its lower bounds (bare engine, Argon2id, RSA), measured in the
// same run on the same machine. Only ratios are comparable elsewhere. CPU time of the server process, in paired bursts.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/database/postgres-start.ts';
import {
  codeFlow,
  connectionSignIn,
  mixedWorker,
  newBrowserSignIn,
  passwordSignIn,
  samlSignOn,
  scenarios,
  tokenExchange,
} from './scenarios.ts';
import { compareWithBuild } from './support/builds.ts';
import { closeConnections, repeat } from './support/load.ts';
import { measure, median, medianOf } from './support/measure.ts';
import { type Contestant, pairRow } from './support/pair.ts';
import { isWithin, type Row, table } from './support/report.ts';
import { createDatabase, gatehouseFolder, startBare, startGatehouse, type Target } from './support/target.ts';
import { startUpstream } from './support/upstream.ts';

const help = `npm run bench -- [options]
  --only TEXT         only what has this in its name: ${[...scenarios, samlSignOn, tokenExchange, passwordSignIn, connectionSignIn].map(({ name }) => name).join(', ')}, memory, start; with --against also size
  --bursts N          measured bursts of each (default 15)
  --operations N      operations before memory is read (default 100000)
  --postgresql        Gatehouse on a throw-away PostgreSQL instead of SQLite
  --against FOLDER    compares with the build of another checkout instead of the lower bounds, both built
  --json              the numbers as JSON
`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    bursts: { type: 'string', default: '15' },
    operations: { type: 'string', default: '100000' },
    postgresql: { type: 'boolean', default: false },
    against: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const targets = {
  engine: 1.5,
  clientCredentials: 1.4,
  postgresql: 1.33,
  saml: 1.5,
  exchange: 1.5,
  blockMs: 5,
  signIn: 1.2,
  connection: 1.3,
  readyMb: 130,
  memoryMb: 200,
  startMs: 1000,
};
const bursts = Number(options.bursts);
/** Sign-ons one after the other, for the turns of the event loop. */
const SINGLE_SIGN_ONS = 400;
const STARTS = 5;
const isWanted = (name: string) => name.includes(options.only);
const note = (text: string) => void (options.json || process.stderr.write(`${text}\n`));

/** A row of paired bursts. */
function rowOf(own: Contestant, limit: Contestant, about: { limitName: string; target?: number }): Promise<Row> {
  note(`${own.name} …`);
  return pairRow(own, limit, { ...about, bursts });
}

function raw(): { argon2: number; rs256: number; es256: number } {
  const program = path.join(import.meta.dirname, 'raw.ts');
  const found = execFileSync(process.execPath, ['--import', 'tsx', program], { encoding: 'utf8' });
  // The server may have closed idle connections meanwhile.
  closeConnections();
  return JSON.parse(found);
}

async function compareWithEngine(gatehouse: Target): Promise<Row[]> {
  const wanted = scenarios.filter(({ name }) => isWanted(name));
  if (wanted.length === 0) return [];
  const bare = await startBare();
  const rows: Row[] = [];
  for (const one of wanted) {
    const target = one.name === 'client credentials' ? targets.clientCredentials : targets.engine;
    // On PostgreSQL the target is the ratio to SQLite (below).
    const limit = { limitName: 'bare oidc-provider', ...(options.postgresql ? {} : { target }) };
    rows.push(await rowOf({ ...one, target: gatehouse }, { ...one, target: bare }, limit));
  }
  await bare.stop();
  return rows;
}

/** With `--postgresql`: each scenario on PostgreSQL and on SQLite. */
async function compareWithSqlite(gatehouse: Target): Promise<Row[]> {
  const wanted = options.postgresql ? scenarios.filter(({ name }) => isWanted(name)) : [];
  if (wanted.length === 0) return [];
  const folder = gatehouseFolder();
  const sqlite = await startGatehouse(folder);
  const rows: Row[] = [];
  const limit = { limitName: 'SQLite', target: targets.postgresql };
  for (const one of wanted) rows.push(await rowOf({ ...one, target: gatehouse }, { ...one, target: sqlite }, limit));
  await sqlite.stop();
  rmSync(folder, { recursive: true, force: true });
  return rows;
}

async function compareExchange(gatehouse: Target): Promise<Row[]> {
  const refresh = scenarios.find(({ name }) => name === 'refresh');
  if (!refresh || !isWanted(tokenExchange.name)) return [];
  const limit = { limitName: 'a refresh', target: targets.exchange };
  return [await rowOf({ ...tokenExchange, target: gatehouse }, { ...refresh, target: gatehouse }, limit)];
}

async function compareSaml(gatehouse: Target): Promise<Row[]> {
  if (!isWanted(samlSignOn.name)) return [];
  const row = await rowOf(
    { ...samlSignOn, target: gatehouse },
    { ...codeFlow, target: gatehouse },
    { limitName: 'our OpenID Connect code flow', target: targets.saml },
  );
  const signature = raw().rs256;
  // One at a time, so that a turn of the event loop belongs to one sign-on.
  const operation = await samlSignOn.worker(gatehouse);
  const heldUp = await gatehouse.watchEventLoop(() => repeat([operation], SINGLE_SIGN_ONS));
  const inMs = Object.entries(heldUp).map(([key, value]) => `${key} ${value.toFixed(1)}`);
  note(`(event loop held up, ms: ${inMs.join(', ')})`);
  const { name } = row;
  const unit = 'ms CPU';
  return [
    row,
    {
      name: `${name}, its signature`,
      unit,
      gatehouse: row.gatehouse,
      limit: signature,
      limitName: 'raw RSA signature',
    },
    { name: `${name}, a turn of the event loop (p99)`, unit, gatehouse: heldUp.p99, target: targets.blockMs },
    {
      name: `${name}, the longest turn without garbage collection`,
      unit,
      gatehouse: heldUp.own,
      target: targets.blockMs,
    },
    { name: `${name}, the longest turn with garbage collection`, unit, gatehouse: heldUp.max },
  ];
}

async function comparePassword(gatehouse: Target): Promise<Row[]> {
  const wanted = [passwordSignIn, newBrowserSignIn].filter(({ name }) => isWanted(name));
  if (wanted.length === 0) return [];
  const rows: Row[] = [];
  for (const scenario of wanted) {
    note(`${scenario.name} …`);
    const { argon2 } = raw();
    const contender = { target: gatehouse, worker: () => scenario.worker(gatehouse) };
    const measured = await measure([contender], { ...scenario, bursts });
    const own = medianOf(measured, ([ms = Number.NaN]) => ms);
    const limit = median([argon2, raw().argon2]);
    const target = scenario === passwordSignIn ? { target: targets.signIn } : {};
    rows.push({ name: scenario.name, unit: 'ms CPU', gatehouse: own, limit, limitName: 'raw argon2id', ...target });
  }
  return rows;
}

/** A sign-in over a connection beside a password sign-in at the same server. Both on the main thread: passwords are hashed on others. */
async function compareConnection(databaseUrl?: string): Promise<Row[]> {
  const { name } = connectionSignIn;
  if (!isWanted(name)) return [];
  note(`${name} …`);
  const upstream = await startUpstream();
  const folder = gatehouseFolder({ upstream: upstream.origin });
  // The database of the others is sealed under the secret of another folder.
  const ownUrl = databaseUrl && (await createDatabase(databaseUrl, 'connection'));
  const gatehouse = await startGatehouse(folder, { databaseUrl: ownUrl });
  const contenders = [connectionSignIn, passwordSignIn].map(({ worker }) => ({
    target: { cpuMs: gatehouse.mainThreadMs },
    worker: () => worker(gatehouse),
  }));
  const measured = await measure(contenders, { ...connectionSignIn, bursts });
  await gatehouse.stop();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
  return [
    {
      name,
      unit: 'ms CPU',
      gatehouse: medianOf(measured, ([ms = Number.NaN]) => ms),
      limit: medianOf(measured, ([, ms = Number.NaN]) => ms),
      ratio: medianOf(measured, ([own = Number.NaN, password = Number.NaN]) => own / password),
      limitName: 'password sign-in, main thread',
      target: targets.connection,
    },
  ];
}

async function memory(gatehouse: Target): Promise<Row[]> {
  if (!isWanted('memory')) return [];
  note(`memory after ${options.operations} operations …`);
  const before = gatehouse.memoryMb();
  const workers = await Promise.all([1, 2, 3, 4].map(() => mixedWorker(gatehouse)));
  await repeat(workers, Number(options.operations));
  const name = `memory after ${options.operations} operations`;
  note(`(before them: ${before.toFixed(0)} MB)`);
  return [{ name, unit: 'MB', gatehouse: gatehouse.memoryMb(), target: targets.memoryMb }];
}

async function startTime(folder: string, databaseUrl?: string): Promise<Row[]> {
  if (!isWanted('start')) return [];
  note('start …');
  const times: number[] = [];
  const sizes: number[] = [];
  for (let turn = 0; turn < STARTS; turn += 1) {
    const server = await startGatehouse(folder, { databaseUrl });
    times.push(server.startMs);
    sizes.push(server.memoryMb());
    await server.stop();
  }
  return [
    { name: 'start, existing database', unit: 'ms', gatehouse: median(times), target: targets.startMs },
    { name: 'start, memory when ready', unit: 'MB', gatehouse: median(sizes), target: targets.readyMb },
  ];
}

async function run(): Promise<Row[]> {
  const folder = gatehouseFolder();
  const postgres = options.postgresql ? await startPostgres() : undefined;
  try {
    const gatehouse = await startGatehouse(folder, { databaseUrl: postgres?.url });
    const rows = [
      ...(await compareWithEngine(gatehouse)),
      ...(await compareWithSqlite(gatehouse)),
      ...(await compareSaml(gatehouse)),
      ...(await compareExchange(gatehouse)),
      ...(await comparePassword(gatehouse)),
      ...(await memory(gatehouse)),
    ];
    await gatehouse.stop();
    rows.push(...(await compareConnection(postgres?.url)));
    return [...rows, ...(await startTime(folder, postgres?.url))];
  } finally {
    closeConnections();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (options.help) process.stdout.write(help);
else {
  const rows = await (options.against === undefined
    ? run()
    : compareWithBuild(options.against, {
        isWanted,
        bursts,
        starts: 2 * STARTS,
        isPostgresql: options.postgresql,
        note,
      }));
  const machine = `Node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown'}, ${options.postgresql ? 'PostgreSQL' : 'SQLite'}`;
  if (options.json) process.stdout.write(`${JSON.stringify({ machine, rows }, null, 2)}\n`);
  else process.stdout.write(`\n${machine}\n\n${table(rows)}\n`);
  process.exitCode = rows.every(isWithin) ? 0 : 1;
}
