// Programs at websites without a sign-in of their own: access tokens for the website, and app passwords.
import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import {
  type ProxyKind,
  type proxiedApplication,
  proxyKinds,
} from '../../src/applications/fields/proxied-application.ts';
import { parseAuthorization } from '../../src/protocols/forward-auth/programs.ts';
import { aPerson } from '../admin/support.ts';
import { type Application, anApplication, completeSignIn, forApi, postAs } from '../oidc/support.ts';
import { anApi, aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { some } from '../support/long-run.ts';
import { signedIn } from '../support/pages/account.ts';
import { textOf } from '../support/pages/html.ts';
import fc, { anyCharacter } from '../support/property.ts';
import { type Website, website } from '../support/website.ts';

const HANDED_ON = ['Remote-User', 'Remote-Groups', 'Remote-Name', 'Remote-Email', 'X-Gatehouse-Jwt', 'Authorization'];
const SCOPE = 'website:access';
let idp: TestIdp;
const sites: Partial<Record<ProxyKind, Website>> = {};

beforeAll(async () => {
  idp = await startIdp();
  for (const kind of proxyKinds) sites[kind] = await website(kind, () => idp.issuer, HANDED_ON);
});
afterAll(async () => {
  for (const site of Object.values(sites)) await site.close();
  await idp?.stop();
});

async function aWebsite(kind: ProxyKind, declared: Partial<z.input<typeof proxiedApplication>> = {}): Promise<Website> {
  const site = sites[kind];
  if (!site) throw new Error(`no website behind ${kind}`);
  const found = await idp.services.applications.find(site.origin);
  if (found) await idp.services.applications.remove(found.id);
  await idp.services.applications.createProxied({ name: `Wiki ${kind}`, url: site.origin, proxy: kind, ...declared });
  return site;
}

const send = (url: string, authorization: string, headers: Record<string, string> = {}) =>
  httpClient().get(url, { headers: { authorization, accept: 'application/json', ...headers } });
const withToken = ({ origin }: Website, token: string, path = '/') => send(`${origin}${path}`, `Bearer ${token}`);
const headersOf = (page: Page) => page.json<{ headers: Record<string, string> }>().headers;
const challengeOf = (page: Page) => String(page.headers['www-authenticate']);

const worker = (...apis: string[]) =>
  anApplication(idp, { redirect_uris: [], grant_types: ['client_credentials'], ...forApi(apis, SCOPE) });
const ownToken = async (app: Application, resource: string) =>
  (await oidc.clientCredentialsGrant(app.rp.config, { resource, scope: SCOPE })).access_token;

/** The tokens for a website that a user gives an application. */
async function tokensOf(app: Application, user: TestUser, { origin: resource }: Website, scope = SCOPE) {
  const started = await app.rp.start({ scope: `openid offline_access ${scope}`, resource });
  const page = await completeSignIn(httpClient(idp.issuer), started.url, { user });
  return oidc.authorizationCodeGrant(app.rp.config, new URL(page.location ?? ''), started.checks, { resource });
}

describe.each(some(3, proxyKinds))('behind %s', (kind) => {
  it('the access token of a user lets a program in, and does not reach the website', async () => {
    const site = await aWebsite(kind, { access_tokens: 'users' });
    const user = await aUser(idp.services);
    const app = await anApplication(idp, forApi(site.origin, SCOPE));
    const { access_token: token } = await tokensOf(app, user, site);
    const page = await withToken(site, token, '/api/notes?view=all');
    expect(page.status).toBe(200);
    const received = headersOf(page);
    expect(received).toMatchObject({
      'remote-user': user.username,
      'remote-email': user.account.email,
      authorization: '',
    });
    expect(decodeJwt(received['x-gatehouse-jwt'] ?? '')).toMatchObject({
      sub: user.account.id,
      acr: 'urn:gatehouse:acr:password',
    });
    await postAs(idp, app, '/revoke', { token });
    const revoked = await withToken(site, token);
    expect(revoked.status).toBe(401);
    expect(challengeOf(revoked)).toBe(`Bearer realm="${site.origin}", error="invalid_token"`);
  });

  it('a client that acts for itself has a name that no user can have', async () => {
    const site = await aWebsite(kind, { access_tokens: 'all', access: { roles: ['admin'] } });
    const app = await worker(site.origin);
    const token = await ownToken(app, site.origin);
    const received = headersOf(await withToken(site, token));
    expect(received).toMatchObject({
      'remote-user': `client ${app.clientId}`,
      'remote-groups': '',
      'remote-email': '',
      'remote-name': 'Test application',
    });
    expect(decodeJwt(received['x-gatehouse-jwt'] ?? '')).toMatchObject({ sub: `client ${app.clientId}` });
    // Signed once.
    expect(headersOf(await withToken(site, token))['x-gatehouse-jwt']).toBe(received['x-gatehouse-jwt']);
    const { id } = (await idp.services.applications.find(app.clientId)) ?? { id: '' };
    await idp.services.applications.setEnabled(id, false, {});
    expect((await withToken(site, token)).status).toBe(401);
    await idp.services.applications.setEnabled(id, true, {});
    const another = await ownToken(app, site.origin);
    expect((await withToken(site, another)).status).toBe(200);
    expect((await postAs(idp, app, '/revoke', { token: another })).status).toBe(200);
    expect((await withToken(site, another)).status).toBe(401);
  });

  it('a website that lets no programs in keeps what they send', async () => {
    const site = await aWebsite(kind, { paths: [{ path: '/dav/', rule: 'public' }] });
    const own = await send(`${site.origin}/dav/`, 'Bearer of-the-website', { 'remote-user': 'forged' });
    // The helper hands on whatever the answer lacks as FORGED: a real proxy does not hand on Authorization of such a website.
    expect(headersOf(own)).toMatchObject({ 'remote-user': '', authorization: 'FORGED' });
    expect((await send(`${site.origin}/`, 'Bearer of-the-website')).status).toBe(401);
  });

  it('what is not for this server reaches the website', async () => {
    const site = await aWebsite(kind, { access_tokens: 'users', paths: [{ path: '/dav/', rule: 'public' }] });
    for (const sent of ['Basic dXNlcjpwYXNz', 'DPoP x', 'Digest username="x", realm="y"'])
      expect(headersOf(await send(`${site.origin}/dav/`, sent)).authorization).toBe(sent);
    // A token of this server would look like that.
    expect(headersOf(await send(`${site.origin}/dav/`, 'Bearer in-a-public-part')).authorization).toBe('');
  });
});

describe('an access token', () => {
  it('is for one website, and for what the registrations still say', async () => {
    const site = await aWebsite('caddy', { access_tokens: 'all' });
    const other = await aWebsite('traefik', { access_tokens: 'all' });
    const app = await worker(site.origin);
    const token = await ownToken(app, site.origin);
    expect((await withToken(site, token)).status).toBe(200);
    expect((await withToken(other, token)).status).toBe(401);
    await expect(ownToken(app, other.origin)).rejects.toMatchObject({ error: 'invalid_target' });
    // Without `resource`, for nothing here.
    const plain = await anApplication(idp, forApi(site.origin, SCOPE));
    const user = await aUser(idp.services);
    const page = await completeSignIn(httpClient(idp.issuer), (await plain.rp.start()).url, { user });
    expect(page.location).toBeDefined();
    await idp.services.applications.update('oidc', app.applicationId, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: [],
    });
    expect((await withToken(site, token)).status).toBe(401);
  });

  it('of a client for itself opens no website that lets in those of users only', async () => {
    const site = await aWebsite('caddy', { access_tokens: 'users' });
    const answer = await withToken(site, await ownToken(await worker(site.origin), site.origin));
    expect(answer.status).toBe(403);
    expect(answer.json()).toMatchObject({ error: 'insufficient_scope' });
  });

  it('needs the scope', async () => {
    const site = await aWebsite('caddy', { access_tokens: 'users' });
    const user = await aUser(idp.services);
    const app = await anApplication(idp, forApi(site.origin, SCOPE));
    const { access_token: token } = await tokensOf(app, user, site, 'profile');
    const answer = await withToken(site, token);
    expect(answer.status).toBe(403);
    expect(challengeOf(answer)).toContain(`error="insufficient_scope", scope="${SCOPE}"`);
  });

  it('is asked for on the consent page', async () => {
    const site = await aWebsite('caddy', { access_tokens: 'users' });
    const user = await aUser(idp.services);
    const app = await anApplication(idp, { consent: 'explicit', ...forApi(site.origin, SCOPE) });
    const started = await app.rp.start({ scope: `openid ${SCOPE}`, resource: site.origin });
    const page = await completeSignIn(httpClient(idp.issuer), started.url, { user, consent: 'Don’t allow' });
    expect(new URL(page.location ?? '').searchParams.get('error')).toBe('access_denied');
  });

  it('lets in whom the access rule lets in, at each request', async () => {
    for (const name of ['wiki-api', 'nobody']) await idp.services.roles.create({ name });
    const site = await aWebsite('caddy', {
      access_tokens: 'users',
      access: { roles: ['wiki-api'] },
      paths: [{ path: '/admin/', rule: { roles: ['nobody'] } }],
    });
    const user = await aUser(idp.services);
    await idp.services.roles.assign(user.account.id, 'wiki-api');
    const app = await anApplication(idp, forApi(site.origin, SCOPE));
    const { access_token: token } = await tokensOf(app, user, site);
    expect((await withToken(site, token)).status).toBe(200);
    expect((await withToken(site, token, '/admin/')).status).toBe(403);
    await idp.services.roles.unassign(user.account.id, 'wiki-api');
    expect((await withToken(site, token)).json()).toMatchObject({ error: 'access_denied' });
    await idp.services.roles.assign(user.account.id, 'wiki-api');
    expect((await withToken(site, token)).status).toBe(200);
    await idp.services.accounts.setActive(user.account.id, false, {});
    expect((await withToken(site, token)).status).toBe(401);
  });

  it('is not given for a website that is closed to the user, or that lets no programs in', async () => {
    const site = await aWebsite('caddy', { access_tokens: 'users', access: { roles: ['admin'] } });
    const app = await anApplication(idp, forApi(site.origin, SCOPE));
    const user = await aUser(idp.services);
    const started = await app.rp.start({ scope: `openid ${SCOPE}`, resource: site.origin });
    const page = await completeSignIn(httpClient(idp.issuer), started.url, { user });
    expect(page.location).toBeUndefined();
    const closed = await aWebsite('traefik');
    await expect(ownToken(await worker(closed.origin), closed.origin)).rejects.toMatchObject({
      error: 'invalid_target',
    });
  });

  it('must come from a sign-in as strong as the website and the path need', async () => {
    const site = await aWebsite('caddy', { access_tokens: 'all', paths: [{ path: '/admin/', rule: 'mfa' }] });
    const user = await aUser(idp.services);
    const app = await anApplication(idp, forApi(site.origin, SCOPE));
    const { access_token: token } = await tokensOf(app, user, site);
    const answer = await withToken(site, token, '/admin/');
    expect(answer.status).toBe(401);
    expect(challengeOf(answer)).toContain(
      'error="insufficient_user_authentication", acr_values="urn:gatehouse:acr:mfa"',
    );
    const own = await ownToken(await worker(site.origin), site.origin);
    expect((await withToken(site, own, '/admin/')).status).toBe(403);
    expect((await withToken(site, own)).status).toBe(200);
  });

  it('of a user opens no website that names the connections of its sign-ins', async () => {
    const site = await aWebsite('caddy', { access_tokens: 'users', connections: [], local_sign_in: true });
    const app = await anApplication(idp, forApi(site.origin, SCOPE));
    const { access_token: token } = await tokensOf(app, await aUser(idp.services), site);
    expect((await withToken(site, token)).status).toBe(403);
  });

  it('ends with the session of the user, unless it is for offline access', async () => {
    const site = await aWebsite('caddy', { access_tokens: 'users' });
    const user = await aUser(idp.services);
    const app = await anApplication(idp, forApi(site.origin, SCOPE));
    const { access_token: token } = await tokensOf(app, user, site);
    await idp.services.endSession.all(user.account.id, 'ended-by-admin', {});
    expect((await withToken(site, token)).status).toBe(401);
  });

  it('is a JWT where the website is registered as an API too', async () => {
    const site = await aWebsite('caddy', { access_tokens: 'all' });
    await anApi(idp.services, {
      identifier: site.origin,
      scopes: [SCOPE],
      signing_alg: 'ES256',
      access: 'everyone',
    });
    const user = await aUser(idp.services);
    const app = await anApplication(idp, forApi(site.origin, SCOPE));
    const { access_token: token } = await tokensOf(app, user, site);
    expect(decodeJwt(token).aud).toBe(site.origin);
    const own = await ownToken(await worker(site.origin), site.origin);
    expect((await withToken(site, own)).status).toBe(200);
    expect(headersOf(await withToken(site, token))['remote-user']).toBe(user.username);
    const forged = `${token.slice(0, token.lastIndexOf('.'))}.${'A'.repeat(86)}`;
    expect((await withToken(site, forged)).status).toBe(401);
    await idp.services.endSession.all(user.account.id, 'ended-by-admin', {});
    expect((await withToken(site, token)).status).toBe(401);
  });

  it.each(['', 'Bearer', 'Bearer ', 'Bearer a b', 'Bearer ""', `Bearer ${'x'.repeat(9000)}`])(
    'that is none is rejected: %#',
    async (sent) => {
      const site = await aWebsite('caddy', { access_tokens: 'users' });
      const answer = await send(`${site.origin}/`, sent);
      expect(answer.status).toBe(401);
      expect(challengeOf(answer)).toContain(`Bearer realm="${site.origin}"`);
    },
  );
});

