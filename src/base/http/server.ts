// The Node HTTP server: closes slow clients, responds to malformed requests with a request id, and drains requests in
// progress when it stops.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Config } from '../config.ts';
import { limits } from '../limits.ts';
import type { Logger } from '../platform/logger.ts';
import { randomToken } from '../platform/random.ts';

export interface Timeouts {
  headerSeconds: number;
  requestSeconds: number;
  keepAliveSeconds: number;
  /** The connection is closed after this time without data in either direction. */
  idleSeconds: number;
}

export type HttpServer = ReturnType<typeof createHttpServer>;

// SAML redirects and request objects make long request lines.
const MAX_HEADER_BYTES = 32 * 1024;
const CHECK_EVERY_MS = 1000;
const RETIRE_SPARE_SECONDS = 5;

/** Rejects (EADDRINUSE, EACCES) when a port of the configuration cannot be bound. */
export async function tryPorts({ host, port, metrics }: Config): Promise<void> {
  await tryListening({ host, port });
  if (metrics.listen) await tryListening(metrics.listen);
}

async function tryListening(options: { host: string; port: number }): Promise<void> {
  const probe = createServer().listen(options);
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}

export function createHttpServer(dependencies: {
  handler: RequestListener;
  logger: Logger;
  timeouts?: Partial<Timeouts>;
  /** The response to so many requests on one connection says `Connection: close`; absent: no limit. */
  requestsPerConnection?: number | undefined;
}) {
  const { handler, logger, timeouts, requestsPerConnection = 0 } = dependencies;
  const { headerSeconds, requestSeconds, keepAliveSeconds, idleSeconds } = {
    ...limits.http,
    idleSeconds: 60,
    ...timeouts,
  };
  let draining = false;
  let retiring = false;
  const responses = new WeakMap<Duplex, ServerResponse>();
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
      responses.set(req.socket, res);
      if (draining || retiring) res.shouldKeepAlive = false;
      return handler(req, res);
    },
  );
  server.timeout = idleSeconds * 1000;
  server.maxRequestsPerSocket = requestsPerConnection;
  const connections = connectionsOf(server);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const response = responses.get(socket);
    // A response in progress must not be mixed with another one.
    const isInProgress = response?.headersSent === true && !response.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || isInProgress) socket.destroy();
    else respondToMalformedRequest(error, socket, logger);
  });

  return {
    server,
    listen: (address: { host: string; port: number }): Promise<AddressInfo> => listen(server, address),
    /** True after the first call of announceDrain or drain: /readyz must return 503. */
    isDraining: (): boolean => draining,
    /** Serves everything as before, each response with `Connection: close`, so that a proxy holds no connection when `drain` follows. */
    announceDrain(): void {
      draining = true;
    },
    /**
     * Accepts no more connections, and resolves when the open ones have ended, each after its next response or when it was idle for
     * `keepAliveSeconds`: no request is lost, because nothing is closed that a request may be on its way on.
     */
    retire(): Promise<void> {
      retiring = true;
      return closeGently(server, keepAliveSeconds + RETIRE_SPARE_SECONDS);
    },
    /** Accepts no new requests, waits `seconds` for those in progress, then closes them. Resolves with whether it had to. */
    drain: ({ seconds = limits.http.drainSeconds }: { seconds?: number } = {}): Promise<'clean' | 'cut off'> => {
      draining = true;
      const closed = close(server, seconds);
      // Browsers open connections in advance. Node counts one without a request as busy until headersTimeout.
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
      return closed;
    },
  };
}

/** The open connections. */
function connectionsOf(server: Server): Set<Socket> {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return connections;
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

/** Accepts no more connections, and closes none; resolves when all have ended, at the latest after `seconds`. */
function closeGently(server: Server, seconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    // `close` of the HTTP server would also close idle connections.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Accepts no more connections, and cuts off after `seconds` those that still have a request in progress. */
function close(server: Server, seconds: number): Promise<'clean' | 'cut off'> {
  return new Promise((resolve) => {
    let outcome: 'clean' | 'cut off' = 'clean';
    const timer = setTimeout(() => {
      outcome = 'cut off';
      server.closeAllConnections();
    }, seconds * 1000);
    // Connections that become idle later end anyway: their last response said "Connection: close".
    server.close(() => {
      clearTimeout(timer);
      resolve(outcome);
    });
    server.closeIdleConnections();
  });
}
const MALFORMED: Record<string, { line: string; text: string }> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    text: 'The address or the cookies of this request are too long. Delete the cookies for this site and try again.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', text: 'The request took too long to arrive. Try again.' },
};

function respondToMalformedRequest(error: NodeJS.ErrnoException, socket: Duplex, logger: Logger): void {
  const requestId = randomToken(12);
  const fallback = { line: '400 Bad Request', text: 'The server can’t understand this request.' };
  const { line, text } = MALFORMED[error.code ?? ''] ?? fallback;
  logger.info(
    {
      requestId,
      status: Number(line.slice(0, 3)),
      code: error.code,
      address: socket instanceof Socket ? socket.remoteAddress : undefined,
    },
    'request',
  );
  const body = `${text}\nRequest ID: ${requestId}\n`;
  const head = [
    `HTTP/1.1 ${line}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  // Destroyed after the response: otherwise a client that never reads would keep the connection open.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
