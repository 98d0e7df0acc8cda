// Mail on its way: a real server that takes it, refuses it, or is away.
import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pauseSeconds } from '../../src/mail/delivery.ts';
import { openDatabase } from '../../src/platform/db.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type OddSmtpServer, oddSmtpServer } from './smtp.ts';
import { ann, type Post, post, resetMail } from './support.ts';

let test: TestDatabase;
let clock: TestClock;
let smtp: OddSmtpServer;
let office: Post;

beforeAll(async () => {
  test = await testDatabase();
});
beforeEach(async () => {
  await test.database.db.mailMessage.deleteMany();
  clock = testClock('2026-11-21T09:00:00Z');
  smtp = await oddSmtpServer();
  office = post({ ...test.database, clock, smtpUrl: smtp.url });
});
afterEach(() => smtp.close());
afterAll(() => test.close());

const notice = { kind: 'new-sign-in', to: ann, place: { at: new Date('2026-11-21T09:00:00Z') } } as const;
const row = () => test.database.db.mailMessage.findFirstOrThrow();

describe('a mail', () => {
  it('arrives as HTML and plain text, marked as automatic, and its body is erased here', async () => {
    await office.outbox.send(resetMail);
    await office.deliver();
    const [taken] = smtp.taken;
    const mail = await PostalMime.parse(taken?.source ?? '');
    expect(mail).toMatchObject({ subject: 'Reset your password', from: { address: 'no-reply@id.example.com' } });
    expect(mail.to).toEqual([{ name: '', address: ann.email }]);
    expect(mail.text).toContain(resetMail.kind === 'password-reset' ? resetMail.token : '');
    expect(mail.html).toContain('Choose a new password');
    expect(taken?.source).toContain('Auto-Submitted: auto-generated');
    expect(await row()).toMatchObject({ bodySealed: '', sentAt: clock.now(), failedAt: null });
    const [event] = await office.audit.list({ types: ['mail.sent'] });
    expect(event).toMatchObject({ subjectId: 'u1', data: { message: 'password-reset' } });
    expect(office.counts).toEqual({ sent: 1 });
    expect(office.log.join()).not.toContain('T0ken');
  });

  it('that is put off is tried again after growing pauses, under the same Message-ID', async () => {
    smtp.refuse.set(ann.email, 451);
    await office.outbox.send(notice);
    for (const seconds of [10, 20, 40]) {
      await office.deliver();
      clock.advance({ seconds: seconds - 1 });
      expect(await office.deliver()).toBe(0);
      clock.advance({ seconds: 1 });
    }
    smtp.refuse.clear();
    await office.deliver();
    expect(smtp.taken).toHaveLength(1);
    expect(office.counts).toEqual({ deferred: 3, sent: 1 });
    const { id } = await row();
    expect(smtp.taken[0]?.source).toContain(`Message-ID: <${id}@id.example.com>`);
    expect([0, 3, 8, 20].map(pauseSeconds)).toEqual([10, 80, 2560, 3600]);
  });

  it('that is refused for good is given up at once, and the audit says why', async () => {
    smtp.refuse.set(ann.email, 550);
    await office.outbox.send(notice);
    await office.outbox.send({ ...notice, to: { email: 'bob@example.com' } });
    await office.deliver();
    expect(smtp.taken.map(({ to }) => to)).toEqual(['bob@example.com']);
    const [event] = await office.audit.list({ types: ['mail.failed'] });
    expect(event).toMatchObject({ subjectId: 'u1', outcome: 'failure', reason: expect.stringContaining('550') });
    const failed = await test.database.db.mailMessage.findFirstOrThrow({ where: { recipient: ann.email } });
    expect(failed).toMatchObject({ bodySealed: '', failedAt: clock.now() });
    expect(await office.deliver()).toBe(0);
  });

  it('is not sent any more once its link has expired', async () => {
    await office.outbox.send(resetMail);
    clock.advance({ minutes: 20 });
    await office.deliver();
    expect(smtp.taken).toEqual([]);
    expect((await office.audit.list({ types: ['mail.failed'] }))[0]).toMatchObject({ reason: 'expired' });
  });

  it('is given up after three days at the latest', async () => {
    smtp.refuse.set(ann.email, 451);
    await office.outbox.send(notice);
    await office.deliver();
    clock.advance({ days: 3 });
    await office.deliver();
    expect((await office.audit.list({ types: ['mail.failed'] }))[0]?.reason).toContain('451');
  });
});

describe('a mail server that is away', () => {
  it('is asked once a run, and gets everything when it is back', async () => {
    await smtp.close();
    const people = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name) => `${name}@example.com`);
    for (const email of people) await office.outbox.send({ ...notice, to: { email } });
    for (let minute = 0; minute < 60; minute += 1) {
      await office.deliver();
      clock.advance({ minutes: 1 });
    }
    expect(office.log.filter((line) => line.includes('cannot be sent'))).toHaveLength(1);
    smtp = await oddSmtpServer(smtp.port);
    for (let runs = 0; runs < 3; runs += 1) await office.deliver();
    expect(smtp.taken.map(({ to }) => to).sort()).toEqual(people);
    expect(office.log.filter((line) => line.includes('can be sent again'))).toHaveLength(1);
  });
});

describe('two instances', () => {
  it('send each mail once', async () => {
    const second = await openDatabase(test.url);
    const other = post({ ...second, clock, smtpUrl: smtp.url });
    const people = Array.from({ length: 30 }, (_, index) => `p${index}@example.com`);
    for (const email of people) await office.outbox.send({ ...notice, to: { email } });
    await Promise.all([office.deliver(), other.deliver(), office.deliver(), other.deliver()]);
    expect(smtp.taken.map(({ to }) => to).sort()).toEqual([...people].sort());
    await second.close();
  });
});

describe('a mail that cannot be opened', () => {
  it('waits for the secret to come back', async () => {
    await office.outbox.send(notice);
    const stranger = post({ ...test.database, clock, smtpUrl: smtp.url, secrets: [Buffer.alloc(32, 7)] });
    await stranger.deliver();
    expect(stranger.log.join()).toContain('GATEHOUSE_SECRET');
    clock.advance({ hours: 1 });
    await office.deliver();
    expect(smtp.taken).toHaveLength(1);
  });
});
