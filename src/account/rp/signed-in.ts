// Pages for signed-in users: whose session it is, and whether the authentication is recent.

import { type Context, type Middleware, seeOther } from '../../base/http/context.ts';
import { unauthorized } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { type Fields, readForm } from '../../base/http/input.ts';
import { isPage } from '../../base/http/pages/page-request.ts';
import { t } from '../../base/texts/text.ts';
import type { Proof } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../../people/accounts/account.ts';
import { termsDue } from '../../people/accounts/terms.ts';
import type { Acr } from '../../people/mfa/acr.ts';
import { administrationAcr, opensAdministration, proofOf, type StrongestProof } from '../../people/mfa/step-up.ts';
import type { People } from '../../people/people.ts';
import { isStaff } from '../../people/rbac/built-in.ts';
import type { RpSession, RpSessions } from '../../protocols/oidc/store/sessions/rp-sessions.ts';
import type { Confirmation } from './confirmation.ts';

export interface SignedInUser {
  account: Account;
  session: RpSession;
  /** How strong and recent the sign-in is; known behind `requireAdministration`. */
  proof?: Proof;
}

/** A request that waits until its user has confirmed (base/http/stored-pages.ts). */
export interface WaitingRequest {
  url: string;
  /** Of a form, without its token. */
  fields?: Fields;
}

/** The path of the page of the confirmation; the value of the request follows. */
export const ACCOUNT_CONFIRM = '/account/confirm';

export type SignedIn = ReturnType<typeof createSignedIn>;

export interface SignedInDependencies {
  rpSessions: RpSessions;
  confirmation: Confirmation;
  /** The strongest proof that this account can give. */
  strongestProof(account: Account): Promise<StrongestProof>;
  /** The acr that the settings demand of users with a right in Gatehouse; undefined for others. */
  staffAcr(account: Account): Acr | undefined;
  /** Whether the directories of the account still have it; its roles follow them. */
  checkDirectories(accountId: string): Promise<boolean>;
  /** Records a request that the user made with the session. */
  recordActivity(ssoUid: string): Promise<void>;
}

