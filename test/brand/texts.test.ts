// Texts for people that an administrator wrote: by the API, the console and the configuration file, on pages and in mails.
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { textAreas } from '../../src/admin/branding/console.ts';
import { checkDatabase } from '../../src/cli/doctor/check-database.ts';
import { readValidFile } from '../../src/config-file/read-file.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../admin/support.ts';
import { anApplication } from '../oidc/support.ts';
import { testFolder } from '../support/database/database.ts';
import { httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { textOf } from '../support/pages/html.ts';

type Texts = Record<string, Record<string, string>>;

let idp: TestIdp;
let api: ApiCaller;
let mail: Mailbox;

beforeAll(async () => {
  mail = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: mail.url } });
  api = await aPerson(idp, ['admin']);
});
afterEach(() => set(null));
afterAll(async () => {
  await idp?.stop();
  await mail?.close();
});

const set = (texts: Texts | null) => api.send('PATCH', '/settings', { texts }, { 'if-match': '*' });
const stored = async () => (await idp.services.settings.reload()).texts;

/** The first page of a sign-in. */
async function signInPage(language: string, server: TestIdp = idp): Promise<Page> {
  const { rp } = await anApplication(server, { scope: 'openid' });
  const client = httpClient(server.issuer, { headers: { 'accept-language': language } });
  return client.follow(await client.get((await rp.start({ scope: 'openid' })).url));
}

describe('the texts of an administrator', () => {
  it('take the place of the texts of their language on pages and in mails, on every instance', async () => {
    const saved = await set({
      de: { 'sign-in.title': 'Willkommen bei Example', 'mail.reset.subject': 'Ihr neues Passwort' },
      en: { 'sign-in.to-continue': 'for <strong>{app}</strong> & friends' },
    });
    expect(saved.status, saved.text).toBe(200);
    expect(textOf((await signInPage('de')).text)).toContain('Willkommen bei Example');
    const english = (await signInPage('en')).text;
    expect(english).toContain('for <strong>Test application</strong> &amp; friends');
    expect(textOf(english)).not.toContain('Willkommen bei Example');
    const to = { email: 'texts@example.com', locale: 'de-AT' };
    await idp.services.outbox.send({ kind: 'password-reset', to, token: 'x', minutes: 20 });
    expect((await mail.waitForMail(to.email)).subject).toBe('Ihr neues Passwort');

    const other = await startIdp({ environment: { DATABASE_URL: String(idp.environment.DATABASE_URL) } });
    try {
      expect(textOf((await signInPage('de', other)).text)).toContain('Willkommen bei Example');
      await set({ de: { 'sign-in.title': 'Hallo' } });
      await other.services.settings.reload();
      expect(textOf((await signInPage('de', other)).text)).toContain('Hallo');
    } finally {
      await other.stop();
    }
    await set(null);
    expect(textOf((await signInPage('de')).text)).not.toContain('Hallo');
  });

  it.each([
    ['xx', 'sign-in.title', 'Hello', 'isn’t in a language'],
    ['de', 'sign-in.no-such-text', 'Hello', 'doesn’t exist in this version'],
    ['de', 'console.page.add', 'Hello', 'console'],
    ['de', 'sign-in.title', 'x'.repeat(10_000), '1,000'],
    ['de', 'sign-in.title', ' ', 'empty'],
    ['de', 'sign-in.title', 'Two\nlines', 'control'],
    ['de', 'sign-in.title', 'Hello \u202egro', 'invisible'],
    ['de', 'sign-in.title', '<script>alert(1)</script>', '<script>'],
    ['de', 'sign-in.title', '<img src=x onerror=alert(1)>', 'MessageFormat'],
    ['de', 'sign-in.title', 'Hello {app}', '{app}'],
    ['de', 'sign-in.to-continue', 'to {app', 'MessageFormat'],
    ['de', 'sign-in.to-continue', 'to {app, date, ::yyyyMMdd}', '{app}'],
    ['de', 'sign-in.to-continue', '{app, plural, other {#}}', '{app}'],
    ['de', 'duration.seconds', '{count, number, ::.0000000000000000000000000}', '{count}'],
    ['de', 'duration.seconds', '{count, plural, other {}}', 'empty'],
    ['de', 'duration.seconds', `${'{count,plural,other{'.repeat(40)}${'}}'.repeat(40)}`, 'nested'],
  ])('are rejected with the reason where they are wrong: %s %s (%#)', async (language, key, message, reason) => {
    const page = await set({ [language]: { [key]: message } });
    expect(page.status, page.text).toBe(400);
    expect(page.json().errors).toMatchObject([
      { path: expect.stringContaining('texts.'), message: expect.stringContaining(reason) },
    ]);
  });

  it('are limited in total', async () => {
    const keys = Object.keys((await import('../../src/base/texts/messages.ts')).readMessages('en')).slice(0, 300);
    const all = Object.fromEntries(keys.map((key) => [key, 'x'.repeat(999)]));
    const page = await set({ de: all });
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('200,000')]);
  });

  it('are harmless where they quote markup', async () => {
    await set({ en: { 'sign-in.title': "'<script>'alert(1)'</script>' \"'" } });
    const { text } = await signInPage('en');
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &quot;');
    expect(text).not.toContain('<script>alert');
  });

  it('need the permission for security settings', async () => {
    const permissions = ['gatehouse.settings:read', 'gatehouse.settings:write'];
    await api.send('POST', '/roles', { name: 'designer', permissions });
    const manager = await aPerson(idp, ['designer']);
    const page = await manager.send(
      'PATCH',
      '/settings',
      { texts: { en: { 'sign-in.title': 'x' } } },
      { 'if-match': '*' },
    );
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('write-security')]);
  });

  it('are ignored where this version does not have them, stay, and are named by the log and by others', async () => {
    await set({ de: { 'sign-in.title': 'Neu' } });
    const { settings } = idp.services;
    const old = {
      de: { 'sign-in.title': 'Neu', 'sign-in.removed': 'Alt', 'sign-in.to-continue': 'zu {site}' },
      xx: { a: 'b' },
    };
    await settings.set('texts', old);
    await settings.reload();
    expect(textOf((await signInPage('de')).text)).toContain('Neu');
    // Another one can be changed beside them.
    const page = await set({ ...old, de: { ...old.de, 'sign-in.title': 'Neuer' } });
    expect(page.status, page.text).toBe(200);
    const restarted = await startIdp({ environment: { DATABASE_URL: String(idp.environment.DATABASE_URL) } });
    try {
      expect(textOf((await signInPage('de', restarted)).text)).toContain('Neuer');
      const lines = restarted.log.filter((line) => line.includes('texts'));
      expect(lines).toHaveLength(1);
      const { config, logger, now } = restarted.services;
      const findings = (await checkDatabase({ config, logger, now })).filter(({ check }) => check === 'texts');
      expect(findings).toHaveLength(3);
      for (const [at, name] of ['de.sign-in.removed', 'de.sign-in.to-continue', 'xx.a'].entries()) {
        expect(lines[0]).toContain(name);
        expect(findings[at]).toMatchObject({ status: 'warning', message: expect.stringContaining(name) });
      }
    } finally {
      await restarted.stop();
    }
  });

  it('are in the audit log, each change with its own texts only', async () => {
    await set({ de: { 'sign-in.title': 'Eins', 'sign-in.or': 'Vergessen' } });
    await set({ de: { 'sign-in.title': 'Zwei', 'sign-in.or': 'Vergessen' } });
    const [event] = await idp.services.audit.list({ types: ['setting.changed'] });
    expect(event?.data).toEqual({
      setting: 'texts',
      before: { de: { 'sign-in.title': 'Eins' } },
      after: { de: { 'sign-in.title': 'Zwei' } },
    });
  });
});

