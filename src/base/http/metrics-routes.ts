// The metrics as a route: on a port of its own, or with a bearer token on the public port.
import Router from '@koa/router';
import { safeEqual } from '../platform/random.ts';
import { bearerOf } from './authorization-header.ts';
import type { Context, Extras, State } from './context.ts';
import { unauthorized } from './errors.ts';

/** GET /metrics; without the right token 401 (RFC 6750 3). */
export function metricsRoutes({
  metrics,
  token,
}: {
  metrics: { contentType: string; render(): Promise<string> };
  /** The bearer token that a request needs; absent: none. */
  token: string | undefined;
}): Router<State, Extras> {
  const router = new Router<State, Extras>();

  router.get('/metrics', async (ctx) => {
    if (token !== undefined) assertToken(ctx, token);
    ctx.set('Cache-Control', 'no-store');
    ctx.type = metrics.contentType;
    ctx.body = await metrics.render();
  });

  return router;
}

function assertToken(ctx: Context, token: string): void {
  const sent = bearerOf(ctx);
  if (sent !== undefined && safeEqual(sent, token)) return;
  const error = sent === undefined ? '' : ', error="invalid_token"';
  throw unauthorized('invalid_token', { headers: { 'WWW-Authenticate': `Bearer realm="metrics"${error}` } });
}
