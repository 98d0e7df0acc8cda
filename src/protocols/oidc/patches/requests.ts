// What happens to a request in front of the engine.

import type { Context } from '../../../base/http/context.ts';
import type { Cookies } from '../../../base/http/cookies.ts';
import { wordsOnCookies } from '../../../base/http/csrf.ts';
import { AppError, badRequest } from '../../../base/http/errors.ts';
import { readForm } from '../../../base/http/input.ts';
import { limits } from '../../../base/limits.ts';
import { t } from '../../../base/texts/text.ts';
import { routes } from '../engine/configuration.ts';
import type { Provider } from '../engine/library.ts';
import { DEVICE_STEP, isForPrograms } from '../engine/routes.ts';

// Patch in front of the engine: POST at the authorization and end-session endpoints (OIDC Core 3.1.2.1, RP-Initiated
// Logout 1.0 section 2). A POST from another site comes without the SameSite=Lax session cookie; it is answered with a
// redirect to the same request as a GET, which brings the cookie. One that is too long for an address (an ID token with many roles) is sent
// again by a form of this server, which brings the cookie too. The engine's option `enableHttpPostMethods` needs SameSite=None instead.

const PATHS = new Set<string>([routes.authorization, routes.end_session]);
/** Marks the form of this server. A page elsewhere gains nothing by it: its request is then one without a session. */
const RESENT = 'resent';

/** Resolves with true when it has answered; undefined for other requests. */
export function redirectPostToGet(ctx: Context): Promise<boolean> | undefined {
  return ctx.method === 'POST' && PATHS.has(ctx.path) ? redirectToGet(ctx) : undefined;
}

async function redirectToGet(ctx: Context): Promise<boolean> {
  const { [RESENT]: resent, ...fields } = await fieldsOf(ctx);
  const pairs = Object.entries(fields).flatMap(([name, values]) => values.map((value) => [name, value]));
  const parameters = new URLSearchParams(pairs).toString();
  if (parameters.length <= limits.authorizationRequest.bytes) {
    ctx.status = 303;
    ctx.redirect(`${ctx.path}?${parameters}`);
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
