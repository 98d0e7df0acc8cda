// Signs in with passwords of a real OpenLDAP (slapd with memberof and ppolicy), over ldaps and StartTLS. Part of `npm run test:long`:
//   apt-get install slapd ldap-utils     (needs /usr/sbin/slapd, slapadd and the modules of Debian, and openssl)
//   npx tsx test/peers/slapd.ts
// It starts slapd on free ports of loopback, with its data in a new folder below /tmp, and stops it at the end.

import type { LdapConnection } from '../../src/federation/connections/connection.ts';
import { checkConnection, partsOf } from '../../src/federation/connections/schema.ts';
import { directoryWith, storedPassword } from './directory-password.ts';
import { skip } from './programs.ts';
import { base, groupEntry, startSlapd, userEntry } from './slapd-server.ts';

const server = await startSlapd(
  [
    userEntry('ann'),
    userEntry('bob', { more: 'pwdAccountLockedTime: 000001010000Z\n' }),
    userEntry('müller'),
    groupEntry('staff', `uid=ann,ou=people,${base}`),
    groupEntry('all', `cn=staff,ou=groups,${base}`),
  ].join(''),
).catch(skip);

/** A connection as the registry returns it. */
function connection(fields: Record<string, unknown>): LdapConnection {
  const checked = checkConnection({
    id: 'slapd',
    kind: 'ldap',
    name: 'OpenLDAP',
    base_dn: base,
    bind_dn: `cn=search,${base}`,
    bind_password: 'search',
    ca: [server.ca],
    groups: {},
    ...fields,
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
  const { settings, ...head } = partsOf(checked.value);
  return { ...head, settings, position: 0, source: 'local' } as unknown as LdapConnection;
}
const directory = directoryWith(storedPassword('search'));
const check = (fields: Record<string, unknown>, login: string, password: string) =>
  directory
    .checkPassword(connection(fields), { login, password }, async () => async () => {})
    .catch((error: Error & { received?: string }) => ({ outcome: 'error', text: error.received }));

const ldaps = { url: server.ldaps };
const startTls = { url: server.plain, start_tls: true };
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
  check({ url: server.ldaps.replace('localhost', '127.0.0.1') }, 'ann', 'correct-ann'),
  ({ outcome }: Checked) => outcome === 'error',
);
await expectThat(
  'plain, which slapd rejects',
  check({ url: server.plain }, 'ann', 'correct-ann'),
  ({ outcome }: Checked) => outcome === 'error',
);
for (let count = 0; count < 3; count += 1) await check(ldaps, 'ann', 'wrong');
await expectThat(
  'locked by ppolicy after failures',
  check(ldaps, 'ann', 'correct-ann'),
  ({ outcome }: Checked) => outcome === 'wrong',
);

await server.stop();
for (const [title, result, test] of results) {
  const isGood = test(result as never);
  if (!isGood) process.exitCode = 1;
  process.stdout.write(`${isGood ? 'ok  ' : 'FAIL'} ${title}: ${JSON.stringify(result)}\n`);
}
