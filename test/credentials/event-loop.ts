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
