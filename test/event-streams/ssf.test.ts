// Shared signals on the whole server: streams of receivers, push (RFC 8935) and poll (RFC 8936), what each event says, and attacks on all of it.
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ssfApi } from '../../src/people/rbac/built-in.ts';
import { anApplication, basic } from '../oidc/support.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { itOnBothInLongRun } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { listen } from '../support/listen.ts';
import { deliver, removeStreams } from './support.ts';

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type';
const RISC = 'https://schemas.openid.net/secevent/risc/event-type';
const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification';
const PUSH = 'urn:ietf:rfc:8935';

let idp: TestIdp;
let clock: TestClock;
let ann: TestUser;
beforeAll(async () => {
  clock = testClock();
  idp = await startIdp({ now: clock.now });
});
beforeEach(async () => {
  await removeStreams(idp);
  ann = await aUser(idp.services);
});
afterAll(() => idp?.stop());

const run = () => deliver(idp.services);

type Json = Record<string, unknown>;

/** An application that receives signals, with a token that it requested as Apple Business Manager does: by its scopes alone. */
async function aReceiver(more: Json = {}, scope = 'ssf.manage ssf.read') {
  const app = await anApplication(idp, {
    grant_types: ['authorization_code', 'client_credentials'],
    resources: [ssfApi(idp.issuer)],
    scope: `openid email ${scope}`,
    ...more,
  });
  const { id } = (await idp.services.applications.find(app.clientId)) ?? expect.fail();
  const headers = { authorization: basic(app.clientId, app.clientSecret) };
  const form = { grant_type: 'client_credentials', scope };
  const answer = await httpClient(idp.issuer).post('/token', { form, headers });
  const { access_token: token } = answer.json<{ access_token: string }>();
  const call = async (method: string, path: string, json?: unknown) => {
    const more = method === 'GET' || method === 'DELETE' ? {} : { json: json ?? {} };
    return httpClient(idp.issuer).request(method, path, { headers: { authorization: `Bearer ${token}` }, ...more });
  };
  return {
    ...app,
    token,
    call,
    ok: async (method: string, path: string, json?: unknown): Promise<Json> => {
      const sent = await call(method, path, json);
      if (sent.status >= 300) throw new Error(`${sent.status} ${sent.text}`);
      return sent.status === 204 ? {} : sent.json<Json>();
    },
    used: (user: TestUser) => idp.services.consents.recordUse(user.account.id, id),
  };
}
type Receiver = Awaited<ReturnType<typeof aReceiver>>;

/** Where tokens are pushed to. */
async function anEndpoint() {
  const received: { body: string; authorization: string | undefined; type: string | undefined }[] = [];
  let [status, err] = [202, 'invalid_request'];
  const server = await listen(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { authorization, 'content-type': type } = request.headers;
    received.push({ body, authorization, type });
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 400 ? JSON.stringify({ err, description: 'not for us' }) : '');
  });
  return {
    url: `${server.origin}/events`,
    received,
    close: server.close,
    answer: (next: number, error = err) => {
      [status, err] = [next, error];
    },
  };
}

const jwks = () => createRemoteJWKSet(new URL(`${idp.issuer}/jwks`));

/** As a receiver verifies it. */
async function verified(token: string, audience: string) {
  expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RS256', typ: 'secevent+jwt' });
  const options = { issuer: idp.issuer, audience, typ: 'secevent+jwt', currentDate: clock.now() };
  const { payload } = await jwtVerify(token, jwks(), options);
  expect(Object.keys(payload).sort()).toEqual(['aud', 'events', 'iat', 'iss', 'jti', 'sub_id']);
  const [[uri, event] = []] = Object.entries(payload.events as Record<string, Json>);
  return { uri, event, subject: payload.sub_id as Json, jti: payload.jti };
}

