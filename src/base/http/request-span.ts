// The root span of each request (OpenTelemetry's conventions for HTTP servers). It has the route, never the path, the query, the
// address or the browser of the client: these contain codes, tokens and personal data.
import type { TraceSpan, Tracing } from '../platform/tracing.ts';
import type { Context } from './context.ts';

export type RequestSpans = ReturnType<typeof createRequestSpans>;

/** Makes the spans of requests. */
export function createRequestSpans(dependencies: {
  tracing: Tracing;
  /** Number of trusted proxies; with 0 every `traceparent` is ignored. */
  trustProxy: number;
  issuerUrl: URL;
  /** Paths without a span: a path itself, or all paths below one that ends with a slash. */
  untracedPaths: readonly string[];
}) {
  const { tracing, trustProxy, issuerUrl, untracedPaths } = dependencies;
  const isUntraced = (path: string) =>
    untracedPaths.some((one) => (one.endsWith('/') ? path.startsWith(one) : path === one));
  const constant = {
    'url.scheme': issuerUrl.protocol.slice(0, -1),
    'server.address': issuerUrl.hostname,
    ...(issuerUrl.port ? { 'server.port': Number(issuerUrl.port) } : {}),
  };
  return {
    /** Undefined for a request that is not recorded. */
    start(ctx: Context, method: string): TraceSpan | undefined {
      if (isUntraced(ctx.path)) return undefined;
      return tracing.root(method, {
        kind: 'server',
        attributes: {
          ...constant,
          'http.request.method': method === 'OTHER' ? '_OTHER' : method,
          'gatehouse.request_id': ctx.state.request.requestId,
        },
        traceparent: trustProxy > 0 ? ctx.get('traceparent') || undefined : undefined,
      });
    },
    end(
      span: TraceSpan,
      { method, route, status, code }: { method: string; route: string; status: number; code: string | undefined },
    ): void {
      const name = method === 'OTHER' ? 'HTTP' : method;
      span.rename(route === 'other' ? name : `${name} ${route}`);
      span.set({
        'http.response.status_code': status,
        ...(route === 'other' ? {} : { 'http.route': route }),
        ...(code ? { 'gatehouse.code': code } : {}),
      });
      if (status >= 500) span.fail(code ?? String(status));
      span.end();
    },
  };
}
