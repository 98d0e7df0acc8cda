// Signs in with passwords of a real OpenLDAP (slapd with memberof and ppolicy), over ldaps and StartTLS. Run by hand:
//   apt-get install slapd ldap-utils     (needs /usr/sbin/slapd, slapadd and the modules of Debian, and openssl)
//   npx tsx test/peers/slapd.ts
// It starts slapd on free ports of loopback, with its data in a new folder below /tmp, and stops it at the end.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LdapConnection } from '../../src/connections/connection.ts';
import { checkConnection, partsOf } from '../../src/connections/schema.ts';
import { createDirectory } from '../../src/federation/ldap/directory.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-slapd-'));
const [plain, secure] = [20389 + (process.pid % 1000), 21389 + (process.pid % 1000)];
const base = 'dc=example,dc=com';
const at = (name: string) => path.join(folder, name);

execFileSync('openssl', [
  ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
  ...['-addext', 'subjectAltName=DNS:localhost', '-keyout', at('key.pem'), '-out', at('cert.pem')],
]);
mkdirSync(at('db'));
writeFileSync(
  at('slapd.conf'),
  `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
moduleload ppolicy
pidfile ${at('pid')}
TLSCertificateFile ${at('cert.pem')}
TLSCertificateKeyFile ${at('key.pem')}
security simple_bind=128
database mdb
suffix "${base}"
directory ${at('db')}
rootdn "cn=root,${base}"
rootpw root
overlay memberof
overlay ppolicy
ppolicy_default "cn=policy,${base}"
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=search,${base}" read by anonymous auth by * none
`,
);
const person = (uid: string, more = '') => `
dn: uid=${uid},ou=people,${base}
objectClass: inetOrgPerson
uid: ${uid}
cn: ${uid}
sn: Example
mail: ${encodeURIComponent(uid).replaceAll('%', '')}@example.com
userPassword: correct-${uid}
${more}`;
const group = (cn: string, member: string) => `
dn: cn=${cn},ou=groups,${base}
objectClass: groupOfNames
cn: ${cn}
member: ${member}
`;
const ldif = `dn: ${base}
objectClass: domain
dc: example

dn: cn=policy,${base}
objectClass: device
objectClass: pwdPolicy
cn: policy
pwdAttribute: userPassword
pwdLockout: TRUE
pwdMaxFailure: 3
pwdLockoutDuration: 600

dn: cn=search,${base}
objectClass: simpleSecurityObject
objectClass: organizationalRole
cn: search
userPassword: search

dn: ou=people,${base}
objectClass: organizationalUnit
ou: people

dn: ou=groups,${base}
objectClass: organizationalUnit
ou: groups
${person('ann')}${person('bob', `pwdAccountLockedTime: 000001010000Z\n`)}${person('müller')}${group('staff', `uid=ann,ou=people,${base}`)}${group('all', `cn=staff,ou=groups,${base}`)}`;
const server = spawn('/usr/sbin/slapd', [
  ...['-d', '0', '-f', at('slapd.conf'), '-h', `ldap://127.0.0.1:${plain} ldaps://127.0.0.1:${secure}`],
]);
// Only for the tools that fill it: they compare the certificate with the name of this machine.
const environment = { ...process.env, LDAPTLS_REQCERT: 'never' };
process.on('exit', () => server.kill());
const root = ['-x', '-H', `ldaps://localhost:${secure}`, '-D', `cn=root,${base}`, '-w', 'root'];
for (let tries = 0; ; tries += 1) {
  try {
    execFileSync('ldapwhoami', root, { env: environment, stdio: 'pipe' });
    break;
  } catch (error) {
    if (tries === 20) throw error;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
execFileSync('ldapadd', [...root, '-e', 'relax'], {
  input: ldif,
  env: environment,
  stdio: ['pipe', 'ignore', 'inherit'],
});

/** A connection as the registry returns it. */
function connection(fields: Record<string, unknown>): LdapConnection {
  const checked = checkConnection({
    ...{ id: 'slapd', kind: 'ldap', name: 'OpenLDAP', base_dn: base, bind_dn: `cn=search,${base}` },
    ...{ bind_password: 'search', ca: [readFileSync(at('cert.pem'), 'utf8')], groups: {}, ...fields },
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
  const { settings, ...head } = partsOf(checked.value);
  return { ...head, settings, position: 0, source: 'local' } as unknown as LdapConnection;
}
const secret = { id: '1', purpose: 'bind-password', createdAt: new Date(), expiresAt: null, value: 'search' } as const;
const directory = createDirectory({ connections: { secretsOf: async () => [secret] }, now: () => new Date() });
const check = (fields: Record<string, unknown>, login: string, password: string) =>
  directory
    .checkPassword(connection(fields), { login, password }, async () => true)
    .catch((error: Error & { received?: string }) => ({ outcome: 'error', text: error.received }));

const ldaps = { url: `ldaps://localhost:${secure}` };
const startTls = { url: `ldap://localhost:${plain}`, start_tls: true };
const groups = { base_dn: `ou=groups,${base}`, nested: true };
const results: [string, unknown, (result: never) => boolean][] = [];
const expectThat = async (title: string, result: Promise<unknown>, test: (result: never) => boolean) =>
  results.push([title, await result, test]);
type Checked = { outcome: string; reason?: string; identity: { subject: string; groups?: { names: string[] } } };

await expectThat(
  'ldaps, memberOf',
  check(ldaps, 'ann', 'correct-ann'),
  ({ outcome, identity }: Checked) =>
    outcome === 'right' &&
    /^[0-9a-f-]{36}$/.test(identity.subject) &&
    identity.groups?.names[0] === `cn=staff,ou=groups,${base}`,
);
await expectThat(
  'StartTLS, by mail',
  check(startTls, 'ann@example.com', 'correct-ann'),
  ({ outcome }: Checked) => outcome === 'right',
);
await expectThat(
  'groups of groups',
  check({ ...ldaps, groups }, 'ann', 'correct-ann'),
  ({ identity }: Checked) => identity.groups?.names.join() === 'staff,all',
);
await expectThat(
  'a name beyond ASCII',
  check(ldaps, 'müller', 'correct-müller'),
  ({ outcome }: Checked) => outcome === 'right',
);
await expectThat(
  'a wrong password',
  check(ldaps, 'ann', 'wrong'),
  ({ outcome, reason }: Checked) => outcome === 'wrong' && reason === 'wrong_password',
);
await expectThat('an empty password', check(ldaps, 'ann', ''), ({ reason }: Checked) => reason === 'empty_password');
await expectThat('no such user', check(ldaps, 'nobody', 'x'), ({ reason }: Checked) => reason === 'unknown_account');
await expectThat('a wildcard', check(ldaps, '*', 'x'), ({ reason }: Checked) => reason === 'unknown_account');
await expectThat(
  'locked by ppolicy',
  check(ldaps, 'bob', 'correct-bob'),
  ({ outcome }: Checked) => outcome === 'wrong',
);
await expectThat(
  'another authority',
  check({ ...ldaps, ca: [] }, 'ann', 'correct-ann'),
  ({ outcome }: Checked) => outcome === 'error',
);
await expectThat(
  'another host',
  check({ url: `ldaps://127.0.0.1:${secure}` }, 'ann', 'correct-ann'),
  ({ outcome }: Checked) => outcome === 'error',
);
await expectThat(
  'plain, which slapd rejects',
  check({ url: `ldap://localhost:${plain}` }, 'ann', 'correct-ann'),
  ({ outcome }: Checked) => outcome === 'error',
);
for (let count = 0; count < 3; count += 1) await check(ldaps, 'ann', 'wrong');
await expectThat(
  'locked by ppolicy after failures',
  check(ldaps, 'ann', 'correct-ann'),
  ({ outcome }: Checked) => outcome === 'wrong',
);

server.kill();
for (const [title, result, test] of results) {
  const isGood = test(result as never);
  if (!isGood) process.exitCode = 1;
  process.stdout.write(`${isGood ? 'ok  ' : 'FAIL'} ${title}: ${JSON.stringify(result)}\n`);
}
