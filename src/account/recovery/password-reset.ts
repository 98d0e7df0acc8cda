// Password reset by a mailed link (docs/accounts.md). A request is stored, with the same work for every name, and
// answered; the mail job looks up the account later and decides whether a link is sent.

import type { RequestInfo } from '../../base/platform/request-info.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { DeferredWriter } from '../../core/mail/delivery.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import { placeOf } from '../../core/mail/wording.ts';
import type { FederationServices } from '../../federation/federation-services.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { People } from '../../people/people.ts';
import type { AccountLinks } from '../mailed-links/account-links.ts';
import type { LinkOutcome, SetPasswordByLink } from '../mailed-links/set-password.ts';

export type PasswordReset = ReturnType<typeof createPasswordReset>;

export interface PasswordResetDependencies {
  accountLinks: AccountLinks;
  setPasswordByLink: SetPasswordByLink;
  /** The setting `reset_token_minutes`. */
  minutes(): number;
  /** Notes in this transaction that the password of the account proves its mailbox only. */
  passwordResetByMail(accountId: string, tx: Tx): Promise<void>;
  hasPassword(accountId: string): Promise<boolean>;
}

export function createPasswordReset(dependencies: Core & People & FederationServices & PasswordResetDependencies) {
  const { db, accountLinks, outbox, minutes } = dependencies;
  return {
    /** Stores the request for this login. `browser`: the cookie of a known browser. */
    request: (typed: string, request: RequestInfo, browser?: string): Promise<void> =>
      outbox.defer('password-reset', { typed, request, ...(browser && { browser }) }, minutes() * 60),

    /** Turns the request into a mail if there is an account to write to; for the mail job. */
    writeMail: ((request, take) => writeMail(dependencies, request, take)) satisfies DeferredWriter,

    /** Sends a link at once, on behalf of an administrator. */
    async sendLink(account: Account, by: Actor = {}): Promise<'sent' | 'no-address' | 'disabled'> {
      if (!account.isActive) return 'disabled';
      if (account.email === null) return 'no-address';
      await transaction(db, (tx) => queueLink(dependencies, account, by, tx));
      return 'sent';
    },

    /** The account of a usable link; does not use it up. */
    find: async (token: string): Promise<Account | undefined> =>
      (await accountLinks.find(token, 'reset-password'))?.account,
    /** Uses the link up, sets the password and ends all sessions of the account. */
    redeem: (token: string, password: string, request: RequestInfo): Promise<LinkOutcome> =>
      redeem(dependencies, token, password, request),
  };
}

async function writeMail(
  dependencies: Core &
    People &
    FederationServices & {
      hasPassword(accountId: string): Promise<boolean>;
      accountLinks: AccountLinks;
      /** The setting `reset_token_minutes`. */
      minutes(): number;
    },
  { typed, request, browser }: Parameters<DeferredWriter>[0],
  take: Parameters<DeferredWriter>[1],
): Promise<void> {
  const { db, audit, accounts, outbox, hasPassword, otherSignIns } = dependencies;
  const account = await accounts.findByLogin(typed);
  const reason = await rejectionReason(dependencies, account, browser);
  const others = account ? await otherSignIns(account) : [];
  const signsInElsewhere = account && (account.ssoId || others.length > 0) && !(await hasPassword(account.id));
  const by: Actor = request ? { request } : {};
  await transaction(db, async (tx) => {
    if (!(await take(tx))) return;
    const to = account && recipientOf(account, request);
    if (!account || !to || reason || signsInElsewhere) {
      const other = others[0] && { name: others[0].name, isDirectory: others[0].isDirectory };
      const about = { reason: reason ?? 'no_password_here', ...(account && { subjectId: account.id }) };
      await audit.record({ ...by, type: 'password.reset-requested', outcome: 'failure', ...about }, tx);
      if (to && !reason) await outbox.send({ kind: 'no-password-here', to, other }, tx);
    } else await queueLink(dependencies, account, by, tx);
  });
}

/** Why no link is sent; only the audit log contains it. */
async function rejectionReason(
  { mailLimits }: People,
  account: Account | undefined,
  browser: string | undefined,
): Promise<string | undefined> {
  if (!account) return 'unknown_account';
  if (!account.isActive) return 'disabled_account';
  const { id, email } = account;
  if (email === null) return 'no_address';
  return (await mailLimits.link('reset', { id, email }, browser)).allowed ? undefined : 'too_many_requests';
}

async function queueLink(
  {
    accountLinks,
    audit,
    outbox,
    minutes,
  }: Core & {
    accountLinks: AccountLinks;
    /** The setting `reset_token_minutes`. */
    minutes(): number;
  },
  account: Account,
  by: Actor,
  tx: Tx,
): Promise<void> {
  const to = recipientOf(account, by.request);
  if (!to) return;
  const link = { userId: account.id, purpose: 'reset-password', email: undefined } as const;
  const token = await accountLinks.issue(link, minutes() * 60, tx);
  await outbox.send({ kind: 'password-reset', to, token, minutes: minutes() }, tx);
  await audit.record({ ...by, type: 'password.reset-requested', outcome: 'success', subjectId: account.id }, tx);
}

async function redeem(
  {
    now,
    audit,
    accountLinks,
    outbox,
    passwordResetByMail,
    setPasswordByLink,
  }: Core & {
    accountLinks: AccountLinks;
    /** Notes in this transaction that the password of the account proves its mailbox only. */
    passwordResetByMail(accountId: string, tx: Tx): Promise<void>;
    setPasswordByLink: SetPasswordByLink;
  },
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
      await passwordResetByMail(account.id, tx);
      const to = recipientOf(account, request);
      if (to) await outbox.send({ kind: 'password-changed', to, by: 'link', place: placeOf(request, now()) }, tx);
    },
  });
}
