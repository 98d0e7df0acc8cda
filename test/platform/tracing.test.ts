// Traces of a real server at a collector that decodes them: which spans there are, what joins them to the log and the error page, and
// that nothing secret or personal is in an export. All requests come first; the end of the server sends what is left.
import { readFileSync } from 'node:fs';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRequestSpans } from '../../src/base/http/request-span.ts';
import { createLogger } from '../../src/base/platform/logger.ts';
import { createTracing } from '../../src/base/platform/otlp.ts';
import { runInChildSpan, traced, traceFields } from '../../src/base/platform/tracing.ts';
import { anUpstream, signInOver } from '../federation/support.ts';
import { anApplication, redirectUri } from '../oidc/support.ts';
import { forgot, linkIn, mailOf } from '../recovery/support.ts';
import { aSamlUser } from '../saml/sign-in-steps.ts';
import { aServiceProvider } from '../support/applications/sp.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Listening, listen } from '../support/listen.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { filesUnder } from '../support/source/imports.ts';
import { type OtlpReceiver, otlpReceiver, type ReceivedSpan } from './otlp-receiver.ts';

const TOTP_SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const COLLECTOR_KEY = 'key-of-the-collector';
/** Every attribute that a span may have: those of OpenTelemetry's conventions, and ours. */
const ATTRIBUTES = [
  ...['http.request.method', 'http.response.status_code', 'http.route', 'url.scheme', 'server.address', 'server.port'],
  ...['db.system.name', 'db.operation.name', 'db.collection.name', 'db.query.summary', 'db.operation.batch.size'],
  ...['gatehouse.request_id', 'gatehouse.code', 'gatehouse.outcome', 'gatehouse.client_id', 'gatehouse.job'],
  ...['gatehouse.connection', 'gatehouse.protocol', 'network.protocol.name', 'error.type'],
];

let idp: TestIdp;
let collector: OtlpReceiver;
let box: Mailbox;
let application: Listening;
const secrets: Record<string, string | undefined> = {};
const calls: { path: string | undefined; traceparent: unknown }[] = [];
let onCall = () => {};
const notified = new Promise<void>((resolve) => {
  onCall = resolve;
});
const ids = { clientId: '', errorPage: '', entityId: '', connection: '' };
let log: Record<string, unknown>[];

