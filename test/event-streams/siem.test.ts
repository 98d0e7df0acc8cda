// A SIEM on the whole server: batches in order with a token, each format, and syslog over TLS.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createEventStreamAdmin } from '../../src/admin/event-streams/event-streams.ts';
import { auditEventTypes, eventDetails } from '../../src/core/audit/events.ts';
import { makeCertificate } from '../../src/core/keys/make-certificate.ts';
import { createEventDeliveries } from '../../src/protocols/event-streams/deliveries.ts';
import type { EventBody } from '../../src/protocols/event-streams/event.ts';
import { batchOf } from '../../src/protocols/event-streams/siem-formats.ts';
import type { StreamDeclaration } from '../../src/protocols/event-streams/streams.ts';
import { verifyEvents } from '../../src/protocols/event-streams/verify.ts';
import { anRsaKey } from '../support/applications/rsa-keys.ts';
import { aUser } from '../support/factories.ts';
import type { TestIdp } from '../support/idp.ts';
import { listen } from '../support/listen.ts';
// The classes that are used, of https://github.com/ocsf/ocsf-schema at 1.3.0.
import ocsfSchema from './ocsf-1.3.0.json' with { type: 'json' };
import { aReceiver, aStream, deliver, startWithoutJobs } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startWithoutJobs();
});
afterAll(() => idp?.stop());

const run = () => deliver(idp.services);

const record = (subjectId: string, outcome: 'success' | 'failure' = 'success') =>
  idp.services.audit.record(
    { type: 'role.assigned', outcome, subjectId, request: { address: '192.0.2.7', userAgent: 'Test' } as never },
    idp.services.db,
  );

async function sentAs(format: StreamDeclaration['format']) {
  const receiver = await aReceiver();
  const { stream } = await aStream(
    idp,
    { url: receiver.url, kind: 'siem', format, events: ['role.assigned'] },
    'the-token-of-the-siem',
  );
  await record('ann');
  await record('bob', 'failure');
  await run();
  await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(0), { timeout: 60_000 });
  await idp.services.eventStreams.remove(stream.id, {});
  await receiver.close();
  const [first] = receiver.received;
  return { body: receiver.received.map(({ body }) => body).join('\n'), headers: first?.headers ?? {} };
}

it('JSON: a list, with a bearer token, which proves by itself that none is missing', async () => {
  const { body, headers } = await sentAs('json');
  expect(headers.authorization).toBe('Bearer the-token-of-the-siem');
  expect(body.split('\n').flatMap((line) => JSON.parse(line) as object[])).toMatchObject([
    { type: 'role.assigned', data: { subject: { id: 'ann' } } },
    { data: { outcome: 'failure' } },
  ]);
  expect(verifyEvents(body)).toMatchObject({ ok: true, events: 2 });
});

it('Splunk HEC: an object for each event, with its token', async () => {
  const { body, headers } = await sentAs('splunk');
  expect(headers.authorization).toBe('Splunk the-token-of-the-siem');
  const [first] = body.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(first).toMatchObject({
    sourcetype: 'gatehouse:audit',
    time: expect.any(Number),
    event: { type: 'role.assigned' },
  });
});

it('ECS: documents for _bulk of Elasticsearch, with an API key', async () => {
  const { body, headers } = await sentAs('ecs');
  expect(headers).toMatchObject({
    authorization: 'ApiKey the-token-of-the-siem',
    'content-type': 'application/x-ndjson',
  });
  const [action, first, , second] = body
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(action).toEqual({ create: { _id: expect.stringMatching(/^[0-9a-f]{64}$/) } });
  expect(first).toMatchObject({
    event: { action: 'role.assigned', category: ['iam'], outcome: 'success' },
    user: { id: 'ann' },
    source: { ip: '192.0.2.7' },
  });
  expect(second).toMatchObject({ event: { outcome: 'failure' } });
});

