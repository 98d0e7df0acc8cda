// The form of the brand and its preview: nothing that was typed is lost, whatever is chosen or wrong.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type Application, anApplication } from '../oidc/support.ts';
import type { HttpClient, Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf, unescapeHtml } from '../support/pages/html.ts';
import { aPng } from './pictures.ts';

const HOME = '/admin/branding';

let idp: TestIdp;
let admin: HttpClient;
let app: Application;

beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  app = await anApplication(idp, { client_name: 'Shop' });
});
beforeEach(async () => {
  await idp.services.settings.unset('brand_name');
  await idp.services.settings.unset('brand_logo');
});
afterAll(() => idp?.stop());

/** Sends the form of the brand as a browser does: as multipart/form-data, with these files. */
async function send(page: Page, typed: Record<string, string>, files: Record<string, Buffer> = {}): Promise<Page> {
  const form = page.forms.find(({ fields }) => 'brand_name' in fields);
  const data = new FormData();
  for (const [name, value] of Object.entries({ ...form?.fields, ...typed })) data.append(name, value);
  for (const [name, content] of Object.entries(files))
    data.append(name, new File([new Uint8Array(content)], 'a.png', { type: 'image/png' }));
  const request = new Request(idp.issuer, { method: 'POST', body: data });
  const headers = { 'content-type': request.headers.get('content-type') ?? '', origin: idp.issuer };
  return admin.post(String(form?.action), { body: new Uint8Array(await request.arrayBuffer()), headers });
}

/** The page in the frame. */
function framed({ text }: Page, client = admin): Promise<Page> {
  return client.get(unescapeHtml(/<iframe[^>]* src="([^"]+)"/.exec(text)?.[1] ?? ''));
}

describe('the preview', () => {
  it('shows the chosen page, language and mode with what is typed, and saves nothing', async () => {
    const page = await admin.get(HOME);
    const choice = { page: 'two-step', mode: 'dark', language: 'de', show: '1' };
    const preview = await send(
      page,
      { brand_name: 'Typed', brand_help_url: 'https://x.example', ...choice },
      { brand_logo: aPng() },
    );
    expect(preview.status, textOf(preview.text)).toBe(200);
    expect(preview.text).toContain('value="Typed"');
    expect(preview.text).toMatch(/name="brand_logo.stored" value="[0-9a-f]{32}\.png"/);
    expect(preview.text).toMatch(/<option value="two-step" selected>[\s\S]*<option value="dark" selected>/);
    const frame = await framed(preview);
    expect(frame.text).toMatch(/<html lang="de"[^>]* data-theme="dark"/);
    expect(textOf(frame.text)).toContain('Authenticator-App');
    expect(frame.text).toContain('alt="Typed"');
    expect(await idp.services.settings.get('brand_name')).toBeUndefined();

    const saved = await send(preview, choice.show ? { ...choice, show: '' } : choice);
    expect([saved.status, saved.location]).toEqual([303, `${idp.issuer}${HOME}?page=two-step&language=de&mode=dark`]);
    await idp.services.settings.reload();
    expect(await idp.services.settings.get('brand_name')).toBe('Typed');
    expect(await idp.services.settings.get('brand_logo')).toMatch(/\.png$/);
  });

  it('has the fields that choose its page in the form, so that the button sends both', async () => {
    const { text } = await admin.get(HOME);
    expect(text).toMatch(/<select[^>]* name="language"[^>]* form="brand"/);
    expect(text).toMatch(/<button[^>]* name="show"[^>]* form="brand"/);
    const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
    const read = await auditor.get(`${HOME}?language=fr&page=error`);
    expect(read.text).not.toContain('form="brand"');
    expect((await framed(read, auditor)).text).toContain('<html lang="fr"');
  });

  it('is that of one application, with its values and those that are typed', async () => {
    const page = await admin.get(`${HOME}?application=${encodeURIComponent(app.clientId)}`);
    const preview = await send(page, { brand_name: 'The shop', show: '1' });
    expect(textOf(preview.text)).toContain('Branding of Shop');
    const frame = await framed(preview);
    expect(frame.text).toContain('· The shop</title>');
    expect(textOf(frame.text)).toContain('to continue to Shop');
    expect(textOf(frame.text)).not.toContain('Wiki');
    const saved = await send(preview, { show: '' });
    expect(saved.location).toContain(`application=${encodeURIComponent(app.clientId)}`);
    await idp.services.settings.reload();
    expect(await idp.services.settings.get('brand_applications')).toEqual({ [app.clientId]: { name: 'The shop' } });
  });
});

it('the application is displayed by its name, and found by it where there is no script', async () => {
  for (const application of [app.clientId, ' Shop ']) {
    const page = await admin.get(`${HOME}?${new URLSearchParams({ application })}`);
    expect(textOf(page.text)).toContain('Branding of Shop');
    expect(page.text).toMatch(new RegExp(`name="application" value="Shop"[^>]* data-sends="${app.clientId}"`));
    expect(page.forms.find(({ fields }) => 'brand_name' in fields)?.fields.application).toBe(app.clientId);
  }
});

