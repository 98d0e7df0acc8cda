// Client ID metadata documents, and what an attacker does with them: documents that are large, slow, elsewhere or changed, other spellings of an
// address, other places to return to, and more than an API gives.
import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import { transaction } from '../../../src/base/storage/database.ts';
import { disableAccount } from '../../../src/people/accounts/life.ts';
import { itOnBothInLongRun } from '../../support/database/it-on-sqlite.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { testName } from '../../support/dns.ts';
import { anApi, aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type DocumentHost, documentHost } from '../../support/mcp.ts';
import { textOf } from '../../support/pages/html.ts';
import { anApplication, authorizeUrl, completeSignIn, postAs, verifier } from '../support.ts';

const API = 'https://notes.example';
const LOOPBACK = 'http://localhost:33418/callback';
const MINUTE = 60_000;
let idp: TestIdp;
let vendor: DocumentHost;
let user: TestUser;
let offset = 0;
let count = 0;

beforeAll(async () => {
  idp = await startIdp({ now: () => new Date(Date.now() + offset) });
  vendor = await documentHost('vendor.localhost');
  await anApi(idp.services, {
    identifier: API,
    scopes: ['notes:read', 'notes:write', 'notes:delete'],
    scope_titles: { 'notes:read': 'Read your notes' },
    agent_scopes: ['notes:read', 'notes:write'],
    clients: 'documents',
  });
  await anApi(idp.services, { identifier: 'https://closed.example', scopes: ['notes:read'] });
});
afterAll(async () => {
  await Promise.all([vendor?.close(), idp?.stop()]);
});
beforeEach(async () => {
  user = await aUser(idp.services);
  offset = 0;
  await idp.services.settings.set('rate_limits', false);
  await agents('allowed');
});

async function agents(agents: 'off' | 'listed' | 'allowed', hosts: string[] = []): Promise<void> {
  await idp.services.settings.set('agents', agents);
  await idp.services.settings.set('agent_hosts', hosts);
  await idp.services.settings.reload();
}

/** The address of a new document with these members. */
function aDocument(members: object = {}): string {
  count += 1;
  const path = `/client-${count}.json`;
  const url = vendor.urlOf(path);
  const document = { client_id: url, client_name: 'Helper', redirect_uris: ['http://localhost/callback'], ...members };
  vendor.documents.set(path, document);
  return url;
}

const urlFor = (clientId: string, parameters: Record<string, string | null> = {}) =>
  authorizeUrl(idp, clientId, { redirect_uri: LOOPBACK, scope: 'notes:read', resource: API, ...parameters });

/** Signs the person in and stops at the page of the consent. */
async function atConsent(
  clientId: string,
  parameters?: Record<string, string | null>,
  { username, password } = user,
): Promise<{ browser: HttpClient; page: Page }> {
  const browser = httpClient(idp.issuer);
  const first = await browser.follow(await browser.get(urlFor(clientId, parameters)));
  const page = await browser.follow(await browser.submit(first, { username, password }));
  return { browser, page };
}

/** The parameters of the answer, after a consent. */
async function answered(
  clientId: string,
  parameters: Record<string, string | null> = {},
  person = user,
): Promise<URLSearchParams> {
  const redirectUri = parameters.redirect_uri ?? LOOPBACK;
  const page = await completeSignIn(httpClient(idp.issuer), urlFor(clientId, parameters), {
    user: person,
    redirectUri,
  });
  if (!page.location) throw new Error(`${page.status} ${textOf(page.text)}`);
  return new URL(page.location).searchParams;
}

interface TokenResponse {
  status: number;
  error?: string;
  scope?: string;
  access_token?: string;
  id_token?: string;
  refresh_token?: string;
}

async function token(clientId: string, form: Record<string, string>): Promise<TokenResponse> {
  const page = await httpClient(idp.issuer).post('/token', { form: { client_id: clientId, ...form } });
  return { status: page.status, ...(JSON.parse(page.text) as Record<string, string>) };
}

async function tokensOf(clientId: string, parameters: Record<string, string | null> = {}, person = user) {
  const code = (await answered(clientId, parameters, person)).get('code') ?? '';
  const uri = parameters.redirect_uri ?? LOOPBACK;
  return token(clientId, { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: uri });
}

const stored = (clientId: string) => idp.services.applications.find(clientId);
const offline = { scope: 'notes:read offline_access', prompt: 'consent' };
const refreshing = { grant_types: ['authorization_code', 'refresh_token'] };

