// `npm run bench:workers`: code flows with one and with two workers. Server, load and database share the processors of one machine, so
// requests per second say little; what is measured in paired bursts is the CPU time of the server per flow, and how evenly the workers
// share it. Two processors that are free for the workers then serve `speed-up` times as many flows as one.
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

async function start(folder: string, workers: number, databaseUrl: string | undefined): Promise<Server> {
  const target = await startGatehouse(folder, { databaseUrl, workers });
  while (workers > 1 && childrenOf(target.pid).length < workers)
    await new Promise((resolve) => setTimeout(resolve, 50));
  return { target, work: await Promise.all(Array.from({ length: LANES }, () => codeFlow.worker(target))) };
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

/** CPU milliseconds per flow, the share of the busiest process in it, and flows per second. */
async function burst({ target, work }: Server) {
  const before = cpuOf(target.pid);
  const begin = performance.now();
  await repeat(work, Number(options.flows));
  const seconds = (performance.now() - begin) / 1000;
  const used = cpuOf(target.pid).map((ms, index) => ms - (before[index] ?? 0));
  const all = used.reduce((sum, ms) => sum + ms, 0);
  return {
    ms: all / Number(options.flows),
    share: Math.max(...used) / all,
    perSecond: Number(options.flows) / seconds,
  };
}

const folders = [gatehouseFolder(), gatehouseFolder()] as const;
const databases = options.postgresql ? await Promise.all([startPostgres(), startPostgres()]) : [];
try {
  const one = await start(folders[0], 1, databases[0]?.url);
  const two = await start(folders[1], 2, databases[1]?.url);
  const pairs: [Awaited<ReturnType<typeof burst>>, Awaited<ReturnType<typeof burst>>][] = [];
  for (let turn = -WARM_UP; turn < Number(options.bursts); turn += 1) {
    const pair = [await burst(one), await burst(two)] as (typeof pairs)[number];
    if (turn >= 0) pairs.push(pair);
  }
  const of = (figure: (pair: (typeof pairs)[number]) => number, digits = 2) =>
    median(pairs.map(figure)).toFixed(digits);
  process.stdout.write(`${options.postgresql ? 'PostgreSQL' : 'SQLite'}, medians of ${pairs.length} pairs of ${options.flows} code flows

| | 1 worker | 2 workers |
|---|---|---|
| CPU per flow, all processes of the server, ms | ${of(([a]) => a.ms)} | ${of(([, b]) => b.ms)} |
| ratio of a pair | | ${of(([a, b]) => b.ms / a.ms)} |
| share of the busier worker | | ${of(([, b]) => b.share)} |
| flows per second beside load and database | ${of(([a]) => a.perSecond, 0)} | ${of(([, b]) => b.perSecond, 0)} |
| ratio of a pair | | ${of(([a, b]) => b.perSecond / a.perSecond)} |
| speed-up on two free processors | | ${of(([a, b]) => a.ms / (b.ms * b.share))} |
`);
  await Promise.all([one.target.stop(), two.target.stop()]);
} finally {
  closeConnections();
  await Promise.all(databases.map((database) => database.stop()));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
