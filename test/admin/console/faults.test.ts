// What the console says about a form with bad values: sentences with the label of the field, at the field and in a summary that leads to it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { productPresets } from '../../../src/admin/applications/presets/products.ts';
import { SECURITY, SETTINGS } from '../../../src/admin/settings/setting-tabs.ts';
import { aClient, aUser } from '../../support/factories.ts';
import type { HttpClient, Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { isLongRun, some } from '../../support/long-run.ts';
import { textOf, unescapeHtml } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
let german: HttpClient;
let oidc: string;
let saml: string;

beforeAll(async () => {
  idp = await startIdp();
  const user = await staff(idp, 'admin');
  [admin, german] = [await consoleOf(idp, user), await consoleOf(idp, user)];
  await german.get('/language/de?next=/admin');
  const { applicationId } = await aClient(idp.services, { redirect_uris: ['https://shop.example.com/cb'] });
  oidc = `/admin/applications/${applicationId}`;
  const fields = { name: 'Wiki', entity_id: 'https://wiki.example.com', acs_url: 'https://wiki.example.com/acs' };
  await admin.submit(await admin.get('/admin/applications/new/saml'), fields);
  saml = `/admin/applications/${(await idp.services.applications.find(fields.entity_id))?.id}`;
});
afterAll(() => idp?.stop());

const BAD = ['no such <value>', '-1', '{"keys":[{}]}', 'x'.repeat(5000)];

/** What validators, the engine and the schemas say among programmers. */
const RAW =
  /Invalid (input|key|string|option)|expected (string|number|array|object)|received (undefined|string)|invalid_(client_metadata|type|input)|unrecognized|too[_ ](small|big)|ZodError|\[object|undefined|\bNaN\b|, not (text|a list|a group)|\{ ?(roles|field)/i;

const ANY = /<(?:input|select|textarea)\b[^>]*? name="([^"]+)"/g;
const TYPED = /<(?:input class="input[^"]*"|textarea)\b[^>]*? name="([^"]+)"/g;

/** The forms that were opened and not saved since. */
const opened = new Map<string, Map<HttpClient, Page>>();

/** Sends the form with this value in every field; with `TYPED` in those that are typed into. */
async function sendBad(at: string, value: string, fields: RegExp = ANY, client = admin): Promise<Page> {
  const pages = opened.get(at) ?? new Map<HttpClient, Page>();
  const page = pages.get(client) ?? (await client.get(at));
  opened.set(at, pages.set(client, page));
  const form = page.text.slice(page.text.indexOf('<form method="post"'));
  const names = [...form.matchAll(fields)].map(([, name = '']) => unescapeHtml(name));
  const typed = names.filter((name) => !['_csrf', 'version', 'metadata_source'].includes(name));
  const given = Object.fromEntries([...new Set(typed)].map((name) => [name, value]));
  // On the page of a user, the first one is a button.
  const sent = await client.submit(page, given, at.includes('/change/') ? { form: at } : {});
  if (sent.status === 303) opened.delete(at);
  return sent;
}

/** The entries of the summary. */
function summaryOf(page: Page): { href: string; text: string }[] {
  const [box = ''] = /<div class="note bad" role="alert"[\s\S]*?<\/div>/.exec(page.text) ?? [];
  return [...box.matchAll(/<li[^>]*>(?:<a href="([^"]*)">)?([\s\S]*?)<\/li>/g)].map(([, href = '', text = '']) => ({
    href: unescapeHtml(href),
    text: textOf(text),
  }));
}

/** The names of the inputs that are marked as wrong. */
const marked = (page: Page) =>
  [...page.text.matchAll(/<(?:input|textarea|select)\b[^>]* name="([^"]+)"[^>]* aria-invalid="true"/g)].map(
    ([, name]) => name,
  );

/** Throws unless each fault is a sentence that leads to its field, which has it too. */
function expectSentences(page: Page, at: string): void {
  expect(page.status, at).toBe(400);
  expect(page.text).toContain('<title>Error: ');
  expect(textOf(page.text), at).not.toMatch(RAW);
  for (const { href, text } of summaryOf(page)) {
    expect(text, at).toMatch(/^[A-Z“].*\.$/s);
    if (!href.startsWith('#')) continue;
    const id = href.slice(1);
    expect(page.text, `${at} ${text}`).toContain(` id="${id}"`);
    const [said = ''] = page.text.split(`id="${id}-error">`).slice(1);
    expect(textOf(said.slice(0, said.indexOf('</p>'))), `${at} ${id}`).toContain(text);
    expect(page.text).toMatch(new RegExp(`aria-describedby="${id.replaceAll('.', '\\.')}-error`));
  }
}

