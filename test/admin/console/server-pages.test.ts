// Roles, sessions, audit, keys, mail, settings and the import of users in the console, with and without permission.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCsv } from '../../../src/base/platform/csv.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { aClient, aUser } from '../../support/factories.ts';
import type { HttpClient, Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { itInLongRun } from '../../support/it-in-long-run.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { consoleOf, importEnd, staff, startedImport, triedImport } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
let auditor: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  auditor = await consoleOf(idp, await staff(idp, 'auditor'));
});
afterAll(() => idp?.stop());

const PAGES = [
  '',
  '/applications',
  '/apis',
  '/connections',
  '/scim',
  '/users',
  '/roles',
  '/access-check',
  '/rejections',
  '/sessions',
  '/audit',
  '/event-streams',
  '/deliveries',
  '/api-keys',
  '/security/sign-up-codes',
  '/keys',
  '/mail',
  '/mail/templates',
  '/settings',
  '/settings/system',
  '/security',
];

it.each(PAGES)('the console shows an auditor everything and no form that changes anything: /admin%s', async (path) => {
  const page = await auditor.get(`/admin${path}`);
  expect(page.status).toBe(200);
  // The first steps are hidden for oneself.
  expect(page.forms.filter(({ method, fields }) => method === 'post' && !fields.first_steps)).toEqual([]);
  expect(textOf(page.text)).not.toMatch(/undefined|\[object/);
  expect(page.text).toMatch(/<p class="lead">[^<]+\.<\/p>/);
});

describe('APIs', () => {
  const at = `/admin/apis/${encodeURIComponent('https://articles.example')}`;
  const stored = () =>
    idp.services.db.asStored.resource.findUnique({ where: { identifier: 'https://articles.example' } });

  it('are registered, listed, changed and deleted, with the permissions that their scopes need', async () => {
    const form = await admin.get('/admin/apis/new');
    const wrong = { identifier: 'https://articles.example', scopes: 'articles:write = no permission' };
    const rejected = await admin.submit(form, wrong);
    expect([rejected.status, textOf(rejected.text)]).toEqual([400, expect.stringContaining('resource:action')]);
    expect(rejected.forms[0]?.fields.scopes).toBe(wrong.scopes);
    const scopes = 'articles:read\narticles:write = articles:write';
    await admin.follow(await admin.submit(form, { ...wrong, scopes }));
    expect(await stored()).toMatchObject({ scopePermissions: '{"articles:write":"articles:write"}' });
    for (const client of [admin, auditor]) {
      expect(textOf((await client.get('/admin/apis')).text)).toContain('only with articles:write');
      expect(textOf((await client.get(at)).text)).toContain('With this permission Never');
    }
    expect((await auditor.get(at)).forms).toEqual([]);
    expect(textOf((await admin.get(at)).text)).toMatch(
      /Danger zone Gatehouse issues no more access tokens for it\..* Delete$/,
    );
    expect(textOf((await auditor.get(at)).text)).not.toContain('Danger zone');

    const edit = await admin.get(at);
    expect(edit.forms[0]?.fields.scopes).toBe(scopes);
    await admin.submit(edit, { scopes: 'articles:read = articles:read', signing_alg: 'ES256' });
    const changed = { scopes: '["articles:read"]', scopePermissions: '{"articles:read":"articles:read"}' };
    expect(await stored()).toMatchObject({ ...changed, signingAlg: 'ES256' });
    expect((await admin.submit(edit, { scopes: '' })).status).toBe(412);
    await admin.submit(await admin.get(`${at}/delete`), { typed_name: 'https://articles.example' });
    expect(await stored()).toBeNull();
  });

  it('are opened to roles and groups by the form', async () => {
    const { groups } = idp.services;
    const group = await groups.create({ name: 'Console API Lab' });
    const form = await admin.get('/admin/apis/new');
    const given = { identifier: 'https://articles.example', scopes: 'articles:read', access: 'roles' };
    const none = await admin.submit(form, given);
    expect([none.status, none.forms[0]?.fields.access]).toEqual([400, 'roles']);
    await admin.submit(form, { ...given, 'access.groups': 'Console API Lab' });
    expect(await stored()).toMatchObject({ access: JSON.stringify({ roles: [], groups: [group.id] }) });
    expect(textOf((await auditor.get('/admin/apis')).text)).toContain('Console API Lab');
    expect(textOf((await auditor.get(at)).text)).toContain('Console API Lab');
    const edit = await admin.get(at);
    expect(edit.forms[0]?.fields).toMatchObject({ access: 'roles', 'access.groups': 'Console API Lab' });
    expect(textOf((await admin.get(`/admin/groups/${group.id}/delete`)).text)).toContain('https://articles.example');

    // Who decides nothing about groups changes no rule that names one, nor deletes the API and so the rule.
    const manager = await consoleOf(idp, await staff(idp, 'application-manager'));
    const asManager = await manager.get(at);
    expect((await manager.submit(asManager, { access: 'everyone' })).status).toBe(403);
    expect((await manager.submit(await manager.get(`${at}/delete`), { typed_name: given.identifier })).status).toBe(
      403,
    );
    await manager.submit(asManager, { scopes: 'articles:read\narticles:list' });
    expect(await stored()).toMatchObject({ scopes: '["articles:read","articles:list"]' });
    await groups.remove(group.id);
    expect((await idp.services.resources.get(given.identifier)).access).toEqual({ roles: [] });
    await admin.submit(await admin.get(at), { access: 'everyone', 'access.groups': [] });
    expect(await stored()).toMatchObject({ access: 'everyone' });
    await idp.services.db.resource.deleteMany();
  });

  it('are changed only by an application manager who has the permissions of their scopes', async () => {
    const tied = { identifier: 'https://articles.example', scopes: '["pay"]', scopePermissions: '{"pay":"money:pay"}' };
    await idp.services.db.asStored.resource.create({ data: tied });
    await signRows(idp.services);
    const manager = await consoleOf(idp, await staff(idp, 'application-manager'));
    const edit = await manager.get(at);
    expect((await manager.submit(edit, { scopes: 'pay' })).status).toBe(403);
    expect((await manager.submit(await manager.get(`${at}/delete`), { typed_name: tied.identifier })).status).toBe(403);
    expect((await auditor.get('/admin/apis/new')).status).toBe(403);
    await manager.submit(edit, { scopes: 'pay = money:pay\nread' });
    expect(await stored()).toMatchObject({ scopes: '["pay","read"]', scopePermissions: '{"pay":"money:pay"}' });
    await idp.services.db.resource.deleteMany();
  });
});

describe('roles', () => {
  it('are created, listed in the matrix, changed and deleted', async () => {
    await admin.submit(await admin.get('/admin/roles/new'), {
      name: 'writer',
      permissions: 'articles:write\narticles:read',
    });
    const matrix = textOf((await admin.get('/admin/roles/permissions')).text);
    expect(matrix).toContain('articles:write');
    const role = await idp.services.roles.find('writer');
    const at = `/admin/roles/${role?.id}`;
    const wrong = await admin.submit(await admin.get(at), { permissions: 'no permission' });
    expect(wrong.status).toBe(400);
    const boxes = { 'permissions.articles': 'articles:read', permissions: ['articles[role:writer]:x', 'wiki:edit'] };
    const row = await admin.submit(await admin.get(at), { ...boxes, rows: 'remove permissions 0' });
    expect(row.forms[0]?.fields).toMatchObject({ 'permissions.articles': 'articles:read', permissions: 'wiki:edit' });
    await admin.submit(row, { 'permissions.gatehouse.users': 'gatehouse.users:read' });
    const held = (await idp.services.roles.find('writer'))?.permissions;
    expect(held?.sort()).toEqual(['articles:read', 'gatehouse.users:read', 'wiki:edit']);
    await admin.submit(await admin.get(`${at}/delete`), { typed_name: 'writer' });
    expect(await idp.services.roles.find('writer')).toBeUndefined();
    const same = await admin.submit(await admin.get('/admin/roles/new'), { name: 'auditor' });
    expect(same.status).toBe(409);
  });

  it('get no permission in Gatehouse while a group with owners gives them', async () => {
    const { groups, roles, db } = idp.services;
    const role = await roles.create({ name: 'lender' });
    const group = await groups.create({ name: 'Lending', acceptsRequests: true });
    await groups.addRole(group.id, role.name);
    const at = `/admin/roles/${role.id}`;
    const answer = await admin.submit(await admin.get(at), { 'permissions.gatehouse.users': 'gatehouse.users:read' });
    expect([answer.status, textOf(answer.text)]).toEqual([
      409,
      expect.stringContaining('The group Lending gives this'),
    ]);
    expect((await roles.find('lender'))?.permissions).toEqual([]);
    await db.asStored.group.deleteMany({ where: { id: group.id } });
  });

  it('list their members, who are added by name and removed after a question, and the applications that they open', async () => {
    const role = await idp.services.roles.create({ name: 'curator' });
    const { account, username } = await aUser(idp.services);
    const at = `/admin/roles/${role.id}`;
    await aClient(idp.services, {
      client_name: 'Archive',
      access: { roles: ['curator'] },
      redirect_uris: ['https://archive.example.com/cb'],
    });
    expect(textOf((await admin.get(`${at}/applications`)).text)).toContain('Archive');
    const form = await admin.get(`${at}/members`);
    const unknown = await admin.submit(form, { user: 'no-such-user' });
    expect([unknown.status, textOf(unknown.text)]).toEqual([
      400,
      expect.stringContaining('No user has the username or email address no-such-user.'),
    ]);
    await admin.submit(form, { user: username });
    expect((await idp.services.accounts.find(account.id))?.roles).toEqual(['curator']);
    expect((await admin.get('/admin/roles')).text).toContain(`${at}/members`);
    const removal = await admin.get(`${at}/members/${account.id}/remove`);
    expect(textOf(removal.text)).toContain('loses the permissions of this role');
    await admin.submit(removal);
    expect((await idp.services.accounts.find(account.id))?.roles).toEqual([]);
    expect((await admin.get(`${at}/members/${account.id}/remove`)).status).toBe(404);
    const page = await auditor.get(`${at}/members`);
    expect(page.forms.filter(({ method }) => method === 'post')).toEqual([]);
    const { _csrf = '' } = form.forms[0]?.fields ?? {};
    expect((await auditor.post(`${at}/members`, { form: { _csrf, user: username } })).status).toBe(403);
    expect(textOf((await admin.get(`${at}/delete`)).text)).toContain('The role has no members.');
  });

  it('are read-only where they are built in', async () => {
    const role = await idp.services.roles.find('support');
    expect((await admin.get(`/admin/roles/${role?.id}`)).forms).toEqual([]);
  });
});

describe('sessions', () => {
  it('are listed and ended', async () => {
    const person = await staff(idp, 'auditor');
    const other = await consoleOf(idp, person);
    const page = await admin.get('/admin/sessions');
    expect(page.text).toContain(person.username);
    const called = `Ann Example ${person.username}`;
    expect(textOf(page.text)).toContain(called);
    const [session] = await idp.services.sessions.list(person.account.id);
    const question = await admin.get(`/admin/sessions/${session?.uid}/end`);
    expect(textOf(question.text)).toContain(`End the session of Ann Example (${person.username})?`);
    await admin.submit(question);
    expect((await other.get('/admin')).location).toContain('/login');
  });
});

describe('the audit', () => {
  it('is filtered by event, user and outcome, read page by page in both orders, and exported as CSV without formulas', async () => {
    const { account, username } = await aUser(idp.services, { username: 'traced' });
    await idp.services.audit.record({
      type: 'sign-in.password',
      outcome: 'failure',
      reason: '=cmd()',
      subjectId: account.id,
    });
    const page = await auditor.get(`/admin/audit?user=${username}&outcome=failure&type=sign-in.password`);
    expect(page.text).toContain('=cmd()');
    expect(textOf((await auditor.get('/admin/audit?user=nobody-here')).text)).toContain('No events match.');
    const event = { type: 'session.ended', outcome: 'success', subjectId: account.id } as const;
    for (let number = 1; number <= 120; number += 1)
      await idp.services.audit.record({ ...event, data: { sessions: number } });
    const numbers = (text: string) =>
      [...text.matchAll(/&quot;sessions&quot;: (\d+)/g)].map(([, number]) => Number(number));
    const link = async (from: Page, label: string) => {
      const found = linksOf(from.text, from.url).find((one) => one.label === label);
      return found && auditor.get(found.href);
    };
    for (const [sort, firsts] of [
      ['-at', [120, 70, 20]],
      ['at', [1, 51, 101]],
    ] as const) {
      const first = await auditor.get(`/admin/audit?user=${username}&type=session.ended&sort=${sort}`);
      const second = (await link(first, 'Next page')) as Page;
      const third = (await link(second, 'Next page')) as Page;
      expect([first, second, third].map(({ text }) => numbers(text)[0])).toEqual(firsts);
      expect(await link(third, 'Next page')).toBeUndefined();
      const back = (await link(third, 'Previous page')) as Page;
      expect(numbers(back.text)).toEqual(numbers(second.text));
      expect(numbers((await link(back, 'Previous page'))?.text ?? '')).toEqual(numbers(first.text));
      expect(numbers((await link(third, 'First page'))?.text ?? '')).toEqual(numbers(first.text));
    }
    const file = await auditor.get(`/admin/audit/export?format=csv&user=${username}`);
    expect(file.headers['content-disposition']).toContain('audit.csv');
    expect(file.text).toContain("'=cmd()");
    expect((await idp.services.audit.list({ types: ['audit.exported'] })).length).toBeGreaterThan(0);
  });
});

async function aServiceProviderByHand(): Promise<void> {
  const fields = {
    name: 'Archive 2',
    entity_id: 'https://archive2.example.com',
    acs_url: 'https://archive2.example.com/acs',
  };
  await admin.submit(await admin.get('/admin/applications/new/saml'), fields);
}

describe('keys', () => {
  it('are displayed with their dates, and the next SAML certificate is published', async () => {
    expect(textOf((await auditor.get('/admin/keys')).text)).toContain('Active');
    expect((await auditor.get('/admin/keys/rotate')).status).toBe(403);
    expect((await admin.get('/admin/keys/rotate')).text).toContain('use=saml&amp;step=publish');
    const question = await admin.get('/admin/keys/rotate?use=saml&step=publish');
    expect((await admin.follow(await admin.submit(question))).text).toMatch(/Next certificate published/);
    await aServiceProviderByHand();
    const activate = textOf((await admin.get('/admin/keys/rotate?use=saml&step=activate')).text);
    expect(activate).toContain('Archive 2 None in 30 days Entered by hand');
    expect(activate).toContain('Gatehouse can’t see which certificate an application trusts');
    expect(textOf((await auditor.get('/admin/keys')).text)).toMatch(/Next RS256 .* Can sign from .* Active RS256/);
  });
});

describe('settings', () => {
  it('are on a tab each, with their range and default, switches and radio buttons, and a tab changes only its own', async () => {
    const page = await admin.get('/admin/security/two-step');
    expect(textOf(page.text)).toContain('Required Every user sets up two-step verification.');
    await admin.submit(page, { mfa: 'required', remember_browser_days: '7' });
    const protection = await admin.get('/admin/security/protection');
    const { rate_limits: _off, ...fields } = protection.forms[0]?.fields ?? {};
    await admin.post('/admin/security/protection', { form: fields });
    const changed = { mfa: 'required', remember_browser_days: 7, rate_limits: false, new_browser_notice: true };
    expect(await idp.services.settings.reload()).toMatchObject(changed);
    expect(textOf((await admin.get('/admin/settings')).text)).toContain('From 1 to 720, default 12.');
    const methods = await admin.get('/admin/security');
    const gateway = {
      'sms_gateway.url': 'https://sms.example.com/',
      'sms_gateway.token': 'secret',
      'sms_gateway.sender': 'Us',
    };
    await admin.submit(methods, gateway);
    const saved = await admin.submit(await admin.get('/admin/security'), { 'sms_gateway.sender': 'Them' });
    expect(saved.status).toBe(303);
    const stored = { url: 'https://sms.example.com/', token: 'secret', sender: 'Them' };
    expect((await idp.services.settings.reload()).sms_gateway).toEqual(stored);
    const wrong = await admin.submit(await admin.get('/admin/security'), { 'sms_gateway.url': 'nowhere' });
    expect(wrong.text).toContain('href="#f-sms_gateway.url"');
    for (const name of ['mfa', 'remember_browser_days', 'rate_limits', 'sms_gateway'] as const)
      await idp.services.settings.unset(name);
    await idp.services.settings.reload();
  });

  it('are locked where the configuration file has them, and say so', async () => {
    await idp.services.settings.set('reset_token_minutes', 15, { source: 'file' });
    const page = await admin.get('/admin/security/passwords');
    expect(textOf(page.text)).toMatch(/Each setting with a lock comes from .* Configuration file/);
    expect(page.text).toMatch(/name="reset_token_minutes"[^>]* readonly/);
    await admin.submit(page, { reset_token_minutes: '30', breached_password_lookup: 'on' });
    const values = { reset_token_minutes: 15, breached_password_lookup: true };
    expect(await idp.services.settings.reload()).toMatchObject(values);
    for (const name of ['reset_token_minutes', 'breached_password_lookup'] as const)
      await idp.services.settings.unset(name);
    await idp.services.settings.reload();
  });

  it('are changed after a recent sign-in, and a fault is displayed with what was typed', async () => {
    const page = await admin.get('/admin/settings/edit');
    await admin.submit(page, { session_hours: '8', mfa: 'optional', denied_networks: '203.0.113.0/24' });
    expect(await idp.services.settings.reload()).toMatchObject({
      session_hours: 8,
      denied_networks: ['203.0.113.0/24'],
    });
    const wrong = await admin.submit(await admin.get('/admin/settings/edit'), { session_hours: '9999' });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('value="9999"');
    await admin.submit(await admin.get('/admin/settings/edit'), { denied_networks: '' });
    expect((await idp.services.settings.reload()).denied_networks).toEqual([]);
  });
});

describe('mail', () => {
  it('is sent again after a failure', async () => {
    await idp.services.outbox.send({
      kind: 'saml-certificate',
      to: { email: 'a@example.com' },
      application: 'Wiki',
      until: new Date(),
      isNextPublished: false,
    });
    await idp.services.db.mailMessage.updateMany({
      where: { recipient: 'a@example.com' },
      data: { failedAt: new Date(), sentAt: null, lastError: 'rejected' },
    });
    const page = await admin.get('/admin/mail?state=failed');
    expect(page.text).toContain('rejected');
    await admin.submit(page, {}, { form: '/retry' });
    const sorted = await admin.get('/admin/mail?sort=created');
    expect(sorted.text).toContain('aria-sort="ascending"');
    expect(linksOf(sorted.text, sorted.url).find(({ label }) => label === 'Created')?.href).toMatch(/\/admin\/mail$/);
    expect((await idp.services.audit.list({ types: ['mail.retried'] })).length).toBe(1);
  });

  it('is tested with one button, whose answer is displayed, and each template is previewed without a script', async () => {
    const tested = await admin.submit(await admin.get('/admin/mail'), {}, { form: '/mail/test' });
    expect(textOf(tested.text)).toContain('The test message was saved as a file');
    expect(textOf(tested.text)).toMatch(/nothing was sent: .*\.eml/);
    // The retried one of before may be delivered meanwhile.
    const sent = await idp.services.audit.list({ types: ['mail.sent'], limit: 5 });
    expect(sent.map(({ data }) => data.message)).toContain('test');
    expect((await auditor.get('/admin/mail')).text).not.toContain('/admin/mail/test');
    const page = await auditor.get('/admin/mail/templates/password-reset');
    expect(textOf(page.text)).toContain('Choose a new password for your account');
    const html = await auditor.get('/admin/mail/templates/password-reset/html');
    expect(html.headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'self'; sandbox",
    );
    expect(html.text).toContain('Choose a new password');
  });
});

describe('the import of users', () => {
  const csv =
    'username,email,roles\r\none,one@example.com,\r\ntwo,"two@example.com",nobody\r\nONE,other@example.com,\r\n"=evil",x,\r\nthree,three@example.com,auditor\r\n';

  it('checks each row in a trial run and creates nothing, then creates those without a fault', async () => {
    const tried = await triedImport(admin, csv);
    expect(textOf(tried.text)).toContain('5 of 5 rows: 2 can be created, 3 not.');
    for (const reason of ['The role doesn’t exist: nobody.', 'Line 2 has the same username.', 'email'])
      expect(textOf(tried.text)).toContain(reason);
    expect(await idp.services.accounts.findByLogin('one')).toBeUndefined();
    const made = await startedImport(admin, tried);
    expect(textOf(made.text)).toContain('2 created, 3 not.');
    expect((await idp.services.accounts.findByLogin('three'))?.roles).toEqual(['auditor']);
    const again = await triedImport(admin, csv);
    expect(textOf(again.text)).toContain('already taken');
  });

  itInLongRun('shows the progress, and lists every faulty row', async () => {
    const names = Array.from({ length: 153 }, (_, index) => (index === 7 ? 'two words' : `bulk${index}`));
    const many = ['username', ...names, 'BULK0'].join('\n');
    const { fields: { _csrf = '' } = {} } = (await admin.get('/admin/import')).forms[0] ?? {};
    const begun = await admin.follow(await admin.post('/admin/import', { form: { _csrf, csv: many } }));
    expect(begun.headers.refresh).toBe('3');
    expect(begun.text).toContain('<progress');
    const rest = await startedImport(admin, await importEnd(admin, begun));
    expect(textOf(rest.text)).toContain('154 of 154 rows: 152 created, 2 not.');
    for (const wrong of ['two words', 'Line 2 has the same username.']) expect(textOf(rest.text)).toContain(wrong);
    expect((await admin.get('/admin/import/export')).text).toContain('bulk152');
    expect((await idp.services.audit.list({ types: ['users.exported'] })).length).toBe(1);
  });

  it('has a column for each own field, by its name or its label', async () => {
    const properties = {
      t_shirt_size: { type: 'string', enum: ['S', 'M'], title: 'T-shirt size' },
      floor: { type: 'number' },
      driver: { type: 'boolean', title: 'Drives' },
      badges: { type: 'array', items: { type: 'string' } },
    };
    await idp.services.settings.set('user_attributes', { type: 'object', properties });
    await idp.services.settings.reload();
    expect(textOf((await admin.get('/admin/import')).text)).toContain('t_shirt_size, floor, driver, badges');
    const sheet = [
      'username,T-Shirt Size,floor,DRIVES,badges',
      'sized,M,3,yes,gold;blue',
      'unsized,,,,',
      'wrong-size,XXL,3,no,',
      'wrong-floor,S,upper,no,',
    ].join('\n');
    const tried = await triedImport(admin, sheet);
    expect(textOf(tried.text)).toContain('4 of 4 rows: 2 can be created, 2 not.');
    await startedImport(admin, tried);
    const attributesOf = async (name: string) => (await idp.services.accounts.findByLogin(name))?.attributes;
    expect(await attributesOf('sized')).toEqual({
      t_shirt_size: 'M',
      floor: 3,
      driver: true,
      badges: ['gold', 'blue'],
    });
    expect(await attributesOf('unsized')).toEqual({});
    const rest = await triedImport(admin, 'username,t_shirt_size,attributes\nnamed,S,"{""floor"": 4}"');
    await startedImport(admin, rest);
    expect(await attributesOf('named')).toEqual({ t_shirt_size: 'S', floor: 4 });
    await idp.services.settings.unset('user_attributes');
    await idp.services.settings.reload();
  });

  it('takes a file in UTF-8, with the CSRF token of the form', async () => {
    const { fields: { _csrf = '' } = {} } = (await admin.get('/admin/import')).forms[0] ?? {};
    const upload = async (content: BlobPart, token: string) => {
      const form = new FormData();
      form.append('_csrf', token);
      form.append('file', new File([content], 'Größe.csv', { type: 'text/csv' }));
      form.append('csv', '');
      const request = new Request(idp.issuer, { method: 'POST', body: form });
      const headers = { 'content-type': request.headers.get('content-type') ?? '', origin: idp.issuer };
      return admin.post('/admin/import', { body: new Uint8Array(await request.arrayBuffer()), headers });
    };
    const tried = await importEnd(
      admin,
      await admin.follow(await upload('\ufeffusername;name\r\nöykü;Öykü Çelik\r\n', _csrf)),
    );
    expect(textOf(tried.text)).toContain('1 of 1 row: 1 can be created, 0 not.');
    const made = await startedImport(admin, tried);
    expect(textOf(made.text)).toContain('1 created, 0 not.');
    expect((await idp.services.accounts.findByLogin('öykü'))?.name).toBe('Öykü Çelik');
    expect((await upload('username\nx', 'wrong')).status).toBe(403);
    expect((await upload(new Uint8Array([0x75, 0xe9, 0x0a]), _csrf)).status).toBe(400);
    expect((await upload('username\nx\0y', _csrf)).status).toBe(400);
    expect((await upload('x'.repeat(14_000_000), _csrf)).status).toBe(413);
    const headers = { 'content-type': 'multipart/form-data; boundary=x', origin: idp.issuer };
    expect((await admin.post('/admin/import', { body: '--x\r\nnonsense', headers })).status).toBe(400);
    // Nowhere else.
    expect((await admin.post('/admin/users/new', { body: '--x--', headers })).status).toBe(415);
  });

  it('is rejected without a header line, and without permission', async () => {
    const wrong = await admin.submit(await admin.get('/admin/import'), { csv: 'a,b\n1,2' });
    expect(wrong.status).toBe(400);
    expect((await auditor.get('/admin/import')).status).toBe(403);
  });

  it.each([
    [
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      '\ufeffa;b\r\n"x;""y""";2',
      [
        ['a', 'b'],
        ['x;"y"', '2'],
      ],
    ],
    ['a\n\n"two\nlines"\n', [['a'], ['two\nlines']]],
  ])('reads the CSV %j', async (text, rows) => {
    expect((await parseCsv(text)).map(({ cells }) => cells)).toEqual(rows);
  });

  it('counts lines as an editor does', async () => {
    expect((await parseCsv('a\r\n\n"two\nlines"\nb')).map(({ line }) => line)).toEqual([1, 3, 5]);
    expect((await parseCsv('a\r\n"two\r\n\r\nlines",x\r\n,\r\nb')).map(({ line }) => line)).toEqual([1, 2, 6]);
  });

  it('reads a quote that is never closed as the rest of the text', async () => {
    expect((await parseCsv('a\n"b\nc')).map(({ cells }) => cells)).toEqual([['a'], ['b\nc']]);
  });
});
