// Groups of an upstream, which are groups here while its user is in them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import type { TestIdp } from '../support/idp.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import { accountOf, anUpstream, type Connected, signInOver } from './support.ts';

let idp: TestIdp;
let corp: Connected;
let lab: string;
let club: string;
beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  const { groups, roles } = idp.services;
  await roles.create({ name: 'upstream-lab', permissions: [] });
  lab = (await groups.create({ name: 'Upstream Lab' })).id;
  club = (await groups.create({ name: 'Upstream Club' })).id;
  await groups.addRole(lab, 'upstream-lab');
  corp = await anUpstream(idp, {
    create_users: true,
    groups_claim: 'groups',
    group_mappings: { staff: 'Upstream Lab', all: ['Upstream Lab', 'Upstream Club'] },
  });
});
afterAll(async () => {
  await corp.remove().catch(() => undefined);
  for (const id of [lab, club]) await idp.services.groups.remove(id);
});

async function signInWith(groups: unknown) {
  corp.upstream.user = { sub: 'grouped', email: 'grouped@corp.example', email_verified: true, groups };
  await signInOver(idp, corp.connection);
  const account = (await accountOf(idp, corp.connection, 'grouped')) ?? expect.fail('no account');
  return (await idp.services.accounts.find(account.id)) ?? expect.fail('no account');
}

describe('groups of an upstream', () => {
  it('join and leave groups here at sign-in, and take only what they gave', async () => {
    const joined = await signInWith(['all', 'other']);
    expect(joined.groups.map(({ name }) => name).sort()).toEqual(['Upstream Club', 'Upstream Lab']);
    expect(joined.roles).toContain('upstream-lab');
    await idp.services.groups.addMembers(club, [{ userId: joined.id }]);
    const staff = await signInWith(['staff']);
    expect(staff.groups.map(({ name }) => name).sort()).toEqual(['Upstream Club', 'Upstream Lab']);
    const none = await signInWith([]);
    expect(none.groups.map(({ name }) => name)).toEqual(['Upstream Club']);
    expect(none.roles).not.toContain('upstream-lab');
  });

  it('are never groups that give a permission in Gatehouse', async () => {
    const { connections, groups } = idp.services;
    await expect(groups.addRole(lab, 'auditor')).rejects.toMatchObject({ code: 'group_sensitive' });
    const sensitive = await groups.create({ name: 'Upstream Auditors' });
    await groups.addRole(sensitive.id, 'auditor');
    const entry = (mappings: unknown) => {
      const checked = checkConnection({
        id: 'sensitive',
        kind: 'oidc',
        name: 'S',
        issuer: 'https://sso.example.com',
        client_id: 'x',
        client_secret: 'a-secret',
        group_mappings: mappings,
      });
      return checked.ok ? checked.value : expect.fail(JSON.stringify(checked.faults));
    };
    await expect(connections.create(entry({ a: 'Upstream Auditors' }))).rejects.toMatchObject({
      code: 'group_sensitive',
    });
    await expect(connections.create(entry({ a: 'Nobody' }))).rejects.toMatchObject({
      faults: [expect.objectContaining({ code: 'unknown-group' })],
    });
    expect(await connections.find('sensitive')).toBeUndefined();
    await groups.remove(sensitive.id);
  });

  it('end with the connection', async () => {
    const { id } = await signInWith(['staff']);
    await corp.remove();
    expect((await idp.services.accounts.find(id))?.groups.map(({ name }) => name)).toEqual(['Upstream Club']);
  });
});
