// Every page in a real browser. Each sample is opened once, and seen on a narrow phone and on a desktop (width, console messages); axe
// reads it in one of the four forms, by turns, and one sample of each layout in all four: colors and sizes come from the layout.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../src/base/http/context.ts';
import { languages } from '../../src/base/texts/languages.ts';
import {
  axe,
  type Browser,
  type BrowserContextOptions,
  desktop,
  launchBrowser,
  type Page,
  phone,
  preloadAxe,
  type Scheme,
  screenshot,
} from '../support/browser/browser.ts';
import { isLongRun, some } from '../support/long-run.ts';
import { render, startApp, type TestApp } from './app.ts';
import { samplePages } from './sample-pages.ts';

// 320 px: no sideways scroll there (WCAG 1.4.10).
const viewports = { phone: { width: 320, height: 800 }, desktop: desktop.viewport };
type Size = keyof typeof viewports;
interface Form {
  size: Size;
  scheme: Scheme;
}

const forms: readonly Form[] = [
  { size: 'phone', scheme: 'light' },
  { size: 'desktop', scheme: 'dark' },
  { size: 'phone', scheme: 'dark' },
  { size: 'desktop', scheme: 'light' },
];

let app: TestApp;
let browser: Browser;
/** Of most pages, and of those that leave by themselves. */
let tabs: { plain: Page; held: Page };
let messages: string[] = [];
/** What the pages loaded from other servers. */
const foreign: string[] = [];
/** What the autocomplete looked for. */
const asked: string[] = [];
const suggestion = (value: string, label: string) => ({
  value,
  label,
  small: value,
  logo: { text: label.replace(/[a-z ]/g, ''), hue: 'hue-1', isPerson: true },
});

