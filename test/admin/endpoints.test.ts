// Every endpoint of the admin API once with success, checked against its own OpenAPI document: status, media type, headers
// and body of every response, and the body of every accepted request.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { serviceProvider, settingsOf } from '../../src/applications/fields/service-provider.ts';
import { aPng } from '../brand/pictures.ts';
import { aReceiver } from '../event-streams/support.ts';
import { anApplication } from '../oidc/support.ts';
import { aClient, aUser, PASSWORD } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type ApiCaller, anOwner, aPerson, aService, described } from './support.ts';

const metadata = `<?xml version="1.0"?>
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://wiki.example/sp">
  <SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <AssertionConsumerService index="0" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://wiki.example/acs"/>
  </SPSSODescriptor>
</EntityDescriptor>`;

let idp: TestIdp;
let admin: ApiCaller;
beforeAll(async () => {
  idp = await startIdp();
  admin = await aService(idp);
});
afterAll(() => idp?.stop());

/** Expects this status, and gives the body. */
async function ok<T = Record<string, unknown>>(
  method: string,
  path: string,
  body?: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Promise<T & { etag: string }> {
  const page = await admin.send(method, path, body, headers);
  expect(page.status, page.text).toBe(status);
  return { ...(page.text ? page.json<T & object>() : ({} as T)), etag: page.headers.etag ?? '' };
}
const ifMatch = (etag: string) => ({ headers: { 'if-match': etag } });

describe('the description', () => {
  it('is an OpenAPI 3.1 document without dangling references, and a page for people', async () => {
    const { document } = await described(idp);
    expect(document.openapi).toBe('3.1.0');
    const text = JSON.stringify(document);
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      expect(document.components.schemas).toHaveProperty(name);
    const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((one) => one.operationId));
    expect(new Set(ids).size).toBe(ids.length);
    const page = await httpClient(idp.issuer).get('/api/docs');
    expect(page.text).toContain('<code>gatehouse.roles:write or gatehouse.users:write</code>');
    expect(page.text).not.toContain('[object');
    expect(page.status).toBe(200);
    for (const path of Object.keys(document.paths)) expect(page.text).toContain(path);
  });
});

