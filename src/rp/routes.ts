// The relying-party side of our own pages (seed 4.2): /login, /auth/callback (also /callback), /logout, /api/logout and
// /api/auth/refresh.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, Middleware, State } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { badRequest } from '../http/errors.ts';
import { parseQuery } from '../http/input.ts';
import { limits } from '../limits.ts';
import { randomToken, safeEqual, sha256 } from '../platform/random.ts';
import { OWN_CLIENT_ID, type OwnClient } from './own-client.ts';
import { localPath } from './return-to.ts';
import type { RpSessions } from './sessions.ts';

export interface RpRoutesNeeds {
  /** Public base URL. */
  base: string;
  cookies: Cookies;
  ownClient: OwnClient;
  rpSessions: RpSessions;
  protect: Middleware;
}

const HOME = '/dashboard';
const loginQuery = z.object({
  return_to: z.string().max(2048).optional(),
  /** `login`: prove again who you are; `select_account`: as somebody else. */
  prompt: z.enum(['login', 'select_account']).optional(),
  acr_values: z.string().max(200).optional(),
  login_hint: z.string().max(254).optional(),
});
const callbackQuery = z.object({
  code: z.string().max(512).optional(),
  state: z.string().max(128).default(''),
  error: z.string().max(100).optional(),
});
const begun = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  redirectUri: z.string(),
});
type Start = z.output<typeof begun>;
const MAX_STARTS = 5;
/** Browsers keep 4096 bytes of a cookie, with its name and attributes; an address to return to may be long. */
const MAX_COOKIE = 3600;

export function rpRoutes({ base, cookies, ownClient, rpSessions, protect }: RpRoutesNeeds): Router<State, Extras> {
  const router = new Router<State, Extras>();

  router.get('/login', (ctx) => {
    const { return_to, ...passedOn } = parseQuery(ctx, loginQuery);
    const start = {
      state: randomToken(limits.state.bytes),
      nonce: randomToken(),
      verifier: randomToken(limits.pkceVerifier.bytes),
      returnTo: localPath(return_to) ?? HOME,
      redirectUri: `${base}/auth/callback`,
    };
    // One for each tab that signs in at the same moment.
    keep(ctx, [start, ...readStarts(cookies.get(ctx, 'rpSignIn'))].slice(0, MAX_STARTS));
    const parameters = new URLSearchParams({
      response_type: 'code',
      client_id: OWN_CLIENT_ID,
      redirect_uri: start.redirectUri,
      scope: 'openid',
      state: start.state,
      nonce: start.nonce,
      code_challenge: sha256(start.verifier),
      code_challenge_method: 'S256',
      ...passedOn,
    });
    redirect(ctx, `${base}/authorize?${parameters}`);
  });

  router.get(['/auth/callback', '/callback'], async (ctx) => {
    const { code, state, error } = parseQuery(ctx, callbackQuery);
    const starts = readStarts(cookies.get(ctx, 'rpSignIn'));
    const start = starts.find((one) => safeEqual(state, one.state));
    // Compared, then removed: an answer counts only in the browser that asked, and only once.
    const others = starts.filter((one) => one !== start);
    keep(ctx, others);
    if (!start) throw badRequest('state_mismatch', { next: { href: '/login', label: 'Sign in' } });
    const signIn =
      code && !error
        ? await ownClient.redeem(code, start.verifier, start.redirectUri).catch(() => undefined)
        : undefined;
    if (!signIn || signIn.nonce !== start.nonce) return failed(ctx, error);
    await rpSessions.remove(cookies.get(ctx, 'rpSession'));
    cookies.set(ctx, 'rpSession', await rpSessions.create(signIn));
    redirect(ctx, start.returnTo);
  });

  router.get('/logout', async (ctx) => {
    const cookie = cookies.get(ctx, 'rpSession');
    const session = await rpSessions.find(cookie);
    // A link on a foreign page reaches this address as well: nothing ends before the question, nor without it.
    const site = ctx.get('Sec-Fetch-Site');
    if (site !== 'cross-site' && site !== 'same-site') {
      await rpSessions.remove(cookie);
      cookies.clear(ctx, 'rpSession');
    }
    const hint = session && (await ownClient.logoutHint(session.userId, session.ssoUid));
    const parameters = new URLSearchParams({
      client_id: OWN_CLIENT_ID,
      post_logout_redirect_uri: `${base}/`,
      // Only a click on a page of ours goes without a question.
      ...(hint && site === 'same-origin' && { id_token_hint: hint }),
    });
    redirect(ctx, `${base}/end-session?${parameters}`);
  });

  router.post('/api/logout', protect, async (ctx) => {
    await rpSessions.remove(cookies.get(ctx, 'rpSession'));
    cookies.clear(ctx, 'rpSession');
    ctx.status = 204;
  });

  router.post('/api/auth/refresh', protect, async (ctx) => {
    const cookie = cookies.get(ctx, 'rpSession');
    const session = await rpSessions.refresh(cookie);
    if (!session || !cookie) {
      ctx.status = 401;
      ctx.body = { refreshed: false };
      return;
    }
    cookies.set(ctx, 'rpSession', cookie);
    ctx.body = { refreshed: true, expires_at: session.expiresAt.toISOString() };
  });

  function keep(ctx: Context, starts: Start[]): void {
    const cookie = Buffer.from(JSON.stringify(starts)).toString('base64url');
    if (starts.length === 0) cookies.clear(ctx, 'rpSignIn');
    else if (cookie.length > MAX_COOKIE) keep(ctx, starts.slice(0, -1));
    else cookies.set(ctx, 'rpSignIn', cookie);
  }

  return router;
}

/** Somebody who cancelled is not sent round in circles; anything else begins anew. */
function failed(ctx: Context, error: string | undefined): void {
  redirect(ctx, error === 'access_denied' ? '/' : '/login');
}

function redirect(ctx: Context, target: string): void {
  ctx.status = 303;
  ctx.redirect(target);
}

function readStarts(cookie: string | undefined): Start[] {
  if (!cookie) return [];
  try {
    return z.array(begun).safeParse(JSON.parse(Buffer.from(cookie, 'base64url').toString())).data ?? [];
  } catch {
    return [];
  }
}
