// Sensitive changes in the console without a fresh sign-in: nothing changes, a page says why, and after the sign-in the form is
// there again as it was filled in.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CONFIRM } from '../../../src/admin/proof/confirmation-pages.ts';
import { limits } from '../../../src/base/limits.ts';
import { MFA_ACR } from '../../../src/people/mfa/acr.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { aClient, aUser, type TestUser } from '../../support/factories.ts';
import type { HttpClient, Typed } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import {
  addressOf,
  confirmation,
  consoleOf,
  importEnd,
  imported,
  signedInLongAgo,
  signInAgain,
  signInLink,
  staff,
  startButton,
  triedImport,
} from './support.ts';

const SECRET = 'sms-token-that-was-typed';

let idp: TestIdp;
let ann: TestUser;
let admin: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  await idp.services.settings.set('rate_limits', false);
  await idp.services.roles.create({ name: 'editor', permissions: ['articles:write'] });
  await idp.services.roles.create({ name: 'reader', permissions: ['articles:read'] });
});
afterAll(() => idp?.stop());
beforeEach(async () => {
  ann = await staff(idp, 'admin');
  admin = await consoleOf(idp, ann);
  await signedInLongAgo(idp, ann);
});

describe('a sensitive change without a fresh sign-in', () => {
  it('changes nothing, says who is signed in and why it asks, and returns to the filled-in form', async () => {
    const { account, username } = await aUser(idp.services);
    const form = await admin.get(`/admin/users/${account.id}`);
    const page = await confirmation(admin, await admin.submit(form, { username: 'typed-name' }));
    const change = textOf(page.text).match(/You’re about to (.*? of \S+)\./)?.[1];
    expect(change).toContain(username);
    expect(textOf(page.text)).toContain('Your last sign-in is too old for this change (more than 10 minutes)');
    expect(await idp.services.accounts.find(account.id)).toMatchObject({ username });
    const query = new URL(signInLink(page)).searchParams;
    expect(Object.fromEntries(query)).toMatchObject({ prompt: 'login', login_hint: ann.username });

    const again = await signInAgain(admin, page, ann);
    expect([again.status, again.url]).toEqual([200, page.url]);
    expect(textOf(again.text)).toContain(`Now select “Save changes” to ${change}.`);
    expect(again.text).toMatch(/<form [^>]*id="confirmed"/);
    expect(again.text).toMatch(/<button class="btn btn-primary" type="submit" form="confirmed">Save changes</);
    const filled = again.forms.find(({ action }) => action.endsWith('/change/username'));
    expect(filled?.fields).toMatchObject({ username: 'typed-name' });
    expect((await idp.services.accounts.find(account.id))?.username).toBe(username);
    const saved = await admin.submit(again, {}, { form: '/change/username' });
    expect(saved.location).toBe(`${idp.issuer}/admin/users/${account.id}`);
    expect(await idp.services.accounts.find(account.id)).toMatchObject({ username: 'typed-name' });
  });

  it('needs a sign-in again until one is fresh, and none while it is', async () => {
    const { account } = await aUser(idp.services);
    const sent = await admin.submit(await admin.get(`/admin/users/${account.id}/disable`));
    const page = await confirmation(admin, sent);
    const reloaded = await admin.get(page.url);
    expect(textOf(reloaded.text)).toContain('Confirm it’s you');
    const again = await signInAgain(admin, page, ann);
    expect(textOf((await admin.follow(await admin.submit(again))).text)).toContain('User disabled.');
    const other = await aUser(idp.services);
    const next = await admin.submit(await admin.get(`/admin/users/${other.account.id}/disable`));
    expect(textOf((await admin.follow(next)).text)).toContain('User disabled.');
  });

  it('needs none where another tab, or new terms, led through the sign-in after the proof', async () => {
    const { db, sessions } = idp.services;
    const [{ uid = '' } = {}] = await sessions.list(ann.account.id);
    const row = await db.asStored.oidcArtifact.findFirstOrThrow({ where: { uid, model: 'Session' } });
    const loginTs = Math.floor(Date.now() / 1000) - limits.recentAuthentication.seconds - 60;
    const payload = JSON.stringify({ ...JSON.parse(row.payload), loginTs });
    await db.asStored.oidcArtifact.update({ where: { id: row.id }, data: { payload, mac: '' } });
    await signRows(idp.services);
    const disable = async () => {
      const { account } = await aUser(idp.services);
      return admin.submit(await admin.get(`/admin/users/${account.id}/disable`));
    };
    const page = await confirmation(admin, await disable());
    await admin.submit(page, { password: ann.password }, { form: '/admin/confirm/' });
    await admin.follow(await admin.get('/login?return_to=/admin/users'));
    expect(textOf((await admin.follow(await disable())).text)).toContain('User disabled.');
  });

  it('asks for the strongest factor of the account, however recent the sign-in is', async () => {
    const { account } = await aUser(idp.services);
    const key = { id: `key-of-${ann.username}`, userId: ann.account.id, name: 'Key', userVerified: true };
    await idp.services.db.asStored.passkey.create({ data: { ...key, publicKey: new Uint8Array(1) } });
    const data = { authTime: new Date(), acr: MFA_ACR, mac: '' };
    await idp.services.db.asStored.rpSession.updateMany({ where: { userId: ann.account.id }, data });
    await signRows(idp.services);
    const sent = await admin.submit(await admin.get(`/admin/users/${account.id}/disable`));
    const page = await confirmation(admin, sent);
    expect(textOf(page.text)).toContain('This needs your strongest sign-in method');
    const query = Object.fromEntries(new URL(signInLink(page)).searchParams);
    // The password was typed a moment ago: only the factor is missing.
    expect(query).toEqual({ acr_values: 'phr', login_hint: ann.username, return_to: new URL(page.url).pathname });
  });

  it('is stored encrypted, and puts nothing that was typed into an address', async () => {
    const gateway = { 'sms_gateway.url': 'https://sms.example.com/', 'sms_gateway.token': SECRET };
    const sent = await admin.submit(await admin.get('/admin/settings/edit'), gateway);
    const page = await confirmation(admin, sent);
    expect(`${sent.location}${page.text}`).not.toContain(SECRET);
    const rows = await idp.services.db.storedForm.findMany({ where: { userId: ann.account.id } });
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(SECRET);
    expect(page.url).not.toContain(rows[0]?.id);
    const again = await signInAgain(admin, page, ann);
    expect(again.forms[0]?.fields).toMatchObject(gateway);
    await admin.submit(again);
    expect((await idp.services.settings.reload()).sms_gateway?.token).toBe(SECRET);
    expect(idp.log.join('\n')).not.toContain(SECRET);
    await idp.services.settings.unset('sms_gateway');
  });

  it('is not displayed to another user, nor in another session', async () => {
    const { account, username } = await aUser(idp.services);
    const sent = await admin.submit(await admin.get(`/admin/users/${account.id}/delete`), { typed_name: username });
    const page = await confirmation(admin, sent);
    const otherUser = await staff(idp, 'admin');
    const other = await consoleOf(idp, otherUser);
    const answer = await other.get(page.url);
    expect([answer.status, answer.forms]).toEqual([404, []]);
    expect(textOf(answer.text)).toContain('belongs to another user');
    // Nor with the row: it opens for its user and session only.
    const otherId = otherUser.account.id;
    await idp.services.db.storedForm.updateMany({ where: { userId: ann.account.id }, data: { userId: otherId } });
    expect((await other.get(page.url)).status).toBe(404);
    await idp.services.db.storedForm.updateMany({ where: { userId: otherId }, data: { userId: ann.account.id } });
    expect((await (await consoleOf(idp, ann)).get(page.url)).status).toBe(404);
    expect((await admin.get(page.url)).status).toBe(200);
    expect(await idp.services.accounts.find(account.id)).toBeDefined();
  });

  it('needs the CSRF token of the user once more', async () => {
    const { account, username } = await aUser(idp.services);
    const sent = await admin.submit(await admin.get(`/admin/users/${account.id}/delete`), { typed_name: username });
    const again = await signInAgain(admin, await confirmation(admin, sent), ann);
    expect((await admin.submit(again, { _csrf: 'wrong' })).status).toBe(403);
    expect((await admin.submit(again, {}, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
    expect(await idp.services.accounts.find(account.id)).toBeDefined();
  });

  it('expires, and the oldest of a user give way', async () => {
    const { account } = await aUser(idp.services);
    const at = `/admin/users/${account.id}/disable`;
    const first = await confirmation(admin, await admin.submit(await admin.get(at)));
    for (let count = 0; count < limits.storedForm.perUser; count += 1) await admin.submit(await admin.get(at));
    expect(await idp.services.db.storedForm.count({ where: { userId: ann.account.id } })).toBe(
      limits.storedForm.perUser,
    );
    expect((await admin.get(first.url)).status).toBe(404);
    const last = await confirmation(admin, await admin.submit(await admin.get(at)));
    await idp.services.db.storedForm.updateMany({ data: { expiresAt: new Date(0) } });
    expect((await admin.get(last.url)).status).toBe(404);
  });

  it('is a button of a page too, which is on a page of its own after the sign-in', async () => {
    const { applicationId } = await aClient(idp.services, {
      client_name: 'Wiki <1>',
      redirect_uris: ['https://wiki.example.com/cb'],
    });
    await idp.services.applications.setEnabled(applicationId, false);
    const details = await admin.get(`/admin/applications/${applicationId}/settings`);
    const headers = { referer: details.url };
    const page = await confirmation(admin, await admin.submit(details, {}, { form: '/enable', headers }));
    expect(linksOf(page.text, page.url)).toContainEqual({ href: details.url, label: 'Cancel' });
    const again = await signInAgain(admin, page, ann);
    expect(textOf(again.text)).toContain('Enable the application Wiki <1>');
    await admin.submit(again, {}, { button: 'Continue' });
    expect((await idp.services.applications.get(applicationId)).enabled).toBe(true);
  });
});

describe('“Confirm it’s you”', () => {
  const disabling = async () => {
    const { account } = await aUser(idp.services);
    const sent = await admin.submit(await admin.get(`/admin/users/${account.id}/disable`));
    return { account, page: await confirmation(admin, sent) };
  };
  const isActive = async (id: string) => (await idp.services.accounts.find(id))?.isActive;

  it('takes the password of an account without a second factor, and carries out the form in the same step', async () => {
    const { account, username } = await aUser(idp.services);
    const form = await admin.get(`/admin/users/${account.id}`);
    const sent = await admin.submit(form, { username: 'in-one-step' });
    const page = await confirmation(admin, sent);
    // What was typed stays in sight behind the question.
    expect(page.forms.map(({ fields }) => fields.username)).toContain('in-one-step');
    const before = admin.cookies.get('sessionId')?.value;
    const wrong = await admin.submit(page, { password: 'wrong' });
    expect([wrong.status, textOf(wrong.text)]).toEqual([401, expect.stringContaining('That password is incorrect.')]);
    expect(admin.cookies.get('sessionId')?.value).toBe(before);
    expect((await idp.services.accounts.find(account.id))?.username).toBe(username);
    const done = await admin.submit(wrong, { password: ann.password });
    expect([done.status, done.location]).toEqual([303, `${idp.issuer}/admin/users/${account.id}`]);
    expect(await idp.services.accounts.find(account.id)).toMatchObject({ username: 'in-one-step' });
    // As after a sign-in, the session goes on under another cookie (session fixation), and is fresh.
    expect(admin.cookies.get('sessionId')?.value).not.toBe(before);
    expect((await admin.follow(done)).status).toBe(200);
    const other = await aUser(idp.services);
    expect((await admin.submit(await admin.get(`/admin/users/${other.account.id}/disable`))).location).not.toContain(
      CONFIRM,
    );
    const audited = await idp.services.audit.list({ actorId: ann.account.id });
    expect(audited.map(({ type, outcome }) => `${type} ${outcome}`)).toContain('sign-in.password success');
  });

  it('takes a code of the second factor, and no password then', async () => {
    const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
    await idp.services.mfa.totp.importSecret(ann.account.id, secret);
    const data = { acr: MFA_ACR, amr: '["pwd","otp","mfa"]', mac: '' };
    await idp.services.db.asStored.rpSession.updateMany({ where: { userId: ann.account.id }, data });
    await signRows(idp.services);
    const { account, page } = await disabling();
    expect(page.forms[0]?.fields).toMatchObject({ method: 'totp' });
    const byPassword = await admin.submit(page, { method: 'password', password: ann.password });
    expect(byPassword.status).toBe(400);
    expect((await admin.submit(page, { code: '000000' })).status).toBe(401);
    expect(await isActive(account.id)).toBe(true);
    const done = await admin.submit(page, { code: generateSync({ secret }) });
    expect([done.status, await isActive(account.id)]).toEqual([303, false]);
  });

  it('needs the CSRF token, and limits guesses', async () => {
    const { account, page } = await disabling();
    expect((await admin.submit(page, { _csrf: 'wrong', password: ann.password })).status).toBe(403);
    await idp.services.settings.set('rate_limits', true);
    try {
      const statuses: number[] = [];
      for (let tries = 0; tries < 6; tries += 1)
        statuses.push((await admin.submit(page, { password: 'wrong' })).status);
      expect(statuses).toContain(429);
      expect((await admin.submit(page, { password: ann.password })).status).toBe(429);
      expect(await isActive(account.id)).toBe(true);
    } finally {
      await idp.services.settings.set('rate_limits', false);
    }
  });

  it('shows the faults of the form that it carries out', async () => {
    const { account } = await aUser(idp.services);
    const form = await admin.get(`/admin/users/${account.id}`);
    const page = await confirmation(admin, await admin.submit(form, { username: 'typed-before' }));
    await idp.services.accounts.update(account.id, { name: 'Changed meanwhile' });
    const answer = await admin.submit(page, { password: ann.password });
    const again = answer.forms.find(({ action }) => action.endsWith('/change/username'));
    expect([answer.status, again?.fields.username]).toEqual([412, 'typed-before']);
  });
});

describe('every sensitive form and button of the console', () => {
  it('leads to the confirmation page, and changes nothing', async () => {
    const { account } = await aUser(idp.services, { username: 'sensitive' });
    const phone = { userId: account.id, number: '+491701234567', confirmedAt: new Date() };
    await idp.services.db.phoneFactor.create({ data: phone });
    const role = await idp.services.roles.create({ name: 'sensitive' });
    const client = await aClient(idp.services, { redirect_uris: ['https://s.example.com/cb'] });
    const off = await aClient(idp.services, { redirect_uris: ['https://off.example.com/cb'] });
    await idp.services.applications.setEnabled(off.applicationId, false);
    await idp.services.applications.addSecret(client.applicationId, { replace: 60 });
    const [, old] = await idp.services.applications.unexpiredSecrets(client.applicationId);
    await idp.services.db.asStored.resource.create({
      data: { identifier: 'https://sensitive.example', scopes: '["read"]' },
    });
    await signRows(idp.services);
    const api = `/admin/apis/${encodeURIComponent('https://sensitive.example')}`;
    const user = `/admin/users/${account.id}`;
    const application = `/admin/applications/${client.applicationId}`;
    const forms: [page: string, fields?: Typed, form?: string][] = [
      ['/admin/users/new', { username: 'with-role', begin: 'password', roles: 'editor' }],
      [user, { email: 'moved@example.com' }],
      [user, { username: 'renamed' }],
      [`${user}/roles/give`, { role: 'editor' }],
      [`${user}/password`],
      [`${user}/force-change`],
      [`${user}/end-sessions`],
      [`${user}/disable`],
      [`${user}/delete`, { typed_name: account.username }],
      [`${user}/factors/phone/remove`],
      [`${user}/reset-factors`],
      ['/admin/roles/new', { name: 'made' }],
      [`/admin/roles/${role.id}`, { permissions: 'articles:read' }],
      [`/admin/roles/${role.id}/delete`, { typed_name: role.name }],
      ['/admin/apis/new', { identifier: 'https://made.example' }],
      [api, { scopes: 'read = articles:read' }],
      [`${api}/delete`, { typed_name: 'https://sensitive.example' }],
      ['/admin/applications/new/web', { name: 'Made', redirect_uris: 'https://made.example.com/cb' }],
      [`${application}/settings`, { redirect_uris: 'https://moved.example.com/cb' }],
      [`${application}/settings`, { client_name: 'Other scopes', scope: 'openid' }],
      [`${application}/access`, { consent: 'on' }],
      [`${application}/claims`, { subject_type: 'pairwise' }],
      [`${application}/credentials`, { token_endpoint_auth_method: 'client_secret_post' }],
      [`${application}/secret`],
      [`${application}/secrets/${old?.id}/remove`],
      [`${application}/disable`],
      [`${application}/delete`, { typed_name: 'Test application' }],
      [`/admin/applications/${off.applicationId}/settings`, {}, '/enable'],
      ['/admin/keys/rotate?use=saml&step=publish'],
      ['/admin/settings/edit', { session_hours: '5' }],
      ['/admin/test', {}, '/admin/test'],
    ];
    for (const [path, fields = {}, form] of forms) {
      const sent = await admin.submit(await admin.get(path), fields, form ? { form } : {});
      expect({ status: sent.status, location: sent.location }, `${path} ${JSON.stringify(fields)}`).toEqual({
        status: 303,
        location: expect.stringContaining(CONFIRM),
      });
    }
    const audited = await idp.services.audit.list({ actorId: ann.account.id });
    expect(audited.filter(({ type }) => !type.startsWith('sign-in.'))).toEqual([]);
  });
});

describe('an import of users', () => {
  it('needs a fresh sign-in where it gives roles, and not for its trial', async () => {
    const tried = await triedImport(admin, 'username,roles\nimported-1,\nimported-2,editor\n');
    expect(textOf(tried.text)).toContain('2 of 2 rows: 2 can be created');
    const page = await confirmation(admin, await admin.submit(tried, {}, startButton(tried)));
    expect(await idp.services.accounts.findByLogin('imported-1')).toBeUndefined();
    const again = await signInAgain(admin, page, ann);
    const made = await importEnd(
      admin,
      await admin.follow(await admin.submit(again, {}, startButton(again, addressOf(tried)))),
    );
    expect(textOf(made.text)).toContain('2 of 2 rows: 2 created');
    await signedInLongAgo(idp, ann);
    expect(textOf((await imported(admin, 'username\nimported-3\n')).text)).toContain('1 of 1 row: 1 created');
  });
});

describe('a change that is not sensitive', () => {
  it('needs no fresh sign-in', async () => {
    const { account } = await aUser(idp.services);
    const { applicationId } = await aClient(idp.services, { redirect_uris: ['https://plain.example.com/cb'] });
    const { id } = await idp.services.roles.create({ name: 'described' });
    for (const [path, fields] of [
      [`/admin/users/${account.id}`, { name: 'Only the name' }],
      [`/admin/applications/${applicationId}/settings`, { client_name: 'Only the name' }],
      [`/admin/roles/${id}`, { description: 'Only the description' }],
    ] as const) {
      const sent = await admin.submit(await admin.get(path), fields);
      expect({ status: sent.status, location: sent.location }, path).toEqual({
        status: 303,
        location: expect.not.stringContaining('/confirm/'),
      });
    }
    const fields = { username: 'no-roles', begin: 'password' };
    expect((await admin.submit(await admin.get('/admin/users/new'), fields)).status).toBe(303);
  });
});
