// The access form of an application with groups, and what the pages of the console say about it.
import { beforeAll, expect, it } from 'vitest';
import { createApplicationUsage } from '../../../src/admin/applications/usage.ts';
import { aClient, aUser } from '../../support/factories.ts';
import type { HttpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { consoleOf, staff } from '../console/support.ts';
import { aPerson, aService } from '../support.ts';

let idp: TestIdp;
let admin: HttpClient;
let count = 0;
const aGroup = async () => (await idp.services.groups.create({ name: `Access group ${++count}` })).name;
const anApp = async (access: object | 'everyone') => {
  const client = await aClient(idp.services, {
    client_name: `Access app ${++count}`,
    redirect_uris: ['https://a.example.com/cb'],
    access,
  });
  return { ...client, at: `/admin/applications/${client.applicationId}` };
};
const accessOf = async (id: string) => (await idp.services.applications.get(id)).access;
const mainOf = (text: string) => textOf(/<main[\s\S]*<\/main>/.exec(text)?.[0] ?? '');

beforeAll(async () => {
  idp = await sharedIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});

it('adds a group, takes one away, and keeps at least one role or group', async () => {
  const [one, two] = [await aGroup(), await aGroup()];
  const { applicationId, at } = await anApp('everyone');
  const send = async (fields: Record<string, string | string[]>) =>
    admin.submit(await admin.get(`${at}/access`), fields, { form: `${at}/access` });
  expect((await send({ access: 'roles', 'access.groups': [one, two] })).status).toBe(303);
  expect(await accessOf(applicationId)).toEqual({ roles: [], groups: [one, two] });
  expect((await send({ 'access.groups': [two] })).status).toBe(303);
  expect(await accessOf(applicationId)).toEqual({ roles: [], groups: [two] });
  const empty = await send({ 'access.groups': [] });
  expect([empty.status, await accessOf(applicationId)]).toEqual([400, { roles: [], groups: [two] }]);
});

it('rejects a group that does not exist, in words', async () => {
  const { applicationId, at } = await anApp('everyone');
  const form = await admin.get(`${at}/access`);
  const { fields } = form.forms.find(({ action }) => action.endsWith('/access')) ?? expect.fail('no form');
  const sent = await admin.post(`${at}/access`, {
    form: { ...fields, access: 'roles', 'access.groups': 'No such group' },
  });
  expect(sent.status).toBe(400);
  expect(mainOf(sent.text)).toContain('No such group');
  expect(await accessOf(applicationId)).toBe('everyone');
});

it('takes gatehouse.groups:write, and leaves other fields to who does not have it', async () => {
  const group = await aGroup();
  const { applicationId, at } = await anApp({ roles: [], groups: [group] });
  const manager = await consoleOf(idp, await staff(idp, 'application-manager'));
  const send = async (fields: Record<string, string | string[]>) =>
    manager.submit(await manager.get(`${at}/access`), fields, { form: `${at}/access` });
  expect((await send({ access: 'everyone' })).status).toBe(403);
  expect((await send({ mfa: 'required' })).status).toBe(303);
  expect(await idp.services.applications.get(applicationId)).toMatchObject({
    access: { groups: [group] },
    metadata: { mfa: 'required' },
  });
});

it('names groups beside roles on the list, the overview and the page of the new application', async () => {
  const group = await aGroup();
  const role = (await idp.services.roles.create({ name: `access-role-${++count}` })).name;
  const both = await anApp({ roles: [role], groups: [group] });
  const only = await anApp({ roles: [], groups: [group] });
  expect(mainOf((await admin.get(both.at)).text)).toContain('Limited to 1 role or 1 group');
  expect(mainOf((await admin.get(only.at)).text)).toContain('Limited to 1 group');
  const list = mainOf((await admin.get(`/admin/applications?q=${encodeURIComponent('Access app')}`)).text);
  expect(list).toContain(`Group ${group}`);
});

it('asks only those whom a role or a group lets in, also by a group above', async () => {
  const { groups } = idp.services;
  const [above, below] = [await groups.create({ name: 'Access above' }), await groups.create({ name: 'Access below' })];
  await groups.addChild(above.id, below.id);
  const { account } = await aUser(idp.services, { email: null });
  const usage = createApplicationUsage(idp.services);
  const { applicationId } = await anApp({ roles: [], groups: [above.name] });
  const application = await idp.services.applications.get(applicationId);
  expect(await usage.hasUserWithout(application, 'address', [])).toBe(false);
  await groups.addMembers(below.id, [{ userId: account.id }]);
  expect(await usage.hasUserWithout(application, 'address', [])).toBe(true);
  expect(await usage.hasUserWithout(application, 'role', ['access-given'])).toBe(true);
  await idp.services.roles.create({ name: 'access-given' });
  await groups.addRole(above.id, 'access-given');
  expect(await usage.hasUserWithout(application, 'role', ['access-given'])).toBe(false);
});

it('is registered by the API with the groups that its rule names and its product reads, for who may create groups', async () => {
  const { groups, roles } = idp.services;
  const named = `Access made ${++count}`;
  const declared = {
    protocol: 'oidc',
    preset: 'proxmox',
    redirect_uris: ['https://made.example.com/cb'],
    access: { roles: [], groups: [named] },
  };
  const api = await aService(idp);
  expect((await api.send('POST', '/applications', declared)).status).toBe(400);
  const permissions = ['gatehouse.applications:read', 'gatehouse.applications:write'];
  const role = (await roles.create({ name: `access-registrar-${++count}`, permissions })).name;
  const registrar = await aPerson(idp, [role]);
  const without = await registrar.send('POST', '/applications', { ...declared, create_groups: true });
  expect([without.status, await groups.find(named)]).toEqual([403, undefined]);
  const made = await api.send('POST', '/applications', { ...declared, create_groups: true });
  expect([made.status, made.status === 201 ? '' : made.text]).toEqual([201, '']);
  expect(made.json()).not.toHaveProperty('create_groups');
  expect(await groups.find(named)).toMatchObject({ source: 'local' });
  expect(await groups.find('proxmox-admin')).toMatchObject({ description: 'Administrators in Proxmox VE' });
});
