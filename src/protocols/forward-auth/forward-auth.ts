// Forward authentication: a reverse proxy asks `/forward-auth/<proxy>` before it hands a request on to a website that knows no sign-in. This
// server answers 200 with headers about the user, or what the browser shall get instead.
//
// A first visit: the browser is redirected to /authorize of this server, signs in as for any application (protocols/oidc), and returns to
// `/.gatehouse/callback` of the website. The proxy asks about that path too; the answer is the redirect to the page that was wanted, with the
// cookie of the session. So a website needs no further route.
//
// The cookie is a random value with a MAC for its website. Before the sign-in it binds the sign-in to the browser: the `state` holds its hash,
// sealed, and the PKCE verifier follows from it, so nothing is stored before the user has signed in. After the sign-in it is another value, whose hash
// finds the session, and whose first letter says so.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { accessDecision, accessDecisionRule } from '../../applications/access-decision.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import {
  CALLBACK_PATH,
  headersOf,
  isOnHostOf,
  JOIN_PATH,
  JWT_HEADER,
  LOGOUT_PATH,
  type ProxiedSettings,
  type ProxyKind,
  RESERVED_PATH,
  SIGN_IN_PATH,
} from '../../applications/fields/proxied-application.ts';
import { type Context, type Middleware, seeOther } from '../../base/http/context.ts';
import { toAppError } from '../../base/http/error-handler.ts';
import { AppError, unavailable } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { clientAddress } from '../../base/http/request-context.ts';
import { inNetworks } from '../../base/network/networks.ts';
import { hmacSha256 } from '../../base/platform/hmac.ts';
import { randomToken, safeEqual, sha256 } from '../../base/platform/random.ts';
import { isSameMac } from '../../base/platform/vault.ts';
import { shareReads } from '../../base/storage/request-reads.ts';
import { t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { BrokenRule } from '../../core/rejections/rules.ts';
import type { Account } from '../../people/accounts/account.ts';
import { termsDue } from '../../people/accounts/terms.ts';
import { type Acr, acrLevel, acrOfRule, acrValues, strongestOf } from '../../people/mfa/acr.ts';
import type { People } from '../../people/people.ts';
import type { SessionServices } from '../logout/session-services.ts';
import type { Provider } from '../oidc/engine/library.ts';
import { createInProcessClient } from '../oidc/in-process-clients.ts';
import type { ApiTokens } from '../oidc/store/api-access-tokens.ts';
import type { ClientApplication, ClientSource } from '../oidc/store/clients.ts';
import { createRpSessions, type RpSession } from '../oidc/store/sessions/rp-sessions.ts';
import {
  createRejections,
  OWN_COOKIES,
  pass,
  redirect,
  sendError,
  showPage,
  type Visit,
  WAIT,
  WAIT_HEADERS,
} from './answers.ts';
import {
  type AskedRequest,
  askedBy,
  askedRequest,
  askingProxy,
  FORWARD_AUTH_PATH,
  isByUser,
  isFromElsewhere,
  MalformedQuestion,
  memoized,
  ownRequest,
  type Question,
} from './asked-request.ts';
import { brokenRule, isAmbiguous, rejectionBy, rulesFor } from './path-rules.ts';
import { type Credential, createPrograms, credentialOf, firstChallenge, type Needs } from './programs.ts';
import { createQuestionLimit, type LimitedKind } from './question-limit.ts';
import { createWebsiteTokens } from './user-headers.ts';
import {
  createTestTickets,
  receivedHeaders,
  SESSION_COOKIE,
  TEST_BACKEND_PATH,
  TEST_COOKIE,
  TEST_PATH,
  TEST_VALUE,
} from './website-test.ts';

type Live = { account: Account; session: RpSession };

/** A sign-in that takes longer begins again. */
const SIGN_IN_MS = 10 * 60_000;
/** A browser without cookies would go in circles. */
const MAX_ROUNDS = 2;
/** Longer ones are replaced by the first page: the address of the sign-in has its limits. */
const MAX_PATH = 1500;
/** How the cookie of a sign-in begins, and that of a session. */
const OF_SIGN_IN = 'b';
const OF_SESSION = 's';
/** Cookies of ended sessions that a process remembers. */
const MAX_ENDED = 10_000;
/** More addresses are no proxies. */
const MAX_UNTRUSTED = 5;

/** What the parameter `state` of a sign-in holds, sealed. */
const state = z.object({
  /** The hash of the cookie. */
  browser: z.string(),
  /** Of the PKCE verifier, together with the cookie. */
  salt: z.string(),
  /** The page that was wanted. */
  page: z.string(),
  round: z.int(),
  /** What the page needs; a sign-in that does not reach it must not begin again. */
  acr: z.enum(acrValues).optional(),
  at: z.int(),
});
type Begun = z.output<typeof state>;

/**
 * A chain of sign-ins: after a sign-in at a website, the browser signs in, without a page, at each website that this one depends on
 * (`depends_on`), and then goes to the page that was wanted. The chain is sealed in the addresses: the websites carry it and cannot read it.
 * Between two of them the browser comes to this server, so none learns which page and website that is, nor can ask for it in another browser.
 */
const signInChain = z.object({
  /** Of the website where the user signed in. */
  origin: z.string(),
  /** The page that was wanted. */
  page: z.string(),
  /** Of the website where the browser is, in the list of the first one; -1: at the first one. */
  position: z.int(),
  userId: z.string(),
  ssoUid: z.string(),
  at: z.int(),
});
type SignInChain = z.output<typeof signInChain>;
const CHAIN_CONTEXT = 'website sign-in chain';
/** All have the same length. With it, an answer is shorter than 4 KB, which many proxies read of one. */
const CHAIN_LENGTH = 1536;
/** Between the sealed state and the sealed chain, in the `state` of a sign-in of a chain. */
const CHAIN_SEPARATOR = '~';
/** Of this server, where the browser comes between two websites of a chain. */
const NEXT_PATH = `${FORWARD_AUTH_PATH}next`;

/** The page to return to, and what another page needs of the sign-in. */
const signInQuery = z.object({
  page: z
    .string()
    .regex(/^\/[\x21-\x7e]*$/)
    .max(MAX_PATH)
    .catch('/'),
  acr: z.enum(acrValues).optional().catch(undefined),
});

const callbackQuery = z.object({
  code: z.string().max(512).optional(),
  state: z.string().max(8192).default(''),
  error: z.string().max(100).optional(),
});

export type ForwardAuth = ReturnType<typeof createForwardAuth>;

/**
 * Answers the questions of reverse proxies. It runs before the check of the host, because some proxies ask with the host of the website.
 *
 * `answer` needs the middleware that rejects denied addresses (base/http/host-guard.ts).
 */
export function createForwardAuth(
  services: Core &
    People &
    ApplicationServices &
    SessionServices &
    Http & {
      clients: ClientSource;
      apiTokens: ApiTokens;
      provider(): Provider;
      checkDirectories(accountId: string): Promise<boolean>;
    },
) {
  const {
    accounts,
    clients,
    config,
    cookies,
    logger,
    noteSeen,
    provider,
    sessions,
    settings,
    vault,
    now,
    repeatedEntries,
  } = services;
  const { issuer } = config;
  const rpSessions = createRpSessions(services);
  const tokenFor = createWebsiteTokens(services);
  const { reject, rejectProgram, referenceTo, record } = createRejections(services);
  const programs = createPrograms(services);
  const tickets = createTestTickets(services);
  const macs = vault.deriveKeys('website cookies').map(hmacSha256);
  const isTrustedProxy = inNetworks(config.forwardAuthFrom);
  const hopsFrom = memoized((peer) =>
    isTrustedProxy(clientAddress('', peer, 0)) ? 1 : Math.min(config.trustProxy, 1),
  );
  const limit = createQuestionLimit(services);
  /** Cookies whose session was not found: no further read, and the limit of those without a session. */
  const endedCookies = new Set<string>();
  /** The addresses of proxies whose word about the address of a user does not count. */
  const untrustedProxies = new Set<string>();

  /** The ticket of a test, which is used up. */
  async function ticketOf(ctx: Context, { query }: AskedRequest, step: Parameters<typeof tickets.use>[1]) {
    // One row for a test that an administrator began.
    ctx.state.sender = 'trusted';
    const ticket = await tickets.use(new URLSearchParams(query).get('ticket') ?? '', step);
    if (!ticket) delete ctx.state.sender;
    return ticket;
  }

  const toConsole = (about: Parameters<typeof tickets.seal>[0]) =>
    `${issuer}/admin/applications/${about.applicationId}/test?${new URLSearchParams({ report: tickets.seal(about) })}`;

  const schemeOf = (ctx: Context) =>
    config.trustProxy > 0 ? ctx.get('X-Forwarded-Proto') || 'http' : config.issuerUrl.protocol.slice(0, -1);

  return { answer: answerProxies, limitWithoutSession, continueChain, untrustedProxies: () => [...untrustedProxies] };

  /**
   * Rejects questions without a session beyond the limits for one second, before anything is computed for them, the context of the framework
   * included; false: it must be answered. Sessions, programs (whose wrong credentials have a limit of their own) and public pages go on. The
   * page of the rejection loads itself again.
   */
  function limitWithoutSession(req: IncomingMessage, res: ServerResponse): boolean {
    const proxy = askingProxy({ req });
    if (!proxy || !limit.isNear()) return false;
    const kindsOver = limit.kindsOver(addressOfUser({ req }));
    const kind = kindsOver.length > 0 ? limitedKind({ req }, proxy) : undefined;
    if (!kind || !kindsOver.includes(kind)) return false;
    res.writeHead(proxy === 'nginx' ? 403 : 429, WAIT_HEADERS).end(WAIT);
    return true;
  }

  /** Which limit counts for a question, as far as can be said without the database; undefined: none. */
  function limitedKind(question: Question, proxy: ProxyKind): LimitedKind | undefined {
    try {
      const asked = askedRequest(question, proxy);
      const cookie = cookieOf(question, asked.origin);
      if (cookie && isOfSession(cookie) && !endedCookies.has(cookie)) return undefined;
      if (needsNoSession(question, asked)) return undefined;
      return cookie ? 'begun' : 'unknown';
    } catch {
      return 'unknown';
    }
  }

  /** Whether the question has a public path, or a credential. */
  function needsNoSession(question: Question, asked: AskedRequest): boolean {
    // Of its own pages, no rule and no credential decides.
    if (asked.path.startsWith(RESERVED_PATH)) return false;
    const website = clients.cachedApplicationOf(asked.origin)?.website;
    if (!website) return false;
    if (isAllowedPreflight(question, asked, website)) return true;
    return isPublic(rulesFor(website.paths, asked.method, asked.path)) || credentialOf(question, website) !== undefined;
  }

  function answerProxies(rejectDenied: Middleware): Middleware {
    return (ctx, next) => {
      const proxy = askingProxy(ctx);
      // `/.gatehouse/` of a website, which its proxy may send here; there is no such path at the issuer.
      if (!proxy && !ctx.path.startsWith(RESERVED_PATH)) return next();
      if (proxy) ctx.state.request = { ...ctx.state.request, address: addressOfUser(ctx) };
      ctx.state.route = proxy ? `${FORWARD_AUTH_PATH}${proxy}` : RESERVED_PATH;
      ctx.set('Cache-Control', 'no-store');
      // Some proxies hand on all headers, and this one is about the host of the website and all below it.
      ctx.remove('Strict-Transport-Security');
      return answerOrExplain(ctx, proxy, rejectDenied);
    };
  }

  async function answerOrExplain(ctx: Context, proxy: ProxyKind | undefined, rejectDenied: Middleware): Promise<void> {
    let asked: AskedRequest | undefined;
    try {
      const question = proxy ? askedRequest(ctx, proxy) : ownRequest(ctx, schemeOf(ctx));
      asked = question;
      await rejectDenied(ctx, () => answer(ctx, proxy, question));
    } catch (error) {
      if (error instanceof MalformedQuestion) {
        if (proxy) limit.count('unknown', ctx.state.request.address);
        return reject({ ctx, proxy }, 400, {
          rule: 'question',
          reason: error.code,
          message: 'The headers of the proxy do not describe a request.',
          received: error.what,
        });
      }
      // A fault of this server, too, is none of the website: the proxy answers with this, and another question may succeed.
      if (toAppError(error).status === 500) throw unavailable('unavailable', { cause: error });
      if (!(error instanceof AppError && error.code === 'address_denied')) throw error;
      reject({ ctx, proxy, asked }, 403, {
        rule: 'denied_network',
        reason: error.code,
        message: 'The settings deny the address.',
        received: ctx.state.request.address,
      });
    }
  }

  /** The user of a proxy that asks is one hop further. It may append to what the client sent, so the last entry alone counts. */
  function addressOfUser({ req }: Question): string {
    const peer = req.socket.remoteAddress ?? '';
    return clientAddress(String(req.headers['x-forwarded-for'] ?? ''), peer, hopsFrom(peer));
  }

  /** The address of a proxy that says the address of the user in vain: neither FORWARD_AUTH_FROM nor TRUST_PROXY is about it. */
  function untrustedProxy(ctx: Context): string | undefined {
    if (config.trustProxy > 0 || ctx.get('X-Forwarded-For') === '') return undefined;
    const peer = clientAddress('', ctx.socket.remoteAddress ?? '', 0);
    return isTrustedProxy(peer) ? undefined : peer;
  }

  function warnOfUntrusted(ctx: Context): void {
    const address = untrustedProxy(ctx);
    if (address === undefined || untrustedProxies.has(address) || untrustedProxies.size >= MAX_UNTRUSTED) return;
    untrustedProxies.add(address);
    logger.warn(
      { address },
      'a proxy that asks about websites names addresses of users in vain; if it is yours, set FORWARD_AUTH_FROM to its address',
    );
  }

  async function answer(ctx: Context, proxy: ProxyKind | undefined, asked: AskedRequest): Promise<void> {
    if (!proxy && asked.path === TEST_BACKEND_PATH) return reportBackend(ctx, asked);
    // First, because on PostgreSQL this statement reads what proves that the website and the account are current, too.
    shareReads();
    const cookie = cookieOf(ctx, asked.origin);
    const isLive = cookie !== undefined && isOfSession(cookie) && !endedCookies.has(cookie);
    const session = isLive ? await rpSessions.find(cookie, asked.origin) : undefined;
    if (isLive && !session) noteEnded(cookie);
    await answerFor({ ctx, proxy, asked, cookie, session });
    // One that no proxy asked is not limited, so it takes no answers from others.
    if (proxy && ctx.status !== 200 && !ctx.state.sender && !session)
      limit.count(cookie ? 'begun' : 'unknown', ctx.state.request.address);
  }

  /** No session begins with a cookie that was sent before. */
  function noteEnded(cookie: string): void {
    const [oldest] = endedCookies;
    if (endedCookies.size >= MAX_ENDED && oldest !== undefined) endedCookies.delete(oldest);
    endedCookies.add(cookie);
  }

  async function answerFor(visitor: Pick<Visit, 'ctx' | 'proxy' | 'asked' | 'cookie' | 'session'>): Promise<void> {
    const { ctx, proxy, asked, cookie, session } = visitor;
    const application = await websiteAt(asked.origin);
    if (!application?.website) {
      const [reason, message] = isOnHostOf(issuer, asked.origin)
        ? [
            'host_of_issuer',
            'The website has the host of Gatehouse, whose cookies it would receive. Give it another host name.',
          ]
        : ['unknown_website', 'No enabled website has this address.'];
      return reject({ ctx, proxy, asked }, 403, { rule: 'client', reason, message, received: asked.origin });
    }
    if (proxy) warnOfUntrusted(ctx);
    const by = askedBy(ctx, asked.method);
    // Not a copy of `visitor` with more: V8 makes a map of its own for each, which is old from the beginning.
    const visit = { ctx, proxy, asked, by, application, website: application.website, cookie, session };
    if (asked.path.startsWith(RESERVED_PATH)) return ownPage(visit);
    return decide(visit);
  }

  /** As it is registered now: the engine's look-up is current, and the client source keeps what it read. */
  async function websiteAt(origin: string): Promise<ClientApplication | undefined> {
    const client = await provider().Client.find(origin);
    return client && clients.applicationOf(origin);
  }

  async function decide(visit: Visit): Promise<void> {
    const { ctx, asked, website, application } = visit;
    if (website.paths.length > 0 && isAmbiguous(asked.path))
      return reject(visit, 400, {
        rule: 'path',
        reason: 'ambiguous_path',
        message: 'Servers read this path in two ways, and the website has rules for paths.',
        received: asked.path,
      });
    if (isAllowedPreflight(ctx, asked, website)) return pass(visit);
    const rules = rulesFor(website.paths, asked.method, asked.path);
    if (isPublic(rules)) return pass(visit);
    const level = strongestOf(
      application.mfa && acrOfRule(application.mfa),
      rules.some((rule) => rule?.rule === 'mfa') ? acrOfRule('mfa') : undefined,
    );
    const credential = credentialOf(ctx, website);
    if (credential) return decideForProgram(visit, credential, { rules, level });
    const live = await liveSession(visit);
    return live ? decideForUser(visit, live, { rules, level }) : signIn(visit, level);
  }

  async function decideForUser(visit: Visit, live: Live, { rules, level }: Needs): Promise<void> {
    const { ctx, asked, by, website, application } = visit;
    const { account, session } = live;
    if (isUnwanted(visit)) return fromElsewhere(visit, account);
    // Everybody behind one proxy comes from its address.
    ctx.state.sender = { userId: account.id };
    const { address } = ctx.state.request;
    const { allowed, reason } = accessDecision(application, account, address);
    // The sign-in page says why, and how to ask for access. It may be reached from another network than the website.
    if (!allowed && by === 'navigation' && reason !== 'other_network') return signIn(visit);
    if (!allowed) return denied(visit, { ...accessDecisionRule(application, account, address), account });
    // Other requests of a page that was open when the version changed go on; the next page asks.
    if (by === 'navigation' && termsDue(settings.latest(), account)) return signIn(visit);
    if (level && acrLevel(session.acr) < acrLevel(level)) return signIn(visit, level, live);
    const broken = brokenRule(rules, account);
    if (broken) {
      await recordRejected(visit, account);
      return denied(visit, { ...rejectionBy(broken, account), account });
    }
    if (isByUser(ctx, asked, by)) void sessions.recordActivity(session.ssoUid);
    const visitor = { account };
    pass(visit, visitor, await tokenFor(asked.origin, website, visitor, session));
  }

  async function decideForProgram(visit: Visit, credential: Credential, needs: Needs): Promise<void> {
    // A browser sends a password that it was given (RFC 7617) with every request too.
    if (isUnwanted(visit)) return fromElsewhere(visit);
    const { ctx, application, website } = visit;
    const { origin } = visit.asked;
    const about = { ctx, origin, application, website };
    const program = await programs.identify(about, credential);
    if ('status' in program) return rejectProgram(visit, program);
    const { visitor, proof } = program;
    ctx.state.sender = 'account' in visitor ? { userId: visitor.account.id } : 'trusted';
    const closed = programs.closed(about, program, needs);
    if (closed?.status === 403 && 'account' in visitor) await recordRejected(visit, visitor.account);
    if (closed) return rejectProgram(visit, closed);
    pass(visit, visitor, await tokenFor(origin, website, visitor, proof));
  }

  /** A page of another website sent a form, or a script of it asked (CSRF). */
  function fromElsewhere(visit: Visit, account?: Account): void {
    const { ctx, asked, application } = visit;
    reject(
      visit,
      403,
      {
        rule: 'same_origin',
        reason: 'cross_site_request',
        message: 'A page of another website caused a change of this one, or opened a WebSocket.',
        received: ctx.get('Origin') || ctx.get('Sec-Fetch-Site'),
        expected: asked.origin,
        ...(account && { account }),
      },
      [t('website.elsewhere.title'), t('website.elsewhere.text', { app: application.name })],
    );
  }

  function denied(visit: Visit, why: BrokenRule & { account?: Account; of?: 'sign-in' }): void {
    const message = 'The user may not open this page.';
    const { name: app } = visit.application;
    reject(visit, 403, { ...why, reason: 'access_denied', message }, [
      t('website.no-access.title'),
      t('website.no-access.text', { app }),
    ]);
  }

  async function recordRejected({ ctx, application }: Visit, account: Account): Promise<void> {
    await repeatedEntries.record({
      type: 'access.evaluated',
      outcome: 'failure',
      reason: 'not_permitted',
      subjectId: account.id,
      clientId: application.clientId,
      request: ctx.state.request,
    });
  }

  /** The user of the cookie, whose single sign-on session goes on. */
  async function liveSession({ application, session }: Visit): Promise<Live | undefined> {
    if (!session) return undefined;
    const { sessionHours } = application;
    if (sessionHours !== undefined && session.authTime.getTime() + sessionHours * 3_600_000 <= now().getTime())
      return undefined;
    const account = await accounts.find(session.userId);
    if (!account?.isActive) return undefined;
    noteSeen(account);
    return { account, session };
  }

  // ── The sign-in ───────────────────────────────────────────────────────────────────────────────────────────

  /** @param acr what the page needs, which the session does not have */
  function signIn(visit: Visit, acr?: Acr, weak?: Live): void {
    const { ctx, by, asked } = visit;
    if (by === 'navigation') beginSignIn(visit, { page: pageAt(`${asked.path}${asked.query}`), acr, round: 0 });
    else if (by === 'program') demandSignIn(visit, acr, weak);
    // No cookie comes with it, after a sign-in neither: what is loaded again still comes from there (RFC 6265bis 5.6.7.1).
    else if (by === 'form' && ctx.get('Sec-Fetch-Site') === 'cross-site') fromElsewhere(visit);
    else {
      const text = by === 'form' ? t('website.form.text') : t('website.frame.text');
      showPage(visit, 401, t('website.sign-in.title'), text, { signInAt: signInAddress(visit, acr) });
    }
  }

  function demandSignIn(visit: Visit, acr: Acr | undefined, weak: Live | undefined): void {
    const { ctx } = visit;
    const reason = 'login_required';
    const message = 'The session does not prove what the page needs.';
    const broken = { rule: 'level' as const, received: weak?.session.acr, expected: acr, account: weak?.account };
    const reference = weak && referenceTo(visit, { ...broken, reason, message });
    ctx.set('WWW-Authenticate', firstChallenge(visit));
    ctx.status = 401;
    ctx.body = { error: reason, login_url: signInAddress(visit, acr), reference };
  }

  /** Where a person begins the sign-in that this request lacks. It returns to the page from which the request came. */
  function signInAddress({ ctx, by, asked: { origin, path, query } }: Visit, acr: Acr | undefined): string {
    const referer = ctx.get('Referer');
    const from = referer.startsWith(`${origin}/`) ? referer.slice(origin.length) : undefined;
    return signInTo(origin, { page: pageAt(from ?? (by === 'frame' ? `${path}${query}` : '/')), acr });
  }

  function signInTo(origin: string, { page, acr }: Pick<Begun, 'page' | 'acr'>): string {
    return `${origin}${SIGN_IN_PATH}?${new URLSearchParams({ page, ...(acr && { acr }) })}`;
  }

  function cancelled(visit: Visit, begun: Begun): void {
    const signInAt = signInTo(visit.asked.origin, begun);
    showPage(visit, 401, t('website.cancelled.title'), t('website.sign-in.title'), { signInAt });
  }

  async function signInAt(visit: Visit): Promise<void> {
    const { asked } = visit;
    const { page, acr } = signInQuery.parse(Object.fromEntries(new URLSearchParams(asked.query)));
    const live = await liveSession(visit);
    if (live && (!acr || acrLevel(live.session.acr) >= acrLevel(acr))) return redirect(visit, `${asked.origin}${page}`);
    if (visit.by !== 'navigation') return signIn(visit, acr);
    return beginSignIn(visit, { page, acr, round: 0 });
  }

  /** @param chain the sealed chain that the sign-in belongs to: it takes place without a page */
  function beginSignIn(visit: Visit, wanted: Pick<Begun, 'page' | 'acr' | 'round'>, chain?: string): void {
    const { origin } = visit.asked;
    // Tabs that sign in at the same time share the cookie.
    const cookie = visit.cookie ?? newCookie(origin);
    const salt = randomToken(12);
    const begun: Begun = { ...wanted, browser: sha256(cookie), salt, at: now().getTime() };
    const sealed = vault.seal(JSON.stringify(begun), contextOf(origin));
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: origin,
      redirect_uri: `${origin}${CALLBACK_PATH}`,
      scope: 'openid',
      state: chain === undefined ? sealed : `${sealed}${CHAIN_SEPARATOR}${chain}`,
      code_challenge: sha256(verifierOf(cookie, salt)),
      code_challenge_method: 'S256',
      ...(wanted.acr && { acr_values: wanted.acr }),
      ...(chain !== undefined && { prompt: 'none' }),
    });
    setCookie(visit, cookie);
    redirect(visit, `${issuer}/authorize?${query}`);
  }

  function ownPage(visit: Visit): void | Promise<void> {
    const { asked, ctx } = visit;
    // HEAD uses up no code and no ticket.
    const isRead = asked.method === 'GET' || (asked.method === 'HEAD' && asked.path === SIGN_IN_PATH);
    if (!isRead) return sendError(ctx, visit.proxy, 405, 'method_not_allowed');
    if (asked.path === CALLBACK_PATH) return finishSignIn(visit);
    if (asked.path === SIGN_IN_PATH) return signInAt(visit);
    if (asked.path === LOGOUT_PATH) return signOut(visit);
    if (asked.path === JOIN_PATH) return joinChain(visit);
    if (asked.path === TEST_PATH) return reportQuestion(visit);
    if (asked.path === TEST_BACKEND_PATH) return passTest(visit);
    return sendError(ctx, visit.proxy, 404, 'not_found');
  }

  async function finishSignIn(visit: Visit): Promise<void> {
    const { asked, cookie } = visit;
    const { origin } = asked;
    const query = callbackQuery.safeParse(Object.fromEntries(new URLSearchParams(asked.query)));
    const { state: sent, code, error }: z.output<typeof callbackQuery> = query.data ?? { state: '' };
    const [sealed = '', chain] = sent.split(CHAIN_SEPARATOR);
    const begun = opened(state, sealed, contextOf(origin));
    // A user who may not sign in here goes on to the page; its requests to this website are then rejected.
    if (chain !== undefined && (!begun || code === undefined)) return redirectToNext(visit, chain);
    if (!begun) {
      record(visit.ctx, asked, {
        rule: 'state',
        reason: 'invalid_state',
        message: 'The sign-in was not begun at this website, or too long ago; it begins again.',
        of: 'sign-in',
      });
      return redirect(visit, `${origin}/`);
    }
    if (cookie === undefined || !safeEqual(sha256(cookie), begun.browser)) {
      // Another tab was first.
      if (chain === undefined && (await liveSession(visit))) return redirect(visit, `${origin}${begun.page}`);
      const received = cookie ? 'another cookie' : 'no cookie';
      return signInAgain(visit, begun, { rule: 'browser', received }, chain);
    }
    // RFC 6749 4.1.2.1; who may not use the website learns that before.
    if (error === 'access_denied') return cancelled(visit, begun);
    if (error !== undefined || code === undefined)
      return denied(visit, { rule: 'sign_in', received: error ?? 'no code', of: 'sign-in' });
    return beginSession(visit, begun, { code, cookie, chain });
  }

  /** Redeems the code, and replaces the cookie of the sign-in by that of the session. */
  async function beginSession(
    visit: Visit,
    begun: Begun,
    { code, cookie, chain }: { code: string; cookie: string; chain: string | undefined },
  ): Promise<void> {
    const { origin } = visit.asked;
    // One row for a code of this server, whose sign-in was charged.
    visit.ctx.state.sender = 'trusted';
    const redeemed = await createInProcessClient({ provider }, origin).redeem(
      code,
      verifierOf(cookie, begun.salt),
      `${origin}${CALLBACK_PATH}`,
    );
    if (!redeemed) return signInAgain(visit, begun, { rule: 'code' }, chain);
    if (begun.acr && acrLevel(redeemed.acr) < acrLevel(begun.acr))
      return denied(visit, { rule: 'level', received: redeemed.acr, expected: begun.acr, of: 'sign-in' });
    const sso = await sessions.find(redeemed.ssoUid);
    const lifetimeMs = (sso?.expiresAt.getTime() ?? 0) - now().getTime();
    await rpSessions.remove(cookie);
    const session = newCookie(origin, OF_SESSION);
    setCookie(visit, await rpSessions.create(redeemed, { clientId: origin, cookie: session, lifetimeMs }));
    if (chain !== undefined) return redirectToNext(visit, chain);
    const { accountId: userId, ssoUid } = redeemed;
    const start = { origin, page: begun.page, position: -1, userId, ssoUid, at: now().getTime() };
    return redirect(visit, await nextInChain(start, visit.ctx.state.request.address));
  }

  // ── The chain of sign-ins at the websites that another one depends on ─────────────────────────────────────

  /** The next website of the chain that the user may open, or the page at its end. */
  async function nextInChain(chain: SignInChain, address: string): Promise<string> {
    const websites = (await websiteAt(chain.origin))?.website?.depends_on ?? [];
    const account = websites.length > chain.position + 1 ? await accounts.find(chain.userId) : undefined;
    for (const [position, origin] of websites.entries()) {
      if (position <= chain.position || !account || origin === chain.origin) continue;
      const application = await websiteAt(origin);
      if (!application?.website || !accessDecision(application, account, address).allowed) continue;
      return `${origin}${JOIN_PATH}?${new URLSearchParams({ chain: sealChain({ ...chain, position }) })}`;
    }
    return `${chain.origin}${chain.page}`;
  }

  /** From a website of the chain to this server, which leads to the next one. */
  function redirectToNext(visit: Visit, chain: string): void {
    redirect(visit, `${issuer}${NEXT_PATH}?${new URLSearchParams({ chain })}`);
  }

  /** At a website of the chain: signs in here too, without a page, unless it is done. */
  async function joinChain(visit: Visit): Promise<void> {
    const sealed = chainIn(visit.asked.query);
    const chain = opened(signInChain, sealed, CHAIN_CONTEXT);
    if (!chain) return redirect(visit, `${visit.asked.origin}/`);
    const live = await liveSession(visit);
    if (live?.session.ssoUid === chain.ssoUid) return redirectToNext(visit, sealed);
    return beginSignIn(visit, { page: '/', round: 0 }, sealed);
  }

  /** At this server, between two websites: only for the browser whose user signed in. */
  async function continueChain(ctx: Context, next: () => Promise<void>): Promise<void> {
    if (ctx.path !== NEXT_PATH || ctx.method !== 'GET') return next();
    ctx.state.route = NEXT_PATH;
    const chain = opened(signInChain, chainIn(ctx.querystring), CHAIN_CONTEXT);
    const session = chain && (await sessions.ofCookie(cookies.get(ctx, 'session')));
    const isOfUser = session !== undefined && session.uid === chain?.ssoUid;
    ctx.set('Cache-Control', 'no-store');
    seeOther(ctx, isOfUser ? await nextInChain(chain, ctx.state.request.address) : '/account');
  }

  function chainIn(query: string): string {
    return new URLSearchParams(query).get('chain') ?? '';
  }

  /** A page that is too long is replaced by the first one. */
  function sealChain(chain: SignInChain): string {
    const texts = [chain, { ...chain, page: '/' }].map((one) => JSON.stringify(one));
    const fitting = texts.find((text) => Buffer.byteLength(text) <= CHAIN_LENGTH) ?? '';
    return vault.seal(fitting + ' '.repeat(CHAIN_LENGTH - Buffer.byteLength(fitting)), CHAIN_CONTEXT);
  }

  function signInAgain(visit: Visit, begun: Begun, why: BrokenRule, chain?: string): void {
    const { page, acr, round } = begun;
    if (chain !== undefined) {
      redirectToNext(visit, chain);
      return;
    }
    if (round < MAX_ROUNDS) {
      beginSignIn(visit, { page, acr, round: round + 1 });
      return;
    }
    const { name: app } = visit.application;
    const rejected = {
      ...why,
      reason: 'sign_in_not_completed',
      message: 'The sign-in began again, in vain.',
      of: 'sign-in' as const,
    };
    reject(visit, 400, rejected, [t('website.cookies.title'), t('website.cookies.text', { app })]);
  }

  // ── The test by an administrator (website-test.ts) ────────────────────────────────────────────────────────

  async function reportQuestion(visit: Visit): Promise<void> {
    const { ctx, proxy, asked, by } = visit;
    // Before it is used up: nginx asks twice about what is rejected.
    const origin = tickets.originOf(new URLSearchParams(asked.query).get('ticket') ?? '');
    if (proxy && origin !== undefined && origin !== asked.origin)
      return reject(visit, 404, {
        rule: 'question',
        reason: 'not_found',
        message: 'The proxy asks about another website than the one of the test.',
        received: asked.origin,
        expected: origin,
      });
    const ticket = proxy && (await ticketOf(ctx, asked, 'question'));
    if (!ticket) return sendError(ctx, proxy, 404, 'not_found');
    const hasCookie = ctx.get('Cookie').includes(`${TEST_COOKIE}=1`);
    const isBrowser = new URLSearchParams(asked.query).has('browser');
    ctx.append('Set-Cookie', `${TEST_COOKIE}=1; path=${TEST_PATH}; max-age=60; httponly; samesite=lax`);
    // A browser comes again, with the cookie that it got.
    if (isBrowser) {
      const next = new URLSearchParams({ ticket: tickets.next(ticket, false) });
      return redirect(visit, `${asked.origin}${TEST_PATH}?${next}`);
    }
    const namesWebsite = proxy === 'nginx' || proxy === 'envoy' || ctx.querystring.includes('website=');
    const { address } = ctx.state.request;
    const isNavigation = by === 'navigation';
    const untrusted = untrustedProxy(ctx);
    const question = {
      proxy,
      method: asked.method,
      isNavigation,
      hasCookie,
      namesWebsite,
      address,
      ...(untrusted !== undefined && { untrusted }),
    };
    return redirect(visit, toConsole({ by: ticket.by, applicationId: ticket.applicationId, question }));
  }

  async function passTest(visit: Visit): Promise<void> {
    const { ctx, proxy, asked, website } = visit;
    // With the value, the route leads back to the proxy.
    const ticket = ctx.get(JWT_HEADER) === TEST_VALUE ? undefined : await ticketOf(ctx, asked, 'question');
    if (!ticket || ticket.origin !== asked.origin) return sendError(ctx, proxy, 404, 'not_found');
    pass(visit, undefined, TEST_VALUE);
    if (ticket.hasValues) for (const name of Object.keys(headersOf(website.headers))) ctx.set(name, TEST_VALUE);
  }

  /** The request itself, as the website would receive it. The proxy may have replaced its host. */
  async function reportBackend(ctx: Context, asked: AskedRequest): Promise<void> {
    const ticket = await ticketOf(ctx, asked, 'backend');
    const website = ticket && (await websiteAt(ticket.origin))?.website;
    if (!website) return sendError(ctx, undefined, 404, 'not_found');
    const { applicationId, by, origin, hasValues } = ticket;
    ctx.status = 302;
    ctx.body = '';
    if (asked.query.includes('browser=1') && !hasValues) {
      const next = new URLSearchParams({ ticket: tickets.next(ticket, true) });
      return ctx.set('Location', `${origin}${TEST_BACKEND_PATH}?${next}`);
    }
    const names = [...Object.keys(headersOf(website.headers)), JWT_HEADER, 'Upgrade'];
    const received = receivedHeaders(ctx.req.rawHeaders, names);
    const secrets = [
      ...(ctx.get('Cookie').search(OWN_COOKIES) < 0 ? [] : ['Cookie']),
      ...(credentialOf(ctx, website) ? ['Authorization'] : []),
    ];
    ctx.set('Location', toConsole({ by, applicationId, backend: { hasValues, ...received, secrets } }));
  }

  /** Undefined for one that was made up, or is too old. */
  function opened<Value extends { at: number }>(
    schema: z.ZodType<Value>,
    sealed: string,
    context: string,
  ): Value | undefined {
    try {
      const value = schema.parse(JSON.parse(vault.open(sealed, context).toString()));
      return value.at + SIGN_IN_MS > now().getTime() ? value : undefined;
    } catch {
      return undefined;
    }
  }

  /** Only a click on a page of the website needs no confirmation: no script, frame or prefetch of it. */
  async function signOut(visit: Visit): Promise<void> {
    const { ctx, asked } = visit;
    const { origin } = asked;
    // No picture or script of a page signs its user out.
    if (!/^(navigate)?$/.test(ctx.get('Sec-Fetch-Mode'))) return sendError(ctx, visit.proxy, 403, 'not_a_navigation');
    const [site, user, dest] = ['Site', 'User', 'Dest'].map((name) => ctx.get(`Sec-Fetch-${name}`));
    const isClick = visit.by === 'navigation' && site === 'same-origin' && user === '?1' && dest === 'document';
    const live = isClick ? await liveSession(visit) : undefined;
    const hint =
      live && (await createInProcessClient({ provider }, origin).logoutHint(live.account.id, live.session.ssoUid));
    const query = new URLSearchParams({
      client_id: origin,
      // Any other first page would lead to a sign-in at once, so the result stays displayed.
      ...(isPublic(rulesFor(visit.website.paths, 'GET', '/')) && { post_logout_redirect_uri: `${origin}/` }),
      ...(hint && { id_token_hint: hint }),
    });
    redirect(visit, `${issuer}/end-session?${query}`);
  }

  // ── The cookie ────────────────────────────────────────────────────────────────────────────────────────────

  /** With the MAC, a value that was made up, or is of another website, costs no look-up. */
  function newCookie(origin: string, kind = OF_SIGN_IN): string {
    const value = `${kind}${randomToken()}`;
    return `${value}.${macs[0]?.(`${origin} ${value}`)}`;
  }

  /** The genuine cookie of the website; undefined where there are several, one of which a page of another port may have set. */
  function cookieOf({ req }: Question, origin: string): string | undefined {
    const name = cookieName(origin);
    const found = (req.headers.cookie ?? '')
      .split(';')
      // RFC 6265 5.2 knows two: trim() would make `\xa0__Host-…`, which any website of the domain can set, the name of the session's cookie.
      .map((part) => part.replace(/^[ \t]+/, ''))
      .filter((part) => part.startsWith(`${name}=`))
      .map((part) => part.slice(name.length + 1));
    const [cookie = ''] = found.length === 1 ? found : [];
    const [value, mac = ''] = cookie.split('.');
    return macs.some((macOf) => isSameMac(macOf(`${origin} ${value}`), mac)) ? cookie : undefined;
  }
}

