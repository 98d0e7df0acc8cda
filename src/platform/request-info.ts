// The request that caused a change, for domain code and the audit log. src/http creates it.

export interface RequestInfo {
  requestId: string;
  address: string;
  userAgent: string;
  /** That of the page on which a mail is requested, for a recipient whose language is not known. */
  language?: string;
  /** The client ID or entity ID of the application whose sign-in the request is a part of: pages and mails have its brand. */
  application?: string;
}
