// A request to this very server that needs no network: real HTTP over a pair of streams, through every middleware that
// one from outside goes through. It works behind any proxy, whatever address this server is reached at.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';

export interface OwnAnswer {
  status: number;
  body: Record<string, unknown>;
}

/** Posts a form to a path of ours that answers in JSON. */
export type AskOurselves = (path: string, form: Record<string, string>) => Promise<OwnAnswer>;

/**
 * @param handler the whole application
 * @param host what the Host header says, which is the issuer's
 */
export function createAskOurselves({ handler, host }: { handler(): RequestListener; host: string }): AskOurselves {
  const server = createServer((incoming, response) => handler()(incoming, response)); // never listens

  return async (path, form) => {
    const [near, far] = duplexPair();
    server.emit('connection', Object.assign(far, { remoteAddress: '127.0.0.1' }));
    const body = new URLSearchParams(form).toString();
    const headers = {
      ...{ host, connection: 'close', accept: 'application/json' },
      ...{ 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) },
    };
    const outgoing = request({ createConnection: () => near, method: 'POST', path, headers });
    outgoing.end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, body: JSON.parse(await text(response)) };
  };
}
