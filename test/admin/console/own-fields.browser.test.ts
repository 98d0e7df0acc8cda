// The form of own fields in a real browser: rights, label and mask below each row, with and without script, on a narrow phone.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axe, desktop, phone, screenshot } from '../../support/browser/browser.ts';
import { openPage } from '../../support/browser/pages.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { some } from '../../support/long-run.ts';
import { signIn } from './real-browser.ts';
import { staff } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(async () => {
  await idp?.stop();
});

for (const [mode, device] of some(2, [
  ['light', desktop],
  ['dark', { ...desktop, colorScheme: 'dark' as const }],
  ['phone', { ...phone, locale: 'de-DE' }],
  ['without-script', { ...phone, viewport: { width: 320, height: 700 }, javaScriptEnabled: false }],
] as const)) {
  it(`a row says below it who sees and changes the field (${mode})`, async () => {
    const properties = { team: { type: 'string', enum: ['Ops', 'Dev'] }, level: { type: 'number', visible_to: [] } };
    await idp.services.settings.set('user_attributes', { type: 'object', properties });
    const page = await openPage(device);
    const check = async (picture: string) => {
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), picture).toBe(true);
      await screenshot(page, `own-fields-${picture}-${mode}`);
      if (mode !== 'without-script') expect(await axe(page, [mode === 'dark' ? 'dark' : 'light'])).toEqual([]);
    };
    const save = () => Promise.all([page.waitForEvent('domcontentloaded'), page.press('footer .btn-primary', 'Enter')]);
    const row = (at: number, name: string) => page.locator(`[name="user_attributes.rows.${name}"]`).nth(at);
    const open = (at: number) => page.locator('.row > details > summary').nth(at).press('Enter');
    await page.goto(`${idp.issuer}/admin/settings/attributes`);
    await signIn(page, await staff(idp, 'admin'));
    await page.waitForURL(`${idp.issuer}/admin/settings/attributes`);
    expect(await row(0, 'person').isVisible()).toBe(false);
    await check('closed');

    await open(1);
    expect(await row(1, 'desk').inputValue()).toBe('hidden');
    await row(1, 'person').selectOption('see');
    await row(1, 'mask').fill('99');
    await check('open');
    await save();
    expect(await row(1, 'mask').getAttribute('aria-invalid')).toBe('true');
    expect(await row(1, 'person').inputValue()).toBe('see');
    expect(await page.locator('.row > details[open]').count()).toBe(1);
    await check('fault');

    await row(1, 'mask').fill('');
    await row(1, 'title').fill('Level of access');
    await save();
    const level = { type: 'number', title: 'Level of access', visible_to: ['person'] };
    expect((await idp.services.settings.reload()).user_attributes).toMatchObject({ properties: { level } });

    // A newcomer types what people read, and has the sign-in ask for it.
    await Promise.all([
      page.waitForEvent('domcontentloaded'),
      page.press('button[value^="add user_attributes"]', 'Enter'),
    ]);
    await row(2, 'name').fill('Shirt size');
    await open(2);
    await row(2, 'person').selectOption('ask');
    await save();
    const shirt = { title: 'Shirt size', visible_to: ['person', 'desk'], ask: true };
    expect((await idp.services.settings.reload()).user_attributes).toMatchObject({
      properties: { level, shirt_size: shirt },
    });
    expect(await row(2, 'name').inputValue()).toBe('shirt_size');
  });
}