/** German is read for every other value, by turns: forms have the same kinds of fields. */
const isGerman = (turn: number) => turn % 2 === 0;

/** Throws unless the form has as many faults in German, and each is in German. */
async function expectGerman(page: Page, at: string, value: string, fields: RegExp = ANY): Promise<void> {
  const translated = await sendBad(at, value, fields, german);
  expect(translated.status, at).toBe(page.status);
  expect(translated.text).toContain('<html lang="de"');
  const [box = ''] = /<div class="note bad" role="alert"[\s\S]*?<\/div>/.exec(translated.text) ?? [];
  const inEnglish = [...box.matchAll(/<li lang="en">(.*?)<\/li>/g)].map(([, text = '']) => `${at}: ${textOf(text)}`);
  expect(inEnglish).toEqual([]);
  expect(summaryOf(translated).map(({ href }) => href)).toEqual(summaryOf(page).map(({ href }) => href));
}

describe('bad values in every field', () => {
  it('are explained in sentences at the fields of the tabs of an application', async () => {
    const paths = [
      ...['settings', 'access', 'claims', 'credentials'].map((tab) => `${oidc}/${tab}`),
      ...['settings', 'access', 'claims'].map((tab) => `${saml}/${tab}`),
    ];
    for (const [index, at] of paths.entries()) {
      for (const [turn, value] of BAD.entries()) {
        if (!isLongRun && turn > 0 && (index + turn) % 2 === 0) continue;
        const page = await sendBad(at, value);
        // Some of the values are right for some of the forms.
        if (page.status === 303) continue;
        expectSentences(page, `${at} ${value.slice(0, 20)}`);
        if (isGerman(index + turn)) await expectGerman(page, at, value);
      }
      expect(summaryOf(await sendBad(at, BAD[0] ?? '')).length, at).toBeGreaterThan(0);
    }
  });

  it('are explained in sentences at the fields of a new application', async () => {
    const kinds = ['web', 'spa', 'native', 'service', 'saml', 'fapi2', ...productPresets().map(({ id }) => id)];
    for (const kind of some(8, kinds)) {
      const page = await sendBad(`/admin/applications/new/${kind}`, 'no <address>');
      // A product without a field of its own to fill in is registered.
      if (page.status === 303) continue;
      expectSentences(page, kind);
      await expectGerman(page, `/admin/applications/new/${kind}`, 'no <address>');
    }
  });

  it('are explained at the address that a new application asks for, without names of keys', async () => {
    const address = 'http://192.168.1.10:3000';
    for (const { id, fields } of some(6, productPresets())) {
      const asked = fields.filter(({ name }) => ['url', 'entity_id', 'acs_url', 'domain'].includes(name));
      if (asked.length === 0) continue;
      const at = `/admin/applications/new/${id}`;
      for (const client of [admin, german]) {
        const page = await client.submit(
          await client.get(at),
          Object.fromEntries(asked.map(({ name }) => [name, address])),
        );
        const faults = summaryOf(page);
        expect(faults, id).toHaveLength(1);
        expect(faults[0]?.text, id).not.toMatch(/_|lient.uri/);
        expect(faults[0]?.href, id).toBe(`#f-${asked[0]?.name}`);
        expect(marked(page), id).toEqual([asked[0]?.name]);
        if (client === admin) expectSentences(page, id);
      }
    }
    const page = await admin.submit(await admin.get('/admin/applications/new/grafana'), { url: address });
    expect(summaryOf(page).map(({ text }) => text)).toEqual([
      'Address of your Grafana must be https (http only for localhost or a loopback address).',
    ]);
  });

  it('are explained in sentences in the forms of users, roles, APIs, connections and settings', async () => {
    const { account } = await aUser(idp.services, { attributes: { level: 3, tags: ['a'], desk: 'B7' } });
    const role = await idp.services.roles.create({ name: 'faulty' });
    await admin.submit(await admin.get('/admin/apis/new'), { identifier: 'https://faults.example', scopes: 'read' });
    const upstream = { id: 'kc', name: 'Keycloak', issuer: 'https://up.example.com', client_id: 'x' };
    await admin.submit(await admin.get('/admin/connections/new/oidc/generic'), { ...upstream, client_secret: 'x' });
    expect(await idp.services.connections.find('kc')).toBeDefined();
    const paths = [
      '/admin/connections/kc/edit',
      '/admin/connections/kc/secret',
      '/admin/users/new',
      ...['username', 'email', 'name', 'language', 'more', 'attributes'].map(
        (part) => `/admin/users/${account.id}/change/${part}`,
      ),
      '/admin/roles/new',
      `/admin/roles/${role.id}`,
      '/admin/apis/new',
      `/admin/apis/${encodeURIComponent('https://faults.example')}`,
      '/admin/settings/edit',
      ...[SECURITY, SETTINGS].flatMap(({ tabs }) =>
        tabs.flatMap(({ href, boxes }) => (boxes.length > 0 ? [href] : [])),
      ),
      ...['oidc', 'saml', 'ldap', 'oauth2'].map((kind) => `/admin/connections/new/${kind}/generic`),
    ];
    for (const [index, at] of paths.entries()) {
      for (const [turn, value] of BAD.entries()) {
        if (!isLongRun && turn > 0 && (index + turn) % 2 === 0) continue;
        const page = await sendBad(at, value, TYPED);
        expect([303, 400], at).toContain(page.status);
        expect(textOf(page.text), at).not.toMatch(RAW);
        if (page.status !== 400) continue;
        expectSentences(page, at);
        if (isGerman(index + turn)) await expectGerman(page, at, value, TYPED);
      }
    }
  });

  it('are explained where an application has no name, or one of spaces', async () => {
    for (const [at, field] of [
      [oidc, 'client_name'],
      [saml, 'name'],
    ]) {
      const page = await admin.submit(await admin.get(`${at}/settings`), { [field ?? '']: ' ' });
      expect(summaryOf(page)).toEqual([{ href: `#f-${field}`, text: 'Enter a name.' }]);
    }
    for (const kind of ['web', 'spa', 'native', 'service', 'saml', 'fapi2']) {
      const sent = { name: ' ', redirect_uris: 'https://shop.example.com/cb' };
      const page = await admin.submit(await admin.get(`/admin/applications/new/${kind}`), sent);
      expect(summaryOf(page), kind).toContainEqual({ href: '#f-name', text: 'Enter a name.' });
      expect(marked(page), kind).toContain('name');
    }
  });

  it('name the line of a scope or a permission of an API', async () => {
    const sent = async (client: HttpClient, scopes: string) => {
      const page = await client.submit(await client.get('/admin/apis/new'), {
        identifier: 'https://l.example',
        scopes,
      });
      expect(marked(page)).toEqual(['scopes']);
      return summaryOf(page).map(({ text }) => text);
    };
    expect(await sent(admin, 'read\n\na b = c\nopenid\nw = gatehouse.users:read')).toEqual([
      'Scopes, line 3: “a b = c” can have only visible ASCII characters, without spaces, " and \\.',
      'Scopes, line 4: “openid” must not be a scope of OpenID Connect.',
      'Scopes, line 3: “a b = c” must be resource:action, such as articles:read.',
      'Scopes, line 5: “w = gatehouse.users:read” must not be a permission of Gatehouse itself.',
    ]);
    expect(await sent(german, 'a b = c\nopenid')).toEqual([
      'Scopes, Zeile 1 („a b = c“): Ein Scope besteht aus sichtbaren ASCII-Zeichen ohne Leerzeichen, " und \\.',
      'Scopes, Zeile 2 („openid“): Das ist ein Scope von OpenID Connect.',
      'Scopes, Zeile 1 („a b = c“): Erforderlich ist resource:action, z. B. articles:read.',
    ]);
  });

  it('name the line of a redirect URI, and quote it', async () => {
    const sent = { name: 'Lines', redirect_uris: 'https://a.example/cb\n\nhttp://b.example/<cb>\nhttps://c.example/*' };
    const page = await admin.submit(await admin.get('/admin/applications/new/web'), sent);
    expectSentences(page, 'redirect URIs');
    expect(summaryOf(page).map(({ text }) => text)).toEqual([
      'Redirect URIs, line 3: “http://b.example/<cb>” must be https (http only for localhost or a loopback address).',
      'Redirect URIs, line 4: “https://c.example/*” must not have a wildcard: redirect URIs must match exactly.',
    ]);
    expect(marked(page)).toEqual(['redirect_uris']);
    const translated = await german.submit(await german.get('/admin/applications/new/web'), sent);
    expect(summaryOf(translated)[0]?.text).toBe(
      'Redirect-URIs, Zeile 3 („http://b.example/<cb>“): Nur https ist erlaubt (http nur für localhost oder eine Loopback-Adresse).',
    );
  });

  it('name the row of a list, and lead to the tab that has the missing key', async () => {
    const uris = ['https://shop.example.com/cb', '', 'http://shop.example.com/cb'];
    const page = await admin.submit(await admin.get(`${oidc}/settings`), { redirect_uris: uris });
    expect(summaryOf(page)).toEqual([
      {
        href: '#f-redirect_uris',
        text: 'Redirect URI 3 must be https (http only for localhost or a loopback address).',
      },
    ]);
    expect(page.text).toMatch(/value="http:\/\/shop\.example\.com\/cb" [^>]*aria-invalid="true"/);
    const claims = { 'claims.name': 'dept', 'claims.field': 'department', 'claims.scope': '' };
    const wrong = await admin.submit(await admin.get(`${oidc}/claims`), claims);
    expect(summaryOf(wrong)[0]?.text).toBe('Value 1 must be a field of the user.');
    expect(marked(wrong)).toEqual(['claims.field']);
    const jar = await admin.submit(await admin.get(`${oidc}/settings`), { request_object_signing_alg: 'ES256' });
    expect(summaryOf(jar)).toMatchObject([{ href: `${oidc}/credentials#f-jwks` }]);
  });

  it('are said once, in one sentence, and only the wrong input of a row is marked', async () => {
    const sent = async (at: string, fields: Record<string, string>) => {
      const page = await admin.submit(await admin.get(at), fields);
      return [summaryOf(page).map(({ text }) => text), marked(page)];
    };
    const row = { metadata_source: 'hand', 'acs_url.url': 'https://wiki.example.com/acs', 'acs_url.default': '' };
    for (const index of ['-1', 'x', '70000'])
      expect(await sent(`${saml}/settings`, { ...row, 'acs_url.index': index })).toEqual([
        ['Index 1 must be a whole number from 0 to 65,535.'],
        ['acs_url.index'],
      ]);
    const slo = { 'slo_url.url': 'https://wiki.example.com/slo', 'slo_url.response_url': 'nope' };
    expect(await sent(`${saml}/settings`, { metadata_source: 'hand', ...slo })).toEqual([
      ['URL for responses 1 must be an https URL (https://…).'],
      ['slo_url.response_url'],
    ]);
    const sentence = async (at: string, fields: Record<string, string>) => (await sent(at, fields))[0];
    expect(await sentence(`${oidc}/settings`, { initiate_login_uri: 'ftp://x' })).toEqual([
      'Initiate login URI must be an https URL (https://…).',
    ]);
    expect(await sentence(`${oidc}/claims`, { sector_identifier_uri: 'http://foo' })).toEqual([
      expect.stringMatching(/^Sector identifier URI must be an https URL/),
    ]);
    for (const age of ['99999999999999999999', '-1', '1.5', 'an hour'])
      expect(await sentence(`${oidc}/settings`, { default_max_age: age })).toEqual([
        'Maximum age of the sign-in must be a whole number of seconds, 0 or more.',
      ]);
    for (const hours of ['0', '100000', '1.5', 'x'])
      expect(await sentence('/admin/settings', { session_hours: hours }), hours).toEqual([
        expect.stringMatching(/^Session length must be a whole number of hours between 1 and [\d,]+\.$/),
      ]);
    expect(await sentence(`${oidc}/settings`, { scope: 'öpenid ;;' })).toEqual([
      'Scopes: separate scopes by one space, and use ASCII characters.',
    ]);
    const metadata = { metadata_source: 'url', metadata_url: 'http://127.0.0.1:1/metadata' };
    expect(await sentence(`${saml}/settings`, metadata)).toEqual(['The server 127.0.0.1:1 refused the connection.']);
    expect(await sentence(`${saml}/settings`, { metadata_source: 'paste', metadata: '<xml' })).toEqual([
      'This document isn’t well-formed XML.',
    ]);
    expect(await sentence(`${saml}/settings`, { metadata_source: 'url' })).toEqual(['URL must be filled in.']);
    expect(await sentence(`${oidc}/claims`, { roles_filter: '***' })).toEqual(['Role 1 can have only one *.']);
    expect(await sentence(`${oidc}/claims`, { permissions_filter: 'foo' })).toEqual([
      'Permission 1 must be resource:action, such as articles:read.',
    ]);
  });
});
