import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axe, type Browser, desktop, launchBrowser, phone, screenshot } from '../support/browser.ts';
import { startApp, type TestApp } from './app.ts';
import { samplePages } from './sample-pages.ts';

let app: TestApp;
let browser: Browser;

beforeAll(async () => {
  const routes = Object.entries(samplePages).map(([name, [template, data]]) => [
    `GET /${name}`,
    (ctx: { render(template: string, data: object): void }) => ctx.render(template, data),
  ]);
  app = await startApp({ routes: Object.fromEntries(routes) });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

describe.each(Object.keys(samplePages))('page %s', (name) => {
  it('has nothing for axe to find, fits the width and breaks no policy, on a phone and a desktop', async () => {
    for (const [size, options] of Object.entries({ phone, desktop })) {
      const context = await browser.newContext(options);
      // Pages that leave by themselves are to stay: their scripts are held back.
      await context.route(/\/assets\/(autosubmit|leave-frame)\./, (route) =>
        route.fulfill({ contentType: 'text/javascript', body: '' }),
      );
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => void complaints.push(message.text()));
      page.on('pageerror', (error) => void complaints.push(error.message));
      await page.goto(`${app.origin}/${name}`);
      expect(await axe(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(complaints).toEqual([]);
      await screenshot(page, `${name}-${size}`);
      await context.close();
    }
  });
});

it('shows a password on request, and hides it before it is sent', async () => {
  const page = await browser.newPage();
  await page.goto(`${app.origin}/identify`);
  await page.fill('[name=password]', 'secret');
  await page.click('button:has-text("Show")');
  expect(await page.getAttribute('[name=password]', 'type')).toBe('text');
  expect(await page.textContent('.reveal')).toBe('Hide password');
  await page.evaluate('document.forms[0].addEventListener("submit", (event) => event.preventDefault())');
  await page.fill('[name=username]', 'alice');
  await page.press('[name=password]', 'Enter');
  expect(await page.getAttribute('[name=password]', 'type')).toBe('password');
  await page.close();
});

it('sends a form once, however often the button is pressed', async () => {
  const page = await browser.newPage();
  await page.goto(`${app.origin}/identify`);
  await page.fill('[name=username]', 'alice');
  await page.fill('[name=password]', 'secret');
  let posts = 0;
  await page.route('**/signin/**', async (route) => {
    posts += 1;
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.fulfill({ contentType: 'text/html', body: '<title>next</title>' });
  });
  await page.evaluate('for (let i = 0; i < 3; i += 1) document.querySelector("button.primary").click()');
  await page.waitForURL('**/signin/**');
  expect(posts).toBe(1);
  await page.close();
});

it('works without script: the button for showing a password stays away, the form is complete', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${app.origin}/identify`);
  expect(await page.isVisible('.reveal')).toBe(false);
  expect(await page.isVisible('button[type=submit].primary')).toBe(true);
  await context.close();
});

it('hands a form over by itself', async () => {
  const page = await browser.newPage();
  let body = '';
  await page.route('https://wiki.example.com/acs', async (route) => {
    body = route.request().postData() ?? '';
    await route.fulfill({ contentType: 'text/html', body: '<title>arrived</title>' });
  });
  await page.goto(`${app.origin}/formPost`);
  await page.waitForURL('https://wiki.example.com/acs');
  expect(body).toBe('SAMLResponse=PHNhbWw&RelayState=x');
  await page.close();
});
