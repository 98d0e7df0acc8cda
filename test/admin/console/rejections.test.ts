// Thirteen wrongly registered applications: an administrator finds each rejection by its code, sees the broken rule, and
// fixes it in the console without reading a log.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logoPath } from '../../../src/base/http/pages/render.ts';
import type { RequestInfo } from '../../../src/base/platform/request-info.ts';
import { adminApi } from '../../../src/people/rbac/built-in.ts';
import { aServiceProvider } from '../../support/applications/sp.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { aClient, aUser, PASSWORD } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { listen } from '../../support/listen.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { confirmation, consoleOf, signedInLongAgo, signInAgain, staff } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(() => idp?.stop());

const CODE = /\b[2-9A-Z]{4}-[2-9A-Z]{4}\b/;
const REDIRECT = 'https://app.example.com/cb';

function codeIn(page: Page): string {
  const code = CODE.exec(textOf(page.text))?.[0];
  if (!code) throw new Error(`no code on the page: ${textOf(page.text)}`);
  return code;
}

function authorize(clientId: string, parameters: Record<string, string> = {}): Promise<Page> {
  const all = {
    client_id: clientId,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    ...parameters,
  };
  return httpClient(idp.issuer).get(`/authorize?${new URLSearchParams(all)}`);
}

const token = (form: Record<string, string>, basic?: [string, string]): Promise<Page> =>
  httpClient(idp.issuer).post('/token', {
    form,
    ...(basic && { headers: { authorization: `Basic ${Buffer.from(basic.join(':')).toString('base64')}` } }),
  });

/** Opens the rejection, checks the broken rule with both values, and presses the button of the fix. */
async function fix(code: string, rule: string, button: string, ...values: string[]): Promise<void> {
  const page = await admin.get(`/admin/rejections/${code}`);
  expect(page.status).toBe(200);
  const failed = /<li class="failed">([\s\S]*?)<\/li>/.exec(page.text)?.[1] ?? '';
  expect(textOf(failed)).toContain(rule);
  for (const value of values) expect(textOf(failed)).toContain(value);
  // A fix with a warning has a page of its own.
  const link = linksOf(page.text, page.url).find(({ href, label }) => href.includes('/fix/') && label === button);
  const done = await admin.follow(await admin.submit(link ? await admin.get(link.href) : page, {}, { button }));
  expect(textOf(done.text)).toMatch(/This is fixed|Saved/);
  // No red check beside the word.
  if (textOf(done.text).includes('This is fixed')) {
    expect(done.text).not.toContain('<li class="failed">');
    expect(textOf(done.text)).toContain('This check failed at the request, and passes now. Passed');
  }
}

async function lastChange(clientId: string): Promise<string[]> {
  return (await idp.services.audit.list({ clientId, limit: 5 })).map(({ type }) => type);
}

it('the list has the logo of a product and the initials of a name, as the other lists do', async () => {
  const { account } = await aUser(idp.services, { username: 'wei', name: 'Wei Wang' });
  const { clientId } = await aClient(idp.services, { preset: 'grafana', redirect_uris: [REDIRECT] });
  const rejected = { endpoint: 'authorize', reason: 'access_denied', message: 'No.', received: {}, rules: [] } as const;
  const request: RequestInfo = { requestId: 'list', address: '192.0.2.1', userAgent: '' };
  idp.services.rejections.record(request, { ...rejected, clientId, subjectId: account.id });
  const { text } = await admin.get(`/admin/rejections?user=${account.id}`);
  expect(text).toMatch(/class="logo round hue-\d" aria-hidden="true">WW</);
  expect(text).toContain(logoPath('grafana'));
});

