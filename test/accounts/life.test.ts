// An account with a beginning and an end: outside of them, nothing at all works with it, in the same moment; the job then signs the person out
// at every application. One clock for this server and for the engine, which reads the time itself.
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aService, aPerson as signedInStaff } from '../admin/support.ts';
import {
  anApplication,
  authorizeUrl,
  forApi,
  outcome,
  postAs,
  redirectUri,
  signIn,
  verifier,
} from '../oidc/support.ts';
import { aConnection, USER } from '../scim/support.ts';
import { type RelyingPartyApp, relyingPartyApp } from '../support/applications/rp-app.ts';
import { aServiceProvider } from '../support/applications/sp.ts';
import { itOnBothInLongRun } from '../support/database/it-on-sqlite.ts';
import { anApi, aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { textOf } from '../support/pages/html.ts';
import { openWebsite, type Website, website } from '../support/website.ts';

const realTime = Date.now;
let movedMs = 0;
const pass = ({ days = 0, minutes = 0 }) => {
  movedMs += (days * 24 * 60 + minutes) * 60_000;
};
const inMinutes = (minutes: number) => new Date(Math.ceil(Date.now() / 1000) * 1000 + minutes * 60_000).toISOString();

let idp: TestIdp;
let api: ApiCaller;
let rp: RelyingPartyApp;
let site: Website;

beforeAll(async () => {
  Date.now = () => realTime() + movedMs;
  idp = await startIdp({ now: () => new Date(Date.now()) });
  rp = await relyingPartyApp();
  site = await website('caddy', () => idp.issuer, ['Remote-User']);
  await idp.services.applications.createProxied({
    name: 'Wiki',
    url: site.origin,
    proxy: 'caddy',
    app_passwords: true,
    access_tokens: 'users',
  });
});
// Its token lasts as long as the clock stands.
beforeEach(async () => {
  api = await aService(idp);
});
afterAll(async () => {
  await site?.close();
  await rp?.close();
  await idp?.stop();
  Date.now = realTime;
});

const change = async (user: TestUser, body: object) => {
  const path = `/users/${user.account.id}`;
  const { headers } = await api.get(path);
  const page = await api.send('PATCH', path, body, { 'if-match': String(headers.etag) });
  return { status: page.status, ...page.json<Record<string, unknown>>() };
};
const stateOf = async ({ account }: TestUser) =>
  (await api.get(`/users/${account.id}`)).json<{ state: string; active: boolean }>();
const eventsOf = async ({ account }: TestUser, type: 'account.ended' | 'sign-in.password') =>
  idp.services.audit.list({ subjectId: account.id, types: [type], limit: 10 });

/** What becomes of the right password. */
async function enterPassword(user: TestUser, browser: HttpClient = httpClient(idp.issuer)): Promise<Page> {
  const { clientId } = await anApplication(idp);
  const form = await browser.follow(await browser.get(authorizeUrl(idp, clientId)));
  return browser.submit(form, { username: user.username, password: user.password });
}

describe('an account that ends', () => {
  itOnBothInLongRun(
    'opens nothing from that moment on, in every protocol, and its person is signed out everywhere by the job',
    async () => {
      const user = await aUser(idp.services);
      const identifier = 'https://orders.example';
      await anApi(idp.services, {
        identifier,
        scopes: ['orders:read'],
        signing_alg: 'ES256',
        access: 'everyone',
      });
      const app = await anApplication(idp, {
        ...forApi(identifier, 'orders:read'),
        consent: 'implicit',
        backchannel_logout_uri: rp.backchannelLogoutUri,
        backchannel_logout_session_required: true,
      });
      const sp = await aServiceProvider(idp.services);
      const hr = await aConnection(idp, { adopt: 'never' });
      const end = inMinutes(3);
      expect(await change(user, { active_until: end })).toMatchObject({
        status: 200,
        active: true,
        state: 'active',
        active_until: end,
      });

      const browser = httpClient(idp.issuer);
      const opened = await openWebsite(browser, site.origin, '/', user);
      expect(opened.status).toBe(200);
      const { tokens } = await signIn(browser, app, user, {
        scope: 'openid offline_access orders:read',
        resource: identifier,
      });
      const jwt = (await app.rp.refresh(tokens.refresh_token ?? '', { resource: identifier })).access_token;
      const ends = Math.floor(Date.parse(end) / 1000);
      // What others verify themselves.
      expect(decodeJwt(jwt).exp).toBe(ends);
      expect(tokens.claims()?.exp).toBeLessThanOrEqual(ends);
      const second = await anApplication(idp, { consent: 'implicit' });
      const own = await signIn(browser, second, user, { scope: 'openid offline_access' });
      const samlAnswer = async (): Promise<Page> =>
        browser.follow(await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {})));
      const assertion = Buffer.from((await samlAnswer()).forms[0]?.fields.SAMLResponse ?? '', 'base64').toString();
      expect(/SessionNotOnOrAfter="([^"]+)"/.exec(assertion)?.[1]).toBe(end.replace('.000', ''));
      const form = await browser.follow(await browser.get('/account/app-passwords/new'));
      const application = await idp.services.applications.find(site.origin);
      const created = await browser.submit(form, { website: application?.id ?? '', name: 'Calendar' });
      const [, appPassword = ''] = /id="app-password">([^<]+)</.exec(created.text) ?? [];
      const basic = { authorization: `Basic ${Buffer.from(`${user.username}:${appPassword}`).toString('base64')}` };
      const program = () => httpClient().get(`${site.origin}/`, { headers: { ...basic, accept: 'application/json' } });
      expect((await program()).status).toBe(200);
      const visit = () => browser.get(`${site.origin}/`, { headers: { accept: 'application/json' } });
      expect((await visit()).status).toBe(200);
      const code = (await outcome(browser, authorizeUrl(idp, second.clientId))).get('code') ?? '';
      const isActive = async () =>
        Promise.all([
          second.rp.introspect(own.tokens.access_token),
          second.rp.introspect(own.tokens.refresh_token ?? ''),
          app.rp.introspect(jwt),
        ]).then((all) => all.map(({ active }) => active));
      expect(await isActive()).toEqual([true, true, true]);

      // Not much, for the service provider has a clock of its own.
      pass({ minutes: 3.1 });
      expect(await stateOf(user)).toMatchObject({ state: 'ended', active: true });
      expect(await isActive()).toEqual([false, false, false]);
      const bearer = { headers: { authorization: `Bearer ${own.tokens.access_token}` } };
      expect((await browser.get('/userinfo', bearer)).status).toBe(401);
      for (const given of [
        { grant_type: 'refresh_token', refresh_token: own.tokens.refresh_token ?? '' },
        { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier },
      ] as Record<string, string>[]) {
        const answer = await postAs(idp, second, '/token', given);
        expect([answer.status, answer.json().error], given.grant_type).toEqual([400, 'invalid_grant']);
      }
      const silent = await outcome(browser, authorizeUrl(idp, second.clientId, { prompt: 'none' }));
      expect(silent.get('error')).toBe('login_required');
      expect((await samlAnswer()).text).toContain('name="password"');
      expect((await visit()).status).toBe(401);
      expect((await program()).status).toBe(401);
      expect((await browser.get('/account')).status).toBe(303);
      const rejected = await enterPassword(user);
      expect(rejected.status).toBe(403);
      expect(textOf(rejected.text)).toContain('Your account ended on');
      expect((await eventsOf(user, 'sign-in.password'))[0]).toMatchObject({
        outcome: 'failure',
        reason: 'ended_account',
      });
      // Nobody without the password learns that.
      const wrong = await enterPassword({ ...user, password: 'not the password at all' });
      expect(textOf(wrong.text)).not.toContain('ended');

      await idp.services.accountLife.run();
      await rp.waitForLogoutTokens(1);
      expect(await idp.services.sessions.list(user.account.id)).toEqual([]);
      expect(await eventsOf(user, 'account.ended')).toHaveLength(1);
      await idp.services.accountLife.run();
      expect(await eventsOf(user, 'account.ended')).toHaveLength(1);

      // Extended: the same subject.
      expect(await change(user, { active_until: null })).toMatchObject({ state: 'active', active_until: null });
      expect((await signIn(httpClient(idp.issuer), second, user)).tokens.claims()?.sub).toBe(user.account.id);
      expect(hr.connection.id).toBeDefined();
    },
  );

  itOnBothInLongRun('ends the sessions at once where the end is set to the past', async () => {
    const user = await aUser(idp.services);
    await signedIn(idp, user);
    expect(await idp.services.sessions.list(user.account.id)).toHaveLength(1);
    expect(await change(user, { active_until: inMinutes(-1) })).toMatchObject({ status: 200, state: 'ended' });
    expect(await idp.services.sessions.list(user.account.id)).toEqual([]);
  });

  it('leaves no session to live again where the end is moved before the job has run', async () => {
    const user = await aUser(idp.services);
    const { sessions } = idp.services;
    await change(user, { active_until: inMinutes(2) });
    const browser = await signedIn(idp, user);
    expect((await openWebsite(browser, site.origin, '/', user)).status).toBe(200);
    pass({ minutes: 3 });
    await change(user, { active_until: null });
    expect(await sessions.list(user.account.id)).toEqual([]);
    expect((await browser.get(`${site.origin}/`)).status).toBe(302);
  });

  itOnBothInLongRun('stops no run where another program wrote many rows', async () => {
    const user = await aUser(idp.services);
    const { db } = idp.services;
    const row = await db.asStored.user.findUniqueOrThrow({ where: { id: user.account.id } });
    const ids = Array.from({ length: 250 }, (_, at) => `forged-${at}`);
    const times = [new Date(Date.now() - 1000), new Date(Date.now() + 24 * 3600 * 1000)] as const;
    const data = ids.map((id, at) => {
      const names = { username: id, usernameKey: id, email: `${id}@example.com`, emailKey: `${id}@example.com` };
      return { ...row, id, ...names, activeUntil: times[at % 2] as Date };
    });
    await db.asStored.user.createMany({ data });
    await idp.services.accountLife.run(AbortSignal.timeout(20_000));
    const left = { id: { in: ids }, endNotice: '' };
    expect(await db.asStored.user.count({ where: left })).toBe(0);
    await db.user.deleteMany({ where: { id: { in: ids } } });
  });

  itOnBothInLongRun('ends again where the clock was set back', async () => {
    const user = await aUser(idp.services);
    await change(user, { active_until: inMinutes(60) });
    pass({ minutes: 90 });
    await idp.services.accountLife.run();
    pass({ minutes: -80 });
    await idp.services.accountLife.run();
    await signedIn(idp, user);
    expect(await idp.services.sessions.list(user.account.id)).toHaveLength(1);
    pass({ minutes: 80 });
    await idp.services.accountLife.run();
    expect(await idp.services.sessions.list(user.account.id)).toEqual([]);
    expect(await eventsOf(user, 'account.ended')).toHaveLength(2);
  });

  it('is told to its person and to the administrators once, a week before', async () => {
    await idp.services.accountLife.run();
    const admin = await staff(idp, 'admin');
    const user = await aUser(idp.services, { name: 'Zoe Guest' });
    await change(user, { active_until: inMinutes(20 * 24 * 60) });
    const ids = [admin.account.id, user.account.id];
    const mails = async () =>
      (await idp.services.db.mailMessage.findMany({ orderBy: { id: 'asc' } }))
        .filter(({ kind, userId }) => kind.startsWith('account') && ids.includes(userId ?? ''))
        .map(({ kind, userId }) => [kind, userId]);
    await idp.services.accountLife.run();
    expect(await mails()).toEqual([]);
    pass({ days: 14 });
    api = await aService(idp);
    await idp.services.accountLife.run();
    await idp.services.accountLife.run();
    expect((await mails()).sort()).toEqual(
      expect.arrayContaining([
        ['account-end', user.account.id],
        ['accounts-end', admin.account.id],
      ]),
    );
    expect((await mails()).filter(([kind]) => kind === 'account-end')).toHaveLength(1);
    // Another end, another mail.
    await change(user, { active_until: inMinutes(5 * 24 * 60) });
    await idp.services.accountLife.run();
    expect((await mails()).filter(([kind]) => kind === 'account-end')).toHaveLength(2);
  });

  itOnBothInLongRun('takes the rights of an API key and of a token of the admin API', async () => {
    const desk = await signedInStaff(idp, ['admin']);
    expect((await desk.get('/me')).status).toBe(200);
    if (!desk.user) throw new Error('no user');
    const other = await staff(idp, 'admin');
    expect(other.account.id).not.toBe(desk.user.account.id);
    await change(desk.user, { active_until: inMinutes(2) });
    expect((await desk.get('/me')).status).toBe(200);
    pass({ minutes: 3 });
    expect((await desk.get('/me')).status).toBe(401);
  });

  itOnBothInLongRun('is never that of the only administrator', async () => {
    const { db, roles } = idp.services;
    const only = await staff(idp, 'admin');
    // The accounts of the tests before may have ended.
    const all = await db.user.findMany({ where: { roles: { some: { role: { name: 'admin' } } } } });
    for (const { id } of all) if (id !== only.account.id) await roles.unassign(id, 'admin');
    for (const times of [{ active_until: inMinutes(60) }, { active_from: inMinutes(60) }])
      expect(await change(only, times)).toMatchObject({ status: 409, code: 'last_admin' });
  });
});