beforeAll(async () => {
  [collector, box] = await Promise.all([otlpReceiver(), mailbox()]);
  application = await listen(({ url, headers }, response) => {
    calls.push({ path: url, traceparent: headers.traceparent });
    response.writeHead(200).end();
    onCall();
  });
  idp = await startIdp({
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${COLLECTOR_KEY}`,
      OTEL_SERVICE_NAME: 'sso',
      TRUST_PROXY: '1',
      SMTP_URL: box.url,
    },
  });
  for (const scenario of [oidcSignIn, wrongPassword, passwordReset, samlSignIn, upstreamSignIn, errorPage, callerTrace])
    await scenario();
  await idp.stop();
  log = idp.log.map((line) => JSON.parse(line) as Record<string, unknown>);
});
afterAll(() => Promise.all([collector?.close(), box?.close(), application?.close()]));

async function oidcSignIn() {
  const user = await aUser(idp.services, { username: 'secret-user-name', email: 'ann@secret-domain.example' });
  await idp.services.mfa.totp.importSecret(user.account.id, TOTP_SECRET);
  const client = await anApplication(idp, { backchannel_logout_uri: `${application.origin}/logout` });
  ids.clientId = client.clientId;
  const browser = httpClient(idp.issuer);
  const started = await client.rp.start();
  const atApplication = (url: string) => url.startsWith(redirectUri);
  const form = await browser.follow(await browser.get(started.url), atApplication);
  const { username, password } = user;
  const second = await browser.follow(await browser.submit(form, { username, password }), atApplication);
  const code = generateSync({ secret: TOTP_SECRET });
  const page = await browser.follow(await browser.submit(second, { code }), atApplication);
  const tokens = await client.rp.finish(page.location ?? '', started);
  await client.rp.userinfo(tokens);
  await client.rp.introspect(tokens.access_token);
  Object.assign(secrets, { username, password, email: user.account.email, totp: TOTP_SECRET, oneTimeCode: code });
  Object.assign(secrets, { name: 'Ann Example', clientSecret: client.clientSecret });
  Object.assign(secrets, { code: new URL(page.location ?? '').searchParams.get('code') ?? undefined });
  for (const { name, value } of browser.cookies.all()) secrets[`cookie ${name}`] = value;
  Object.assign(secrets, { accessToken: tokens.access_token, idToken: tokens.id_token, sub: user.account.id });
  await idp.services.endSession.all(user.account.id, 'ended-by-admin', { actorId: user.account.id });
  await notified;
}

async function wrongPassword() {
  const { rp } = await anApplication(idp);
  const browser = httpClient(idp.issuer);
  const form = await browser.follow(await browser.get((await rp.start()).url));
  Object.assign(secrets, { wrongPassword: 'a wrong password that was typed', wrongName: 'name-of-no-account' });
  await browser.submit(form, { username: 'name-of-no-account', password: 'a wrong password that was typed' });
}

async function passwordReset() {
  const user = await aUser(idp.services);
  await forgot(idp, user.username);
  const link = linkIn(await mailOf(box, user.account.email ?? '', 'Reset your password'));
  const browser = httpClient(idp.issuer, { headers: { 'user-agent': 'SecretBrowser/1.0' } });
  await browser.follow(await browser.get(link));
  Object.assign(secrets, {
    resetToken: new URL(link).searchParams.get('token') ?? undefined,
    browser: 'SecretBrowser',
  });
}

async function samlSignIn() {
  const user = await aSamlUser(idp.services);
  const sp = await aServiceProvider(idp.services);
  const browser = httpClient(idp.issuer);
  const page = await browser.follow(
    await browser.get(await sp.saml.getAuthorizeUrlAsync('the-relay-state', undefined, {})),
  );
  const answer = await user.withPassword(browser, page);
  const profile = await sp.accept(answer.forms[0]?.fields ?? {});
  await browser.follow(
    await browser.get(await sp.saml.getLogoutUrlAsync(profile, '', {})),
    (url) => !url.startsWith(idp.issuer),
  );
  Object.assign(secrets, { nameId: profile.nameID, relayState: 'the-relay-state', samlMail: user.account.email });
  Object.assign(ids, { entityId: sp.entityId });
}

async function upstreamSignIn() {
  const corp = await anUpstream(idp);
  corp.upstream.user = {
    sub: 'secret-upstream-subject',
    email: 'upstream@secret-domain.example',
    email_verified: true,
  };
  await signInOver(idp, corp.connection);
  Object.assign(secrets, { upstreamSecret: corp.upstream.clientSecret, upstreamSubject: 'secret-upstream-subject' });
  ids.connection = corp.connection;
  await corp.remove();
}

async function errorPage() {
  const page = await httpClient(idp.issuer).get('/reset-password/no-such-page?token=typed-into-the-address', {
    headers: { accept: 'text/html', 'x-forwarded-for': '203.0.113.77' },
  });
  ids.errorPage = String(page.headers['x-request-id']);
  expect(page.text).toContain(ids.errorPage);
  Object.assign(secrets, { query: 'typed-into-the-address', path: 'no-such-page', address: '203.0.113.77' });
}

async function callerTrace() {
  const headers = { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01`, tracestate: 'vendor=secret-state' };
  await httpClient(idp.issuer).get('/.well-known/openid-configuration', { headers });
  secrets.tracestate = 'secret-state';
  await httpClient(idp.issuer).get('/saml/metadata', { headers: { traceparent: '00-zz-malformed' } });
  await httpClient(idp.issuer).get('/readyz');
}

const named = (name: string | RegExp) =>
  collector.spans.filter((span) => (typeof name === 'string' ? span.name === name : name.test(span.name)));
const one = (name: string): ReceivedSpan => {
  const [span] = named(name);
  if (!span)
    throw new Error(`no span ${name} among ${[...new Set(collector.spans.map((each) => each.name))].join(', ')}`);
  return span;
};
const below = (parent: ReceivedSpan) => collector.spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId);
const SERVER = 2;
const CLIENT = 3;

describe('traces', () => {
  it.each([
    ['GET /signin/:uid', { 'http.request.method': 'GET', 'http.response.status_code': 200, 'url.scheme': 'http' }],
    ['POST /token', { 'http.route': '/token', 'http.response.status_code': 200 }],
    ['oidc /token', {}],
    ['oidc /authorize', {}],
    ['sign-in first factor', { 'gatehouse.outcome': 'ok' }],
    ['sign-in second factor', { 'gatehouse.outcome': 'ok' }],
    ['password check', {}],
    ['saml AuthnRequest', {}],
    ['saml Response', {}],
    ['saml LogoutRequest', {}],
    ['upstream request', { 'gatehouse.protocol': 'oidc' }],
    ['upstream answer', { 'gatehouse.protocol': 'oidc' }],
    ['mail send', { 'gatehouse.outcome': 'sent' }],
    ['job mail', { 'gatehouse.job': 'mail' }],
    ['BEGIN', { 'db.operation.name': 'BEGIN' }],
  ])('have a span %s', (name, attributes) => {
    expect(named(name).map((span) => span.attributes)).toContainEqual(expect.objectContaining(attributes));
  });

  it('name the service, its version and its instance', () => {
    expect(collector.resource).toMatchObject({ 'service.name': 'sso', 'service.version': expect.any(String) });
    expect(collector.resource).toHaveProperty(['service.instance.id'], expect.any(String));
  });

  it('join each step to its request', () => {
    const token = named('POST /token').find((span) => below(span).length > 0) as ReceivedSpan;
    expect(token.kind).toBe(SERVER);
    const engine = below(token).find(({ name }) => name === 'oidc /token') as ReceivedSpan;
    expect(engine.attributes['gatehouse.client_id']).toBe(ids.clientId);
    const statements = below(engine).filter(({ attributes }) => attributes['db.system.name']);
    expect(statements.length).toBeGreaterThan(0);
    expect(new Set(statements.map(({ traceId, kind }) => `${traceId} ${kind}`))).toEqual(
      new Set([`${token.traceId} ${CLIENT}`]),
    );
    expect(one('saml AuthnRequest').attributes['gatehouse.client_id']).toBe(ids.entityId);
    expect(one('upstream answer').attributes['gatehouse.connection']).toBe(ids.connection);
    // The exchange of the code, at the upstream.
    expect(below(one('upstream answer')).map(({ name }) => name)).toContain('POST');
    expect(below(one('mail send')).length).toBe(0);
  });

  it('name each statement, hot ones by their own name, several in one commit as a batch, and those of Prisma by table', () => {
    const statements = collector.spans.filter(({ attributes }) => attributes['db.system.name']);
    const summaries = statements.map(({ attributes }) => attributes['db.query.summary']).filter(Boolean);
    const name = /^(BATCH|(BATCH )?[a-z-]+\.[a-zA-Z]+)$/;
    expect(summaries.filter((summary) => !name.test(String(summary)))).toEqual([]);
    const sizes = statements.map(({ attributes }) => [
      String(attributes['db.query.summary']).startsWith('BATCH'),
      Number(attributes['db.operation.batch.size'] ?? 1) > 1,
    ]);
    expect(sizes.filter(([isBatch, isSeveral]) => isBatch !== isSeveral)).toEqual([]);
    expect(sizes.flat()).toContain(true);
    expect(summaries.length).toBeGreaterThan(20);
    expect(statements.map(({ name }) => name)).toContain('INSERT mail_messages');
  });

  it('start again for a job that a request wakes', () => {
    for (const job of named(/^job /)) expect(job.parentSpanId ?? '').toBe('');
    const [delivery] = named(/^POST$/).filter(({ attributes }) => attributes['server.port'] === application.port);
    const root = collector.spans.find(({ traceId, kind }) => traceId === delivery?.traceId && kind === SERVER);
    expect(delivery?.attributes).toMatchObject({ 'http.response.status_code': 200, 'server.address': '127.0.0.1' });
    expect(root).toBeUndefined();
  });

  it('have the request id of the error page and of the log, whose lines name the trace', () => {
    const span = collector.spans.find(({ attributes }) => attributes['gatehouse.request_id'] === ids.errorPage);
    expect(span?.attributes).toMatchObject({ 'http.response.status_code': 404, 'gatehouse.code': 'not_found' });
    const lines = log.filter(({ requestId }) => requestId === ids.errorPage);
    expect(lines.map(({ msg }) => msg)).toContain('request');
    for (const line of lines) expect(line).toMatchObject({ trace_id: span?.traceId, span_id: span?.spanId });
    const audited = log.find(({ msg }) => msg === 'audit sign-in.password success');
    expect(collector.spans.map(({ traceId }) => traceId)).toContain(audited?.trace_id);
  });

  it('continue the trace of a trusted proxy, and none that is malformed', () => {
    const discovery = collector.spans.find(({ parentSpanId }) => parentSpanId === CALLER.spanId);
    expect(discovery).toMatchObject({ traceId: CALLER.traceId, name: 'GET /.well-known/openid-configuration' });
    expect(one('GET /saml/metadata').parentSpanId ?? '').toBe('');
    expect(named(/readyz|assets/)).toEqual([]);
  });

  it('are not passed on to applications', () => {
    expect(calls).toEqual([{ path: '/logout', traceparent: undefined }]);
  });

  it('hold no secret, no personal data and no attribute but the listed ones', () => {
    const all = collector.raw.join('\n');
    expect(all).toContain(`x-api-key\n${COLLECTOR_KEY}`);
    const used = Object.entries(secrets).filter((entry): entry is [string, string] => (entry[1] ?? '').length > 5);
    expect(used.length).toBe(Object.keys(secrets).length);
    for (const [what, secret] of used) {
      const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').replaceAll('=', '')];
      expect(
        forms.filter((form) => all.includes(form)),
        what,
      ).toEqual([]);
    }
    const names = new Set(collector.spans.flatMap(({ attributes }) => Object.keys(attributes)));
    expect([...names].filter((name) => !ATTRIBUTES.includes(name))).toEqual([]);
  });
});

describe('the exporter', () => {
  const config = {
    headers: {},
    protocol: 'http/protobuf',
    serviceName: 'gatehouse',
    sampler: 'always_on',
    ratio: 1,
  } as const;

  it.each([
    ['the collector is not there', undefined],
    ['the collector never answers', () => {}],
  ])('drops spans beyond its queue and ends in time when %s', async (_case, answer) => {
    const silent = await listen(answer ?? (() => {}));
    if (!answer) await silent.close();
    const lines: string[] = [];
    const logger = createLogger({
      level: 'info',
      format: 'json',
      destination: { write: (line) => void lines.push(line) },
    });
    const url = new URL(`${silent.origin}/v1/traces`);
    const dependencies = { logger, version: '1', instanceId: 'i', exportMs: 200 };
    const tracing = createTracing({ ...dependencies, config: { ...config, url } });
    for (let count = 0; count < 20_000; count += 1) tracing.root('span', {})?.end();
    await tracing.stop();
    if (answer) await silent.close();
    expect(lines.filter((line) => line.includes('traces cannot be exported')).length).toBe(1);
  });

  it('records nothing that its sampler leaves out', async () => {
    const logger = createLogger({ level: 'silent', format: 'json' });
    const settings = {
      ...config,
      sampler: 'parentbased_traceidratio',
      ratio: 0,
      url: new URL('http://127.0.0.1:9'),
    } as const;
    const tracing = createTracing({ config: settings, logger, version: '1', instanceId: 'i' });
    expect(tracing.root('span', {})).toBeUndefined();
    const sampled = tracing.root('span', { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01` });
    expect(sampled?.traceId).toBe(CALLER.traceId);
    expect(tracing.root('span', { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-00` })).toBeUndefined();
    await tracing.stop();
  });
});

