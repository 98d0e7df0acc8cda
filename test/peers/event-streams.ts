// Receivers of others at the event streams of this server, while its process is killed again and again (README.md): the verifier of Standard
// Webhooks, rsyslog over TLS, `jose` for pushed and polled Security Event Tokens, and strict doubles of Splunk's HTTP Event Collector and of
// `_bulk` of Elasticsearch. Not part of `npm test`, because it needs them.
//   npx tsx test/peers/event-streams.ts [--rounds 10]
import { execFileSync } from 'node:child_process';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { z } from 'zod';
import { loadConfig } from '../../src/base/config.ts';
import { createLogger } from '../../src/base/platform/logger.ts';
import { ssfApi } from '../../src/people/rbac/built-in.ts';
import type { EventBody } from '../../src/protocols/event-streams/event.ts';
import { ofTypes } from '../../src/protocols/event-streams/event.ts';
import { eventStreamFields, type StreamDeclaration } from '../../src/protocols/event-streams/streams.ts';
import { verifyEvents } from '../../src/protocols/event-streams/verify.ts';
import { createServices, type Services } from '../../src/server/services.ts';
import { serverProcess } from '../robustness/support.ts';
import { aClient, aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { listen } from '../support/listen.ts';
import { freePort, needFile, newFolder, packageVersion, skip, startProgram } from './programs.ts';

const { values: given } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } });
const ROUNDS = Number(given.rounds);
const PEOPLE = 6;
const ROUND_MS = 6000;
const SIGN_INS = 10;
/** As long as nothing arrives, at the end. */
const DRAIN_MS = 3 * 60_000;
const PASSWORD = 'a long pass phrase of a trial';
const INSTALLED = process.env.EVENT_STREAMS ?? '/opt/peers/event-streams';

/** What a receiver complains of; each is a failure. */
const complaints: string[] = [];
const complain = (text: string) => void complaints.push(text);

interface Receiver {
  name: string;
  declared: Partial<StreamDeclaration> & { url: string };
  secret?: string;
  /** Each event or batch as it was received, one on a line. */
  lines(): string;
  /** How many events came more than once. */
  repeated(): number;
  stop(): Promise<unknown>;
}

/** What is wrong on the way: the answer is lost, or the receiver fails, before or after it has taken the events. */
function hasTrouble(oneIn: number): 'lost' | 'failed' | undefined {
  const draw = randomInt(oneIn);
  return draw === 0 ? 'lost' : draw === 1 ? 'failed' : undefined;
}

interface Reply {
  status: number;
  body?: object;
}

/** A server that takes what `take` accepts, and then may lose its answer. */
async function aServer(take: (request: IncomingMessage, body: string) => Reply, oneIn = 20) {
  return listen(async (request, response) => {
    const body = await readAll(request);
    const trouble = hasTrouble(oneIn);
    if (trouble === 'failed') return void response.writeHead(503).end();
    const reply = take(request, body);
    if (trouble === 'lost') return void request.socket.destroy();
    response.writeHead(reply.status, { 'content-type': 'application/json' });
    response.end(reply.body ? JSON.stringify(reply.body) : undefined);
  });
}

/** Counts what came before; the same key must have the same content. */
function seen() {
  const known = new Map<string, string>();
  let repeated = 0;
  return {
    add(key: string, content: string, where: string): void {
      const before = known.get(key);
      if (before === undefined) known.set(key, content);
      else {
        repeated += 1;
        if (before !== content) complain(`${where}: ${key} came twice with different content`);
      }
    },
    keys: () => [...known.keys()],
    contents: () => [...known.values()],
    repeated: () => repeated,
  };
}

interface StandardWebhook {
  verify(body: string, headers: Record<string, string>): unknown;
}

