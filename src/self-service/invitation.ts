// Invitations: somebody made an account, and its owner chooses the first password with a mailed link. Whoever can read
// that mail has proven the address with it.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { nameKey } from '../accounts/names.ts';
import type { Audit, By } from '../audit/audit.ts';
import type { LinkOutcome, PasswordByLink } from '../credentials/password-by-link.ts';
import { limits } from '../limits.ts';
import type { LinkToken, LinkTokens } from '../mail/link-tokens.ts';
import { recipientOf } from '../mail/messages.ts';
import type { Outbox } from '../mail/outbox.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import type { RequestInfo } from '../platform/request-info.ts';

export interface Invitations {
  /** Sends an invitation, inside `tx` together with the account that it is for; again when asked again. */
  invite(account: Account, by?: By, tx?: Tx): Promise<'sent' | 'no-address' | 'disabled'>;
  /** Whose live invitation this is; looking does not use it up. */
  find(token: string): Promise<Account | undefined>;
  accept(token: string, password: string, request: RequestInfo): Promise<LinkOutcome>;
}

export interface InvitationNeeds {
  db: Db;
  audit: Audit;
  accounts: Pick<Accounts, 'find' | 'update'>;
  outbox: Outbox;
  linkTokens: LinkTokens;
  passwordByLink: PasswordByLink;
}

const { hours } = limits.invitation;

export function createInvitations(needs: InvitationNeeds): Invitations {
  const { db, audit, accounts, outbox, linkTokens, passwordByLink } = needs;

  async function findLive(token: string): Promise<{ link: LinkToken; account: Account } | undefined> {
    const link = await linkTokens.find(token, 'invite');
    const account = link && (await accounts.find(link.userId));
    return link && account?.isActive ? { link, account } : undefined;
  }

  return {
    async invite(account, by = {}, outer) {
      const to = recipientOf(account);
      if (!to) return 'no-address';
      if (!account.isActive) return 'disabled';
      const work = async (tx: Tx) => {
        const about = { userId: account.id, purpose: 'invite', email: to.email } as const;
        const token = await linkTokens.issue(about, hours * 3600, tx);
        await outbox.send({ kind: 'invitation', to, token, hours }, tx);
        await audit.record({ ...by, type: 'account.invited', outcome: 'success', subjectId: account.id }, tx);
      };
      await (outer ? work(outer) : transaction(db, work));
      return 'sent';
    },

    find: async (token) => (await findLive(token))?.account,

    async accept(token, password, request) {
      const found = await findLive(token);
      if (!found) return { outcome: 'invalid' };
      const { link, account } = found;
      const by = { actorId: account.id, request };
      return passwordByLink.set(account, password, {
        event: 'password.set',
        by,
        consume: (tx) => linkTokens.consume(link.id, tx),
        async and(tx) {
          const isSame = account.email !== null && nameKey(account.email) === nameKey(link.email);
          if (!isSame || account.emailVerified) return;
          await accounts.update(account.id, { emailVerified: true }, by, tx);
          await audit.record({ ...by, type: 'email.verified', outcome: 'success', subjectId: account.id }, tx);
        },
      });
    },
  };
}
