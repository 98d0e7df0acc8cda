// Signs in with passwords of a real Active Directory domain (Samba). Part of `npm run test:long`; as root:
//   apt-get install --no-install-recommends samba samba-ad-dc samba-ad-provision ldb-tools openssl
//   npx tsx test/peers/samba.ts
// It provisions a domain in a new folder below /tmp, starts a domain controller at an address of loopback, and stops it at the end. A second
// part signs in at a whole server with forms, as strangers and the owner do.

import type { LdapConnection } from '../../src/federation/connections/connection.ts';
import { checkConnection, partsOf } from '../../src/federation/connections/schema.ts';
import { authorizeUrl, redirectUri } from '../oidc/support.ts';
import { aClient } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import { textOf } from '../support/pages/html.ts';
import { directoryWith, storedPassword } from './directory-password.ts';
import { startGatehouse } from './gatehouse.ts';
import { skip } from './programs.ts';
import { addUser, dnOf, passwordOf, root, service, startSamba, THRESHOLD } from './samba-server.ts';

const server = await startSamba().catch(skip);
const results: [title: string, isGood: boolean, result: unknown][] = [];
const expectThat = <T>(title: string, result: T, test: (result: T) => boolean) =>
  void results.push([title, test(result), result]);

const names = [
  'ann',
  'disabled',
  'expired',
  'must-change',
  'hours',
  'elsewhere',
  'locked',
  'guessed',
  'twice',
  'raced',
];
for (const name of names) await addUser(server, name);
await server.tool('group', 'add', 'staff');
await server.tool('group', 'add', 'all');
await server.tool('group', 'addmembers', 'staff', 'ann');
await server.tool('group', 'addmembers', 'all', 'staff');
await server.tool('user', 'disable', 'disabled');
await server.tool(
  'user',
  'setpassword',
  'must-change',
  `--newpassword=${passwordOf('must-change')}`,
  '--must-change-at-next-login',
);
const replaced = (name: string, attribute: string, value: string) =>
  `dn: ${dnOf(name)}\nchangetype: modify\nreplace: ${attribute}\n${attribute}:${value}\n\n`;
server.modify(
  replaced('expired', 'accountExpires', ' 131000000000000000') +
    replaced('hours', 'logonHours', `: ${Buffer.alloc(21).toString('base64')}`) +
    replaced('elsewhere', 'userWorkstations', ' PC1'),
);

