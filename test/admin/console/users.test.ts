// Users in the console: created, helped and disabled by those who may; and the access check.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { adminApi } from '../../../src/people/rbac/built-in.ts';
import { aServiceProvider } from '../../support/applications/sp.ts';
import { aClient, aUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
let support: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  support = await consoleOf(idp, await staff(idp, 'support'));
  await idp.services.roles.create({ name: 'editor' });
});
afterAll(() => idp?.stop());

const csrfOf = (page: Page) => ({ _csrf: page.forms[0]?.fields._csrf ?? '' });

describe('users', () => {
  it('are created with a temporary password, and with roles', async () => {
    const form = await admin.get('/admin/users/new');
    // No mail server is set here.
    expect(textOf(form.text)).toContain('No mail server is set, so Gatehouse can’t send an invitation.');
    expect(form.forms.find(({ fields }) => 'begin' in fields)?.fields.begin).toBe('password');
    const page = await admin.follow(
      await admin.submit(form, {
        username: 'newcomer',
        email: 'newcomer@example.com',
        name: '<b>New</b> comer',
        roles: 'editor',
      }),
    );
    expect(page.status).toBe(200);
    const password = /<pre[^>]*>\s*<code>([^<]+)<\/code>/.exec(page.text)?.[1] ?? '';
    const account = await idp.services.accounts.findByLogin('newcomer');
    expect(account?.roles).toEqual(['editor']);
    const detail = await admin.get(`/admin/users/${account?.id}`);
    expect(detail.text).not.toContain(password);
    expect(detail.text).not.toContain('<b>New</b>');
    const security = await admin.get(`/admin/users/${account?.id}/security`);
    const written = await admin.follow(await admin.submit(security, {}, { form: '/send-reset' }));
    expect(textOf(written.text)).toContain('No mail server is set: the password reset is a file in');
    const browser = httpClient(idp.issuer);
    const signIn = await browser.follow(await browser.get('/account'));
    const next = await browser.follow(await browser.submit(signIn, { username: 'newcomer', password }));
    expect(textOf(next.text)).toContain('Choose');
  });

  it('who have a passkey alone have no way in after a reset: the question and the notice say so, with the next step', async () => {
    const user = await aUser(idp.services, { name: 'Pia Passkey' });
    const { id } = user.account;
    const passkey = { id: `reset-${id}`, userId: id, name: 'Phone', publicKey: Buffer.from('key'), userVerified: true };
    await idp.services.db.passkey.create({ data: passkey });
    await idp.services.db.passwordCredential.deleteMany({ where: { userId: id } });
    const question = await admin.get(`/admin/users/${id}/reset-factors`);
    expect(textOf(question.text)).toContain('This person has no password');
    const done = await admin.follow(await admin.submit(question, {}, { form: '/reset-factors' }));
    expect(textOf(done.text)).toContain('The person has no password and can’t sign in now');
    expect(done.text).toContain(`href="/admin/users/${id}/password"`);
    // In one place: what lets the person in again.
    const security = await admin.get(`/admin/users/${id}/security`);
    expect(textOf(security.text)).toContain('Pia Passkey can’t sign in');
    for (const path of ['invite', 'password']) expect(security.text).toContain(`href="/admin/users/${id}/${path}"`);

    await idp.services.db.passkey.create({ data: passkey });
    const removal = await admin.get(`/admin/users/${id}/factors/${encodeURIComponent(`passkey-${passkey.id}`)}/remove`);
    expect(textOf(removal.text)).toContain('This person has no password');
    const removed = await admin.follow(await admin.submit(removal, {}, { form: '/remove' }));
    expect(textOf(removed.text)).toContain('Method removed. The person has no password and can’t sign in now');

    const other = await aUser(idp.services);
    const data = { ...passkey, id: `reset-${other.account.id}`, userId: other.account.id };
    await idp.services.db.passkey.create({ data });
    const plain = await admin.get(`/admin/users/${other.account.id}/reset-factors`);
    expect(textOf(plain.text)).not.toContain('no password');
    const reset = await admin.follow(await admin.submit(plain, {}, { form: '/reset-factors' }));
    expect(textOf(reset.text)).toContain('Two-step verification reset. ');
    expect(textOf(reset.text)).not.toContain('no password');
    expect(textOf(reset.text)).toMatch(/Two-step setup With the password alone, at a sign-in until/);
  });

  it('are created without a username: it is the email address', async () => {
    const form = await admin.get('/admin/users/new');
    expect(textOf(form.text)).toContain('Username Empty: the email address.');
    const email = 'unnamed@example.com';
    expect((await admin.submit(form, { email })).status).toBe(303);
    expect(await idp.services.accounts.findByLogin(email)).toMatchObject({ username: email, email });
    const empty = await admin.submit(form, {});
    expect([empty.status, /id="f-username-error"/.test(empty.text)]).toEqual([400, true]);
  });

  it.each([
    ['a name in another case', { username: 'NEWCOMER2', email: 'x1@example.com' }],
    ['an address in another case', { username: 'other1', email: 'Newcomer2@Example.com' }],
  ])('are rejected with 409 when there is %s already, and the form stays filled in', async (_what, fields) => {
    if (!(await idp.services.accounts.findByLogin('newcomer2')))
      await aUser(idp.services, { username: 'newcomer2', email: 'newcomer2@example.com' });
    const page = await admin.submit(await admin.get('/admin/users/new'), { ...fields, begin: 'password' });
    expect(page.status).toBe(409);
    expect(page.text).toContain(`value="${fields.username}"`);
  });

  it('are explained at their fields where a value is wrong, as the API does', async () => {
    const form = await admin.get('/admin/users/new');
    const wrong = { username: 'wrong-values', website: 'no address', birthdate: '1990-13-01' };
    const page = await admin.submit(form, { ...wrong, 'address.country': 'x'.repeat(201) });
    expect(page.status).toBe(400);
    for (const name of ['website', 'birthdate', 'address.country']) expect(page.text).toContain(`href="#f-${name}"`);
    expect(await idp.services.accounts.findByLogin('wrong-values')).toBeUndefined();
  });

  it('are found, edited, disabled and enabled', async () => {
    const { account } = await aUser(idp.services, { username: 'findable' });
    expect((await admin.get('/admin/users?q=findab')).text).toContain('findable');
    const at = `/admin/users/${account.id}`;
    await admin.submit(await admin.get(at), { name: 'Renamed Person' });
    await admin.submit(await admin.get(`${at}/roles/give`), { role: 'editor' });
    expect(await idp.services.accounts.find(account.id)).toMatchObject({ name: 'Renamed Person', roles: ['editor'] });
    await admin.submit(await admin.get(`${at}/disable`));
    expect((await idp.services.accounts.find(account.id))?.isActive).toBe(false);
    expect((await admin.get('/admin/users?state=locked')).text).not.toContain('findable');
    const enable = await admin.get(`${at}/enable`);
    expect(textOf(enable.text)).toMatch(
      /Enable Renamed Person\? This account is disabled\. Ann Example \(person\d+\) disabled it on .* UTC ?\. If you enable it, the user can sign in again\./,
    );
    expect(textOf((await admin.get(at)).text)).toMatch(
      /Disabled \w{3} \d+, \d{4}, [\d:]+ [AP]M UTC by Ann Example \(person\d+\)/,
    );
    await admin.submit(enable);
    expect((await idp.services.accounts.find(account.id))?.isActive).toBe(true);
    const types = (await idp.services.audit.list({ subjectId: account.id })).map(({ type }) => type);
    for (const type of ['account.updated', 'role.assigned', 'account.disabled', 'account.enabled'])
      expect(types).toContain(type);
  });

  it('are suggested in fields, as applications and roles are, only to administrators who may list them', async () => {
    const { account } = await aUser(idp.services, {
      username: 'suggested',
      name: 'Sue Gest',
      email: 'sue@example.com',
    });
    const { clientId } = await aClient(idp.services, {
      client_name: 'Suggestion box',
      redirect_uris: ['https://box.example.com/cb'],
    });
    const ask = async (browser: HttpClient, path: string) => JSON.parse((await browser.get(path)).text);
    expect(await ask(admin, '/admin/suggest/users?q=Sue+G')).toEqual({
      suggestions: [
        {
          value: account.username,
          label: 'Sue Gest',
          small: 'suggested · sue@example.com',
          logo: { text: 'SG', hue: expect.stringMatching(/^hue-[1-6]$/), isPerson: true },
        },
      ],
      summary: '1 match',
    });
    const applications = await ask(admin, '/admin/suggest/applications?q=suggestion');
    expect(applications.suggestions).toMatchObject([{ value: clientId, label: 'Suggestion box' }]);
    expect((await ask(admin, '/admin/suggest/roles?q=edi')).suggestions).toMatchObject([{ value: 'editor' }]);
    const events = (await ask(admin, '/admin/suggest/event-types?q=user.')).suggestions;
    expect(events.filter(({ value }: { value: string }) => value === 'user.*')).toHaveLength(1);
    expect(await ask(admin, '/admin/suggest/users?q=')).toEqual({ suggestions: [], summary: 'No matches' });
    // The role opens the access check, whose field offers applications.
    expect((await support.get('/admin/suggest/applications?q=s')).status).toBe(200);
    expect((await httpClient(idp.issuer).get('/admin/suggest/users?q=s')).status).toBe(303);
  });

  it('are given and keep several roles at once', async () => {
    await idp.services.roles.create({ name: 'proof-reader' });
    const both = ['editor', 'proof-reader'];
    const sent = await admin.submit(await admin.get('/admin/users/new'), {
      username: 'two-roles',
      begin: 'password',
      roles: both,
    });
    expect(sent.status, textOf(sent.text)).toBe(303);
    const account = await idp.services.accounts.findByLogin('two-roles');
    expect(account?.roles).toEqual(both);
    const form = await admin.get(`/admin/users/${account?.id}`);
    expect((await admin.submit(form, { name: 'Two Roles' })).status).toBe(303);
    expect(await idp.services.accounts.findByLogin('two-roles')).toMatchObject({ name: 'Two Roles', roles: both });
  });

  const formWithAttributes = async () => {
    const { account } = await aUser(idp.services);
    return {
      at: `/admin/users/${account.id}`,
      attributes: async () => (await idp.services.accounts.find(account.id))?.attributes,
    };
  };

  it('have attributes of any type, where the settings declare none', async () => {
    const { at, attributes } = await formWithAttributes();
    const typed = { 'attributes.name': ['legacy', 'desk'], 'attributes.type': ['json', 'list'] };
    const free = { ...typed, 'attributes.value': ['{"floor":2}', 'B7, B8'] };
    expect(textOf((await admin.submit(await admin.get(at), free)).text)).toContain('Value 1 must be text, a number');
    await admin.submit(await admin.get(at), { ...free, 'attributes.value': ['"x"', 'B7, B8'] });
    expect(await attributes()).toEqual({ legacy: 'x', desk: ['B7', 'B8'] });
    const row = await admin.submit(await admin.get(at), { rows: 'add attributes' }, { form: '/change/attributes' });
    const opened = row.forms.find(({ action }) => action.endsWith('/change/attributes'));
    expect(opened?.fields['attributes.name']).toBe('');
  });

  it('have attributes of the types that the settings declare in rows', async () => {
    const { at, attributes } = await formWithAttributes();
    const setting = '/admin/settings/attributes';
    onTestFinished(() => idp.services.settings.unset('user_attributes'));
    const rows = (names: string[], kinds: string[], values: string[], required: string[]) => ({
      'user_attributes.rows.name': names,
      'user_attributes.rows.kind': kinds,
      'user_attributes.rows.values': values,
      'user_attributes.rows.required': required,
    });
    const wrong = await admin.submit(await admin.get(setting), rows(['.b'], ['text'], [''], ['']));
    expect([wrong.status, textOf(wrong.text)]).toEqual([400, expect.stringContaining('Field 1 needs a name')]);
    const declared = rows(
      ['team', 'level', 'remote'],
      ['text', 'number', 'flag'],
      ['Ops, Dev', '', ''],
      ['yes', '', ''],
    );
    expect((await admin.submit(await admin.get(setting), declared)).status).toBe(303);
    expect(await idp.services.settings.reload()).toMatchObject({
      user_attributes: {
        properties: { team: { type: 'string', enum: ['Ops', 'Dev'] }, level: { type: 'number' } },
        required: ['team'],
        additionalProperties: false,
      },
    });
    const unchanged = await admin.submit(await admin.get(setting));
    expect(unchanged.status).toBe(303);
    const form = await admin.get(at);
    const values = {
      'attributes.team': 'Ops',
      'attributes.level': 'three',
      'attributes.name': '',
      'attributes.value': '',
    };
    const rejected = await admin.submit(form, values);
    expect([rejected.status, textOf(rejected.text)]).toEqual([400, expect.stringContaining('level must be a number.')]);
    // No other field exists: the rows are for values in other languages.
    expect(textOf(form.text)).toContain('Own fields in other languages');
    expect(textOf(form.text)).toContain('such as team#ja. There are no other fields.');
    const other = { 'attributes.name': 'shoe', 'attributes.value': '44', 'attributes.level': '' };
    expect(textOf((await admin.submit(form, { ...values, ...other })).text)).toContain(
      'shoe: this attribute doesn’t exist.',
    );
    const accepted = await admin.submit(form, { ...values, 'attributes.level': '3', 'attributes.remote': 'yes' });
    expect([accepted.status, textOf(accepted.text)]).toEqual([303, expect.anything()]);
    expect(await attributes()).toEqual({ team: 'Ops', level: 3, remote: true });
    expect(textOf((await admin.get(at)).text)).toMatch(/level: 3/);
    const titled = { type: 'object', properties: { level: { type: 'number', title: 'Pay level' } } };
    await idp.services.settings.set('user_attributes', titled);
    expect(textOf((await admin.get(at)).text)).toMatch(/Own fields .*Pay level: 3/);
    // A schema that rows cannot show is edited as JSON.
    const json = { user_attributes: '{"type":"object","properties":{"team":{"type":"string","pattern":"^O"}}}' };
    expect((await admin.submit(await admin.get(setting), json)).status).toBe(303);
    expect((await admin.get(setting)).text).not.toContain('user_attributes.rows');
  });

  it('are helped by support, who may reset second factors and end sessions and nothing else', async () => {
    const { account } = await aUser(idp.services);
    const { secret, sealed } = idp.services.mfa.totp.begin(account);
    await idp.services.mfa.totp.confirm(account, sealed, generateSync({ secret }));
    const at = `/admin/users/${account.id}`;
    const page = await support.get(at);
    for (const hidden of ['Disable', 'Delete', 'Edit', 'temporary password']) expect(page.text).not.toContain(hidden);
    const confirm = await support.get(`${at}/reset-factors`);
    await support.submit(confirm);
    expect(await idp.services.mfa.factors.hasSecondFactor(account.id)).toBe(false);
    const _csrf = confirm.forms[0]?.fields._csrf ?? '';
    for (const path of ['disable', 'delete', 'enable', 'change/name', 'password'])
      expect((await support.post(`${at}/${path}`, { form: { _csrf } })).status).toBe(403);
  });

  it('lose a second factor, one by one, to support, and are told; the last use of each is displayed', async () => {
    const { db, mfa } = idp.services;
    const { account, username } = await aUser(idp.services, { email: 'factors@example.com' });
    const { secret, sealed } = mfa.totp.begin(account);
    await mfa.totp.confirm(account, sealed, generateSync({ secret }));
    await mfa.recoveryCodes.create(account.id);
    const stored = { userId: account.id, publicKey: new Uint8Array(1), userVerified: true };
    const key = { ...stored, createdAt: new Date('2026-01-02T10:00:00Z') };
    const used = { lastUsedAt: new Date('2026-02-03T10:00:00Z') };
    await db.passkey.create({ data: { ...key, ...used, id: 'factor-one', name: 'Laptop' } });
    await db.passkey.create({ data: { ...key, id: 'factor-two', name: 'Key ring' } });
    const at = `/admin/users/${account.id}`;
    const security = await support.get(`${at}/security`);
    const text = textOf(security.text);
    expect(text).toMatch(/Laptop Passkey .*Jan 2, 2026.* .*Feb 3, 2026/);
    expect(text).toMatch(/Authenticator app/);
    expect(text).toMatch(/Recovery codes 10 codes left/);
    const removals = linksOf(security.text, idp.issuer).filter(({ href }) => href.includes('/factors/'));
    expect(removals).toHaveLength(4);
    const question = await support.get(`${at}/factors/passkey-factor-one/remove`);
    expect(textOf(question.text)).toContain('Laptop');
    const done = await support.submit(question);
    expect(textOf((await support.follow(done)).text)).toMatch(/Method removed\..*Key ring/);
    expect((await mfa.passkeys.list(account.id)).map(({ name }) => name)).toEqual(['Key ring']);
    expect(await mfa.factors.of(account.id)).toMatchObject({ totp: true, recoveryCodes: 10 });
    expect((await support.get(`${at}/factors/passkey-factor-one/remove`)).status).toBe(404);
    const mail = await db.mailMessage.findFirst({ where: { kind: 'factor-changed', userId: account.id } });
    expect(mail).not.toBeNull();
    const [event] = await idp.services.audit.list({ subjectId: account.id, types: ['passkey.removed'] });
    expect(event).toMatchObject({ data: { name: 'Laptop' }, actorId: expect.any(String) });
    const log = textOf((await admin.get(`${at}/activity`)).text);
    expect(log).toContain(`removed the passkey Laptop of Ann Example (${username})`);
    // After the last one, another may be set up although the password alone would not suffice.
    for (const id of ['passkey-factor-two', 'totp', 'recovery-codes'])
      expect((await support.submit(await support.get(`${at}/factors/${id}/remove`))).status, id).toBe(303);
    expect(textOf((await support.get(`${at}/security`)).text)).toContain('Not set up');
    expect((await mfa.firstEnrolment.state(account.id)).allowedUntil).not.toBeNull();
  });

  it('lose no factor to an administrator without the right, or where they have more rights', async () => {
    const [boss, { account }] = [await staff(idp, 'admin'), await aUser(idp.services)];
    const clerk = await consoleOf(idp, await staff(idp, 'auditor'));
    for (const one of [boss.account, account]) {
      const { secret, sealed } = idp.services.mfa.totp.begin(one);
      await idp.services.mfa.totp.confirm(one, sealed, generateSync({ secret }));
    }
    const remove = (id: string) => `/admin/users/${id}/factors/totp/remove`;
    const [mine, bosses] = [await support.get(remove(account.id)), await support.get(remove(boss.account.id))];
    expect([mine.status, bosses.status]).toEqual([200, 403]);
    expect((await support.post(remove(boss.account.id), { form: csrfOf(mine) })).status).toBe(403);
    expect((await clerk.get(remove(account.id))).status).toBe(403);
    for (const [browser, id] of [
      [clerk, account.id],
      [support, boss.account.id],
    ] as const) {
      const page = await browser.get(`/admin/users/${id}/security`);
      expect(textOf(page.text)).toContain('Authenticator app');
      expect(page.text).not.toContain('/factors/totp/remove');
    }
    expect(await idp.services.mfa.factors.hasSecondFactor(boss.account.id)).toBe(true);
  });

  it('are not managed by support where they have more permissions', async () => {
    const boss = await staff(idp, 'admin');
    const { account } = await aUser(idp.services);
    const confirm = await support.get(`/admin/users/${account.id}/reset-factors`);
    const sent = await support.post(`/admin/users/${boss.account.id}/reset-factors`, { form: csrfOf(confirm) });
    expect(sent.status).toBe(403);
  });

  it('have no form for an administrator who may not change them, nor have roles and applications', async () => {
    const { roles } = idp.services;
    await roles.create({ name: 'clerk', permissions: ['gatehouse.users:read', 'gatehouse.users:write'] });
    const others = ['gatehouse.roles:read', 'gatehouse.roles:write', 'gatehouse.applications:write'];
    await roles.create({ name: 'registrar', permissions: [...others, 'gatehouse.applications:read'] });
    const clerk = await consoleOf(idp, await staff(idp, 'clerk'));
    const registrar = await consoleOf(idp, await staff(idp, 'registrar'));
    const [boss, colleague] = [await staff(idp, 'admin'), await staff(idp, 'editor')];
    const declared = await idp.services.accounts.create({ username: 'declared', source: 'file' });
    for (const { id } of [boss.account, colleague.account]) {
      for (const form of ['change/name', 'password', 'disable', 'delete', 'force-change'])
        expect((await clerk.get(`/admin/users/${id}/${form}`)).status, form).toBe(403);
      expect((await support.get(`/admin/users/${boss.account.id}/allow-factor`)).status).toBe(403);
      for (const tab of ['', '/security']) {
        const page = await clerk.get(`/admin/users/${id}${tab}`);
        const isBelow = ({ pathname, hash }: URL) => pathname.startsWith(`/admin/users/${id}/`) && hash === '';
        const links = linksOf(page.text, page.url).filter(({ href }) => isBelow(new URL(href)));
        expect([page.status, links.map(({ label }) => label)]).toEqual([200, ['Roles and groups', 'Security']]);
        expect(page.forms).toEqual([]);
        expect(textOf(page.text)).toMatch(
          /You can’t change this account, because|Only someone who has or manages the role/,
        );
      }
    }
    for (const form of ['change/name', 'delete'])
      expect((await clerk.get(`/admin/users/${declared.id}/${form}`)).status, form).toBe(403);
    const editor = await roles.find('editor');
    expect((await registrar.get(`/admin/roles/${editor?.id}/delete`)).status).toBe(403);
    const service = await aClient(idp.services, {
      grant_types: ['client_credentials'],
      resources: [adminApi(idp.issuer)],
      scope: 'admin:*',
    });
    const at = `/admin/applications/${service.applicationId}`;
    for (const form of ['disable', 'delete']) expect((await registrar.get(`${at}/${form}`)).status, form).toBe(403);
    for (const tab of ['', '/settings', '/access', '/credentials'])
      expect((await registrar.get(`${at}${tab}`)).text, tab).not.toMatch(/<form method="post"|New secret/);
  });
});

