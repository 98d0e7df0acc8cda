// The brand, from the settings to the pages: by the API, the console and the configuration file, and on another instance.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFile } from '../../src/config-file/file.ts';
import { readValidFile } from '../../src/config-file/read-file.ts';
import { storeValue } from '../../src/core/settings/settings.ts';
import { confirmation, consoleOf, signedInLongAgo, signInAgain, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../admin/support.ts';
import { type Application, anApplication } from '../oidc/support.ts';
import { testFolder } from '../support/database/database.ts';
import { httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { textOf, unescapeHtml } from '../support/pages/html.ts';
import { aPng, aSvg, dataUrl } from './pictures.ts';

const anyVersion = { 'if-match': '*' };
const ALL = {
  brand_name: 'Example & Söhne',
  brand_color: '#FFE000',
  brand_logo: dataUrl(aPng()),
  brand_logo_dark: dataUrl(aSvg()),
  brand_icon: dataUrl(aSvg()),
  brand_background: dataUrl(aPng({ width: 9 })),
  brand_help_url: 'https://example.com/help?a=1&b=2',
  brand_privacy_url: 'https://example.com/privacy',
  brand_terms_url: 'https://example.com/terms',
};
const NONE = Object.fromEntries([...Object.keys(ALL), 'brand_applications'].map((name) => [name, null]));

let idp: TestIdp;
let api: ApiCaller;
let mail: Mailbox;

beforeAll(async () => {
  mail = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: mail.url } });
  api = await aPerson(idp, ['admin']);
});
afterAll(async () => {
  await idp?.stop();
  await mail?.close();
});

async function set(values: object): Promise<Page> {
  const page = await api.send('PATCH', '/settings', values, anyVersion);
  await idp.services.settings.reload();
  return page;
}

/** The first page of a sign-in. */
async function signInPage(server: TestIdp = idp, application?: Application): Promise<Page> {
  const { rp } = application ?? (await anApplication(server, { scope: 'openid' }));
  const client = httpClient(server.issuer);
  return client.follow(await client.get((await rp.start({ scope: 'openid' })).url));
}

/** What the page loads from /assets/brand…. */
const loadedBy = ({ text }: Page) =>
  [...text.matchAll(/(?:src|srcset|href)="(\/assets\/brand[^"]+)"/g)].map(([, url = '']) => url);

