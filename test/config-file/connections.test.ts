// `connections:` in the configuration file: plan, apply, export, and the secrets in none of them.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identityProviderMetadata } from '../../src/protocols/saml/metadata/presentation.ts';
import { selfSigned } from '../saml/certificate.ts';
import { anRsaKey } from '../support/applications/rsa-keys.ts';
import { testFolder } from '../support/database/database.ts';
import { configFileBench, lines } from './support.ts';

let bench: Awaited<ReturnType<typeof configFileBench>>;
beforeEach(async () => {
  bench = await configFileBench();
});
afterEach(() => bench.close());

const CORP = `
roles: [{ name: editor }]
connections:
  - id: corp
    kind: oidc
    name: Example Corp
    issuer: https://sso.example.com
    client_id: gatehouse
    client_secret: not-to-be-printed
    scopes: [openid, profile, email]
    create_users: true
    groups_claim: groups
    role_mappings: { staff: editor }
    domains: [example.com]
  - { id: github, kind: oauth2, preset: github, name: GitHub, client_id: g }
  - { id: directory, kind: ldap, name: Directory, url: 'ldaps://dir.example', base_dn: 'dc=example' }
`;

describe('connections in the file', () => {
  it('are created with proven domains, and a second apply changes nothing', async () => {
    const first = await bench.apply(CORP);
    expect(lines(first)).toEqual([
      'create roles editor',
      'create connections corp',
      'create connections github',
      'create connections directory',
    ]);
    expect(JSON.stringify(first)).not.toContain('not-to-be-printed');
    expect(lines(await bench.apply(CORP))).toEqual([]);
    const { connections } = bench;
    expect((await connections.mappings('corp')).roleMappings).toMatchObject([{ upstream: 'staff', name: 'editor' }]);
    expect((await connections.forDomain('example.com'))?.id).toBe('corp');
    expect((await connections.decryptedSecrets('corp', 'client-secret'))[0]?.value).toBe('not-to-be-printed');
    expect(await connections.find('github')).toMatchObject({ source: 'file', settings: { subject_claim: 'id' } });
  });

  it('are those that the sso_id of its users belongs to', async () => {
    await bench.apply(CORP);
    const users = (more: string) => `${CORP}\nusers:\n  - { username: ann, sub: ann-ann-ann, ${more} }\n`;
    const identities = async () =>
      (await bench.db.asStored.externalIdentity.findMany({ where: { userId: 'ann-ann-ann' } })).map((one) => [
        one.connectionId,
        one.subject,
      ]);
    const wrong = await bench.plan(users("sso_id: '1', sso_connection: nowhere"));
    expect(JSON.stringify(wrong)).toContain('unknown-connection');
    expect(lines(await bench.plan(users('sso_connection: corp'))).join()).toContain('needs sso_id');
    const declared = users("sso_id: '1', sso_connection: corp");
    expect(lines(await bench.apply(declared))).toEqual(['create users ann']);
    expect(await identities()).toEqual([['corp', '1']]);
    expect(lines(await bench.apply(declared))).toEqual([]);
    expect(await bench.export()).toContain('sso_connection: corp');
    expect(lines(await bench.plan(await bench.export()))).toEqual([]);
    await bench.apply(users("sso_id: '2', sso_connection: github"));
    expect(await identities()).toEqual([['github', '2']]);
    await bench.apply(users('sso_connection: null'));
    expect(await identities()).toEqual([]);
  });

  it('are exported without secrets, so that the export gives the same connections', async () => {
    await bench.apply(CORP);
    const exported = await bench.export();
    expect(exported).not.toContain('not-to-be-printed');
    expect(exported).toContain('preset: github');
    expect(exported).not.toContain('api.github.com'); // a default of the preset
    expect(lines(await bench.plan(exported))).toEqual([]);
  });

  it('change field by field; a new secret replaces the old one, and what is no longer declared is deleted', async () => {
    await bench.apply(CORP);
    const changed = CORP.replace('not-to-be-printed', 'another').replace('name: Example Corp', 'name: Corp');
    expect(lines(await bench.apply(changed.replace(/ {2}- \{ id: directory.*\n/, '')))).toEqual([
      'delete connections directory',
      'change connections corp (name, client_secret)',
    ]);
    const values = (await bench.connections.decryptedSecrets('corp', 'client-secret')).map(({ value }) => value);
    expect(values).toEqual(['another']);
    expect(await bench.connections.find('directory')).toBeUndefined();
  });

  it('are rejected with line and field for an unknown role, another kind, and what two declare', async () => {
    await bench.apply(CORP);
    const faults = async (text: string) => lines(await bench.plan(text)).join('\n');
    expect(await faults(CORP.replace('staff: editor', 'staff: ghost'))).toMatch(
      /role_mappings\.staff: this role doesn’t exist: ghost/,
    );
    const saml = "{ id: corp, kind: saml, name: C, metadata: '<x/>' }";
    expect(await faults(`connections: [${saml}]`)).toMatch(/f:1:.*connections\[0\]/);
    const twice = '{ id: a, preset: github, name: A, client_id: a, domains: [x.example] }';
    expect(await faults(`connections: [${twice}, ${twice}]`)).toMatch(/id is already declared in connections\[0\]/);
    expect(await faults('connections: [{ id: corp, kind: oauth2, preset: github, name: C, client_id: c }]')).toMatch(
      /kind of a connection can’t change/,
    );
  });

  it('read SAML metadata from a file beside it', async () => {
    const { privateKey, publicKey } = anRsaKey();
    const xml = identityProviderMetadata({
      entityId: 'https://school.example',
      ssoUrl: 'https://school.example/sso',
      sloUrl: 'https://school.example/slo',
      url: 'https://school.example',
      wantAuthnRequestsSigned: false,
      displayName: 'School',
      signingCertificates: [selfSigned(privateKey, publicKey)],
    });
    const folder = testFolder();
    await writeFile(path.join(folder, 'school.xml'), xml);
    const text = `connections: [{ id: school, kind: saml, name: School, metadata_file: school.xml, attributes: { email: mail } }]`;
    const result = await bench.apply(text, path.join(folder, 'gatehouse.yaml'));
    expect(lines(result)).toContain('create connections school');
    expect(await bench.connections.find('school')).toMatchObject({ settings: { metadata: xml } });
    const wrong = text.replace(
      'metadata_file: school.xml',
      'metadata_file: school.xml, entity_id: https://other.example',
    );
    const rejected = await bench.apply(wrong, path.join(folder, 'gatehouse.yaml'));
    expect(lines(rejected).join()).toMatch(/entity_id doesn’t match/);
  });

  it('leave a connection alone that another program changed, and warn of it', async () => {
    await bench.apply(CORP);
    await bench.db.asStored.connection.update({ where: { id: 'corp' }, data: { name: 'Forged' } });
    const result = await bench.apply(CORP);
    expect(result.ok && result.plan.warnings.join()).toMatch(/connection corp was changed by another program/);
    expect(await bench.connections.find('corp')).toBeUndefined();
  });
});
