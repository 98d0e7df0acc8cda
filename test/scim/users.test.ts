// People by SCIM: created, changed, disabled, deleted and back; what becomes of each in the account, and what a connection may not do.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { declarationOf } from '../../src/protocols/scim/connections.ts';
import { createScimUsers } from '../../src/protocols/scim/users.ts';
import { itOnBothInLongRun } from '../support/database/it-on-sqlite.ts';
import { aUser, PASSWORD } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { aConnection, type Connection, ENTERPRISE, USER } from './support.ts';

let idp: TestIdp;
let hr: Connection;
beforeAll(async () => {
  idp = await startIdp();
  hr = await aConnection(idp, {
    mappings: { attributes: { department: `${ENTERPRISE}:department`, boss: `${ENTERPRISE}:manager` }, groups: {} },
  });
});
afterAll(() => idp?.stop());

let count = 0;
const named = (given: object = {}) => {
  count += 1;
  const userName = `person${count}@corp.example`;
  return {
    schemas: [USER],
    userName,
    emails: [{ value: userName, type: 'work', primary: true }],
    externalId: `x${count}`,
    ...given,
  };
};
const idOf = ({ id }: Record<string, unknown>) => String(id);
const accountOf = async (resource: Record<string, unknown>) => {
  const account = await idp.services.accounts.find(idOf(resource));
  if (!account) throw new Error('no account');
  return account;
};

