import { once } from 'node:events';
import { createConnection } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Middleware } from '../../src/base/http/context.ts';
import { startApp, type TestApp, type TestAppOptions } from './app.ts';

let app: TestApp;
afterEach(() => app.stop());

const seen: Middleware = (ctx) => {
  ctx.body = { href: ctx.href, host: ctx.host, secure: ctx.secure, headers: ctx.headers };
};
const routes = { 'GET /seen': seen, 'GET /healthz': seen };
const start = async (options: TestAppOptions = {}) => {
  app = await startApp({ routes, ...options });
  return app;
};

async function raw(text: string): Promise<string> {
  const socket = createConnection(app.port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.end(text);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

it('the server serves the host of the issuer, in any case and with the default port', async () => {
  await start({ issuer: 'https://id.example.com' });
  for (const host of ['id.example.com', 'ID.Example.com', 'id.example.com:443']) {
    const { href, host: hostSeen, secure } = (await app.client.get('/seen', { headers: { host } })).json();
    expect({ href, hostSeen, secure }).toEqual({
      href: 'https://id.example.com/seen',
      hostSeen: 'id.example.com',
      secure: true,
    });
  }
});

it('the server serves the host of an issuer with a port, also when the request leaves the port out', async () => {
  await start({ issuer: 'https://id.example.com:8443' });
  for (const host of ['id.example.com:8443', 'id.example.com', 'ID.example.com'])
    expect((await app.client.get('/seen', { headers: { host } })).json()).toMatchObject({
      href: 'https://id.example.com:8443/seen',
      host: 'id.example.com:8443',
    });
  for (const host of ['id.example.com:8444', 'evil.example', 'evil.example:8443'])
    expect((await app.client.get('/seen', { headers: { host } })).status).toBe(421);
});

it.each([
  'evil.example',
  'id.example.com.evil.example',
  'id.example.com:444',
  'id.example.com@evil.example',
  'a b',
  '127.0.0.1',
])('the server rejects the host %s and says which one to use', async (host) => {
  await start({ issuer: 'https://id.example.com' });
  const page = await app.client.get('/seen', { headers: { host } });
  expect(page.status).toBe(421);
  expect(page.text).toContain('Use https://id.example.com instead.');
  expect(page.text).not.toContain('evil.example');
});

it('the server rejects absolute-form, asterisk-form and two Host headers', async () => {
  await start();
  const host = `Host: 127.0.0.1:${app.port}\r\n`;
  const close = 'Connection: close\r\n\r\n';
  expect(await raw(`GET http://evil.example/seen HTTP/1.1\r\n${host}${close}`)).toMatch(/^HTTP\/1\.1 400/);
  expect(await raw(`GET ${app.origin}/seen HTTP/1.1\r\n${host}${close}`)).toMatch(/^HTTP\/1\.1 400/);
  expect(await raw(`OPTIONS * HTTP/1.1\r\n${host}${close}`)).toMatch(/^HTTP\/1\.1 400/);
  expect(await raw(`GET /seen HTTP/1.1\r\n${host}Host: evil.example\r\n${close}`)).toMatch(/^HTTP\/1\.1 400/);
  expect(await raw(`GET /seen HTTP/1.1\r\n${host}${close}`)).toMatch(/^HTTP\/1\.1 200/);
});

describe('forwarding headers', () => {
  const steering = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '1.1.1.1',
    forwarded: 'host=evil.example;proto=https',
  };

  it('have no effect without a proxy', async () => {
    await start();
    const answer = await app.client.get('/seen', { headers: steering });
    expect(answer.json()).toMatchObject({ href: `${app.origin}/seen`, secure: false });
    expect(answer.text).not.toContain('evil.example');
    expect(answer.text).not.toContain('1.1.1.1');
  });

  it('may not name another host with a proxy either', async () => {
    await start({ issuer: 'https://id.example.com', trustProxy: 1 });
    const page = await app.client.get('/seen', { headers: { ...steering, host: 'id.example.com' } });
    expect(page.status).toBe(421);
  });

  it('may name the issuer’s host for a proxy that uses an internal name', async () => {
    await start({ issuer: 'https://id.example.com', trustProxy: 1 });
    const headers = { host: 'gatehouse:3000', 'x-forwarded-host': 'id.example.com' };
    expect((await app.client.get('/seen', { headers })).json()).toMatchObject({ href: 'https://id.example.com/seen' });
  });
});

it('the server accepts probes that use an IP address as host', async () => {
  await start({ issuer: 'https://id.example.com' });
  expect((await app.client.get('/healthz')).status).toBe(200);
});