async function webhookReceiver(): Promise<Receiver> {
  const require = createRequire(
    needFile(path.join(INSTALLED, 'node_modules/standardwebhooks/package.json'), 'README.md'),
  );
  const { Webhook } = require('standardwebhooks') as { Webhook: new (secret: string) => StandardWebhook };
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhook = new Webhook(secret);
  const events = seen();
  const server = await aServer((request, body) => {
    const headers = request.headers as Record<string, string>;
    try {
      webhook.verify(body, headers);
    } catch (error) {
      complain(`standardwebhooks: ${error}`);
      return { status: 400 };
    }
    events.add(headers['webhook-id'] ?? '', body, 'webhook');
    return { status: 204 };
  }, 300);
  const lines = () => events.contents().join('\n');
  const declared = { url: `${server.origin}/events` };
  return { name: 'standardwebhooks', declared, secret, lines, repeated: events.repeated, stop: server.close };
}

/** https://docs.splunk.com: concatenated objects with these keys alone; codes as it answers them. */
async function splunkReceiver(): Promise<Receiver> {
  const token = randomUUID();
  const one = z.strictObject({
    time: z.number().positive(),
    host: z.string().min(1),
    source: z.string().min(1),
    sourcetype: z.string().min(1),
    index: z.string().optional(),
    fields: z.record(z.string(), z.union([z.string(), z.array(z.string())])).optional(),
    event: z.looseObject({ chain: z.object({ seq: z.int() }) }),
  });
  const events = seen();
  const server = await aServer((request, body) => {
    if (request.headers.authorization !== `Splunk ${token}`) {
      complain('Splunk: the token is wrong');
      return { status: 403, body: { text: 'Invalid token', code: 4 } };
    }
    if (request.url !== '/services/collector/event' || body.trim() === '') {
      complain(`Splunk: ${request.url} with ${body.length} characters`);
      return { status: 400, body: { text: 'No data', code: 5 } };
    }
    for (const line of body.split('\n')) {
      const read = one.safeParse(JSON.parse(line));
      if (!read.success) {
        complain(`Splunk: ${read.error.message}`);
        return { status: 400, body: { text: 'Invalid data format', code: 6 } };
      }
      events.add(String(read.data.event.chain.seq), line, 'Splunk');
    }
    return { status: 200, body: { text: 'Success', code: 0 } };
  });
  return {
    name: 'Splunk HEC (double)',
    declared: { kind: 'siem', format: 'splunk', url: `${server.origin}/services/collector/event` },
    secret: token,
    lines: () => events.contents().join('\n'),
    repeated: events.repeated,
    stop: server.close,
  };
}

/** The allowed values of `event.category` in ECS 8.11. */
const ECS_CATEGORIES = [
  ...['api', 'authentication', 'configuration', 'database', 'driver', 'email', 'file', 'host', 'iam', 'library'],
  ...[
    'intrusion_detection',
    'malware',
    'network',
    'package',
    'process',
    'registry',
    'session',
    'threat',
    'vulnerability',
    'web',
  ],
];
/** The fields of ECS that are sent, with their types; `gatehouse` is an object of its own, as ECS asks for. */
const ecsDocument = z.strictObject({
  '@timestamp': z.iso.datetime(),
  ecs: z.strictObject({ version: z.string().regex(/^8\.\d+\.\d+$/) }),
  event: z.strictObject({
    kind: z.enum(['alert', 'asset', 'enrichment', 'event', 'metric', 'state', 'pipeline_error', 'signal']),
    module: z.string(),
    dataset: z.string().startsWith('gatehouse.'),
    category: z.array(z.enum(ECS_CATEGORIES)).min(1),
    action: z.string(),
    outcome: z.enum(['failure', 'success', 'unknown']),
    id: z.string(),
    sequence: z.int(),
    hash: z.string(),
    reason: z.string().optional(),
  }),
  user: z
    .strictObject({ id: z.string(), name: z.string(), full_name: z.string(), email: z.string() })
    .partial()
    .optional(),
  source: z.strictObject({ ip: z.union([z.ipv4(), z.ipv6()]) }).optional(),
  user_agent: z.strictObject({ original: z.string() }).optional(),
  http: z.strictObject({ request: z.strictObject({ id: z.string() }) }).optional(),
  service: z.strictObject({ name: z.string() }),
  gatehouse: z.looseObject({ chain: z.looseObject({ seq: z.int() }) }),
});
const createAction = z.strictObject({ create: z.strictObject({ _id: z.string().min(1).max(512) }) });

