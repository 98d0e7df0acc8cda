// The pages of mailed links: two links open in two tabs of one browser, and the page that reports the change once.
import { beforeAll, describe, expect, it } from 'vitest';
import { linkIn, mailOf, NEW_PASSWORD, open, redeem, resetLink } from '../recovery/support.ts';
import { aUser } from '../support/factories.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import { httpClient, type Page } from '../support/http.ts';
import { office } from './support.ts';

const test = office();
beforeAll(async () => {
  await test.idp.services.settings.set('self_registration', true);
  await test.idp.services.settings.reload();
});

async function post(path: string, fields: Record<string, string>): Promise<Page> {
  const browser = httpClient(test.idp.issuer);
  return browser.submit(await browser.get(path), fields);
}

async function linksToUnlock(): Promise<[string, string]> {
  const link = async () => {
    const { username, account } = await aUser(test.idp.services);
    for (let tries = 0; tries < 6; tries += 1)
      await failSignIn(test.idp.services.lockout, { login: username, address: `192.0.2.${tries}` });
    await post('/unlock/ask', { username });
    return linkIn(await mailOf(test.box, account.email ?? '', 'Unlock your account'));
  };
  return [await link(), await link()];
}

async function linksToFinish(): Promise<[string, string]> {
  const link = async (email: string) => {
    await post('/sign-up', { email });
    return linkIn(await mailOf(test.box, email, 'Finish creating your account'));
  };
  return [await link('tab1@example.net'), await link('tab2@example.net')];
}

describe('with two links open in one browser', () => {
  it.each([
    ['to unlock an account', linksToUnlock, {}],
    ['to finish an account', linksToFinish, { password: NEW_PASSWORD }],
  ])('the form of the first one does not use the second: %s', async (_what, links, fields) => {
    const [first, second] = await links();
    const { browser, page } = await open(test.idp, first);
    const later = await browser.follow(await browser.get(second));
    const rejected = await browser.submit(page, fields);
    expect(rejected.status).toBe(400);
    expect(rejected.text).toContain('You opened another link in this browser');
    expect((await browser.submit(later, fields)).status).toBe(303);
    const again = await open(test.idp, first);
    expect((await again.browser.submit(again.page, fields)).status).toBe(303);
  });
});

describe('the page after a link was used', () => {
  it('reports the change once, in the browser that made it, and says what to check after a reset', async () => {
    const { username, account } = await aUser(test.idp.services);
    const done = await redeem(test.idp, await resetLink(test.idp, test.box, username, account.email ?? ''));
    expect(done.text).toContain('Password changed');
    expect(done.text).toMatch(/passkeys, two-step verification and sessions[\s\S]*href="\/account"/);
    const mail = await mailOf(test.box, account.email ?? '', 'Your password was changed');
    expect(mail.text).toContain(`${test.idp.issuer}/account\n`);
    expect(mail.text.replace(/\s+/g, ' ')).toContain('passkeys, two-step verification and sessions');
  });

  it.each(['/reset-password/done', '/verify-email/done', '/unlock/done', '/sign-up/done'])(
    'reports nothing in another browser: %s',
    async (path) => {
      const page = await httpClient(test.idp.issuer).get(path);
      expect(page.status).toBe(200);
      expect(page.text).toContain('This link was already used');
      expect(page.text).not.toMatch(/was changed|Password changed|is set|confirmed|is ready|unlocked/);
    },
  );

  it('reports nothing when it is opened again', async () => {
    const { username, account } = await aUser(test.idp.services);
    const { browser, page } = await open(test.idp, await resetLink(test.idp, test.box, username, account.email ?? ''));
    await browser.follow(await browser.submit(page, { password: NEW_PASSWORD }));
    expect((await browser.get('/reset-password/done')).text).toContain('This link was already used');
  });
});
