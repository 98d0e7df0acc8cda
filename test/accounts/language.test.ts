// The language of a user (claim `locale`) and the tags of values in other languages: what is accepted, and where.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptableFields } from '../../src/federation/accounts/resolve.ts';
import { attributeFaults } from '../../src/people/accounts/attributes.ts';
import { consoleOf, imported, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../admin/support.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let api: ApiCaller;
const any = { 'if-match': '*' };

beforeAll(async () => {
  idp = await startIdp();
  api = await aPerson(idp, ['admin']);
});
afterAll(() => idp?.stop());

/** A user with what an earlier version stored. */
async function withStored(columns: { locale?: string; attributes?: string }) {
  const user = (await aUser(idp.services)).account;
  await idp.services.db.asStored.user.update({ where: { id: user.id }, data: { ...columns, mac: '' } });
  await signRows(idp.services);
  return user;
}

describe('the claim locale', () => {
  it.each([
    ['de', 'de'],
    ['de_at', 'de-AT'],
    ['JA-hani-jp', 'ja-Hani-JP'],
  ])('is a language tag: %s', async (locale, expected) => {
    const { id } = (await aUser(idp.services)).account;
    const { status, text, json } = await api.send('PATCH', `/users/${id}`, { locale }, any);
    expect(status, text).toBe(200);
    expect(json()).toMatchObject({ locale: expected });
  });

  it.each(['"><script>', 'Deutsch', 'Français', 'de--', '*'])('is not %s', async (locale) => {
    const answer = await api.send('POST', '/users', { username: 'no-language', locale });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.json().errors).toMatchObject([{ path: 'locale', message: 'Enter a language such as en or de-CH.' }]);
  });

  it('stays as it is stored until it is changed', async () => {
    const { id } = await withStored({ locale: 'Deutsch' });
    const named = await api.send('PATCH', `/users/${id}`, { name: 'New Name' }, any);
    expect(named.json(), named.text).toMatchObject({ name: 'New Name', locale: 'Deutsch' });
    expect((await api.send('PATCH', `/users/${id}`, { locale: 'Klingonisch' }, any)).status).toBe(400);
    expect((await api.send('PATCH', `/users/${id}`, { locale: 'de' }, any)).json()).toMatchObject({ locale: 'de' });
  });

  it('is ignored where an upstream or a table has no language', async () => {
    const claims = { name: 'Ann', locale: 'Deutsch', attributes: {} } as Parameters<typeof acceptableFields>[0];
    expect(acceptableFields(claims, {})).toEqual({ name: 'Ann' });
    expect(acceptableFields({ ...claims, locale: 'de_AT' }, {})).toMatchObject({ locale: 'de_AT' });
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const csv = 'username,name,locale\ntable-1,One,Deutsch\ntable-2,Two,de_AT\n';
    await imported(admin, csv);
    expect(await idp.services.accounts.findByLogin('table-1')).toMatchObject({ name: 'One', locale: null });
    expect(await idp.services.accounts.findByLogin('table-2')).toMatchObject({ name: 'Two', locale: 'de-AT' });
  });

  it('is chosen from the offered languages on the profile page, which keeps another one', async () => {
    const user = await staff(idp, 'auditor');
    const browser = await consoleOf(idp, user);
    const language = async () => (await idp.services.accounts.find(user.account.id))?.locale;
    const page = await browser.get('/account/profile');
    expect(page.text).toMatch(/<select [^>]*name="locale"[^>]*><option value="">Not set<\/option>/);
    expect(page.text).toContain('<option value="de" lang="de">Deutsch</option>');
    await browser.submit(page, { locale: 'de' }, { form: '/account/profile' });
    expect(await language()).toBe('de');
    await idp.services.accounts.update(user.account.id, { locale: 'de-CH' });
    const swiss = await browser.get('/account/profile', { headers: { 'accept-language': 'en' } });
    expect(swiss.text).toContain('<option value="de-CH" lang="de-CH" selected>Deutsch (Schweiz)</option>');
    await browser.submit(swiss, { name: 'Still Swiss', locale: 'de-CH' }, { form: '/account/profile' });
    expect(await language()).toBe('de-CH');
    const wrong = await browser.submit(swiss, { locale: 'Deutsch' }, { form: '/account/profile' });
    expect([wrong.status, textOf(wrong.text)]).toEqual([400, expect.stringMatching(/Sprache wie de oder de-CH/)]);
    await browser.submit(swiss, { locale: '' }, { form: '/account/profile' });
    expect(await language()).toBeNull();
  });

  it('is chosen by its name in the console, which has the name on the page of the user', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const { id } = (await aUser(idp.services, { locale: 'de-CH' })).account;
    const language = async () => (await idp.services.accounts.find(id))?.locale;
    const form = await admin.get(`/admin/users/${id}`);
    expect(form.text).toMatch(/<select [^>]*name="locale"[^>]*>\s*<option value="">Not set<\/option>/);
    expect(form.text).toContain('<option value="ja" lang="ja">日本語</option>');
    expect(form.text).toContain('<option value="de-CH" lang="de-CH" selected>Deutsch (Schweiz)</option>');
    expect((await admin.submit(form, { name: 'Still Swiss' })).status).toBe(303);
    expect(await language()).toBe('de-CH');
    expect(textOf((await admin.get(`/admin/users/${id}`)).text)).toMatch(/Language German \(Switzerland\) de-CH/);
    const german = await admin.get(`/admin/users/${id}`, { headers: { 'accept-language': 'de' } });
    expect(textOf(german.text)).toContain('Deutsch (Schweiz)');
    await admin.submit(await admin.get(`/admin/users/${id}`), { locale: 'ja' });
    expect(await language()).toBe('ja');
    expect((await admin.get('/admin/users/new')).text).toMatch(/<select [^>]*name="locale"/);
    // What an older version has stored stays until another one is chosen.
    const { id: old } = await withStored({ locale: 'Deutsch' });
    const before = await admin.get(`/admin/users/${old}`);
    expect(before.text).toContain('<option value="Deutsch" selected>Deutsch</option>');
    expect((await admin.submit(before, { name: 'New Name' })).status).toBe(303);
    expect((await idp.services.accounts.find(old))?.locale).toBe('Deutsch');
    expect(textOf((await admin.get(`/admin/users/${old}`)).text)).toContain('Language Deutsch');
  });

  it('has faults of its tags in the language of the console', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    await admin.get('/language/de?next=/admin');
    const { id } = (await aUser(idp.services)).account;
    const form = await admin.get(`/admin/users/${id}`);
    const faultOf = async (name: string, type: string, value: string) => {
      const rows = { 'attributes.name': name, 'attributes.type': type, 'attributes.value': value };
      const page = await admin.submit(form, rows);
      expect(page.status, textOf(page.text)).toBe(400);
      expect(page.text).not.toContain('<li lang="en">');
      return textOf(page.text);
    };
    expect(await faultOf('desk#DE-at', 'text', 'B7')).toContain('Schreiben Sie die Sprache als de-AT.');
    expect(await faultOf('name#de', 'number', '7')).toContain('Erforderlich ist Text.');
    expect(await faultOf('website#de', 'text', 'x')).toContain('Webadresse');
  });

  it('is checked by the form of the console', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const { id } = (await aUser(idp.services)).account;
    const form = await admin.get(`/admin/users/${id}`);
    const wrong = await admin.submit(form, { locale: 'Deutsch' });
    expect([wrong.status, textOf(wrong.text)]).toEqual([
      400,
      expect.stringContaining('Enter a language such as en or de-CH.'),
    ]);
    expect((await admin.submit(form, { locale: 'de_CH' })).status).toBe(303);
    expect((await idp.services.accounts.find(id))?.locale).toBe('de-CH');
  });
});

