// Webhooks on the whole server: which events, signatures, retries, a receiver that is away, a pause, a replay, two nodes and a killed one.
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { linkHash } from '../../src/core/audit/chain/link.ts';
import { createEventDeliveries } from '../../src/protocols/event-streams/deliveries.ts';
import { deliveriesOf } from '../../src/protocols/event-streams/delivery-list.ts';
import { verifyEvents } from '../../src/protocols/event-streams/verify.ts';
import { testClock } from '../support/clock.ts';
import { itOnBothInLongRun } from '../support/database/it-on-sqlite.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { aReceiver, aStream, deliver, isSigned, removeStreams, startWithoutJobs } from './support.ts';

let idp: TestIdp;
const clock = testClock();
let receiver: Awaited<ReturnType<typeof aReceiver>>;
beforeAll(async () => {
  idp = await startWithoutJobs(clock);
});
beforeEach(async () => {
  await removeStreams(idp);
  await receiver?.close();
  receiver = await aReceiver();
});
afterAll(async () => {
  await receiver?.close();
  await idp?.stop();
});

const run = (services = idp.services) => deliver(services);

const got = (count: number, { received } = receiver) =>
  vi.waitFor(() => expect(received).toHaveLength(count), { timeout: 60_000 });

const record = (type: 'role.assigned' | 'sign-in.completed' | 'mail.sent', more: object = {}) =>
  idp.services.audit.record({ type, outcome: 'success', ...more }, idp.services.db);

it('sends each event of its patterns once, signed, in the order of the chain and linked to the one before', async () => {
  const { stream, secret = '' } = await aStream(idp, { url: receiver.url, events: ['sign-in.*', 'role.assigned'] });
  await record('sign-in.completed', { subjectId: 'ann', data: { method: 'passkey' } });
  await record('mail.sent');
  await record('role.assigned', { actorId: 'root', subjectId: 'ann' });
  await run();
  await run();
  await got(2);
  const [first, second] = receiver.received.map(({ event }) => event).sort((a, b) => a.chain.seq - b.chain.seq);
  expect([first?.type, second?.type]).toEqual(['sign-in.completed', 'role.assigned']);
  expect(first?.data).toMatchObject({ subject: { id: 'ann' }, details: { method: 'passkey' }, outcome: 'success' });
  expect(second?.chain.after).toEqual({ seq: first?.chain.seq, hash: first?.chain.hash });
  for (const one of receiver.received) {
    expect(isSigned(one, secret)).toBe(true);
    // After a restore, another event can have the position.
    expect(one.headers['webhook-id']).toBe(`evt_${one.event.chain.seq}_${one.event.chain.hash.slice(0, 16)}`);
  }
  const [delivered] = await idp.services.db.eventDelivery.findMany({ where: { streamId: stream.id } });
  expect(delivered).toMatchObject({ doneAt: expect.any(Date), tries: 1, answer: '204' });
});

itOnBothInLongRun('names people in a full body only, and chooses events by application and by group', async () => {
  const { account: ann } = await aUser(idp.services);
  const { account: bob } = await aUser(idp.services);
  const group = await idp.services.groups.create({ name: 'Physics' }, { by: {} });
  await idp.services.groups.addMembers(group.id, [{ userId: ann.id }], { by: {} });
  await aStream(idp, { url: receiver.url, events: ['sign-in.completed'], groups: ['Physics'], body: 'full' });
  await aStream(idp, { url: receiver.url, events: ['sign-in.completed'], applications: ['wiki'] });
  await record('sign-in.completed', { actorId: ann.id, subjectId: ann.id });
  await record('sign-in.completed', { actorId: bob.id, subjectId: bob.id, clientId: 'wiki' });
  await run();
  await got(2);
  expect(
    receiver.received.map(({ event }) => event.data.subject).sort((a, b) => (a?.name ? -1 : b?.name ? 1 : 0)),
  ).toEqual([{ id: ann.id, username: ann.username, name: 'Ann Example', email: ann.email }, { id: bob.id }]);
});

it('tries a rejected event again by the schedule, without holding up the others, and gives up after three days', async () => {
  const { stream } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
  receiver.next({ status: 400 }, { status: 204 });
  await record('role.assigned', { subjectId: 'first' });
  await run();
  await record('role.assigned', { subjectId: 'second' });
  await run();
  await got(2);
  receiver.always({ status: 400 });
  for (const seconds of [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]) {
    clock.advance({ seconds: seconds + 1 });
    await run();
  }
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toHaveLength(2);
  const [failed] = await idp.services.db.eventDelivery.findMany({
    where: { streamId: stream.id, failedAt: { not: null } },
  });
  expect(failed).toMatchObject({ tries: 10, lastError: 'answered with status 400' });
  expect((await idp.services.eventStreams.get(stream.id)).pausedAt).toBeNull();
});

