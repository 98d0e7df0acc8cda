// Service providers with node-saml and samlify, configured by metadata only: both bindings, each kind of signing and encryption. In a
// real browser: service-providers.browser.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeSamlWebApp, samlifyWebApp, type WebApp, type WebAppOptions } from '../../saml/web-apps.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';

let idp: TestIdp;
let user: TestUser;
const sites: WebApp[] = [];

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services, { name: `Zoë <b>"O'Neil" & Söhne</b> 😀` });
});
afterAll(() => Promise.all(sites.map((site) => site.close())));

/** What the application knows after the sign-in, by the password where the server asks for it. */
async function known(browser: HttpClient, url: string): Promise<Record<string, unknown>> {
  let page = await browser.follow(await browser.get(url));
  if (has(page.forms, 'SAMLRequest')) page = await sendOn(browser, page);
  const { username, password } = user;
  if (has(page.forms, 'password')) page = await browser.follow(await browser.submit(page, { username, password }));
  page = await sendOn(browser, page);
  const [, text = ''] = /<pre id="known">(.*)<\/pre>/s.exec(page.text) ?? [];
  if (!text) throw new Error(`${page.url}: ${page.text}`);
  return JSON.parse(text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code)));
}

const has = (forms: { fields: object }[], field: string) => forms.some(({ fields }) => field in fields);

/** Sends the form that a browser with script sends by itself to the other site. */
async function sendOn(browser: HttpClient, page: Awaited<ReturnType<HttpClient['get']>>) {
  return browser.follow(await browser.submit(page, {}, { headers: { 'sec-fetch-site': 'cross-site' } }));
}

describe.each([
  ['node-saml', nodeSamlWebApp],
  ['samlify', samlifyWebApp],
] as const)('%s', (_name, make) => {
  it.each<WebAppOptions>([
    { binding: 'redirect', signed: make === nodeSamlWebApp },
    { binding: 'post', signed: make === nodeSamlWebApp },
    { binding: 'redirect', signed: false, sign: 'response' },
    { binding: 'post', signed: false, sign: 'both' },
    { binding: 'redirect', signed: false, sign: 'assertion', encrypted: true },
    { binding: 'post', signed: false, sign: 'both', encrypted: true },
  ])('signs a user in: %j', async (options) => {
    const app = await make(idp, { ...options, settings: { attributes: { email: 'email', displayName: 'name' } } });
    sites.push(app);
    const browser = httpClient(idp.issuer);
    const first = await known(browser, `${app.login}?relay=deep%2Flink%3Fa%3D1`);
    expect(first).toMatchObject({
      attributes: { email: user.account.email, displayName: user.account.name },
      relayState: 'deep/link?a=1',
    });
    expect((await known(browser, app.login)).nameId).toBe(first.nameId);
  });
});
