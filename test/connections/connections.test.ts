// The registry of connections: entries, secrets, role mappings and domains, and rows that another program changed.

import { beforeAll, describe, expect, it } from 'vitest';
import { faultLine } from '../../src/base/texts/faults.ts';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import type { TestIdp } from '../support/idp.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';

const corp = {
  id: 'reg-corp',
  kind: 'oidc',
  name: 'Example Corp',
  issuer: 'https://sso.example.com',
  client_id: 'gatehouse',
  client_secret: 'first-secret',
  groups_claim: 'groups',
  domains: ['Example.COM', 'bücher.example'],
};

function entryOf(input: unknown) {
  const checked = checkConnection(input);
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
  return checked.value;
}
const faultsOf = (input: unknown) => {
  const checked = checkConnection(input);
  return checked.ok ? [] : checked.faults.map(faultLine);
};

let idp: TestIdp;
beforeAll(async () => {
  idp = await sharedIdpWithConnections();
});

describe('an entry', () => {
  it('gets the defaults of its kind and its preset', () => {
    const google = entryOf({ id: 'g', preset: 'google', name: 'Google', client_id: 'x', client_secret: 's' });
    expect(google).toMatchObject({ kind: 'oidc', issuer: 'https://accounts.google.com', logout: 'never', pkce: true });
    const entra = entryOf({ id: 'e', preset: 'entra', name: 'E', client_id: 'x', tenant: 'abc' });
    expect(entra).toMatchObject({ issuer: 'https://login.microsoftonline.com/abc/v2.0', subject_claim: 'oid' });
    expect(entryOf({ id: 'h', preset: 'github', name: 'H', client_id: 'x' })).toMatchObject({ kind: 'oauth2' });
    expect(entryOf({ ...corp, role_mappings: { staff: 'editor' } })).toMatchObject({
      create_users: false,
      link: 'prove',
      domains: ['example.com', 'xn--bcher-kva.example'],
      role_mappings: { staff: ['editor'] },
    });
  });

  it('is rejected with the reason where it would be unsafe', () => {
    expect(faultsOf({ ...corp, issuer: 'http://sso.example.com' }).join()).toMatch(/issuer must be https/);
    expect(faultsOf({ ...corp, scopes: ['email'] })).toEqual(['scopes must include openid.']);
    expect(faultsOf({ ...corp, secret: 'x' }).join()).toMatch(/secret isn’t a known field/);
    const shared = { id: 'e', preset: 'entra', name: 'E', client_id: 'x', tenant: 'organizations' };
    expect(faultsOf(shared).join()).toMatch(/allowed_tenants must list/);
    const ldap = { id: 'd', kind: 'ldap', name: 'D', url: 'ldap://dir.example.com', base_dn: 'dc=x' };
    expect(faultsOf(ldap).join()).toMatch(/url must be ldaps/);
    const oauth2 = { id: 'o', kind: 'oauth2', name: 'O', client_id: 'x', subject_claim: 'email' };
    const urls = {
      authorization_url: 'https://a.example',
      token_url: 'https://a.example',
      userinfo_url: 'https://a.example',
    };
    expect(faultsOf({ ...oauth2, ...urls }).join()).toMatch(/subject_claim must not be the email address/);
    const saml = { id: 's', kind: 'saml', name: 'S', sso_url: 'https://a.example', entity_id: 'https://a.example' };
    expect(faultsOf(saml).join()).toMatch(/certificates must contain a signing certificate/);
    expect(faultsOf({ ...corp, preset: 'github' }).join()).toMatch(/kind must be oauth2/);
  });
});

