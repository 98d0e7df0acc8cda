// A minimal web server for the demo applications: a table of routes, cookies, forms and redirects.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';

export interface Request {
  url: URL;
  cookie(name: string): string | undefined;
  form(): Promise<URLSearchParams>;
}

export type Answer = {
  status?: number;
  body?: string;
  type?: string;
  redirect?: string;
  /** Name and value; an empty value removes the cookie. */
  cookie?: [name: string, value: string];
};

/** `GET /path` -> its handler. */
export type Routes = Record<string, (request: Request) => Answer | Promise<Answer>>;

export interface Site {
  origin: string;
  close(): Promise<void>;
}

const styleSheet = readFileSync(path.join(import.meta.dirname, 'style.css'), 'utf8');
const MAX_FORM_BYTES = 64 * 1024;

/**
 * Serves the routes on this port of 127.0.0.1, which is not reachable from the network. Forms of another site are
 * rejected, except for the paths that expect messages of Gatehouse and verify their signature.
 */
export async function serveSite(
  port: number,
  routes: Routes,
  { fromGatehouse = [] }: { fromGatehouse?: string[] } = {},
): Promise<Site> {
  const origin = originOf(port);
  const all: Routes = { ...routes, 'GET /style.css': () => ({ body: styleSheet, type: 'text/css; charset=utf-8' }) };
  const server = createServer((incoming, outgoing) => {
    answerFrom(all, incoming, { origin, fromGatehouse }).then(
      (answer) => send(outgoing, answer),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        send(outgoing, {
          status: 500,
          body: 'Something went wrong. See the terminal for details.',
          type: 'text/plain',
        });
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    origin,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function originOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

async function answerFrom(
  routes: Routes,
  incoming: IncomingMessage,
  { origin, fromGatehouse }: { origin: string; fromGatehouse: string[] },
): Promise<Answer> {
  const url = new URL(incoming.url ?? '/', origin);
  const route = routes[`${incoming.method} ${url.pathname}`];
  if (!route) return { status: 404, body: 'Page not found.', type: 'text/plain' };
  // Against cross-site request forgery.
  const site = incoming.headers['sec-fetch-site'];
  const isForeign = site !== undefined && site !== 'same-origin';
  if (incoming.method === 'POST' && isForeign && !fromGatehouse.includes(url.pathname)) {
    return { status: 403, body: 'Another site sent this form, so we rejected it.', type: 'text/plain' };
  }
  return route({
    url,
    cookie: (name) => cookiesOf(incoming.headers.cookie ?? '').get(name),
    form: async () => {
      if (Number(incoming.headers['content-length'] ?? 0) > MAX_FORM_BYTES) return new URLSearchParams();
      return new URLSearchParams(await text(incoming));
    },
  });
}

function cookiesOf(header: string): Map<string, string> {
  return new Map(
    header.split(';').map((pair) => {
      const [name = '', ...value] = pair.trim().split('=');
      return [name, value.join('=')];
    }),
  );
}

function send(
  outgoing: ServerResponse,
  { status = 200, body = '', type = 'text/html; charset=utf-8', ...more }: Answer,
) {
  outgoing.setHeader('content-security-policy', "default-src 'none'; style-src 'self'; img-src data:");
  outgoing.setHeader('x-content-type-options', 'nosniff');
  outgoing.setHeader('cache-control', 'no-store');
  outgoing.setHeader('content-type', type);
  if (more.cookie) {
    const [name, value] = more.cookie;
    const age = value === '' ? '; Max-Age=0' : '';
    outgoing.setHeader('set-cookie', `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${age}`);
  }
  if (more.redirect) outgoing.setHeader('location', more.redirect);
  outgoing.writeHead(more.redirect ? 303 : status).end(body);
}
