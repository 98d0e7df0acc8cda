// The pages of sign-ins over connections in a real browser: accessible, as wide as the screen, with few and many connections.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn as signInToConsole } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { authorizeUrl, redirectUri } from '../oidc/support.ts';
import {
  axe,
  type Browser,
  desktop,
  launchBrowser,
  type Page,
  phone,
  preloadAxe,
  screenshot,
} from '../support/browser/browser.ts';
import { aClient, aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { itInLongRun } from '../support/it-in-long-run.ts';
import { aConnection, anUpstream, type Connected } from './support.ts';

let idp: TestIdp;
let browser: Browser;
let corp: Connected;
let clientId: string;

beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  corp = await anUpstream(idp, { name: 'Example Corp' });
  ({ clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] }));
});
afterAll(async () => {
  await browser?.close();
  await corp?.upstream.stop();
  await idp?.stop();
});

/** Administrators find it under its code, with the rule, what was expected and what was received. */
async function expectRejection(page: Page, name: string): Promise<void> {
  const code = (await page.locator('.note strong.nowrap').textContent()) ?? '';
  const rejection = await idp.services.rejections.find(code);
  const broken = rejection?.rules.find(({ state }) => state === 'failed');
  expect(broken, name).toMatchObject({ expected: expect.any(String), received: expect.any(String) });
}

// test/http/pages.test.ts looks at each template on a desktop too; here only the list of many connections differs there.
const screens = { desktop, phone };

/**
 * Checks the page with axe and for its width on the screen, and takes screenshots. In dark colors, which are the same on every
 * screen, axe checks one page of each template (`isDarkToo`).
 */
async function inspect(page: Page, name: string, { isDarkToo = false } = {}): Promise<void> {
  expect(await axe(page, isDarkToo ? ['light', 'dark'] : ['light']), name).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), name).toBe(true);
  await screenshot(page, `federation-${name}`);
}

async function openPage(options: Parameters<Browser['newContext']>[0]): Promise<Page> {
  const context = await browser.newContext(options);
  await preloadAxe(context);
  return context.newPage();
}

const openPages = () =>
  Promise.all(Object.entries(screens).map(async ([screen, options]) => [screen, await openPage(options)] as const));

const signInUrl = (parameters: Record<string, string> = {}) => authorizeUrl(idp, clientId, parameters);

/** The sign-in page, where the button of the connection is pressed. */
async function press(page: Page): Promise<void> {
  await page.goto(signInUrl());
  await page.click('button:has-text("Example Corp")');
}

itInLongRun('the link step, the failures and the connected sign-ins of an account are accessible', async () => {
  const user = await aUser(idp.services);
  const page = await openPage(phone);
  await page.goto(signInUrl());
  await inspect(page, `sign-in-1-phone`);
  corp.upstream.user = { sub: `pages-phone`, email: user.account.email, email_verified: true };
  await press(page);
  await page.waitForSelector('h1:has-text("Is this your account?")');
  await inspect(page, `link-phone`, { isDarkToo: true });
  await page.goto(`${idp.issuer}/account/connections`);
  await page.fill('[name=username]', user.username);
  await page.fill('[name=password]', user.password);
  await page.click('button:has-text("Sign in"):not(:has-text("with"))');
  await page.waitForURL('**/account/connections');
  await inspect(page, `account-none-phone`);
  await page.click('button:has-text("Connect Example Corp")');
  await page.waitForSelector('text=Connected on');
  await inspect(page, `account-phone`, { isDarkToo: true });
  await page.context().close();
});