describe('the brand', () => {
  it('is that of Gatehouse until one is set', async () => {
    const { text } = await signInPage();
    expect(text).toContain('<title>Sign in · Gatehouse</title>');
    expect(text).not.toMatch(/assets\/brand|brand-links|backdrop|data-theme/);
  });

  it.each([
    ['brand_name', { brand_name: '   ' }],
    ['brand_applications.web.name', { brand_applications: { web: { name: ' ' } } }],
  ])('has a name that is not blank: %s', async (field, values) => {
    const page = await set(values);
    const { status } = page;
    expect([status, page.text]).toEqual([400, expect.stringMatching(`${field}.*must not be empty`)]);
    expect(parseFile(JSON.stringify({ settings: values })).faults).toMatchObject([{ code: 'empty' }]);
  });

  it.each([
    ['texts.de.__proto__', '{"texts":{"de":{"__proto__":"x"}}}'],
    ['texts.__proto__', '{"texts":{"__proto__":{"sign-in.title":"x"}}}'],
    ['brand_applications.__proto__', '{"brand_applications":{"__proto__":{"name":"x"}}}'],
  ])('and texts have no unknown key: %s', async (field, values) => {
    const page = await set(JSON.parse(values));
    expect([page.status, page.text]).toEqual([400, expect.stringMatching(`${field}.*unknown-key`)]);
    const { faults } = parseFile(`{"settings":${values}}`);
    expect(faults).toMatchObject([{ path: ['settings', ...field.split('.')], code: 'unknown-key' }]);
  });

  it('is on the pages of people, and not in the console', async () => {
    expect((await set(ALL)).status).toBe(200);
    const page = await signInPage();
    expect(page.text).toContain('<title>Sign in · Example &amp; Söhne</title>');
    expect(page.text).toContain('alt="Example &amp; Söhne"');
    const browser = httpClient(idp.issuer);
    const { text } = await browser.follow(await browser.get('/account'));
    expect(text).toContain('to continue to <strong>Example &amp; Söhne</strong>');
    for (const link of ['help?a=1&amp;b=2', 'privacy', 'terms'])
      expect(page.text).toContain(`"https://example.com/${link}"`);
    expect(loadedBy(page).map((url) => url.replace(/[0-9a-f]{10,}/, '…'))).toEqual([
      '/assets/brand-….svg',
      '/assets/brand.….css',
      '/assets/brand-….svg',
      '/assets/brand-….png',
      '/assets/brand-….png',
    ]);
    const error = await httpClient(idp.issuer).get('/no-such-page');
    expect(error.status).toBe(404);
    expect(error.text).toContain('Example &amp; Söhne</title>');
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    expect((await admin.get('/account')).text).toContain('Example &amp; Söhne</title>');
    const console = (await admin.get('/admin')).text;
    expect(console).toContain('· Gatehouse</title>');
    expect(console).not.toContain('/assets/brand');
  });

  it('has files that browsers cache forever, and pictures that can run and load nothing', async () => {
    await set(ALL);
    const client = httpClient(idp.issuer);
    const urls = loadedBy(await signInPage());
    for (const url of urls) {
      const { status, headers } = await client.get(url);
      expect([status, headers['cache-control'], headers['x-content-type-options']]).toEqual([
        200,
        'public, max-age=31536000, immutable',
        'nosniff',
      ]);
      expect((await client.get(url, { headers: { 'if-none-match': String(headers.etag) } })).status).toBe(304);
      if (!url.endsWith('.css'))
        expect(headers['content-security-policy']).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox");
    }
    const sheet = String(urls.find((url) => url.endsWith('.css')));
    expect((await client.get(sheet)).text).toContain('--brand:');
    const ofAnotherVersion = await client.get(sheet.replace(/.{10}\.css$/, '0000000000.css'));
    expect([ofAnotherVersion.status, ofAnotherVersion.headers['cache-control']]).toEqual([200, 'no-store']);
    for (const url of [
      `/assets/brand-${'0'.repeat(32)}.png`,
      '/assets/brand-x',
      '/assets/brand',
      '/assets/brand.zz.css',
    ])
      expect((await client.get(url)).status, url).toBe(404);
  });

  it('is the same on another instance', async () => {
    await set({ ...ALL, brand_name: 'Elsewhere' });
    const other = await startIdp({ environment: { DATABASE_URL: String(idp.environment.DATABASE_URL) } });
    try {
      const page = await signInPage(other);
      expect(page.text).toContain('· Elsewhere</title>');
      const client = httpClient(other.issuer);
      for (const url of loadedBy(page)) expect((await client.get(url)).status, url).toBe(200);
    } finally {
      await other.stop();
    }
  });

  it('is that of mails, with the logo as a part of the mail', async () => {
    await set({ ...ALL, brand_color: '#2563eb' });
    const { outbox } = idp.services;
    await outbox.send({ kind: 'test', to: { email: 'logo@example.com' }, at: new Date() });
    const { html, text, source } = await mail.waitForMail('logo@example.com');
    expect(html).toContain('<img class="logo" src="cid:logo" alt="Example &amp; Söhne"');
    expect(html).toContain('#2563eb');
    expect(text).toContain('-- \nExample & Söhne\nlocalhost');
    expect(source).toMatch(/Content-Disposition: inline; filename=logo\.png[\s\S]*iVBORw0KGgo/);
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    expect((await admin.get('/admin/mail/templates/test/html')).text).toMatch(
      /src="\/assets\/brand-[0-9a-f]{32}\.png"/,
    );
    // Mail programs do not display an SVG.
    await set({ brand_logo: dataUrl(aSvg()) });
    await outbox.send({ kind: 'test', to: { email: 'name@example.com' }, at: new Date() });
    const named = await mail.waitForMail('name@example.com');
    expect(named.html).toMatch(/<p class="mark"[^>]*><bdi>Example &amp; Söhne<\/bdi><\/p>/);
    expect(named.source).not.toContain('filename');
  });

  it('has no picture that another program wrote', async () => {
    await set({ brand_background: dataUrl(aPng({ width: 11 })) });
    const { db, settings } = idp.services;
    const name = String(await settings.get('brand_background'));
    const key = `brand-image:${name}`;
    const data = { value: JSON.stringify(aSvg().toString('base64')) };
    await db.setting.update({ where: { key }, data });
    expect((await httpClient(idp.issuer).get(`/assets/brand-${name}`)).status).toBe(404);
    await db.setting.delete({ where: { key } });
  });
});

