// Sends a request to this server without the network: real HTTP over a pair of in-memory streams, through every
// middleware. Works behind any proxy, because it needs no address of this server.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';

export interface InternalResponse {
  status: number;
  body: Record<string, unknown>;
}

/** Posts a form to a path of this server that responds with JSON. */
export type InternalRequest = (path: string, form: Record<string, string>) => Promise<InternalResponse>;

/**
 * @param handler the whole application
 * @param host the Host header, which is the issuer's
 */
export function createInternalRequest({
  handler,
  host,
}: {
  handler(): RequestListener;
  host: string;
}): InternalRequest {
  const server = createServer((incoming, response) => handler()(incoming, response)); // never listens

  return async (path, form) => {
    const [near, far] = duplexPair();
    server.emit('connection', Object.assign(far, { remoteAddress: '127.0.0.1' }));
    const body = new URLSearchParams(form).toString();
    const headers = {
      host,
      connection: 'close',
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': Buffer.byteLength(body),
    };
    const outgoing = request({ createConnection: () => near, method: 'POST', path, headers });
    outgoing.end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, body: JSON.parse(await text(response)) };
  };
}
