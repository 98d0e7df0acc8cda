// Gatehouse as the suite meets it: the built server with the clients of every plan, behind a TLS front with a certificate of
// its own.
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
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
import { selfSignedCertificate } from '../../src/keys/certificate.ts';

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
  /** Two clients for each kind of plan. */
  clients: Record<ClientKind, [PlanClient, PlanClient]>;
  /** Runs a command of the command line on the same data. */
  cli(...command: string[]): Promise<string>;
  /** Rotates the key of ID tokens and waits until the server publishes the new one. */
  rotateKeys(): Promise<void>;
  stop(): Promise<void>;
}

export const clientKinds = [
  'basic',
  'back-channel',
  'front-channel',
  'fapi-es256',
  'fapi-ps256',
  'signing-es256',
  'signing-ps256',
  'jarm-es256',
  'jarm-ps256',
] as const;
export type ClientKind = (typeof clientKinds)[number];

const DAY_MS = 24 * 3600 * 1000;
const root = path.dirname(path.dirname(import.meta.dirname));

export interface GatehouseOptions {
  /** Origin of the suite, for the redirect URIs. */
  suite: string;
  /** Host name and port of the issuer; the suite has to resolve the name. */
  host: string;
  port: number;
  /** The name in the callback addresses of the suite: …/test/a/<alias>/callback. A suite runs one module of an alias at a time. */
  alias: string;
  /** The clients that the chosen plans need. */
  kinds: readonly ClientKind[];
}

