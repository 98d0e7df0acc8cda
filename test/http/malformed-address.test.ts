import { once } from 'node:events';
import { createConnection } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from './app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

it.each(['/%zz', '/%', '/a%00b', '/%c3%28', '//elsewhere.example/x'])(
  'the server rejects the address %s',
  async (path) => {
    const socket = createConnection(app.port, '127.0.0.1');
    socket.end(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\nConnection: close\r\n\r\n`);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(socket, 'close');
    const answer = Buffer.concat(chunks).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('The address of this page is incorrect.');
  },
);