/** A data stream takes `create` alone, and an `_id` once. */
async function elasticReceiver(): Promise<Receiver> {
  const token = randomBytes(24).toString('base64url');
  const documents = new Map<string, string>();
  let repeated = 0;
  const store = (id: string, document: string): number => {
    const read = ecsDocument.safeParse(JSON.parse(document));
    if (!read.success) complain(`ECS: ${read.error.message}`);
    if (!read.success) return 400;
    const before = documents.get(id);
    if (before !== undefined) {
      repeated += 1;
      if (before !== document) complain(`ECS: ${id} came twice with different content`);
      return 409;
    }
    documents.set(id, document);
    return 201;
  };
  const server = await aServer((request, body) => {
    const { authorization, 'content-type': type } = request.headers;
    if (authorization !== `ApiKey ${token}` || type !== 'application/x-ndjson' || !body.endsWith('\n')) {
      complain(`_bulk: ${type}`);
      return { status: 400 };
    }
    const lines = body.slice(0, -1).split('\n');
    // It is busy with some of a batch.
    const busy = randomInt(10) === 0 ? randomInt(lines.length) : -1;
    const items = [];
    for (let at = 0; at < lines.length; at += 2) {
      const { _id: id } = createAction.parse(JSON.parse(lines[at] ?? '')).create;
      items.push({ create: { _id: id, status: at === busy ? 429 : store(id, lines[at + 1] ?? '') } });
    }
    return { status: 200, body: { took: 1, errors: items.some(({ create }) => create.status >= 300), items } };
  });
  return {
    name: 'Elasticsearch _bulk (double), ECS 8.11',
    declared: { kind: 'siem', format: 'ecs', url: `${server.origin}/logs-gatehouse-default/_bulk` },
    secret: token,
    lines: () => [...documents.values()].join('\n'),
    repeated: () => repeated,
    stop: server.close,
  };
}

/** rsyslog with a certificate of an authority of its own, which writes each message as it came. */
async function syslogReceiver(folder: string): Promise<Receiver & { authority: string; version: string }> {
  const program = needFile('/usr/sbin/rsyslogd', 'apt-get install rsyslog rsyslog-openssl');
  const version = (await packageVersion('rsyslog')) ?? '';
  const at = (name: string) => path.join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const authority = at('authority.pem');
  const newKey = ['-newkey', 'rsa:2048', '-nodes'];
  openssl(
    ...['req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=Authority of a trial'],
    ...['-keyout', at('authority.key'), '-out', authority],
  );
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost\n');
  openssl('req', ...newKey, '-subj', '/CN=localhost', '-keyout', at('tls.key'), '-out', at('tls.csr'));
  openssl(
    ...['x509', '-req', '-in', at('tls.csr'), '-days', '2', '-extfile', at('names'), '-out', at('tls.pem')],
    ...['-CA', authority, '-CAkey', at('authority.key'), '-CAcreateserial'],
  );
  const [port, output, ready] = [await freePort(), at('events.log'), at('rsyslog.pid')];
  writeFileSync(
    at('rsyslog.conf'),
    `global(workDirectory="${folder}" maxMessageSize="1m" defaultNetstreamDriver="ossl"
  defaultNetstreamDriverCAFile="${authority}" defaultNetstreamDriverCertFile="${at('tls.pem')}" defaultNetstreamDriverKeyFile="${at('tls.key')}")
module(load="imtcp" streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="anon")
template(name="parsed" type="string" string="%syslogfacility-text%.%syslogseverity-text% %protocol-version% %app-name% %msgid% %timereported:::date-rfc3339% %msg%\\n")
input(type="imtcp" port="${port}" address="127.0.0.1")
action(type="omfile" file="${output}" template="parsed")
`,
  );
  const rsyslog = await startProgram(program, ['-n', '-f', at('rsyslog.conf'), '-i', ready], { ready });
  /** What rsyslog read from each header, and the event. */
  const messages = () =>
    readFileSync(output, 'utf8')
      .split('\n')
      .filter((line) => line.includes(' gatehouse '))
      .map((line) => {
        const [, header = '', text = ''] = /^(\S+ 1 gatehouse \S+ \S+) +\ufeff?(\{.*\})$/.exec(line) ?? [];
        const event = JSON.parse(text || 'null') as EventBody | null;
        const wanted =
          event &&
          `auth${event.data.outcome === 'success' ? '.info' : '.warning'} 1 gatehouse ${event.type.slice(0, 32)}`;
        if (!event || !header.replace('authpriv', 'auth').startsWith(`${wanted} `))
          complain(`rsyslog: ${line.slice(0, 200)}`);
        return { text, seq: event?.chain.seq };
      });
  return {
    name: `rsyslog ${version}, TLS`,
    version,
    authority,
    declared: { kind: 'siem', format: 'syslog', url: `syslog://localhost:${port}` },
    lines: () =>
      messages()
        .map(({ text }) => text)
        .join('\n'),
    repeated: () => messages().length - new Set(messages().map(({ seq }) => seq)).size,
    stop: rsyslog.stop,
  };
}

