// What a row of `mail_messages` holds in its sealed column: a finished message, or a deferred request for one.
// Links and codes are in it, so it is encrypted under the row's ID and erased once the mail was sent.
import type { RequestInfo } from '../../base/platform/request-info.ts';
import type { Vault } from '../../base/platform/vault.ts';

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
  type: 'letter';
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
  type: 'draft';
  kind: DeferredKind;
  wish: MailRequest;
  expiresAt: string;
}

/** `type` and `wish` are spelled as existing rows have them. */
export type StoredContent = FinishedContent | DeferredContent;

const aadOf = (id: string) => `mail_messages:${id}`;

export function sealContent(vault: Vault, id: string, content: StoredContent): string {
  return vault.seal(JSON.stringify(content), aadOf(id));
}

/** Throws a VaultError when the secret that sealed it is not configured any more. */
export function decryptContent(vault: Vault, id: string, sealed: string): StoredContent {
  return JSON.parse(vault.open(sealed, aadOf(id)).toString()) as StoredContent;
}
