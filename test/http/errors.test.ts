import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conflict, tooManyRequests } from '../../src/base/http/errors.ts';
import { accessLine, startApp, type TestApp } from './app.ts';

const secret = 'SELECT * FROM users WHERE password_hash';
let app: TestApp;

beforeAll(async () => {
  app = await startApp({
    routes: {
      'GET /broken': () => {
        throw new Error(secret, { cause: new Error('disk full') });
      },
      'GET /api/broken': () => {
        throw 'not even an Error';
      },
      'GET /taken': () => {
        throw conflict('user_name_taken', { detail: { accountId: 'u1' }, cause: new Error(secret) });
      },
      'GET /slow-down': () => {
        throw tooManyRequests(120);
      },
      'GET /koa-413': (ctx) => ctx.throw(413, secret),
      'GET /koa-400': (ctx) => ctx.throw(400, secret),
      'GET /koa-500': (ctx) => ctx.throw(500, secret),
      'PUT /read-only': (ctx) => {
        ctx.status = 405;
        ctx.set('Allow', 'GET');
      },
      'GET /fine': (ctx) => {
        ctx.body = 'fine';
      },
      'GET /headers': (ctx) => {
        ctx.set({ 'Content-Encoding': 'gzip', ETag: '"x"', 'Cache-Control': 'public, max-age=60' });
        throw conflict('conflict');
      },
      'GET /half': (ctx) => {
        ctx.respond = false;
        ctx.res.writeHead(200, { 'Content-Type': 'text/plain' });
        ctx.res.write('begin');
        throw new Error(secret);
      },
    },
  });
});
afterAll(() => app.stop());

describe('an error', () => {
  it('becomes a page for people that says what happened, what to do, and the number of the log line', async () => {
    const page = await app.client.get('/nowhere');
    expect(page.status).toBe(404);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('Page not found');
    expect(page.text).toContain('Check the link');
    const requestId = page.headers['x-request-id'];
    expect(requestId).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(page.text).toContain(String(requestId));
    expect(await accessLine(app, '/nowhere')).toMatchObject({ requestId, status: 404, code: 'not_found' });
  });

  it('becomes problem+json for programs, by what they accept or by the path', async () => {
    const byAccept = await app.client.get('/taken', { headers: { accept: 'application/json' } });
    expect(byAccept.headers['content-type']).toBe('application/problem+json');
    expect(byAccept.json()).toEqual({
      type: 'urn:gatehouse:error:user_name_taken',
      title: 'Conflict',
      status: 409,
      detail: 'This username is already taken. Choose another one.',
      code: 'user_name_taken',
      requestId: byAccept.headers['x-request-id'],
    });
    const byPath = await app.client.get('/api/nowhere');
    expect(byPath.status).toBe(404);
    expect(byPath.json()).toMatchObject({ code: 'not_found', status: 404 });
  });

  it.each(['/broken', '/koa-500'])('is a 500 without a word of the cause, which is in the log (%s)', async (path) => {
    const page = await app.client.get(path);
    expect(page.status).toBe(500);
    expect(page.text).not.toContain('SELECT');
    expect(page.text).not.toContain('.ts:');
    const requestId = page.headers['x-request-id'];
    const line = app.lines.find((candidate) => candidate.requestId === requestId && candidate.err);
    expect(JSON.stringify(line)).toContain(secret);
    expect((await app.client.get('/fine')).text).toBe('fine');
  });

  it('becomes a 500 even when something else than an Error was thrown', async () => {
    const answer = await app.client.get('/api/broken');
    expect(answer.status).toBe(500);
    expect(answer.json()).toMatchObject({ code: 'internal' });
  });

  it('becomes a response with a message of this server when Koa or a middleware threw it', async () => {
    const tooBig = await app.client.get('/koa-413');
    expect(tooBig.status).toBe(413);
    expect(tooBig.text).not.toContain('SELECT');
    const bad = await app.client.get('/koa-400', { headers: { accept: 'application/json' } });
    expect(bad.json()).toMatchObject({ status: 400, code: 'bad_request' });
    expect(bad.text).not.toContain('SELECT');
  });

  it('becomes a response without the body headers of the failed handler', async () => {
    const page = await app.client.get('/headers');
    expect(page.status).toBe(409);
    expect(page.headers['content-encoding']).toBeUndefined();
    expect(page.headers.etag).toBeUndefined();
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.text).toContain('conflicts');
  });

  it('closes the connection when the response had begun', async () => {
    await expect(app.client.get('/half')).rejects.toThrow();
  });
});

it('the server logs the detail and the cause of a rejection, and returns neither', async () => {
  const page = await app.client.get('/taken');
  expect(page.text).not.toContain('u1');
  const requestId = page.headers['x-request-id'];
  const line = app.lines.find((candidate) => candidate.requestId === requestId && candidate.msg === 'request rejected');
  expect(line).toMatchObject({ code: 'user_name_taken', detail: { accountId: 'u1' } });
});

it('the server sends Retry-After with 429, and the page states the time to wait', async () => {
  const page = await app.client.get('/slow-down');
  expect(page.status).toBe(429);
  expect(page.headers['retry-after']).toBe('120');
  expect(page.text).toContain('Wait 2 minutes');
});

it('the server sends Allow with 405', async () => {
  const page = await app.client.request('PUT', '/read-only');
  expect(page.status).toBe(405);
  expect(page.headers.allow).toBe('GET');
  expect(page.text).toContain('doesn’t support this HTTP method');
});

it('the server responds without a page when the error page cannot be rendered', async () => {
  const broken = await startApp({
    render: () => () => {
      throw new Error(secret);
    },
  });
  const answer = await broken.client.get('/nowhere');
  expect(answer.status).toBe(404);
  expect(answer.headers['content-type']).toContain('text/plain');
  expect(answer.text).toContain(String(answer.headers['x-request-id']));
  expect(answer.text).not.toContain('SELECT');
  await broken.stop();
});
