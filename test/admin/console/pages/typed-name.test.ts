// What is deleted permanently is named first, on the pages of the console; the API is asked by its path.
import { beforeAll, expect, it, vi } from 'vitest';
import { aClient, aUser } from '../../../support/factories.ts';
import type { HttpClient, Page } from '../../../support/http.ts';
import type { TestIdp } from '../../../support/idp.ts';
import { textOf } from '../../../support/pages/html.ts';
import { sharedIdp } from '../../../support/shared-idp.ts';
import { consoleOf, staff } from '../support.ts';

let idp: TestIdp;
let admin: HttpClient;
beforeAll(async () => {
  idp = await sharedIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});

const rejected = async (form: Page, typed_name: string, sentence: string) => {
  const again = await admin.submit(form, { typed_name });
  expect([again.status, again.forms[0]?.fields.typed_name]).toEqual([400, typed_name]);
  expect(textOf(again.text)).toContain(sentence);
};

it('an application is deleted where its name was typed', async () => {
  const { applicationId } = await aClient(idp.services, {
    client_name: 'Wiki of Café',
    redirect_uris: ['https://w.example.com/cb'],
  });
  const form = await admin.get(`/admin/applications/${applicationId}/delete`);
  expect(textOf(form.text)).toContain('Enter “Wiki of Café” to confirm');
  expect(textOf(form.text)).toContain('Delete Wiki of Café');
  const sentence = 'That isn’t the name. Enter “Wiki of Café” to delete it.';
  for (const typed of ['', 'Wiki', 'wiki of café']) await rejected(form, typed, sentence);
  const { _csrf = '' } = form.forms[0]?.fields ?? {};
  const headers = { origin: new URL(idp.issuer).origin };
  expect((await admin.post(form.url, { form: { _csrf }, headers })).status).toBe(400);
  expect((await idp.services.applications.get(applicationId)).name).toBe('Wiki of Café');
  const done = await admin.submit(form, { typed_name: ' Wiki  of Cafe\u0301 ' });
  expect(new URL(done.location ?? '').pathname).toBe('/admin/applications');
  await expect(idp.services.applications.get(applicationId)).rejects.toThrow();
});

it('a user is deleted where the username was typed', async () => {
  const { account, username } = await aUser(idp.services, { name: 'Bo Berg' });
  const form = await admin.get(`/admin/users/${account.id}/delete`);
  expect(textOf(form.text)).toContain('Delete Bo Berg?');
  for (const [page, sentence = ''] of [
    ['password', 'Create a temporary password for Bo Berg'],
    ['disable', 'Disable Bo Berg?'],
  ])
    expect(textOf((await admin.get(`/admin/users/${account.id}/${page}`)).text)).toContain(sentence);
  await rejected(form, account.name ?? '', `That isn’t the name. Enter “${username}” to delete it.`);
  expect(await idp.services.accounts.find(account.id)).toBeDefined();
  const done = await admin.submit(form, { typed_name: username });
  expect(new URL(done.location ?? '').pathname).toBe('/admin/users');
  expect(await idp.services.accounts.find(account.id)).toBeUndefined();
});

it('a role is deleted where its name was typed', async () => {
  const role = await idp.services.roles.create({ name: 'typed-role' });
  const form = await admin.get(`/admin/roles/${role.id}/delete`);
  expect(textOf(form.text)).toContain('Delete typed-role');
  await rejected(form, 'Typed role', 'That isn’t the name. Enter “typed-role” to delete it.');
  expect(await idp.services.roles.find('typed-role')).toBeDefined();
  const done = await admin.submit(form, { typed_name: 'typed-role' });
  expect(new URL(done.location ?? '').pathname).toBe('/admin/roles');
  expect(await idp.services.roles.find('typed-role')).toBeUndefined();
});

it('an API is deleted where its identifier was typed', async () => {
  const identifier = 'https://typed.example/api';
  await admin.submit(await admin.get('/admin/apis/new'), { identifier, scopes: 'read' });
  const stored = () => idp.services.db.asStored.resource.findUnique({ where: { identifier } });
  const form = await admin.get(`/admin/apis/${encodeURIComponent(identifier)}/delete`);
  await rejected(form, 'https://typed.example', `That isn’t the name. Enter “${identifier}” to delete it.`);
  expect(await stored()).not.toBeNull();
  const done = await admin.submit(form, { typed_name: identifier });
  expect(new URL(done.location ?? '').pathname).toBe('/admin/apis');
  expect(await stored()).toBeNull();
});

it('a connection is deleted where its ID was typed, and its sessions go on until then', async () => {
  const { connections } = idp.services;
  const fields = { id: 'typed', client_id: 'x', client_secret: 'y' };
  await admin.submit(await admin.get('/admin/connections/new/oauth2/github'), fields);
  const ended = vi.spyOn(idp.services.connections, 'remove');
  const form = await admin.get('/admin/connections/typed/delete');
  const again = await admin.submit(form, { typed_name: 'GitHub', end_sessions: 'on' });
  expect([again.status, again.forms[0]?.fields.typed_name]).toEqual([400, 'GitHub']);
  expect(again.text).toMatch(/name="end_sessions"[^>]* checked/);
  expect(ended).not.toHaveBeenCalled();
  expect(await connections.find('typed')).toBeDefined();
  const done = await admin.submit(form, { typed_name: 'typed' });
  expect(new URL(done.location ?? '').pathname).toBe('/admin/connections');
  expect(await connections.find('typed')).toBeUndefined();
});

it('the sentence is in the language of the page', async () => {
  const { account, username } = await aUser(idp.services);
  const german = await consoleOf(idp, await staff(idp, 'admin'));
  await german.get('/language/de?next=/admin');
  const form = await german.get(`/admin/users/${account.id}/delete`);
  const again = await german.submit(form, { typed_name: 'x' });
  expect(textOf(again.text)).toContain(`Das ist nicht der Name. Zum Löschen „${username}“ eingeben.`);
});
