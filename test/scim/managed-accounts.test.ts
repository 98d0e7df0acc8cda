// What pages say about people and groups of a directory: who manages an account, what is locked, and who acted.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { aService } from '../admin/support.ts';
import { aUser, PASSWORD } from '../support/factories.ts';
import type { HttpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { linksOf, textOf } from '../support/pages/html.ts';
import { aConnection, type Connection, ENTERPRISE, GROUP, USER } from './support.ts';

const OWNED = 'verwaltet dieses Konto über SCIM';

let idp: TestIdp;
let hr: Connection;
let admin: HttpClient;
let ann: string;
let group: string;
let browser: HttpClient;

beforeAll(async () => {
  idp = await startIdp();
  const attribute = { type: 'string', visible_to: ['person', 'desk'], editable_by: ['person', 'desk'] };
  const properties = { department: { title: 'Department', ...attribute }, badge: { title: 'Badge', ...attribute } };
  await idp.services.settings.set('user_attributes', { type: 'object', properties });
  hr = await aConnection(idp, {
    name: 'Entra ID',
    mappings: { attributes: { department: `${ENTERPRISE}:department` }, groups: {} },
  });
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  const made = await hr.ok('POST', '/Users', {
    schemas: [USER, ENTERPRISE],
    userName: 'ann@corp.example',
    externalId: 'ann',
    displayName: 'Ann Arbor',
    name: { givenName: 'Ann', familyName: 'Arbor' },
    emails: [{ value: 'ann@corp.example', type: 'work', primary: true }],
    addresses: [{ type: 'work', streetAddress: 'Weg 1\nHaus 2', locality: 'Bern', primary: true }],
    [ENTERPRISE]: { department: 'Physics' },
  });
  ann = String(made.id);
  const members = [{ value: ann }];
  group = String((await hr.ok('POST', '/Groups', { schemas: [GROUP], displayName: 'Physicists', members })).id);
  const account = await idp.services.accounts.find(ann);
  if (!account) throw new Error('no account');
  await idp.services.credentials.setPassword(account, PASSWORD, {});
  browser = await signedIn(idp, { username: 'ann@corp.example', password: PASSWORD });
});
afterAll(() => idp?.stop());

const home = () => `/admin/scim/${hr.connection.id}`;
const account = () => idp.services.accounts.find(ann);

describe('the console', () => {
  it('says in the list and on the page of a user which directory manages the account, and locks what it manages', async () => {
    const list = await admin.get('/admin/users');
    expect(linksOf(list.text, list.url)).toContainEqual(
      expect.objectContaining({ label: 'Entra ID (SCIM)', href: expect.stringContaining(home()) }),
    );
    const page = await admin.get(`/admin/users/${ann}`);
    expect(textOf(page.text)).toContain('Entra ID manages the names');
    const forms = page.forms.map(({ action }) => new URL(action, page.url).pathname.split('/').slice(4).join('/'));
    expect(forms).toEqual(expect.arrayContaining(['change/language', 'change/attributes', 'picture']));
    for (const part of ['name', 'email', 'phone', 'address', 'username']) expect(forms).not.toContain(`change/${part}`);
    const other = await admin.get(
      `/admin/users/${(await idp.services.accounts.list({ limit: 9 })).accounts.find(({ id }) => id !== ann)?.id}`,
    );
    expect(textOf(other.text)).not.toContain('Entra ID');
  });

  it('changes own fields beside those that the directory fills', async () => {
    const page = await admin.get(`/admin/users/${ann}`);
    const form = page.forms.find(({ action }) => action.endsWith('/change/attributes'));
    expect(Object.keys(form?.fields ?? {})).toContain('attributes.badge');
    expect(Object.keys(form?.fields ?? {})).not.toContain('attributes.department');
    const sent = await admin.submit(page, { 'attributes.badge': 'A-1' }, { form: '/change/attributes' });
    expect(sent.status, sent.text).toBe(303);
    expect((await account())?.attributes).toEqual({ department: 'Physics', badge: 'A-1' });
    const { send } = await aService(idp);
    const { etag = '' } = (await send('GET', `/users/${ann}`)).headers;
    const body = { attributes: { department: 'Art', badge: 'A-1' } };
    const refused = await send('PATCH', `/users/${ann}`, body, { 'if-match': String(etag) });
    expect([refused.status, refused.json<{ code: string }>()]).toMatchObject([403, { code: 'owned_by_scim' }]);
  });

  it('names the directory as the way into a group, and as who acted', async () => {
    for (const path of [`/admin/groups/${group}`, `/admin/users/${ann}/roles`]) {
      const page = await admin.get(path);
      expect(textOf(page.text)).toContain('Entra ID (SCIM)');
      expect(textOf(page.text)).not.toContain(`scim:${hr.connection.id}`);
    }
    await hr.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: false });
    const log = await admin.get(`/admin/users/${ann}/activity`);
    expect(textOf(log.text)).toMatch(/Entra ID disabled Ann Arbor/);
    expect(linksOf(log.text, log.url)).toContainEqual(
      expect.objectContaining({ label: 'Entra ID', href: expect.stringContaining(home()) }),
    );
    expect(textOf((await admin.get(`/admin/users/${ann}`)).text)).toContain('by Entra ID');
    await hr.patch(`/Users/${ann}`, { op: 'replace', path: 'active', value: true });
    const { send } = await aService(idp);
    const members = await send('GET', `/groups/${group}/members`);
    expect(members.json()).toMatchObject({ items: [{ user: ann, source: 'scim', source_id: hr.connection.id }] });
    expect((await send('GET', `/users/${ann}/groups`)).json()).toMatchObject({
      items: [{ source: 'scim', source_id: hr.connection.id }],
    });
  });
});

