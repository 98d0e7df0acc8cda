// Applications in the console: registered by preset, tested with the real sign-in, changed, and protected by permissions.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSignInCounts } from '../../../src/admin/applications/sign-in-counts.ts';
import { aPng } from '../../brand/pictures.ts';
import { ec } from '../../support/applications/registrations.ts';
import { itOnSqlite } from '../../support/database/it-on-sqlite.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { aClient } from '../../support/factories.ts';
import type { HttpClient, Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(() => idp?.stop());

const register = async (preset: string, fields: Record<string, string>): Promise<Page> =>
  admin.follow(await admin.submit(await admin.get(`/admin/applications/new/${preset}`), fields));
/** The application that was registered last. */
const newest = () => idp.services.db.asStored.application.findFirstOrThrow({ orderBy: { createdAt: 'desc' } });

describe('a new application', () => {
  itOnSqlite(
    'is registered with high security, which its page explains, and no field of the form weakens it',
    async () => {
      const jwks = JSON.stringify({ keys: [ec()] });
      const fields = { name: 'Bank', redirect_uris: 'https://bank.example.com/cb', profile: 'fapi2-signing', jwks };
      const rejected = await register('fapi2', { ...fields, redirect_uris: 'http://127.0.0.1/cb' });
      expect([rejected.status, textOf(rejected.text)]).toEqual([400, expect.stringContaining('must be an https URL')]);
      const page = await register('fapi2', fields);
      expect([page.status, textOf(page.text)]).toEqual([200, expect.stringContaining(`${idp.issuer}/par`)]);
      const { id, metadata } = await newest();
      const demanded = {
        profile: 'fapi2-signing',
        token_endpoint_auth_method: 'private_key_jwt',
        response_modes: ['jwt'],
      };
      expect(JSON.parse(metadata)).toMatchObject({ ...demanded, dpop_bound_access_tokens: true });
      const path = `/admin/applications/${id}`;
      expect(textOf((await admin.get(`${path}/credentials`)).text)).toMatch(
        /FAPI 2 Message Signing.*private_key_jwt.*DPoP/s,
      );

      const save = async (changes: Record<string, string>, tab = 'credentials') =>
        admin.submit(await admin.get(`${path}/${tab}`), changes);
      expect((await save({ client_name: 'Bank 2' }, 'settings')).status).toBe(303);
      expect((await save({ dpop_bound_access_tokens: 'off' }, 'settings')).status).toBe(303);
      expect((await save({ token_endpoint_auth_method: 'client_secret_basic' })).status).toBe(303);
      const stored = async () => (await idp.services.applications.get(id)).metadata;
      expect(await stored()).toMatchObject({ ...demanded, require_pkce: true });
      expect((await save({ jwks: '{"keys":[]}' })).status).toBe(400);
      expect((await save({ jwks: 'no JSON' })).status).toBe(400);
      expect((await save({ profile: '' })).status).toBe(303);
      expect(await stored()).toMatchObject({ token_endpoint_auth_method: 'private_key_jwt' });
      expect(await stored()).not.toHaveProperty('response_modes');
      expect(await stored()).not.toHaveProperty('profile');
    },
  );

  itOnSqlite('gets high security later when it is an ordinary one', async () => {
    await register('web', { name: 'Shop', redirect_uris: 'https://shop.example.com/cb' });
    const { id } = await newest();
    const save = async (changes: Record<string, string>) =>
      admin.submit(await admin.get(`/admin/applications/${id}/credentials`), changes);
    const withoutKey = await save({ profile: 'fapi2' });
    expect([withoutKey.status, textOf(withoutKey.text)]).toEqual([
      400,
      expect.stringContaining('private_key_jwt needs JWK Set or JWK Set URL'),
    ]);
    expect((await save({ profile: 'fapi2', jwks_uri: 'https://shop.example.com/jwks' })).status).toBe(303);
    expect((await idp.services.applications.get(id)).metadata).toMatchObject({
      profile: 'fapi2',
      require_pushed_authorization_requests: true,
      id_token_signed_response_alg: 'PS256',
    });
    expect(await idp.services.db.clientSecret.count({ where: { applicationId: id } })).toBe(0);
  });

  itOnSqlite.each([
    ['web', { name: 'Web <b>one</b>', redirect_uris: 'https://one.example.com/cb' }],
    ['spa', { name: 'Spa', redirect_uris: 'https://spa.example.com/cb' }],
    ['native', { name: 'Phone', redirect_uris: 'com.example.phone:/cb' }],
    ['service', { name: 'Robot' }],
    ['saml', { name: 'Wiki', entity_id: 'https://wiki.example.com', acs_url: 'https://wiki.example.com/acs' }],
  ])('is registered as %s with only the fields that this kind needs', async (kind, fields) => {
    const page = await register(kind, fields);
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('<b>one</b>');
    expect(page.text.includes('Copy the secret now')).toBe(kind === 'web' || kind === 'service');
    for (const part of ['Who can sign in', ...(kind === 'service' ? ['/authorize', 'openid profile', 'PKCE'] : [])])
      expect(textOf(page.text).includes(part), part).toBe(kind !== 'service');
    const { id, consent } = await newest();
    if (kind !== 'web') return;
    expect(consent).toBe('explicit');
    await register(kind, { ...fields, name: 'Web two', consent: '' });
    expect((await newest()).id).not.toBe(id);
    expect((await newest()).consent).toBe('implicit');
  });

  itOnSqlite('shows the faults and what was typed', async () => {
    const page = await register('web', { name: 'Wrong', redirect_uris: 'not an address' });
    expect(page.status).toBe(400);
    expect(page.text).toContain('redirect_uris');
    expect(page.text).toContain('not an address');
    expect((await register('grafana', { url: 'http://' })).status).toBe(400);
  });
});

describe('the test sign-in', () => {
  itOnSqlite('runs the real flow of an OpenID Connect application and shows the decoded ID token', async () => {
    const { applicationId } = await aClient(idp.services, {
      client_name: 'Tested',
      redirect_uris: ['https://tested.example.com/cb'],
      client_uri: 'https://tested.example.com/',
    });
    const page = await admin.submit(await admin.get(`/admin/test/${applicationId}`));
    const result = await admin.follow(page);
    expect(result.url).toContain('/admin/test/callback');
    expect(textOf(result.text)).toContain('The sign-in works.');
    expect(result.text).toContain('preferred_username');
    expect(result.text).toContain('auth_time');
    // The code was redeemed by that page, and the answer belongs to this browser.
    expect((await admin.get(result.url)).status).toBe(400);
    // A test is no use of the application.
    const portal = await admin.get('/dashboard?q=tested');
    expect(portal.text).toContain('https://tested.example.com/');
    expect(portal.text).not.toContain('Used recently');
    expect(textOf((await admin.get('/account/sessions')).text)).not.toContain('Tested');
    expect(textOf((await admin.get('/admin/sessions')).text)).not.toContain('Tested');
  });

  itOnSqlite('shows the rejection of a user who may not open the application', async () => {
    await idp.services.roles.create({ name: 'nobody' });
    const { applicationId } = await aClient(idp.services, {
      client_name: 'Closed',
      redirect_uris: ['https://closed.example.com/cb'],
      access: { roles: ['nobody'] },
    });
    const rejected = await admin.follow(await admin.submit(await admin.get(`/admin/test/${applicationId}`)));
    expect(textOf(rejected.text)).toMatch(/don’t have access/i);
    const back = await admin.follow(await admin.submit(rejected, {}, { button: 'Go back to Closed' }));
    expect(textOf(back.text)).toContain('Your account can’t open Closed');
    expect(back.text).toMatch(/href="\/admin\/access-check\?user=[^"]+&(amp;)?app=/);
  });

  itOnSqlite('gives no response to a browser that did not begin it', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: ['https://lured.example.com/cb'] });
    const parameters = new URLSearchParams({
      client_id: clientId,
      redirect_uri: 'https://lured.example.com/cb',
      response_type: 'code',
      response_mode: 'gatehouse_test',
      scope: 'openid',
      state: 'guessed',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const rejected = await admin.get(`/authorize?${parameters}`);
    expect(rejected.status).toBe(400);
    expect(rejected.location).toBeUndefined();
  });

  itOnSqlite(
    'runs the real flow of a SAML application and shows the assertion, which is never sent to it',
    async () => {
      await register('saml', {
        name: 'Tested SP',
        entity_id: 'https://tested-sp.example.com',
        acs_url: 'https://tested-sp.example.com/acs',
      });
      const { id } = await newest();
      const result = await admin.follow(await admin.submit(await admin.get(`/admin/test/${id}`)));
      expect(result.url).toContain('/admin/test/saml');
      const text = textOf(result.text);
      for (const part of ['Success', 'https://tested-sp.example.com/acs', 'displayName', 'Ann Example'])
        expect(text).toContain(part);
      expect(await idp.services.db.samlParticipant.count({ where: { applicationId: id } })).toBe(0);
      expect(textOf((await admin.get('/account/sessions')).text)).not.toContain('Tested SP');
      // Another browser that learns the address sees nothing.
      const other = await consoleOf(idp, await staff(idp, 'admin'));
      expect((await other.get(result.url)).status).toBe(400);
    },
  );
});

