// Active Directory behind the password form, as test/peers/samba.ts found it at a real domain controller: what guesses cost an account
// there, what its reasons say to the person, and how a sign-in ends when the directory has lost its user.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/base/config.ts';
import { limits } from '../../src/base/limits.ts';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import { systemAuthorities } from '../../src/federation/ldap/session.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type Application, anApplication, authorizeUrl, redirectUri, signIn } from '../oidc/support.ts';
import { testClock } from '../support/clock.ts';
import { databaseKind } from '../support/database/database.ts';
import { describeOnSqlite, itOnBothInLongRun, itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aClient, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { isLongRun } from '../support/long-run.ts';
import { enter, expectNotSignedIn, expectSignedIn } from '../support/pages/enter.ts';
import { linksOf, textOf } from '../support/pages/html.ts';
import { type DirectoryEntry, startDirectory, type TestDirectory } from '../support/upstream/directory.ts';
import { aConnection, accountOf } from './support.ts';

const ROOT = 'DC=corp,DC=example,DC=com';
const BASE = `CN=Users,${ROOT}`;
const SERVICE = `CN=search,${BASE}`;
const PASSWORD = 'directory pass';
const DOMAIN_SID = '010400000000000515000000' + '7f047d549225eaeeb4863d65';

let idp: TestIdp;
let directory: TestDirectory;
let clientId: string;
let count = 0;
const clock = testClock();

const service = (): DirectoryEntry => ({ dn: SERVICE, password: 'search-secret', attributes: {} });
/** What the domain says about itself. */
const domain = (lockout: { threshold: number; minutes: number }): DirectoryEntry[] => [
  {
    dn: ROOT,
    attributes: {
      lockoutThreshold: [String(lockout.threshold)],
      lockOutObservationWindow: [String(-lockout.minutes * 600_000_000)],
    },
  },
  { dn: '', attributes: { configurationNamingContext: [`CN=Configuration,${ROOT}`] } },
  {
    dn: `CN=CORP,CN=Partitions,CN=Configuration,${ROOT}`,
    attributes: { nCName: [ROOT], nETBIOSName: ['CORP'], dnsRoot: ['corp.example.com'] },
  },
];

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
  clientId = (await aClient(idp.services, { redirect_uris: [redirectUri] })).clientId;
});
afterAll(() => idp.stop());
beforeEach(async () => {
  directory = await startDirectory([service(), ...domain({ threshold: 5, minutes: 30 })]);
  directory.quirks.lockoutThreshold = 5;
});
afterEach(async () => {
  for (const { id, source } of await idp.services.connections.list())
    await idp.services.connections.remove(id, { source });
  await directory.stop();
  await forgetLimits();
});

const forgetLimits = () => idp.services.db.rateLimit.deleteMany();

/** Each has an id of its own: what a domain says is remembered for some minutes. */
async function connect(fields: Record<string, unknown> = {}, options = {}): Promise<string> {
  count += 1;
  const id = `ad-${count}`;
  await aConnection(
    idp,
    {
      id,
      kind: 'ldap',
      preset: 'active-directory',
      name: 'Example Corp',
      url: directory.url,
      base_dn: BASE,
      bind_dn: SERVICE,
      bind_password: 'search-secret',
      create_users: true,
      ...fields,
    },
    options,
  );
  return id;
}

interface Person {
  name: string;
  entry: DirectoryEntry;
  subject: string;
}