describe('a new user', () => {
  itOnBothInLongRun(
    'lacks the own fields that are required of people, and takes those that the directory fills',
    async () => {
      const { settings } = idp.services;
      const properties = {
        badge: { type: 'string', visible_to: ['person', 'desk'], editable_by: ['person'] },
        department: { enum: ['HR', 'IT'] },
      };
      await settings.set('user_attributes', { type: 'object', required: ['badge'], properties });
      await settings.reload();
      try {
        const user = await hr.ok('POST', '/Users', named({ [ENTERPRISE]: { department: 'IT' } }));
        const path = `/Users/${idOf(user)}`;
        const set = (value: string) => hr.patch(path, { op: 'replace', path: `${ENTERPRISE}:department`, value });
        expect([(await set('HR')).status, (await set('Sales')).status]).toEqual([200, 400]);
        expect((await accountOf(user)).attributes).toEqual({ department: 'HR' });
      } finally {
        await settings.unset('user_attributes');
        await settings.reload();
      }
    },
  );

  it('is an account with what the client sent, which it reads as it sent it', async () => {
    const sent = named({
      name: { givenName: 'Ann', familyName: 'Müller', honorificPrefix: 'Dr.' },
      displayName: 'Ann Müller',
      preferredLanguage: 'de-CH',
      timezone: 'Europe/Zurich',
      title: 'Engineer',
      phoneNumbers: [{ value: '+41 44 123', type: 'work' }],
      addresses: [{ type: 'work', streetAddress: 'Weg 1', locality: 'Zürich', country: 'CH', primary: true }],
      [ENTERPRISE]: { department: 'Physics', manager: { value: 'boss-1' } },
    });
    const page = await hr.send('POST', '/Users', sent);
    expect([page.status, page.headers['content-type']]).toEqual([201, 'application/scim+json']);
    const created = page.json();
    expect(page.headers.location).toBe(`${idp.issuer}/scim/v2/Users/${idOf(created)}`);
    expect(created).toMatchObject({
      ...sent,
      schemas: [USER, ENTERPRISE],
      active: true,
      meta: { resourceType: 'User', location: page.headers.location, version: page.headers.etag },
    });
    expect(await hr.ok('GET', `/Users/${idOf(created)}`)).toEqual(created);
    expect(await accountOf(created)).toMatchObject({
      username: sent.userName,
      email: sent.userName,
      emailVerified: true,
      name: 'Ann Müller',
      givenName: 'Ann',
      familyName: 'Müller',
      locale: 'de-CH',
      zoneinfo: 'Europe/Zurich',
      phoneNumber: '+41 44 123',
      address: { street_address: 'Weg 1', locality: 'Zürich', country: 'CH' },
      attributes: { department: 'Physics', boss: 'boss-1' },
      isActive: true,
    });
  });

  itOnBothInLongRun('has an unverified address outside of the owned domains, and no userName of others', async () => {
    const elsewhere = { value: `private${count}@elsewhere.example` };
    expect(await accountOf(await hr.ok('POST', '/Users', named({ emails: [elsewhere] })))).toMatchObject({
      email: elsewhere.value,
      emailVerified: false,
      emailProven: false,
    });
    expect(await hr.fails('POST', '/Users', named({ userName: 'ceo@elsewhere.example' }))).toMatchObject({
      status: 400,
      scimType: 'invalidValue',
      detail: expect.stringContaining('owned_domains'),
    });
  });

  itOnBothInLongRun('is rejected with the reason', async () => {
    const taken = named();
    await hr.ok('POST', '/Users', taken);
    expect(await hr.fails('POST', '/Users', taken)).toMatchObject({ status: 409, scimType: 'uniqueness' });
    expect(await hr.fails('POST', '/Users', { ...taken, externalId: 'other' })).toMatchObject({
      status: 409,
      scimType: 'uniqueness',
      detail: expect.stringMatching(
        /^Another account has this username or email address\. Reference: [0-9A-Z]{4}-[0-9A-Z]{4}$/,
      ),
    });
    expect(await hr.fails('POST', '/Users', named({ userName: '' }))).toMatchObject({
      status: 400,
      scimType: 'invalidValue',
    });
    expect(await hr.fails('POST', '/Users', named({ profileUrl: 'no address' }))).toMatchObject({
      status: 400,
      scimType: 'invalidValue',
    });
    const noNew = await aConnection(idp, { may_create: false });
    expect(await noNew.fails('POST', '/Users', named())).toMatchObject({
      status: 403,
      detail: expect.stringContaining('may_create'),
    });
  });

  it('takes over an account only with a verified address in an owned domain, and by choice', async () => {
    const email = 'there@corp.example';
    const { account } = await aUser(idp.services, { email, emailVerified: true });
    const body = named({ userName: 'there', emails: [{ value: email, primary: true }] });
    expect((await hr.fails('POST', '/Users', body)).status).toBe(409);
    const adopting = await aConnection(idp, { adopt: 'owned_domains' });
    expect(idOf(await adopting.ok('POST', '/Users', body))).toBe(account.id);
    expect(await accountOf({ id: account.id })).toMatchObject({ username: 'there', email });
    const { account: other } = await aUser(idp.services, { email: 'unproven@corp.example', emailVerified: false });
    const mails = [{ value: other.email ?? '', primary: true }];
    expect((await adopting.fails('POST', '/Users', named({ emails: mails }))).status).toBe(409);
  });
});

