// Proof that an e-mail address is the person's: of the one they have, and of one they want to change to. The old address
// is told of a change. Neither the answer nor its time tells whether an address belongs to somebody else.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { emailFault, nameKey } from '../accounts/names.ts';
import type { Audit, By } from '../audit/audit.ts';
import { AppError } from '../http/errors.ts';
import { limits } from '../limits.ts';
import type { LinkToken, LinkTokens } from '../mail/link-tokens.ts';
import { recipientOf } from '../mail/messages.ts';
import type { Outbox } from '../mail/outbox.ts';
import { placeOf } from '../mail/wording.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, transaction } from '../platform/db.ts';
import type { MailLimits } from '../rate-limits/mail-limits.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';

export type EmailRequest =
  | { outcome: 'sent' }
  | { outcome: 'wait'; retryAfterSeconds: number }
  | { outcome: 'no-address' | 'already-verified' | 'not-an-address' | 'unchanged' | 'owned-by-file' };

export type EmailConfirmation = 'verified' | 'changed' | 'invalid';

export interface EmailProof {
  /** Sends a link to the account's address; again when asked again, and the older link is void then. */
  requestVerification(account: Account, by?: By): Promise<EmailRequest>;
  /** Sends a link to the new address. The caller has asked for a recent proof of the person. */
  requestEmailChange(account: Account, email: string, by?: By): Promise<EmailRequest>;
  /** Which address a live link is about; looking does not use it up. */
  find(token: string): Promise<{ email: string; isChange: boolean } | undefined>;
  /** Uses the link up: the address is proven, and becomes the account's. */
  confirm(token: string, by?: By): Promise<EmailConfirmation>;
}

export interface EmailProofNeeds {
  db: Db;
  now: Clock;
  audit: Audit;
  accounts: Pick<Accounts, 'find' | 'findByLogin' | 'update'>;
  outbox: Outbox;
  linkTokens: LinkTokens;
  rateLimits: Pick<RateLimits, 'consume'>;
  mailLimits: Pick<MailLimits, 'to'>;
}

const { hours } = limits.emailVerification;
const SECONDS = hours * 3600;

export function createEmailProof(needs: EmailProofNeeds): EmailProof {
  const { db, now, audit, accounts, outbox, linkTokens, rateLimits, mailLimits } = needs;

  async function mayWrite(account: Account, email: string): Promise<EmailRequest> {
    const byAccount = await rateLimits.consume('email-proof:account', account.id);
    const verdict = byAccount.allowed ? await mailLimits.to(email, 'address-proof') : byAccount;
    return verdict.allowed ? { outcome: 'sent' } : { outcome: 'wait', retryAfterSeconds: verdict.retryAfterSeconds };
  }

  async function verify(token: LinkToken, account: Account, by: By): Promise<EmailConfirmation> {
    const isSame = account.email !== null && nameKey(account.email) === nameKey(token.email);
    if (!isSame) return 'invalid';
    return transaction(db, async (tx) => {
      if (!(await linkTokens.consume(token.id, tx))) return 'invalid';
      await accounts.update(account.id, { emailVerified: true }, by, tx);
      await audit.record({ ...by, type: 'email.verified', outcome: 'success', subjectId: account.id }, tx);
      return 'verified';
    });
  }

  function change(token: LinkToken, account: Account, by: By): Promise<EmailConfirmation> {
    return transaction(db, async (tx): Promise<EmailConfirmation> => {
      if (!(await linkTokens.consume(token.id, tx))) return 'invalid';
      await accounts.update(account.id, { email: token.email, emailVerified: true }, by, tx);
      const data = { before: account.email, after: token.email };
      await audit.record({ ...by, type: 'email.changed', outcome: 'success', subjectId: account.id, data }, tx);
      const to = recipientOf(account);
      const place = placeOf(by.request, now());
      if (to) await outbox.send({ kind: 'email-changed', to, newEmail: token.email, place }, tx);
      return 'changed';
    }).catch((error: unknown) => {
      // Somebody else got the address after the link was sent.
      if (error instanceof AppError && (error.code === 'email_taken' || error.code === 'user_name_taken'))
        return 'invalid';
      throw error;
    });
  }

  return {
    async requestVerification(account, by = {}) {
      const to = recipientOf(account);
      if (!to) return { outcome: 'no-address' };
      if (account.emailVerified) return { outcome: 'already-verified' };
      const verdict = await mayWrite(account, to.email);
      if (verdict.outcome !== 'sent') return verdict;
      await transaction(db, async (tx) => {
        const about = { userId: account.id, purpose: 'verify-email', email: to.email } as const;
        const token = await linkTokens.issue(about, SECONDS, tx);
        await outbox.send({ kind: 'verify-email', to, token, hours }, tx);
        await audit.record(
          { ...by, type: 'email.verification-requested', outcome: 'success', subjectId: account.id },
          tx,
        );
      });
      return verdict;
    },

    async requestEmailChange(account, typed, by = {}) {
      const email = typed.normalize('NFC').trim();
      if (account.source === 'file') return { outcome: 'owned-by-file' };
      if (emailFault(email)) return { outcome: 'not-an-address' };
      if (account.email !== null && nameKey(account.email) === nameKey(email)) return { outcome: 'unchanged' };
      const verdict = await mayWrite(account, email);
      if (verdict.outcome !== 'sent') return verdict;
      const other = await accounts.findByLogin(email);
      await transaction(db, async (tx) => {
        // For an address that is taken as well, so that both take the same time; that link is never sent.
        const about = { userId: account.id, purpose: 'change-email', email } as const;
        const token = await linkTokens.issue(about, SECONDS, tx);
        const owner = other && recipientOf(other);
        if (!other) await outbox.send({ kind: 'confirm-new-email', to: { email }, token, hours }, tx);
        else if (owner && other.isActive) await outbox.send({ kind: 'email-taken', to: owner }, tx);
        const data = { after: email, ...(other && { taken: true }) };
        await audit.record(
          { ...by, type: 'email.change-requested', outcome: 'success', subjectId: account.id, data },
          tx,
        );
      });
      return verdict;
    },

    async find(token) {
      const found = await linkTokens.find(token, 'verify-email', 'change-email');
      return found && { email: found.email, isChange: found.purpose === 'change-email' };
    },

    async confirm(token, by = {}) {
      const found = await linkTokens.find(token, 'verify-email', 'change-email');
      const account = found && (await accounts.find(found.userId));
      if (!found || !account?.isActive) return 'invalid';
      const actor = { actorId: account.id, ...by };
      return found.purpose === 'change-email' ? change(found, account, actor) : verify(found, account, actor);
    },
  };
}
