// The request that caused a change, for domain code and the audit log. src/base/http creates it.

export interface RequestInfo {
  requestId: string;
  address: string;
  userAgent: string;
  /** The language of the page where a mail is requested, for a recipient whose language is unknown. */
  language?: string;
  /** The client ID or entity ID of the application whose sign-in the request belongs to. Pages and mails have its brand. */
  application?: string;
}

/** Who a request stores for: a user, or `trusted`, whom no budget limits: administration, and applications with their credential. */
export type Sender = { userId: string } | 'trusted';
