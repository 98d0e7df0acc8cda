// Links, cookies and discovery use ISSUER only. Rejects a request for another host or in absolute-form, and then sets the
// Host and X-Forwarded headers, which frameworks trust, to the issuer's values.
import { inNetworks } from '../network/networks.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import { isStorable } from '../storage/storable-text.ts';
import type { Context, Middleware } from './context.ts';
import { badRequest, forbidden, misdirected } from './errors.ts';

const OPERATOR_PATHS = ['/healthz', '/readyz', '/metrics'];

/** Runs before everything that creates a link or sets a cookie, the OIDC engine included. */
export function hostGuard({
  issuerUrl,
  trustProxy,
  exemptPaths = OPERATOR_PATHS,
}: {
  issuerUrl: URL;
  /** Number of trusted proxies (X-Forwarded-Host). */
  trustProxy: number;
  /** Paths of operators: health probes use the IP address. */
  exemptPaths?: readonly string[];
}): Middleware {
  const exempt = new Set(exemptPaths);
  const scheme = issuerUrl.protocol.slice(0, -1);
  return (ctx, next) => {
    rejectMalformedTarget(ctx);
    if (!exempt.has(ctx.path)) {
      const requested = requestedHost(ctx, trustProxy);
      if (requested !== issuerUrl.host && !isIssuerHost(hostOf(requested, scheme), issuerUrl)) {
        throw misdirected(issuerUrl.origin, { detail: { host: requested.slice(0, 256) } });
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

function rejectMalformedTarget(ctx: Context): void {
  // `GET http://elsewhere/ HTTP/1.1` and `OPTIONS *`: parsers disagree about the host of these.
  if (!ctx.originalUrl.startsWith('/')) throw badRequest('malformed_url', { detail: 'not in origin-form' });
  let decoded: string;
  try {
    decoded = decodeURIComponent(ctx.path);
  } catch (cause) {
    throw badRequest('malformed_url', { cause });
  }
  // `//host/path` becomes another site where it is reflected; NUL cannot be stored.
  if (!isStorable(decoded) || ctx.path.startsWith('//')) throw badRequest('malformed_url', { detail: 'path' });
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

// The port may be missing, although RFC 9110, section 7.2, requires it: proxies (`$host` of nginx) and clients leave it out. Another host
// name is what an attacker has (DNS rebinding).
function isIssuerHost(host: string | undefined, { host: whole, hostname }: URL): boolean {
  return host === whole || host === hostname;
}

// In the form of URL.host: lower case, without the default port.
function hostOf(requested: string, scheme: string): string | undefined {
  if (!/^[\w.:[\]-]+$/.test(requested)) return undefined;
  const url = `${scheme}://${requested}`;
  return URL.canParse(url) ? new URL(url).host : undefined;
}

/** Throws a 403 for requests from these networks. */
export function deniedNetworks({
  networks,
  onRejected,
}: {
  /** The current networks, in CIDR notation. */
  networks(): readonly string[];
  /** Called for each rejected request. */
  onRejected(request: RequestInfo): Promise<void>;
}): Middleware {
  let list: readonly string[] = [];
  let isDenied = inNetworks(list);
  async function reject(request: RequestInfo): Promise<never> {
    await onRejected(request);
    throw forbidden('address_denied');
  }
  return (ctx, next) => {
    const { request } = ctx.state;
    const current = networks();
    if (current !== list) {
      isDenied = inNetworks(current);
      list = current;
    }
    return isDenied(request.address) ? reject(request) : next();
  };
}
