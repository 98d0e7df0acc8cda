// `npm run demo` as a newcomer meets it: one link, one sign-in for two applications of two protocols, what each receives,
// one sign-out; the same with an identity of Example Corp, over three hops; then Ctrl-C.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axe, type Browser, launchBrowser, type Page, screenshot } from '../support/browser/browser.ts';
import { itInLongRun } from '../support/it-in-long-run.ts';
import { some } from '../support/long-run.ts';

let demo: ChildProcess;
let printed = '';
let browser: Browser;
let page: Page;

const demoFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('gatehouse-demo-'));
const before = demoFolders();
const value = (label: string) => new RegExp(`${label} +(\\S.*)`).exec(printed)?.[1] ?? '';

beforeAll(async () => {
  // What the npm script runs after the build, which `npm test` does first.
  if (!existsSync('dist/main.js')) throw new Error('run npm run build first');
  demo = spawn(process.execPath, ['--import', 'tsx', 'examples/demo/main.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ready = new Promise<void>((resolve, reject) => {
    demo.once('exit', (code) => reject(new Error(`the demo ended with ${code}: ${printed}`)));
    demo.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.includes('Ctrl-C')) resolve();
    });
  });
  // The browser starts meanwhile.
  [browser] = await Promise.all([launchBrowser(), ready]);
  page = await browser.newPage();
});
afterAll(async () => {
  await browser?.close();
  if (demo?.exitCode === null) demo.kill('SIGKILL');
});

async function signIn(tab: Page): Promise<void> {
  await tab.getByRole('link', { name: 'Sign in with Gatehouse' }).click();
  await tab.getByLabel('Username or email').fill(value('Sign in as'));
  await tab.getByLabel('Password', { exact: true }).fill(value('Password'));
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Where the SAML application is, as the start page says. */
async function samlOrigin(): Promise<string> {
  const start = await (await fetch(value('Open'))).text();
  return /<a href="([^"]+)"><strong>Demo SAML app/.exec(start)?.[1] ?? '';
}

async function textAfterReload(tab: Page): Promise<string> {
  await tab.reload();
  return (await tab.locator('main').textContent()) ?? '';
}

