import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relaxPolicy } from '../../src/base/http/security-headers.ts';
import { startApp, type TestApp } from './app.ts';

// The expected headers, repeated here on purpose.
const table = {
  'x-frame-options': 'SAMEORIGIN',
  'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
  'content-security-policy':
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:",
  'x-content-type-options': 'nosniff',
  'x-xss-protection': '1; mode=block',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'permissions-policy': 'geolocation=(), microphone=(), camera=()',
};
let app: TestApp;

beforeAll(async () => {
  app = await startApp({
    routes: {
      'GET /page': (ctx) => ctx.render('logout/done', {}),
      'GET /frames': (ctx) => {
        const reason = 'front-channel logout loads a page of each application';
        relaxPolicy(ctx, { directive: 'frame-src', sources: ['https://a.example', 'https://b.example:8443'], reason });
        relaxPolicy(ctx, { directive: 'script-src', sources: ["'sha256-abc='"], reason: 'a script of the engine' });
        ctx.render('logout/done', {});
      },
      'GET /injected': (ctx) => {
        relaxPolicy(ctx, {
          directive: 'frame-src',
          sources: ["https://a.example; script-src 'unsafe-inline'"],
          reason: 'x',
        });
      },
      'GET /broken': () => {
        throw new Error('broken');
      },
    },
  });
});
afterAll(() => app.stop());

describe('a response', () => {
  it.each(['/page', '/nowhere', '/broken'])('has every header of the table exactly on %s', async (path) => {
    const page = await app.client.get(path);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers).toMatchObject(table);
    expect(page.headers['cache-control']).toBe('no-store');
  });

  it('relaxes one directive on one page and leaves the next page alone', async () => {
    const page = await app.client.get('/frames');
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'self'; script-src 'self' 'sha256-abc='; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
        "frame-src 'self' https://a.example https://b.example:8443",
    );
    expect((await app.client.get('/page')).headers).toMatchObject(table);
  });

  it('rejects a source that would begin a directive of its own', async () => {
    const page = await app.client.get('/injected');
    expect(page.status).toBe(500);
    expect(page.headers).toMatchObject(table);
  });
});