beforeAll(async () => {
  const routes = Object.entries(samplePages).map(([name, [template, data]]) => [
    `GET /${name}`,
    (ctx: { render(template: string, data: object): void }) => ctx.render(template, data),
  ]);
  const suggest = (ctx: Context) => {
    asked.push(String(ctx.query.q));
    ctx.body = {
      suggestions: [suggestion('ann', 'Ann Example'), suggestion('anna', 'Anna Berg')],
      summary: '2 matches',
    };
  };
  app = await startApp({ routes: { ...Object.fromEntries(routes), 'GET /admin/suggest/users': suggest } });
  browser = await launchBrowser();
  tabs = { plain: await openTab(), held: await openTab({ isHeld: true }) };
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

/** Scripts of pages that leave by themselves. */
const LEAVES = /\/assets\/(autosubmit|leave-frame)\./;

/** In a held tab the scripts that leave are empty. The browser caches nothing there, because each request is intercepted. */
async function openTab({ isHeld = false } = {}): Promise<Page> {
  const context = await browser.newContext(phone);
  if (isHeld) await context.route(LEAVES, (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
  await preloadAxe(context);
  const page = await context.newPage();
  page.on('console', (message) => void messages.push(message.text()));
  page.on('pageerror', (error) => void messages.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(app.origin) && !request.url().startsWith('data:')) foreign.push(request.url());
  });
  return page;
}

/** What a page has in common with others: its stylesheets and the classes of its frame. */
function layoutOf(name: string): string {
  const [template, data] = samplePages[name] ?? ['', {}];
  const html = render(template, data, () => 'token');
  return (html.match(/<link rel="stylesheet"[^>]*>|<body[^>]*>|<main[^>]*>/g) ?? []).join('');
}

const names = Object.keys(samplePages);
const firstOfLayout = new Set(new Map(names.toReversed().map((name) => [layoutOf(name), name])).values());
const formsOf = (name: string): readonly Form[] =>
  firstOfLayout.has(name) ? forms : forms.filter((_, index) => index === names.indexOf(name) % forms.length);

// Of each frame of pages one, and a third of the others; all in a long run.
const read = names.filter((name, index) => isLongRun || firstOfLayout.has(name) || index % 3 === 0);
describe.each(read)('page %s', (name) => {
  it('passes axe, fits the width and logs nothing to the console', async () => {
    messages = [];
    const [template, data] = samplePages[name] ?? ['', {}];
    const tab = LEAVES.test(render(template, data, () => 'token')) ? tabs.held : tabs.plain;
    await tab.goto(`${app.origin}/${name}`);
    for (const size of ['desktop', 'phone'] as const) {
      await tab.setViewportSize(viewports[size]);
      const width = await tab.evaluate<number>('document.documentElement.scrollWidth');
      expect(width, `width of the page on a ${size}`).toBeLessThanOrEqual(viewports[size].width);
      await screenshot(tab, `${name}-${size}`);
      const schemes = formsOf(name).flatMap((form) => (form.size === size ? [form.scheme] : []));
      if (schemes.length > 0) expect(await axe(tab, schemes), size).toEqual([]);
    }
    expect([...messages, ...foreign]).toEqual([]);
  });
});

describe('the console', () => {
  async function openConsole(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...options });
    const page = await context.newPage();
    await page.goto(`${app.origin}/console`);
    return page;
  }

  it('opens its menu on a phone without script', async () => {
    const page = await openConsole({ ...phone, javaScriptEnabled: false });
    const link = page.locator('nav[aria-label=Console] >> text=APIs');
    expect(await link.isVisible()).toBe(false);
    await page.click('button[aria-label=Menu]');
    await link.waitFor();
    await page.click('button[aria-label="Close the menu"]');
    await link.waitFor({ state: 'hidden' });
    expect(await page.isVisible('.copy')).toBe(false);
    await page.context().close();
  });

  it('copies a value and says so', async () => {
    const page = await openConsole();
    await page.click('button[aria-label="Copy client ID"]');
    await page.waitForSelector('#said:has-text("Copied")', { state: 'attached' });
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('wiki');
    await page.context().close();
  });

  it("writes times in the viewer's own time, and the server's without script", async () => {
    const page = await openConsole({ timezoneId: 'America/New_York' });
    const time = page.locator('time').first();
    expect([await time.textContent(), await time.getAttribute('title')]).toEqual([
      'Dec 31, 1969, 7:00 PM',
      'Wednesday, December 31, 1969 at 7:00:00 PM EST',
    ]);
    const plain = await openConsole({ timezoneId: 'America/New_York', javaScriptEnabled: false });
    expect(await plain.locator('time').first().textContent()).toBe('Jan 1, 1970, 12:00 AM UTC');
    for (const one of [page, plain]) await one.context().close();
  });

  it('suggests users by keyboard, asks once for each text, and leaves a plain field without script', async () => {
    const page = await openConsole();
    // The field asks after a pause, which here takes as long as the test says.
    await page.clock.install();
    const hold = (seconds: number) => page.clock.pauseAt(Date.now() + seconds * 1000);
    await hold(60);
    await page.click('[name=owner]');
    await page.keyboard.type('an');
    await page.clock.runFor(1000);
    const options = page.locator('[role=listbox][aria-label=Owner] [role=option]');
    await options.nth(1).waitFor();
    expect(await options.allInnerTexts()).toEqual(['AE\nAnn Example\nann', 'AB\nAnna Berg\nanna']);
    expect(await page.textContent('#said')).toBe('2 matches');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.getAttribute('[name=owner]', 'aria-activedescendant')).toMatch(/^suggestions-\d+-1$/);
    await page.clock.resume();
    expect(await axe(page, ['light'])).toEqual([]);
    await hold(3600);
    await page.keyboard.press('Enter');
    // The field displays the name, and sends what the choice stands for until something else is typed.
    expect(await page.inputValue('[name=owner]')).toBe('Anna Berg');
    const sent = () => page.evaluate('new FormData(document.querySelector("[name=owner]").form).get("owner")');
    expect(await sent()).toBe('anna');
    await page.fill('[name=owner]', 'Anna B');
    expect(await sent()).toBe('Anna B');
    expect(await page.isVisible('[role=listbox]'), 'the list is visible').toBe(false);
    expect(new URL(page.url()).pathname).toBe('/console');
    for (const text of ['an', 'ann', 'an']) {
      await page.fill('[name=owner]', text);
      await page.clock.runFor(1000);
      await options.nth(0).waitFor();
      await page.keyboard.press('Escape');
    }
    expect(asked).toEqual(['an', 'ann']);
    const plain = await openConsole({ javaScriptEnabled: false });
    expect(await plain.getAttribute('[name=owner]', 'role')).toBe(null);
    for (const one of [page, plain]) await one.context().close();
  });

  it('follows the link of a row from anywhere in the row', async () => {
    const page = await openConsole();
    await page.click('td:has-text("1284")');
    await page.waitForURL('**/admin/applications/a1');
    await page.context().close();
  });
});

