// An instance is killed after it handed a mail to the mail server and before it stored the result.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { testClock } from '../support/clock.ts';
import { testDatabase } from '../support/database/database.ts';
import { faultySmtpServer } from './smtp.ts';
import { mailService, resetMail } from './support.ts';

it('the mail of a killed instance is sent by another one after its lease has expired', async () => {
  const test = await testDatabase();
  const hanging = await faultySmtpServer();
  hanging.hang();
  const smtp = await faultySmtpServer();
  const clock = testClock();
  const mail = mailService({ ...test.database, clock, smtpUrl: smtp.url });
  await mail.outbox.send(resetMail);

  const program = ['--import', 'tsx', 'test/mail/deliver-process.ts', test.url, hanging.url];
  const killed = spawn(process.execPath, program, { stdio: 'inherit' });
  await hanging.hung;
  // No other instance claims it while it may still be under way.
  expect(await mail.deliver()).toBe(0);
  killed.kill('SIGKILL');
  await once(killed, 'exit');

  clock.advance({ minutes: 4 });
  expect(await mail.deliver()).toBe(0);
  clock.advance({ minutes: 1, seconds: 1 });
  await mail.deliver();
  expect(smtp.delivered).toHaveLength(1);
  await Promise.all([hanging.close(), smtp.close(), test.close()]);
});
