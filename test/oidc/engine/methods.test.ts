// Methods, content types and sizes at the protocol's endpoints: each error has a form that its caller can read.
import { beforeAll, describe, expect, it } from 'vitest';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { type Application, anApplication, authorizeUrl, basic } from '../support.ts';

let idp: TestIdp;
let app: Application;

beforeAll(async () => {
  idp = await sharedIdp();
  app = await anApplication(idp, { grant_types: ['authorization_code', 'client_credentials'] });
});

const client = () => httpClient(idp.issuer);
const programs = ['/token', '/introspect', '/revoke', '/par', '/device/code', '/register'];
const documents = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server', '/jwks'];
const pages = ['/authorize', '/end-session', '/device'];

describe('endpoints', () => {
  it.each([...programs, ...documents, ...pages, '/userinfo', '/end-session/confirm'])(
    'reject methods that they do not support: %s',
    async (path) => {
      for (const method of ['PUT', 'DELETE', 'PATCH', 'PROPFIND', 'TRACE']) {
        const page = await client().request(method, path);
        expect(page.status, `${path} ${method}`).toBe(405);
        expect(page.headers['x-request-id']).toBeTruthy();
        // RFC 9110 15.5.6
        const options = await client().request('OPTIONS', path);
        expect(options.status).toBe(204);
        expect(page.headers.allow).toBe(options.headers.allow);
        for (const allowed of String(page.headers.allow).split(', '))
          expect([path, allowed, (await client().request(allowed, path)).status]).not.toEqual([path, allowed, 405]);
      }
    },
  );

  it('reject TRACE on every page', async () => {
    for (const path of ['/', '/login', '/forgot-password', '/healthz'])
      expect((await client().request('TRACE', path)).status, path).toBe(405);
  });

  it.each(programs)('accept only POST: %s', async (path) => {
    for (const method of ['GET', 'HEAD']) expect((await client().request(method, path)).status).toBe(405);
  });

  it.each([...documents, ...pages])('answer HEAD like GET, without a body: %s', async (path) => {
    const [head, get] = [await client().request('HEAD', path), await client().get(path)];
    expect([head.status, head.text]).toEqual([get.status, '']);
  });

  it('answer HEAD of an authorization request without a prompt', async () => {
    const page = await client().request('HEAD', authorizeUrl(idp, app.clientId));
    expect([303, 405]).toContain(page.status);
  });

  it.each(programs.filter((path) => path !== '/register'))('accept only a form: %s', async (path) => {
    const authorization = basic(app.clientId, app.clientSecret);
    for (const type of [
      'application/json',
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded; charset=utf-99',
    ]) {
      const page = await client().post(path, { body: '{}', headers: { 'content-type': type, authorization } });
      expect(page.status, `${path} ${type}`).toBe(400);
      expect(page.json().error).toBe('invalid_request');
    }
  });

  it.each([...programs, '/userinfo', '/device', '/end-session/confirm'])(
    'reject a body of a megabyte: %s',
    async (path) => {
      const type = path === '/register' ? 'application/json' : 'application/x-www-form-urlencoded';
      const page = await client()
        .post(path, {
          body: `a=${'x'.repeat(1024 * 1024)}`,
          headers: { 'content-type': type, authorization: 'Bearer x' },
        })
        .catch((error: NodeJS.ErrnoException) => error);
      // It is rejected while the client still sends it: the client sees the response or a closed connection.
      if (page instanceof Error) expect(page.code).toMatch(/EPIPE|ECONNRESET/);
      else expect(page.status).toBeGreaterThanOrEqual(400);
      if (!(page instanceof Error)) expect(page.status).toBeLessThan(500);
      expect((await client().get('/healthz')).status).toBe(200);
    },
  );

  it('answer errors as JSON to programs and as a page to browsers, whatever the Accept header is', async () => {
    for (const accept of ['text/html', '*/*', 'application/json', '']) {
      const page = await client().post('/token', { form: { grant_type: 'x' }, headers: { accept } });
      expect(page.headers['content-type']).toContain('application/json');
      expect(Object.keys(page.json()).sort()).toEqual(['error', 'error_description']);
      const people = await client().get(authorizeUrl(idp, 'nobody'), { headers: { accept: accept || '*/*' } });
      expect(people.status).toBe(400);
      if (accept !== 'application/json') expect(people.headers['content-type']).toContain('text/html');
    }
  });

  it.each([
    '/authorize/',
    '/authorize/a/b',
    '/device/',
    '/token/',
    '/token/x',
    '/jwks/x',
    '/register/',
    '/register/a/b',
    '/end-session/x',
    '/Authorize',
    '//authorize',
    '/authorize;x',
    '/%61uthorize',
  ])('do not exist at %s', async (path) => {
    const page = await client().get(`${idp.issuer}${path}`);
    expect([400, 404]).toContain(page.status);
  });
});