function aPerson(attributes: DirectoryEntry['attributes'] = {}): Person {
  count += 1;
  const name = `ad${count}`;
  const guid = Buffer.alloc(16);
  guid.writeUInt32LE(count);
  const sid = Buffer.from(`${DOMAIN_SID}00000000`, 'hex');
  sid.writeUInt8(5, 1);
  sid.writeUInt32LE(1000 + count, sid.length - 4);
  const entry = {
    dn: `CN=${name} X,${BASE}`,
    password: PASSWORD,
    attributes: {
      sAMAccountName: [name],
      userPrincipalName: [`${name}@corp.example.com`],
      mail: [`${name}@example.com`],
      displayName: [`Person ${count}`],
      objectClass: ['user'],
      objectCategory: ['person'],
      objectGUID: [guid],
      objectSid: [sid],
      primaryGroupID: ['513'],
      userAccountControl: ['512'],
      ...attributes,
    },
  };
  directory.entries.push(entry);
  const subject = `${count.toString(16).padStart(8, '0')}-0000-0000-0000-000000000000`;
  return { name, entry, subject };
}

const enterAs = (username: string, password = PASSWORD, browser?: HttpClient): Promise<Page> =>
  enter(idp, { clientId, username, password }, browser);
const bindsOf = (dn: string) => directory.binds.filter((one) => one.dn === dn);
const lastEvent = (type: string) => idp.services.db.auditEvent.findFirst({ where: { type }, orderBy: { id: 'desc' } });

describe('a service password that the directory rejects', () => {
  it('is sent once, whatever sign-in forms come at whichever node, until it changes', async () => {
    // Before the connection: a job of the server may be the first to meet the rejection.
    const admin = await staff(idp, 'admin');
    const id = await connect({ bind_password: 'old secret' });
    const person = aPerson();
    // Two nodes on one SQLite file block each other in this process.
    const isShared = databaseKind() === 'postgresql';
    const other = isShared ? await startIdp({ environment: { DATABASE_URL: idp.services.config.databaseUrl } }) : idp;
    try {
      const forms = [idp, other].flatMap((node) =>
        [1, 2, 3, 4, 5].map((at) => enter(node, { clientId, username: `${person.name}${at}`, password: PASSWORD })),
      );
      const pages = await Promise.all(forms);
      expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 503));
      // Both nodes may have begun before either knew.
      expect(bindsOf(SERVICE).length).toBeLessThanOrEqual(2);
      const before = bindsOf(SERVICE).length;
      for (const node of [idp, other])
        expect((await enter(node, { clientId, username: person.name, password: PASSWORD })).status).toBe(503);
      expect(bindsOf(SERVICE).length).toBe(before);

      const events = await idp.services.audit.list({ types: ['connection.secret-rejected'] });
      const own = events.filter(({ data }) => data.connection === id);
      expect(own).toMatchObject([{ outcome: 'failure', reason: 'wrong_password' }]);
      const mails = await idp.services.db.mailMessage.findMany({ where: { recipient: admin.account.email ?? '' } });
      expect(mails.filter(({ subject }) => subject.includes('rejected its password'))).toHaveLength(1);

      const console = await consoleOf(idp, admin);
      const page = textOf((await console.get(`/admin/connections/${id}`)).text);
      expect(page).toContain('Password rejected');
      expect(page).toContain('The password is wrong, or the account doesn’t exist.');
      expect(page).not.toContain('52e');
      expect(textOf((await console.get('/admin')).text)).toContain(
        'rejected the password of the account that searches',
      );

      await idp.services.connections.addSecret(id, 'bind-password', { value: 'search-secret' });
      await forgetLimits();
      clock.advance({ seconds: limits.ldap.downSeconds + 1 });
      expectSignedIn(await enterAs(person.name));
    } finally {
      if (isShared) await other.stop();
    }
  });

  itOnSqlite('is tried once more by "Try it", for an account that was locked or disabled meanwhile', async () => {
    const id = await connect();
    const person = aPerson();
    const [entry] = directory.entries as [DirectoryEntry];
    entry.rejection = '533';
    expect((await enterAs(person.name)).status).toBe(503);
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const lookUp = async () => {
      const form = await admin.get(`/admin/connections/${id}/test`);
      return textOf((await admin.follow(await admin.submit(form, { login: person.name }, { form: '/test' }))).text);
    };
    expect(await lookUp()).toContain('The account is disabled.');
    expect(bindsOf(SERVICE)).toHaveLength(2);
    delete entry.rejection;
    expect((await enterAs(person.name)).status).toBe(503);
    expect(bindsOf(SERVICE)).toHaveLength(2);
    expect(await lookUp()).toContain('The sign-in succeeds');
    clock.advance({ seconds: limits.ldap.downSeconds + 1 });
    expectSignedIn(await enterAs(person.name));
  });
});

