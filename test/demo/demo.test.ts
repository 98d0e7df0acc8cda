// `npm run demo` as a newcomer meets it: one link, a sign-in, the claims, a sign-out; then Ctrl-C.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axe, type Browser, launchBrowser, type Page, screenshot } from '../support/browser.ts';

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
  demo = spawn(process.execPath, ['--import', 'tsx', 'src/demo/main.ts'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    demo.once('exit', (code) => reject(new Error(`the demo ended with ${code}: ${printed}`)));
    demo.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.includes('Ctrl-C')) resolve();
    });
  });
  browser = await launchBrowser();
  page = await browser.newPage();
});
afterAll(async () => {
  await browser?.close();
  if (demo?.exitCode === null) demo.kill('SIGKILL');
});

async function signIn(): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with Gatehouse' }).click();
  await page.getByLabel('User name or e-mail').fill(value('Sign in as'));
  await page.getByLabel('Password', { exact: true }).fill(value('Password'));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function textAfterReload(tab: Page): Promise<string> {
  await tab.reload();
  return (await tab.locator('main').textContent()) ?? '';
}

it('leads from the printed link to the sign-in page', async () => {
  await page.goto(value('Open'));
  await screenshot(page, 'demo-start');
  expect(await axe(page)).toEqual([]);
  await page.getByRole('link', { name: 'Demo OIDC app' }).click();
  await screenshot(page, 'demo-oidc-signed-out');
  expect(await axe(page)).toEqual([]);
});

it('shows the claims after signing in and allowing the application', async () => {
  await signIn();
  await screenshot(page, 'demo-consent');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByRole('heading', { name: 'Hello, Dana Demo' }).waitFor();
  const text = await page.locator('main').textContent();
  for (const claim of ['demo@example.com', 'editor', 'urn:gatehouse:acr:password', value('Gatehouse itself is at')])
    expect(text).toContain(claim);
  await screenshot(page, 'demo-oidc-signed-in');
  expect(await axe(page)).toEqual([]);
});

it('gets new tokens with the refresh token', async () => {
  await page.getByRole('button', { name: 'Refresh the tokens' }).click();
  await page.getByText('New tokens came.').waitFor();
  expect(await page.locator('main').textContent()).toContain('refreshed so far1');
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
  await page.getByText('You are signed out, here and at Gatehouse.').waitFor();
  // Only the back-channel call can tell the application about the other one.
  await expect.poll(() => textAfterReload(second), { timeout: 20_000 }).toContain('Gatehouse ended your session here.');
  await screenshot(second, 'demo-oidc-ended');
  await elsewhere.close();
});

it('asks for the password again after the sign-out, and refuses a wrong one', async () => {
  await page.getByRole('link', { name: 'Sign in with Gatehouse' }).click();
  await page.getByLabel('User name or e-mail').fill('demo');
  await page.getByLabel('Password', { exact: true }).fill('not the pass phrase at all');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('alert').waitFor();
});

it('stops on SIGTERM with nothing left behind', async () => {
  const exited = once(demo, 'exit');
  demo.kill('SIGTERM');
  expect((await exited)[0]).toBe(0);
  expect(demoFolders().filter((name) => !before.includes(name))).toEqual([]);
  await expect(fetch(value('Gatehouse itself is at'))).rejects.toThrow();
});