describe('a change', () => {
  itOnBothInLongRun('of the client changes in the account only what it changes', async () => {
    const user = await hr.ok('POST', '/Users', named({ displayName: 'Old', preferredLanguage: 'en' }));
    await idp.services.accounts.update(idOf(user), { locale: 'fr', attributes: { color: 'red' } });
    const after = await hr.ok('PUT', `/Users/${idOf(user)}`, {
      ...user,
      displayName: 'New',
      [ENTERPRISE]: { department: 'IT' },
    });
    expect(after).toMatchObject({ displayName: 'New', active: true });
    expect(await accountOf(user)).toMatchObject({
      name: 'New',
      locale: 'fr',
      attributes: { color: 'red', department: 'IT' },
    });
    await hr.patch(`/Users/${idOf(user)}`, { op: 'remove', path: `${ENTERPRISE}:department` });
    expect((await accountOf(user)).attributes).toEqual({ color: 'red' });
  });

  it('reaches a person whose userName was in a domain that the connection owns no more', async () => {
    const { scimConnections } = idp.services;
    const moved = await aConnection(idp, { owned_domains: ['old.example'] });
    const user = await moved.ok('POST', '/Users', { schemas: [USER], userName: `moved${count}@old.example` });
    await scimConnections.update(moved.connection.id, { ...declarationOf(moved.connection), owned_domains: [] }, {});
    const path = `/Users/${idOf(user)}`;
    expect((await moved.patch(path, { op: 'replace', path: 'displayName', value: 'Moved' })).status).toBe(200);
    const other = { op: 'replace', path: 'userName', value: `other${count}@old.example` };
    expect((await moved.patch(path, other)).json()).toMatchObject({ scimType: 'invalidValue' });
    expect((await moved.patch(path, { ...other, value: `moved${count}` })).status).toBe(200);
  });

  itOnBothInLongRun('of a value by any filter is made where one fits, and creates one only by equations', async () => {
    const emails = [{ value: 'one@corp.example', type: 'work' }];
    const path = `/Users/${idOf(await hr.ok('POST', '/Users', { ...named(), userName: `filtered${count}`, emails }))}`;
    const change = { op: 'replace', path: 'emails[value co "one@"]', value: { value: 'two@corp.example' } };
    expect((await hr.patch(path, change)).json()).toMatchObject({ emails: [{ value: 'two@corp.example' }] });
    expect((await hr.patch(path, change)).json()).toMatchObject({ scimType: 'noTarget' });
  });

  itOnBothInLongRun('of what the directory manages is not made here', async () => {
    const user = await hr.ok('POST', '/Users', named({ displayName: 'Ann' }));
    const { accounts } = idp.services;
    await expect(accounts.update(idOf(user), { name: 'Bob' })).rejects.toMatchObject({ code: 'owned_by_scim' });
    await expect(accounts.update(idOf(user), { email: 'bob@evil.example' })).rejects.toMatchObject({
      code: 'owned_by_scim',
    });
    expect(await accounts.update(idOf(user), { locale: 'it' })).toMatchObject({ locale: 'it' });
  });

  it('is made all or nothing, and with If-Match only to the version that was read', async () => {
    const user = await hr.ok('POST', '/Users', named({ displayName: 'Whole' }));
    const path = `/Users/${idOf(user)}`;
    const failed = await hr.patch(
      path,
      { op: 'replace', path: 'displayName', value: 'Half' },
      { op: 'replace', path: 'userName', value: 'x y@z' },
    );
    expect(failed.status).toBe(400);
    expect(await hr.ok('GET', path)).toEqual(user);
    const { version } = user.meta as { version: string };
    const body = { ...user, displayName: 'Once' };
    expect((await hr.send('PUT', path, body, { 'if-match': version })).status).toBe(200);
    expect((await hr.send('PUT', path, body, { 'if-match': version })).status).toBe(412);
  });

  itOnBothInLongRun(
    'to another address in an owned domain keeps it verified, by every way, and nobody else’s',
    async () => {
      const user = await hr.ok('POST', '/Users', named());
      const path = `/Users/${idOf(user)}`;
      const state = async () => {
        const { email, emailVerified, emailProven, username } = await accountOf(user);
        return { email, emailVerified, emailProven, username };
      };
      const to = (value: string) => hr.patch(path, { op: 'replace', path: 'emails[type eq "work"].value', value });
      const verified = { emailVerified: true, emailProven: true };
      const second = `second${count}@corp.example`;
      expect((await to(second)).status).toBe(200);
      // The username is what the directory says, not the address.
      expect(await state()).toEqual({ email: second, username: user.userName, ...verified });
      expect(await hr.find(`userName eq "${String(user.userName)}"`)).toMatchObject({ totalResults: 1 });
      const third = `third${count}@corp.example`;
      await hr.ok('PUT', path, { ...user, userName: third, emails: [{ value: third, type: 'work', primary: true }] });
      expect(await state()).toEqual({ email: third, username: third, ...verified });
      const elsewhere = `fourth${count}@elsewhere.example`;
      expect((await to(elsewhere)).status).toBe(200);
      expect(await state()).toMatchObject({ email: elsewhere, emailVerified: false, emailProven: false });
      expect((await to(second)).status).toBe(200);
      expect(await state()).toMatchObject({ email: second, ...verified });
    },
  );

  it('of domains and mappings reaches the people who are here, with their next request or by the job', async () => {
    const { scimConnections, accounts } = idp.services;
    const later = await aConnection(idp, { owned_domains: [] });
    const people = ['first', 'second', 'staff'].map((name) => ({
      ...named({ userName: `${name}${count}`, emails: [{ value: `${name}${count}@later.example`, primary: true }] }),
      [ENTERPRISE]: { department: 'HR' },
    }));
    const users = await Promise.all(people.map((one) => later.ok('POST', '/Users', one)));
    const [first = {}, second = {}, third = {}] = users;
    await accounts.update(idOf(second), { attributes: { color: 'red' } });
    await idp.services.roles.assign(idOf(third), 'support', {});
    const { mappings } = declarationOf(hr.connection);
    const declared = { ...declarationOf(later.connection), owned_domains: ['later.example'], mappings };
    await scimConnections.update(later.connection.id, declared, {});
    const isWaiting = async () => (await scimConnections.unapplied()).some(({ id }) => id === later.connection.id);
    expect(await isWaiting()).toBe(true);
    const has = { emailVerified: true, emailProven: true, attributes: { department: 'HR' } };
    await later.ok('PUT', `/Users/${idOf(first)}`, people[0]);
    expect(await accountOf(first)).toMatchObject(has);
    expect(await accountOf(second)).toMatchObject({ emailVerified: false });
    await createScimUsers(idp.services).follow.run(new AbortController().signal);
    expect(await accountOf(second)).toMatchObject({ ...has, attributes: { department: 'HR', color: 'red' } });
    expect(await accountOf(third)).toMatchObject({ emailVerified: false, attributes: {} });
    expect(await isWaiting()).toBe(false);
    // What neither domains nor mappings decide leaves nothing to do.
    await scimConnections.update(later.connection.id, { ...declared, may_create: false }, {});
    expect(await isWaiting()).toBe(false);
  });

  itOnBothInLongRun(
    'of domains leaves alone those whose permission in Gatehouse begins later, and answers a PUT that changes nothing',
    async () => {
      const { roles, scimConnections } = idp.services;
      const later = await aConnection(idp, { owned_domains: [] });
      const body = named({
        userName: `staff${count}`,
        emails: [{ value: `staff${count}@soon.example`, primary: true }],
      });
      const user = await later.ok('POST', '/Users', body);
      const since = new Date(Date.now() + 24 * 3600 * 1000);
      await roles.assign(idOf(user), 'support', undefined, undefined, { since });
      const declared = { ...declarationOf(later.connection), owned_domains: ['soon.example'] };
      await scimConnections.update(later.connection.id, declared, {});
      await later.ok('PUT', `/Users/${idOf(user)}`, body);
      expect(await accountOf(user)).toMatchObject({ emailVerified: false });
    },
  );

  itOnBothInLongRun('of domains that is taken back while the job runs verifies no further address', async () => {
    const { accounts, scimConnections } = idp.services;
    const later = await aConnection(idp, { owned_domains: [] });
    const emails = [{ value: `back${count}@back.example`, primary: true }];
    const user = await later.ok('POST', '/Users', named({ userName: `back${count}`, emails }));
    const declared = declarationOf(later.connection);
    const own = (domains: string[]) =>
      scimConnections.update(later.connection.id, { ...declared, owned_domains: domains }, {});
    await own(['back.example']);
    const findAll: typeof accounts.findAll = async (ids) => {
      const found = await accounts.findAll(ids);
      if (ids.includes(idOf(user))) await own([]);
      return found;
    };
    const { signal } = new AbortController();
    await createScimUsers({ ...idp.services, accounts: { ...accounts, findAll } }).follow.run(signal);
    expect(await accountOf(user)).toMatchObject({ emailVerified: false });
    await createScimUsers(idp.services).follow.run(signal);
    expect(await accountOf(user)).toMatchObject({ emailVerified: false });
    expect((await scimConnections.unapplied()).map(({ id }) => id)).not.toContain(later.connection.id);
  });

  itOnBothInLongRun('while a person was deleted arrives with their return', async () => {
    const body = (department?: string) => ({ ...sent, ...(department && { [ENTERPRISE]: { department } }) });
    const sent = named();
    const user = await hr.ok('POST', '/Users', body('IT'));
    for (const department of ['HR', undefined]) {
      await hr.send('DELETE', `/Users/${idOf(user)}`);
      expect(idOf(await hr.ok('POST', '/Users', body(department)))).toBe(idOf(user));
      expect((await accountOf(user)).attributes).toEqual(department ? { department } : {});
    }
  });

  itOnBothInLongRun('tells the old mailbox of a new address', async () => {
    const user = await hr.ok('POST', '/Users', named());
    const emails = [{ value: `new${count}@corp.example`, type: 'work', primary: true }];
    await hr.ok('PUT', `/Users/${idOf(user)}`, { ...user, userName: `new${count}`, emails });
    const entries = await idp.services.audit.list({ types: ['email.changed'], subjectId: idOf(user) });
    expect(entries).toMatchObject([
      { data: { before: user.userName, after: emails[0]?.value, scim: { id: hr.connection.id } } },
    ]);
  });
});