describe('the demo', () => {
  it('leads from the printed link to the sign-in page', async () => {
    await page.goto(value('Open'));
    await screenshot(page, 'demo-start');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('link', { name: 'Demo OIDC app' }).click();
    await screenshot(page, 'demo-oidc-signed-out');
    expect(await axe(page)).toEqual([]);
  });

  it('prints an administrator, who can open the console', async () => {
    const context = await browser.newContext();
    const tab = await context.newPage();
    await tab.goto(`${value('Gatehouse itself is at')}/admin`);
    expect(printed).toContain(`${new URL(tab.url()).origin}/admin`);
    await tab.getByLabel('Username or email').fill(value('Administrator'));
    await tab.getByLabel('Password', { exact: true }).fill(value('Its password'));
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.getByRole('heading', { name: 'Overview' }).waitFor();
    await context.close();
  });

  it('shows the claims after signing in and allowing the application', async () => {
    await signIn(page);
    await screenshot(page, 'demo-consent');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByRole('heading', { name: 'Hello, Dana Demo' }).waitFor();
    const text = await page.locator('main').textContent();
    for (const claim of ['demo@example.com', 'editor', 'urn:gatehouse:acr:password', value('Gatehouse itself is at')])
      expect(text).toContain(claim);
    await screenshot(page, 'demo-oidc-signed-in');
    expect(await axe(page)).toEqual([]);
  });

  it('starts an MCP server that names Gatehouse as its authorization server', async () => {
    const { origin, pathname } = new URL(value('Address'));
    const answer = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
    expect(await answer.json()).toMatchObject({
      resource: value('Address'),
      authorization_servers: [value('Gatehouse itself is at')],
    });
    await page.goto(value('Open'));
    const section = page.locator('section', { has: page.getByRole('heading', { name: 'Let an agent keep notes' }) });
    expect(await section.locator('dd').allTextContents()).toEqual([value('Address'), value('Client ID')]);
    await screenshot(page, 'demo-mcp');
    await page.goBack();
  });

  it('opens the console for the administrator that the start page names', async () => {
    const tab = await (await browser.newContext()).newPage();
    await tab.goto(value('Open'));
    const section = tab.locator('section', { has: tab.getByRole('heading', { name: 'The console' }) });
    const [username = '', password = ''] = await section.locator('dd').allTextContents();
    await section.getByRole('link', { name: 'console', exact: true }).click();
    await tab.getByLabel('Username or email').fill(username);
    await tab.getByLabel('Password', { exact: true }).fill(password);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.getByRole('heading', { name: 'Overview' }).waitFor();
    await screenshot(tab, 'demo-console');
    await tab.context().close();
  });

  it('gets new tokens with the refresh token', async () => {
    await page.getByRole('button', { name: 'Refresh the tokens' }).click();
    await page.getByText('Tokens refreshed.').waitFor();
    expect(await page.locator('main').textContent()).toContain('refreshes1');
  });

  it('signs in a second time without a password, and both end when one signs out', async () => {
    const { cookies } = await page.context().storageState();
    const elsewhere = await browser.newContext();
    // Signed in at Gatehouse, not at the application.
    await elsewhere.addCookies(cookies.filter(({ domain }) => domain === 'localhost'));
    const second = await elsewhere.newPage();
    await second.goto(page.url());
    await second.getByRole('link', { name: 'Sign in with Gatehouse' }).click();
    await second.getByRole('heading', { name: 'Hello, Dana Demo' }).waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You’re signed out here and at Gatehouse.').waitFor();
    // Only the back-channel call can tell the application about the other one.
    await expect.poll(() => textAfterReload(second)).toContain('Gatehouse ended your session here.');
    await screenshot(second, 'demo-oidc-ended');
    await elsewhere.close();
  });

  itInLongRun(
    'opens both applications from the start page and from the app list with one sign-in, SAML first',
    async () => {
      const tab = await (await browser.newContext()).newPage();
      await tab.goto(value('Open'));
      expect(await tab.locator('.apps a strong').allTextContents()).toEqual(['Demo OIDC app', 'Demo SAML app']);
      await tab.getByRole('link', { name: 'Demo SAML app' }).click();
      await screenshot(tab, 'demo-saml-signed-out');
      expect(await axe(tab)).toEqual([]);
      await signIn(tab);
      await tab.getByRole('heading', { name: 'Hello, Dana Demo' }).waitFor();
      const text = await tab.locator('main').textContent();
      for (const known of ['demo@example.com', 'editor', 'nameid-format:persistent', '/saml/metadata'])
        expect(text).toContain(known);
      await screenshot(tab, 'demo-saml-signed-in');
      expect(await axe(tab)).toEqual([]);

      await tab.goto(value('Open'));
      await tab.getByRole('link', { name: 'app list at Gatehouse' }).click();
      await tab.getByRole('heading', { name: 'Your apps' }).waitFor();
      await tab.getByRole('link', { name: 'Demo OIDC app' }).click();
      await tab.getByRole('link', { name: 'Sign in with Gatehouse' }).click();
      await tab.getByRole('heading', { name: 'Hello, Dana Demo' }).waitFor();
      expect(await tab.locator('.eyebrow').textContent()).toBe('Demo OIDC app');

      await tab.goto(`${value('Gatehouse itself is at')}/dashboard`);
      await screenshot(tab, 'demo-dashboard');
      expect(await axe(tab)).toEqual([]);
      await tab.getByRole('link', { name: 'Demo SAML app' }).click();
      await tab.getByRole('heading', { name: 'Hello, Dana Demo' }).waitFor();
      expect(await tab.locator('.eyebrow').textContent()).toBe('Demo SAML app');
      await tab.context().close();
    },
  );

  it.each(
    some(1, [
      ['Demo OIDC app', 'Demo SAML app'],
      ['Demo SAML app', 'Demo OIDC app'],
    ]),
  )('signs out everywhere from the %s', async (from, other) => {
    const tab = await (await browser.newContext()).newPage();
    const open = async (name: string) => {
      await tab.goto(value('Open'));
      await tab.getByRole('link', { name }).click();
    };
    await open(other);
    await signIn(tab);
    await tab.getByRole('heading', { name: 'Hello, Dana Demo' }).waitFor();
    await open(from);
    // Signed in to the other one, and simply in here.
    await tab.getByRole('link', { name: 'Sign in with Gatehouse' }).click();
    await tab.getByRole('heading', { name: 'Hello, Dana Demo' }).waitFor();
    await tab.getByRole('button', { name: 'Sign out everywhere' }).click();
    await tab.getByText('You’re signed out here and at Gatehouse.').waitFor();
    expect(await tab.locator('h1').textContent()).toBe(from);
    await open(other);
    await expect.poll(() => textAfterReload(tab)).toContain('You are not signed in here.');
    await tab.getByRole('link', { name: 'Sign in with Gatehouse' }).click();
    await tab.getByLabel('Password', { exact: true }).waitFor();
    await tab.context().close();
  });

  it('signs in with Example Corp, and one sign-out ends the sessions of both applications, of Gatehouse and of Example Corp', async () => {
    const tab = await (await browser.newContext()).newPage();
    const open = async (name: string) => {
      await tab.goto(value('Open'));
      await tab.getByRole('link', { name }).click();
      await tab.getByRole('link', { name: 'Sign in with Gatehouse' }).click();
    };
    const corp = value('Example Corp is at');
    await open('Demo SAML app');
    await screenshot(tab, 'demo-sign-in');
    expect(await axe(tab)).toEqual([]);
    await tab.getByRole('button', { name: 'Sign in with Example Corp' }).click();
    expect(tab.url().slice(0, corp.length)).toBe(corp);
    await tab.getByLabel('Username or email').fill(value('Sign in there as'));
    await tab.getByLabel('Password', { exact: true }).fill(value('Password there'));
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.getByRole('heading', { name: 'Hello, Kim Example' }).waitFor();
    // The role comes from the group at Example Corp.
    for (const known of ['kim@corp.example', 'editor'])
      expect(await tab.locator('main').textContent()).toContain(known);

    await open('Demo OIDC app');
    await tab.getByRole('button', { name: 'Allow', exact: true }).click();
    await tab.getByRole('heading', { name: 'Hello, Kim Example' }).waitFor();
    expect(await tab.locator('main').textContent()).toContain('fed');
    await tab.getByRole('button', { name: 'Sign out everywhere' }).click();
    await tab.getByText('You’re signed out here and at Gatehouse.').waitFor();

    await tab.getByRole('link', { name: 'What this sign-out ended' }).click();
    await tab.getByRole('heading', { name: 'The last sign-out' }).waitFor();
    const places = await tab.locator('.steps strong').allTextContents();
    expect(places).toEqual(['Demo OIDC app', 'Gatehouse', 'Demo SAML app', 'Example Corp']);
    await screenshot(tab, 'demo-sign-out');
    expect(await axe(tab)).toEqual([]);

    // Example Corp wants the password again, too.
    await open('Demo OIDC app');
    await tab.getByRole('button', { name: 'Sign in with Example Corp' }).click();
    await tab.getByLabel('Password', { exact: true }).waitFor();
    expect(tab.url().slice(0, corp.length)).toBe(corp);
    await tab.context().close();
  });

  it('rejects a form of another site, and a message that Gatehouse did not sign', async () => {
    const origin = new URL(await samlOrigin()).origin;
    const post = (path: string, headers: Record<string, string>, body: Record<string, string>) =>
      fetch(`${origin}${path}`, { method: 'POST', headers, body: new URLSearchParams(body), redirect: 'manual' });
    const foreign = { 'sec-fetch-site': 'cross-site' };
    expect((await post('/sign-out', foreign, {})).status).toBe(403);
    const forged = Buffer.from('<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"/>').toString(
      'base64',
    );
    for (const path of ['/acs', '/slo']) {
      const answer = await post(path, foreign, { SAMLResponse: forged });
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([400, null]);
    }
  });

  it('asks for the password again after the logout, and rejects a wrong one', async () => {
    await page.getByRole('link', { name: 'Sign in with Gatehouse' }).click();
    await page.getByLabel('Username or email').fill('demo');
    await page.getByLabel('Password', { exact: true }).fill('not the pass phrase at all');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
  });

  it('stops on SIGTERM with nothing left behind', async () => {
    const exited = once(demo, 'exit');
    demo.kill('SIGTERM');
    expect((await exited)[0]).toBe(0);
    expect(demoFolders().filter((name) => !before.includes(name))).toEqual([]);
    for (const server of ['Gatehouse itself is at', 'Example Corp is at'])
      await expect(fetch(value(server))).rejects.toThrow();
  });
});
