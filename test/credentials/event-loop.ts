// How responsive the process stays during some work. A count does not depend on how busy the machine is, as a time does.
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Turns of the event loop until `work` is done: a handful if it blocks the loop, thousands if it runs in another thread. */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  let turns = 0;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await nextTurn();
    turns += 1;
  }
  await done;
  return turns;
}

/** The CPU that this thread has used, in milliseconds; that of all threads of the process where the system does not tell. */
function cpuMilliseconds(): number {
  if (process.platform === 'linux')
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ', 1)[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The longest turn of the event loop, in milliseconds of CPU, which other processes do not take away; and the result. */
export async function longestTurn<T>(work: () => Promise<T>): Promise<{ longest: number; result: T }> {
  let longest = 0;
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      const before = cpuMilliseconds();
      await nextTurn();
      longest = Math.max(longest, cpuMilliseconds() - before);
    }
  };
  const watching = watch();
  const result = await work();
  isOver = true;
  await watching;
  return { longest, result };
}