describe('a registered application', () => {
  itOnSqlite('gets a new secret beside the old one, which is displayed once, and both work', async () => {
    const { applicationId, clientSecret } = await aClient(idp.services, {
      redirect_uris: ['https://s.example.com/cb'],
    });
    const sent = await admin.submit(await admin.get(`/admin/applications/${applicationId}/secret`), {
      overlap: '86400',
    });
    const page = await admin.follow(sent);
    const value = /Client secret ([\w-]{20,})/.exec(textOf(page.text))?.[1] ?? '';
    expect(textOf(page.text)).toMatch(/The secret before it works until \w+ \d+, \d{4} at .* UTC/);
    const { hasSecret } = idp.services.applications;
    expect(await hasSecret(applicationId, value)).toBe(true);
    expect(await hasSecret(applicationId, clientSecret)).toBe(true);
    const detail = await admin.get(`/admin/applications/${applicationId}/credentials`);
    expect(detail.text).not.toContain(value);
    const { href = '' } = linksOf(detail.text, detail.url).find(({ label }) => label.startsWith('Revoke')) ?? {};
    const question = await admin.get(href);
    expect(textOf(question.text)).toMatch(/Revoke the client secret •+\S{4} of .*\?.*Revoke secret/);
    expect(await hasSecret(applicationId, clientSecret)).toBe(true);
    await admin.submit(question);
    expect(await hasSecret(applicationId, value), 'the new secret').toBe(true);
    expect(await hasSecret(applicationId, clientSecret), 'the revoked secret').toBe(false);
  });

  itOnSqlite('gets claims of its own, alone and by a scope, and ID tokens without those of scopes', async () => {
    await register('web', { name: 'Payroll', redirect_uris: 'https://payroll.example.com/cb' });
    const { id } = await newest();
    const at = `/admin/applications/${id}`;
    const metadata = async () =>
      JSON.parse((await idp.services.db.asStored.application.findUniqueOrThrow({ where: { id } })).metadata);
    const rows = (...claims: [name: string, field: string, scope: string][]) => ({
      'claims.name': claims.map(([name]) => name),
      'claims.field': claims.map(([, field]) => field),
      'claims.scope': claims.map(([, , scope]) => scope),
    });
    const typed = rows(
      ['desk', 'attributes.desk', ''],
      ['dept', 'attributes.dept=x', 'hr=1'],
      ['https://x.example/?a=b', 'sub', ''],
      ['', '', ''],
    );
    const form = await admin.get(`${at}/claims`);
    expect((await admin.submit(form, { ...typed, id_token_claims: [] })).status).toBe(303);
    const claims = {
      desk: 'attributes.desk',
      dept: { field: 'attributes.dept=x', scope: 'hr=1' },
      'https://x.example/?a=b': 'sub',
    };
    expect(await metadata()).toMatchObject({ claims, id_token_claims: 'conform' });
    // The form as it is changes nothing.
    const again = await admin.get(`${at}/claims`);
    expect(again.forms[0]?.ticks['claims.field']).toEqual(['attributes.desk', 'attributes.dept=x', 'sub']);
    await admin.submit(again);
    expect(await metadata()).toMatchObject({ claims, id_token_claims: 'conform' });
    for (const rejected of [
      ['sub', 'name', ''],
      ['x', 'password', ''],
      ['x', 'name', 'two scopes'],
      ['', 'name', ''],
    ] as const)
      expect((await admin.submit(await admin.get(`${at}/claims`), rows([...rejected]))).status, String(rejected)).toBe(
        400,
      );
    await admin.submit(await admin.get(`${at}/claims`), {
      ...rows(['dept', 'attributes.dept', '']),
      id_token_claims: 'on',
    });
    expect((await metadata()).claims).toEqual({ dept: 'attributes.dept' });
    expect(await metadata()).not.toHaveProperty('id_token_claims');
    await admin.submit(await admin.get(`${at}/claims`), rows());
    expect((await metadata()).claims).toBeDefined();
    await admin.submit(await admin.get(`${at}/claims`), rows(['', '', '']));
    expect(await metadata()).not.toHaveProperty('claims');
  });

  it('is edited, restricted to two roles, disabled and enabled, with audit events', async () => {
    await idp.services.roles.create({ name: 'editor' });
    await idp.services.roles.create({ name: 'reviewer' });
    const roles = ['editor', 'reviewer'];
    const { applicationId, clientId } = await aClient(idp.services, { redirect_uris: ['https://e.example.com/cb'] });
    const at = `/admin/applications/${applicationId}`;
    const wrong = await admin.submit(await admin.get(`${at}/settings`), {
      client_name: 'Renamed',
      redirect_uris: 'not an address',
    });
    expect([wrong.status, wrong.forms[0]?.fields.client_name]).toEqual([400, 'Renamed']);
    const saved = await admin.submit(wrong, { redirect_uris: 'https://e.example.com/cb' });
    expect((await admin.follow(saved)).text).toContain('Saved.');
    const form = await admin.get(`${at}/access`);
    expect((await admin.submit(form, { access: 'roles', 'access.roles': roles })).status).toBe(303);
    await admin.submit(await admin.get(`${at}/disable`));
    expect(await idp.services.applications.get(applicationId)).toMatchObject({
      name: 'Renamed',
      enabled: false,
      access: { roles },
    });
    await admin.submit(await admin.get(`${at}/settings`), {}, { form: '/enable' });
    const events = await idp.services.audit.list({ clientId });
    for (const type of ['application.updated', 'application.disabled', 'application.enabled'])
      expect(events.map((event) => event.type)).toContain(type);
  });

  itOnSqlite('is deleted only after a fresh sign-in', async () => {
    const { applicationId } = await aClient(idp.services, { redirect_uris: ['https://d.example.com/cb'] });
    await idp.services.db.asStored.rpSession.updateMany({
      data: { authTime: new Date(Date.now() - 3_600_000), mac: '' },
    });
    await signRows(idp.services);
    const typed_name = 'Test application';
    const sent = await admin.submit(await admin.get(`/admin/applications/${applicationId}/delete`), { typed_name });
    const asked = await admin.follow(sent);
    expect(asked.text).toContain('prompt=login');
    await idp.services.db.asStored.rpSession.updateMany({ data: { authTime: new Date(), mac: '' } });
    await signRows(idp.services);
    const form = await admin.get(asked.url);
    expect(form.forms[0]?.fields.typed_name).toBe(typed_name);
    expect((await admin.follow(await admin.submit(form))).text).toContain('Application deleted.');
  });

  it('is found by its name, and sorted by its name and by the sign-ins that its row counts', async () => {
    const page = await admin.get('/admin/applications?q=renamed&protocol=oidc');
    expect(page.text).toContain('Renamed');
    expect((await admin.get('/admin/applications?q=no-such-thing')).text).toContain('No applications match.');
    const uris = { redirect_uris: ['https://list.example.com/cb'] };
    const { clientId } = await aClient(idp.services, { client_name: 'Listed A', ...uris });
    const other = await aClient(idp.services, { client_name: 'Listed B', ...uris });
    await idp.services.pictures.choose(other.applicationId, aPng());
    const signedIn = { type: 'sign-in.completed', outcome: 'success', clientId } as const;
    for (let n = 0; n < 3; n += 1) await idp.services.audit.record(signedIn);
    const list = async (sort: string) => admin.get(`/admin/applications?q=listed&sort=${sort}`);
    const names = (text: string) => text.match(/Listed [AB]/g);
    expect(names(textOf((await list('-name')).text))).toEqual(['Listed B', 'Listed A']);
    // The count of today is used for five seconds, and the page does not wait for the first one.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6000 });
    await expect
      .poll(async () => textOf((await list('sign-ins')).text))
      .toMatch(/Listed B.* 0 Not in 30 days.*Listed A.* 3 /);
    vi.useRealTimers();
    const sorted = await list('-sign-ins');
    expect(names(textOf(sorted.text))).toEqual(['Listed A', 'Listed B']);
    expect(sorted.text).toMatch(/aria-sort="descending"><a href="[^"]*sort=sign-ins">Sign-ins, 30 days/);
    const picture = await idp.services.pictures.addressOf(other.clientId);
    expect(sorted.text).toContain(`<img class="logo" src="${picture}"`);
    expect(sorted.headers['content-security-policy']).toMatch(/img-src 'self' data:(;|$)/);
  });

  it('is sorted by its name in any case', async () => {
    const sorted = ['cased audit', 'Cased Calendar', 'Cased CRM', 'Cased Vault', 'Cased VPN'];
    for (const client_name of [...sorted].sort())
      await aClient(idp.services, { client_name, redirect_uris: ['https://list.example.com/cb'] });
    const page = await admin.get('/admin/applications?q=cased');
    expect(
      textOf(page.text)
        .match(/cased \w+/gi)
        ?.filter((one) => sorted.includes(one)),
    ).toEqual(sorted);
    const reversed = await admin.get('/admin/applications?q=cased&sort=-name');
    expect(
      textOf(reversed.text)
        .match(/cased \w+/gi)
        ?.filter((one) => sorted.includes(one)),
    ).toEqual(sorted.reverse());
  });

  it('has the sign-ins of 30 days in its row, the days that are over counted once', async () => {
    const { db, sql, audit } = idp.services;
    let time = new Date(Date.now() + 86_400_000);
    let statements = 0;
    const $queryRaw = (...query: [TemplateStringsArray, ...unknown[]]) => {
      statements += 1;
      return db.$queryRaw(...query);
    };
    const watched = { $queryRaw, asStored: db.asStored };
    const counts = createSignInCounts({ db: watched as unknown as typeof db, sql, now: () => time });
    const { clientId } = await aClient(idp.services, { redirect_uris: ['https://days.example.com/cb'] });
    await audit.record({ type: 'authorization.granted', outcome: 'success', clientId });
    const count = async () => (await counts.lastDays())?.get(clientId);
    await expect.poll(count).toMatchObject({ total: 1, bars: [0, 0, 0, 0, 0, 0, 0, 0, 0, 1] });
    statements = 0;
    expect((await count())?.total).toBe(1);
    expect(statements).toBe(0);
    // A day later only the two days are counted that were not over; a month later there is nothing.
    time = new Date(time.getTime() + 86_400_000);
    expect((await count())?.total).toBe(1);
    expect(statements).toBeLessThanOrEqual(2);
    time = new Date(time.getTime() + 31 * 86_400_000);
    await expect.poll(async () => (await counts.lastDays())?.size).toBe(0);
  });
});

describe('a user without write permission', () => {
  itOnSqlite('sees an application without buttons, and is rejected with its forms', async () => {
    const { applicationId } = await aClient(idp.services, { redirect_uris: ['https://a.example.com/cb'] });
    const at = `/admin/applications/${applicationId}`;
    const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
    const page = await auditor.get(at);
    expect(page.status).toBe(200);
    expect(page.forms).toEqual([]);
    expect(page.text).not.toMatch(/\/edit|\/disable|\/secret"|Test sign-in/);
    const form = await admin.get(`${at}/disable`);
    const token = form.forms[0]?.fields._csrf ?? '';
    for (const path of ['disable', 'delete', 'enable', 'secret'])
      expect([403, 401]).toContain((await auditor.post(`${at}/${path}`, { form: { _csrf: token } })).status);
    const support = await consoleOf(idp, await staff(idp, 'support'));
    expect((await support.get(at)).status).toBe(403);
    expect(await idp.services.applications.get(applicationId)).toMatchObject({ enabled: true });
  });
});