describe('the account at the directory', () => {
  itOnBothInLongRun(
    'is not locked by five guesses of a stranger and five typos of its owner, who still signs in',
    async () => {
      await connect();
      const person = aPerson();
      const browser = httpClient(idp.issuer);
      expectSignedIn(await enterAs(person.name, PASSWORD, browser));
      for (let guess = 1; guess <= 5; guess += 1) await enterAs(person.name, `guess ${guess}`);
      for (let typo = 1; typo <= 5; typo += 1) {
        await enterAgain(browser, person.name, `typo ${typo}`);
        expect(person.entry.badPwdCount).toBeLessThan(5);
      }
      expect(person.entry.badPwdCount).toBe(4);
      await forgetLocalLimits();
      await windowGoesOn(20);
      // A pause of the local lockout is over, the window of the directory is not.
      for (let guess = 1; guess <= 5; guess += 1) await enterAs(person.name, `later ${guess}`);
      expect(person.entry.badPwdCount).toBe(4);
      await forgetLocalLimits();
      await windowGoesOn(32);
      person.entry.badPwdCount = 0; // the window of the directory is over
      expectSignedIn(await enterAs(person.name));
    },
  );

  itOnSqlite('keeps a share for known browsers that strangers cannot use up', async () => {
    await connect();
    const person = aPerson();
    const browser = httpClient(idp.issuer);
    expectSignedIn(await enterAs(person.name, PASSWORD, browser));
    for (let guess = 1; guess <= 6; guess += 1) await enterAs(person.name, `guess ${guess}`);
    expectNotSignedIn(await enterAs(person.name), 'the share of strangers is used up');
    expectSignedIn(await enterAgain(browser, person.name, PASSWORD));
    for (let guess = 1; guess <= 6; guess += 1) await enterAs(person.name, `guess ${guess}`);
    expectSignedIn(await enterAgain(browser, `CORP\\${person.name}`, PASSWORD));
  });

  itOnSqlite.each([
    [{ lockout_threshold: 3, lockout_window_minutes: 10 }, 2],
    [{ lockout_threshold: 2 }, 1],
    [{ lockout_threshold: 10 }, 9],
  ])('costs less than the threshold that the connection states: %j', async (fields, expected) => {
    await connect(fields);
    const person = aPerson();
    directory.quirks.lockoutThreshold = fields.lockout_threshold;
    const browser = httpClient(idp.issuer);
    expectSignedIn(await enterAs(person.name, PASSWORD, browser));
    for (let guess = 1; guess <= fields.lockout_threshold + 2; guess += 1) {
      await enterAs([person.name, `CORP\\${person.name}`, `${person.name}@example.com`][guess % 3] ?? '', 'a guess');
      await forgetLocalLimits();
      await enterAgain(browser, person.name, 'a typo');
      await forgetLocalLimits();
    }
    expect(person.entry.badPwdCount).toBe(expected);
  });

  itOnSqlite('lets many sign in at once, also the same person many times', async () => {
    await connect();
    directory.quirks.bindDelay = 20;
    // A busy machine takes longer than a person waits.
    const usual = { ...limits.ldap };
    Object.assign(limits.ldap, { connectSeconds: 60, stepSeconds: 60, signInSeconds: 60 });
    onTestFinished(() => void Object.assign(limits.ldap, usual));
    const people = Array.from({ length: isLongRun ? 30 : 10 }, () => aPerson());
    const pages = await Promise.all(people.map(({ name }) => enterAs(name)));
    expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 303));
    const [one] = people as [Person];
    for (const page of await Promise.all(people.map(() => enterAs(one.name)))) expectSignedIn(page);
  });
});

