// What stands between our application and the engine: which requests are the engine's, and the places where the
// protocol or its users want something else than the engine does by itself.
import compose from 'koa-compose';
import type { Context, Middleware } from '../http/context.ts';
import { badRequest, methodNotAllowed } from '../http/errors.ts';
import { readForm } from '../http/input.ts';
import type { Refusals } from '../refusals/refusals.ts';
import type { ClientLimits } from './client-limits.ts';
import type { ClientSource } from './clients.ts';
import { routes } from './configuration.ts';
import { hideFromPages, hideFromStrangers } from './cors.ts';
import type { DeviceGuesses } from './device-guesses.ts';
import { readEngineForm } from './engine-form.ts';
import {
  answerMethod,
  DEVICE_STEP,
  DISCOVERY,
  engineRoute,
  FOR_BROWSER_CLIENTS,
  FOR_PROGRAMS,
  PUBLIC_DOCUMENTS,
} from './engine-routes.ts';
import { nameForAsker, type PairwiseIdentifier } from './introspection.ts';
import type { Provider } from './library.ts';
import type { Engine } from './provider.ts';
import { createPublicDocuments } from './public-documents.ts';
import { withCode } from './refused.ts';

const OPEN_TO_POST = new Set<string>([routes.authorization, routes.end_session]);
const MAX_QUERY = 8 * 1024;

export interface EngineFrontNeeds {
  engine: Engine;
  clients: ClientSource;
  clientLimits: Pick<ClientLimits, 'begin' | 'end'>;
  deviceGuesses: DeviceGuesses;
  pairwiseIdentifier: PairwiseIdentifier;
  refusals: Pick<Refusals, 'known'>;
}

/** Serves the engine's routes; everything else goes on. */
export function engineFront({
  engine,
  clients,
  clientLimits,
  deviceGuesses,
  pairwiseIdentifier,
  refusals,
}: EngineFrontNeeds): Middleware {
  const documents = createPublicDocuments({ provider: engine.current });
  const engineOf = composedOnce();
  return async (ctx, next) => {
    const route = engineRoute(ctx.path);
    if (!route) return next();
    ctx.state.route = route;
    if (answerMethod(ctx, route)) return;
    const isDocument = PUBLIC_DOCUMENTS.has(ctx.path);
    if (isDocument && documents.serve(ctx)) return;
    if (ctx.method === 'POST' && OPEN_TO_POST.has(ctx.path)) return asGet(ctx);
    if (route === DEVICE_STEP) requireOwnStep(ctx, engine);
    if (isDeviceStep(ctx, route)) requireSession(ctx, engine);
    if (FOR_PROGRAMS.has(ctx.path) || route.startsWith(routes.registration))
      ctx.req.headers.accept = 'application/json';
    if (OPEN_TO_POST.has(ctx.path)) refuseOverlong(ctx.querystring);
    if (ctx.path === routes.authorization) await refuseOtherModes(ctx, clients);
    const policy = ctx.response.get('Content-Security-Policy');
    const isGuess = ctx.method === 'POST' && ctx.path === routes.code_verification;
    if (isGuess) await deviceGuesses.begin(ctx);
    await clientLimits.begin(ctx);

    await engineOf(engine.current())(ctx, unanswered);
    if (isGuess) await deviceGuesses.end(ctx);
    await clientLimits.end(ctx);
    if (ctx.state.goOnAt) ctx.redirect(ctx.state.goOnAt);
    if (FOR_BROWSER_CLIENTS.has(ctx.path)) await hideFromStrangers(ctx, clients.isRegisteredOrigin);
    else hideFromPages(ctx);
    if (ctx.path === routes.introspection) await nameForAsker(ctx, pairwiseIdentifier);
    adjust(ctx, route);
    nameRefusal(ctx, refusals);
    if (isDocument) documents.keep(ctx);
    dressForm(ctx, policy);
  };
}

/** The engine's middlewares as one, made anew only when a change of keys has made a new engine. */
function composedOnce() {
  let made: { provider: Provider; answer: Middleware } | undefined;
  return (provider: Provider): Middleware => {
    if (made?.provider !== provider) made = { provider, answer: compose(provider.middleware as never) as Middleware };
    return made.answer;
  };
}

/** The engine passes on what it has no handler for: the path is its own, so the method is wrong. */
async function unanswered(): Promise<never> {
  throw methodNotAllowed();
}

