// A request for a reset survives an outage of the mail server and a restart of the server.
import { expect, it } from 'vitest';
import { faultySmtpServer } from '../mail/smtp.ts';
import { aUser } from '../support/factories.ts';
import { freePort, startIdp } from '../support/idp.ts';
import { forgot, NEW_PASSWORD, passwordWorks, redeem } from './support.ts';

it('the server sends the mail from another process when the mail server is back', async () => {
  const port = await freePort();
  const first = await startIdp({ environment: { SMTP_URL: `smtp://127.0.0.1:${port}` } });
  const user = await aUser(first.services);
  const answer = await forgot(first, user.username);
  expect(answer.status).toBe(303);
  // At once, before the mail job runs.
  await first.stop();

  const second = await startIdp({ environment: { ...(first.environment as Record<string, string>) } });
  const { db } = second.services;
  await until('the mail server is away', async () => {
    return (await db.mailMessage.count({ where: { lastError: { not: null } } })) > 0;
  });
  const smtp = await faultySmtpServer(port);
  await db.mailMessage.updateMany({ data: { nextTryAt: new Date(0) } }); // rather than wait for ten seconds
  await until('the mail is delivered', async () => smtp.delivered.length > 0);
  const token = /token=3D([\w=\r\n-]+)/
    .exec(smtp.delivered[0]?.source ?? '')?.[1]
    ?.replace(/=\r\n/g, '')
    .slice(0, 43);
  await redeem(second, `${second.issuer}/reset-password?token=${token}`);
  expect(await passwordWorks(second.services, user.account.id, NEW_PASSWORD)).toBe('ok');
  await second.stop();
  await smtp.close();
});

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1200; tries += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`not within 30 seconds: ${what}`);
}