describe('emails in the preview', () => {
  it('have what is typed, in the chosen language and mode, and no script', async () => {
    const page = await admin.get(HOME);
    const options = textOf(page.text);
    expect(options).toContain('Email: Password reset');
    expect(options).toContain('Email: New browser');
    const choice = { page: 'mail-password-reset', mode: 'dark', language: 'ar', show: '1' };
    const preview = await send(
      page,
      { brand_name: 'Typed', brand_color: '#aa0000', ...choice },
      { brand_logo: aPng() },
    );
    const mail = await framed(preview);
    expect(mail.status).toBe(200);
    expect(mail.text).toContain('<html lang="ar" dir="rtl">');
    expect(mail.text).toMatch(/<img class="logo" src="\/assets\/brand-[0-9a-f]{32}\.png" alt="Typed"/);
    expect(mail.text).toContain('#aa0000');
    expect(mail.text).not.toContain('prefers-color-scheme');
    expect(mail.text).toContain(':root { color-scheme: dark; }');
    expect(mail.headers['content-security-policy']).toContain("script-src 'none'");
    const picture = /src="(\/assets\/brand-[^"]+)"/.exec(mail.text)?.[1] ?? '';
    expect((await admin.get(picture)).status).toBe(200);
    const named = await framed(await send(page, { brand_name: 'Typed', page: 'mail-new-sign-in', show: '1' }));
    expect(named.text).toMatch(/<bdi>Typed<\/bdi>/);
    expect(named.text).toContain(':root { color-scheme: light; }');
  });

  it('have the brand of the application', async () => {
    const page = await admin.get(`${HOME}?application=${encodeURIComponent(app.clientId)}&page=mail-invitation`);
    const mail = await framed(await send(page, { brand_name: 'The shop', show: '1' }));
    expect(textOf(mail.text)).toContain('The shop');
  });
});

describe('the templates of emails', () => {
  const TEMPLATE = '/admin/mail/templates/invitation';

  it('have a choice of language, mode and application', async () => {
    await idp.services.settings.set('brand_name', 'Example Corp');
    await idp.services.settings.set('brand_applications', { [app.clientId]: { name: 'The shop' } });
    await idp.services.settings.reload();
    const page = await admin.get(`${TEMPLATE}?language=ar&mode=dark&application=${encodeURIComponent(app.clientId)}`);
    expect(page.text).toMatch(/<option value="ar"[^>]* selected/);
    expect(page.text).toMatch(/<option value="dark" selected/);
    expect(page.text).toMatch(new RegExp(`name="application" value="Shop"[^>]* data-sends="${app.clientId}"`));
    const named = await framed(await admin.get(`${TEMPLATE}?application=Shop`));
    expect(textOf(named.text)).toContain('The shop');
    expect(page.text).toContain('تمت دعوتك إلى \u2068The shop\u2069');
    const mail = await framed(page);
    expect(mail.text).toContain('<html lang="ar" dir="rtl">');
    expect(mail.text).toContain(':root { color-scheme: dark; }');
    expect(textOf(mail.text)).toContain('The shop');
    const standard = await framed(await admin.get(TEMPLATE));
    expect(textOf(standard.text)).toContain('Example Corp');
    expect(textOf(standard.text)).not.toContain('The shop');
    expect(standard.text).toContain(':root { color-scheme: light; }');
  });

  it('are listed in the chosen language, which their pages have too', async () => {
    const list = await admin.get('/admin/mail/templates?language=fr');
    expect(list.text).toContain('href="/admin/mail/templates/invitation?language=fr"');
    expect(list.text).toContain('lang="fr">');
    expect((await admin.get('/admin/mail/templates/invitation?language=fr')).text).toContain(
      'href="/admin/mail/templates?language=fr"',
    );
  });

  it('have no choice of language where a mail is always in English', async () => {
    const page = await admin.get('/admin/mail/templates/integrity-alarm?language=fr');
    expect(page.text).not.toContain('name="language"');
    expect(page.text).toContain('name="mode"');
  });
});

describe('several wrong values', () => {
  const wrong = { brand_name: 'x'.repeat(80), brand_color: 'red', brand_help_url: 'javascript:alert(1)' };
  const fields = ['brand_name', 'brand_color', 'brand_logo', 'brand_icon', 'brand_help_url'];

  it.each(['', '?application=x'])(
    'are all named at once, in the order of the form, each at its field: %s',
    async (query) => {
      const files = { brand_logo: Buffer.from('%PDF-1.7'), brand_icon: aPng({ width: 5000 }) };
      const sent = await send(await admin.get(`${HOME}${query}`), wrong, files);
      expect(sent.status).toBe(400);
      const [summary = ''] = /<div class="note bad" role="alert"[\s\S]*?<\/div>/.exec(sent.text) ?? [];
      expect([...summary.matchAll(/href="#f-([^"]+)"/g)].map(([, name]) => name)).toEqual(fields);
      for (const name of fields) expect(sent.text, name).toContain(`id="f-${name}-error"`);
      expect(sent.text).toContain('value="red"');
      expect(await idp.services.settings.get('brand_color')).toBeUndefined();
    },
  );
});

describe('a picture that is too large', () => {
  it('has a sentence at its field, and the form has what was typed', async () => {
    const sent = await send(await admin.get(HOME), { brand_name: 'Typed' }, { brand_icon: Buffer.alloc(6_000_000, 1) });
    expect(sent.status).toBe(400);
    expect(sent.text).toMatch(/id="f-brand_icon-error">[\s\S]*6000 KB/);
    expect(sent.text).toContain('value="Typed"');
  });

  it('leads back to the form also when it is too large to be read', async () => {
    const sent = await send(await admin.get(`${HOME}?application=x`), {}, { brand_icon: Buffer.alloc(20_000_000, 1) });
    expect([sent.status, textOf(sent.text)]).toEqual([413, expect.stringContaining('larger than 16 MB')]);
    expect(sent.text).toContain('name="brand_name"');
    expect(textOf(sent.text)).toContain('Branding of x');
  });
});
