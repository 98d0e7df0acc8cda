// People and groups of one Gatehouse, written to another one by SCIM: created, changed, deactivated and deleted there as they are here.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { shortPauses } from '../support/waits.ts';
import { aTarget, type Setup, settle, usersOf } from './support.ts';

let idp: TestIdp;
let other: TestIdp;
let target: Setup;
beforeAll(async () => {
  shortPauses();
  [idp, other] = await Promise.all([startIdp(), startIdp()]);
  target = await aTarget(idp, other, { role: 'crm', groups: true, delete_policy: 'delete' });
});
afterAll(async () => {
  await target?.gate.close();
  await Promise.all([idp?.stop(), other?.stop()]);
});

const give = (userId: string, role = 'crm') => idp.services.roles.assign(userId, role);
const take = (userId: string, role = 'crm') => idp.services.roles.unassign(userId, role);
const named = async (userName: string) => (await target.connection.find(`userName eq "${userName}"`)).Resources[0];

it('who may open the application is there, with name and address, and follows every change', async () => {
  const { account } = await aUser(idp.services, { username: 'ann', givenName: 'Ann', familyName: 'Example' });
  await aUser(idp.services, { username: 'bob' });
  await give(account.id);
  await settle(idp);
  expect(await named('ann')).toMatchObject({
    externalId: account.id,
    displayName: 'Ann Example',
    name: { givenName: 'Ann', familyName: 'Example' },
    emails: [{ value: 'ann@example.com', type: 'work' }],
    active: true,
  });
  expect(await named('bob')).toBeUndefined();
  await idp.services.accounts.update(account.id, { name: 'Ann Other', givenName: null });
  await settle(idp);
  const changed = await named('ann');
  expect(changed).toMatchObject({ displayName: 'Ann Other', active: true });
  expect(changed?.name).not.toHaveProperty('givenName');
  await take(account.id);
  await settle(idp);
  expect(await named('ann')).toMatchObject({ active: false });
  await give(account.id);
  await settle(idp);
  expect(await named('ann')).toMatchObject({ active: true, id: changed?.id });
  await idp.services.accounts.setActive(account.id, false);
  await settle(idp);
  expect(await named('ann')).toMatchObject({ active: false });
  await idp.services.accounts.remove(account.id);
  await settle(idp);
  expect(await named('ann')).toBeUndefined();
});

it('who is deleted here is deleted there, also where the log forgets at once', async () => {
  const { settings, accounts } = idp.services;
  await settings.set('erase_after_days', 0);
  await settings.reload();
  const { account } = await aUser(idp.services, { username: 'forgotten' });
  await give(account.id);
  await settle(idp);
  expect(await named('forgotten')).toMatchObject({ active: true });
  await accounts.remove(account.id);
  await settle(idp);
  expect(await named('forgotten')).toBeUndefined();
  await settings.unset('erase_after_days');
});

it('groups are there with their members, as differences', async () => {
  const { groups } = idp.services;
  const people = [];
  for (const username of ['g1', 'g2', 'g3']) people.push((await aUser(idp.services, { username })).account);
  const [one, two, three] = people.map(({ id }) => id) as [string, string, string];
  for (const id of [one, two]) await give(id);
  const group = await groups.create({ name: 'Sales' });
  await groups.addMembers(
    group.id,
    [one, three].map((userId) => ({ userId })),
  );
  await settle(idp);
  const sales = async () =>
    (await target.connection.find('displayName eq "Sales"', 'Groups')).Resources[0] as {
      id: string;
      externalId: string;
      members?: { value: string }[];
    };
  expect((await sales()).externalId).toBe(group.id);
  // The third may not open the application.
  const idOf = async (name: string) => (await named(name))?.id;
  const valuesOf = async () => (await sales()).members?.map(({ value }) => value).sort();
  expect(await valuesOf()).toEqual([await idOf('g1')]);
  target.gate.sent.length = 0;
  await groups.addMembers(group.id, [{ userId: two }]);
  await settle(idp);
  expect(await valuesOf()).toEqual([await idOf('g1'), await idOf('g2')].sort());
  const patches = target.gate.sent.filter(({ method, path }) => method === 'PATCH' && path.includes('/Groups/'));
  expect(patches.map(({ body }) => JSON.parse(body).Operations)).toEqual([
    [{ op: 'add', path: 'members', value: [{ value: await idOf('g2') }] }],
  ]);
  await groups.removeMembers(group.id, [one]);
  await groups.update(group.id, { name: 'Sales North' });
  await settle(idp);
  const renamed = (await target.connection.find('displayName eq "Sales North"', 'Groups')).Resources[0];
  expect(renamed?.members).toMatchObject([{ value: await idOf('g2') }]);
  await groups.remove(group.id);
  await settle(idp);
  expect((await target.connection.find('displayName eq "Sales North"', 'Groups')).Resources).toEqual([]);
});

it('nothing is sent when nothing changed, also by a comparison', async () => {
  await settle(idp);
  target.gate.sent.length = 0;
  const application = await idp.services.applications.get(target.applicationId);
  await idp.services.provisioning.decide(application, 'compare', {});
  await settle(idp);
  expect(target.gate.sent).toEqual([]);
  expect((await usersOf(target)).totalResults).toBeGreaterThan(0);
});
