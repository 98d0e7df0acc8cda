// Verification of an email address by a mailed link: of the account's current address, or of the new one in a
// change. The old address gets a notice of a change. Neither the response nor its time reveals whether another account has
// the new address.

import { AppError } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { transaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import { placeOf } from '../../core/mail/wording.ts';
import { type Account, ownedUser } from '../../people/accounts/account.ts';
import { emailFault, isSameAddress, nameKey } from '../../people/accounts/names.ts';
import type { People } from '../../people/people.ts';
import type { AccountLink, AccountLinks } from '../mailed-links.ts';

export type EmailRequest =
  | { outcome: 'sent' }
  | { outcome: 'wait'; retryAfterSeconds: number }
  | { outcome: 'no-address' | 'already-verified' | 'not-an-address' | 'unchanged' };

export type EmailConfirmation = 'verified' | 'changed' | 'invalid';

export type EmailVerification = ReturnType<typeof createEmailVerification>;

const { hours } = limits.emailVerification;
const SECONDS = hours * 3600;

type EmailLink = AccountLink<'verify-email' | 'change-email'>;

export function createEmailVerification(dependencies: Core & People & { accountLinks: AccountLinks }) {
  const findLink = (token: string) => dependencies.accountLinks.find(token, 'verify-email', 'change-email');
  return {
    /** Sends a link to the account's address. A new link replaces the previous one. */
    requestVerification: (account: Account, by: Actor = {}): Promise<EmailRequest> =>
      requestVerification(dependencies, account, by),
    /** Sends a link to the new address. The caller has required a recent proof of the user. Throws owned_by_file (403). */
    requestEmailChange: (account: Account, typed: string, by: Actor = {}): Promise<EmailRequest> =>
      requestEmailChange(dependencies, account, typed, by),

    /** The address and the account of a valid link, which stays valid. */
    async find(token: string): Promise<{ email: string; isChange: boolean; userId: string } | undefined> {
      const found = await findLink(token);
      return (
        found && { email: found.link.email, isChange: found.link.purpose === 'change-email', userId: found.account.id }
      );
    },

    /** Redeems the link of this account: marks the address as verified, after setting it for a change. */
    async confirm(token: string, userId: string, by: Actor = {}): Promise<EmailConfirmation> {
      const found = await findLink(token);
      if (found?.account.id !== userId) return 'invalid';
      const actor = { actorId: found.account.id, ...by };
      return found.link.purpose === 'change-email'
        ? confirmChange(dependencies, found, actor)
        : confirmVerification(dependencies, found, actor);
    },
  };
}

async function requestVerification(
  dependencies: Core & People & { accountLinks: AccountLinks },
  account: Account,
  by: Actor,
): Promise<EmailRequest> {
  const { db, audit, accountLinks, outbox } = dependencies;
  const to = recipientOf(account);
  if (!to) return { outcome: 'no-address' };
  if (account.emailVerified) return { outcome: 'already-verified' };
  const wait = await waitBeforeMail(dependencies, account, to.email);
  if (wait) return wait;
  await transaction(db, async (tx) => {
    const link = { userId: account.id, purpose: 'verify-email', email: to.email } as const;
    const token = await accountLinks.issue(link, SECONDS, tx);
    await outbox.send({ kind: 'verify-email', to, token, hours }, tx);
    await audit.record({ ...by, type: 'email.verification-requested', outcome: 'success', subjectId: account.id }, tx);
  });
  return { outcome: 'sent' };
}

async function requestEmailChange(
  dependencies: Core & People & { accountLinks: AccountLinks },
  account: Account,
  typed: string,
  by: Actor,
): Promise<EmailRequest> {
  const { db, audit, accountLinks, accounts, outbox } = dependencies;
  const email = typed.normalize('NFC').trim();
  if (account.source === 'file') throw ownedUser(account);
  if (emailFault(email)) return { outcome: 'not-an-address' };
  if (account.email !== null && nameKey(account.email) === nameKey(email)) return { outcome: 'unchanged' };
  const wait = await waitBeforeMail(dependencies, account, email);
  if (wait) return wait;
  const found = await accounts.findByLogin(email);
  // The new address may already be the username of this account.
  const otherAccount = found?.id === account.id ? undefined : found;
  await transaction(db, async (tx) => {
    // Also for the address of another account, so that both take the same time; then the link is not sent.
    const link = { userId: account.id, purpose: 'change-email', email } as const;
    const token = await accountLinks.issue(link, SECONDS, tx);
    const otherOwner = otherAccount && recipientOf(otherAccount);
    if (!otherAccount)
      await outbox.send({ kind: 'confirm-new-email', to: { email, locale: account.locale }, token, hours }, tx);
    else if (otherOwner && otherAccount.isActive) await outbox.send({ kind: 'email-taken', to: otherOwner }, tx);
    const data = { after: email, ...(otherAccount && { taken: true }) };
    await audit.record({ ...by, type: 'email.change-requested', outcome: 'success', subjectId: account.id, data }, tx);
  });
  return { outcome: 'sent' };
}

/** Counts one more mail to this address; returns how long to wait when the rate limits allow none. */
async function waitBeforeMail(
  { rateLimits, mailLimits }: People,
  account: Account,
  email: string,
): Promise<EmailRequest | undefined> {
  const byAccount = await rateLimits.consume('email-proof:account', account.id);
  const result = byAccount.allowed ? await mailLimits.to(email, 'address-proof') : byAccount;
  return result.allowed ? undefined : { outcome: 'wait', retryAfterSeconds: result.retryAfterSeconds };
}

async function confirmVerification(
  { db, audit, accountLinks, accounts }: Core & People & { accountLinks: AccountLinks },
  { link, account }: EmailLink,
  by: Actor,
): Promise<EmailConfirmation> {
  if (!isSameAddress(account.email, link.email)) return 'invalid';
  return transaction(db, async (tx) => {
    if (!(await accountLinks.consume(link, tx))) return 'invalid';
    await accounts.update(account.id, { emailVerified: true, emailProven: true }, by, tx);
    await audit.record({ ...by, type: 'email.verified', outcome: 'success', subjectId: account.id }, tx);
    return 'verified';
  });
}

function confirmChange(
  { db, now, audit, accountLinks, accounts, outbox }: Core & People & { accountLinks: AccountLinks },
  { link, account }: EmailLink,
  by: Actor,
): Promise<EmailConfirmation> {
  return transaction(db, async (tx): Promise<EmailConfirmation> => {
    if (!(await accountLinks.consume(link, tx))) return 'invalid';
    await accounts.update(account.id, { email: link.email, emailVerified: true, emailProven: true }, by, tx);
    const data = { before: account.email, after: link.email };
    await audit.record({ ...by, type: 'email.changed', outcome: 'success', subjectId: account.id, data }, tx);
    const to = recipientOf(account);
    const place = placeOf(by.request, now());
    if (to) await outbox.send({ kind: 'email-changed', to, newEmail: link.email, place }, tx);
    return 'changed';
  }).catch((error: unknown) => {
    // Another account took the address after the link was sent.
    if (error instanceof AppError && (error.code === 'email_taken' || error.code === 'user_name_taken'))
      return 'invalid';
    throw error;
  });
}
