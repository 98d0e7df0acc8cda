// A program that can write to the database, but has no data key, changes rows of a running server by SQL. Each attack works in the
// sense of the database; none gives a session, a factor, a right or a Response, and each raises an alarm.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createStartPages } from '../../src/applications/start-url.ts';
import { randomId, sha256 } from '../../src/base/platform/random.ts';
import { exportConfiguration, exportedConfiguration } from '../../src/config-file/export.ts';
import { adminApi } from '../../src/people/rbac/built-in.ts';
import { artifactId } from '../../src/protocols/oidc/store/adapter.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson, aService, caller } from '../admin/support.ts';
import {
  anApplication,
  authorizeUrl,
  completeSignIn,
  outcome,
  postAs,
  redirectUri,
  signIn,
  verifier,
} from '../oidc/support.ts';
import { forgot } from '../recovery/support.ts';
import { aLiveSp, answerIn, redirect } from '../saml/live.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let ann: TestUser;
let annsConsole: Awaited<ReturnType<typeof consoleOf>>;
let mallory: TestUser;
beforeAll(async () => {
  idp = await startIdp();
  await idp.services.settings.set('rate_limits', false);
  ann = await staff(idp, 'admin');
  annsConsole = await consoleOf(idp, ann);
});
afterAll(() => idp?.stop());
beforeEach(async () => {
  mallory = await aUser(idp.services);
  before = (await db().auditEvent.aggregate({ _max: { id: true } }))._max.id ?? 0;
});

