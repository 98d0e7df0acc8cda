// Receivers and administrators that mean harm: endless answers, answers to what nobody read, header injection; and a commit that comes late.
// Inner addresses, redirects, two nodes and signatures of other streams are in webhooks.test.ts, names that lead elsewhere in rebinding.test.ts,
// `kill -9` in test/peers/event-streams.ts.
import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { newStream } from '../../src/admin/event-streams/event-streams.ts';
import { transaction } from '../../src/base/storage/database.ts';
import { streamRules } from '../../src/protocols/event-streams/streams.ts';
import { databaseKind } from '../support/database/database.ts';
import type { TestIdp } from '../support/idp.ts';
import { listen } from '../support/listen.ts';
import { aReceiver, aStream, deliver, removeStreams, startWithoutJobs } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startWithoutJobs();
});
beforeEach(() => removeStreams(idp));
afterAll(() => idp?.stop());

const run = () => deliver(idp.services);

const record = (subjectId: string) =>
  idp.services.audit.record({ type: 'role.assigned', outcome: 'success', subjectId }, idp.services.db);
const events = ['role.assigned'];

it('an endless answer ends at its limits, and delays no other stream', async () => {
  const chunk = 'x'.repeat(64 * 1024);
  let sent = 0;
  const endless = await listen((_request, response) => {
    response.writeHead(200);
    const write = () => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      if (!response.destroyed) response.once('drain', write);
    };
    write();
  });
  const receiver = await aReceiver();
  const { stream } = await aStream(idp, { url: `${endless.origin}/events`, events });
  await aStream(idp, { url: receiver.url, events });
  await record('ann');
  await run();
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 60_000 });
  await vi.waitFor(async () => expect((await idp.services.eventStreams.get(stream.id)).lastError).not.toBeNull(), {
    timeout: 60_000,
  });
  expect(sent).toBeLessThan(16 * 1024 * 1024);
  await endless.close();
  await receiver.close();
});

it('a receiver that answers 200 at once and reads nothing holds up nothing', async () => {
  const deaf = createServer((socket) => {
    socket.pause();
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  }).listen(0, '127.0.0.1');
  await vi.waitFor(() => expect(deaf.listening).toBe(true));
  const { port } = deaf.address() as { port: number };
  const receiver = await aReceiver();
  const { stream } = await aStream(idp, { url: `http://127.0.0.1:${port}/`, kind: 'siem', events });
  await aStream(idp, { url: receiver.url, events });
  for (let index = 0; index < 50; index += 1) await record(`user-${index}`);
  await run();
  await vi.waitFor(() => expect(receiver.received).toHaveLength(50), { timeout: 60_000 });
  // It said that it has them. What it lacks, `gatehouse audit verify --events` finds.
  await vi.waitFor(
    async () =>
      expect(await idp.services.db.eventDelivery.count({ where: { streamId: stream.id, doneAt: null } })).toBe(0),
    { timeout: 60_000 },
  );
  deaf.close();
  await receiver.close();
});

it('no secret, name or address brings a header of its own', () => {
  const isTaken = (more: object) =>
    newStream.safeParse({ name: 'A', kind: 'siem', url: 'https://siem.example.com/', ...more }).success;
  expect(isTaken({ secret: 'a-token-of-the-siem' })).toBe(true);
  for (const secret of [
    'a-token\r\nX-Admin: 1',
    'a-token\nX-Admin: 1',
    'a-token with a space',
    'a-token\u0000',
    'a-tökén',
  ])
    expect(isTaken({ secret }), JSON.stringify(secret)).toBe(false);
  for (const url of [
    'https://siem.example.com/\r\nX-Admin: 1',
    'https://user:pass@siem.example.com/',
    'file:///etc/passwd',
  ])
    expect(isTaken({ url }), JSON.stringify(url)).toBe(false);
});

it('no two streams sign with one secret, and a SIEM keeps its token', async () => {
  const { eventStreams } = idp.services;
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  const url = 'https://receiver.example.com/events';
  const taken = { faults: [expect.objectContaining({ path: ['secret'], code: 'secret-in-use' })] };
  const { stream } = await aStream(idp, { url }, secret);
  await expect(aStream(idp, { url }, secret)).rejects.toMatchObject(taken);
  const other = await aStream(idp, { url });
  await expect(eventStreams.changeSecret(other.stream.id, secret, {})).rejects.toMatchObject(taken);
  // The old one signs for seven days.
  await eventStreams.changeSecret(stream.id, undefined, {});
  await expect(aStream(idp, { url }, secret)).rejects.toMatchObject(taken);
  const siem = await aStream(idp, { url, kind: 'siem' }, 'a-token-of-the-siem');
  await expect(eventStreams.changeSecret(siem.stream.id, undefined, {})).rejects.toMatchObject({
    faults: [expect.objectContaining({ path: ['secret'], code: 'empty' })],
  });
  expect(await eventStreams.secrets(siem.stream.id)).toEqual(['a-token-of-the-siem']);
});

it.each([
  { kind: 'siem', format: 'syslog', url: 'syslog://siem.example.com:99999' },
  { kind: 'siem', format: 'syslog', url: 'syslog://siem.example.com:0' },
  { kind: 'webhook', url: 'https://receiver.example.com/', quiet_minutes: 5 },
])('what cannot work is rejected: %o', (given) => {
  const read = newStream.safeParse({ name: 'A', ...given });
  expect(read.success && streamRules(read.data).length === 0).toBe(false);
});

describe.runIf(databaseKind() === 'postgresql')('on PostgreSQL', () => {
  it('an event that is committed after a later one is sent too', async () => {
    const receiver = await aReceiver();
    await aStream(idp, { url: receiver.url, events });
    const { services } = idp;
    let commit: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      commit = resolve;
    });
    let isWritten: () => void = () => {};
    const written = new Promise<void>((resolve) => {
      isWritten = resolve;
    });
    const late = transaction(services.db, async (tx) => {
      await services.audit.record({ type: 'role.assigned', outcome: 'success', subjectId: 'late' }, tx);
      isWritten();
      await held;
    });
    await written;
    await record('early');
    await run();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 60_000 });
    commit();
    await late;
    await run();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 60_000 });
    const [early, last] = receiver.received.map(({ event }) => event);
    expect([early?.data.subject?.id, last?.data.subject?.id]).toEqual(['early', 'late']);
    // Its id is the smaller one.
    expect(last?.data.id).toBeLessThan(early?.data.id ?? 0);
    expect(last?.chain.after?.seq).toBe(early?.chain.seq);
    await receiver.close();
  });
});
