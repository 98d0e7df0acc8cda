// The Koa application: its middlewares in order, each with the reason for its position. It does not listen.
import type Router from '@koa/router';
import { serveBrand } from '../applications/brand/serve.ts';
import { PICTURE_PATH, servePictures } from '../applications/pictures/pictures.ts';
import {
  type Application,
  type Context,
  createKoa,
  type Extras,
  type Middleware,
  type State,
} from '../base/http/context.ts';
import { errorHandler } from '../base/http/error-handler.ts';
import { deniedNetworks, hostGuard } from '../base/http/host-guard.ts';
import type { Http } from '../base/http/http.ts';
import { createAssets } from '../base/http/pages/assets.ts';
import { languageChoice } from '../base/http/pages/language.ts';
import { createRenderer, rendering } from '../base/http/pages/render.ts';
import { PERSON_PICTURE_PATH } from '../base/http/pages/tokens.ts';
import { requestContext } from '../base/http/request-context.ts';
import { createRequestSpans } from '../base/http/request-span.ts';
import { securityHeaders } from '../base/http/security-headers.ts';
import { assetDirs } from '../base/platform/package.ts';
import type { Tracing } from '../base/platform/tracing.ts';
import { inRequestScope } from '../base/storage/request-scope.ts';
import { TooMuchStored } from '../base/storage/stored-size.ts';
import { offeredLanguages } from '../core/settings/value-schemas.ts';
import type { StorageBudget } from '../people/rate-limits/storage-budget.ts';
import { FORWARD_AUTH_PATH } from '../protocols/forward-auth/asked-request.ts';
import type { ForwardAuth } from '../protocols/forward-auth/forward-auth.ts';
import { engineSender } from '../protocols/oidc/engine/app-context.ts';
import { isForPrograms } from '../protocols/oidc/engine/routes.ts';
import type { Services } from './services.ts';

interface AppParts {
  services: Services;
  http: Http;
  viewsDir: string;
  /** Absent: no traces. */
  tracing: Tracing | undefined;
  /** Answers reverse proxies about websites, on any host. */
  forwardAuth: ForwardAuth;
  /** Routers and the engine, in the order in which they run. */
  routes: Middleware[];
}

const OPERATOR_PATHS = ['/healthz', '/readyz', '/metrics'];

export function createApp({ services, http, viewsDir, tracing, forwardAuth, routes }: AppParts): Application {
  const { cookieKeys, csrf, metrics } = http;
  const {
    audit,
    brand,
    brandImages,
    config,
    logger,
    personPictures,
    pictures,
    rateLimits,
    settings,
    sql,
    storageBudget,
    texts,
  } = services;
  const assets = createAssets({ dirs: assetDirs, reload: !config.production });
  const offered = () => offeredLanguages(settings.latest());
  const { production } = config;
  const render = createRenderer({ viewsDir, production, assets, brand: brand.current, offered, texts });
  // At most one entry an hour, so that a denied address cannot fill the audit log.
  const entriesOfDenied = rateLimits.remembered('denied:address');
  const rejectDenied = deniedNetworks({
    networks: () => settings.latest().denied_networks,
    async onRejected(request) {
      if (!(await entriesOfDenied.consume({ address: request.address })).allowed) return;
      await audit.record({ type: 'address.denied', outcome: 'failure', reason: 'denied_network', request });
    },
  });
  const app = createKoa(cookieKeys, logger);
  // Sets request id and address; everything after it can log.
  app.use(
    requestContext({
      logger,
      trustProxy: config.trustProxy,
      // A website asks about each of its requests.
      debugPaths: [...OPERATOR_PATHS, FORWARD_AUTH_PATH],
      spans: tracing && createRequestSpans({ ...config, tracing, untracedPaths: [...OPERATOR_PATHS, '/assets/'] }),
      observe({ method, route, status, seconds, code }) {
        metrics.requests.observe({ method, route, status: String(status) }, seconds);
        if (code) metrics.requestErrors.inc({ code });
      },
    }),
  );
  // What a request stores is charged to its sender, and its waits for the database share one time limit.
  app.use((ctx, next) =>
    inRequestScope({ isAnswered: () => ctx.headerSent, store: chargeFor(ctx, storageBudget) }, next),
  );
  // Before anything that renders a page.
  app.use(languageChoice({ cookies: http.cookies, offered, texts }));
  // Before anything can respond: error pages need them, and the engine adds the hashes of its scripts to them.
  app.use(securityHeaders());
  // Turns every error below into a response.
  app.use(errorHandler({ render, brandOf: brand.ofApplication, isOAuthPath: isForPrograms }));
  // The answer goes out when all that the request wrote is stored; an error of that is a response too.
  app.use(async (_ctx, next) => {
    try {
      await next();
    } finally {
      await sql.commitWaiting({ isLast: true });
    }
  });
  // Before the check of the host: some proxies ask with the host of the website.
  app.use(forwardAuth.answer(rejectDenied));
  // After it, nothing uses a Host or X-Forwarded header of the client.
  app.use(hostGuard({ issuerUrl: config.issuerUrl, trustProxy: config.trustProxy }));
  app.use(serveBrand(brandImages));
  app.use(servePictures(PICTURE_PATH, pictures.read));
  app.use(servePictures(PERSON_PICTURE_PATH, personPictures.read));
  app.use(assets.serve);
  // Before any route; after the assets, so that the error page has its style sheet.
  app.use(rejectDenied);
  app.use(csrf.tokens);
  app.use(rendering({ render, brandOf: brand.ofApplication }));
  for (const route of routes) app.use(route);
  return app;
}

/** Charges the rows of a request, and tells the client how long to wait when one is rejected. */
function chargeFor(ctx: Context, budget: StorageBudget): (table: string, bytes: number) => void {
  const charge = budget.forRequest(ctx.state.request.address, () => ctx.state.sender ?? engineSender(ctx));
  return (table, bytes) => {
    try {
      charge(table, bytes);
    } catch (error) {
      // Also for the engine, which writes some of its responses itself.
      if (error instanceof TooMuchStored && !ctx.headerSent) ctx.set('Retry-After', String(error.retryAfterSeconds));
      throw error;
    }
  };
}

/** A router as a middleware that also responds to unsupported methods (405). */
export function mounted(router: Router<State, Extras>): Middleware {
  const routes = router.routes() as unknown as Middleware;
  const methods = router.allowedMethods() as unknown as Middleware;
  return (ctx: Context, next) => routes(ctx, () => methods(ctx, next));
}