describe('a value in another language', () => {
  const wrong = 'after the #, write a language tag such as de or de-AT.';

  it.each(['name#de_AT', 'name#<b>', 'department#', 'department#Deutsch'])('needs a language tag: %s', async (name) => {
    const answer = await api.send('POST', '/users', { username: 'no-tag', attributes: { [name]: 'x' } });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.json().errors).toMatchObject([
      { path: `attributes.${name}`, message: expect.stringContaining(wrong) },
    ]);
  });

  it('may have a name with # that the schema declares', () => {
    const schema = { type: 'object', properties: { 'c#': { type: 'string' } } };
    expect(attributeFaults({ 'c#': 'expert' }, schema)).toEqual([]);
    expect(attributeFaults({ 'f#_': 'expert' }, schema)).toMatchObject([{ code: 'attribute-language' }]);
  });

  it('stays as it is stored until it is removed', async () => {
    const { id } = await withStored({ attributes: '{"name#de_AT":"Anna"}' });
    const attributes = { 'name#de_AT': 'Anna', department: 'Library' };
    const changed = await api.send('PATCH', `/users/${id}`, { attributes }, any);
    expect(changed.json(), changed.text).toMatchObject({ attributes });
    const fewer = { 'name#de-AT': 'Anna' };
    expect((await api.send('PATCH', `/users/${id}`, { attributes: fewer }, any)).status).toBe(200);
    expect((await api.send('PATCH', `/users/${id}`, { attributes }, any)).status).toBe(400);
  });

  it('is checked by the form of the console, in its language', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const { id } = (await aUser(idp.services)).account;
    const form = await admin.get(`/admin/users/${id}`, { headers: { 'accept-language': 'de' } });
    const row = { 'attributes.name': 'name#de_AT', 'attributes.value': 'Anna', 'attributes.type': 'text' };
    const page = await admin.submit(form, row, { headers: { 'accept-language': 'de' } });
    expect([page.status, textOf(page.text)]).toEqual([
      400,
      expect.stringContaining('Schreiben Sie hinter das # ein Sprachkürzel wie de oder de-AT.'),
    ]);
  });
});