it.each(['splunk', 'ecs', 'ocsf', 'syslog'] as const)('%s proves by itself that none is missing', async (format) => {
  const { body } = await sentAs('json');
  const [first, second] = body.split('\n').flatMap((line) => JSON.parse(line) as EventBody[]);
  const stored = (events: EventBody[]) => {
    const text = batchOf(format, events).body;
    if (format === 'ocsf') return text;
    // Elasticsearch stores the lines that no action is on; a syslog server has a line for each message.
    const lines = format === 'syslog' ? messagesOf(text) : text.split('\n');
    return lines.filter((line) => !line.startsWith('{"create":')).join('\n');
  };
  const [one, two] = [first ?? expect.fail(), second ?? expect.fail()];
  const between = {
    ...two,
    chain: { ...two.chain, after: { seq: two.chain.seq - 1, hash: 'of an event that is missing' } },
  };
  expect(verifyEvents(stored([one, two]))).toMatchObject({ ok: true, events: 2 });
  expect(verifyEvents(stored([one, between])).ok).toBe(false);
});

/** Without the lengths before them. */
const messagesOf = (text: string) => text.split(/(?:^|(?<=\}))\d+ (?=<)/).filter(Boolean);

it.each([
  ['as it came', (text: string) => text],
  [
    'as rsyslog stores it',
    (text: string) => messagesOf(text).map(withHeader('2026-11-29T09:41:07+00:00 idp gatehouse')),
  ],
  ['as journald prints it', (text: string) => messagesOf(text).map(withHeader('Nov 29 09:41:07 idp gatehouse[4711]'))],
])('syslog proves by itself that none is missing, %s', async (_how, stored) => {
  const events = (JSON.parse((await sentAs('json')).body.split('\n')[0] ?? '') as EventBody[]).map((event) => ({
    ...event,
    data: { ...event.data, user_agent: 'Ü 12 <86>1 {' },
  }));
  const text = (some: EventBody[]) => [stored(batchOf('syslog', some).body)].flat().join('\n');
  expect(verifyEvents(text(events))).toMatchObject({ ok: true, events: 2 });
  const [one, two] = [events[0] ?? expect.fail(), events[1] ?? expect.fail()];
  const more = { ...two, chain: { ...two.chain, after: { seq: 1, hash: '' } } };
  expect(verifyEvents(text([one, more])).ok).toBe(false);
  // A large file is read in pieces.
  const bytes = Buffer.from(text(events));
  for (const size of [1, 7, 1000])
    expect(
      verifyEvents(
        Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size)),
      ),
    ).toMatchObject({ ok: true, events: 2 });
});
const withHeader = (header: string) => (message: string) => `${header}: ${message.slice(message.indexOf('{'))}`;

it.each(['json', 'splunk', 'ecs', 'ocsf'] as const)('%s: a test of the stream is no event', async (format) => {
  const receiver = await aReceiver();
  const items = [{ create: { status: 201 } }];
  receiver.always({ status: 200, body: JSON.stringify({ items }) });
  const { stream } = await aStream(idp, { url: receiver.url, kind: 'siem', format, events: ['role.assigned'] });
  const { test } = createEventStreamAdmin(idp.services);
  expect(await test(stream.id, {})).toMatchObject({ ok: true, status: 200 });
  await record('ann');
  await run();
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 60_000 });
  const lines = receiver.received.flatMap(({ body }) => body.split('\n'));
  // An empty name of a document is rejected.
  expect(lines[0]).not.toContain('"_id":""');
  const stored = lines.filter((line) => !line.startsWith('{"create":')).join('\n');
  expect(verifyEvents(stored)).toMatchObject({ ok: true, events: 1 });
  await idp.services.eventStreams.remove(stream.id, {});
  await receiver.close();
});

