// How many SAML messages one address may send: each is parsed, may be verified, and leaves rows behind.
import type { Middleware } from '../http/context.ts';
import { tooManyRequests } from '../http/errors.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import { addressKey } from '../rate-limits/sign-in-guard.ts';

/** In front of every route that takes a message, before its body is read. */
export function throttle({ rateLimits }: { rateLimits: Pick<RateLimits, 'consume'> }): Middleware {
  return async (ctx, next) => {
    const { allowed, retryAfterSeconds } = await rateLimits.consume(
      'saml:address',
      addressKey(ctx.state.request.address),
    );
    if (!allowed) throw tooManyRequests(retryAfterSeconds);
    return next();
  };
}