const asPerson = ({ origin }: Website, username: string, password: string, path = '/') =>
  send(`${origin}${path}`, `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`);

/** Signs in, and creates an app password on the account page. */
async function anAppPassword(user: TestUser, site: Website): Promise<{ browser: HttpClient; password: string }> {
  const browser = await signedIn(idp, user);
  const form = await browser.follow(await browser.get('/account/app-passwords/new'));
  const application = await idp.services.applications.find(site.origin);
  const created = await browser.submit(form, { website: application?.id ?? '', name: 'Calendar' });
  expect(created.status).toBe(200);
  const [, password = ''] = /id="app-password">([^<]+)</.exec(created.text) ?? [];
  expect(password.replaceAll('-', '')).toMatch(/^[0-9a-hjkmnp-tv-z]{32}$/);
  return { browser, password };
}

describe.each(some(3, proxyKinds))('an app password behind %s', (kind) => {
  it('lets in the user who created it, and does not reach the website', async () => {
    const site = await aWebsite(kind, { app_passwords: true });
    const user = await aUser(idp.services);
    const { password } = await anAppPassword(user, site);
    const asked = await httpClient().get(`${site.origin}/dav/`, { headers: { accept: '*/*' } });
    expect([asked.status, challengeOf(asked)]).toEqual([401, `Basic realm="${site.origin}", charset="UTF-8"`]);
    const page = await asPerson(site, user.username.toUpperCase(), password.toUpperCase());
    expect(page.status).toBe(200);
    const received = headersOf(page);
    expect(received).toMatchObject({ 'remote-user': user.username, authorization: '' });
    expect(decodeJwt(received['x-gatehouse-jwt'] ?? '').sub).toBe(user.account.id);
    // Bearer is for the website itself.
    const signedIn = await send(`${site.origin}/`, 'Bearer of-the-website');
    expect(challengeOf(signedIn)).toContain('Basic realm');
  });
});

