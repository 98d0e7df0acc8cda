// Every error that our routes can return. A code defines its status, its public message and the advice; `detail` and
// `cause` are logged only. Branch on `code`, never on `message`.

import { timeInWords } from '../platform/plural.ts';
import { type Problem, upstreamProblems } from './upstream-problems.ts';

const problems = {
  ...upstreamProblems,
  bad_request: { status: 400, message: 'The server can’t understand this request.' },
  malformed_url: { status: 400, message: 'The address of this page is incorrect.', advice: 'Check the link.' },
  malformed_body: { status: 400, message: 'The server can’t read the submitted data.' },
  invalid_input: {
    status: 400,
    message: 'Some values are missing or incorrect.',
    advice: 'Correct them and try again.',
  },
  repeated_parameter: {
    status: 400,
    message: 'The request has a parameter more than once.',
    advice: 'Send each parameter once.',
  },
  request_aborted: { status: 400, message: 'The request ended before all of its data arrived.' },
  link_invalid: {
    status: 400,
    message: 'This link is invalid, already used, or expired.',
    advice: 'Request a new link.',
  },
  other_link: {
    status: 400,
    message: 'You opened another link in this browser, so nothing changed.',
    advice: 'Open the link in the email again.',
  },
  sign_in_expired: {
    status: 400,
    message: 'This sign-in has expired or was completed elsewhere.',
    advice: 'Go back to the app and sign in again.',
    next: { href: '/dashboard', label: 'Your apps' },
  },
  other_browser: {
    status: 400,
    message: 'You started this sign-in in another browser, or its cookies are gone.',
    advice: 'Allow cookies for this site. Then go back to the app and sign in again.',
    next: { href: '/dashboard', label: 'Your apps' },
  },
  password_refused: {
    status: 400,
    message: 'This password doesn’t meet the requirements.',
    advice: 'Choose a longer or less common password.',
  },
  saml_request_invalid: {
    status: 400,
    message: 'The app sent an invalid sign-in request.',
    advice: 'Go back to the app and try again. If it happens again, contact its administrator.',
  },
  service_provider_unknown: {
    status: 400,
    message: 'The app that sent you here isn’t registered.',
    advice: 'Contact its administrator.',
  },
  state_mismatch: {
    status: 400,
    message: 'This answer doesn’t belong to a sign-in in this browser.',
    advice: 'Sign in again.',
  },
  unauthenticated: { status: 401, message: 'You aren’t signed in.', advice: 'Sign in and try again.' },
  invalid_token: { status: 401, message: 'The access token is missing, expired, or invalid.' },
  invalid_signature: { status: 401, message: 'The signature is invalid.' },
  sign_in_failed: { status: 401, message: 'We couldn’t complete your sign-in.', advice: 'Try again.' },
  proof_needed: { status: 401, message: 'Confirm it’s you before you change this.', advice: 'Sign in again.' },
  forbidden: {
    status: 403,
    message: 'You don’t have permission to do this.',
    advice: 'If you need it, ask an administrator.',
  },
  access_denied: {
    status: 403,
    message: 'You don’t have access to this app.',
    advice: 'Ask its administrator for access.',
  },
  first_factor_needs_approval: {
    status: 403,
    message: 'An administrator must allow you to set up two-step verification.',
    advice: 'Ask an administrator to approve your request in the console. Then reload this page.',
  },
  account_inactive: { status: 403, message: 'This account is disabled.', advice: 'Ask an administrator to enable it.' },
  address_denied: {
    status: 403,
    message: 'Your network is blocked.',
    advice: 'If you need access, send the request ID below to your administrator.',
  },
  owned_by_file: {
    status: 403,
    message: 'The configuration file manages this, so you can’t change it here.',
    advice: 'Change the file and apply it.',
  },
  cross_site_request: {
    status: 403,
    message: 'Another site sent this form, so we rejected it.',
    advice: 'Open the page on this site and fill in the form there.',
  },
  csrf_failed: {
    status: 403,
    message: 'This form has expired, or your browser blocks its cookie.',
    advice: 'Reload the page and try again. If that doesn’t help, allow cookies for this site.',
  },
  not_found: { status: 404, message: 'Page not found', advice: 'Check the link, or go back to the previous page.' },
  method_not_allowed: { status: 405, message: 'This address doesn’t support this HTTP method.' },
  conflict: { status: 409, message: 'This conflicts with existing data.' },
  changed_outside: {
    status: 409,
    message: 'Another program changed this row in the database, so Gatehouse doesn’t use it.',
  },
  user_name_taken: { status: 409, message: 'This username is already taken.', advice: 'Choose another one.' },
  email_taken: { status: 409, message: 'This email address is already in use.', advice: 'Use another one.' },
  role_name_taken: { status: 409, message: 'A role with this name already exists.', advice: 'Choose another name.' },
  application_taken: { status: 409, message: 'An application with this identifier already exists.' },
  last_admin: { status: 409, message: 'You can’t remove the last administrator.' },
  changed_meanwhile: {
    status: 409,
    message: 'Someone else changed this meanwhile.',
    advice: 'Reload the page to see it. Then make your change again.',
  },
  in_progress: {
    status: 409,
    message: 'The first request with this Idempotency-Key is still running.',
    advice: 'Try again in a minute.',
  },
  precondition_failed: {
    status: 412,
    message: 'This changed after you read it.',
    advice: 'Read it again and apply your change to the current version.',
  },
  precondition_required: {
    status: 428,
    message: 'The If-Match header is missing.',
    advice: 'Send If-Match with the ETag of the version that you read.',
  },
  key_reused: {
    status: 422,
    message: 'This Idempotency-Key was used for a different request.',
    advice: 'Use a new key for each resource that you create.',
  },
  unknown_role: {
    status: 422,
    message: 'This role doesn’t exist.',
    advice: 'Create it first, or choose another role.',
  },
  body_too_large: { status: 413, message: 'The request is too large.', advice: 'Send less data.' },
  unsupported_media_type: { status: 415, message: 'The server doesn’t accept this data format.' },
  misdirected: { status: 421, message: 'This server doesn’t answer under this host name.' },
  too_many_requests: { status: 429, message: 'Too many attempts.' },
  internal: {
    status: 500,
    message: 'Something went wrong.',
    advice: 'Try again. If it happens again, send the request ID below to your administrator.',
  },
  method_unknown: { status: 501, message: 'The server doesn’t support this HTTP method.' },
  upstream_failed: {
    status: 502,
    message: 'Another server that Gatehouse needs didn’t answer correctly.',
    advice: 'Try again in a minute.',
  },
  unavailable: { status: 503, message: 'The service isn’t available right now.', advice: 'Try again in a minute.' },
} as const satisfies Record<string, Problem>;

