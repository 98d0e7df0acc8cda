// The request context: a request id, the client's address behind the trusted proxies, a logger with that id, and at the
// end one access-log line (never the query: it contains codes and tokens) and one metrics observation.
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import type { Logger } from '../platform/logger.ts';
import { runWithSpan, traceFields } from '../platform/tracing.ts';
import { withOneSpace } from './authorization-header.ts';
import type { Context, Middleware } from './context.ts';
import type { RequestSpans } from './request-span.ts';

export interface RequestObservation {
  method: string;
  /** A route pattern, never a path: a metric label needs few values. */
  route: string;
  status: number;
  seconds: number;
  /** Code of the error that ended the request. */
  code: string | undefined;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const MAX_LOGGED = 256;

/** First middleware of the application. */
export function requestContext({
  logger,
  trustProxy,
  observe,
  debugPaths = [],
  spans,
}: {
  logger: Logger;
  /** Number of trusted proxies (X-Forwarded-For); 0 for none. */
  trustProxy: number;
  observe?: (observation: RequestObservation) => void;
  /** Paths whose access-log line is written at level debug; one that ends with a slash with all below it. */
  debugPaths?: readonly string[];
  /** Absent: no traces. */
  spans?: RequestSpans | undefined;
}): Middleware {
  const isAtDebug = (path: string) =>
    debugPaths.some((one) => (one.endsWith('/') ? path.startsWith(one) : path === one));
  return (ctx, next) => {
    const startedAt = process.hrtime.bigint();
    const { path } = ctx;
    const { authorization } = ctx.req.headers;
    if (authorization !== undefined) ctx.req.headers.authorization = withOneSpace(authorization);
    const method = METHODS.has(ctx.method) ? ctx.method : 'OTHER';
    // Not from random.ts: Node reads random bytes for many UUIDs at once, and a call for the few bytes of one ID takes 7 µs instead of 0.4.
    const requestId = randomUUID();
    const address = clientAddress(ctx.get('X-Forwarded-For'), ctx.socket.remoteAddress ?? '', trustProxy);
    ctx.state.request = { requestId, address, userAgent: ctx.get('User-Agent').slice(0, MAX_LOGGED) };
    let log: Logger | undefined;
    // Created at first use: most requests log nothing else.
    ctx.state.log = () => (log ??= logger.child({ requestId }));
    ctx.set('X-Request-Id', requestId);
    const span = spans?.start(ctx, method);

    // 'close' comes after 'finish' and also when the client went away: exactly one line for each request.
    ctx.res.once('close', () => {
      const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
      const status = ctx.res.statusCode;
      const line = {
        requestId,
        ...(span ? traceFields(span) : {}),
        method: ctx.method.slice(0, 16),
        path: path.slice(0, MAX_LOGGED),
        status,
        ms: Math.round(seconds * 10_000) / 10,
        address,
        ...(ctx.state.errorCode ? { code: ctx.state.errorCode } : {}),
        ...(ctx.res.writableFinished ? {} : { aborted: true }),
      };
      logger[isAtDebug(path) ? 'debug' : 'info'](line, 'request');
      const observation = { method, route: routeOf(ctx), status, seconds, code: ctx.state.errorCode };
      observe?.(observation);
      if (span) spans?.end(span, observation);
    });
    return span ? runWithSpan(span, next) : next();
  };
}

function routeOf(ctx: Context): string {
  // _matchedRoute is set by @koa/router: the pattern, or a RegExp.
  const matched: unknown = ctx.state.route ?? Reflect.get(ctx, '_matchedRoute');
  return typeof matched === 'string' ? matched : 'other';
}

/**
 * The address of the client: with N trusted proxies the Nth entry of X-Forwarded-For from the right, since the client
 * can forge everything further left. With fewer entries the leftmost; an entry that is no IP address is ignored.
 */
export function clientAddress(forwardedFor: string, peer: string, trustProxy: number): string {
  const hops = trustProxy > 0 && forwardedFor ? forwardedFor.split(',') : [];
  const hop = hops.at(-Math.min(trustProxy, hops.length));
  return (hop === undefined ? undefined : asAddress(hop)) ?? asAddress(peer) ?? 'unknown';
}

// Proxies and sockets also write addresses as `192.0.2.1:4711`, `[2001:db8::1]:4711` and `::ffff:192.0.2.1`.
function asAddress(text: string): string | undefined {
  if (isIP(text) !== 0 && !text.startsWith('::')) return text;
  const bare = text
    .trim()
    .replace(/^\[([^\]]+)\](:\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(bare) === 0 ? undefined : bare;
}
