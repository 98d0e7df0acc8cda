// Authelia with its users in a file, sessions in its memory and everything else on SQLite: the check of its proxy endpoint.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hashSync } from 'bcryptjs';
import { stringify } from 'yaml';
import { startChild } from '../child.ts';
import { freePort, person } from '../target.ts';
import { asked } from '../website.ts';
import { checkOnly, type Installation, type InstallOptions } from './provider.ts';

const domain = 'example.com';
const website = { origin: `https://wiki.${domain}` };
const secret = 'a secret of the benchmark that is long enough';

export async function installAuthelia({ program }: Pick<InstallOptions, 'program'>): Promise<Installation> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-bench-authelia-'));
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const at = (name: string) => path.join(folder, name);
  const users = {
    [person.username]: { displayname: 'Alice', email: 'alice@example.com', password: hashSync(person.password, 10) },
  };
  writeFileSync(at('users.yml'), stringify({ users }));
  const configuration = {
    server: { address: `tcp://127.0.0.1:${port}` },
    log: { level: 'warn' },
    identity_validation: { reset_password: { jwt_secret: secret } },
    authentication_backend: { file: { path: at('users.yml') } },
    access_control: { default_policy: 'one_factor' },
    session: { secret, cookies: [{ domain, authelia_url: `https://auth.${domain}` }] },
    storage: { encryption_key: secret, local: { path: at('db.sqlite3') } },
    notifier: { filesystem: { filename: at('mail.txt') }, disable_startup_check: true },
    ntp: { disable_startup_check: true },
  };
  writeFileSync(at('configuration.yml'), stringify(configuration));
  const version = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
  return {
    name: 'Authelia',
    version,
    settings: 'sessions in its memory, everything else its defaults; no signed statement about the user',
    async start() {
      const child = await startChild({
        program,
        arguments: ['--config', at('configuration.yml')],
        cwd: folder,
        env: {},
        readyUrl: `${origin}/api/health`,
      });
      return checkOnly(child, async () => {
        const signedIn = await fetch(`${origin}/api/firstfactor`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-forwarded-proto': 'https',
            'x-forwarded-host': `auth.${domain}`,
          },
          body: JSON.stringify({ ...person, targetURL: `${website.origin}/page`, keepMeLoggedIn: false }),
        });
        if (!signedIn.ok) throw new Error(`Authelia: ${signedIn.status} ${await signedIn.text()}`);
        const cookie = signedIn.headers.getSetCookie().map((line) => line.split(';')[0]);
        return {
          url: `${origin}/api/authz/forward-auth`,
          headers: { ...asked('/page', website), cookie: cookie.join('; ') },
        };
      });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