it('syslog: a message is no longer than each receiver takes, and says what was cut', async () => {
  const { body } = await sentAs('json');
  const [short] = body.split('\n').flatMap((line) => JSON.parse(line) as EventBody[]);
  const event = short ?? expect.fail();
  const forged = '\n<86>1 2026-11-30T00:00:00Z vm gatehouse - sign-in.completed - {}';
  const wide = (length: number) => '\u20ac'.repeat(length);
  const events = [
    ...[8, 40, 60, 200].map((count) => ({ after: Array.from({ length: count }, () => forged.repeat(2)) })),
    { texts: [1, 2, 3, 4, 5].map(() => wide(2000)) },
  ].map((details): EventBody => ({ ...event, data: { ...event.data, details } }));
  const wideData = { user_agent: wide(512), application: wide(1024), actor_application: wide(1024) };
  for (const one of [...events, { ...event, data: { ...event.data, ...wideData } }]) {
    const bytes = Buffer.from(batchOf('syslog', [one]).body);
    const [prefix, length] = /^(\d+) /.exec(bytes.toString()) ?? expect.fail();
    expect(Number(length)).toBe(bytes.length - prefix.length);
    expect(Number(length)).toBeLessThanOrEqual(8192);
    const message = bytes.subarray(prefix.length).toString();
    expect(message).not.toMatch(/[\r\n]/);
    const sent = JSON.parse(message.slice(message.indexOf('{'))) as EventBody & { data: { truncated?: number } };
    expect(sent.chain).toEqual(one.chain);
    expect(sent.data.id).toBe(one.data.id);
    const whole = Buffer.byteLength(JSON.stringify(one));
    expect(sent.data.truncated === undefined).toBe(whole < 7600);
    // A replay says the same of it, with another event before.
    const replayed = batchOf('syslog', [{ ...one, chain: { ...one.chain, after: null } }]).body;
    const both = [message, replayed.slice(replayed.indexOf(' ') + 1)].join('\n');
    expect(verifyEvents(both)).toMatchObject({ ok: true, events: 1 });
  }
});

it('a batch has only the events of its groups', async () => {
  const receiver = await aReceiver();
  const { account: ann } = await aUser(idp.services);
  const group = await idp.services.groups.create({ name: 'Physics' }, { by: {} });
  await idp.services.groups.addMembers(group.id, [{ userId: ann.id }], { by: {} });
  const events = ['sign-in.completed'];
  const { stream } = await aStream(idp, { url: receiver.url, kind: 'siem', events, groups: ['Physics'] });
  for (const subjectId of [ann.id, 'bob', ann.id])
    await idp.services.audit.record({ type: 'sign-in.completed', outcome: 'success', subjectId }, idp.services.db);
  await run();
  const sent = JSON.parse(receiver.received[0]?.body ?? '[]') as { data: { subject: { id: string } } }[];
  expect(sent.map(({ data }) => data.subject.id)).toEqual([ann.id, ann.id]);
  await idp.services.eventStreams.remove(stream.id, {});
  await receiver.close();
});

it('ECS: events that Elasticsearch rejects are sent again', async () => {
  const receiver = await aReceiver();
  const items = [{ create: { status: 201 } }, { create: { status: 429, error: { reason: 'the queue is full' } } }];
  receiver.always({ status: 200, body: JSON.stringify({ errors: true, items }) });
  const { stream } = await aStream(idp, { url: receiver.url, kind: 'siem', format: 'ecs', events: ['role.assigned'] });
  await record('ann');
  await record('bob');
  await run();
  expect(await idp.services.eventStreams.get(stream.id)).toMatchObject({
    // The receiver is in an allowed network, so its words are not displayed.
    lastError: 'answered with status 200 and stored 1 of 2 events',
  });
  const failing = async () => expect((await idp.services.eventStreams.get(stream.id)).failingSince).not.toBeNull();
  // A page of a proxy, and an answer about some of the events, say nothing of the others.
  for (const body of ['<html>OK</html>', JSON.stringify({ items: items.slice(0, 1) })]) {
    receiver.always({ status: 200, body });
    await idp.services.eventStreams.resume(stream.id, {});
    await run();
    await failing();
  }
  const stored = items.map(({ create }) => ({ create: { status: create.status === 429 ? 409 : 201 } }));
  receiver.always({ status: 200, body: JSON.stringify({ errors: true, items: stored }) });
  await idp.services.eventStreams.resume(stream.id, {});
  await run();
  expect(await idp.services.db.eventDelivery.count({ where: { streamId: stream.id, doneAt: null } })).toBe(0);
  await idp.services.eventStreams.remove(stream.id, {});
  await receiver.close();
});

it('OCSF: classes and activities', async () => {
  const { body } = await sentAs('ocsf');
  expect(body.split('\n').flatMap((line) => JSON.parse(line) as object[])).toMatchObject([
    {
      class_uid: 3005,
      activity_id: 1,
      type_uid: 300_501,
      status_id: 1,
      user: { uid: 'ann' },
      src_endpoint: { ip: '192.0.2.7' },
    },
    { status_id: 2 },
  ]);
});