itOnBothInLongRun(
  'a receiver that is away costs one request for each pause, loses nothing, and is paused with a mail after three days',
  async () => {
    const { stream } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
    const other = await aReceiver();
    await aStream(idp, { url: other.url, events: ['role.assigned'] });
    receiver.always({ status: 503, headers: { 'retry-after': '120' } });
    for (let index = 0; index < 5; index++) await record('role.assigned', { subjectId: `user-${index}` });
    await run();
    await run();
    // As many as are sent at once.
    expect(receiver.received).toHaveLength(2);
    await got(5, other);
    const { retryAt, failingSince } = await idp.services.eventStreams.get(stream.id);
    expect(retryAt?.getTime()).toBeGreaterThanOrEqual(clock.now().getTime() + 119_000);
    expect(failingSince).not.toBeNull();
    clock.advance({ days: 3, minutes: 5 });
    await run();
    const paused = await idp.services.eventStreams.get(stream.id);
    expect(paused).toMatchObject({ pausedAt: expect.any(Date), lastError: 'answered with status 503' });
    const asked = receiver.received.length;
    clock.advance({ days: 1 });
    await run();
    expect(receiver.received).toHaveLength(asked);
    receiver.always({ status: 200 });
    await idp.services.eventStreams.resume(stream.id, {});
    await run();
    const ids = () => new Set(receiver.received.slice(asked).map(({ event }) => event.data.subject?.id));
    await vi.waitFor(() => expect(ids()).toEqual(new Set([0, 1, 2, 3, 4].map((index) => `user-${index}`))), {
      timeout: 60_000,
    });
    expect(await idp.services.eventStreams.get(stream.id)).toMatchObject({ failingSince: null, pausedAt: null });
    await other.close();
  },
);

itOnBothInLongRun(
  'a receiver that rejects everything is failing, and is paused with its events after three days',
  async () => {
    const { stream } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
    receiver.always({ status: 400 });
    const of = () => idp.services.eventStreams.get(stream.id);
    await record('role.assigned', { subjectId: 'a' });
    clock.advance({ minutes: 1 });
    await run();
    await vi.waitFor(async () => expect((await of()).lastError).toBe('answered with status 400'), 20_000);
    expect((await of()).failingSince).not.toBeNull();
    for (let hour = 0; hour < 80 && (await of()).pausedAt === null; hour += 1) {
      clock.advance({ hours: 1 });
      await record('role.assigned', { subjectId: `at ${hour}` });
      await run();
    }
    expect((await of()).pausedAt).not.toBeNull();
    const where = { streamId: stream.id };
    expect(await idp.services.db.eventDelivery.count({ where: { ...where, failedAt: { not: null } } })).toBe(0);
    receiver.always({ status: 204 });
    await idp.services.eventStreams.resume(stream.id, {});
    await run();
    await vi.waitFor(
      async () => expect(await idp.services.db.eventDelivery.count({ where: { ...where, doneAt: null } })).toBe(0),
      { timeout: 60_000 },
    );
    expect((await of()).failingSince).toBeNull();
  },
);

itOnBothInLongRun('a receiver that is away after it rejected events waits for the first pause', async () => {
  const { stream } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
  receiver.always({ status: 400 });
  for (const subjectId of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
    await record('role.assigned', { subjectId });
    clock.advance({ seconds: 1 });
    await run();
  }
  expect((await idp.services.eventStreams.get(stream.id)).failingSince).not.toBeNull();
  receiver.always({ status: 503 });
  await record('role.assigned', { subjectId: 'i' });
  await run();
  const { retryAt } = await idp.services.eventStreams.get(stream.id);
  expect(retryAt?.getTime()).toBeLessThanOrEqual(clock.now().getTime() + 10_000);
});

itOnBothInLongRun('410 pauses at once', async () => {
  const { stream } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
  receiver.always({ status: 410 });
  await record('role.assigned');
  await run();
  expect((await idp.services.eventStreams.get(stream.id)).pausedAt).not.toBeNull();
  const events = await idp.services.audit.list({ types: ['event-stream.paused'], limit: 1 });
  expect(events).toMatchObject([{ data: { streamId: stream.id } }]);
});