describe('the configuration file', () => {
  it('declares texts, names the line of a wrong one, and accepts what an older version had', async () => {
    const folder = testFolder();
    const file = path.join(folder, 'texts.yaml');
    const { configFile } = idp.services;
    const apply = async (content: string) => {
      writeFileSync(file, content);
      return configFile.apply(await readValidFile(file));
    };
    const good = 'settings:\n  texts:\n    de:\n      sign-in.title: Aus der Datei\n';
    expect(await apply(good)).toMatchObject({ ok: true, plan: { steps: [{ name: 'texts' }] } });
    expect(await apply(good)).toMatchObject({ ok: true, plan: { steps: [], warnings: [] } });
    expect((await set(null)).json().code).toBe('owned_by_file');
    expect((await api.get('/configuration')).text).toContain('sign-in.title: Aus der Datei');
    const wrong = `${good}      sign-in.gone: Alt\n`;
    expect(await apply(wrong)).toMatchObject({
      ok: false,
      faults: [
        {
          path: ['settings', 'texts', 'de', 'sign-in.gone'],
          position: { line: 5 },
          code: 'text-key',
        },
      ],
    });
    // The same file after an upgrade that removed the text.
    await idp.services.settings.set(
      'texts',
      { de: { 'sign-in.title': 'Aus der Datei', 'sign-in.gone': 'Alt' } },
      { source: 'file' },
    );
    expect(await apply(wrong)).toMatchObject({ ok: true, plan: { steps: [] } });
    expect(await apply('settings: {}\n')).toMatchObject({ ok: true });
    expect(await stored()).toEqual({});
  });
});

