// The two servers that are compared, Gatehouse with everything on and the bare engine, with the same client, the
// same user and the same routes.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { loadConfig } from '../../src/base/config.ts';
import { createLogger } from '../../src/base/platform/logger.ts';
import { createServices } from '../../src/server/services.ts';
import { signRows as signEmptyMacs } from '../../test/support/database/row-macs.ts';
import { type StartedChild, startChild } from './child.ts';
import { connection } from './upstream.ts';

export interface Target extends StartedChild {
  name: 'gatehouse' | 'bare';
  origin: string;
  /** What its client requests. */
  scope?: string;
}

export const client = {
  id: 'bench',
  secret: 'bench-secret-of-at-least-thirty-two-bytes',
  redirectUri: 'http://127.0.0.1:4999/cb',
};
/** An API, the client that runs it, and the API that it calls. */
export const api = 'https://api.example';
export const otherApi = 'https://other-api.example';
export const exchangingApi = { id: 'bench-api', secret: 'bench-secret-of-the-api-of-thirty-two-bytes' };
/** Behind a proxy of which only the questions are sent; nothing listens there. */
export const website = { origin: 'http://127.0.0.2:4997', proxy: 'caddy' };
export const serviceProvider = { entityId: 'https://wiki.example/metadata', acsUrl: 'https://wiki.example/acs' };
export const directory = { id: 'bench', token: 'bench-token-of-at-least-thirty-two-bytes', domain: 'example.com' };
export const person = { username: 'alice', password: 'correct horse battery staple' };

export const root = path.dirname(path.dirname(import.meta.dirname));

const watcher = path.join(root, 'bench', 'support', 'event-loop.mjs');

/** Groups of the user, each below another one, which opens the applications. */
const groupsOf = (count: number) =>
  count === 0
    ? ''
    : `groups:
  - name: Everyone
    groups: [${Array.from({ length: count }, (_, at) => `Group ${at}`).join(', ')}]
${Array.from({ length: count }, (_, at) => `  - name: Group ${at}\n    members: [${person.username}]\n`).join('')}`;

const configuration = ({
  isAdministrator = false,
  groups = 0,
  hasLimits = false,
  streams = [],
}: FolderOptions) => `settings:
  rate_limits: ${hasLimits}
${isAdministrator ? '  admin_mfa: optional # the password is enough\n' : ''}clients:
  - client_id: ${client.id}
    client_secret: ${client.secret}
    client_name: Benchmark
    redirect_uris: ['${client.redirectUri}']
    grant_types: [authorization_code, refresh_token, client_credentials]
    consent: implicit
    resources: [${api}]
    scope: openid profile email offline_access item:read
    access: ${groups > 0 ? '{ groups: [Everyone] }' : 'everyone'}
  - client_id: ${exchangingApi.id}
    client_secret: ${exchangingApi.secret}
    grant_types: ['urn:ietf:params:oauth:grant-type:token-exchange']
    may_exchange: [${api}]
    resources: [${otherApi}]
    scope: item:read
resources:
  - { identifier: ${api}, scopes: [item:read] }
  - { identifier: ${otherApi}, scopes: [item:read] }
service_providers:
  - name: Wiki
    entity_id: ${serviceProvider.entityId}
    acs_url: ${serviceProvider.acsUrl}
    attributes: { email: email, displayName: name${groups > 0 ? ', groups: groups' : ''} }
    access: ${groups > 0 ? '{ groups: [Everyone] }' : 'everyone'}
proxied_applications:
  - name: Website
    url: ${website.origin}
    proxy: ${website.proxy}
    app_passwords: true
    access: everyone
scim:
  - id: ${directory.id}
    name: Benchmark
    token: ${directory.token}
    owned_domains: [${directory.domain}]
event_streams: ${JSON.stringify(streams)}
users:
  - username: ${person.username}
    email: alice@example.com
    email_verified: true
    name: Alice Example
    password: ${person.password}
${isAdministrator ? '    roles: [admin]\n' : ''}`;

const connectionTo = (issuer: string) => `connections:
  - id: ${connection.id}
    kind: oidc
    name: Upstream
    issuer: ${issuer}
    client_id: ${connection.clientId}
    client_secret: ${connection.clientSecret}
    create_users: true
`;

/** Creates a data folder with its configuration; `upstream` is the issuer of a connection. */
export function gatehouseFolder(
  options: FolderOptions = {},
  folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-bench-')),
): string {
  mkdirSync(folder, { recursive: true });
  const { groups = 0, upstream } = options;
  const text = configuration(options) + groupsOf(groups) + (upstream ? connectionTo(upstream) : '');
  writeFileSync(path.join(folder, 'gatehouse.yaml'), text);
  return folder;
}

export interface FolderOptions {
  upstream?: string;
  /** Whether the user may open the console. */
  isAdministrator?: boolean;
  /** How many groups the user is in. */
  groups?: number;
  /** The rate limits are on. */
  hasLimits?: boolean;
  /** Entries of `event_streams`. */
  streams?: readonly object[];
}

/** Starts the built server in the folder, on SQLite or on the given database; `build` is another checkout. */
export async function startGatehouse(
  folder: string,
  { databaseUrl, build = root, workers }: { databaseUrl?: string | undefined; build?: string; workers?: number } = {},
): Promise<Target> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = await startChild({
    // Workers get messages of node:cluster, not those of the watcher.
    arguments: [...(workers ? [] : ['--import', watcher]), path.resolve(build, 'dist', 'main.js')],
    cwd: folder,
    readyUrl: `${origin}/readyz`,
    env: {
      ISSUER: origin,
      PORT: String(port),
      DATA_DIR: path.join(folder, 'data'),
      GATEHOUSE_CONFIG: path.join(folder, 'gatehouse.yaml'),
      LOG_FORMAT: 'json',
      ...(workers ? { WORKERS: String(workers) } : {}),
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
    },
  });
  return { ...child, name: 'gatehouse', origin };
}

/** Creates an empty database on the PostgreSQL server of `url`; returns its URL. */
export async function createDatabase(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
  await client.end();
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

/** Gives rows that were written by SQL, with an empty MAC, their MACs; the server uses none without. */
export async function signRows(folder: string, databaseUrl: string | undefined): Promise<void> {
  const config = loadConfig(databaseUrl ? { DATABASE_URL: databaseUrl } : {}, { cwd: folder });
  const services = await createServices({ config, logger: createLogger({ level: 'silent', format: 'json' }) });
  try {
    await signEmptyMacs(services);
  } finally {
    await services.close();
  }
}

/** Starts bare oidc-provider with its in-memory adapter, or with these parts (parts.ts) and their SQLite file. */
export async function startBare(parts: readonly string[] = [], file = ''): Promise<Target> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = await startChild({
    arguments: ['--import', 'tsx', path.join(root, 'bench', 'bare.ts')],
    cwd: root,
    readyUrl: `${origin}/.well-known/openid-configuration`,
    env: { ORIGIN: origin, CLIENT: JSON.stringify(client), PARTS: parts.join(','), FILE: file },
  });
  return { ...child, name: 'bare', origin };
}

/** A port of loopback that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
