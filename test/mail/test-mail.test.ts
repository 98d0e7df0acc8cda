// The test email of an administrator, and the mails with example data.

import { expect, it } from 'vitest';
import { createTestMail } from '../../src/admin/mail/mail.ts';
import { hasText } from '../../src/base/texts/text.ts';
import { createMailServer } from '../../src/core/mail/mail-server.ts';
import { fixedSettings, servicesOf } from '../support/services-of.ts';

const config = {
  issuer: 'https://id.example.com',
  issuerUrl: new URL('https://id.example.com'),
  mailFrom: 'no-reply@example.com',
  outboxDir: '/nowhere',
  smtpUrl: 'smtp://user:secret@127.0.0.1:1',
} as never;
const mailServer = createMailServer({ config, settings: fixedSettings() });
const mail = createTestMail(
  {
    ...servicesOf({ config, logger: { info: () => {} } as never, now: () => new Date('2026-11-20T10:00:00Z') }),
    mailServer,
  },
  { brand: () => undefined, readPicture: async () => undefined },
);

it('a test email says that the mail server cannot be used, with its answer and without the password', async () => {
  const { result } = await mail.send({ email: 'ann@example.com', name: 'Ann' });
  expect(result).toEqual({
    outcome: 'no-server',
    cause: 'connection',
    step: 'connection',
    reason: expect.stringContaining('ECONNREFUSED'),
  });
  expect(JSON.stringify(result)).not.toContain('secret');
});

it('an example of a mail for people is in the language of the reader, and one for administrators in English', () => {
  expect(mail.example('password-reset', 'de').html).toContain('<html lang="de"');
  expect(mail.example('password-reset', 'de').subject).not.toBe(mail.example('password-reset').subject);
  expect(mail.example('connection-end', 'de')).toEqual(mail.example('connection-end'));
});

it('every kind of mail has an example in HTML and as text, and a name in the console', () => {
  for (const kind of mail.kinds) {
    expect(hasText(`console.mail.template.${kind}`)).toBe(true);
    const { subject, text, html } = mail.example(kind);
    expect(subject).not.toBe('');
    for (const one of [text, html]) expect(one).not.toMatch(/undefined|Invalid Date|\[object/);
    expect(text).toContain(subject);
  }
});
