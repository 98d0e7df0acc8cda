// The request that caused a change, for domain code and the audit log. src/http creates it.

export interface RequestInfo {
  requestId: string;
  address: string;
  userAgent: string;
  /** That of the page, where a mail is sent to an address without an account. */
  language?: string;
}
