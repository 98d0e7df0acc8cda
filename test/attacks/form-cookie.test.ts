// The cookie of a form that a browser without a session has open (gatehouse_form): two browsers exchange the cookie, the fields of the form
// and the page that it was given for. Only the whole form of one browser, at its own page, is accepted.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anApplication, postAs } from '../oidc/support.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';
let idp: TestIdp;
let userCode: string;
beforeAll(async () => {
  idp = await startIdp();
  const tv = await anApplication(idp, { grant_types: [DEVICE_CODE, 'authorization_code'] });
  userCode = (await postAs(idp, tv, '/device/code', { scope: 'openid' })).json<{ user_code: string }>().user_code;
});
afterAll(() => idp?.stop());

const pages: [name: string, open: (browser: HttpClient) => Promise<Page>, fill: () => Record<string, string>][] = [
  ['/device', (browser) => browser.get('/device'), () => ({ user_code: userCode })],
  ['/end-session', (browser) => browser.get('/end-session'), () => ({ logout: 'yes' })],
];
const cookieOf = (browser: HttpClient) => browser.cookies.get('gatehouse_form') ?? expect.fail('no form cookie');

it.each(pages)('%s accepts the form of its own browser only', async (_name, open, fill) => {
  const [own, other] = [httpClient(idp.issuer), httpClient(idp.issuer)];
  const [page] = [await open(own), await open(other)];
  const form = page.forms.find(({ fields }) => 'xsrf' in fields) ?? expect.fail(page.text);
  const send = (browser: HttpClient) => browser.post(form.action, { form: { ...form.fields, ...fill() } });
  for (const browser of [other, httpClient(idp.issuer)]) {
    const sent = await send(browser);
    expect(sent.status).toBe(400);
  }
  const accepted = await send(own);
  expect(accepted.status).toBeLessThan(400);
  expect(cookieOf(other)).not.toBe(cookieOf(own));
});
