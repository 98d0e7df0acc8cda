// The page of a user: each fact with a form beside it, in a real browser, with and without script, by keyboard, on a narrow phone.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aPng } from '../../brand/pictures.ts';
import { axe, desktop, phone, screenshot } from '../../support/browser/browser.ts';
import { openPage } from '../../support/browser/pages.ts';
import { aUser } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { isLongRun, some } from '../../support/long-run.ts';
import { signIn } from '../console/real-browser.ts';
import { staff } from '../console/support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
  const properties = { team: { type: 'string', enum: ['Ops', 'Dev'] }, level: { type: 'number' } };
  await idp.services.settings.set('user_attributes', { type: 'object', properties });
});
afterAll(async () => {
  await idp?.stop();
});

const ann = () =>
  aUser(idp.services, {
    name: 'Ann Smith',
    givenName: 'Ann',
    familyName: 'Smith',
    phoneNumber: '+49 170 1234567',
    locale: 'de-CH',
    zoneinfo: 'Europe/Zurich',
    address: { street_address: 'Bahnhofstrasse 1', locality: 'Zürich', country: 'Switzerland' },
    attributes: { team: 'Ops', level: 3 },
  });

for (const [mode, device] of some(2, [
  ['light', desktop],
  ['phone-dark', { ...phone, locale: 'de-DE', colorScheme: 'dark' as const }],
  ['without-script', { ...phone, viewport: { width: 320, height: 700 }, javaScriptEnabled: false }],
] as const)) {
  it(`each fact is changed by a form beside it, which keeps a wrong value (${mode})`, async () => {
    const { account } = await ann();
    const page = await openPage(device);
    const isNarrow = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth');
    const check = async (picture: string) => {
      expect(await isNarrow(), picture).toBe(true);
      await screenshot(page, `user-${picture}-${mode}`);
      if (mode !== 'without-script' && (isLongRun || ['facts', 'wrong-email', 'attributes'].includes(picture)))
        expect(await axe(page, [mode.endsWith('dark') ? 'dark' : 'light'])).toEqual([]);
    };
    /** Waits for the page that the browser displays next. */
    const next = (act: () => Promise<unknown>) => Promise.all([page.waitForEvent('domcontentloaded'), act()]);
    const stored = () => idp.services.accounts.find(account.id);
    const home = `${idp.issuer}/admin/users/${account.id}`;
    await page.goto(home);
    await signIn(page, await staff(idp, 'admin'));
    await page.waitForURL(home);
    expect(await page.isVisible('[name=given_name]')).toBe(false);
    await check('facts');

    // By keyboard: the form opens, is filled in and sent.
    await page.focus('details:has([name=given_name]) > summary');
    await page.keyboard.press('Enter');
    await page.fill('[name=given_name]', 'Anna');
    await check('name');
    await next(() => page.keyboard.press('Enter'));
    expect(await stored()).toMatchObject({ givenName: 'Anna', familyName: 'Smith', locale: 'de-CH' });

    await page.click('details:has([name=zoneinfo]) > summary');
    await page.selectOption('[name=locale]', 'ja');
    await next(() => page.click('details[open] footer button'));
    expect(await stored()).toMatchObject({ locale: 'ja', zoneinfo: 'Europe/Zurich' });

    // The fault stands at its field, whose form is open, with what was typed; the others are closed.
    await page.click('details:has([name=email]) > summary');
    await page.fill('[name=email]', 'no address');
    await page.evaluate('document.querySelector("details:has([name=email]) form").noValidate = true');
    await page.click('details[open] footer button');
    await page.waitForURL(`${home}/change/email`);
    expect(await page.inputValue('[name=email]')).toBe('no address');
    expect(await page.getAttribute('[name=email]', 'aria-invalid')).toBe('true');
    expect(await page.locator('details[open]').count()).toBe(1);
    await check('wrong-email');
    await page.click('#error a');
    expect(await page.evaluate('document.activeElement.name')).toBe('email');
    await page.click('details[open] footer a');
    await page.waitForURL(home);

    await page.click('details:has([name="attributes.level"]) > summary');
    await check('attributes');
    await next(() => page.click('details[open] [name=rows][value^=add]'));
    await page.fill('[name="attributes.level"]', '4');
    await next(() => page.click('details[open] footer button'));
    expect((await stored())?.attributes).toEqual({ team: 'Ops', level: 4 });

    await page.click('details:has([name=picture]) > summary');
    await check('picture');
    await page.setInputFiles('[name=picture]', {
      name: 'ann.png',
      mimeType: 'image/png',
      buffer: aPng({ width: 300, height: 200 }),
    });
    await next(() => page.click('details[open] footer button'));
    expect((await stored())?.picture).toContain(`${idp.issuer}/assets/person-`);
    await check('with-picture');
    await next(() => page.click('button:has-text("Remove picture"), button:has-text("Bild entfernen")'));
    expect((await stored())?.picture).toBeNull();
  });
}
