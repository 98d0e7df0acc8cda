// `npm run bench:workers`: code flows with one and with two workers. Server, load and database share the processors of one machine, so
// requests per second say little; what is measured in paired bursts is the CPU time of the server per flow, and how evenly the workers
// share it. Two processes on two processors cost more CPU per flow than one that has the machine for itself, whatever they do, because
// load and database then share their processors and caches. So two workers are also compared with two servers of one process each, on
// a database each: what the workers cost beyond those is the price of sharing.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/database/postgres-start.ts';
import { codeFlow } from './scenarios.ts';
import { closeConnections, repeat } from './support/load.ts';
import { median } from './support/measure.ts';
import { gatehouseFolder, startGatehouse, type Target } from './support/target.ts';

const { values: options } = parseArgs({
  options: {
    bursts: { type: 'string', default: '11' },
    flows: { type: 'string', default: '200' },
    postgresql: { type: 'boolean', default: false },
  },
});

/** Connections at a time: several for each worker. */
const LANES = 16;
/** Bursts in which both workers compile their code. */
const WARM_UP = 12;

interface Server {
  target: Target;
  work: (() => Promise<unknown>)[];
}

async function start(folder: string, workers: number, databaseUrl: string | undefined, lanes = LANES): Promise<Server> {
  const target = await startGatehouse(folder, { databaseUrl, workers });
  while (workers > 1 && childrenOf(target.pid).length < workers)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const work: Server['work'] = [];
  // One after the other: each signs in, and password hashes wait in a queue that has a limit.
  for (let lane = 0; lane < lanes; lane += 1) work.push(await codeFlow.worker(target));
  return { target, work };
}

/** The processes that serve: those below the first one, or that one alone. */
function childrenOf(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').trim().split(' '),
  );
  return children.filter((child) => child !== '').map(Number);
}

/** CPU milliseconds of each process that serves; the last is the first process. */
function cpuOf(pid: number): number[] {
  return [...childrenOf(pid), pid].map((one) =>
    readdirSync(`/proc/${one}/task`).reduce(
      (sum, thread) =>
        sum + Number(readFileSync(`/proc/${one}/task/${thread}/schedstat`, 'latin1').split(' ')[0]) / 1e6,
      0,
    ),
  );
}

/** CPU milliseconds per flow, the share of the busiest process in it, and flows per second; of all servers together. */
async function burst(servers: readonly Server[]) {
  const read = () => servers.map(({ target }) => cpuOf(target.pid));
  const before = read();
  const begin = performance.now();
  await Promise.all(servers.map(({ work }) => repeat(work, flows / servers.length)));
  const seconds = (performance.now() - begin) / 1000;
  const used = read().flatMap((server, index) => server.map((ms, process) => ms - (before[index]?.[process] ?? 0)));
  const all = used.reduce((sum, ms) => sum + ms, 0);
  return { ms: all / flows, share: Math.max(...used) / all, perSecond: flows / seconds };
}

type Burst = Awaited<ReturnType<typeof burst>>;

const flows = Number(options.flows);
const folders = [gatehouseFolder(), gatehouseFolder(), gatehouseFolder(), gatehouseFolder()];
const databases = options.postgresql ? await Promise.all(folders.map(() => startPostgres())) : [];
try {
  const one = await start(folders[0] as string, 1, databases[0]?.url);
  const two = await start(folders[1] as string, 2, databases[1]?.url);
  const apart = await start(folders[2] as string, 1, databases[2]?.url, LANES / 2);
  const other = await start(folders[3] as string, 1, databases[3]?.url, LANES / 2);
  const rounds: [alone: Burst, apart: Burst, workers: Burst][] = [];
  for (let turn = -WARM_UP; turn < Number(options.bursts); turn += 1) {
    const round: (typeof rounds)[number] = [await burst([one]), await burst([apart, other]), await burst([two])];
    if (turn >= 0) rounds.push(round);
  }
  const of = (figure: (round: (typeof rounds)[number]) => number, digits = 2) =>
    median(rounds.map(figure)).toFixed(digits);
  process.stdout.write(`${options.postgresql ? 'PostgreSQL' : 'SQLite'}, medians of ${rounds.length} rounds of ${flows} code flows

| | 1 process | 2 servers, a database each | 2 workers |
|---|---|---|---|
| CPU per flow, all processes of the server, ms | ${of(([a]) => a.ms)} | ${of(([, b]) => b.ms)} | ${of(([, , c]) => c.ms)} |
| ratio to 1 process | 1 | ${of(([a, b]) => b.ms / a.ms)} | ${of(([a, , c]) => c.ms / a.ms)} |
| ratio to 2 servers | | 1 | ${of(([, b, c]) => c.ms / b.ms)} |
| share of the busier process | | ${of(([, b]) => b.share)} | ${of(([, , c]) => c.share)} |
| flows per second beside load and database | ${of(([a]) => a.perSecond, 0)} | ${of(([, b]) => b.perSecond, 0)} | ${of(([, , c]) => c.perSecond, 0)} |
| times the flows of 1 process, as the CPU per flow is here | | ${of(([a, b]) => a.ms / (b.ms * b.share))} | ${of(([a, , c]) => a.ms / (c.ms * c.share))} |
| the same, beyond what 2 servers cost | | | ${of(([, b, c]) => b.ms / (c.ms * c.share))} |
`);
  await Promise.all([one, two, apart, other].map(({ target }) => target.stop()));
} finally {
  closeConnections();
  await Promise.all(databases.map((database) => database.stop()));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
