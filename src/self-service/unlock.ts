// Ending the pause after failed sign-ins by mail (seed 5.7 lockout): an attacker can bring the pause about, but only
// the owner gets the link. Asking is answered the same for every name, as with a reset.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Audit } from '../audit/audit.ts';
import { limits } from '../limits.ts';
import type { DraftWriter } from '../mail/delivery.ts';
import type { LinkTokens } from '../mail/link-tokens.ts';
import { recipientOf } from '../mail/messages.ts';
import type { Outbox } from '../mail/outbox.ts';
import { type Db, transaction } from '../platform/db.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import type { MailLimits } from '../rate-limits/mail-limits.ts';
import type { SignInGuard } from '../rate-limits/sign-in-guard.ts';

export interface Unlock {
  /** `browser`: the cookie of a known one. */
  request(login: string, request: RequestInfo, browser?: string): Promise<void>;
  writeMail: DraftWriter;
  /** Whose live link this is; looking does not use it up. */
  find(token: string): Promise<Account | undefined>;
  /** Ends the pause; undefined for a link that is not good any more. */
  confirm(token: string, request: RequestInfo): Promise<Account | undefined>;
}

export interface UnlockNeeds {
  db: Db;
  audit: Audit;
  accounts: Pick<Accounts, 'find' | 'findByLogin'>;
  outbox: Outbox;
  linkTokens: LinkTokens;
  mailLimits: Pick<MailLimits, 'link'>;
  guard: Pick<SignInGuard, 'lockedSeconds' | 'unlock'>;
}

const { minutes } = limits.unlockLink;

export function createUnlock({ db, audit, accounts, outbox, linkTokens, mailLimits, guard }: UnlockNeeds): Unlock {
  async function find(token: string) {
    const link = await linkTokens.find(token, 'unlock');
    const account = link && (await accounts.find(link.userId));
    return link && account?.isActive ? { link, account } : undefined;
  }

  async function isPaused({ username, email }: Account): Promise<boolean> {
    const logins = email === null ? [username] : [username, email];
    return (await Promise.all(logins.map(guard.lockedSeconds))).some((seconds) => seconds > 0);
  }

  /** The account to write to, when there is a pause to end. */
  async function readerOf(login: string, browser: string | undefined): Promise<Account | undefined> {
    const account = await accounts.findByLogin(login);
    if (!account?.isActive || account.email === null || !(await isPaused(account))) return undefined;
    const { id, email } = account;
    return (await mailLimits.link('unlock', { id, email }, browser)).allowed ? account : undefined;
  }

  return {
    request: (typed, request, browser) =>
      outbox.draft('unlock', { typed, request, ...(browser && { browser }) }, minutes * 60),

    async writeMail({ typed, browser }, take) {
      const account = await readerOf(typed, browser);
      await transaction(db, async (tx) => {
        const to = account && recipientOf(account);
        if (!(await take(tx)) || !account || !to) return;
        const about = { userId: account.id, purpose: 'unlock', email: to.email } as const;
        const token = await linkTokens.issue(about, minutes * 60, tx);
        await outbox.send({ kind: 'unlock', to, token, minutes }, tx);
      });
    },

    find: async (token) => (await find(token))?.account,

    async confirm(token, request) {
      const found = await find(token);
      if (!found) return undefined;
      const { link, account } = found;
      const about = { subjectId: account.id, actorId: account.id, request, reason: 'by_mail' };
      const isOurs = await transaction(db, async (tx) => {
        if (!(await linkTokens.consume(link.id, tx))) return false;
        await audit.record({ type: 'sign-in.unlocked', outcome: 'success', ...about }, tx);
        return true;
      });
      if (!isOurs) return undefined;
      await guard.unlock(account);
      return account;
    },
  };
}