itOnBothInLongRun(
  'follows no redirect, and shows what a receiver in an allowed network answered only as a status',
  async () => {
    const { stream } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
    receiver.next({ status: 302, headers: { location: `${receiver.url}/elsewhere` } });
    await record('role.assigned');
    await run();
    await got(1);
    await idp.services.settings.set('outgoing_networks', ['10.0.0.0/8']);
    await idp.services.settings.reload();
    receiver.always({ status: 400, body: 'secrets of an internal service' });
    clock.advance({ minutes: 1 });
    await run();
    const rows = await idp.services.db.eventDelivery.findMany({ where: { streamId: stream.id } });
    expect(JSON.stringify(rows)).not.toContain('internal service');
    await idp.services.settings.set('outgoing_networks', []);
    await idp.services.settings.reload();
  },
);

itOnBothInLongRun(
  'both secrets sign for seven days after a change, and no signature is valid for another stream',
  async () => {
    const { stream, secret: old = '' } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
    const { secret: foreign = '' } = await aStream(idp, { url: 'http://127.0.0.1:9/none', events: ['mail.sent'] });
    const fresh = (await idp.services.eventStreams.changeSecret(stream.id, undefined, {})) ?? '';
    await record('role.assigned');
    await run();
    await got(1);
    const [both] = receiver.received;
    expect([old, fresh, foreign].map((secret) => both && isSigned(both, secret))).toEqual([true, true, false]);
    clock.advance({ days: 8 });
    await record('role.assigned');
    await run();
    await got(2);
    const later = receiver.received.at(-1);
    expect([old, fresh].map((secret) => later && isSigned(later, secret))).toEqual([false, true]);
  },
);

it('replays a range of the log beside new events, with the same ids', async () => {
  const { stream } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
  const from = clock.now();
  await record('role.assigned', { subjectId: 'a' });
  await record('role.assigned', { subjectId: 'b' });
  await run();
  clock.advance({ minutes: 1 });
  const until = clock.now();
  await record('role.assigned', { subjectId: 'c' });
  await run();
  expect(await idp.services.eventStreams.replay(stream.id, { from, until }, {})).toBeGreaterThanOrEqual(2);
  await record('role.assigned', { subjectId: 'd' });
  await run();
  await got(6);
  const subjects = receiver.received.map(({ event }) => event.data.subject?.id);
  expect(subjects.slice(0, 3).sort()).toEqual(['a', 'b', 'c']);
  expect(subjects.slice(3).sort()).toEqual(['a', 'b', 'd']);
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids)).toHaveLength(4);
  const file = receiver.received.map(({ body }) => body).join('\n');
  expect(verifyEvents(file)).toMatchObject({ ok: true, events: 4 });
});

it('a stream of a group follows its new name, has the deletion of a member, and nothing of another group with the old name', async () => {
  const { services } = idp;
  const { account: ann } = await aUser(services);
  const { account: bob } = await aUser(services);
  const { id } = await services.groups.create({ name: 'Chemistry' }, { by: {} });
  await services.groups.addMembers(id, [{ userId: ann.id }], { by: {} });
  const { stream } = await aStream(idp, { url: receiver.url, events: ['user.*'], groups: ['Chemistry'] });
  await expect(aStream(idp, { url: receiver.url, groups: ['no such group'] })).rejects.toMatchObject({
    faults: [expect.objectContaining({ path: ['groups'], code: 'unknown-group' })],
  });
  await services.groups.update(id, { name: 'Biology' }, { by: {} });
  expect((await services.eventStreams.get(stream.id)).groups).toEqual(['Biology']);
  const other = await services.groups.create({ name: 'Chemistry' }, { by: {} });
  await services.groups.addMembers(other.id, [{ userId: bob.id }], { by: {} });
  await services.accounts.setActive(bob.id, false, {});
  await services.accounts.setActive(ann.id, false, {});
  await services.accounts.remove(ann.id, {});
  await run();
  await got(2);
  expect(receiver.types().sort()).toEqual(['account.deleted', 'account.disabled']);
  expect(receiver.received.map(({ event }) => event.data.subject?.id)).toEqual([ann.id, ann.id]);
});

