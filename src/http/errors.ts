// Every error that our routes can return. A code defines its status, its public message and the advice; `detail` and
// `cause` are logged only. Branch on `code`, never on `message`.
import { type Problem, upstreamProblems } from './upstream-problems.ts';

const problems = {
  ...upstreamProblems,
  bad_request: { status: 400, message: 'The request could not be understood.' },
  malformed_url: { status: 400, message: 'The address of this page is malformed.', advice: 'Check the link you used.' },
  malformed_body: { status: 400, message: 'The data that was sent could not be read.' },
  invalid_input: {
    status: 400,
    message: 'Some of what was sent is missing or wrong.',
    advice: 'Correct it and send it again.',
  },
  repeated_parameter: { status: 400, message: 'A parameter was sent more than once.', advice: 'Send each one once.' },
  request_aborted: { status: 400, message: 'The request ended before all of it was sent.' },
  link_invalid: {
    status: 400,
    message: 'This link is not valid, was already used, or has expired.',
    advice: 'Ask for a new one.',
  },
  other_link: {
    status: 400,
    message: 'Another link was opened in this browser meanwhile, so nothing was changed.',
    advice: 'Open the link in the mail again.',
  },
  sign_in_expired: {
    status: 400,
    message: 'This sign-in has expired or was finished elsewhere.',
    advice: 'Go back to the application and sign in again.',
    next: { href: '/dashboard', label: 'Your applications' },
  },
  other_browser: {
    status: 400,
    message: 'This step was begun in another browser, or its cookies were removed.',
    advice: 'Begin again from the application, and allow cookies for this site.',
    next: { href: '/dashboard', label: 'Your applications' },
  },
  password_refused: {
    status: 400,
    message: 'This password does not meet the rules.',
    advice: 'Choose a longer or less common one.',
  },
  saml_request_invalid: {
    status: 400,
    message: 'The sign-in request of the application is not valid.',
    advice: 'Go back to the application and try again; if it happens again, tell its administrator.',
  },
  service_provider_unknown: {
    status: 400,
    message: 'The application that sent you here is not known to this server.',
    advice: 'Ask its administrator to register it.',
  },
  state_mismatch: {
    status: 400,
    message: 'The answer does not belong to a sign-in begun in this browser.',
    advice: 'Begin the sign-in again.',
  },
  unauthenticated: { status: 401, message: 'You are not signed in.', advice: 'Sign in and try again.' },
  invalid_token: { status: 401, message: 'The access token is missing, expired or not valid here.' },
  invalid_signature: { status: 401, message: 'Invalid signature' },
  sign_in_failed: { status: 401, message: 'The sign-in could not be completed.', advice: 'Try to sign in again.' },
  proof_needed: {
    status: 401,
    message: 'Please confirm that it is you before changing this.',
    advice: 'Sign in again.',
  },
  forbidden: {
    status: 403,
    message: 'You are not allowed to do this.',
    advice: 'Ask an administrator if you think you should be.',
  },
  access_denied: {
    status: 403,
    message: 'Your account may not open this application.',
    advice: 'Ask its administrator for access.',
  },
  first_factor_needs_approval: {
    status: 403,
    message: 'An administrator has to allow your first second factor.',
    advice: 'Ask an administrator, who finds your request in the console. Then reload this page.',
  },
  account_inactive: {
    status: 403,
    message: 'This account is not active.',
    advice: 'Ask an administrator to enable it.',
  },
  address_denied: {
    status: 403,
    message: 'This server does not answer to your network.',
    advice: 'If you think it should, tell its administrator the request number below.',
  },
  owned_by_file: {
    status: 403,
    message: 'This is declared in the configuration file and cannot be changed here.',
    advice: 'Change the file and apply it.',
  },
  cross_site_request: {
    status: 403,
    message: 'This form was sent from another site, so it was not accepted.',
    advice: 'Open the page here and fill in the form on it.',
  },
  csrf_failed: {
    status: 403,
    message: 'This form is out of date, or your browser did not send the cookie that belongs to it.',
    advice: 'Reload the page and send the form again. If that does not help, allow cookies for this site.',
  },
  not_found: {
    status: 404,
    message: 'There is nothing at this address.',
    advice: 'Check the link, or go back to where you came from.',
  },
  method_not_allowed: { status: 405, message: 'This address does not accept that method.' },
  conflict: { status: 409, message: 'This contradicts something that is already there.' },
  changed_outside: { status: 409, message: 'Another program changed this in the database, so it is not used.' },
  user_name_taken: { status: 409, message: 'This user name is already taken.', advice: 'Choose another one.' },
  email_taken: { status: 409, message: 'This e-mail address is already in use.', advice: 'Use another one.' },
  role_name_taken: { status: 409, message: 'A role of this name already exists.', advice: 'Choose another name.' },
  application_taken: { status: 409, message: 'An application with this identifier already exists.' },
  last_admin: { status: 409, message: 'This is the last administrator, so it has to stay one.' },
  changed_meanwhile: {
    status: 409,
    message: 'This was changed by another user in the meantime.',
    advice: 'Reload the page and make your change again.',
  },
  in_progress: {
    status: 409,
    message: 'The first request with this Idempotency-Key is still at work.',
    advice: 'Send it again in a moment.',
  },
  precondition_failed: {
    status: 412,
    message: 'This was changed since you read it.',
    advice: 'Read it again, and make your change to what is there now.',
  },
  precondition_required: {
    status: 428,
    message: 'Which version this changes is missing.',
    advice: 'Send If-Match with the ETag of the answer that you read it in.',
  },
  key_reused: {
    status: 422,
    message: 'This Idempotency-Key was used for another request.',
    advice: 'Make a new key for each thing that you create.',
  },
  unknown_role: { status: 422, message: 'There is no such role.', advice: 'Create it first, or name another one.' },
  body_too_large: { status: 413, message: 'More data was sent than is accepted here.', advice: 'Send less.' },
  unsupported_media_type: { status: 415, message: 'The data was sent in a format that is not accepted here.' },
  misdirected: { status: 421, message: 'This server does not answer under that name.' },
  too_many_requests: { status: 429, message: 'There were too many attempts.' },
  internal: {
    status: 500,
    message: 'Something went wrong on our side. It was noted.',
    advice: 'Try again in a moment; if it happens again, tell the administrator the request number below.',
  },
  method_unknown: { status: 501, message: 'This server does not know that method.' },
  upstream_failed: {
    status: 502,
    message: 'A server that we depend on did not answer as expected.',
    advice: 'Try again in a moment.',
  },
  unavailable: {
    status: 503,
    message: 'The service is not ready at the moment.',
    advice: 'Try again in a moment.',
  },
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
  /** Code under which an administrator finds the reason. */
  rejectionCode?: string;
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
  return new AppError('not_found', { next: { href: '/', label: 'Go to the start page' }, ...options });
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
    advice: `Wait ${timeInWords(retryAfterSeconds)} and try again.`,
    ...options,
    headers: { ...options?.headers, 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
  });
}

/** A duration in words, for pages. */
export function timeInWords(seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds));
  return whole < 90 ? `${whole} second${whole === 1 ? '' : 's'}` : `${Math.ceil(whole / 60)} minutes`;
}

/** 500, for unexpected errors; the cause is logged and never displayed. */
export function internal(cause: unknown): AppError {
  return new AppError('internal', { cause });
}
