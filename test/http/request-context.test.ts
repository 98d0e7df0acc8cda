import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientAddress } from '../../src/base/http/request-context.ts';
import { accessLine, startApp, type TestApp } from './app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp({
    trustProxy: 1,
    routes: {
      'GET /who': (ctx) => {
        ctx.body = { ...ctx.state.request, ip: ctx.ip };
      },
      'GET /accessors': (ctx) => {
        const objects = [ctx, ctx.state, ctx.req, ctx.res];
        const descriptors = objects.map((one) => Object.entries(Object.getOwnPropertyDescriptors(one)));
        ctx.body = descriptors.flat().flatMap(([name, { get }]) => (get ? [name] : []));
      },
      'GET /healthz': (ctx) => {
        ctx.body = 'ok';
      },
    },
  });
});
afterAll(() => app.stop());

describe('the address of the client', () => {
  it.each([
    ['the connection itself without a proxy', '203.0.113.9', 0, '10.0.0.1'],
    ['what the one proxy wrote', '203.0.113.9', 1, '203.0.113.9'],
    ['not what the client wrote in front of it', '1.1.1.1, 203.0.113.9', 1, '203.0.113.9'],
    ['what the outer of two proxies saw', '1.1.1.1, 203.0.113.9, 10.0.0.2', 2, '203.0.113.9'],
    ['the only entry when there are fewer than proxies', '203.0.113.9', 3, '203.0.113.9'],
    ['the connection when the entry is no address', '<script>', 1, '10.0.0.1'],
    ['the connection when the header is empty', '', 1, '10.0.0.1'],
    ['without its port', '203.0.113.9:4711', 1, '203.0.113.9'],
    ['IPv6 without brackets and port', '[2001:db8::7]:4711', 1, '2001:db8::7'],
    ['IPv4 that was written as IPv6', '::ffff:203.0.113.9', 1, '203.0.113.9'],
  ])('is %s', (_name, header, trustProxy, address) => {
    expect(clientAddress(header, '10.0.0.1', trustProxy)).toBe(address);
  });

  it('is the same for Koa and what runs after it', async () => {
    const headers = { 'x-forwarded-for': '1.1.1.1, 203.0.113.9' };
    const answer = await app.client.get('/who', { headers });
    expect(answer.json()).toMatchObject({ address: '203.0.113.9', ip: '203.0.113.9' });
  });
});

// src/base/http/context.ts says why.
it('the request context gives no request an accessor of its own', async () => {
  expect((await app.client.get('/accessors')).json()).toEqual([]);
});

it('the request context makes its own request id, whatever the client sends', async () => {
  const headers = { 'x-request-id': 'chosen-by-client' };
  const first = await app.client.get('/who', { headers });
  const second = await app.client.get('/who', { headers });
  expect(first.headers['x-request-id']).not.toBe('chosen-by-client');
  expect(first.headers['x-request-id']).not.toBe(second.headers['x-request-id']);
  expect(first.json().requestId).toBe(first.headers['x-request-id']);
});

it('the request context logs one line without the query, and observes the request once', async () => {
  app.observations.length = 0;
  await app.client.get('/reset?token=very-secret');
  const line = await accessLine(app, '/reset');
  expect(line).toMatchObject({ method: 'GET', path: '/reset', status: 404, level: 'info' });
  expect(line.ms).toBeTypeOf('number');
  expect(JSON.stringify(app.lines)).not.toContain('very-secret');
  expect(app.observations).toEqual([
    { method: 'GET', route: 'other', status: 404, seconds: expect.any(Number), code: 'not_found' },
  ]);
});

it('the request context does not log probes at level info', async () => {
  await app.client.get('/healthz');
  expect(await accessLine(app, '/healthz')).toMatchObject({ level: 'debug' });
});