describe('users', () => {
  it('are created, found, changed, put into roles and deleted', async () => {
    const fields = { username: 'ann', email: 'ann@example.com', name: 'Ann Example', given_name: 'Ann' };
    const made = await ok<{ id: string; one_time_password: string }>('POST', '/users', fields, { status: 201 });
    expect(made).toMatchObject({ ...fields, active: true, source: 'local', roles: [], email_verified: false });
    expect(made.one_time_password.length).toBeGreaterThan(20);
    const path = `/users/${made.id}`;
    const read = await ok('GET', path);
    expect(read).toMatchObject({ ...fields, password: { must_change: true }, locked_seconds: 0 });
    expect(await ok('GET', '/users?search=ANN%20ex&state=active&source=local&limit=1')).toMatchObject({
      items: [{ id: made.id, username: 'ann' }],
    });
    const changed = await ok('PATCH', path, { email: null, locale: 'de' }, ifMatch(made.etag));
    expect(changed).toMatchObject({ email: null, locale: 'de', given_name: 'Ann' });
    const inRoles = await ok('PUT', `${path}/roles`, { roles: ['auditor'] }, ifMatch(changed.etag));
    expect(inRoles).toMatchObject({ roles: ['auditor'] });
    expect(await ok('GET', '/users?role=auditor')).toMatchObject({ items: [{ id: made.id }], next: null });
    await ok('DELETE', path, undefined, { status: 204, ...ifMatch(inRoles.etag) });
    expect((await admin.get(path)).status).toBe(404);
  });

  it('are invited, disabled, enabled, and helped when they cannot sign in', async () => {
    const bob = { username: 'bob', email: 'bob@example.com', invite: true };
    const path = `/users/${(await ok('POST', '/users', bob, { status: 201 })).id}`;
    await ok('POST', `${path}/invite`, undefined, { status: 202 });
    expect(await ok('POST', `${path}/disable`)).toMatchObject({ active: false });
    expect((await admin.send('POST', `${path}/invite`)).status).toBe(409);
    expect(await ok('POST', `${path}/enable`)).toMatchObject({ active: true });
    const picture = `data:image/png;base64,${aPng().toString('base64')}`;
    expect(await ok('PUT', `${path}/picture`, { picture })).toMatchObject({
      picture: expect.stringContaining('/assets/person-'),
    });
    const { id } = await ok<{ id: string }>('POST', `${path}/notes`, { text: 'Works from home' }, { status: 201 });
    expect(await ok('GET', `${path}/notes`)).toMatchObject({ items: [{ id, text: 'Works from home' }] });
    await ok('DELETE', `${path}/notes/${id}`, undefined, { status: 204 });
    expect(await ok('POST', `${path}/password`, { password: PASSWORD })).toEqual({ etag: '' });
    const late = await admin.send('POST', `${path}/invite`);
    expect([late.status, late.json()]).toEqual([
      409,
      expect.objectContaining({ detail: expect.stringContaining('This user can already sign in') }),
    ]);
    const tried = await ok<{ id: string }>(
      'POST',
      '/imports',
      { csv: 'username\nfrom-csv', trial: true },
      { status: 202 },
    );
    const ofImport = `/imports/${tried.id}`;
    await expect.poll(() => ok('GET', ofImport)).toMatchObject({ state: 'prepared', done: 1 });
    const rows = await ok('GET', `${ofImport}/rows`);
    expect(rows).toMatchObject({ items: [{ username: 'from-csv', result: 'created' }] });
    expect(await ok('POST', `${ofImport}/start`)).toMatchObject({ trial: false });
    expect(await ok('GET', '/imports')).toMatchObject({ items: [{ id: tried.id }] });
    // One at a time.
    await expect.poll(() => ok('GET', ofImport)).toMatchObject({ state: 'done' });
    const cancelled = { csv: 'username\ncancelled', trial: true };
    const { id: unwanted } = await ok<{ id: string }>('POST', '/imports', cancelled, { status: 202 });
    expect(await ok('POST', `/imports/${unwanted}/cancel`)).toMatchObject({ id: unwanted });
    const both = { username: 'both', email: 'both@example.com', invite: true, password: PASSWORD };
    expect((await admin.send('POST', '/users', both)).status).toBe(400);
    expect(await ok('POST', `${path}/password`, {})).toHaveProperty('one_time_password');
    await ok('POST', `${path}/password-change`);
    await ok('POST', `${path}/password-reset`, undefined, { status: 202 });
    await ok('POST', `${path}/unlock`);
    await idp.services.db.phoneFactor.create({
      data: { userId: path.slice('/users/'.length), number: '+491701234567', confirmedAt: new Date() },
    });
    const phone = { id: 'phone', kind: 'phone', name: '+491701234567', last_used_at: null };
    expect(await ok('GET', `${path}/factors`)).toMatchObject({ items: [phone] });
    await ok('DELETE', `${path}/factors/phone`, undefined, { status: 204 });
    expect((await admin.send('DELETE', `${path}/factors/phone`)).status).toBe(404);
    expect(await ok('GET', `${path}/factors`)).toMatchObject({ items: [] });
    await ok('POST', `${path}/reset-factors`);
    await ok('POST', `${path}/allow-factor`);
  });

  it('are exported', async () => {
    const { account } = await aUser(idp.services);
    expect(await ok('POST', `/users/${account.id}/export`)).toMatchObject({ sub: account.id });
  });

  it('have app passwords, which can be looked at and revoked', async () => {
    const { account } = await aUser(idp.services);
    const website = { name: 'Wiki', url: 'https://behind.example', proxy: 'caddy', app_passwords: true } as const;
    const { id: applicationId } = await idp.services.applications.createProxied(website);
    await idp.services.appPasswords.create(account, { applicationId, name: 'Calendar' }, {});
    const path = `/users/${account.id}/app-passwords`;
    const { items } = await ok<{ items: { id: string }[] }>('GET', path);
    expect(items).toMatchObject([{ name: 'Calendar', website: website.url, last_used_at: null }]);
    await ok('DELETE', `${path}/${items[0]?.id}`, undefined, { status: 204 });
    expect((await admin.send('DELETE', `${path}/${items[0]?.id}`)).status).toBe(404);
    expect(await ok('GET', path)).toMatchObject({ items: [] });
  });

  it('have apps and agents with access, which can be looked at and ended', async () => {
    const { account } = await aUser(idp.services);
    const { applicationId, clientId } = await aClient(idp.services, { redirect_uris: ['https://allowed.example/cb'] });
    const granted = { scopes: ['openid'], claims: ['email'], resources: { 'https://api.example': ['notes:read'] } };
    await idp.services.consents.allow(account.id, applicationId, granted);
    const path = `/users/${account.id}/consents`;
    expect(await ok('GET', path)).toMatchObject({
      items: [{ application: applicationId, client_id: clientId, is_implicit: false, last_used_at: null, ...granted }],
    });
    await ok('DELETE', `${path}/${applicationId}`, undefined, { status: 204 });
    expect((await admin.send('DELETE', `${path}/${applicationId}`)).status).toBe(404);
    expect(await ok('GET', path)).toMatchObject({ items: [] });
  });

  it('have sessions, which can be looked at and ended', async () => {
    const { user, app } = await aPerson(idp, []);
    const mine = `/users/${user?.account.id}/sessions`;
    const { items } = await ok<{ items: { uid: string; username: string }[] }>('GET', mine);
    expect(items).toMatchObject([{ username: user?.username }]);
    const path = `/sessions/${items[0]?.uid}`;
    expect(await ok('GET', path)).toMatchObject({ user: user?.account.id, amr: ['pwd'] });
    const all = await ok<{ items: { uid: string }[] }>('GET', '/sessions?limit=200');
    expect(all.items.map(({ uid }) => uid)).toContain(items[0]?.uid);
    await ok('DELETE', path, undefined, { status: 204 });
    expect((await admin.get(path)).status).toBe(404);
    expect(await ok('DELETE', mine)).toMatchObject({ ended: 0 });
    const { items: found } = await ok<{ items: { id: string }[] }>('GET', `/applications?search=${app.clientId}`);
    expect(await ok('DELETE', `/applications/${found[0]?.id}/sessions`)).toMatchObject({ ended: 0 });
  });
});

describe('roles', () => {
  it('are created, changed, listed with their permissions, and deleted', async () => {
    const editor = { name: 'editor', description: 'Edits', permissions: ['articles:read', 'articles:write'] };
    const made = await ok('POST', '/roles', editor, { status: 201 });
    expect(made).toMatchObject({ ...editor, source: 'local' });
    const path = `/roles/${made.id}`;
    expect(await ok('GET', path)).toEqual(made);
    const { items } = await ok<{ items: { permission: string }[] }>('GET', '/permissions?limit=2');
    expect(items.map(({ permission }) => permission)).toEqual(['articles:read', 'articles:write']);
    const changed = await ok('PATCH', path, { permissions: ['articles:read'] }, ifMatch(made.etag));
    expect(changed).toMatchObject({ name: 'editor', permissions: ['articles:read'] });
    const first = await ok<{ next: string; items: { name: string }[] }>('GET', '/roles?limit=3');
    const second = await ok<{ next: null; items: { name: string }[] }>('GET', `/roles?limit=3&cursor=${first.next}`);
    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual([
      'admin',
      'application-manager',
      'auditor',
      'editor',
      'support',
      'user-manager',
    ]);
    await ok('DELETE', path, undefined, { status: 204, ...ifMatch(changed.etag) });
  });
});