describeOnSqlite('the same address of another entry', () => {
  it('ends with a reference, an event and a button for the administrator that connects the person again', async () => {
    const id = await connect();
    const person = aPerson();
    expectSignedIn(await enterAs(person.name));
    const account = await accountOf(idp, id, person.subject);
    await idp.services.accounts.update(account?.id ?? '', { email: `${person.name}@example.com`, emailVerified: true });
    directory.entries.splice(directory.entries.indexOf(person.entry), 1);
    const again = aPerson({ sAMAccountName: [person.name], mail: [`${person.name}@example.com`] });
    const page = await enterAs(person.name);
    const text = textOf(page.text);
    expect([page.status, text]).toEqual([409, expect.stringContaining('already belongs to another account')]);
    expect(text).not.toContain('Is this your account?');
    const code = /Error reference:? ([0-9A-Z-]{9})/.exec(text)?.[1] ?? '';
    expect(await lastEvent('sign-in.upstream')).toMatchObject({
      outcome: 'failure',
      reason: 'address_in_use',
      subjectId: account?.id,
    });
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const rejection = await admin.get(`/admin/rejections/${code}/fix/relink`);
    expect(textOf(rejection.text)).toContain('Do this only if both are the same person');
    const fixed = await admin.follow(await admin.submit(rejection, { fix: 'relink' }, { form: code }));
    expect(fixed.status).toBe(200);
    expectSignedIn(await enterAs(person.name));
    expect((await accountOf(idp, id, again.subject))?.id).toBe(account?.id);
  });
});

describeOnSqlite('what Active Directory says about a right password', () => {
  it.each([
    ['532', 'directory_password_expired', 'Your Example Corp password has expired.'],
    ['773', 'directory_password_must_change', 'You have to change your Example Corp password first.'],
    ['533', 'directory_account_disabled', 'Your Example Corp account is disabled.'],
    ['701', 'directory_account_expired', 'Your Example Corp account has expired.'],
    ['530', 'directory_not_now', 'doesn’t allow you to sign in at this time'],
    ['531', 'directory_not_here', 'doesn’t allow you to sign in here'],
  ])('is read by the person who has it (data %s), and by nobody else', async (code, reason, words) => {
    await connect({ password_url: 'https://password.example.com/change' });
    const person = aPerson();
    person.entry.rejection = code;
    const unknown = textOf((await enterAs('nobody-here', 'wrong')).text);
    const wrong = await enterAs(person.name, 'wrong');
    expect([wrong.status, textOf(wrong.text)]).toEqual([401, unknown]);
    const page = await enterAs(person.name);
    expect([page.status, textOf(page.text)]).toEqual([403, expect.stringContaining(words)]);
    const hrefs = linksOf(page.text, page.url).map(({ href }) => href);
    expect(hrefs.includes('https://password.example.com/change')).toBe(['532', '773'].includes(code));
    expect((await lastEvent('sign-in.password'))?.reason).toBe(reason);
    // A right password costs nothing at the directory.
    expect(person.entry.badPwdCount).toBe(1);
  });

  it('says nothing of a locked account, which is the answer to every password', async () => {
    await connect();
    const person = aPerson();
    person.entry.badPwdCount = 5;
    const unknown = textOf((await enterAs('nobody-here')).text);
    const page = await enterAs(person.name);
    expect([page.status, textOf(page.text)]).toEqual([401, unknown]);
    expect((await lastEvent('sign-in.password'))?.reason).toBe('directory_account_locked');
  });
});

