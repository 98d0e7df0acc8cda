// Routes for operators: liveness and readiness. They respond under any host name.
import Router from '@koa/router';
import type { Extras, State } from './context.ts';

export interface HealthDependencies {
  /** Each check throws, or returns false, when this instance should get no traffic. */
  checks: Record<string, () => Promise<boolean>>;
  isDraining(): boolean;
}

export function healthRoutes({ checks, isDraining }: HealthDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>();

  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });

  router.get('/readyz', async (ctx) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await check().catch(() => false)] as const),
    );
    const isReady = !isDraining() && results.every(([, passed]) => passed);
    ctx.status = isReady ? 200 : 503;
    ctx.body = {
      status: isDraining() ? 'draining' : isReady ? 'ready' : 'not ready',
      checks: Object.fromEntries(results.map(([name, passed]) => [name, passed ? 'ok' : 'failed'])),
    };
  });

  return router;
}
