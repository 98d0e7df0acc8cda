// The engine's error for a rate limit: 429 with Retry-After.
import type { Context } from '../../../base/http/context.ts';
import { errors } from '../engine/library.ts';

export interface AttemptVerdict {
  allowed: boolean;
  retryAfterSeconds: number;
}

/** Sets Retry-After and throws TooManyAttempts unless allowed. */
export function rejectUnlessAllowed(ctx: Context, { allowed, retryAfterSeconds }: AttemptVerdict): void {
  if (allowed) return;
  ctx.set('Retry-After', String(retryAfterSeconds));
  throw new TooManyAttempts(retryAfterSeconds);
}

/** 429 in the form of RFC 6749 5.2, which has no error code for rate limits. */
export class TooManyAttempts extends errors.CustomOIDCProviderError {
  override statusCode = 429;
  override status = 429;
  /** At /authorize the error is displayed on a page, because an application that receives it might retry at once. */
  override allow_redirect = false;
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('temporarily_unavailable', 'too many attempts; try again after the time that Retry-After says');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