const db = () => idp.services.db;
const resource = () => adminApi(idp.issuer);
/** One statement as any SQL client sends it; values stand for `?`. */
async function sql(text: string, ...values: (string | number)[]): Promise<void> {
  const quoted = values.map((value) =>
    typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`,
  );
  const changed = await db().$executeRawUnsafe(text.replace(/\?/g, () => quoted.shift() ?? ''));
  expect(changed, text).toBeGreaterThan(0);
}
/** The newest audit entry before the test. */
let before = 0;
/** The tables of the alarms of this test; each alarm is in the log and in the audit log. */
async function alarms(): Promise<string[]> {
  const events = await idp.services.audit.list({ types: ['integrity.alarm'], limit: 100 });
  return events.filter(({ id }) => Number(id) > before).map(({ data }) => String(data.table));
}
/** Waits for an alarm about this table: it is recorded beside the request. */
async function expectAlarm(table: string): Promise<void> {
  await expect.poll(alarms).toContain(table);
  expect(idp.log.join('\n')).toContain(`a row of ${table} was written by another program`);
}
const artifact = async (model: string, accountId: string) => {
  const row = await db().oidcArtifact.findFirstOrThrow({ where: { model, accountId } });
  return { ...row, content: JSON.parse(row.payload) as Record<string, unknown> };
};
const isConsole = (text: string) => textOf(text).includes('Users and roles') || textOf(text).includes('Audit log');

describe('a session', () => {
  it('is over when its account was changed', async () => {
    const browser = await consoleOf(idp, mallory);
    const { id, payload } = await artifact('Session', mallory.account.id);
    const changed = payload.replaceAll(mallory.account.id, ann.account.id);
    await sql('UPDATE oidc_artifacts SET payload = ?, account_id = ? WHERE id = ?', changed, ann.account.id, id);
    await sql('UPDATE rp_sessions SET user_id = ? WHERE user_id = ?', ann.account.id, mallory.account.id);
    const page = await browser.follow(await browser.get('/admin'));
    expect(page.forms[0]?.fields).toHaveProperty('password');
    await expectAlarm('rp_sessions');
    const { clientId } = await anApplication(idp);
    const answer = await outcome(browser, authorizeUrl(idp, clientId, { prompt: 'none' }));
    expect(answer.get('error')).toBe('login_required');
    await expectAlarm('oidc_artifacts');
  });

  itOnSqlite('cannot be moved from the console to the session of an administrator, nor get a higher acr', async () => {
    const browser = await consoleOf(idp, mallory);
    const own = await db().asStored.rpSession.findFirstOrThrow({ where: { userId: mallory.account.id } });
    const other = await db().asStored.rpSession.findFirstOrThrow({ where: { userId: ann.account.id } });
    const { userId, ssoUid, mac } = other;
    await sql('UPDATE rp_sessions SET user_id = ?, sso_uid = ?, mac = ? WHERE id = ?', userId, ssoUid, mac, own.id);
    const page = await browser.follow(await browser.get('/admin'));
    expect(isConsole(page.text), 'is a page of the console').toBe(false);
    expect(page.text).not.toContain(ann.username);
    await expectAlarm('rp_sessions');
    await sql(`UPDATE rp_sessions SET acr = 'phr', amr = '["pwd","hwk","mfa"]' WHERE id = ?`, other.id);
    const again = await annsConsole.follow(await annsConsole.get('/admin'), (url) => url.includes('/authorize'));
    expect(again.location).toContain('/authorize');
    annsConsole = await consoleOf(idp, ann);
  });

  itOnSqlite('stays ended when the column of its account is changed before everybody is signed out', async () => {
    const browser = await consoleOf(idp, mallory);
    const { id } = await artifact('Session', mallory.account.id);
    await sql("UPDATE oidc_artifacts SET account_id = 'nobody' WHERE id = ?", id);
    await idp.services.endSession.all(mallory.account.id, 'password-reset');
    const { clientId } = await anApplication(idp);
    const answer = await outcome(browser, authorizeUrl(idp, clientId, { prompt: 'none' }));
    expect(answer.get('error')).toBe('login_required');
  });
});

describe('a token', () => {
  it('gives no more than it was issued for, whatever scope or account its row says', async () => {
    const person = await aPerson(idp, ['auditor']);
    const accountId = person.user?.account.id ?? '';
    expect((await person.get('/audit')).status).toBe(200);
    const { id, content } = await artifact('AccessToken', accountId);
    const changed = JSON.stringify({ ...content, accountId: ann.account.id, scope: 'openid admin:*' });
    await sql('UPDATE oidc_artifacts SET payload = ?, account_id = ? WHERE id = ?', changed, ann.account.id, id);
    expect((await person.get('/audit')).status).toBe(401);
    await expectAlarm('oidc_artifacts');
  });

  itOnSqlite('cannot be inserted, nor copied under a value that is known', async () => {
    const service = await aService(idp);
    expect((await service.get('/users')).status).toBe(200);
    const row = await db().oidcArtifact.findFirstOrThrow({
      where: { model: 'ClientCredentials', clientId: service.app.clientId },
    });
    const known = 'k'.repeat(43);
    await db().oidcArtifact.create({ data: { ...row, id: artifactId('ClientCredentials', known) } });
    expect((await caller(idp, known, service.app).get('/users')).status).toBe(401);
    await expectAlarm('oidc_artifacts');
  });

  it('is worth nothing for another account when it refreshes, and a used code nothing a second time', async () => {
    const app = await anApplication(idp, { scope: 'openid offline_access' });
    const { tokens } = await signIn(httpClient(idp.issuer), app, mallory, {
      scope: 'openid offline_access',
      prompt: 'consent',
    });
    const { id, payload } = await artifact('RefreshToken', mallory.account.id);
    const changed = payload.replaceAll(mallory.account.id, ann.account.id);
    await sql('UPDATE oidc_artifacts SET payload = ?, account_id = ? WHERE id = ?', changed, ann.account.id, id);
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
    expect((await postAs(idp, app, '/token', refresh)).json().error).toBe('invalid_grant');
    await expectAlarm('oidc_artifacts');

    const page = await completeSignIn(httpClient(idp.issuer), authorizeUrl(idp, app.clientId), { user: mallory });
    const code = new URL(page.location ?? '').searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
    expect((await postAs(idp, app, '/token', form)).status).toBe(200);
    await sql('UPDATE oidc_artifacts SET consumed_at = NULL WHERE id = ?', artifactId('AuthorizationCode', code));
    expect((await postAs(idp, app, '/token', form)).json().error).toBe('invalid_grant');
    await expectAlarm('oidc_artifacts');
  });

  itOnSqlite('cannot be inserted to register clients', async () => {
    const known = 'i'.repeat(43);
    const exp = Math.floor(Date.now() / 1000) + 3600;
    const payload = JSON.stringify({ kind: 'InitialAccessToken', iat: exp - 3600, exp });
    const data = { id: artifactId('InitialAccessToken', known), model: 'InitialAccessToken', payload, mac: '' };
    await db().oidcArtifact.create({ data });
    const registered = await httpClient(idp.issuer).post('/register', {
      json: { redirect_uris: ['https://mallory.example/cb'] },
      headers: { authorization: `Bearer ${known}` },
    });
    expect(registered.status).toBe(401);
    await expectAlarm('oidc_artifacts');
  });
});

describe('a sign-in', () => {
  it('has proven nothing when its factors were written by another program', async () => {
    const { clientId } = await anApplication(idp);
    const browser = httpClient(idp.issuer);
    const page = await browser.follow(await browser.get(authorizeUrl(idp, clientId)));
    const uid = /\/signin\/([^/?]+)/.exec(page.url)?.[1] ?? '';
    const expiresAt = new Date(Date.now() + 600_000);
    const factors = '["pwd","otp","mfa"]';
    await db().asStored.signInAttempt.upsert({
      where: { uid },
      create: { uid, userId: ann.account.id, factors, expiresAt },
      update: { userId: ann.account.id, factors, expiresAt },
    });
    const again = await browser.follow(await browser.get(page.url), (url) => url.startsWith(redirectUri));
    expect(again.location).toBeUndefined();
    expect(again.forms[0]?.fields).toHaveProperty('password');
    await expectAlarm('sign_in_attempts');
  });

  itOnSqlite('is not finished by a result that was written into its interaction', async () => {
    const { clientId } = await anApplication(idp);
    const browser = httpClient(idp.issuer);
    const page = await browser.follow(await browser.get(authorizeUrl(idp, clientId)));
    const uid = /\/signin\/([^/?]+)/.exec(page.url)?.[1] ?? '';
    const row = await db().oidcArtifact.findUniqueOrThrow({ where: { id: artifactId('Interaction', uid) } });
    const result = { login: { accountId: ann.account.id, amr: ['pwd', 'mfa'] } };
    await sql(
      'UPDATE oidc_artifacts SET payload = ? WHERE id = ?',
      JSON.stringify({ ...JSON.parse(row.payload), result }),
      row.id,
    );
    const back = await browser.follow(await browser.get(`/authorize/${uid}`), (url) => url.startsWith(redirectUri));
    expect(back.location ?? '').not.toContain('code=');
    await expectAlarm('oidc_artifacts');
  });

  itOnSqlite('takes no trust in a browser from the database', async () => {
    const { mfa } = idp.services;
    const { cookie } = await mfa.knownBrowsers.remember(undefined, ann.account.id);
    const tokenHash = sha256(`${cookie}:${ann.account.id}`);
    const trustedUntil = new Date(Date.now() + 86_400_000);
    await db().asStored.knownBrowser.update({ where: { tokenHash }, data: { trustedUntil } });
    expect(await mfa.knownBrowsers.recognize(cookie, ann.account.id)).toMatchObject({ isTrusted: false });
    await expectAlarm('known_browsers');
  });
});

describe('an API key', () => {
  it('gives nothing with other permissions, another end or another owner, nor after its revocation or its account', async () => {
    const { accounts, apiKeys, roles } = idp.services;
    const { id: owner } = mallory.account;
    await roles.assign(owner, 'user-manager');
    const attack = async (change: (id: string) => Promise<unknown>) => {
      const input = { ownerId: owner, name: 'Script', permissions: ['gatehouse.users:read'], days: 1 };
      const { key, text } = await apiKeys.create(input, { actorId: owner });
      const script = caller(idp, text, anns);
      expect((await script.get('/users')).status).toBe(200);
      await change(key.id);
      expect((await script.get('/me')).status).toBe(401);
      // Its revocation does not confirm it.
      await apiKeys.revoke(key.id, {});
      await db().asStored.apiKey.updateMany({
        where: { id: key.id },
        data: { revokedAt: null, expiresAt: new Date(8.64e13) },
      });
      expect((await script.get('/me')).status).toBe(401);
      return key.id;
    };
    const anns = (await aService(idp)).app;
    const all = '["gatehouse.users:read","gatehouse.settings:write-security"]';
    await attack((id) => sql('UPDATE api_keys SET permissions = ? WHERE id = ?', all, id));
    await attack((id) => sql('UPDATE api_keys SET permissions = ? WHERE id = ?', 'no JSON', id));
    await attack((id) => db().asStored.apiKey.update({ where: { id }, data: { expiresAt: new Date(8.64e13) } }));
    await attack((id) => sql('UPDATE api_keys SET user_id = ? WHERE id = ?', ann.account.id, id));
    await attack(async (id) => {
      await apiKeys.revoke(id, {});
      await db().asStored.apiKey.update({ where: { id }, data: { revokedAt: null, expiresAt: new Date(8.64e13) } });
    });
    expect(new Set(await alarms())).toEqual(new Set(['api_keys']));
    expect((await annsConsole.get('/admin/api-keys')).status).toBe(200);

    // The account is deleted, and one of the same name gets the row of the old one.
    const input = { ownerId: owner, name: 'Script', permissions: ['gatehouse.users:read'], days: 1 };
    const { key, text } = await apiKeys.create(input, { actorId: owner });
    const row = await db().asStored.apiKey.findUniqueOrThrow({ where: { id: key.id } });
    await accounts.remove(owner);
    const again = await accounts.create({ username: mallory.username });
    await roles.assign(again.id, 'admin');
    await db().asStored.apiKey.create({ data: { ...row, userId: again.id } });
    expect((await caller(idp, text, anns).get('/me')).status).toBe(401);
  });
});

describe('a sign-up code', () => {
  it('cannot be used with more uses, a later end or another code, nor again after its last use', async () => {
    const { signUpCodes } = idp.services;
    const attack = async (change: (id: string) => Promise<unknown>, days = 1) => {
      const input = { name: `Code ${randomId()}`, maxUses: 1, days };
      const { code, text } = await signUpCodes.create(input, {});
      expect(await signUpCodes.find(text)).toMatchObject({ code: { id: code.id } });
      await change(code.id);
      expect(await signUpCodes.find(text)).toEqual({ fault: 'unknown' });
      expect(await db().$transaction((tx) => signUpCodes.use(code.id, tx))).toBeUndefined();
      expect((await signUpCodes.list()).map(({ id }) => id)).not.toContain(code.id);
      await expectAlarm('sign_up_codes');
    };
    await attack((id) => sql('UPDATE sign_up_codes SET max_uses = 100 WHERE id = ?', id));
    await attack((id) => db().asStored.signUpCode.update({ where: { id }, data: { expiresAt: new Date(8.64e13) } }));
    await attack((id) => db().asStored.signUpCode.update({ where: { id }, data: { expiresAt: null } }));
    await attack(async (id) => {
      expect(await db().$transaction((tx) => signUpCodes.use(id, tx))).toMatchObject({ uses: 1 });
      await sql('UPDATE sign_up_codes SET uses = 0 WHERE id = ?', id);
    });
    // The hash of a code that the attacker knows, in the row of another one.
    const known = await signUpCodes.create({ name: 'Known', maxUses: 1, days: 1 }, {});
    const { codeHash } = await db().asStored.signUpCode.findUniqueOrThrow({ where: { id: known.code.id } });
    await db().signUpCode.delete({ where: { id: known.code.id } });
    await attack((id) => db().asStored.signUpCode.update({ where: { id }, data: { codeHash } }));
    expect(await signUpCodes.find(known.text)).toEqual({ fault: 'unknown' });
  });
});

describe('a logout', () => {
  it('ends at no address that another program wrote, nor for another account or after its end', async () => {
    const evil = '{"kind":"oidc","uri":"https://evil.example/"}';
    const changes: [string, string][] = [
      ['answer', evil],
      ['user_id', mallory.account.id],
      ['asked_by', 'another'],
    ];
    for (const [column, value] of changes) {
      const browser = await signedIn(idp, await aUser(idp.services));
      const out = await browser.submit(await browser.follow(await browser.get('/logout')), { logout: 'yes' });
      const path = out.location ?? '';
      expect(path).toMatch(/\/signout\/[\w-]+$/);
      await sql(`UPDATE logout_runs SET ${column} = ? WHERE id = ?`, value, path.split('/').at(-1) ?? '');
      const page = await browser.get(path);
      expect([column, page.status, page.location]).toEqual([column, 404, undefined]);
      await expectAlarm('logout_runs');
    }
  });

  it('notifies nobody whom another program wrote into it', async () => {
    const { runs } = idp.services;
    const participant = {
      clientId: 'app',
      protocol: 'saml',
      name: 'App',
      channel: 'redirect',
      state: 'waiting',
    } as const;
    const newRun = {
      userId: ann.account.id,
      reason: 'signed-out',
      initiator: undefined,
      participants: [{ ...participant, data: { nameId: { value: 'ann', format: 'x' } } }],
      frontChannel: undefined,
    };
    for (const [column, value] of [
      ['client_id', 'evil'],
      ['protocol', 'oidc'],
      ['data', '{"nameId":{"value":"mallory","format":"x"}}'],
      ['name', 'Bank'],
    ] as const) {
      const { id } = await db().$transaction((tx) => runs.create(newRun, tx));
      const one = (await runs.find(id))?.participants[0];
      expect(one).toMatchObject({ clientId: 'app' });
      await sql(`UPDATE logout_participants SET ${column} = ? WHERE run_id = ?`, value, id);
      expect(await runs.find(id)).toMatchObject({ participants: [] });
      expect(await runs.participant(one?.id ?? '')).toBeUndefined();
      await expectAlarm('logout_participants');
    }
    // A row moved to the run of another user.
    const [mine, other] = await db().$transaction(async (tx) => [
      await runs.create(newRun, tx),
      await runs.create({ ...newRun, userId: mallory.account.id }, tx),
    ]);
    await sql('UPDATE logout_participants SET run_id = ? WHERE run_id = ?', other?.id ?? '', mine?.id ?? '');
    expect((await runs.find(other?.id ?? ''))?.participants).toHaveLength(1);
  });
});

describe('an application', () => {
  const credentials = (service: ApiCaller) =>
    postAs(idp, service.app, '/token', { grant_type: 'client_credentials', resource: resource(), scope: 'admin:*' });

  it('gets no rights in Gatehouse by its metadata, and cannot be confirmed by a change of something else', async () => {
    const service = await aService(idp, 'gatehouse.users:read');
    const { id, metadata } = await db().asStored.application.findUniqueOrThrow({
      where: { clientId: service.app.clientId },
    });
    const changed = JSON.stringify({ ...JSON.parse(metadata), scope: 'admin:*' });
    await sql('UPDATE applications SET metadata = ? WHERE id = ?', changed, id);
    const answer = await credentials(service);
    expect([answer.status, answer.json().error]).toEqual([401, 'invalid_client']);
    expect((await service.get('/users')).status).toBe(401);
    await expectAlarm('applications');
    const { applications } = idp.services;
    await expect(applications.setEnabled(id, false)).rejects.toMatchObject({ code: 'changed_outside' });
    await expect(applications.addSecret(id)).rejects.toMatchObject({ code: 'changed_outside' });
    await applications.remove(id);
  });

  itOnSqlite('cannot be inserted, nor get another redirect URI, nor be opened to everyone', async () => {
    await idp.services.roles.create({ name: `crew-${mallory.username}`, permissions: ['boats:sail'] });
    const app = await anApplication(idp, { access: { roles: [`crew-${mallory.username}`] } });
    const role = await idp.services.roles.create({ name: `own-${mallory.username}`, permissions: [] });
    await idp.services.roles.assign(mallory.account.id, `own-${mallory.username}`);
    const row = await db().asStored.application.findUniqueOrThrow({ where: { clientId: app.clientId } });
    await db().asStored.applicationRole.create({ data: { applicationId: row.id, roleId: role.id } });
    const at = async () => {
      const page = await completeSignIn(httpClient(idp.issuer), authorizeUrl(idp, app.clientId), { user: mallory });
      return page.location?.includes('code=') ?? false;
    };
    expect(await at()).toBe(false);
    await expectAlarm('application_roles');
    await sql("UPDATE applications SET access = 'everyone' WHERE id = ?", row.id);
    expect(await at()).toBe(false);
    await expectAlarm('applications');

    const evil = 'https://mallory.example/cb';
    const other = await anApplication(idp);
    await sql(
      'UPDATE applications SET metadata = ? WHERE client_id = ?',
      JSON.stringify({ redirect_uris: [evil] }),
      other.clientId,
    );
    const page = await httpClient(idp.issuer).get(authorizeUrl(idp, other.clientId, { redirect_uri: evil }));
    expect([page.status, page.location]).toEqual([400, undefined]);

    const { id: _id, ...columns } = await db()
      .asStored.application.findUniqueOrThrow({ where: { clientId: 'made' } })
      .catch(() => row);
    await db().asStored.application.create({ data: { ...columns, id: 'made', clientId: 'made', name: 'made' } });
    expect((await httpClient(idp.issuer).get(authorizeUrl(idp, 'made'))).status).toBe(400);
  });

  it('does not accept the secret of another one, nor one that has ended', async () => {
    const victim = await aService(idp);
    const own = await anApplication(idp);
    await sql(
      'UPDATE client_secrets SET application_id = ? WHERE application_id = ?',
      victim.app.applicationId,
      own.applicationId,
    );
    const forged = { ...victim.app, clientSecret: own.clientSecret };
    const form = { grant_type: 'client_credentials', resource: resource(), scope: 'admin:*' };
    expect((await postAs(idp, forged, '/token', form)).json().error).toBe('invalid_client');
    await expectAlarm('client_secrets');
    expect((await postAs(idp, victim.app, '/token', form)).status).toBe(200);
    await idp.services.applications.addSecret(victim.app.applicationId, { replace: 3600 });
    const old = await db().asStored.clientSecret.findFirstOrThrow({
      where: { applicationId: victim.app.applicationId, expiresAt: { not: null } },
    });
    await sql('UPDATE client_secrets SET expires_at = NULL WHERE id = ?', old.id);
    expect((await postAs(idp, victim.app, '/token', form)).json().error).toBe('invalid_client');
  });

  itOnSqlite('gets neither consent nor the scopes of an API from the database', async () => {
    const api = `https://api-${mallory.username}.example`;
    const { applications, consents } = idp.services;
    const app = await anApplication(idp, { consent: 'explicit', scope: 'openid email' });
    await consents.allow(mallory.account.id, app.applicationId, { scopes: ['openid'], claims: [], resources: {} });
    const granted = JSON.stringify({ scopes: ['openid', 'email'], claims: [], resources: {} });
    await sql('UPDATE consents SET granted = ? WHERE user_id = ?', granted, mallory.account.id);
    expect(await consents.find(mallory.account.id, app.applicationId)).toBeUndefined();
    await expectAlarm('consents');

    await db().asStored.resource.create({ data: { identifier: api, scopes: '["things:delete"]' } });
    const machine = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: [api],
      scope: 'things:delete',
    });
    const form = { grant_type: 'client_credentials', resource: api, scope: 'things:delete' };
    expect((await postAs(idp, machine, '/token', form)).json().error).toBe('invalid_target');
    await expectAlarm('resources');
    expect(await applications.find(machine.clientId)).toBeDefined();
  });
});

