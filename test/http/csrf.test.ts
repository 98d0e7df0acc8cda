import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page, RequestOptions } from '../support/http.ts';
import { startApp, type TestApp } from './app.ts';

let app: TestApp;
let sent = 0;

beforeAll(async () => {
  app = await startApp({
    csrf: ['/form'],
    routes: {
      'GET /form': (ctx) => ctx.render('sign-in/identify', { action: '/form' }),
      'GET /plain': (ctx) => ctx.render('logout/done', {}),
      'POST /form': (ctx) => {
        sent += 1;
        ctx.body = 'accepted';
      },
    },
  });
});
afterAll(() => app.stop());

async function open() {
  const client = app.newClient();
  const page = await client.get('/form');
  const token = page.forms[0]?.fields._csrf ?? '';
  return { client, page, token };
}

async function expectRejected(answer: Promise<Page>, code: string) {
  const before = sent;
  const page = await answer;
  expect(page.status).toBe(403);
  expect(sent).toBe(before);
  const requestId = page.headers['x-request-id'];
  expect(app.lines.find((line) => line.requestId === requestId)?.code).toBe(code);
  return page;
}

describe('a form is accepted', () => {
  it('when a person sends it from the page', async () => {
    const { client, page } = await open();
    const answer = await client.submit(page, { username: 'alice', password: 'x' });
    expect(answer.text).toBe('accepted');
  });

  it('twice, and from two tabs of one browser', async () => {
    const { client, page } = await open();
    const other = await client.get('/form');
    expect((await client.submit(page)).status).toBe(200);
    expect((await client.submit(other)).status).toBe(200);
    expect((await client.submit(page)).status).toBe(200);
  });

  it('with the token in the header, for scripts', async () => {
    const { client, token } = await open();
    const answer = await client.post('/form', { headers: { 'x-csrf-token': token }, json: {} });
    expect(answer.status).toBe(200);
  });

  it('with fields that are sent more than once, such as check boxes', async () => {
    const { client, token } = await open();
    const body = `_csrf=${token}&roles=a&roles=b`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await client.post('/form', { headers, body })).status).toBe(200);
  });

  it.each<[string, Record<string, string>]>([
    ['in the same origin', { origin: 'null', 'sec-fetch-site': 'same-origin' }],
    ['over plain http, without Sec-Fetch-Site', { origin: 'null' }],
  ])('with `Origin: null` of a proxy that sets `Referrer-Policy: no-referrer`, %s', async (_where, headers) => {
    const { client, token } = await open();
    expect((await client.post('/form', { headers, form: { _csrf: token } })).status).toBe(200);
    await expectRejected(client.post('/form', { headers, form: {} }), 'csrf_failed');
  });

  it('from an old browser that sends neither Origin nor Sec-Fetch-Site', async () => {
    const { client, token } = await open();
    expect((await client.post('/form', { form: { _csrf: token } })).status).toBe(200);
  });
});

describe('a form is rejected', () => {
  it.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a neighbouring subdomain', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['a sandboxed frame of a neighbouring subdomain', { origin: 'null', 'sec-fetch-site': 'same-site' }],
    ['another port of this host', { origin: 'http://127.0.0.1:1' }],
    ['another origin that claims to be this site', { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }],
  ])('from %s, token or not', async (_name, headers) => {
    const { client, token } = await open();
    const options: RequestOptions = { headers, form: { _csrf: token } };
    const page = await expectRejected(client.post('/form', options), 'cross_site_request');
    expect(page.text).toContain('Another site sent this form');
  });

  it('when it has no token, a wrong one, or an empty one', async () => {
    const { client } = await open();
    await expectRejected(client.post('/form', { form: {} }), 'csrf_failed');
    await expectRejected(client.post('/form', { form: { _csrf: 'wrong' } }), 'csrf_failed');
    await expectRejected(client.post('/form', { form: { _csrf: '' } }), 'csrf_failed');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { token } = await open();
    await expectRejected(client.post('/form', { headers, body: `_csrf=${token}&_csrf=${token}` }), 'csrf_failed');
  });

  it('with the token of another browser', async () => {
    const mine = await open();
    const theirs = await open();
    await expectRejected(mine.client.post('/form', { form: { _csrf: theirs.token } }), 'csrf_failed');
  });

  it('without the cookie, and with one that this server did not sign', async () => {
    const { token } = await open();
    await expectRejected(app.newClient().post('/form', { form: { _csrf: token } }), 'csrf_failed');
    const headers = { cookie: 'gatehouse_csrf=planted; gatehouse_csrf.sig=planted' };
    await expectRejected(app.newClient().post('/form', { headers, form: { _csrf: token } }), 'csrf_failed');
  });

  it('with a page that says what to do and links back to the form', async () => {
    const headers = { referer: `${app.origin}/form?step=2` };
    const page = await expectRejected(app.newClient().post('/form', { headers, form: {} }), 'csrf_failed');
    expect(page.text).toContain('allow cookies');
    expect(page.text).toContain('href="/form?step=2"');
  });

  it.each(['https://evil.example/form', '%%%'])('with a page that never links to %s', async (referer) => {
    const page = await expectRejected(app.newClient().post('/form', { headers: { referer }, form: {} }), 'csrf_failed');
    expect(page.text).toContain('href="/"');
    expect(page.text).not.toContain('evil.example');
  });
});

it('the server sets no cookie on a page without a form', async () => {
  expect((await app.newClient().get('/plain')).setCookie).toEqual([]);
});
