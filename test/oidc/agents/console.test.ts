// What administrators see of agents that nobody registered: among the applications, at a user, in the activity log and in rejected requests.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../../admin/console/support.ts';
import { type ApiCaller, aService } from '../../admin/support.ts';
import { anApi, aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type DocumentHost, documentHost } from '../../support/mcp.ts';
import { textOf } from '../../support/pages/html.ts';
import { authorizeUrl, completeSignIn } from '../support.ts';

const API = 'https://notes.example';
const LOOPBACK = 'http://localhost:33418/callback';
let idp: TestIdp;
let vendor: DocumentHost;
let user: TestUser;
let admin: HttpClient;
/** The application of an agent that the user allowed. */
let id: string;
let url: string;

beforeAll(async () => {
  idp = await startIdp();
  vendor = await documentHost('vendor.localhost');
  await anApi(idp.services, { identifier: API, scopes: ['notes:read'], clients: 'documents' });
  await idp.services.settings.set('rate_limits', false);
  await agents('allowed');
  user = await aUser(idp.services);
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  url = vendor.urlOf('/client.json');
  vendor.documents.set('/client.json', {
    client_id: url,
    client_name: 'Helper',
    redirect_uris: ['http://localhost/callback'],
  });
  await completeSignIn(httpClient(idp.issuer), urlFor(url), { user, redirectUri: LOOPBACK });
  id = (await idp.services.applications.find(url))?.id ?? '';
});
afterAll(async () => {
  await Promise.all([vendor?.close(), idp?.stop()]);
});

async function agents(agents: 'off' | 'listed' | 'allowed', hosts: string[] = []): Promise<void> {
  await idp.services.settings.set('agents', agents);
  await idp.services.settings.set('agent_hosts', hosts);
  await idp.services.settings.reload();
}

const urlFor = (clientId: string, parameters: Record<string, string | null> = {}) =>
  authorizeUrl(idp, clientId, { redirect_uri: LOOPBACK, scope: 'notes:read', resource: API, ...parameters });
const at = async (path: string) => textOf((await admin.get(path)).text);

describe('the application of an agent', () => {
  it('is marked in the list of applications, which has a filter for it', async () => {
    await idp.services.applications.createOidc({ client_name: 'Payroll', redirect_uris: ['https://pay.example/cb'] });
    expect(await at('/admin/applications')).toMatch(/Helper.*By its metadata document/s);
    const filtered = await at('/admin/applications?source=agents');
    expect(filtered).toContain('Helper');
    expect(filtered).not.toContain('Payroll');
    expect(await at('/admin/apis')).toContain('Also apps with a metadata document');
  });

  it('says at the user where the answers go', async () => {
    expect(await at(`/admin/users/${user.account.id}/sessions`)).toContain('A program on a computer of the user');
  });

  it('offers nothing to set up, and no field that the document decides', async () => {
    const overview = (await admin.get(`/admin/applications/${id}`)).text;
    expect(textOf(overview)).not.toMatch(/Set home page|Add logout URI|Test sign-in/);
    expect(overview).not.toMatch(new RegExp(`/admin/applications/${id}/(setup|credentials|provisioning)"`));
    const settings = await admin.get(`/admin/applications/${id}/settings`);
    expect(textOf(settings.text)).toContain('The app’s metadata document decides this.');
    const saved = await admin.submit(settings, { client_name: 'Vendor helper' });
    expect(saved.status).toBe(303);
    expect((await idp.services.applications.get(id)).name).toBe(`${vendor.host} (Helper)`);
  });

  it('rejects a change of what the document decides, and takes others', async () => {
    const api = await aService(idp);
    const path = `/applications/${id}`;
    for (const patch of [
      { client_name: 'Vendor helper' },
      { redirect_uris: ['https://elsewhere.example/cb'] },
      { consent: 'implicit' },
    ]) {
      const answer = await api.send('PATCH', path, patch, { 'if-match': '*' });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(url)]);
    }
    expect((await api.send('PATCH', path, { access_token_minutes: 5 }, { 'if-match': '*' })).status).toBe(200);
  });

  it('is in the activity log with its host, how it came, and the API', async () => {
    const log = await at('/admin/audit');
    expect(log).toContain(`was the first to allow an app from ${vendor.host}`);
    expect(log).toMatch(/was added by its metadata document when .* allowed it/);
    expect(log).toMatch(new RegExp(`allowed .* to use ${API}`));
  });
});

