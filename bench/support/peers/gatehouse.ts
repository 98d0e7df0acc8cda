// Gatehouse as one of the servers that are compared: the build of this checkout, with everything on.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { limits } from '../../../src/base/limits.ts';
import { gatehouseFolder, person, startGatehouse } from '../target.ts';
import { questionOfSession } from '../website.ts';
import { type Installation, providerOf } from './provider.ts';

/** On SQLite without a database. */
export function installGatehouse(databaseUrl?: string): Installation {
  const folder = gatehouseFolder();
  const { argon2MemoryKib, argon2Iterations, argon2Parallelism } = limits.passwordHash;
  const version = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  return {
    name: `Gatehouse, ${databaseUrl ? 'PostgreSQL' : 'SQLite'}`,
    version: `commit ${version}, Node ${process.version}`,
    settings: `rate_limits: false; passwords Argon2id (${argon2MemoryKib} KiB, t ${argon2Iterations}, p ${argon2Parallelism})${databaseUrl ? `; at most ${limits.database.connections} connections` : ''}`,
    async start() {
      const server = await startGatehouse(folder, { databaseUrl });
      const { origin } = server;
      const login = { fields: person };
      const check = () => questionOfSession(origin);
      return providerOf(server, `${origin}/.well-known/openid-configuration`, {
        login,
        check,
        saml: `${origin}/saml/sso`,
      });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
