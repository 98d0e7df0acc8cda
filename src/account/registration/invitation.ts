// Invitations: an administrator creates an account, and its owner chooses the first password with a mailed link. Using
// the link also verifies the address that it was mailed to.

import { limits } from '../../base/limits.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import type { FederationServices } from '../../federation/federation-services.ts';
import type { Account } from '../../people/accounts/account.ts';
import { isSameAddress } from '../../people/accounts/names.ts';
import type { People } from '../../people/people.ts';
import type { AccountLinks, LinkOutcome, SetPasswordByLink } from '../mailed-links.ts';

export type Invitations = ReturnType<typeof createInvitations>;

const { hours } = limits.invitation;

export function createInvitations(
  services: Core & People & FederationServices & { accountLinks: AccountLinks; setPasswordByLink: SetPasswordByLink },
) {
  const {
    db,
    audit,
    accountLinks,
    accounts,
    credentials,
    identities,
    outbox,
    setPasswordByLink,
    mfa: { factors, firstEnrolment },
  } = services;

  async function hasCredentials(accountId: string, tx?: Tx): Promise<boolean> {
    if ((await credentials.status(accountId, tx)) !== undefined) return true;
    const { totp, passkeys, phone } = await factors.of(accountId, tx);
    return totp || passkeys > 0 || phone !== undefined || (await identities.ofUser(accountId, tx)).length > 0;
  }

  return {
    /** Whether the account has a password, a second factor, a passkey or a connected sign-in. */
    hasCredentials,

    /**
     * Sends an invitation, inside `outer` together with its new account. A further invitation replaces the one before. An account with
     * any credential gets none: a person who reads its mail could replace that credential.
     */
    async invite(
      account: Account,
      by: Actor = {},
      outer?: Tx,
    ): Promise<'sent' | 'no-address' | 'disabled' | 'has-credentials'> {
      const to = recipientOf(account);
      if (!to) return 'no-address';
      if (!account.isActive) return 'disabled';
      const work = async (tx: Tx) => {
        if (await hasCredentials(account.id, tx)) return 'has-credentials' as const;
        const link = { userId: account.id, purpose: 'invite', email: to.email } as const;
        const token = await accountLinks.issue(link, hours * 3600, tx);
        await outbox.send({ kind: 'invitation', to, token, hours }, tx);
        await audit.record({ ...by, type: 'account.invited', outcome: 'success', subjectId: account.id }, tx);
        return 'sent' as const;
      };
      return outer ? work(outer) : transaction(db, work);
    },

    /** The account of a usable invitation; does not use it up. */
    find: async (token: string): Promise<Account | undefined> => (await accountLinks.find(token, 'invite'))?.account,

    /** Uses the invitation up, sets the password and verifies the address. */
    async accept(token: string, password: string, request: RequestInfo): Promise<LinkOutcome> {
      const found = await accountLinks.find(token, 'invite');
      if (!found) return { outcome: 'invalid' };
      const { link, account } = found;
      const by = { actorId: account.id, request };
      // The account got credentials after it was invited, such as a connected sign-in: then the link acts as a password reset by mail.
      const hadCredentials = await hasCredentials(account.id);
      return setPasswordByLink(found, password, {
        event: 'password.set',
        by,
        async inTransaction(tx) {
          if (hadCredentials) await firstEnrolment.passwordResetByMail(account.id, tx);
          if (!isSameAddress(account.email, link.email) || account.emailProven) return;
          await accounts.update(account.id, { emailVerified: true, emailProven: true }, by, tx);
          await audit.record({ ...by, type: 'email.verified', outcome: 'success', subjectId: account.id }, tx);
        },
      });
    },
  };
}