describe('the API', () => {
  it.each([
    ['brand_name', 'x'.repeat(10_000), '60'],
    ['brand_name', 'Example\u202egro.elpmaxe', 'invisible'],
    ['brand_color', 'red;background:url(https://evil.example)', '#1f6650'],
    ['brand_color', '#12345', '#1f6650'],
    ['brand_help_url', 'javascript:alert(1)', 'address'],
    ['brand_terms_url', 'https://user@evil.example', 'address'],
    ['brand_logo', 'https://evil.example/logo.png', 'data URL'],
    ['brand_logo', '../../etc/logo.png', 'path'],
    ['brand_logo', `${'0'.repeat(32)}.png`, 'stored'],
    ['brand_logo', dataUrl(Buffer.from('<html>')), 'PNG, JPEG or SVG'],
    ['brand_icon', dataUrl(aPng({ width: 5000, lines: Buffer.alloc(1) })), '5000 × 4 pixels'],
    ['brand_background', dataUrl(Buffer.alloc(250_001, 1)), '251 KB'],
  ])('rejects a wrong %s with the reason (%#)', async (field, value, reason) => {
    const page = await set({ [field]: value });
    expect(page.status).toBe(400);
    expect(page.json().errors).toMatchObject([{ path: field, message: expect.stringContaining(reason) }]);
  });

  it('escapes markup in a name, and sets everything back', async () => {
    await set({ brand_name: '<img src=x onerror=alert(1)>' });
    expect((await signInPage()).text).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect((await set(NONE)).status).toBe(200);
    expect((await signInPage()).text).toContain('· Gatehouse</title>');
    const { brandImages, db } = idp.services;
    const count = () => db.setting.count({ where: { key: { startsWith: 'brand-image:' } } });
    await brandImages.removeOthers(new Set(), new Date(0));
    expect(await count()).toBeGreaterThan(0);
    await brandImages.removeOthers(new Set(), new Date(Date.now() + 60_000));
    expect(await count()).toBe(0);
  });

  it('has a picture again that is set by its name after it was not used for days', async () => {
    await set({ brand_logo: dataUrl(aPng()) });
    const { brandImages, db, settings } = idp.services;
    const name = String((await settings.reload()).brand_logo);
    await set({ brand_logo: null });
    const key = `brand-image:${name}`;
    const { value } = await db.setting.findUniqueOrThrow({ where: { key } });
    const at = new Date(Date.now() - 172_800_000);
    await storeValue(db, key, JSON.parse(value), { source: 'brand', at, isProtected: true });
    await set({ brand_logo: name });
    // What the removal does that read the settings before.
    await brandImages.removeOthers(new Set(), new Date(Date.now() - 86_400_000));
    expect(await db.setting.count({ where: { key } })).toBe(1);
    await set(NONE);
  });
});

describe('the console', () => {
  it('takes pictures, shows them in a preview of the real pages, and removes them', async () => {
    await set(NONE);
    const user = await staff(idp, 'admin');
    const admin = await consoleOf(idp, user);
    const page = await admin.get('/admin/branding');
    const { fields = {} } = page.forms.find((form) => 'brand_name' in form.fields) ?? {};
    const upload = async (files: Record<string, Buffer>, typed: Record<string, string>) => {
      const form = new FormData();
      for (const [name, value] of Object.entries({ ...fields, ...typed })) form.append(name, value);
      for (const [name, content] of Object.entries(files)) {
        form.delete(name);
        form.append(name, new File([new Uint8Array(content)], `${name}.png`, { type: 'image/png' }));
      }
      const request = new Request(idp.issuer, { method: 'POST', body: form });
      const headers = { 'content-type': request.headers.get('content-type') ?? '', origin: idp.issuer };
      return admin.post('/admin/branding', { body: new Uint8Array(await request.arrayBuffer()), headers });
    };
    const wrong = await upload({ brand_logo: Buffer.from('%PDF-1.7') }, { brand_name: 'Acme' });
    expect([wrong.status, textOf(wrong.text)]).toEqual([400, expect.stringContaining('must be a PNG')]);
    expect(wrong.text).toContain('value="Acme"');

    // The picture waits with the form while its owner proves who they are.
    await signedInLongAgo(idp, user);
    const sent = await upload({ brand_logo: aPng() }, { brand_name: 'Acme', brand_color: '#2563eb' });
    const form = await signInAgain(admin, await confirmation(admin, sent), user);
    expect(await idp.services.settings.get('brand_name')).toBeUndefined();
    const after = await admin.follow(await admin.submit(form, {}, { form: '/admin/branding' }));
    expect(textOf(after.text)).toContain('Saved.');
    expect(await idp.services.settings.get('brand_logo')).toMatch(/\.png$/);
    const event = (await idp.services.audit.list({ types: ['setting.changed'] })).find(
      ({ data }) => data.setting === 'brand_logo',
    );
    expect(event?.data.after).toBe(await idp.services.settings.get('brand_logo'));

    const address = unescapeHtml(/<iframe[^>]* src="([^"]+)"/.exec(after.text)?.[1] ?? '');
    for (const name of ['sign-in', 'two-step', 'consent', 'apps', 'error'])
      for (const mode of ['light', 'dark']) {
        const preview = await admin.get(
          `${address.replace('page=sign-in', `page=${name}`).replace('mode=light', `mode=${mode}`)}`,
        );
        const shown = `${name} in ${mode}`;
        expect(preview.status, shown).toBe(200);
        expect(preview.text, shown).toContain(`data-theme="${mode}"`);
        expect(preview.text, shown).toContain('Acme</title>');
        expect(preview.text, shown).not.toMatch(/<script|autofocus/);
        expect(preview.headers['content-security-policy']).toContain("frame-ancestors 'self'");
        expect(preview.headers['content-security-policy']).toContain("script-src 'none'");
      }
    const typed = await admin.get(`${address.replace('Acme', encodeURIComponent('<b>New'))}`);
    expect(typed.text).toContain('&lt;b&gt;New</title>');
    expect((await httpClient(idp.issuer).get(address)).status).toBe(303);
    const person = await consoleOf(idp, await staff(idp));
    expect((await person.get(address)).status).toBe(403);

    const removed = await admin.submit(after, { 'brand_logo.remove': 'on' });
    expect(removed.status).toBe(303);
    expect(await idp.services.settings.get('brand_logo')).toBeUndefined();
    await set(NONE);
  });
});

