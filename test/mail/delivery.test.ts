// The delivery of mail to a real SMTP server that accepts it, rejects it, or is down.
import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/base/storage/database.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { type FaultySmtpServer, faultySmtpServer } from './smtp.ts';
import { ann, type MailService, mailService, resetMail } from './support.ts';

let test: TestDatabase;
let clock: TestClock;
let smtp: FaultySmtpServer;
let mail: MailService;

beforeAll(async () => {
  test = await testDatabase();
});
beforeEach(async () => {
  await test.database.db.mailMessage.deleteMany();
  clock = testClock('2026-11-21T09:00:00Z');
  smtp = await faultySmtpServer();
  mail = mailService({ ...test.database, clock, smtpUrl: smtp.url });
});
afterEach(() => smtp.close());
afterAll(() => test.close());

const notice = { kind: 'new-sign-in', to: ann, place: { at: new Date('2026-11-21T09:00:00Z') } } as const;
const row = () => test.database.db.mailMessage.findFirstOrThrow();

describe('the mail job', () => {
  it('delivers a mail as HTML and plain text, marked as automatic, and erases its body here', async () => {
    await mail.outbox.send(resetMail);
    await mail.deliver();
    const [delivered] = smtp.delivered;
    const parsed = await PostalMime.parse(delivered?.source ?? '');
    expect(parsed).toMatchObject({ subject: 'Reset your password', from: { address: 'no-reply@id.example.com' } });
    expect(parsed.to).toEqual([{ name: '', address: ann.email }]);
    expect(parsed.text).toContain(resetMail.kind === 'password-reset' ? resetMail.token : '');
    expect(parsed.html).toContain('Choose a new password');
    expect(delivered?.source).toContain('Auto-Submitted: auto-generated');
    expect(await row()).toMatchObject({ bodySealed: '', sentAt: clock.now(), failedAt: null });
    const [event] = await mail.audit.list({ types: ['mail.sent'] });
    expect(event).toMatchObject({ subjectId: 'u1', data: { message: 'password-reset' } });
    expect(mail.counts).toEqual({ sent: 1 });
    expect(mail.log.join()).not.toContain('T0ken');
  });

  it.each([{ recipient: 'mallory@example.net' }, { recipient: '' }, { subject: 'Call +1 555 0100' }])(
    'sends no mail whose row another program changed (%j)',
    async (data) => {
      await mail.outbox.send(resetMail);
      const { id } = await row();
      await test.database.db.mailMessage.update({ where: { id }, data });
      await mail.deliver();
      expect(smtp.delivered).toEqual([]);
      expect(mail.log.join()).toContain(`a row of mail_messages was changed by another program: ${id}`);
    },
  );

  itOnSqlite('retries a temporarily rejected mail with growing pauses, under the same Message-ID', async () => {
    smtp.rejections.set(ann.email, 451);
    await mail.outbox.send(notice);
    for (const seconds of [10, 20, 40]) {
      await mail.deliver();
      clock.advance({ seconds: seconds - 1 });
      expect(await mail.deliver()).toBe(0);
      clock.advance({ seconds: 1 });
    }
    smtp.rejections.clear();
    await mail.deliver();
    expect(smtp.delivered).toHaveLength(1);
    expect(mail.counts).toEqual({ deferred: 3, sent: 1 });
    const { id } = await row();
    expect(smtp.delivered[0]?.source).toContain(`Message-ID: <${id}@id.example.com>`);
  });

  it('gives a permanently rejected mail up at once, and audits the reason', async () => {
    smtp.rejections.set(ann.email, 550);
    await mail.outbox.send(notice);
    await mail.outbox.send({ ...notice, to: { email: 'bob@example.com' } });
    await mail.deliver();
    expect(smtp.delivered.map(({ to }) => to)).toEqual(['bob@example.com']);
    const [event] = await mail.audit.list({ types: ['mail.failed'] });
    expect(event).toMatchObject({ subjectId: 'u1', outcome: 'failure', reason: expect.stringContaining('550') });
    const failed = await test.database.db.mailMessage.findFirstOrThrow({ where: { recipient: ann.email } });
    expect(failed).toMatchObject({ bodySealed: '', failedAt: clock.now() });
    expect(await mail.deliver()).toBe(0);
  });

  it('does not send a mail whose link has expired', async () => {
    await mail.outbox.send(resetMail);
    clock.advance({ minutes: 20 });
    await mail.deliver();
    expect(smtp.delivered).toEqual([]);
    expect((await mail.audit.list({ types: ['mail.failed'] }))[0]).toMatchObject({ reason: 'expired' });
  });

  it('gives a mail up after three days', async () => {
    smtp.rejections.set(ann.email, 451);
    await mail.outbox.send(notice);
    await mail.deliver();
    clock.advance({ days: 3 });
    await mail.deliver();
    expect((await mail.audit.list({ types: ['mail.failed'] }))[0]?.reason).toContain('451');
  });

  itOnSqlite('tries a mail server that is down once a run, and delivers everything when it is back', async () => {
    await smtp.close();
    const addresses = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name) => `${name}@example.com`);
    for (const email of addresses) await mail.outbox.send({ ...notice, to: { email } });
    for (let minute = 0; minute < 60; minute += 1) {
      await mail.deliver();
      clock.advance({ minutes: 1 });
    }
    expect(mail.log.filter((line) => line.includes('cannot be sent'))).toHaveLength(1);
    smtp = await faultySmtpServer(smtp.port);
    for (let runs = 0; runs < 3; runs += 1) await mail.deliver();
    expect(smtp.delivered.map(({ to }) => to).sort()).toEqual(addresses);
    expect(mail.log.filter((line) => line.includes('can be sent again'))).toHaveLength(1);
  });

  it('sends each mail once when two instances deliver at the same time', async () => {
    const second = await openDatabase(test.url);
    const other = mailService({ ...second, clock, smtpUrl: smtp.url });
    const addresses = Array.from({ length: 30 }, (_, index) => `p${index}@example.com`);
    for (const email of addresses) await mail.outbox.send({ ...notice, to: { email } });
    await Promise.all([mail.deliver(), other.deliver(), mail.deliver(), other.deliver()]);
    expect(smtp.delivered.map(({ to }) => to).sort()).toEqual([...addresses].sort());
    await second.close();
  });

  it('keeps a mail that it cannot decrypt until the secret is configured again', async () => {
    await mail.outbox.send(notice);
    const otherSecret = mailService({ ...test.database, clock, smtpUrl: smtp.url, secrets: [Buffer.alloc(32, 7)] });
    await otherSecret.deliver();
    expect(otherSecret.log.join()).toContain('GATEHOUSE_SECRET');
    clock.advance({ hours: 1 });
    await mail.deliver();
    expect(smtp.delivered).toHaveLength(1);
  });
});