/**
 * OIDC Core 3.1.2.1 and RP-Initiated Logout want POST as well. A POST from another site comes without our SameSite=Lax
 * cookies, so it is answered with a redirect to the same request as a GET, which brings them.
 */
async function asGet(ctx: Context): Promise<void> {
  const fields = Object.entries(await readForm(ctx, { lists: ['resource'] }));
  const pairs = fields.flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  const parameters = new URLSearchParams(pairs).toString();
  refuseOverlong(parameters);
  ctx.status = 303;
  ctx.redirect(`${ctx.path}?${parameters}`);
}

/** What is sent back with the answer has to fit into the headers that browsers and proxies accept. */
function refuseOverlong(query: string): void {
  if (query.length <= MAX_QUERY) return;
  throw badRequest('bad_request', {
    message: 'The request of the application is too long.',
    advice: 'It should be pushed to the /par endpoint (RFC 9126).',
  });
}

/**
 * A SAML application is answered by SAML or on a page. The engine would send the errors of any other request to its
 * assertion consumer URL, in a form that nothing there understands.
 */
async function refuseOtherModes(ctx: Context, clients: ClientSource): Promise<void> {
  const { client_id: clientId, response_mode: mode } = ctx.query;
  if (typeof clientId !== 'string' || mode === 'saml') return;
  if ((await clients.facts(clientId))?.protocol !== 'saml') return;
  throw badRequest('bad_request', { message: 'This application signs people in by SAML only.' });
}

/** The engine's self-sending form as our page; its inline script and the hash that would allow it are left out. */
function dressForm(ctx: Context, policy: string | string[]): void {
  const form = readEngineForm(ctx.body);
  if (!form) return;
  ctx.set('Content-Security-Policy', policy);
  ctx.render('form-post', form, ctx.status);
}

/** The engine fails on a device step that this browser did not begin. */
function requireOwnStep(ctx: Context, engine: Engine): void {
  const uid = ctx.path.slice(routes.code_verification.length + 1);
  if (ctx.cookies.get(engine.current().cookieName('resume'), { signed: true }) !== uid) {
    throw badRequest('sign_in_expired', { advice: `Open ${routes.code_verification} and enter the code again.` });
  }
}

function isDeviceStep(ctx: Context, route: string): boolean {
  return route === DEVICE_STEP || (ctx.method === 'POST' && ctx.path === routes.code_verification);
}

/** The engine wants to save its answer to a faulty form in the session, and fails where there is none. */
function requireSession(ctx: Context, engine: Engine): void {
  if (ctx.cookies.get(engine.current().cookieName('session'), { signed: true })) return;
  throw badRequest('other_browser', {
    advice: `Open ${routes.code_verification}, enter the code there, and allow cookies.`,
  });
}

interface Discovery {
  response_types_supported: string[];
  prompt_values_supported?: string[];
  frontchannel_logout_supported?: boolean;
  frontchannel_logout_session_supported?: boolean;
}

function adjust(ctx: Context, route: string): void {
  if (DISCOVERY.includes(ctx.path) && ctx.status === 200) {
    const document = ctx.body as Discovery;
    // `none` is how the engine knows SAML applications; no client may use it.
    document.response_types_supported = ['code'];
    // Ours, not the engine's (OpenID Connect Front-Channel Logout 1.0, section 3).
    document.frontchannel_logout_supported = true;
    document.frontchannel_logout_session_supported = true;
    document.prompt_values_supported = ['none', 'login', 'consent', 'select_account'];
  }
  // RFC 7009 2.2 leaves the body open, and some client libraries can't read an empty one.
  if (ctx.path === routes.revocation && ctx.status === 200) ctx.body = {};
  // The secret is shown once, in the answer that created it; what the engine would show here is a placeholder.
  if (route === `${routes.registration}/:uid` && isRecord(ctx.body)) delete ctx.body.client_secret;
}

/** An error that goes back to the application by redirect says under which code its administrator finds the reason. */
function nameRefusal(ctx: Context, refusals: Pick<Refusals, 'known'>): void {
  const code = refusals.known(ctx.state.request);
  const location = String(ctx.response.get('Location') ?? '');
  if (!code || !URL.canParse(location)) return;
  const url = new URL(location);
  if (!url.searchParams.has('error')) return;
  url.searchParams.set('error_description', withCode(url.searchParams.get('error_description') ?? undefined, code));
  ctx.set('Location', url.href);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
