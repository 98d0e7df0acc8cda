// Queues mail in the database, in the transaction of the change that it is about, so that neither exists without the
// other; delivery.ts sends it.
//
// A page that must not reveal whether an account exists queues a deferred request instead: the same work for every name.
// The delivery looks up the account later, and decides whether a mail is sent.
// Equal work in the request itself would need two code paths that drift apart, and work after the response would be lost at a restart.

import type { Base } from '../../base/base.ts';
import type { BrandLook } from '../../base/http/pages/brand-look.ts';
import { limits } from '../../base/limits.ts';
import { randomId } from '../../base/platform/random.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { Tx } from '../../base/storage/database.ts';
import { allLanguages, type OfferedLanguages } from '../../base/texts/languages.ts';
import type { MessageSource } from '../../base/texts/messages.ts';
import { inLanguage } from '../../base/texts/text.ts';
import type { WokenJob } from '../jobs/scheduler.ts';
import { plainText } from './content.ts';
import type { RenderHtml } from './html.ts';
import { compose, type MailMessage, mailLanguage } from './messages.ts';

/** The recipient of a row whose recipient is not known yet. */
export const DEFERRED_RECIPIENT = '';

export type Outbox = ReturnType<typeof createOutbox>;

export interface OutboxDependencies {
  renderHtml: RenderHtml;
  /** The brand of the settings; none by default. */
  brand?: () => BrandLook | undefined;
  /** The brand of its own that an application has. */
  brandOf?: (application: string) => BrandLook | undefined;
  /** The languages of the settings; all by default. */
  offered?: () => OfferedLanguages;
  /** The texts that an administrator wrote; none by default. */
  texts?: () => MessageSource | undefined;
  /** Runs a job of this server once the transaction has committed. */
  wake(job: WokenJob, tx: Tx): void;
}

export function createOutbox({
  db,
  vault,
  now,
  renderHtml,
  brand = () => undefined,
  brandOf = () => undefined,
  offered = () => allLanguages,
  texts = () => undefined,
  wake,
  config: { issuer },
}: Base & OutboxDependencies) {
  async function store(recipient: string, subject: string, content: StoredContent, tx: Tx): Promise<void> {
    const id = randomId();
    const bodySealed = sealContent(vault, id, content);
    const at = now();
    const userId = content.type === 'message' ? (content.userId ?? null) : null;
    const about = { recipient, subject, kind: content.kind, userId };
    await tx.mailMessage.create({ data: { id, ...about, bodySealed, nextTryAt: at, createdAt: at } });
    wake('mail', tx);
  }

  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000).toISOString();

  return {
    /** Queues a mail; inside `tx` it is sent only if that commits. */
    async send(message: MailMessage, tx: Tx = db): Promise<void> {
      const { email, userId } = message.to;
      assertSingleAddress(email);
      const { application } = message.to;
      const look = (application !== undefined && brandOf(application)) || brand();
      const write = () => {
        const content = compose(message, issuer, look?.name);
        return { subject: content.subject, text: plainText(content), html: renderHtml(content, look) };
      };
      const written = inLanguage(mailLanguage(message, offered()), write, texts());
      const stored: StoredContent = {
        type: 'message',
        kind: message.kind,
        recipient: email,
        ...written,
        ...(look?.mailLogo && { logo: look.mailLogo }),
        ...(look?.name && { sender: look.name }),
        ...(userId && { userId }),
        expiresAt: inSeconds(usefulSeconds(message)),
      };
      await store(email, written.subject, stored, tx);
    },

    /** Queues a request whose recipient is looked up later; dropped after `seconds`. */
    async defer(kind: DeferredKind, request: MailRequest, seconds: number): Promise<void> {
      const stored: StoredContent = { type: 'deferred', kind, request, expiresAt: inSeconds(seconds) };
      await store(DEFERRED_RECIPIENT, `deferred: ${kind}`, stored, db);
    },

    /** Lets the delivery try an unsent mail again, now; false when there is none with this id. */
    async retry(id: string, tx: Tx): Promise<boolean> {
      const { count } = await tx.mailMessage.updateMany({
        where: { id, sentAt: null, recipient: { not: DEFERRED_RECIPIENT } },
        data: { failedAt: null, nextTryAt: now() },
      });
      if (count > 0) wake('mail', tx);
      return count > 0;
    },
  };
}

/** A link or code that has expired is not sent. */
function usefulSeconds(message: MailMessage): number {
  if ('minutes' in message) return message.minutes * 60;
  if ('hours' in message) return message.hours * 3600;
  return limits.mail.giveUpAfterSeconds;
}

// Accounts check their addresses too. This stops a list of recipients and a line break in a header (RFC 5322, section 2.2).
function assertSingleAddress(email: string): void {
  if (!/^[^\s@,;<>()[\]"\p{C}]+@[^\s@,;<>()[\]"\p{C}]+$/u.test(email)) throw new Error('not a single email address');
}

// What a row of `mail_messages` holds in its sealed column: a finished message, or a deferred request for one.
// Links and codes are in it, so it is encrypted under the row's ID and erased once the mail was sent.

export type DeferredKind = 'password-reset' | 'registration' | 'unlock';

/** A request for a mail whose recipient is looked up later: what was typed into a form, and by whom. */
export interface MailRequest {
  typed: string;
  request?: RequestInfo;
  /** The cookie of the browser that sent the form, if that browser is known. */
  browser?: string;
  /** The id of the invitation code of a sign-up. */
  codeId?: string | undefined;
}

export interface FinishedContent {
  type: 'message';
  kind: string;
  userId?: string;
  /** As in their columns, which another program could change to get the link or code. */
  recipient: string;
  subject: string;
  text: string;
  html: string;
  /** The picture that the HTML has as its logo, by its name. */
  logo?: string;
  /** The name of the brand, for the sender. */
  sender?: string;
  /** ISO 8601. A link or code that has expired is not sent. */
  expiresAt: string;
}

export interface DeferredContent {
  type: 'deferred';
  kind: DeferredKind;
  request: MailRequest;
  expiresAt: string;
}

export type StoredContent = FinishedContent | DeferredContent;

const aadOf = (id: string) => `mail_messages:${id}`;

function sealContent(vault: Vault, id: string, content: StoredContent): string {
  return vault.seal(JSON.stringify(content), aadOf(id));
}

/** Throws a VaultError when the secret that sealed it is not configured any more. */
export function decryptContent(vault: Vault, id: string, sealed: string): StoredContent {
  return JSON.parse(vault.open(sealed, aadOf(id)).toString()) as StoredContent;
}
