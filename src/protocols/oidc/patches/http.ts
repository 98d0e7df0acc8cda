// What happens to a request in front of the engine, and to its response behind it.

import { type Context, seeOther } from '../../../base/http/context.ts';
import type { Cookies } from '../../../base/http/cookies.ts';
import { wordsOnCookies } from '../../../base/http/csrf.ts';
import { AppError, badRequest } from '../../../base/http/errors.ts';
import { readForm } from '../../../base/http/input.ts';
import { languagesOf, withUiLocales } from '../../../base/http/pages/language.ts';
import { limits } from '../../../base/limits.ts';
import { t } from '../../../base/texts/text.ts';
import { engineContext, withCode } from '../engine/app-context.ts';
import type { Provider } from '../engine/library.ts';
import { type Published, READABLE_BY_ALL } from '../engine/public-documents.ts';
import {
  DEVICE_STEP,
  DISCOVERY,
  FOR_BROWSER_CLIENTS,
  isForPrograms,
  PUBLIC_DOCUMENTS,
  REGISTRATION,
  routes,
} from '../engine/routes.ts';
import { type ClientSource, hasOrigin } from '../store/clients.ts';

// Patch in front of the engine: POST at the authorization and end-session endpoints (OIDC Core 3.1.2.1, RP-Initiated
// Logout 1.0 section 2). A POST from another site comes without the SameSite=Lax session cookie; it is answered with a
// redirect to the same request as a GET, which brings the cookie. One that is too long for an address (an ID token with many roles) is sent
// again by a form of this server, which brings the cookie too. The engine's option `enableHttpPostMethods` needs SameSite=None instead.

const PATHS = new Set<string>([routes.authorization, routes.end_session]);
/** Marks the form of this server. A page elsewhere gains nothing by it: its request is then one without a session. */
const RESENT = 'resent';

/** Returns whether it has answered. */
export async function redirectPostToGet(ctx: Context): Promise<boolean> {
  if (ctx.method !== 'POST' || !PATHS.has(ctx.path)) return false;
  const { [RESENT]: resent, ...fields } = await fieldsOf(ctx);
  const pairs = Object.entries(fields).flatMap(([name, values]) => values.map((value) => [name, value]));
  const parameters = new URLSearchParams(pairs).toString();
  if (parameters.length <= limits.authorizationRequest.bytes) {
    seeOther(ctx, `${ctx.path}?${parameters}`);
    return true;
  }
  // The engine rejects what was sent twice.
  const isRepeated = pairs.length > Object.keys(fields).length;
  if (resent === undefined && !isRepeated) {
    ctx.render('form-post', {
      action: ctx.path,
      appName: undefined,
      fields: { ...Object.fromEntries(pairs), [RESENT]: 'yes' },
    });
    return true;
  }
  ctx.method = 'GET';
  ctx.querystring = parameters;
  return false;
}

/** What a logout request cannot be read from leads to the page that asks the user. */
async function fieldsOf(ctx: Context): Promise<Record<string, string[]>> {
  try {
    return (await readForm(ctx, { lists: 'every field' })) as Record<string, string[]>;
  } catch (error) {
    if (ctx.path !== routes.end_session || !(error instanceof AppError)) throw error;
    const { code, advice, detail, headers, text: message } = error;
    const next = { href: routes.end_session, label: t('logout.submit') };
    throw new AppError(code, { message, advice, detail, headers, next, cause: error });
  }
}

// Patch in front of the engine: it answers an error as a page when the Accept header prefers HTML. At endpoints that
// programs call the error is JSON (RFC 6749 5.2), whatever a client library sends by default.

/** RFC 9701 4: a signed response of introspection, for a client that asks for it. */
const SIGNED = 'application/token-introspection+jwt';

export function preferJsonErrors(ctx: Context): void {
  if (!isForPrograms(ctx.path)) return;
  const isSigned =
    ctx.path === routes.introspection && ctx.get('Accept').includes('jwt') && ctx.accepts('json', SIGNED) === SIGNED;
  ctx.req.headers.accept = isSigned ? `${SIGNED}, application/json;q=0.9` : 'application/json';
}

// Patch in front of the engine: the pages of the device flow (RFC 8628 3.3) without the cookie that they depend on. The
// engine answers such requests with an internal error; here the page says what to do.

/**
 * Throws sign_in_expired for a step that this browser did not begin, other_browser for a form without a session.
 */
