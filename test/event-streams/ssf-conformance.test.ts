// What the transmitter plan of the OpenID Foundation's suite checks (openid-ssf-transmitter-test-plan, of August 2026, with the profile
// caep_interop), in its order, as a receiver would ask. Control of subjects is optional, and not offered here. `npm run
// conformance -- --plan Shared --plan CAEP` runs the suite itself.
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ssfApi } from '../../src/people/rbac/built-in.ts';
import { anApplication, basic } from '../oidc/support.ts';
import { testClock } from '../support/clock.ts';
import { aUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { listen } from '../support/listen.ts';
import { deliver, removeStreams } from './support.ts';

const [PUSH, POLL] = ['urn:ietf:rfc:8935', 'urn:ietf:rfc:8936'];
const CAEP = 'https://schemas.openid.net/secevent/caep/event-type';
const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification';
const EVENTS = ['session-revoked', 'credential-change', 'device-compliance-change'].map((type) => `${CAEP}/${type}`);
const BROKEN = ';{ broken';
const SCOPE = 'ssf.manage ssf.read';

type Json = Record<string, unknown>;
interface Metadata extends Json {
  issuer: string;
  jwks_uri: string;
  configuration_endpoint: string;
  status_endpoint: string;
  verification_endpoint: string;
}
interface Stream extends Json {
  stream_id: string;
  delivery: { method: string; endpoint_url: string };
}

let idp: TestIdp;
let token: string;
let metadata: Metadata;
let app: Awaited<ReturnType<typeof anApplication>>;
const clock = testClock();
beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
  app = await anApplication(idp, {
    grant_types: ['authorization_code', 'client_credentials'],
    resources: [ssfApi(idp.issuer)],
    scope: `openid email ${SCOPE}`,
  });
  metadata = (await httpClient().get(`${idp.issuer}/.well-known/ssf-configuration`)).json<Metadata>();
});
beforeEach(async () => {
  await removeStreams(idp);
  const headers = { authorization: basic(app.clientId, app.clientSecret) };
  const form = { grant_type: 'client_credentials', scope: SCOPE };
  const answer = await httpClient(idp.issuer).post('/token', { form, headers });
  token = answer.json<{ access_token: string }>().access_token;
});
afterAll(() => idp?.stop());

const invalid = () => `invalid:${crypto.randomUUID()}`;
function call(method: string, url: string, body?: Json | string, bearer = token): Promise<Page> {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', accept: 'application/json' };
  const content = typeof body === 'string' ? body : JSON.stringify(body);
  return httpClient().request(method, url, { headers, ...(body !== undefined && { body: content }) });
}
const config = (delivery: Json = { method: POLL }): Json => ({
  description: 'Conformance',
  events_requested: EVENTS,
  delivery,
});
const at = (url: string, { stream_id: id }: Stream) => `${url}?stream_id=${encodeURIComponent(id)}`;

async function created(delivery?: Json): Promise<Stream> {
  const answer = await call('POST', metadata.configuration_endpoint, config(delivery));
  expect([answer.status, answer.json().iss]).toEqual([201, metadata.issuer]);
  return answer.json<Stream>();
}
async function unknown(): Promise<Stream> {
  const stream = await created();
  expect((await call('DELETE', at(metadata.configuration_endpoint, stream))).status).toBe(204);
  return stream;
}

it('metadata', async () => {
  expect(metadata).toMatchObject({
    issuer: idp.issuer,
    spec_version: '1_0',
    configuration_endpoint: `${idp.issuer}/ssf/streams`,
  });
  for (const [name, value] of Object.entries(metadata)) if (Array.isArray(value)) expect(value, name).not.toEqual([]);
  expect(['ALL', 'NONE', undefined]).toContain(metadata.default_subjects);
  expect(metadata.authorization_schemes).toContainEqual({ spec_urn: 'urn:ietf:rfc:6749' });
  expect(metadata.delivery_methods_supported).toEqual(expect.arrayContaining([PUSH, POLL]));
  for (const name of ['jwks_uri', 'configuration_endpoint', 'status_endpoint', 'verification_endpoint'])
    expect(String(metadata[name]), name).toMatch(new RegExp(`^${idp.issuer}/`));
  const { keys } = (await httpClient().get(metadata.jwks_uri)).json<{ keys: Json[] }>();
  for (const key of keys) expect(key).toMatchObject({ kty: expect.any(String), kid: expect.any(String) });
});

