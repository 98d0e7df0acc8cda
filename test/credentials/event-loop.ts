// How responsive the process stays during some work. A count does not depend on how busy the machine is, as a time does.
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

/** The longest turn of the event loop, in milliseconds of this process' CPU, which other processes do not take away; and the result. */
export async function longestTurn<T>(work: () => Promise<T>): Promise<{ longest: number; result: T }> {
  let longest = 0;
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      const before = process.cpuUsage();
      await nextTurn();
      const { user, system } = process.cpuUsage(before);
      longest = Math.max(longest, (user + system) / 1000);
    }
  };
  const watching = watch();
  const result = await work();
  isOver = true;
  await watching;
  return { longest, result };
}