/** A connection as the registry returns it. */
function connection(fields: Record<string, unknown> = {}): LdapConnection {
  const checked = checkConnection({
    id: 'samba',
    kind: 'ldap',
    preset: 'active-directory',
    name: 'Samba',
    base_dn: root,
    bind_dn: service.dn,
    url: server.ldaps,
    ca: [server.ca],
    groups: { nested: true },
    bind_password: service.password,
    ...fields,
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
  const { settings, ...head } = partsOf(checked.value);
  return { ...head, settings, position: 0, source: 'local' } as unknown as LdapConnection;
}
const directory = directoryWith(storedPassword(service.password));
const failed = (error: Error & { received?: string }) => ({ outcome: 'error' as const, text: error.received });
const check = (login: string, password: string, fields: Record<string, unknown> = {}) =>
  directory
    .checkPassword(connection(fields), { login, password }, async (_subject, lockout) => {
      seen.lockout = lockout;
      return async () => {};
    })
    .catch(failed);
const seen: { lockout?: unknown } = {};
const badPwdCount = async (name: string) => Number((await server.read(name, 'badPwdCount')) ?? 0);

const right = await check('ann', passwordOf('ann'));
expectThat('a right password', right.outcome, (outcome) => outcome === 'right');
expectThat(
  'groups of groups, and the primary group',
  right.outcome === 'right' ? [...(right.identity.groups?.names ?? [])].sort().join() : '',
  (groups) => groups.includes('all') && groups.includes('staff') && groups.includes('Domain Users'),
);
expectThat(
  'the lockout of the domain',
  JSON.stringify(seen.lockout),
  (text) => text === JSON.stringify({ threshold: THRESHOLD, windowSeconds: 1800 }),
);
for (const login of ['CORP\\ann', 'corp.example.com\\ann', 'ann@corp.example.com', 'ann@example.com'])
  expectThat(`${login} signs in`, (await check(login, passwordOf('ann'))).outcome, (outcome) => outcome === 'right');
expectThat('OTHER\\ann does not', (await check('OTHER\\ann', passwordOf('ann'))).outcome, (one) => one === 'wrong');
const listed = await check('ann', passwordOf('ann'), { groups: {} });
expectThat(
  'memberOf and the primary group',
  listed.outcome === 'right' ? (listed.identity.groups?.names ?? []) : [],
  (groups) => groups.includes(`CN=Domain Users,CN=Users,${root}`) && groups.includes(`CN=staff,CN=Users,${root}`),
);

for (const [name, rejection] of [
  ['disabled', 'account_disabled'],
  ['expired', 'account_expired'],
  ['must-change', 'password_must_change'],
  ['elsewhere', 'not_here'],
] as const) {
  const wrong = await check(name, 'wrong');
  expectThat(`${name}: a wrong password is only wrong`, wrong.outcome, (outcome) => outcome === 'wrong');
  const before = await badPwdCount(name);
  const answer = await check(name, passwordOf(name));
  expectThat(
    `${name}: the right one is rejected with the reason`,
    'rejection' in answer ? answer.rejection : answer.outcome,
    (one) => one === rejection,
  );
  expectThat(`${name}: the right one costs nothing`, (await badPwdCount(name)) - before, (cost) => cost === 0);
}
for (let count = 0; count < THRESHOLD; count += 1) await check('locked', 'wrong');
const locked = await check('locked', passwordOf('locked'));
expectThat(
  'a locked account is wrong',
  'reason' in locked ? locked.reason : '',
  (reason) => reason === 'directory_account_locked',
);

for (const [name, error] of [
  ['ann', undefined],
  ['disabled', 'account_disabled'],
  ['expired', 'account_expired'],
  ['must-change', 'password_must_change'],
  ['hours', 'not_now'],
  ['locked', 'account_locked'],
] as const)
  expectThat(
    `the state of ${name}`,
    (await directory.lookUp(connection(), name))?.rejection,
    (found) => found === error,
  );
const ann = await directory.lookUp(connection(), 'ann');
const again = await directory.findAgain(connection(), ann?.identity.subject ?? '');
expectThat('the same user by the identifier', again?.identity.subject, (subject) => subject === ann?.identity.subject);
expectThat(
  'nobody by another identifier',
  await directory.findAgain(connection(), '00112233-4455-6677-8899-aabbccddeeff'),
  (found) => found === undefined,
);

const stored = storedPassword('stale');
const wrongService = directoryWith(stored);
const forms = Array.from({ length: 12 }, (_, at) =>
  wrongService
    .checkPassword(connection(), { login: `user${at}`, password: 'x' }, async () => async () => {})
    .catch(failed),
);
await Promise.all(forms);
expectThat('a wrong service password costs one attempt', await badPwdCount('search'), (cost) => cost === 1);
expectThat('its answer', stored.rejected.join(), (text) => text.includes('data 52e'));
expectThat(
  'a server that is down is followed by the next',
  (await check('ann', passwordOf('ann'), { url: `ldaps://127.0.0.1:1 ${server.ldaps}` })).outcome,
  (outcome) => outcome === 'right',
);
expectThat(
  'another authority',
  (await check('ann', passwordOf('ann'), { ca: [] })).outcome,
  (outcome) => outcome === 'error',
);

// A whole server, with its limits.
const gatehouse = await startGatehouse();
const { services } = gatehouse;
await services.settings.set('rate_limits', true);
await services.settings.reload();
const { clientId } = await aClient(services, { redirect_uris: [redirectUri] });
const { bind_dn, base_dn } = connection().settings;
await gatehouse.connect({
  id: 'samba',
  kind: 'ldap',
  preset: 'active-directory',
  name: 'Example Corp',
  url: server.ldaps,
  ca: [server.ca],
  bind_dn,
  base_dn,
  bind_password: service.password,
  create_users: true,
});
const idp = { issuer: gatehouse.issuer } as Parameters<typeof authorizeUrl>[0];
async function enter(username: string, password: string, browser = httpClient(gatehouse.issuer)): Promise<Page> {
  const form = await browser.follow(await browser.get(authorizeUrl(idp, clientId, { prompt: 'login' })));
  return browser.follow(await browser.submit(form, { username, password }), (url) => url.startsWith(redirectUri));
}
const isSignedIn = (page: Page) => page.location?.includes('code=') ?? false;
/** The pauses of this server end, the window of the directory does not. */
const forgetPauses = () =>
  services.db.rateLimit.deleteMany({ where: { NOT: { key: { startsWith: 'sign-in:directory-user' } } } });

const browser = httpClient(gatehouse.issuer);
expectThat('the form signs in', isSignedIn(await enter('guessed', passwordOf('guessed'), browser)), Boolean);
for (let guess = 1; guess <= 5; guess += 1) {
  await enter('guessed', `guess ${guess}`);
  await enter('CORP\\guessed', `typo ${guess}`, browser);
  await forgetPauses();
}
expectThat(
  'guesses of strangers and typos of the owner do not lock the account',
  [await badPwdCount('guessed'), (await server.read('guessed', 'lockoutTime')) ?? '0'].join(),
  (text) => text === `${THRESHOLD - 1},0`,
);
const races = Array.from({ length: 20 }, (_, at) =>
  enter(['raced', 'CORP\\raced', 'raced@example.com'][at % 3] ?? '', 'x'),
);
await Promise.all(races);
expectThat('nor do twenty guesses at once', await badPwdCount('raced'), (cost) => cost > 0 && cost < THRESHOLD);
await forgetPauses();
const crowd = Array.from({ length: 30 }, (_, at) => `crowd${at}`);
for (const name of crowd) await addUser(server, name);
const pages = await Promise.all(crowd.map((name) => enter(name, passwordOf(name))));
expectThat(
  'thirty people sign in at once',
  pages.map((page) => (isSignedIn(page) ? 'in' : `${page.status} ${textOf(page.text).slice(0, 200)}`)),
  (all) => all.every((one) => one === 'in'),
);
const disabled = textOf((await enter('disabled', passwordOf('disabled'))).text);
expectThat('a disabled person reads why', disabled.slice(0, 300), () =>
  disabled.includes('Your Example Corp account is disabled.'),
);
expectThat('a person is there', isSignedIn(await enter('twice', passwordOf('twice'))), Boolean);
const first = await services.db.asStored.user.findFirstOrThrow({ where: { username: 'twice' } });
await services.accounts.update(first.id, { email: 'twice@example.com', emailVerified: true });
await server.tool('user', 'delete', 'twice');
await addUser(server, 'twice');
const second = await enter('twice', passwordOf('twice'));
expectThat(
  'the same name and address, created again, has a clear end',
  `${second.status} ${textOf(second.text).slice(0, 200)}`,
  (text) => text.startsWith('409'),
);

await gatehouse.stop();
await server.stop();
process.stdout.write(`Samba ${server.version}\n`);
for (const [title, isGood, result] of results) {
  if (!isGood) process.exitCode = 1;
  process.stdout.write(`${isGood ? 'ok  ' : 'FAIL'} ${title}: ${JSON.stringify(result)}\n`);
}
process.exit();