async function polled(receiver: Receiver, body: Json = {}) {
  const [stream] = (await receiver.ok('GET', '/ssf/streams')) as unknown as { delivery: { endpoint_url: string } }[];
  const path = new URL(stream?.delivery.endpoint_url ?? '').pathname;
  const { sets, moreAvailable } = (await receiver.ok('POST', path, body)) as unknown as {
    sets: Record<string, string>;
    moreAvailable: boolean;
  };
  const tokens = await Promise.all(Object.values(sets).map((token) => verified(token, receiver.clientId)));
  expect(tokens.map(({ jti }) => jti)).toEqual(Object.keys(sets));
  return { tokens, jtis: Object.keys(sets), moreAvailable, sets };
}

it('a receiver polls events about people who used its application, acknowledges them, and gets each again until then', async () => {
  const receiver = await aReceiver();
  const nonUser = await aUser(idp.services);
  await receiver.used(ann);
  const stream = await receiver.ok('POST', '/ssf/streams', { description: 'First stream' });
  expect(stream).toMatchObject({
    iss: idp.issuer,
    aud: receiver.clientId,
    description: 'First stream',
    format: 'iss_sub',
  });
  expect(stream.events_delivered).toEqual(stream.events_supported);
  for (const { account } of [ann, nonUser]) await idp.services.endSession.all(account.id, 'ended-by-admin');
  await run();
  const first = await polled(receiver);
  expect(first.tokens).toMatchObject([
    {
      uri: `${CAEP}/session-revoked`,
      subject: { format: 'iss_sub', iss: idp.issuer, sub: ann.account.id },
      event: {
        initiating_entity: 'system',
        event_timestamp: expect.any(Number),
        reason_admin: { en: expect.any(String) },
      },
    },
  ]);
  expect((await polled(receiver)).jtis).toEqual(first.jtis);
  expect((await polled(receiver, { ack: first.jtis })).jtis).toEqual([]);
  const { lastSuccessAt } = await idp.services.eventStreams.get(String(stream.stream_id));
  expect(lastSuccessAt).not.toBeNull();
});

itOnBothInLongRun('each event of a life is a signal of its type', async () => {
  const receiver = await aReceiver();
  await receiver.used(ann);
  await receiver.ok('POST', '/ssf/streams');
  const { accounts, credentials, audit, db } = idp.services;
  const { id } = ann.account;
  const by = { actorId: id };
  await credentials.setPassword(ann.account, 'another long passphrase of Ann', { ...by, event: 'password.changed' });
  await audit.record({ ...by, type: 'passkey.enrolled', outcome: 'success', subjectId: id }, db);
  await audit.record({ ...by, type: 'totp.removed', outcome: 'success', subjectId: id }, db);
  await accounts.update(id, { email: 'new@example.com' });
  await accounts.setActive(id, false, {});
  await accounts.setActive(id, true, {});
  await accounts.update(id, { activeUntil: new Date(clock.now().getTime() - 1000) });
  // As the job does.
  await audit.record({ type: 'account.ended', outcome: 'success', subjectId: id }, db);
  await accounts.update(id, { activeUntil: null });
  await audit.record(
    { type: 'authorization.granted', outcome: 'success', subjectId: id, clientId: receiver.clientId },
    db,
  );
  await accounts.remove(id, {});
  await run();
  const { tokens } = await polled(receiver);
  expect(tokens.map(({ uri }) => uri?.slice(uri.lastIndexOf('/') + 1))).toEqual([
    ...['credential-change', 'credential-change', 'credential-change', 'identifier-changed'],
    ...['account-disabled', 'account-enabled', 'account-disabled', 'account-enabled', 'account-purged'],
  ]);
  expect(tokens[0]).toMatchObject({
    event: { credential_type: 'password', change_type: 'update', initiating_entity: 'user' },
  });
  expect(tokens[2]).toMatchObject({ event: { credential_type: 'app', change_type: 'delete' } });
  expect(tokens[3]).toMatchObject({
    uri: `${RISC}/identifier-changed`,
    subject: { format: 'email', email: ann.account.email },
  });
  // Nobody has proven the new one.
  expect(tokens[3]?.event).toEqual({});
});

