// The tabs of an application: every key of the configuration file has a field on one of them, lists work without script, and the
// configuration file locks them.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { productPresets } from '../../../src/admin/applications/presets/products.ts';
import { oidcClient } from '../../../src/applications/fields/oidc-client.ts';
import { serviceProvider } from '../../../src/applications/fields/service-provider.ts';
import { addLanguage, readMessages } from '../../../src/base/texts/messages.ts';
import { aClient } from '../../support/factories.ts';
import type { HttpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { unbracketedWords } from '../../support/pages/pseudo-language.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
let oidc: string;
let saml: string;
const configFile = path.join(mkdtempSync(path.join(tmpdir(), 'gatehouse-tabs-')), 'gatehouse.yaml');

beforeAll(async () => {
  writeFileSync(
    configFile,
    'clients: [{ client_id: declared, redirect_uris: [https://declared.example.com/cb] }]\nresources: [{ identifier: https://api.example.com }]',
  );
  idp = await startIdp({ environment: { GATEHOUSE_CONFIG: configFile } });
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  const client = await aClient(idp.services, { client_name: 'Shop', redirect_uris: ['https://shop.example.com/cb'] });
  oidc = `/admin/applications/${client.applicationId}`;
  const fields = { name: 'Wiki', entity_id: 'https://wiki.example.com', acs_url: 'https://wiki.example.com/acs' };
  await admin.submit(await admin.get('/admin/applications/new/saml'), fields);
  saml = `/admin/applications/${(await idp.services.applications.find(fields.entity_id))?.id}`;
});
afterAll(() => idp?.stop());

const metadata = async (at: string) =>
  (await idp.services.applications.get(at.split('/').at(-1) ?? '')).metadata as unknown as Record<string, unknown>;

/** Keys without a field, and where they are instead. */
const EXCEPTIONS = {
  oidc: {
    client_id: 'never changes',
    client_secret: 'is created on the tab Credentials',
    response_types: 'follows from grant_types',
    provision: 'has fields of its own on the tab Provisioning',
    enabled: 'is a button of the danger zone, which asks first',
  },
  saml: {
    entity_id: 'never changes',
    provision: 'has fields of its own on the tab Provisioning',
    metadata_file: 'names a file of the server, so only the configuration file may set it',
    enabled: 'is a button of the danger zone, which asks first',
  },
};

describe('the tabs of an application', () => {
  it.each([
    ['clients', 'oidc', Object.keys(oidcClient.shape), ['settings', 'access', 'claims', 'credentials']],
    ['service_providers', 'saml', Object.keys(serviceProvider.shape), ['settings', 'access', 'claims']],
  ] as const)('have a field with label and hint for every key of %s', async (_, protocol, keys, tabs) => {
    const pages = await Promise.all(tabs.map((tab) => admin.get(`${protocol === 'oidc' ? oidc : saml}/${tab}`)));
    const html = pages.map(({ text }) => text).join('');
    const hasField = (key: string) =>
      new RegExp(`name="${key}(\\.[a-z]+)?"`).test(html) && html.includes(`id="hint-${key}"`);
    const exceptions = Object.keys(EXCEPTIONS[protocol]);
    expect(keys.filter((key) => !hasField(key) && !exceptions.includes(key))).toEqual([]);
    expect(exceptions.filter((key) => !keys.includes(key as never) || hasField(key))).toEqual([]);
  });

  it('are links to pages of their own, of which one is current', async () => {
    for (const [at, labels] of [
      [
        oidc,
        [
          'Overview',
          'Setup guide',
          'Settings',
          'Access',
          'People',
          'Claims',
          'Credentials',
          'Provisioning',
          'Activity',
        ],
      ],
      [saml, ['Overview', 'Setup guide', 'Settings', 'Access', 'People', 'Attributes', 'Provisioning', 'Activity']],
    ] as const) {
      const [nav = ''] = /<nav class="tabs"[\s\S]*?<\/nav>/.exec((await admin.get(at)).text) ?? [];
      const links = [...nav.matchAll(/<a href="([^"]+)"([^>]*)>([^<]+)</g)];
      expect(links.map(([, , , label]) => label)).toEqual(labels);
      for (const [, href = '', , label] of links) {
        const page = await admin.get(href);
        expect([page.status, page.text]).toEqual([
          200,
          expect.stringMatching(new RegExp(`aria-current="page">${label}<`)),
        ]);
      }
    }
    expect((await admin.get(`${saml}/credentials`)).location).toContain(`${saml}/settings`);
  });

  it('change nothing when they are saved as they are', async () => {
    for (const [at, tabs] of [
      [oidc, ['settings', 'access', 'claims', 'credentials']],
      [saml, ['settings', 'access', 'claims']],
    ] as const) {
      const before = await idp.services.applications.get(at.split('/').at(-1) ?? '');
      for (const tab of tabs) expect((await admin.submit(await admin.get(`${at}/${tab}`))).status, tab).toBe(303);
      const { updatedAt: _, ...after } = await idp.services.applications.get(at.split('/').at(-1) ?? '');
      expect(before).toMatchObject(after);
    }
  });

  it('save a list that gets a row and loses one, without script', async () => {
    const at = `${oidc}/settings`;
    const first = await admin.get(at);
    const added = await admin.submit(first, { rows: 'add redirect_uris' });
    expect(added.status).toBe(200);
    expect(added.text).toMatch(/name="redirect_uris" value="" [^>]*autofocus/);
    const uris = ['https://shop.example.com/cb', 'https://shop.example.com/cb2'];
    const removed = await admin.submit(added, { redirect_uris: uris, rows: 'remove redirect_uris 0' });
    expect(removed.forms[0]?.fields.redirect_uris).toBe(uris[1]);
    expect(await metadata(oidc)).toMatchObject({ redirect_uris: [uris[0]] });
    expect((await admin.submit(removed)).status).toBe(303);
    expect(await metadata(oidc)).toMatchObject({ redirect_uris: [uris[1]] });
  });

  it('save values of every kind, and clear them again', async () => {
    const typed = {
      client_uri: 'https://shop.example.com',
      default_max_age: '600',
      require_auth_time: 'on',
      grant_types: ['authorization_code', 'refresh_token'],
      id_token_signed_response_alg: 'ES256',
    };
    expect((await admin.submit(await admin.get(`${oidc}/settings`), typed)).status).toBe(303);
    const set = { ...typed, default_max_age: 600, require_auth_time: true };
    expect(await metadata(oidc)).toMatchObject(set);
    const claims = { 'roles_rename.role': ['editor', 'ops'], 'roles_rename.name': ['Editor', 'Admin'] };
    await admin.submit(await admin.get(`${oidc}/claims`), { ...claims, roles_filter: 'ops' });
    await admin.submit(await admin.get(`${oidc}/claims`), { 'roles_rename.role': 'ops', 'roles_rename.name': 'Root' });
    expect(await metadata(oidc)).toMatchObject({ roles_rename: { ops: 'Root' }, roles_filter: ['ops'] });
    await admin.submit(await admin.get(`${oidc}/access`), { connections: 'some', mfa: 'required' });
    expect(await metadata(oidc)).toMatchObject({ connections: [], mfa: 'required' });
    const many = Array.from({ length: 90 }, (_, at) => `claim${at}`);
    const long = { 'claims.name': many, 'claims.field': many.map(() => 'name'), 'claims.scope': many.map(() => '') };
    expect((await admin.submit(await admin.get(`${oidc}/claims`), long)).status).toBe(303);
    expect(Object.keys((await metadata(oidc)).claims ?? {})).toEqual(many);
    const cleared = { client_uri: '', default_max_age: '', grant_types: 'authorization_code' };
    await admin.submit(await admin.get(`${oidc}/settings`), cleared);
    const left = await metadata(oidc);
    for (const key of ['client_uri', 'default_max_age']) expect(left).not.toHaveProperty(key);
    const twice = { 'roles_rename.role': ['a', 'a'], 'roles_rename.name': ['b', 'c'] };
    const wrong = await admin.submit(await admin.get(`${oidc}/claims`), twice);
    expect([wrong.status, textOf(wrong.text)]).toEqual([400, expect.stringContaining('a twice')]);
  });

  it('display a new secret when the method needs one', async () => {
    const at = `${oidc}/credentials`;
    await admin.submit(await admin.get(at), { token_endpoint_auth_method: 'none' });
    expect((await admin.get(at)).text).not.toContain('/secret"');
    const sent = await admin.submit(await admin.get(at), { token_endpoint_auth_method: 'client_secret_post' });
    const page = await admin.follow(sent);
    expect([page.status, textOf(page.text)]).toEqual([200, expect.stringContaining('Copy the secret now')]);
    const secret = /<code data-value>([\w-]{43})<\/code>/.exec(page.text)?.[1] ?? '';
    const listed = async () => textOf((await admin.get(at)).text);
    expect(await listed()).toContain(`••••••••${secret.slice(-4)}`);
    expect(await listed()).toContain('Never Never');
    const { clientId } = await idp.services.applications.get(oidc.split('/').at(-1) ?? '');
    const form = { grant_type: 'authorization_code', code: 'x', client_id: clientId, client_secret: secret };
    await admin.post('/token', { form });
    await expect.poll(listed).not.toContain('Never Never');
  });

  it('register a service provider by hand, and with logout and certificates of two uses', async () => {
    const at = `${saml}/settings`;
    const typed = {
      'acs_url.url': ['https://wiki.example.com/acs', 'https://wiki.example.com/acs2'],
      'acs_url.index': ['3', ''],
      'acs_url.default': ['', 'yes'],
      'slo_url.url': 'https://wiki.example.com/slo',
      'slo_url.binding': 'post',
    };
    expect((await admin.submit(await admin.get(at), typed)).status).toBe(303);
    expect(await metadata(saml)).toMatchObject({
      acs: [
        { url: 'https://wiki.example.com/acs', index: 3, default: false },
        { url: 'https://wiki.example.com/acs2', index: 1, default: true },
      ],
      slo: [{ url: 'https://wiki.example.com/slo', binding: 'post' }],
    });
    const before = await metadata(saml);
    await admin.submit(await admin.get(at), { name: 'Wiki 2' });
    expect(await metadata(saml)).toEqual(before);
    const empty = await admin.submit(await admin.get(at), { metadata_source: 'paste' });
    expect([empty.status, textOf(empty.text)]).toEqual([400, expect.stringMatching(/Document/)]);
  });

  it('preview the claims of a chosen person, and suggest the own fields of this server', async () => {
    const ann = await staff(idp);
    const office = { type: 'string', title: 'Office' } as const;
    await idp.services.settings.set('user_attributes', { type: 'object', properties: { office } });
    const page = await admin.get(`${oidc}/claims?user=${ann.username}`);
    const suggested = [...page.text.matchAll(/<option value="(attributes\.\w+)">/g)].map(([, value]) => value);
    expect([...new Set(suggested)]).toEqual(['attributes.office']);
    await idp.services.settings.set('user_attributes', {});
    expect(textOf(page.text)).toContain(`"preferred_username": "${ann.username}"`);
    expect(textOf((await admin.get(`${oidc}/claims?user=no-such`)).text)).toContain('There is no user no-such.');
    expect(textOf((await admin.get(`${saml}/claims?user=${ann.username}`)).text)).toContain('<saml:NameID');
  });

  it('are read-only for an application of the configuration file, and for an administrator who may only read', async () => {
    const declared = await idp.services.applications.find('declared');
    const page = await admin.get(`/admin/applications/${declared?.id}/settings`);
    expect(textOf(page.text)).toContain(`is declared in ${configFile}.`);
    expect(page.text).not.toContain('Save changes');
    const forged = await admin.post(page.url, { form: { _csrf: admin.cookies.headerFor(new URL(page.url)) ?? '' } });
    expect([401, 403]).toContain(forged.status);
    const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
    for (const tab of ['', '/setup', '/settings', '/access', '/claims', '/credentials', '/activity']) {
      const read = await auditor.get(`${oidc}${tab}`);
      expect(read.status, tab).toBe(200);
      expect(read.text, tab).not.toContain('Save changes');
      expect(
        read.forms.filter(({ method }) => method === 'post'),
        tab,
      ).toEqual([]);
    }
  });
});

describe('the pages of an application in German', () => {
  const headers = { 'accept-language': 'de' };
  const parts = ['people', 'console'] as const;
  afterEach(() => {
    for (const part of parts) addLanguage('de', readMessages('de', part), part);
  });

  it('display only messages, names, and values of the protocols', async () => {
    for (const part of parts) {
      const bracketed = Object.entries(readMessages('en', part)).map(([key, message]) => [key, `⟦${message}⟧`]);
      addLanguage('de', Object.fromEntries(bracketed), part);
    }
    const values =
      'Ann Example person Deutsch English Shop Wiki OpenID Connect SAML PKCE NameID UserInfo POST SOAP https api example com email displayName roles admin public query fragment form post jwt RS PS ES EdDSA Ed HS';
    const data = new Set(
      `${values} ${productPresets()
        .map(({ title }) => String(title))
        .join(' ')}`.match(/\p{L}{2,}/gu),
    );
    const ofOidc = ['setup', 'settings', 'claims', 'credentials', 'secret', 'disable', 'delete'];
    for (const at of [
      ...ofOidc.map((tab) => `${oidc}/${tab}`),
      `${saml}/setup`,
      `${saml}/settings`,
      `${saml}/claims`,
    ]) {
      const page = await admin.get(at, { headers });
      expect(page.text, at).toContain('⟦');
      expect(
        unbracketedWords(page.text).filter((word) => !data.has(word)),
        at,
      ).toEqual(['AE']);
    }
  });

  it('display a new secret after a reload and a change of language, for an hour', async () => {
    const german = async (at = '') => admin.get(at, { headers });
    const sent = await admin.submit(await german(`${oidc}/secret`), {}, { headers });
    const page = await german(sent.location);
    expect(textOf(page.text)).toContain('Kopieren Sie das Secret jetzt.');
    const [secret = ''] = /[\w-]{43}/.exec(/<code data-value>([^<]+)/.exec(page.text)?.[1] ?? '') ?? [];
    expect(secret).toHaveLength(43);
    expect((await german(page.url)).text).toContain(secret);
    expect((await admin.get(page.url)).text).toContain(secret);
    await idp.services.db.storedForm.updateMany({ data: { expiresAt: new Date(0) } });
    expect((await admin.get(page.url)).status).toBe(404);
  });
});
