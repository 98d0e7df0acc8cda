// Mail waiting in the database: written in the transaction of what it tells about, so that neither is without the other,
// and sent by a job (delivery.ts). Bodies hold links and codes, so they are sealed, and erased once they are sent.
//
// A draft is a mail whose reader is not known yet: "somebody wants to reset the password of …". Whoever must not learn
// whether that account exists is answered when the draft is written, the same work for every name; who it is, and
// whether anything is sent, is found out later by the job.
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Db, Tx } from '../platform/db.ts';
import { randomId } from '../platform/random.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import type { Vault } from '../platform/vault.ts';
import type { RenderLetter } from './html.ts';
import { plainText } from './letter.ts';
import { compose, type MailMessage } from './messages.ts';

export type DraftKind = 'password-reset' | 'registration' | 'unlock';

/** What somebody typed into a form, and who asked. */
export interface Wish {
  typed: string;
  request?: RequestInfo;
  /** The cookie of the browser it came from, if the browser is known; sealed like the rest. */
  browser?: string;
}

export type StoredMail =
  | { type: 'letter'; kind: string; userId?: string; text: string; html: string; expiresAt: string }
  | { type: 'draft'; kind: DraftKind; wish: Wish; expiresAt: string };

export interface Outbox {
  /** Queues a mail; inside `tx` it goes only if that commits. */
  send(message: MailMessage, tx?: Tx): Promise<void>;
  /** Queues a wish whose reader is found later; of no use after `seconds`. */
  draft(kind: DraftKind, wish: Wish, seconds: number): Promise<void>;
}

export interface OutboxNeeds {
  db: Db;
  vault: Vault;
  now: Clock;
  issuer: string;
  renderHtml: RenderLetter;
  /** Wakes the delivery. Called before a surrounding transaction commits, so it should wait a moment. */
  queued?: () => void;
}

export const sealContext = (id: string) => `mail_messages:${id}`;

export function createOutbox({ db, vault, now, issuer, renderHtml, queued = () => {} }: OutboxNeeds): Outbox {
  async function store(recipient: string, subject: string, mail: StoredMail, tx: Tx): Promise<void> {
    const id = randomId();
    const bodySealed = vault.seal(JSON.stringify(mail), sealContext(id));
    const at = now();
    await tx.mailMessage.create({ data: { id, recipient, subject, bodySealed, nextTryAt: at, createdAt: at } });
    queued();
  }

  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000).toISOString();

  return {
    async send(message, tx = db) {
      const { email, userId } = message.to;
      refuseList(email);
      const letter = compose(message, issuer);
      const mail: StoredMail = {
        type: 'letter',
        kind: message.kind,
        text: plainText(letter),
        html: renderHtml(letter),
        ...(userId && { userId }),
        expiresAt: inSeconds(usefulSeconds(message)),
      };
      await store(email, letter.subject, mail, tx);
    },

    draft: (kind, wish, seconds) =>
      store('', `draft: ${kind}`, { type: 'draft', kind, wish, expiresAt: inSeconds(seconds) }, db),
  };
}

/** A link or code that has expired is not worth sending any more. */
function usefulSeconds(message: MailMessage): number {
  if ('minutes' in message) return message.minutes * 60;
  if ('hours' in message) return message.hours * 3600;
  return limits.mail.giveUpAfterSeconds;
}

// The last line of defence behind the checks of accounts: one address, and no line of its own in the header.
function refuseList(email: string): void {
  if (!/^[^\s@,;<>()[\]"\p{C}]+@[^\s@,;<>()[\]"\p{C}]+$/u.test(email)) throw new Error('not a single e-mail address');
}
