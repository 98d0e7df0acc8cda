// `npm run bench:peers`: what an operation costs at Gatehouse and at another identity provider, each in production mode with its own
// database, in paired bursts. The peer's program is given by its path; nothing is installed.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/database/postgres-start.ts';
import { closeConnections, repeat } from './support/load.ts';
import { type Burst, type Contender, measure, medianOf } from './support/measure.ts';
import { installAuthelia } from './support/peers/authelia.ts';
import { installDex } from './support/peers/dex.ts';
import { installGatehouse } from './support/peers/gatehouse.ts';
import { installHydra } from './support/peers/hydra.ts';
import { installKeycloak } from './support/peers/keycloak.ts';
import { installOauth2Proxy } from './support/peers/oauth2-proxy.ts';
import { mixedWorker, type Operation, operations, websiteCheck } from './support/peers/operations.ts';
import type { Installation, Provider } from './support/peers/provider.ts';
import { type PeerRow, peersTable } from './support/peers/table.ts';
import { createDatabase } from './support/target.ts';
import { warmUp } from './support/warm-up.ts';

const help = `npm run bench:peers -- [options]
  --keycloak DIR      the unpacked distribution; Java as in JAVA_HOME or PATH
  --dex FILE          the program
  --hydra FILE        the program
  --authelia FILE     the program; only the check of a website
  --oauth2-proxy FILE the same
  --postgresql        also Gatehouse on PostgreSQL; Dex on PostgreSQL instead of SQLite
  --only TEXT         only what has this in its name: ${operations.map(({ name }) => name).join(', ')}, start, memory
  --bursts N          measured bursts of each (default 15)
  --operations N      operations before memory is read (default 10000)
  --starts N          starts on an existing database (default 5)
  --warm-up N         seconds at most until an operation is measured (default 60)
`;

const { values: options } = parseArgs({
  options: {
    keycloak: { type: 'string' },
    dex: { type: 'string' },
    hydra: { type: 'string' },
    authelia: { type: 'string' },
    'oauth2-proxy': { type: 'string' },
    postgresql: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    bursts: { type: 'string', default: '15' },
    operations: { type: 'string', default: '10000' },
    starts: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
  },
});

const installers = {
  keycloak: installKeycloak,
  dex: ({ program, databaseUrl }: { program: string; databaseUrl: string }) =>
    installDex({ program, ...(options.postgresql ? { databaseUrl } : {}) }),
  hydra: installHydra,
  authelia: installAuthelia,
  'oauth2-proxy': installOauth2Proxy,
};
/** They answer proxies and nothing else. */
const onlyChecks = new Set<string>(['authelia', 'oauth2-proxy']);

const isWanted = (name: string) => name.includes(options.only);
const note = (text: string) => void process.stderr.write(`${text}\n`);

/** Starts them in turn, so that a slow minute of the machine is one for all of them. Those of the last turn stay. */
async function measureStarts(
  installations: readonly Installation[],
): Promise<{ rows: PeerRow[]; servers: Provider[] }> {
  const times: Burst[] = [];
  const cpuTimes: Burst[] = [];
  const sizes: Burst[] = [];
  const turns = Math.max(1, Number(options.starts));
  let servers: Provider[] = [];
  // The first one creates the data and is not measured.
  for (let turn = 0; turn <= turns; turn += 1) {
    note(turn === 0 ? 'first start …' : 'start …');
    servers = [];
    for (const installation of installations) {
      const server = await installation.start();
      servers.push(server);
      if (turn > 0) continue;
      await server.stop();
    }
    if (turn === 0) continue;
    times.push(servers.map(({ startMs }) => startMs));
    cpuTimes.push(servers.map(({ startCpuMs }) => startCpuMs));
    sizes.push(servers.map((server) => server.memoryMb()));
    if (turn < turns) await Promise.all(servers.map((server) => server.stop()));
  }
  const rows = [
    rowOf('start, existing database: wall-clock ms', times),
    rowOf('the same: CPU ms', cpuTimes),
    rowOf('memory when ready, MB', sizes),
  ];
  return { rows, servers };
}

