// The setting `signing_algorithms` and registrations: what it does not list is rejected everywhere with the remedy, and what is registered already
// stays as it is and goes on signing.
import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRegistrationTokens } from '../../src/protocols/oidc/store/registration-tokens.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aService } from '../admin/support.ts';
import { configFileBench, lines } from '../config-file/support.ts';
import { type Application, anApplication, redirectUri, signIn } from '../oidc/support.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let api: ApiCaller;
let admin: HttpClient;
let old: Application;
beforeAll(async () => {
  idp = await startIdp();
  api = await aService(idp);
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  old = await anApplication(idp, { id_token_signed_response_alg: 'ES256' });
  await idp.services.settings.set('signing_algorithms', ['RS256', 'PS256']);
  await idp.services.settings.reload();
});
afterAll(() => idp?.stop());

const SENTENCE = 'this server doesn’t sign with ES256. Choose one of RS256, PS256';
const fields = [
  'id_token_signed_response_alg',
  'userinfo_signed_response_alg',
  'introspection_signed_response_alg',
  'authorization_signed_response_alg',
];
const web = (more: object) => ({
  client_name: `App ${crypto.randomUUID()}`,
  redirect_uris: ['https://app.example/cb'],
  ...more,
});

describe('an algorithm that is not listed', () => {
  it.each(fields)('is rejected by the API in %s, for a new application and a change', async (field) => {
    const rejected = await api.send('POST', '/applications', { protocol: 'oidc', ...web({ [field]: 'ES256' }) });
    expect([rejected.status, rejected.text]).toEqual([400, expect.stringContaining(SENTENCE)]);
    const made = await api.send('POST', '/applications', { protocol: 'oidc', ...web({ [field]: 'PS256' }) });
    expect(made.status).toBe(201);
    const { id } = made.json<{ id: string }>();
    const path = `/applications/${id}`;
    const headers = { 'content-type': 'application/merge-patch+json', 'if-match': String(made.headers.etag) };
    const patched = await api.send('PATCH', path, JSON.stringify({ [field]: 'ES256' }), headers);
    expect([patched.status, patched.text]).toEqual([400, expect.stringContaining(SENTENCE)]);
  });

  it('is rejected by dynamic registration, for a new client and a change', async () => {
    const { token } = await createRegistrationTokens(idp.services).issue();
    const client = httpClient(idp.issuer);
    const headers = { authorization: `Bearer ${token}` };
    const rejected = await client.post('/register', { json: web({ id_token_signed_response_alg: 'ES256' }), headers });
    expect(rejected.status).toBe(400);
    expect(rejected.json()).toMatchObject({
      error: 'invalid_client_metadata',
      error_description: expect.stringContaining(
        "id_token_signed_response_alg: this server doesn't sign with ES256. Choose one of RS256, PS256",
      ),
    });
    const made = await client.post('/register', { json: web({ id_token_signed_response_alg: 'PS256' }), headers });
    expect([made.status, made.text]).toEqual([201, expect.anything()]);
    const {
      registration_client_uri: uri,
      registration_access_token: own,
      ...mine
    } = made.json<Record<string, string>>();
    const json = { ...mine, id_token_signed_response_alg: 'ES256' } as Record<string, unknown>;
    for (const name of ['client_id_issued_at', 'client_secret_expires_at']) delete json[name];
    const changed = await client.request('PUT', String(uri), { json, headers: { authorization: `Bearer ${own}` } });
    expect([changed.status, changed.json().error]).toEqual([400, 'invalid_client_metadata']);
  });

  it('is rejected by the console, in the words of its form', async () => {
    const { id } = await idp.services.applications.get((await anApplication(idp, {})).applicationId);
    const tab = await admin.get(`/admin/applications/${id}/settings`);
    const page = await admin.submit(tab, { id_token_signed_response_alg: 'ES256' });
    expect(page.status).toBe(400);
    expect(textOf(page.text)).toMatch(
      /[Tt]his server doesn’t sign with ES256. Choose one of RS256, PS256, or add ES256/,
    );
  });

  it('is no option of the console, unless the application or API has it already', async () => {
    const optionsOf = async (path: string, field: string) => {
      const { text } = await admin.get(path);
      const [, select = ''] = new RegExp(`<select[^>]*name="${field}"[^>]*>(.*?)</select>`, 's').exec(text) ?? [];
      return [...select.matchAll(/<option[^>]*value="([^"]+)"/g)].map(([, value]) => value);
    };
    const { applicationId } = await anApplication(idp, {});
    const all = Object.fromEntries(
      await Promise.all(
        fields.map(async (field) => [field, await optionsOf(`/admin/applications/${applicationId}/settings`, field)]),
      ),
    );
    expect(all).toEqual(Object.fromEntries(fields.map((field) => [field, ['RS256', 'PS256']])));
    expect(await optionsOf(`/admin/applications/${old.applicationId}/settings`, fields[0] ?? '')).toEqual([
      'RS256',
      'PS256',
      'ES256',
    ]);
    expect(await optionsOf('/admin/apis/new', 'signing_alg')).toEqual(['RS256', 'PS256']);
    await idp.services.settings.set('signing_algorithms', ['RS256', 'PS256', 'ES256']);
    await idp.services.settings.reload();
    const resource = { identifier: 'https://api.example/old', scopes: ['read'], signing_alg: 'ES256' };
    expect((await api.send('POST', '/resources', resource)).status).toBe(201);
    await idp.services.settings.set('signing_algorithms', ['RS256', 'PS256']);
    await idp.services.settings.reload();
    expect(await optionsOf(`/admin/apis/${encodeURIComponent(resource.identifier)}`, 'signing_alg')).toEqual([
      'RS256',
      'PS256',
      'ES256',
    ]);
  });

  it('is rejected for an API', async () => {
    const resource = { identifier: 'https://api.example/one', scopes: ['read'] };
    const rejected = await api.send('POST', '/resources', { ...resource, signing_alg: 'ES256' });
    expect([rejected.status, rejected.text]).toEqual([400, expect.stringContaining(SENTENCE)]);
    expect((await api.send('POST', '/resources', { ...resource, signing_alg: 'PS256' })).status).toBe(201);
  });

  it('stays with an application that has it already, which can be changed otherwise and goes on', async () => {
    const saved = await admin.submit(await admin.get(`/admin/applications/${old.applicationId}/settings`), {
      client_name: 'Another name',
    });
    expect(saved.status).toBe(303);
    const { tokens } = await signIn(httpClient(idp.issuer), old, await aUser(idp.services));
    expect(decodeProtectedHeader(String(tokens.id_token)).alg).toBe('ES256');
    const document = await httpClient(idp.issuer).get('/.well-known/openid-configuration');
    expect(document.json().id_token_signing_alg_values_supported).toEqual(['RS256', 'PS256', 'ES256']);
  });
});

describe('the configuration file', () => {
  const file = (algs: string, alg: string) => `
settings: { signing_algorithms: [${algs}] }
clients: [{ client_id: web, redirect_uris: [${redirectUri}], id_token_signed_response_alg: ${alg} }]
resources: [{ identifier: 'https://api.example', signing_alg: ${alg} }]`;

  it('declares no algorithm that its settings do not list, and keeps one that is registered', async () => {
    const bench = await configFileBench();
    expect(lines(await bench.plan(file('RS256', 'ES256')))).toEqual([
      expect.stringMatching(/clients.*id_token_signed_response_alg.*sign with ES256. Choose one of RS256/),
      expect.stringMatching(/resources.*signing_alg.*sign with ES256/),
    ]);
    expect((await bench.apply(file('RS256, ES256', 'ES256'))).ok).toBe(true);
    expect((await bench.apply(file('RS256', 'ES256'))).ok).toBe(true);
    await bench.close();
  });
});
