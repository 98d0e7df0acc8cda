// Every error that our routes can return. A code defines its status, and in views/texts its public message and the advice; `detail` and
// `cause` are logged only. Branch on `code`, never on `message`.

import { unavailableIn } from '../storage/unavailable.ts';
import { waitText } from '../texts/dates.ts';
import type { Fault } from '../texts/faults.ts';
import { hasText, type PageLink, type PageText, t } from '../texts/text.ts';

interface ErrorRow {
  status: number;
  /** Seconds after which a client may try again (Retry-After, RFC 9110 10.2.3). */
  retryAfter?: number;
  /** The error code at OAuth endpoints, where it is not that of the status. */
  oauth?: string;
  /** A link on this server to continue with. */
  next?: PageLink;
}

/** Seconds; a database or an identity provider is usually back within this time after a restart or failover. */
const SOON = 5;

const errors = {
  bad_request: { status: 400 },
  malformed_url: { status: 400 },
  malformed_body: { status: 400 },
  invalid_input: { status: 400 },
  repeated_parameter: { status: 400 },
  request_aborted: { status: 400 },
  link_invalid: { status: 400 },
  other_link: { status: 400 },
  sign_in_expired: { status: 400, next: { href: '/dashboard', label: t('page.your-apps') } },
  cookies_blocked: { status: 400 },
  other_browser: { status: 400, next: { href: '/dashboard', label: t('page.your-apps') } },
  password_rejected: { status: 400 },
  saml_request_invalid: { status: 400 },
  service_provider_unknown: { status: 400 },
  state_mismatch: { status: 400 },
  unauthenticated: { status: 401 },
  invalid_token: { status: 401 },
  invalid_signature: { status: 401 },
  sign_in_failed: { status: 401 },
  proof_needed: { status: 401 },
  forbidden: { status: 403 },
  access_denied: { status: 403 },
  first_factor_needs_approval: { status: 403 },
  account_inactive: { status: 403 },
  address_denied: { status: 403 },
  owned_by_file: { status: 403 },
  owned_by_scim: { status: 403 },
  group_unconfirmed: { status: 403 },
  cross_site_request: { status: 403 },
  csrf_failed: { status: 403 },
  not_found: { status: 404 },
  method_not_allowed: { status: 405 },
  conflict: { status: 409 },
  changed_outside: { status: 409 },
  user_name_taken: { status: 409 },
  email_taken: { status: 409 },
  role_name_taken: { status: 409 },
  group_name_taken: { status: 409 },
  group_sensitive: { status: 409 },
  too_many_invitations: { status: 409 },
  invitation_closed: { status: 409 },
  application_taken: { status: 409 },
  last_admin: { status: 409 },
  changed_meanwhile: { status: 409 },
  in_progress: { status: 409 },
  precondition_failed: { status: 412 },
  precondition_required: { status: 428 },
  key_reused: { status: 422 },
  unknown_role: { status: 422 },
  body_too_large: { status: 413 },
  unsupported_media_type: { status: 415 },
  misdirected: { status: 421 },
  // RFC 6749 has no error for rate limits; this is the one that clients try again after.
  too_many_requests: { status: 429, oauth: 'temporarily_unavailable' },
  internal: { status: 500 },
  method_unknown: { status: 501 },
  upstream_failed: { status: 502 },
  unavailable: { status: 503, retryAfter: SOON, oauth: 'temporarily_unavailable' },
  // Of a sign-in at an upstream identity provider.
  upstream_no_identity: { status: 400 },
  upstream_answer_invalid: { status: 400 },
  upstream_signature_invalid: { status: 401 },
  upstream_encryption_not_accepted: { status: 401 },
  upstream_denied: { status: 400 },
  upstream_not_fresh: { status: 401 },
  upstream_not_allowed: { status: 403 },
  sign_in_method_not_allowed: { status: 403 },
  connection_disabled: { status: 403 },
  not_invited: { status: 403 },
  address_in_use: { status: 409 },
  upstream_other_account: { status: 409 },
  upstream_other_user: { status: 409 },
  identity_taken: { status: 409 },
  last_way_in: { status: 409 },
  upstream_unavailable: { status: 503, retryAfter: SOON, oauth: 'temporarily_unavailable' },
} as const satisfies Record<string, ErrorRow>;

/** Every code of an error page or a problem+json response. */
export type ErrorCode = keyof typeof errors;
/** The codes of one status, so that `conflict('not_found')` does not compile. */
export type CodeOf<Status extends number> = {
  [Code in ErrorCode]: (typeof errors)[Code]['status'] extends Status ? Code : never;
}[ErrorCode];

export interface ErrorOptions {
  /** Replaces the public message of the code. */
  message?: PageText;
  advice?: PageText;
  /** For the log only. */
  detail?: unknown;
  cause?: unknown;
  headers?: Record<string, string>;
  /** Public: which values are wrong. */
  faults?: readonly Fault[];
  /** Links on the page to continue with. */
  next?: PageLink;
  other?: PageLink;
  /** What the configuration file declares, and the request would have changed. */
  declared?: DeclaredEntry;
  /** Code under which an administrator finds the reason; pages call it the error reference. */
  rejectionCode?: string;
  /** Public protocol details, which pages put behind "Details". */
  technical?: TechnicalDetail[];
}

/** An entry of the configuration file, with its id in the console. */
export interface DeclaredEntry {
  kind: 'api' | 'application' | 'connection' | 'event-stream' | 'group' | 'role' | 'scim' | 'sign-up-code' | 'user';
  id: string;
  name: string;
}