describe('a rejected authorization request', () => {
  it('is fixed by adding the redirect URI that is not registered', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: [REDIRECT] });
    const other = 'https://app.example.com/callback';
    const rejected = await authorize(clientId, { redirect_uri: other, session_token: 'of-the-application' });
    const page = await admin.get(`/admin/rejections/${codeIn(rejected)}`);
    expect(page.text).toContain('session_token');
    expect(page.text).not.toContain('of-the-application');
    expect(textOf(page.text)).toContain('If the received address is the wrong one, correct it in the settings of');
    expect(rejected.status).toBe(400);
    await fix(codeIn(rejected), 'The redirect URI is registered', 'Add redirect URI', other, REDIRECT);
    expect((await authorize(clientId, { redirect_uri: other })).location).toContain('/signin/');
    expect(await lastChange(clientId)).toContain('application.updated');
  });

  it('warns when the origin of a redirect URI is new for the application, and needs a fresh sign-in for the fix', async () => {
    const ann = await staff(idp, 'admin');
    const client = await consoleOf(idp, ann);
    const { clientId, applicationId } = await aClient(idp.services, {
      client_name: 'Wiki',
      redirect_uris: [REDIRECT],
    });
    const rejectionOf = async (redirect_uri: string) =>
      client.get(`/admin/rejections/${codeIn(await authorize(clientId, { redirect_uri }))}`);
    expect(textOf((await rejectionOf('https://app.example.com/other')).text)).not.toContain('is new for Wiki');
    expect(textOf((await rejectionOf('https://app.example.com:8443/cb')).text)).toContain('is new for Wiki');
    // A trial run: the registration would reject an address without https.
    expect((await rejectionOf('http://app.example.com/cb')).text).not.toContain('Add redirect URI');
    const evil = 'https://app.example.com.evil.example/cb';
    const page = await rejectionOf(evil);
    expect(textOf(page.text)).toContain('is new for Wiki');
    await signedInLongAgo(idp, ann);
    // One more page stands between an address at another host and the button.
    expect(page.forms.some(({ fields }) => 'fix' in fields)).toBe(false);
    const fixPage = await client.get(`${page.url}/fix/redirect-uri`);
    expect(textOf(fixPage.text)).toContain(`Address ${evil}`);
    const asked = await confirmation(client, await client.submit(fixPage, {}, { button: 'Add redirect URI' }));
    expect(textOf(asked.text)).toContain('You’re about to change the application Wiki');
    const again = await signInAgain(client, asked, ann);
    expect(textOf(again.text)).toContain(`Address ${evil}`);
    expect(textOf(again.text)).toContain('https://app.example.com.evil.example is new for Wiki');
    expect(JSON.stringify(await idp.services.applications.get(applicationId))).not.toContain(evil);
    expect(textOf((await client.follow(await client.submit(again))).text)).toContain('This is fixed.');
  });

  it('is fixed by enabling the disabled application', async () => {
    const { clientId, applicationId } = await aClient(idp.services, { client_name: 'Off', redirect_uris: [REDIRECT] });
    await idp.services.applications.setEnabled(applicationId, false);
    await fix(codeIn(await authorize(clientId)), 'The application is registered and enabled', 'Enable Off', 'disabled');
    expect((await authorize(clientId)).location).toContain('/signin/');
  });

  it('is fixed by allowing the requested scope, with the code that the application received', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: [REDIRECT], scope: 'openid' });
    const rejected = await authorize(clientId, { scope: 'openid email' });
    const received = new URL(rejected.location ?? '').searchParams;
    expect(received.get('error')).toBe('invalid_scope');
    const code = CODE.exec(received.get('error_description') ?? '')?.[0] ?? '';
    await fix(code, 'The scopes are allowed', 'Allow scopes', 'openid email');
    expect((await authorize(clientId, { scope: 'openid email' })).location).toContain('/signin/');
  });

  it('is fixed by giving the user the role', async () => {
    await idp.services.roles.create({ name: 'editor' });
    const { clientId } = await aClient(idp.services, { redirect_uris: [REDIRECT], access: { roles: ['editor'] } });
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const signIn = await browser.follow(await browser.get(`/authorize?${query}`));
    const rejected = await browser.follow(
      await browser.submit(signIn, { username: user.username, password: PASSWORD }),
    );
    const button = `Give Ann Example (${user.username}) the role editor`;
    await fix(codeIn(rejected), 'The user has access to the application', button, user.username, 'editor');
    const done = await browser.get(`/authorize?${query}`);
    expect(done.location).toContain('code=');
  });

  it('is fixed by putting the user in the group, which takes the right to change groups', async () => {
    const group = await idp.services.groups.create({ name: 'Translators' });
    const { clientId } = await aClient(idp.services, {
      redirect_uris: [REDIRECT],
      access: { roles: [], groups: [group.name] },
    });
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const signIn = await browser.follow(await browser.get(`/authorize?${query}`));
    const rejected = await browser.follow(
      await browser.submit(signIn, { username: user.username, password: PASSWORD }),
    );
    const button = `Add Ann Example (${user.username}) to the group Translators`;
    const support = await consoleOf(idp, await staff(idp, 'support'));
    expect((await support.get(`/admin/rejections/${codeIn(rejected)}`)).text).not.toContain(button);
    await fix(codeIn(rejected), 'The user has access to the application', button, user.username, 'Translators');
    expect((await browser.get(`/authorize?${query}`)).location).toContain('code=');
  });

  it('offers no role for a user whom the configuration file manages, and says where it is given', async () => {
    await idp.services.roles.create({ name: 'payroll' });
    const { clientId } = await aClient(idp.services, { redirect_uris: [REDIRECT], access: { roles: ['payroll'] } });
    const user = await aUser(idp.services, { username: 'dana', source: 'file' });
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const browser = httpClient(idp.issuer);
    const signIn = await browser.follow(await browser.get(`/authorize?${query}`));
    const rejected = await browser.follow(
      await browser.submit(signIn, { username: user.username, password: PASSWORD }),
    );
    const told = 'The configuration file manages the user Ann Example (dana). Add the role payroll to the user there.';
    const page = await admin.get(`/admin/rejections/${codeIn(rejected)}`);
    expect(page.text).not.toContain('Give dana');
    expect(page.text).not.toContain('Give Ann Example');
    expect(textOf(page.text)).toContain(told);
    expect(textOf(page.text)).toContain('Change access');
    const check = await admin.get(`/admin/access-check?${new URLSearchParams({ user: 'dana', app: clientId })}`);
    expect(check.text).not.toContain('Give Ann Example');
    expect(textOf(check.text)).toContain(told);
    expect(textOf(check.text)).toMatch(/Open Ann Example.*Manage here/s);
  });

  it('is fixed without PKCE after a warning, for an application that has a secret', async () => {
    const withoutPkce = async (clientId: string) => {
      const query = { client_id: clientId, redirect_uri: REDIRECT, response_type: 'code', scope: 'openid' };
      const rejected = await httpClient(idp.issuer).get(`/authorize?${new URLSearchParams(query)}`);
      const said = new URL(rejected.location ?? '', idp.issuer);
      return { said, code: CODE.exec(said.searchParams.get('error_description') ?? '')?.[0] };
    };
    const { clientId } = await aClient(idp.services, { client_name: 'Old wiki', redirect_uris: [REDIRECT] });
    // Anyone can send both at once: no button registers an address and turns PKCE off.
    const both = { client_id: clientId, redirect_uri: 'https://evil.example.net/cb', response_type: 'code' };
    const rejected = await httpClient(idp.issuer).get(`/authorize?${new URLSearchParams(both)}`);
    const ofBoth = await admin.get(`/admin/rejections/${codeIn(rejected)}`);
    expect(textOf(ofBoth.text)).toContain('PKCE is missing too: turn it on in the settings of Old wiki.');
    expect(linksOf(ofBoth.text, ofBoth.url).map(({ label }) => label)).toContain('Add redirect URI');
    for (const other of ['without PKCE', 'metadata']) expect(textOf(ofBoth.text)).not.toContain(other);
    await fix(codeIn(rejected), 'The redirect URI is registered', 'Add redirect URI');
    const fixed = await admin.get(`/admin/rejections/${codeIn(rejected)}`);
    expect(textOf(fixed.text)).toMatch(/This is fixed.*PKCE is missing too/s);
    // Where no button helps, the settings of the application, which has no metadata either.
    const token = { ...both, redirect_uri: REDIRECT, response_type: 'token' };
    const insecure = { ...both, redirect_uri: 'http://app.example.com/cb' };
    for (const request of [insecure, token]) {
      const page = await httpClient(idp.issuer).get(`/authorize?${new URLSearchParams(request)}`);
      const code = CODE.exec(page.text + decodeURIComponent(page.location ?? ''))?.[0] ?? '';
      expect(textOf((await admin.get(`/admin/rejections/${code}`)).text)).not.toContain('metadata');
    }
    const { code } = await withoutPkce(clientId);
    const page = await admin.get(`/admin/rejections/${code}`);
    expect(textOf(/<li class="failed">([\s\S]*?)<\/li>/.exec(page.text)?.[1] ?? '')).toContain('PKCE');
    expect(page.forms.some(({ fields }) => 'fix' in fields)).toBe(false);
    const asked = await admin.get(`/admin/rejections/${code}/fix/no-pkce`);
    expect(textOf(asked.text)).toContain(
      'Anyone can send a request like this. First look for PKCE in the settings of Old wiki',
    );
    const done = await admin.follow(await admin.submit(asked, {}, { button: 'Accept requests without PKCE' }));
    expect(textOf(done.text)).toContain('This is fixed.');
    expect((await withoutPkce(clientId)).said.pathname).toContain('/signin/');

    const open = await aClient(idp.services, { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' });
    const ofPublic = await admin.get(`/admin/rejections/${(await withoutPkce(open.clientId)).code}`);
    expect(ofPublic.text).not.toContain('<h2>Fix</h2>');
    expect(ofPublic.text).not.toContain('without PKCE');
  });
});

