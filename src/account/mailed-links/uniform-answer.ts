// The answer to a form that must not reveal whether an account exists: the same page for every name, after a fixed
// time. The work of the request is the same for every name; the fixed time hides remaining differences.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../base/http/context.ts';
import { tooManyRequests } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { assertMayStore } from '../../base/storage/request-scope.ts';
import type { PolicyName } from '../../people/rate-limits/policies.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';

/**
 * Counts the request under `policy` by its address (429 when there are too many), does `work`, and redirects to `page`
 * when the fixed time is over, unless `work` wrote another answer.
 */
export async function answerUniformly(
  ctx: Context,
  { rateLimits, policy }: { rateLimits: RateLimits; policy: PolicyName },
  { work, page }: { work: () => Promise<void>; page: string },
): Promise<void> {
  assertMayStore();
  const fixedTime = sleep(limits.uniformAnswer.milliseconds);
  const verdict = await rateLimits.consume(policy, { address: ctx.state.request.address });
  if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds);
  await work();
  await fixedTime;
  if (ctx.body) return;
  ctx.set('Cache-Control', 'no-store');
  ctx.status = 303;
  ctx.redirect(page);
}
