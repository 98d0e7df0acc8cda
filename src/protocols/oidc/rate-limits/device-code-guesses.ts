// User codes of the device flow are short, so guessing them must be slow (RFC 8628 5.1). Each submitted code is counted
// before it is looked up, so that parallel guesses are counted too, and refunded unless it was unknown.
import type { Context } from '../../../base/http/context.ts';
import { tooManyRequests } from '../../../base/http/errors.ts';
import { routes } from '../engine/configuration.ts';

export type DeviceGuesses = ReturnType<typeof createDeviceGuesses>;

export function createDeviceGuesses({
  consume,
  refund,
}: {
  consume(address: string): Promise<{ allowed: boolean; retryAfterSeconds: number }>;
  refund(address: string): Promise<void>;
}) {
  const unknown = new WeakSet<object>();
  const isGuess = (ctx: Context) => ctx.method === 'POST' && ctx.path === routes.code_verification;
  async function count(address: string): Promise<void> {
    const verdict = await consume(address);
    if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds);
  }
  return {
    /**
     * Called before the engine. Returns undefined for requests that submit no user code; `end` does the same. Rejects with
     * too_many_requests.
     */
    begin: (ctx: Context): Promise<void> | undefined => (isGuess(ctx) ? count(ctx.state.request.address) : undefined),
    /** Records that the user code of this request is unknown. */
    markUnknown: ({ req }: Context): void => void unknown.add(req),
    /** Called after the engine. */
    end: (ctx: Context): Promise<void> | undefined =>
      isGuess(ctx) && !unknown.has(ctx.req) ? refund(ctx.state.request.address) : undefined,
  };
}