describe('an account that begins later', () => {
  itOnBothInLongRun('says so after the password, and works from then on', async () => {
    const user = await aUser(idp.services);
    expect(await change(user, { active_from: inMinutes(10) })).toMatchObject({ state: 'waiting', active: true });
    const page = await enterPassword(user);
    expect([page.status, textOf(page.text)]).toEqual([403, expect.stringContaining('Your account can be used from')]);
    pass({ minutes: 11 });
    expect(await stateOf(user)).toMatchObject({ state: 'active' });
    expect((await enterPassword(user)).status).toBe(303);
  });

  itOnBothInLongRun(
    'takes times with any offset, which the console displays in UTC, as its form has them',
    async () => {
      const user = await aUser(idp.services);
      const answer = await change(user, { active_until: '2099-12-31T23:30:00-01:00' });
      expect(answer).toMatchObject({ status: 200, active_until: '2100-01-01T00:30:00.000Z' });
      for (const wrong of [
        '0000-06-01T00:00:00Z',
        '0001-01-01T00:00:00+14:00',
        '9999-12-31T23:59:59-14:00',
        '2099-12-31',
      ])
        expect(await change(user, { active_until: wrong }), wrong).toMatchObject({ status: 400 });
      for (const query of ['/users?last_seen_before=', '/audit?from='])
        expect((await api.get(`${query}${encodeURIComponent('2099-12-31T23:30:00+05:30')}`)).status, query).toBe(200);
      const browser = await consoleOf(idp, await staff(idp, 'admin'));
      const { text } = await browser.get(`/admin/users/${user.account.id}`);
      expect(textOf(text)).toMatch(/Until January 1, 2100 at 12:30\sAM UTC/);
      expect(text).not.toMatch(/<time[^>]*2100-01-01/);
    },
  );

  itOnBothInLongRun('has its times in the right order', async () => {
    const user = await aUser(idp.services);
    const answer = await change(user, { active_from: inMinutes(10), active_until: inMinutes(5) });
    expect(answer).toMatchObject({ status: 400, code: 'invalid_input' });
  });
});