describe('an app password', () => {
  it('is rejected with a wrong name, at another website, and when it is revoked', async () => {
    const site = await aWebsite('caddy', { app_passwords: true });
    const other = await aWebsite('traefik', { app_passwords: true });
    const [user, someone] = [await aUser(idp.services), await aUser(idp.services)];
    const { browser, password } = await anAppPassword(user, site);
    expect((await asPerson(site, user.username, password)).status).toBe(200);
    for (const answer of [
      await asPerson(site, someone.username, password),
      await asPerson(site, '', password),
      await asPerson(other, user.username, password),
      await asPerson(site, user.username, user.password),
      await asPerson(site, user.username, `${password}x`),
      await asPerson(site, user.username, ''),
    ]) {
      expect([answer.status, answer.json()]).toMatchObject([401, { error: 'invalid_credential' }]);
      expect(challengeOf(answer)).toContain('Basic realm=');
    }
    const list = await browser.get('/account/app-passwords');
    expect(list.text).toContain('Calendar');
    const removed = await browser.follow(await browser.submit(list, {}, { form: '/revoke' }));
    expect(removed.text).toContain('App password revoked.');
    expect((await asPerson(site, user.username, password)).status).toBe(401);
    const events = await idp.services.db.auditEvent.findMany({ where: { subjectId: user.account.id } });
    const types = events.map(({ type }) => type).filter((type) => type.startsWith('app-password.'));
    expect(types.sort()).toEqual(['app-password.created', 'app-password.revoked', 'app-password.used']);
  });

  it('ends when the user changes the password, which the form says', async () => {
    const site = await aWebsite('caddy', { app_passwords: true });
    const user = await aUser(idp.services);
    const before = textOf((await (await signedIn(idp, user)).get('/account/password')).text);
    expect(before).not.toContain('app passwords');
    const { browser, password } = await anAppPassword(user, site);
    const form = await browser.follow(await browser.get('/account/password'));
    expect(textOf(form.text)).toContain('A new password ends your app passwords');
    // A rejected one changes nothing.
    expect((await browser.submit(form, { password: 'short' })).status).toBe(400);
    expect((await asPerson(site, user.username, password)).status).toBe(200);
    const done = await browser.follow(await browser.submit(form, { password: 'a quite different phrase 7' }));
    expect(textOf(done.text)).toContain('Password changed.');
    expect((await asPerson(site, user.username, password)).status).toBe(401);
    expect(await idp.services.appPasswords.list(user.account.id)).toEqual([]);
  });

  it('ends when an administrator sets a password or demands another one, with an entry in the log', async () => {
    const site = await aWebsite('caddy', { app_passwords: true });
    const admin = await aPerson(idp, ['admin']);
    for (const change of [
      (id: string) => admin.send('POST', `/users/${id}/password`, {}),
      (id: string) => admin.send('POST', `/users/${id}/password-change`),
    ]) {
      const [user, other] = [await aUser(idp.services), await aUser(idp.services)];
      const [{ password }, { password: kept }] = [await anAppPassword(user, site), await anAppPassword(other, site)];
      const { status, text } = await change(user.account.id);
      expect(status, text).toBeLessThan(300);
      expect((await asPerson(site, user.username, password)).status).toBe(401);
      expect((await asPerson(site, other.username, kept)).status).toBe(200);
      const where = { subjectId: user.account.id, type: 'app-password.revoked' };
      expect(await idp.services.db.auditEvent.findMany({ where })).toMatchObject([
        { clientId: site.origin, actorId: admin.user?.account.id },
      ]);
    }
  });

  it('ends with the access of the user, and with the choice of the website', async () => {
    await idp.services.roles.create({ name: 'calendar' });
    const declared = { app_passwords: true, access: { roles: ['calendar'] } };
    const site = await aWebsite('caddy', { ...declared, paths: [{ path: '/admin/', rule: 'mfa' }] });
    const user = await aUser(idp.services);
    await idp.services.roles.assign(user.account.id, 'calendar');
    const { password } = await anAppPassword(user, site);
    const statusOf = async (path = '/') => (await asPerson(site, user.username, password, path)).status;
    expect(await statusOf()).toBe(200);
    // It is one factor.
    expect(await statusOf('/admin/')).toBe(403);
    await idp.services.roles.unassign(user.account.id, 'calendar');
    expect(await statusOf()).toBe(403);
    await idp.services.roles.assign(user.account.id, 'calendar');
    await idp.services.accounts.setActive(user.account.id, false, {});
    expect(await statusOf()).toBe(401);
    await idp.services.accounts.setActive(user.account.id, true, {});
    expect(await statusOf()).toBe(200);
    const { id } = (await idp.services.applications.find(site.origin)) ?? { id: '' };
    await idp.services.applications.update('proxy', id, { name: 'Wiki', url: site.origin, proxy: 'caddy' });
    expect(await statusOf()).toBe(401);
  });

  it('is created only for websites that are open to the user and accept one factor', async () => {
    const user = await aUser(idp.services);
    const site = await aWebsite('caddy', { app_passwords: true, mfa: 'required' });
    await aWebsite('traefik', { app_passwords: true, access: { roles: ['admin'] } });
    for (const kind of ['nginx', 'haproxy', 'envoy'] as const) await aWebsite(kind);
    expect(await idp.services.appPasswords.websitesFor(user.account)).toEqual([]);
    const { id } = (await idp.services.applications.find(site.origin)) ?? { id: '' };
    expect(await idp.services.appPasswords.create(user.account, { applicationId: id, name: 'x' }, {})).toBeUndefined();
  });

  it('neither counts nor is offered where the settings demand a second factor of its user', async () => {
    const site = await aWebsite('caddy', { app_passwords: true });
    const [user, admin] = [await aUser(idp.services), await aUser(idp.services)];
    const { settings, appPasswords, applications, roles, accounts } = idp.services;
    const { id: applicationId = '' } = (await applications.find(site.origin)) ?? {};
    const created = await Promise.all(
      [user, admin].map(({ account }) => appPasswords.create(account, { applicationId, name: 'x' }, {})),
    );
    await roles.assign(admin.account.id, 'admin');
    const statuses = () =>
      Promise.all(
        [user, admin].map(async ({ username }, at) => (await asPerson(site, username, created[at] ?? '')).status),
      );
    const offers = () =>
      Promise.all(
        [user, admin].map(async ({ account }) => {
          const current = await accounts.find(account.id);
          return current && (await appPasswords.websitesFor(current)).filter(({ id }) => id === applicationId).length;
        }),
      );
    const change = async (values: { mfa: string; admin_mfa: string }) => {
      for (const [name, value] of Object.entries(values)) await settings.set(name as 'mfa', value as 'required');
      await settings.reload();
    };
    const { mfa, admin_mfa } = settings.latest();
    try {
      await change({ mfa: 'optional', admin_mfa: 'optional' });
      expect([await statuses(), await offers()]).toEqual([
        [200, 200],
        [1, 1],
      ]);
      await change({ mfa: 'optional', admin_mfa: 'phishing-resistant' });
      expect([await statuses(), await offers()]).toEqual([
        [200, 403],
        [1, 0],
      ]);
      await change({ mfa: 'required', admin_mfa: 'optional' });
      expect([await statuses(), await offers()]).toEqual([
        [403, 403],
        [0, 0],
      ]);
    } finally {
      await change({ mfa, admin_mfa });
    }
  });

  it('is asked for by no browser', async () => {
    const site = await aWebsite('caddy', { app_passwords: true });
    const headers = { 'sec-fetch-mode': 'cors', accept: '*/*' };
    expect(challengeOf(await httpClient().get(`${site.origin}/api`, { headers }))).not.toContain('Basic');
  });
});