describeOnSqlite('a login of Active Directory', () => {
  it.each([
    ['CORP\\NAME', true],
    ['corp\\NAME', true],
    ['corp.example.com\\NAME', true],
    ['OTHER\\NAME', false],
    ['NAME@corp.example.com', true],
    ['NAME@example.com', true],
  ])('is %s', async (form, isAccepted) => {
    await connect();
    const person = aPerson();
    const page = await enterAs(form.replace('NAME', person.name));
    if (isAccepted) expectSignedIn(page);
    else expectNotSignedIn(page);
  });

  it('may be the name of the account at the domain where the entry has no userPrincipalName', async () => {
    await connect();
    const person = aPerson({ userPrincipalName: [] });
    expectSignedIn(await enterAs(`${person.name}@corp.example.com`));
  });
});

describeOnSqlite('the groups of Active Directory', () => {
  it.each([
    [{}, `CN=Domain Users,${BASE}`],
    [{ nested: true }, 'Domain Users'],
    [{ base_dn: ROOT }, 'Domain Users'],
  ])('include the primary group, which no member lists: %j', async (groups, name) => {
    const sid = Buffer.from(`${DOMAIN_SID}01020000`, 'hex');
    sid.writeUInt8(5, 1);
    directory.entries.push({
      dn: `CN=Domain Users,${BASE}`,
      attributes: { objectClass: ['group'], cn: ['Domain Users'], objectSid: [sid] },
    });
    const id = await connect({ groups, role_mappings: { [name]: 'auditor' } });
    const person = aPerson();
    expectSignedIn(await enterAs(person.name));
    expect((await accountOf(idp, id, person.subject))?.roles).toContain('auditor');
  });
});

describeOnSqlite('a connection that is registered', () => {
  const base = { id: 'ad', kind: 'ldap', preset: 'active-directory', name: 'AD', url: 'ldaps://dc', base_dn: BASE };
  const faultsOf = (fields: Record<string, unknown>) => {
    const checked = checkConnection({ ...base, ...fields });
    return checked.ok ? [] : checked.faults.map(({ path }) => path.join('.'));
  };

  it.each(['sAMAccountName', 'distinguishedName', 'userPrincipalName', 'mail', 'UID', 'cn;lang-en', '2.5.4.3', 'name'])(
    'has no identifier that changes or is reused: %s',
    (subject_attribute) => {
      expect(faultsOf({ subject_attribute })).toEqual(['subject_attribute']);
    },
  );

  it.each(['objectGUID', 'entryUUID', 'objectSid', 'ipaUniqueID', 'nsUniqueId', 'employeeNumber'])(
    'may be identified by %s',
    (subject_attribute) => {
      expect(faultsOf({ subject_attribute })).toEqual([]);
    },
  );

  it.each([
    '(uid={username}',
    '(&(objectClass=user)(|(uid={username})(mail={username}))',
    '(uid={username})(mail=x)',
    '(uid {username})',
    '(uid={username}\\zz)',
    '((uid={username}))',
    'uid={username}',
  ])('has no filter that cannot be parsed: %s', (filter) => {
    expect(faultsOf({ filter })).toEqual(['filter']);
  });

  it('names the filter of the groups, too', () => {
    expect(faultsOf({ groups: { base_dn: ROOT, filter: '(member={dn}' } })).toEqual(['groups.filter']);
    expect(faultsOf({ groups: { base_dn: ROOT, filter: '(member=x)' } })).toEqual(['groups.filter']);
  });

  it('may have several servers, each with TLS', () => {
    expect(faultsOf({ url: 'ldaps://dc1.example ldaps://dc2.example:3269' })).toEqual([]);
    expect(faultsOf({ url: 'ldaps://dc1.example ldap://dc2.example' })).toEqual(['url']);
    expect(faultsOf({ url: 'ldaps://dc1.example, ldaps://dc2.example' })).toEqual(['url']);
  });
});

