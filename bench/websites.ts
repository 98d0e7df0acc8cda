// `npm run bench:websites`: how long checks of a website take at 1,000 a second with the server on one core, and how much slower people sign
// in while 10,000 questions with cookies that were made up come in each second. The generator has another core. These are times, so they mean
// something on an idle machine only; `npm run bench -- --only website` measures the CPU time on every one.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/database/postgres-start.ts';
import { passwordSignIn } from './scenarios.ts';
import { cores, pin } from './support/cores.ts';
import { closeConnections } from './support/load.ts';
import { median } from './support/measure.ts';
import { type Answers, openLoop, quantile } from './support/open-loop.ts';
import { gatehouseFolder, startGatehouse, type Target, website } from './support/target.ts';
import { asked, questionOfSession } from './support/website.ts';

const { values: options } = parseArgs({
  options: {
    postgresql: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '30' }, // of checks
    checks: { type: 'string', default: '1000' }, // a second
    flood: { type: 'string', default: '10000' }, // a second
    pairs: { type: 'string', default: '10' }, // of sign-ins without and with the flood
    'sign-ins': { type: 'string', default: '10' }, // in each
  },
});
const [CHECK_MS, SLOWER] = [5, 1.2];
const PATH = `/forward-auth/${website.proxy}`;
const FLOOD_SECONDS = 3;
/** So that V8, whose compiler shares the core, is done with it. */
const WARM_UP_SECONDS = 40;

const print = (text: string) => void process.stdout.write(`${text}\n`);
const verdict = (isMet: boolean) => (isMet ? 'met' : 'MISSED');

async function checks(target: Target): Promise<void> {
  const { headers } = await questionOfSession(target.origin);
  const load = {
    origin: target.origin,
    path: PATH,
    headers: [headers],
    perSecond: Number(options.checks),
    hasCore: true,
  };
  await openLoop({ ...load, seconds: WARM_UP_SECONDS });
  const before = target.cpuMs();
  const { ms, statuses, perSecond } = await openLoop({ ...load, seconds: Number(options.seconds) });
  const cpu = (target.cpuMs() - before) / ms.length;
  const [p50, p99, p999] = [0.5, 0.99, 0.999].map((part) => quantile(ms, part));
  print(
    `checks of a session, server on one core: ${perSecond.toFixed(0)} a second, ${JSON.stringify(statuses)}, p50 ${p50?.toFixed(2)} ms, ` +
      `p99 ${p99?.toFixed(2)} ms (target ${CHECK_MS}: ${verdict((p99 ?? Number.NaN) <= CHECK_MS)}), p99.9 ${p999?.toFixed(2)} ms, ` +
      `longest ${ms.at(-1)?.toFixed(1)} ms, ${cpu.toFixed(3)} ms CPU each`,
  );
}

/** Cookies that were made up, from a thousand addresses. */
function madeUp(): Record<string, string>[] {
  const { port } = new URL(website.origin);
  return Array.from({ length: 1000 }, (_, at) => {
    const [value, mac] = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('base64url'));
    const address = `198.18.${at >> 8}.${at & 255}`;
    return { ...asked('/page'), cookie: `gatehouse_app_${port}=s${value}.${mac}`, 'x-forwarded-for': address };
  });
}

async function flood(target: Target, where: string): Promise<void> {
  const signIn = await passwordSignIn.worker(target);
  const times = async () => {
    const found: number[] = [];
    for (let count = 0; count < Number(options['sign-ins']); count += 1) {
      const begin = performance.now();
      await signIn();
      found.push(performance.now() - begin);
    }
    return found;
  };
  const load = { origin: target.origin, path: PATH, headers: madeUp(), perSecond: Number(options.flood) };
  await times();
  const before = target.cpuMs();
  const alone = await openLoop({ ...load, seconds: FLOOD_SECONDS });
  const cpu = (target.cpuMs() - before) / alone.ms.length;
  const ratios: number[] = [];
  const answers: Answers[] = [];
  const all: [number[], number[]] = [[], []];
  for (let pair = 0; pair < Number(options.pairs); pair += 1) {
    const without = await times();
    const flooded = openLoop({ ...load, seconds: FLOOD_SECONDS });
    await sleep(500);
    const beside = await times();
    answers.push(await flooded);
    ratios.push(median(beside) / median(without));
    all[0].push(...without);
    all[1].push(...beside);
  }
  const ratio = median(ratios);
  const reached = median(answers.map(({ perSecond }) => perSecond));
  print(
    `sign-ins beside ${options.flood} made-up cookies a second, server on ${where}: ${median(all[0]).toFixed(1)} ms, beside them ` +
      `${median(all[1]).toFixed(1)} ms, ratio ${ratio.toFixed(2)} (target ${SLOWER}: ${verdict(ratio <= SLOWER)}); answered ` +
      `${reached.toFixed(0)} a second, ${JSON.stringify(answers.at(-1)?.statuses)}, ${cpu.toFixed(3)} ms CPU each`,
  );
}

const folder = gatehouseFolder({ hasLimits: true });
const database = options.postgresql ? await startPostgres() : undefined;
try {
  print(`${database ? 'PostgreSQL' : 'SQLite'}, ${os.cpus()[0]?.model}, load ${os.loadavg()[0]?.toFixed(1)}`);
  pin(process.pid, cores.generator);
  const target = await startGatehouse(folder, { databaseUrl: database?.url });
  pin(target.pid, cores.server);
  await checks(target);
  await flood(target, 'one core');
  pin(target.pid, cores.all);
  await flood(target, `${os.cpus().length} cores`);
  await target.stop();
} finally {
  closeConnections();
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
}