describe('an application', () => {
  it('has a brand of its own on its sign-in pages, and the rest of the brand of all pages', async () => {
    await set({ ...ALL, brand_name: 'Everyone' });
    const app = await anApplication(idp, { scope: 'openid' });
    const id = app.clientId;
    const own = { name: 'Shop', color: '#aa0000', logo: dataUrl(aPng({ width: 13 })) };
    expect((await set({ brand_applications: { [id]: own } })).status).toBe(200);
    const { text } = await signInPage(idp, app);
    expect(text).toContain('· Shop</title>');
    expect(text).toMatch(/<picture><img class="brand-logo" src="\/assets\/brand-[0-9a-f]{32}\.png" alt="Shop">/);
    expect(text).toContain('/assets/brand.aa0000');
    expect(text).toContain('https://example.com/privacy');
    expect((await signInPage()).text).toContain('· Everyone</title>');

    const wrong = await set({ brand_applications: { [id]: { logo: dataUrl(Buffer.from('GIF89a')) } } });
    expect(wrong.json().errors).toMatchObject([
      { path: `brand_applications.${id}.logo`, message: expect.stringContaining('must be a PNG') },
    ]);
    expect((await api.get('/configuration')).text).toMatch(/logo: data:image\/png;base64,/);

    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const page = await admin.get(`/admin/branding?application=${encodeURIComponent(id)}&mode=dark`);
    expect(textOf(page.text)).toContain('Branding of Test application');
    const saved = await admin.submit(page, { brand_name: '', brand_color: '#00aa00', 'brand_logo.remove': 'on' });
    expect([saved.status, saved.location]).toEqual([303, expect.stringContaining('/admin/branding?application=')]);
    expect(await idp.services.settings.get('brand_applications')).toEqual({ [id]: { color: '#00aa00' } });
    const after = (await signInPage(idp, app)).text;
    expect(after).toContain('/assets/brand.00aa00');
    expect(after).toContain('· Everyone</title>');
    await admin.submit(await admin.get(String(saved.location)), { brand_color: '' });
    expect(await idp.services.settings.get('brand_applications')).toEqual({});
  });
});

describe('the configuration file', () => {
  it('names pictures by their path, and is exported with their content', async () => {
    await set(NONE);
    const folder = testFolder();
    writeFileSync(path.join(folder, 'logo.svg'), aSvg());
    const file = path.join(folder, 'brand.yaml');
    writeFileSync(file, 'settings:\n  brand_name: From a file\n  brand_logo: logo.svg\n');
    const { configFile } = idp.services;
    const apply = async () => configFile.apply(await readValidFile(file));
    expect(await apply()).toMatchObject({
      ok: true,
      plan: { steps: [{ name: 'brand_name' }, { name: 'brand_logo' }] },
    });
    expect(await apply()).toMatchObject({ ok: true, plan: { steps: [], unchanged: 2 } });
    expect((await set({ brand_logo: null })).json().code).toBe('owned_by_file');
    expect((await signInPage()).text).toMatch(
      /<img class="brand-logo" src="\/assets\/brand-[0-9a-f]{32}\.svg" alt="From a file">/,
    );
    const exported = (await api.get('/configuration')).text;
    expect(exported).toContain('brand_logo: data:image/svg+xml;base64,');
    writeFileSync(file, exported);
    expect(await configFile.plan(await readValidFile(file))).toMatchObject({ ok: true });

    writeFileSync(file, 'settings:\n  brand_logo: missing.png\n');
    expect(await apply()).toMatchObject({
      ok: false,
      faults: [{ path: ['settings', 'brand_logo'], position: { line: 2 }, code: 'unreadable-file' }],
    });
    const planned = await api.send('POST', '/configuration/plan', 'settings:\n  brand_logo: logo.svg\n', {
      'content-type': 'application/yaml',
    });
    expect([planned.status, planned.text]).toEqual([400, expect.stringContaining('can’t be a path here')]);
  });
});
