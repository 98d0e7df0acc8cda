// Keycloak, set up over its admin API as an administrator does: an OpenID Connect client by hand, a SAML client from our metadata.
import path from 'node:path';
import type { HttpClient, Page } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { person, STAFF, type Upstream } from '../peer.ts';
import { forward, freePort, Missing, needFile, startProgram } from '../programs.ts';
import { open, travel } from '../travel.ts';

const HOW =
  'mvn dependency:copy -Dartifact=org.keycloak:keycloak-quarkus-dist:26.0.8:zip -DoutputDirectory=DIR; unzip it; Java 17';

/** KEYCLOAK_HOME names the unpacked distribution, or KEYCLOAK_ORIGIN a server that runs, with the administrator admin/admin. */
export async function startKeycloak(
  gatehouse: Gatehouse,
  connectionId: string,
  kind: 'oidc' | 'saml',
): Promise<Upstream> {
  const { origin, version } = await keycloakServer();
  // It takes minutes to start, so one server stays up, and each upstream is reached through a port of its own, which can go down.
  const front = await forward(Number(new URL(origin).port));
  const name = `peers-${kind}-${front.port}`;
  const realm = `${front.origin}/realms/${name}`;
  const api = await adminApi(origin, name);
  await api('POST', '', { realm: name, enabled: true, groups: [{ name: STAFF }] });
  await api('POST', '/users', {
    username: person.username,
    email: person.email,
    emailVerified: true,
    enabled: true,
    firstName: 'Ann',
    lastName: 'Example',
    groups: [`/${STAFF}`],
    credentials: [{ type: 'password', value: person.password, temporary: false }],
  });
  const connection =
    kind === 'oidc' ? await oidcClient(api, gatehouse, connectionId) : await samlClient(api, gatehouse);
  const endpoints =
    kind === 'oidc' ? { preset: 'keycloak', issuer: realm } : { metadata_url: `${realm}/protocol/saml/descriptor` };
  return {
    name: `Keycloak (${kind})`,
    version,
    kind,
    connection: { kind, name: 'Keycloak', ...endpoints, ...connection },
    signIn: async (browser, page) =>
      travel(browser, await browser.submit(page, { username: person.username, password: person.password })),
    signOut: (browser) => signOut(browser, realm),
    rollOver: (published) => rollOver(api, published),
    stop: () => front.stop(),
  };
}

let server: Promise<{ origin: string; version: string }> | undefined;

/** One server for all who need it, because it takes minutes to start. */
export function keycloakServer(): Promise<{ origin: string; version: string }> {
  server ??= start();
  return server;
}

async function start(): Promise<{ origin: string; version: string }> {
  const { KEYCLOAK_HOME: home, KEYCLOAK_ORIGIN: running } = process.env;
  if (!home) throw new Missing(`needs KEYCLOAK_HOME (${HOW})`);
  const version = path.basename(home).replace('keycloak-', '');
  if (running) return { origin: running, version };
  const script = needFile(path.join(home, 'bin', 'kc.sh'), HOW);
  const [port, management] = [await freePort(), await freePort()];
  const origin = `http://127.0.0.1:${port}`;
  const args = [`--http-port=${port}`, '--http-host=127.0.0.1', `--http-management-port=${management}`, '--db=dev-mem'];
  await startProgram(script, ['start-dev', ...args], {
    env: { KC_BOOTSTRAP_ADMIN_USERNAME: 'admin', KC_BOOTSTRAP_ADMIN_PASSWORD: 'admin' },
    ready: `${origin}/realms/master`,
    seconds: 900,
  });
  return { origin, version };
}

export type AdminApi = <T>(method: string, address: string, body?: unknown) => Promise<T>;