const isOfSession = (cookie: string) => cookie.startsWith(OF_SESSION);

const isPublic = (rules: ReturnType<typeof rulesFor>) => rules.every((rule) => rule?.rule === 'public');

/** Whether a page of another website caused the request, and the website takes none of those. */
const isUnwanted = ({ ctx, asked, website }: Visit) => website.csrf === 'reject' && isFromElsewhere(ctx, asked);

/** What some backends take for the method. */
const METHOD_OVERRIDES = ['x-http-method-override', 'x-http-method', 'x-method-override'];
/** A browser sends both headers with it, and no credential (Fetch, CORS-preflight fetch). */
const isAllowedPreflight = ({ req: { headers } }: Question, asked: AskedRequest, website: ProxiedSettings) =>
  website.preflight === 'allow' &&
  asked.method === 'OPTIONS' &&
  !!headers['access-control-request-method'] &&
  !!headers.origin &&
  ['cookie', 'authorization', ...METHOD_OVERRIDES].every((name) => !headers[name]);

const pageAt = (target: string) => (target.length > MAX_PATH ? '/' : target);
const contextOf = (origin: string) => `website sign-in ${origin}`;
const verifierOf = (cookie: string, salt: string) => sha256(`${salt} ${cookie}`);

/** Browsers have one store for all ports of a host (RFC 6265 8.5). Without https (on this machine only) they store no `__Host-` cookie. */
const cookieName = memoized((origin) => {
  const { protocol, port } = new URL(origin);
  return `${protocol === 'https:' ? '__Host-' : ''}${SESSION_COOKIE}${port && `_${port}`}`;
});

function setCookie({ ctx, asked: { origin } }: Visit, value: string): void {
  const secure = origin.startsWith('https:') ? '; secure' : '';
  ctx.append('Set-Cookie', `${cookieName(origin)}=${value}; path=/; httponly; samesite=lax${secure}`);
}
