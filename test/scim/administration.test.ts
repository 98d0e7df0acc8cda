// SCIM connections in the API, in the configuration file and with access tokens of an application.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exportConfiguration } from '../../src/config-file/export.ts';
import { parseFile } from '../../src/config-file/file.ts';
import { scimApi } from '../../src/people/rbac/built-in.ts';
import { declarationOf } from '../../src/protocols/scim/connections.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { aService } from '../admin/support.ts';
import { anApplication, basic } from '../oidc/support.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { aConnection, clientOf } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

it('the API creates, changes and deletes a connection and its tokens', async () => {
  const { send } = await aService(idp);
  const ok = async <Body = object>(
    method: string,
    path: string,
    body?: unknown,
    { status = 200, ...headers }: { status?: number; 'if-match'?: string } = {},
  ) => {
    const page = await send(method, path, body, headers as Record<string, string>);
    expect(page.status, page.text).toBe(status);
    return { ...(page.text === '' ? {} : page.json()), etag: page.headers.etag } as Body;
  };
  const made = await ok<{ id: string }>(
    'POST',
    '/scim-connections',
    { name: 'Entra ID', owned_domains: ['Corp.Example'] },
    { status: 201 },
  );
  expect(made).toMatchObject({ owned_domains: ['corp.example'], adopt: 'never', may_create: true, source: 'local' });
  const path = `/scim-connections/${made.id}`;
  const { token, id } = await ok<{ token: string; id: string }>(
    'POST',
    `${path}/tokens`,
    { expires_in_days: 30 },
    { status: 201 },
  );
  await clientOf(idp, token).ok('GET', '/Users');
  const { items } = await ok<{ items: object[] }>('GET', `${path}/tokens`);
  expect(items).toMatchObject([{ id, last_used_at: expect.any(String) }]);
  expect(JSON.stringify(items)).not.toContain(token);
  const { etag } = await ok<{ etag: string }>('GET', path);
  const changed = await ok('PATCH', path, { may_create: false }, { 'if-match': etag });
  expect(changed).toMatchObject({
    may_create: false,
    owned_domains: ['corp.example'],
    last_request_at: expect.any(String),
  });
  await ok('DELETE', `${path}/tokens/${id}`, undefined, { status: 204 });
  expect((await clientOf(idp, token).send('GET', '/Users')).status).toBe(401);
  await ok('POST', '/scim-connections', { name: 'Entra ID' }, { status: 409 });
  await ok('POST', '/scim-connections', { name: 'Wrong', mappings: { attributes: { a: 'salary' } } }, { status: 400 });
});

it.each(['/Users/%00', '/Users/%', '//Users', '/Nothing'])(
  'every error is one of SCIM, also where the address is no address: %s',
  async (path) => {
    const { send } = await aConnection(idp);
    const { status, headers, ...page } = await send('GET', path);
    expect([status, headers['content-type']]).toEqual([
      path.includes('%') ? 400 : 404,
      expect.stringMatching(/^application\/scim\+json/),
    ]);
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:Error'];
    expect(page.json()).toMatchObject({ schemas, status: String(status), detail: expect.any(String) });
  },
);

it('a new token comes with a request to try it, and the page names the old one only where there is one', async () => {
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const { id } = await idp.services.scimConnections.create(
    { ...declarationOf((await aConnection(idp)).connection), name: 'First token' },
    {},
  );
  const old = 'The old token stays valid';
  for (const isFirst of [true, false]) {
    const form = await admin.get(`/admin/scim/${id}/token`);
    expect(textOf(form.text)).not.toContain(old);
    const created = await admin.follow(await admin.submit(form, {}));
    const [, token = ''] = /<code data-value>([^<]+)</.exec(created.text) ?? [];
    await clientOf(idp, token.trim()).ok('GET', '/Users?count=2');
    const text = textOf(created.text);
    expect(text).toContain(`curl -H "Authorization: Bearer $TOKEN" '${scimApi(idp.issuer)}/Users?count=2'`);
    expect(text.includes(old)).toBe(!isFirst);
  }
});

it('an application calls with its own access token where a connection names it, and nobody else does', async () => {
  const resource = scimApi(idp.issuer);
  const app = await anApplication(idp, {
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    resources: [resource],
    scope: 'scim',
  });
  const form = { grant_type: 'client_credentials', resource, scope: 'scim' };
  const headers = { authorization: basic(app.clientId, app.clientSecret) };
  const { access_token: token } = (await httpClient(idp.issuer).post('/token', { form, headers })).json<{
    access_token: string;
  }>();
  expect((await clientOf(idp, token).send('GET', '/Users')).status).toBe(401);
  await aConnection(idp, { client_id: app.clientId });
  expect((await clientOf(idp, token).send('GET', '/Users')).status).toBe(200);
});

it('the configuration file takes a connection of the console as the export has it', async () => {
  await aConnection(idp);
  const exported = await exportConfiguration(idp.services, { only: ['scim'] });
  const plan = await idp.services.configFile.plan({ ...parseFile(exported), path: '/nowhere/gatehouse.yaml' });
  expect(plan).toMatchObject({ ok: true });
});

it('the configuration file declares a connection with its token, and its people stay when it is gone', async () => {
  const { configFile } = idp.services;
  const token = 'a'.repeat(40);
  const yaml = `scim:\n  - id: okta\n    name: Okta\n    token: ${token}\n    owned_domains: [okta.example]\n`;
  const file = (text: string) => ({ ...parseFile(text), path: '/nowhere/gatehouse.yaml' });
  const apply = (text: string) => configFile.apply(file(text));
  expect(await apply(yaml)).toMatchObject({ ok: true });
  const okta = clientOf(idp, token);
  const user = await okta.ok('POST', '/Users', { userName: 'ann@okta.example' });
  expect(await configFile.plan(file(yaml))).toMatchObject({ ok: true, plan: { steps: [] } });
  const page = textOf((await (await consoleOf(idp, await staff(idp, 'admin'))).get('/admin/scim/okta')).text);
  expect(page).toContain('…aaaa');
  expect(page).not.toContain('gh_');
  const exported = await exportConfiguration(idp.services, { only: ['scim'] });
  expect(exported).toContain('id: okta');
  expect(exported).not.toContain(token);
  await apply(yaml.replace(token, 'b'.repeat(40)));
  expect((await okta.send('GET', '/Users')).status).toBe(401);
  await apply('scim: []\n');
  expect(await idp.services.accounts.find(String(user.id))).toMatchObject({ isActive: true });
  expect(await idp.services.accounts.update(String(user.id), { name: 'Ann' })).toMatchObject({ name: 'Ann' });
});