describeOnSqlite('a directory of several servers', () => {
  it('is used while one of them answers', async () => {
    const gone = await startDirectory([]);
    await gone.stop();
    await connect({ url: `${gone.url} ${directory.url}` });
    const people = [aPerson(), aPerson()] as const;
    for (const { name } of people) expectSignedIn(await enterAs(name));
  });

  it('sends a password that one rejects to no other', async () => {
    const second = await startDirectory([service()]);
    try {
      await connect({ url: `${directory.url} ${second.url}`, bind_password: 'old secret' });
      expect((await enterAs('anybody')).status).toBe(503);
      expect([bindsOf(SERVICE).length, second.binds.length]).toEqual([1, 0]);
    } finally {
      await second.stop();
    }
  });

  it('is checked with the certificates that the machine trusts', () => {
    const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'gatehouse-authorities-')), 'bundle.pem');
    writeFileSync(file, `# Example\n${pem}\n`);
    const own = systemAuthorities({ system: '/nowhere' });
    expect(own.length).toBeGreaterThan(50);
    for (const name of ['system', 'extra'])
      expect(systemAuthorities({ system: '/nowhere', [name]: file })).toEqual([...own, pem]);
    const environment = { SSL_CERT_FILE: '/a.pem', NODE_EXTRA_CA_CERTS: '/b.pem' };
    expect(loadConfig(environment, { readOnly: true }).authorityFiles).toEqual({ system: '/a.pem', extra: '/b.pem' });
  });
});

describeOnSqlite('tokens of a user of a directory', () => {
  let application: Application;
  beforeAll(async () => {
    application = await anApplication(idp, { grant_types: ['authorization_code', 'refresh_token'] } as never);
  });

  const begin = async (person: Person) => {
    const user = { username: person.name, password: PASSWORD } as TestUser;
    const { tokens } = await signIn(httpClient(idp.issuer), application, user, {
      scope: 'openid offline_access roles',
    });
    return tokens.refresh_token ?? '';
  };
  const refresh = (token: string) =>
    httpClient(idp.issuer).post('/token', {
      form: { grant_type: 'refresh_token', refresh_token: token, client_id: application.clientId },
      headers: { authorization: `Basic ${btoa(`${application.clientId}:${application.clientSecret}`)}` },
    });

  it.each([
    ['removed', (person: Person) => directory.entries.splice(directory.entries.indexOf(person.entry), 1)],
    ['disabled', (person: Person) => (person.entry.attributes.userAccountControl = ['514'])],
    ['expired', (person: Person) => (person.entry.attributes.accountExpires = ['131000000000000000'])],
    ['left out by the filter', (person: Person) => (person.entry.attributes.objectClass = ['contact'])],
  ])('end within an hour after the user was %s, with every session', async (_what, lose) => {
    const id = await connect();
    const person = aPerson();
    let token = await begin(person);
    const account = await accountOf(idp, id, person.subject);
    lose(person);
    const asked = directory.searches.length;
    const remembered = await refresh(token);
    expect(remembered.status, remembered.text).toBe(200);
    expect(directory.searches.length).toBe(asked);
    token = remembered.json<{ refresh_token: string }>().refresh_token;
    await anHourPasses(person);
    const ended = await refresh(token);
    expect([ended.status, ended.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })]);
    expect(await idp.services.sessions.list(account?.id ?? '')).toEqual([]);
    expect(await lastEvent('sign-in.upstream')).toMatchObject({ outcome: 'failure', subjectId: account?.id });
  });

  it('lose the roles and groups of a group that the user has left, and go on while the directory does not answer', async () => {
    const staffGroup = `CN=staff,${BASE}`;
    const { id: ours } = await idp.services.groups.create({ name: 'AD Staff' });
    const mappings = { role_mappings: { [staffGroup]: 'auditor' }, group_mappings: { [staffGroup]: 'AD Staff' } };
    const id = await connect({ groups: {}, ...mappings });
    const person = aPerson({ memberOf: [staffGroup] });
    let token = await begin(person);
    const rolesOf = async () => (await accountOf(idp, id, person.subject))?.roles ?? [];
    const groupsOf = async () => (await accountOf(idp, id, person.subject))?.groups ?? [];
    expect(await rolesOf()).toContain('auditor');
    expect(await groupsOf()).toEqual([expect.objectContaining({ id: ours })]);
    person.entry.attributes.memberOf = [];
    const next = async () => {
      await anHourPasses(person);
      const answer = await refresh(token);
      expect(answer.status, answer.text).toBe(200);
      token = answer.json<{ refresh_token: string }>().refresh_token;
      return decodeJwt(answer.json<{ id_token: string }>().id_token);
    };
    directory.quirks.hangs = true;
    const { stepSeconds } = limits.ldap;
    onTestFinished(() => void Object.assign(limits.ldap, { stepSeconds }));
    Object.assign(limits.ldap, { stepSeconds: 1 });
    await next();
    Object.assign(limits.ldap, { stepSeconds });
    expect(await rolesOf()).toContain('auditor');
    directory.quirks.hangs = false;
    await next();
    expect(await rolesOf()).not.toContain('auditor');
    expect(await groupsOf()).toEqual([]);
  });
});