/** Every code of an error page or a problem+json response. */
export type ErrorCode = keyof typeof problems;
/** The codes of one status, so that `conflict('not_found')` does not compile. */
export type CodeOf<Status extends number> = {
  [Code in ErrorCode]: (typeof problems)[Code]['status'] extends Status ? Code : never;
}[ErrorCode];

export interface FieldFault {
  /** Dotted path of the field, such as `users.0.email`. */
  field: string;
  message: string;
}

export interface ErrorOptions {
  /** Replaces the public message of the code. */
  message?: string;
  advice?: string;
  /** For the log only. */
  detail?: unknown;
  cause?: unknown;
  headers?: Record<string, string>;
  /** Public: which fields are wrong. */
  fields?: FieldFault[];
  /** Links on the page to continue with. */
  next?: { href: string; label: string };
  other?: { href: string; label: string };
  /** Code under which an administrator finds the reason; pages call it the error reference. */
  rejectionCode?: string;
  /** Public protocol details, which pages put behind "Details for the developer". */
  technical?: TechnicalDetail[];
}

export interface TechnicalDetail {
  label: string;
  value: string;
}

/** An error that ends the request; `message` is public. Created by the functions below. */
export class AppError extends Error {
  override name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly advice: string | undefined;
  readonly detail: unknown;
  readonly headers: Record<string, string>;
  readonly fields: FieldFault[];
  readonly next: { href: string; label: string } | undefined;
  readonly other: { href: string; label: string } | undefined;
  readonly rejectionCode: string | undefined;
  readonly technical: TechnicalDetail[];

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    const problem: Problem = problems[code];
    super(options.message ?? problem.message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.status = problem.status;
    this.advice = options.advice ?? (options.message ? undefined : problem.advice);
    this.detail = options.detail;
    this.headers = options.headers ?? {};
    this.fields = options.fields ?? [];
    this.next = options.next ?? problem.next;
    this.other = options.other;
    this.rejectionCode = options.rejectionCode;
    this.technical = options.technical ?? [];
  }
}

function constructorOf<Status extends number>() {
  return (code: CodeOf<Status>, options?: ErrorOptions): AppError => new AppError(code, options);
}

/** 400: the request itself is wrong. */
export const badRequest = constructorOf<400>();
/** 401: not authenticated, or the acr is too low. */
export const unauthorized = constructorOf<401>();
/** 403: authenticated, but not allowed. */
export const forbidden = constructorOf<403>();
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
  return new AppError('not_found', { next: { href: '/', label: 'Go to home page' }, ...options });
}

/** 405, or 501 for a method that HTTP does not know. */
export function methodNotAllowed(code: CodeOf<405 | 501> = 'method_not_allowed', options?: ErrorOptions): AppError {
  return new AppError(code, options);
}

/** 413. */
export function tooLarge(maxBytes: number, options?: ErrorOptions): AppError {
  return new AppError('body_too_large', {
    advice: `Send at most ${Math.floor(maxBytes / 1024)} KB.`,
    ...options,
  });
}

/** 415. */
export function unsupportedMediaType(accepted: string, options?: ErrorOptions): AppError {
  return new AppError('unsupported_media_type', { advice: `Send ${accepted}.`, ...options });
}

/** 421: the request names another host. */
export function misdirected(issuer: string, options?: ErrorOptions): AppError {
  return new AppError('misdirected', { advice: `Use ${issuer} instead.`, ...options });
}

/** 429, with Retry-After. */
export function tooManyRequests(retryAfterSeconds: number, options?: ErrorOptions): AppError {
  return new AppError('too_many_requests', {
    advice: `Wait ${timeInWords(retryAfterSeconds)}, then try again.`,
    ...options,
    headers: { ...options?.headers, 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
  });
}

/** 500, for unexpected errors; the cause is logged and never displayed. */
export function internal(cause: unknown): AppError {
  return new AppError('internal', { cause });
}
