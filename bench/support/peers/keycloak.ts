// Keycloak in production mode on PostgreSQL. It runs from a copy of its distribution, because it writes into its own folder.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startChild } from '../child.ts';
import { client, freePort, person, serviceProvider } from '../target.ts';
import { type Installation, type InstallOptions, providerOf } from './provider.ts';

/** A heap of at most 512 MB and Argon2id with 7 MiB are its defaults (bin/kc.sh, Argon2Parameters). */
const SETTINGS = [
  'start --optimized --cache=local over HTTP, otherwise its defaults: -Xms64m -Xmx512m, a pool of up to 100 connections, persistent user sessions',
  'no events, a refresh token can be used again; passwords Argon2id (7168 KiB, t 5, p 1)',
].join('; ');

const realm = {
  realm: 'bench',
  enabled: true,
  clients: [
    {
      clientId: client.id,
      secret: client.secret,
      clientAuthenticatorType: 'client-secret',
      redirectUris: [client.redirectUri],
      serviceAccountsEnabled: true,
      attributes: { 'pkce.code.challenge.method': 'S256' },
      // Introspection accepts only tokens for the client that asks.
      protocolMappers: [
        {
          name: 'audience',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-audience-mapper',
          config: {
            'included.client.audience': client.id,
            'access.token.claim': 'true',
            'introspection.token.claim': 'true',
          },
        },
      ],
    },
    {
      clientId: serviceProvider.entityId,
      protocol: 'saml',
      redirectUris: [serviceProvider.acsUrl],
      attributes: { 'saml.client.signature': 'false', 'saml.server.signature': 'true', 'saml.authnstatement': 'true' },
    },
  ],
  users: [
    {
      username: person.username,
      enabled: true,
      email: 'alice@example.com',
      emailVerified: true,
      firstName: 'Alice',
      lastName: 'Example',
      credentials: [{ type: 'password', value: person.password }],
      realmRoles: ['default-roles-bench', 'offline_access'],
    },
  ],
};

export async function installKeycloak({ program, databaseUrl }: InstallOptions): Promise<Installation> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-bench-keycloak-'));
  cpSync(program, folder, { recursive: true });
  mkdirSync(path.join(folder, 'data', 'import'), { recursive: true });
  writeFileSync(path.join(folder, 'data', 'import', 'bench-realm.json'), JSON.stringify(realm));
  const script = path.join(folder, 'bin', 'kc.sh');
  execFileSync(script, ['build', '--db=postgres', '--cache=local'], { stdio: 'pipe' });
  const { JAVA_HOME } = process.env;
  const java = execFileSync(JAVA_HOME ? path.join(JAVA_HOME, 'bin', 'java') : 'java', ['--version'], {
    encoding: 'utf8',
  });
  const url = new URL(databaseUrl);
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const args = [
    ...['start', '--optimized', '--http-enabled=true', '--http-host=127.0.0.1', `--http-port=${port}`],
    ...[`--hostname=${origin}`, `--db-url=jdbc:postgresql://${url.host}${url.pathname}`],
    ...[`--db-username=${url.username}`, `--db-password=${url.password}`],
  ];
  let hasRealm = false;
  return {
    name: 'Keycloak, PostgreSQL',
    version: `${/[\d.]+/.exec(readFileSync(path.join(folder, 'version.txt'), 'utf8'))?.[0]}, ${java.split('\n')[0]}`,
    settings: SETTINGS,
    async start() {
      const discovery = `${origin}/realms/${realm.realm}/.well-known/openid-configuration`;
      const child = await startChild({
        program: script,
        arguments: hasRealm ? args : [...args, '--import-realm'],
        cwd: folder,
        readyUrl: discovery,
        readySeconds: 600,
        env: JAVA_HOME ? { JAVA_HOME } : {},
      });
      hasRealm = true;
      const saml = `${origin}/realms/${realm.realm}/protocol/saml`;
      return providerOf(child, discovery, { login: { fields: person }, saml });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
