// The second factor at a sign-in: required when the account has one, when the setting requires one, and to step up.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RelyingParty, relyingParty } from '../support/applications/rp.ts';
import { aClient, aUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';

const redirectUri = 'http://127.0.0.1:4000/cb';
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
let idp: TestIdp;
let rp: RelyingParty;

beforeAll(async () => {
  idp = await startIdp();
  const client = await aClient(idp.services, { redirect_uris: [redirectUri] });
  rp = await relyingParty({ issuer: idp.issuer, ...client, redirectUri });
});
afterAll(() => idp?.stop());

const code = () => generateSync({ secret: SECRET });

async function begin(browser: HttpClient, parameters: Record<string, string> = {}) {
  const started = await rp.start(parameters);
  return { started, page: await browser.follow(await browser.get(started.url), isBack) };
}
const isBack = (url: string) => url.startsWith(redirectUri);

async function password(
  browser: HttpClient,
  page: Page,
  { username, password }: { username: string; password: string },
) {
  return browser.follow(await browser.submit(page, { username, password }), isBack);
}

describe('the second factor', () => {
  it('is the code of the app, a wrong one is rejected, and acr and amr state it', async () => {
    const user = await aUser(idp.services);
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const browser = httpClient(idp.issuer);
    const { started, page } = await begin(browser);
    const second = await password(browser, page, user);
    expect(second.text).toContain('autocomplete="one-time-code"');
    const wrong = await browser.submit(second, { code: '000000' });
    expect(wrong.status).toBe(401);
    const back = await browser.follow(await browser.submit(wrong, { code: code() }), isBack);
    const tokens = await rp.finish(back.location ?? '', started);
    expect(tokens.claims()).toMatchObject({ acr: 'urn:gatehouse:acr:mfa', amr: ['pwd', 'otp', 'mfa'] });
  });

  it('is requested with the name of the account, and the user can cancel it', async () => {
    const user = await aUser(idp.services);
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const browser = httpClient(idp.issuer);
    const second = await password(browser, (await begin(browser)).page, user);
    expect(second.text).toContain(`Signing in as ${user.username}`);
    const back = await browser.follow(await browser.submit(second, {}, { form: '/cancel' }), isBack);
    expect(back.location).toContain('error=access_denied');
    const again = await begin(browser);
    expect(again.page.text).toContain('name="password"');
  });

  it('is the only factor that a step-up requests', async () => {
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const first = await begin(browser);
    await password(browser, first.page, user);
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const { started, page } = await begin(browser, { acr_values: 'urn:gatehouse:acr:mfa' });
    expect(page.text).not.toContain('name="password"');
    const back = await browser.follow(await browser.submit(page, { code: code() }), isBack);
    const claims = (await rp.finish(back.location ?? '', started)).claims();
    expect(claims).toMatchObject({ sub: user.account.id, acr: 'urn:gatehouse:acr:mfa' });
  });

  it('is replaced after a recovery code, whose use is mailed, or kept', async () => {
    const user = await aUser(idp.services);
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const [lost = '', kept = ''] = await idp.services.mfa.recoveryCodes.create(user.account.id);
    const recover = async (recoveryCode: string) => {
      const browser = httpClient(idp.issuer);
      const { started, page } = await begin(browser);
      const question = await password(browser, page, user);
      const form = await browser.get(`${new URL(question.url).pathname}?method=recovery-code`);
      return { browser, started, offered: await browser.follow(await browser.submit(form, { code: recoveryCode })) };
    };

    const first = await recover(lost);
    expect(textOf(first.offered.text)).toContain('You have 9 recovery codes left.');
    const secret = /<code>([A-Z2-7 ]{16,})<\/code>/.exec(first.offered.text)?.[1]?.replaceAll(' ', '') ?? '';
    const enrolled = await first.browser.submit(
      first.offered,
      { code: generateSync({ secret }) },
      { form: 'enrol-totp' },
    );
    const back = await first.browser.follow(enrolled, isBack);
    expect((await rp.finish(back.location ?? '', first.started)).claims()).toMatchObject({
      acr: 'urn:gatehouse:acr:mfa',
    });
    expect(await idp.services.mfa.totp.verify(user.account.id, code())).toBe('wrong');
    const mails = await idp.services.db.mailMessage.findMany({ where: { recipient: user.account.email ?? '' } });
    expect(mails.map(({ subject }) => subject)).toContain('A recovery code was used to sign in to your account');

    const second = await recover(kept);
    const on = await second.browser.submit(second.offered, {}, { form: 'keep-factors' });
    const done = await second.browser.follow(on, isBack);
    expect((await rp.finish(done.location ?? '', second.started)).claims()).toMatchObject({
      sub: user.account.id,
    });
  });

  it('has a page for users who have lost all of their methods', async () => {
    const user = await aUser(idp.services);
    await idp.services.mfa.totp.importSecret(user.account.id, SECRET);
    const browser = httpClient(idp.issuer);
    const question = await password(browser, (await begin(browser)).page, user);
    const [, link = ''] = /href="([^"]+\?method=none)"/.exec(question.text) ?? [];
    const page = await browser.get(link);
    expect(textOf(page.text)).toContain(`Your username is ${user.username}.`);
    expect((await browser.get(new URL(question.url).pathname)).text).toContain('one-time-code');
  });

  it('is set up during the sign-in when the setting requires one, with recovery codes that survive a reload and a change of language', async () => {
    await idp.services.settings.set('mfa', 'required');
    await idp.services.settings.set('brand_name', 'Contoso');
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const { started, page } = await begin(browser);
    const enrol = await password(browser, page, user);
    const secret = /<code>([A-Z2-7 ]{16,})<\/code>/.exec(enrol.text)?.[1]?.replaceAll(' ', '') ?? '';
    const sent = await browser.submit(enrol, { code: generateSync({ secret }) }, { form: 'enrol-totp' });
    const codes = await browser.follow(sent);
    const listedCodes = (text: string) => text.match(/<li><code>[^<]+/g);
    expect(listedCodes(codes.text)).toHaveLength(10);
    const printed = `Recovery codes for ${user.username} at Contoso (${idp.issuer}), created `;
    expect(textOf(codes.text)).toContain(printed);
    expect(decodeURIComponent(/data:text\/plain[^"]*/.exec(codes.text)?.[0] ?? '')).toContain(printed);
    expect(listedCodes((await browser.get(codes.url)).text)).toEqual(listedCodes(codes.text));
    const german = await browser.follow(
      await browser.get(`/language/de?next=${encodeURIComponent(new URL(codes.url).pathname)}`),
    );
    expect(german.text).toContain('lang="de"');
    expect(listedCodes(german.text)).toEqual(listedCodes(codes.text));
    expect((await httpClient(idp.issuer).get(codes.url)).status).not.toBe(200);
    const twice = await browser.submit(enrol, { code: generateSync({ secret }) }, { form: 'enrol-totp' });
    expect(listedCodes((await browser.follow(twice)).text)).toEqual(listedCodes(codes.text));
    const back = await browser.follow(await browser.get(page.url), isBack);
    expect((await rp.finish(back.location ?? '', started)).claims()).toMatchObject({ acr: 'urn:gatehouse:acr:mfa' });
    await idp.services.settings.set('mfa', 'optional');
  });
});
