// Alerts: a stream that sends events by email or to a chat, with the least number of events and a quiet time, and none about emails.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { newStream } from '../../src/admin/event-streams/event-streams.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { testClock } from '../support/clock.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { mailbox } from '../support/mailbox.ts';
import { textOf } from '../support/pages/html.ts';
import { aReceiver, aStream, deliver, isSigned, removeStreams, startWithoutJobs } from './support.ts';

let idp: TestIdp;
const clock = testClock();
beforeAll(async () => {
  idp = await startWithoutJobs(clock);
});
beforeEach(async () => {
  await removeStreams(idp);
  await idp.services.db.mailMessage.deleteMany({ where: { kind: 'event-alert' } });
});
afterAll(() => idp?.stop());

const run = () => deliver(idp.services);

const record = (type: 'administrator.added' | 'role.assigned' | 'sign-in.throttled' | 'mail.sent', more: object = {}) =>
  idp.services.audit.record({ type, outcome: 'success', ...more }, idp.services.db);

async function mails(): Promise<[string, string][]> {
  const rows = await idp.services.db.mailMessage.findMany({
    where: { kind: 'event-alert' },
    orderBy: { createdAt: 'asc' },
  });
  return rows.map(({ recipient, subject }) => [recipient, subject]);
}

const alert = { kind: 'alert' as const, name: 'Security', url: 'mailto:soc@example.com', events: ['role.assigned'] };

it('mails each address the sentence of the activity log', async () => {
  const { account } = await aUser(idp.services, { username: 'grace' });
  await aStream(idp, { ...alert, url: 'mailto:soc@example.com,cto@example.com' });
  await record('role.assigned', { subjectId: account.id, data: { roleName: 'admin' } });
  await run();
  const subject = 'Security: Ann Example (grace) received the role admin';
  expect((await mails()).sort()).toEqual([
    ['cto@example.com', subject],
    ['soc@example.com', subject],
  ]);
});

it('of the console says by email who became an administrator by the role of a group', async () => {
  const box = await mailbox();
  const server = await startIdp({ environment: { SMTP_URL: box.url } });
  const root = await staff(server, 'admin');
  const admin = await consoleOf(server, root);
  const added = await admin.submit(await admin.get('/admin/event-streams/new?kind=alert'), {
    name: 'Security',
    url: 'soc@example.com',
  });
  expect(added.status).toBe(303);
  const stream = await admin.follow(added);
  const tested = await admin.follow(await admin.submit(stream, {}, { form: '/test' }));
  expect(textOf(tested.text)).toMatch(/Deliveries.* Test Email queued soc@example\.com 1 /);
  const test = await box.waitForMail('soc@example.com');
  expect(test.subject).toBe('Security: This is a test of the alert. Nothing happened.');
  const { account } = await aUser(server.services, { username: 'hedy' });
  const { id } = await server.services.groups.create({ name: 'Desk' });
  await server.services.groups.addMembers(id, [{ userId: account.id }]);
  const parts = `/admin/groups/${id}/parts`;
  const asked = await admin.submit(await admin.get(parts), { role: 'support' }, { form: parts });
  await admin.submit(asked, { asked: 'yes' });
  const { subject, text } = await box.waitForMail('soc@example.com');
  const sentence = `Ann Example (${root.username}) made Ann Example (hedy) an administrator with the role support`;
  expect([subject, text]).toEqual([`Security: ${sentence}`, expect.stringContaining(sentence)]);
  await server.stop();
  await box.close();
});

it('is quiet after a mail, and the next one has all events since', async () => {
  await aStream(idp, { ...alert, quiet_minutes: 30 });
  await record('role.assigned');
  await run();
  for (let count = 0; count < 3; count += 1) {
    await record('role.assigned');
    clock.advance({ minutes: 9 });
    await run();
  }
  expect(await mails()).toHaveLength(1);
  clock.advance({ minutes: 4 });
  await run();
  expect((await mails()).map(([, subject]) => subject)).toEqual([
    expect.stringContaining('role'),
    'Security: 3 events',
  ]);
  clock.advance({ hours: 2 });
  await run();
  expect(await mails()).toHaveLength(2);
});

it('tells of a new administrator a minute after another event at most', async () => {
  await aStream(idp, { ...alert, events: ['role.assigned', 'administrator.added'], quiet_minutes: 60 });
  await record('role.assigned');
  await run();
  await record('role.assigned');
  await record('administrator.added');
  await run();
  expect(await mails()).toHaveLength(1);
  clock.advance({ minutes: 1 });
  await run();
  expect((await mails()).map(([, subject]) => subject)).toEqual([expect.anything(), 'Security: 2 events']);
  clock.advance({ minutes: 5 });
  await record('role.assigned');
  await run();
  expect(await mails()).toHaveLength(2);
  clock.advance({ minutes: 55 });
  await run();
  expect(await mails()).toHaveLength(3);
});

it('waits for a new administrator too where it counts events, or has none of them', async () => {
  await aStream(idp, { ...alert, events: ['role.assigned', 'administrator.added'], at_least: 2, quiet_minutes: 60 });
  await aStream(idp, { ...alert, name: 'Roles', url: 'mailto:hr@example.com', quiet_minutes: 60 });
  for (let count = 0; count < 2; count += 1) await record('role.assigned');
  await run();
  expect(await mails()).toHaveLength(2);
  clock.advance({ minutes: 5 });
  await record('administrator.added');
  await record('administrator.added');
  await run();
  expect(await mails()).toHaveLength(2);
});

/** More than one turn of the job looks at. */
const recordOthers = (count: number) =>
  idp.services.audit.recordAll(
    Array.from({ length: count }, () => ({ type: 'browser.forgotten', outcome: 'success' }) as const),
    idp.services.db,
  );