it('the deletion of an account is a signal to the applications that it used until then', async () => {
  const receiver = await aReceiver();
  await receiver.ok('POST', '/ssf/streams');
  const { accounts, audit, db } = idp.services;
  const bob = await aUser(idp.services);
  const record = (type: 'authorization.granted' | 'consent.revoked', { account }: TestUser) =>
    audit.record({ type, outcome: 'success', subjectId: account.id, clientId: receiver.clientId }, db);
  for (const type of ['authorization.granted', 'consent.revoked', 'authorization.granted'] as const)
    await record(type, ann);
  for (const type of ['authorization.granted', 'consent.revoked'] as const) await record(type, bob);
  for (const { account } of [ann, bob]) await accounts.remove(account.id, {});
  await run();
  const { tokens } = await polled(receiver);
  expect(tokens).toMatchObject([{ uri: `${RISC}/account-purged`, subject: { sub: ann.account.id } }]);
});

itOnBothInLongRun(
  'names people by the pairwise subject of the application, or by address where it asks and may learn that',
  async () => {
    const pairwise = await aReceiver({ subject_type: 'pairwise' });
    const byEmail = await aReceiver();
    const closed = await aReceiver({ scope: 'openid ssf.manage ssf.read' });
    for (const one of [pairwise, byEmail]) await one.used(ann);
    await pairwise.ok('POST', '/ssf/streams');
    // As Apple Business Manager sends it, with names from before version 1.0.
    const endpoint = await anEndpoint();
    const method = 'https://schemas.openid.net/secevent/risc/delivery-method/push';
    const wanted = {
      delivery: { method, endpoint_url: endpoint.url },
      format: 'email',
      aud: ['https://apple.example'],
    };
    expect(
      await byEmail.ok('POST', '/ssf/streams', { ...wanted, events_requested: [`${CAEP}/session-revoked`] }),
    ).toMatchObject({
      delivery: { method },
      format: 'email',
    });
    expect((await closed.call('POST', '/ssf/streams', wanted)).status).toBe(400);
    await idp.services.endSession.all(ann.account.id, 'ended-by-admin');
    await run();
    await vi.waitFor(() => expect(endpoint.received).toHaveLength(2), 20_000);
    const pushed = await Promise.all(endpoint.received.map(({ body }) => verified(body, byEmail.clientId)));
    // The jobs of the server may push one beside those of this test.
    pushed.sort((one, other) => String(one.uri).localeCompare(String(other.uri)));
    expect(pushed).toMatchObject([
      { uri: `${CAEP}/session-revoked`, subject: { format: 'email', email: ann.account.email } },
      { uri: VERIFICATION },
    ]);
    const { tokens } = await polled(pairwise);
    const { sub } = tokens[0]?.subject ?? {};
    expect(sub).toMatch(/^[\w-]{30,}$/);
    expect(sub).not.toBe(ann.account.id);
    await endpoint.close();
  },
);

it('pushes in order with the header of the receiver, and lists what it rejects', async () => {
  const receiver = await aReceiver();
  await receiver.used(ann);
  const endpoint = await anEndpoint();
  const delivery = { method: PUSH, endpoint_url: endpoint.url, authorization_header: 'Bearer of the receiver' };
  endpoint.answer(400);
  const { stream_id: id } = await receiver.ok('POST', '/ssf/streams', { delivery });
  await run();
  await vi.waitFor(() => expect(endpoint.received).toHaveLength(1), 20_000);
  endpoint.answer(202);
  await idp.services.endSession.all(ann.account.id, 'ended-by-admin');
  await run();
  await vi.waitFor(() => expect(endpoint.received).toHaveLength(2), 20_000);
  expect(endpoint.received[1]).toMatchObject({
    authorization: 'Bearer of the receiver',
    type: 'application/secevent+jwt',
  });
  const states = async () => {
    const orderBy = { seq: 'asc' } as const;
    const rows = await idp.services.db.eventDelivery.findMany({ where: { streamId: String(id) }, orderBy });
    return rows.map(({ failedAt, doneAt }) => [failedAt !== null, doneAt !== null]);
  };
  await vi.waitFor(
    async () =>
      expect(await states()).toEqual([
        [true, false],
        [false, true],
      ]),
    20_000,
  );
  // A header goes to the address only that it came with.
  const elsewhere = await anEndpoint();
  await receiver.ok('PATCH', '/ssf/streams', {
    stream_id: id,
    delivery: { method: PUSH, endpoint_url: elsewhere.url },
  });
  await idp.services.endSession.all(ann.account.id, 'ended-by-admin');
  await run();
  await vi.waitFor(() => expect(elsewhere.received).toMatchObject([{ authorization: undefined }]), 20_000);
  await Promise.all([endpoint.close(), elsewhere.close()]);
});

