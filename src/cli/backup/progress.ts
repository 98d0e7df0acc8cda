// Prints how far a long copy is, at most every five seconds.

import { plural } from '../../base/platform/plural.ts';
import type { Progress } from '../../base/storage/backup/head.ts';
import type { Io } from '../io.ts';

const EVERY_MILLISECONDS = 5000;

/** A callback that prints a line for a percentage, or for a number of rows where the total is not known. */
export function progressPrinter(io: Io): (progress: Progress) => void {
  let last = performance.now();
  return ({ done, total }) => {
    if (performance.now() - last < EVERY_MILLISECONDS) return;
    last = performance.now();
    io.note(total > 0 ? `  ${Math.floor((done / total) * 100)} %` : `  ${plural(done, 'row')}`);
  };
}