describe('a rejected token request', () => {
  it.each<[string, string, object]>([
    ['another API is registered', 'https://other.example.com', { resources: ['https://other.example.com'] }],
    ['no API is registered', 'none', {}],
  ])('is fixed by allowing the requested API where %s', async (_name, expected, fields) => {
    const resource = `https://api.example.com/${crypto.randomUUID()}`;
    await idp.services.db.asStored.resource.create({ data: { identifier: resource, scopes: '["read"]' } });
    await signRows(idp.services);
    const { clientId, clientSecret } = await aClient(idp.services, {
      grant_types: ['client_credentials'],
      scope: 'read',
      ...fields,
    });
    const form = { grant_type: 'client_credentials', scope: 'read', resource };
    const rejected = await token(form, [clientId, clientSecret]);
    expect(rejected.json().error).toBe('invalid_target');
    await fix(codeIn(rejected), 'this application has access to it', 'Allow API', resource, expected);
    expect((await token(form, [clientId, clientSecret])).json().access_token).toBeTruthy();
  });

  it('offers no button that gives the application rights in Gatehouse', async () => {
    const own = adminApi(idp.issuer);
    const csrf = String((await admin.get('/admin/import')).forms.at(-1)?.fields._csrf);
    // An application manager may register this scope, because without the API it gives nothing.
    const prepared = await aClient(idp.services, {
      grant_types: ['client_credentials'],
      resources: ['https://other.example.com'],
      scope: 'admin:*',
    });
    const reader = await aClient(idp.services, {
      redirect_uris: [REDIRECT],
      resources: [own],
      scope: 'openid gatehouse.users:read',
    });
    // Neither the API without a scope, nor a scope without the API: the two halves of a right.
    const without = await aClient(idp.services, {
      grant_types: ['client_credentials', 'authorization_code'],
      redirect_uris: [REDIRECT],
      resources: ['https://other.example.com'],
      scope: 'openid read',
    });
    const basic: [string, string] = [without.clientId, without.clientSecret];
    const access = `${idp.issuer}/access/v1`;
    const forApi = { grant_type: 'client_credentials', scope: 'admin:*', resource: own };
    const requests = [
      { fix: 'resource', send: () => token(forApi, [prepared.clientId, prepared.clientSecret]) },
      { fix: 'resource', send: () => token({ grant_type: 'client_credentials', scope: 'read', resource: own }, basic) },
      { fix: 'resource', send: () => token({ grant_type: 'client_credentials', resource: access }, basic) },
      { fix: 'scope', send: () => authorize(without.clientId, { scope: 'openid email gatehouse.users:read' }) },
      { fix: 'scope', send: () => authorize(reader.clientId, { scope: 'openid email gatehouse.users:write' }) },
    ];
    for (const { fix, send } of requests) {
      const rejected = await send();
      const description = rejected.location && new URL(rejected.location).searchParams.get('error_description');
      const code = CODE.exec(description ?? textOf(rejected.text))?.[0];
      const page = textOf((await admin.get(`/admin/rejections/${code}`)).text);
      expect(page, `${fix} ${rejected.text}`).toContain('asks for permissions in Gatehouse');
      const pressed = await admin.post(`/admin/rejections/${code}`, {
        form: { _csrf: csrf, fix },
        headers: { origin: idp.issuer, 'sec-fetch-site': 'same-origin' },
      });
      expect(pressed.text).toContain('This fix is no longer available.');
      expect((await send()).location ?? '').not.toContain('/signin/');
    }
  });

  it('offers no button for an API that does not exist', async () => {
    const { clientId, clientSecret } = await aClient(idp.services, {
      grant_types: ['client_credentials'],
      resources: ['https://other.example.com'],
      scope: 'read',
    });
    for (const resource of [`https://invented.example.com/${clientId}`, 'https://other.example.com']) {
      const form = { grant_type: 'client_credentials', scope: 'read', resource };
      const page = await admin.get(`/admin/rejections/${codeIn(await token(form, [clientId, clientSecret]))}`);
      expect(textOf(page.text)).toContain(`No API ${resource} is registered`);
      expect(page.text).not.toMatch(/Let it ask|This is fixed/);
    }
  });

  it('offers no fix for missing client authentication', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: [REDIRECT] });
    const rejected = await token({ grant_type: 'refresh_token', refresh_token: 'x', client_id: clientId });
    const page = await admin.get(`/admin/rejections/${codeIn(rejected)}`);
    expect(textOf(/<li class="failed">([\s\S]*?)<\/li>/.exec(page.text)?.[1] ?? '')).toContain('the registered method');
    expect(page.text).not.toContain('<h2>Fix</h2>');
  });

  it('is fixed by allowing the grant', async () => {
    const { clientId, clientSecret } = await aClient(idp.services, { redirect_uris: [REDIRECT] });
    const rejected = await token({ grant_type: 'client_credentials' }, [clientId, clientSecret]);
    await fix(
      codeIn(rejected),
      'The grant type is allowed',
      'Allow the grant client_credentials',
      'authorization_code',
    );
    const again = await token({ grant_type: 'client_credentials' }, [clientId, clientSecret]);
    expect(again.json().access_token).toBeTruthy();
  });

  it('is fixed by a new secret when the secret was wrong', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: [REDIRECT] });
    const rejected = await token({ grant_type: 'refresh_token', refresh_token: 'x' }, [clientId, 'w'.repeat(43)]);
    const page = await admin.get(`/admin/rejections/${codeIn(rejected)}`);
    expect(page.text).toContain('Create secret');
    const form = await admin.get(/href="(\/admin\/applications\/[^"]+\/secret)"/.exec(page.text)?.[1] ?? '');
    const made = await admin.follow(await admin.submit(form));
    const secret = /<pre[^>]*>\s*<code>([\w-]{20,})<\/code>/.exec(made.text)?.[1] ?? '';
    const answer = await token({ grant_type: 'refresh_token', refresh_token: 'x' }, [clientId, secret]);
    expect(answer.json().error).not.toBe('invalid_client');
  });
});