export async function adminApi(origin: string, realm: string): Promise<AdminApi> {
  const tokenUrl = `${origin}/realms/master/protocol/openid-connect/token`;
  return async <T>(method: string, address: string, body?: unknown) => {
    const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' };
    const token = await (await fetch(tokenUrl, { method: 'POST', body: new URLSearchParams(form) })).json();
    const isXml = typeof body === 'string';
    const response = await fetch(`${origin}/admin/realms${address === '' ? '' : `/${realm}${address}`}`, {
      method,
      headers: {
        authorization: `Bearer ${(token as { access_token: string }).access_token}`,
        'content-type': isXml ? 'application/xml' : 'application/json',
      },
      ...(body !== undefined && { body: isXml ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Keycloak: ${method} ${address}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
}

async function oidcClient(api: AdminApi, { issuer }: Gatehouse, id: string): Promise<Record<string, unknown>> {
  const at = (name: string) => `${issuer}/upstream/${id}/${name}`;
  const client = { client_id: 'gatehouse', client_secret: 'a-secret-that-both-sides-know' };
  await api('POST', '/clients', {
    clientId: client.client_id,
    secret: client.client_secret,
    protocol: 'openid-connect',
    redirectUris: [at('callback')],
    attributes: {
      'post.logout.redirect.uris': at('signed-out'),
      'backchannel.logout.url': at('backchannel-logout'),
      'backchannel.logout.session.required': 'true',
    },
    protocolMappers: [
      {
        name: 'groups',
        protocol: 'openid-connect',
        protocolMapper: 'oidc-group-membership-mapper',
        config: {
          'claim.name': 'groups',
          'full.path': 'true',
          'id.token.claim': 'true',
          'userinfo.token.claim': 'true',
        },
      },
    ],
  });
  return { ...client, role_mappings: { [`/${STAFF}`]: STAFF } };
}

/** What its console does with an imported service provider. */
async function samlClient(api: AdminApi, { issuer }: Gatehouse): Promise<Record<string, unknown>> {
  const metadata = await (await fetch(`${issuer}/saml/sp/metadata`)).text();
  const client = await api<object>('POST', '/client-description-converter', metadata);
  const mapper = (name: string, protocolMapper: string, config: object) => ({
    name,
    protocol: 'saml',
    protocolMapper,
    config: { 'attribute.name': name, 'attribute.nameformat': 'Basic', ...config },
  });
  await api('POST', '/clients', {
    ...client,
    protocolMappers: [
      mapper('email', 'saml-user-property-mapper', { 'user.attribute': 'email' }),
      mapper('groups', 'saml-group-membership-mapper', { single: 'true', 'full.path': 'true' }),
    ],
  });
  // Keycloak 26.0 encrypts with AES-128-CBC, whatever the metadata says, and signs the whole Response.
  return {
    allow_cbc: true,
    groups_claim: 'groups',
    role_mappings: { [`/${STAFF}`]: STAFF },
    trusted_email: 'verified',
  };
}

/** At its own logout page, without a hint, which asks first. */
async function signOut(browser: HttpClient, realm: string): Promise<Page> {
  const asked = await open(browser, `${realm}/protocol/openid-connect/logout`);
  return travel(browser, await browser.submit(asked, {}, { form: 'logout-confirm' }));
}

/** A new key beside the old one, first without use (a lower priority), then with it. */
async function rollOver(api: AdminApi, published: () => Promise<void>): Promise<void> {
  const { id } = await api<{ id: string }>('GET', '/');
  const component = {
    name: 'new key',
    parentId: id,
    providerId: 'rsa-generated',
    providerType: 'org.keycloak.keys.KeyProvider',
    config: { priority: ['1'], enabled: ['true'], active: ['true'], keySize: ['2048'], algorithm: ['RS256'] },
  };
  await api('POST', '/components', component);
  await published();
  const all = await api<{ id: string; name: string }[]>('GET', '/components?name=new%20key');
  const added = all.find(({ name }) => name === 'new key');
  const config = { ...component.config, priority: ['1000'] };
  await api('PUT', `/components/${added?.id}`, { ...component, id: added?.id, config });
}