it('a batch that is too large is halved, and an event that is too large alone does not stop the others', async () => {
  const taken: string[] = [];
  const server = await listen(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const events = JSON.parse(body) as EventBody[];
    const isTooLarge = events.length > 2 || events.some(({ data }) => data.subject?.id === 'large');
    if (!isTooLarge) taken.push(...events.map(({ data }) => data.subject?.id ?? ''));
    response.writeHead(isTooLarge ? 413 : 200).end();
  });
  const url = `${server.origin}/events`;
  const { stream } = await aStream(idp, { url, kind: 'siem', events: ['role.assigned'] });
  const wanted = ['a', 'b', 'large', 'c', 'd', 'e'];
  for (const subjectId of wanted) await record(subjectId);
  await vi.waitFor(
    async () => {
      await run();
      expect(taken.sort()).toEqual(wanted.filter((one) => one !== 'large').sort());
    },
    { timeout: 60_000, interval: 500 },
  );
  const open = await idp.services.db.eventDelivery.findMany({ where: { streamId: stream.id, doneAt: null } });
  expect(open.map(({ seq, untilSeq }) => untilSeq - seq)).toEqual([0]);
  await idp.services.eventStreams.remove(stream.id, {});
  await server.close();
});

describe('OCSF: every event fits the schema of its class', () => {
  const classes: Record<
    string,
    { activities: number[]; required: string[]; attributes: string[]; atLeastOne: string[] }
  > = ocsfSchema;
  const about = { actor: { id: 'root', username: 'root' }, subject: { id: 'ann', username: 'ann' } };
  it.each(auditEventTypes.flatMap((type) => [about, { actor: null, subject: null }].map((who) => ({ type, who }))))(
    '$type $who.actor.id',
    ({ type, who }) => {
      const details = { ...Object.assign({}, ...Object.values(eventDetails))[type] } as Record<string, unknown>;
      const data = { id: 1, outcome: 'success', reason: null, actor_application: null, application: null, details };
      const request = { address: '192.0.2.7', user_agent: 'Test', request_id: 'r1' };
      const chain = { seq: 1, hash: 'h', digest: 'd', after: null };
      const event = { type, timestamp: '2026-11-29T00:00:00Z', data: { ...data, ...request, ...who }, chain };
      const [sent] = JSON.parse(batchOf('ocsf', [event]).body) as [Record<string, unknown>];
      const schema = classes[String(sent.class_uid)];
      expect(schema?.activities).toContain(sent.activity_id);
      expect(Object.keys(sent)).toEqual(expect.arrayContaining(schema?.required ?? []));
      expect(schema?.attributes).toEqual(expect.arrayContaining(Object.keys(sent)));
      if (schema?.atLeastOne.length) expect(schema.atLeastOne.some((name) => name in sent)).toBe(true);
      expect(sent.type_uid).toBe(Number(sent.class_uid) * 100 + Number(sent.activity_id));
      // What the class has no place for is in `unmapped`.
      for (const value of [...Object.values(request), ...(who.subject ? [who.subject.id] : [])])
        expect(JSON.stringify(sent)).toContain(`"${value}"`);
    },
  );

  it.each([
    ['account.registered', 'success', 300_101],
    ['account.updated', 'success', 300_199],
    ['sign-up-code.created', 'success', 300_401],
    ['recovery-codes.created', 'success', 300_199],
    ['email.changed', 'success', 300_199],
    ['factors.reset', 'success', 300_111],
    ['sign-in.password', 'success', 300_206],
    ['sign-in.password', 'failure', 300_201],
    ['sign-in.completed', 'success', 300_201],
    ['sign-in.unlocked', 'success', 99],
    ['server.started', 'success', 99],
  ])('%s, %s', (type, outcome, type_uid) => {
    const data = { id: 1, outcome, reason: null, actor: null, subject: null, details: {} };
    const none = { actor_application: null, application: null, address: null, user_agent: null, request_id: null };
    const chain = { seq: 1, hash: 'h', digest: 'd', after: null };
    const event = { type, timestamp: '2026-11-29T00:00:00Z', data: { ...data, ...none }, chain };
    expect(JSON.parse(batchOf('ocsf', [event]).body)).toMatchObject([{ type_uid }]);
  });
});

