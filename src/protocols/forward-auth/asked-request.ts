// The request that a reverse proxy asks about, from the headers in which each proxy describes it. Every proxy has one family of headers, and
// the others are not read: a client may send them itself (CVE-2026-40575 and its kind). Nothing here says who the user is.

import type { IncomingMessage } from 'node:http';
import { type ProxyKind, proxyKinds } from '../../applications/fields/proxied-application.ts';
import type { Context } from '../../base/http/context.ts';
import { AppError } from '../../base/http/errors.ts';
import { BoundedMap } from '../../base/platform/bounded-map.ts';

/** What a proxy asks, before the framework has looked at it or in its context. */
export interface Question {
  req: IncomingMessage;
}

export interface AskedRequest {
  /** Scheme, host and port of the website. */
  origin: string;
  method: string;
  /** As it was sent, without the query. */
  path: string;
  /** With its question mark; empty without one. */
  query: string;
}

/** Below it: `/forward-auth/<proxy>`. */
export const FORWARD_AUTH_PATH = '/forward-auth/';

const MAX_TARGET = 8192;
/** Results that `memoized` keeps. */
const MAX_KEPT = 1000;

/** The function with a memory of its results: for a text that is the same in most questions. */
export function memoized<Result>(compute: (text: string) => Result): (text: string) => Result {
  const kept = new BoundedMap<string, Result>(MAX_KEPT);
  return (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    kept.set(text, result);
    return result;
  };
}

/** The proxy that asks; undefined for another path. */
export function askingProxy({ req: { url = '' } }: Question): ProxyKind | undefined {
  if (!url.startsWith(FORWARD_AUTH_PATH)) return undefined;
  const [name = ''] = url.slice(FORWARD_AUTH_PATH.length).split('?', 1);
  // Envoy appends the path of the request.
  return proxyKinds.find((kind) => name === kind || (kind === 'envoy' && name.startsWith('envoy/')));
}

/** Throws MalformedQuestion for a header that is missing, sent twice or malformed. */
export function askedRequest(question: Question, proxy: ProxyKind): AskedRequest {
  const { method = '', url = '' } = question.req;
  if (proxy === 'nginx') {
    const [, scheme = '', host = '', target = ''] =
      /^(https?):\/\/([^/?#]+)(.*)$/s.exec(only(question, 'X-Original-URL')) ?? [];
    return request(only(question, 'X-Original-Method'), scheme, host, target);
  }
  if (proxy === 'envoy') {
    const target = url.slice(`${FORWARD_AUTH_PATH}envoy`.length) || '/';
    return request(method, only(question, 'X-Forwarded-Proto'), only(question, 'Host'), target);
  }
  // The website that the configuration is for: a client chooses the host, and perhaps not the backend with it. The scheme is that of the
  // website, because TLS may end before this proxy; browsers send no `__Host-` cookie without it.
  const website = websiteIn(url);
  const scheme = website === null ? only(question, 'X-Forwarded-Proto') : website.replace(/:.*/s, '');
  const own = (name: string) => only(question, `X-Forwarded-${name}`);
  const asked = request(own('Method'), scheme, own('Host'), own('Uri'));
  if (website !== null && website !== asked.origin)
    throw malformed(`${asked.origin}, asked as ${website.slice(0, 300)}`);
  return asked;
}

const websiteIn = memoized((url: string) => new URL(url, 'http://x').searchParams.get('website'));

/** The request itself, where the proxy sends `/.gatehouse/` of the website here. */
export function ownRequest(ctx: Context, scheme: string): AskedRequest {
  return request(ctx.method, scheme, only(ctx, 'Host'), ctx.req.url ?? '');
}

function request(method: string, scheme: string, host: string, target: string): AskedRequest {
  if (!/^[A-Z]{1,20}$/.test(method)) throw malformed('method');
  // Traefik names the scheme of a WebSocket.
  const web = { http: 'http', https: 'https', ws: 'http', wss: 'https' }[scheme];
  if (web === undefined) throw malformed('scheme');
  const origin = originOf(`${web}://${host}`);
  if (origin === undefined) throw malformed('host');
  if (target.length > MAX_TARGET || !/^\/[\x21-\x7e]*$/.test(target) || target.includes('#')) throw malformed('target');
  const at = target.indexOf('?');
  const [path, query] = at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at)];
  return { origin, method, path, query };
}

const originOf = memoized((url: string) =>
  /^https?:\/\/[\w.:[\]-]{1,255}$/.test(url) && URL.canParse(url) ? new URL(url).origin : undefined,
);

/** The value of a header that must be there once: a proxy appends its own to one that the client sent, or replaces it. */
function only({ req: { rawHeaders } }: Question, name: string): string {
  let value: string | undefined;
  const wanted = name.toLowerCase();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at];
    if (sent?.length !== wanted.length || sent.toLowerCase() !== wanted) continue;
    if (value !== undefined) throw malformed(`${name}, sent twice`);
    value = rawHeaders[at + 1];
  }
  if (!value) throw malformed(`${name}, missing`);
  return value;
}

/** A question whose headers describe no request. */
export class MalformedQuestion extends AppError {
  readonly what: string;

  constructor(what: string) {
    super('bad_request', { detail: { forwardAuth: what } });
    this.what = what;
  }
}

const malformed = (what: string) => new MalformedQuestion(what);

/** How the browser asked, which decides whether a redirect to the sign-in helps. */
export type AskedBy = 'navigation' | 'frame' | 'form' | 'program';

/**
 * A navigation is a page that the browser opens in its window. Scripts, WebSockets and prefetches get an error instead of a redirect: they
 * cannot sign in, and would take the page of the sign-in for their answer.
 */
export function askedBy(ctx: Context, method: string): AskedBy {
  const mode = ctx.get('Sec-Fetch-Mode');
  const isPrefetch = /prefetch|preview/i.test(`${ctx.get('Sec-Purpose')} ${ctx.get('Purpose')}`);
  const isPage = mode
    ? mode === 'navigate'
    : /\btext\/html\b/i.test(ctx.get('Accept')) && ctx.get('X-Requested-With') === '';
  if (isSocket(ctx) || isPrefetch || !isPage) return 'program';
  if (method !== 'GET' && method !== 'HEAD') return 'form';
  return /^(i?frame|embed|object)$/.test(ctx.get('Sec-Fetch-Dest')) ? 'frame' : 'navigation';
}

/**
 * Whether the user is at the website, for the idle limit: a page that they open, or a change that a page of the website sends. What a page
 * that nobody looks at loads again and again does not count.
 */
export const isByUser = (ctx: Context, { method }: AskedRequest, by: AskedBy) =>
  by === 'navigation' || (mayChange(method) && ctx.get('Sec-Fetch-Site') === 'same-origin');

const mayChange = (method: string) => !['GET', 'HEAD', 'OPTIONS'].includes(method);
const isSocket = (ctx: Context) => ctx.get('Sec-WebSocket-Key') !== '' || ctx.get('Upgrade') !== '';

/**
 * Whether a page of another website causes a request that may change something, or a WebSocket, which carries the cookie too. Browsers without
 * Fetch Metadata say their origin (RFC 6454 7); programs say neither, and nobody leads them.
 */
export function isFromElsewhere(ctx: Context, { method, origin }: AskedRequest): boolean {
  if (!mayChange(method) && !isSocket(ctx)) return false;
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site !== 'same-origin' && site !== 'none';
  const sender = ctx.get('Origin');
  return sender !== '' && sender !== origin;
}
