// Limits the SAML messages of one IP address: each is parsed, verified and stored.
import type { Middleware } from '../../../base/http/context.ts';
import { tooManyRequests } from '../../../base/http/errors.ts';
import type { RateLimits } from '../../../people/rate-limits/rate-limits.ts';

/** For every route that receives a message, before its body is read. Throws 429 too_many_requests. */
export function samlRateLimit({ rateLimits }: { rateLimits: RateLimits }): Middleware {
  return async (ctx, next) => {
    const { allowed, retryAfterSeconds } = await rateLimits.consume('saml:address', {
      address: ctx.state.request.address,
    });
    if (!allowed) throw tooManyRequests(retryAfterSeconds);
    return next();
  };
}