describe('the registry', () => {
  it('stores a connection with its secrets, role mappings and domains, and audits the change without a secret', async () => {
    const { connections, roles, audit } = idp.services;
    await roles.create({ name: 'reg-editor' });
    const made = await connections.create(entryOf({ ...corp, role_mappings: { staff: 'reg-editor' } }));
    expect(made).toMatchObject({ id: 'reg-corp', kind: 'oidc', enabled: true, source: 'local' });
    expect(await connections.findEnabled('reg-corp')).toEqual(made);
    expect((await connections.decryptedSecrets('reg-corp', 'client-secret')).map(({ value }) => value)).toEqual([
      'first-secret',
    ]);
    expect((await connections.mappings('reg-corp')).roleMappings).toMatchObject([
      { upstream: 'staff', name: 'reg-editor' },
    ]);
    expect(await connections.domains('reg-corp')).toMatchObject([
      { domain: 'example.com', provenAt: null, record: { name: '_gatehouse.example.com' } },
      { domain: 'xn--bcher-kva.example', provenAt: null },
    ]);
    expect(await connections.forDomain('example.com')).toBeUndefined();
    const entries = await audit.list({ types: ['connection.created'] });
    expect(JSON.stringify(entries)).toContain('reg-corp');
    expect(JSON.stringify(entries)).not.toContain('first-secret');
    await connections.setEnabled('reg-corp', false);
    expect(await connections.findEnabled('reg-corp')).toBeUndefined();
    await connections.remove('reg-corp');
    expect(await connections.find('reg-corp')).toBeUndefined();
  });

  it('returns the newest unexpired secret first, and replaces them all with an entry that names others', async () => {
    const { connections } = idp.services;
    await connections.create(entryOf({ ...corp, id: 'reg-rotate', domains: [] }));
    await connections.addSecret('reg-rotate', 'client-secret', { value: 'over', expires_at: '2020-01-01' });
    const values = async () =>
      (await connections.decryptedSecrets('reg-rotate', 'client-secret')).map(({ value }) => value);
    expect(await values()).toEqual(['first-secret', 'over']);
    const several = [{ value: 'a' }, { value: 'b', expires_at: '2099-01-01' }];
    await connections.update(entryOf({ ...corp, id: 'reg-rotate', domains: [], client_secret: several }));
    expect((await values()).sort()).toEqual(['a', 'b']);
    const { client_secret: _secret, ...without } = corp;
    await connections.update(entryOf({ ...without, id: 'reg-rotate', domains: [] }));
    expect((await values()).sort()).toEqual(['a', 'b']);
    await connections.remove('reg-rotate');
  });

  it('uses no connection, mapping, domain or secret that another program wrote', async () => {
    const { connections, roles, db } = idp.services;
    await roles.create({ name: 'reg-forged' });
    await connections.create(entryOf({ ...corp, id: 'reg-a', domains: ['a.example'] }), { source: 'file' });
    await connections.create(entryOf({ ...corp, id: 'reg-b', domains: [], client_secret: 'other' }));
    expect((await connections.forDomain('a.example'))?.id).toBe('reg-a');
    const role = await roles.find('reg-forged');
    await db.asStored.connectionRoleMapping.create({
      data: { connectionId: 'reg-a', group: 'everyone', roleId: role?.id ?? '', mac: 'x.y' },
    });
    expect((await connections.mappings('reg-a')).roleMappings).toEqual([]);
    await db.asStored.connectionDomain.updateMany({ where: { domain: 'a.example' }, data: { connectionId: 'reg-b' } });
    expect(await connections.forDomain('a.example')).toBeUndefined();
    await db.connectionSecret.updateMany({ where: { connectionId: 'reg-a' }, data: { connectionId: 'reg-b' } });
    const values = (await connections.decryptedSecrets('reg-b', 'client-secret')).map(({ value }) => value);
    expect(values).toEqual(['other']);
    const settings = JSON.stringify({ issuer: 'https://evil.example' });
    await db.asStored.connection.update({ where: { id: 'reg-a' }, data: { settings } });
    expect(await connections.findEnabled('reg-a')).toBeUndefined();
    expect((await connections.enabled()).map(({ id }) => id)).not.toContain('reg-a');
    expect(await connections.forgedIds()).toEqual(['reg-a']);
    await connections.remove('reg-a', { source: 'file' });
    await connections.remove('reg-b');
  });

  it('keeps the issuer of a connection that users are linked to', async () => {
    const { connections, db } = idp.services;
    await connections.create(entryOf({ ...corp, id: 'reg-linked', domains: [] }));
    const changed = entryOf({ ...corp, id: 'reg-linked', domains: [], issuer: 'https://other.example.com' });
    await connections.update(changed);
    const [user] = await db.asStored.user.findMany({ take: 1 });
    const identity = { id: 'reg-x', connectionId: 'reg-linked', subject: '1', userId: user?.id ?? '' };
    await db.asStored.externalIdentity.create({ data: identity });
    await expect(connections.update(entryOf({ ...corp, id: 'reg-linked', domains: [] }))).rejects.toMatchObject({
      status: 409,
    });
    await connections.remove('reg-linked');
  });
});
