// An instance dies between the mail server's ear and the database's note: the mail goes out all the same.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { testClock } from '../support/clock.ts';
import { testDatabase } from '../support/database.ts';
import { oddSmtpServer } from './smtp.ts';
import { post, resetMail } from './support.ts';

it('a mail under way when its instance is killed goes out a little later, from another one', async () => {
  const test = await testDatabase();
  const deaf = await oddSmtpServer();
  deaf.hang();
  const smtp = await oddSmtpServer();
  const clock = testClock();
  const office = post({ ...test.database, clock, smtpUrl: smtp.url });
  await office.outbox.send(resetMail);

  const program = ['--import', 'tsx', 'test/mail/deliver-process.ts', test.url, deaf.url];
  const victim = spawn(process.execPath, program, { stdio: 'inherit' });
  await deaf.hung;
  // Nobody else takes it while it may still be under way.
  expect(await office.deliver()).toBe(0);
  victim.kill('SIGKILL');
  await once(victim, 'exit');

  clock.advance({ minutes: 4 });
  expect(await office.deliver()).toBe(0);
  clock.advance({ minutes: 1, seconds: 1 });
  await office.deliver();
  expect(smtp.taken).toHaveLength(1);
  await Promise.all([deaf.close(), smtp.close(), test.close()]);
});
