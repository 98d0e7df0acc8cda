// Where a request came from, as far as domain code and the audit log may know; made by http, read by all.

export interface RequestInfo {
  requestId: string;
  address: string;
  userAgent: string;
}
