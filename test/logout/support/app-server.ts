// The web side of an application with sessions of its own, which can be down for a while.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';

export interface AppRequest {
  method: string;
  url: URL;
  /** The query as it stood in the request line. */
  query: string;
  body: string;
  form: Record<string, string>;
  /** This application's own session cookie. */
  cookie: string | undefined;
}

export interface AppAnswer {
  status?: number;
  html?: string;
  redirect?: string;
  /** A new value for the session cookie; empty removes it. */
  cookie?: string;
}

export interface AppServer {
  origin: string;
  /** Rejects connections from now on. */
  goDown(): Promise<void>;
  comeBack(): Promise<void>;
  /** Looks at each request before it is answered; `hang` leaves it without an answer. A browser brings its cookie. */
  watch(look: (method: string, path: string, isBrowser: boolean) => 'hang' | undefined): void;
  close(): Promise<void>;
}

let count = 0;

/** Serves on a free port of 127.0.0.1, and on the same one when it comes back. */
export async function appServer(answer: (request: AppRequest) => Promise<AppAnswer> | AppAnswer): Promise<AppServer> {
  count += 1;
  const cookieName = `app${count}`; // ports share cookies
  let look: Parameters<AppServer['watch']>[0] = () => undefined;

  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host}`);
    const body = incoming.method === 'POST' ? await readText(incoming) : '';
    const cookie = new RegExp(`(?:^|; )${cookieName}=([^;]*)`).exec(incoming.headers.cookie ?? '')?.[1];
    const { method = 'GET' } = incoming;
    if (look(method, url.pathname, cookie !== undefined) === 'hang') return;
    const form = Object.fromEntries(new URLSearchParams(body));
    const reply = await answer({ method, url, query: url.search.slice(1), body, form, cookie });
    outgoing.setHeader('content-type', 'text/html; charset=utf-8').setHeader('cache-control', 'no-store');
    if (reply.cookie !== undefined)
      outgoing.setHeader('set-cookie', `${cookieName}=${reply.cookie}; Path=/; HttpOnly; SameSite=Lax`);
    if (reply.redirect) outgoing.writeHead(302, { location: reply.redirect }).end();
    else if (reply.html?.startsWith('<?xml'))
      outgoing.setHeader('content-type', 'text/xml').writeHead(200).end(reply.html);
    else outgoing.writeHead(reply.status ?? 200).end(`<!doctype html><title>App</title>${reply.html ?? ''}`);
  }

  let server: Server;
  async function listenOn(port: number): Promise<number> {
    server = createServer((incoming, outgoing) => {
      respond(incoming, outgoing).catch((error: unknown) => {
        outgoing.writeHead(500).end(String(error instanceof Error ? error.stack : error));
      });
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' && address ? address.port : port;
  }
  const port = await listenOn(0);
  const close = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    origin: `http://127.0.0.1:${port}`,
    goDown: close,
    close,
    comeBack: async () => void (await listenOn(port)),
    watch: (next) => {
      look = next;
    },
  };
}

/** A form that sends itself, as applications answer by POST. */
export function selfSendingForm(action: string, fields: Record<string, string>): string {
  const inputs = Object.entries(fields).map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`);
  return `<form method="post" action="${action}">${inputs.join('')}<button>Continue</button></form>
    <script>document.forms[0].submit()</script>`;
}
