// Prints the size of V8's space for young objects in MB: after the limit is set, after a collection in an idle process, and after work.
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { limitMemory } from '../../src/base/platform/memory.ts';

const WORK_MS = 2000;

const youngMb = () =>
  (getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0) / 2 ** 20;

/** Requests, as the collector sees them: most objects die at once, and a few live for a while. */
async function work(): Promise<number> {
  const until = performance.now() + WORK_MS;
  const living: number[][][] = [];
  let largest = 0;
  for (let turn = 0; performance.now() < until; turn += 1) {
    living[turn % 20] = Array.from({ length: 2000 }, (_, index) => [turn, index]);
    largest = Math.max(largest, youngMb());
    await sleep(1);
  }
  return largest;
}

limitMemory();
const limited = youngMb();
setFlagsFromString('--expose-gc');
setFlagsFromString('--gc-memory-reducer-start-delay-ms=200');
// A process that allocates little after a collection is idle for V8.
(runInNewContext('gc') as () => void)();
for (let turn = 0; turn < 100 && youngMb() >= limited; turn += 1) await sleep(100);
const idle = youngMb();
process.stdout.write(JSON.stringify({ limited, idle, atWork: await work(), afterWork: youngMb() }));
