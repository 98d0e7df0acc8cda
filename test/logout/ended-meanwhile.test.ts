// A session that ends while a SAML application is asking for it: no assertion leaves, because no sign-out would tell that
// application any more.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import type { App } from './support/app.ts';
import { openApp } from './support/browser-steps.ts';
import { followLogout } from './support/follow.ts';
import { nodeSamlApp } from './support/saml-apps.ts';

let idp: TestIdp;
let payroll: App;
beforeAll(async () => {
  idp = await startIdp();
  payroll = await nodeSamlApp(idp, 'Payroll');
});
afterAll(async () => {
  await payroll?.close();
  await idp?.stop();
});

it('the server rejects the pending sign-in of a session that was ended meanwhile', async () => {
  const user = await aUser(idp.services);
  const browser = httpClient();
  await openApp(browser, payroll, user);
  const [session] = await idp.services.sessions.list(user.account.id);
  const before = payroll.sessions();
  const where = { type: 'saml.response', outcome: 'success', subjectId: user.account.id };
  const assertions = () => idp.services.db.auditEvent.count({ where });
  const { accounts, endSession } = idp.services;
  const find = accounts.find.bind(accounts);
  vi.spyOn(accounts, 'find').mockImplementationOnce(async (id, tx) => {
    const account = await find(id, tx);
    await endSession.one(session?.uid ?? '', 'ended-by-admin');
    return account;
  });
  const { page } = await followLogout(browser, await browser.get(`${payroll.origin}/sign-in`));
  expect(new URL(page.url).origin).toBe(payroll.origin);
  expect(await assertions()).toBe(1);
  expect(payroll.sessions()).toBe(before);
  expect(page.text).not.toContain('signed in');
});
