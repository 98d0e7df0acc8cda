// POST /password-strength: estimates a new password while the user types it. It only helps the user; the form that sets
// the password checks it again. Nothing is stored or logged.

import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, Middleware, State } from '../../base/http/context.ts';
import { tooManyRequests } from '../../base/http/errors.ts';
import { parseJson } from '../../base/http/input.ts';
import { sentences, t } from '../../base/texts/text.ts';
import type { Strength, StrengthMeter } from '../../people/credentials/strength.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';

export interface StrengthRoutesDependencies {
  /** Not the meter that checks new passwords: flooding this one must not delay that one. */
  strengthMeter: StrengthMeter;
  /** Names of this server, which are easy to guess in a password for it. */
  serviceNames(): readonly string[];
  rateLimits: RateLimits;
  checkCsrf: Middleware;
}

const body = z.object({
  password: z.string().min(1).max(4096),
  known: z.array(z.string().max(254)).max(5).default([]),
  missing: z.number().int().min(0).max(256).default(0),
});

export function strengthRoutes({ strengthMeter, serviceNames, rateLimits, checkCsrf }: StrengthRoutesDependencies) {
  const router = new Router<State, Extras>();

  router.post('/password-strength', checkCsrf, async (ctx) => {
    const verdict = await rateLimits.consume('strength:address', { address: ctx.state.request.address });
    if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds);
    const { password, known, missing } = await parseJson(ctx, body);
    ctx.set('Cache-Control', 'no-store');
    const strength = await strengthMeter.estimate(password, [...known, ...serviceNames()]);
    // However hard to guess: what is too short is not accepted.
    const score = missing > 0 ? t('strength.missing', { count: missing }) : t(`strength.${keyOf(strength.label)}`);
    const answer = { ...strength, text: sentences([score, ...strength.advice.slice(0, 1)]) };
    ctx.body = ctx.state.inWords(() => JSON.stringify(answer));
    ctx.type = 'json';
  });

  return router;
}

const keyOf = (label: Strength['label']) => (label === 'very weak' ? 'very-weak' : label);