describe('an API that is open to agents', () => {
  it.each([
    ['off', [], 'is off'],
    ['listed', [], 'list no host of them'],
    ['listed', ['claude.ai'], undefined],
  ] as const)('says on its page and in a plan that a setting keeps them out: %s %s', async (setting, hosts, said) => {
    await agents(setting, [...hosts]);
    const page = await at(`/admin/apis/${encodeURIComponent(API)}`);
    const planned = await planOf({ identifier: 'https://new.example', scopes: ['read'], clients: 'documents' });
    for (const text of [page, planned])
      if (said) expect(text).toContain(said);
      else expect(text).not.toMatch(/agent_hosts|\(agents\)/);
  });

  it('says so about its own hosts, and about apps that register themselves', async () => {
    await agents('listed', ['claude.ai']);
    const api = { identifier: 'https://new.example', scopes: ['read'] };
    expect(await planOf({ ...api, clients: 'documents', document_hosts: ['vscode.dev'] })).toContain(
      'list none of them',
    );
    expect(await planOf({ ...api, clients: 'self-registered' })).toContain('allows only those on listed hosts');
    await agents('listed', ['claude.ai:443']);
    expect(idp.services.settings.latest().agent_hosts).toEqual(['claude.ai']);
  });
});

it('an API that a client exchanges tokens for, and does not exist, is a warning of the plan', async () => {
  const website = 'https://intranet.example';
  await idp.services.applications.createProxied({ name: 'Intranet', url: website, proxy: 'caddy' });
  const client = {
    client_id: 'orders',
    client_secret: 'at-least-32-bytes-for-the-orders-api',
    grant_types: ['urn:ietf:params:oauth:grant-type:token-exchange'],
    may_exchange: [API, website, 'https://nope.example'],
    resources: [API],
    scope: 'notes:read',
  };
  const text = await warningsOf({ clients: [client] });
  expect(text).toContain('https://nope.example, which is no API');
  for (const known of [API, website]) expect(text).not.toContain(known);
});

describe('a rejected request of an agent', () => {
  const rejected = async (path: string) => {
    await httpClient(idp.issuer).get(path);
    const { items } = JSON.parse((await api.get('/rejections')).text) as { items: { code: string }[] };
    const page = await admin.get(`/admin/rejections/${items[0]?.code}`);
    return { text: textOf(page.text), html: page.text };
  };
  let api: ApiCaller;
  beforeAll(async () => {
    api = await aService(idp);
  });

  it('names the setting that keeps it out, with a link, and is fixed by it', async () => {
    const other = vendor.urlOf('/other.json');
    await agents('off');
    const off = await rejected(urlFor(other));
    expect(off.text).toContain('is off');
    expect(off.html).toContain('href="/admin/settings"');
    await agents('listed', ['claude.ai']);
    const listed = await rejected(urlFor(other));
    expect(listed.text).toContain(`${vendor.host} isn’t among the listed hosts`);
    expect(listed.text).not.toContain('Add application');
  });

  it('names the fault of its document', async () => {
    await agents('allowed');
    const wrong = vendor.urlOf('/wrong.json');
    vendor.documents.set('/wrong.json', { client_id: wrong, redirect_uris: [] });
    const { text } = await rejected(urlFor(wrong));
    expect(text).toContain('The metadata document of the app can’t be used.');
    expect(text).toContain('/wrong.json was not accepted: ');
    expect(text).not.toContain('Add application');
  });

  it('names the API that is closed to it, or that it did not name', async () => {
    await agents('allowed');
    await anApi(idp.services, { identifier: 'https://closed.example', scopes: ['notes:read'] });
    const closed = await rejected(urlFor(url, { resource: 'https://closed.example' }));
    expect(closed.text).toContain('the API isn’t open to such apps');
    expect(closed.html).toContain(`/admin/apis/${encodeURIComponent('https://closed.example')}`);
    expect((await rejected(urlFor(url, { resource: null }))).text).toContain('The app must name the API that it wants');
  });
});

it('a registration without a token is explained by the setting', async () => {
  await agents('off');
  await httpClient(idp.issuer).post('/register', { json: { redirect_uris: ['http://localhost/callback'] } });
  expect(await at('/admin/rejections')).toContain('An app wanted to register itself without a token');
});

const planOf = (resource: object) => warningsOf({ resources: [resource] });

/** The warnings of a plan. */
async function warningsOf(file: object): Promise<string> {
  const answer = await (await aService(idp)).send('POST', '/configuration/plan', JSON.stringify(file), {
    'content-type': 'application/yaml',
  });
  expect(answer.status, answer.text).toBe(200);
  return (JSON.parse(answer.text) as { warnings: string[] }).warnings.join('\n');
}
