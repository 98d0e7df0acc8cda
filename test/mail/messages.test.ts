// The texts of the mails, and that no name or token can inject anything into them.
import { describe, expect, it } from 'vitest';
import { inLanguage } from '../../src/base/texts/text.ts';
import { browserName } from '../../src/core/mail/browser-name.ts';
import { plainText } from '../../src/core/mail/content.ts';
import { compose, type MailMessage, mailLanguage, type Recipient } from '../../src/core/mail/messages.ts';
import { textOf } from '../support/pages/html.ts';
import { ann, issuer, renderHtml } from './support.ts';

const place = { at: new Date('2026-11-21T09:45:00Z'), browser: 'Firefox on Windows', address: '192.0.2.1' };
const token = 'abc-DEF_123'.padEnd(43, 'x');

function every(to: Recipient = ann): MailMessage[] {
  return [
    { kind: 'password-reset', to, token, minutes: 20 },
    { kind: 'password-reset', to, token, minutes: 20, isSent: true },
    { kind: 'no-password-here', to },
    { kind: 'no-password-here', to, other: { name: 'Example Corp', isDirectory: false } },
    { kind: 'no-password-here', to, other: { name: 'Example Directory', isDirectory: true } },
    { kind: 'password-changed', to, by: 'link', place },
    { kind: 'verify-email', to, token, hours: 24 },
    { kind: 'confirm-new-email', to, token, hours: 24 },
    { kind: 'email-taken', to },
    { kind: 'email-changed', to, newEmail: 'new@example.org', place },
    { kind: 'invitation', to, token, hours: 72 },
    { kind: 'registration', to, token, hours: 24 },
    { kind: 'already-registered', to },
    { kind: 'unlock', to, token, minutes: 60 },
    { kind: 'factor-changed', to, change: 'totp-added', place },
    { kind: 'new-sign-in', to, place },
    {
      kind: 'group-request',
      to,
      group: 'Lab',
      groupId: 'id',
      username: 'zoe',
      name: to.name ?? null,
      application: 'Wiki',
    },
    { kind: 'group-owner', to, group: 'Lab', groupId: 'id', until: place.at },
    { kind: 'group-owner', to, group: 'Lab', groupId: 'id', until: null },
    { kind: 'group-answer', to, group: 'Lab', isGranted: true, until: place.at },
    { kind: 'group-answer', to, group: 'Lab', isGranted: false, until: null },
    { kind: 'account-end', to, until: place.at },
    { kind: 'account-unused', to, since: place.at, until: place.at, isDisabled: false },
    { kind: 'account-unused', to, since: place.at, until: place.at, isDisabled: true },
    { kind: 'accounts-end', to, accounts: [{ name: 'Zoe', until: place.at }] },
    { kind: 'deletion', to, until: place.at },
    { kind: 'membership-end', to, of: 'group', name: 'Lab', until: place.at },
    { kind: 'membership-end', to, of: 'role', name: 'deputy', until: place.at },
    { kind: 'members-end', to, group: 'Lab', groupId: 'id', members: [{ name: 'Zoe', until: place.at }] },
    { kind: 'saml-certificate', to, application: 'Wiki', until: place.at, isNextPublished: false },
    { kind: 'saml-certificate', to, application: 'Wiki', until: place.at, isNextPublished: true },
    ...(['waiting', 'applied', 'expired'] as const).map((state) => {
      const notice = { application: 'Wiki', applicationId: 'id', changes: ['ACS addresses'], until: place.at };
      return { kind: 'saml-metadata' as const, to, state, ...notice };
    }),
    { kind: 'connection-end', to, text: 'SAML connections: the certificate expires in 6 days.', until: place.at },
    {
      kind: 'connection-end' as const,
      to,
      connection: 'Example Corp',
      connectionId: 'corp',
      text: 'Example Corp: the client secret expires in 29 days.',
      until: place.at,
    },
    {
      kind: 'connection-rejected',
      to,
      connection: 'Example Corp',
      connectionId: 'corp',
      isDirectory: true,
      detail: 'data 52e',
    },
    { kind: 'one-time-code', to, code: '204815', minutes: 10 },
  ];
}

it('an alert names the server by its brand', () => {
  const listed = [{ at: place.at, text: 'Zoe signed in' }];
  const alert = {
    kind: 'event-alert',
    to: every()[0]?.to ?? expect.fail(),
    stream: 'Security',
    count: 1,
    listed,
  } as const;
  expect(compose(alert, issuer, 'Example Corp').paragraphs).toContain('In the activity log of Example Corp:');
  expect(compose(alert, issuer).paragraphs).toContain('In the activity log of Gatehouse:');
});

