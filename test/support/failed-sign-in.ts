// A failed sign-in without its pages, for tests of what follows from it.
import type { Lockout, PasswordAttempt } from '../../src/people/rate-limits/lockout.ts';

/** An attempt with a wrong password, counted like one from the sign-in page. */
export const failSignIn = (lockout: Lockout, attempt: PasswordAttempt) =>
  lockout.attempt(attempt, async () => ({ isRight: false }));