itOnBothInLongRun('an address that nobody has proven names nobody', async () => {
  const receiver = await aReceiver();
  const { accounts } = idp.services;
  const people = [
    await aUser(idp.services, { email: 'proven@example.com', emailVerified: true }),
    await aUser(idp.services, { email: 'ceo@example.com', emailVerified: false }),
  ];
  for (const one of people) await receiver.used(one);
  await receiver.ok('POST', '/ssf/streams', { format: 'email' });
  for (const { account } of people) await accounts.setActive(account.id, false, {});
  const [proven, other] = people.map(({ account }) => account.id);
  await accounts.update(proven ?? '', { email: 'new@example.com', emailVerified: true });
  await accounts.update(other ?? '', { email: 'victim@example.com', emailVerified: false });
  await run();
  const { tokens } = await polled(receiver);
  expect(tokens.map(({ uri, subject, event }) => [uri?.split('/').at(-1), subject, event])).toEqual([
    ['account-disabled', { format: 'email', email: 'new@example.com' }, {}],
    ['account-disabled', { format: 'iss_sub', iss: idp.issuer, sub: other }, {}],
    ['identifier-changed', { format: 'email', email: 'proven@example.com' }, { 'new-value': 'new@example.com' }],
  ]);
});

itOnBothInLongRun.each(['authentication_failed', 'invalid_key'])(
  'a push that is rejected with %s waits',
  async (error) => {
    const receiver = await aReceiver();
    const endpoint = await anEndpoint();
    endpoint.answer(400, error);
    const delivery = { method: PUSH, endpoint_url: endpoint.url };
    const { stream_id: id } = await receiver.ok('POST', '/ssf/streams', { delivery });
    await run();
    const stream = () => idp.services.eventStreams.get(String(id));
    await vi.waitFor(async () => expect((await stream()).failingSince).not.toBeNull(), 20_000);
    expect(await idp.services.db.eventDelivery.count({ where: { streamId: String(id), failedAt: null } })).toBe(1);
    await endpoint.close();
  },
);

it('a receiver reads, changes, replaces, pauses and deletes its stream', async () => {
  const receiver = await aReceiver();
  await receiver.used(ann);
  const { stream_id: id } = await receiver.ok('POST', '/ssf/streams', { description: 'One' });
  expect((await receiver.call('POST', '/ssf/streams', {})).status).toBe(409);
  const wanted = [`${CAEP}/session-revoked`, 'https://example.com/unknown'];
  expect(await receiver.ok('PATCH', '/ssf/streams', { stream_id: id, events_requested: wanted })).toMatchObject({
    events_requested: wanted,
    events_delivered: [`${CAEP}/session-revoked`],
    description: 'One',
  });
  for (const method of ['PATCH', 'PUT']) {
    expect((await receiver.call(method, '/ssf/streams', { stream_id: id, aud: 'another' })).status, method).toBe(400);
    // Who calls is asked before what is sent.
    const headers = { authorization: 'Bearer invalid' };
    const answer = await httpClient(idp.issuer).request(method, '/ssf/streams', { json: {}, headers });
    expect(answer.status, method).toBe(401);
  }
  const echoed = { stream_id: id, iss: idp.issuer, aud: receiver.clientId };
  const replaced = await receiver.ok('PUT', '/ssf/streams', { ...echoed, events_requested: [] });
  expect(replaced).not.toHaveProperty('description');
  expect(await receiver.ok('GET', `/ssf/streams?stream_id=${id}`)).toEqual(replaced);
  const status = (change: Json) => receiver.ok('POST', '/ssf/status', { stream_id: id, ...change });
  expect(await status({ status: 'paused', reason: 'Maintenance' })).toMatchObject({ status: 'paused' });
  await idp.services.endSession.all(ann.account.id, 'ended-by-admin');
  await run();
  expect((await polled(receiver)).jtis).toEqual([]);
  await expect(idp.services.eventStreams.resume(String(id), {})).rejects.toMatchObject({ code: 'conflict' });
  await status({ status: 'enabled', reason: 'Back' });
  expect(await idp.services.eventStreams.get(String(id))).toMatchObject({ pausedAt: null, lastError: null });
  await run();
  expect((await polled(receiver)).jtis).toHaveLength(1);
  await status({ status: 'disabled' });
  await idp.services.endSession.all(ann.account.id, 'ended-by-admin');
  await run();
  await status({ status: 'enabled' });
  await run();
  expect((await polled(receiver)).jtis).toEqual([]);
  expect(await receiver.ok('GET', `/ssf/status?stream_id=${id}`)).toMatchObject({ status: 'enabled' });
  expect((await receiver.call('DELETE', `/ssf/streams?stream_id=${id}`)).status).toBe(204);
  expect((await receiver.call('GET', `/ssf/streams?stream_id=${id}`)).status).toBe(404);
  expect(await receiver.ok('GET', '/ssf/streams')).toEqual([]);
});

