// One group for a sign-in: the parameter `group`, the step "Continue as" (`ask_group`), and what the tokens hold.
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as oidc from 'openid-client';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adminApi } from '../../src/people/rbac/built-in.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { aService, aTool } from '../admin/support.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  completeSignIn,
  forApi,
  outcome,
  postAs,
  signIn,
} from '../oidc/support.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { anApi, aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdp } from '../support/shared-idp.ts';

const api = 'https://hosted-api.example.com';
const scope = 'openid offline_access roles permissions groups';
let idp: TestIdp;
let app: Application;
let user: TestUser;
let browser: HttpClient;
const ids: Record<string, string> = {};
const named = (name: string) => ids[name] ?? expect.fail(name);

beforeAll(async () => {
  idp = await sharedIdp();
  const { groups, roles } = idp.services;
  await roles.create({ name: 'crm-user', permissions: ['crm:use'] });
  await roles.create({ name: 'crm-admin', permissions: ['crm:manage'] });
  await roles.create({ name: 'crm-direct', permissions: ['crm:own'] });
  for (const name of ['Customers', 'Acme', 'Acme East', 'Globex', 'Initech', 'Not A Customer'])
    ids[name] = (await groups.create({ name })).id;
  for (const [above, below] of [
    ['Customers', 'Acme'],
    ['Customers', 'Globex'],
    ['Acme', 'Acme East'],
  ] as const)
    await groups.addChild(named(above), named(below));
  await groups.addRole(named('Customers'), 'crm-user');
  await groups.addRole(named('Acme'), 'crm-admin');
  const scopePermissions = { 'hosted:manage': 'crm:manage' };
  await anApi(idp.services, {
    identifier: api,
    scopes: ['hosted:read', 'hosted:manage'],
    scope_permissions: scopePermissions,
    signing_alg: 'RS256',
    access: 'everyone',
  });
});

beforeEach(async () => {
  const { groups, roles } = idp.services;
  user = await aUser(idp.services);
  const members = [{ userId: user.account.id }];
  for (const name of ['Acme East', 'Globex', 'Not A Customer']) await groups.addMembers(named(name), members);
  await roles.assign(user.account.id, 'crm-direct');
  app = await anApplication(idp, {
    ...forApi(api, 'hosted:read', 'hosted:manage'),
    access: { roles: [], groups: ['Acme', 'Globex', 'Initech'] },
  });
  browser = httpClient(idp.issuer);
});

const leave = (name: string) => idp.services.groups.removeMembers(named(name), [user.account.id]);
const acme = () => ({ id: named('Acme'), name: 'Acme' });
const globex = () => ({ id: named('Globex'), name: 'Globex' });