itOnBothInLongRun('a long replay does not delay what happens now, and proves that none is missing', async () => {
  const { stream } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
  const events = Array.from({ length: 620 }, () => ({ type: 'role.assigned', outcome: 'success' }) as const);
  const from = clock.now();
  await idp.services.audit.recordAll(events, idp.services.db);
  await run();
  await got(620);
  clock.advance({ minutes: 1 });
  receiver.received.length = 0;
  receiver.always({ status: 503 });
  await idp.services.eventStreams.replay(stream.id, { from, until: clock.now() }, {});
  await run();
  await record('role.assigned', { subjectId: 'now' });
  await run();
  clock.advance({ hours: 1 });
  receiver.always({ status: 204 });
  receiver.received.length = 0;
  await run();
  await got(621);
  const order = receiver.received.map(({ event }) => event.data.subject?.id);
  expect(order.indexOf('now')).toBeLessThan(3);
  const replayed = receiver.received.filter(({ event }) => event.data.subject?.id !== 'now').map(({ body }) => body);
  expect(verifyEvents(replayed.join('\n'))).toMatchObject({ ok: true, events: 620 });
});

itOnBothInLongRun('a replay is not begun again while its events wait, and an alert has none', async () => {
  const { stream } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
  const { stream: alert } = await aStream(idp, { url: receiver.url, kind: 'alert', events: ['role.assigned'] });
  const from = clock.now();
  await record('role.assigned', { subjectId: 'a' });
  await run();
  clock.advance({ seconds: 1 });
  const range = { from, until: clock.now() };
  await idp.services.eventStreams.replay(stream.id, range, {});
  await expect(idp.services.eventStreams.replay(stream.id, range, {})).rejects.toMatchObject({ status: 409 });
  const [find] = createEventDeliveries(idp.services).jobs;
  await find?.run(new AbortController().signal);
  await expect(idp.services.eventStreams.replay(stream.id, range, {})).rejects.toMatchObject({ status: 409 });
  await run();
  expect(await idp.services.eventStreams.replay(stream.id, range, {})).toBeGreaterThan(0);
  await expect(idp.services.eventStreams.replay(alert.id, range, {})).rejects.toMatchObject({ status: 409 });
});

it('deliveries are listed by state, page by page', async () => {
  const { stream } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
  const at = clock.now();
  const row = { streamId: stream.id, tries: 10, nextTryAt: at, createdAt: at };
  const data = Array.from({ length: 5 }, (_, seq) => ({ id: `one-${seq}`, seq: seq + 1, untilSeq: seq + 1, ...row }));
  await idp.services.db.eventDelivery.createMany({ data: data.map((one) => ({ ...one, failedAt: at })) });
  await idp.services.db.eventDelivery.create({ data: { ...row, id: 'done', seq: 9, untilSeq: 9, doneAt: at } });
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const page = await deliveriesOf(idp.services, { streamId: stream.id, state: 'failed', limit: 2, after });
    ids.push(...page.items.map(({ id }) => id));
    after = page.next;
  } while (after !== undefined);
  expect(ids).toEqual(['one-4', 'one-3', 'one-2', 'one-1', 'one-0']);
});

