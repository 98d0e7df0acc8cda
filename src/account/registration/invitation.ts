// Invitations: an administrator creates an account, and its owner chooses the first password, or makes a passkey, with a mailed link.
// Using the link also verifies the address that it was mailed to, and signs in once: the browser gets a token of its own for that, because
// others may have the mail.

import { badRequest } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { type Tx, transaction, withinTransaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { invitationsOf } from '../../core/mail/link-tokens.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import type { FederationServices } from '../../federation/federation-services.ts';
import type { Account } from '../../people/accounts/account.ts';
import { isSameAddress } from '../../people/accounts/names.ts';
import type { AttestationResponse } from '../../people/mfa/factors/webauthn-ceremony.ts';
import type { People } from '../../people/people.ts';
import type { AccountLink, AccountLinks, LinkOutcome, SetPasswordByLink } from '../mailed-links.ts';

export type Invitations = ReturnType<typeof createInvitations>;

const { hours } = limits.invitation;

export function createInvitations(
  services: Core & People & FederationServices & { accountLinks: AccountLinks; setPasswordByLink: SetPasswordByLink },
) {
  const { db, now, audit, accountLinks, accounts, credentials, identities, outbox, setPasswordByLink } = services;
  const { factors, firstEnrolment, passkeys } = services.mfa;

  async function hasCredentials(accountId: string, tx?: Tx): Promise<boolean> {
    if ((await credentials.status(accountId, tx)) !== undefined) return true;
    const { totp, passkeys, phone } = await factors.of(accountId, tx);
    return totp || passkeys > 0 || phone !== undefined || (await identities.ofUser(accountId, tx)).length > 0;
  }

  /** Verifies the address of the link, and accepts the terms; returns the token of the sign-in that follows. */
  async function finish(
    { link, account }: AccountLink<'invite'>,
    { amr, terms }: { amr: string[]; terms: string | undefined },
    by: Actor,
    tx: Tx,
  ): Promise<string> {
    if (terms) await accounts.acceptTerms(account.id, terms, by, tx);
    if (isSameAddress(account.email, link.email) && !account.emailProven) {
      await accounts.update(account.id, { emailVerified: true, emailProven: true }, by, tx);
      await audit.record({ ...by, type: 'email.verified', outcome: 'success', subjectId: account.id }, tx);
    }
    const next = { userId: account.id, purpose: 'accepted', email: link.email, amr } as const;
    return accountLinks.issue(next, limits.invitation.signInSeconds, tx);
  }

  return {
    /** Whether the account has a password, a second factor, a passkey or a connected sign-in. */
    hasCredentials,

    /**
     * Sends an invitation, inside `outer` together with its new account. A further invitation replaces the one before. An account with
     * any credential gets none: a person who reads its mail could replace that credential.
     * @param message what the administrator adds to the mail
     */
    async invite(
      account: Account,
      by: Actor = {},
      { tx: outer, message }: { tx?: Tx; message?: string | undefined } = {},
    ): Promise<'sent' | 'no-address' | 'disabled' | 'has-credentials'> {
      const to = recipientOf(account);
      if (!to) return 'no-address';
      if (!account.isActive) return 'disabled';
      return withinTransaction(db, outer, async (tx) => {
        if (await hasCredentials(account.id, tx)) return 'has-credentials' as const;
        const link = { userId: account.id, purpose: 'invite', email: to.email } as const;
        const token = await accountLinks.issue(link, hours * 3600, tx);
        await outbox.send({ kind: 'invitation', to, token, hours, message: message && plainMessage(message) }, tx);
        await audit.record({ ...by, type: 'account.invited', outcome: 'success', subjectId: account.id }, tx);
        return 'sent' as const;
      });
    },

    /** What became of the last invitations of these users. */
    statesOf: (userIds: readonly string[]) => invitationsOf(userIds, now(), db),

    /** The account of a usable invitation; does not use it up. */
    find: async (token: string): Promise<Account | undefined> => (await accountLinks.find(token, 'invite'))?.account,

    /** The same for its page, which is displayed now. */
    async open(token: string): Promise<Account | undefined> {
      const found = await accountLinks.find(token, 'invite');
      if (found) await accountLinks.markOpened(found.link);
      return found?.account;
    },

    /** Uses the invitation up, sets the password and verifies the address. `terms`: the version that the person accepts with it. */
    async accept(
      token: string,
      { password, terms }: { password: string; terms?: string | undefined },
      request: RequestInfo,
    ): Promise<LinkOutcome> {
      const found = await accountLinks.find(token, 'invite');
      if (!found) return { outcome: 'invalid' };
      const { account } = found;
      const by = { actorId: account.id, request };
      // The account got credentials after it was invited, such as a connected sign-in: then the link acts as a password reset by mail.
      const hadCredentials = await hasCredentials(account.id);
      let signIn: string | undefined;
      const result = await setPasswordByLink(found, password, {
        event: 'password.set',
        by,
        async inTransaction(tx) {
          if (hadCredentials) await firstEnrolment.passwordResetByMail(account.id, tx);
          signIn = await finish(found, { amr: ['pwd'], terms }, by, tx);
        },
      });
      return result.outcome === 'done' ? { ...result, signIn } : result;
    },

    /**
     * The same with a passkey in place of the password. Throws link_invalid (400) for a link that was used meanwhile, or whose account has
     * credentials by now.
     */
    async acceptWithPasskey(
      token: string,
      {
        answer,
        terms,
        ...ceremony
      }: { answer: AttestationResponse; challenge: string; name: string; terms?: string | undefined },
      request: RequestInfo,
    ): Promise<{ outcome: 'done'; signIn: string } | { outcome: 'invalid' | 'wrong' | 'already-registered' }> {
      const found = await accountLinks.find(token, 'invite');
      if (!found) return { outcome: 'invalid' };
      const by = { actorId: found.account.id, request };
      let signIn = '';
      const { outcome } = await passkeys.register(found.account, answer, {
        ...ceremony,
        ...by,
        mustVerify: true,
        async inTransaction(tx, amr) {
          const isUsable =
            !(await hasCredentials(found.account.id, tx)) && (await accountLinks.consume(found.link, tx));
          if (!isUsable) throw badRequest('link_invalid');
          signIn = await finish(found, { amr, terms }, by, tx);
        },
      });
      return outcome === 'ok' ? { outcome: 'done', signIn } : { outcome };
    },

    /** The account that `signIn` of an accepted invitation signs in. */
    accountOf: async (signIn: string): Promise<Account | undefined> =>
      (await accountLinks.find(signIn, 'accepted'))?.account,

    /** Uses `signIn` up: who signs in with it, and what was proven. */
    async redeem(signIn: string): Promise<AcceptedInvitation | undefined> {
      const found = await accountLinks.find(signIn, 'accepted');
      if (!found) return undefined;
      const { link, account } = found;
      const { amr = [] } = link;
      const password = amr.includes('pwd') ? await credentials.status(account.id) : undefined;
      if (!(await transaction(db, (tx) => accountLinks.consume(link, tx)))) return undefined;
      return { userId: account.id, amr, passwordSetAt: password?.changedAt.getTime() };
    },
  };
}

/** The first factor of the sign-in that follows. */
export interface AcceptedInvitation {
  userId: string;
  amr: string[];
  passwordSetAt: number | undefined;
}

/** The text without control characters and directions of writing, with at most one empty line between two others. */
function plainMessage(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{C}\n]/gu, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
    .slice(0, limits.invitation.message);
}
