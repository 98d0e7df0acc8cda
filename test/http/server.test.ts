import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Middleware } from '../../src/base/http/context.ts';
import { readForm } from '../../src/base/http/input.ts';
import { startApp, type TestApp } from './app.ts';

let app: TestApp;
afterEach(() => app.stop());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function connect(): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = createConnection(app.port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  const answer = once(socket, 'close').then(() => Buffer.concat(chunks).toString());
  await once(socket, 'connect');
  return { socket, answer };
}

/** `arrived` resolves with the first request. */
function slowRoute(ms: number) {
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const routes = {
    'GET /slow': async (ctx: { body: unknown }) => {
      arrive();
      await pause(ms);
      ctx.body = 'finished';
    },
  };
  return { routes, arrived };
}

describe('a slow client is disconnected', () => {
  it('when its headers do not come', async () => {
    app = await startApp({ timeouts: { headerSeconds: 0.3, requestSeconds: 0.6 } });
    const { socket, answer } = await connect();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
    const drip = setInterval(() => socket.writable && socket.write('X-A: b\r\n'), 100);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 /);
    clearInterval(drip);
    expect((await app.client.get('/')).status).toBe(404);
  });

  it('when its body does not come', async () => {
    const form: Middleware = async (ctx) => {
      ctx.body = await readForm(ctx);
    };
    const timeouts = { headerSeconds: 0.3, requestSeconds: 0.5 };
    app = await startApp({ routes: { 'POST /form': form }, timeouts });
    const { socket, answer } = await connect();
    const type = 'Content-Type: application/x-www-form-urlencoded';
    socket.write(`POST /form HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\n${type}\r\nContent-Length: 1000\r\n\r\na=`);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 /);
    expect((await app.client.get('/')).status).toBe(404);
  });

  it('when it is silent', async () => {
    app = await startApp({ timeouts: { idleSeconds: 0.2 } });
    const { answer } = await connect();
    expect(await answer).toBe('');
  });
});

describe('input that is not HTTP', () => {
  it.each([
    ['garbage', 'garbage\r\n\r\n', 400],
    ['a header without end', `GET / HTTP/1.1\r\nHost: x\r\nCookie: ${'c'.repeat(40_000)}\r\n\r\n`, 431],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    ['length and chunks', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
  ])('gets an error response with a request number: %s', async (_name, text, status) => {
    app = await startApp();
    const { socket, answer } = await connect();
    socket.write(text);
    const received = await answer;
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const [, requestId] = /Request ID: (\S+)/.exec(received) ?? [];
    expect(app.lines).toContainEqual(expect.objectContaining({ requestId, status }));
  });
});

describe('a stop', () => {
  it('completes a running request with Connection: close, and accepts no new one', async () => {
    const { routes, arrived } = slowRoute(300);
    app = await startApp({ routes });
    const slow = app.client.get('/slow');
    await arrived;
    expect(app.isDraining()).toBe(false);
    const drained = app.drain({ seconds: 5 });
    expect(app.isDraining()).toBe(true);
    await expect(app.newClient().get('/')).rejects.toThrow('ECONNREFUSED');
    expect((await slow).text).toBe('finished');
    expect(await drained).toBe('clean');
  });

  it('does not wait for idle connections', async () => {
    app = await startApp();
    const { socket, answer } = await connect();
    socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\nAccept: application/json\r\n\r\n`);
    await once(socket, 'data');
    // After ten seconds it would be cut off.
    expect(await app.drain({ seconds: 10 })).toBe('clean');
    await answer;
  });

  it('does not wait for connections that a browser opened in advance', async () => {
    app = await startApp();
    const { answer } = await connect();
    expect(await app.drain({ seconds: 10 })).toBe('clean');
    await answer;
  });

  it('ends requests that do not finish in time', async () => {
    const { routes, arrived } = slowRoute(5000);
    app = await startApp({ routes });
    const slow = app.client.get('/slow').catch(() => 'cut off');
    await arrived;
    expect(await app.drain({ seconds: 0.3 })).toBe('cut off');
    expect(await slow).toBe('cut off');
  });
});
