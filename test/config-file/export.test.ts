// What is exported, applied to an empty server, gives the same; and applied where it came from, changes no secret.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPng, dataUrl } from '../brand/pictures.ts';
import { testFolder } from '../support/database/database.ts';
import { signRows } from '../support/database/row-macs.ts';
import { some } from '../support/long-run.ts';
import { configFileBench, lines } from './support.ts';

type Bench = Awaited<ReturnType<typeof configFileBench>>;
let from: Bench;
let to: Bench;
beforeAll(async () => {
  [from, to] = [await configFileBench(), await configFileBench()];
});
afterAll(() => Promise.all([from.close(), to.close()]));

const xml =
  '<EntityDescriptor entityID="https://wiki.example/sp">\n  <!-- "quotes": ünïcode -->\n</EntityDescriptor>\n';

/** Every standard claim that can be declared (OpenID Connect Core 5.1). */
const profile = {
  name: 'Alice "A." Example',
  givenName: 'Alice',
  middleName: "O'Neil # Maria",
  familyName: 'Example: Ltd',
  nickname: '- Ali',
  profile: 'https://people.example/alice?a=1&b=2#me',
  picture: 'https://people.example/alice.png',
  website: 'http://alice.example/',
  gender: 'no',
  birthdate: '0000-02-29',
  zoneinfo: 'Europe/Vienna',
  locale: 'de-AT',
  phoneNumber: '+43 1 5555555',
};
const address = {
  formatted: '1 "Main" Road\n1010 Wien',
  street_address: '1 "Main" Road\nStair: 2',
  locality: 'Wien',
  region: 'W',
  postal_code: '01010',
  country: 'Österreich',
};
const ownClaims = { desk: 'attributes.desk', dept: { field: 'attributes.department', scope: 'hr' } };

