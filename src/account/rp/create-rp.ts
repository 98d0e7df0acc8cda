// Puts the relying-party side of Gatehouse's own pages together: their client, their sessions and the routes of sign-in
// and logout.

import Router from '@koa/router';
import type { Provider } from 'oidc-provider';
import { z } from 'zod';
import type { Base } from '../../base/base.ts';
import { type Context, type Extras, type State, seeOther } from '../../base/http/context.ts';
import type { Cookies } from '../../base/http/cookies.ts';
import { badRequest, internal, unavailable } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { parseQuery } from '../../base/http/input.ts';
import { localPath } from '../../base/http/local-path.ts';
import { limits } from '../../base/limits.ts';
import { randomToken, safeEqual, sha256 } from '../../base/platform/random.ts';
import { undefinedUnlessUnavailable } from '../../base/storage/unavailable.ts';
import { t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../../people/accounts/account.ts';
import { type Acr, MAILED_CODE_CLAIMS } from '../../people/mfa/acr.ts';
import type { StrongestProof } from '../../people/mfa/step-up.ts';
import type { People } from '../../people/people.ts';
import type { SessionServices } from '../../protocols/logout/session-services.ts';
import {
  createInProcessClient,
  FIRST_PARTY_CLIENT_ID,
  type InProcessClient,
} from '../../protocols/oidc/in-process-clients.ts';
import { createRpSessions, type RpSessions } from '../../protocols/oidc/store/sessions/rp-sessions.ts';
import { createConfirmation } from './confirmation.ts';
import { createSignedIn } from './signed-in.ts';

export function createRp(
  dependencies: Core &
    Http &
    People &
    SessionServices & {
      provider(): Provider;
      /** Whether the directories of the account still have it; its roles follow them. */
      checkDirectories(accountId: string): Promise<boolean>;
      /** The strongest proof that this account can give. */
      strongestProof(account: Account): Promise<StrongestProof>;
      /** The acr that the settings demand of users with a right in Gatehouse; undefined for others. */
      staffAcr(account: Account): Acr | undefined;
    },
) {
  const { provider, sessions, checkDirectories, strongestProof, staffAcr } = dependencies;
  const rpSessions = createRpSessions(dependencies);
  const confirmation = createConfirmation(dependencies);
  const signedIn = createSignedIn({
    ...dependencies,
    rpSessions,
    confirmation,
    strongestProof,
    staffAcr,
    checkDirectories,
    recordActivity: sessions.recordActivity,
  });
  return {
    rpSessions,
    confirmation,
    signedIn,
    routers: [
      rpRoutes({ ...dependencies, ownClient: createInProcessClient({ provider }, FIRST_PARTY_CLIENT_ID), rpSessions }),
    ],
  };
}

const HOME = '/dashboard';
const loginQuery = z.object({
  return_to: z.string().max(2048).optional(),
  /** `login`: authenticate again; `select_account`: sign in with another account. */
  prompt: z.enum(['login', 'select_account']).optional(),
  acr_values: z.string().max(200).optional(),
  /** A code by email is demanded. */
  amr: z.literal('email').optional(),
  login_hint: z.string().max(254).optional(),
  /** The id of a connection: the upstream identity provider to go to at once. */
  connection: z.string().max(64).optional(),
});
const callbackQuery = z.object({
  code: z.string().max(512).optional(),
  state: z.string().max(128).default(''),
  error: z.string().max(100).optional(),
});
const pendingSignIn = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  // Judged where it is used too: the browser holds the cookie.
  returnTo: z.string().transform((path) => localPath(path) ?? HOME),
  redirectUri: z.string(),
});
type PendingSignIn = z.output<typeof pendingSignIn>;
/** Sign-ins that one browser has begun: more give way, because a request has 16 KB for all its headers. `returnTo` may be long. */
const MAX_PENDING = 5;
const MAX_PENDING_BYTES = 6000;
/** The cookie of a sign-in is named by the beginning of its state. */
const cookieId = (state: string): string => state.slice(0, 8);

function rpRoutes(
  dependencies: Base & Http & { ownClient: InProcessClient; rpSessions: RpSessions },
): Router<State, Extras> {
  const { check: checkCsrf } = dependencies.csrf;
  const router = new Router<State, Extras>();
  router.get('/login', (ctx) => startSignIn(dependencies, ctx));
  router.get(['/auth/callback', '/callback'], (ctx) => finishSignIn(dependencies, ctx));
  router.get('/logout', (ctx) => logOut(dependencies, ctx));
  router.post('/api/logout', checkCsrf, (ctx) => endOwnSession(dependencies, ctx));
  router.post('/api/auth/refresh', checkCsrf, (ctx) => refresh(dependencies, ctx));
  return router;
}