itInLongRun('every failure names what happened, and is accessible', async () => {
  const failures = {
    invalid: () => ({ quirks: { idToken: { aud: 'another' } } }),
    denied: () => ({ quirks: { answer: { code: undefined, error: 'access_denied' } } }),
    'no-identity': () => ({ quirks: {}, fields: { subject_claim: 'employee_id' } }),
    'not-allowed': () => ({ quirks: {}, fields: { allowed_tenants: ['tenant-a'] } }),
    'not-invited': () => ({ quirks: {}, fields: { create_users: false } }),
    unavailable: () => ({ quirks: { tokenStatus: 503 } }),
    signature: () => ({ quirks: { signature: 'other-key' as const } }),
    disabled: () => ({ quirks: {}, fields: { enabled: false } }),
    'link-only': () => ({ quirks: {}, fields: { link_only: true }, straight: true }),
  };
  const headings = new Set<string>();
  const page = await openPage(phone);
  for (const [name, failure] of Object.entries(failures)) {
    const { quirks, fields, straight } = { fields: {}, straight: false, ...failure() };
    const one = await anUpstream(idp, { name: 'Example Corp', ...fields });
    one.upstream.user = { sub: `failure-${name}` };
    one.upstream.quirks = quirks;
    await page.goto(signInUrl({ connection: one.connection }));
    expect(new URL(page.url()).origin, `${name} ${straight}`).toBe(idp.issuer);
    headings.add((await page.locator('h1').textContent()) ?? '');
    await expectRejection(page, name);
    await inspect(page, `failure-${name}-phone`, { isDarkToo: name === 'invalid' });
    await one.remove();
  }
  await page.context().close();
  expect(headings.size).toBeGreaterThan(1);
});

it('the pages for an account that does not fit, and those of a step-up, are accessible', async () => {
  // The phone only: axe checks both colors there, and a wider screen has the same elements.
  const page = await openPage({ ...phone, viewport: { width: 320, height: 700 } });
  const { accounts, identities, mfa } = idp.services;
  const [one, two] = [
    await anUpstream(idp, { trusted_amr: { mfa: ['mfa'] } }),
    await anUpstream(idp, { name: 'Club' }),
  ];
  const aLinked = async (username: string, { connection }: Connected = one) => {
    const account = await accounts.create({ username });
    await identities.link({ connectionId: connection, subject: username, userId: account.id, label: username }, {});
    return account;
  };
  const auth_time = Math.floor(Date.now() / 1000);
  const signIn = async (sub: string, query: string) => {
    one.upstream.user = { sub, auth_time };
    await page.goto(`${idp.issuer}/login?connection=${one.connection}&return_to=/account/connections${query}`);
  };
  const failure = async (name: string, heading: string) => {
    expect(await page.locator('h1').textContent()).toContain(heading);
    await expectRejection(page, name);
    await inspect(page, `failure-${name}-phone`);
  };

  await accounts.setActive((await aLinked('inactive')).id, false);
  await signIn('inactive', '');
  await failure('inactive', 'This account can’t be used now.');

  const linked = await aLinked('stepping');
  await aLinked('another');
  one.upstream.quirks = { idToken: { auth_time: undefined } };
  await signIn('stepping', '&prompt=login');
  await failure('not-fresh', 'didn’t confirm a recent sign-in');
  one.upstream.quirks = {};

  await signIn('stepping', '');
  await aLinked('taken', two);
  two.upstream.user = { sub: 'taken' };
  await page.click('button:has-text("Connect Club")');
  await failure('taken', 'This identity is already connected to another account.');

  const stepUp = () => page.goto(`${idp.issuer}/login?acr_values=urn:gatehouse:acr:mfa`);
  one.upstream.user = { sub: 'another', amr: ['mfa'] };
  await stepUp();
  await failure('other-user', 'signed in a different user');
  one.upstream.user = { sub: 'stepping', amr: ['pwd'] };
  await stepUp();
  await page.waitForSelector('text=didn’t confirm two-step verification');
  await inspect(page, 'step-up-unmet-phone', { isDarkToo: true });
  const { secret, sealed } = mfa.totp.begin(linked);
  await mfa.totp.confirm(linked, sealed, generateSync({ secret }));
  await stepUp();
  await page.waitForSelector('button:has-text("Continue to Example Corp")');
  await inspect(page, 'step-up-choice-phone', { isDarkToo: true });
  await one.remove();
  await two.remove();

  await page.context().clearCookies();
  const [owner, other] = [await aUser(idp.services), await aUser(idp.services)];
  corp.upstream.user = { sub: 'owned', email: owner.account.email, email_verified: true };
  const typePassword = async (username: string) => {
    await page.fill('[name=username]', username);
    await page.fill('[name=password]', other.password);
    await page.click('button:has-text("Sign in"):not(:has-text("with"))');
  };
  await press(page);
  await page.waitForSelector('h1:has-text("Is this your account?")');
  await typePassword(other.username);
  await failure('other-account', 'You signed in to a different account');

  await aConnection(idp, { id: 'down', kind: 'ldap', name: 'Directory', url: 'ldaps://127.0.0.1:1', base_dn: 'dc=x' });
  await page.goto(signInUrl());
  await typePassword('someone-in-the-directory');
  await page.waitForSelector('text=but isn’t responding');
  await inspect(page, 'failure-directory-phone');
  await idp.services.connections.remove('down');
  await page.context().close();
});

