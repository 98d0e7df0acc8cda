// Builds the parts that password resets, invitations, address verification, unlocking and self-registration share.

import { setTimeout as sleep } from 'node:timers/promises';
import type Router from '@koa/router';
import { z } from 'zod';
import { type Context, type Extras, type Middleware, type State, seeOther } from '../base/http/context.ts';
import type { CookieKey, Cookies } from '../base/http/cookies.ts';
import { badRequest, tooManyRequests } from '../base/http/errors.ts';
import type { Http } from '../base/http/http.ts';
import { parseForm, parseQuery } from '../base/http/input.ts';
import { withLanguage } from '../base/http/pages/language.ts';
import { limits } from '../base/limits.ts';
import type { RequestInfo } from '../base/platform/request-info.ts';
import { type Tx, transaction } from '../base/storage/database.ts';
import { assertMayStore } from '../base/storage/request-scope.ts';
import type { Sql } from '../base/storage/statements.ts';
import { type PageLink, type PageText, sentences, t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import { createLinkTokens, type LinkPurpose, type LinkToken } from '../core/mail/link-tokens.ts';
import type { Account } from '../people/accounts/account.ts';
import type { SetPassword } from '../people/credentials/credentials.ts';
import type { PasswordFault } from '../people/credentials/password-policy.ts';
import type { People } from '../people/people.ts';
import type { PolicyName } from '../people/rate-limits/policies.ts';
import type { RateLimits } from '../people/rate-limits/rate-limits.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import { recallSignIn } from '../sign-in/interactions.ts';

export type MailedLinks = ReturnType<typeof createMailedLinks>;

export function createMailedLinks(services: Core & Http & People & SessionServices) {
  const accountLinks = createAccountLinks(services);
  return {
    accountLinks,
    returnToSignIn: createReturnToSignIn(services),
    setPasswordByLink: createSetPasswordByLink(services, accountLinks),
  };
}

// Mailed links that belong to an account: a link works while its token is usable and the account is active.

export interface AccountLink<Purpose extends LinkPurpose = LinkPurpose> {
  link: LinkToken<Purpose>;
  account: Account;
}

export type AccountLinks = ReturnType<typeof createAccountLinks>;

export function createAccountLinks(services: Core & People) {
  const { accounts } = services;
  const linkTokens = createLinkTokens(services);
  return {
    issue: linkTokens.issue,
    consume: linkTokens.consume,
    markOpened: linkTokens.markOpened,

    /** The link of this token and its account; undefined when it does not work (any more). Does not use it up. */
    async find<Purpose extends LinkPurpose>(
      token: string,
      ...purposes: Purpose[]
    ): Promise<AccountLink<Purpose> | undefined> {
      const link = await linkTokens.find(token, ...purposes);
      const account = link && (await accounts.find(link.userId));
      return link && account?.isActive ? { link, account } : undefined;
    },
  };
}

// Handles the token of every page behind a mailed link. The token moves at once from the URL to a signed cookie, so that it is
// neither in the history nor in a Referer header. Opening a link changes nothing, because mail scanners
// open links too.

export type LinkPage = ReturnType<typeof createLinkPage>;

/** For the view mailed-links/message. */
export interface DoneMessage {
  title: PageText;
  lead: PageText;
  hint?: PageText;
  next: PageLink;
  other?: PageLink;
}

export interface LinkPageOptions {
  cookie: Extract<CookieKey, 'reset' | 'link'>;
  /** Where the user can request a new link. */
  next: PageLink;
}

const NOTHING_DONE = { title: t('mailed-link.used'), lead: t('mailed-link.used-lead') };

const linkQuery = z.object({ token: z.string().max(1024).optional() });
const TOKEN = /^[\w.-]{20,1024}$/;

export function createLinkPage({ cookies, rateLimits }: Http & People, { cookie, next }: LinkPageOptions) {
  const reject = (ctx: Context): never => {
    cookies.clear(ctx, cookie);
    throw badRequest('link_invalid', { next });
  };

  return {
    /** Middleware before the page: moves a token from the URL to the cookie. */
    receiveToken: (async (ctx, proceed) => {
      const { token } = parseQuery(ctx, linkQuery);
      if (token === undefined) return proceed();
      if (!TOKEN.test(token)) reject(ctx);
      // Longer than a reset link is valid, so that the page reports an expired link instead of a missing cookie.
      cookies.set(ctx, cookie, token, { maxAgeSeconds: limits.interaction.seconds });
      ctx.set('Cache-Control', 'no-store');
      seeOther(ctx, ctx.path);
    }) satisfies Middleware,

    /** The token of this browser and what `find` returns for it; throws `link_invalid` (400) when it returns nothing. */
    async resolve<T>(
      ctx: Context,
      find: (token: string) => Promise<T | undefined>,
    ): Promise<{ token: string; found: T }> {
      const { address } = ctx.state.request;
      const decision = await rateLimits.consume('link:address', { address });
      if (!decision.allowed) throw tooManyRequests(decision.retryAfterSeconds);
      const token = cookies.get(ctx, cookie);
      const found = token === undefined ? undefined : await find(token);
      if (token === undefined || found === undefined) return reject(ctx);
      await rateLimits.refund('link:address', { address });
      return { token, found };
    },

    /** Rejects a form for another account than that of the last opened link (for example in another tab). */
    assertUnchanged(displayedValue: string, expected: string): void {
      if (displayedValue.trim() !== expected) throw badRequest('other_link');
    },

    /** Throws `link_invalid` (400). */
    reject,

    /** Redirects to the page that reports the result. */
    redirectToDone(ctx: Context, path: string): void {
      cookies.clear(ctx, cookie);
      cookies.set(ctx, 'linkDone', path);
      seeOther(ctx, path);
    },

    /** The next sign-in of this browser begins with what the form has proven; `token` is of `Invitations.accept`. */
    keepForSignIn(ctx: Context, token: string): void {
      cookies.clear(ctx, cookie);
      cookies.set(ctx, 'accepted', token);
      ctx.set('Cache-Control', 'no-store');
    },

    /** The page of the result: displays `message` once, in this browser only, and nothing later or in another browser. */
    renderDone(ctx: Context, message: DoneMessage): void {
      const isHere = cookies.get(ctx, 'linkDone') === ctx.path;
      if (isHere) cookies.clear(ctx, 'linkDone');
      ctx.render('mailed-links/message', isHere ? message : { ...NOTHING_DONE, next: message.next });
    },
  };
}

// The confirmation pages of mailed links: a page with a button, and a page with the result. For the verification of an
// email address and for unlocking an account.

interface ConfirmRoutesOptions<Link> {
  path: string;
  /** Where the user can request a new link. */
  next: LinkPageOptions['next'];
  /** Before the pages of a link that only one user can use. */
  requireSignIn?: Middleware;
  /** Finds a valid link without consuming it. */
  find(token: string, ctx: Context): Promise<Link | undefined>;
  /** The texts of the page; `value` is the address or username that the link is about. */
  describe(found: Link): { title: PageText; lead: PageText; value: string; button: PageText };
  /** Consumes the link; false if it was already used or has expired. */
  confirm(ctx: Context, token: string): Promise<boolean>;
  doneMessage(ctx: Context): DoneMessage;
}

const proceed: Middleware = (_ctx, next) => next();
const confirmForm = z.object({ displayedValue: z.string().max(254) });

export function addConfirmRoutes<Link>(
  router: Router<State, Extras>,
  services: Http & People,
  { path, next, requireSignIn = proceed, find, describe, confirm, doneMessage }: ConfirmRoutesOptions<Link>,
): void {
  const { check: checkCsrf } = services.csrf;

  const page = createLinkPage(services, { cookie: 'link', next });

  router.get(path, page.receiveToken, requireSignIn, async (ctx) => {
    const { found } = await page.resolve(ctx, (token) => find(token, ctx));
    ctx.render('mailed-links/confirm', { ...describe(found), action: path });
  });

  router.post(path, requireSignIn, checkCsrf, async (ctx) => {
    const { token, found } = await page.resolve(ctx, (sent) => find(sent, ctx));
    page.assertUnchanged((await parseForm(ctx, confirmForm)).displayedValue, describe(found).value);
    if (!(await confirm(ctx, token))) return page.reject(ctx);
    page.redirectToDone(ctx, `${path}/done`);
  });

  router.get(`${path}/done`, (ctx) => page.renderDone(ctx, doneMessage(ctx)));
}

// The pages that request a mailed link for a username or email address: the form, and the same answer for every name.
// For password resets and for unlocking an account.

interface RequestRoutesOptions {
  path: string;
  /** The path of the page after the form. */
  sentPath: string;
  texts: { title: PageText; lead: PageText };
  /** `browser`: the cookie of a known browser, which has a rate limit of its own. */
  request(login: string, request: RequestInfo, browser: string | undefined): Promise<void>;
  /** The page after the form, the same for every name. */
  sent(ctx: Context): { lead: PageText; hint: PageText; other: PageLink };
}

/** After the form: an email is queued. Without a mail server, the page says so; that is the same for every name. */
export function sentPage(
  texts: { lead: PageText; hint: PageText; other: PageLink },
  hasMailServer: boolean,
  { href }: PageLink,
) {
  if (hasMailServer) return { title: t('mailed-link.sent'), ...texts };
  return {
    title: t('mailed-link.not-sent'),
    lead: t('email.no-server'),
    other: { href, label: t('mailed-link.back') },
  };
}

const requestForm = z.object({ username: z.string().trim().min(1).max(254) });

export function addRequestRoutes(
  router: Router<State, Extras>,
  {
    cookies,
    rateLimits,
    returnToSignIn,
    sql,
    csrf: { check: checkCsrf },
    mailServer,
  }: Core & Http & People & { returnToSignIn: ReturnToSignIn },
  { path, sentPath, texts, request, sent }: RequestRoutesOptions,
): void {
  router.get(path, returnToSignIn.rememberSignIn, (ctx) => {
    const back = returnToSignIn.backLink(ctx);
    ctx.render('mailed-links/request', { ...texts, action: path, button: t('mailed-link.send'), back });
  });

  router.post(path, returnToSignIn.useItsBrand, checkCsrf, async (ctx) => {
    const { username } = await parseForm(ctx, requestForm);
    await answerUniformly(ctx, { rateLimits, sql, policy: 'reset:address' }, async () => {
      await request(username, withLanguage(ctx), cookies.get(ctx, 'knownBrowser'));
      return sentPath;
    });
  });

  router.get(sentPath, returnToSignIn.useItsBrand, (ctx) => {
    ctx.render('mailed-links/message', sentPage(sent(ctx), mailServer.isSet(), returnToSignIn.continueLink(ctx)));
  });
}

// The answer to a form that must not reveal whether an account exists: the same page for every name, after a fixed
// time. The work of the request is the same for every name; the fixed time hides remaining differences.

/**
 * Counts the request under `policy` by its address (429 when there are too many), does `work`, and when the fixed time is over
 * redirects to the page that it returned; undefined: `work` wrote another answer.
 */
export async function answerUniformly(
  ctx: Context,
  { rateLimits, sql, policy }: { rateLimits: RateLimits; sql: Sql; policy: PolicyName },
  work: () => Promise<string | undefined>,
): Promise<void> {
  assertMayStore();
  const fixedTime = sleep(limits.uniformAnswer.milliseconds);
  const result = await rateLimits.consume(policy, { address: ctx.state.request.address });
  if (!result.allowed) throw tooManyRequests(result.retryAfterSeconds);
  const page = await work();
  await sql.commitWaiting(); // within the fixed time
  await fixedTime;
  if (page === undefined) return;
  ctx.set('Cache-Control', 'no-store');
  seeOther(ctx, page);
}

// The pages behind the mailed link of a password reset: the form, and the page that reports the change.

interface NewPasswordRoutesOptions {
  path: string;
  /** The account of a usable link; does not use it up. */
  find(token: string): Promise<Account | undefined>;
  setPassword(token: string, password: string, request: RequestInfo): Promise<LinkOutcome>;
  hasSecondFactor(accountId: string): Promise<boolean>;
  doneMessage(ctx: Context): DoneMessage;
}

/** The version of the terms that a page displayed; another one is accepted at the sign-in that follows. */
export const termsField = z.string().max(100).optional();
export const passwordForm = z.object({ username: z.string().max(254), password: z.string().max(4096) });

export function addNewPasswordRoutes(
  router: Router<State, Extras>,
  services: Http & People,
  { path, find, setPassword, hasSecondFactor, doneMessage }: NewPasswordRoutesOptions,
): void {
  const { credentials } = services;
  const { check: checkCsrf } = services.csrf;

  const next = { href: '/forgot-password', label: t('mailed-link.new') };
  const page = createLinkPage(services, { cookie: 'reset', next });

  router.get(path, page.receiveToken, async (ctx) => {
    const { found: account } = await page.resolve(ctx, find);
    await show(ctx, account);
  });

  router.post(path, checkCsrf, async (ctx) => {
    const { token, found: account } = await page.resolve(ctx, find);
    const { username, password } = await parseForm(ctx, passwordForm);
    page.assertUnchanged(username, account.username);
    const result = await setPassword(token, password, withLanguage(ctx));
    if (result.outcome === 'invalid') return page.reject(ctx);
    if (result.outcome === 'rejected') return show(ctx, account, result.faults);
    page.redirectToDone(ctx, `${path}/done`);
  });

  router.get(`${path}/done`, (ctx) => page.renderDone(ctx, doneMessage(ctx)));

  async function show(ctx: Context, account: Account, faults: PasswordFault[] = []): Promise<void> {
    const { id, username } = account;
    const hasFactor = await hasSecondFactor(id);
    const form = { action: path, username, minLength: credentials.minimumLength(hasFactor) };
    if (faults.length === 0) return ctx.render('mailed-links/new-password', form);
    const error = sentences(faults.map((fault) => credentials.advice(fault, hasFactor)));
    ctx.render('mailed-links/new-password', { ...form, error }, 400);
  }
}

// Sets a password with a mailed link, of a password reset or an invitation. One transaction marks the link as used,
// stores the password and ends all sessions. A password reset does not sign the user in; the next sign-in requires a second factor as always.

export type LinkOutcome =
  /** `signIn`: what the owner signs in with at once. */
  | { outcome: 'done'; signIn?: string | undefined }
  | { outcome: 'invalid' }
  /** The password breaks the rules. The link stays valid. */
  | { outcome: 'rejected'; faults: PasswordFault[] };

export type SetPasswordByLink = (
  found: AccountLink,
  password: string,
  options: SetPasswordByLinkOptions,
) => Promise<LinkOutcome>;

interface SetPasswordByLinkOptions {
  event: NonNullable<SetPassword['event']>;
  by: Actor;
  /** More changes, in the transaction that sets the password. */
  inTransaction?(tx: Tx): Promise<void>;
}

export function createSetPasswordByLink(
  { credentials, db, endSession, lockout, mfa: { knownBrowsers } }: Core & People & SessionServices,
  accountLinks: AccountLinks,
): SetPasswordByLink {
  return async ({ link, account }, password, { event, by, inTransaction = async () => {} }) => {
    const prepared = await credentials.preparePassword(account, password, { ...by, event });
    if (prepared.outcome === 'rejected') return { outcome: 'rejected', faults: prepared.faults };
    const isDone = await transaction(db, async (tx) => {
      // Of parallel requests, only one continues after this line.
      if (!(await accountLinks.consume(link, tx))) return false;
      await prepared.store(tx);
      // The known and trusted browsers may belong to an attacker.
      await knownBrowsers.forget(account.id, undefined, tx);
      await endSession.all(account.id, 'password-reset', by, tx);
      await inTransaction(tx);
      return true;
    });
    if (!isDone) return { outcome: 'invalid' };
    // Only the owner can use the link.
    await lockout.unlock(account);
    return { outcome: 'done' };
  };
}

// Returns a user to the sign-in that was left for a mailed link: a cookie keeps its uid, and the last page links to it,
// so that a password reset ends in the application that the user wanted to open.

export type ReturnToSignIn = ReturnType<typeof createReturnToSignIn>;

const query = z.object({ signin: z.string().max(100).optional() });
const UID = /^[\w-]{10,100}$/;

function createReturnToSignIn({ cookies }: { cookies: Cookies }) {
  function uidOf(ctx: Context): string | undefined {
    const { signin } = parseQuery(ctx, query);
    return signin && UID.test(signin) ? signin : undefined;
  }

  return {
    /** In front of the first page: stores the sign-in named by `?signin=`, or clears the cookie. */
    rememberSignIn: ((ctx, proceed) => {
      const uid = uidOf(ctx);
      if (uid) {
        cookies.set(ctx, 'returnToSignIn', uid);
        recallSignIn(cookies, ctx, uid);
      } else if (cookies.get(ctx, 'returnToSignIn')) cookies.clear(ctx, 'returnToSignIn');
      return proceed();
    }) satisfies Middleware,

    /** In front of the pages behind it: they and their mails have the brand of the application of that sign-in, and its language. */
    useItsBrand: ((ctx, proceed) => {
      const uid = cookies.get(ctx, 'returnToSignIn');
      if (uid) recallSignIn(cookies, ctx, uid);
      return proceed();
    }) satisfies Middleware,

    /** For the first page: a link back to the sign-in that led to it. */
    backLink(ctx: Context): PageLink {
      const uid = uidOf(ctx);
      return { href: uid ? `/signin/${uid}` : '/account', label: t('mailed-link.back') };
    },

    /** For the last page: a link that continues the sign-in, or begins a new one. */
    continueLink(ctx: Context): PageLink {
      const uid = cookies.get(ctx, 'returnToSignIn');
      if (!uid) return { href: '/account', label: t('sign-in.title') };
      return { href: `/signin/${uid}`, label: t('mailed-link.continue') };
    },
  };
}
