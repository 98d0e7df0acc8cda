// A directory behind the password form: who signs in as whom, and what never reaches the directory.
import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { selfSignedCertificate } from '../../src/core/keys/certificate.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { anApplication, authorizeUrl, redirectUri, signIn } from '../oidc/support.ts';
import { anRsaKey } from '../support/applications/rsa-keys.ts';
import { aClient, aUser, PASSWORD, type TestUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { enter, expectNotSignedIn, expectSignedIn } from '../support/pages/enter.ts';
import { actionsOf, textOf } from '../support/pages/html.ts';
import { type DirectoryEntry, startDirectory, type TestDirectory } from '../support/upstream/directory.ts';
import { aConnection, accountOf } from './support.ts';

const BASE = 'ou=people,dc=example,dc=com';
const SERVICE = 'cn=search,dc=example,dc=com';
const STAFF = 'cn=staff,ou=groups,dc=example,dc=com';

let idp: TestIdp;
let directory: TestDirectory;
let clientId: string;
let count = 0;

beforeAll(async () => {
  idp = await startIdp();
  clientId = (await aClient(idp.services, { redirect_uris: [redirectUri] })).clientId;
});
afterAll(() => idp.stop());
beforeEach(async () => {
  directory = await startDirectory([{ dn: SERVICE, password: 'search-secret', attributes: {} }]);
});
afterEach(async () => {
  for (const { id, source } of await idp.services.connections.list())
    await idp.services.connections.remove(id, { source });
  await directory.stop();
  await idp.services.db.rateLimit.deleteMany();
});

const connect = (fields: Record<string, unknown> = {}, options = {}) =>
  aConnection(
    idp,
    {
      id: 'directory',
      kind: 'ldap',
      name: 'Example Directory',
      url: directory.url,
      base_dn: BASE,
      bind_dn: SERVICE,
      bind_password: 'search-secret',
      create_users: true,
      ...fields,
    },
    options,
  );

/** A user of the directory; each has a name of its own, because accounts stay. */
function aPerson(attributes: DirectoryEntry['attributes'] = {}): { uid: string; dn: string; uuid: string } {
  count += 1;
  const uid = `dir${count}`;
  const uuid = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
  const dn = `uid=${uid},${BASE}`;
  const mail = `${uid}@corp.example`;
  const base = { uid: [uid], mail: [mail], cn: [`Person ${count}`], entryUUID: [uuid] };
  directory.entries.push({ dn, password: 'directory pass', attributes: { ...base, ...attributes } });
  return { uid, dn, uuid };
}

const enterAs = (username: string, password = 'directory pass'): Promise<Page> =>
  enter(idp, { clientId, username, password });
const bindsOfUsers = () => directory.binds.filter(({ dn }) => dn !== SERVICE);

describe('a password that a directory checks', () => {
  it('signs in a user without an account, with roles by group, pwd, and no password here', async () => {
    await connect({ groups: {}, role_mappings: { [STAFF]: 'auditor' } });
    const person = aPerson({ memberOf: [STAFF] });
    const application = await anApplication(idp);
    const user = { username: person.uid, password: 'directory pass' } as TestUser;
    const { tokens } = await signIn(httpClient(idp.issuer), application, user);
    const claims = decodeJwt(String(tokens.id_token));
    expect(claims.amr).toEqual(['pwd']);
    const account = await accountOf(idp, 'directory', person.uuid);
    expect(account).toMatchObject({ username: person.uid, name: `Person ${count}`, id: claims.sub });
    expect(account?.roles).toContain('auditor');
    expect(await idp.services.credentials.status(account?.id ?? '')).toBeUndefined();
    expect(bindsOfUsers()).toEqual([{ dn: person.dn, password: 'directory pass', isTls: false }]);
  });

  it('signs the same account in after the DN, the name and the address have changed, and takes roles away', async () => {
    await connect({ groups: {}, role_mappings: { [STAFF]: 'auditor' } });
    const person = aPerson({ memberOf: [STAFF] });
    expectSignedIn(await enterAs(person.uid));
    const before = await accountOf(idp, 'directory', person.uuid);
    const entry = directory.entries.at(-1) as DirectoryEntry;
    entry.dn = `uid=renamed${count},${BASE}`;
    entry.attributes = {
      uid: [`renamed${count}`],
      mail: ['other@corp.example'],
      entryUUID: [person.uuid.toUpperCase()],
    };
    expectSignedIn(await enterAs(`renamed${count}`));
    const after = await accountOf(idp, 'directory', person.uuid);
    expect(after?.id).toBe(before?.id);
    expect(after?.roles).not.toContain('auditor');
  });

  it('gets no password of a user of this server who does not belong to it', async () => {
    await connect();
    const local = await aUser(idp.services);
    directory.entries.push({
      dn: `uid=${local.username},${BASE}`,
      password: 'directory pass',
      attributes: { uid: [local.username], entryUUID: [`local-${count}`] },
    });
    expectSignedIn(await enter(idp, { clientId, username: local.username, password: PASSWORD }));
    expect((await enterAs(local.username)).status).toBe(401);
    expect(directory.binds.map(({ password }) => password)).not.toContain('directory pass');
    expect(directory.searches.filter(({ filter }) => filter.includes(local.username))).toEqual([]);
  });

  it('asks for a proof of the account with the same address in its domain, and links it then', async () => {
    await connect({ domains: ['corp.example'] }, { proven: true });
    const person = aPerson();
    const owner = await aUser(idp.services, { email: `${person.uid}@corp.example`, emailVerified: true } as never);
    const browser = httpClient(idp.issuer);
    const page = await enter(
      idp,
      { clientId, username: `${person.uid}@corp.example`, password: 'directory pass' },
      browser,
    );
    expect(textOf(page.text)).toContain('Is this your account?');
    expect(await accountOf(idp, 'directory', person.uuid)).toBeUndefined();
    // The directory's password is no proof.
    const again = await browser.submit(page, { username: owner.username, password: 'directory pass' });
    expect(again.status).toBe(401);
    const done = await browser.follow(
      await browser.submit(again, { username: owner.username, password: PASSWORD }),
      (url) => url.startsWith(redirectUri),
    );
    expectSignedIn(done);
    expect((await accountOf(idp, 'directory', person.uuid))?.id).toBe(owner.account.id);
  });

  it('reads objectGUID as bytes, and the groups of groups by the rule in chain', async () => {
    await connect({
      preset: 'active-directory',
      groups: { nested: true },
      role_mappings: { staff: 'auditor' },
    });
    const guid = Buffer.from('33221100554477668899aabbccddeeff', 'hex');
    const person = aPerson({ objectGUID: [guid], objectCategory: ['person'], objectClass: ['user'] });
    const entry = directory.entries.at(-1) as DirectoryEntry;
    entry.attributes.sAMAccountName = [person.uid];
    const member = { objectClass: ['group'], cn: ['staff'], 'member:1.2.840.113556.1.4.1941': [person.dn] };
    directory.entries.push({ dn: STAFF, attributes: member });
    expectSignedIn(await enterAs(person.uid));
    const account = await accountOf(idp, 'directory', '00112233-4455-6677-8899-aabbccddeeff');
    expect(account?.username).toBe(person.uid);
    expect(account?.roles).toContain('auditor');
  });

  it('shows 503 with Retry-After while the directory is down, and local users sign in', async () => {
    await connect();
    const person = aPerson();
    const local = await aUser(idp.services);
    await directory.stop();
    const page = await enterAs(person.uid);
    expect(page.status).toBe(503);
    expect(page.headers['retry-after']).toBe('30');
    expect(textOf(page.text)).toContain('Example Directory checks your password, but isn’t responding');
    expectSignedIn(await enter(idp, { clientId, username: local.username, password: PASSWORD }));
  });

  it('is accepted where an application takes this connection and no sign-in here', async () => {
    await connect();
    const person = aPerson();
    const local = await aUser(idp.services);
    const input = { redirect_uris: [redirectUri], connections: ['directory'], local_sign_in: false };
    const only = (await aClient(idp.services, input as never)).clientId;
    const credentials = { username: person.uid, password: 'directory pass' };
    expectSignedIn(await enter(idp, { clientId: only, ...credentials }));
    const other = await enter(idp, { clientId: only, username: local.username, password: PASSWORD });
    expect(other.status).toBe(403);
    const browser = httpClient(idp.issuer);
    const named = await browser.follow(await browser.get(authorizeUrl(idp, clientId, { connection: 'directory' })));
    expect(textOf(named.text)).toContain('Password');
  });
});

describe('a user whose password is in a directory', () => {
  it('has no form for a new one on the account page, which says where it is', async () => {
    await connect({ domains: ['corp.example'] }, { proven: true });
    const person = aPerson();
    const browser = httpClient(idp.issuer);
    const form = await browser.follow(await browser.get('/account/password'));
    const signedIn = await browser.follow(
      await browser.submit(form, { username: person.uid, password: 'directory pass' }),
    );
    expect(textOf(signedIn.text)).toContain('Example Directory manages your password');
    expect(actionsOf(signedIn)).not.toContainEqual(expect.stringMatching(/\/account\/password$/));
    const account = await accountOf(idp, 'directory', person.uuid);
    expect(await idp.services.credentials.status(account?.id ?? '')).toBeUndefined();
  });
});

describe('an attack on the directory', () => {
  it('does not send an empty password, nor one with a NUL', async () => {
    await connect();
    const person = aPerson();
    for (const password of ['', '\0', 'directory pass\0x'])
      expect((await enterAs(person.uid, password)).status).toBeGreaterThanOrEqual(400);
    expect(bindsOfUsers()).toEqual([]);
  });

  it('cannot change the filter by what it types', async () => {
    await connect();
    const person = aPerson();
    const typed = [
      '*',
      `${person.uid}*`,
      `*)(uid=${person.uid}`,
      `x)(|(uid=*`,
      `${person.uid}\\2a`,
      'a>=b',
      `${person.uid})(&`,
    ];
    for (const login of typed) {
      expect((await enterAs(login)).status).toBe(401);
      await idp.services.db.rateLimit.deleteMany();
    }
    expect(bindsOfUsers().map(({ dn }) => dn)).not.toContain(person.dn);
    expect(directory.searches.map(({ filter }) => filter)).toEqual(
      typed.map((login) => `(|(uid=${login})(mail=${login}))`),
    );
    expect((await enterAs(`${person.uid}\0`)).status).toBe(400);
  });

  it('gets no password to a DN outside of the base, of several entries, or of another server', async () => {
    await connect();
    const person = aPerson();
    const broken = [
      { searchDns: ['cn=admin,dc=attacker,dc=example'] },
      { searchDns: [''] },
      { searchDns: [`uid=evil\\,${BASE}`] },
      { searchDns: [person.dn, `uid=second,${BASE}`] },
      { reference: 'ldap://attacker.example/dc=attacker' },
    ];
    for (const quirks of broken) {
      directory.quirks = quirks;
      expect((await enterAs(person.uid)).status).toBe(401);
      await idp.services.db.rateLimit.deleteMany();
    }
    expect(directory.binds.map(({ password }) => password)).not.toContain('directory pass');
    directory.quirks = { searchCode: 10 };
    expect((await enterAs(person.uid)).status).toBe(503);
  });

  it('signs nobody in without exactly one identifier', async () => {
    await connect();
    for (const entryUUID of [[], ['one', 'two'], ['']]) {
      const person = aPerson({ entryUUID });
      expect((await enterAs(person.uid)).status).toBe(401);
    }
    expect(bindsOfUsers().map(({ password }) => password)).not.toContain('directory pass');
  });

  it('costs its user fewer wrong passwords than lock the account at the directory, under every name', async () => {
    await connect();
    const person = aPerson();
    const names = [
      person.uid,
      ` ${person.uid}`,
      person.uid.toUpperCase(),
      `${person.uid}@corp.example`,
      `${person.uid}@CORP.example `,
    ];
    for (const name of [...names, ...names]) await enterAs(name, 'wrong');
    expect(bindsOfUsers().filter(({ dn }) => dn === person.dn).length).toBeLessThan(5);
    expect((await enterAs(`${person.uid}@corp.example`)).status).not.toBe(303);
  });

  it('counts guesses at once on two nodes under username, address and directory name together', async () => {
    await connect();
    const person = aPerson();
    expectSignedIn(await enterAs(person.uid));
    const account = await accountOf(idp, 'directory', person.uuid);
    const names = { username: `${person.uid}-here`, email: `${person.uid}@here.example` };
    await idp.services.accounts.update(account?.id ?? '', names);
    const other = await startIdp({ environment: { DATABASE_URL: idp.services.config.databaseUrl } });
    try {
      directory.binds.length = 0;
      const guesses = [idp, other].flatMap((node) =>
        [names.username, names.email, person.uid, `${person.uid}@corp.example`].flatMap((username) =>
          [1, 2, 3].map((at) => enter(node, { clientId, username, password: `wrong ${at}` })),
        ),
      );
      await Promise.all(guesses);
      expect(bindsOfUsers().filter(({ dn }) => dn === person.dn).length).toBeLessThan(5);
      for (const username of [names.username, person.uid])
        expectNotSignedIn(await enter(other, { clientId, username, password: 'directory pass' }), username);
    } finally {
      await other.stop();
    }
  });

  it('finds the same page and the same work for a user of the directory, of this server, and nobody', async () => {
    await connect();
    const person = aPerson();
    const local = await aUser(idp.services);
    const seen: unknown[] = [];
    for (const name of [person.uid, local.username, 'nobody-at-all']) {
      directory.binds.length = 0;
      directory.searches.length = 0;
      const page = await enterAs(name, 'wrong password');
      seen.push([page.status, textOf(page.text), directory.binds.length, directory.searches.length]);
    }
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
  });
});

describe('a connection with TLS', () => {
  const certificate = async () => {
    const { privateKey, publicKey } = anRsaKey();
    const from = new Date(Date.now() - 1000);
    const until = new Date(Date.now() + 86_400_000);
    const cert = await selfSignedCertificate({ privateKey, publicKey, host: 'localhost', from, until });
    return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  };

  it.each([false, true])(
    'sends passwords within TLS only, to a certificate of its authorities (StartTLS: %s)',
    async (startTls) => {
      const pem = await certificate();
      const { entries } = directory;
      await directory.stop();
      directory = await startDirectory(entries, { ...pem, startTls });
      const person = aPerson();
      await connect({ start_tls: startTls });
      expect((await enterAs(person.uid)).status).toBe(503);
      expect(directory.binds).toEqual([]);
      await idp.services.connections.remove('directory', { source: 'local' });
      await connect({ start_tls: startTls, ca: [pem.cert] });
      expectSignedIn(await enterAs(person.uid));
      expect(directory.binds.filter(({ isTls }) => !isTls)).toEqual([]);
    },
  );

  it('rejects plain bytes before TLS, which would become a forged answer within it', async () => {
    const pem = await certificate();
    const { entries } = directory;
    await directory.stop();
    directory = await startDirectory(entries, { ...pem, startTls: true });
    const person = aPerson();
    await connect({ start_tls: true, ca: [pem.cert] });
    // The beginning of a successful bind: its message takes in the real answer that follows.
    directory.quirks.afterStartTls = Buffer.from('304002010261390a010004000432', 'hex');
    expect((await enterAs(person.uid)).status).toBe(503);
    expect(bindsOfUsers()).toEqual([]);
  });
});

describe('a directory that is tried in the console', () => {
  it('shows the entry, the match and the roles of a login, also while it is disabled, and writes nothing', async () => {
    await connect({ enabled: false, groups: {}, role_mappings: { [STAFF]: 'auditor' } });
    const person = aPerson({ memberOf: [STAFF] });
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const lookUp = async (login: string) => {
      const form = await admin.get('/admin/connections/directory/test');
      return textOf((await admin.follow(await admin.submit(form, { login }, { form: '/test' }))).text);
    };
    const users = await idp.services.db.user.count();
    const text = await lookUp(person.uid);
    for (const expected of [
      'The sign-in succeeds',
      person.uuid,
      person.dn,
      'Creates an account',
      'Roles by groups auditor',
    ])
      expect(text).toContain(expected);
    expect(await lookUp('nobody-here')).toContain('The sign-in fails');
    expect(await idp.services.db.user.count()).toBe(users);
    expect(bindsOfUsers()).toEqual([]);
    await directory.stop();
    const rejected = await lookUp(person.uid);
    expect(rejected).toContain('The server refused the connection. Check the address and the port');
    expect(rejected).toMatch(/Details.*ECONNREFUSED/);
  });
});
