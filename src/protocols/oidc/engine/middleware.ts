// Koa middleware around the engine: the checks and patches before it, the engine itself, the patches after it.
//
// A code at /token: protocols/oidc/rate-limits.ts surrounds the engine, which loads the client (protocols/oidc/store/clients.ts) and
// authenticates it (protocols/oidc/patches/clients.ts). protocols/oidc/store/adapter.ts finds the code by its hash and consumes it once.
// protocols/oidc/claims/find-account.ts loads the account, if applications/access-decision.ts still allows it, and its claims. The engine signs with the
// keys of core/keys/keyring.ts; protocols/oidc/engine/events.ts audits. An error becomes a rejection (protocols/oidc/engine/events.ts).

import { setTimeout as sleep } from 'node:timers/promises';
import compose from 'koa-compose';
import type { Context, Middleware } from '../../../base/http/context.ts';
import { badRequest, methodNotAllowed } from '../../../base/http/errors.ts';
import { runInChildSpan } from '../../../base/platform/tracing.ts';
import { shareReads } from '../../../base/storage/request-reads.ts';
import { t } from '../../../base/texts/text.ts';
import type { OidcServices } from '../oidc-services.ts';
import { requestPatches, responsePatches } from '../patches.ts';
import { createOpenRegistration } from '../registration.ts';
import type { ClientSource } from '../store/clients.ts';
import { engineContext } from './app-context.ts';
import { answerWithDatabase } from './events.ts';
import type { Provider } from './library.ts';
import { recordProfileOfToken } from './profile-checks.ts';
import type { Engine } from './provider.ts';
import { createPublicDocuments, createPublished, openRegistrationToBrowsers } from './public-documents.ts';
import { fitsIntoAnswer } from './requests/request-checks.ts';
import { answerMethod, engineRoute, routes } from './routes.ts';

/** How long the response to a failed refresh waits for the retry time to be stored. The storing goes on afterwards. */
const RESTART_MS = 1000;

/** Routes that read the directory and never change it. */
const READS_DIRECTORY = new Set<string>([
  routes.authorization,
  routes.token,
  routes.userinfo,
  routes.introspection,
  routes.revocation,
  routes.pushed_authorization_request,
]);

/** Serves the engine's routes; passes every other request to the next middleware. `answerRoute` has the steps of a request. */
export function createEngineMiddleware(services: OidcServices, engine: Engine): Middleware {
  const { clients, clientLimits, deviceGuesses, refreshTokenRetries, rejections, cookies, sql } = services;
  const published = createPublished(services);
  const openRegistration = createOpenRegistration(services);
  const documents = createPublicDocuments({ provider: engine.current, published });
  const handlerOf = composeOnce();

  /** Runs the engine between the rate limits. */
  async function runEngine(ctx: Context, provider: Provider): Promise<void> {
    await deviceGuesses.begin(ctx);
    if (ctx.method === 'POST' && ctx.path === routes.registration) {
      await clientLimits.admitRegistration(ctx);
      await openRegistration(ctx);
    }
    try {
      await runInChildSpan(`oidc ${ctx.state.route}`, {}, async (span) => {
        await handlerOf(provider)(ctx, rejectMethod);
        span?.set({ 'gatehouse.client_id': engineContext(ctx)?.client?.clientId });
      });
    } finally {
      // Also of a request that ends on an error page.
      await clientLimits.end(ctx);
    }
    await deviceGuesses.end(ctx);
  }

  return async (ctx, next) => {
    const route = engineRoute(ctx.path);
    if (!route) return next();
    ctx.state.route = route;
    if (route === routes.registration && (await published()).registration) openRegistrationToBrowsers(ctx);
    if (answerMethod(ctx, route)) return;
    let isAnswered = false;
    try {
      await answerWithDatabase(ctx, async () => {
        await answerRoute(ctx, route);
        await sql.commitWaiting();
      });
      isAnswered = ctx.status < 500;
    } finally {
      if (route === routes.token) await watchRefresh(ctx, isAnswered);
    }
  };

  /**
   * A client that did not receive the response to its refresh sends the same token again. When the response is an error, it does so at once and
   * possibly to another instance, so the retry time is stored before that response is sent.
   */
  async function watchRefresh(ctx: Context, isAnswered: boolean): Promise<void> {
    const token = engineContext(ctx)?.entities.RotatedRefreshToken?.jti;
    if (token === undefined) return;
    const restartRetryTime = () =>
      refreshTokenRetries
        .restartRetryTime(token)
        .catch((error: unknown) =>
          ctx.state.log().warn({ err: error }, 'the time for a retry of a refresh was not stored'),
        );
    if (isAnswered) {
      ctx.res.once('close', () => {
        if (!ctx.res.writableFinished) void restartRetryTime();
      });
      return;
    }
    await Promise.race([restartRetryTime(), sleep(RESTART_MS, undefined, { ref: false })]);
  }

  async function answerRoute(ctx: Context, route: string): Promise<void> {
    if (await documents.serve(ctx)) return;
    const provider = engine.current();
    for (const { apply } of requestPatches) if (await apply(ctx, { route, provider, cookies })) return;
    if (route === routes.authorization) await guardAuthorization(ctx, clients);
    if (route === routes.userinfo) await recordProfileOfToken(ctx, provider);
    const contentSecurityPolicy = ctx.response.get('Content-Security-Policy');

    if (READS_DIRECTORY.has(route)) shareReads();
    await runEngine(ctx, provider);

    const rejectionCode = rejections.codeOf(ctx.state.request);
    const response = { route, contentSecurityPolicy, rejectionCode, clients, published };
    for (const { apply } of responsePatches) await apply(ctx, response);
    await documents.store(ctx);
  }
}

/** The engine's middlewares as one; composed again only after a change of keys, which creates a new Provider. */
function composeOnce() {
  let composed: { provider: Provider; handler: Middleware } | undefined;
  return (provider: Provider): Middleware => {
    if (composed?.provider !== provider) {
      composed = { provider, handler: compose(provider.middleware as never) as Middleware };
    }
    return composed.handler;
  };
}

/** The engine calls `next` for a path of its own without a handler for the method, so the method is wrong. */
async function rejectMethod(): Promise<never> {
  throw methodNotAllowed();
}

// Checks of this server before the engine sees a request.

/** Rejects an authorization request that cannot be answered. Throws bad_request. */
async function guardAuthorization(ctx: Context, clients: ClientSource): Promise<void> {
  if (!fitsIntoAnswer(ctx.query))
    throw badRequest('bad_request', { message: t('app-error.too-long'), advice: t('app-error.shorter-state') });
  // The AuthnRequest behind it is bound to this browser by a cookie, which the redirect to here has set.
  if (ctx.query.response_mode === 'saml' && ctx.get('Cookie') === '') throw badRequest('cookies_blocked');
  // A service provider is answered by SAML or on a page. With any other response mode the engine would redirect errors to the
  // assertion consumer service URL, in a form that a service provider does not understand.
  const { client_id: clientId, response_mode: mode } = ctx.query;
  if (typeof clientId !== 'string' || mode === 'saml') return;
  if ((await clients.applicationOf(clientId))?.protocol !== 'saml') return;
  throw badRequest('bad_request', { message: t('app-error.only-saml') });
}