it('the tracer believes no traceparent where no proxy is trusted', () => {
  const roots: unknown[] = [];
  const tracing = { root: (_name: string, options: object) => void roots.push(options), stop: async () => {} };
  const ctx = {
    path: '/',
    get: () => `00-${CALLER.traceId}-${CALLER.spanId}-01`,
    state: { request: { requestId: 'r' } },
  };
  for (const trustProxy of [0, 1]) {
    const issuerUrl = new URL('https://id.example');
    createRequestSpans({ tracing: tracing as never, trustProxy, issuerUrl, untracedPaths: [] }).start(
      ctx as never,
      'GET',
    );
  }
  expect(roots).toMatchObject([{ traceparent: undefined }, { traceparent: expect.stringContaining(CALLER.traceId) }]);
});

it('the tracer runs the work alone where no span is recorded', async () => {
  const double = traced('double', async (value: number) => value * 2);
  expect(await double(21)).toBe(42);
  expect(await runInChildSpan('step', {}, async (span) => span)).toBeUndefined();
  expect(traceFields()).toEqual({});
});

it('the tracer loads the OpenTelemetry packages only where traces are on', () => {
  const sources = filesUnder('src', '.ts').map((file) => readFileSync(file, 'utf8'));
  const importing = sources.flatMap((source) => source.match(/^.*platform\/otlp\.ts.*$/gm) ?? []);
  expect(importing).toEqual(["  const { createTracing } = await import('../base/platform/otlp.ts');"]);
});
