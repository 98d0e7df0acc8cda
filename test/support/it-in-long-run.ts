import { describe, it } from 'vitest';
import { isLongRun } from './long-run.ts';

/** A test of a kind of which `npm test` has a cheaper one: it runs in `npm run test:long` alone. */
export const itInLongRun = it.runIf(isLongRun);

/** The same for several tests. */
export const describeInLongRun = describe.runIf(isLongRun);