interface SignalReceiver {
  name: string;
  clientId: string;
  /** Of each token by its `jti`: the event and the person. */
  received(): Map<string, string>;
  repeated(): number;
  stop(): Promise<unknown>;
}

interface Trial {
  issuer: string;
  services: Services;
}

/** An application that may receive signals, and which these people used. */
async function aSignalApplication({ issuer, services }: Trial, name: string, people: readonly string[]) {
  const { clientId, clientSecret, applicationId } = await aClient(services, {
    client_id: name,
    grant_types: ['authorization_code', 'client_credentials'],
    redirect_uris: [`${issuer}/callback`],
    resources: [ssfApi(issuer)],
    scope: 'openid ssf.manage ssf.read',
  });
  for (const id of people) await services.consents.recordUse(id, applicationId);
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  let token = '';
  const client = httpClient(issuer);
  const renew = async () => {
    const form = { grant_type: 'client_credentials', scope: 'ssf.manage ssf.read' };
    token = (await client.post('/token', { form, headers: { authorization: basic } })).json<{ access_token: string }>()
      .access_token;
  };
  return async (method: string, at: string, json: object): Promise<Record<string, unknown>> => {
    for (;;) {
      const answer = await client
        .request(method, at, { headers: { authorization: `Bearer ${token}` }, json })
        .catch(() => undefined);
      if (answer && answer.status < 300) return answer.json();
      if (answer?.status === 401) await renew().catch(() => undefined);
      await sleep(200);
    }
  };
}

/** As `jose` verifies a Security Event Token, with the keys that were published at the beginning. */
async function verifier(issuer: string, audience: string) {
  const keys = createLocalJWKSet((await httpClient(issuer).get('/jwks')).json());
  const tokens = seen();
  const take = async (token: string): Promise<string> => {
    const { payload } = await jwtVerify(token, keys, { issuer, audience, typ: 'secevent+jwt' });
    const { jti = '', events = {}, sub_id: subject } = payload as { jti?: string; events?: object; sub_id?: object };
    if (Object.keys(events).length !== 1 || payload.sub !== undefined || payload.exp !== undefined)
      complain(`SET: ${token}`);
    tokens.add(jti, JSON.stringify([events, subject]), audience);
    return jti;
  };
  return { take, tokens };
}

async function pushReceiver(trial: Trial, people: readonly string[]): Promise<SignalReceiver> {
  const name = 'jose-push';
  const call = await aSignalApplication(trial, name, people);
  const { take, tokens } = await verifier(trial.issuer, name);
  const server = await listen(async (request, response) => {
    const token = await readAll(request);
    const trouble = hasTrouble(100);
    if (trouble === 'failed') return void response.writeHead(503).end();
    if (request.headers['content-type'] !== 'application/secevent+jwt') complain('push: content-type');
    await take(token).catch((error) => complain(`push: ${error}`));
    if (trouble === 'lost') return void request.socket.destroy();
    response.writeHead(202).end();
  });
  const delivery = { method: 'urn:ietf:rfc:8935', endpoint_url: `${server.origin}/signals` };
  await call('POST', '/ssf/streams', { delivery });
  const received = () => new Map(tokens.keys().map((key, at) => [key, tokens.contents()[at] ?? '']));
  return { name: 'jose, pushed', clientId: name, received, repeated: tokens.repeated, stop: server.close };
}

