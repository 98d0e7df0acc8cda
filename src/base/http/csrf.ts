// Protection against cross-site request forgery: checks Sec-Fetch-Site and Origin, then a form token derived from a
// signed cookie, in addition to SameSite=Lax.

import { hmacSha256 } from '../platform/hmac.ts';
import { randomToken, safeEqual } from '../platform/random.ts';
import { t } from '../texts/text.ts';
import type { Context, Middleware } from './context.ts';
import type { Cookies } from './cookies.ts';
import { type ErrorOptions, forbidden } from './errors.ts';
import { readForm } from './input.ts';

const FIELD = '_csrf';
const HEADER = 'X-CSRF-Token';
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export type Csrf = ReturnType<typeof createCsrf>;

export function createCsrf({
  cookies,
  keys,
  issuerUrl,
}: {
  cookies: Cookies;
  /** `vault.deriveKeys('csrf')`: the first creates tokens, all verify them. */
  keys: readonly Buffer[];
  issuerUrl: URL;
}) {
  const macs = keys.map(hmacSha256);
  const [tokenOf] = macs;
  if (!tokenOf) throw new TypeError('at least one key is needed');

  const tokenFor = (ctx: Context): string => {
    let secret = cookies.get(ctx, 'csrf');
    if (!secret) {
      secret = randomToken();
      cookies.set(ctx, 'csrf', secret);
    }
    return tokenOf(secret);
  };

  return {
    /** Defines `ctx.state.csrfToken`; the cookie is set when a page calls it. */
    tokens: ((ctx, next) => {
      let token: string | undefined;
      // Stored, because a cookie set by this response is not yet in the request.
      ctx.state.csrfToken = () => (token ??= tokenFor(ctx));
      return next();
    }) satisfies Middleware,

    /** Rejects unsafe requests that do not come from our own pages. Runs before every route with a form. */
    check: (async (ctx, next) => {
      if (SAFE_METHODS.has(ctx.method)) return next();
      rejectForeignOrigin(ctx, issuerUrl);
      const secret = cookies.get(ctx, 'csrf');
      if (!secret) {
        throw forbidden('csrf_failed', { detail: 'no cookie', ...wordsOnCookies(ctx), ...returnLink(ctx, issuerUrl) });
      }
      const sent = ctx.get(HEADER) || (await tokenInForm(ctx));
      if (sent === undefined || !macs.some((mac) => safeEqual(mac(secret), sent))) {
        throw forbidden('csrf_failed', { detail: sent ? 'wrong token' : 'no token', ...returnLink(ctx, issuerUrl) });
      }
      return next();
    }) satisfies Middleware,
  };
}

/** The form token, sent once. The other fields may be lists: the route decides which. */
async function tokenInForm(ctx: Context): Promise<string | undefined> {
  const { [FIELD]: sent = [] } = await readForm(ctx, { lists: 'every field' });
  return sent.length === 1 ? sent[0] : undefined;
}

/**
 * Sec-Fetch-Site says where a form was sent (Fetch Metadata); over plain http only Origin does. `Origin: null` says nothing: browsers send it
 * for forms of our own pages too, where a proxy sets `Referrer-Policy: no-referrer` (Fetch 3.2). The token proves the rest.
 */
function rejectForeignOrigin(ctx: Context, issuerUrl: URL): void {
  const site = ctx.get('Sec-Fetch-Site');
  // 'none' is an action of the user, such as a reload; 'same-site' may be a compromised subdomain.
  const siteIsForeign = site !== '' && site !== 'same-origin' && site !== 'none';
  const origin = ctx.get('Origin');
  const originIsForeign = origin !== '' && origin !== 'null' && origin !== issuerUrl.origin;
  if (!siteIsForeign && !originIsForeign) return;
  throw forbidden('cross_site_request', {
    detail: { site, origin },
    next: { href: '/', label: t('error.home') },
  });
}

/** For the answer to a form: a browser that sends no cookie at all blocks them. */
export function wordsOnCookies(ctx: Context): ErrorOptions {
  if (ctx.get('Cookie') !== '') return {};
  return { message: t('error.cookies_blocked'), advice: t('error.cookies-blocked-form') };
}

// A link back to the page with the form: its path only, and only on this origin.
function returnLink(ctx: Context, issuerUrl: URL): ErrorOptions {
  const referer = ctx.get('Referer');
  const page = URL.canParse(referer) ? new URL(referer) : undefined;
  if (page?.origin !== issuerUrl.origin || page.pathname.startsWith('//')) {
    return { next: { href: '/', label: t('error.home') } };
  }
  return { next: { href: `${page.pathname}${page.search}`, label: t('error.back-to-form') } };
}
