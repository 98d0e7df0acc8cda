// The node server around the application: slow clients are cut off, requests that are no HTTP get an answer with a
// request id, and a stop lets what is under way finish.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { limits } from '../limits.ts';
import type { Logger } from '../platform/logger.ts';
import { randomToken } from '../platform/random.ts';

export interface Timeouts {
  headerSeconds: number;
  requestSeconds: number;
  keepAliveSeconds: number;
  /** No byte in either direction for so long: closed. */
  idleSeconds: number;
}

export interface HttpServer {
  server: Server;
  listen(options: { host: string; port: number }): Promise<AddressInfo>;
  /** True from the first call of drain: readiness should say no. */
  isDraining(): boolean;
  /** Accepts nothing new, lets requests under way finish for `seconds`, then cuts them off. Answers whether it had to. */
  drain(options?: { seconds?: number }): Promise<'clean' | 'cut off'>;
}

export interface HttpServerNeeds {
  handler: RequestListener;
  logger: Logger;
  timeouts?: Partial<Timeouts>;
}

// SAML redirects and request objects make long request lines.
const MAX_HEADER_BYTES = 32 * 1024;
const CHECK_EVERY_MS = 1000;

/** Rejects (EADDRINUSE, EACCES) when nothing can listen there. */
export async function tryListening(options: { host: string; port: number }): Promise<void> {
  const probe = createServer().listen(options);
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}

export function createHttpServer({ handler, logger, timeouts }: HttpServerNeeds): HttpServer {
  const { headerSeconds, requestSeconds, keepAliveSeconds, idleSeconds } = {
    ...limits.http,
    idleSeconds: 60,
    ...timeouts,
  };
  let draining = false;
  const answers = new WeakMap<Duplex, ServerResponse>();
  const server = createServer(
    {
      headersTimeout: headerSeconds * 1000,
      requestTimeout: requestSeconds * 1000,
      keepAliveTimeout: keepAliveSeconds * 1000,
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, headerSeconds * 500),
      noDelay: true,
    },
    (req, res) => {
      answers.set(req.socket, res);
      if (draining) res.shouldKeepAlive = false;
      return handler(req, res);
    },
  );
  server.timeout = idleSeconds * 1000;
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const answer = answers.get(socket);
    // An answer that has begun must not be mixed with another one.
    const hasBegun = answer?.headersSent === true && !answer.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || hasBegun) socket.destroy();
    else refuseNonHttp(error, socket, logger);
  });

  return {
    server,
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve(server.address() as AddressInfo);
        });
      }),
    isDraining: () => draining,
    drain: ({ seconds = limits.http.drainSeconds } = {}) => {
      draining = true;
      return new Promise((resolve) => {
        let outcome: 'clean' | 'cut off' = 'clean';
        const timer = setTimeout(() => {
          outcome = 'cut off';
          server.closeAllConnections();
        }, seconds * 1000);
        // Connections that become idle later end by themselves: their last answer said "Connection: close".
        server.close(() => {
          clearTimeout(timer);
          resolve(outcome);
        });
        server.closeIdleConnections();
      });
    },
  };
}

const NON_HTTP: Record<string, { line: string; text: string }> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    text: 'The address or the cookies of this request are too long. Remove the cookies of this site and try again.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', text: 'The request took too long to arrive. Try again.' },
};

function refuseNonHttp(error: NodeJS.ErrnoException, socket: Duplex, logger: Logger): void {
  const requestId = randomToken(12);
  const fallback = { line: '400 Bad Request', text: 'This is not a request that the server understands.' };
  const { line, text } = NON_HTTP[error.code ?? ''] ?? fallback;
  logger.info(
    {
      requestId,
      status: Number(line.slice(0, 3)),
      problem: error.code,
      address: socket instanceof Socket ? socket.remoteAddress : undefined,
    },
    'request',
  );
  const body = `${text}\nRequest number: ${requestId}\n`;
  const head = [
    `HTTP/1.1 ${line}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  // Destroyed after the answer: a client that never reads would hold the connection otherwise.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