function startSignIn({ cookies, config: { issuer: base } }: Base & Http, ctx: Context): void {
  const { return_to, amr, ...requested } = parseQuery(ctx, loginQuery);
  const signIn = {
    state: randomToken(limits.state.bytes),
    nonce: randomToken(),
    verifier: randomToken(limits.pkceVerifier.bytes),
    returnTo: localPath(return_to) ?? HOME,
    redirectUri: `${base}/auth/callback`,
  };
  storePending(cookies, ctx, signIn);
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id: FIRST_PARTY_CLIENT_ID,
    redirect_uri: signIn.redirectUri,
    scope: 'openid',
    state: signIn.state,
    nonce: signIn.nonce,
    code_challenge: sha256(signIn.verifier),
    code_challenge_method: 'S256',
    ...requested,
    ...(amr && { claims: MAILED_CODE_CLAIMS }),
  });
  seeOther(ctx, `${base}/authorize?${parameters}`);
}

async function finishSignIn(
  { cookies, ownClient, rpSessions }: Http & { ownClient: InProcessClient; rpSessions: RpSessions },
  ctx: Context,
): Promise<void> {
  const { code, state, error } = parseQuery(ctx, callbackQuery);
  const signIn = readPending(cookies.get(ctx, 'rpSignIn', cookieId(state)));
  // Compared, then removed: a response is accepted only in the browser of the request, and only once (RFC 6749 10.12).
  if (!signIn || !safeEqual(state, signIn.state))
    throw badRequest('state_mismatch', { next: { href: '/login', label: t('sign-in.title') } });
  const redeemed =
    code && !error
      ? await ownClient.redeem(code, signIn.verifier, signIn.redirectUri).catch(undefinedUnlessUnavailable)
      : undefined;
  // Not while the database cannot be used: the user reloads the page, and the code is redeemed once anyway.
  cookies.clear(ctx, 'rpSignIn', cookieId(state));
  if (!redeemed || redeemed.nonce !== signIn.nonce) return failed(ctx, error);
  cookies.set(ctx, 'rpSession', await rpSessions.replace(cookies.get(ctx, 'rpSession'), redeemed));
  seeOther(ctx, signIn.returnTo);
}

async function logOut(
  dependencies: Base & Http & { ownClient: InProcessClient; rpSessions: RpSessions },
  ctx: Context,
): Promise<void> {
  const { cookies, ownClient, rpSessions } = dependencies;
  const { issuer: base } = dependencies.config;
  const cookie = cookies.get(ctx, 'rpSession');
  const session = await rpSessions.find(cookie);
  // A link on a foreign page leads here as well: then nothing ends before the confirmation.
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== 'cross-site' && site !== 'same-site') {
    await rpSessions.remove(cookie);
    cookies.clear(ctx, 'rpSession');
  }
  const hint = session && (await ownClient.logoutHint(session.userId, session.ssoUid));
  const parameters = new URLSearchParams({
    client_id: FIRST_PARTY_CLIENT_ID,
    post_logout_redirect_uri: `${base}/`,
    // Only a click on a page of this server needs no confirmation.
    ...(hint && site === 'same-origin' && { id_token_hint: hint }),
  });
  seeOther(ctx, `${base}/end-session?${parameters}`);
}

/** Ends the session of these pages only; the single sign-on session goes on. */
async function endOwnSession({ cookies, rpSessions }: Http & { rpSessions: RpSessions }, ctx: Context): Promise<void> {
  await rpSessions.remove(cookies.get(ctx, 'rpSession'));
  cookies.clear(ctx, 'rpSession');
  ctx.status = 204;
}

async function refresh({ cookies, rpSessions }: Http & { rpSessions: RpSessions }, ctx: Context): Promise<void> {
  const cookie = cookies.get(ctx, 'rpSession');
  const session = await rpSessions.refresh(cookie);
  if (!session || !cookie) {
    ctx.status = 401;
    ctx.body = { refreshed: false };
    return;
  }
  cookies.set(ctx, 'rpSession', cookie);
  ctx.body = { refreshed: true, expires_at: session.expiresAt.toISOString() };
}

/** Stores a sign-in that begins in this browser; the oldest others give way to the limits. */
function storePending(cookies: Cookies, ctx: Context, signIn: PendingSignIn): void {
  const cookie = Buffer.from(JSON.stringify(signIn)).toString('base64url');
  const kept = cookies.several(ctx, 'rpSignIn');
  const bytes = () => kept.reduce((sum, { length }) => sum + length, cookie.length);
  while (kept.length >= MAX_PENDING || bytes() > MAX_PENDING_BYTES) {
    const oldest = kept.shift();
    if (!oldest) break;
    cookies.clear(ctx, 'rpSignIn', oldest.id);
  }
  cookies.set(ctx, 'rpSignIn', cookie, { id: cookieId(signIn.state) });
}

/** Where a user goes on whose sign-in failed. Throws unavailable (503) and internal (500): to begin again at once would go in circles. */
function failed(ctx: Context, error: string | undefined): void {
  if (error === 'temporarily_unavailable') throw unavailable('unavailable', { detail: { error } });
  // No request of these pages has prompt=none, so no error means that the user has to sign in.
  if (error !== undefined && error !== 'access_denied')
    throw internal(new Error(`the authorization endpoint returned ${error}`));
  // Without an error the code has expired or was used.
  seeOther(ctx, error === 'access_denied' ? '/' : '/login');
}

function readPending(cookie: string | undefined): PendingSignIn | undefined {
  if (!cookie) return undefined;
  try {
    return pendingSignIn.safeParse(JSON.parse(Buffer.from(cookie, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}