it.each([
  ['polled', { method: POLL }],
  ['pushed', { method: PUSH, endpoint_url: 'https://receiver.example.com/push', authorization_header: 'Bearer abc' }],
])('control of a stream that is %s', async (_how, delivery) => {
  const stream = await created(delivery);
  for (const name of ['stream_id', 'iss', 'aud', 'events_delivered', 'delivery'])
    expect(stream, name).toHaveProperty(name);
  expect(stream.delivery.method).toBe(delivery.method);
  const read = await call('GET', at(metadata.configuration_endpoint, stream));
  expect([read.status, read.json().iss]).toEqual([200, metadata.issuer]);
  const supported = read.json<{ events_supported: string[] }>().events_supported;
  expect(supported).toEqual(expect.arrayContaining(EVENTS.slice(0, 2)));
  for (const uri of supported)
    expect(uri).toMatch(/^https:\/\/schemas\.openid\.net\/secevent\/(caep|risc)\/event-type\/[a-z-]+$/);
  for (const method of ['PATCH', 'PUT']) {
    const body = { ...config(delivery), stream_id: stream.stream_id, description: `By ${method}` };
    const answer = await call(method, metadata.configuration_endpoint, body);
    expect([answer.status, answer.json().iss, answer.json().description], method).toEqual([
      200,
      metadata.issuer,
      `By ${method}`,
    ]);
  }
  const status = await call('GET', at(metadata.status_endpoint, stream));
  expect([status.status, status.json().status]).toEqual([200, 'enabled']);
  for (const next of ['enabled', 'paused', 'disabled']) {
    const body = { stream_id: stream.stream_id, status: next, reason: 'Conformance' };
    const answer = await call('POST', at(metadata.status_endpoint, stream), body);
    expect([answer.status, answer.json().status]).toEqual([200, next]);
  }
  expect((await call('DELETE', at(metadata.configuration_endpoint, stream))).status).toBe(204);
});

describe('a stream is not', () => {
  it.each(['POST', 'PATCH', 'PUT'])('changed by a broken body (%s)', async (method) => {
    if (method !== 'POST') await created();
    expect((await call(method, metadata.configuration_endpoint, BROKEN)).status).toBe(400);
  });

  it('created twice for a receiver', async () => {
    await created();
    expect((await call('POST', metadata.configuration_endpoint, config())).status).toBe(409);
  });

  it('created, read, changed or deleted with an invalid token', async () => {
    const stream = await created();
    const body = { ...config(), stream_id: stream.stream_id };
    const one = at(metadata.configuration_endpoint, stream);
    for (const [method, url, sent] of [
      ['POST', metadata.configuration_endpoint, config()],
      ['GET', one, undefined],
      ['PATCH', metadata.configuration_endpoint, body],
      ['PUT', metadata.configuration_endpoint, body],
      ['DELETE', one, undefined],
    ] as const)
      expect((await call(method, url, sent, invalid())).status, method).toBe(401);
  });

  it('found once it is deleted', async () => {
    const stream = await unknown();
    const one = at(metadata.configuration_endpoint, stream);
    const body = { ...config(), stream_id: stream.stream_id };
    for (const [method, url, sent] of [
      ['GET', one, undefined],
      ['PATCH', metadata.configuration_endpoint, body],
      ['PUT', metadata.configuration_endpoint, body],
      ['DELETE', one, undefined],
    ] as const)
      expect((await call(method, url, sent)).status, method).toBe(404);
  });
});

/** The claims of a token, as every check of the suite wants them. */
async function verified(jwt: string, stream: Stream) {
  expect(decodeProtectedHeader(jwt)).toMatchObject({ alg: 'RS256', typ: 'secevent+jwt' });
  const keys = createRemoteJWKSet(new URL(metadata.jwks_uri));
  const { payload } = await jwtVerify(jwt, keys, { issuer: String(stream.iss), currentDate: clock.now() });
  expect(payload).not.toHaveProperty('sub');
  expect(payload).not.toHaveProperty('exp');
  expect(payload.iat).toBeLessThanOrEqual(Math.ceil(clock.now().getTime() / 1000));
  expect([payload.aud].flat()).toEqual(expect.arrayContaining([stream.aud].flat()));
  const events = Object.entries(payload.events as Record<string, Json>);
  expect(events).toHaveLength(1);
  const [[uri = '', event = {}] = []] = events;
  return { uri, event, subject: payload.sub_id };
}

