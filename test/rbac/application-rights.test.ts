// Staff who may register applications try to give an application, and so themselves, what they do not hold: by each field of a
// registration, by identifiers of the server itself, and by names that look like others.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminApi, scimApi } from '../../src/people/rbac/built-in.ts';
import { createRegistrationTokens } from '../../src/protocols/oidc/store/registration-tokens.ts';
import { consoleOf } from '../admin/console/support.ts';
import { type ApiCaller, aPerson, aTool } from '../admin/support.ts';
import type { TestUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { sharedIdp } from '../support/shared-idp.ts';

const anyVersion = { 'if-match': '*' };
const cb = { redirect_uris: ['https://field-rights.example/cb'] };

let idp: TestIdp;
let admin: ApiCaller;
let manager: ApiCaller;
let reader: ApiCaller;
let limited: ApiCaller;
let known: string;
let wiki: string;
let count = 0;
beforeAll(async () => {
  idp = await sharedIdp();
  const { roles, applications } = idp.services;
  await roles.create({ name: 'field-reader', permissions: ['gatehouse.users:read'] });
  const right = (action: string) => `gatehouse.applications[application:field-wiki]:${action}`;
  await roles.create({ name: 'field-wiki-owner', permissions: [right('read'), right('write')] });
  await roles.create({ name: 'field-boss' });
  const tool = await aTool(idp);
  admin = await aPerson(idp, ['admin'], { tool });
  manager = await aPerson(idp, ['application-manager'], { tool });
  reader = await aPerson(idp, ['application-manager', 'field-reader'], { tool });
  limited = await aPerson(idp, ['field-wiki-owner'], { tool });
  const all = { ...cb, client_id: 'field-known', access_evaluation: 'all_users' as const };
  known = (await applications.createOidc(all)).application.id;
  wiki = (await applications.createOidc({ ...cb, client_id: 'field-wiki' })).application.id;
});

const fresh = () => {
  count += 1;
  return `field-${count}`;
};
const oidc = (fields: object) => ({ protocol: 'oidc', client_id: fresh(), ...cb, ...fields });
const saml = (fields: object) => {
  const id = `https://${fresh()}.example/sp`;
  return { protocol: 'saml', name: id, entity_id: id, acs_url: `${id}/acs`, ...fields };
};
const register = (who: ApiCaller, declared: object) => who.send('POST', '/applications', declared);
const patch = (who: ApiCaller, id: string, fields: object) =>
  who.send('PATCH', `/applications/${id}`, fields, anyVersion);
const statusOf = async (answer: Promise<Page>) => (await answer).status;

describe('an application manager', () => {
  const exposing = [
    { access_evaluation: 'all_users' },
    { permissions_filter: ['gatehouse.*'] },
    { permissions_filter: ['wiki:*', 'gatehouse.users:read'] },
  ];

  it('registers no application that learns what its manager may not read', async () => {
    for (const fields of exposing) {
      expect(await statusOf(register(manager, oidc(fields))), JSON.stringify(fields)).toBe(403);
      const { id } = (await register(manager, oidc({}))).json<{ id: string }>();
      expect(await statusOf(patch(manager, id, fields)), JSON.stringify(fields)).toBe(403);
      expect(await statusOf(register(reader, oidc(fields)))).toBe(201);
      expect(await statusOf(register(admin, oidc(fields)))).toBe(201);
    }
    const view = { attributes: { rights: 'permissions' }, permissions_filter: ['gatehouse.*'] };
    expect(await statusOf(register(manager, saml(view)))).toBe(403);
    expect(await statusOf(register(reader, saml(view)))).toBe(201);
  });

  it('gets no secret of such an application, and changes nothing of it', async () => {
    expect(await statusOf(manager.send('POST', `/applications/${known}/secrets`, {}))).toBe(403);
    expect(await statusOf(patch(manager, known, { client_name: 'Mine' }))).toBe(403);
    expect(await statusOf(patch(manager, known, { access_evaluation: null }))).toBe(403);
    expect(await statusOf(manager.send('POST', `/applications/${known}/disable`))).toBe(403);
    expect(await statusOf(reader.send('POST', `/applications/${known}/secrets`, {}))).toBe(201);
  });

  it('does not tick it in the console', async () => {
    const pages = await consoleOf(idp, manager.user as TestUser);
    const { id } = (await register(manager, oidc({}))).json<{ id: string }>();
    const form = await pages.get(`/admin/applications/${id}/settings`);
    expect((await pages.submit(form, { access_evaluation: 'on' })).status).toBe(403);
    const { metadata } = (await idp.services.applications.get(id)) as { metadata: { access_evaluation?: string } };
    expect(metadata.access_evaluation).toBeUndefined();
  });

  it('names no role for others that it neither has nor may manage', async () => {
    for (const roles_rename of [{ 'application-manager': 'field-boss' }, { 'field-boss': 'Clerk' }]) {
      expect(await statusOf(register(manager, oidc({ roles_rename })))).toBe(403);
      expect(await statusOf(register(manager, saml({ roles_rename })))).toBe(403);
    }
    const roles_rename = { 'field-boss': 'Administrators' };
    const { id } = (await register(admin, oidc({ roles_rename }))).json<{ id: string }>();
    const both = { roles_rename: { 'application-manager': 'Administrators' } };
    expect(await statusOf(patch(manager, id, both))).toBe(403);
    expect(await statusOf(patch(manager, id, { roles_rename: null }))).toBe(403);
    expect(await statusOf(patch(manager, id, { client_name: 'Another name' }))).toBe(200);
    expect(await statusOf(register(manager, oidc({ roles_rename: { 'application-manager': 'Owner' } })))).toBe(201);
  });

  it('opens no closed part of a website, and closes none', async () => {
    const closed = { path: '/admin/', rule: { roles: ['field-boss'] } };
    const isPublic = { path: '/', rule: 'public' };
    const site = { name: 'Site', protocol: 'proxy', proxy: 'caddy' };
    const declare = (paths: object[]) => ({ ...site, url: `https://${fresh()}.example`, paths });
    expect(await statusOf(register(manager, declare([closed])))).toBe(403);
    expect(await statusOf(register(manager, declare([isPublic, { path: '/admin/', rule: 'mfa' }])))).toBe(201);
    const { id } = (await register(admin, declare([isPublic, closed]))).json<{ id: string }>();
    // Without the rule, the part is public as all of the website.
    for (const paths of [[isPublic], [], [isPublic, { ...closed, methods: ['POST'] }]])
      expect(await statusOf(patch(manager, id, { paths })), JSON.stringify(paths)).toBe(403);
    expect(await statusOf(patch(manager, id, { name: 'Other', paths: [isPublic, closed] }))).toBe(200);
    const access = { roles: ['field-boss'] };
    const inner = (await register(admin, { ...declare([]), access })).json<{ id: string }>();
    expect(await statusOf(patch(manager, inner.id, { paths: [{ path: '/x', rule: 'public' }] }))).toBe(403);
    expect(await statusOf(patch(manager, inner.id, { paths: [{ path: '/x', rule: 'mfa' }] }))).toBe(200);
  });

  it('lets no program of its own into a website for a role that it may not give', async () => {
    const url = `https://${fresh()}.example`;
    const site = { name: 'Site', protocol: 'proxy', proxy: 'caddy', url, access: { roles: ['field-boss'] } };
    const { id } = (await register(admin, site)).json<{ id: string }>();
    expect(await statusOf(patch(manager, id, { access_tokens: 'all' }))).toBe(403);
    expect(await statusOf(patch(manager, id, { access_tokens: 'users' }))).toBe(200);
    expect(await statusOf(patch(admin, id, { access_tokens: 'all' }))).toBe(200);
    expect(await statusOf(patch(manager, id, { access_tokens: 'none' }))).toBe(403);
    const program = {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: [url],
      scope: 'website:access',
    };
    expect(await statusOf(register(manager, oidc(program)))).toBe(403);
    expect(await statusOf(register(manager, oidc({ ...program, resources: [`${url}/`] })))).toBe(403);
    // A client that acts for users gets in by their roles.
    const other = (await register(manager, oidc({ resources: [url], scope: 'openid website:access' }))).json<{
      id: string;
    }>();
    const grants = { grant_types: ['authorization_code', 'client_credentials'] };
    expect(await statusOf(patch(manager, other.id, grants))).toBe(403);
    expect(await statusOf(register(admin, oidc(program)))).toBe(201);
    const open = `https://${fresh()}.example`;
    expect(await statusOf(register(manager, { ...site, url: open, access: 'everyone', access_tokens: 'all' }))).toBe(
      201,
    );
    expect(await statusOf(register(manager, oidc({ ...program, resources: [open] })))).toBe(201);
  });

  it('takes over no client that a website lets in for a role that it may not give', async () => {
    const url = `https://${fresh()}.example`;
    const site = { name: 'Site', protocol: 'proxy', proxy: 'caddy', url, access_tokens: 'all' };
    await register(admin, { ...site, access: { roles: ['field-boss'] } });
    const program = { grant_types: ['client_credentials'], resources: [url], scope: 'website:access' };
    const { id } = (await register(admin, oidc(program))).json<{ id: string }>();
    const { keys } = (await httpClient(idp.issuer).get('/jwks')).json<{ keys: object[] }>();
    const jwks = { jwks: { keys }, token_endpoint_auth_method: 'private_key_jwt' };
    for (const fields of [
      { client_name: 'Mine' },
      { redirect_uris: ['https://mine.example/cb'] },
      jwks,
      { access: 'everyone' },
    ])
      expect(await statusOf(patch(manager, id, fields)), JSON.stringify(fields)).toBe(403);
    const secrets = `/applications/${id}/secrets`;
    expect(await statusOf(manager.send('POST', secrets, {}))).toBe(403);
    const [one] = (await admin.send('GET', `/applications/${id}`)).json<{ secrets: { id: string }[] }>().secrets;
    expect(await statusOf(manager.send('DELETE', `${secrets}/${one?.id}`))).toBe(403);
    for (const action of ['disable', 'enable'])
      expect(await statusOf(manager.send('POST', `/applications/${id}/${action}`))).toBe(403);
    expect(await statusOf(manager.send('DELETE', `/applications/${id}`, undefined, anyVersion))).toBe(403);
    expect(await statusOf(admin.send('POST', secrets, {}))).toBe(201);
    // Whose role the access rule names may.
    const tool = await aTool(idp);
    const boss = await aPerson(idp, ['application-manager', 'field-boss'], { tool });
    expect(await statusOf(boss.send('POST', secrets, {}))).toBe(201);
  });

  it('takes over no client of a SCIM connection', async () => {
    const scim = { resources: [scimApi(idp.issuer)], scope: 'scim', grant_types: ['client_credentials'] };
    await idp.services.roles.create({
      name: 'field-connector',
      permissions: ['applications:read', 'applications:write', 'connections:write'].map((one) => `gatehouse.${one}`),
    });
    for (const one of [manager, await aPerson(idp, ['field-connector'])])
      expect(await statusOf(register(one, oidc(scim)))).toBe(403);
    const { id } = (await register(admin, oidc(scim))).json<{ id: string }>();
    expect(await statusOf(manager.send('POST', `/applications/${id}/secrets`, {}))).toBe(403);
    expect(await statusOf(patch(manager, id, { jwks_uri: 'https://mine.example/jwks' }))).toBe(403);
    expect(await statusOf(admin.send('POST', `/applications/${id}/secrets`, {}))).toBe(201);
  });

  it('gives an application no right in Gatehouse that it lacks', async () => {
    const api = { resources: [adminApi(idp.issuer)], grant_types: ['client_credentials'], redirect_uris: [] };
    for (const scope of ['admin:*', 'gatehouse.users:read', 'gatehouse.applications:read gatehouse.keys:write'])
      expect(await statusOf(register(manager, oidc({ ...api, scope })))).toBe(403);
    expect(await statusOf(register(manager, oidc({ ...api, scope: 'gatehouse.applications:read' })))).toBe(201);
  });
});

describe('the manager of one application', () => {
  it('opens no API for it', async () => {
    const api = { resources: ['https://payroll.example'], scope: 'openid payroll:read' };
    expect(await statusOf(patch(limited, wiki, api))).toBe(403);
    expect(await statusOf(patch(limited, wiki, { client_name: 'Wiki', scope: 'openid profile' }))).toBe(200);
    expect(await statusOf(patch(manager, wiki, api))).toBe(200);
    expect(await statusOf(patch(limited, wiki, { scope: 'openid payroll:read payroll:write' }))).toBe(403);
    expect(await statusOf(patch(limited, wiki, { scope: 'openid payroll:read', client_name: 'Still mine' }))).toBe(200);
  });
});

describe('a client that registers itself', () => {
  const send = async (metadata: object) => {
    const { token } = await createRegistrationTokens(idp.services).issue();
    const headers = { authorization: `Bearer ${token}` };
    return httpClient(idp.issuer).post('/register', { json: { ...cb, ...metadata }, headers });
  };

  it('gets nothing beyond a registration for everyone', async () => {
    const page = await send({
      access_evaluation: 'all_users',
      permissions_filter: ['gatehouse.*'],
      roles_rename: { user: 'admin' },
      resources: [adminApi(idp.issuer)],
      scope: 'openid admin:*',
      consent: 'implicit',
      claims: { x: 'roles' },
    });
    if (page.status !== 201) return expect(page.status).toBe(400);
    const { client_id: id } = page.json<{ client_id: string }>();
    const application = await idp.services.applications.find(id);
    expect(application?.consent).toBe('explicit');
    const metadata = application?.metadata as Record<string, unknown>;
    expect(metadata.resources).toEqual([]);
    for (const field of ['access_evaluation', 'permissions_filter', 'roles_rename', 'claims'])
      expect(metadata[field]).toBeUndefined();
  });

  it('takes no name of a registered application or of the server', async () => {
    await idp.services.applications.createOidc({ ...cb, client_id: fresh(), client_name: 'Payroll portal' });
    const own = (await send({ client_name: 'Portal of mine' })).json<Record<string, string>>();
    let token = own.registration_access_token;
    const rename = async (client_name: string) => {
      const json = { ...cb, client_id: own.client_id, client_name };
      const headers = { authorization: `Bearer ${token}` };
      const page = await httpClient().request('PUT', own.registration_client_uri ?? '', { json, headers });
      if (page.status === 200) token = page.json<Record<string, string>>().registration_access_token;
      return page.status;
    };
    for (const client_name of [
      'Payroll portal',
      'PAYROLL  portal',
      'Pаyroll portal',
      'Pay\u200droll portal',
      'gatehouse',
    ]) {
      expect(await statusOf(send({ client_name })), client_name).toBe(400);
      expect(await rename(client_name), client_name).toBe(400);
    }
    expect(await rename('Our portal')).toBe(200);
    expect(await statusOf(send({ client_name: 'Pay\u202eroll' }))).toBe(400);
    expect(await statusOf(send({ client_name: 'My own tool' }))).toBe(201);
    expect(await statusOf(send({ client_name: 'My own tool' }))).toBe(201);
  });
});

describe('an identifier of the server itself', () => {
  const variantsOf = (url: string) => [
    ...[url, `${url}/`, `${url}//`, `${url}?x=1`, `${url}/.`, url.toUpperCase(), url.replace('http:', 'https:')],
    ...[url.replace(/.$/, (last) => `%${last.charCodeAt(0).toString(16)}`), url.replace('//', '//user@')],
  ];

  it('is given to no application', async () => {
    for (const client_id of ['gatehouse', 'Gatehouse', 'gatehous%65', idp.issuer, `${idp.issuer}/`])
      expect(await statusOf(register(admin, oidc({ client_id }))), client_id).toBe(400);
    for (const base of [idp.issuer, `${idp.issuer}/saml/metadata`, adminApi(idp.issuer), 'gatehouse', 'gаtehouse'])
      for (const entity_id of base.startsWith('http') ? variantsOf(base) : [base])
        expect(await statusOf(register(admin, saml({ entity_id }))), entity_id).toBe(400);
    expect(await idp.services.applications.find('gatehouse')).toBeUndefined();
  });

  it('is given to no API', async () => {
    for (const base of [adminApi(idp.issuer), `${idp.issuer}/access/v1`, idp.issuer, `${idp.issuer}/saml/metadata`])
      for (const identifier of variantsOf(base))
        expect(await statusOf(admin.send('POST', '/resources', { identifier, scopes: [] })), identifier).toBe(400);
  });

  it('is declared by no configuration file', async () => {
    const text = [
      `resources: [{ identifier: '${adminApi(idp.issuer)}/' }]`,
      'clients: [{ client_id: Gatehouse, redirect_uris: [https://field-rights.example/cb] }]',
      `service_providers: [{ name: Twin, entity_id: '${idp.issuer}/saml/metadata/', acs_url: https://sp.example/acs }]`,
    ].join('\n');
    const headers = { 'content-type': 'application/yaml' };
    const answer = await admin.send('POST', '/configuration/plan', text, headers);
    expect(answer.status, answer.text).toBe(400);
    const fields = answer.json<{ errors: { path: string }[] }>().errors.map(({ path }) => path);
    expect(fields).toEqual(['resources[0].identifier', 'clients[0].client_id', 'service_providers[0]']);
  });
});

describe('a name that looks like another', () => {
  it('is given to no role', async () => {
    await idp.services.roles.create({ name: 'field-editor' });
    const id = (await idp.services.roles.find('field-boss'))?.id;
    const OWN = ['gatehouse.users:read', 'Gatehouse.x', 'gаtehouse.users:write'];
    for (const name of [
      'ADMIN',
      'Admin',
      'аdmin',
      'ａdmin',
      'ad\u115fmin',
      'admin\u200b',
      'Auditor',
      'FIELD-EDITOR',
      ...OWN,
    ]) {
      expect([400, 409], name).toContain(await statusOf(admin.send('POST', '/roles', { name })));
      expect([400, 409], name).toContain(await statusOf(admin.send('PATCH', `/roles/${id}`, { name }, anyVersion)));
    }
    expect(await statusOf(admin.send('PATCH', `/roles/${id}`, { name: 'Field-Boss' }, anyVersion))).toBe(200);
    expect(await statusOf(admin.send('PATCH', `/roles/${id}`, { name: 'field-boss' }, anyVersion))).toBe(200);
  });

  it('is given to no permission', async () => {
    await idp.services.roles.create({ name: 'field-writer', permissions: ['field-articles:write'] });
    for (const permission of [
      'Gatehouse.users:read',
      'gаtehouse.users:write',
      'field-аrticles:write',
      'x\u115f:read',
    ]) {
      const answer = admin.send('POST', '/roles', { name: fresh(), permissions: [permission] });
      expect(await statusOf(answer), permission).toBe(400);
    }
  });
});
