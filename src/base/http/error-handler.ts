// The only place where an error becomes a response: a page for users, RFC 9457 problem+json for programs, RFC 6749 5.2 at OAuth endpoints.
// Both contain the request id of the log line; neither says more than the error's public message.
import { STATUS_CODES } from 'node:http';
import { RowChanged } from '../storage/protected-client.ts';
import { tooMuchStoredIn } from '../storage/stored-size.ts';
import { unavailableIn } from '../storage/unavailable.ts';
import { type Fault, faultText, formatPath, publicFault } from '../texts/faults.ts';
import type { Context, ErrorPage, Middleware } from './context.ts';
import {
  AppError,
  badRequest,
  conflict,
  databaseUnavailable,
  type ErrorOptions,
  internal,
  methodNotAllowed,
  notFound,
  tooMuchStored,
} from './errors.ts';
import { addressToReturnTo } from './pages/language.ts';
import { applicationBrand, type BrandOf, type Render } from './pages/render.ts';

export interface ErrorAnswers {
  /** Renders the view `error`; absent: every client is a program and gets JSON. */
  render?: Render;
  /** The brand of its own that an application has. */
  brandOf?: BrandOf | undefined;
  /** Paths whose clients are programs: they always get JSON. */
  jsonPaths?: readonly string[];
  /** Whether a path is of an OAuth endpoint that programs call: its errors have the form of RFC 6749 5.2. */
  isOAuthPath?: (path: string) => boolean;
}

/** Second middleware, directly inside the request context. */
export function errorHandler({
  render,
  brandOf,
  jsonPaths = ['/api/', '/access/', '/scim/', '/ssf/'],
  isOAuthPath = () => false,
}: ErrorAnswers = {}): Middleware {
  return async (ctx, next) => {
    try {
      await next();
      rejectUnhandled(ctx);
    } catch (thrown) {
      const error = toAppError(thrown);
      ctx.state.errorCode = error.code;
      logError(ctx, error);
      if (ctx.headerSent || !ctx.writable) {
        // A partial response cannot be replaced; a closed connection at least does not look complete.
        ctx.res.destroy();
        return;
      }
      if (isOAuthPath(ctx.path)) return answerOAuth(ctx, error);
      // What fails before the routes of SCIM.
      if (ctx.path.startsWith('/scim/')) return answerScim(ctx, error);
      if (!render || wantsJson(ctx, jsonPaths)) return answerProblem(ctx, error);
      await answerPage(ctx, error, render, brandOf);
    }
  };
}

function rejectUnhandled(ctx: Context): void {
  if (ctx.respond === false || ctx.headerSent || (ctx.body !== undefined && ctx.body !== null)) return;
  if (ctx.status === 404) throw notFound();
  if (ctx.status === 405) throw methodNotAllowed();
  // Koa's router returns 501 for methods that none of its routes has. What is at the path allows others: 405 (RFC 9110 15.5.6).
  const isMethodOfPath = ctx.method === 'TRACE' || ctx.response.get('Allow') !== '';
  if (ctx.status === 501) throw methodNotAllowed(isMethodOfPath ? 'method_not_allowed' : 'method_unknown');
}

/** What is answered for an error. */
export function toAppError(thrown: unknown): AppError {
  const unavailable = databaseUnavailable(thrown);
  if (unavailable) return unavailable;
  const tooMuch = tooMuchStoredIn(thrown);
  if (tooMuch) return tooMuchStored(tooMuch.retryAfterSeconds);
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof RowChanged) return conflict(`changed_${thrown.by}`, { cause: thrown });
  if (!isHttpError(thrown)) return internal(thrown);
  // Errors of Koa and its middlewares (http-errors): their status, our message.
  const options: ErrorOptions = { cause: thrown };
  const { status } = thrown;
  if (status === 404) return notFound(options);
  if (status === 405) return methodNotAllowed('method_not_allowed', options);
  if (status === 413) return new AppError('body_too_large', options);
  if (status === 415) return new AppError('unsupported_media_type', options);
  if (status === 401) return new AppError('unauthenticated', options);
  if (status === 403) return new AppError('forbidden', options);
  if (status === 409) return new AppError('conflict', options);
  return badRequest('bad_request', options);
}

function isHttpError(thrown: unknown): thrown is Error & { status: number } {
  if (!(thrown instanceof Error) || !('status' in thrown) || !('expose' in thrown)) return false;
  const { status } = thrown;
  return thrown.expose === true && typeof status === 'number' && status >= 400 && status < 500;
}

/** Logs the error that ends a request. */
export function logError({ state, method, path }: Context, error: AppError): void {
  const { code, detail, cause } = error;
  // 501 is an error of the request, not of the server.
  if (error.status >= 500 && error.status !== 501) {
    state.log().error({ code, method, path, detail, ...loggedCause(error) }, 'request failed');
  } else if (detail !== undefined || cause !== undefined) {
    // Without either, the access-log line with its code is enough.
    state.log().info({ code, detail, err: cause }, 'request rejected');
  }
}