describe('Authorization', () => {
  it('is parsed whatever it holds', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, maxLength: 100 }),
        fc.constantFrom('', 'Basic ', 'bearer  '),
        (end, start) => {
          const text = `${start}${end}`;
          const found = parseAuthorization(text);
          if (found?.scheme === 'bearer' && found.token !== undefined) expect(found.token).toMatch(/^[\w.~+/-]+=*$/);
          if (found === undefined) expect(text).not.toMatch(/^(basic|bearer)( |$)/i);
        },
      ),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, maxLength: 100 }),
        fc.string({ maxLength: 200 }),
        (user, password) => {
          const username = user.replaceAll(':', '');
          const sent = `basic   ${Buffer.from(`${username}:${password}`).toString('base64')}`;
          expect(parseAuthorization(sent)).toEqual({ scheme: 'basic', login: { username, password } });
        },
      ),
    );
  });
});

// Last: the address of the tests has used up its tries.
describe('a credential', () => {
  it('an app password that is wrong too often makes no right one wrong', async () => {
    const site = await aWebsite('caddy', { app_passwords: true });
    const user = await aUser(idp.services);
    const { password } = await anAppPassword(user, site);
    let last = 0;
    for (let count = 0; count < 70 && last !== 429; count += 1)
      last = (await asPerson(site, user.username, `wrong-${count}`)).status;
    expect(last).toBe(429);
    expect((await asPerson(site, user.username, password)).status).toBe(200);
  });

  it('an access token that is wrong too often is not looked up any more, unless it proves itself', async () => {
    const [site, api] = [
      await aWebsite('haproxy', { access_tokens: 'all' }),
      await aWebsite('nginx', { access_tokens: 'all' }),
    ];
    const { settings } = idp.services;
    await anApi(idp.services, { identifier: api.origin, scopes: [SCOPE], signing_alg: 'ES256', access: 'everyone' });
    await settings.set('rate_limits', true);
    await settings.reload();
    const app = await worker(site.origin, api.origin);
    const [known, late] = [await ownToken(app, site.origin), await ownToken(app, site.origin)];
    const signed = (await ownToken(app, api.origin)) ?? '';
    // From an address of its own, because that of the tests has used up its tries.
    const ask = async (token: string, { origin } = site) =>
      (
        await httpClient(idp.issuer).get('/forward-auth/caddy', {
          headers: {
            authorization: `Bearer ${token}`,
            'x-forwarded-method': 'GET',
            'x-forwarded-proto': 'http',
            'x-forwarded-host': new URL(origin).host,
            'x-forwarded-uri': '/',
            'x-forwarded-for': '198.51.100.9',
          },
        })
      ).status;
    expect(await ask(known)).toBe(200);
    let last = 0;
    for (let count = 0; count < 70 && last !== 429; count += 1) last = await ask(`wrong-${count}`);
    expect(last).toBe(429);
    // One that was right before is still right.
    expect([await ask(known), await ask(known), await ask(late)]).toEqual([200, 200, 429]);
    const forged = `${signed.slice(0, signed.lastIndexOf('.'))}.${'A'.repeat(86)}`;
    expect([await ask(forged, api), await ask(signed, api), await ask(signed)]).toEqual([429, 200, 429]);
  });
});