describe('a document', () => {
  it('becomes an application when a person consents, and not before', async () => {
    const url = aDocument();
    const { browser, page } = await atConsent(url);
    expect(await stored(url)).toBeUndefined();
    const denied = await browser.follow(await browser.submit(page, {}, { button: 'Don’t allow' }), (to) =>
      to.startsWith(LOOPBACK),
    );
    expect(denied.location).toContain('error=access_denied');
    expect(await stored(url)).toBeUndefined();
    expect((await tokensOf(url)).status).toBe(200);
    expect(await stored(url)).toMatchObject({ source: 'document', name: `${vendor.host} (Helper)`, clientId: url });
  });

  itOnBothInLongRun('is an event with the person, and its host once', async () => {
    const other = await documentHost('other-vendor.localhost');
    const ids = ['/one', '/two'].map((path) => other.urlOf(path));
    for (const id of ids)
      other.documents.set(new URL(id).pathname, { client_id: id, redirect_uris: ['http://localhost/callback'] });
    for (const id of ids) await answered(id);
    const { db } = idp.services;
    const created = await db.auditEvent.findMany({ where: { clientId: { in: ids }, type: 'application.created' } });
    const hosts = await db.auditEvent.findMany({ where: { clientId: { in: ids }, type: 'agent-host.added' } });
    expect(created.map(({ actorId }) => actorId)).toEqual([user.account.id, user.account.id]);
    expect(hosts.map(({ clientId }) => clientId)).toEqual([ids[0]]);
    await other.close();
  });

  it('of which two people allow the first client at the same moment becomes one application', async () => {
    const url = aDocument();
    const other = await aUser(idp.services);
    const asked = [await atConsent(url), await atConsent(url, {}, other)];
    const answers = await Promise.all(
      asked.map(async ({ browser, page }) =>
        browser.follow(await browser.submit(page, {}, { button: 'Allow' }), (to) => to.startsWith(LOOPBACK)),
      ),
    );
    expect(
      answers.map(({ location = '' }) => URL.canParse(location) && new URL(location).searchParams.has('code')),
    ).toEqual([true, true]);
    const id = (await stored(url))?.id ?? '';
    for (const { account } of [user, other]) expect(await idp.services.consents.find(account.id, id)).toBeDefined();
    expect(await idp.services.db.auditEvent.count({ where: { clientId: url, type: 'application.created' } })).toBe(1);
  });

  itOnBothInLongRun('says what it may do in the words of the API, and names a scope without words', async () => {
    const { page } = await atConsent(aDocument(), { scope: 'notes:read notes:write' });
    expect(textOf(page.text)).toContain(`Use ${API} on your behalf Read your notes · notes:write`);
  });

  itOnBothInLongRun.each([
    ['of a host in another script', 'xn--80ak6aa92e.localhost', 'Claude'],
    ['with the host of another in its name', 'elsewhere.localhost', 'Claude (claude.ai)'],
  ])('%s is asked about by its own host', async (_what, name, client_name) => {
    const host = await documentHost(name);
    const url = host.urlOf('/client');
    host.documents.set('/client', { client_id: url, client_name, redirect_uris: ['http://localhost/callback'] });
    const { page } = await atConsent(url);
    expect(textOf(page.text)).toContain(`Allow ${host.host} to use your account?`);
    expect(textOf(page.text)).toContain(`It says it is “${client_name}”. Nobody here has checked that.`);
    await host.close();
  });

  itOnBothInLongRun('whose name hides or turns characters has no name', async () => {
    for (const client_name of ['Cla\u200bude', '\u202eedualC', 'Claude\n', 'x'.repeat(300), ['Claude']]) {
      const { page } = await atConsent(aDocument({ client_name }));
      expect(textOf(page.text)).not.toContain('It says it is');
    }
  });

  itOnBothInLongRun(
    'names its host first and its name as what it says, and says where the answer goes and for how long',
    async () => {
      const local = await atConsent(aDocument(refreshing), offline);
      expect(textOf(local.page.text)).toContain(`Allow ${vendor.host} to use your account?`);
      expect(textOf(local.page.text)).toContain('It says it is “Helper”.');
      expect(textOf(local.page.text)).toContain('A program on this computer gets the access.');
      expect(textOf(local.page.text)).toContain('For up to 30 days');
      const redirect_uri = 'https://elsewhere.example/callback';
      const web = await atConsent(aDocument({ redirect_uris: [redirect_uri] }), { redirect_uri });
      expect(textOf(web.page.text)).toContain('It takes you to elsewhere.example');
      expect(textOf(web.page.text)).not.toContain('A program on this computer');
    },
  );

  itOnBothInLongRun.each([
    ['of another address', { client_id: 'https://elsewhere.example/client.json' }],
    ['with a secret', { client_secret: 'x'.repeat(40) }],
    ['that authenticates with a secret', { token_endpoint_auth_method: 'client_secret_post' }],
    ['with private_key_jwt and no key', { token_endpoint_auth_method: 'private_key_jwt' }],
    ['with no redirect', { redirect_uris: [] }],
    ['with no redirect that may be', { redirect_uris: ['javascript:alert(1)', 'http://elsewhere.example/cb'] }],
    ['with keys over http', { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'http://127.0.0.1/keys' }],
  ])('%s is none', async (_what, members) => {
    const page = await httpClient(idp.issuer).get(urlFor(aDocument(members)));
    expect([page.status, textOf(page.text)]).toEqual([400, expect.stringContaining('was not accepted')]);
    expect(textOf(page.text)).toContain(`The description of the app at ${vendor.host} can’t be used`);
  });

  const answers: [string, (response: ServerResponse) => void][] = [
    ['redirects', (response) => response.writeHead(302, { location: '/client-1.json' }).end()],
    ['is not there', (response) => response.writeHead(404).end()],
    ['is HTML', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
    ['is no JSON', (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{')],
    [
      'has 5 GB',
      (response) =>
        response.writeHead(200, { 'content-length': 5 * 1024 ** 3, 'content-type': 'application/json' }).write('{'),
    ],
    [
      'has more than 5 KB',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(' '.repeat(6000)),
    ],
    ['never ends', (response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{')],
  ];
  itOnBothInLongRun.each(answers)(
    'that %s is none',
    async (what, answer) => {
      const path = `/${what.replaceAll(' ', '-')}`;
      vendor.documents.set(path, answer);
      const page = await httpClient(idp.issuer).get(urlFor(vendor.urlOf(path)));
      expect(vendor.requests.filter((one) => one === path).length).toBe(1);
      expect([page.status, textOf(page.text)]).toEqual([400, expect.stringContaining('was not accepted')]);
    },
    30_000,
  );

  itOnBothInLongRun.each([
    'https://10.0.0.1/client.json',
    'https://169.254.169.254/latest',
    'https://[fd00::1]/c',
    'https://0x0a.1/c',
  ])('at the inner address %s is not read, and the page does not tell why', async (url) => {
    const page = await httpClient(idp.issuer).get(urlFor(url));
    expect(page.status).toBe(400);
    expect(page.text).not.toMatch(/private|special network|outgoing_networks/);
  });

  itOnBothInLongRun(
    'is read from the address that was checked, and never from an inner one that its name leads to later',
    async () => {
      const host = await documentHost('rebound.example');
      const name = testName('rebound.example');
      onTestFinished(name.restore);
      name.answers = [['127.0.0.1'], ['169.254.169.254']];
      const url = host.urlOf('/client');
      host.documents.set('/client', { client_id: url, redirect_uris: ['http://localhost/callback'] });
      expect([(await answered(url)).has('code'), name.asked]).toEqual([true, 1]);
      await host.close();
      offset += 6 * MINUTE;
      expect([(await answered(url)).has('code'), name.asked > 1]).toEqual([true, true]);
      const page = await httpClient(idp.issuer).get(urlFor(host.urlOf('/other')));
      expect([page.status, /private|special network|169\.254/.test(page.text)]).toEqual([400, false]);
    },
  );

  itOnBothInLongRun('has one spelling', async () => {
    const url = aDocument();
    const path = new URL(url).pathname;
    const before = vendor.requests.length;
    const others = [
      url.replace('vendor', 'VENDOR'),
      url.replace('https', 'HTTPS'),
      url.replace(path, `/a/..${path}`),
      url.replace(path, `/a/%2e%2e${path}`),
      `${url}#`,
      url.replace('https://', 'https://user@'),
      `${new URL(url).origin}/`,
      url.replace('https://', 'http://'),
    ];
    for (const other of others) expect((await httpClient(idp.issuer).get(urlFor(other))).status).toBe(400);
    expect(vendor.requests.length).toBe(before);
  });

  itOnBothInLongRun(
    'is not read by a token request, nor where the settings or the APIs allow no such client',
    async () => {
      const url = aDocument();
      const before = vendor.requests.length;
      expect((await token(url, { grant_type: 'refresh_token', refresh_token: 'x' })).error).toBe('invalid_client');
      await agents('off');
      expect((await httpClient(idp.issuer).get(urlFor(url))).status).toBe(400);
      await agents('listed', ['elsewhere.example']);
      expect((await httpClient(idp.issuer).get(urlFor(url))).status).toBe(400);
      expect(vendor.requests.length).toBe(before);
      await agents('listed', [vendor.host]);
      expect((await answered(url)).has('code')).toBe(true);
    },
  );

  it('is read once in five minutes, and so many are read for one address in a minute', async () => {
    const url = aDocument();
    const before = vendor.requests.length;
    await idp.services.settings.set('rate_limits', true);
    await idp.services.settings.reload();
    for (let at = 0; at < 3; at += 1) await httpClient(idp.issuer).get(urlFor(url));
    expect(vendor.requests.length - before).toBe(1);
    const statuses: number[] = [];
    for (let at = 0; at < 25; at += 1) statuses.push((await httpClient(idp.issuer).get(urlFor(aDocument()))).status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(5);
  });
});

describe('the documents of known clients', () => {
  itOnBothInLongRun('of VS Code returns to any port of this computer, and exactly to its website', async () => {
    const url = aDocument({
      client_name: 'Visual Studio Code',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    });
    for (const redirect_uri of ['http://127.0.0.1:33418/', 'http://127.0.0.1:50123/', 'https://vscode.dev/redirect'])
      expect((await answered(url, { redirect_uri })).has('code')).toBe(true);
    for (const redirect_uri of [
      'http://127.0.0.1:33418/other',
      'https://vscode.dev:8443/redirect',
      'https://vscode.dev/redirect/x',
      'http://192.168.0.1:33418/',
    ])
      expect((await httpClient(idp.issuer).get(urlFor(url, { redirect_uri }))).status).toBe(400);
  });

  itOnBothInLongRun('of Claude lists a grant of others, and returns to its website', async () => {
    const redirect_uri = 'https://claude.ai/api/mcp/auth_callback';
    const url = aDocument({
      client_name: 'Claude',
      client_uri: 'https://claude.ai',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
      redirect_uris: [redirect_uri, 'https://claude.com/api/mcp/auth_callback'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
    expect(await tokensOf(url, { redirect_uri, ...offline })).toMatchObject({
      status: 200,
      refresh_token: expect.any(String),
    });
  });

  itOnBothInLongRun('of ChatGPT lists its methods instead of one', async () => {
    const url = aDocument({
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    });
    const redirect_uri = 'https://chatgpt.com/connector_platform_oauth_redirect';
    expect((await tokensOf(url, { redirect_uri })).status).toBe(200);
  });

  itOnBothInLongRun('of Cursor returns to its scheme', async () => {
    const redirect_uri = 'cursor://anysphere.cursor-mcp/oauth/callback';
    const url = aDocument({ client_name: 'Cursor', redirect_uris: [redirect_uri] });
    expect((await answered(url, { redirect_uri })).has('code')).toBe(true);
  });
});

describe('a changed document', () => {
  const change = (url: string, members: object) => {
    const path = new URL(url).pathname;
    vendor.documents.set(path, { ...(vendor.documents.get(path) as object), ...members });
  };

  itOnBothInLongRun('is asked about again, when it changed while the person read the question', async () => {
    const url = aDocument();
    const { browser, page } = await atConsent(url);
    change(url, { client_name: 'Another' });
    offset += 6 * MINUTE;
    const again = await browser.follow(await browser.submit(page, {}, { button: 'Allow' }), (to) =>
      to.startsWith(LOOPBACK),
    );
    expect(again.location).toBeUndefined();
    expect(textOf(again.text)).toContain('It says it is “Another”.');
    expect(await stored(url)).toBeUndefined();
  });

  it('with other redirects ends consents and tokens; what an administrator decided stays', async () => {
    const url = aDocument(refreshing);
    const { refresh_token = '' } = await tokensOf(url, offline);
    const { id = '', ...before } = (await stored(url)) ?? {};
    change(url, { redirect_uris: ['http://localhost/callback', 'https://elsewhere.example/cb'] });
    offset += 6 * MINUTE;
    await httpClient(idp.issuer).get(urlFor(url));
    expect(await idp.services.consents.find(user.account.id, id)).toBeUndefined();
    expect((await token(url, { grant_type: 'refresh_token', refresh_token })).error).toBe('invalid_grant');
    expect(await stored(url)).toMatchObject({ id, name: (before as { name?: string }).name, enabled: true });
  });

  it('that another instance has read later is not set back', async () => {
    const url = aDocument();
    await answered(url);
    const other = await startIdp({ environment: { DATABASE_URL: idp.environment.DATABASE_URL ?? '' } });
    onTestFinished(() => other.stop());
    change(url, { client_name: 'Renamed' });
    for (const { issuer } of [other, idp]) {
      const { pathname, search } = new URL(urlFor(url), idp.issuer);
      await httpClient(issuer).get(`${pathname}${search}`);
      expect((await stored(url))?.name).toBe(`${vendor.host} (Renamed)`);
    }
  });

  itOnBothInLongRun('is asked about again in the same session', async () => {
    const redirect_uri = 'https://web.example/cb';
    const url = aDocument({ redirect_uris: [redirect_uri] });
    const { browser, page } = await atConsent(url, { redirect_uri });
    await browser.submit(page, {}, { button: 'Allow' });
    const isBack = (to: string) => to.startsWith(redirect_uri);
    const again = async () => browser.follow(await browser.get(urlFor(url, { redirect_uri })), isBack);
    expect((await again()).location).toContain('code=');
    change(url, { client_name: 'Another' });
    offset += 6 * MINUTE;
    expect(textOf((await again()).text)).toContain('It says it is “Another”.');
  });

  itOnBothInLongRun('with another name asks again, and lets the tokens live', async () => {
    const redirect_uri = 'https://web.example/cb';
    const url = aDocument({ ...refreshing, redirect_uris: [redirect_uri] });
    const { refresh_token = '' } = await tokensOf(url, { redirect_uri, ...offline });
    change(url, { client_name: 'New name' });
    offset += 6 * MINUTE;
    const { page } = await atConsent(url, { redirect_uri });
    expect(textOf(page.text)).toContain('It says it is “New name”.');
    expect((await token(url, { grant_type: 'refresh_token', refresh_token })).status).toBe(200);
  });

  it('that its host does not answer with any more ends nothing; one that is gone opens nothing new', async () => {
    const url = aDocument(refreshing);
    const { pathname } = new URL(url);
    const { refresh_token = '' } = await tokensOf(url, offline);
    offset += 6 * MINUTE;
    const requests = vendor.requests.length;
    vendor.documents.set(pathname, (response: ServerResponse) => void response.writeHead(503).end());
    const refreshed = await token(url, { grant_type: 'refresh_token', refresh_token });
    expect(refreshed.status).toBe(200);
    expect(vendor.requests.length).toBe(requests);
    expect((await answered(url)).has('code')).toBe(true);
    vendor.documents.delete(pathname);
    // A failure counts for a moment.
    await setTimeout(1000);
    expect((await httpClient(idp.issuer).get(urlFor(url))).status).toBe(400);
    await agents('off');
    const ended = await token(url, { grant_type: 'refresh_token', refresh_token: refreshed.refresh_token ?? '' });
    expect(ended.error).toBe('invalid_client');
  });
});

describe('a client with a document', () => {
  itOnBothInLongRun.each<[string, Record<string, string | null>, string]>([
    ['no API', { resource: null }, 'invalid_target'],
    ['an API for registered clients alone', { resource: 'https://closed.example' }, 'invalid_target'],
    ['scopes that agents do not get', { scope: 'notes:delete' }, 'invalid_scope'],
    ['a scope of this server', { scope: 'gatehouse.users:read' }, 'invalid_scope'],
    ['an API of this server', { resource: 'ISSUER/api/admin', scope: 'gatehouse.users:read' }, 'invalid_target'],
  ])('gets nothing for %s', async (_what, parameters, error) => {
    const resource = parameters.resource?.replace('ISSUER', idp.issuer);
    const all = { ...parameters, ...(resource !== undefined && { resource }) } as Record<string, string | null>;
    expect((await answered(aDocument(), all)).get('error')).toBe(error);
  });

  itOnBothInLongRun('is asked about again after 30 days, for what it asks for then', async () => {
    const redirect_uri = 'https://web.example/cb';
    const url = aDocument({ ...refreshing, redirect_uris: [redirect_uri] });
    await tokensOf(url, { redirect_uri, scope: 'notes:read notes:write' });
    const { id = '' } = (await stored(url)) ?? {};
    const updatedAt = new Date(Date.now() - 31 * 24 * 60 * MINUTE);
    await idp.services.db.consent.updateMany({ where: { applicationId: id }, data: { updatedAt } });
    await signRows(idp.services);
    const { page } = await atConsent(url, { redirect_uri });
    expect(page.forms[0]?.action).toMatch(/\/consent$/);
    expect((await tokensOf(url, { redirect_uri })).scope).toBe('notes:read');
    expect((await idp.services.consents.find(user.account.id, id))?.resources[API]).toEqual(['notes:read']);
  });

  it('keeps a refresh token that is newer than the consent no longer than the consent', async () => {
    const redirect_uri = 'https://web.example/cb';
    const url = aDocument({ ...refreshing, redirect_uris: [redirect_uri] });
    const refresh = async (refresh_token = '') => token(url, { grant_type: 'refresh_token', refresh_token });
    const age = async (days: number) => {
      const { id = '' } = (await stored(url)) ?? {};
      const updatedAt = new Date(Date.now() - days * 24 * 60 * MINUTE);
      await idp.services.db.consent.updateMany({ where: { applicationId: id }, data: { updatedAt } });
      await signRows(idp.services);
    };
    await tokensOf(url, { redirect_uri, ...offline });
    await age(29);
    const browser = httpClient(idp.issuer);
    const later = { redirect_uri, scope: offline.scope };
    const first = await browser.follow(await browser.get(urlFor(url, later)));
    const { username, password } = user;
    const back = await browser.follow(await browser.submit(first, { username, password }), (to) =>
      to.startsWith(redirect_uri),
    );
    const code = new URL(back.location ?? '').searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri };
    const refreshed = await refresh((await token(url, form)).refresh_token);
    expect(refreshed.status).toBe(200);
    await age(31);
    expect((await refresh(refreshed.refresh_token)).error).toBe('invalid_grant');
  });

  it('of a person are so many, and one that nobody allows makes room for another of its host', async () => {
    const { db } = idp.services;
    const person = await aUser(idp.services);
    const host = await documentHost('full.localhost');
    onTestFinished(() => host.close());
    const urlOf = (path: string) => {
      const url = host.urlOf(path);
      host.documents.set(path, { client_id: url, redirect_uris: ['http://localhost/callback'] });
      return url;
    };
    await answered(urlOf('/first'), {}, person);
    const { id, clientId, mac, ...like } = await db.asStored.application.findUniqueOrThrow({
      where: { clientId: host.urlOf('/first') },
    });
    const rows = Array.from({ length: limits.clientDocument.perHost - 1 }, (_, at) => ({
      ...like,
      id: `full-${at}`,
      clientId: host.urlOf(`/${at}`),
      createdAt: new Date(at),
    }));
    await db.application.createMany({ data: rows });
    await signRows(idp.services);
    await answered(urlOf('/next'), {}, person);
    expect([await stored(host.urlOf('/0')), (await stored(host.urlOf('/1')))?.id]).toEqual([undefined, 'full-1']);
    const granted = JSON.stringify({ scopes: [], claims: [], resources: {} });
    const allowed = rows.slice(1, limits.clientDocument.perPerson - 1);
    await db.consent.createMany({
      data: allowed.map((row) => ({
        id: row.id,
        userId: person.account.id,
        applicationId: row.id,
        granted,
        updatedAt: new Date(),
      })),
    });
    await expect(answered(aDocument(), {}, person)).rejects.toThrow(/Too many apps/);
    expect((await answered(aDocument())).has('code')).toBe(true);
    await db.application.deleteMany({ where: { clientId: { startsWith: host.origin } } });
  });

  itOnBothInLongRun('gets errors on a page of this server, which leads nobody to its website', async () => {
    const redirect_uri = 'https://web.example/cb';
    const url = aDocument({ redirect_uris: [redirect_uri, LOOPBACK] });
    const faults: Record<string, string | null>[] = [{ prompt: 'none' }, { code_challenge: null }, { resource: null }];
    for (const faulty of faults) {
      const page = await httpClient(idp.issuer).get(urlFor(url, { redirect_uri, ...faulty }));
      expect([page.status, page.location]).toEqual([400, undefined]);
      const local = await httpClient(idp.issuer).get(urlFor(url, faulty));
      expect(local.location).toContain(`${LOOPBACK}?error=`);
    }
  });

  itOnBothInLongRun('that people use is not stopped by what others ask for from the same address', async () => {
    const url = aDocument();
    await answered(url);
    offset += 6 * MINUTE;
    await idp.services.settings.set('rate_limits', true);
    await idp.services.settings.reload();
    for (let at = 0; at < 25; at += 1) await httpClient(idp.issuer).get(urlFor(vendor.urlOf(`/junk-${at}`)));
    expect((await httpClient(idp.issuer).get(urlFor(vendor.urlOf('/junk')))).status).toBe(429);
    expect((await httpClient(idp.issuer).get(urlFor(url))).status).toBe(303);
  });

  itOnBothInLongRun('asks for one API at a time', async () => {
    const other = await anApi(idp.services, {
      identifier: 'https://more.example',
      scopes: ['x'],
      clients: 'documents',
    });
    const both = `${urlFor(aDocument())}&${new URLSearchParams({ resource: other.identifier })}`;
    expect((await httpClient(idp.issuer).get(both)).location).toContain('error=invalid_target');
  });

  itOnBothInLongRun('learns only who the person is, whatever it asks for', async () => {
    const claims = { id_token: { email: null, groups: null, acr: null }, userinfo: { permissions: null } };
    const all = {
      scope: 'openid profile email phone address roles permissions groups notes:read',
      claims: JSON.stringify(claims),
    };
    const url = aDocument();
    const { page } = await atConsent(url, all);
    expect(textOf(page.text)).not.toMatch(/See (your|these)/);
    const code = (await answered(url, all)).get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: LOOPBACK };
    const { access_token = '', id_token = '', scope } = await token(url, { ...form, resource: API });
    expect(scope).toBe('notes:read');
    for (const claim of ['email', 'name', 'groups', 'roles', 'permissions', 'preferred_username']) {
      expect(decodeJwt(id_token)).not.toHaveProperty(claim);
      expect(decodeJwt(access_token)).not.toHaveProperty(claim);
    }
  });

  itOnBothInLongRun('gets the scopes that the API gives to such clients', async () => {
    const all = await tokensOf(aDocument(), { scope: 'notes:read notes:write notes:delete' });
    expect(all.scope).toBe('notes:read notes:write');
  });

  itOnBothInLongRun('on this computer is asked about each time, since any program may be it', async () => {
    const url = aDocument();
    await answered(url);
    const { page } = await atConsent(url);
    expect(page.forms[0]?.action).toMatch(/\/consent$/);
  });

  itOnBothInLongRun('gets no consent by a link, a frame or a page that is fetched in advance', async () => {
    const url = aDocument();
    const { browser, page } = await atConsent(url);
    const action = page.forms[0]?.action ?? '';
    expect((await browser.get(`${action}?decision=allow`)).status).toBeGreaterThanOrEqual(400);
    await browser.get(page.url, { headers: { 'sec-purpose': 'prefetch' } });
    const { headers } = await browser.get(page.url);
    expect(headers['x-frame-options']).toBe('SAMEORIGIN');
    expect((await browser.post(action, { form: { decision: 'allow' } })).status).toBe(403);
    expect(await stored(url)).toBeUndefined();
  });

  itOnBothInLongRun('gets nothing by the code of another one, on the same port of this computer', async () => {
    const [one, other] = [aDocument(), aDocument()];
    await answered(other);
    const code = (await answered(one)).get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: LOOPBACK };
    expect((await token(one, form)).error).toBe('invalid_grant');
    const again = (await answered(one)).get('code') ?? '';
    expect((await token(other, { ...form, code: again, code_verifier: verifier })).error).toBe('invalid_grant');
  });

  itOnBothInLongRun('asks for more scopes with all of them on the page; what it has does not grow', async () => {
    const redirect_uri = 'https://web.example/cb';
    const url = aDocument({ ...refreshing, redirect_uris: [redirect_uri] });
    const first = await tokensOf(url, { redirect_uri, ...offline });
    const more = { redirect_uri, scope: 'notes:read notes:write offline_access' };
    const { browser, page } = await atConsent(url, more);
    expect(textOf(page.text)).toContain('Read your notes · notes:write');
    await browser.submit(page, {}, { button: 'Don’t allow' });
    const { id = '' } = (await stored(url)) ?? {};
    const consented = async () => (await idp.services.consents.find(user.account.id, id))?.resources[API];
    expect(await consented()).toEqual(['notes:read']);
    expect((await tokensOf(url, { ...more, prompt: 'consent' })).scope).toBe('notes:read notes:write');
    expect(await consented()).toEqual(['notes:read', 'notes:write']);
    const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token ?? '' };
    expect((await token(url, { ...form, scope: 'notes:read notes:write' })).error).toBe('invalid_scope');
    expect((await token(url, form)).scope).toBe('notes:read');
    // Without a question it gets no more than it asks for.
    expect((await tokensOf(url, { redirect_uri })).scope).toBe('notes:read');
  });

  it('loses its tokens with the session, also after the person did not allow it more', async () => {
    const redirect_uri = 'https://web.example/cb';
    const url = aDocument({ redirect_uris: [redirect_uri] });
    const { browser, page } = await atConsent(url, { redirect_uri });
    const isBack = (to: string) => to.startsWith(redirect_uri);
    const back = await browser.follow(await browser.submit(page, {}, { button: 'Allow' }), isBack);
    const code = new URL(back.location ?? '').searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri };
    const { access_token = '' } = await token(url, form);
    const api = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: [API],
      scope: 'notes:read',
    });
    const isActive = async () => (await postAs(idp, api, '/introspect', { token: access_token })).json().active;
    const more = { redirect_uri, scope: 'notes:read notes:write' };
    const question = await browser.follow(await browser.get(urlFor(url, more)), isBack);
    await browser.follow(await browser.submit(question, {}, { button: 'Don’t allow' }), isBack);
    expect(await isActive()).toBe(true);
    const logout = await browser.follow(await browser.get('/logout'));
    await browser.follow(await browser.submit(logout));
    expect(await isActive()).toBe(false);
  });

  itOnBothInLongRun('cannot use the refresh token of another one', async () => {
    const [one, other] = [aDocument(refreshing), aDocument(refreshing)];
    const { refresh_token = '' } = await tokensOf(one, offline);
    await answered(other);
    expect((await token(other, { grant_type: 'refresh_token', refresh_token })).error).toBe('invalid_grant');
  });

  itOnBothInLongRun('loses with a role, a group or a permission what it had by them', async () => {
    const { services } = idp;
    await services.roles.create({ name: 'staff', permissions: ['notes:write'] });
    const group = await services.groups.create({ name: 'crew' });
    const person = await aUser(services);
    await services.roles.setRoles(person.account.id, ['staff']);
    await services.groups.addMembers(group.id, [{ userId: person.account.id }]);
    const scopes = ['notes:read', 'notes:write'];
    const apis = {
      'https://of-role.example': { access: { roles: ['staff'] } },
      'https://of-group.example': { access: { roles: [], groups: [group.name] } },
      'https://of-permission.example': { scope_permissions: { 'notes:write': 'notes:write' } },
    };
    for (const [identifier, of] of Object.entries(apis))
      await anApi(services, { identifier, scopes, clients: 'documents', ...of });
    const held = new Map<string, { url: string; refresh_token: string }>();
    for (const resource of Object.keys(apis)) {
      const url = aDocument(refreshing);
      const more = { resource, scope: 'notes:read notes:write offline_access', prompt: 'consent' };
      const all = await tokensOf(url, more, person);
      expect(all.scope, resource).toBe('notes:read notes:write');
      held.set(resource, { url, refresh_token: all.refresh_token ?? '' });
    }
    await services.roles.setRoles(person.account.id, []);
    await services.groups.removeMembers(group.id, [person.account.id]);
    const refreshed = async (resource: string) => {
      const { url = '', refresh_token = '' } = held.get(resource) ?? {};
      const { error, scope } = await token(url, { grant_type: 'refresh_token', refresh_token });
      return error ?? scope;
    };
    expect(await Promise.all(Object.keys(apis).map(refreshed))).toEqual([
      'invalid_target',
      'invalid_target',
      'notes:read',
    ]);
  });

  itOnBothInLongRun('gets nothing for a person without the permission that all its scopes are tied to', async () => {
    const tied = 'https://tied.example';
    const scope_permissions = { 'notes:read': 'notes:none' };
    await anApi(idp.services, { identifier: tied, scopes: ['notes:read'], scope_permissions, clients: 'documents' });
    const answer = await answered(aDocument(refreshing), { resource: tied, ...offline });
    expect([answer.get('error'), answer.get('code')]).toEqual(['access_denied', null]);
  });

  it('is no more active with a disabled account, and stays ended when that is enabled', async () => {
    const person = await aUser(idp.services);
    const url = aDocument(refreshing);
    const { access_token = '', refresh_token = '' } = await tokensOf(url, offline, person);
    const api = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: [API],
      scope: 'notes:read',
    });
    const isActive = async () => (await postAs(idp, api, '/introspect', { token: access_token })).json().active;
    expect(await isActive()).toBe(true);
    await transaction(idp.services.db, (tx) => disableAccount(idp.services, person.account.id, {}, tx));
    expect(await isActive()).toBe(false);
    await idp.services.accounts.setActive(person.account.id, true);
    expect(await isActive()).toBe(false);
    expect((await token(url, { grant_type: 'refresh_token', refresh_token })).error).toBe('invalid_grant');
  });

  it('loses its access with the account and with the consent', async () => {
    const url = aDocument(refreshing);
    const { refresh_token = '' } = await tokensOf(url, offline);
    const browser = httpClient(idp.issuer);
    const id = (await stored(url))?.id ?? '';
    await completeSignIn(browser, `${idp.issuer}/account/applications`, { user });
    const page = await browser.follow(await browser.get('/account/applications'));
    const form = page.forms.find(({ fields }) => fields.application === id);
    expect(textOf(page.text)).toContain(vendor.host);
    await browser.post('/account/applications/revoke', { form: { _csrf: form?.fields._csrf ?? '', application: id } });
    expect((await token(url, { grant_type: 'refresh_token', refresh_token })).error).toBe('invalid_grant');
  });
});

itOnBothInLongRun('is announced in both discovery documents as long as an API and the settings allow it', async () => {
  const announced = async () =>
    Promise.all(
      ['openid-configuration', 'oauth-authorization-server'].map(async (name) => {
        const { text } = await httpClient(idp.issuer).get(`/.well-known/${name}`);
        return (JSON.parse(text) as Record<string, unknown>).client_id_metadata_document_supported;
      }),
    );
  expect(await announced()).toEqual([true, true]);
  await agents('off');
  expect(await announced()).toEqual([undefined, undefined]);
});
