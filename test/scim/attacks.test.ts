// Attacks by a SCIM client, or with its stolen token: on accounts, on groups and on the server.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '../../src/base/storage/database.ts';
import { lockRow } from '../../src/base/storage/row-lock.ts';
import { createScimUsers } from '../../src/protocols/scim/users.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { aConnection, type Connection, clientOf, setDeletedDaysAgo, USER } from './support.ts';

let idp: TestIdp;
let hr: Connection;
beforeAll(async () => {
  idp = await startIdp();
  hr = await aConnection(idp, { adopt: 'owned_domains' });
});
afterAll(() => idp?.stop());

let count = 0;
async function aPerson(given: object = {}) {
  count += 1;
  const userName = `attack${count}`;
  const emails = [{ value: `${userName}@corp.example`, primary: true }];
  const user = await hr.ok('POST', '/Users', {
    schemas: [USER],
    userName,
    emails,
    externalId: `attack-${count}`,
    ...given,
  });
  return { id: String(user.id), path: `/Users/${String(user.id)}`, user };
}
const aGroup = async (displayName: string, ...members: string[]) => {
  const group = await hr.ok('POST', '/Groups', { displayName, members: members.map((value) => ({ value })) });
  return { id: String(group.id), path: `/Groups/${String(group.id)}` };
};
const setActive = (path: string, value: boolean) => hr.patch(path, { op: 'replace', path: 'active', value });

describe('people with permissions in Gatehouse', () => {
  it('by a role, a group or a group above it are only read', async () => {
    const { roles, groups } = idp.services;
    const [direct, member, nested] = [await aPerson(), await aPerson(), await aPerson()];
    await roles.assign(direct.id, 'support', {});
    const { id: above } = await groups.create({ name: 'Above' });
    const { id: below } = await groups.create({ name: 'Below' });
    await groups.addRole(above, 'support');
    await groups.addChild(above, below);
    await groups.addMembers(above, [{ userId: member.id }]);
    await groups.addMembers(below, [{ userId: nested.id }]);
    for (const { path, user } of [direct, member, nested]) {
      expect((await setActive(path, false)).status).toBe(403);
      expect((await hr.patch(path, { op: 'replace', path: 'userName', value: 'other' })).status).toBe(403);
      const emails = [{ value: 'mine@corp.example', primary: true }];
      expect((await hr.fails('PUT', path, { ...user, emails })).status).toBe(403);
      expect((await hr.send('DELETE', path)).status).toBe(403);
      expect(await hr.ok('GET', path)).toEqual(user);
    }
  });

  itOnSqlite('are not adopted, and the last administrator is not deleted', async () => {
    const { roles, accounts } = idp.services;
    const email = 'chief@corp.example';
    const { account } = await aUser(idp.services, { email, emailVerified: true });
    await roles.assign(account.id, 'admin', {});
    const body = { userName: account.username, emails: [{ value: email, primary: true }] };
    expect((await hr.fails('POST', '/Users', body)).status).toBe(403);
    const owned = await aPerson();
    await roles.assign(owned.id, 'admin', {});
    expect((await hr.send('DELETE', owned.path)).status).toBe(403);
    expect((await setActive(owned.path, false)).status).toBe(403);
    expect(await accounts.find(owned.id)).toMatchObject({ isActive: true });
  });

  itOnSqlite(
    'after their deletion in the directory are kept, and so is whom an administrator enabled again',
    async () => {
      const { roles, accounts } = idp.services;
      const [staff, enabled, gone] = [await aPerson(), await aPerson(), await aPerson()];
      for (const { path } of [staff, enabled, gone]) expect((await hr.send('DELETE', path)).status).toBe(204);
      await roles.assign(staff.id, 'admin', {});
      await accounts.setActive(enabled.id, true, {});
      for (const { id } of [staff, enabled, gone]) await setDeletedDaysAgo(idp, id, 31);
      await createScimUsers(idp.services).deleteOld.run(new AbortController().signal);
      expect(await accounts.find(staff.id)).toBeDefined();
      expect(await accounts.find(enabled.id)).toMatchObject({ isActive: true });
      expect(await accounts.find(gone.id)).toBeUndefined();
      // They are managed here from then on.
      expect(await accounts.update(enabled.id, { name: 'Ann' })).toMatchObject({ name: 'Ann' });
    },
  );
});