async function measureOperation(operation: Operation, servers: readonly Provider[]): Promise<PeerRow> {
  note(`${operation.name} …`);
  const contenders: (Contender & { index: number })[] = [];
  for (const [index, target] of servers.entries()) {
    if (!(await operation.worker(target))) continue;
    const worker = async () => (await operation.worker(target)) ?? (() => Promise.reject(new Error('not offered')));
    const contender = { target, index, worker };
    contenders.push(contender);
    const { operations: done, isSteady } = await warmUp(contender, { ...operation, maxSeconds });
    note(`  server ${index + 1}: ${done} to warm up${isSteady ? '' : ', not steady yet'}`);
  }
  const measured = await measure(contenders, { ...operation, bursts: Number(options.bursts) });
  const bursts = measured.map((burst) => {
    const all: Burst = [];
    for (const [at, { index }] of contenders.entries()) all[index] = burst[at] ?? Number.NaN;
    return all;
  });
  return rowOf(operation.name, bursts, servers.length);
}

async function measureMemory(servers: readonly Provider[], offered: readonly Operation[]): Promise<PeerRow> {
  note(`memory after ${options.operations} more operations …`);
  const sizes: Burst = [];
  for (const server of servers) {
    await repeat([await mixedWorker(server, offered)], Number(options.operations));
    sizes.push(server.memoryMb());
  }
  return rowOf(`memory after them and ${options.operations} of the mixture, MB`, [sizes]);
}

/** The peer is the last column. */
function rowOf(name: string, bursts: readonly Burst[], columns = bursts[0]?.length ?? 0): PeerRow {
  const at = Array.from({ length: columns }, (_, index) => index);
  const known = (value: number) => (Number.isNaN(value) ? undefined : value);
  const peer = (burst: Burst) => burst[columns - 1] ?? Number.NaN;
  return {
    name,
    values: at.map((index) => known(medianOf(bursts, (burst) => burst[index] ?? Number.NaN))),
    ratios: at
      .slice(0, -1)
      .map((index) => known(medianOf(bursts, (burst) => peer(burst) / (burst[index] ?? Number.NaN)))),
  };
}

async function compareWith(peer: keyof typeof installers, program: string): Promise<void> {
  const postgres = await startPostgres();
  const installations: Installation[] = [installGatehouse()];
  try {
    if (options.postgresql) installations.push(installGatehouse(await createDatabase(postgres.url, 'gatehouse')));
    installations.push(await installers[peer]({ program, databaseUrl: await createDatabase(postgres.url, peer) }));
    const { rows: starts, servers } = await measureStarts(installations);
    const rows: PeerRow[] = [];
    const offered = onlyChecks.has(peer) ? [websiteCheck] : operations;
    for (const one of offered.filter(({ name }) => isWanted(name))) {
      const row = await measureOperation(one, servers);
      note(`  ${row.values.map((value) => value?.toFixed(2) ?? '–').join(', ')}`);
      rows.push(row);
    }
    if (isWanted('memory')) rows.push(await measureMemory(servers, offered));
    await Promise.all(servers.map((server) => server.stop()));
    const names = installations.map(({ name }) => name);
    const described = installations.map(({ name, version, settings }) => `- ${name}: ${version}. ${settings}.`);
    process.stdout.write(
      `\n${machine()}\n\n${described.join('\n')}\n\n${peersTable(names, [...rows, ...(isWanted('start') ? starts : [])])}\n`,
    );
  } finally {
    closeConnections();
    await postgres.stop();
    for (const installation of installations) installation.remove();
  }
}

function machine(): string {
  const [cpu] = os.cpus();
  const load = os.loadavg().map((value) => value.toFixed(1));
  const kernel = execFileSync('uname', ['-r'], { encoding: 'utf8' }).trim();
  return `${os.cpus().length} × ${cpu?.model ?? 'unknown'}, Linux ${kernel}, load ${load.join(', ')} at the end, medians of ${options.bursts} bursts`;
}

// The servers have ended when this process has.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const maxSeconds = Number(options['warm-up']);
const peers = (Object.keys(installers) as (keyof typeof installers)[]).filter((peer) => options[peer] !== undefined);
if (options.help || peers.length === 0) process.stdout.write(help);
for (const peer of peers) {
  const program = options[peer] ?? '';
  if (!existsSync(program)) throw new Error(`--${peer}: there is no ${program}`);
  await compareWith(peer, program);
}
