// OpenLDAP (slapd with memberof and ppolicy) on free ports of loopback, over ldaps and StartTLS.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort, needFile, newFolder, type Program, packageVersion, startProgram } from './programs.ts';

export const base = 'dc=example,dc=com';

export interface Slapd extends Pick<Program, 'stop'> {
  version: string;
  ldaps: string;
  plain: string;
  /** The certificate of its authority, as PEM. */
  ca: string;
}

/** The account `cn=search` with the password `search` reads everything but passwords. Throws Missing. */
export async function startSlapd(entries: string): Promise<Slapd> {
  const how = 'apt-get install slapd ldap-utils';
  const program = needFile('/usr/sbin/slapd', how);
  needFile('/usr/bin/ldapadd', how);
  const folder = newFolder('slapd');
  const at = (name: string) => path.join(folder, name);
  const [plain, secure] = [await freePort(), await freePort()];

  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=DNS:localhost', '-keyout', at('key.pem'), '-out', at('cert.pem')],
    ],
    { stdio: 'ignore' },
  );
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
  const addresses = `ldap://127.0.0.1:${plain} ldaps://127.0.0.1:${secure}`;
  const { stop } = await startProgram(program, ['-d', '0', '-f', at('slapd.conf'), '-h', addresses], {
    ready: at('pid'),
  });
  fill(`ldaps://localhost:${secure}`, head + entries);
  return {
    version: (await packageVersion('slapd')) ?? '',
    ldaps: `ldaps://localhost:${secure}`,
    plain: `ldap://localhost:${plain}`,
    ca: readFileSync(at('cert.pem'), 'utf8'),
    stop,
  };
}

/** Adds the entries; its tools do not know the authority, so they do not check the certificate. */
function fill(url: string, entries: string): void {
  const root = ['-x', '-H', url, '-D', `cn=root,${base}`, '-w', 'root', '-e', 'relax'];
  const env = { ...process.env, LDAPTLS_REQCERT: 'never' };
  execFileSync('ldapadd', root, { input: entries, env, stdio: ['pipe', 'ignore', 'inherit'] });
}

/** One of `ou=people`; `more` are further attributes. */
export const userEntry = (uid: string, { password = `correct-${uid}`, mail = '', more = '' } = {}) => `
dn: uid=${uid},ou=people,${base}
objectClass: inetOrgPerson
uid: ${uid}
cn: ${uid}
sn: Example
mail: ${mail || `${encodeURIComponent(uid).replaceAll('%', '')}@example.com`}
userPassword: ${password}
${more}`;

/** One of `ou=groups`. */
export const groupEntry = (cn: string, member: string) => `
dn: cn=${cn},ou=groups,${base}
objectClass: groupOfNames
cn: ${cn}
member: ${member}
`;

const head = `dn: ${base}
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
`;
