// `npm run test:long`: what takes hours, or software that npm does not have. One after the other; a peer or a suite that is not here is
// skipped. Ends with 1 when one of them fails.
import { spawnSync } from 'node:child_process';
import { createSuite } from './conformance/suite.ts';

const isSuiteThere = await createSuite('https://localhost:8443', undefined)
  .about()
  .then(
    () => true,
    () => false,
  );
const chaos = (database: string) => ['tsx', 'test/faults/chaos.ts', database];
const runs: string[][] = [
  ['vitest', 'run'],
  chaos('sqlite'),
  chaos('postgresql'),
  ['tsx', 'test/peers/main.ts'],
  ['tsx', 'test/peers/products.ts'],
  ['tsx', 'test/peers/slapd.ts'],
  ['tsx', 'test/peers/samba.ts'],
  ...(isSuiteThere ? [['tsx', 'test/conformance/main.ts']] : []),
];

const results = runs.map((run) => {
  const began = performance.now();
  const { status } = spawnSync('npx', run, { stdio: 'inherit', env: { ...process.env, LONG_RUN: '1' } });
  return { status, line: `${run.join(' ')}: ${status}, ${((performance.now() - began) / 60_000).toFixed(1)} minutes` };
});
process.stdout.write(`${results.map(({ line }) => line).join('\n')}\n`);
if (results.some(({ status }) => status !== 0)) process.exitCode = 1;
