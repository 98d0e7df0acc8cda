// Routes for operators: liveness and readiness. They respond under any host name.
import { setTimeout as sleep } from 'node:timers/promises';
import Router from '@koa/router';
import type { Extras, State } from './context.ts';
import { AppError } from './errors.ts';

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
    const only = (field: 'reason' | 'warning') =>
      Object.fromEntries(results.flatMap(([name, { [field]: text }]) => (text === undefined ? [] : [[name, text]])));
    const [reasons, warnings] = [only('reason'), only('warning')];
    ctx.status = isReady ? 200 : 503;
    if (!isReady) ctx.set(new AppError('unavailable').headers);
    ctx.body = {
      status: now !== 'serving' ? now : isReady ? 'ready' : 'not ready',
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
