// Gatehouse as the suite meets it: the built server with the clients of every plan, behind a TLS front with a certificate of
// its own.
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createServer, request as httpsRequest, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { stringify } from 'yaml';
import { startChild } from '../../bench/support/child.ts';
import { selfSignedCertificate } from '../../src/core/keys/certificate.ts';
import { type PlanClients, recordRoles } from './plans.ts';
import { createResourceServer, type Introspected } from './resource-server.ts';

export const user = { username: 'alice', password: 'correct horse battery staple' };
/** The client of a plan, as Gatehouse and the suite have to know it. */
export interface PlanClient {
  client_id: string;
  client_secret?: string;
  /** Private keys, for the suite. */
  jwks?: { keys: JWK[] };
}

export interface RunningGatehouse {
  issuer: string;
  alias: string;
  /** An API that takes access tokens of Gatehouse (resource-server.ts). */
  resourceUrl: string;
  /** The two clients with this id in plans.ts. */
  clients(id: string): [PlanClient, PlanClient];
  /** Runs a command of the command line on the same data. */
  cli(...command: string[]): Promise<string>;
  /** Redeems the code of a sign-in, with which the user has used the client. */
  redeem(client: PlanClient, code: { code: string; redirect_uri: string }): Promise<void>;
  /** Sets the password of the user, which ends all sessions: two events for receivers of shared signals. */
  signOutEverywhere(): Promise<void>;
  /** Rotates the key of ID tokens and waits until the server publishes the new one. */
  rotateKeys(): Promise<void>;
}

const DAY_MS = 24 * 3600 * 1000;
const RESOURCE = '/conformance/records';
const root = path.dirname(path.dirname(import.meta.dirname));

export interface GatehouseOptions {
  /** Origin of the suite, for the redirect URIs. */
  suite: string;
  /** Host name and port of the issuer; the suite has to resolve the name. */
  host: string;
  port: number;
  /** The address to listen on. */
  listen: string;
  /** The name in the callback addresses of the suite: …/test/a/<alias>/callback. A suite runs one module of an alias at a time. */
  alias: string;
  /** The clients that the chosen plans need. */
  clients: readonly PlanClients[];
  /** Keeps what has to be done at the end, after whatever is kept later. */
  atEnd(task: () => unknown): void;
}