export function requireDeviceCookies(
  ctx: Context,
  { route, provider, cookies }: { route: string; provider: Provider; cookies: Cookies },
): void {
  const cookie = (type: 'resume' | 'session') => ctx.cookies.get(provider.cookieName(type), { signed: true });
  const isStep = route === DEVICE_STEP;
  if (isStep && cookie('resume') !== ctx.path.slice(routes.code_verification.length + 1)) {
    throw badRequest('sign_in_expired', { advice: t('device.open-again', { path: routes.code_verification }) });
  }
  const isForm = ctx.method === 'POST' && ctx.path === routes.code_verification;
  if ((isStep || isForm) && !cookie('session') && !cookies.get(ctx, 'form')) {
    throw badRequest('other_browser', {
      advice: t('device.allow-cookies', { path: routes.code_verification }),
      ...wordsOnCookies(ctx),
      ...(isForm && { next: { href: routes.code_verification, label: t('error.back-to-form') } }),
    });
  }
}

// What happens to a response behind the engine.

// Patch after the engine, which makes each response readable from every origin. Here only origins of registered applications
// may read it, and of a known client only its own. A request from any other origin is answered without CORS headers. Discovery and JWKS stay public, with `*`, so that caches can share them
// (docs/decisions/0025-public-documents-for-every-origin.md).

const HEADERS = [
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Methods',
  'Access-Control-Allow-Headers',
  'Access-Control-Max-Age',
  'Access-Control-Expose-Headers',
];

export async function limitCors(ctx: Context, clients: ClientSource): Promise<void> {
  if (PUBLIC_DOCUMENTS.has(ctx.path)) {
    ctx.set(READABLE_BY_ALL);
    return ctx.remove('Vary');
  }
  // engine/public-documents.ts
  if (ctx.path === routes.registration) return;
  if (!FOR_BROWSER_CLIENTS.has(ctx.path)) return removeCorsHeaders(ctx);
  if (!ctx.response.get('Access-Control-Allow-Origin')) return;
  const origin = ctx.get('Origin');
  if (!origin || !(await mayRead(ctx, origin, clients))) removeCorsHeaders(ctx);
}

/** A confidential client runs on a server; from a browser it may only read userinfo. */
async function mayRead(ctx: Context, origin: string, clients: ClientSource): Promise<boolean> {
  const client = engineContext(ctx)?.client;
  if (!client) return clients.isRegisteredOrigin(origin);
  if (ctx.path !== routes.userinfo && client.clientAuthMethod !== 'none') return false;
  const { allowed_cors_origins: named } = (await clients.applicationOf(client.clientId))?.metadata ?? {};
  return hasOrigin({ redirect_uris: client.redirectUris, allowed_cors_origins: named }, origin);
}

function removeCorsHeaders(ctx: Context): void {
  for (const header of HEADERS) ctx.remove(header);
}

// Patch after the engine: after a confirmed logout it redirects to the post_logout_redirect_uri at once. When the logout
// also has to reach other applications through the browser, it goes to that logout run first (src/protocols/logout). The engine's own page at the
// end gets the languages of the request.

/** `logoutRunPath` is set while the session is ended (store/sessions/session-adapter.ts). */
export function redirectToLogoutRun(ctx: Context): void {
  if (ctx.state.logoutRunPath) {
    ctx.redirect(ctx.state.logoutRunPath);
    return;
  }
  if (ctx.path !== `${routes.end_session}/confirm`) return;
  // Koa returns undefined for a header that is not set.
  const destination = (ctx.response.get('Location') as string | undefined) ?? '';
  if (destination.split('?')[0]?.endsWith(`${routes.end_session}/success`))
    ctx.redirect(withUiLocales(destination, languagesOf(ctx.query.ui_locales)));
}

// Patch after the engine, which reads its options only at start: discovery and JWKS follow the settings and what is registered.

/** The algorithms with which this server signs; those of clients are another matter. */
const SIGNING = [
  'id_token_signing_alg_values_supported',
  'userinfo_signing_alg_values_supported',
  'introspection_signing_alg_values_supported',
  'authorization_signing_alg_values_supported',
];