itOnBothInLongRun('received events alone show that one is missing or was changed', async () => {
  await aStream(idp, { url: receiver.url });
  for (const subjectId of ['a', 'b', 'c', 'd']) await record('role.assigned', { subjectId });
  await run();
  await vi.waitFor(() => expect(receiver.types().filter((type) => type === 'role.assigned')).toHaveLength(4), {
    timeout: 60_000,
  });
  // The order of arrival is not certain.
  receiver.received.sort((one, other) => one.event.chain.seq - other.event.chain.seq);
  const bodies = receiver.received.map(({ body }) => body);
  expect(verifyEvents(bodies.join('\n'))).toMatchObject({ ok: true, events: bodies.length });
  const without = bodies.filter((_body, index) => index !== 1);
  expect(verifyEvents(without.join('\n'))).toMatchObject({ ok: false, faults: [{ kind: 'missing' }] });
  const changed = bodies.map((body, index) => (index === 1 ? body.replace(/"digest":"./, '"digest":"g') : body));
  expect(verifyEvents(changed.join('\n'))).toMatchObject({ ok: false, faults: [{ kind: 'changed' }] });
  const twice = (more: string) => verifyEvents([...bodies, bodies[1]?.replace('"outcome":"success"', more)].join('\n'));
  expect(twice('"outcome":"success"').ok).toBe(true);
  expect(twice('"outcome":"failure"')).toMatchObject({ ok: false, faults: [{ kind: 'changed' }] });
  const [, two] = receiver.received.map(({ event }) => event);
  const { chain, data } = two ?? receiver.received[0]?.event ?? expect.fail();
  expect(linkHash(chain.after?.hash ?? '', { chainSeq: chain.seq, id: data.id, digest: chain.digest })).toBe(
    chain.hash,
  );
});

it('two nodes send each event once', async () => {
  const other = await startIdp({ now: clock.now, environment: { DATABASE_URL: idp.environment.DATABASE_URL ?? '' } });
  try {
    await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
    for (let index = 0; index < 30; index++) await record('role.assigned', { subjectId: `user-${index}` });
    await Promise.all([run(), run(other.services), run(), run(other.services)]);
    await run();
    await got(30);
    const subjects = receiver.received.map(({ event }) => event.data.subject?.id);
    expect(subjects).toHaveLength(30);
    expect(new Set(subjects)).toHaveLength(30);
  } finally {
    await other.stop();
  }
});

itOnBothInLongRun.each([
  { url: 'https://169.254.169.254/latest' },
  { url: 'syslog://169.254.169.254:80', kind: 'siem', format: 'syslog' },
] as const)('a receiver whose address is internal is not called: $url', async (given) => {
  const { stream } = await aStream(idp, { ...given, events: ['role.assigned'] });
  await record('role.assigned');
  await run();
  expect((await idp.services.eventStreams.get(stream.id)).lastError).toContain('private or special network');
});

itOnBothInLongRun('attempts while the receiver was away do not count for an event that it rejects later', async () => {
  const { stream } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
  receiver.always({ status: 503 });
  await record('role.assigned');
  for (let index = 0; index < 12; index++) {
    await run();
    clock.advance({ hours: 1, seconds: 5 });
  }
  receiver.always({ status: 400 });
  await run();
  const [delivery] = await idp.services.db.eventDelivery.findMany({ where: { streamId: stream.id } });
  expect(delivery).toMatchObject({ tries: 1, failedAt: null, lastError: 'answered with status 400' });
});

it('new events go on while a long replay waits', async () => {
  const { stream } = await aStream(idp, { url: receiver.url, kind: 'siem', events: ['role.assigned'] });
  const from = clock.now();
  await record('role.assigned', { subjectId: 'old' });
  await run();
  clock.advance({ seconds: 1 });
  await idp.services.eventStreams.replay(stream.id, { from, until: clock.now() }, {});
  await idp.services.db.eventStream.updateMany({ where: { id: stream.id }, data: { replayUntil: 1_000_000 } });
  await record('role.assigned', { subjectId: 'new' });
  await run();
  expect(receiver.received.map(({ body }) => body).join()).toContain('"id":"new"');
});

itOnBothInLongRun('a token is not sent to another origin, and a kind never changes', async () => {
  const url = 'https://siem.example.com/events';
  const { stream } = await aStream(idp, { url, kind: 'siem', events: ['role.assigned'] }, 'a-token-for-example');
  const { eventStreams } = idp.services;
  const moved = { ...stream, url: 'https://elsewhere.example/events' };
  await expect(eventStreams.update(stream.id, moved, {})).rejects.toMatchObject({ faults: [{ path: ['secret'] }] });
  await expect(eventStreams.update(stream.id, { ...stream, kind: 'webhook' }, {})).rejects.toMatchObject({
    faults: [{ path: ['kind'] }],
  });
  await eventStreams.update(stream.id, { ...stream, url: `${url}/other` }, {});
  await eventStreams.update(stream.id, moved, {}, { secret: 'the-token-for-elsewhere' });
  expect(await eventStreams.secrets(stream.id)).toEqual(['the-token-for-elsewhere']);
});

itOnBothInLongRun('a webhook stays at its origin, whose receiver knows the secret', async () => {
  const { stream } = await aStream(idp, { url: 'https://one.example/events', events: ['role.assigned'] });
  const { eventStreams } = idp.services;
  const moved = { ...stream, url: 'https://two.example/events' };
  const given = { secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` };
  for (const change of [{}, given])
    await expect(eventStreams.update(stream.id, moved, {}, change)).rejects.toMatchObject({
      faults: [{ path: ['url'], code: 'stream-origin' }],
    });
  await eventStreams.update(stream.id, { ...stream, url: 'https://one.example/other' }, {});
  // By email, nothing is signed: that an alert can't become one is the only fault.
  const { stream: alert } = await aStream(idp, { url: stream.url, kind: 'alert' });
  await expect(eventStreams.update(alert.id, { ...alert, url: 'mailto:soc@example.com' }, {})).rejects.toMatchObject({
    faults: [{ path: ['url'], code: 'alert-address' }],
  });
});
