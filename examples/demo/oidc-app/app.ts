// An OpenID Connect relying party, written with openid-client 6: code flow with PKCE, state and nonce; userinfo; refresh;
// RP-initiated and back-channel logout.

import { randomBytes } from 'node:crypto';
import * as oidc from 'openid-client';
import { plural } from '../../../src/base/platform/plural.ts';
import type { DemoApp, LogoutReporting } from '../app.ts';
import { type Html, html, page } from '../html.ts';
import { facts, noticeOf, problemPage, signedOutPage } from '../pages.ts';
import { createSessions } from '../sessions.ts';
import { type Answer, originOf, type Request, type Routes, serveSite } from '../web.ts';
import { type LogoutTokenCheck, logoutTokenCheck } from './logout-token.ts';
import type { Session, StartedSignIn } from './session.ts';

const APP = { name: 'Demo OIDC app', protocol: 'OpenID Connect' } as const;
const SESSION = 'demo_oidc_session';
const SIGN_IN = 'demo_oidc_sign_in';

/** Creates the application on this port, with its own client secret. */
export function oidcApp(port: number): DemoApp {
  const origin = originOf(port);
  const clientId = 'demo-oidc';
  const clientSecret = randomBytes(32).toString('base64url');
  return {
    ...APP,
    description: 'Shows the claims it receives, refreshes its tokens, and signs you out.',
    origin,
    declaration: {
      section: 'clients',
      entry: {
        client_id: clientId,
        client_secret: clientSecret,
        client_name: APP.name,
        client_uri: `${origin}/`, // where the app list opens it
        redirect_uris: [`${origin}/callback`],
        post_logout_redirect_uris: [`${origin}/signed-out`],
        backchannel_logout_uri: `${origin}/backchannel-logout`,
        backchannel_logout_session_required: true,
        grant_types: ['authorization_code', 'refresh_token'],
      },
    },
    async start(issuer, logoutReporting) {
      const config = await oidc.discovery(
        new URL(issuer),
        clientId,
        clientSecret,
        oidc.ClientSecretBasic(clientSecret),
        {
          execute: [oidc.allowInsecureRequests], // plain http, which Gatehouse allows on this machine only
        },
      );
      return serveSite(port, routes(config, origin, logoutReporting));
    },
  };
}

/** What the handlers of one running application share. */
interface RelyingParty {
  config: oidc.Configuration;
  origin: string;
  sessions: ReturnType<typeof createSessions<Session, StartedSignIn>>;
  logoutReporting: LogoutReporting;
}

function routes(config: oidc.Configuration, origin: string, logoutReporting: LogoutReporting): Routes {
  const app: RelyingParty = { config, origin, sessions: createSessions<Session, StartedSignIn>(), logoutReporting };
  const checkLogoutToken = logoutTokenCheck(config);
  return {
    'GET /': (request) => showHome(app, request),
    'GET /sign-in': () => signIn(app),
    'GET /callback': (request) => callback(app, request),
    'POST /refresh': (request) => refresh(app, request),
    'POST /sign-out': (request) => logout(app, request),
    'GET /signed-out': () => ({
      body: signedOutPage(APP, 'You’re signed out here and at Gatehouse.', logoutReporting.pageUrl),
    }),
    'POST /backchannel-logout': (request) => backchannelLogout(app, checkLogoutToken, request),
  };
}

function showHome({ sessions }: RelyingParty, { url, cookie }: Request): Answer {
  const session = sessions.find(cookie(SESSION));
  if (session) {
    const notice = url.searchParams.has('refreshed') ? 'Tokens refreshed.' : undefined;
    return { body: signedInPage(APP.name, session, notice) };
  }
  const wasEnded = sessions.wasEndedFromOutside(cookie(SESSION));
  return { body: signedOutPage(APP, wasEnded ? 'Gatehouse ended your session here.' : undefined) };
}

async function signIn({ config, origin, sessions }: RelyingParty): Promise<Answer> {
  const codeVerifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  const nonce = oidc.randomNonce();
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: `${origin}/callback`,
    scope: 'openid profile email roles offline_access',
    code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  });
  return { redirect: url.href, cookie: [SIGN_IN, sessions.startSignIn({ state, nonce, codeVerifier })] };
}

async function callback({ config, sessions }: RelyingParty, { url, cookie }: Request): Promise<Answer> {
  const started = sessions.takeStarted(cookie(SIGN_IN));
  if (!started) return { status: 400, body: problemPage(APP, 'This browser didn’t start that sign-in.') };
  try {
    const tokens = await oidc.authorizationCodeGrant(config, url, {
      expectedState: started.state,
      expectedNonce: started.nonce,
      pkceCodeVerifier: started.codeVerifier,
      idTokenExpected: true,
    });
    return { redirect: '/', cookie: [SESSION, sessions.create(await sessionFrom(config, tokens))] };
  } catch (error) {
    if (error instanceof oidc.AuthorizationResponseError && error.error === 'access_denied') {
      return { body: signedOutPage(APP, 'You didn’t allow the app to use your account.') };
    }
    return { status: 400, body: problemPage(APP, `The sign-in failed: ${reason(error)}`) };
  }
}

