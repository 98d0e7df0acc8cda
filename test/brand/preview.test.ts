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
    expect((await framed(preview)).text).toContain('· The shop</title>');
    const saved = await send(preview, { show: '' });
    expect(saved.location).toContain(`application=${encodeURIComponent(app.clientId)}`);
    await idp.services.settings.reload();
    expect(await idp.services.settings.get('brand_applications')).toEqual({ [app.clientId]: { name: 'The shop' } });
  });
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