describe('a rejected logout', () => {
  const endSession = (query: Record<string, string>) =>
    httpClient(idp.issuer).get(`/end-session?${new URLSearchParams(query)}`, { headers: { accept: 'text/html' } });
  const AFTER = 'https://app.example.com/bye';

  it('is fixed by adding the post-logout redirect URI that is not registered', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: [REDIRECT] });
    const parameters = { client_id: clientId, post_logout_redirect_uri: AFTER };
    const rejected = await endSession(parameters);
    expect(rejected.status).toBe(400);
    expect(textOf(rejected.text)).toContain('After sign-out');
    const button = 'Add post-logout redirect URI';
    await fix(codeIn(rejected), 'The post-logout redirect URI is registered', button, AFTER);
    expect((await endSession(parameters)).status).not.toBe(400);
    expect(await lastChange(clientId)).toEqual(expect.arrayContaining(['application.updated', 'sign-out.rejected']));
  });

  it('shows an unknown application, and an invalid hint without its value', async () => {
    const unknown = await endSession({ client_id: 'nobody', post_logout_redirect_uri: AFTER });
    const page = await admin.get(`/admin/rejections/${codeIn(unknown)}`);
    expect(textOf(page.text)).toContain('No application has this identifier.');
    const forged = await endSession({ id_token_hint: 'of.another.issuer', post_logout_redirect_uri: AFTER });
    const hint = await admin.get(`/admin/rejections/${codeIn(forged)}`);
    expect(textOf(/<li class="failed">([\s\S]*?)<\/li>/.exec(hint.text)?.[1] ?? '')).toContain('id_token_hint');
    expect(hint.text).not.toContain('of.another.issuer');
    expect(hint.text).not.toContain('Add this post-logout');
  });
});

