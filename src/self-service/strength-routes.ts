// POST /password-strength: how good a new password is, while it is typed (seed 5.5 policy 3). It helps and blocks nothing;
// the form judges by itself when it is sent. Nothing is kept or logged.
import Router from '@koa/router';
import { z } from 'zod';
import type { StrengthMeter } from '../credentials/strength.ts';
import type { Extras, Middleware, State } from '../http/context.ts';
import { tooManyRequests } from '../http/errors.ts';
import { parseJson } from '../http/input.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import { addressKey } from '../rate-limits/sign-in-guard.ts';

export interface StrengthRoutesNeeds {
  /** A meter of its own: whoever floods it must not hold up the check of passwords that are set. */
  meter: Pick<StrengthMeter, 'estimate'>;
  /** The product and the host, which people like to put into passwords for them. */
  serviceNames: readonly string[];
  rateLimits: Pick<RateLimits, 'consume'>;
  protect: Middleware;
}

const body = z.object({
  password: z.string().min(1).max(4096),
  known: z.array(z.string().max(254)).max(5).default([]),
});

export function strengthRoutes({ meter, serviceNames, rateLimits, protect }: StrengthRoutesNeeds) {
  const router = new Router<State, Extras>();

  router.post('/password-strength', protect, async (ctx) => {
    const verdict = await rateLimits.consume('strength:address', addressKey(ctx.state.request.address));
    if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds);
    const { password, known } = await parseJson(ctx, body);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = await meter.estimate(password, [...known, ...serviceNames]);
  });

  return router;
}
