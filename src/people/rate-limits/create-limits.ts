// Builds the protection against brute force: rate limits, lockout, CAPTCHA and the limits of mail.
import type { Core } from '../../core/core.ts';
import { createAttemptCounters } from './attempt-counters.ts';
import { createCaptcha } from './captcha.ts';
import { createDirectoryBudget } from './directory-budget.ts';
import { createLockout } from './lockout.ts';
import { createMailLimits, type KnownBrowserLookup } from './mail-limits.ts';
import { createRateLimits } from './rate-limits.ts';
import { createSignInQueue } from './sign-in-queue.ts';
import { createStorageBudget } from './storage-budget.ts';

export function createLimits(core: Core, knownBrowsers: KnownBrowserLookup) {
  const isEnabled = () => core.settings.latest().rate_limits;
  const rateLimits = createRateLimits({ ...core, isEnabled });
  return {
    rateLimits,
    storageBudget: createStorageBudget({ ...core, rateLimits, isEnabled }),
    lockout: createLockout({
      rateLimits,
      counters: createAttemptCounters({ ...core, isEnabled }),
      queue: createSignInQueue(),
    }),
    directoryBudget: createDirectoryBudget({ ...core, isEnabled }),
    captcha: createCaptcha({ ...core, rateLimits }),
    mailLimits: createMailLimits(rateLimits, knownBrowsers),
  };
}