describe('whom the directory deleted', () => {
  /** A deletion, and what an administrator makes of the person; the client may take the names only of those of whom nobody made anything. */
  const leaver = async (then: (id: string) => Promise<unknown> = async () => {}) => {
    const person = await aPerson();
    expect((await hr.send('DELETE', person.path)).status).toBe(204);
    await then(person.id);
    return { ...person, account: await idp.services.accounts.find(person.id) };
  };
  const enable = (id: string) => idp.services.accounts.setActive(id, true, {});
  const promote = (id: string) => idp.services.roles.assign(id, 'support', {});
  const namesOf = async (id: string) => {
    const account = await idp.services.accounts.find(id);
    return { username: account?.username, email: account?.email, isActive: account?.isActive };
  };

  it.each([
    ['is enabled', enable],
    ['has a permission', promote],
    ['is an administrator again', (id: string) => enable(id).then(() => promote(id))],
  ])('and %s keeps the username and the address, also before the connection of before', async (_how, then) => {
    const one = await leaver(then);
    const before = await namesOf(one.id);
    for (const client of [hr, await aConnection(idp, { adopt: 'owned_domains' })])
      for (const taken of [
        { userName: String(one.user.userName) },
        { userName: `other${count}`, emails: one.user.emails },
        { userName: `other${count}@corp.example`, emails: one.user.emails },
      ]) {
        const sent = { schemas: [USER], externalId: `taken-${count}`, ...taken };
        expect([403, 409]).toContain((await client.fails('POST', '/Users', sent)).status);
      }
    expect(await namesOf(one.id)).toEqual(before);
  });

  it('gives the names away to the same connection only', async () => {
    const one = await leaver();
    const other = await aConnection(idp);
    const body = { schemas: [USER], userName: one.user.userName, emails: one.user.emails };
    expect((await other.fails('POST', '/Users', body)).status).toBe(409);
    expect(await namesOf(one.id)).toMatchObject({ username: one.user.userName });
    expect((await hr.ok('POST', '/Users', body)).id).not.toBe(one.id);
    expect((await namesOf(one.id)).username).toBe(`deleted-${one.id}`);
  });

  it('and who comes back while another request looks for the names keeps them', async () => {
    const { db, sql } = idp.services;
    const one = await leaver();
    const { mac: _mac, ...row } = await db.scimUser.findUniqueOrThrow({ where: { userId: one.id } });
    const other = await transaction(db, async (tx) => {
      await lockRow(tx, sql, 'users', one.id);
      const sent = hr.send('POST', '/Users', { schemas: [USER], userName: one.user.userName });
      // On PostgreSQL it waits for the lock.
      await sleep(1000);
      await tx.scimUser.update({
        where: { userId: one.id },
        data: { ...row, deletedAt: null },
        select: { userId: true },
      });
      return { sent };
    });
    expect((await other.sent).status).toBe(409);
    expect(await namesOf(one.id)).toMatchObject({ username: one.user.userName });
  });

  it('and an administrator enabled is managed here: another decision of the administrator deletes nobody', async () => {
    const { accounts, db } = idp.services;
    const one = await leaver(enable);
    const { deleteOld } = createScimUsers(idp.services);
    await deleteOld.run(new AbortController().signal);
    await accounts.setActive(one.id, false, {});
    expect(await db.scimUser.findUnique({ where: { userId: one.id } })).toBeNull();
    const { id: _id, meta: _meta, ...sent } = one.user;
    expect(await hr.ok('POST', '/Users', sent)).toMatchObject({ id: one.id, active: false });
  });
});