describe('the access check', () => {
  it('shows by which role a user may open an application or why not, and what it would receive by OpenID Connect', async () => {
    const { account, username } = await aUser(idp.services, { name: 'Ann Why' });
    await aClient(idp.services, {
      client_name: 'Checked app',
      redirect_uris: ['https://why.example.com/cb'],
      access: { roles: ['editor'] },
    });
    const check = () => admin.get(`/admin/access-check?${new URLSearchParams({ user: username, app: 'checked app' })}`);
    expect(textOf((await check()).text)).toContain('Ann Why can’t sign in to Checked app');
    expect(textOf((await check()).text)).toContain('Checked app requires the role editor. Ann Why has no roles.');
    await idp.services.roles.assign(account.id, 'editor');
    const page = textOf((await check()).text);
    expect(page).toContain('Ann Why can sign in to Checked app');
    expect(page).toContain('Ann Why has access through the role editor.');
    expect(page).toContain('"name": "Ann Why"');
    expect(page).toContain(`"sub": "${account.id}"`);
  });

  it('shows what a SAML application would receive, without creating a NameID', async () => {
    const { username } = await aUser(idp.services, { name: 'Ann Saml' });
    const sp = await aServiceProvider(idp.services, { settings: { attributes: { displayName: 'name' } } });
    const page = await support.get(`/admin/access-check?${new URLSearchParams({ user: username, app: sp.entityId })}`);
    expect(textOf(page.text)).toContain('displayName');
    expect(textOf(page.text)).toContain('Ann Saml');
    expect(await idp.services.db.samlNameId.count()).toBe(0);
  });

  it('shows the last attempts with the reason of each, by user and by request number', async () => {
    const { account, username } = await aUser(idp.services);
    const request = { requestId: 'request-of-ann', address: '192.0.2.7', userAgent: '' };
    await idp.services.audit.record({
      type: 'sign-in.password',
      outcome: 'failure',
      reason: 'wrong_password',
      request,
      subjectId: account.id,
    });
    for (const query of [`user=${username}`, 'request=request-of-ann']) {
      const page = await support.get(`/admin/access-check?${query}`);
      expect(textOf(page.text)).toContain(`Ann Example (${username}) entered an incorrect password`);
      expect(textOf(page.text)).toContain('wrong_password');
    }
    expect(textOf((await admin.get('/admin/access-check?user=nobody-at-all')).text)).toContain(
      'No user matches nobody-at-all.',
    );
  });
});
