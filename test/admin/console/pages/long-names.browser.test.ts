// Names without a space, as long as they may be: every list stays in its box and every page in its window.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Browser, launchBrowser, type Page, screenshot } from '../../../support/browser/browser.ts';
import { aClient, aUser } from '../../../support/factories.ts';
import { startIdp, type TestIdp } from '../../../support/idp.ts';
import { some } from '../../../support/long-run.ts';
import { signIn } from '../real-browser.ts';
import { staff } from '../support.ts';

let idp: TestIdp;
let browser: Browser;
let page: Page;
let pages: string[];
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  const { services } = idp;
  const admin = await staff(idp, 'admin');
  const name = 'N'.repeat(200);
  const local = 'e'.repeat(60);
  const user = await aUser(services, { username: 'u'.repeat(64), name, email: `${local}@${'d'.repeat(60)}.example` });
  // As long as names often are: their words stay whole in a wide window.
  await aUser(services, { username: 'hans.joachim.schwarzenbe', name: 'Hans-Joachim Schwarzenberger' });
  await services.accounts.update(admin.account.id, { name });
  const redirect_uris = [`https://wiki.example.com/${'c'.repeat(200)}`];
  const { applicationId } = await aClient(services, { client_name: 'C'.repeat(100), redirect_uris });
  const role = await services.roles.create({ name: 'r'.repeat(60), description: 'D'.repeat(200) });
  page = await (await browser.newContext()).newPage();
  await page.goto(`${idp.issuer}/admin/applications`);
  await signIn(page, admin);
  pages = [
    '/admin',
    '/admin/users',
    `/admin/users/${user.account.id}`,
    `/admin/users/${user.account.id}/roles`,
    '/admin/applications',
    `/admin/applications/${applicationId}`,
    '/admin/roles',
    `/admin/roles/${role.id}`,
    '/admin/sessions',
    '/admin/audit',
    '/admin/api-keys',
    '/account',
    '/account/activity',
  ];
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

/** What stands out of its box: cells, links and the page itself. */
const OUTSIDE = `(() => {
  const wide = document.documentElement.scrollWidth - innerWidth;
  const outside = [...document.querySelectorAll('.box .list td > div, .box .list td > div *, .links a *')].filter((one) => {
    const box = one.closest('.scroll') ? undefined : one.closest('.box, .links')?.getBoundingClientRect();
    const { left, right, width } = one.getBoundingClientRect();
    return box && width > 0 && (left < box.left - 1 || right > box.right + 1);
  });
  return [...(wide > 0 ? ['page: ' + wide + ' px'] : []), ...new Set(outside.map((one) => one.tagName + '.' + one.className))];
})()`;

// German has the longest words. Arabic is written from right to left, which the style sheets have in common: some pages stand for all.
it.each([
  { language: 'de', widths: some(3, [1280, 1030, 770, 320]), count: Number.POSITIVE_INFINITY },
  { language: 'ar', widths: [320], count: 5 },
])('long names stay in their boxes in every width ($language)', async ({ widths, language, count }) => {
  const found: Record<string, unknown> = {};
  await page.goto(`${idp.issuer}/language/${language}?next=/admin`);
  for (const at of some(count, pages)) {
    await page.goto(`${idp.issuer}${at}`);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      const outside = (await page.evaluate(OUTSIDE)) as string[];
      if (new URL(page.url()).pathname !== at) outside.push(`is ${page.url()}`);
      if (outside.length > 0) found[`${at} at ${width} px`] = outside;
      if (['/admin/users', '/admin/applications', '/account'].includes(at))
        await screenshot(page, `long-names-${at.slice(1).replace('/', '-')}-${width}-${language}`);
    }
  }
  expect(await page.getAttribute('html', 'lang')).toBe(language);
  expect(found).toEqual({});
});

it('what is wrong with a long redirect URI stays in the form at 320 px', async () => {
  await page.setViewportSize({ width: 320, height: 800 });
  await page.goto(`${idp.issuer}/language/en?next=/admin/applications/new/web`);
  await page.fill('[name=name]', 'Wiki');
  await page.fill('[name=redirect_uris]', `http://wiki.example.com/${'c'.repeat(200)}\nhttps://wiki.example.com/*`);
  await page.click('footer .btn-primary');
  expect(await page.textContent('#f-redirect_uris-error')).toContain('line 2');
  expect(await page.evaluate(OUTSIDE)).toEqual([]);
  expect(
    await page.$eval('#f-redirect_uris-error', (one) => one.getBoundingClientRect().right <= window.innerWidth),
  ).toBe(true);
  await screenshot(page, 'form-faults-320');
});