describe('a user', () => {
  itOnSqlite('gets no reset at an email address that was changed, and does not sign in', async () => {
    const { id, username } = (await staff(idp, 'admin')).account;
    const victim = { username, password: 'correct horse battery staple' };
    const address = `${mallory.username}@mallory.example`;
    await sql('UPDATE users SET email = ?, email_key = ? WHERE id = ?', address, address, id);
    await forgot(idp, address);
    await forgot(idp, username);
    await expectAlarm('users');
    expect(await db().mailMessage.count({ where: { recipient: address } })).toBe(0);
    const page = await (async () => {
      const browser = httpClient(idp.issuer);
      const form = await browser.follow(await browser.get('/admin'));
      return browser.follow(await browser.submit(form, victim));
    })();
    expect(isConsole(page.text)).toBe(false);
    await db().user.delete({ where: { id } });
  });

  it('stays disabled, and cannot get the names of another one', async () => {
    await idp.services.accounts.setActive(mallory.account.id, false);
    await sql('UPDATE users SET is_enabled = TRUE WHERE id = ?', mallory.account.id);
    expect(await idp.services.accounts.find(mallory.account.id)).toBeUndefined();
    await expectAlarm('users');
    const other = await aUser(idp.services);
    await sql("UPDATE users SET username = 'boss', username_key = 'boss' WHERE id = ?", other.account.id);
    const app = await anApplication(idp);
    const page = await completeSignIn(httpClient(idp.issuer), authorizeUrl(idp, app.clientId), {
      user: { ...other, username: 'boss' },
    });
    expect(page.location).toBeUndefined();
  });
});