describeOnSqlite('a user of a directory who has left a group, or whom the directory has lost', () => {
  const right = { action: { name: 'write' }, resource: { type: 'articles', id: '1' } };
  const auditor = async () => {
    const staffGroup = `CN=staff,${BASE}`;
    const id = await connect({
      groups: {},
      role_mappings: { [staffGroup]: 'auditor', [`CN=writers,${BASE}`]: 'writer' },
    });
    const person = aPerson({ memberOf: [staffGroup, `CN=writers,${BASE}`] });
    const user = { username: person.name, password: PASSWORD } as TestUser;
    const browser = await consoleOf(idp, user);
    const account = await accountOf(idp, id, person.subject);
    return { person, user, browser, id, account };
  };
  let application: Application;
  beforeAll(async () => {
    await idp.services.roles.create({ name: 'writer', permissions: ['articles:write'] });
    application = await anApplication(idp, { access_evaluation: 'all_users' });
  });
  const may = async (accountId = '') => {
    const answer = await httpClient(idp.issuer).post('/access/v1/evaluation', {
      json: { subject: { type: 'user', id: accountId }, ...right },
      headers: { authorization: `Basic ${btoa(`${application.clientId}:${application.clientSecret}`)}` },
    });
    return answer.json<{ decision: boolean }>().decision;
  };

  it('loses the console within an hour', async () => {
    const { person, browser } = await auditor();
    expect((await browser.get('/admin/audit')).status).toBe(200);
    person.entry.attributes.memberOf = [];
    expect((await browser.get('/admin/audit')).status).toBe(200);
    await anHourPasses(person);
    expect((await browser.get('/admin/audit')).status).toBe(403);
    expect((await browser.get('/account')).status).toBe(200);
  });

  it('loses the decisions of AuthZEN within an hour', async () => {
    const { person, account } = await auditor();
    expect(await may(account?.id)).toBe(true);
    person.entry.attributes.memberOf = [];
    await anHourPasses(person);
    expect(await may(account?.id)).toBe(false);
  });

  it('loses the calls of an API key within an hour', async () => {
    const { person, account } = await auditor();
    const key = { ownerId: account?.id ?? '', name: 'Script', permissions: ['gatehouse.audit:read'], days: 1 };
    const { text } = await idp.services.apiKeys.create(key, {});
    const call = async () =>
      (await httpClient(idp.issuer).get('/api/admin/audit', { headers: { authorization: `Bearer ${text}` } })).status;
    expect(await call()).toBe(200);
    person.entry.attributes.memberOf = [];
    expect(await call()).toBe(200);
    await anHourPasses(person);
    expect(await call()).toBe(403);
    directory.entries.splice(directory.entries.indexOf(person.entry), 1);
    await anHourPasses(person);
    expect(await call()).toBe(401);
  });

  it('signs in to other applications with the session, without the role, within an hour', async () => {
    const { person, browser, user } = await auditor();
    const scope = { scope: 'openid roles' };
    const rolesIn = async () => (await signIn(browser, application, user, scope)).tokens.claims()?.roles ?? [];
    expect(await rolesIn()).toContain('writer');
    person.entry.attributes.memberOf = [];
    await anHourPasses(person);
    expect(await rolesIn()).not.toContain('writer');
  });

  it('has no session an hour after the directory has lost the user', async () => {
    const { person, browser, account } = await auditor();
    directory.entries.splice(directory.entries.indexOf(person.entry), 1);
    await anHourPasses(person);
    const page = await browser.get('/account');
    expect([page.status, page.location]).toEqual([303, expect.stringContaining('/login')]);
    expect(await idp.services.sessions.list(account?.id ?? '')).toEqual([]);
    expect(await may(account?.id)).toBe(false);
  });
});