export function createSignedIn(dependencies: Core & Http & People & SignedInDependencies) {
  const { accounts, confirmation, cookies, csrf, noteSeen, now, rpSessions, settings, storedPages } = dependencies;
  const { checkDirectories, recordActivity, staffAcr, strongestProof } = dependencies;
  const users = new WeakMap<object, SignedInUser>();
  /** The cookie of a session that this request has renewed. */
  const renewed = new WeakMap<object, string>();
  const cookieOf = (ctx: Context) => renewed.get(ctx.req) ?? cookies.get(ctx, 'rpSession');

  function userOf(ctx: Context): SignedInUser {
    const user = users.get(ctx.req);
    if (!user) throw unauthorized('unauthenticated');
    return user;
  }

  async function find(ctx: Context): Promise<SignedInUser | undefined> {
    const session = await rpSessions.find(cookieOf(ctx));
    if (!session || !(await checkDirectories(session.userId))) return undefined;
    const account = await accounts.find(session.userId);
    if (!account?.isActive) return undefined;
    noteSeen(account);
    ctx.state.profileLanguage = account.locale ?? undefined;
    ctx.state.mayOpenConsole = isStaff(account);
    ctx.state.sender ??= { userId: account.id };
    return { account, session };
  }

  /** What the session proves now, beside the strongest proof of its account. */
  function proofNow(session: RpSession, strongest: StrongestProof): Proof {
    return proofOf(session, strongest, { now: now(), minutes: settings.latest().recent_authentication_minutes });
  }

  /** Stores a request until its user has confirmed who it is; the page of the confirmation then carries it out. */
  async function askForConfirmation(ctx: Context, { account, session }: SignedInUser): Promise<void> {
    // The stored form is sent on with the token of that page: a form that another website sent must not get it.
    await csrf.check(ctx, async () => {});
    const waiting: WaitingRequest = { url: ctx.url };
    if (!isRead(ctx)) {
      const { _csrf, ...fields } = await readForm(ctx, { lists: 'every field' });
      waiting.fields = fields;
    }
    const owner = { userId: account.id, session: session.ssoUid };
    seeOther(ctx, `${ACCOUNT_CONFIRM}/${await storedPages.add('request', owner, waiting)}`);
  }

  const requireSignIn: Middleware = async (ctx, next) => {
    const user = await find(ctx);
    if (!user) {
      if (isRead(ctx)) return redirectToLogin(ctx, { return_to: ctx.url });
      throw unauthorized('unauthenticated', { next: { href: '/login', label: t('sign-in.title') } });
    }
    users.set(ctx.req, user);
    // A form that was open when the terms changed is not lost; the page after it asks.
    if (isRead(ctx) && termsDue(settings.latest(), user.account)) return redirectToLogin(ctx, { return_to: ctx.url });
    if (isPage(ctx)) await recordActivity(user.session.ssoUid);
    return next();
  };

  const requireRecentAuthentication: Middleware = async (ctx, next) => {
    const user = userOf(ctx);
    const { account, session } = user;
    const proof = proofNow(session, await strongestProof(account));
    if (proof.isFresh) return next();
    if ((await confirmation.waysOf(account, session)).length > 0) return askForConfirmation(ctx, user);
    demandProof(ctx, stepUp(account, proof, isRead(ctx) ? ctx.url : '/account'));
  };

  const requireAdministration: Middleware = async (ctx, next) => {
    const { account, session } = userOf(ctx);
    const strongest = await strongestProof(account);
    const levels = { strongest: strongest.acr, staff: staffAcr(account) };
    if (opensAdministration(session, levels)) {
      users.set(ctx.req, { account, session, proof: proofNow(session, strongest) });
      return next();
    }
    if (session.amr.includes('recovery')) {
      // A recovery code replaces a lost factor on the account pages, and opens nothing that demands a passkey.
      throw unauthorized('proof_needed', {
        message: t('proof.needs-passkey'),
        advice: t('proof.add-passkey'),
        next: { href: '/account/factors', label: t('enrol.set-up') },
      });
    }
    const back = isRead(ctx) ? ctx.url : ctx.path;
    demandProof(ctx, { return_to: back, acr_values: administrationAcr(levels), login_hint: account.username });
  };

  return {
    userOf,

    /** Of any request. */
    isSignedIn: async (ctx: Context): Promise<boolean> => (await find(ctx)) !== undefined,

    /** Behind `requireSignIn`: how strong and recent the sign-in is. */
    async proofAt(ctx: Context): Promise<Proof> {
      const { account, session, proof } = userOf(ctx);
      return proof ?? proofNow(session, await strongestProof(account));
    },

    /** Behind `requireSignIn`: the session has proven these methods just now. It goes on under a new cookie value. */
    async renew(ctx: Context, proven: readonly string[]): Promise<void> {
      const cookie = await rpSessions.renew(cookieOf(ctx) ?? '', userOf(ctx).session, proven);
      cookies.set(ctx, 'rpSession', cookie);
      renewed.set(ctx.req, cookie);
    },

    /** Of any request: the user, if the session is strong enough for what `requireAdministration` guards. */
    async findAdministrator(ctx: Context): Promise<SignedInUser | undefined> {
      const user = users.get(ctx.req) ?? (await find(ctx));
      if (!user) return undefined;
      users.set(ctx.req, user);
      const { acr } = await strongestProof(user.account);
      return opensAdministration(user.session, { strongest: acr, staff: staffAcr(user.account) }) ? user : undefined;
    },

    /** In front of a page: redirects a user without a session to /login, which leads back. */
    requireSignIn,
    /** Behind `requireSignIn`: the strongest authentication that the account can reach, in the last minutes. */
    requireRecentAuthentication,
    /** Behind `requireSignIn`: a second factor, where the account has one or the settings demand it for the administration; it need not be recent. */
    requireAdministration,
  };
}

/** The address of a sign-in that gives a fresh proof and leads back to `returnTo`. */
export const stepUpUrl = (account: Account, proof: Proof, returnTo: string): string =>
  loginUrl(stepUp(account, proof, returnTo));

/** The parameters of a sign-in with the strongest factor. A recent authentication needs only the missing factor. */
function stepUp(account: Account, { acr, isRecent, mailedCode }: Proof, returnTo: string): Record<string, string> {
  const parameters = {
    return_to: returnTo,
    acr_values: acr,
    login_hint: account.username,
    ...(mailedCode && { amr: 'email' }),
  };
  return isRecent ? parameters : { ...parameters, prompt: 'login' };
}

/** Redirects a page to the sign-in with these parameters. Rejects a form with a link to it: its input would be lost. */
function demandProof(ctx: Context, parameters: Record<string, string>): void {
  if (!isRead(ctx)) {
    const next = { href: loginUrl(parameters), label: t('second-factor.title') };
    throw unauthorized('proof_needed', { next });
  }
  redirectToLogin(ctx, parameters);
}

function redirectToLogin(ctx: Context, parameters: Record<string, string>): void {
  seeOther(ctx, loginUrl(parameters));
}

function loginUrl(parameters: Record<string, string>): string {
  return `/login?${new URLSearchParams(parameters)}`;
}

function isRead({ method }: Context): boolean {
  return method === 'GET' || method === 'HEAD';
}