describe('groups', () => {
  it('are created, put below others, given people, roles and owners, and deleted', async () => {
    const none = { status: 204 };
    const made = await ok('POST', '/groups', { name: 'Science', description: 'Labs' }, { status: 201 });
    expect(made).toMatchObject({ name: 'Science', path: '/Science', source: 'local', accepts_requests: false });
    const path = `/groups/${made.id}`;
    expect(await ok('GET', path)).toEqual(made);
    const changed = await ok('PATCH', path, { accepts_requests: true }, ifMatch(made.etag));
    expect(changed).toMatchObject({ name: 'Science', description: 'Labs', accepts_requests: true });

    const child = await ok('POST', '/groups', { name: 'Physics' }, { status: 201 });
    await ok('PUT', `${path}/children/${child.id}`, undefined, none);
    const { name: role } = await ok(
      'POST',
      '/roles',
      { name: 'reader', permissions: ['papers:read'] },
      { status: 201 },
    );
    await ok('PUT', `${path}/roles/${role}`, undefined, none);
    const whole = { children: [{ id: child.id, name: 'Physics' }], roles: [role] };
    expect(await ok('GET', path)).toMatchObject(whole);
    expect(await ok('GET', '/groups?search=phys&limit=1')).toMatchObject({
      items: [{ id: child.id, path: '/Science/Physics' }],
      next: null,
    });

    const { account } = await aUser(idp.services);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    expect(await ok('POST', `${path}/members`, { members: [{ user: account.id, until }] })).toMatchObject({
      changed: 1,
    });
    const member = { user: account.id, username: account.username, until };
    const stranger = { members: [{ user: (await aUser(idp.services)).account.id }] };
    expect(await ok('POST', `${path}/members/removal`, stranger)).toMatchObject({ changed: 0 });
    expect(await ok('GET', `${path}/members`)).toMatchObject({
      items: [{ ...member, source: 'direct', source_id: null }],
      next: null,
    });
    const { applicationId: opened } = await anApplication(idp, { access: { roles: [String(role)] } });
    const ways = [{ by: 'role', name: role, given_by: made.name, until }];
    expect(await ok('GET', `/applications/${opened}/people`)).toMatchObject({
      items: [{ user: account.id, ways }],
      next: null,
    });
    const exported = await admin.get(`/applications/${opened}/people/export`);
    expect([exported.status, exported.text.includes(account.username)]).toEqual([200, true]);
    expect(await ok('GET', `/users/${account.id}/applications`)).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ id: opened })]),
    });
    const { id: change } = await idp.services.groupChanges.prepare({
      kind: 'add',
      groupId: String(made.id),
      members: [{ userId: account.id }],
      by: {},
    });
    expect(await ok('GET', `${path}/changes/${change}`)).toMatchObject({ state: 'prepared', total: 1, done: 0 });
    expect(await ok('GET', `${path}/changes`)).toMatchObject({ items: [] });
    await ok('PUT', `${path}/owners/${account.id}`, { until }, none);
    expect(await ok('GET', `${path}/owners`)).toMatchObject({ items: [{ ...member, confirmed: true }] });
    const ofUser = `/users/${account.id}`;
    const owned = { kind: 'group', id: made.id };
    expect(await ok('GET', `${ofUser}/owned`)).toMatchObject({ items: [owned], api_keys: [] });
    const heir = `/users/${(await aUser(idp.services)).account.id}`;
    const handed = await ok('POST', `${ofUser}/hand-over`, { to: heir.slice(7) });
    expect(handed).toMatchObject({ items: [owned] });
    await ok('POST', `${heir}/hand-over`, { to: account.id });
    await ok('PUT', `${ofUser}/groups/${child.id}`, { until }, none);
    expect(await ok('GET', `${ofUser}/groups`)).toMatchObject({
      items: [{ group: child.id, until }, { group: made.id }],
    });
    await ok('DELETE', `${ofUser}/groups/${child.id}`, undefined, none);
    await ok('PUT', `${ofUser}/roles/${role}`, { until }, none);
    const held = { role, since: null, until };
    expect(await ok('GET', `${ofUser}/roles`)).toMatchObject({
      items: [
        { ...held, source: 'direct', source_id: null },
        { ...held, source: 'group', source_id: made.id },
      ],
    });
    await ok('DELETE', `${ofUser}/roles/${role}`, undefined, none);
    await ok('PUT', `${path}/domains/Lab.example`, undefined, none);
    const domain = { domain: 'lab.example', record_name: '_gatehouse.lab.example', proven_at: null };
    expect(await ok('GET', `${path}/domains`)).toMatchObject({ items: [domain] });
    expect(await ok('POST', `${path}/domains/lab.example/check`)).toMatchObject({ result: 'missing' });
    await ok('DELETE', `${path}/domains/lab.example`, undefined, none);
    const losses = { members: 1, children: 1, owners: 1, roles: [role], applications: [] };
    expect(await ok('GET', `${path}/losses`)).toMatchObject(losses);

    await ok('PATCH', path, { accepts_requests: true }, { headers: { 'if-match': '*' } });
    const { applicationId } = await anApplication(idp, {
      access: { roles: [], groups: [(await ok<{ name: string }>('GET', path)).name] },
    });
    const asking = { userId: (await aUser(idp.services)).account.id, groupId: (await ok('GET', path)).id as string };
    await idp.services.groupRequests.ask({ ...asking, applicationId, reason: 'Work', until: null });
    const { items: open } = await ok<{ items: { id: string }[] }>('GET', `${path}/requests`);
    await ok('POST', `${path}/requests/${open[0]?.id}/decision`, { decision: 'decline' }, none);
    await idp.services.applications.remove(applicationId);

    await ok('DELETE', `${path}/owners/${account.id}`, undefined, none);
    await ok('DELETE', `${path}/members/${account.id}`, undefined, none);
    await ok('DELETE', `${path}/roles/${role}`, undefined, none);
    await ok('DELETE', `${path}/children/${child.id}`, undefined, none);
    const nothing = { members: 0, children: 0, owners: 0, roles: [], applications: [] };
    expect(await ok('GET', `${path}/losses`)).toMatchObject(nothing);
    for (const { id, etag } of [await ok('GET', path), await ok('GET', `/groups/${child.id}`)]) {
      await ok('DELETE', `/groups/${id}`, undefined, { ...none, ...ifMatch(etag) });
      expect((await admin.get(`/groups/${id}`)).status).toBe(404);
    }
    await ok('DELETE', `/roles/${(await idp.services.roles.find('reader'))?.id}`, undefined, {
      ...none,
      headers: { 'if-match': '*' },
    });
  });
});

