// `npm run bench:bound`: what durable and tamper-evident storage, a log and the other things that a server has to have cost by themselves.
// Bare oidc-provider, the same with one more part each time (support/parts.ts), and Gatehouse, in bursts that take turns.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { scenarios } from './scenarios.ts';
import { closeConnections } from './support/load.ts';
import { measure, medianOf } from './support/measure.ts';
import { PARTS } from './support/parts.ts';
import { gatehouseFolder, startBare, startGatehouse } from './support/target.ts';

const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, bursts: { type: 'string', default: '21' } },
});

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-bound-'));
const home = gatehouseFolder();
const names = Object.keys(PARTS);
const steps = [[], ...names.map((_, last) => names.slice(0, last + 1))];
const bare = await Promise.all(steps.map((parts) => startBare(parts, path.join(folder, `${parts.length}.db`))));
const gatehouse = await startGatehouse(home);
try {
  for (const { name, operations, workers, worker } of scenarios.filter((one) => one.name.includes(options.only))) {
    const contenders = [...bare, gatehouse].map((target) => ({ target, worker: () => worker(target) }));
    const measured = await measure(contenders, { operations, workers, bursts: Number(options.bursts) });
    const labels = ['bare engine', ...Object.entries(PARTS).map((part) => `+ ${part.join(': ')}`), 'Gatehouse'];
    process.stdout.write(`\n${name}\n\n| | µs CPU | ratio |\n|---|---|---|\n`);
    for (const [at, label] of labels.entries()) {
      const ms = medianOf(measured, (burst) => burst[at] ?? Number.NaN);
      const ratio = medianOf(measured, (burst) => (burst[at] ?? Number.NaN) / (burst[0] ?? Number.NaN));
      process.stdout.write(`| ${label} | ${(ms * 1000).toFixed(0)} | ${ratio.toFixed(2)} |\n`);
    }
  }
} finally {
  closeConnections();
  await Promise.all([...bare, gatehouse].map((target) => target.stop()));
  for (const one of [folder, home]) rmSync(one, { recursive: true, force: true });
}
