// What is exported, applied to an empty server, gives the same; and applied where it came from, changes no secret.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRows } from '../support/database/row-macs.ts';
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
    await from.accounts.create({ username: 'bob', isActive: false });
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