describeOnSqlite('the state at the directory', () => {
  it.each([
    [{ userAccountControl: ['514'] }, 'The account is disabled in the directory.'],
    [{ accountExpires: ['131000000000000000'] }, 'The account in the directory has expired.'],
    [{ 'msDS-User-Account-Control-Computed': ['16'] }, 'is locked in the directory'],
    [{ 'msDS-User-Account-Control-Computed': ['8388608'] }, 'The password in the directory has expired.'],
    [{ pwdLastSet: ['0'] }, 'The user has to change the password in the directory first.'],
    [{ logonHours: [Buffer.alloc(21)] }, 'at this time'],
  ])('is in "Try it" and in the access check: %j', async (attributes, words) => {
    const id = await connect();
    const person = aPerson();
    expectSignedIn(await enterAs(person.name));
    const account = await accountOf(idp, id, person.subject);
    Object.assign(person.entry.attributes, attributes);
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const form = await admin.get(`/admin/connections/${id}/test`);
    const tried = textOf(
      (await admin.follow(await admin.submit(form, { login: person.name }, { form: '/test' }))).text,
    );
    expect(tried).toContain('The sign-in fails');
    expect(tried).toContain(words);
    const check = await admin.get(`/admin/access-check?user=${account?.id}&app=${clientId}`);
    expect(textOf(check.text)).toContain(words);
  });

  it('says in the access check that the directory has no such user', async () => {
    const id = await connect();
    const person = aPerson();
    expectSignedIn(await enterAs(person.name));
    const account = await accountOf(idp, id, person.subject);
    directory.entries.splice(directory.entries.indexOf(person.entry), 1);
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const check = await admin.get(`/admin/access-check?user=${account?.id}&app=${clientId}`);
    expect(textOf(check.text)).toContain('Example Corp no longer has');
  });
});

/** Another sign-in in a browser that has been here before. */
async function enterAgain(browser: HttpClient, username: string, password: string): Promise<Page> {
  const form = await browser.follow(await browser.get(authorizeUrl(idp, clientId, { prompt: 'login' })));
  return browser.follow(await browser.submit(form, { username, password }), (url) => url.startsWith(redirectUri));
}

/** The window of the directory goes on: the engine reads the real time, so the clock cannot be moved so far. */
async function windowGoesOn(minutes: number): Promise<void> {
  const where = { key: { startsWith: 'sign-in:directory-user' } };
  const data = { expiresAt: { decrement: minutes * 60_000 } };
  await idp.services.db.rateLimit.updateMany({ where, data });
}

/** The last sign-in, and the last question to the directory, were more than an hour ago. */
async function anHourPasses({ subject }: Person): Promise<void> {
  const at = new Date(clock.now().getTime() - 61 * 60_000);
  await idp.services.db.externalIdentity.updateMany({
    where: { subject },
    data: { lastUsedAt: at, checkedAt: at },
  });
}

/** The counters of this server, without those that mirror the directory. */
async function forgetLocalLimits(): Promise<void> {
  await idp.services.db.rateLimit.deleteMany({ where: { NOT: { key: { startsWith: 'sign-in:directory-user' } } } });
}