describe('the console', () => {
  it('finds a text by its words, changes it, says what is wrong with it, and resets it', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    expect((await admin.get('/admin/branding')).text).toContain('href="/admin/branding/texts"');
    const found = await admin.get('/admin/branding/texts?language=de&q=continue+TO+%7Bapp%7D');
    expect(textOf(found.text)).toContain('sign-in.to-continue');
    const page = await admin.get('/admin/branding/texts?language=de&q=sign-in.to-continue');
    expect(textOf(page.text)).toMatch(/\{app\}.*<strong>/);
    const field = 'text.sign-in.to-continue';
    const wrong = await admin.submit(page, { [field]: 'weiter zu {site}' });
    expect([wrong.status, textOf(wrong.text)]).toEqual([400, expect.stringContaining('{site}')]);
    expect(wrong.text).toContain('weiter zu {site}');
    const saved = await admin.submit(page, { [field]: 'weiter zu <strong>{app}</strong>' });
    expect([saved.status, saved.location]).toEqual([
      303,
      `${idp.issuer}/admin/branding/texts?language=de&q=sign-in.to-continue`,
    ]);
    expect(await stored()).toEqual({ de: { 'sign-in.to-continue': 'weiter zu <strong>{app}</strong>' } });
    // A form that was sent unchanged changes nothing.
    const all = await admin.get('/admin/branding/texts?language=de&area=mail');
    expect((await admin.submit(all, {}, { form: 'texts?' })).status).toBe(303);
    expect(Object.keys((await stored()).de ?? {})).toEqual(['sign-in.to-continue']);
    const changed = await admin.get('/admin/branding/texts?language=de&changed=on');
    expect(textOf(changed.text)).toContain('weiter zu');
    await admin.submit(changed, { 'reset.sign-in.to-continue': 'on' }, { form: 'texts?' });
    expect(await stored()).toEqual({});
  });

  it('lists, finds and changes the texts of every file, also those of the activity of a user', async () => {
    const files = readdirSync('views/texts/en').filter((name) => name.endsWith('.json'));
    expect([...textAreas].sort()).toEqual(files.map((name) => name.replace('.json', '')).sort());
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const page = await admin.get('/admin/branding/texts?language=en&area=activity&q=activity.event.account.invited');
    expect(page.text).toContain('<h2>Activity</h2>');
    const own = '{actor} sent {user} an invitation';
    expect((await admin.submit(page, { 'text.activity.event.account.invited': own })).status).toBe(303);
    expect(await stored()).toEqual({ en: { 'activity.event.account.invited': own } });
    const changed = await admin.get('/admin/branding/texts?language=en&changed=on');
    expect(textOf(changed.text)).toContain(own);
    const german = await admin.get('/admin/branding/texts?changed=on&language=en', {
      headers: { 'accept-language': 'de' },
    });
    expect(german.text).toContain('<h2>Aktivitäten</h2>');
  });

  it('calls each text by its words in the language of the console, in a box for its pages, with the default and the key', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const page = await admin.get('/admin/branding/texts?language=de&q=sign-in.to-continue');
    const [, label = ''] = /<label for="f-text\.sign-in\.to-continue">([^<]*)</.exec(page.text) ?? [];
    expect(label.trim()).toBe('to continue to {app}');
    expect(textOf(page.text)).toMatch(/ Key: sign-in\.to-continue\./);
    expect(textOf(page.text)).not.toContain('Default: ');
    expect(page.text).toContain('<h2>Sign-in</h2>');
    const german = await admin.get('/admin/branding/texts?language=en&q=sign-in.to-continue', {
      headers: { 'accept-language': 'de' },
    });
    expect(german.text).toMatch(/<label for="f-text\.sign-in\.to-continue">um mit \{app\} fortzufahren/);
    await set({ de: { 'sign-in.to-continue': 'nach <strong>{app}</strong>' } });
    const changed = await admin.get('/admin/branding/texts?language=de&changed=on');
    expect(textOf(changed.text)).toContain('Use the default for “to continue to {app}”');
    expect(textOf(changed.text)).toMatch(/Default: “\u2068?um mit .*Key: sign-in\.to-continue\./);
  });

  it('leads from Branding and its texts to the languages, and back', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    for (const path of ['/admin/branding', '/admin/branding/texts'])
      expect((await admin.get(path)).text, path).toMatch(/href="\/admin\/settings\/languages"[^>]*>[^<]*Languages/);
    const { text } = await admin.get('/admin/settings/languages');
    expect(text).toMatch(/class="[^"]*btn[^"]*" href="\/admin\/branding\/texts"/);
    expect(text).toMatch(/class="[^"]*btn[^"]*" href="\/admin\/branding"/);
  });

  it('displays the texts without a way to change them to a user without the permission', async () => {
    const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
    const page = await auditor.get('/admin/branding/texts');
    expect(page.status).toBe(200);
    expect(page.forms.filter(({ method, action }) => method !== 'get' && action.includes('texts'))).toEqual([]);
    expect((await httpClient(idp.issuer).get('/admin/branding/texts')).status).toBe(303);
  });
});