async function refresh({ config, sessions }: RelyingParty, { cookie }: Request): Promise<Answer> {
  const session = sessions.find(cookie(SESSION));
  if (!session?.refreshToken) return { redirect: '/' };
  try {
    const tokens = await oidc.refreshTokenGrant(config, session.refreshToken);
    Object.assign(session, await sessionFrom(config, tokens, session), { refreshes: session.refreshes + 1 });
    return { redirect: '/?refreshed' };
  } catch (error) {
    sessions.end(cookie(SESSION));
    return { body: signedOutPage(APP, `Gatehouse didn’t refresh the tokens: ${reason(error)}`) };
  }
}

async function sessionFrom(
  config: oidc.Configuration,
  tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers,
  before?: Session,
): Promise<Session> {
  const claims = tokens.claims() ?? before?.claims ?? {};
  const subject = String(claims.sub);
  return {
    subject,
    sid: typeof claims.sid === 'string' ? claims.sid : before?.sid,
    idToken: tokens.id_token ?? before?.idToken ?? '',
    refreshToken: tokens.refresh_token ?? before?.refreshToken,
    claims,
    userinfo: await oidc.fetchUserInfo(config, tokens.access_token, subject),
    accessTokenSeconds: tokens.expires_in,
    tokensAt: new Date(),
    refreshes: 0,
  };
}

function logout({ config, origin, sessions, logoutReporting }: RelyingParty, { cookie }: Request): Answer {
  // First here, then at Gatehouse: an error there must not leave this session active.
  const session = sessions.end(cookie(SESSION));
  if (!session) return { redirect: '/' };
  logoutReporting.steps.begin(APP.name, 'Ended its session, and sent the browser to Gatehouse.');
  const url = oidc.buildEndSessionUrl(config, {
    id_token_hint: session.idToken,
    post_logout_redirect_uri: `${origin}/signed-out`,
  });
  return { redirect: url.href, cookie: [SESSION, ''] };
}

async function backchannelLogout(
  { sessions, logoutReporting }: RelyingParty,
  checkLogoutToken: LogoutTokenCheck,
  { form }: Request,
): Promise<Answer> {
  try {
    const { sid, subject } = await checkLogoutToken((await form()).get('logout_token') ?? '');
    const ended = sessions.endThose((session) => (sid ? session.sid === sid : session.subject === subject));
    if (ended > 0) logoutReporting.steps.add(APP.name, 'Ended its session: Gatehouse called it with a logout token.');
    return { body: `${plural(ended, 'session')} ended`, type: 'text/plain' };
  } catch (error) {
    const body = JSON.stringify({ error: 'invalid_request', error_description: reason(error) });
    return { status: 400, body, type: 'application/json' };
  }
}
function reason(error: unknown): string {
  if (error instanceof oidc.ResponseBodyError || error instanceof oidc.AuthorizationResponseError) {
    return error.error_description ?? error.error;
  }
  return error instanceof Error ? error.message : String(error);
}

/** The data of the page. */
function signedInPage(appName: string, { claims, userinfo, ...session }: Session, notice?: string): string {
  const name = String(userinfo.name ?? claims.name ?? session.subject);
  return page(
    `${name} · ${appName}`,
    html`
<p class="eyebrow">${appName}</p>
<h1>Hello, ${name}</h1>
${noticeOf(notice)}
<p class="lead">Gatehouse sent this application the following about you, and nothing else.</p>
<div class="actions">
<form method="post" action="/refresh"><button class="button secondary">Refresh the tokens</button></form>
<form method="post" action="/sign-out"><button class="button primary">Sign out everywhere</button></form>
</div>
<section aria-labelledby="claims">
<h2 id="claims">Claims of the ID token</h2>
${table(claims)}
</section>
<section aria-labelledby="userinfo">
<h2 id="userinfo">UserInfo response</h2>
${table(userinfo)}
</section>
<section aria-labelledby="tokens">
<h2 id="tokens">Tokens</h2>
${table({
  'issued at': session.tokensAt.toISOString(),
  'access token':
    session.accessTokenSeconds === undefined ? 'yes' : `valid for ${plural(session.accessTokenSeconds, 'second')}`,
  'refresh token': session.refreshToken === undefined ? 'none' : 'yes, a new one with each refresh',
  refreshes: session.refreshes,
})}
</section>`,
  );
}

const times = new Set(['iat', 'exp', 'nbf', 'auth_time', 'updated_at']);

function table(values: Record<string, unknown>): Html {
  return facts(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, formatValue(name, value)])));
}

function formatValue(name: string, value: unknown): string {
  if (typeof value === 'number' && times.has(name)) return `${value} (${new Date(value * 1000).toISOString()})`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
