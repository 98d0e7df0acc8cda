// Without a mail server: the mail is a file that only its owner reads, and the log says where.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import PostalMime from 'postal-mime';
import { expect, it } from 'vitest';
import { testClock } from '../support/clock.ts';
import { testDatabase, testFolder } from '../support/database.ts';
import { ann, post, resetMail } from './support.ts';

it('is written as one .eml file, and one line of the log names it', async () => {
  const test = await testDatabase();
  const outboxDir = path.join(testFolder(), 'outbox');
  const office = post({ ...test.database, clock: testClock('2026-11-21T09:00:00Z'), outboxDir });
  await office.outbox.send(resetMail);
  await office.deliver();
  const [name = '', ...others] = readdirSync(outboxDir);
  expect(others).toEqual([]);
  expect(name).toMatch(/^20261121T090000-[\w-]+\.eml$/);
  const file = path.join(outboxDir, name);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(outboxDir).mode & 0o777).toBe(0o700);
  const mail = await PostalMime.parse(readFileSync(file));
  expect(mail.to).toEqual([{ name: '', address: ann.email }]);
  expect(mail.text).toContain('https://id.example.com/reset-password?token=');
  const lines = office.log.filter((line) => line.includes(name));
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('T0ken');
  await test.close();
});

it('waits when the folder cannot be written', async () => {
  const test = await testDatabase();
  const clock = testClock('2026-11-21T09:00:00Z');
  const office = post({ ...test.database, clock, outboxDir: '/dev/null/outbox' });
  await office.outbox.send(resetMail);
  await office.deliver();
  const row = await test.database.db.mailMessage.findFirstOrThrow();
  expect(row).toMatchObject({ sentAt: null, failedAt: null });
  expect(row.lastError).toMatch(/ENOTDIR|ENOENT|EEXIST/);
  await test.close();
});
