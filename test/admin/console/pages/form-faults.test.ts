// What the forms of users and roles say at a field: the summary names the field, and a name or an address that is taken is an error there.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aUser } from '../../../support/factories.ts';
import type { HttpClient, Page } from '../../../support/http.ts';
import { startIdp, type TestIdp } from '../../../support/idp.ts';
import { textOf } from '../../../support/pages/html.ts';
import { consoleOf, staff } from '../support.ts';

let idp: TestIdp;
let admin: HttpClient;
let edit: string;
let role: string;

beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  await aUser(idp.services, { username: 'mia', email: 'mia@example.com' });
  const { account } = await aUser(idp.services, { username: 'noah' });
  edit = `/admin/users/${account.id}`;
  await idp.services.roles.create({ name: 'packer' });
  role = `/admin/roles/${(await idp.services.roles.create({ name: 'driver' })).id}`;
});
afterAll(() => idp?.stop());

/** The entries of the summary that lead to this field. */
const summaryOf = (page: Page, field: string) =>
  [...page.text.matchAll(new RegExp(`<li><a href="#f-${field}">(.*?)</a></li>`, 'g'))].map(([, text = '']) =>
    textOf(text),
  );

/** The text at the input that is marked as wrong. */
function errorAt(page: Page, field: string): string {
  expect(page.text).toMatch(
    new RegExp(`name="${field}"[^>]* aria-invalid="true" aria-describedby="f-${field}-error[ "]`),
  );
  const [, text = ''] = new RegExp(`id="f-${field}-error">([\\s\\S]*?)</p>`).exec(page.text) ?? [];
  return textOf(text);
}

async function sendTo(path: string, fields: Record<string, string>): Promise<Page> {
  return admin.submit(await admin.get(path), fields);
}

it.each([
  ['the email address of another user', () => edit, { email: 'Mia@example.com' }, 'email'],
  [
    'the email address of another user, for a new one',
    () => '/admin/users/new',
    { username: 'zoe', email: 'mia@example.com' },
    'email',
  ],
  ['the username of another user', () => edit, { username: 'MIA' }, 'username'],
  ['the username of another user, for a new one', () => '/admin/users/new', { username: 'mia' }, 'username'],
  ['the name of another role', () => role, { name: 'packer' }, 'name'],
  ['the name of another role, for a new one', () => '/admin/roles/new', { name: 'packer' }, 'name'],
  ['a name like that of another role', () => '/admin/roles/new', { name: 'рacker' }, 'name'],
  ['a name like that of a built-in role', () => '/admin/roles/new', { name: 'Admin' }, 'name'],
])('%s is an error at its field', async (_, path, fields, field) => {
  const page = await sendTo(path(), fields);
  expect(page.status).toBe(409);
  expect(page.text).toContain('<title>Error: ');
  expect(textOf(page.text)).toContain('Nothing was saved. Correct this field:');
  const [said = ''] = summaryOf(page, field);
  expect(said).toMatch(/^(This|A role with|An? ).*\.$/);
  expect(errorAt(page, field)).toBe(said);
});

it.each([
  ['username', '', 'Username: Enter a value.'],
  ['email', 'nope', 'Enter an email address, such as name@example.com.'],
  ['website', 'nope', 'Website: Enter a web address that starts with https:// or http://.'],
  ['locale', '???', 'Enter a language such as en or de-CH.'],
])('the summary of a user’s form names the field %s, and only its form is open', async (field, value, said) => {
  const page = await sendTo(edit, { [field]: value });
  expect(page.status).toBe(400);
  expect(summaryOf(page, field)).toEqual([said]);
  expect(page.text.match(/<details class="change" open>/g)).toHaveLength(1);
  if (field !== 'locale') expect(errorAt(page, field)).toBe(said);
});