describe('a leaver', () => {
  it('is signed out at once, and comes back with the same sub', async () => {
    const user = await hr.ok('POST', '/Users', named());
    const account = await accountOf(user);
    await idp.services.credentials.setPassword(account, PASSWORD, {});
    const browser = await signedIn(idp, { username: account.username, password: PASSWORD });
    expect(await idp.services.sessions.list(account.id)).toHaveLength(1);
    await hr.patch(`/Users/${idOf(user)}`, { op: 'replace', value: { active: false } });
    expect(await accountOf(user)).toMatchObject({ isActive: false });
    expect(await idp.services.sessions.list(idOf(user))).toEqual([]);
    expect(await hr.ok('GET', `/Users/${idOf(user)}`)).toMatchObject({ active: false });
    await hr.patch(`/Users/${idOf(user)}`, { op: 'Replace', path: 'active', value: 'True' });
    expect(await accountOf(user)).toMatchObject({ isActive: true });
    expect((await browser.get('/account')).status).toBe(303);
  });

  it('is hidden when deleted; the same externalId brings the account back, the same userName a new one', async () => {
    const sent = named();
    const user = await hr.ok('POST', '/Users', sent);
    expect((await hr.send('DELETE', `/Users/${idOf(user)}`)).status).toBe(204);
    expect((await hr.send('DELETE', `/Users/${idOf(user)}`)).status).toBe(404);
    expect((await hr.fails('GET', `/Users/${idOf(user)}`)).status).toBe(404);
    expect(await accountOf(user)).toMatchObject({ isActive: false });
    const back = await hr.ok('POST', '/Users', sent);
    expect(idOf(back)).toBe(idOf(user));
    expect(await accountOf(user)).toMatchObject({ isActive: true, username: sent.userName });
    await hr.send('DELETE', `/Users/${idOf(user)}`);
    const another = await hr.ok('POST', '/Users', { ...sent, externalId: 'another-external-id' });
    expect(idOf(another)).not.toBe(idOf(user));
    expect((await hr.fails('POST', '/Users', sent)).status).toBe(409);
  });

  it('is deleted for good thirty days later', async () => {
    const user = await hr.ok('POST', '/Users', named());
    await hr.send('DELETE', `/Users/${idOf(user)}`);
    const { db, endSession } = idp.services;
    const { deleteOld } = createScimUsers({ ...idp.services, endSession });
    await deleteOld.run(new AbortController().signal);
    expect(await idp.services.accounts.find(idOf(user))).toBeDefined();
    const where = { userId: idOf(user) };
    const row = await db.scimUser.findUniqueOrThrow({ where });
    const { createdAt: _at, mac: _mac, ...covered } = row;
    await db.scimUser.update({ where, data: { ...covered, deletedAt: new Date(Date.now() - 31 * 24 * 3600 * 1000) } });
    await deleteOld.run(new AbortController().signal);
    expect(await idp.services.accounts.find(idOf(user))).toBeUndefined();
  });

  itOnBothInLongRun('is deleted at once where the connection says so', async () => {
    const strict = await aConnection(idp, { delete_policy: 'delete' });
    const user = await strict.ok('POST', '/Users', named());
    await strict.send('DELETE', `/Users/${idOf(user)}`);
    expect(await idp.services.accounts.find(idOf(user))).toBeUndefined();
  });
});