async function pollReceiver(trial: Trial, people: readonly string[]): Promise<SignalReceiver> {
  const name = 'jose-poll';
  const call = await aSignalApplication(trial, name, people);
  const { take, tokens } = await verifier(trial.issuer, name);
  const { delivery } = await call('POST', '/ssf/streams', { delivery: { method: 'urn:ietf:rfc:8936' } });
  const at = new URL((delivery as { endpoint_url: string }).endpoint_url).pathname;
  let isOver = false;
  const polling = (async () => {
    let ack: string[] = [];
    while (!isOver || ack.length > 0) {
      const { sets } = (await call('POST', at, { maxEvents: 20, returnImmediately: true, ack })) as {
        sets: Record<string, string>;
      };
      ack = [];
      for (const [jti, token] of Object.entries(sets)) {
        const found = await take(token).catch((error) => complain(`poll: ${error}`));
        if (found !== jti) complain('poll: the key is not the jti');
        // A receiver that is killed before it acknowledges gets the token again.
        if (hasTrouble(20) === undefined) ack.push(jti);
      }
      await sleep(500);
    }
  })();
  const received = () => new Map(tokens.keys().map((key, index) => [key, tokens.contents()[index] ?? '']));
  const stop = async () => {
    isOver = true;
    await polling;
  };
  return { name: 'jose, polled', clientId: name, received, repeated: tokens.repeated, stop };
}

/** Signs in and out until it is told to stop; what fails while the server is down is begun again. */
async function signInsOf(issuer: string, username: string, state: { isOver: boolean; signIns: number }): Promise<void> {
  while (!state.isOver) {
    try {
      const browser = httpClient(issuer);
      const page = await browser.follow(await browser.get('/dashboard'));
      const password = state.signIns % 10 === 9 ? 'wrong' : PASSWORD;
      const { status, url } = await browser.follow(await browser.submit(page, { username, password }));
      if (status === 200 && url.endsWith('/dashboard')) state.signIns += 1;
      else if (password === 'wrong') state.signIns += 1;
    } catch {
      await sleep(300);
    }
  }
}

