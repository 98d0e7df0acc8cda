// Mail without a mail server: files that only their owner can read.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { testClock } from '../support/clock.ts';
import { testDatabase, testFolder } from '../support/database/database.ts';
import { ann, mailService, resetMail } from './support.ts';

describe('the outbox folder', () => {
  it('writes a mail as one .eml file without a mail server, and logs its name', async () => {
    const test = await testDatabase();
    const outboxDir = path.join(testFolder(), 'outbox');
    const mail = mailService({ ...test.database, clock: testClock('2026-11-21T09:00:00Z'), outboxDir });
    await mail.outbox.send(resetMail);
    await mail.deliver();
    const [name = '', ...others] = readdirSync(outboxDir);
    expect(others).toEqual([]);
    expect(name).toMatch(/^20261121T090000-[\w-]+\.eml$/);
    const file = path.join(outboxDir, name);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(outboxDir).mode & 0o777).toBe(0o700);
    const parsed = await PostalMime.parse(readFileSync(file));
    expect(parsed.to).toEqual([{ name: '', address: ann.email }]);
    expect(parsed.text).toContain('https://id.example.com/reset-password?token=');
    const lines = mail.log.filter((line) => line.includes(name));
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain('T0ken');
    await test.close();
  });

  it('keeps a mail queued when the folder cannot be written', async () => {
    const test = await testDatabase();
    const clock = testClock('2026-11-21T09:00:00Z');
    const mail = mailService({ ...test.database, clock, outboxDir: '/dev/null/outbox' });
    await mail.outbox.send(resetMail);
    await mail.deliver();
    const row = await test.database.db.mailMessage.findFirstOrThrow();
    expect(row).toMatchObject({ sentAt: null, failedAt: null });
    expect(row.lastError).toMatch(/ENOTDIR|ENOENT|EEXIST/);
    await test.close();
  });
});
