// A reverse proxy as strict as can be: it takes the servers in turn, holds connections open, never sends a request a second time,
// and leaves out a server whose /readyz does not answer 200.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const HEALTH_MS = 50;

export interface RoundRobin {
  port: number;
  /** Requests that got no response from the server that they were sent to. */
  lost: string[];
  /** Resolves when so many servers are ready. */
  ready(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Listens at once; `servers` are the ports of the servers behind it. */
export async function roundRobin(servers: readonly number[], port = 0): Promise<RoundRobin> {
  const agent = new http.Agent({ keepAlive: true });
  const lost: string[] = [];
  let healthy: number[] = [];
  let turn = 0;
  let isOpen = true;

  async function watch(): Promise<void> {
    while (isOpen) {
      const answers = await Promise.all(servers.map(isReady));
      healthy = servers.filter((_, index) => answers[index]);
      await sleep(HEALTH_MS);
    }
  }

  const front = http.createServer((request, response) => {
    turn += 1;
    const server = healthy[turn % Math.max(1, healthy.length)];
    const { method, url: path, headers } = request;
    const fail = (error: Error) => {
      lost.push(`${method} ${path} at ${server}: ${error.message}`);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    };
    if (server === undefined) return fail(new Error('no server is ready'));
    const outgoing = http.request({ host: '127.0.0.1', port: server, method, path, headers, agent }, (answer) => {
      const { connection: _hop, 'keep-alive': __hop, ...passed } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, passed);
      answer.on('error', fail).pipe(response);
    });
    outgoing.on('error', fail);
    request.pipe(outgoing);
  });
  await new Promise<void>((resolve) => front.listen(port, '127.0.0.1', resolve));
  const watching = watch();

  return {
    port: (front.address() as AddressInfo).port,
    lost,
    async ready(count) {
      while (healthy.length !== count) await sleep(HEALTH_MS);
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

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    http
      .get({ host: '127.0.0.1', port, path: '/readyz', agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      })
      .on('error', () => resolve(false));
  });
}
