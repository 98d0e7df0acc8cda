// User codes are short, so guessing them must be slow (RFC 8628 5.1). Every code typed is counted before it is looked
// up, so that guesses in parallel cannot slip past, and given back unless it was wrong.
import type { Context } from '../http/context.ts';
import { tooManyRequests } from '../http/errors.ts';

export interface DeviceGuesses {
  begin(ctx: Context): Promise<void>;
  /** The code of this request is not known. */
  wrong(ctx: Context): void;
  end(ctx: Context): Promise<void>;
}

export interface DeviceGuessesNeeds {
  consume(address: string): Promise<{ allowed: boolean; retryAfterSeconds: number }>;
  refund(address: string): Promise<void>;
}

export function createDeviceGuesses({ consume, refund }: DeviceGuessesNeeds): DeviceGuesses {
  const wrong = new WeakSet<object>();
  return {
    async begin({ state }) {
      const verdict = await consume(state.request.address);
      if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds);
    },
    wrong: ({ req }) => void wrong.add(req),
    async end({ req, state }) {
      if (!wrong.has(req)) await refund(state.request.address);
    },
  };
}
