// Dex with its own password database, on SQLite or PostgreSQL.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hashSync } from 'bcryptjs';
import { stringify } from 'yaml';
import { startChild } from '../child.ts';
import { client, freePort, person } from '../target.ts';
import { type Installation, type InstallOptions, providerOf } from './provider.ts';

const BCRYPT_COST = 10;
const email = 'alice@example.com';

/** Sessions and client credentials are used by a version that has them; an older one ignores these settings. */
export async function installDex({ program, databaseUrl }: Partial<InstallOptions>): Promise<Installation> {
  if (!program) throw new Error('Dex needs its program');
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-bench-dex-'));
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}/dex`;
  const configuration = {
    issuer,
    storage: databaseUrl ? postgresql(databaseUrl) : { type: 'sqlite3', config: { file: path.join(folder, 'dex.db') } },
    web: { http: `127.0.0.1:${port}` },
    oauth2: {
      skipApprovalScreen: true,
      grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
    },
    sessions: { cookieName: 'dex_session' },
    enablePasswordDB: true,
    staticPasswords: [
      { email, hash: hashSync(person.password, BCRYPT_COST), username: person.username, userID: 'alice' },
    ],
    staticClients: [{ id: client.id, secret: client.secret, name: 'Benchmark', redirectURIs: [client.redirectUri] }],
  };
  const file = path.join(folder, 'dex.yaml');
  writeFileSync(file, stringify(configuration));
  const described = execFileSync(program, ['version'], { encoding: 'utf8' });
  const [version, go] = ['Dex', 'Go'].map((name) => new RegExp(`(?<=${name} Version: ).*`).exec(described)?.[0]);
  return {
    name: `Dex, ${databaseUrl ? 'PostgreSQL' : 'SQLite'}`,
    version: `${version}, ${go}`,
    settings: `skipApprovalScreen, sessions where the version has them, otherwise its defaults (refresh tokens are rotated); passwords bcrypt (cost ${BCRYPT_COST})`,
    async start() {
      const discovery = `${issuer}/.well-known/openid-configuration`;
      const child = await startChild({
        program,
        arguments: ['serve', file],
        cwd: folder,
        readyUrl: discovery,
        env: { DEX_SESSIONS_ENABLED: 'true', DEX_EXPAND_ENV: 'false' },
      });
      // On PostgreSQL, two sign-ins of a user at a time end with status 500 now and then: it does not repeat the transaction.
      const login = { fields: { login: email, password: person.password }, isSerial: true };
      return providerOf(child, discovery, { login });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function postgresql(databaseUrl: string): object {
  const { hostname: host, port, pathname, username: user, password } = new URL(databaseUrl);
  const database = pathname.slice(1);
  return {
    type: 'postgres',
    config: { host, port: Number(port), database, user, password, ssl: { mode: 'disable' } },
  };
}
