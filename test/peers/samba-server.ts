// A Samba domain controller (Active Directory, domain CORP) at an address of loopback, with its data in a new folder. Its ports are fixed
// (389, 636), so it takes an address of its own, and runs as root.
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Missing, needFile, newFolder, type Program, packageVersion, run, startProgram } from './programs.ts';

export const root = 'DC=corp,DC=example,DC=com';
export const users = `CN=Users,${root}`;
/** The account that searches. */
export const service = { dn: `CN=search X,${users}`, password: 'search-pass-1' };
export const THRESHOLD = 5;

export interface Samba extends Pick<Program, 'stop'> {
  version: string;
  ldaps: string;
  plain: string;
  /** The certificate of its authority, as PEM. */
  ca: string;
  /** `samba-tool` on its database, as an administrator of it. */
  tool(...args: string[]): Promise<string>;
  /** Applies LDIF. */
  modify(ldif: string): void;
  /** An attribute of a user. */
  read(name: string, attribute: string): Promise<string | undefined>;
}

export const passwordOf = (name: string) => `correct-${name}-1`;
export const dnOf = (name: string) => `CN=${name} X,${users}`;

/** With the account that searches, and a lockout after five wrong passwords in 30 minutes. Throws Missing. */
export async function startSamba(): Promise<Samba> {
  const how = 'apt-get install --no-install-recommends samba samba-ad-dc samba-ad-provision ldb-tools';
  const program = needFile('/usr/sbin/samba', how);
  needFile('/usr/share/samba/setup/provision.ldif', how);
  needFile('/usr/bin/ldbmodify', how);
  if (process.getuid?.() !== 0) throw new Missing('needs root, because its ports are fixed');
  const folder = newFolder('samba');
  const at = (name: string) => path.join(folder, name);
  const address = `127.77.${randomInt(1, 255)}.${randomInt(1, 255)}`;

  const certificate = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=dc1.corp.example.com',
  ];
  const names = ['-addext', `subjectAltName=IP:${address}`, '-keyout', at('key.pem'), '-out', at('cert.pem')];
  execFileSync('openssl', [...certificate, ...names], { stdio: 'ignore' });
  chmodSync(at('key.pem'), 0o600);

  const options = {
    interfaces: `${address}/8`,
    'bind interfaces only': 'yes',
    'server services': 'ldap',
    'log file': at('log'),
    'pid directory': folder,
    'tls enabled': 'yes',
    'tls keyfile': at('key.pem'),
    'tls certfile': at('cert.pem'),
    'tls cafile': '',
  };
  execFileSync(
    'samba-tool',
    [
      ...['domain', 'provision', `--targetdir=${at('dc')}`, '--realm=CORP.EXAMPLE.COM', '--domain=CORP'],
      ...['--server-role=dc', '--dns-backend=NONE', '--adminpass=Admin-pass-1', '--host-name=dc1'],
      ...[`--host-ip=${address}`, ...Object.entries(options).map(([name, value]) => `--option=${name}=${value}`)],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const database = at('dc/private/sam.ldb');
  const configuration = at('dc/etc/smb.conf');
  // `provision` writes only some of the options down.
  const lines = Object.entries(options).map(([name, value]) => `\t${name} = ${value}`);
  const written = readFileSync(configuration, 'utf8');
  writeFileSync(configuration, written.replace('[global]\n', `[global]\n${lines.join('\n')}\n`));

  const tool = (...args: string[]) => run('samba-tool', [...args, '-H', database, '-s', configuration]);
  await tool(
    ...['domain', 'passwordsettings', 'set', '--complexity=off', '--min-pwd-length=6', '--min-pwd-age=0'],
    ...['--history-length=0', `--account-lockout-threshold=${THRESHOLD}`],
    ...['--account-lockout-duration=30', '--reset-account-lockout-after=30'],
  );
  await tool('user', 'create', 'search', service.password, '--given-name=search', '--surname=X');

  const ready = at('samba.pid');
  const { stop } = await startProgram(program, ['-i', '--debug-stdout', '-M', 'single', '-s', configuration], {
    ready,
  });
  return {
    version: (await packageVersion('samba')) ?? '',
    ldaps: `ldaps://${address}`,
    plain: `ldap://${address}`,
    ca: readFileSync(at('cert.pem'), 'utf8'),
    tool,
    modify: (ldif) =>
      void execFileSync('ldbmodify', ['-H', database], { input: ldif, stdio: ['pipe', 'ignore', 'inherit'] }),
    async read(name, attribute) {
      const found = await run('ldbsearch', ['-H', database, `(sAMAccountName=${name})`, attribute]);
      return new RegExp(`^${attribute}: (.*)$`, 'm').exec(found)?.[1];
    },
    stop,
  };
}

/** A user with the password `passwordOf(name)`. */
export async function addUser({ tool }: Samba, name: string, mail = `${name}@example.com`): Promise<void> {
  await tool('user', 'create', name, passwordOf(name), `--mail-address=${mail}`, `--given-name=${name}`, '--surname=X');
}