describe('an address of an application that another program wrote', () => {
  itOnSqlite('is notified of no logout', async () => {
    const app = await anApplication(idp);
    const browser = httpClient(idp.issuer);
    await signIn(browser, app, mallory);
    const logout = '"backchannel_logout_uri":"https://mallory.example/logout","redirect_uris"';
    const { clientId } = app;
    await sql(
      `UPDATE applications SET metadata = replace(metadata, '"redirect_uris"', ?) WHERE client_id = ?`,
      logout,
      clientId,
    );
    await idp.services.endSession.all(mallory.account.id, 'ended-by-admin');
    expect(await db().logoutDelivery.count({ where: { clientId } })).toBe(0);
    await expectAlarm('applications');
    expect(await idp.services.applications.find(clientId)).toBeUndefined();
  });

  itOnSqlite('gives no origin the right to read responses', async () => {
    const { clientId } = await anApplication(idp);
    const evil = 'https://mallory.example';
    await sql(
      'UPDATE applications SET metadata = replace(metadata, ?, ?) WHERE client_id = ?',
      redirectUri,
      `${evil}/cb`,
      clientId,
    );
    const headers = { origin: evil, 'access-control-request-method': 'POST' };
    const response = await httpClient(idp.issuer).request('OPTIONS', '/token', { headers });
    expect(response.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('a setting', () => {
  it('keeps the value that an administrator set, and its default where none did', async () => {
    const { settings } = idp.services;
    await settings.set('mfa', 'required');
    await settings.reload();
    await sql(`UPDATE settings SET value = '"off"' WHERE key = 'mfa'`);
    const data = { key: 'self_registration', value: 'true', updatedAt: new Date() };
    await db().setting.create({ data });
    expect(await settings.reload()).toMatchObject({ mfa: 'required', self_registration: false });
    await expectAlarm('settings');
    await settings.unset('mfa');
    await settings.unset('self_registration');
    await settings.reload();
  });
});

describe('a service provider', () => {
  it('gets no Response for a pending request with another ACS, nor with the NameID of another user', async () => {
    const sp = await aLiveSp(idp, { name_id_format: 'persistent' });
    const sign = async (user: TestUser, meanwhile = async () => {}) => {
      const browser = httpClient(idp.issuer);
      const page = await browser.follow(await redirect(browser, sp.request()));
      await meanwhile();
      return browser.follow(await browser.submit(page, { username: user.username, password: user.password }));
    };
    const other = await aUser(idp.services);
    const [own, victims] = [answerIn(await sign(mallory)), answerIn(await sign(other))];
    expect([own, victims]).toEqual([expect.any(String), expect.any(String)]);
    const { value } = await db().asStored.samlNameId.findFirstOrThrow({ where: { userId: other.account.id } });
    await sql('UPDATE saml_name_ids SET value = ? WHERE user_id = ?', `${value}-old`, other.account.id);
    await sql('UPDATE saml_name_ids SET value = ? WHERE user_id = ?', value, mallory.account.id);
    expect(answerIn(await sign(mallory))).toBeUndefined();
    await expectAlarm('saml_name_ids');

    const third = await aUser(idp.services);
    const evil = 'https://mallory.example/acs';
    const page = await sign(third, () =>
      sql('UPDATE saml_requests SET data = replace(data, ?, ?) WHERE used_at IS NULL', sp.acs, evil),
    );
    expect(answerIn(page)).toBeUndefined();
    expect(page.text).not.toContain(evil);
    await expectAlarm('saml_requests');
  });

  it('is unknown when its registration was changed', async () => {
    const sp = await aLiveSp(idp);
    const evil = 'https://mallory.example/acs';
    await sql(
      'UPDATE applications SET metadata = replace(metadata, ?, ?) WHERE client_id = ?',
      sp.acs,
      evil,
      sp.entityId,
    );
    const page = await redirect(httpClient(idp.issuer), sp.request());
    expect(page.status).toBe(400);
    expect(page.text).not.toContain(evil);
    await expectAlarm('applications');
  });
});

describe('what another program wrote', () => {
  it('is left out of an export, which would confirm it', async () => {
    const { roles } = idp.services;
    const own = `own-${mallory.username}`;
    await roles.create({ name: own, permissions: ['articles:read'] });
    const application = await anApplication(idp, { client_name: `App of ${mallory.username}` });
    const { clientId } = application;
    await roles.assign(ann.account.id, own);
    const exported = () => exportConfiguration(idp.services);
    for (const name of [own, clientId, mallory.username]) expect(await exported()).toContain(name);
    await db().asStored.userRole.create({
      data: { userId: mallory.account.id, roleId: (await roles.find('auditor'))?.id ?? '', mac: 'x.y' },
    });
    const { users = [] } = (await exportedConfiguration(idp.services)) as { users?: { username: string }[] };
    expect(users.find(({ username }) => username === mallory.username)).not.toHaveProperty('roles');
    await sql(
      "UPDATE users SET email = 'evil@example.com', email_key = 'evil@example.com' WHERE id = ?",
      mallory.account.id,
    );
    await sql("UPDATE applications SET name = 'renamed app' WHERE client_id = ?", clientId);
    await sql("UPDATE roles SET name = 'renamed-by-sql' WHERE name = ?", own);
    await db().asStored.resource.create({ data: { identifier: 'https://forged.example.com', scopes: '["a"]' } });
    const after = await exported();
    for (const name of ['evil@example.com', 'renamed app', 'renamed-by-sql', 'forged.example.com'])
      expect(after).not.toContain(name);
    await sql("DELETE FROM roles WHERE name = 'renamed-by-sql'");
    await sql('DELETE FROM resources WHERE identifier = ?', 'https://forged.example.com');
    await sql('DELETE FROM applications WHERE client_id = ?', clientId);
  });

  itOnSqlite('is no address on the portal', async () => {
    const { clientId } = await anApplication(idp, { client_uri: 'https://app.example.com/start', client_name: 'Tile' });
    const browser = await consoleOf(idp, mallory);
    const portal = async () => (await browser.get('/dashboard')).text;
    const start = createStartPages({ ...idp.services, issuer: idp.issuer });
    expect(await portal()).toContain('https://app.example.com/start');
    expect(await start(clientId)).toMatchObject({ url: 'https://app.example.com/start' });
    await sql(
      'UPDATE applications SET metadata = replace(metadata, ?, ?) WHERE client_id = ?',
      'app.example.com/start',
      'mallory.example',
      clientId,
    );
    expect(await portal()).not.toContain('mallory.example');
    expect(await start(clientId)).toBeUndefined();
    await expectAlarm('applications');
    await sql('DELETE FROM applications WHERE client_id = ?', clientId);
  });

  itOnSqlite('is no other administrator, and no role to be given', async () => {
    const { roles } = idp.services;
    const admin = await roles.find('admin');
    const others = (await db().asStored.userRole.findMany({ where: { roleId: admin?.id ?? '' } })).filter(
      ({ userId }) => userId !== ann.account.id,
    );
    for (const { userId } of others) await roles.unassign(userId, 'admin');
    await db().asStored.userRole.create({ data: { userId: mallory.account.id, roleId: admin?.id ?? '', mac: 'x.y' } });
    await expect(roles.unassign(ann.account.id, 'admin')).rejects.toMatchObject({ code: 'last_admin' });
    await db().userRole.deleteMany({ where: { userId: mallory.account.id } });

    const { id } = await roles.create({ name: `lighter-${mallory.username}`, permissions: ['gatehouse.users:write'] });
    await sql('DELETE FROM role_permissions WHERE role_id = ?', id);
    const assignment = roles.assign(mallory.account.id, `lighter-${mallory.username}`);
    await expect(assignment).rejects.toMatchObject({ code: 'changed_outside' });
    await sql('DELETE FROM roles WHERE id = ?', id);
  });
});
