// The access rule of an API: a user who does not meet it gets no access token for it, in any flow, and the reason is recorded.
import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../../admin/console/support.ts';
import { aService } from '../../admin/support.ts';
import { itOnSqlite } from '../../support/database/it-on-sqlite.ts';
import { anApi, aUser, type TestUser } from '../../support/factories.ts';
import { httpClient, type Page } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  completeSignIn,
  forApi,
  outcome,
  postAs,
  signIn,
} from '../support.ts';

const closed = 'https://closed-api.example.com';
const open = 'https://everyones-api.example.com';
const scope = 'openid offline_access lab:read';
const rule = { roles: [], groups: ['API Lab'] };
const declared = { scopes: ['lab:read'] };
let idp: TestIdp;
let lab: string;
let member: TestUser;
let stranger: TestUser;
let app: Application;

beforeAll(async () => {
  idp = await sharedIdp();
  const { groups } = idp.services;
  const [above, below] = [await groups.create({ name: 'API Lab' }), await groups.create({ name: 'API Lab Night' })];
  await groups.addChild(above.id, below.id);
  lab = below.id;
  await anApi(idp.services, { identifier: closed, ...declared, access: rule });
  await anApi(idp.services, { identifier: open, ...declared, access: 'everyone' });
  stranger = await aUser(idp.services);
});

beforeEach(async () => {
  member = await aUser(idp.services);
  await idp.services.groups.addMembers(lab, [{ userId: member.account.id }]);
  app = await anApplication(idp, forApi([closed, open], 'lab:read'));
});

const leave = () => idp.services.groups.removeMembers(lab, [member.account.id]);
/** What was recorded about the rejected request. */
const recorded = async (answer: Page) => {
  const code =
    /error reference (\S+?)\)?$/.exec(String(answer.json().error_description))?.[1] ?? expect.fail(answer.text);
  return (await idp.services.rejections.find(code))?.rules.find(({ state }) => state === 'failed');
};

describe('a user whom the access rule of an API allows', () => {
  it('gets a token for it, by a group above', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), app, member, { scope, resource: closed });
    const refreshed = await app.rp.refresh(tokens.refresh_token ?? '', { resource: closed });
    expect(decodeJwt(refreshed.access_token)).toMatchObject({ aud: closed, scope: 'lab:read' });
  });

  it('gets none by a refresh after the group is gone, and keeps the refresh token for other APIs', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), app, member, { scope, resource: closed });
    const first = await app.rp.refresh(tokens.refresh_token ?? '', { resource: closed });
    await leave();
    const again = { grant_type: 'refresh_token', refresh_token: first.refresh_token ?? '' };
    const rejected = await postAs(idp, app, '/token', { ...again, resource: closed });
    expect([rejected.status, rejected.json().error]).toEqual([400, 'invalid_target']);
    expect((await postAs(idp, app, '/introspect', { token: first.access_token })).json()).toEqual({ active: false });
    const kept = await postAs(idp, app, '/token', again);
    expect(kept.status).toBe(200);
    await idp.services.groups.addMembers(lab, [{ userId: member.account.id }]);
    const back = await app.rp.refresh(String(kept.json().refresh_token), { resource: closed });
    expect(decodeJwt(back.access_token).aud).toBe(closed);
  });

  itOnSqlite('gets none for a code that was issued before', async () => {
    const started = await app.rp.start({ scope, resource: closed });
    const page = await completeSignIn(httpClient(idp.issuer), started.url, { user: member });
    await leave();
    const code = new URL(page.location ?? '');
    const redeemed = oidc.authorizationCodeGrant(app.rp.config, code, started.checks, { resource: closed });
    await expect(redeemed).rejects.toMatchObject({ error: 'invalid_target' });
  });

  itOnSqlite('gets none by a device that was connected before', async () => {
    const grant = 'urn:ietf:params:oauth:grant-type:device_code' as const;
    const input = { redirect_uris: [], grant_types: [grant], token_endpoint_auth_method: 'none' as const };
    const tv = await anApplication(idp, { ...input, ...forApi(closed, 'lab:read') });
    const parameters = { scope: 'lab:read', resource: closed };
    const connect = async (user: TestUser) => {
      const device = await oidc.initiateDeviceAuthorization(tv.rp.config, parameters);
      const browser = httpClient(idp.issuer);
      const page = await browser.submit(await browser.get('/device'), { user_code: device.user_code });
      const form = await browser.submit(page, {}, { button: 'Connect device' });
      return { device, done: await completeSignIn(browser, form, { user }) };
    };
    const { device, done } = await connect(member);
    expect(done.text).toContain('Device connected');
    await leave();
    const form = { grant_type: grant, device_code: device.device_code, client_id: tv.clientId };
    expect((await postAs(idp, tv, '/token', form)).json().error).toBe('invalid_target');
    expect((await connect(stranger)).done.status).toBe(403);
  });
});

