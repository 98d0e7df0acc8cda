// Ory Hydra on PostgreSQL. It has no login pages: the benchmark accepts login and consent at its admin API, as a login application does.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { httpClient } from '../../../test/support/http.ts';
import { startChild } from '../child.ts';
import { agent } from '../load.ts';
import { client, freePort } from '../target.ts';
import {
  type Installation,
  type InstallOptions,
  type LoginApplication,
  loginApplicationUrl,
  providerOf,
} from './provider.ts';

const SETTINGS =
  'serve all over HTTP, oauth2.pkce.enforced, sqa.opt_out, otherwise its defaults: opaque access tokens, refresh tokens are rotated, two connections for each processor; client secrets PBKDF2 (SHA-256, 25000 iterations)';
const SCOPE = 'openid profile email offline_access';
const SESSION_SECONDS = 86_400;

export async function installHydra({ program, databaseUrl }: InstallOptions): Promise<Installation> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-bench-hydra-'));
  const [port, adminPort] = [await freePort(), await freePort()];
  const [origin, adminOrigin] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];
  const configuration = {
    serve: { public: { host: '127.0.0.1', port }, admin: { host: '127.0.0.1', port: adminPort } },
    urls: {
      // It accepts only an issuer with TLS, which a proxy would terminate.
      self: { issuer: `https://127.0.0.1:${port}`, public: origin, admin: adminOrigin },
      login: `${loginApplicationUrl}/login`,
      consent: `${loginApplicationUrl}/consent`,
    },
    secrets: { system: ['a-secret-of-the-system-for-the-bench'] },
    oauth2: { pkce: { enforced: true } },
    sqa: { opt_out: true },
  };
  const file = path.join(folder, 'hydra.yaml');
  writeFileSync(file, stringify(configuration));
  const DSN = Object.assign(new URL(databaseUrl), { search: '?sslmode=disable' }).href;
  const { PATH = '', HOME = '' } = process.env;
  execFileSync(program, ['migrate', 'sql', 'up', '-e', '--yes', '-c', file], {
    env: { PATH, HOME, DSN },
    stdio: 'pipe',
  });
  const described = execFileSync(program, ['version'], { encoding: 'utf8' });
  let hasClient = false;
  return {
    name: 'Hydra, PostgreSQL',
    version: /(?<=Version:\s+)\S+/.exec(described)?.[0] ?? '',
    settings: SETTINGS,
    async start() {
      const child = await startChild({
        program,
        arguments: ['serve', 'all', '-c', file],
        cwd: folder,
        readyUrl: `${origin}/health/ready`,
        env: { DSN },
      });
      if (!hasClient) await register(adminOrigin);
      hasClient = true;
      return providerOf(child, `${origin}/.well-known/openid-configuration`, {
        introspection: `${adminOrigin}/admin/oauth2/introspect`,
        login: { application: acceptAll(adminOrigin) },
      });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function register(adminOrigin: string): Promise<void> {
  const response = await fetch(`${adminOrigin}/admin/clients`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_id: client.id,
      client_secret: client.secret,
      redirect_uris: [client.redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      scope: SCOPE,
      token_endpoint_auth_method: 'client_secret_basic',
    }),
  });
  if (!response.ok) throw new Error(`Hydra: ${response.status} ${await response.text()}`);
}

/** Reads each request and accepts it. */
function acceptAll(adminOrigin: string): LoginApplication {
  const api = httpClient(adminOrigin, { agent });
  return async (arrivedAt) => {
    const [[name = '', challenge = ''] = []] = new URL(arrivedAt).searchParams;
    const kind = name.replace('_challenge', '');
    const address = (verb = '') =>
      `/admin/oauth2/auth/requests/${kind}${verb}?${name}=${encodeURIComponent(challenge)}`;
    const asked = (await api.get(address())).json<{ requested_scope: string[] }>();
    const claims = { name: 'Alice Example', email: 'alice@example.com', email_verified: true };
    const accepted = await api.request('PUT', address('/accept'), {
      json: {
        remember: true,
        remember_for: SESSION_SECONDS,
        ...(kind === 'login'
          ? { subject: 'alice' }
          : { grant_scope: asked.requested_scope, session: { id_token: claims } }),
      },
    });
    return accepted.json<{ redirect_to: string }>().redirect_to;
  };
}