describe('the parameter group', () => {
  it('gives tokens, UserInfo and introspection of this group and those above alone', async () => {
    const { tokens } = await signIn(browser, app, user, { scope, group: 'Acme' });
    const claims = {
      group: acme(),
      roles: ['crm-admin', 'crm-user'],
      permissions: ['crm:manage', 'crm:use'],
      groups: ['Acme', 'Customers'],
    };
    expect(tokens.claims()).toMatchObject(claims);
    expect(await app.rp.userinfo(tokens)).toMatchObject(claims);
    expect(await app.rp.introspect(tokens.access_token)).toMatchObject(claims);
    const wanted = { resource: api, scope: 'hosted:read' };
    const both = { scope: `${scope} hosted:read hosted:manage`, resource: api };
    const forApis = await signIn(browser, app, user, { ...both, group: named('Globex') });
    const jwt = await app.rp.refresh(forApis.tokens.refresh_token ?? '', { resource: api });
    expect(decodeJwt(jwt.access_token)).toMatchObject({ group: globex(), roles: ['crm-user'], scope: wanted.scope });
    expect(await app.rp.introspect(jwt.access_token)).toMatchObject({ group: globex(), roles: ['crm-user'] });
  });

  it('is not mixed up with another group in the same session, nor with a sign-in for none', async () => {
    const first = await signIn(browser, app, user, { scope, group: 'Acme' });
    const second = await signIn(browser, app, user, { scope, group: 'Globex' });
    const third = await signIn(browser, app, user, { scope });
    expect(second.tokens.claims()).toMatchObject({ group: globex(), roles: ['crm-user'] });
    expect(third.tokens.claims()?.roles).toEqual(['crm-admin', 'crm-direct', 'crm-user']);
    expect(third.tokens.claims()).not.toHaveProperty('group');
    const refreshed = await app.rp.refresh(first.tokens.refresh_token ?? '');
    expect(refreshed.claims()).toMatchObject({ group: acme(), roles: ['crm-admin', 'crm-user'] });
    expect(await app.rp.userinfo(second.tokens)).toMatchObject({ group: globex() });
    await leave('Acme East');
    expect(await app.rp.userinfo(second.tokens)).toMatchObject({ group: globex() });
    await expect(app.rp.userinfo(first.tokens)).rejects.toThrow();
  });

  it('ends with the membership, also by a refresh, and after the membership is back', async () => {
    const { tokens } = await signIn(browser, app, user, { scope, group: 'Acme' });
    const refreshed = await app.rp.refresh(tokens.refresh_token ?? '');
    await leave('Acme East');
    const again = { grant_type: 'refresh_token', refresh_token: refreshed.refresh_token ?? '' };
    const rejected = await postAs(idp, app, '/token', again);
    expect([rejected.status, rejected.json().error]).toEqual([400, 'invalid_grant']);
    expect(await app.rp.introspect(refreshed.access_token)).toEqual({ active: false });
    const [event] = await idp.services.audit.list({ types: ['token.rejected'], clientId: app.clientId });
    expect(event).toMatchObject({ reason: 'invalid_grant' });
    await idp.services.groups.addMembers(named('Acme East'), [{ userId: user.account.id }]);
    expect((await postAs(idp, app, '/token', again)).json().error).toBe('invalid_grant');
    expect((await signIn(browser, app, user, { scope, group: 'Acme' })).tokens.claims()).toMatchObject({
      group: acme(),
    });
  });

  itOnSqlite(
    'is rejected in one way, whether the group is unknown, of others, or does not open the application',
    async () => {
      await signIn(browser, app, user);
      const asked = async (group: string) => {
        const silent = await outcome(browser, authorizeUrl(idp, app.clientId, { scope, group, prompt: 'none' }));
        const page = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId, { scope, group })));
        const text = textOf(page.text).replaceAll(/(reference|ID)[ :]+\S+/g, '');
        return { error: silent.get('error'), code: silent.get('code'), status: page.status, text };
      };
      const unknown = await asked('Nobody Has This');
      expect(unknown).toMatchObject({ error: 'access_denied', code: null, status: 403 });
      expect(unknown.text).toContain('This app requires a group that your account isn’t in.');
      for (const group of ['Initech', named('Initech'), 'Not A Customer', 'acme', 'x'.repeat(2000), '__proto__'])
        expect(await asked(group), group).toEqual(unknown);
    },
  );

  itOnSqlite('is carried by a pushed request and by a request object', async () => {
    const pushed = await oidc.buildAuthorizationUrlWithPAR(app.rp.config, {
      redirect_uri: app.redirectUri,
      scope,
      group: 'Globex',
      code_challenge: await oidc.calculatePKCECodeChallenge('v'.repeat(43)),
      code_challenge_method: 'S256',
    });
    const page = await completeSignIn(browser, pushed.href, { user });
    const code = new URL(page.location ?? '');
    const tokens = await oidc.authorizationCodeGrant(app.rp.config, code, {
      pkceCodeVerifier: 'v'.repeat(43),
      expectedState: oidc.skipStateCheck,
    });
    expect(tokens.claims()).toMatchObject({ group: globex() });

    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256', use: 'sig' };
    const signer = await anApplication(idp, { jwks: { keys: [jwk] } as never, request_object_signing_alg: 'ES256' });
    const sent = new URL(authorizeUrl(idp, signer.clientId, { scope, group: 'Globex' })).searchParams;
    const request = await new SignJWT(Object.fromEntries(sent))
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuer(signer.clientId)
      .setAudience(idp.issuer)
      .setIssuedAt()
      .setNotBefore('0s')
      .setExpirationTime('1m')
      .setJti('once')
      .sign(privateKey);
    const url = authorizeUrl(idp, signer.clientId, { scope, request, group: 'Acme' });
    const back = await completeSignIn(browser, url, { user });
    const answer = await postAs(idp, signer, '/token', {
      grant_type: 'authorization_code',
      code: new URL(back.location ?? '').searchParams.get('code') ?? '',
      redirect_uri: signer.redirectUri,
      code_verifier: 'v'.repeat(43),
    });
    expect(decodeJwt(String(answer.json().id_token))).toMatchObject({ group: globex() });
  });

  itOnSqlite('cannot be set by the parameter claims, nor widened by it', async () => {
    const members = {
      chosen_group: named('Initech'),
      group: named('Initech'),
      id_token: { group: { value: named('Initech') } },
    };
    const claims = JSON.stringify(members);
    const plain = await signIn(browser, app, user, { scope, claims });
    expect(plain.tokens.claims()).not.toHaveProperty('group');
    const own = await signIn(browser, app, user, { scope, claims, group: 'Globex' });
    expect(own.tokens.claims()).toMatchObject({ group: globex(), roles: ['crm-user'] });
    const refreshed = await app.rp.refresh(own.tokens.refresh_token ?? '');
    expect(refreshed.claims()).toMatchObject({ group: globex() });
    const locales = await signIn(browser, app, user, { scope, claims_locales: 'ja', group: 'Globex' });
    expect(locales.tokens.claims()).toMatchObject({ group: globex() });
  });

  itOnSqlite('is carried by a device', async () => {
    const grant = 'urn:ietf:params:oauth:grant-type:device_code' as const;
    const tv = await anApplication(idp, {
      redirect_uris: [],
      grant_types: [grant],
      token_endpoint_auth_method: 'none',
    });
    const device = await oidc.initiateDeviceAuthorization(tv.rp.config, { scope: 'openid roles', group: 'Globex' });
    const page = await browser.submit(await browser.get('/device'), { user_code: device.user_code });
    await completeSignIn(browser, await browser.submit(page, {}, { button: 'Connect device' }), { user });
    const form = { grant_type: grant, device_code: device.device_code, client_id: tv.clientId };
    const answer = await postAs(idp, tv, '/token', form);
    expect(decodeJwt(String(answer.json().id_token))).toMatchObject({ group: globex(), roles: ['crm-user'] });
  });

  itOnSqlite('gives no token for the APIs of Gatehouse, whose rights are those of the user', async () => {
    const tool = await aTool(idp, {
      grant_types: ['authorization_code', 'refresh_token'],
      scope: 'openid offline_access admin:*',
    });
    const resource = adminApi(idp.issuer);
    const asked = { scope: 'openid offline_access admin:*', resource, group: 'Globex' };
    const { tokens } = await signIn(browser, tool, user, asked);
    for (const more of [{ resource }, { scope: 'admin:*' }] as Record<string, string>[]) {
      const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '', ...more };
      expect((await postAs(idp, tool, '/token', form)).json().error).toBe('invalid_target');
    }
  });

  itOnSqlite('is judged by the roles of the group where the access rule names roles', async () => {
    const byRole = await anApplication(idp, { access: { roles: ['crm-admin'] } });
    const acmes = await signIn(browser, byRole, user, { scope, group: 'Acme' });
    expect(acmes.tokens.claims()).toMatchObject({ group: acme() });
    const url = authorizeUrl(idp, byRole.clientId, { scope, group: 'Globex', prompt: 'none' });
    expect((await outcome(browser, url)).get('error')).toBe('access_denied');
  });

  itOnSqlite('keeps a group secret that the application may not see', async () => {
    const narrow = await anApplication(idp, { groups_filter: ['Globex'] });
    await signIn(browser, narrow, user);
    const ask = async (group: string) =>
      (await outcome(browser, authorizeUrl(idp, narrow.clientId, { group, prompt: 'none' }))).get('error');
    expect([await ask('Acme'), await ask('Globex')]).toEqual(['access_denied', null]);
  });
});