it('a page shows a password on request, and hides it before it is sent', async () => {
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

it('the username of the sign-in is in the form for a forgotten password, and in no address that a server sees', async () => {
  const page = await browser.newPage();
  await page.route('**/forgot-password*', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
  await page.goto(`${app.origin}/identify`);
  await page.fill('[name=username]', 'ann+1@example.com');
  await page.click('text=Forgot password?');
  await page.waitForURL('**/forgot-password#*');
  await page.goto(`${app.origin}/forgotPassword${new URL(page.url()).hash}`);
  expect(await page.inputValue('[name=username]')).toBe('ann+1@example.com');
  expect(page.url()).toBe(`${app.origin}/forgotPassword`);
  await page.close();
});

it('the sign-in page signs in by username, Tab, password and Enter', async () => {
  const page = await browser.newPage();
  await page.goto(`${app.origin}/identify`);
  const posted = new Promise<string | null>((resolve) => {
    void page.route('**/signin/**', async (route) => {
      resolve(route.request().postData());
      await route.fulfill({ contentType: 'text/html', body: '<title>next</title>' });
    });
  });
  await screenshot(page, 'sign-in');
  await page.focus('[name=username]');
  await page.keyboard.type('alice');
  await page.keyboard.press('Tab');
  await page.keyboard.type('secret');
  await page.keyboard.press('Enter');
  const form = new URLSearchParams((await posted) ?? '');
  expect([form.get('username'), form.get('password')]).toEqual(['alice', 'secret']);
  await page.close();
});

it('a page sends a form once, however often the button is pressed', async () => {
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
  await page.evaluate('for (let i = 0; i < 3; i += 1) document.querySelector("button.btn-primary").click()');
  await page.waitForURL('**/signin/**');
  expect(posts).toBe(1);
  await page.close();
});

describe.each(some(4, languages))('on a phone, in %s', (locale) => {
  let page: Page;
  beforeAll(async () => {
    page = await (await browser.newContext({ locale, viewport: viewports.phone })).newPage();
    return () => page.context().close();
  });

  it('the links of the bar above the account stand in one line', async () => {
    await page.goto(`${app.origin}/account`);
    expect(await page.getAttribute('html', 'lang')).toBe(locale);
    const tops =
      '[...document.querySelectorAll(".topbar a")].map((link) => Math.round(link.getBoundingClientRect().top))';
    expect(new Set(await page.evaluate<number[]>(tops)).size).toBe(1);
  });

  it('each line of the link below a field ends where the field ends', async () => {
    await page.goto(`${app.origin}/identify`);
    const ends = `(() => {
      const side = document.dir === 'rtl' ? 'left' : 'right';
      const field = document.querySelector('#password').getBoundingClientRect()[side];
      const text = document.createRange();
      text.selectNodeContents(document.querySelector('.field-foot a'));
      const lines = [...text.getClientRects()];
      return lines.map((line) => Math.round(line[side] - field));
    })()`;
    expect(new Set(await page.evaluate<number[]>(ends))).toEqual(new Set([0]));
  });
});

it('in Arabic, an address in its field starts on the right like all text', async () => {
  const context = await browser.newContext({ locale: 'ar', viewport: viewports.phone });
  const page = await context.newPage();
  await page.goto(`${app.origin}/registerError`);
  const style = `(({ direction, textAlign }) => [direction, textAlign])(getComputedStyle(document.querySelector('#email')))`;
  expect(await page.evaluate(style)).toEqual(['ltr', 'end']);
  await context.close();
});

it('a page works without script: the form is complete, and has no button for showing the password', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${app.origin}/identify`);
  expect(await page.isVisible('.reveal')).toBe(false);
  expect(await page.isVisible('button[type=submit].btn-primary')).toBe(true);
  await context.close();
});

it('a page submits a form_post page automatically', async () => {
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
