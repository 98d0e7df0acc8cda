// The `fetch` for URLs that a client or an administrator chose (metadata, logout, gateways). It checks the resolved address
// and connects to that address (no DNS rebinding), limits time and size, and checks each redirect. A connection that has been idle
// for less than a second is used again, such as that of the token endpoint for userinfo. Why not undici:
// docs/decisions/0024-own-code-instead-of-a-library.md.

import { lookup as resolveName } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isLocalhostName } from '../config/addresses.ts';
import { messageOf } from '../platform/errors.ts';
import { plural } from '../platform/plural.ts';
import { runInChildSpan, type SpanOptions } from '../platform/tracing.ts';
import { type Address, embeddedForms, isWithin, parseNetwork } from './networks.ts';

const MAX_REDIRECTS = 3;
/** Less than servers leave an idle connection open: a POST on one that the server closes at that moment would fail. */
const IDLE_CONNECTION_MS = 1000;

export interface OutgoingOptions {
  /** The current rules. Connections are used again only as long as it returns the same networks. */
  rules(): AddressRules;
  timeoutMs: number;
  maxBytes: number;
}

export type OutgoingFault =
  | 'forbidden_address'
  | 'forbidden_url'
  | 'timeout'
  | 'too_large'
  | 'redirects'
  | 'network'
  /** The answer has status 200 and says that something was not taken. */
  | 'rejected';

/** Why a call was not made or was aborted; the message may be displayed to administrators. */
export class OutgoingError extends Error {
  override name = 'OutgoingError';
  readonly code: OutgoingFault;

  constructor(code: OutgoingFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Makes the guarded fetch. It follows up to three redirects of a GET, none of a POST. Rejects with an OutgoingError. */
export function createOutgoingFetch(options: OutgoingOptions): typeof fetch {
  const currentPolicy = createPolicies(options.rules);

  return async function outgoingFetch(input, init = {}) {
    const { method, headers, body, signal, redirect } = init;
    const request = new Request(input, { method, headers, body, signal, redirect });
    return runInChildSpan(...spanOf(request), async (span) => {
      const response = await follow(request);
      span?.set({ 'http.response.status_code': response.status });
      return response;
    });
  };

  async function follow(request: Request): Promise<Response> {
    const { isAllowed, connect } = currentPolicy();
    const payload = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
    const deadline = AbortSignal.timeout(options.timeoutMs);
    const signals = AbortSignal.any([request.signal, deadline]);
    let url = new URL(request.url);
    for (let hops = 0; ; hops += 1) {
      checkUrl(url, isAllowed);
      const response = await send(url, request, { payload, connect, signal: signals, deadline, ...options });
      const target = redirectTarget(response, url, request);
      if (!target) return response;
      if (request.redirect === 'error' || hops === MAX_REDIRECTS) {
        throw new OutgoingError('redirects', `${url.origin} redirects, and ${hops} redirects were followed already`);
      }
      // Credentials for one origin are not sent to another (RFC 9110, section 15.4).
      if (target.origin !== url.origin) for (const name of ['authorization', 'cookie']) request.headers.delete(name);
      url = target;
    }
  }
}

/** The host only: a path or query may hold a token. No `traceparent` is sent: the servers called belong to others. */
function spanOf({ method, url }: Request): [string, SpanOptions] {
  const { hostname, port, protocol } = new URL(url);
  const attributes = {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  };
  return [method, { kind: 'client', attributes, isLeaf: true }];
}

interface Policy {
  isAllowed(address: string): boolean;
  /** Opens connections, to allowed addresses only. */
  connect: { http: http.Agent; https: https.Agent };
}

/** Returns the policy of the rules at this moment; the agents, with their open connections, stay as long as the networks do. */
function createPolicies(rulesOf: () => AddressRules): () => Policy {
  let current: (Policy & { networks: AddressRules['allowedNetworks'] }) | undefined;
  return () => {
    const rules = rulesOf();
    if (current?.networks !== rules.allowedNetworks) {
      const isAllowed = createAddressPolicy(rules);
      const options = { keepAlive: true, timeout: IDLE_CONNECTION_MS, lookup: guardedLookup(isAllowed) };
      const connect = { http: new http.Agent(options), https: new https.Agent(options) };
      current = { networks: rules.allowedNetworks, isAllowed, connect };
    }
    return current;
  };
}

function checkUrl(url: URL, isAllowed: (address: string) => boolean): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new OutgoingError('forbidden_url', `${url.protocol} URLs are not called`);
  }
  // A numeric host is never looked up. The URL parser has normalized forms such as 0x7f.1.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) && !isAllowed(host)) throw forbidden(host);
}