describe('an export', () => {
  let text: string;
  beforeAll(async () => {
    await from.roles.create({ name: 'editor', description: 'Edits: "articles"', permissions: ['articles:write'] });
    await from.settings.set('mfa', 'required');
    await from.db.asStored.resource.create({
      data: { identifier: 'https://api.example', scopes: '["a:read"]', signingAlg: 'ES256' },
    });
    await signRows(from);
    await from.applications.createOidc({
      client_id: 'web',
      client_name: 'Web app',
      redirect_uris: ['https://web.example/cb'],
      grant_types: ['authorization_code', 'refresh_token'],
      access: { roles: ['editor'] },
      contacts: ['ops@web.example'],
      claims: ownClaims,
      id_token_claims: 'conform',
      require_pkce: false,
    });
    await from.applications.createOidc({
      client_id: 'spa',
      token_endpoint_auth_method: 'none',
      redirect_uris: ['https://spa.example/'],
    });
    await from.applications.createOidc({
      client_id: 'bank',
      profile: 'fapi2-signing',
      redirect_uris: ['https://bank.example/cb'],
      jwks_uri: 'https://bank.example/jwks',
    });
    const answer = { consent: 'implicit', access: 'everyone', enabled: true } as const;
    const settings = {
      name_id_format: 'emailAddress',
      force_name_id_format: true,
      session_not_on_or_after: 'none',
      ignore_requested_authn_context: true,
      require_allow_create: false,
      attributes: { mail: 'email' },
      sign: 'both',
      encrypt_assertion: 'auto',
      idp_initiated: true,
      allow_sha1: false,
      allow_cbc: false,
    } as const;
    await from.applications.createSaml({
      ...answer,
      entityId: 'https://wiki.example/sp',
      name: 'Wiki',
      settings: { ...settings, metadata_xml: xml },
    });
    const acs = [
      { url: 'https://crm.example/acs', index: 0, default: true },
      { url: 'https://crm.example/acs2', index: 1, default: false },
    ];
    await from.applications.createSaml({
      ...answer,
      enabled: false,
      entityId: 'urn:crm',
      name: 'CRM',
      settings: { ...settings, acs },
    });
    const alice = await from.accounts.create({
      username: 'Alice',
      email: 'alice@example.com',
      emailVerified: true,
      ...profile,
      address,
      attributes: { department: 'Sales: "EU"', level: 3, teams: ['a', 'b'] },
    });
    await from.roles.assign(alice.id, 'editor');
    await from.roles.assign(alice.id, 'admin');
    await from.credentials.setPassword(alice, 'a secret pass phrase of alice');
    await from.accounts.create({ username: 'bob', isEnabled: false });
    text = await from.export();
  });

  it('omits secrets, built-in roles and default values', async () => {
    expect(text).not.toMatch(/argon2|client_secret:|password:|auditor|RS256|grant_types: \[authorization_code\]$/m);
    expect(text).toContain('mfa: required');
    expect(text).toContain('profile: fapi2-signing');
    expect(text).toMatch(/^# Exported from Gatehouse/);
  });

  it('restores the same configuration on an empty server', async () => {
    const result = await to.apply(text);
    expect(lines(result)).toHaveLength(10);
    expect(result).toMatchObject({ plan: { warnings: [expect.stringContaining('client web has no secret')] } });
    expect(await to.export()).toBe(text);
    const [there, here] = [await to.accounts.findByLogin('alice'), await from.accounts.findByLogin('alice')];
    expect(there).toMatchObject({ id: here?.id, attributes: here?.attributes, roles: ['admin', 'editor'] });
    expect(there).toMatchObject({ ...profile, phoneNumber: here?.phoneNumber, address, phoneNumberVerified: false });
    expect(here?.phoneNumber).toMatch(/^\+43/);
    const client = { claims: ownClaims, id_token_claims: 'conform', require_pkce: false };
    expect((await to.applications.find('web'))?.metadata).toMatchObject(client);
    expect((await to.applications.find('https://wiki.example/sp'))?.metadata).toMatchObject({ metadata_xml: xml });
    expect(lines(await to.apply(text))).toEqual([]);
  });

  it('changes no secret on the server that exported it', async () => {
    const secrets = () =>
      Promise.all([from.db.asStored.clientSecret.findMany(), from.db.asStored.passwordCredential.findMany()]);
    const before = await secrets();
    const result = await from.apply(text);
    for (const line of lines(result)) expect(line).toMatch(/^change .* \(source\)$/);
    expect(await secrets()).toEqual(before);
    expect(result).toMatchObject({ plan: { warnings: [] } });
  });
});

describe('the export of a server with something of each kind', () => {
  const RICH = `
settings:
  session_hours: 8
  brand_logo: ${dataUrl(aPng())}
  user_attributes: { type: object, properties: { desk: { type: string } } }
resources:
  - { identifier: https://api.example, scopes: [read], scope_permissions: { read: 'articles:read' }, access: { groups: [Lab] } }
clients:
  - { client_id: web, client_secret: ${'s'.repeat(43)}, redirect_uris: [https://web.example/cb], access: { roles: [editor], groups: [Lab] }, ask_group: true }
  - { client_id: spa, redirect_uris: [https://spa.example/cb], token_endpoint_auth_method: none, groups_filter: ['La*'] }
service_providers: [{ name: Wiki, entity_id: https://wiki.example/sp, acs_url: https://wiki.example/acs, attributes: { groups: groups } }]
roles: [{ name: editor, permissions: [articles:read, articles:write] }, { name: desk, permissions: ['gatehouse.users[group:Lab]:read'] }]
connections:
  - { id: corp, kind: oidc, name: Corp, issuer: https://corp.example, client_id: x, client_secret: yyyyyyyyyyyyyyyy, group_mappings: { staff: [Lab] }, role_mappings: { editors: [editor] } }
  - { id: tree, kind: ldap, name: Tree, url: ldaps://ldap.example, base_dn: 'dc=example', bind_dn: 'cn=x', bind_password: secret-of-tree, preset: generic }
groups:
  - { name: All, groups: [Lab], roles: [editor] }
  - { name: Lab, description: 'The "Lab"', members: [alice, { username: zoe, until: 2030-12-31T00:00:00Z }], owners: [zoe], domains: [lab.example], requests: true }
users:
  - { username: alice, email: alice@example.com, roles: [editor, { name: desk, until: 2030-01-01T00:00:00Z }], attributes: { desk: '7' }, password: a long pass phrase that is fine }
  - { username: zoe, active: false }
sign_up_codes: [{ name: Partners, code: ABCD-EFGH-JKLM-NPQR, max_uses: 5 }]
`;
  let server: Bench;
  beforeAll(async () => {
    server = await configFileBench();
    expect(lines(await server.apply(RICH))).toEqual(expect.not.arrayContaining([expect.stringMatching(/^f:/)]));
    // What the console manages.
    await server.configFile.release(await server.configFile.entries(), {});
  });
  afterAll(() => server.close());

  it.each(
    some(2, [
      ['everything', {}],
      ['no users', { withUsers: false }],
      ['settings and roles', { only: ['settings', 'roles', 'groups'], withUsers: false }],
    ]),
  )('is accepted by a fresh server unchanged: %s', async (_, options) => {
    const text = await server.export(options);
    const fresh = await configFileBench();
    try {
      const applied = await fresh.apply(text);
      expect(lines(applied)).toEqual(expect.not.arrayContaining([expect.stringMatching(/^f:/)]));
      expect(lines(await fresh.plan(text))).toEqual([]);
      const codeless = text.replace(/sign_up_codes:[\s\S]*/, '');
      expect((await fresh.export(options)).trimEnd()).toBe(codeless.trimEnd());
    } finally {
      await fresh.close();
    }
  });

  it('has no users, members and owners without users, and only the named sections', async () => {
    expect(await server.export({ withUsers: false })).not.toMatch(/alice|zoe|members|owners/);
    const only = await server.export({ only: ['clients'] });
    expect(only).toMatch(/^clients:/m);
    expect(only).not.toMatch(/^(settings|users|groups|roles|connections):/m);
  });

  it('changes nothing but the source on the server that wrote it, without users', async () => {
    const text = (await server.export({ withUsers: false })).replace(/sign_up_codes:[\s\S]*/, '');
    const plan = lines(await server.plan(text));
    expect(plan.filter((line) => !/^change .* \(source\)$/.test(line))).toEqual([]);
    await server.apply(text);
    const { id } = (await server.groups.find('Lab')) ?? expect.fail('no group');
    expect([await server.groups.owners(id), await server.groups.members(id)]).toMatchObject([[{}], [{}, {}]]);
    await server.configFile.release(await server.configFile.entries(), {});
  });

  it('has pictures as files', async () => {
    const folder = testFolder();
    const text = await server.export({
      savePicture(name, bytes) {
        writeFileSync(path.join(folder, name), bytes);
        return `./${name}`;
      },
    });
    expect(text).not.toContain('base64');
    const fresh = await configFileBench();
    try {
      const file = path.join(folder, 'gatehouse.yaml');
      expect(lines(await fresh.apply(text, file))).toContain('create settings brand_logo');
      expect(await fresh.export()).toContain('base64');
      expect(lines(await fresh.apply(text, file))).toEqual([]);
    } finally {
      await fresh.close();
    }
  });
});