export async function followSettings(ctx: Context, published: () => Promise<Published>): Promise<void> {
  if (ctx.status !== 200) return;
  if (ctx.path === routes.jwks) {
    const { algs } = await published();
    const { keys } = ctx.body as { keys: { alg: string }[] };
    ctx.body = { keys: keys.filter(({ alg }) => algs.includes(alg)) };
  }
  if (!DISCOVERY.includes(ctx.path)) return;
  const { algs, registration, documents } = await published();
  const document = ctx.body as Record<string, unknown>;
  for (const name of SIGNING) document[name] = (document[name] as string[]).filter((alg) => algs.includes(alg));
  if (!registration) delete document.registration_endpoint;
  if (documents) document.client_id_metadata_document_supported = true;
  // `none` is the response type of SAML service providers (docs/decisions/0001-one-engine-two-protocols.md); no client can use it.
  document.response_types_supported = ['code'];
  // Users may have claims in other languages too; `claims_locales` supports these as well.
  const { tags } = ctx.state.offeredLanguages();
  Object.assign(document, { ui_locales_supported: tags, claims_locales_supported: tags });
}

// Patch behind the engine: reading and updating a registration (RFC 7592) returns the client_secret. Here the secret is stored
// as a MAC, and what the engine would return is a placeholder; a secret is displayed once, when it is made.

/** @param route the engine's route of the request */
export function removeSecretPlaceholder(ctx: Context, route: string): void {
  if (route !== REGISTRATION || !isRecord(ctx.body)) return;
  // The client as it was before the update: one without a secret has been given one.
  const before = engineContext(ctx)?.client;
  if (ctx.method === 'PUT' && before && before.clientSecret === undefined) return;
  delete ctx.body.client_secret;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Patch behind the engine: an error that it sends back to the application by redirect gets the code under which an
// administrator finds the rejected request in the console.

/** @param code of the request's rejection; undefined when it was not rejected */
export function addRejectionCode(ctx: Context, code: string | undefined): void {
  const location = String(ctx.response.get('Location') ?? '');
  if (!code || !URL.canParse(location)) return;
  const url = new URL(location);
  if (url.searchParams.has('error')) describe(url.searchParams, code);
  else {
    // The response types of the implicit and hybrid flows have their errors in the fragment (OAuth 2.0 Multiple Response Types, section 5).
    const fragment = new URLSearchParams(url.hash.slice(1));
    if (!fragment.has('error')) return;
    describe(fragment, code);
    url.hash = fragment.toString();
  }
  ctx.set('Location', url.href);
}

function describe(parameters: URLSearchParams, code: string): void {
  parameters.set('error_description', withCode(parameters.get('error_description') ?? undefined, code));
}

// Patch after the engine, whose response to a revocation has an empty body. RFC 7009 2.2 does not specify the body, and some client
// libraries fail to parse an empty one as JSON.

export function answerRevocationInJson(ctx: Context): void {
  if (ctx.path === routes.revocation && ctx.status === 200) ctx.body = {};
}

// Patch behind the engine: it writes one page of its own, a form that submits itself (response_mode=form_post, and the steps
// between its own pages), with an inline script and no style. Here its fields are displayed on a page of this server, under the
// Content-Security-Policy that forbids inline scripts.

interface SelfSubmittingForm {
  action: string;
  fields: Record<string, string>;
}

const TITLE = '<title>Submitting Callback</title>';
const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** @param contentSecurityPolicy the header as it was before the engine added the hash of its script */
export function renderSelfSubmittingForm(ctx: Context, contentSecurityPolicy: string | string[]): void {
  const form = selfSubmittingForm(ctx.body);
  if (!form) return;
  ctx.set('Content-Security-Policy', contentSecurityPolicy);
  const { pathname } = new URL(form.action);
  // A logout without a session: its end has the language that the request asks for.
  if (pathname === `${routes.end_session}/confirm`) {
    const languages = languagesOf(engineContext(ctx)?.params?.ui_locales);
    ctx.state.requestedLanguages = languages;
    form.action = withUiLocales(form.action, languages);
  }
  ctx.render('form-post', form, ctx.status);
}

/** The form of such a page; undefined for any other response. Throws when the engine writes it in another way. */
function selfSubmittingForm(body: unknown): SelfSubmittingForm | undefined {
  if (typeof body !== 'string' || !body.includes(TITLE)) return undefined;
  const action = /<form method="post" action="([^"]*)">/.exec(body)?.[1];
  if (action === undefined) throw new Error('the engine writes its form in another way than expected');
  // The engine escapes values, so no quote ends one early.
  const inputs = body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"\/>/g);
  const fields = [...inputs].map(([, name = '', value = '']) => [name, decode(value)]);
  return { action: decode(action), fields: Object.fromEntries(fields) };
}

function decode(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
