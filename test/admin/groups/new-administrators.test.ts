// Before people get permissions in Gatehouse, directly or by a group, the console asks, whichever page gives them.
import { beforeAll, describe, expect, it } from 'vitest';
import { aClient, aUser, type TestUser } from '../../support/factories.ts';
import type { HttpClient, Page } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { consoleOf, staff } from '../console/support.ts';

let idp: TestIdp;
let admin: HttpClient;
beforeAll(async () => {
  idp = await sharedIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});

let count = 0;
async function aGroup({ roles = [], members = [] }: { roles?: string[]; members?: TestUser[] } = {}) {
  const { groups } = idp.services;
  count += 1;
  const group = await groups.create({ name: `Rights ${count}` });
  for (const role of roles) await groups.addRole(group.id, role);
  await groups.addMembers(
    group.id,
    members.map(({ account }) => ({ userId: account.id })),
  );
  return { ...group, path: `/admin/groups/${group.id}` };
}
const someone = (name: string) => aUser(idp.services, { name });
const rolesOf = async ({ account }: TestUser) => (await idp.services.accounts.find(account.id))?.roles ?? [];
const send = async (at: string, fields: Record<string, string>) => admin.submit(await admin.get(at), fields);
const yes = async (asked: Page) => admin.follow(await admin.submit(asked, { asked: 'yes' }));

/** Each way to give permissions: what is sent where, for this person. */
const ways: Record<string, (person: TestUser) => Promise<{ at: string; fields: Record<string, string> }>> = {
  'a role for a group with members': async (person) => {
    const { path } = await aGroup({ members: [person] });
    return { at: `${path}/parts`, fields: { role: 'auditor' } };
  },
  'a group with members in one with such a role': async (person) => {
    const { path } = await aGroup({ roles: ['auditor'] });
    return { at: `${path}/parts`, fields: { child: (await aGroup({ members: [person] })).name } };
  },
  'a member of a group': async (person) => {
    const { path } = await aGroup({ roles: ['auditor'] });
    return { at: path, fields: { user: person.username } };
  },
  'a group of a user': async ({ account }) => {
    const { name } = await aGroup({ roles: ['auditor'] });
    return { at: `/admin/users/${account.id}/groups/join`, fields: { group: name } };
  },
  'a group for selected users': async ({ account }) => {
    const { name } = await aGroup({ roles: ['auditor'] });
    return { at: `/admin/users/bulk?action=add-group&id=${account.id}`, fields: { group: name } };
  },
  'a role for selected users': async ({ account }) => ({
    at: `/admin/users/bulk?action=add-role&id=${account.id}`,
    fields: { role: 'auditor' },
  }),
  'a role of a user': async ({ account }) => ({
    at: `/admin/users/${account.id}/roles/give`,
    fields: { role: 'auditor' },
  }),
  'a member of a role': async (person) => ({
    at: `/admin/roles/${(await idp.services.roles.find('auditor'))?.id}/members`,
    fields: { user: person.username },
  }),
  'access to an application': async (person) => {
    const { applicationId } = await aClient(idp.services, {
      redirect_uris: ['https://rights.example/cb'],
      access: { roles: ['auditor'] },
    });
    return {
      at: `/admin/applications/${applicationId}/people`,
      fields: { user: person.username, way: 'role:auditor' },
    };
  },
  'a fix of a rejected request': async ({ account }) => {
    const { clientId } = await aClient(idp.services, {
      redirect_uris: ['https://rights.example/cb'],
      access: { roles: ['auditor'] },
    });
    const { rejections } = idp.services;
    const code = rejections.record(
      { requestId: account.id, address: '192.0.2.1', userAgent: '' },
      {
        endpoint: 'authorize',
        reason: 'access_denied',
        message: 'No.',
        received: {},
        rules: [{ rule: 'access', state: 'failed' }],
        clientId,
        subjectId: account.id,
      },
    );
    return { at: `/admin/rejections/${code}`, fields: { fix: 'role auditor' } };
  },
};