/** Starts the server on an empty database. */
export async function startGatehouse(options: GatehouseOptions): Promise<RunningGatehouse> {
  const { suite, host, port, listen, alias, atEnd } = options;
  // The name says whose it is: a run that was killed leaves it behind.
  const folder = mkdtempSync(path.join(tmpdir(), `gatehouse-conformance-${process.pid}-`));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const issuer = `https://${host}:${port}`;
  const clients = await makeClients(options.clients);
  const configuration = path.join(folder, 'gatehouse.yaml');
  writeFileSync(configuration, stringify(configurationOf(options, clients)));
  const suiteCertificate = path.join(folder, 'suite.pem');
  writeFileSync(suiteCertificate, await certificateOf(new URL(suite)));
  const inner = port + 1;
  const env = {
    // For the calls to the suite: logout tokens, keys and sector documents.
    NODE_EXTRA_CA_CERTS: suiteCertificate,
    ISSUER: issuer,
    HOST: '127.0.0.1',
    PORT: String(inner),
    TRUST_PROXY: '1',
    DATA_DIR: path.join(folder, 'data'),
    GATEHOUSE_CONFIG: configuration,
    LOG_FORMAT: 'json',
  };
  const resourceUrl = `${issuer}${RESOURCE}`;
  const resourceServer = createResourceServer(resourceUrl, async (token) => {
    const headers = { authorization: basic(api), 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({ token }).toString();
    return JSON.parse(await callFront(`${issuer}/introspect`, { method: 'POST', headers, body })) as Introspected;
  });
  const subjects = new Map<string, string>();
  const front = await startFront({ host, port, listen, inner, subjects, resourceServer });
  atEnd(() => {
    front.closeAllConnections();
    front.close();
  });
  const main = path.join(root, 'dist', 'main.js');
  const readyUrl = `http://127.0.0.1:${inner}/readyz`;
  const child = await startChild({ arguments: [main], cwd: folder, env, readyUrl, readySeconds: 180 });
  atEnd(() => child.stop());
  const run = async (command: readonly string[], input = '') => {
    const { PATH = '', HOME = '' } = process.env;
    const bin = path.join(root, 'bin', 'gatehouse.js');
    const options = { cwd: folder, env: { PATH, HOME, ...env } };
    const running = promisify(execFile)(process.execPath, [bin, ...command], options);
    running.child.stdin?.end(input);
    return (await running).stdout;
  };
  const cli = (...command: string[]) => run(command);
  for (const { id, username } of JSON.parse(await cli('user', 'list', '--json')) as { id: string; username: string }[])
    subjects.set(username, id);
  const publishedKeys = async () => {
    const { keys } = JSON.parse(await callFront(`${issuer}/jwks`)) as { keys: JWK[] };
    return keys.map(({ kid }) => kid).join(' ');
  };
  return {
    issuer,
    alias,
    resourceUrl,
    clients(id) {
      const pair = clients.get(id);
      if (!pair) throw new Error(`no clients ${id}`);
      return pair;
    },
    cli,
    async redeem({ client_id, client_secret = '' }, code) {
      const authorization = basic({ client_id, client_secret });
      const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
      const body = new URLSearchParams({ grant_type: 'authorization_code', ...code }).toString();
      const answer = await callFront(`${issuer}/token`, { method: 'POST', headers, body });
      if (!answer.includes('"access_token"')) throw new Error(`the code was not redeemed: ${answer}`);
    },
    async signOutEverywhere() {
      await run(['user', 'set-password', user.username, '--password-stdin'], user.password);
    },
    async rotateKeys() {
      const before = await publishedKeys();
      // The condition of the suite ends at a new key of another type than RSA and EC, and there is one for Ed25519.
      await cli('keys', 'rotate', '--now', '--alg', 'RS256');
      while ((await publishedKeys()) === before) await sleep(500);
    },
  };
}

/** The body of a response of the TLS front, whose certificate no one signed. */
function callFront(url: string, call: { method?: string; headers?: Record<string, string>; body?: string } = {}) {
  return new Promise<string>((resolve, reject) => {
    const { method, headers, body } = call;
    const options = { method, headers, rejectUnauthorized: false };
    const sent = httpsRequest(url, options, (response) => text(response).then(resolve, reject));
    sent.on('error', reject).end(body);
  });
}

/** The certificate of the suite as PEM. A suite on this machine usually has one that no authority signed. */
function certificateOf({ hostname, port }: URL): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: hostname, port: Number(port || 443), servername: hostname, rejectUnauthorized: false };
    const socket = connect(options, () => {
      resolve(socket.getPeerX509Certificate()?.toString() ?? '');
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

/** The client of the API, which introspects tokens and asks for decisions (AuthZEN). */
const api = { client_id: 'records', client_secret: 'secret-of-the-records-with-more-than-32-bytes' };

const basic = ({ client_id, client_secret }: typeof api) =>
  `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;

type Pairs = Map<string, [PlanClient, PlanClient]>;

async function makeClients(all: readonly PlanClients[]): Promise<Pairs> {
  const pairs: Pairs = new Map();
  for (const clients of all)
    if (!pairs.has(clients.id)) pairs.set(clients.id, [await makeClient(clients, 1), await makeClient(clients, 2)]);
  return pairs;
}

async function makeClient({ id, alg }: PlanClients, number: number): Promise<PlanClient> {
  const client_id = `${id}-${number}`;
  if (!alg) return { client_id, client_secret: `secret-of-${client_id}-with-more-than-32-bytes` };
  const { privateKey } = await generateKeyPair(alg, { extractable: true, modulusLength: 2048 });
  return { client_id, jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: client_id, alg, use: 'sig' }] } };
}

function configurationOf({ suite, alias, clients: all, host, port }: GatehouseOptions, pairs: Pairs): object {
  const at = (name: string) => `${suite}/test/a/${alias}/${name}`;
  const callback = at('callback');
  const declared = [...pairs].flatMap(([id, pair]) =>
    pair.map(({ client_id, client_secret, jwks }, index) => ({
      client_id,
      client_name: `Conformance ${client_id}`,
      // The suite sends the second client there with parameters, which must stay.
      redirect_uris: index === 0 ? [callback] : [callback, `${callback}?dummy1=lorem&dummy2=ipsum`],
      ...(client_secret ? { client_secret } : { jwks: { keys: (jwks?.keys ?? []).map(publicPart) } }),
      ...all.find((clients) => clients.id === id)?.metadata(at, `https://${host}:${port}`),
    })),
  );
  return {
    settings: {
      rate_limits: false,
      outgoing_networks: ['127.0.0.0/8', '::1/128'],
    },
    clients: [
      ...declared,
      { ...api, client_name: 'Records', grant_types: ['client_credentials'], access_evaluation: 'all_users' },
    ],
    roles: recordRoles,
    users: [
      {
        ...user,
        email: 'alice@example.com',
        email_verified: true,
        roles: ['record-writer'],
        name: 'Alice Example',
        given_name: 'Alice',
        middle_name: 'Maria',
        family_name: 'Example',
        nickname: 'Ali',
        profile: 'https://alice.example/about',
        picture: 'https://alice.example/picture.png',
        website: 'https://alice.example',
        gender: 'female',
        birthdate: '1990-02-28',
        zoneinfo: 'Europe/Vienna',
        locale: 'en',
        phone_number: '+43 1 5555555',
        address: { street_address: '1 Example Street', locality: 'Vienna', postal_code: '1010', country: 'Austria' },
      },
      { username: 'bob', email: 'bob@example.com', roles: ['record-reader'] },
    ],
  };
}

