// Dex with its own password database and its sessions, which bring sign-out in both directions.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { Gatehouse } from '../gatehouse.ts';
import { person, STAFF, type Upstream } from '../peer.ts';
import { freePort, Missing, needFile, newFolder, run, startProgram } from '../programs.ts';
import { open, travel } from '../travel.ts';

const HOW = 'a Dex with sessions, later than 2.45; test/peers/README.md';
/** bcrypt of the password of `person`. */
const HASH = '$2y$10$XY3HX0ePYqe/CeN13fyCy.0Yve6Vb9NLer.R1EeyvjUuQfgGBbPP.';
/** After it the signing key changes; Dex looks every 30 seconds. */
const ROTATION = '2m';

/** DEX names the program. */
export async function startDex({ issuer: gatehouse }: Gatehouse, connectionId: string): Promise<Upstream> {
  const program = process.env.DEX;
  if (!program) throw new Missing(`needs DEX (${HOW})`);
  const [version] = /(?<=Version: ).*/.exec(await run(needFile(program, HOW), ['version'])) ?? [''];
  const folder = newFolder('dex');
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}/dex`;
  const at = (name: string) => `${gatehouse}/upstream/${connectionId}/${name}`;
  const client = { client_id: 'gatehouse', client_secret: 'a-secret-that-both-sides-know' };
  const configuration = {
    issuer,
    storage: { type: 'memory' },
    web: { http: `127.0.0.1:${port}` },
    oauth2: { skipApprovalScreen: true },
    signer: { type: 'local', config: { keysRotationPeriod: ROTATION } },
    sessions: { cookieName: 'dex_session' },
    enablePasswordDB: true,
    staticPasswords: [{ email: person.email, hash: HASH, username: person.username, userID: '1', groups: [STAFF] }],
    staticClients: [
      {
        id: client.client_id,
        secret: client.client_secret,
        name: 'Gatehouse',
        redirectURIs: [at('callback')],
        postLogoutRedirectURIs: [at('signed-out')],
        backchannelLogoutURI: at('backchannel-logout'),
      },
    ],
  };
  writeFileSync(path.join(folder, 'dex.yaml'), stringify(configuration));
  const server = await startProgram(program, ['serve', path.join(folder, 'dex.yaml')], {
    // The program looks for its pages in the folder that it was built in.
    cwd: path.dirname(path.dirname(program)),
    env: { DEX_SESSIONS_ENABLED: 'true', DEX_EXPAND_ENV: 'false' },
    ready: `${issuer}/.well-known/openid-configuration`,
  });
  return {
    name: 'Dex',
    version: process.env.DEX_VERSION ?? version ?? '',
    kind: 'oidc',
    connection: {
      kind: 'oidc',
      name: 'Dex',
      issuer,
      ...client,
      groups_claim: 'groups',
      role_mappings: { [STAFF]: STAFF },
      scopes: ['openid', 'profile', 'email', 'groups'],
    },
    signIn: async (browser, page) =>
      travel(browser, await browser.submit(page, { login: person.email, password: person.password })),
    signOut: async (browser) => {
      const asked = await open(browser, `${issuer}/logout`);
      return travel(browser, await browser.submit(asked));
    },
    rollOver: () => newKeyAt(`${issuer}/keys`),
    stop: () => server.stop(),
  };
}

/** Dex signs with a new key as soon as it is published. */
async function newKeyAt(url: string): Promise<void> {
  const first = async () => ((await (await fetch(url)).json()) as { keys: { kid: string }[] }).keys[0]?.kid;
  const before = await first();
  while ((await first()) === before) await sleep(1000);
}