describe.each(every().map((message) => [message.kind, message] as const))('the mail %s', (kind, message) => {
  const content = compose(message, issuer);
  const html = renderHtml(content);
  const text = plainText(content);

  it('has the same text in HTML and in plain text', () => {
    const visible = textOf(html);
    for (const words of [content.subject, ...content.paragraphs, ...content.after, content.code ?? '']) {
      expect(visible).toContain(words);
      expect(text.replace(/\s+/g, ' ')).toContain(words);
    }
    if (content.action) {
      expect(html).toContain(`href="${content.action.url}"`);
      expect(text).toContain(`\n${content.action.url}\n`);
    }
    expect(visible).not.toMatch(/undefined|\[object|NaN/);
  });

  it('links only to this server and loads nothing', () => {
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
    for (const href of links) expect(href).toMatch(/^https:\/\/id\.example\.com\/[a-z-]+/);
    expect(html).not.toMatch(/\ssrc=|url\(|@import|<link|<script|<img|<form/);
    expect(text.match(/https?:\/\/\S+/g) ?? []).toEqual(content.action ? [content.action.url] : []);
  });

  it('is short, in lines of less than 80 characters', () => {
    expect(content.subject.length).toBeLessThan(70);
    for (const line of text.split('\n').filter((line) => !line.startsWith('https://')))
      expect(line.length).toBeLessThan(80);
    expect(text.length, kind).toBeLessThan(900);
  });

  it('has neither code nor token in its subject', () => {
    expect(`${content.subject} ${content.preheader}`).not.toMatch(/204815|abc-DEF/);
  });
});

describe('a name in a mail', () => {
  const evil = `<a href="https://evil.example">Click</a><img src=x onerror=alert(1)>`;

  it.each(every({ ...ann, name: evil, username: evil }))('is escaped in $kind', (message) => {
    const html = renderHtml(compose(message, issuer));
    expect(html).not.toMatch(/<img|<a href="https:\/\/evil|onerror=alert\(1\)>(?!&)/);
  });

  it.each(['Your prize: evil.example', 'http://evil.example', 'win@evil.example'])(
    'is left out when a mail program would turn it into a link: %s',
    (name) => {
      for (const message of every({ ...ann, name })) expect(plainText(compose(message, issuer))).not.toContain(name);
    },
  );

  it('is not sent to an address that is not verified', () => {
    for (const message of every({ email: 'unknown@example.com', name: 'Buy now', username: 'buynow' })) {
      if (message.kind !== 'confirm-new-email' && message.kind !== 'registration') continue;
      expect(plainText(compose(message, issuer))).not.toMatch(/Buy now|buynow/);
    }
  });

  it('of a person who asks is beside the username and the application', () => {
    const asking = { group: 'Lab', groupId: 'id', username: 'zoe', application: 'Wiki' };
    const text = (name: string | null) =>
      plainText(compose({ kind: 'group-request', to: ann, ...asking, name }, issuer));
    expect(text('Zoe Example').replace(/\s+/g, ' ')).toContain('Zoe Example (zoe) wants to use Wiki and asks to join');
    expect(text(null).replace(/\s+/g, ' ')).toContain('zoe wants to use Wiki');
    expect(text('evil.example').replace(/\s+/g, ' ')).toContain('zoe wants to use Wiki');
  });

  it('is used in the greeting', () => {
    for (const [name, hello] of [
      ['Ann Example', 'Hello Ann Example,'],
      ['Dr. José  Müller Jr.', 'Hello Dr. José Müller Jr.,'],
      ['', 'Hello,'],
    ] as const) {
      const [first] = compose({ kind: 'no-password-here', to: { ...ann, name } }, issuer).paragraphs;
      expect(first).toBe(hello);
    }
  });
});

it('a mail from right to left has its address and its code from left to right', () => {
  const [reset, code] = inLanguage('ar', () => [
    renderHtml(compose({ kind: 'password-reset', to: ann, token: `${token}_`, minutes: 20 }, issuer)),
    renderHtml(compose({ kind: 'one-time-code', to: ann, code: '204815', minutes: 10 }, issuer)),
  ]);
  expect(reset).toContain('dir="rtl"');
  expect(reset).toMatch(/<a [^>]*dir="ltr"[^>]*>https:\/\/id\.example\.com\/reset-password\?token=/);
  expect(code).toMatch(/<p class="code" dir="ltr"[^>]*>204815</);
});

it('a mail is in the language of its recipient, and in English about the work of administrators', () => {
  const to = { ...ann, locale: 'de-AT' };
  const reset = { kind: 'password-reset', to, token, minutes: 20 } as const;
  expect(mailLanguage(reset)).toBe('de');
  expect(mailLanguage({ ...reset, to: { ...ann, locale: 'tlh' } })).toBe('en');
  expect(
    mailLanguage({ kind: 'saml-certificate', to, application: 'Wiki', until: place.at, isNextPublished: true }),
  ).toBe('en');
  const german = inLanguage('de', () => {
    const content = compose(reset, issuer);
    return [content.subject, plainText(content), renderHtml(content)];
  });
  expect(german[0]).toBe('Setzen Sie Ihr Passwort zurück');
  expect(german[1]).toContain('innerhalb von 20 Minuten');
  expect(german[2]).toContain('<html lang="de" dir="ltr">');
});

it.each([
  ['en', 'When: ', 'Browser: ', 'Reset password:'],
  ['fr', 'Date\u00a0: ', 'Navigateur\u00a0: ', 'Réinitialiser le mot de passe\u00a0:'],
])('the labels of the plain text have the colon of their language: %s', (language, when, browser, action) => {
  const lines = inLanguage(language, () => plainText(compose({ kind: 'new-sign-in', to: ann, place }, issuer))).split(
    '\n',
  );
  expect(lines).toEqual(
    expect.arrayContaining([expect.stringMatching(`^${when}`), `${browser}${place.browser}`, action]),
  );
});

describe('the name of a browser', () => {
  it.each([
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Windows'],
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36',
      'Chrome on Linux',
    ],
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/147.0.0.0 Safari/537.36',
      'Chrome on Linux',
    ],
    ['Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/147.0.0.0 Safari/537.36 Edg/147.0', 'Edge on Windows'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Mobile Safari/604',
      'Safari on iPhone',
    ],
    ['Mozilla/5.0 (Linux; Android 16) AppleWebKit/537 Chrome/147.0 Mobile Safari/537', 'Chrome on Android'],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 15_0) AppleWebKit/605 Version/19 Safari/605', 'Safari on macOS'],
    ['<script>alert(1)</script>', undefined],
    ['visit https://evil.example', undefined],
    ['', undefined],
  ])('is read from the User-Agent %j as %j', (userAgent, name) => {
    expect(browserName(userAgent)?.toString()).toBe(name);
  });
});
