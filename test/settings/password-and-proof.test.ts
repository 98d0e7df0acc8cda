// The settings of passwords and of “Confirm it’s you”: never weaker than the defaults, and obeyed at once.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signRows } from '../support/database/row-macs.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { atAccount, signedIn } from '../support/pages/account.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

it.each([
  ['password_min_length', 14],
  ['password_min_length', 65],
  ['password_min_length_with_mfa', 7],
  ['recent_authentication_minutes', 0],
  ['recent_authentication_minutes', 61],
] as const)('%s cannot be %i', async (name, value) => {
  await expect(idp.services.settings.set(name, value)).rejects.toThrow();
});

it('a longer password is demanded of new ones, and at the next sign-in of people with a shorter one', async () => {
  const { services } = idp;
  const user = await aUser(services, { password: 'correct horse batt' });
  await services.settings.set('password_min_length', 20);
  await services.settings.reload();
  try {
    expect(await services.credentials.setPassword(user.account, 'nineteen letters ab')).toContain('too_short');
    const browser = httpClient(idp.issuer);
    const page = await atAccount(idp, user, browser);
    expect(page.text).toContain('Choose a new password');
    const short = await browser.submit(page, { password: 'nineteen letters ab' });
    expect([short.status, short.text]).toEqual([400, expect.stringContaining('20 characters')]);
    const done = await browser.follow(await browser.submit(short, { password: 'nine purple kettles in november' }));
    expect(done.text).toContain('Your account');
  } finally {
    await services.settings.unset('password_min_length');
  }
});

it('the time until “Confirm it’s you” is that of the setting', async () => {
  const { services } = idp;
  const user = await aUser(services);
  const browser = await signedIn(idp, user);
  const authTime = new Date(Date.now() - 3 * 60_000);
  await services.db.asStored.rpSession.updateMany({ where: { userId: user.account.id }, data: { authTime, mac: '' } });
  await signRows(services);
  expect((await browser.get('/account/email')).status).toBe(200);
  await services.settings.set('recent_authentication_minutes', 2);
  await services.settings.reload();
  try {
    const asked = await browser.follow(await browser.get('/account/email'));
    expect(asked.text).toContain('Confirm it’s you');
    const done = await browser.follow(await browser.submit(asked, { password: user.password }));
    expect([done.status, new URL(done.url).pathname]).toEqual([200, '/account/email']);
  } finally {
    await services.settings.unset('recent_authentication_minutes');
  }
});
