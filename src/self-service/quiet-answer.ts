// Forms that ask for a login or address and must not tell whether it has an account (seed 5.5 reset 5): one page for
// everybody, after the same time. The work itself is the same for every name (mail/outbox.ts, drafts); the fixed time
// hides what may be going on beside it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../http/context.ts';
import { tooManyRequests } from '../http/errors.ts';
import { limits } from '../limits.ts';
import type { PolicyName } from '../rate-limits/policies.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import { addressKey } from '../rate-limits/sign-in-guard.ts';

/** Counts the request, does `work`, and goes on to the same page, not before the fixed time is over. */
export async function answerQuietly(
  ctx: Context,
  { rateLimits, policy }: { rateLimits: Pick<RateLimits, 'consume'>; policy: PolicyName },
  { work, page }: { work: () => Promise<void>; page: string },
): Promise<void> {
  const over = sleep(limits.evenAnswer.milliseconds);
  const verdict = await rateLimits.consume(policy, addressKey(ctx.state.request.address));
  if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds);
  await work();
  await over;
  ctx.set('Cache-Control', 'no-store');
  ctx.status = 303;
  ctx.redirect(page);
}