/** A look-up of names that finds allowed addresses only; `rejection` makes its error. */
export function guardedLookup(
  isAllowed: (address: string) => boolean,
  rejection: (host: string) => Error = forbidden,
): LookupFunction {
  return (hostname, options, callback) => {
    // Not every resolver answers *.localhost with loopback itself, as RFC 6761 6.3 demands.
    resolveName(isLocalhostName(hostname) ? 'localhost' : hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      const allowed = addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (!first) return callback(rejection(hostname), '');
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

interface SendOptions {
  payload: Buffer | undefined;
  connect: Policy['connect'];
  signal: AbortSignal;
  deadline: AbortSignal;
  timeoutMs: number;
  maxBytes: number;
}

async function send(url: URL, request: Request, options: SendOptions): Promise<Response> {
  const { deadline, timeoutMs } = options;
  const headers: Record<string, string> = { 'user-agent': 'gatehouse', accept: '*/*' };
  for (const [name, value] of request.headers) headers[name] = value;
  // A compressed response could unpack to any size.
  headers['accept-encoding'] = 'identity';
  if (options.payload) headers['content-length'] = String(options.payload.length);
  try {
    const message = await exchange(url, request.method, headers, options);
    const { remoteAddress } = message.socket;
    const body = withoutCredentials(await readBody(message, url, options), headers, options.payload);
    const response = toResponse(message, body, request.method);
    if (remoteAddress !== undefined && isPublicAddress(remoteAddress)) publicAnswers.add(response);
    return response;
  } catch (cause) {
    if (cause instanceof OutgoingError) throw cause;
    if (deadline.aborted)
      throw new OutgoingError('timeout', `${url.origin} did not answer in ${timeoutMs} ms`, { cause });
    if (request.signal.aborted) throw abortedBy(request.signal, url);
    throw new OutgoingError('network', `${url.origin} could not be reached: ${messageOf(cause)}`, { cause });
  }
}

/** What the caller gets when its own signal ended the call; a time limit of its own names the server, too. */
function abortedBy({ reason }: AbortSignal, url: URL): unknown {
  if (!(reason instanceof Error) || reason.name !== 'TimeoutError') return reason;
  return new OutgoingError('timeout', `${url.origin} did not answer in time`, { cause: reason });
}

const publicAnswers = new WeakSet<Response>();
const isPublicAddress = createAddressPolicy({ allowedNetworks: [], allowLoopback: false });

/** Whether a response came from an address of the public Internet, so that its text tells nothing about an inner network. */
export const isPublicAnswer = (response: Response): boolean => publicAnswers.has(response);

function exchange(
  url: URL,
  method: string,
  headers: Record<string, string>,
  options: SendOptions,
): Promise<http.IncomingMessage> {
  const { payload, connect, signal } = options;
  return new Promise((resolve, reject) => {
    const [start, agent] = url.protocol === 'https:' ? [https.request, connect.https] : [http.request, connect.http];
    const sent = start(url, { method, headers, signal, agent }, resolve);
    sent.on('error', (error) => {
      // The server has closed the idle connection; the request may be sent once more if it changes nothing (RFC 9112 9.3.1).
      const mayRepeat =
        sent.reusedSocket && method === 'GET' && !signal.aborted && 'code' in error && error.code === 'ECONNRESET';
      if (mayRepeat) exchange(url, method, headers, options).then(resolve, reject);
      else reject(error);
    });
    // Without it, Node.js drops the answer 101 with neither a response nor an error.
    sent.on('upgrade', (_message, socket) => {
      socket.destroy();
      reject(new Error('it answered in another protocol (101)'));
    });
    sent.end(payload);
  });
}

async function readBody(message: http.IncomingMessage, url: URL, { maxBytes, signal }: SendOptions): Promise<Buffer> {
  const tooLarge = () => new OutgoingError('too_large', `${url.origin} sent more than ${plural(maxBytes, 'byte')}`);
  const encoding = message.headers['content-encoding'] ?? 'identity';
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    if (Number(message.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
    if (encoding !== 'identity')
      throw new OutgoingError('network', `${url.origin} sent a Content-Encoding, which was not accepted`);
    for await (const chunk of message) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
    // A body without a length ends with its connection, also when it is this side that ends it.
    signal.throwIfAborted();
  } finally {
    // A connection whose response was not read to its end cannot be used again.
    if (!message.complete) message.destroy();
  }
  return Buffer.concat(chunks);
}

/** Fields of a form that are as good as a password (RFC 6749 2.3.1, RFC 7523 2.2, OpenID Connect Back-Channel Logout 2.5). */
const SECRET_FIELDS = ['client_secret', 'client_assertion', 'logout_token'];
/** A shorter one would also be in other words. */
const SHORTEST_CREDENTIAL = 8;

/** The answer without what the request proved itself with: answers are displayed and logged, and some servers repeat what they reject. */
function withoutCredentials(body: Buffer, headers: Record<string, string>, payload: Buffer | undefined): Buffer {
  const found = credentialsIn(headers, payload).filter((one) => body.includes(one));
  if (found.length === 0) return body;
  return Buffer.from(found.reduce((text, one) => text.replaceAll(one, '…'), body.toString()));
}

/** In the forms in which an answer could repeat them, the longest first. */
function credentialsIn({ authorization = '', ...headers }: Record<string, string>, payload?: Buffer): string[] {
  const value = authorization.slice(authorization.indexOf(' ') + 1);
  const pair = /^basic /i.test(authorization) ? Buffer.from(value, 'base64').toString() : '';
  const password = pair.slice(pair.indexOf(':') + 1);
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') ?? false;
  const form = new URLSearchParams(isForm ? payload?.toString() : '');
  return [value, pair, password, ...SECRET_FIELDS.map((name) => form.get(name) ?? '')]
    .flatMap((one) => [one, JSON.stringify(one).slice(1, -1), encodeURIComponent(one)])
    .filter((one) => one.length >= SHORTEST_CREDENTIAL)
    .sort((one, other) => other.length - one.length);
}

function toResponse(message: http.IncomingMessage, body: Buffer, method: string): Response {
  const headers = new Headers();
  for (let index = 0; index + 1 < message.rawHeaders.length; index += 2) {
    headers.append(message.rawHeaders[index] as string, message.rawHeaders[index + 1] as string);
  }
  const status = message.statusCode ?? 0;
  const isEmpty = method === 'HEAD' || status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : new Uint8Array(body), { status, statusText: message.statusMessage, headers });
}

function redirectTarget(response: Response, from: URL, request: Request): URL | undefined {
  const location = response.headers.get('location');
  if (!location || ![301, 302, 303, 307, 308].includes(response.status) || request.redirect === 'manual')
    return undefined;
  if (request.redirect === 'follow' && request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  if (!URL.canParse(location, from)) throw new OutgoingError('redirects', `${from.origin} redirects to no valid URL`);
  const target = new URL(location, from);
  if (from.protocol === 'https:' && target.protocol !== 'https:') {
    throw new OutgoingError('redirects', `${from.origin} redirects from https to ${target.protocol}`);
  }
  return target;
}

/** The error of a call to an address that is not public, and in no allowed network. */
export function forbidden(host: string): OutgoingError {
  return new OutgoingError(
    'forbidden_address',
    `${host} is in a private or special network; to allow calls, add the network to settings.outgoing_networks`,
  );
}

interface AddressRules {
  /** Networks in CIDR notation that may be called although they are not public. */
  allowedNetworks: readonly string[];
  allowLoopback: boolean;
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Makes the check of addresses; throws when a network cannot be parsed. */
export function createAddressPolicy({ allowedNetworks, allowLoopback }: AddressRules): (address: string) => boolean {
  const networks = allowedNetworks.map(parseNetwork);

  return function isAllowed(text) {
    if (!ipaddr.isValid(text)) return false;
    const forms = embeddedForms(ipaddr.parse(text));
    // 2002:7f00:1:: embeds 127.0.0.1: the address that the packet arrives at decides.
    const target = forms.at(-1) as Address;
    if (forms.some((form) => networks.some((network) => isWithin(form, network)))) return true;
    return isPublic(target) || (allowLoopback && target.range() === 'loopback');
  };
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

// The answer with which another server rejects a call: its status and the beginning of its body, for the log and the administrator.

/** As much of a body as names the cause; an error page is longer. */
const MAX_BODY = 500;

export class UnexpectedAnswer extends Error {
  override name = 'UnexpectedAnswer';
  readonly status: number;
  /** On one line. */
  readonly body: string;

  constructor(status: number, body: string) {
    const shortened = body
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
      .trim()
      .slice(0, MAX_BODY);
    super(`answered with status ${status}${shortened ? `: ${shortened}` : ''}`);
    this.status = status;
    this.body = shortened;
  }
}

/** The error for this response. The body of a response of outgoing-fetch.ts is bounded and in memory already. */
export async function unexpectedAnswer(response: Response): Promise<UnexpectedAnswer> {
  return new UnexpectedAnswer(response.status, await response.text().catch(() => ''));
}

/** The seconds after which the server wants the next call (RFC 9110 10.2.3), at most an hour; undefined where it says nothing. */
export function retryAfterSeconds({ headers }: Response, now: Date): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - now.getTime()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), 3600);
}
