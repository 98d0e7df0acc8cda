import { once } from 'node:events';
import { createConnection } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Middleware } from '../../src/base/http/context.ts';
import { bodyLimit, parseForm, parseJson, parseQuery } from '../../src/base/http/input.ts';
import { startApp, type TestApp } from './app.ts';

const person = z.object({ name: z.string().max(5), roles: z.array(z.string()).optional() });
const raised = bodyLimit(256 * 1024);
const form: Middleware = async (ctx) => {
  // Twice, as the CSRF check and the handler do.
  await parseForm(ctx, z.looseObject({}), { lists: ['roles'] });
  ctx.body = await parseForm(ctx, z.looseObject({ big: z.string().optional() }), { lists: ['roles'] });
};
let app: TestApp;

beforeAll(async () => {
  app = await startApp({
    routes: {
      'GET /api/query': (ctx) => {
        ctx.body = parseQuery(ctx, person, { lists: ['roles'] });
      },
      'POST /api/form': form,
      'POST /api/raised': (ctx, next) => raised(ctx, async () => form(ctx, next)),
      'POST /api/json': async (ctx) => {
        ctx.body = await parseJson(ctx, z.looseObject({}));
      },
    },
  });
});
afterAll(() => app.stop());

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'content-type': 'application/json' };
const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = FORM) =>
  app.client.post(path, { body, headers });

describe('a query or form', () => {
  it('becomes typed values', async () => {
    const query = await app.client.get('/api/query?name=al+%C3%A9&roles=a&roles=b');
    expect(query.json()).toEqual({ name: 'al é', roles: ['a', 'b'] });
    expect((await post('/api/form', 'a=1&b=x%26y&empty=&bare')).json()).toEqual({
      a: '1',
      b: 'x&y',
      empty: '',
      bare: '',
    });
  });

  it('names the fields that are wrong', async () => {
    const answer = await app.client.get('/api/query?name=longer-than-five');
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'invalid_input', errors: [{ path: 'name' }] });
  });

  it('may not repeat a parameter', async () => {
    const query = await app.client.get('/api/query?name=a&name=b');
    expect(query.json()).toMatchObject({ status: 400, code: 'repeated_parameter', errors: [{ path: 'name' }] });
    expect((await post('/api/form', 'a=1&%61=2')).json()).toMatchObject({ code: 'repeated_parameter' });
  });

  it.each(['a=%zz', 'a=%c3%28', 'a=%00', '%ff=1', 'a=%ed%a0%80'])('may not be malformed: %s', async (text) => {
    expect((await app.client.get(`/api/query?${text}`)).json()).toMatchObject({ status: 400, code: 'malformed_url' });
    expect((await post('/api/form', text)).json()).toMatchObject({ status: 400, code: 'malformed_body' });
  });

  it('may not have a thousand parameters', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => `p${index}=1`).join('&');
    expect((await post('/api/form', many)).status).toBe(400);
  });

  it('cannot change a prototype', async () => {
    const answer = await post('/api/form', '__proto__=x&constructor=y&toString=z');
    expect(answer.status).toBe(200);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

describe('a body', () => {
  it('may have 64 KB, or more where a route says so, and not one byte more', async () => {
    const of = (bytes: number) => `big=${'x'.repeat(bytes - 4)}`;
    expect((await post('/api/form', of(64 * 1024))).status).toBe(200);
    const tooLarge = await post('/api/form', of(64 * 1024 + 1));
    expect(tooLarge.json()).toMatchObject({
      status: 413,
      code: 'body_too_large',
      detail: expect.stringContaining('64 KB'),
    });
    expect(tooLarge.headers.connection).toBe('close');
    expect((await post('/api/raised', of(256 * 1024))).status).toBe(200);
    expect((await post('/api/raised', of(256 * 1024 + 1))).status).toBe(413);
  });

  it('is cut off when it does not end', async () => {
    const socket = createConnection(app.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`POST /api/form HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\nContent-Type: ${FORM['content-type']}\r\n`);
    socket.write('Transfer-Encoding: chunked\r\n\r\n');
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    let written = 0;
    const timer = setInterval(() => {
      if (!socket.destroyed && socket.writable) written += socket.write(chunk) ? chunk.length : 0;
    }, 1);
    await once(socket.resume(), 'close');
    clearInterval(timer);
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });

  it.each<[string, Record<string, string>]>([
    ['another type', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['JSON where a form is expected', JSON_TYPE],
    ['another charset', { 'content-type': `${FORM['content-type']}; charset=utf-7` }],
    ['compression', { ...FORM, 'content-encoding': 'gzip' }],
  ])('is rejected with %s', async (_name, headers) => {
    expect((await post('/api/form', 'a=1', headers)).json()).toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
    });
  });

  it('has to be UTF-8', async () => {
    expect((await post('/api/form', Uint8Array.of(0x61, 0x3d, 0xff))).json()).toMatchObject({ code: 'malformed_body' });
  });

  it('may be missing', async () => {
    expect((await app.client.post('/api/form')).json()).toEqual({});
  });
});

describe('JSON', () => {
  it('is parsed', async () => {
    expect((await post('/api/json', '{"a":["é",1,null]}', JSON_TYPE)).json()).toEqual({ a: ['é', 1, null] });
  });

  it.each([
    '{',
    '',
    '{"a":"\\u0000"}',
    '{"a":["\\ud800"]}',
    '{"\\u0000":1}',
    `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
  ])('is rejected when it is broken, unstorable or too deep (%#)', async (text) => {
    expect((await post('/api/json', text, JSON_TYPE)).json()).toMatchObject({ status: 400, code: 'malformed_body' });
  });

  it('needs the content type of JSON', async () => {
    expect((await post('/api/json', '{}', { 'content-type': 'text/plain' })).status).toBe(415);
  });
});
