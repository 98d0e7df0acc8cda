// A website behind a reverse proxy: the backend answers with the headers that it received, and the proxy asks this server about each request
// in the way of each product (docs/forward-auth.md). Real proxies are in test/peers/forward-auth.ts.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { ProxyKind } from '../../src/applications/fields/proxied-application.ts';
import { TEST_BACKEND_PATH } from '../../src/protocols/forward-auth/website-test.ts';
import { completeSignIn } from '../oidc/support.ts';
import type { TestUser } from './factories.ts';
import type { HttpClient, Page } from './http.ts';
import type { Tls } from './tls.ts';

/** What the backend received, which is its answer too. */
export interface Received {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The page of a website that the user opens, after the sign-in. */
export async function openWebsite(browser: HttpClient, origin: string, target: string, user: TestUser): Promise<Page> {
  const page = await completeSignIn(browser, `${origin}${target}`, { user, redirectUri: `${origin}/.gatehouse/` });
  return page.location ? browser.follow(page) : page;
}

export interface Website {
  origin: string;
  /** Newest last. */
  received: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[];
  close(): Promise<void>;
}

/** The parts of the product's behaviour that matter: how it asks, and what it does with an answer. */
interface Product {
  ask(req: IncomingMessage): { path: string; method?: string; headers: Record<string, string> };
  /** Whether it takes an answer of this status for a yes. */
  isYes(status: number): boolean;
}

interface Answer {
  message: IncomingMessage;
  text: string;
}

interface Setup {
  /** Of the backend, by path; the others are what it received. */
  pages?: Readonly<Record<string, string>>;
  /** With https, and this certificate. */
  tls?: Tls;
  /** Whether the Test of the console sees what the backend receives. */
  hasTestRoute?: boolean;
  /** Hands on each `Upgrade`, which is a fault, or agrees to each itself. */
  tunnels?: 'handed on' | 'its own';
  /** The website in its questions. */
  names?: string;
  /** A fault: what the browser sent stays where the answer has an empty value, with its cookies, or as its address. */
  keeps?: 'forged headers' | 'cookies' | 'addresses';
}

const HOP_BY_HOP = ['connection', 'upgrade', 'content-length', 'transfer-encoding', 'keep-alive', 'expect'];
const isWebSocket = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket';
const schemeOf = ({ socket }: IncomingMessage) => ('encrypted' in socket ? 'https' : 'http');
const forwarded = (req: IncomingMessage) => ({
  'x-forwarded-method': req.method ?? '',
  'x-forwarded-proto': schemeOf(req),
  'x-forwarded-host': req.headers.host ?? '',
  'x-forwarded-uri': req.url ?? '',
  'x-forwarded-for': '192.0.2.7',
});
/** nginx reads no more of the headers of an answer (proxy_buffer_size). */
const NGINX_BUFFER =
  1024 * Number(/proxy_buffer_size (\d+)k/.exec(readFileSync('examples/websites/nginx.conf', 'utf8'))?.[1] ?? 4);
const isSuccess = (status: number) => status >= 200 && status < 300;

const products: Record<ProxyKind, Product> = {
  traefik: { ask: (req) => ({ path: '/forward-auth/traefik', headers: forwarded(req) }), isYes: isSuccess },
  caddy: { ask: (req) => ({ path: '/forward-auth/caddy', headers: forwarded(req) }), isYes: isSuccess },
  haproxy: {
    ask: (req) => ({ path: '/forward-auth/haproxy', headers: forwarded(req) }),
    isYes: (status) => status === 200,
  },
  nginx: {
    ask: (req) => ({
      path: '/forward-auth/nginx',
      headers: {
        'x-original-url': `${schemeOf(req)}://${req.headers.host}${req.url}`,
        'x-original-method': req.method ?? '',
        'x-forwarded-for': '192.0.2.7',
      },
    }),
    isYes: isSuccess,
  },
  envoy: {
    ask: (req) => ({
      path: `/forward-auth/envoy${req.url}`,
      method: req.method ?? 'GET',
      headers: {
        host: req.headers.host ?? '',
        'x-forwarded-proto': schemeOf(req),
        'x-forwarded-for': '192.0.2.7',
      },
    }),
    isYes: (status) => status === 200,
  },
};

/** As each configuration does: no header that a backend reads as another one, and none that the header Connection names. */
function removeAliases({ headers }: IncomingMessage): void {
  for (const name of Object.keys(headers)) if (/[^a-z0-9-]/.test(name)) delete headers[name];
  if (/remote|gatehouse/i.test(headers.connection ?? '')) delete headers.connection;
}

/** @param handsOn the headers of an answer that the backend gets */
export async function website(
  proxy: ProxyKind,
  identityProvider: () => string,
  handsOn: readonly string[],
  { pages = {}, tls, hasTestRoute = false, tunnels, names, keeps }: Setup = {},
): Promise<Website> {
  const received: Website['received'] = [];
  const { ask, isYes } = products[proxy];
  const sockets = new Set<Duplex>();
  const asked = (req: IncomingMessage, query = '') => {
    removeAliases(req);
    if (tunnels === undefined && proxy !== 'traefik' && !isWebSocket(req)) delete req.headers.upgrade;
    const { path, method = 'GET', headers } = ask(req);
    const own = Object.entries(req.headers).filter(([name]) => !HOP_BY_HOP.includes(name));
    const sent = keeps === 'addresses' ? { 'x-forwarded-for': req.headers['x-forwarded-for'] ?? '192.0.2.7' } : {};
    if (names !== undefined && proxy === 'nginx') headers['x-original-url'] = `${names}${req.url}`;
    const url = `${identityProvider()}${path}${names === undefined || proxy === 'nginx' ? query : `?website=${names}`}`;
    return request(url, method, { ...Object.fromEntries(own), ...headers, ...sent } as never);
  };
  const headersFor = (req: IncomingMessage, { message }: Pick<Answer, 'message'>): IncomingHttpHeaders => {
    const about = [...handsOn, ...(keeps === 'cookies' ? [] : ['Cookie'])].map((name) => {
      const value = message.headers[name.toLowerCase()] ?? 'FORGED';
      return [name.toLowerCase(), (keeps === 'forged headers' && (value || req.headers[name.toLowerCase()])) || value];
    });
    return { ...req.headers, ...forwarded(req), ...Object.fromEntries(about) };
  };
  const isTest = ({ url = '' }: IncomingMessage) => hasTestRoute && url.split('?')[0] === TEST_BACKEND_PATH;
  /** Where this server leads whose request it is instead of the backend's. */
  async function testAt({ url }: IncomingMessage, headers: IncomingHttpHeaders): Promise<string> {
    const { message } = await request(`${identityProvider()}${url}`, 'GET', headers as never);
    return message.headers.location ?? '';
  }
  /** nginx hands on 401 and 403 alone: one with an address as a redirect, for any other it asks again what to display. */
  async function handOnByNginx(req: IncomingMessage, res: ServerResponse, { message }: Answer): Promise<void> {
    const { location, 'set-cookie': cookies = [] } = message.headers;
    const { statusCode: status = 0 } = message;
    if (status !== 401 && status !== 403) res.writeHead(500).end();
    else if (location !== undefined) res.writeHead(302, { location, 'set-cookie': cookies.slice(0, 1) }).end();
    else {
      const { message: second, text } = await asked(req, `?${status}`);
      for (const [name, value] of Object.entries(second.headers))
        if (value !== undefined && !HOP_BY_HOP.includes(name) && !handsOn.some((one) => one.toLowerCase() === name))
          res.setHeader(name, value);
      res.writeHead(second.statusCode ?? 0).end(text);
    }
  }
  const server = tls ? https.createServer(tls) : http.createServer();
  server.on('request', async (req, res) => {
    const sent = await readText(req);
    const answer = await asked(req).catch(() => undefined);
    if (!answer) {
      // Every product is closed then; Caddy says 502, others 500 or 503.
      res.statusCode = 502;
      res.end();
      return;
    }
    const { statusCode: status = 0 } = answer.message;
    if (proxy === 'nginx' && answer.message.rawHeaders.join(': ').length > NGINX_BUFFER)
      return void res.writeHead(500).end('upstream sent too big header');
    if (isYes(status)) {
      const all = headersFor(req, answer);
      if (isTest(req)) return void res.writeHead(302, { location: await testAt(req, all) }).end();
      received.push({ method: req.method ?? '', url: req.url ?? '', headers: all, body: sent });
      // The backend lets other websites in, by CORS.
      if (req.headers.origin) {
        res.setHeader('access-control-allow-origin', req.headers.origin);
        res.setHeader('access-control-allow-credentials', 'true');
        res.setHeader('access-control-allow-methods', 'PUT');
      }
      const page = pages[req.url?.split('?')[0] ?? ''];
      res.setHeader('content-type', page === undefined ? 'application/json' : 'text/html; charset=utf-8');
      res.end(page ?? JSON.stringify({ url: req.url, headers: all }));
      return;
    }
    if (proxy === 'nginx') return handOnByNginx(req, res, answer);
    const isWhole = proxy === 'traefik' || proxy === 'caddy';
    const handedOn = Object.keys(answer.message.headers).filter((name) => !HOP_BY_HOP.includes(name));
    for (const name of isWhole
      ? handedOn
      : ['location', 'set-cookie', 'content-type', 'retry-after', 'www-authenticate', 'x-gatehouse-reference']) {
      const value = answer.message.headers[name];
      if (value !== undefined) res.setHeader(name, value);
    }
    res.statusCode = status;
    res.end(answer.text);
  });
  // The backend says the name of the user to each WebSocket (RFC 6455 4.2.2).
  server.on('upgrade', async (req, socket) => {
    if (tunnels === 'its own' && !isWebSocket(req))
      return void socket.end(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${req.headers.upgrade}\r\n\r\n`,
      );
    const { message } = await asked(req);
    const { statusCode: status = 0 } = message;
    if (!isYes(status)) return void socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\n\r\n`);
    // It takes the protocol from the answer.
    if (proxy === 'traefik') req.headers.upgrade = message.headers.upgrade;
    if (isTest(req)) {
      const location = await testAt(req, headersFor(req, { message }));
      return void socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
    }
    if (!req.headers.upgrade) {
      const body = JSON.stringify({ url: req.url, headers: req.headers });
      return void socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    }
    const key = `${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    const user = Buffer.from(String(message.headers['remote-user'] ?? ''));
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Received-Upgrade: ${req.headers.upgrade}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    sockets.add(socket);
    socket.write(Buffer.concat([Buffer.from([0x81, user.length]), user]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async close() {
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function request(url: string, method: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // The path as it is: an URL has no dot segments.
    const { origin } = new URL(url);
    const options = { method, headers, path: url.slice(origin.length), maxHeaderSize: 65_536 };
    const outgoing = http.request(origin, options, (message) => {
      readText(message).then((text) => resolve({ message, text }), reject);
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
