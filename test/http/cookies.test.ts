import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Middleware } from '../../src/base/http/context.ts';
import { cookieKeys, createCookies } from '../../src/base/http/cookies.ts';
import { startApp, type TestApp } from './app.ts';

let app: TestApp;
afterEach(() => app.stop());

function routesFor(secure: boolean): Record<string, Middleware> {
  const cookies = createCookies({ secure });
  return {
    'GET /set': (ctx) => {
      cookies.set(ctx, 'samlRequest', 'kept');
      cookies.set(ctx, 'rpSession', 'session');
      ctx.body = 'set';
    },
    'GET /get': (ctx) => {
      ctx.body = { saml: cookies.get(ctx, 'samlRequest') ?? null };
    },
    'GET /clear': (ctx) => {
      cookies.clear(ctx, 'samlRequest');
      ctx.body = 'cleared';
    },
  };
}

describe('on an https issuer', () => {
  it('cookies are Secure, HttpOnly, Lax, at / and carry the __Host- prefix; sessionId keeps its name', async () => {
    app = await startApp({ issuer: 'https://id.example.com', routes: routesFor(true) });
    const { setCookie } = await app.client.get('/set', { headers: { host: 'id.example.com' } });
    expect(setCookie).toHaveLength(4);
    const names = setCookie.map((header) => header.split('=')[0]);
    expect(names).toEqual(['__Host-gatehouse_saml', '__Host-gatehouse_saml.sig', 'sessionId', 'sessionId.sig']);
    for (const header of setCookie) {
      expect(header).toMatch(/; path=\//);
      expect(header).toMatch(/; secure/);
      expect(header).toMatch(/; httponly/);
      expect(header).toMatch(/; samesite=lax/i);
      expect(header).not.toMatch(/domain=/i);
      expect(header).toMatch(/; (expires|max-age)=/);
    }
    const { setCookie: cleared } = await app.client.get('/clear', { headers: { host: 'id.example.com' } });
    expect(cleared[0]).toMatch(/^__Host-gatehouse_saml=; path=\/; expires=Thu, 01 Jan 1970.*; secure/);
  });
});

describe('on a plain http issuer', () => {
  it('cookies are neither Secure nor prefixed, and come back', async () => {
    app = await startApp({ routes: routesFor(false) });
    const { setCookie } = await app.client.get('/set');
    expect(setCookie[0]).toMatch(/^gatehouse_saml=kept; path=\//);
    expect(setCookie.join()).not.toMatch(/secure/i);
    expect((await app.client.get('/get')).json()).toEqual({ saml: 'kept' });
    await app.client.get('/clear');
    expect((await app.client.get('/get')).json()).toEqual({ saml: null });
  });

  it('cookies with a changed value, no signature or the signature of another cookie are ignored', async () => {
    app = await startApp({ routes: routesFor(false) });
    await app.client.get('/set');
    const signature = app.client.cookies.get('gatehouse_saml.sig')?.value;
    const foreign = app.client.cookies.get('sessionId.sig')?.value;
    const tries = [
      `gatehouse_saml=other; gatehouse_saml.sig=${signature}`,
      'gatehouse_saml=kept',
      'gatehouse_saml=kept; gatehouse_saml.sig=x',
      `gatehouse_saml=session; gatehouse_saml.sig=${foreign}`,
    ];
    for (const cookie of tries) {
      expect((await app.newClient().get('/get', { headers: { cookie } })).json()).toEqual({ saml: null });
    }
  });
});

it('the server accepts cookies of an older secret, and signs with the newest', async () => {
  app = await startApp();
  const [older, newer] = [randomBytes(32), randomBytes(32)];
  const signed = cookieKeys([older]).sign('name=value');
  const both = cookieKeys([newer, older]);
  expect(both.verify('name=value', signed)).toBe(true);
  expect(both.sign('name=value')).not.toBe(signed);
  expect(cookieKeys([newer]).verify('name=value', signed)).toBe(false);
});
