// Password reset (seed 5.5 reset 1 to 6). A request is only noted, the same work for every name, and answered; who it is
// and whether a mail goes out is found out later by the mail job. The token is 32 random bytes, only its hash is stored,
// it expires, a newer one voids it, and one conditional update uses it up.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Audit, By } from '../audit/audit.ts';
import { limits } from '../limits.ts';
import type { DraftWriter } from '../mail/delivery.ts';
import { recipientOf } from '../mail/messages.ts';
import type { Outbox } from '../mail/outbox.ts';
import { placeOf } from '../mail/wording.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import { randomId, randomToken, sha256 } from '../platform/random.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import type { MailLimits } from '../rate-limits/mail-limits.ts';
import type { LinkOutcome, PasswordByLink } from './password-by-link.ts';

export interface Reset {
  /** Notes that somebody wants to reset the password of this login. Tells nothing. `browser`: the cookie of a known one. */
  request(login: string, request: RequestInfo, browser?: string): Promise<void>;
  /** Turns the note into a mail, if there is an account to write to; for the mail job. */
  writeMail: DraftWriter;
  /** Sends a link for somebody, e.g. an admin. */
  sendLink(account: Account, by?: By): Promise<'sent' | 'no-address' | 'disabled'>;
  /** Whose live link this is; looking does not use it up. */
  find(token: string): Promise<Account | undefined>;
  redeem(token: string, password: string, request: RequestInfo): Promise<LinkOutcome>;
}

export interface ResetNeeds {
  db: Db;
  now: Clock;
  audit: Audit;
  accounts: Pick<Accounts, 'find' | 'findByLogin'>;
  outbox: Outbox;
  passwordByLink: PasswordByLink;
  mailLimits: Pick<MailLimits, 'link'>;
  /** The setting `reset_token_minutes`. */
  minutes(): number;
  hasPassword(accountId: string): Promise<boolean>;
}

export function createReset(needs: ResetNeeds): Reset {
  const { db, now, audit, accounts, outbox, passwordByLink, mailLimits, minutes, hasPassword } = needs;
  const isOpen = () => ({ usedAt: null, expiresAt: { gt: now() } });

  async function findLive(token: string): Promise<{ id: string; account: Account } | undefined> {
    const row = await db.passwordResetToken.findFirst({ where: { tokenHash: sha256(token), ...isOpen() } });
    if (!row) return undefined;
    const account = await accounts.find(row.userId);
    return account?.isActive ? { id: row.id, account } : undefined;
  }

  async function queueLink(account: Account, by: By, tx: Tx): Promise<void> {
    const to = recipientOf(account);
    if (!to) return;
    const token = randomToken(limits.resetToken.bytes);
    const at = now();
    await tx.passwordResetToken.deleteMany({ where: { userId: account.id } });
    const expiresAt = new Date(at.getTime() + minutes() * 60_000);
    await tx.passwordResetToken.create({
      data: { id: randomId(), userId: account.id, tokenHash: sha256(token), expiresAt, createdAt: at },
    });
    await outbox.send({ kind: 'password-reset', to, token, minutes: minutes() }, tx);
    await audit.record({ ...by, type: 'password.reset-requested', outcome: 'success', subjectId: account.id }, tx);
  }

  /** Why nothing is sent; only the audit learns it. */
  async function refusal(account: Account | undefined, browser: string | undefined): Promise<string | undefined> {
    if (!account) return 'unknown_account';
    if (!account.isActive) return 'disabled_account';
    const { id, email } = account;
    if (email === null) return 'no_address';
    return (await mailLimits.link('reset', { id, email }, browser)).allowed ? undefined : 'too_many_requests';
  }

  return {
    request: (typed, request, browser) =>
      outbox.draft('password-reset', { typed, request, ...(browser && { browser }) }, minutes() * 60),

    async writeMail({ typed, request, browser }, take) {
      const account = await accounts.findByLogin(typed);
      const reason = await refusal(account, browser);
      const isElsewhere = account?.ssoId && !(await hasPassword(account.id));
      const by: By = request ? { request } : {};
      await transaction(db, async (tx) => {
        if (!(await take(tx))) return;
        const to = account && recipientOf(account);
        if (!account || !to || reason || isElsewhere) {
          const about = { reason: reason ?? 'no_password_here', ...(account && { subjectId: account.id }) };
          await audit.record({ ...by, type: 'password.reset-requested', outcome: 'failure', ...about }, tx);
          if (to && !reason) await outbox.send({ kind: 'no-password-here', to }, tx);
        } else await queueLink(account, by, tx);
      });
    },

    async sendLink(account, by = {}) {
      if (!account.isActive) return 'disabled';
      if (account.email === null) return 'no-address';
      await transaction(db, (tx) => queueLink(account, by, tx));
      return 'sent';
    },

    find: async (token) => (await findLive(token))?.account,

    async redeem(token, password, request) {
      const found = await findLive(token);
      if (!found) {
        await audit.record({ type: 'password.reset', outcome: 'failure', reason: 'invalid_link', request });
        return { outcome: 'invalid' };
      }
      const { id, account } = found;
      return passwordByLink.set(account, password, {
        event: 'password.reset',
        by: { actorId: account.id, request },
        async consume(tx) {
          const { count } = await tx.passwordResetToken.updateMany({
            where: { id, ...isOpen() },
            data: { usedAt: now() },
          });
          return count === 1;
        },
        async and(tx) {
          const to = recipientOf(account);
          if (to) await outbox.send({ kind: 'password-changed', to, by: 'link', place: placeOf(request, now()) }, tx);
        },
      });
    },
  };
}
