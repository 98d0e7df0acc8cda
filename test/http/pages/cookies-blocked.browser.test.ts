// A browser that blocks cookies: every page with a form says so at once, and the answer to a form that was sent nevertheless says it too.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axe, type Browser, desktop, launchBrowser, phone, screenshot } from '../../support/browser/browser.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { some } from '../../support/long-run.ts';
import { type Mailbox, mailbox } from '../../support/mailbox.ts';
import { textOf } from '../../support/pages/html.ts';

let box: Mailbox;
let idp: TestIdp;
let browser: Browser;
beforeAll(async () => {
  [box, browser] = await Promise.all([mailbox(), launchBrowser()]);
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  await idp.services.settings.set('self_registration', true);
  await idp.services.settings.reload();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
  await box?.close();
});

const BLOCKED = 'Your browser blocks cookies. This form doesn’t work without them.';
const paths = some(2, ['/device', '/forgot-password', '/sign-up', '/unlock/ask']);

async function visitor({ blocks }: { blocks: boolean }, options: object = desktop) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  if (blocks) {
    const devtools = await context.newCDPSession(page);
    await devtools.send('Emulation.setDocumentCookieDisabled', { disabled: true });
    await context.route('**/*', async (route) => {
      const { cookie: _cookie, ...headers } = await route.request().allHeaders();
      await route.continue({ headers });
    });
  }
  return { context, page };
}

describe('a page with a form', () => {
  it.each(paths)('says at once that the browser blocks cookies: %s', async (path) => {
    for (const [name, options] of Object.entries({ phone, desktop })) {
      const { context, page } = await visitor({ blocks: true }, options);
      await page.goto(idp.issuer + path);
      await page.getByRole('alert').getByText(BLOCKED).waitFor();
      await screenshot(page, `cookies-blocked${path.replaceAll('/', '-')}-${name}`);
      if (name === 'phone') expect(await axe(page, ['light', 'dark'])).toEqual([]);
      await context.close();
    }
  });

  it.each(paths)('says nothing of cookies to others: %s', async (path) => {
    const { context, page } = await visitor({ blocks: false });
    await page.goto(idp.issuer + path);
    expect(await page.getByText(BLOCKED).isVisible()).toBe(false);
    await context.close();
  });
});

it.each(paths)('a form that was sent without any cookie is answered with the cause: %s', async (path) => {
  const form = (await httpClient(idp.issuer).get(path)).forms[0];
  const other = httpClient(idp.issuer);
  const headers = { referer: idp.issuer + path };
  const answer = await other.post(form?.action ?? '', { form: form?.fields ?? {}, headers });
  expect([400, 403]).toContain(answer.status);
  expect(textOf(answer.text)).toContain('Your browser blocks cookies. This form doesn’t work without them.');
  expect(answer.text).toContain(`href="${path}"`);
});
