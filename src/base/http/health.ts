// Routes for operators: liveness, readiness and metrics. They respond under any host name.
import { setTimeout as sleep } from 'node:timers/promises';
import Router from '@koa/router';
import { safeEqual } from '../platform/random.ts';
import { bearerOf } from './authorization-header.ts';
import type { Context, Extras, State } from './context.ts';
import { AppError, unauthorized } from './errors.ts';

/** What a check found: a reason or a warning is a few words without secrets, because anyone may read them. */
export type CheckResult = boolean | { passed: boolean; reason?: string; warning?: string };
export type Check = () => Promise<CheckResult>;

/** It serves requests in all three, and gets new ones from a balancer only while it is serving. */
export type Phase = 'starting' | 'serving' | 'draining';

/** A balancer waits a few seconds for the answer. */
const ANSWER_MS = 3000;

export function healthRoutes({
  checks,
  phase,
}: {
  /** Each check throws, or returns false, when this instance should get no traffic. */
  checks: Record<string, Check>;
  phase(): Phase;
}): Router<State, Extras> {
  const router = new Router<State, Extras>();

  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });

  router.get('/readyz', async (ctx) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await resultOf(check)] as const),
    );
    const now = phase();
    const isReady = now === 'serving' && results.every(([, { passed }]) => passed);
    const reasons: Record<string, string> = {};
    const warnings: Record<string, string> = {};
    for (const [name, { reason, warning }] of results) {
      if (reason !== undefined) reasons[name] = reason;
      if (warning !== undefined) warnings[name] = warning;
    }
    ctx.status = isReady ? 200 : 503;
    if (!isReady) ctx.set(new AppError('unavailable').headers);
    ctx.body = {
      status: now === 'serving' ? (isReady ? 'ready' : 'not ready') : now,
      checks: Object.fromEntries(results.map(([name, result]) => [name, wordFor(result)])),
      ...(Object.keys(reasons).length > 0 && { reasons }),
      ...(Object.keys(warnings).length > 0 && { warnings }),
    };
  });

  return router;
}

const wordFor = ({ passed, warning }: Exclude<CheckResult, boolean>) =>
  passed ? (warning === undefined ? 'ok' : 'warning') : 'failed';

async function resultOf(check: Check): Promise<Exclude<CheckResult, boolean>> {
  const end = new AbortController();
  const tooLate = sleep(ANSWER_MS, { passed: false, reason: 'no answer' }, { signal: end.signal });
  const result = await Promise.race([check(), tooLate]).catch(() => false);
  end.abort();
  tooLate.catch(() => {}); // aborted
  return typeof result === 'boolean' ? { passed: result } : result;
}

/** GET /metrics, on a port of its own, or with a bearer token on the public port; without the right token 401 (RFC 6750 3). */
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
