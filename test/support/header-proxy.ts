// A reverse proxy that changes the headers of the responses, as an operator's nginx with `add_header` and `proxy_hide_header`.
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HeaderProxy {
  origin: string;
  /** The server behind it, which is started with this proxy as its issuer. */
  forwardTo(port: number): void;
  close(): Promise<void>;
}

/** Replaces these headers of each response; `undefined` removes one. */
export async function headerProxy(changes: Record<string, string | string[] | undefined>): Promise<HeaderProxy> {
  let target = 0;
  const proxy = http.createServer((req, res) => {
    const { method, url: path, headers } = req;
    const outgoing = http.request({ host: '127.0.0.1', port: target, method, path, headers }, (answer) => {
      const kept = Object.entries({ ...answer.headers, ...changes }).filter(([, value]) => value !== undefined);
      res.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept) as http.OutgoingHttpHeaders);
      answer.pipe(res);
    });
    outgoing.on('error', () => res.destroy());
    req.pipe(outgoing);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    forwardTo(port) {
      target = port;
    },
    async close() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