export interface TechnicalDetail {
  label: PageText;
  value: string;
}

/** An error that ends the request; `text` is public, `message` is the same in English. Created by the functions below. */
export class AppError extends Error {
  override name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number;
  /** The error code of RFC 6749 5.2, for OAuth endpoints. */
  readonly oauth: string;
  readonly text: PageText;
  readonly advice: PageText | undefined;
  readonly detail: unknown;
  readonly headers: Record<string, string>;
  readonly faults: readonly Fault[];
  readonly next: PageLink | undefined;
  readonly other: PageLink | undefined;
  readonly declared: DeclaredEntry | undefined;
  readonly rejectionCode: string | undefined;
  readonly technical: TechnicalDetail[];

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    const row: ErrorRow = errors[code];
    const text = options.message ?? t(`error.${code}`);
    super(String(text), 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.text = text;
    this.status = row.status;
    this.oauth = row.oauth ?? oauthCodeOf(row.status);
    this.advice = options.advice ?? (options.message ? undefined : adviceFor(code));
    this.detail = options.detail;
    this.headers = { ...(row.retryAfter && { 'Retry-After': String(row.retryAfter) }), ...options.headers };
    this.faults = options.faults ?? [];
    this.next = options.next ?? row.next;
    this.other = options.other;
    this.declared = options.declared;
    this.rejectionCode = options.rejectionCode;
    this.technical = options.technical ?? [];
  }
}

function oauthCodeOf(status: number): string {
  if (status >= 500) return 'server_error';
  return status === 403 ? 'access_denied' : 'invalid_request';
}

/** Some errors have nothing to advise. */
function adviceFor(code: ErrorCode): PageText | undefined {
  const key = `error.${code}.advice` as const;
  return hasText(key) ? t(key) : undefined;
}

function constructorOf<Status extends number>() {
  return (code: CodeOf<Status>, options?: ErrorOptions): AppError => new AppError(code, options);
}

/** 400: the request itself is wrong. */
export const badRequest = constructorOf<400>();
/** 400: values are wrong. They are logged too. */
export function invalidInput(faults: readonly Fault[], cause?: unknown): AppError {
  return new AppError('invalid_input', { faults, detail: faults, ...(cause !== undefined && { cause }) });
}
/** 401: not authenticated, or the acr is too low. */
export const unauthorized = constructorOf<401>();
/** 403: authenticated, but not allowed. */
export const forbidden = constructorOf<403>();
/** 403: the configuration file declares what the request would change. */
export const ownedByFile = (kind: DeclaredEntry['kind'], { id, name }: Omit<DeclaredEntry, 'kind'>): AppError =>
  forbidden('owned_by_file', {
    message: t('error.owned_by_file.entry', { name }),
    advice: t('error.owned_by_file.advice'),
    declared: { kind, id, name },
  });
/** 409: conflicts with stored data. */
export const conflict = constructorOf<409>();
/** 412 and 428: the version in If-Match is wrong or missing. */
export const preconditionFailed = constructorOf<412 | 428>();
/** 422. */
export const unprocessable = constructorOf<422>();
/** 502 and 503: a dependency failed. */
export const unavailable = constructorOf<502 | 503>();

/** 404. */
export function notFound(options?: ErrorOptions): AppError {
  return new AppError('not_found', { next: { href: '/', label: t('error.home') }, ...options });
}

/** 405, or 501 for a method that HTTP does not know. */
export function methodNotAllowed(code: CodeOf<405 | 501> = 'method_not_allowed', options?: ErrorOptions): AppError {
  return new AppError(code, options);
}

/** 413. */
export function tooLarge(maxBytes: number, options?: ErrorOptions): AppError {
  return new AppError('body_too_large', {
    advice: t('error.body_too_large.limit', { size: Math.floor(maxBytes / 1024) }),
    ...options,
  });
}

/** 415. */
export function unsupportedMediaType(accepted: string, options?: ErrorOptions): AppError {
  return new AppError('unsupported_media_type', {
    advice: t('error.unsupported_media_type.accepted', { accepted }),
    ...options,
  });
}

/** 421: the request names another host. */
export function misdirected(issuer: string, options?: ErrorOptions): AppError {
  return new AppError('misdirected', { advice: t('error.misdirected.issuer', { issuer }), ...options });
}

/** 429, with Retry-After. */
export function tooManyRequests(retryAfterSeconds: number, options?: ErrorOptions): AppError {
  return new AppError('too_many_requests', {
    advice: t('error.too_many_requests.wait', { time: waitText(retryAfterSeconds) }),
    ...options,
    headers: { ...options?.headers, 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
  });
}

/** 429 for a request that would store more than its network or its user may (people/rate-limits/storage-budget.ts). */
export function tooMuchStored(retryAfterSeconds: number): AppError {
  return tooManyRequests(retryAfterSeconds, {
    message: t('error.too_many_requests.network'),
    advice: t('error.too_many_requests.network-wait', { time: waitText(retryAfterSeconds) }),
  });
}

/** 503 for an error that is, or is caused by, a database that cannot be used; undefined for every other error. */
export function databaseUnavailable(thrown: unknown): AppError | undefined {
  const cause = unavailableIn(thrown);
  return cause && new AppError('unavailable', { detail: cause.logFields, cause });
}

/** 500, for unexpected errors; the cause is logged and never displayed. */
export function internal(cause: unknown): AppError {
  return new AppError('internal', { cause });
}
