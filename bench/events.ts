// `npm run bench:events`: what event streams cost: a sign-in with five of them beside one with none, the CPU time of an event to a webhook, how
// many arrive in a second and how soon (by the clock), and what a receiver that is away adds to the database.
import { rmSync } from 'node:fs';
import os from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadConfig } from '../src/base/config.ts';
import { createLogger } from '../src/base/platform/logger.ts';
import { createServices, type Services } from '../src/server/services.ts';
import { listen } from '../test/support/listen.ts';
import { passwordSignIn } from './scenarios.ts';
import { cores, pin } from './support/cores.ts';
import { closeConnections } from './support/load.ts';
import { median } from './support/measure.ts';
import { pairRow } from './support/pair.ts';
import { isWithin, type Row, table } from './support/report.ts';
import { gatehouseFolder, startGatehouse, type Target } from './support/target.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    bursts: { type: 'string', default: '15' },
    events: { type: 'string', default: '3000' }, // to one webhook
    missed: { type: 'string', default: '20000' }, // by a receiver that is away
  },
});
const targets = { signIn: 1.03, eventMs: 5, perSecond: 200, delayMs: 1000, awayMb: 50 };
const EVENT = { type: 'role.assigned', outcome: 'success', subjectId: 'ann', data: { roleName: 'editor' } } as const;
const CHUNK = 500;

const arrivals: { type: string; timestamp: string; at: number }[] = [];
let taken = 0;
const receiver = await listen(async (request, response) => {
  const body = JSON.parse(await text(request)) as { type: string; timestamp: string } | object[];
  taken += 1;
  if (!Array.isArray(body)) arrivals.push({ ...body, at: Date.now() });
  response.writeHead(204).end();
});
const secret = (number: number) => `whsec_${Buffer.alloc(32, number).toString('base64')}`;
const five = (more: object) =>
  [1, 2, 3, 4, 5].map((number) => ({
    id: `s${number}`,
    name: `S${number}`,
    url: `${receiver.origin}/${number}`,
    secret: secret(number),
    ...more,
  }));

/** Runs on a server with these streams, in a folder of its own. */
async function withStreams<T>(
  streams: readonly object[],
  work: (target: Target, folder: string) => Promise<T>,
): Promise<T> {
  const folder = gatehouseFolder({ streams });
  const target = await startGatehouse(folder);
  try {
    return await work(target, folder);
  } finally {
    closeConnections();
    await target.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Services beside the server, as a command has them. */
async function beside<T>(folder: string, work: (services: Services) => Promise<T>): Promise<T> {
  const config = loadConfig({}, { cwd: folder });
  const services = await createServices({ config, logger: createLogger({ level: 'silent', format: 'json' }) });
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}

async function addEvents({ audit, db }: Services, count: number): Promise<void> {
  for (let at = 0; at < count; at += CHUNK)
    await audit.recordAll(
      Array.from({ length: Math.min(CHUNK, count - at) }, () => EVENT),
      db,
    );
}

async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isMet())) await sleep(50);
}

/** A sign-in beside one at a server without streams. */
const signIns = (what: string, streams: readonly object[], target?: number): Promise<Row> =>
  withStreams([], (without) =>
    withStreams(streams, async (own) => {
      const limit = { limitName: 'no streams', bursts: Number(options.bursts), target };
      const before = taken;
      const row = await pairRow({ ...passwordSignIn, target: own }, { ...passwordSignIn, target: without }, limit);
      if (taken === before) throw new Error('no stream sent anything');
      return { ...row, name: `sign-in, ${what}` };
    }),
  );

const anEvent = (): Promise<Row> =>
  withStreams([{ ...five({})[0], events: ['role.assigned'] }], (target, folder) =>
    beside(folder, async (services) => {
      const count = Number(options.events);
      const before = target.cpuMs();
      const goal = taken + count;
      await addEvents(services, count);
      await until(() => taken >= goal);
      const cpu = (target.cpuMs() - before) / count;
      return { name: 'an event to a webhook', unit: 'ms CPU', gatehouse: cpu, target: targets.eventMs };
    }),
  );

