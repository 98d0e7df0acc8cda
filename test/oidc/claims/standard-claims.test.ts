// Every standard claim as a field of a user (OpenID Connect Core 5.1): set by API, console, account page and import, and
// received by applications of both protocols.
import { beforeAll, describe, expect, it } from 'vitest';
import { profileClaims } from '../../../src/core/settings/value-schemas.ts';
import type { TextClaim } from '../../../src/people/accounts/profile-fields.ts';
import { consoleOf, imported, staff } from '../../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../../admin/support.ts';
import { aServiceProvider } from '../../support/applications/sp.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { signedIn } from '../../support/pages/account.ts';
import { textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { anApplication, authorizeUrl, redirectUri, signIn } from '../support.ts';

let idp: TestIdp;
let admin: ApiCaller;

beforeAll(async () => {
  idp = await sharedIdp();
  admin = await aPerson(idp, ['admin']);
});

const address = {
  formatted: '1 Main Road\nFlat 2\n8000 Zürich',
  street_address: '1 Main Road\nFlat 2',
  locality: 'Zürich',
  region: 'ZH',
  postal_code: '8000',
  country: 'Switzerland',
};
/** Of each text field, so that a further one does not compile without a value. */
const texts: Record<Exclude<TextClaim, 'name' | 'given_name' | 'family_name'>, string> = {
  middle_name: 'Maria',
  nickname: 'Annie',
  profile: 'https://people.example/ann',
  website: 'http://ann.example/',
  gender: 'female',
  birthdate: '0000-02-29',
  locale: 'de-CH',
  zoneinfo: 'Europe/Zurich',
  picture: 'https://people.example/ann.png',
};
/** Those that people change in a form. The picture is an upload (test/accounts/pictures.test.ts). */
const typedTexts = Object.fromEntries(
  Object.entries(texts).filter(([claim]) => (profileClaims as readonly string[]).includes(claim)),
);
const path = ({ account }: TestUser) => `/users/${account.id}`;
const change = (user: TestUser, fields: object) => admin.send('PATCH', path(user), fields, { 'if-match': '*' });
/** The address as forms and tables name its parts. */
const { formatted, ...parts } = address;
const addressTexts = { address_formatted: formatted, ...parts };

describe('the standard claims', () => {
  it('are set by the API and received in ID token and userinfo by scope', async () => {
    const user = await aUser(idp.services);
    const changed = await change(user, { ...texts, phone_number: '+41441234567', address });
    expect(changed.json()).toMatchObject({ ...texts, address, phone_number_verified: false });
    const app = await anApplication(idp);
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, { scope: 'openid profile phone address' });
    const expected = { ...texts, phone_number: '+41441234567', phone_number_verified: false, address };
    expect(tokens.claims()).toMatchObject(expected);
    expect(await app.rp.userinfo(tokens)).toMatchObject(expected);
    const without = await signIn(httpClient(idp.issuer), app, user, { scope: 'openid profile' });
    expect(without.tokens.claims()).not.toHaveProperty('address');
    expect(await app.rp.userinfo(without.tokens)).not.toHaveProperty('address');
  });

  it('are announced in discovery', async () => {
    const document = (await httpClient(idp.issuer).get('/.well-known/openid-configuration')).json();
    expect(document.scopes_supported).toContain('address');
    const claims = [
      ...Object.keys(texts),
      'name',
      'given_name',
      'family_name',
      'phone_number_verified',
      'address',
      'group',
    ];
    expect(document.claims_supported).toEqual(expect.arrayContaining(claims));
  });

  it.each<[string, unknown]>([
    ['profile', 'javascript:alert(1)'],
    ['website', 'ftp://files.example/'],
    ['picture', 'https://with space.example/'],
    ['birthdate', '31.12.1990'],
    ['birthdate', '1990-02-30'],
    ['birthdate', '0000'],
    ['birthdate', '1990-12'],
    ['nickname', 'a'.repeat(201)],
    ['nickname', 'two\nlines'],
    ['gender', 'left\u202eright'],
  ])('are rejected with a wrong %s (%j)', async (field, value) => {
    const user = await aUser(idp.services);
    const page = await change(user, { [field]: value });
    expect(page.status).toBe(400);
    expect(page.json()).toMatchObject({ errors: [{ path: field }] });
  });

  it('are rejected with a wrong address, and a verified phone number cannot be declared', async () => {
    const user = await aUser(idp.services);
    const wrong = [{ planet: 'Mars' }, { locality: 'two\nlines' }, { street_address: 'x'.repeat(1001) }, 'Main Road'];
    for (const one of wrong) expect((await change(user, { address: one })).status).toBe(400);
    expect((await change(user, { phone_number_verified: true })).status).toBe(400);
    for (const one of ['1990', '1990-12-31', '0000-12-31'])
      expect((await change(user, { birthdate: one })).json()).toMatchObject({ birthdate: one });
    expect((await change(user, { address: { locality: ' ' } })).json()).toMatchObject({ address: null });
  });

  it('are set by the user, who sees what is wrong', async () => {
    const user = await aUser(idp.services);
    const browser = await signedIn(idp, user);
    const fields = { name: 'Ann', ...typedTexts, ...addressTexts };
    await idp.services.settings.set('profile_claims', [...profileClaims]);
    await idp.services.settings.reload();
    const wrong = await browser.submit(await browser.get('/account/profile'), { ...fields, website: 'ann.example' });
    expect([wrong.status, textOf(wrong.text)]).toEqual([400, expect.stringContaining('Website: Enter a web address')]);
    expect(wrong.forms[0]?.fields).toMatchObject({ website: 'ann.example', locality: 'Zürich' });
    await browser.submit(wrong, { website: texts.website });
    expect((await admin.get(path(user))).json()).toMatchObject({ name: 'Ann', ...typedTexts, address });
    const again = await browser.get('/account/profile');
    expect(again.forms[0]?.fields).toMatchObject({ ...typedTexts, locality: 'Zürich' });
    const emptied = Object.fromEntries(Object.keys(addressTexts).map((name) => [name, '']));
    await browser.submit(again, emptied);
    expect((await admin.get(path(user))).json()).toMatchObject({ ...typedTexts, address: null });
  });

  it('are those of the setting profile_claims in the profile of the user, in its order, and no others are changed there', async () => {
    const user = await aUser(idp.services);
    const browser = await signedIn(idp, user);
    await idp.services.settings.set('profile_claims', ['nickname', 'website', 'given_name']);
    await idp.services.settings.reload();
    const page = await browser.get('/account/profile');
    const names = [...page.text.matchAll(/<input class="input" [^>]*name="([^"]+)"/g)].map(([, name]) => name);
    expect(names).toEqual(['nickname', 'website', 'given_name']);
    expect(textOf(page.text)).not.toContain('Phone number');
    await idp.services.settings.set('sms_gateway', { url: 'https://sms.example.com/messages' });
    await idp.services.settings.reload();
    expect((await browser.get('/account/profile/phone')).status).toBe(404);
    const forged = { nickname: 'Annie', family_name: 'Forged', locality: 'Forged' };
    expect((await browser.submit(page, forged, { form: '/account/profile' })).status).toBe(303);
    expect((await admin.get(path(user))).json()).toMatchObject({ nickname: 'Annie', family_name: null, address: null });
    await idp.services.settings.set('profile_claims', []);
    await idp.services.settings.reload();
    expect(textOf((await browser.get('/account/profile')).text)).not.toContain('Save profile');
    await idp.services.settings.unset('profile_claims');
    await idp.services.settings.reload();
    expect((await browser.get('/account/profile/phone')).status).toBe(200);
    await idp.services.settings.unset('sms_gateway');
    await idp.services.settings.reload();
    const standard = await browser.get('/account/profile');
    expect(standard.text).toMatch(/name="name"[\s\S]*name="given_name"[\s\S]*name="family_name"[\s\S]*name="locale"/);
    expect(standard.text).not.toContain('name="website"');
  });

  it('are set and displayed in the console', async () => {
    const user = await aUser(idp.services);
    const browser = await consoleOf(idp, await staff(idp, 'admin'));
    const at = `/admin/users/${user.account.id}`;
    const lines = Object.fromEntries(Object.entries(address).map(([part, value]) => [`address.${part}`, value]));
    const { middle_name, nickname, locale, zoneinfo, picture: _upload, ...more } = texts;
    for (const fields of [
      { middle_name, nickname },
      { locale, zoneinfo },
      more,
      lines,
      { phone_number: '+41441234567' },
    ])
      expect((await browser.submit(await browser.get(at), fields)).status).toBe(303);
    const stored = { middle_name, nickname, locale, zoneinfo, ...more, address, phone_number: '+41441234567' };
    expect((await admin.get(path(user))).json()).toMatchObject(stored);
    const page = textOf((await browser.get(at)).text);
    for (const text of [...Object.values(more), 'Zürich', '+41441234567', 'Not verified']) expect(page).toContain(text);
  });

  it('are imported from a CSV file, and exported to one', async () => {
    const browser = await consoleOf(idp, await staff(idp, 'admin'));
    const columns = { username: 'from.csv', ...texts, ...addressTexts, phone_number: '+41441234567' };
    const quoted = (cells: string[]) => cells.map((cell) => `"${cell}"`).join(',');
    const csv = `${Object.keys(columns).join(',')}\n${quoted(Object.values(columns))}`;
    await imported(browser, csv);
    const account = await idp.services.accounts.findByLogin('from.csv');
    expect((await admin.get(`/users/${account?.id}`)).json()).toMatchObject({ ...texts, address });
    const exported = (await browser.get('/admin/import/export')).text;
    expect(exported.split('\r\n')[0]).toContain(
      'username,email,name,roles,groups,active,active_from,active_until,last_seen_at,invitation,given_name,middle_name',
    );
    for (const text of [...Object.values(texts), 'Switzerland', `"'+41441234567"`.slice(1, -1)])
      expect(exported).toContain(text);
  });

  it('are listed on the consent page with their values', async () => {
    const user = await aUser(idp.services);
    await change(user, { ...texts, address });
    const { clientId } = await anApplication(idp, { consent: 'explicit' });
    const browser = httpClient(idp.issuer);
    const url = authorizeUrl(idp, clientId, { scope: 'openid profile address' });
    const form = await browser.follow(await browser.get(url));
    const sent = await browser.submit(form, { username: user.username, password: user.password });
    const page = textOf((await browser.follow(sent, (target) => target.startsWith(redirectUri))).text);
    // In the language of the claim `locale`.
    for (const text of ['Ihre Postanschrift sehen', '1 Main Road, Flat 2, 8000 Zürich', 'Annie', texts.website])
      expect(page).toContain(text);
  });

  it('may be attributes of a SAML application, the address part by part', async () => {
    const user = await aUser(idp.services);
    await change(user, { ...texts, address });
    const claims = Object.keys(texts).map((claim) => [`of ${claim}`, claim]);
    const attributes = { ...Object.fromEntries(claims), l: 'address.locality', postal: 'address' };
    const sp = await aServiceProvider(idp.services, { settings: { attributes } });
    const { entityId } = sp;
    const { id } = await idp.services.db.asStored.application.findUniqueOrThrow({ where: { clientId: entityId } });
    expect((await admin.get(`/applications/${id}`)).json()).toMatchObject({ declaration: { attributes } });
    const browser = httpClient(idp.issuer);
    const form = await browser.follow(await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {})));
    const sent = await browser.follow(await browser.submit(form, { username: user.username, password: user.password }));
    const received = Object.fromEntries(Object.entries(texts).map(([claim, text]) => [`of ${claim}`, text]));
    expect(await sp.accept(sent.forms[0]?.fields ?? {})).toMatchObject({ ...received, l: 'Zürich' });
    const wrong = { attributes: { planet: 'address.planet' } };
    expect((await admin.send('PATCH', `/applications/${id}`, wrong, { 'if-match': '*' })).status).toBe(400);
  });
});