async function verification(stream: Stream): Promise<string> {
  const state = crypto.randomUUID();
  const answer = await call('POST', metadata.verification_endpoint, { stream_id: stream.stream_id, state });
  expect(answer.status).toBe(204);
  await deliver(idp.services);
  return state;
}

async function expectVerification(jwt: string | undefined, stream: Stream, state: string): Promise<void> {
  const { uri, event, subject } = await verified(jwt ?? '', stream);
  expect({ uri, event, subject }).toEqual({
    uri: VERIFICATION,
    event: { state },
    subject: { format: 'opaque', id: stream.stream_id },
  });
}

it('verification by polls: poll, acknowledge and poll, acknowledge alone', async () => {
  const stream = await created();
  const poll = async (body: Json) => {
    const answer = await call('POST', stream.delivery.endpoint_url, { returnImmediately: true, ...body });
    expect(answer.status).toBe(200);
    return answer.json<{ sets: Record<string, string> }>().sets;
  };
  const first = await verification(stream);
  const sets = await poll({ maxEvents: 10 });
  await expectVerification(Object.values(sets)[0], stream, first);
  // Two verifications have a minute between them.
  clock.advance({ minutes: 2 });
  const second = await verification(stream);
  const more = await poll({ maxEvents: 10, ack: Object.keys(sets) });
  await expectVerification(Object.values(more)[0], stream, second);
  expect(Object.keys(more)).toHaveLength(1);
  expect(await poll({ maxEvents: 0, ack: Object.keys(more) })).toEqual({});
  expect(await poll({ maxEvents: 10 })).toEqual({});
});

it.each(['Bearer of-the-receiver', undefined])('verification by a push with the header %s', async (header) => {
  const received: { body: string; authorization: string | undefined; type: string | undefined }[] = [];
  const server = await listen(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received.push({ body, authorization: request.headers.authorization, type: request.headers['content-type'] });
    response.writeHead(202).end();
  });
  const endpoint = { method: PUSH, endpoint_url: `${server.origin}/push` };
  const stream = await created({ ...endpoint, ...(header && { authorization_header: header }) });
  const state = await verification(stream);
  // The first one has no state: it follows the creation (SSF 1.0 8.1.4).
  await expect.poll(() => received.length).toBe(2);
  for (const { authorization, type } of received)
    expect([authorization, type]).toEqual([header, 'application/secevent+jwt']);
  const found = await Promise.all(received.map(({ body }) => verified(body, stream)));
  expect(found.map(({ event }) => event.state).sort()).toEqual([state, undefined]);
  const solicited = found.findIndex(({ event }) => event.state === state);
  await expectVerification(received[solicited]?.body, stream, state);
  await server.close();
});

it('the events of the CAEP interoperability profile', async () => {
  const { id = '' } = (await idp.services.applications.find(app.clientId)) ?? {};
  const ann = await aUser(idp.services);
  await idp.services.consents.recordUse(ann.account.id, id);
  const stream = await created();
  await idp.services.endSession.all(ann.account.id, 'ended-by-admin');
  await idp.services.credentials.setPassword(ann.account, 'another correct horse battery');
  await idp.services.audit.record({ type: 'password.changed', outcome: 'success', subjectId: ann.account.id });
  await deliver(idp.services);
  const { sets } = (await call('POST', stream.delivery.endpoint_url, { maxEvents: 10, returnImmediately: true })).json<{
    sets: Record<string, string>;
  }>();
  const events = await Promise.all(Object.values(sets).map((jwt) => verified(jwt, stream)));
  expect(new Set(events.map(({ uri }) => uri))).toEqual(new Set(EVENTS.slice(0, 2)));
  for (const { uri, event, subject } of events) {
    expect(subject).toMatchObject({ format: 'iss_sub', iss: idp.issuer });
    expect(event.event_timestamp).toEqual(expect.any(Number));
    expect(['admin', 'user', 'policy', 'system', undefined]).toContain(event.initiating_entity);
    expect(event.reason_admin).toEqual({ en: expect.stringMatching(/./) });
    if (uri.endsWith('credential-change')) {
      expect(event.credential_type).toBe('password');
      expect(['create', 'revoke', 'update', 'delete']).toContain(event.change_type);
    }
  }
});