async function main(): Promise<number> {
  const folder = newFolder('event-streams');
  const receivers = [
    await webhookReceiver(),
    await splunkReceiver(),
    await elasticReceiver(),
    await syslogReceiver(folder),
  ];
  const authority = path.join(folder, 'authority.pem');
  const port = await freePort();
  const environment = {
    ISSUER: `http://localhost:${port}`,
    HOST: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: path.join(folder, 'data'),
    GATEHOUSE_SECRET: randomBytes(32).toString('base64url'),
    LOG_FORMAT: 'json',
    LOG_LEVEL: 'info',
    NODE_EXTRA_CA_CERTS: authority,
  };
  const issuer = environment.ISSUER;
  const logger = createLogger({ level: 'fatal', format: 'json', destination: { write: () => {} } });
  // The first start creates the database; the trial then reads it beside the server, as a command does.
  let server = await serverProcess(environment);
  const config = loadConfig(environment, { cwd: folder, terminal: false });
  const services = await createServices({ config, logger });
  const { accounts, db, eventStreams, settings } = services;
  await settings.set('rate_limits', false);
  await settings.reload();
  const people: string[] = [];
  for (let index = 0; index < PEOPLE; index += 1)
    people.push((await aUser(services, { username: `person-${index}`, password: PASSWORD })).account.id);
  const declared = z.strictObject(eventStreamFields);
  const streams = [];
  for (const { name, declared: more, secret } of receivers)
    streams.push((await eventStreams.create(declared.parse({ name, ...more }), secret, {})).stream);
  await server.kill('SIGTERM');
  server = await serverProcess(environment);
  const trial = { issuer, services };
  const signals = [await pushReceiver(trial, people), await pollReceiver(trial, people)];

  const state = { isOver: false, signIns: 0 };
  const load = people.slice(1).map((_, index) => signInsOf(issuer, `person-${index + 1}`, state));
  // The events of signals, by another process, so that they are not lost with the server's.
  let changes = 0;
  const signalling = (async () => {
    for (; !state.isOver; changes += 1) {
      await accounts.setActive(people[0] ?? '', changes % 2 === 1).catch((error) => complain(String(error)));
      await sleep(2000);
    }
  })();
  for (let round = 0; round < ROUNDS; round += 1) {
    // On a busy machine, a round is longer.
    const [before, end] = [state.signIns, Date.now() + 10 * ROUND_MS];
    await sleep(randomInt(ROUND_MS));
    while (state.signIns < before + SIGN_INS && Date.now() < end) await sleep(100);
    await server.kill('SIGKILL');
    server = await serverProcess(environment);
    process.stdout.write(`killed ${round + 1} times after ${state.signIns} sign-ins\n`);
  }
  await sleep(ROUND_MS);
  state.isOver = true;
  await Promise.all([...load, signalling]);

  let [until, least] = [Date.now() + DRAIN_MS, Number.POSITIVE_INFINITY];
  for (;;) {
    const head = (await db.auditChain.findUnique({ where: { id: 'head' } }))?.seq ?? 0;
    const unsealed = await db.auditEvent.count({ where: { chainSeq: null } });
    const open = await db.eventDelivery.count({ where: { doneAt: null, failedAt: null } });
    const behind = (await eventStreams.list()).filter(({ cursor }) => cursor < head).length;
    const left = unsealed + open + behind;
    if (left === 0) break;
    if (left < least) [until, least] = [Date.now() + DRAIN_MS, left];
    if (Date.now() > until) {
      complain(`at the end, ${open} deliveries wait, ${behind} streams are behind, ${unsealed} events are not sealed`);
      break;
    }
    await sleep(1000);
  }
  for (const { stop } of signals) await stop();
  await server.kill('SIGTERM');

  for (const [index, { name, lines, repeated }] of receivers.entries()) {
    const stream = streams[index];
    const where = { chainSeq: { gt: stream?.cursor ?? 0 }, ...ofTypes(stream ?? { kind: 'siem', events: ['*'] }) };
    const wanted = await db.auditEvent.count({ where });
    const file = path.join(folder, `received-${index}.jsonl`);
    writeFileSync(file, lines());
    const { ok, events, faults } = verifyEvents(readFileSync(file, 'utf8'));
    for (const { message } of faults.slice(0, 5)) complain(`${name}: ${message}`);
    // Events from before the stream may have joined the chain after its creation.
    const early = await db.auditEvent.count({ where: { ...where, at: { lt: stream?.createdAt ?? new Date() } } });
    if (events !== wanted - early) complain(`${name}: ${events} events of ${wanted - early}`);
    const program = execFileSync(process.execPath, [path.resolve('dist/cli.js'), 'audit', 'verify', '--events', file], {
      encoding: 'utf8',
    });
    process.stdout.write(`${name}: ${ok ? '' : 'NOT '}proven, ${repeated()} came again. ${program}`);
  }
  const types = ['account.enabled', 'account.disabled'];
  for (const { name, received, repeated } of signals) {
    const ofPeople = [...received().values()].filter((content) => content.includes('/account-'));
    const wanted = await db.auditEvent.count({ where: { type: { in: types }, subjectId: people[0] ?? '' } });
    if (ofPeople.length !== wanted) complain(`${name}: ${ofPeople.length} signals of ${wanted}`);
    process.stdout.write(`${name}: ${ofPeople.length} of ${wanted} signals, ${repeated()} came again\n`);
  }
  await services.close();
  for (const { stop } of receivers) await stop();
  for (const complaint of new Set(complaints)) process.stdout.write(`  ${complaint}\n`);
  return complaints.length === 0 ? 0 : 1;
}

process.exitCode = await main().catch(skip);