describe('a rejected AuthnRequest', () => {
  const byHand = async (entityId: string, settings: object = {}) => {
    const made = await aServiceProvider(idp.services, { entityId, library: { skipRequestCompression: true } });
    const row = await idp.services.applications.find(entityId);
    if (!row) throw new Error('no such application');
    await idp.services.applications.remove(row.id);
    const page = await admin.submit(await admin.get('/admin/applications/new/saml'), {
      name: `By hand: ${entityId}`,
      entity_id: entityId,
      acs_url: 'https://elsewhere.example.com/acs',
      ...settings,
    });
    expect(page.status).toBe(303);
    return made;
  };
  const post = async (sp: Awaited<ReturnType<typeof byHand>>) => {
    const html = await sp.saml.getAuthorizeFormAsync('');
    const value = /name="SAMLRequest" value="([^"]+)"/.exec(html)?.[1] ?? '';
    return httpClient(idp.issuer).post('/saml/sso', { form: { SAMLRequest: value } });
  };

  it('is fixed at once where its certificate and its ACS URL are not registered', async () => {
    const sp = await byHand('https://sp-ten.example.com');
    const unsigned = await post(sp);
    expect(unsigned.status).toBe(400);
    const button = 'Add certificate, Add ACS URL';
    await fix(codeIn(unsigned), 'A signing certificate is registered', button);
    expect((await post(sp)).location).toContain('/saml/sso/continue');
    expect(await lastChange('https://sp-ten.example.com')).toContain('application.updated');
  });

  it('is fixed by allowing the requested NameID format', async () => {
    const entityId = 'https://sp-name-id.example.com';
    const format = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
    const sp = await aServiceProvider(idp.services, {
      entityId,
      settings: { name_id_format: 'persistent' },
      library: { skipRequestCompression: true },
    });
    // Its metadata names no format, so nothing but the setting allows one.
    sp.saml.options.identifierFormat = format;
    // SAML Core 3.2.2.2 has a status for it; the message carries the code.
    const received = (await post(sp)).forms[0]?.fields.SAMLResponse ?? '';
    const xml = Buffer.from(received, 'base64').toString();
    expect(xml).toContain('urn:oasis:names:tc:SAML:2.0:status:InvalidNameIDPolicy');
    const code = CODE.exec(xml)?.[0] ?? '';
    await fix(code, 'The requested NameID format', 'Use emailAddress identifiers', format, 'persistent');
    expect((await post(sp)).location).toContain('/saml/sso/continue');
    expect(await lastChange(entityId)).toContain('application.updated');
  });

  it('is fixed by new metadata when the metadata was pasted', async () => {
    const entityId = 'https://sp-metadata.example.com';
    const sp = await aServiceProvider(idp.services, { entityId, library: { skipRequestCompression: true } });
    const application = await idp.services.applications.find(entityId);
    if (application?.protocol !== 'saml') throw new Error('no such application');
    const registered = application.metadata.metadata_xml ?? '';
    sp.saml.options.callbackUrl = 'https://sp-metadata.example.com/other';
    const rejected = await post(sp);
    const page = await admin.get(`/admin/rejections/${codeIn(rejected)}`);
    expect(textOf(page.text)).toContain('uses pasted metadata');
    expect(page.text).not.toContain('Add ACS URL');
    const form = await admin.get(/href="([^"]+)"[^>]*>Paste new metadata/.exec(page.text)?.[1] ?? '');
    const metadata = registered.replaceAll(sp.acsUrl, 'https://sp-metadata.example.com/other');
    await admin.submit(form, { metadata });
    expect(textOf((await admin.get(`/admin/rejections/${codeIn(rejected)}`)).text)).toContain('This is fixed');
    expect((await post(sp)).location).toContain('/saml/sso/continue');
  });

  it('is fixed by reading the metadata URL again, where that would help, and by approving what it changes', async () => {
    const entityId = 'https://sp-url.example.com';
    const sp = await aServiceProvider(idp.services, { entityId, library: { skipRequestCompression: true } });
    const row = await idp.services.applications.find(entityId);
    if (row?.protocol !== 'saml') throw new Error('no such application');
    let metadata = row.metadata.metadata_xml ?? '';
    const server = await listen((_request, response) => void response.end(metadata));
    await idp.services.applications.remove(row.id);
    const page = await admin.submit(await admin.get('/admin/applications/new/saml'), {
      name: 'By address',
      metadata_url: `${server.origin}/metadata`,
    });
    expect(page.status).toBe(303);
    sp.saml.options.callbackUrl = 'https://sp-url.example.com/other';
    const code = codeIn(await post(sp));
    const detail = await admin.get(`/admin/rejections/${code}`);
    // A trial run with the metadata of now: it would not help.
    expect(textOf(detail.text)).toContain('Gatehouse read it just now: it wouldn’t fix this.');
    const button = 'Update metadata';
    expect(detail.text).not.toContain(button);
    metadata = metadata.replaceAll(sp.acsUrl, 'https://sp-url.example.com/other');
    const changed = await admin.follow(
      await admin.submit(await admin.get(`/admin/rejections/${code}`), {}, { button }),
    );
    expect(textOf(changed.text)).toContain('needs your approval');
    expect(codeIn(await post(sp)), 'not applied yet').toBeTruthy();
    const { id } = (await idp.services.applications.find(entityId)) ?? {};
    const comparison = await admin.get(`/admin/applications/${id}/metadata`);
    expect(textOf(comparison.text)).toContain('https://sp-url.example.com/other');
    expect((await admin.submit(comparison, {}, { button: 'Approve' })).status).toBe(303);
    expect((await post(sp)).location).toContain('/saml/sso/continue');
    expect(await lastChange(entityId)).toContain('application.updated');
    await server.close();
  });

  it('is accepted once the certificate is entered by hand', async () => {
    const entityId = 'https://sp-redirect.example.com';
    const sp = await byHand(entityId);
    const application = await idp.services.applications.find(entityId);
    const edit = await admin.get(`/admin/applications/${application?.id}/settings`);
    const pem = sp.credential.certificatePem;
    const wrong = await admin.submit(edit, { 'certificates.pem': 'none' });
    expect(wrong.status).toBe(400);
    await admin.submit(edit, {
      'certificates.pem': pem,
      'certificates.use': 'signing',
      'acs_url.url': sp.acsUrl,
    });
    const now = await idp.services.applications.find(entityId);
    expect(now?.protocol === 'saml' && now.metadata.certificates).toEqual([{ use: 'signing', pem: pem.trim() }]);
    expect((await post(sp)).location).toContain('/saml/sso/continue');
    // Saved again as it is, it stays.
    await admin.submit(await admin.get(`/admin/applications/${application?.id}/settings`), { name: 'Renamed' });
    expect(await idp.services.applications.find(entityId)).toMatchObject({ metadata: now?.metadata, name: 'Renamed' });
  });

  it('offers to register the unknown service provider', async () => {
    const sp = await byHand('https://sp-eleven.example.com');
    const row = await idp.services.applications.find('https://sp-eleven.example.com');
    await idp.services.applications.remove(row?.id ?? '');
    const page = await admin.get(`/admin/rejections/${codeIn(await post(sp))}`);
    expect(textOf(page.text)).toContain('No application has this identifier.');
    expect(page.text).toContain('Add application');
  });
});

