// A LogoutRequest about one user that is opened in the browser of another: the sessions that the sender may end are ended, and
// the applications of the other user are not affected.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import type { App } from './support/app.ts';
import { browserWith, leave, openApp } from './support/browser-steps.ts';
import { followLogout } from './support/follow.ts';
import { nodeSamlApp, samlifyApp } from './support/saml-apps.ts';

let idp: TestIdp;
let payroll: Awaited<ReturnType<typeof nodeSamlApp>>;
let library: App;

beforeAll(async () => {
  idp = await startIdp();
  payroll = await nodeSamlApp(idp, 'Payroll');
  library = await samlifyApp(idp, 'Library');
});
afterAll(async () => {
  await idp?.stop();
  await Promise.all([payroll, library].map((app) => app?.close()));
});

it.each([
  ['Payroll', 'Library'],
  ['Library', 'Payroll'],
])('a logout sends the browser of another user, coming from %s, to no page of %s', async (from, other) => {
  const [initiator, bystander] = from === 'Payroll' ? [payroll, library] : [library, payroll];
  const [mallory, alice] = [await aUser(idp.services), await aUser(idp.services)];
  const hers = await browserWith([initiator, bystander], mallory);
  const browser = await browserWith([bystander], alice);

  const { page, trail } = await followLogout(browser, await leave(hers, initiator));

  expect(trail.filter((url) => url.startsWith(bystander.origin))).toEqual([]);
  expect(page.text).not.toContain('You’re signed out');
  expect(await idp.services.sessions.list(mallory.account.id)).toEqual([]);
  expect(await idp.services.sessions.list(alice.account.id)).toHaveLength(1);
  await openApp(browser, initiator, { ...alice, password: 'is not asked for' });
  const participants = await idp.services.db.asStored.logoutParticipant.findMany({
    where: { run: { userId: mallory.account.id } },
  });
  const outcome = participants.find(({ name }) => name === other);
  expect([outcome?.state, outcome?.reason]).not.toContain('done');
});
