// A person in a real browser, on a phone and a desktop: accepts the terms by version, reads and downloads the own data, and deletes the account.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axe, type Browser, desktop, launchBrowser, type Page, phone, screenshot } from '../support/browser/browser.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { some } from '../support/long-run.ts';

let browser: Browser;
let idp: TestIdp;
beforeAll(async () => {
  [browser, idp] = await Promise.all([launchBrowser(), startIdp()]);
  await idp.services.settings.set('brand_terms_url', 'https://example.com/terms');
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

async function version(value: string): Promise<void> {
  await idp.services.settings.set('terms_version', value);
  await idp.services.settings.reload();
}

async function signIn(page: Page, { username, password }: TestUser, path = '/account/data'): Promise<void> {
  await page.goto(`${idp.issuer}${path}`);
  await page.fill('[name=username]', username);
  await page.fill('[name=password]', password);
  await page.click('button[type=submit]');
}

/** What axe finds, and whether the page is wider than the screen. */
async function faultsOf(page: Page, name: string): Promise<unknown[]> {
  await screenshot(page, name);
  const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
  return [...(await axe(page, ['light', 'dark'])), ...(wide ? ['too wide'] : [])];
}

describe.each(
  some(1, [
    ['phone', phone],
    ['desktop', desktop],
  ] as const),
)('on a %s', (name, device) => {
  it('terms are accepted by version, again after a change, and are in the own data', async () => {
    const user = await aUser(idp.services, { givenName: 'Ada', phoneNumber: '+491701234567' });
    await version('2026-11');
    const page = await (await browser.newContext({ ...device, acceptDownloads: true })).newPage();
    await signIn(page, user);
    await page.click('text=Accept and continue');
    await page.waitForURL('**/account/data');
    expect(await faultsOf(page, `own-data-${name}`)).toEqual([]);
    expect(await page.textContent('main')).toContain('2026-11');

    await version('2026-12');
    await page.goto(`${idp.issuer}/account/data`);
    expect(await page.textContent('main')).toContain('changed since you accepted version 2026-11');
    await page.click('text=Accept and continue');
    await page.waitForURL('**/account/data');
    const [sent] = await Promise.all([page.waitForEvent('download'), page.click('text=Download your data')]);
    expect(sent.suggestedFilename()).toBe('personal-data.json');
    const data = JSON.parse(await readFile(await sent.path(), 'utf8'));
    expect(data.profile).toMatchObject({ terms_version: '2026-12', terms_accepted_at: expect.any(String) });
    const accepted = data.activity.filter(({ type }: { type: string }) => type === 'terms.accepted');
    expect(accepted.map((entry: { data: object }) => entry.data)).toMatchObject([
      { version: '2026-12', before: '2026-11' },
      { version: '2026-11' },
    ]);
    await page.context().close();
  });
});