/** From the first arrival of many events to the last one, with the server on one core. Means something on an idle machine only. */
const rate = (): Promise<Row> =>
  withStreams([{ ...five({})[0], events: ['role.assigned'] }], (target, folder) =>
    beside(folder, async (services) => {
      const count = Number(options.events);
      arrivals.length = 0;
      pin(process.pid, cores.generator);
      pin(target.pid, cores.server);
      await addEvents(services, count);
      await until(() => arrivals.length >= count);
      pin(process.pid, cores.all);
      const each = ((arrivals.at(-1)?.at ?? 0) - (arrivals[0]?.at ?? 0)) / (count - 1);
      const [perSecond, load] = [1000 / each, os.loadavg()[0] ?? 0];
      const verdict = perSecond >= targets.perSecond ? 'met' : 'MISSED';
      process.stderr.write(
        `${perSecond.toFixed(0)} events a second to one webhook, server on one core, load ${load.toFixed(1)} (target ${targets.perSecond}: ${verdict})\n`,
      );
      return {
        name: 'between two events at a webhook, by the clock',
        unit: 'ms',
        gatehouse: each,
        target: 1000 / targets.perSecond,
      };
    }),
  );

const delay = (): Promise<Row> =>
  withStreams([{ ...five({})[0], events: ['sign-in.completed'] }], async (target) => {
    const signIn = await passwordSignIn.worker(target);
    arrivals.length = 0;
    for (let count = 1; count <= 30; count += 1) {
      await signIn();
      await until(() => arrivals.length >= count);
    }
    const delays = arrivals.slice(1).map(({ timestamp, at }) => at - Date.parse(timestamp));
    process.stderr.write(`delays: ${delays.sort((one, other) => one - other).join(', ')}\n`);
    return {
      name: 'from the event to its arrival, by the clock',
      unit: 'ms',
      gatehouse: median(delays),
      target: targets.delayMs,
    };
  });

/** A webhook, of which each event is a delivery, where nothing listens. */
const away = (): Promise<Row> =>
  withStreams(
    [
      { id: 'away', name: 'Away', url: 'http://127.0.0.1:9/events', secret: secret(9) },
      { ...five({})[0], events: ['key.created'] },
    ],
    (_target, folder) =>
      beside(folder, async (services) => {
        const { db } = services;
        await addEvents(services, Number(options.missed));
        const wait = { where: { doneAt: null, failedAt: null } };
        await until(async () => (await db.eventDelivery.count(wait)) >= Math.min(2000, Number(options.missed)));
        await sleep(15_000);
        const count = await db.eventDelivery.count(wait);
        const [size] = await db.$queryRawUnsafe<{ bytes: bigint }[]>(
          `SELECT SUM(pgsize) AS bytes FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = 'event_deliveries')`,
        );
        process.stderr.write(`${count} deliveries wait of ${options.missed} events\n`);
        const mb = Number(size?.bytes ?? 0) / 1e6;
        return { name: 'a receiver that is away, at the database', unit: 'MB', gatehouse: mb, target: targets.awayMb };
      }),
  );

const siem = five({ kind: 'siem', secret: 'a-token-of-the-siem' });
const measured: Record<string, () => Promise<Row>> = {
  'sign-in, five SIEMs': () => signIns('five SIEMs', siem, targets.signIn),
  'sign-in, five webhooks of all events': () => signIns('five webhooks of all events', five({})),
  'an event': anEvent,
  rate,
  delay,
  away,
};
const rows: Row[] = [];
for (const [name, work] of Object.entries(measured)) {
  if (!name.includes(options.only)) continue;
  process.stderr.write(`${name} …\n`);
  rows.push(await work());
  process.stderr.write(`${table(rows.slice(-1)).split('\n').at(-1)}\n`);
}
await receiver.close();
process.stdout.write(`\n${table(rows)}\n`);
process.exitCode = rows.every(isWithin) ? 0 : 1;
