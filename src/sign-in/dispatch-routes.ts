// GET /signin/:uid, the dispatcher: shows the page of the current step, sends the browser to an upstream, or returns to the OIDC engine after the last
// one. POST cancel returns to the application.
import Router from '@koa/router';
import type { Extras, Middleware, State } from '../base/http/context.ts';
import type { Attempts } from './attempts.ts';
import type { UpstreamSignIns } from './first-factor/upstream.ts';
import { namedConnection, sendStepUp, sendUpstream } from './first-factor/upstream-routes.ts';
import type { Flow, StepContext } from './flow.ts';
import type { Interactions } from './interactions.ts';
import type { StepPages } from './step-pages.ts';

export interface DispatchRoutesDependencies {
  flow: Flow;
  pages: StepPages;
  interactions: Interactions;
  attempts: Attempts;
  upstream: UpstreamSignIns;
  /** Rejects forms from other sites (CSRF). */
  checkCsrf: Middleware;
}

export function dispatchRoutes(dependencies: DispatchRoutesDependencies): Router<State, Extras> {
  const { flow, pages, interactions, attempts, upstream, checkCsrf } = dependencies;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });

  router.get('/', async (ctx: StepContext) => {
    const current = await flow.open(ctx);
    if (await flow.hasGoneOn(ctx, current)) return;
    if (current.step === 'done') return flow.finish(ctx, current);
    if (current.step === 'upstream') return sendStepUp({ attempts, upstream }, ctx, current);
    const connection = current.step === 'identify' ? await namedConnection(upstream, current) : undefined;
    if (connection) return sendUpstream({ attempts, upstream }, ctx, current, connection);
    await pages.show(ctx, current);
  });

  // Asked by the page when it becomes visible again.
  router.get('/changed', async (ctx: StepContext) => {
    const current = await flow.open(ctx);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { changed: current.changedSession !== undefined || current.interaction.result !== undefined };
  });

  router.post('/cancel', checkCsrf, async (ctx: StepContext) => {
    const { attempt, changedSession, interaction } = await flow.open(ctx);
    if (changedSession) await interactions.forgetSession(interaction);
    await attempts.remove(attempt.uid);
    await interactions.deny(ctx, 'the user canceled the sign-in');
  });

  return router;
}
