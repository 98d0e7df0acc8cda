// Ends a lockout by a mailed link: an attacker can lock an account with failed sign-ins, but only its owner gets the
// link. As with a password reset, the request is the same work for every name, and the mail job looks up the account
// later.

import { limits } from '../../base/limits.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { transaction } from '../../base/storage/database.ts';
import type { Core } from '../../core/core.ts';
import type { DeferredWriter } from '../../core/mail/delivery.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { People } from '../../people/people.ts';
import type { AccountLinks } from '../mailed-links/account-links.ts';

export type Unlock = ReturnType<typeof createUnlock>;

const { minutes } = limits.unlockLink;

export function createUnlock(dependencies: Core & People & { accountLinks: AccountLinks }) {
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
    writeMail: (async ({ typed, browser, request }, take) => {
      const account = await lockedAccount(typed, browser);
      await transaction(db, async (tx) => {
        const to = account && recipientOf(account, request);
        if (!(await take(tx)) || !account || !to) return;
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