/** Starts the server on an empty database. */
export async function startGatehouse(options: GatehouseOptions): Promise<RunningGatehouse> {
  const { suite, host, port, alias } = options;
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-conformance-'));
  const issuer = `https://${host}:${port}`;
  const clients = await makeClients();
  const configuration = path.join(folder, 'gatehouse.yaml');
  writeFileSync(configuration, stringify(configurationOf(options, clients)));
  const suiteCertificate = path.join(folder, 'suite.pem');
  writeFileSync(suiteCertificate, await certificateOf(new URL(suite)));
  const inner = port + 1;
  const env = {
    // For the calls to the suite: logout tokens, keys and sector documents.
    NODE_EXTRA_CA_CERTS: suiteCertificate,
    ISSUER: issuer,
    PORT: String(inner),
    TRUST_PROXY: '1',
    DATA_DIR: path.join(folder, 'data'),
    GATEHOUSE_CONFIG: configuration,
    LOG_FORMAT: 'json',
  };
  const main = path.join(root, 'dist', 'main.js');
  const readyUrl = `http://127.0.0.1:${inner}/readyz`;
  const child = await startChild({ arguments: [main], cwd: folder, env, readyUrl });
  const front = await startFront(host, port, inner);
  const cli = async (...command: string[]) => {
    const { PATH = '', HOME = '' } = process.env;
    const bin = path.join(root, 'bin', 'gatehouse.js');
    const options = { cwd: folder, env: { PATH, HOME, ...env } };
    return (await promisify(execFile)(process.execPath, [bin, ...command], options)).stdout;
  };
  const publishedKeys = async () => {
    const { keys } = JSON.parse(await getText(`${issuer}/jwks`)) as { keys: JWK[] };
    return keys.map(({ kid }) => kid).join(' ');
  };
  return {
    issuer,
    alias,
    clients,
    cli,
    async rotateKeys() {
      const before = await publishedKeys();
      // The condition of the suite ends at a new key of another type than RSA and EC, and there is one for Ed25519.
      await cli('keys', 'rotate', '--now', '--alg', 'RS256');
      while ((await publishedKeys()) === before) await sleep(500);
    },
    async stop() {
      front.closeAllConnections();
      front.close();
      await child.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The body of a GET at the TLS front, whose certificate no one signed. */
function getText(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(url, { rejectUnauthorized: false }, (response) => text(response).then(resolve, reject));
    sent.on('error', reject).end();
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

const algorithms: Partial<Record<ClientKind, 'ES256' | 'PS256'>> = {
  'fapi-es256': 'ES256',
  'fapi-ps256': 'PS256',
  'signing-es256': 'ES256',
  'signing-ps256': 'PS256',
  'jarm-es256': 'ES256',
  'jarm-ps256': 'PS256',
};

async function makeClients(): Promise<RunningGatehouse['clients']> {
  const pairs = clientKinds.map(async (kind) => {
    const both = [await makeClient(kind, 1), await makeClient(kind, 2)] as const;
    return [kind, both] as const;
  });
  return Object.fromEntries(await Promise.all(pairs)) as unknown as RunningGatehouse['clients'];
}

async function makeClient(kind: ClientKind, number: number): Promise<PlanClient> {
  const client_id = `${kind}-${number}`;
  const alg = algorithms[kind];
  if (!alg) return { client_id, client_secret: `secret-of-${client_id}-with-more-than-32-bytes` };
  const { privateKey } = await generateKeyPair(alg, { extractable: true, modulusLength: 2048 });
  return { client_id, jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: client_id, alg, use: 'sig' }] } };
}

function configurationOf({ suite, alias, kinds }: GatehouseOptions, clients: RunningGatehouse['clients']): object {
  const at = (name: string) => `${suite}/test/a/${alias}/${name}`;
  const callback = at('callback');
  const declared = kinds.flatMap((kind) =>
    clients[kind].map((client, index) => ({
      client_id: client.client_id,
      client_name: `Conformance ${client.client_id}`,
      // The suite sends the second client there with parameters, which must stay.
      redirect_uris: index === 0 ? [callback] : [callback, `${callback}?dummy1=lorem&dummy2=ipsum`],
      ...(client.client_secret ? openidMetadata(kind, client, at) : fapiMetadata(kind, client)),
    })),
  );
  return {
    settings: {
      rate_limits: false,
      outgoing_networks: ['127.0.0.0/8', '::1/128'],
    },
    clients: declared,
    users: [
      {
        ...user,
        email: 'alice@example.com',
        email_verified: true,
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
    ],
  };
}

function openidMetadata(kind: ClientKind, { client_secret }: PlanClient, at: (name: string) => string): object {
  return {
    client_secret,
    // The plans of OpenID Connect send no PKCE.
    require_pkce: false,
    id_token_claims: 'conform',
    grant_types: ['authorization_code', 'refresh_token'],
    post_logout_redirect_uris: [at('post_logout_redirect')],
    ...(kind === 'back-channel' && {
      backchannel_logout_uri: at('backchannel_logout'),
      backchannel_logout_session_required: true,
    }),
    ...(kind === 'front-channel' && {
      frontchannel_logout_uri: at('frontchannel_logout'),
      frontchannel_logout_session_required: true,
    }),
  };
}

function fapiMetadata(kind: ClientKind, { jwks }: PlanClient): object {
  const alg = algorithms[kind];
  return {
    // fapi2-signing demands JARM as well; the plans with plain responses are for fapi2 with signed requests.
    profile: kind.startsWith('jarm') ? 'fapi2-signing' : 'fapi2',
    token_endpoint_auth_signing_alg: alg,
    id_token_signed_response_alg: alg,
    ...(kind.startsWith('jarm') && { authorization_signed_response_alg: alg }),
    ...(!kind.startsWith('fapi') && { require_signed_request_object: true, request_object_signing_alg: alg }),
    grant_types: ['authorization_code', 'refresh_token'],
    jwks: { keys: (jwks?.keys ?? []).map(publicPart) },
  };
}

function publicPart({ kty, crv, x, y, n, e, kid, alg, use }: JWK): JWK {
  return Object.fromEntries(
    Object.entries({ kty, crv, x, y, n, e, kid, alg, use }).filter(([, value]) => value),
  ) as JWK;
}

/** TLS 1.2 and 1.3 with the cipher suites of BCP 195, which FAPI 2 demands (5.2.2). */
async function startFront(host: string, port: number, inner: number): Promise<Server> {
  const options = {
    ...(await certificateFor(host)),
    minVersion: 'TLSv1.2' as const,
    ciphers: [
      'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384',
      'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384',
    ].join(':'),
  };
  const server = createServer(options, (incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-for': incoming.socket.remoteAddress ?? '' };
    const inside = httpRequest(
      { host: '127.0.0.1', port: inner, method, path: url, headers: { ...headers, ...forwarded } },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.rawHeaders);
        response.pipe(outgoing);
      },
    );
    inside.on('error', () => outgoing.destroy());
    incoming.pipe(inside);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, resolve));
  return server;
}

async function certificateFor(host: string): Promise<{ key: string; cert: string }> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const from = new Date();
  const until = new Date(from.getTime() + DAY_MS);
  const cert = await selfSignedCertificate({ privateKey, publicKey, host, from, until });
  return { key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), cert };
}