describe('a user whom it does not allow', () => {
  itOnSqlite('gets a page that names the API, and the application access_denied', async () => {
    const browser = httpClient(idp.issuer);
    const form = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId, { scope, resource: closed })));
    const page = await browser.follow(
      await browser.submit(form, { username: stranger.username, password: stranger.password }),
    );
    expect(page.status).toBe(403);
    expect(textOf(page.text)).toContain(`You don’t have access to ${closed}`);
    const silent = await outcome(browser, authorizeUrl(idp, app.clientId, { scope, resource: closed, prompt: 'none' }));
    expect(silent.get('error')).toBe('access_denied');
    const other = await outcome(browser, authorizeUrl(idp, app.clientId, { scope, resource: open, prompt: 'none' }));
    expect(other.get('code')).toEqual(expect.any(String));
    const [event] = await idp.services.audit.list({
      types: ['authorization.rejected'],
      subjectId: stranger.account.id,
    });
    expect(event).toMatchObject({ reason: 'access_denied', clientId: app.clientId });
  });

  itOnSqlite('gets none among several APIs of one request', async () => {
    const browser = httpClient(idp.issuer);
    await signIn(browser, app, stranger, { scope: 'openid' });
    const url = `${authorizeUrl(idp, app.clientId, { scope, resource: open, prompt: 'none' })}&resource=${closed}`;
    expect((await outcome(browser, url)).get('error')).toBe('access_denied');
  });

  itOnSqlite('gets none by the refresh token of a sign-in without the API', async () => {
    const browser = httpClient(idp.issuer);
    const { tokens } = await signIn(browser, app, member, { scope, resource: closed });
    await leave();
    const answer = await postAs(idp, app, '/token', {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token ?? '',
      resource: closed,
    });
    expect(answer.json().error).toBe('invalid_target');
    expect(await recorded(answer)).toMatchObject({
      rule: 'api_access',
      received: `${member.username} has no roles`,
      expected: 'the group API Lab',
    });
    const [event] = await idp.services.audit.list({ types: ['token.rejected'], clientId: app.clientId });
    expect(event).toMatchObject({ reason: 'invalid_target' });
  });

  itOnSqlite('gets none by a refresh that leaves openid out, which is for the API of the authorization', async () => {
    const { tokens } = await signIn(httpClient(idp.issuer), app, member, { scope, resource: closed });
    await leave();
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '', scope: 'lab:read' };
    expect((await postAs(idp, app, '/token', form)).json().error).toBe('invalid_target');
    await idp.services.groups.addMembers(lab, [{ userId: member.account.id }]);
    const answer = await postAs(idp, app, '/token', form);
    expect(decodeJwt(String(answer.json().access_token)).aud).toBe(closed);
  });

  itOnSqlite('changes nothing for a client that acts for itself', async () => {
    const machine = { redirect_uris: [], grant_types: ['client_credentials' as const] };
    const worker = await anApplication(idp, { ...machine, ...forApi(closed, 'lab:read') });
    const tokens = await oidc.clientCredentialsGrant(worker.rp.config, { resource: closed, scope: 'lab:read' });
    expect(decodeJwt(tokens.access_token).scope).toBe('lab:read');
  });
});

itOnSqlite(
  'the access check says which APIs are closed to a user, and the preview shows no token for them',
  async () => {
    const admin = await aService(idp);
    const ask = async (user: TestUser) => {
      const query = new URLSearchParams({ user: user.account.id, application: app.clientId });
      const { rules } = (await admin.send('GET', `/access-check?${query}`)).json<{ rules: Record<string, string>[] }>();
      return rules.filter(({ id }) => id === 'api_access');
    };
    expect(await ask(stranger)).toMatchObject([{ state: 'warning', explanation: expect.stringContaining('API Lab') }]);
    expect(await ask(member)).toMatchObject([
      { state: 'passed', explanation: expect.stringContaining('API Lab Night') },
    ]);
    const browser = await consoleOf(idp, await staff(idp, 'admin'));
    const shown = async ({ username }: TestUser) => {
      const query = new URLSearchParams({ user: username, app: app.clientId });
      const text = textOf((await browser.get(`/admin/access-check?${query}`)).text);
      return [closed, open].filter((api) => text.includes(`"aud": "${api}"`));
    };
    expect(await shown(stranger)).toEqual([open]);
    expect(await shown(member)).toEqual([closed, open]);
  },
);