describe('a group of a directory', () => {
  itOnSqlite('takes out nobody by a removal that names nobody', async () => {
    const [one, two] = [await aPerson(), await aPerson()];
    const { path } = await aGroup('Kept whole', one.id, two.id);
    const remove = (value: unknown) => ({ op: 'remove', path: 'members', value });
    const nobody = [[{}], [{ value: null }], [{ $ref: null }], [{ value: '' }], [{ display: 'x' }], [''], '', {}, null];
    const size = async () => ((await hr.ok('GET', path)).members as unknown[]).length;
    for (const value of nobody) {
      const page = await hr.patch(path, remove(value));
      expect([page.status, page.json()], JSON.stringify(value)).toMatchObject([400, { scimType: 'invalidValue' }]);
      // One that is named beside it is taken out by no half of the request.
      if (Array.isArray(value))
        expect((await hr.patch(path, remove([{ value: one.id }, ...value]))).status, JSON.stringify(value)).toBe(400);
    }
    for (const value of [[{}], [{ display: 'x' }], ''])
      expect((await hr.patch(path, { op: 'replace', path: 'members', value })).status, JSON.stringify(value)).toBe(400);
    for (const members of [[{}], [{ value: null }]])
      expect((await hr.fails('PUT', path, { displayName: 'Kept whole', members })).status).toBe(400);
    expect((await hr.patch(path, remove([]))).status).toBe(204);
    expect(await size()).toBe(2);
    expect((await hr.patch(path, { op: 'remove', path: 'members' })).status).toBe(204);
    expect(await size()).toBe(0);
  });

  it('gives no permission in Gatehouse by a role, a role that changes, a group above or one below', async () => {
    const { groups, roles } = idp.services;
    const { id: userId } = await aPerson();
    const { id } = await aGroup('Staff', userId);
    const [above, sensitive, below] = [
      await groups.create({ name: 'Over Staff' }),
      await groups.create({ name: 'Sensitive' }),
      await groups.create({ name: 'Under Staff' }),
    ];
    await expect(groups.addRole(id, 'support')).rejects.toMatchObject({ code: 'group_sensitive' });
    await groups.addRole(sensitive.id, 'support');
    await expect(groups.addChild(sensitive.id, id)).rejects.toMatchObject({ code: 'group_sensitive' });
    await groups.addChild(above.id, id);
    await expect(groups.addRole(above.id, 'support')).rejects.toMatchObject({ code: 'group_sensitive' });
    await expect(groups.addChild(sensitive.id, above.id)).rejects.toMatchObject({ code: 'group_sensitive' });
    // A group below gives its people the roles of the directory's group, not the other way round.
    await groups.addRole(below.id, 'support');
    await groups.addChild(id, below.id);
    expect((await idp.services.accounts.find(userId))?.roles).toEqual([]);
    const role = await roles.create({ name: 'harmless' });
    await groups.addRole(id, role.name);
    await expect(roles.update('harmless', { permissions: ['gatehouse.users:read'] })).rejects.toMatchObject({
      status: 409,
    });
  });

  it('with the name of a sensitive one, or a name that looks like it, is rejected', async () => {
    const { groups } = idp.services;
    const { id } = await groups.create({ name: 'Operators' });
    await groups.addRole(id, 'support');
    for (const name of ['Operators', 'OPERATORS', 'Оperators', 'Ｏperators', ' Operators '])
      expect((await hr.fails('POST', '/Groups', { displayName: name })).status, name).toBe(409);
    const other = await aGroup('Harmless');
    for (const name of ['operators', 'Оperators'])
      expect((await hr.patch(other.path, { op: 'replace', path: 'displayName', value: name })).status, name).toBe(409);
    expect(await groups.get(other.id)).toMatchObject({ name: 'Harmless' });
  });

  itOnSqlite('leaves its owners and those whom they added', async () => {
    const { groups, accounts } = idp.services;
    const [owner, member, added] = [await aPerson(), await aPerson(), await aPerson()];
    const { id, path } = await aGroup('Owned', member.id);
    await groups.appointOwner(id, { userId: owner.id });
    await groups.addMembers(id, [{ userId: added.id }]);
    expect((await hr.patch(path, { op: 'replace', path: 'members', value: [] })).status).toBe(204);
    expect((await hr.send('DELETE', path)).status).toBe(204);
    expect(await groups.owners(id)).toMatchObject([{ userId: owner.id }]);
    expect((await accounts.find(added.id))?.groups.map(({ name }) => name)).toEqual(['Owned']);
    expect((await accounts.find(member.id))?.groups).toEqual([]);
  });

  it('keeps changes of different attributes that are made at the same moment', async () => {
    const { path } = await aGroup('Parallel names');
    const answers = await Promise.all([
      hr.patch(path, { op: 'replace', path: 'displayName', value: 'Parallel renamed' }),
      hr.patch(path, { op: 'replace', path: 'externalId', value: 'parallel-1' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([204, 204]);
    expect(await hr.ok('GET', path)).toMatchObject({ displayName: 'Parallel renamed', externalId: 'parallel-1' });
  });

  it('is as before when the third operation fails', async () => {
    const [one, two] = [await aPerson(), await aPerson()];
    const { path } = await aGroup('Undone', one.id);
    const page = await hr.patch(
      path,
      { op: 'replace', path: 'displayName', value: 'Done' },
      { op: 'add', path: 'members', value: [{ value: two.id }] },
      { op: 'add', path: 'members', value: [{ value: 'nobody' }] },
    );
    expect(page.status).toBe(400);
    expect(await hr.ok('GET', path)).toMatchObject({ displayName: 'Undone', members: [{ value: one.id }] });
  });
});

describe('an account', () => {
  itOnSqlite('keeps the values of a list that a removal does not name', async () => {
    const { path, user } = await aPerson({ phoneNumbers: [{ value: '+41 44 123', type: 'work' }] });
    for (const attribute of ['emails', 'phoneNumbers']) {
      for (const value of [[{}], [{ value: null }], [{ value: '' }], '', null])
        expect((await hr.patch(path, { op: 'remove', path: attribute, value })).status, JSON.stringify(value)).toBe(
          400,
        );
      expect((await hr.patch(path, { op: 'remove', path: attribute, value: [] })).status).toBe(200);
    }
    expect(await hr.ok('GET', path)).toEqual(user);
  });

  itOnSqlite(
    'that an administrator disabled is enabled by the directory only after the directory disabled it',
    async () => {
      const { accounts } = idp.services;
      const { id, path, user } = await aPerson({ active: true });
      await accounts.setActive(id, false, {});
      await hr.patch(path, { op: 'replace', path: 'displayName', value: 'New name' });
      await hr.ok('PUT', path, { ...user, active: true, displayName: 'By PUT' });
      expect((await setActive(path, true)).json()).toMatchObject({ active: false, displayName: 'By PUT' });
      expect(await accounts.find(id)).toMatchObject({ isActive: false, name: 'By PUT' });
      await setActive(path, false);
      await hr.patch(path, { op: 'replace', path: 'title', value: 'Dr.' });
      expect((await setActive(path, true)).json()).toMatchObject({ active: true });
      expect(await accounts.find(id)).toMatchObject({ isActive: true });
    },
  );

  itOnSqlite('that an administrator enabled stays so until the directory says `active: false` again', async () => {
    const { accounts } = idp.services;
    const { id, path } = await aPerson({ active: false });
    await accounts.setActive(id, true, {});
    await hr.patch(path, { op: 'replace', path: 'title', value: 'Dr.' });
    expect(await accounts.find(id)).toMatchObject({ isActive: true });
    await setActive(path, false);
    expect(await accounts.find(id)).toMatchObject({ isActive: false });
  });

  itOnSqlite(
    'that an administrator disabled is not enabled by a deletion and a return, nor by an adoption',
    async () => {
      const { accounts } = idp.services;
      const { id, path, user } = await aPerson();
      await accounts.setActive(id, false, {});
      expect((await hr.send('DELETE', path)).status).toBe(204);
      const { id: _id, meta: _meta, ...sent } = user;
      expect(await hr.ok('POST', '/Users', { ...sent, active: true })).toMatchObject({ id, active: false });
      const email = 'locked@corp.example';
      const { account } = await aUser(idp.services, { email, emailVerified: true });
      await accounts.setActive(account.id, false, {});
      const body = { userName: 'locked', emails: [{ value: email, primary: true }], active: true };
      expect(await hr.ok('POST', '/Users', body)).toMatchObject({ id: account.id, active: false });
    },
  );

  it('of someone else is not taken by its name, its address, or what looks like them', async () => {
    const { account } = await aUser(idp.services, { username: 'scope', email: 'scope@else.example' });
    for (const userName of ['scope', 'ѕсоре', 'ｓcope', 'SCOPE', 'scope@else.example'])
      expect([400, 409], userName).toContain((await hr.fails('POST', '/Users', { userName })).status);
    const { path, user } = await aPerson();
    for (const userName of ['scope', 'ѕсоре', 'scope@else.example'])
      expect([400, 409], userName).toContain(
        (await hr.patch(path, { op: 'replace', path: 'userName', value: userName })).status,
      );
    const mail = { op: 'replace', path: 'emails[primary eq true].value', value: 'scope@else.example' };
    expect((await hr.patch(path, mail)).status).toBe(409);
    // The address as the username and as the email address at once.
    expect((await hr.patch(path, mail, { op: 'replace', path: 'userName', value: mail.value })).status).toBe(409);
    expect(await hr.ok('GET', path)).toEqual(user);
    expect(await idp.services.accounts.find(account.id)).toMatchObject({ username: 'scope' });
  });

  itOnSqlite(
    'has a verified address only in an owned domain, not in one that looks like it or is below it',
    async () => {
      for (const domain of ['соrp.example', 'sub.corp.example', 'corp.example.evil.example', 'notcorp.example']) {
        const { id } = await aPerson({ emails: [{ value: `x${count}@${domain}`, primary: true }] }).catch(() => ({
          id: '',
        }));
        expect((await idp.services.accounts.find(id))?.emailVerified ?? false, domain).toBe(false);
      }
    },
  );

  it('of another connection does not exist, also as a member', async () => {
    const other = await aConnection(idp, { adopt: 'owned_domains' });
    const { id, path, user } = await aPerson();
    expect((await other.fails('GET', path)).status).toBe(404);
    expect((await other.send('DELETE', path)).status).toBe(404);
    expect((await other.fails('POST', '/Users', { userName: user.userName, emails: user.emails })).status).toBe(409);
    expect((await other.fails('POST', '/Groups', { displayName: 'Thieves', members: [{ value: id }] })).status).toBe(
      400,
    );
    expect(await other.find(`id eq "${id}"`)).toMatchObject({ totalResults: 0 });
  });
});

describe('a token', () => {
  itOnSqlite('of a deleted connection is worth nothing, and the people stay', async () => {
    const { scimConnections, accounts } = idp.services;
    const once = await aConnection(idp);
    const { id } = await once.ok('POST', '/Users', { userName: 'orphan' });
    await scimConnections.remove(once.connection.id, {});
    expect((await once.send('GET', '/Users')).status).toBe(401);
    expect(await accounts.find(String(id))).toMatchObject({ isActive: true });
  });

  itOnSqlite('is read whatever the case of Bearer, and nothing else is', async () => {
    const get = (authorization: string) => fetch(`${idp.issuer}/scim/v2/Users?count=0`, { headers: { authorization } });
    for (const scheme of ['bearer', 'BEARER', 'Bearer ']) expect((await get(`${scheme} ${hr.token}`)).status).toBe(200);
    for (const wrong of [hr.token, `Basic ${hr.token}`, `Bearer ${hr.token}x`, 'Bearer '])
      expect((await get(wrong)).status).toBe(401);
    expect((await clientOf(idp, hr.token.slice(0, -1)).send('GET', '/Users')).status).toBe(401);
  });
});

describe('hostile input', () => {
  /** CPU milliseconds of the longest turn of the event loop, which other programs do not lengthen. */
  const longest = async (work: () => Promise<unknown>) => {
    let [most, isOver] = [0, false];
    const look = (before: number) => {
      const { user, system } = process.cpuUsage();
      most = Math.max(most, user + system - before);
      if (!isOver) setImmediate(look, user + system);
    };
    setImmediate(look, Number.POSITIVE_INFINITY);
    await work();
    isOver = true;
    return most / 1000;
  };

  itOnSqlite('of names of the prototype reaches no object', async () => {
    const { path, user } = await aPerson();
    for (const name of ['__proto__', 'toString', 'constructor', 'hasOwnProperty']) {
      expect((await hr.patch(path, { op: 'add', path: name, value: 'x' })).status).toBe(400);
      expect((await hr.fails('GET', `/Users?filter=${name}%20eq%20%22x%22`)).scimType).toBe('invalidFilter');
      expect((await hr.send('GET', `${path}?attributes=${name}`)).status).toBe(200);
      expect((await hr.fails('GET', `/Users/${name}`)).status).toBe(404);
    }
    await hr.patch(path, { op: 'add', value: { toString: 'x', constructor: { prototype: { polluted: true } } } });
    expect(await hr.ok('GET', path)).toEqual(user);
    expect({}).not.toHaveProperty('polluted');
  });

  it('of `%` and `_` in a filter stands for itself', async () => {
    await aPerson({ userName: 'per%cent' });
    expect((await hr.find('userName co "%"')).Resources.map(({ userName }) => userName)).toEqual(['per%cent']);
    expect(await hr.find('userName eq "%"')).toMatchObject({ totalResults: 0 });
    expect(await hr.find('userName sw "_"')).toMatchObject({ totalResults: 0 });
  });

  it('of NUL, half characters and negative counts is answered', async () => {
    expect((await hr.send('GET', '/Users?filter=userName%20eq%20%22%00%22')).status).toBe(400);
    expect((await hr.send('GET', '/Users?filter=userName%20eq%20%22%5Cu0000%22')).status).toBe(200);
    expect((await hr.send('GET', '/Users?filter=userName%20eq%20%22%5Cud800%22')).status).toBe(200);
    expect((await hr.fails('POST', '/Groups', { displayName: 'a\u0000b' })).status).toBe(400);
    for (const query of ['count=-5', 'startIndex=-5', 'count=0', 'startIndex=9007199254740991'])
      expect((await hr.send('GET', `/Users?${query}`)).status, query).toBe(200);
    expect((await hr.send('GET', '/Users?count=many')).status).toBe(400);
  });

  itOnSqlite('of ten thousand operations, and of lists that grow, is rejected', async () => {
    const { path } = await aPerson();
    const add = (value: unknown) => ({ op: 'add', path: 'emails', value });
    expect((await hr.patch(path, ...Array.from({ length: 10_000 }, () => add([{ value: 'x' }])))).status).toBe(400);
    const some = (from: number) =>
      Array.from({ length: 60 }, (_, index) => ({ value: `${from + index}@corp.example` }));
    const page = await hr.patch(path, add(some(0)), add(some(60)));
    expect(page.json()).toMatchObject({ status: '400', scimType: 'tooMany' });
    const keys = Object.fromEntries(Array.from({ length: 1100 }, (_, index) => [`title${' '.repeat(index % 7)}`, 'x']));
    expect((await hr.patch(path, { op: 'add', value: keys })).status).toBe(200);
    const variants = Array.from({ length: 2000 }, (_, index) =>
      [...'preferredlanguage'].map((letter, at) => ((index >> at) & 1 ? letter.toUpperCase() : letter)).join(''),
    );
    const value = Object.fromEntries(variants.map((name) => [name, 'en']));
    expect((await hr.patch(path, { op: 'add', value })).json()).toMatchObject({ scimType: 'tooMany' });
  });

  it('of a large body or a costly filter does not hold up other requests', async () => {
    const { path } = await aPerson();
    const values = Array.from({ length: 100 }, (_, index) => ({ value: `v${index}` }));
    const many = Array.from({ length: 1000 }, () => ({ op: 'add', path: 'ims', value: values }));
    const most = Array.from({ length: 199 }, () => ({ op: 'add', path: 'ims', value: values }));
    const paths = Array.from({ length: 900 }, () => ({
      op: 'remove',
      path: `emails[${Array.from({ length: 80 }, () => 'value eq "x"').join(' or ')}]`,
    }));
    const filter = Array.from({ length: 110 }, () => 'ims co "zz"').join(' or ');
    await hr.patch(path, { op: 'add', path: 'ims', value: values });
    for (const [work, status] of [
      [() => hr.patch(path, ...many), 400],
      [() => hr.patch(path, ...most), 200],
      [() => hr.patch(path, ...paths), 200],
      [() => hr.send('GET', `/Users?filter=${encodeURIComponent(filter)}`), 200],
    ] as const) {
      expect((await work()).status).toBe(status);
      // The server takes 11; writing the body here, in the same process, takes most of it.
      expect(await longest(work)).toBeLessThan(200);
    }
  });

  itOnSqlite('of backslashes and quotes is read in linear time', async () => {
    for (const text of [
      `userName eq "${'\\'.repeat(2000)}`,
      `${'"'.repeat(2000)}`,
      `userName eq "${'\\"'.repeat(1000)}`,
    ]) {
      const began = performance.now();
      expect((await hr.fails('GET', `/Users?filter=${encodeURIComponent(text)}`)).scimType).toBe('invalidFilter');
      expect(performance.now() - began).toBeLessThan(1000);
    }
  });
});

itOnSqlite('a use that cannot be stored, as on a full disk, fails no read', async () => {
  const { db } = idp.services;
  const hr = await aConnection(idp);
  await db.$executeRawUnsafe(
    "CREATE TRIGGER scim_full BEFORE UPDATE ON scim_connections BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
  );
  try {
    expect((await hr.send('GET', '/Users')).status).toBe(200);
  } finally {
    await db.$executeRawUnsafe('DROP TRIGGER scim_full');
  }
  expect((await idp.services.scimConnections.get(hr.connection.id)).lastRequestAt).toBeNull();
});