it('a connection with groups, and the result of "Try it", are accessible in the console', async () => {
  const admin = await staff(idp, 'admin');
  for (const name of ['Physics', 'Chemistry']) await idp.services.groups.create({ name });
  const group_mappings = { staff: 'Physics', 'urn:example:groups:laboratory-of-chemistry': ['Chemistry', 'Physics'] };
  const tried = await anUpstream(idp, { groups_claim: 'groups', group_mappings });
  const page = await openPage({ ...phone, viewport: { width: 320, height: 700 } });
  await page.goto(`${idp.issuer}/admin/connections/${tried.connection}`);
  await signInToConsole(page, admin);
  await page.waitForSelector('text=Memberships by group');
  await inspect(page, 'connection-groups-phone');
  const user = { email: 'tried@corp.example', email_verified: true, name: 'Tried User', groups: ['staff'] };
  tried.upstream.user = { sub: 'tried', ...user };
  await page.click('button:has-text("Try it")');
  await page.waitForSelector('text=The sign-in succeeds');
  await inspect(page, `try-phone`, { isDarkToo: true });
  tried.upstream.quirks = { idToken: { aud: 'another-client' } };
  await page.goto(`${idp.issuer}/admin/connections/${tried.connection}`);
  await page.click('button:has-text("Try it")');
  await page.waitForSelector('text=The sign-in fails');
  await inspect(page, `try-failed-phone`, { isDarkToo: true });
  await page.context().close();
  await tried.remove();
});

itInLongRun('many connections with long names fit on the page, with the address first', async () => {
  const issuer = 'https://upstream.example';
  const names = [
    'Google',
    'GitHub',
    'Ludwig-Maximilians-Universität München, Rechenzentrum und Bibliotheksverbund',
    'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
    'Microsoft',
    'École nationale supérieure',
    '東京大学 情報基盤センター',
  ];
  const add = (name: string, index: number) =>
    aConnection(idp, {
      id: `many-${index}`,
      name,
      issuer,
      client_id: 'x',
      client_secret: 'a secret',
      order: index + 1,
    });
  for (const [index, name] of names.slice(0, 2).entries()) await add(name, index);
  const pages = await openPages();
  for (const [screen, page] of pages) {
    await page.goto(signInUrl());
    await inspect(page, `sign-in-3-${screen}`);
  }
  for (const [index, name] of names.entries()) if (index > 1) await add(name, index);
  for (const [screen, page] of pages) {
    await page.goto(signInUrl());
    await inspect(page, `sign-in-8-${screen}`, { isDarkToo: screen === 'phone' });
  }
  await aConnection(
    idp,
    {
      id: 'routed',
      name: 'Routed',
      issuer,
      client_id: 'x',
      client_secret: 'a secret',
      domains: ['routed.example'],
      show_button: false,
    },
    { proven: true },
  );
  for (const [screen, page] of pages) {
    await page.goto(signInUrl());
    await inspect(page, `identifier-${screen}`, { isDarkToo: screen === 'phone' });
    await page.fill('[name=username]', 'someone@elsewhere.example');
    await page.click('button:has-text("Continue")');
    await page.waitForSelector('[name=password]');
    await inspect(page, `password-after-identifier-${screen}`);
  }
});