describe('the list of rejected requests', () => {
  it('finds a rejection by its code in any spelling, by application and by request number', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: [REDIRECT] });
    const rejected = await authorize(clientId, { redirect_uri: 'https://evil.example/<script>' });
    const code = codeIn(rejected);
    const typed = code.toLowerCase().replace('-', '');
    const found = await admin.follow(await admin.get(`/admin/rejections?code=${typed}`));
    expect(textOf(found.text)).toContain(code);
    expect(found.text).not.toContain('<script>evil');
    expect((await admin.get(`/admin/rejections?client=${clientId}`)).text).toContain(code);
    const requestId = /Request ID<\/dt><dd><code>([^<]+)</.exec(rejected.text)?.[1];
    expect((await admin.get(`/admin/rejections?request=${requestId}`)).text).toContain(code);
    const unknown = await admin.follow(await admin.get('/admin/rejections?code=AAAA-AAAA'));
    expect(unknown.status).toBe(404);
    expect(textOf(unknown.text)).toContain('No rejected request has this error reference. Check it for typing errors');
    expect(linksOf(unknown.text, unknown.url)).toContainEqual(
      expect.objectContaining({ label: 'Go to Rejected requests', href: `${idp.issuer}/admin/rejections` }),
    );
  });

  it('says in a sentence what happened, and has the codes in the details', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: [REDIRECT] });
    const code = codeIn(await authorize(clientId, { redirect_uri: 'https://other.example.com/' }));
    const list = await admin.get(`/admin/rejections?client=${clientId}`);
    const link = { label: 'The redirect URI isn’t registered.', href: `${idp.issuer}/admin/rejections/${code}` };
    expect(linksOf(list.text, list.url)).toContainEqual(link);
    expect(list.text).not.toContain('invalid_redirect_uri');
    expect(textOf((await admin.get(`/admin/rejections/${code}`)).text)).toMatch(/Details.*Error invalid_redirect_uri/);
  });

  it('shows the reason to auditor and support, who cannot apply a fix', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: [REDIRECT] });
    const code = codeIn(await authorize(clientId, { redirect_uri: 'https://other.example.com/' }));
    for (const role of ['auditor', 'support']) {
      const reader = await consoleOf(idp, await staff(idp, role));
      const page = await reader.get(`/admin/rejections/${code}`);
      expect(page.text).toContain('https://other.example.com/');
      expect(page.forms).toEqual([]);
      // A token of their own, from a page that has a form for everybody.
      const form = await reader.get('/account/profile');
      const sent = await reader.post(`/admin/rejections/${code}`, {
        form: { _csrf: form.forms[0]?.fields._csrf ?? '', fix: 'redirect-uri' },
        headers: { origin: new URL(idp.issuer).origin },
      });
      expect(sent.status).toBe(403);
    }
    expect((await authorize(clientId, { redirect_uri: 'https://other.example.com/' })).status).toBe(400);
  });
});