describe('asks, and gives nothing before the answer', () => {
  it.each(Object.entries(ways))('%s', async (_way, prepare) => {
    const person = await someone('Nora New');
    const { at, fields } = await prepare(person);
    const asked = await send(at, fields);
    expect(asked.status).toBe(200);
    const { username } = person;
    expect(textOf(asked.text)).toContain(`Give Nora New (${username}) permissions in Gatehouse?`);
    expect(textOf(asked.text)).toContain(`Nora New (${username}) gets the role auditor`);
    expect(await rolesOf(person)).toEqual([]);
    // Cancel leads back to the form, which stands behind the question as it was filled in.
    expect(asked.forms.length).toBeGreaterThan(1);
    await yes(asked);
    expect(await rolesOf(person)).toEqual(['auditor']);
  });
});

it('asks before a user is added with such a role or in such a group', async () => {
  const { name: group } = await aGroup({ roles: ['auditor'] });
  for (const [username, given] of [
    ['rights-role', { roles: 'auditor' }],
    ['rights-group', { groups: group }],
  ] as const) {
    const fields = { username, name: 'Nora New', begin: 'password', ...given };
    const asked = await admin.submit(await admin.get('/admin/users/new'), fields);
    expect(textOf(asked.text)).toContain(`Give Nora New (${username}) permissions in Gatehouse?`);
    expect(await idp.services.accounts.findByLogin(username)).toBeUndefined();
    await yes(asked);
    expect((await idp.services.accounts.findByLogin(username))?.roles).toEqual(['auditor']);
  }
});

it('names three of many, and says what an administrator can do', async () => {
  const members = await Promise.all(['Ada', 'Bo', 'Cy', 'Di', 'Ed'].map((name) => someone(`${name} Example`)));
  const { path } = await aGroup({ members });
  const asked = await send(`${path}/parts`, { role: 'admin' });
  expect(textOf(asked.text)).toContain('Give 5 people permissions in Gatehouse?');
  expect(textOf(asked.text)).toMatch(
    /Example \(.*\), .* Example \(.*\), .* Example \(.*\) and 2 more get the role admin by the group Rights \d+, and can change everything in Gatehouse\./,
  );
});

it('asks on the page of a change of several people, whatever their number', async () => {
  const { path } = await aGroup({ roles: ['auditor'] });
  const [one, two] = [await someone('One Example'), await someone('Two Example')];
  const people = `${one.username}\n${two.username}`;
  const prepared = await admin.follow(await send(`${path}/bulk`, { people }));
  expect(new URL(prepared.url).pathname).toContain('/changes/');
  expect(textOf(prepared.text)).toMatch(/Nothing has been changed yet\. 2 people get the role auditor by the group/);
  expect([await rolesOf(one), await rolesOf(two)]).toEqual([[], []]);
  await admin.submit(prepared, {}, { form: new URL(prepared.url).pathname });
  await expect.poll(() => rolesOf(two)).toEqual(['auditor']);
});

it('does not ask where nobody gets permissions in Gatehouse', async () => {
  const person = await someone('Pat Plain');
  const { name: role } = await idp.services.roles.create({ name: 'rights none', permissions: ['wiki:read'] });
  const plain = await aGroup({ roles: [role] });
  expect((await send(plain.path, { user: person.username })).status).toBe(303);
  const empty = await aGroup();
  expect((await send(`${empty.path}/parts`, { role: 'auditor' })).status).toBe(303);
  // Who is here has the role already.
  expect((await send(`${empty.path}/parts`, { child: (await aGroup()).name })).status).toBe(303);
});

it('rejects who may not give the role before it asks', async () => {
  const permissions = ['gatehouse.groups:read', 'gatehouse.groups:write', 'gatehouse.users:read'];
  await idp.services.roles.create({ name: 'rights lead', permissions });
  const lead = await consoleOf(idp, await staff(idp, 'rights lead'));
  const { path } = await aGroup({ roles: ['auditor'] });
  const person = await someone('Rita Rejected');
  const { _csrf = '' } = (await lead.get('/admin/groups/new')).forms.at(-1)?.fields ?? {};
  const sent = await lead.post(path, { form: { _csrf, user: person.username } });
  expect([sent.status, textOf(sent.text)]).toEqual([403, expect.not.stringContaining('Give Rita')]);
});