itOnBothInLongRun('a verification event comes back with its state, once a minute', async () => {
  const receiver = await aReceiver();
  const { stream_id: id } = await receiver.ok('POST', '/ssf/streams');
  expect((await receiver.call('POST', '/ssf/verify', { stream_id: id, state: 'abc' })).status).toBe(204);
  const again = await receiver.call('POST', '/ssf/verify', { stream_id: id });
  expect([again.status, Number(again.headers['retry-after']) > 0]).toEqual([429, true]);
  await run();
  expect((await polled(receiver)).tokens).toMatchObject([
    { uri: VERIFICATION, event: { state: 'abc' }, subject: { format: 'opaque', id } },
  ]);
});

itOnBothInLongRun(
  'only an application with the scope and a token of its own calls, and it reaches no stream of another one',
  async () => {
    const [one, two] = [await aReceiver(), await aReceiver()];
    const reader = await aReceiver({}, 'ssf.read');
    const none = await aReceiver({ resources: [] }, 'ssf.read');
    expect(none.token).toBeUndefined();
    const { stream_id: id } = await one.ok('POST', '/ssf/streams');
    await two.ok('POST', '/ssf/streams');
    const foreign = [
      await two.call('GET', `/ssf/streams?stream_id=${id}`),
      await two.call('PATCH', '/ssf/streams', { stream_id: id, description: 'mine' }),
      await two.call('PUT', '/ssf/streams', { stream_id: id }),
      await two.call('DELETE', `/ssf/streams?stream_id=${id}`),
      await two.call('GET', `/ssf/status?stream_id=${id}`),
      await two.call('POST', '/ssf/status', { stream_id: id, status: 'disabled' }),
      await two.call('POST', '/ssf/verify', { stream_id: id }),
      await two.call('POST', `/ssf/poll/${id}`, {}),
    ];
    expect(foreign.map(({ status }) => status)).toEqual(foreign.map(() => 404));
    expect((await reader.call('POST', '/ssf/streams', {})).status).toBe(403);
    expect((await reader.call('GET', '/ssf/streams')).status).toBe(200);
    const anonymous = await httpClient(idp.issuer).get('/ssf/streams');
    expect([anonymous.status, anonymous.headers['www-authenticate']]).toEqual([401, expect.stringContaining('Bearer')]);
    // Its registration decides at each call.
    const { id: applicationId } = (await idp.services.applications.find(one.clientId)) ?? expect.fail();
    await idp.services.applications.setEnabled(applicationId, false);
    expect((await one.call('GET', '/ssf/streams')).status).toBe(401);
  },
);

