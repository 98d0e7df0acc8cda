// A reverse proxy that takes the servers in turn, holds connections open, and leaves out a server whose /readyz does not answer 200
// within 3 s. It never sends a request a second time, or repeats on another server what may be repeated (RFC 9110 9.2.2).
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer as readBody } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const HEALTH_MS = 50;
const HEALTH_LIMIT_MS = 3000;
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);

export interface RoundRobin {
  port: number;
  /** Requests that got no response from the server that they were sent to. */
  lost: string[];
  /** How many requests were sent to another server after the first had failed. */
  repeated(): number;
  /** Resolves when so many servers are ready. */
  ready(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface RoundRobinOptions {
  port?: number;
  /**
   * Sends an idempotent request to another server when one gives no answer or 503, and any request when the connection to the
   * first one was refused.
   */
  repeats?: boolean;
}

/** Listens at once; `servers` are the ports of the servers behind it. */
export async function roundRobin(
  servers: readonly number[],
  { port = 0, repeats = false }: RoundRobinOptions = {},
): Promise<RoundRobin> {
  const agent = new http.Agent({ keepAlive: true });
  const lost: string[] = [];
  /** The last answer of /readyz of each server. */
  const health = new Map<number, string>();
  const isHealthy = (server: number) => health.get(server) === '200';
  let turn = 0;
  let repeated = 0;
  let isOpen = true;

  async function watch(server: number): Promise<void> {
    while (isOpen) {
      health.set(server, await readiness(server));
      await sleep(HEALTH_MS);
    }
  }
  const next = (tried: readonly number[]) => {
    const left = servers.filter((server) => isHealthy(server) && !tried.includes(server));
    turn += 1;
    return left[turn % Math.max(1, left.length)];
  };

  function pass(request: http.IncomingMessage, response: http.ServerResponse, body: Buffer, tried: number[] = []) {
    const server = next(tried);
    const { method = 'GET', url: path, headers } = request;
    const mayRepeat = (code?: string) => repeats && (IDEMPOTENT.has(method) || code === 'ECONNREFUSED');
    const again = () => {
      repeated += 1;
      pass(request, response, body, [...tried, server ?? 0]);
    };
    const fail = (error: NodeJS.ErrnoException) => {
      if (!response.headersSent && mayRepeat(error.code) && next([...tried, server ?? 0]) !== undefined) return again();
      lost.push(`${method} ${path?.split('?')[0]} at ${server}: ${error.message}`);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    };
    if (server === undefined) return fail(new Error(`no server is ready: ${[...health].join('; ')}`));
    const outgoing = http.request({ host: '127.0.0.1', port: server, method, path, headers, agent }, (answer) => {
      if (answer.statusCode === 503 && mayRepeat() && next([...tried, server]) !== undefined) {
        answer.resume();
        return again();
      }
      const { connection: _hop, 'keep-alive': __hop, ...passed } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, passed);
      answer.on('error', fail).pipe(response);
    });
    outgoing.on('error', fail).end(body);
  }

  const front = http.createServer((request, response) => {
    void readBody(request).then(
      (body) => pass(request, response, body),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => front.listen(port, '127.0.0.1', resolve));
  const watching = Promise.all(servers.map(watch));

  return {
    port: (front.address() as AddressInfo).port,
    lost,
    repeated: () => repeated,
    async ready(count) {
      while (servers.filter(isHealthy).length !== count) await sleep(HEALTH_MS);
    },
    async close() {
      isOpen = false;
      await watching;
      agent.destroy();
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}

/** The status of /readyz, or why there is none. */
function readiness(port: number): Promise<string> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: '/readyz', agent: false, timeout: HEALTH_LIMIT_MS };
    const request = http.get(options, (answer) => {
      answer.resume();
      resolve(String(answer.statusCode));
    });
    request.on('error', ({ message }) => resolve(message));
    request.on('timeout', () => request.destroy(new Error('no answer')));
  });
}
