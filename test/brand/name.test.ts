// The name of the brand where texts name the server: in emails to people, in the activity of an account and in authenticator apps.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf } from '../admin/console/support.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let mail: Mailbox;
beforeAll(async () => {
  mail = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: mail.url } });
});
afterAll(async () => {
  await idp?.stop();
  await mail?.close();
});

let count = 0;

/** How the server is named in an invitation, in an authenticator app and in the activity of an account. */
async function namesOfServer(brandName: string | undefined) {
  const { outbox, settings, mfa } = idp.services;
  if (brandName) await settings.set('brand_name', brandName);
  else await settings.unset('brand_name');
  await settings.reload();
  count += 1;
  const user = await aUser(idp.services);
  const to = { email: `guest${count}@example.com`, username: 'guest' };
  await outbox.send({ kind: 'invitation', to, token: 'x'.repeat(43), hours: 72 });
  const invitation = await mail.waitForMail(to.email);
  const alarm = { email: `alarm${count}@example.com`, username: 'admin' };
  await outbox.send({ kind: 'integrity-alarm', to: alarm, message: 'm', at: new Date() });
  const { uri } = mfa.totp.begin(user.account);
  const browser = await consoleOf(idp, user);
  return {
    subject: invitation.subject,
    text: /.*invited to (.+?)\. Your username/.exec(invitation.text.replace(/\s+/g, ' '))?.[1],
    alarm: (await mail.waitForMail(alarm.email)).subject,
    issuer: new URL(uri).searchParams.get('issuer'),
    account: decodeURIComponent(new URL(uri).pathname).split(':')[0],
    activity: /signed in to (\S+ ?\S*) with a password/.exec(
      textOf((await browser.get('/account/activity')).text),
    )?.[1],
  };
}

describe('the name of the server', () => {
  it('is the product without a brand, in an authenticator app the host, and then the name of the brand', async () => {
    const { host, hostname } = new URL(idp.issuer);
    const alarm = `Alarm: the database of ${host} was changed`;
    expect(await namesOfServer(undefined)).toEqual({
      subject: 'You’ve been invited to Gatehouse',
      text: 'Gatehouse',
      alarm,
      issuer: hostname,
      account: `/${hostname}`,
      activity: 'Gatehouse',
    });
    expect(await namesOfServer('Example & Söhne')).toMatchObject({
      text: 'Example & Söhne',
      issuer: 'Example & Söhne',
    });
    expect(await namesOfServer('Acme: ID')).toEqual({
      subject: 'You’ve been invited to Acme: ID',
      text: 'Acme: ID',
      alarm,
      issuer: 'Acme ID',
      account: '/Acme ID',
      activity: 'Acme: ID',
    });
  });
});
