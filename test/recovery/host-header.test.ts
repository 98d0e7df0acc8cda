// Mailed links are built from ISSUER, whatever Host or X-Forwarded header a request has.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { linkIn, mailIsIdle, mailOf } from './support.ts';

let box: Mailbox;
const idps: Record<string, TestIdp> = {};

beforeAll(async () => {
  box = await mailbox();
  idps.direct = await startIdp({ environment: { SMTP_URL: box.url } });
  idps['behind a proxy'] = await startIdp({ environment: { SMTP_URL: box.url, TRUST_PROXY: '1' } });
});
afterAll(async () => {
  await Promise.all(Object.values(idps).map((idp) => idp.stop()));
  await box?.close();
});

const games: Record<string, string>[] = [
  { host: 'evil.example' },
  { host: 'evil.example:443' },
  { host: 'localhost:1' },
  { 'x-forwarded-host': 'evil.example' },
  { 'x-forwarded-host': 'evil.example, evil.example' },
  { forwarded: 'host=evil.example;proto=https' },
  { 'x-forwarded-proto': 'https' },
  { 'x-host': 'evil.example', 'x-original-url': 'https://evil.example/', 'x-forwarded-server': 'evil.example' },
];

describe.each(['direct', 'behind a proxy'])('a server %s', (name) => {
  it.each(games)('sends no link to another host for %j', async (headers) => {
    const idp = idps[name];
    if (!idp) throw new Error('not started');
    const user = await aUser(idp.services);
    const browser = httpClient(idp.issuer);
    const page = await browser.get('/forgot-password');
    const answer = await browser.submit(page, { username: user.username }, { headers });
    await mailIsIdle(idp.services);
    const mails = box.messages.filter(({ to }) => to.includes(user.account.email ?? ''));
    expect(answer.location ?? '').not.toContain('evil');
    if (answer.status !== 303) {
      expect(answer.status).toBe(421);
      expect(mails).toEqual([]);
      return;
    }
    const mail = await mailOf(box, user.account.email ?? '', 'Reset your password');
    expect(new URL(linkIn(mail)).origin).toBe(idp.issuer);
    expect(mail.source).not.toContain('evil.example');
  });
});
