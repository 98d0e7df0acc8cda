// Builds the protection against brute force: rate limits, lockout, CAPTCHA and the limits of mail.
import type { Clock } from '../../base/platform/clock.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { Db } from '../../base/storage/database.ts';
import type { Sql } from '../../base/storage/statements.ts';
import { createAttemptCounters } from './attempt-counters.ts';
import { createCaptcha } from './captcha.ts';
import { createDirectoryBudget } from './directory-budget.ts';
import { createLockout } from './lockout.ts';
import { createMailLimits, type MailLimitsDependencies } from './mail-limits.ts';
import { createRateLimits } from './rate-limits.ts';
import { createSignInQueue } from './sign-in-queue.ts';
import { createStorageBudget } from './storage-budget.ts';

export interface LimitsDependencies extends Pick<MailLimitsDependencies, 'knownBrowsers'> {
  db: Db;
  sql: Sql;
  now: Clock;
  vault: Vault;
  /** The setting `rate_limits`. */
  isEnabled(): boolean;
}

export function createLimits({ db, sql, now, vault, isEnabled, knownBrowsers }: LimitsDependencies) {
  const rateLimits = createRateLimits({ db, sql, now, isEnabled });
  return {
    rateLimits,
    storageBudget: createStorageBudget({ rateLimits, now, isEnabled }),
    lockout: createLockout({
      rateLimits,
      counters: createAttemptCounters({ db, sql, now, isEnabled }),
      queue: createSignInQueue(),
    }),
    directoryBudget: createDirectoryBudget({ db, sql, now, isEnabled }),
    captcha: createCaptcha({ sql, vault, now, rateLimits }),
    mailLimits: createMailLimits({ rateLimits, knownBrowsers }),
  };
}
