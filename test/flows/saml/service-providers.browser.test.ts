// Service providers with node-saml and samlify in a browser, configured by metadata only: both bindings, and one session with
// OpenID Connect. Each kind of signing and encryption: service-providers.test.ts.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nodeSamlWebApp, samlifyWebApp, type WebApp, type WebAppOptions } from '../../saml/web-apps.ts';
import { relyingParty } from '../../support/applications/rp.ts';
import { relyingPartyApp } from '../../support/applications/rp-app.ts';
import {
  axe,
  type Browser,
  type BrowserContext,
  launchBrowser,
  type Page,
  phone,
} from '../../support/browser/browser.ts';
import { aClient, aUser, type TestUser } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

let idp: TestIdp;
let browser: Browser;
let user: TestUser;
let context: BrowserContext;
let page: Page;
const sites: { close(): Promise<void> }[] = [];
const attributes = { email: 'email', displayName: 'name' };

beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  user = await aUser(idp.services, { name: `Zoë <b>"O'Neil" & Söhne</b> 😀` });
});
afterAll(async () => {
  await browser?.close();
  for (const site of sites) await site.close();
  await idp?.stop();
});
beforeEach(async () => {
  context = await browser.newContext(phone);
  page = await context.newPage();
});
afterEach(() => context.close());

async function an(make: typeof nodeSamlWebApp, options: WebAppOptions): Promise<WebApp> {
  const app = await make(idp, { ...options, settings: { attributes, ...options.settings } });
  sites.push(app);
  return app;
}

async function typePassword(): Promise<void> {
  await page.fill('[name=username]', user.username);
  await page.fill('[name=password]', user.password);
  await page.click('button.btn-primary');
}

async function known(): Promise<Record<string, unknown>> {
  await page.waitForSelector('h1');
  const text = await page.textContent('#known, #reason');
  if (!text?.startsWith('{')) throw new Error(`${page.url()}: ${text ?? (await page.content())}`);
  return JSON.parse(text);
}
const open = (app: WebApp, query = '') => page.goto(`${app.login}?${query}`);

it.each([
  ['node-saml', nodeSamlWebApp, { binding: 'redirect' }],
  ['samlify', samlifyWebApp, { binding: 'post', sign: 'both', encrypted: true }],
] as const)('a sign-in in the browser signs a user in at %s', async (_name, make, options) => {
  const app = await an(make, options);
  await open(app, 'relay=deep%2Flink%3Fa%3D1');
  await typePassword();
  expect(await known()).toMatchObject({
    attributes: { email: user.account.email, displayName: user.account.name },
    relayState: 'deep/link?a=1',
  });
  const first = (await known()).nameId;
  await open(app);
  expect((await known()).nameId).toBe(first);
});

describe('in the browser', () => {
  it('shares one sign-in between OpenID Connect and SAML, both ways', async () => {
    const app = await an(nodeSamlWebApp, { binding: 'post' });
    const site = await relyingPartyApp();
    sites.push(site);
    const { redirectUri } = site;
    const client = await aClient(idp.services, { redirect_uris: [redirectUri] });
    const rp = await relyingParty({ issuer: idp.issuer, ...client, redirectUri });
    const signedIn = async (begun: Awaited<ReturnType<typeof rp.start>>) => {
      await page.waitForSelector('h1:has-text("Application")');
      return (await rp.finish(page.url(), begun)).claims()?.sub;
    };
    const started = await rp.start();
    await page.goto(started.url);
    await typePassword();
    expect(await signedIn(started)).toBe(user.account.id);
    await open(app);
    expect(await known()).toMatchObject({ attributes: { email: user.account.email } });
    const again = await rp.start();
    await page.goto(again.url);
    expect(await signedIn(again)).toBe(user.account.id);
  });

  it('requires a new sign-in for ForceAuthn and answers NoPassive to IsPassive', async () => {
    const app = await an(nodeSamlWebApp, { binding: 'redirect' });
    await open(app, 'passive');
    expect(await page.textContent('#known, #reason')).toBe('Error: nobody is signed in');
    await open(app);
    await typePassword();
    await known();
    await open(app, 'passive');
    expect(await known()).toMatchObject({ attributes: { email: user.account.email } });
    await open(app, 'force');
    await page.waitForSelector('[name=password]');
    await typePassword();
    expect(await known()).toMatchObject({ attributes: { email: user.account.email } });
  });

  it('posts the Response at a click where there is no script', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    page = await plain.newPage();
    const app = await an(nodeSamlWebApp, { binding: 'redirect' });
    await open(app, 'relay=x');
    await typePassword();
    await page.waitForSelector('h1:has-text("One moment")');
    await page.click('button:has-text("Continue")');
    expect(await known()).toMatchObject({ relayState: 'x' });
    await plain.close();
  });

  it('shows accessible pages, on a phone and in dark mode', async () => {
    const app = await an(nodeSamlWebApp, { binding: 'redirect' });
    await open(app);
    await page.waitForSelector('[name=password]');
    expect(await axe(page)).toEqual([]);
    await context.route('**/assets/autosubmit*', (route) => route.abort());
    await typePassword();
    await page.waitForSelector('h1:has-text("One moment")');
    expect(await axe(page)).toEqual([]);
    expect(await page.textContent('main')).toContain('Web app');
    await page.goto(`${idp.issuer}/saml/sso?SAMLRequest=x`);
    await page.waitForSelector('h1');
    expect(await axe(page)).toEqual([]);
    await page.goto(`${idp.issuer}/saml/sso/start?sp=${encodeURIComponent(app.entityId)}`);
    expect(await page.textContent('main')).toContain('from its own page');
    expect(await axe(page)).toEqual([]);
  });
});
