// Roles that a connection gives, in the hands of administrators: the API and the console list them beside the direct ones.
import { beforeAll, expect, it } from 'vitest';
import { consoleOf } from '../admin/console/support.ts';
import { type ApiCaller, aPerson, tokenOfLongAgo } from '../admin/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import type { TestIdp } from '../support/idp.ts';
import { sharedIdp } from '../support/shared-idp.ts';

let idp: TestIdp;
let admin: ApiCaller;
let user: TestUser;
beforeAll(async () => {
  idp = await sharedIdp();
  admin = await aPerson(idp, ['admin']);
  await idp.services.roles.create({ name: 'given-upstream' });
});

const anyVersion = { 'if-match': '*' };
const rolesOf = async () => (await idp.services.accounts.find(user.account.id))?.roles;

/** Makes the role the only one of the user, by a connection, or takes it away. */
async function upstreamGives(isGiven: boolean): Promise<void> {
  const { id = '' } = (await idp.services.roles.find('given-upstream')) ?? {};
  const roles = { connectionId: 'upstream-of-roles', roleIds: isGiven ? [id] : [] };
  await idp.services.setConnectionRoles(user.account.id, roles);
}

it('a role that a connection gives does not become a direct one when an administrator saves the user', async () => {
  user = await aUser(idp.services);
  await upstreamGives(true);
  const { roles } = (await admin.get(`/users/${user.account.id}`)).json<{ roles: string[] }>();
  expect(roles).toEqual(['given-upstream']);
  const put = await admin.send('PUT', `/users/${user.account.id}/roles`, { roles }, anyVersion);
  expect([put.status, put.json().roles]).toEqual([200, roles]);

  const pages = await consoleOf(idp, admin.user as TestUser);
  const form = await pages.get(`/admin/users/${user.account.id}`);
  const saved = await pages.submit(form, { nickname: 'Annie' });
  expect([saved.status, await rolesOf()]).toEqual([303, roles]);

  await upstreamGives(false);
  expect(await rolesOf()).toEqual([]);
});

it('a role that is direct as well is not taken without a fresh sign-in, although the user has it still', async () => {
  user = await aUser(idp.services);
  await idp.services.roles.assign(user.account.id, 'given-upstream');
  await upstreamGives(true);
  await tokenOfLongAgo(idp, admin);
  const put = await admin.send('PUT', `/users/${user.account.id}/roles`, { roles: [] }, anyVersion);
  expect([put.status, put.json().code]).toEqual([401, 'proof_needed']);
});
