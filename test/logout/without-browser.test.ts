// Sessions that end without a browser: by an administrator, a reset, a role change, expiry. Applications that can be called are
// called, and the others are recorded as not notified.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testClock } from '../support/clock.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { some } from '../support/long-run.ts';
import { shortSweepWait } from '../support/waits.ts';
import type { App } from './support/app.ts';
import { browserWith } from './support/browser-steps.ts';
import { oidcApp } from './support/oidc-app.ts';
import { nodeSamlApp } from './support/saml-apps.ts';

const clock = testClock();
let idp: TestIdp;
let user: TestUser;
let wiki: App;
let chat: App;
let payroll: App;
let board: Awaited<ReturnType<typeof nodeSamlApp>>;
const before = { chat: 0, payroll: 0 };

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
  wiki = await oidcApp(idp, 'back', 'Wiki');
  chat = await oidcApp(idp, 'front', 'Chat');
  payroll = await nodeSamlApp(idp, 'Payroll');
  board = await nodeSamlApp(idp, 'Board', { binding: 'soap' });
});
afterAll(async () => {
  await idp?.stop();
  await Promise.all([wiki, chat, payroll, board].map((app) => app?.close()));
});
beforeEach(async () => {
  user = await aUser(idp.services);
  board.spoil({});
  Object.assign(before, { chat: chat.sessions(), payroll: payroll.sessions() });
  await browserWith([wiki, chat, payroll, board], user);
});

const id = () => user.account.id;
const uid = async () => (await idp.services.sessions.list(id()))[0]?.uid ?? '';
const ends: Record<string, () => Promise<unknown>> = {
  'an administrator who ends one session': async () => idp.services.endSession.one(await uid(), 'ended-by-admin'),
  'an administrator who ends all sessions of a user': () => idp.services.endSession.all(id(), 'ended-by-admin'),
  'an administrator who ends all sessions of an application': () =>
    idp.services.endSession.ofApplication(payroll.clientId, 'ended-by-admin'),
  'a password reset': () => idp.services.endSession.all(id(), 'password-reset'),
  'a disabled account': () => idp.services.endSession.all(id(), 'account-disabled'),
  async 'a change of roles, where the setting says so'() {
    const { roles, settings } = idp.services;
    await settings.set('sign_out_on_role_change', true);
    await settings.reload();
    await roles.create({ name: `role ${id()}x` });
    await roles.assign(id(), `role ${id()}x`);
    await settings.unset('sign_out_on_role_change');
  },
  async 'a group that gives no role and is left, where the setting says so'() {
    const { groups, settings } = idp.services;
    const group = await groups.create({ name: `group ${id()}x` });
    await groups.addMembers(group.id, [{ userId: id() }]);
    await settings.set('sign_out_on_role_change', true);
    await settings.reload();
    await groups.removeMembers(group.id, [id()]);
    await settings.unset('sign_out_on_role_change');
  },
};

describe('the end of a session', () => {
  it.each(Object.keys(ends))('notifies its applications after %s', async (name) => {
    await ends[name]?.();
    expect(await idp.services.sessions.list(id())).toEqual([]);
    await expect.poll(() => [wiki.sessions(), board.sessions()]).toEqual([0, 0]);
    expect([chat.sessions(), payroll.sessions()]).toEqual([before.chat + 1, before.payroll + 1]);
    await expect.poll(outcomes).toEqual({
      Wiki: 'done',
      Chat: 'unsupported needs_browser',
      Payroll: 'unsupported needs_browser',
      Board: 'done',
    });
    expect(
      await idp.services.db.auditEvent.count({ where: { subjectId: id(), type: { startsWith: 'session' } } }),
    ).toBe(1);
  });

  it('notifies its applications after expiry', async () => {
    const session = await uid();
    await idp.stop();
    const later = testClock();
    later.advance({ hours: 13 });
    // The job of the next start finds it.
    shortSweepWait();
    idp = await startIdp({ now: later.now, environment: idp.environment as Record<string, string> });
    await expect.poll(() => [wiki.sessions(), board.sessions()]).toEqual([0, 0]);
    const event = await idp.services.db.auditEvent.findFirst({ where: { subjectId: id(), type: 'session.ended' } });
    expect(event).toMatchObject({ reason: 'expired', outcome: 'success' });
    expect(await idp.services.db.oidcArtifact.count({ where: { uid: session, model: 'Session' } })).toBe(0);
    await idp.stop();
    idp = await startIdp({ now: clock.now, environment: idp.environment as Record<string, string> });
  });
});

it('the server keeps sessions after a change of roles unless the setting ends them', async () => {
  const { roles, sessions } = idp.services;
  await roles.create({ name: 'a role more' });
  await roles.assign(id(), 'a role more');
  expect(await sessions.list(id())).toHaveLength(1);
});

describe('a service provider that is notified by SOAP', () => {
  it.each(
    some(2, [
      ['is down', async () => board.goDown(), async () => board.comeBack()],
      ['says that it could not', async () => board.spoil({ status: 'failure' }), async () => board.spoil({})],
      [
        'signs with a key that is not its own',
        async () => board.spoil({ sign: 'other-key' }),
        async () => board.spoil({}),
      ],
      ['does not sign', async () => board.spoil({ sign: 'none' }), async () => board.spoil({})],
    ]),
  )('is called again after it %s', async (_name, breakIt, fixIt) => {
    await breakIt();
    await idp.services.endSession.all(id(), 'ended-by-admin');
    await expect.poll(async () => (await outcomes()).Board).toMatch(/^retrying/);
    await fixIt();
    clock.advance({ seconds: 11 });
    await expect.poll(async () => (await outcomes()).Board).toBe('done');
  });

  it('that says that it could not is in the activity of the application and in the log, with its answer', async () => {
    board.spoil({ status: 'failure' });
    await idp.services.endSession.all(id(), 'ended-by-admin');
    const entries = () => idp.services.audit.list({ types: ['logout.rejected'], clientId: board.clientId, limit: 10 });
    const mine = async () => (await entries()).filter(({ subjectId }) => subjectId === id());
    await expect.poll(async () => (await mine()).length).toBe(1);
    expect((await mine())[0]).toMatchObject({
      outcome: 'failure',
      data: { channel: 'soap', answer: expect.stringContaining('urn:oasis:names:tc:SAML:2.0:status:') },
    });
    const logged = idp.log.filter((line) => /rejected a logout message/.test(line) && line.includes(board.clientId));
    expect(logged.join()).toContain('"channel":"soap"');
    board.spoil({});
  });
});

async function outcomes(): Promise<Record<string, string>> {
  const run = await idp.services.db.asStored.logoutRun.findFirst({
    where: { userId: id() },
    include: { participants: true },
  });
  const rows = run?.participants ?? [];
  return Object.fromEntries(rows.map(({ name, state, reason }) => [name, `${state} ${reason ?? ''}`.trim()]));
}
