// Replay protection: the IDs of accepted messages, so that no instance accepts one twice (SAML Profiles 4.1.4.5).

import type { Base } from '../../../base/base.ts';
import type { Middleware } from '../../../base/http/context.ts';
import { tooManyRequests } from '../../../base/http/errors.ts';
import { limits } from '../../../base/limits.ts';
import { sha256 } from '../../../base/platform/random.ts';
import { isFirstUse } from '../../../base/storage/seen-ids.ts';
import type { RateLimits } from '../../../people/rate-limits/rate-limits.ts';
import { SamlError } from '../xml/errors.ts';

export function createSeenMessages({ sql, now }: Base) {
  return {
    /** Stores the ID. Throws SamlError when this issuer used it before. */
    async assertNew(issuer: string, messageId: string): Promise<void> {
      const id = sha256(`${issuer}\0${messageId}`);
      // Longer than a message is accepted: its age, the clock skew on both sides, and room for a slow clock.
      const expiresAt = new Date(now().getTime() + 4 * limits.saml.requestAgeSeconds * 1000);
      if (!(await isFirstUse(sql, id, expiresAt))) throw new SamlError('replayed', { received: messageId });
    },
  };
}

// Limits the SAML messages of one IP address: each is parsed, verified and stored.

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
