// The HTTP application: the order of its middlewares, top to bottom, each with its reason. It never listens.
import type Router from '@koa/router';
import { createAssets } from '../http/assets.ts';
import type { Application, Context, Extras, Middleware, State } from '../http/context.ts';
import { type CookieKeys, createKoa } from '../http/context.ts';
import type { Csrf } from '../http/csrf.ts';
import { deniedNetworks } from '../http/denied-networks.ts';
import { errorHandler } from '../http/error-handler.ts';
import { hostGuard } from '../http/host-guard.ts';
import { createRenderer, rendering } from '../http/render.ts';
import { requestContext } from '../http/request-context.ts';
import { securityHeaders } from '../http/security-headers.ts';
import type { Metrics } from '../platform/metrics.ts';
import { addressKey } from '../rate-limits/sign-in-guard.ts';
import type { Services } from '../services.ts';

export interface AppNeeds {
  services: Services;
  metrics: Metrics;
  cookieKeys: CookieKeys;
  csrf: Csrf;
  viewsDir: string;
  /** Routers and the engine, in the order in which they are asked. */
  routes: Middleware[];
}

export function createApp({ services, metrics, cookieKeys, csrf, viewsDir, routes }: AppNeeds): Application {
  const { audit, config, logger, rateLimits, settings } = services;
  const assets = createAssets({ dir: `${viewsDir}/assets`, reload: !config.production });
  const render = createRenderer({ viewsDir, production: config.production, assets });
  const app = createKoa(cookieKeys, logger);
  // Who asks, under which request id; everything after it can log.
  app.use(
    requestContext({
      logger,
      trustProxy: config.trustProxy,
      quietPaths: ['/healthz', '/readyz', '/metrics'],
      observe({ method, route, status, seconds, problem }) {
        metrics.requests.observe({ method, route, status: String(status) }, seconds);
        if (problem) metrics.requestErrors.inc({ code: problem });
      },
    }),
  );
  // Before anything can answer: an error page needs them, and the engine adds the hashes of its scripts to them.
  app.use(securityHeaders());
  // Turns whatever goes wrong below into an answer.
  app.use(errorHandler({ render }));
  // Nothing below is steered by a Host or X-Forwarded header.
  app.use(hostGuard({ issuerUrl: config.issuerUrl, trustProxy: config.trustProxy }));
  app.use(assets.serve);
  // Before any route; after the style sheet, so that the page that says so is one.
  app.use(
    deniedNetworks({
      networks: () => settings.latest().denied_networks,
      async refused(request) {
        // Once an hour: an address that is shut out must not fill the audit log.
        if (!(await rateLimits.consume('denied:address', addressKey(request.address))).allowed) return;
        await audit.record({ type: 'address.denied', outcome: 'failure', reason: 'denied_network', request });
      },
    }),
  );
  app.use(csrf.tokens);
  app.use(rendering({ render }));
  for (const route of routes) app.use(route);
  return app;
}

/** A router as a middleware that also answers the methods it does not know (405). */
export function mounted(router: Router<State, Extras>): Middleware {
  const routes = router.routes() as unknown as Middleware;
  const methods = router.allowedMethods() as unknown as Middleware;
  return (ctx: Context, next) => routes(ctx, () => methods(ctx, next));
}