it('a batch that the SIEM does not take waits, and the next one with it', async () => {
  const receiver = await aReceiver();
  receiver.always({ status: 400 });
  const { stream } = await aStream(idp, { url: receiver.url, kind: 'siem', events: ['role.assigned'] });
  await record('first');
  await run();
  await record('second');
  await run();
  const open = await idp.services.db.eventDelivery.count({
    where: { streamId: stream.id, doneAt: null, failedAt: null },
  });
  expect(open).toBe(2);
  receiver.always({ status: 200 });
  await idp.services.eventStreams.resume(stream.id, {});
  await vi.waitFor(
    async () => {
      await run();
      expect(await idp.services.db.eventDelivery.count({ where: { streamId: stream.id, doneAt: null } })).toBe(0);
    },
    { timeout: 60_000 },
  );
  const taken = receiver.received
    .slice(-2)
    .flatMap(({ body }) => JSON.parse(body) as { data: { subject: { id: string } } }[]);
  expect(taken.map(({ data }) => data.subject.id)).toEqual(['first', 'second']);
  await idp.services.eventStreams.remove(stream.id, {});
  await receiver.close();
});

it('syslog over TLS: RFC 5424 messages, counted by octets', async () => {
  const { privateKey, publicKey } = anRsaKey();
  const day = 24 * 3600 * 1000;
  const cert = await makeCertificate({
    privateKey,
    publicKey,
    host: 'localhost',
    from: new Date(Date.now() - day),
    until: new Date(Date.now() + day),
  });
  let text = '';
  const server = tls.createServer({ key: privateKey.export({ type: 'pkcs8', format: 'pem' }), cert }, (socket) => {
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { connect } = tls;
  // The operating system would have the certificate authority of a real server.
  vi.spyOn(tls, 'connect').mockImplementation(((options: tls.ConnectionOptions) =>
    connect({ ...options, ca: cert, checkServerIdentity: () => undefined })) as typeof tls.connect);
  const { port } = server.address() as AddressInfo;
  const { stream } = await aStream(idp, {
    url: `syslog://localhost:${port}`,
    kind: 'siem',
    format: 'syslog',
    events: ['role.assigned'],
  });
  await record('ann');
  await record('émile', 'failure');
  await run();
  await vi.waitFor(() => expect(text).toContain('mile'), { timeout: 60_000 });
  const bytes = Buffer.from(text);
  const [, length = ''] = /^(\d+) /.exec(text) ?? [];
  const first = bytes.subarray(length.length + 1, length.length + 1 + Number(length)).toString();
  expect(first).toMatch(
    /^<86>1 \d{4}-\d\d-\d\dT[\d:.]+Z \S+ gatehouse - role\.assigned - \ufeff\{"type":"role\.assigned".*\}$/,
  );
  expect(text).toContain('<84>1 ');
  await idp.services.eventStreams.remove(stream.id, {});
  vi.restoreAllMocks();
  server.close();
});

it('a token for another host is not sent to the old one, where a batch is on its way there', async () => {
  const tokens: (string | undefined)[] = [];
  const url = 'https://elsewhere.example/events';
  const old = await listen(async (request, response) => {
    tokens.push(request.headers.authorization);
    const { stream } = created;
    if (tokens.length === 1)
      await idp.services.eventStreams.update(stream.id, { ...stream, url }, {}, { secret: 'the-token-for-elsewhere' });
    response.writeHead(200).end();
  });
  const given = { url: `${old.origin}/events`, kind: 'siem' as const, events: ['role.assigned'] };
  const created = await aStream(idp, given, 'the-token-of-the-siem');
  const [find, send] = createEventDeliveries(idp.services).jobs;
  for (const subjectId of ['ann', 'bob']) {
    await record(subjectId);
    await idp.services.auditChain.seal();
    await find?.run(new AbortController().signal);
  }
  await send?.run(new AbortController().signal);
  expect(tokens).toEqual(['Bearer the-token-of-the-siem', 'Bearer the-token-of-the-siem']);
  await idp.services.eventStreams.remove(created.stream.id, {});
  await old.close();
});
