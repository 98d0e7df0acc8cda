// A full name that is typed in a field for a user, without the choice of a suggestion.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aClient, aUser } from '../../../support/factories.ts';
import type { HttpClient } from '../../../support/http.ts';
import { startIdp, type TestIdp } from '../../../support/idp.ts';
import { textOf } from '../../../support/pages/html.ts';
import { consoleOf, staff } from '../support.ts';

let idp: TestIdp;
let admin: HttpClient;
let pages: Record<string, (user: string) => string>;
let members: string;

beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  const { clientId, applicationId } = await aClient(idp.services, {
    client_name: 'Payroll',
    redirect_uris: ['https://app.example.com/cb'],
  });
  members = `/admin/roles/${(await idp.services.roles.create({ name: 'reader' })).id}/members`;
  const at = (path: string) => (user: string) => `${path}${new URLSearchParams({ user })}`;
  pages = {
    'access check': at(`/admin/access-check?app=${clientId}&`),
    'claims preview': at(`/admin/applications/${applicationId}/claims?`),
    'activity log': at('/admin/audit?'),
    sessions: at('/admin/sessions?'),
  };
  const bo = await aUser(idp.services, { username: 'bo', name: 'Bo Berg' });
  await consoleOf(idp, bo);
  await aUser(idp.services, { username: 'bob', name: 'Bo Bergman' });
  for (const username of ['eva1', 'eva2']) await aUser(idp.services, { username, name: 'Eva Ek' });
  for (let one = 0; one < 6; one += 1) await aUser(idp.services, { name: 'Jo Many' });
});
afterAll(() => idp?.stop());

const read = async (page: string, user: string) => textOf((await admin.get(pages[page]?.(user) ?? '')).text);

const FOUND = {
  'access check': 'Bo Berg can sign in to Payroll',
  'claims preview': 'bo@example.com',
  'activity log': 'Bo Berg signed in',
  sessions: 'bo ',
};

describe.each(Object.entries(FOUND))('in the %s', (page, found) => {
  it('the full name of one user finds this user, in whatever case', async () => {
    for (const name of ['Bo Berg', 'bo berg', 'Bo Berg (bo@example.com)', 'bo@example.com', 'bo']) {
      const text = await read(page, name);
      expect(text).toContain(found);
      expect(text).not.toMatch(/No user matches|There is no user|No events match|isn’t signed in/);
    }
  });

  it('the name of several users says so and lists them', async () => {
    expect(await read(page, 'Eva Ek')).toContain('Several users are called Eva Ek: eva1, eva2. Enter the username.');
    expect(await read(page, 'Jo Many')).toContain('More than 5 users are called Jo Many. Enter the username.');
  });

  it('a part of a name finds nobody', async () => {
    expect(await read(page, 'Bo Ber')).toMatch(/No user matches|There is no user|No events match|isn’t signed in/);
  });
});

it('a role is given to the user of this name, and to none of several', async () => {
  const form = await admin.get(members);
  const several = await admin.submit(form, { user: 'Eva Ek' });
  expect([several.status, textOf(several.text)]).toEqual([400, expect.stringContaining('eva1, eva2')]);
  await admin.submit(form, { user: 'Bo Berg' });
  expect((await idp.services.accounts.findByLogin('bo'))?.roles).toEqual(['reader']);
});

it('a name finds only users whom the viewer may read', async () => {
  const auditor = await aUser(idp.services);
  const role = { name: 'log-reader', permissions: ['gatehouse.audit:read'] };
  await idp.services.roles.create(role);
  await idp.services.roles.assign(auditor.account.id, 'log-reader');
  const client = await consoleOf(idp, auditor);
  expect(textOf((await client.get(pages['activity log']?.('Eva Ek') ?? '')).text)).toContain('No events match');
});

it('a filter displays the name of an application, and finds it by name or identifier', async () => {
  const { clientId } = await aClient(idp.services, {
    client_name: 'Time sheets',
    redirect_uris: ['https://time.example.com/cb'],
  });
  for (const page of ['/admin/audit', '/admin/rejections'])
    for (const client of [clientId, 'Time sheets']) {
      const { text } = await admin.get(`${page}?${new URLSearchParams({ client })}`);
      expect(text).toMatch(new RegExp(`name="client" value="Time sheets"[^>]* data-sends="${clientId}"`));
    }
});
