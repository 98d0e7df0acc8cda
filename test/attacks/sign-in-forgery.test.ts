// Forged sign-in forms from another site, from another browser or with guessed tokens; and forged host names.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl, outcome, redirectUri, signIn } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;
let asking: Application;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services, { mustChange: false });
  app = await anApplication(idp);
  asking = await anApplication(idp, { consent: 'explicit' });
});
afterAll(() => idp?.stop());

const isThere = (url: string) => url.startsWith(redirectUri);
const open = async (browser: HttpClient, client: Application, parameters: Record<string, string> = {}) =>
  browser.follow(await browser.get(authorizeUrl(idp, client.clientId, parameters)), isThere);

/** Each page with a form, and the fields that an attacker would send. */
const pages: [string, (browser: HttpClient) => Promise<Page>, Record<string, string>][] = [
  ['password', (browser) => open(browser, app), { username: 'x', password: 'y' }],
  ['cancel', (browser) => open(browser, app), {}],
  [
    'account',
    (browser) => signIn(browser, app, user).then(() => open(browser, app, { prompt: 'select_account' })),
    { decision: 'continue' },
  ],
  ['consent', (browser) => signIn(browser, app, user).then(() => open(browser, asking)), { decision: 'allow' }],
];

describe('the form', () => {
  it.each(pages)(
    'is accepted at %s only from the page of this server in the same browser',
    async (step, show, fields) => {
      const browser = httpClient(idp.issuer);
      const page = await show(browser);
      const form = page.forms.find(({ action }) => action.endsWith(`/${step}`));
      if (!form) throw new Error(`no form to ${step} at ${page.url}`);
      const sent = { ...form.fields, ...fields };
      const { _csrf: token = '', ...withoutToken } = sent;
      const post = (body: Record<string, string>, headers: Record<string, string> = {}, who = browser) =>
        who.post(form.action, { form: body, headers });

      expect((await post(withoutToken)).status).toBe(403);
      expect((await post({ ...sent, _csrf: 'guess' })).status).toBe(403);
      expect((await post({ ...sent, _csrf: '' })).status).toBe(403);
      expect((await post(sent, { origin: 'https://attacker.example' })).status).toBe(403);
      expect((await post(sent, { origin: 'null', 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect((await post(sent, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect((await post(sent, { 'sec-fetch-site': 'same-site' })).status).toBe(403);
      expect((await post(sent, { 'content-type': 'text/plain' })).status).toBeGreaterThanOrEqual(400);

      const attacker = httpClient(idp.issuer);
      const theirs = (await open(attacker, app)).forms[0]?.fields._csrf ?? '';
      expect((await post({ ...sent, _csrf: theirs })).status).toBe(403);
      // With the attacker's own token, but without the cookie that binds the interaction to a browser.
      expect((await post({ ...sent, _csrf: theirs }, {}, attacker)).status).toBe(400);
      expect((await post(sent, {}, attacker)).status).toBe(403);
      expect(token).toBeTruthy();
      const accepted = await post(sent, { origin: idp.issuer, 'sec-fetch-site': 'same-origin' });
      expect([303, 401]).toContain(accepted.status);
    },
  );

  it('is rejected once the step is complete, and for another step', async () => {
    const browser = httpClient(idp.issuer);
    const page = await open(browser, app);
    const uid = new URL(page.url).pathname.split('/')[2];
    const csrf = page.forms[0]?.fields._csrf ?? '';
    for (const step of ['new-password', 'account', 'consent', 'second-factor']) {
      const answer = await browser.post(`/signin/${uid}/${step}`, {
        form: { _csrf: csrf, password: 'x', decision: 'allow', code: '1' },
      });
      expect(answer.location ?? '', step).not.toContain('/authorize');
      expect(answer.status, step).toBeLessThan(500);
    }
    const back = await browser.follow(
      await browser.submit(page, { username: user.username, password: user.password }),
      isThere,
    );
    expect(back.location).toContain('code=');
    expect((await browser.submit(page, { username: user.username, password: user.password })).status).toBe(400);
    expect((await browser.get(page.url)).status).toBe(400);
  });

  it('gets an error page with a link, which repeats no parameter of the request', async () => {
    const browser = httpClient(idp.issuer);
    const page = await browser.post('/signin/<script>alert(1)</script>/password', {
      form: { a: '<script>alert(2)</script>' },
    });
    expect(page.status).toBeGreaterThanOrEqual(400);
    expect(page.text).not.toContain('<script>alert');
    expect(page.text).toContain(String(page.headers['x-request-id']));
  });
});

describe('the host name', () => {
  const raw = (headers: Record<string, string>, path = '/.well-known/openid-configuration') =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const outgoing = request({ port: idp.port, host: '127.0.0.1', path, headers, setHost: false }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      outgoing.on('error', reject).end();
    });
  const own = () => new URL(idp.issuer).host;

  it.each<Record<string, string>>([
    { host: 'attacker.example' },
    { host: 'localhost:1' },
    { host: '' },
    { host: 'localhost:1@attacker.example' },
    {},
  ])('is rejected with %j', async (headers) => {
    const answer = await raw(headers);
    expect([400, 421]).toContain(answer.status);
    expect(answer.text).not.toContain('attacker.example');
  });

  it('is not taken from the headers of a proxy that is not configured', async () => {
    for (const header of ['x-forwarded-host', 'forwarded', 'x-forwarded-proto', 'x-original-url', 'x-host']) {
      const answer = await raw({
        host: own(),
        [header]: header === 'forwarded' ? 'host=attacker.example' : 'attacker.example',
      });
      expect(answer.status, header).toBe(200);
      expect(JSON.parse(answer.text)).toMatchObject({ issuer: idp.issuer, token_endpoint: `${idp.issuer}/token` });
    }
    const page = await httpClient(idp.issuer).get(authorizeUrl(idp, app.clientId), {
      headers: { 'x-forwarded-host': 'attacker.example' },
    });
    expect(new URL(page.location ?? '').origin).toBe(idp.issuer);
    const rejected = await outcome(httpClient(idp.issuer), authorizeUrl(idp, app.clientId, { prompt: 'none' }));
    expect(rejected.get('iss')).toBe(idp.issuer);
  });
});
