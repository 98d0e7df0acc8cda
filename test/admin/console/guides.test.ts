// The setup guides of products: the name that users know this server by, and the language of the administrator.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expanded } from '../../../src/admin/applications/presets/products.ts';
import { concatenated, inLanguage } from '../../../src/base/texts/text.ts';
import type { HttpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(() => idp?.stop());

const german = { headers: { 'accept-language': 'de' } };
const url = 'https://app.example.com';

/** Adds an application for this product and returns the path of its pages. */
async function add(preset: string, fields: Record<string, string> = {}): Promise<string> {
  const sent = await admin.submit(await admin.get(`/admin/applications/new/${preset}`), { url, ...fields });
  expect([sent.status, sent.status === 303 ? '' : textOf(sent.text)]).toEqual([303, '']);
  const { id } = await idp.services.db.asStored.application.findFirstOrThrow({ orderBy: { createdAt: 'desc' } });
  return `/admin/applications/${id}`;
}
const guideOf = async (path: string, options = {}) => textOf((await admin.get(`${path}/setup`, options)).text);

describe('a setup guide', () => {
  it('names this server as the brand does, and keeps the identifier that an application was registered with', async () => {
    const before = await add('nextcloud');
    expect(await guideOf(before)).toContain('user_oidc:provider Gatehouse');
    await idp.services.settings.set('brand_name', 'Example & Söhne');
    await idp.services.settings.reload();

    expect(await guideOf(await add('grafana'))).toMatch(/ name = Example & Söhne .*_NAME=Example & Söhne /);
    expect(await guideOf(await add('immich'))).toContain('Button Text: Sign in with Example & Söhne');
    expect(await guideOf(before)).toContain('user_oidc:provider Gatehouse');
    const after = await add('nextcloud', { name: 'Nextcloud of Berlin' });
    expect(await guideOf(after)).toContain("user_oidc:provider 'Example & Söhne'");
    const { metadata } = await idp.services.db.asStored.application.findFirstOrThrow({
      orderBy: { createdAt: 'desc' },
    });
    expect(JSON.parse(metadata).backchannel_logout_uri).toMatch(/\/backchannel-logout\/Example%20%26%20S%C3%B6hne$/);
  });

  it('is in the language of the administrator, with the labels of the product in its own', async () => {
    const guide = await guideOf(await add('portainer'), german);
    expect(guide).toMatch(/Client secret: das Secret, das beim Erstellen angezeigt wurde Authorization URL: http/);
    expect(guide).toContain('Automatic user provisioning: ein');
  });
});

describe('the products in German', () => {
  it('are found by words of German and of English', async () => {
    const linksFor = async (q: string) => {
      const { text } = await admin.get(`/admin/applications/new?q=${encodeURIComponent(q)}`, german);
      return [...text.matchAll(/applications\/new\/([a-z0-9-]+)"/g)].map(([, id]) => id);
    };
    expect(await linksFor('dokumentenarchiv')).toEqual(['paperless-ngx']);
    expect(await linksFor('document archive')).toEqual(['paperless-ngx']);
    const { text } = await admin.get('/admin/applications/new?q=zzz', german);
    expect(textOf(text)).toContain('Läuft im Browser, ohne Secret.');
  });

  it('get groups that are described in German', async () => {
    const form = await admin.get('/admin/applications/new/forgejo', german);
    expect(textOf(form.text)).toContain('Adresse von Forgejo');
    expect((await admin.submit(form, { url }, german)).status).toBe(303);
    expect(await idp.services.groups.find('forgejo-admin')).toMatchObject({
      description: 'Site-Administratoren in Forgejo',
    });
  });
});

describe('a value in the settings of a product', () => {
  const name = `O'Neil & "Co" #{1}; $x`;
  const as = (filter: string, server: string) => String(expanded(`\${server|${filter}}`, { server }, ''));

  it('stays the same name in each format', () => {
    expect(as('quoted', name)).toBe(String.raw`"O'Neil & \"Co\" #{1}; $x"`);
    expect(as('ruby', name)).toBe(String.raw`"O'Neil & \"Co\" \#{1}; $x"`);
    expect(as('shell', name)).toBe(String.raw`'O'\''Neil & "Co" #{1}; $x'`);
    expect(as('powershell', 'O’Neil $x')).toBe("'O’’Neil $x'");
    expect([as('shell', 'Acme-1'), as('powershell', 'Acme-1')]).toEqual(['Acme-1', 'Acme-1']);
    expect([as('ini', name), as('ini', 'Acme Login')]).toEqual([`\`${name}\``, 'Acme Login']);
  });

  it('is no template itself', () => {
    const given = `\${server} <b>`;
    expect(as('html', given)).toBe(given.replace('<b>', '&lt;b&gt;'));
  });

  it('becomes words when the template around it is rendered', () => {
    const text = expanded(`secret = "\${text:secret}" # \${server}`, { server: '<b>' }, '');
    expect(inLanguage('de', () => String(text))).toBe(
      'secret = "das Secret, das beim Erstellen angezeigt wurde" # <b>',
    );
    expect(concatenated([text]).toHtml()).toContain('# &lt;b&gt;');
  });
});