itOnBothInLongRun(
  'no token is valid at two receivers, and a disabled or deleted application gets nothing',
  async () => {
    const [one, two] = [await aReceiver(), await aReceiver()];
    for (const each of [one, two]) {
      await each.used(ann);
      await each.ok('POST', '/ssf/streams');
    }
    await idp.services.endSession.all(ann.account.id, 'ended-by-admin');
    await run();
    const [token] = Object.values((await polled(one)).sets);
    await expect(verified(token ?? '', two.clientId)).rejects.toThrow('aud');
    const { id } = (await idp.services.applications.find(two.clientId)) ?? expect.fail();
    // Also a stream that waits goes with its application.
    const [{ stream_id: paused } = {}] = (await two.ok('GET', '/ssf/streams')) as unknown as { stream_id: string }[];
    await two.ok('POST', '/ssf/status', { stream_id: paused, status: 'paused' });
    await idp.services.applications.remove(id);
    await idp.services.endSession.all(ann.account.id, 'ended-by-admin');
    await run();
    const streams = await idp.services.eventStreams.list();
    const waiting = await idp.services.db.eventDelivery.groupBy({ by: ['streamId'], _count: true });
    expect(streams.map(({ receiver }) => receiver?.clientId)).toEqual([one.clientId]);
    expect(waiting.map(({ _count }) => _count)).toEqual([2]);
  },
);

itOnBothInLongRun(
  'bad input: internal and malformed addresses, large bodies, many acknowledgements, control characters',
  async () => {
    const receiver = await aReceiver();
    const create = (body: unknown) => receiver.call('POST', '/ssf/streams', body);
    const push = (endpoint_url: string, more: Json = {}) => ({ delivery: { method: PUSH, endpoint_url, ...more } });
    const bad = [
      push('http://receiver.example/events'),
      push('ftp://receiver.example'),
      push('https://user:secret@receiver.example/'),
      { delivery: { method: PUSH } },
      push('https://receiver.example/', { authorization_header: 'a\r\nX-Injected: yes' }),
      { delivery: { method: 'urn:example' } },
      { events_requested: Array.from({ length: 101 }, () => 'x') },
      { description: 'a\u0000b' },
      [],
    ];
    const answers = [];
    for (const body of bad) answers.push((await create(body)).status);
    expect(answers).toEqual(bad.map(() => 400));
    expect((await create({ description: 'x'.repeat(1_000_000) })).status).toBe(413);
    const { stream_id: id } = (await create(push('https://169.254.169.254/events'))).json<Json>();
    await run();
    const lastError = async () => (await idp.services.eventStreams.get(String(id))).lastError ?? '';
    await vi.waitFor(async () => expect(await lastError()).toContain('private or special network'), 20_000);
    await receiver.ok('PATCH', '/ssf/streams', { stream_id: id, delivery: { method: 'urn:ietf:rfc:8936' } });
    const ack = Array.from({ length: 1001 }, (_one, index) => `jti-${index}`);
    expect((await receiver.call('POST', `/ssf/poll/${id}`, { ack })).status).toBe(400);
    const polluting = JSON.parse('{ "setErrs": { "__proto__": { "err": "x" } } }') as Json;
    expect((await receiver.call('POST', `/ssf/poll/${id}`, polluting)).status).toBe(400);
  },
);

itOnBothInLongRun(
  'more waiting events than there are deliveries at once are polled to the end, each once',
  {
    timeout: 300_000,
  },
  async () => {
    const receiver = await aReceiver();
    await receiver.used(ann);
    await receiver.ok('POST', '/ssf/streams');
    const { audit } = idp.services;
    const count = 2500;
    for (let index = 0; index < count; index += 1)
      await audit.record({ type: 'password.changed', outcome: 'success', subjectId: ann.account.id });
    await run();
    const seen = new Set<string>();
    let ack: string[] = [];
    for (let round = 0; round < count; round += 1) {
      const [stream] = await idp.services.eventStreams.list();
      const answer = await receiver.ok('POST', `/ssf/poll/${stream?.id}`, { ack, maxEvents: 100_000 });
      ack = Object.keys(answer.sets as Json);
      expect(ack.length).toBeLessThanOrEqual(100);
      for (const jti of ack) seen.add(jti);
      // What did not fit into the deliveries follows.
      if (ack.length === 0) await run();
      if (seen.size === count) break;
    }
    expect(seen.size).toBe(count);
  },
);