it('the API names the directory of a user, what it fills, and when it deleted the user', async () => {
  const { send } = await aService(idp);
  const own = { id: hr.connection.id, name: 'Entra ID', attributes: ['department'] };
  const gone = String((await hr.ok('POST', '/Users', { schemas: [USER], userName: 'gone' })).id);
  await hr.send('DELETE', `/Users/${gone}`);
  const { account: local } = await aUser(idp.services);
  const of = async (id: string) => (await send('GET', `/users/${id}`)).json<{ directory: object | null }>().directory;
  expect(await of(ann)).toEqual({ ...own, deleted_at: null });
  expect(await of(gone)).toEqual({ ...own, deleted_at: expect.stringMatching(/^20/) });
  expect(await of(local.id)).toBeNull();
});

describe('the own account page', () => {
  it('locks what the directory manages, and leaves the language and own fields open', async () => {
    browser = await signedIn(idp, { username: 'ann@corp.example', password: PASSWORD });
    const page = await browser.get('/account/profile');
    expect(textOf(page.text)).toContain('Entra ID manages your name');
    expect(page.text).toMatch(/<input[^>]*name="given_name"[^>]*readonly/);
    expect(page.text).toMatch(/<input[^>]*name="attributes\.department"[^>]*readonly/);
    expect(page.text).not.toMatch(/<select[^>]*name="locale"[^>]*disabled/);
    expect(page.text).not.toMatch(/<input[^>]*name="attributes\.badge"[^>]*readonly/);
    const saved = await browser.submit(page, { locale: 'de', 'attributes.badge': 'B-2' });
    expect(saved.status, textOf(saved.text)).toBe(303);
    expect(await account()).toMatchObject({
      locale: 'de',
      name: 'Ann Arbor',
      attributes: { department: 'Physics', badge: 'B-2' },
    });
  });

  it('refuses another name, address and phone number', async () => {
    const page = await browser.get('/account/profile');
    const renamed = await browser.submit(page, { given_name: 'Eve' });
    expect([renamed.status, textOf(renamed.text)]).toEqual([403, expect.stringContaining(OWNED)]);
    const email = await browser.get('/account/email');
    expect(textOf(email.text)).toContain('Entra ID');
    expect(email.forms.some(({ action }) => action.endsWith('/account/email'))).toBe(false);
    const { _csrf = '' } = page.forms.find(({ fields }) => 'given_name' in fields)?.fields ?? {};
    const moved = await browser.request('POST', '/account/email', { form: { _csrf, email: 'eve@corp.example' } });
    expect([moved.status, textOf(moved.text)]).toEqual([403, expect.stringContaining(OWNED)]);
    expect(await account()).toMatchObject({ givenName: 'Ann', email: 'ann@corp.example' });
  });
});

it('the page of a user whom the directory deleted says until when the account is kept', async () => {
  const leaver = await hr.ok('POST', '/Users', { schemas: [USER], userName: 'leaver', externalId: 'leaver' });
  await hr.send('DELETE', `/Users/${leaver.id}`);
  const page = await admin.get(`/admin/users/${leaver.id}`);
  expect(textOf(page.text)).toMatch(
    /Entra ID deleted this user on .* UTC \. The account is deleted permanently on .* UTC/,
  );
  const forms = page.forms.map(({ action }) => action);
  expect(forms.some((action) => action.endsWith('/change/name'))).toBe(true);
});
