// `npm run bench`: the CPU cost of Gatehouse compared with its lower bounds (bare engine, Argon2id, RSA), measured in the
// same run on the same machine. Only ratios are comparable elsewhere. CPU time of the server process, medians of
// alternating rounds.
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
} from './scenarios.ts';
import { closeConnections, repeat } from './support/load.ts';
import { type Measured, measure, median } from './support/measure.ts';
import { isWithin, type Row, table } from './support/report.ts';
import { gatehouseFolder, startBare, startGatehouse, type Target } from './support/target.ts';
import { startUpstream } from './support/upstream.ts';

const help = `npm run bench -- [options]
  --only TEXT         only what has this in its name: ${[...scenarios, samlSignOn, passwordSignIn, connectionSignIn].map(({ name }) => name).join(', ')}, memory, start
  --rounds N          measured rounds of each (default 5)
  --operations N      operations before memory is read (default 100000)
  --postgresql        Gatehouse on a throw-away PostgreSQL instead of SQLite
  --frugal            with the memory settings of the Docker image
  --json              the numbers as JSON
`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    operations: { type: 'string', default: '100000' },
    postgresql: { type: 'boolean', default: false },
    frugal: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const targets = { engine: 1.5, saml: 1.5, blockMs: 5, signIn: 1.2, connection: 1.3, memoryMb: 200, startMs: 2000 };
const rounds = Number(options.rounds);
const isWanted = (name: string) => name.includes(options.only);
const note = (text: string) => void (options.json || process.stderr.write(`${text}\n`));

const medians = (found: Measured[]): [number, number] => {
  const [own, limit] = found;
  return [own?.median ?? Number.NaN, limit?.median ?? Number.NaN];
};

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
  for (const scenario of wanted) {
    note(`${scenario.name} …`);
    const contenders = [gatehouse, bare].map((target) => ({ target, worker: () => scenario.worker(target) }));
    const [own, limit] = medians(await measure(contenders, { ...scenario, rounds }));
    rows.push({
      name: scenario.name,
      unit: 'ms CPU',
      gatehouse: own,
      limit,
      limitName: 'bare oidc-provider',
      target: targets.engine,
    });
  }
  await bare.stop();
  return rows;
}

async function compareSaml(gatehouse: Target): Promise<Row[]> {
  const { name, operations, workers, worker } = samlSignOn;
  if (!isWanted(name)) return [];
  note(`${name} …`);
  const contenders = [samlSignOn, codeFlow].map((one) => ({ target: gatehouse, worker: () => one.worker(gatehouse) }));
  const [own, limit] = medians(await measure(contenders, { operations, workers, rounds }));
  const signature = raw().rs256;
  // One at a time, so that a turn of the event loop belongs to one sign-on.
  const operation = await worker(gatehouse);
  const heldUp = await gatehouse.watchEventLoop(() => repeat([operation], operations));
  const inMs = Object.entries(heldUp).map(([key, value]) => `${key} ${value.toFixed(1)}`);
  note(`(event loop held up, ms: ${inMs.join(', ')})`);
  const unit = 'ms CPU';
  return [
    { name, unit, gatehouse: own, limit, limitName: 'our OpenID Connect code flow', target: targets.saml },
    { name: `${name}, its signature`, unit, gatehouse: own, limit: signature, limitName: 'raw RSA signature' },
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
    const [own] = medians(await measure([contender], { ...scenario, rounds }));
    const limit = median([argon2, raw().argon2]);
    const target = scenario === passwordSignIn ? { target: targets.signIn } : {};
    rows.push({ name: scenario.name, unit: 'ms CPU', gatehouse: own, limit, limitName: 'raw argon2id', ...target });
  }
  return rows;
}

/** A sign-in over a connection beside a password sign-in at the same server, less its hash. */
async function compareConnection(databaseUrl?: string): Promise<Row[]> {
  const { name } = connectionSignIn;
  if (!isWanted(name)) return [];
  note(`${name} …`);
  // Before the upstream starts: it would not answer while this process waits.
  const { argon2 } = raw();
  const upstream = await startUpstream();
  const folder = gatehouseFolder(upstream.origin);
  const gatehouse = await startGatehouse(folder, { databaseUrl, isFrugal: options.frugal });
  const contenders = [connectionSignIn, passwordSignIn].map(({ worker }) => ({
    target: gatehouse,
    worker: () => worker(gatehouse),
  }));
  const [own, password] = medians(await measure(contenders, { ...connectionSignIn, rounds }));
  const limit = password - median([argon2, raw().argon2]);
  await gatehouse.stop();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
  const limitName = 'password sign-in less raw argon2id';
  return [{ name, unit: 'ms CPU', gatehouse: own, limit, limitName, target: targets.connection }];
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
  for (let turn = 0; turn < rounds; turn += 1) {
    const server = await startGatehouse(folder, { databaseUrl, isFrugal: options.frugal });
    times.push(server.startMs);
    await server.stop();
  }
  return [{ name: 'start, existing database', unit: 'ms', gatehouse: median(times), target: targets.startMs }];
}

async function run(): Promise<Row[]> {
  const folder = gatehouseFolder();
  const postgres = options.postgresql ? await startPostgres() : undefined;
  try {
    const gatehouse = await startGatehouse(folder, { databaseUrl: postgres?.url, isFrugal: options.frugal });
    const rows = [
      ...(await compareWithEngine(gatehouse)),
      ...(await compareSaml(gatehouse)),
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
  const rows = await run();
  const machine = `Node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown'}, ${options.postgresql ? 'PostgreSQL' : 'SQLite'}`;
  if (options.json) process.stdout.write(`${JSON.stringify({ machine, rows }, null, 2)}\n`);
  else process.stdout.write(`\n${machine}\n\n${table(rows)}\n`);
  process.exitCode = rows.every(isWithin) ? 0 : 1;
}
