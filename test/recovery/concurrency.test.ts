// Parallel uses of one reset link: exactly one succeeds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseKind } from '../support/database/database.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { linkServices } from '../support/link-services.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { forgot, linkIn, mailIsIdle, mailOf, open, passwordWorks } from './support.ts';

let box: Mailbox;
let idp: TestIdp;
let other: TestIdp | undefined;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
  // A second instance on the same data, under the same issuer.
  if (databaseKind() === 'postgresql') {
    other = await startIdp({
      environment: { DATABASE_URL: String(idp.environment.DATABASE_URL), ISSUER: idp.issuer, SMTP_URL: box.url },
    });
  }
});
afterAll(async () => {
  await other?.stop();
  await idp?.stop();
  await box?.close();
});

describe('twenty parallel uses of one reset link', () => {
  it('set one password', async () => {
    const user = await aUser(idp.services);
    await forgot(idp, user.username);
    const link = linkIn(await mailOf(box, user.account.email ?? '', 'Reset your password'));
    const forms = await Promise.all(Array.from({ length: 20 }, () => open(idp, link)));
    const passwords = forms.map((_form, index) => `password number ${index} of many`);
    const answers = await Promise.all(
      forms.map(({ browser, page }, index) => browser.submit(page, { password: passwords[index] ?? '' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 19 }, () => 400)]);
    const winner = passwords[answers.findIndex(({ status }) => status === 303)] ?? '';
    expect(await passwordWorks(idp.services, user.account.id, winner)).toBe('ok');
    const events = await idp.services.audit.list({ types: ['password.reset'], outcome: 'success' });
    expect(events).toHaveLength(1);
    await mailIsIdle(idp.services);
    const notices = box.messages.filter(({ subject }) => subject === 'Your password was changed');
    expect(notices).toHaveLength(1);
  });
});

describe('many parallel requests for a link', () => {
  it('leave one link that works, and send at most three mails', async () => {
    const user = await aUser(idp.services);
    await Promise.all(Array.from({ length: 8 }, () => forgot(idp, user.username)));
    await mailIsIdle(idp.services);
    const mails = box.messages.filter((mail) => mail.to.includes(user.account.email ?? ''));
    expect(mails).toHaveLength(3);
    const statuses = [];
    for (const mail of mails) statuses.push((await open(idp, linkIn(mail))).page.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });
});

describe.runIf(databaseKind() === 'postgresql')('two instances', () => {
  it('accept a link once between them', async () => {
    if (!other) throw new Error('there is no second instance');
    const user = await aUser(idp.services);
    await forgot(idp, user.username);
    const link = linkIn(await mailOf(box, user.account.email ?? '', 'Reset your password'));
    const token = new URL(link).searchParams.get('token') ?? '';
    const request = { requestId: 'r', address: '127.0.0.1', userAgent: '' };
    const outcomes = await Promise.all(
      [idp, other, idp, other].map(({ services }, index) =>
        linkServices(services).passwordReset.redeem(token, `password number ${index} of many`, request),
      ),
    );
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['done', 'invalid', 'invalid', 'invalid']);
  });
});