describe('applications', () => {
  it('are registered for OpenID Connect, changed, given secrets, disabled and deleted', async () => {
    const shop = {
      protocol: 'oidc',
      client_id: 'shop',
      client_name: 'Shop',
      redirect_uris: ['https://shop.example/cb'],
    };
    const made = await ok('POST', '/applications', shop, { status: 201 });
    expect(made).toMatchObject({
      identifier: 'shop',
      name: 'Shop',
      client_secret: expect.stringMatching(/^[\w-]{43}$/),
    });
    const path = `/applications/${made.id}`;
    const read = await ok('GET', path);
    expect(read).toMatchObject({ declaration: { client_id: 'shop' }, secrets: [{ expires_at: null }] });
    expect(JSON.stringify(read)).not.toContain(made.client_secret);
    const changed = await ok('PATCH', path, { client_name: 'The shop', consent: 'implicit' }, ifMatch(read.etag));
    expect(changed).toMatchObject({ name: 'The shop', declaration: { consent: 'implicit' } });
    const secret = await ok('POST', `${path}/secrets`, { overlap_seconds: 3600 }, { status: 201 });
    expect(secret.client_secret).not.toBe(made.client_secret);
    const { secrets } = await ok<{ secrets: { id: string }[] }>('GET', path);
    expect(secrets).toMatchObject([{ id: secret.id, expires_at: null }, { expires_at: expect.any(String) }]);
    await ok('DELETE', `${path}/secrets/${secrets[1]?.id}`, undefined, { status: 204 });
    expect(await ok('POST', `${path}/disable`)).toMatchObject({ enabled: false });
    expect(await ok('GET', '/applications?enabled=false&protocol=oidc&search=SHOP')).toMatchObject({
      items: [{ identifier: 'shop' }],
    });
    const { etag } = await ok('POST', `${path}/enable`);
    const now = await ok('GET', path);
    expect(etag).toBe(now.etag);
    await ok('DELETE', path, undefined, { status: 204, ...ifMatch(now.etag) });
  });

  it('are registered for SAML from their metadata, or by hand', async () => {
    expect(await ok('POST', '/saml-metadata', { metadata })).toMatchObject({
      entity_id: 'https://wiki.example/sp',
      acs: [{ url: 'https://wiki.example/acs' }],
    });
    const wiki = { protocol: 'saml', name: 'Wiki', metadata, attributes: { email: 'email' } };
    const made = await ok('POST', '/applications', wiki, { status: 201 });
    expect(made).toMatchObject({ identifier: 'https://wiki.example/sp', declaration: { name: 'Wiki', metadata } });
    const patch = { attributes: { role: 'roles' } };
    expect(await ok('PATCH', `/applications/${made.id}`, patch, ifMatch(made.etag))).toMatchObject({
      declaration: { attributes: { email: 'email', role: 'roles' } },
    });
    const byHand = { name: 'By hand', entity_id: 'https://hand.example', acs_url: 'https://hand.example/acs' };
    await ok('POST', '/applications', { protocol: 'saml', ...byHand }, { status: 201 });
  });

  it('approve or reject the changed metadata of SAML applications', async () => {
    const { applications, db } = idp.services;
    const url = 'https://urls.example/metadata';
    const entry = serviceProvider.parse({ name: 'By URL', metadata_url: url });
    const xml = metadata.replaceAll('wiki.example', 'urls.example');
    const registration = { ...entry, entityId: 'https://urls.example/sp', settings: settingsOf(entry, xml) };
    const { id: applicationId } = await applications.createSaml(registration);
    for (const decision of ['reject', 'approve']) {
      const pendingXml = xml.replace('urls.example/acs', `urls.example/${decision}`);
      const where = { applicationId };
      const waiting = { url, pendingXml, pendingSince: new Date() };
      const mac = idp.services.db.macs.macOf('saml_metadata', { ...where, ...waiting });
      const data = { ...waiting, nextReadAt: new Date(), pendingKey: decision, mac };
      await db.asStored.samlMetadata.upsert({ where, create: { ...where, ...data }, update: data });
      const path = `/applications/${applicationId}/metadata-change`;
      const { document } = await ok<{ document: string }>('GET', path);
      expect(await ok('POST', `${path}/${decision}`, { document })).toMatchObject({ name: 'By URL' });
    }
    await applications.remove(applicationId);
  });

  it('have a picture, which is uploaded, removed and read again', async () => {
    const { applicationId } = await aClient(idp.services, { redirect_uris: ['https://pictured.example/cb'] });
    const path = `/applications/${applicationId}/picture`;
    const picture = `data:image/png;base64,${aPng().toString('base64')}`;
    const uploaded = await ok('PUT', path, { picture });
    expect(uploaded).toMatchObject({ source: 'uploaded', address: expect.stringMatching(/^\/assets\//) });
    expect(await ok('GET', path)).toEqual(uploaded);
    await ok('DELETE', path, undefined, { status: 204 });
    await ok('POST', `${path}/fetch`, undefined, { status: 202 });
  });

  it('have a security profile by one field, which no other field weakens', async () => {
    const keys = { redirect_uris: ['https://bank.example.com/cb'], jwks_uri: 'https://bank.example.com/jwks' };
    const bank = { protocol: 'oidc', client_name: 'Bank', profile: 'fapi2', ...keys };
    const made = await ok<{ id: string; etag: string }>('POST', '/applications', bank, { status: 201 });
    expect(made).not.toHaveProperty('client_secret');
    const demanded = {
      profile: 'fapi2',
      token_endpoint_auth_method: 'private_key_jwt',
      dpop_bound_access_tokens: true,
    };
    expect(made).toMatchObject({ declaration: { ...demanded, id_token_signed_response_alg: 'PS256' } });
    const path = `/applications/${made.id}`;
    for (const [field, value] of [
      ['require_pushed_authorization_requests', false],
      ['id_token_signed_response_alg', 'RS256'],
      ['token_endpoint_auth_method', 'client_secret_basic'],
    ] as const) {
      const page = await admin.send('PATCH', path, { [field]: value }, ifMatch(made.etag).headers);
      expect([page.status, page.json<{ errors: { path: string }[] }>().errors[0]?.path]).toEqual([400, field]);
    }
    const signing = await ok('PATCH', path, { profile: 'fapi2-signing' }, ifMatch(made.etag));
    expect(signing).toMatchObject({ declaration: { ...demanded, profile: 'fapi2-signing', response_modes: ['jwt'] } });
    await ok('DELETE', path, undefined, { status: 204, ...ifMatch(signing.etag) });
  });

  it('request tokens for APIs, which are registered, changed and deleted', async () => {
    const identifier = 'https://api.example.com';
    const made = await ok('POST', '/resources', { identifier, scopes: ['articles:read'] }, { status: 201 });
    const path = `/resources/${encodeURIComponent(identifier)}`;
    expect(await ok('GET', path)).toEqual(made);
    expect(await ok('GET', '/resources')).toMatchObject({ items: [{ identifier, signing_alg: 'RS256' }] });
    const changed = await ok('PATCH', path, { signing_alg: 'ES256' }, ifMatch(made.etag));
    expect(changed).toMatchObject({ signing_alg: 'ES256', scopes: ['articles:read'], scope_permissions: {} });
    const scope_permissions = { 'articles:read': 'articles:read' };
    const tied = await ok('PATCH', path, { scope_permissions }, ifMatch(changed.etag));
    expect(tied).toMatchObject({ scope_permissions });
    for (const [wrong, field] of [
      [{ other: 'articles:read' }, 'scope_permissions.other'],
      [{ 'articles:read': 'gatehouse.users:read' }, 'scope_permissions.articles:read'],
      [{ 'articles:read': 'read' }, 'scope_permissions.articles:read'],
    ] as const) {
      const page = await admin.send('PATCH', path, { scope_permissions: wrong }, ifMatch(tied.etag).headers);
      expect([page.status, page.json<{ errors: { path: string }[] }>().errors[0]?.path]).toEqual([400, field]);
    }
    await ok('DELETE', path, undefined, { status: 204, ...ifMatch(tied.etag) });
  });
});

describe('the server', () => {
  it('has connections that are added, changed, given secrets, checked and deleted', async () => {
    const corp = { id: 'corp', kind: 'oidc', name: 'Corp', issuer: 'https://10.0.0.1', client_id: 'x' };
    const input = {
      ...corp,
      client_secret: 'very-secret',
      domains: ['corp.example'],
      role_mappings: { staff: 'auditor' },
    };
    const made = await ok('POST', '/connections', input, { status: 201 });
    expect(made).toMatchObject({
      ...corp,
      enabled: true,
      source: 'local',
      role_mappings: { staff: ['auditor'] },
      domains: ['corp.example'],
      values: { redirect_uri: `${idp.issuer}/upstream/corp/callback` },
      secrets: [{ purpose: 'client-secret' }],
      domain_proofs: [{ record_name: '_gatehouse.corp.example', proven_at: null }],
    });
    const path = '/connections/corp';
    const changed = await ok('PATCH', path, { name: 'Corp 2', groups_claim: 'groups' }, ifMatch(made.etag));
    expect(changed).toMatchObject({ name: 'Corp 2', groups_claim: 'groups', issuer: corp.issuer });
    const secret = { purpose: 'client-secret', value: 'another-secret', expires_at: '2099-01-01T00:00:00Z' };
    const added = await ok<{ id: string }>('POST', `${path}/secrets`, secret, { status: 201 });
    await ok('DELETE', `${path}/secrets/${added.id}`, undefined, { status: 204 });
    expect(await ok('POST', `${path}/domains/corp.example/check`)).toMatchObject({ result: 'missing' });
    const read = await ok<{ items: { error: string }[] }>('POST', `${path}/documents/refresh`);
    expect(read.items).toMatchObject([
      { kind: 'discovery', error: expect.stringMatching(/private or special network/) },
    ]);
    await ok('POST', `${path}/sessions/end`);
    const details = await ok('GET', path);
    expect(details).toMatchObject({
      documents: [{ kind: 'discovery', read_at: null, failing_since: expect.any(String) }],
    });
    const all = JSON.stringify([made, changed, added, details, await ok('GET', '/connections')]);
    expect(all).not.toMatch(/very-secret|another-secret/);
    await ok('DELETE', path, undefined, { status: 204, ...ifMatch(details.etag) });
  });

  it('creates, lists and revokes API keys of a user', async () => {
    const person = await aPerson(idp, ['admin']);
    const input = { name: 'Backup', permissions: ['gatehouse.users:read'], expires_in_days: 7 };
    const made = await person.send('POST', '/api-keys', input);
    expect(made.status, made.text).toBe(201);
    const { id } = made.json();
    expect(made.headers.location).toBe(`/api/admin/api-keys/${id}`);
    const key = { id, name: 'Backup', state: 'active', owner: { id: person.user?.account.id } };
    expect(await ok('GET', '/api-keys')).toMatchObject({ items: [key], next: null });
    expect(await ok('GET', `/api-keys/${id}`)).toMatchObject(key);
    await ok('DELETE', `/api-keys/${id}`, undefined, { status: 204 });
    expect(await ok('GET', '/api-keys?state=ended')).toMatchObject({ items: [{ ...key, state: 'revoked' }] });
  });

  it('creates, lists and revokes sign-up codes', async () => {
    const input = { name: 'Partners', max_uses: 3, expires_in_days: 7 };
    const made = await ok<{ id: string; code: string }>('POST', '/sign-up-codes', input, { status: 201 });
    expect(made.code).toMatch(/^[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}$/);
    const { id } = made;
    const code = { id, name: 'Partners', state: 'usable', max_uses: 3, uses: 0, source: 'local' };
    const { items } = await ok<{ items: object[] }>('GET', '/sign-up-codes');
    expect(items).toContainEqual(expect.objectContaining(code));
    expect(JSON.stringify([items, await ok('GET', `/sign-up-codes/${id}`)])).not.toContain(made.code);
    await ok('POST', '/sign-up-codes', input, { status: 409 });
    await ok('DELETE', `/sign-up-codes/${id}`, undefined, { status: 204 });
    await ok('GET', `/sign-up-codes/${id}`, undefined, { status: 404 });
  });

  it('creates, changes and deletes SCIM connections and their tokens', async () => {
    const made = await ok<{ id: string }>('POST', '/scim-connections', { name: 'Entra ID' }, { status: 201 });
    expect(await ok('GET', '/scim-connections')).toMatchObject({ items: [{ id: made.id, name: 'Entra ID' }] });
    const scim = `/scim-connections/${made.id}`;
    expect(await ok('PATCH', scim, { adopt: 'owned_domains' }, ifMatch('*'))).toMatchObject({ adopt: 'owned_domains' });
    const { id } = await ok<{ id: string }>('POST', `${scim}/tokens`, { expires_in_days: 30 }, { status: 201 });
    expect(await ok('GET', `${scim}/tokens`)).toMatchObject({ items: [{ id, source: 'local' }] });
    await ok('DELETE', `${scim}/tokens/${id}`, undefined, { status: 204 });
    expect(await ok('GET', scim)).toMatchObject({ name: 'Entra ID', last_request_at: null });
    await ok('DELETE', scim, undefined, { status: 204, ...ifMatch('*') });
  });

  it('creates, tests, replays and deletes event streams', async () => {
    const receiver = await aReceiver();
    const input = { name: 'HR', url: receiver.url, events: ['user.*'] };
    const made = await ok<{ id: string; secret: string }>('POST', '/event-streams', input, { status: 201 });
    expect(made).toMatchObject({
      kind: 'webhook',
      body: 'thin',
      secret: expect.stringMatching(/^whsec_/),
      paused_at: null,
    });
    const { items } = await ok<{ items: object[] }>('GET', '/event-streams');
    expect(items).toMatchObject([{ id: made.id, name: 'HR' }]);
    expect(JSON.stringify(items)).not.toContain(made.secret);
    const stream = `/event-streams/${made.id}`;
    expect(await ok('POST', `${stream}/test`)).toMatchObject({ ok: true, status: 204, answer: '' });
    expect(receiver.types()).toEqual(['event-stream.test']);
    expect(await ok('PATCH', stream, { events: ['*'] }, ifMatch('*'))).toMatchObject({ events: ['*'] });
    await ok('PATCH', stream, { events: ['nothing.*'] }, { status: 400, ...ifMatch('*') });
    await ok('PATCH', stream, { format: 'splunk' }, { status: 400, ...ifMatch('*') });
    const { secret } = await ok<{ secret: string }>('POST', `${stream}/secret`, {});
    expect(secret).not.toBe(made.secret);
    const range = { from: '2026-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' };
    expect(await ok('POST', `${stream}/replay`, range)).toMatchObject({ events: expect.any(Number) });
    expect(await ok('GET', '/deliveries')).toMatchObject({ items: expect.any(Array) });
    expect(await ok('POST', `${stream}/resume`)).toMatchObject({ failing_since: null });
    const sent = await vi.waitFor(
      async () => {
        const found = await ok<{ items: { id: string; state: string }[] }>('GET', `${stream}/deliveries`);
        expect(found.items).toContainEqual(expect.objectContaining({ state: 'done', answer: '204' }));
        return found.items;
      },
      { timeout: 60_000, interval: 200 },
    );
    const done = sent.find(({ state }) => state === 'done');
    const shown = await ok<{ body: string }>('GET', `${stream}/deliveries/${done?.id}`);
    const bodies = receiver.received.map(({ event }) => event);
    expect(bodies).toContainEqual(JSON.parse(shown.body));
    await ok('GET', `${stream}/deliveries/none`, undefined, { status: 404 });
    await ok('POST', `${stream}/deliveries/${done?.id}/retry`, undefined, { status: 204 });
    await ok('POST', `${stream}/deliveries/none/retry`, undefined, { status: 404 });
    expect(await ok('GET', stream)).toMatchObject({ name: 'HR', last_success_at: expect.any(String) });
    await ok('DELETE', stream, undefined, { status: 204, ...ifMatch('*') });
    await receiver.close();
  });

  it('shows and rotates its keys', async () => {
    const { items } = await ok<{ items: object[] }>('GET', '/keys');
    expect(items).toContainEqual(expect.objectContaining({ use: 'saml', state: 'active' }));
    expect(JSON.stringify(items)).not.toContain('PRIVATE');
    expect(await ok('POST', '/keys/rotate', { use: 'saml' })).toMatchObject({ outcome: 'published' });
    expect(await ok('POST', '/keys/rotate', { use: 'oidc' })).toMatchObject({ outcome: 'too-early' });
    expect(await ok('POST', '/keys/rotate', { use: 'oidc', alg: 'PS256' })).toMatchObject({ outcome: 'too-early' });
    expect((await admin.send('POST', '/keys/rotate', { use: 'saml', alg: 'RS256' })).status).toBe(400);
  });

  it('shows and changes its settings', async () => {
    const kept = await ok<{ items: object[] }>('GET', '/retention');
    expect(kept.items).toContainEqual(
      expect.objectContaining({ kind: 'sessions', setting: 'session_hours', days: null }),
    );
    const before = await ok<{ items: { name: string; source: string; value: unknown }[] }>('GET', '/settings');
    expect(before.items).toContainEqual({ name: 'session_hours', value: 12, source: 'default' });
    const after = await ok<typeof before>('PATCH', '/settings', { session_hours: 8 }, ifMatch(before.etag));
    expect(after.items).toContainEqual({ name: 'session_hours', value: 8, source: 'local' });
    const back = await ok<typeof before>('PATCH', '/settings', { session_hours: null }, ifMatch(after.etag));
    expect(back.items).toContainEqual({ name: 'session_hours', value: 12, source: 'default' });
  });

  it('plans a configuration file without applying it', async () => {
    const yaml = { headers: { 'content-type': 'application/yaml' } };
    const file = 'roles:\n  - name: planned\n    permissions: [plans:make]\nsettings:\n  session_hours: 9\n';
    expect(await ok('POST', '/configuration/plan', file, yaml)).toMatchObject({
      create: [
        { section: 'settings', name: 'session_hours', fields: [{ field: 'value', to: 9 }] },
        { section: 'roles', name: 'planned' },
      ],
    });
    expect(await idp.services.roles.find('planned')).toBeUndefined();
    // Each would be read on the server.
    for (const [text, key] of [
      ['scim: [{ id: x, name: X, token_file: /etc/passwd }]', 'token_file'],
      ['event_streams: [{ id: x, name: X, url: "https://x.example", secret_file: /etc/passwd }]', 'secret_file'],
      [
        'clients: [{ client_id: x, redirect_uris: ["https://x.example"], provision: { url: "https://x.example", token_file: /etc/passwd } }]',
        'token_file',
      ],
    ] as const) {
      const sent = await admin.send('POST', '/configuration/plan', text, yaml.headers);
      expect([sent.status, sent.text], text).toEqual([
        400,
        expect.stringContaining(`${key} is for the configuration file`),
      ]);
    }
    const wrong = await admin.send('POST', '/configuration/plan', 'roles:\n  - nam: x\n', yaml.headers);
    expect([wrong.status, wrong.json().errors]).toEqual([
      400,
      expect.arrayContaining([expect.objectContaining({ path: 'roles[0].nam', line: 2 })]),
    ]);
    const exported = await admin.get('/configuration');
    expect(exported.headers['content-disposition']).toContain('gatehouse.yaml');
    expect(parse(exported.text)).toHaveProperty('users');
  });

  it('plans a declared credential alike, whether it equals the stored one or not', async () => {
    const yaml = { headers: { 'content-type': 'application/yaml' } };
    const { username } = await aUser(idp.services);
    const app = await aClient(idp.services, { redirect_uris: ['https://guess.example/cb'] });
    const url = 'https://sms.example.com/';
    await idp.services.settings.set('sms_gateway', { url, token: 'right-token' });
    const guess = (password: string, secret: string, token: string) =>
      [
        `settings: { sms_gateway: { url: "${url}", token: ${token} } }`,
        `clients: [{ client_id: ${app.clientId}, client_secret: ${secret}, redirect_uris: ["https://guess.example/cb"] }]`,
        `users: [{ username: ${username}, password: ${password}, totp_secret: JBSWY3DPEHPK3PXP }]`,
      ].join('\n');
    const right = guess(JSON.stringify(PASSWORD), app.clientSecret, 'right-token');
    const wrong = guess('another-long-password', 'another-client-secret-that-is-as-long-as-needed', 'wrong-token');
    const plan = await ok<{ change: { fields: { field: string }[] }[] }>('POST', '/configuration/plan', right, yaml);
    expect(plan).toEqual(await ok('POST', '/configuration/plan', wrong, yaml));
    const fields = plan.change.flatMap((one) => one.fields);
    for (const field of ['token', 'client_secret', 'password', 'totp_secret'])
      expect(fields).toContainEqual({ field, to: '(set)' });
    await idp.services.settings.unset('sms_gateway');
  });

  it('shows its mail without the text, and sends it again', async () => {
    const { items } = await ok<{ items: { id: string; recipient: string }[] }>('GET', '/mail?limit=200');
    expect(items.length).toBeGreaterThan(0);
    expect(JSON.stringify(items)).not.toContain('token');
    const id = 'mail-that-failed';
    const mail = { id, recipient: 'x@example.com', subject: 'Hello', bodySealed: 'x', createdAt: new Date() };
    await idp.services.db.mailMessage.create({ data: { ...mail, nextTryAt: new Date(), failedAt: new Date() } });
    expect(await ok('GET', '/mail?state=failed')).toMatchObject({ items: [{ id }] });
    await ok('POST', `/mail/${id}/retry`, undefined, { status: 202 });
    expect(await ok('POST', '/mail/test', { to: 'x@example.com' })).toMatchObject({ outcome: 'written', records: [] });
    await idp.services.db.mailMessage.delete({ where: { id } });
  });

  it('explains a rejected request, and why a user may not open an application', async () => {
    const redirect_uris = ['https://registered.example.com/cb'];
    const { clientId } = await aClient(idp.services, { redirect_uris, access: { roles: ['support'] } });
    const wrong = {
      client_id: clientId,
      redirect_uri: 'https://other.example.com/',
      response_type: 'code',
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
    };
    await httpClient(idp.issuer).get(`/authorize?${new URLSearchParams(wrong)}`);
    type RejectionItem = { code: string };
    const { items } = await ok<{ items: RejectionItem[] }>('GET', `/rejections?client=${clientId}`);
    expect(items).toMatchObject([
      { endpoint: 'authorize', client: clientId, received: { redirect_uri: wrong.redirect_uri } },
    ]);
    expect(await ok('GET', `/rejections/${items[0]?.code}`)).toMatchObject({
      rules: [
        ...Array(2).fill({ state: 'passed' }),
        { state: 'failed', registered: redirect_uris[0] },
        ...Array(8).fill({ state: 'unknown' }),
      ],
      fixed: false,
      fixes: ['Add redirect URI'],
    });
    expect((await admin.get('/rejections/AAAA-AAAA')).status).toBe(404);

    const { username } = await aUser(idp.services);
    const accessCheckOf = (user: string, application: string) =>
      `/access-check?${new URLSearchParams({ user, application })}`;
    const rules = expect.arrayContaining([
      {
        id: 'no_role',
        state: 'failed',
        rule: 'User has a required role or group',
        met: false,
        explanation: 'Test application requires the role support. Ann Example has no roles.',
      },
    ]);
    const about = { user: { username }, application: { identifier: clientId } };
    expect(await ok('GET', accessCheckOf(username, clientId))).toMatchObject({
      ...about,
      may_open: false,
      can_sign_in: false,
      rules,
      rejections: [],
    });
    for (const path of [accessCheckOf('nobody', clientId), accessCheckOf(username, 'nothing')])
      expect((await admin.get(path)).status).toBe(404);
  });

  it('counts users, applications and sign-ins', async () => {
    // Two days, because midnight may pass.
    const count = () => ok<{ days: { sign_ins: number }[] }>('GET', '/statistics?days=2');
    const signIns = ({ days }: Awaited<ReturnType<typeof count>>) =>
      days.reduce((sum, { sign_ins }) => sum + sign_ins, 0);
    const before = signIns(await count());
    const { app } = await aPerson(idp, []);
    const counted = await count();
    expect(signIns(counted)).toBe(before + 1);
    expect(counted).toMatchObject({
      by_application: expect.arrayContaining([{ client: app.clientId, sign_ins: 1 }]),
      users: { total: expect.any(Number) },
      applications: { oidc: await idp.services.db.application.count({ where: { protocol: 'oidc' } }) },
    });
  });

  it('returns the audit log in pages and as a stream', async () => {
    const role = { name: 'logged', description: '', permissions: [] };
    const { id, etag } = await ok('POST', '/roles', role, { status: 201 });
    await ok('DELETE', `/roles/${id}`, undefined, { status: 204, ...ifMatch(etag) });
    const page = await ok<{ items: { id: number }[]; next: string }>('GET', '/audit?limit=1&type=role.created');
    expect(page.items).toMatchObject([{ type: 'role.created', actor_app: admin.app.clientId }]);
    const all = await admin.get('/audit/export');
    const lines = all.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number });
    expect(lines.length).toBe(await idp.services.db.auditEvent.count());
    const csv = await admin.get('/audit/export?format=csv&type=role.created,role.deleted');
    expect(csv.text.split('\r\n')[0]).toContain('id,at,type');
  });

  it('returns to a caller its own account and permissions', async () => {
    expect(await ok('GET', '/me')).toMatchObject({ permissions: 'everything' });
  });
});

describe('the groups of an owner', () => {
  it('have members, requests and invitations', async () => {
    const { groups, groupRequests } = idp.services;
    const [user, member, asking] = [await aUser(idp.services), await aUser(idp.services), await aUser(idp.services)];
    const owner = await anOwner(idp, user);
    const { id } = await groups.create({ name: 'Owned', acceptsRequests: true });
    await groups.appointOwner(id, { userId: user.account.id });
    const { applicationId } = await anApplication(idp, { access: { roles: [], groups: ['Owned'] } });
    const wish = { userId: asking.account.id, groupId: id, applicationId, reason: 'Work', until: null };
    await groupRequests.ask(wish);
    const path = `/api/groups/${id}`;
    const own = async (method: string, below = '', body?: unknown, headers = {}) => {
      const page = await owner.send(method, `${path}${below}`, body, headers);
      expect(page.status, `${method} ${below}: ${page.text}`).toBeLessThan(300);
      return { ...(page.text ? page.json<Record<string, unknown>>() : {}), etag: page.headers.etag ?? '' };
    };
    expect((await owner.get('/api/groups')).json()).toMatchObject({ items: [{ id, name: 'Owned' }], next: null });
    expect(await own('GET')).toMatchObject({ id, path: '/Owned' });
    await own('POST', '/members', { login: member.username, until: '2099-07-31T00:00:00Z' });
    const memberPath = `/members/${member.account.id}`;
    const { etag } = await own('GET', memberPath);
    expect(await own('PATCH', memberPath, { until: null }, { 'if-match': etag })).toMatchObject({
      until: null,
      own: true,
    });
    expect((await owner.send('PATCH', `${path}${memberPath}`, { until: null }, { 'if-match': etag })).status).toBe(412);
    expect(await own('GET', '/members')).toMatchObject({ items: [{ username: member.username }], next: null });
    await own('DELETE', memberPath);
    const { items = [] } = (await own('GET', '/requests')) as { items?: { id: string; reason: string }[] };
    expect(items).toMatchObject([{ reason: 'Work', username: asking.username }]);
    await own('POST', `/requests/${items[0]?.id}/decision`, { decision: 'approve' });
    expect(await own('GET', '/members')).toMatchObject({ items: [{ username: asking.username }] });
    const invited = await own('POST', '/invitations', { email: 'invited@example.com' });
    expect(invited).toMatchObject({ email: 'invited@example.com', state: 'open', until: null });
    expect(await own('GET', '/invitations')).toMatchObject({ items: [{ email: 'invited@example.com' }] });
    await own('DELETE', `/invitations/${'id' in invited ? invited.id : ''}`);
  });
});

it('the provisioning of an application is set up, tried, read and decided', async () => {
  const { applicationId } = await aClient(idp.services, { redirect_uris: ['https://crm.example.com/cb'] });
  const path = `/applications/${applicationId}`;
  const provision = { url: `${idp.issuer}/scim/v2`, token: 'a-wrong-token', groups: true };
  const change = async (patch: object, status = 200) =>
    ok('PATCH', path, patch, { status, ...ifMatch((await ok('GET', path)).etag) });
  const changed = await change({ provision });
  expect(JSON.stringify(changed)).not.toContain(provision.token);
  const at = `${path}/provisioning`;
  expect(await ok('GET', at)).toMatchObject({ active: 0, comparing: false });
  expect(await ok('GET', `${at}/preview`)).toMatchObject({ deactivate: { count: 0, people: [] }, is_cut: false });
  expect(await ok('GET', `${at}/rejected`)).toMatchObject({ items: [] });
  const { checks } = await ok<{ checks: object[] }>('POST', `${at}/test`);
  expect(checks).toMatchObject([
    { check: 'config' },
    { check: 'users', ok: false, error: expect.stringContaining('401') },
  ]);
  await ok('POST', `${at}/compare`);
  const { db } = idp.services;
  await expect.poll(() => db.provisioningTarget.count({ where: { applicationId } })).toBe(1);
  await ok('POST', `${at}/pause`);
  await ok('POST', `${at}/pause`, undefined, { status: 409 });
  await ok('POST', `${at}/resume`);
  await ok('POST', `${path}/disable`);
  const approve = async () => {
    await db.provisioningTarget.updateMany({ where: { applicationId }, data: { stoppedAt: new Date() } });
    return (await admin.send('POST', `${at}/approve`)).status;
  };
  // The job leaves a disabled application as it is; a run that began before the disabling takes the stop back.
  await expect.poll(approve).toBe(200);
  // The token would go to another server.
  await change({ provision: { url: 'https://evil.example.com/scim' } }, 400);
  await change({ provision: null });
  await ok('GET', at, undefined, { status: 404 });
});

it('every endpoint is called successfully', async ({ task, skip }) => {
  const others = task.file.tasks.flatMap((one) => (one.type === 'suite' ? one.tasks : []));
  skip(!others.every(({ result }) => result?.state === 'pass'), 'the other tests call them, before this one');
  const { document, statuses } = await described(idp);
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const missing = operations.filter(
    ({ operationId }) => ![...(statuses.get(operationId) ?? [])].some((one) => one < 300),
  );
  expect(missing.map(({ operationId }) => operationId)).toEqual([]);
});