function publicPart({ kty, crv, x, y, n, e, kid, alg, use }: JWK): JWK {
  return Object.fromEntries(
    Object.entries({ kty, crv, x, y, n, e, kid, alg, use }).filter(([, value]) => value),
  ) as JWK;
}

interface FrontOptions {
  host: string;
  port: number;
  listen: string;
  inner: number;
  /** The `sub` of each user by name. */
  subjects: ReadonlyMap<string, string>;
  resourceServer: ReturnType<typeof createResourceServer>;
}

/** TLS 1.2 and 1.3 with the cipher suites of BCP 195, which FAPI 2 demands (5.2.2). */
async function startFront({ host, port, listen, inner, subjects, resourceServer }: FrontOptions): Promise<Server> {
  const options = {
    ...(await certificateFor(host)),
    minVersion: 'TLSv1.2' as const,
    ciphers: [
      'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384',
      'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384',
    ].join(':'),
  };
  const server = createServer(options, async (incoming, outgoing) => {
    const { method, url, headers } = incoming;
    if (url?.split('?')[0] === RESOURCE) return resourceServer(incoming, outgoing);
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-for': incoming.socket.remoteAddress ?? '' };
    const inside = httpRequest(
      { host: '127.0.0.1', port: inner, method, path: url, headers: { ...headers, ...forwarded } },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.rawHeaders);
        response.pipe(outgoing);
      },
    );
    inside.on('error', () => outgoing.destroy());
    if (!url?.startsWith('/access/v1/')) return void incoming.pipe(inside);
    const body = await withSubjects(incoming, subjects);
    inside.setHeader('authorization', basic(api));
    if (headers['content-length'] !== undefined) inside.setHeader('content-length', Buffer.byteLength(body));
    inside.end(body);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, listen, resolve));
  return server;
}

/**
 * The AuthZEN plans ask about users by name and Gatehouse knows them by the `sub` that it has chosen, so the front stands in for
 * the application that asks (a policy enforcement point). It also adds the credentials: the suite has no client for its variant
 * with Basic (release-v5.2.3).
 */
async function withSubjects(request: IncomingMessage, subjects: ReadonlyMap<string, string>): Promise<string> {
  const body = await text(request);
  return body.replaceAll(/("id"\s*:\s*)"([^"]*)"/g, (member, name: string, value: string) =>
    subjects.has(value) ? `${name}"${subjects.get(value)}"` : member,
  );
}

async function certificateFor(host: string): Promise<{ key: string; cert: string }> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const from = new Date();
  const until = new Date(from.getTime() + DAY_MS);
  const cert = await selfSignedCertificate({ privateKey, publicKey, host, from, until });
  return { key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), cert };
}