it('has all events since the last one, however many others come between', async () => {
  await aStream(idp, { ...alert, quiet_minutes: 30 });
  await record('role.assigned');
  await run();
  for (let count = 0; count < 3; count += 1) {
    await recordOthers(600);
    await record('role.assigned');
  }
  clock.advance({ minutes: 31 });
  await run();
  expect((await mails()).map(([, subject]) => subject)).toEqual([expect.anything(), 'Security: 3 events']);
});

it('a flood of one type neither delays nor hides another one', async () => {
  const receiver = await aReceiver();
  await aStream(idp, { ...alert, url: receiver.url, events: ['role.*', 'browser.forgotten'], quiet_minutes: 60 });
  await recordOthers(1200);
  await record('role.assigned', { subjectId: 'ann' });
  await recordOthers(1200);
  await run();
  expect(receiver.received).toHaveLength(1);
  const { data } = JSON.parse(receiver.received[0]?.body ?? 'null') as {
    data: { count: number; events: { type: string; chain: { seq: number } }[] };
  };
  expect(data.count).toBe(2401);
  expect(data.events).toHaveLength(20);
  expect(data.events.filter(({ type }) => type === 'role.assigned')).toHaveLength(1);
  const seqs = data.events.map(({ chain }) => chain.seq);
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  await receiver.close();
});

it('counts events in the time, however many others come between, and lists them all', async () => {
  await aStream(idp, { ...alert, events: ['sign-in.throttled'], at_least: 3, within_minutes: 10 });
  for (let count = 0; count < 3; count += 1) {
    await recordOthers(300);
    await record('sign-in.throttled');
    await run();
    clock.advance({ minutes: 1 });
  }
  expect((await mails()).map(([, subject]) => subject)).toEqual(['Security: 3 events']);
});

it('waits for as many events as it wants in the time', async () => {
  await aStream(idp, { ...alert, events: ['sign-in.throttled'], at_least: 3, within_minutes: 10 });
  for (let count = 0; count < 4; count += 1) {
    await record('sign-in.throttled');
    await run();
    clock.advance({ minutes: 6 });
  }
  expect(await mails()).toEqual([]);
  await record('sign-in.throttled');
  clock.advance({ minutes: 1 });
  await record('sign-in.throttled');
  await run();
  expect(await mails()).toHaveLength(1);
});

it('has no event about a mail, which would be followed by another one', async () => {
  await aStream(idp, { ...alert, events: ['*'], quiet_minutes: 0 });
  await run();
  await idp.services.db.mailMessage.deleteMany({ where: { kind: 'event-alert' } });
  await record('mail.sent');
  await run();
  expect(await mails()).toEqual([]);
});

it('is a signed request with the sentences for a chat, once in its quiet time, and waits for a receiver that is away', async () => {
  const receiver = await aReceiver();
  const { account } = await aUser(idp.services, { username: 'hopper' });
  const { stream, secret = '' } = await aStream(idp, { ...alert, url: receiver.url, quiet_minutes: 30 });
  expect(secret).toMatch(/^whsec_/);
  receiver.always({ status: 400 });
  await record('role.assigned', { subjectId: account.id, data: { roleName: 'admin' } });
  await run();
  expect(await idp.services.eventStreams.get(stream.id)).toMatchObject({ lastError: 'answered with status 400' });
  receiver.always({ status: 200 });
  await record('role.assigned', { subjectId: account.id, data: { roleName: 'auditor' } });
  clock.advance({ minutes: 1 });
  await run();
  const [first, second] = receiver.received;
  expect(second && isSigned(second, secret)).toBe(true);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  const alertOf = (index: number) => JSON.parse(receiver.received[index]?.body ?? 'null') as Record<string, unknown>;
  expect(alertOf(1)).toMatchObject({
    type: 'event-stream.alert',
    text: expect.stringMatching(/^Security\n\S+Z Ann Example \(hopper\) received the role admin$/),
    data: { stream: 'Security', count: 1, events: [{ type: 'role.assigned' }] },
  });
  clock.advance({ minutes: 20 });
  await run();
  expect(receiver.received).toHaveLength(2);
  await record('role.assigned', { subjectId: account.id, data: { roleName: 'editor' } });
  clock.advance({ minutes: 11 });
  await run();
  expect(alertOf(2)).toMatchObject({ data: { count: 2 } });
  expect((await idp.services.eventStreams.get(stream.id)).failingSince).toBeNull();
  await receiver.close();
});

it('no name makes a mention or a link in a chat', async () => {
  const receiver = await aReceiver();
  const name = '<!channel> <https://evil.example|Reset> [Reset](https://evil.example) @everyone';
  const { account } = await aUser(idp.services, { name, email: 'mallory@example.com' });
  await aStream(idp, { ...alert, url: receiver.url });
  await record('role.assigned', { subjectId: account.id, data: { roleName: 'R & D' } });
  await run();
  const { text } = JSON.parse(receiver.received[0]?.body ?? 'null') as { text: string };
  expect(text).not.toMatch(/[<>]|\]\(|:\/\/|(^|\s)@e/);
  expect(text).toContain('R &amp; D');
  await receiver.close();
});

it('has addresses and nothing else in its URL', () => {
  const url = (value: string) => newStream.safeParse({ name: 'A', kind: 'alert', url: value }).success;
  expect(url('mailto:ann@example.com')).toBe(true);
  for (const wrong of [
    'mailto:',
    'mailto:ann',
    'mailto:ann@example.com?bcc=eve@example.com',
    'mailto:a@b.c,',
    'mailto:ann@example.com%0Aeve',
  ])
    expect(url(wrong), wrong).toBe(false);
});