/** Only what another part has thrown: the code and the detail of our own errors say all, also that of a database that cannot be used. */
function loggedCause({ cause }: AppError): { err?: unknown } {
  return cause === undefined || unavailableIn(cause) ? {} : { err: cause };
}

function wantsJson(ctx: Context, jsonPaths: readonly string[]): boolean {
  if (jsonPaths.some((prefix) => ctx.path.startsWith(prefix))) return true;
  return ['json', 'application/problem+json'].includes(String(ctx.accepts('html', 'json', 'application/problem+json')));
}

function answerOAuth(ctx: Context, error: AppError): void {
  setHead(ctx, error);
  ctx.body = {
    error: error.oauth,
    // RFC 6749 5.2 permits no other characters.
    error_description: sentence(error.message)
      .replaceAll('’', "'")
      .replace(/[^\x20-\x7e]/g, '?'),
  };
}

/** RFC 7644 3.12. */
function answerScim(ctx: Context, error: AppError): void {
  setHead(ctx, error);
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:Error'];
  ctx.body = JSON.stringify({ schemas, status: String(error.status), detail: error.message });
  ctx.type = 'application/scim+json';
}

function answerProblem(ctx: Context, error: AppError): void {
  setHead(ctx, error);
  ctx.body = JSON.stringify(problemOf(error, ctx.state.request.requestId));
  ctx.type = 'application/problem+json';
}

async function answerPage(ctx: Context, error: AppError, render: Render, brandOf?: BrandOf): Promise<void> {
  const own = await ownPage(ctx, error);
  setHead(ctx, error);
  const { requestId } = ctx.state.request;
  const data = { ...pageOf(error, requestId), ...applicationBrand(ctx, brandOf) };
  const text = (own && renderPage(ctx, render, own)) ?? renderPage(ctx, render, { template: 'error', data });
  ctx.body = text ?? `${data.message} ${data.advice}\nRequest ID: ${requestId}\n`;
  ctx.type = text === undefined ? 'text/plain; charset=utf-8' : 'text/html; charset=utf-8';
}

/** The page that the route has for its errors. What it reads may fail for the same reason as the request. */
async function ownPage(ctx: Context, error: AppError): Promise<ErrorPage | undefined> {
  try {
    return await ctx.state.errorPage?.(error);
  } catch (err) {
    ctx.state.log().warn({ err }, 'the error page has no frame');
    return undefined;
  }
}

/** Headers that the failed handler set for its own response, such as a redirect whose writes could not be stored, are no longer true. */
const HEADERS_OF_THE_HANDLER = [
  'Location',
  'Content-Encoding',
  'Content-Length',
  'ETag',
  'Last-Modified',
  'Content-Disposition',
];

function setHead(ctx: Context, error: AppError): void {
  ctx.status = error.status;
  for (const name of HEADERS_OF_THE_HANDLER) ctx.remove(name);
  if (error.status >= 500) {
    // A failure says nothing about credentials.
    ctx.remove('WWW-Authenticate');
    // Cookies of the handler name a session that may not be stored, or carry the notice of a change that did not happen.
    ctx.remove('Set-Cookie');
  }
  ctx.set('Cache-Control', 'no-store');
  ctx.vary('Accept');
  ctx.set(error.headers);
}

function renderPage(ctx: Context, render: Render, { template, data }: ErrorPage): string | undefined {
  try {
    return render(template, { here: addressToReturnTo(ctx, ctx.status), ...data }, undefined, ctx.state.language());
  } catch (err) {
    // A failure of the error page must not be silent.
    ctx.state.log().error({ err }, 'error page could not be rendered');
    return undefined;
  }
}

/** A fault on a page for people. */
function shownFault(found: Fault) {
  const field = formatPath(found.path);
  return { field, message: faultText(found, field) };
}

function pageOf(
  { status, text: message, advice = '', code, faults, next, other, rejectionCode, technical }: AppError,
  requestId: string,
) {
  const title = STATUS_CODES[status] ?? 'Error';
  return {
    status,
    title,
    message,
    advice,
    code,
    fields: faults.map(shownFault),
    next,
    other,
    rejectionCode,
    technical,
    requestId,
  };
}

/** A heading has no period; in a longer text it needs one. */
const sentence = (text: string) => (/[.?]$/.test(text) ? text : `${text}.`);

function problemOf(error: AppError, requestId: string): object {
  const { code, status, message, advice, faults, rejectionCode, technical } = error;
  return {
    type: `urn:gatehouse:error:${code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: [sentence(message), String(advice ?? ''), ...technical.map(({ label, value }) => `${label}: ${value}`)]
      .filter(Boolean)
      .join(' '),
    code,
    requestId,
    ...(rejectionCode && { rejection: rejectionCode }),
    ...(faults.length > 0 ? { errors: faults.map(publicFault) } : {}),
  };
}