describe('a connection', () => {
  it('sees and changes nobody of another one, nobody of this server, and learns no names', async () => {
    const other = await aConnection(idp);
    const mine = await hr.ok('POST', '/Users', named());
    const { account } = await aUser(idp.services);
    for (const id of [idOf(mine), account.id, 'unknown', '__proto__', 'a%01b']) {
      expect((await other.fails('GET', `/Users/${id}`)).status).toBe(404);
      expect((await other.fails('PUT', `/Users/${id}`, named())).status).toBe(404);
      expect((await other.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })).status).toBe(404);
      expect((await other.send('DELETE', `/Users/${id}`)).status).toBe(404);
    }
    expect(await other.find(`userName eq "${String(mine.userName)}"`)).toMatchObject({ totalResults: 0 });
  });

  itOnBothInLongRun('does not change people with rights in Gatehouse, directly or by a group', async () => {
    const { roles, groups } = idp.services;
    const staff = await hr.ok('POST', '/Users', named());
    await roles.assign(idOf(staff), 'support', {});
    const path = `/Users/${idOf(staff)}`;
    const before = await hr.ok('GET', path);
    for (const value of [{ active: false }, { displayName: 'Other' }])
      expect((await hr.patch(path, { op: 'replace', value })).status).toBe(403);
    expect((await hr.send('DELETE', path)).status).toBe(403);
    expect(await hr.ok('GET', path)).toEqual(before);
    const byGroup = await hr.ok('POST', '/Users', named());
    const { id } = await groups.create({ name: `Help ${count}` });
    await groups.addRole(id, 'support');
    await groups.addMembers(id, [{ userId: idOf(byGroup) }]);
    expect((await hr.send('DELETE', `/Users/${idOf(byGroup)}`)).status).toBe(403);
  });

  itOnBothInLongRun('needs a valid token of its own', async () => {
    const { scimConnections } = idp.services;
    const once = await aConnection(idp);
    const [old] = await scimConnections.tokens(once.connection.id);
    const { text } = await scimConnections.addToken(once.connection.id, 1, {});
    expect(text).not.toBe(once.token);
    await expect(scimConnections.addToken(once.connection.id, 1, {})).rejects.toMatchObject({ status: 409 });
    expect((await once.send('GET', '/Users')).status).toBe(200);
    await scimConnections.revokeToken(once.connection.id, old?.id ?? '', {});
    const page = await once.send('GET', '/Users');
    expect([page.status, page.headers['www-authenticate']]).toEqual([
      401,
      `Bearer realm="${idp.issuer}/scim/v2", error="invalid_token"`,
    ]);
  });
});