describe('an application that asks for a group', () => {
  let asking: Application;
  beforeEach(async () => {
    asking = await anApplication(idp, {
      access: { roles: [], groups: ['Acme', 'Globex', 'Initech'] },
      ask_group: true,
    });
  });
  /** Up to the step "Continue as", or past it. */
  const begin = async (client: HttpClient, parameters: Record<string, string> = {}) => {
    const started = await asking.rp.start({ scope, ...parameters });
    return { started, page: await completeSignIn(client, started.url, { user }) };
  };
  const finish = async (started: Awaited<ReturnType<Application['rp']['start']>>, page: Page) =>
    (await asking.rp.finish(page.location ?? expect.fail(page.text.slice(0, 500)), started)).claims();
  const buttons = (page: Page) => [...page.text.matchAll(/name="group" value="([^"]+)"/g)].map(([, id]) => id);

  itOnSqlite('lets the user choose at each sign-in', async () => {
    const { started, page } = await begin(browser);
    expect(textOf(page.text)).toContain('Continue as');
    expect(buttons(page)).toEqual([named('Acme'), named('Globex')]);
    const next = await browser.submit(page, {}, { button: 'Globex' });
    expect(await finish(started, await completeSignIn(browser, next, { user }))).toMatchObject({
      group: globex(),
      roles: ['crm-user'],
    });
    const again = await begin(browser);
    const other = await completeSignIn(browser, await browser.submit(again.page, {}, { button: 'Acme' }), { user });
    expect(await finish(again.started, other)).toMatchObject({ group: acme() });
    const silent = await outcome(browser, authorizeUrl(idp, asking.clientId, { scope, prompt: 'none' }));
    expect(silent.get('error')).toBe('interaction_required');
    const direct = await begin(browser, { group: 'Globex' });
    expect(await finish(direct.started, direct.page)).toMatchObject({ group: globex() });
  });

  itOnSqlite('does not ask where there is one, and is closed where there is none', async () => {
    await leave('Globex');
    const { started, page } = await begin(browser);
    expect(await finish(started, page)).toMatchObject({ group: acme() });
    await leave('Acme East');
    expect((await begin(browser)).page.status).toBe(403);
  });

  itOnSqlite('asks again where the membership ends between the page and the choice', async () => {
    const { started, page } = await begin(browser);
    await leave('Globex');
    const again = await browser.follow(await browser.submit(page, {}, { button: 'Globex' }));
    expect(again.location).toBeUndefined();
    expect(buttons(again)).toEqual([named('Acme')]);
    const chosen = await completeSignIn(browser, await browser.submit(again, {}, { button: 'Acme' }), { user });
    expect(await finish(started, chosen)).toMatchObject({ group: acme() });
  });

  itOnSqlite('is on the app list of a person who has a group to choose; others may ask there', async () => {
    const { groups, accounts, applications } = idp.services;
    const initiate_login_uri = 'https://crm.example.com/login';
    const open = await anApplication(idp, {
      access: 'everyone',
      ask_group: true,
      client_name: 'Ask Everyone',
      initiate_login_uri,
    });
    const roles = await anApplication(idp, {
      access: { roles: ['crm-direct'], groups: ['Initech'] },
      ask_group: true,
      client_name: 'Ask Initech',
      initiate_login_uri,
    });
    const list = async () => (await browser.follow(await browser.get('/dashboard?q=ask'))).text;
    const listed = async () => textOf(await list());
    await signIn(browser, app, user);
    expect(await listed()).toContain('Ask Everyone');
    // A role that is given directly opens it, but a sign-in is for a group.
    expect(await listed()).not.toContain('Ask Initech');
    const account = (await accounts.find(user.account.id)) ?? expect.fail();
    const openTo = (await applications.openTo(account, { limit: 500 })).applications.map(({ clientId }) => clientId);
    expect([openTo.includes(open.clientId), openTo.includes(roles.clientId)]).toEqual([true, false]);
    const owner = await aUser(idp.services);
    await groups.update(named('Initech'), { acceptsRequests: true });
    await groups.appointOwner(named('Initech'), { userId: owner.account.id });
    expect(await listed()).toContain('Ask Initech');
    expect(await list()).toContain(`ask?application=${roles.applicationId}`);
    await groups.update(named('Initech'), { acceptsRequests: false });
    for (const name of ['Acme East', 'Globex', 'Not A Customer']) await leave(name);
    expect(await listed()).not.toContain('Ask Everyone');
    await groups.dismissOwner(named('Initech'), owner.account.id);
  });

  itOnSqlite('takes no group that it did not offer, and none that another account chose', async () => {
    const { page } = await begin(browser);
    const forged = await browser.follow(
      await browser.submit(page, { group: named('Initech') }, { form: page.forms[0]?.action ?? '' }),
    );
    expect(textOf(forged.text)).toContain('Continue as');
    const other = await aUser(idp.services);
    for (const name of ['Acme', 'Globex'])
      await idp.services.groups.addMembers(named(name), [{ userId: other.account.id }]);
    const explicit = await anApplication(idp, {
      ask_group: true,
      consent: 'explicit',
      access: { roles: [], groups: ['Acme', 'Globex'] },
    });
    const form = await browser.follow(await browser.get(authorizeUrl(idp, explicit.clientId, { scope })));
    const consent = await browser.follow(await browser.submit(form, {}, { button: 'Globex' }));
    expect(consent.forms[0]?.action).toMatch(/consent$/);
    const login = await browser.follow(await browser.submit(consent, {}, { button: 'Use another account' }));
    const asked = await completeSignIn(browser, login, { user: other });
    expect(buttons(asked)).toEqual([named('Acme'), named('Globex')]);
  });

  itOnSqlite('is explained by the access check', async () => {
    const service = await aService(idp);
    const query = new URLSearchParams({ user: user.account.id, application: asking.clientId });
    const ask = async () => {
      const { rules } = (await service.send('GET', `/access-check?${query}`)).json<{
        rules: Record<string, string>[];
      }>();
      return rules.find(({ id }) => id === 'group');
    };
    expect(await ask()).toMatchObject({ state: 'passed', explanation: expect.stringContaining('Globex') });
    await leave('Globex');
    await leave('Acme East');
    expect(await ask()).toMatchObject({ state: 'failed' });
  });

  itOnSqlite('offers each group once, and none that the application hides', async () => {
    await idp.services.groups.create({ name: 'Hidden Customer' });
    const shown = await anApplication(idp, {
      access: { roles: [], groups: ['Initech', 'Hidden Customer'] },
      ask_group: true,
      groups_filter: ['Ini*'],
    });
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const query = new URLSearchParams({ user: user.username, app: shown.clientId });
    const { text } = await admin.get(`/admin/access-check?${query}`);
    expect([...textOf(text).matchAll(/to the group (Initech|Hidden Customer)/g)].map(([, name]) => name)).toEqual([
      'Initech',
    ]);
  });

  itOnSqlite('is off in the console until an administrator turns it on', async () => {
    const { applicationId } = await anApplication(idp);
    const at = `/admin/applications/${applicationId}`;
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    for (const [tab, name] of [
      ['access', 'ask_group'],
      ['claims', 'groups_direct'],
    ] as const) {
      const isOn = async () => (await admin.get(`${at}/${tab}`)).text.includes(`name="${name}" value="on" checked`);
      const send = async (values: readonly string[]) =>
        admin.submit(await admin.get(`${at}/${tab}`), { [name]: values }, { form: `${at}/${tab}` });
      const stored = async () => (await idp.services.applications.get(applicationId)).metadata;
      expect([name, await isOn()]).toEqual([name, false]);
      expect([(await send(['on'])).status, await isOn()]).toEqual([303, true]);
      expect(await stored()).toHaveProperty(name, true);
      expect([(await send([])).status, await isOn()]).toEqual([303, false]);
      expect(await stored()).not.toHaveProperty(name);
    }
  });

  itOnSqlite('shows the group in the preview', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const query = new URLSearchParams({ user: user.username, app: asking.clientId });
    const text = textOf((await admin.get(`/admin/access-check?${query}`)).text);
    expect(text).toContain(`"name": "Acme"`);
    expect(text).not.toContain('crm-direct"');
  });
});
