// An HTTP server on a free loopback port, for the applications and gateways that tests stand in for.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Tls } from './tls.ts';

export interface Listening {
  origin: string;
  port: number;
  close(): Promise<void>;
}

export async function listen(
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
  tls?: Tls,
): Promise<Listening> {
  const guarded: RequestListener = (request, response) => {
    Promise.resolve(answer(request, response)).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end(String(error));
    });
  };
  const server = (tls ? createTlsServer(tls, guarded) : createServer(guarded)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return {
    origin: `${tls ? 'https' : 'http'}://127.0.0.1:${address.port}`,
    port: address.port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
