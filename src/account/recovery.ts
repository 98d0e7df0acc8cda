// Puts account recovery together: the password reset and the unlocking of an account, both by a mailed link.

import Router from '@koa/router';
import type { Extras, State } from '../base/http/context.ts';
import type { Http } from '../base/http/http.ts';
import { limits } from '../base/limits.ts';
import type { RequestInfo } from '../base/platform/request-info.ts';
import { type Tx, transaction } from '../base/storage/database.ts';
import { t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import type { DeferredWriter } from '../core/mail/delivery.ts';
import { recipientOf } from '../core/mail/messages.ts';
import { placeOf } from '../core/mail/wording.ts';
import type { FederationServices } from '../federation/federation-services.ts';
import type { Account } from '../people/accounts/account.ts';
import { inactiveReason } from '../people/accounts/active.ts';
import type { People } from '../people/people.ts';
import {
  type AccountLinks,
  addConfirmRoutes,
  addNewPasswordRoutes,
  addRequestRoutes,
  type LinkOutcome,
  type MailedLinks,
  type ReturnToSignIn,
  type SetPasswordByLink,
} from './mailed-links.ts';

type Services = Core & Http & People & FederationServices & { mailedLinks: MailedLinks };

export function createRecovery(services: Services) {
  const { accountLinks, returnToSignIn, setPasswordByLink } = services.mailedLinks;
  const passwordReset = createPasswordReset({ ...services, accountLinks, setPasswordByLink });
  const unlock = createUnlock({ ...services, accountLinks });
  return {
    passwordReset,
    unlock,
    routers: [
      passwordResetRoutes({ ...services, passwordReset, returnToSignIn }),
      unlockRoutes({ ...services, unlock, returnToSignIn }),
    ],
  };
}

function passwordResetRoutes(
  services: Core & Http & People & { passwordReset: PasswordReset; returnToSignIn: ReturnToSignIn },
): Router<State, Extras> {
  const { mfa, passwordReset, returnToSignIn, settings } = services;
  const router = new Router<State, Extras>();

  addRequestRoutes(router, services, {
    path: '/forgot-password',
    sentPath: '/forgot-password/sent',
    texts: { title: t('reset.title'), lead: t('reset.lead') },
    request: passwordReset.request,
    sent: () => ({
      lead: t('reset.sent', { minutes: settings.latest().reset_token_minutes }),
      hint: t('reset.sent-hint'),
      other: { href: '/forgot-password', label: t('reset.other') },
    }),
  });

  addNewPasswordRoutes(router, services, {
    path: '/reset-password',
    find: passwordReset.find,
    setPassword: passwordReset.redeem,
    hasSecondFactor: mfa.factors.hasSecondFactor,
    doneMessage: (ctx) => ({
      title: t('reset.done'),
      lead: t('reset.done-lead'),
      hint: t('reset.done-hint'),
      next: returnToSignIn.continueLink(ctx),
      other: { href: '/account', label: t('reset.review') },
    }),
  });

  return router;
}

function unlockRoutes(
  dependencies: Core & Http & People & { unlock: Unlock; returnToSignIn: ReturnToSignIn },
): Router<State, Extras> {
  const { unlock, cookies, returnToSignIn } = dependencies;
  const { knownBrowsers } = dependencies.mfa;
  const router = new Router<State, Extras>();

  addRequestRoutes(router, dependencies, {
    path: '/unlock/ask',
    sentPath: '/unlock/sent',
    texts: { title: t('unlock.title'), lead: t('unlock.lead') },
    request: unlock.request,
    sent: () => ({
      lead: t('unlock.sent', { minutes: limits.unlockLink.minutes }),
      hint: t('unlock.sent-hint'),
      other: { href: '/forgot-password', label: t('unlock.forgot') },
    }),
  });

  addConfirmRoutes(router, dependencies, {
    path: '/unlock',
    next: { href: '/unlock/ask', label: t('mailed-link.new') },
    find: unlock.find,
    describe: ({ username }) => ({
      title: t('unlock.question'),
      lead: t('unlock.question-lead'),
      value: username,
      button: t('unlock.submit'),
    }),
    async confirm(ctx, token) {
      const { request } = ctx.state;
      const account = await unlock.confirm(token, request);
      if (!account) return false;
      const { cookie } = await knownBrowsers.remember(cookies.get(ctx, 'knownBrowser'), account.id, { request });
      cookies.set(ctx, 'knownBrowser', cookie);
      return true;
    },
    doneMessage: (ctx) => ({
      title: t('unlock.done'),
      lead: t('unlock.done-lead'),
      next: returnToSignIn.continueLink(ctx),
      other: { href: '/forgot-password', label: t('unlock.forgot') },
    }),
  });

  return router;
}

// Ends a lockout by a mailed link: an attacker can lock an account with failed sign-ins, but only its owner gets the
// link. As with a password reset, the request is the same work for every name, and the mail job looks up the account
// later.

type Unlock = ReturnType<typeof createUnlock>;

const { minutes } = limits.unlockLink;

function createUnlock(dependencies: Core & People & { accountLinks: AccountLinks }) {
  const { db, audit, accountLinks, accounts, outbox, mailLimits, lockout } = dependencies;

  /** The account, if it is locked and may get one more mail. */
  async function lockedAccount(login: string, browser: string | undefined): Promise<Account | undefined> {
    const account = await accounts.findByLogin(login);
    if (!account?.isActive || account.email === null || (await lockout.lockedSeconds(account)) === 0) return undefined;
    const { id, email } = account;
    return (await mailLimits.link('unlock', { id, email }, browser)).allowed ? account : undefined;
  }

  return {
    /** Stores the request. `browser`: the cookie of a known browser. */
    request: (typed: string, request: RequestInfo, browser?: string): Promise<void> =>
      outbox.defer('unlock', { typed, request, ...(browser && { browser }) }, minutes * 60),

    /** Turns the request into a mail if the account is locked; for the mail job. */
    writeMail: (async ({ typed, browser, request }, claim) => {
      const account = await lockedAccount(typed, browser);
      await transaction(db, async (tx) => {
        const to = account && recipientOf(account, request);
        if (!(await claim(tx)) || !account || !to) return;
        const link = { userId: account.id, purpose: 'unlock', email: to.email } as const;
        const token = await accountLinks.issue(link, minutes * 60, tx);
        await outbox.send({ kind: 'unlock', to, token, minutes }, tx);
      });
    }) satisfies DeferredWriter,

    /** The account of a usable link; does not use it up. */
    find: async (token: string): Promise<Account | undefined> => (await accountLinks.find(token, 'unlock'))?.account,

    /** Uses the link up and ends the lockout; undefined when the link does not work (any more). */
    async confirm(token: string, request: RequestInfo): Promise<Account | undefined> {
      const found = await accountLinks.find(token, 'unlock');
      if (!found) return undefined;
      const { link, account } = found;
      const about = { subjectId: account.id, actorId: account.id, request, reason: 'by_mail' };
      const isUsable = await transaction(db, async (tx) => {
        if (!(await accountLinks.consume(link, tx))) return false;
        await audit.record({ type: 'sign-in.unlocked', outcome: 'success', ...about }, tx);
        return true;
      });
      if (!isUsable) return undefined;
      await lockout.unlock(account);
      return account;
    },
  };
}

// Password reset by a mailed link (docs/accounts.md). A request is stored, with the same work for every name, and
// answered; the mail job looks up the account later and decides whether a link is sent.

export type PasswordReset = ReturnType<typeof createPasswordReset>;

type ResetServices = Core &
  People &
  FederationServices & { accountLinks: AccountLinks; setPasswordByLink: SetPasswordByLink };

export function createPasswordReset(services: ResetServices) {
  const { db, accountLinks, outbox } = services;
  return {
    /** Stores the request for this login. `browser`: the cookie of a known browser. */
    request: (typed: string, request: RequestInfo, browser?: string): Promise<void> =>
      outbox.defer('password-reset', { typed, request, ...(browser && { browser }) }, minutesOf(services) * 60),

    /** Turns the request into a mail if there is an account to write to; for the mail job. */
    writeMail: ((request, claim) => writeMail(services, request, claim)) satisfies DeferredWriter,

    /** Sends a link at once, on behalf of an administrator. */
    async sendLink(account: Account, by: Actor = {}): Promise<'sent' | 'no-address' | 'disabled'> {
      if (!account.isActive) return 'disabled';
      if (account.email === null) return 'no-address';
      await transaction(db, (tx) => queueLink(services, { account, isSent: true }, by, tx));
      return 'sent';
    },

    /** The account of a usable link; does not use it up. */
    find: async (token: string): Promise<Account | undefined> =>
      (await accountLinks.find(token, 'reset-password'))?.account,
    /** Uses the link up, sets the password and ends all sessions of the account. */
    redeem: (token: string, password: string, request: RequestInfo): Promise<LinkOutcome> =>
      redeem(services, token, password, request),
  };
}

async function writeMail(
  services: ResetServices,
  { typed, request, browser }: Parameters<DeferredWriter>[0],
  claim: Parameters<DeferredWriter>[1],
): Promise<void> {
  const { db, audit, accounts, credentials, outbox, otherSignIns } = services;
  const account = await accounts.findByLogin(typed);
  const reason = await rejectionReason(services, account, browser);
  const others = account ? await otherSignIns(account) : [];
  const signsInElsewhere = account && (account.ssoId || others.length > 0) && !(await credentials.status(account.id));
  const by: Actor = request ? { request } : {};
  await transaction(db, async (tx) => {
    if (!(await claim(tx))) return;
    const to = account && recipientOf(account, request);
    if (!account || !to || reason || signsInElsewhere) {
      const other = others[0] && { name: others[0].name, isDirectory: others[0].isDirectory };
      const about = { reason: reason ?? 'no_password_here', ...(account && { subjectId: account.id }) };
      await audit.record({ ...by, type: 'password.reset-requested', outcome: 'failure', ...about }, tx);
      if (to && !reason) await outbox.send({ kind: 'no-password-here', to, other }, tx);
    } else await queueLink(services, { account, isSent: false }, by, tx);
  });
}

/** Why no link is sent; only the audit log contains it. */
async function rejectionReason(
  { mailLimits }: People,
  account: Account | undefined,
  browser: string | undefined,
): Promise<string | undefined> {
  if (!account) return 'unknown_account';
  if (!account.isActive) return inactiveReason(account);
  const { id, email } = account;
  if (email === null) return 'no_address';
  return (await mailLimits.link('reset', { id, email }, browser)).allowed ? undefined : 'too_many_requests';
}

/** `isSent`: by an administrator; else the person requested it. */
async function queueLink(
  services: ResetServices,
  { account, isSent }: { account: Account; isSent: boolean },
  by: Actor,
  tx: Tx,
): Promise<void> {
  const { accountLinks, audit, outbox } = services;
  const minutes = minutesOf(services);
  // The language and the application of an administrator are not those of the person.
  const to = recipientOf(account, isSent ? undefined : by.request);
  if (!to) return;
  const link = { userId: account.id, purpose: 'reset-password', email: undefined } as const;
  const token = await accountLinks.issue(link, minutes * 60, tx);
  await outbox.send({ kind: 'password-reset', to, token, minutes, isSent }, tx);
  await audit.record({ ...by, type: 'password.reset-requested', outcome: 'success', subjectId: account.id }, tx);
}

async function redeem(
  { now, accountLinks, audit, mfa: { firstEnrolment }, outbox, setPasswordByLink }: ResetServices,
  token: string,
  password: string,
  request: RequestInfo,
): Promise<LinkOutcome> {
  const found = await accountLinks.find(token, 'reset-password');
  if (!found) {
    await audit.record({ type: 'password.reset', outcome: 'failure', reason: 'invalid_link', request });
    return { outcome: 'invalid' };
  }
  const { account } = found;
  return setPasswordByLink(found, password, {
    event: 'password.reset',
    by: { actorId: account.id, request },
    async inTransaction(tx) {
      await firstEnrolment.passwordResetByMail(account.id, tx);
      const to = recipientOf(account, request);
      if (to) await outbox.send({ kind: 'password-changed', to, by: 'link', place: placeOf(request, now()) }, tx);
    },
  });
}

/** How many minutes a link works. */
const minutesOf = ({ settings }: Core) => settings.latest().reset_token_minutes;
