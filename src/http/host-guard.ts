// Links, cookies and discovery come from ISSUER alone. A request that names another host, or tries to steer us by
// absolute-form, is refused; afterwards the headers that frameworks believe say what the issuer says.
import type { Context, Middleware } from './context.ts';
import { badRequest, misdirected } from './errors.ts';

export interface HostGuardNeeds {
  issuerUrl: URL;
  /** Number of proxies whose X-Forwarded-Host is believed. */
  trustProxy: number;
  /** Operators' paths: probes ask by address. */
  exemptPaths?: readonly string[];
}

const OPERATOR_PATHS = ['/healthz', '/readyz', '/metrics'];

/** In front of everything that makes a link or sets a cookie, the OIDC engine included. */
export function hostGuard({ issuerUrl, trustProxy, exemptPaths = OPERATOR_PATHS }: HostGuardNeeds): Middleware {
  const exempt = new Set(exemptPaths);
  const scheme = issuerUrl.protocol.slice(0, -1);
  return (ctx, next) => {
    refuseMalformedTarget(ctx);
    if (!exempt.has(ctx.path)) {
      const asked = requestedHost(ctx, trustProxy);
      if (asked !== issuerUrl.host && hostOf(asked, scheme) !== issuerUrl.host) {
        throw misdirected(issuerUrl.origin, { detail: { host: asked.slice(0, 256) } });
      }
    }
    const { headers } = ctx.req;
    headers.host = issuerUrl.host;
    headers['x-forwarded-proto'] = scheme;
    headers['x-forwarded-for'] = ctx.state.request.address;
    delete headers['x-forwarded-host'];
    delete headers.forwarded;
    return next();
  };
}

function refuseMalformedTarget(ctx: Context): void {
  // `GET http://elsewhere/ HTTP/1.1` and `OPTIONS *`: parsers disagree about whose host that is.
  if (!ctx.originalUrl.startsWith('/')) throw badRequest('malformed_url', { detail: 'not in origin-form' });
  let decoded: string;
  try {
    decoded = decodeURIComponent(ctx.path);
  } catch (cause) {
    throw badRequest('malformed_url', { cause });
  }
  // `//host/path` turns into another site wherever it is reflected; NUL cannot be stored.
  if (decoded.includes('\0') || ctx.path.startsWith('//')) throw badRequest('malformed_url', { detail: 'path' });
}

function requestedHost({ req }: Context, trustProxy: number): string {
  // Node keeps the first of several; the others are in the raw headers only.
  let hosts = 0;
  for (let at = 0; at < req.rawHeaders.length; at += 2) if (isHostName(req.rawHeaders[at])) hosts += 1;
  if (hosts > 1) throw badRequest('bad_request', { detail: 'more than one Host header' });
  const forwarded = req.headers['x-forwarded-host'];
  if (trustProxy > 0 && forwarded) {
    const names = String(forwarded).split(',');
    return names.at(-Math.min(trustProxy, names.length))?.trim() ?? '';
  }
  return req.headers.host ?? '';
}

function isHostName(name = ''): boolean {
  return name.length === 4 && name.toLowerCase() === 'host';
}

// As URL.host writes it: lower case, without the default port.
function hostOf(asked: string, scheme: string): string | undefined {
  if (!/^[\w.:[\]-]+$/.test(asked)) return undefined;
  const url = `${scheme}://${asked}`;
  return URL.canParse(url) ? new URL(url).host : undefined;
}