describe('SCIM', () => {
  itOnBothInLongRun('shows an ended account as inactive', async () => {
    const hr = await aConnection(idp);
    const userName = 'leaver@corp.example';
    const made = await hr.ok('POST', '/Users', { schemas: [USER], userName, emails: [{ value: userName }] });
    expect(made.active).toBe(true);
    await idp.services.accounts.update(String(made.id), { activeUntil: new Date(Date.now() + 60_000) });
    expect((await hr.ok('GET', `/Users/${made.id}`)).active).toBe(true);
    pass({ minutes: 2 });
    expect((await hr.ok('GET', `/Users/${made.id}`)).active).toBe(false);
  });
});

describe('the last use', () => {
  it('is noted by the day, of a person and of their programs', async () => {
    const user = await aUser(idp.services);
    const seen = async () =>
      (await api.get(`/users/${user.account.id}`)).json<{ last_seen_at: string | null }>().last_seen_at;
    const today = () => `${new Date(Date.now()).toISOString().slice(0, 10)}T00:00:00.000Z`;
    expect(await seen()).toBeNull();
    const app = await anApplication(idp, { consent: 'implicit' });
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, { scope: 'openid offline_access' });
    await expect.poll(seen).toBe(today());
    pass({ days: 3 });
    api = await aService(idp);
    const known = await idp.services.sql.revision();
    await app.rp.refresh(tokens.refresh_token ?? '');
    await expect.poll(seen).toBe(today());
    expect(await idp.services.sql.revision()).toEqual(known);
    const { updatedAt } = await idp.services.db.asStored.user.findUniqueOrThrow({ where: { id: user.account.id } });
    expect(updatedAt).toEqual(user.account.updatedAt);

    pass({ days: 91 });
    api = await aService(idp);
    const before = new Date(Date.now() - 90 * 24 * 3_600_000).toISOString();
    const ids = async (query: string) =>
      (await api.get(`/users?${query}`)).json<{ items: { id: string }[] }>().items.map(({ id }) => id);
    expect(await ids(`last_seen_before=${before}&search=${user.username}`)).toEqual([user.account.id]);
    await signedIn(idp, user);
    await expect.poll(() => ids(`last_seen_before=${before}&search=${user.username}`)).toEqual([]);
    expect((await ids('sort=-seen'))[0]).toBe(user.account.id);
  });
});

describe('the list', () => {
  it('finds accounts by their state', async () => {
    const [waiting, ended, disabled, active] = [
      await aUser(idp.services, { name: 'State Finder' }),
      await aUser(idp.services, { name: 'State Finder' }),
      await aUser(idp.services, { name: 'State Finder' }),
      await aUser(idp.services, { name: 'State Finder' }),
    ];
    await change(waiting, { active_from: inMinutes(60) });
    await change(ended, { active_until: inMinutes(-60) });
    await idp.services.accounts.setActive(disabled.account.id, false);
    for (const [state, user] of Object.entries({ waiting, ended, disabled, active }))
      for (const search of ['search=state%20finder&', ''])
        for (const sort of ['', '&sort=name', '&sort=-seen']) {
          const query = `/users?${search}state=${state}${sort}`;
          const { items } = (await api.get(query)).json<{ items: { id: string; state: string }[] }>();
          expect(new Set(items.map((item) => item.state)), query).toEqual(new Set([state]));
          if (search) expect(items.map(({ id }) => id)).toEqual([user.account.id]);
        }
  });
});
