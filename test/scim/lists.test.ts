// Lists by SCIM: filters, pages, cursors, selected attributes, discovery, and hostile input.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFilter, parsePath } from '../../src/protocols/scim/filter.ts';
import { createPlaces, type Page, type Place, pageOf } from '../../src/protocols/scim/pages.ts';
import { userType } from '../../src/protocols/scim/schemas.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import fc, { anyCharacter, numRuns } from '../support/property.ts';
import { aConnection, type Connection, ENTERPRISE, GROUP, USER } from './support.ts';

let idp: TestIdp;
let hr: Connection;
let ids: string[];
beforeAll(async () => {
  idp = await startIdp();
  hr = await aConnection(idp);
  ids = [];
  for (let index = 0; index < 12; index += 1) {
    const user = {
      schemas: [USER],
      userName: `list${index}`,
      displayName: index % 2 === 0 ? `Even ${index}` : `Odd ${index}`,
      emails: [{ value: `list${index}@corp.example`, type: index < 6 ? 'work' : 'home' }],
      name: { familyName: 'O"Neil (x) and \\ co' },
      active: index !== 3,
      ...(index === 0 && { title: 'Boss', [ENTERPRISE]: { department: 'Top' } }),
    };
    ids.push(String((await hr.ok('POST', '/Users', user)).id));
  }
});
afterAll(() => idp?.stop());

const namesBy = async (filter: string) => (await hr.find(filter)).Resources.map(({ userName }) => userName);

describe('a filter', () => {
  it.each([
    ['userName eq "LIST4"', ['list4']],
    ['userName eq "nobody"', []],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "list5"', ['list5']],
    ['emails[type eq "work" and value eq "list2@corp.example"]', ['list2']],
    ['emails[type eq "home" and value eq "list2@corp.example"]', []],
    ['emails.value eq "list7@corp.example"', ['list7']],
    ['emails[type eq "home"].value eq "list7@corp.example"', ['list7']],
    ['emails[type eq "work"].value eq "list7@corp.example"', []],
    ['userName eq "list7" and emails[type eq "home"].value pr', ['list7']],
    ['emails eq "list7@corp.example"', ['list7']],
    ['title pr', ['list0']],
    [`${ENTERPRISE}:department sw "t"`, ['list0']],
    ['active eq false', ['list3']],
    ['displayName sw "even 1" or userName eq "list1"', ['list1', 'list10']],
    ['not (displayName co "d" or displayName co "e 1") and displayName ew "0"', ['list0', 'list10']],
    ['name.familyName eq "O\\"Neil (x) and \\\\ co" and userName eq "list6"', ['list6']],
    ['meta.created gt "2001-01-01T00:00:00Z" and userName ge "list8"', ['list8', 'list9']],
    ['userName eq "list1" and title pr', []],
    ['title eq null and userName eq "list1"', ['list1']],
  ])('%s', async (filter, expected) => {
    expect(await namesBy(filter)).toEqual(expected);
  });

  it('finds people by each address that was sent, as it is now', async () => {
    const emails = [
      { value: 'Two-Work@corp.example', type: 'work' },
      { value: 'two-home@else.example', type: 'home', primary: true },
      { value: 'two-other@else.example', type: 'other' },
    ];
    const sent = { schemas: [USER], userName: 'two-addresses', externalId: 'two-addresses', emails };
    const path = `/Users/${String((await hr.ok('POST', '/Users', sent)).id)}`;
    const filters = (value: string, type: string) => [
      `emails.value eq "${value}"`,
      `emails eq "${value.toUpperCase()}"`,
      `emails[value eq "${value}"]`,
      `emails[type eq "${type}"].value eq "${value}"`,
      `emails[type eq "${type}" and value eq "${value}"]`,
      `userName eq "two-addresses" and emails.value eq "${value}"`,
    ];
    for (const { value, type } of emails)
      for (const filter of filters(value, type)) expect(await namesBy(filter), filter).toEqual(['two-addresses']);
    const moved = { op: 'replace', path: 'emails[type eq "work"].value', value: 'two-new@corp.example' };
    expect((await hr.patch(path, moved)).status).toBe(200);
    for (const filter of filters('two-new@corp.example', 'work')) expect(await namesBy(filter)).toHaveLength(1);
    expect(await namesBy('emails.value eq "two-work@corp.example"')).toEqual([]);
    await hr.send('DELETE', path);
    expect(await namesBy('emails.value eq "two-new@corp.example"')).toEqual([]);
    await hr.ok('POST', '/Users', { ...sent, emails: emails.slice(1) });
    expect(await namesBy('emails.value eq "two-other@else.example"')).toEqual(['two-addresses']);
    expect(await namesBy('emails.value eq "two-new@corp.example"')).toEqual([]);
    await hr.send('DELETE', path);
  });

  it.each([
    'userName',
    'userName eq',
    'userName eq list1',
    'userName is "x"',
    'salary eq "1"',
    '__proto__ eq "x"',
    'constructor pr',
    'emails[value.__proto__ eq "x"]',
    'emails[type eq "work"].salary eq "x"',
    'emails[type eq "work"].',
    'userName eq "x" and',
    '(userName eq "x"',
    `${'('.repeat(11)}userName pr${')'.repeat(11)}`,
    `userName eq "${'x'.repeat(2048)}"`,
    'userName eq "\u0001"',
  ])('%s is rejected', async (filter) => {
    const answer = await hr.fails('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    expect([answer.status, answer.scimType]).toEqual([400, expect.stringMatching(/^invalid/)]);
  });

  itOnSqlite('and a path are read, or rejected with an error of SCIM, whatever they are', () => {
    const words = fc.constantFrom(
      'userName',
      'emails',
      '[',
      ']',
      '(',
      ')',
      ' eq ',
      ' and ',
      'not',
      '"x"',
      '.value',
      ':',
      ENTERPRISE,
      '\\',
      '"',
      ' pr',
    );
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.array(words, { maxLength: 30 }).map((some) => some.join('')),
    );
    fc.assert(
      fc.property(text, (given) => {
        for (const read of [parseFilter, parsePath])
          try {
            read(given, userType);
          } catch (error) {
            expect(error).toMatchObject({
              status: 400,
              detail: { scimType: expect.stringMatching(/^invalid(Filter|Path)$/) },
            });
          }
      }),
      { numRuns: numRuns(2000) },
    );
  });
});

describe('a filter of what is related', () => {
  let group: string;
  beforeAll(async () => {
    const members = [ids[0], ids[1]].map((value) => ({ value }));
    group = String((await hr.ok('POST', '/Groups', { displayName: 'Related', externalId: 'r-1', members })).id);
    await hr.ok('POST', '/Groups', { displayName: 'Unrelated', members: [{ value: ids[2] }] });
  });
  const groupsBy = async (filter: string) =>
    (await hr.find(filter, 'Groups')).Resources.map(({ displayName }) => displayName);

  it.each([
    ['displayName eq "RELATED"', ['Related']],
    ['displayName eq "relate"', []],
    ['displayName sw "related"', ['Related']],
    ['externalId eq "r-1"', ['Related']],
    ['displayName eq "related" and externalId eq "r-2"', []],
  ])('groups: %s', async (filter, expected) => {
    expect(await groupsBy(filter)).toEqual(expected);
  });

  it('finds groups by a member and users by a group, alone and beside others', async () => {
    for (const filter of [`members eq "${ids[0]}"`, `members[value eq "${ids[0]}"]`, `members.value eq "${ids[0]}"`])
      expect(await groupsBy(filter), filter).toEqual(['Related']);
    expect(await groupsBy(`id eq "${group}" and members eq "${ids[1]}"`)).toEqual(['Related']);
    expect(await groupsBy(`id eq "${group}" and members eq "${ids[2]}"`)).toEqual([]);
    expect(await groupsBy(`members eq "${ids[0]}" and members eq "${ids[2]}"`)).toEqual([]);
    expect(await hr.find(`members eq "${ids[0]}"`, 'Groups')).toMatchObject({
      totalResults: 1,
      Resources: [{ members: [ids[0], ids[1]].sort().map((value) => ({ value })) }],
    });
    expect(await namesBy(`groups eq "${group}"`)).toEqual(['list0', 'list1']);
    expect(await namesBy(`groups.value eq "${group}" and displayName sw "odd"`)).toEqual(['list1']);
    expect(await namesBy(`groups.value eq "${group}" and displayName eq "ODD 1"`)).toEqual(['list1']);
  });

  it('finds a group by its new name, and one that is mapped by the name in the directory', async () => {
    const { groups } = idp.services;
    await groups.create({ name: 'Here' });
    const other = await aConnection(idp, { mappings: { attributes: {}, groups: { There: 'Here' } } });
    const { id } = await other.ok('POST', '/Groups', { displayName: 'There' });
    expect(await other.find('displayName eq "there"', 'Groups')).toMatchObject({ Resources: [{ id }] });
    await other.patch(`/Groups/${String(id)}`, { op: 'replace', path: 'displayName', value: 'Elsewhere' });
    expect(await other.find('displayName eq "there"', 'Groups')).toMatchObject({ totalResults: 0 });
    expect(await other.find('displayName eq "elsewhere"', 'Groups')).toMatchObject({ Resources: [{ id }] });
  });

  it('by anything but equality is rejected', async () => {
    for (const [type, filter] of [
      ['Groups', 'members pr'],
      ['Groups', `not (members eq "${ids[0]}")`],
      ['Groups', `members eq "${ids[0]}" or displayName pr`],
      ['Groups', 'members[type eq "User"]'],
      ['Groups', `members[value eq "${ids[0]}" and type eq "Group"]`],
      ['Users', `groups[value eq "${group}" and display eq "Other"] and userName pr`],
      ['Users', 'groups.display eq "Related"'],
    ] as const)
      expect(await hr.fails('GET', `/${type}?filter=${encodeURIComponent(filter)}`)).toMatchObject({
        status: 400,
        scimType: 'invalidFilter',
        detail: expect.stringContaining('eq'),
      });
  });
});

describe('a page', () => {
  it('begins at startIndex and has at most count users, in one order', async () => {
    const first = await hr.ok('GET', '/Users?startIndex=0&count=5');
    const second = await hr.ok('GET', '/Users?startIndex=6&count=5');
    expect([first, second]).toMatchObject([
      { totalResults: 12, startIndex: 1, itemsPerPage: 5 },
      { totalResults: 12, startIndex: 6, itemsPerPage: 5 },
    ]);
    const resources = [...(first.Resources as { id: string }[]), ...(second.Resources as { id: string }[])];
    expect(resources.map(({ id }) => id)).toEqual(ids.slice(0, 10));
    expect(await hr.ok('GET', '/Users?count=-1')).toMatchObject({ totalResults: 12, itemsPerPage: 0, Resources: [] });
    expect(await hr.ok('GET', '/Users?startIndex=999')).toMatchObject({ totalResults: 12, Resources: [] });
  });

  it('by a cursor loses nobody when others are deleted meanwhile', async () => {
    const walker = await aConnection(idp);
    const all: string[] = [];
    for (let index = 0; index < 7; index += 1)
      all.push(String((await walker.ok('POST', '/Users', { schemas: [USER], userName: `walk${index}` })).id));
    const seen: string[] = [];
    let cursor: unknown = '';
    do {
      const page = await walker.ok('GET', `/Users?count=2&cursor=${String(cursor)}`);
      seen.push(...(page.Resources as { id: string }[]).map(({ id }) => id));
      cursor = page.nextCursor;
      if (seen.length === 2) await walker.send('DELETE', `/Users/${all[0]}`);
    } while (cursor !== undefined);
    expect(seen).toEqual(all);
    expect(await walker.fails('GET', '/Users?cursor=made-up')).toMatchObject({
      status: 400,
      scimType: 'invalidCursor',
    });
  });

  it('far behind in a list is read from the end of the page before it, and the list is counted once', async () => {
    const at = new Date(0);
    const all = Array.from({ length: 2500 }, (_, number) => ({
      id: String(number).padStart(4, '0'),
      values: new Map(),
      createdAt: at,
      updatedAt: at,
    }));
    const places = createPlaces(() => at);
    let counted = 0;
    let marked = 0;
    const pageAt = (place: Place) =>
      pageOf({
        filter: undefined,
        place,
        places,
        list: 'all',
        async count() {
          counted += 1;
          return all.length;
        },
        async markAt(skip) {
          marked += 1;
          return all[skip] && { at, id: all[skip].id };
        },
        read: async (after, take) => all.filter(({ id }) => !after || id > after.id).slice(0, take),
        complete: async (items) => ({ items, isCut: false }),
      });
    for (const isByCursor of [false, true]) {
      [counted, marked] = [0, 0];
      const seen: string[] = [];
      for (let cursor: string | undefined = ''; cursor !== undefined && seen.length < all.length; ) {
        const { found, total, next }: Page = await pageAt(
          isByCursor ? { limit: 1000, cursor } : { limit: 1000, offset: seen.length },
        );
        expect(total).toBe(all.length);
        seen.push(...found.map(({ id }) => id));
        if (isByCursor) cursor = next;
      }
      expect(seen).toEqual(all.map(({ id }) => id));
      expect([counted, marked]).toEqual([1, 0]);
    }
    expect((await pageAt({ limit: 10, offset: 1234 })).found[0]?.id).toBe('1234');
    expect((await pageAt({ limit: 10, offset: 9999 })).found).toEqual([]);
  });

  it('by a forged cursor is rejected', async () => {
    const forged = [
      [8640000000000001, 'x', 5],
      [-8640000000000000, 'x', 5],
      [8640000000000000, 'x', 5],
      [1.5, 'x', 5],
      [1, '\u0000', 5],
      [1, '\ud800', 5],
      [1, 2, 5],
      [1, 'x', -1],
      [1, 'x', '5'],
      [1, 'x'],
      [1],
      {},
      null,
    ].map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'));
    for (const cursor of [...forged, '%', 'W1'])
      for (const path of ['/Users', '/Groups'])
        expect(
          await hr.fails('GET', `${path}?cursor=${encodeURIComponent(cursor)}`),
          Buffer.from(cursor, 'base64url').toString(),
        ).toMatchObject({ status: 400, scimType: 'invalidCursor' });
  });

  it('has the selected attributes, also by POST', async () => {
    const [first] = (await hr.ok('GET', '/Users?count=1&attributes=emails.value,title')).Resources as object[];
    expect(first).toEqual({
      schemas: [USER, ENTERPRISE],
      id: ids[0],
      userName: 'list0',
      title: 'Boss',
      emails: [{ value: 'list0@corp.example' }],
    });
    const search = { filter: 'userName eq "list0"', excludedAttributes: ['emails', 'name', 'meta'] };
    const found = await hr.ok('POST', '/Users/.search', search, 200);
    expect(found).toMatchObject({ totalResults: 1 });
    expect(JSON.stringify(found)).not.toMatch(/emails|familyName|created/);
  });
});

itOnSqlite('discovery says what the server does', async () => {
  expect(await hr.ok('GET', '/ServiceProviderConfig')).toMatchObject({
    patch: { supported: true },
    filter: { supported: true },
    etag: { supported: true },
    pagination: { cursor: true },
  });
  const listed = (await hr.ok('GET', '/Schemas')).Resources as { id: string }[];
  expect(listed.map(({ id }) => id)).toEqual([USER, ENTERPRISE, GROUP]);
  for (const { id } of listed) expect(await hr.ok('GET', `/Schemas/${id}`)).toMatchObject({ id });
  expect(await hr.ok('GET', '/ResourceTypes')).toMatchObject({ totalResults: 2 });
  expect(await hr.ok('GET', '/ResourceTypes/User')).toMatchObject({ endpoint: '/Users', schema: USER });
  expect((await hr.fails('GET', '/ResourceTypes/Device')).status).toBe(404);
  expect((await hr.fails('GET', '/Devices')).status).toBe(404);
  expect((await hr.fails('POST', '/Bulk', {})).status).toBe(404);
});

describe('the protocol', () => {
  itOnSqlite('answers HEAD, other methods with 405, and sorting with an error that says so', async () => {
    const head = await hr.send('HEAD', `/Users/${ids[0]}`);
    expect([head.status, head.text, head.headers.etag]).toEqual([200, '', expect.stringMatching(/^W\/"/)]);
    for (const [method, path, allow] of [
      ['POST', '/ServiceProviderConfig', 'HEAD, GET'],
      ['DELETE', '/Users', 'HEAD, GET, POST'],
      ['GET', '/Users/.search', undefined],
      ['POST', `/Users/${ids[0]}`, 'HEAD, GET, PUT, PATCH, DELETE'],
    ] as const) {
      const page = await hr.send(method, path);
      if (allow === undefined) expect(page.status).toBe(404);
      else expect([page.status, page.headers.allow, page.json()]).toMatchObject([405, allow, { status: '405' }]);
    }
    expect(await hr.fails('GET', '/Users?sortBy=userName')).toMatchObject({
      status: 400,
      detail: expect.stringContaining('sort'),
    });
  });

  itOnSqlite('reads a body with a charset, and answers 304 to the version that the client has', async () => {
    const headers = { 'content-type': 'application/scim+json; charset=utf-8' };
    const page = await hr.send(
      'PATCH',
      `/Users/${ids[2]}`,
      { Operations: [{ op: 'add', path: 'title', value: 'é' }] },
      headers,
    );
    expect([page.status, page.json()]).toMatchObject([200, { title: 'é' }]);
    const { etag = '' } = page.headers;
    const known = await hr.send('GET', `/Users/${ids[2]}`, undefined, { 'if-none-match': etag });
    expect([known.status, known.text]).toEqual([304, '']);
    const stale = await hr.send('DELETE', `/Users/${ids[2]}`, undefined, { 'if-match': 'W/"stale"' });
    expect(stale.status).toBe(412);
  });

  it('returns after a write the attributes that the request names, also of a group', async () => {
    const path = `/Users/${ids[4]}?attributes=title`;
    const page = await hr.send('PATCH', path, { Operations: [{ op: 'add', path: 'title', value: 'Dr.' }] });
    expect(page.json()).toEqual({ schemas: [USER], id: ids[4], userName: 'list4', title: 'Dr.' });
    const { id } = await hr.ok('POST', '/Groups', { displayName: 'Named', members: [{ value: ids[4] }] });
    const Operations = [{ op: 'add', path: 'members', value: [{ value: ids[5] }] }];
    const patched = await hr.send('PATCH', `/Groups/${String(id)}?attributes=members.value`, { Operations });
    expect(patched.status).toBe(200);
    const { members } = patched.json<{ members: object[] }>();
    expect(members).toEqual([ids[4], ids[5]].sort().map((value) => ({ value })));
    await hr.send('DELETE', `/Groups/${String(id)}`);
  });

  it('writes nothing for a request whose attributes cannot be read', async () => {
    const tooLong = 'x'.repeat(4001);
    for (const [path, json] of [
      ['Users', { userName: 'unread@corp.example' }],
      ['Groups', { displayName: 'Unread' }],
    ] as const) {
      const total = async () => (await hr.ok('GET', `/${path}`)).totalResults;
      const before = await total();
      expect((await hr.send('POST', `/${path}?attributes=${tooLong}`, json)).status).toBe(400);
      expect(await total()).toBe(before);
      const { id } = await hr.ok('POST', `/${path}`, json);
      const replaced = { ...json, externalId: 'unread' };
      expect((await hr.send('PUT', `/${path}/${String(id)}?attributes=${tooLong}`, replaced)).status).toBe(400);
      expect((await hr.ok('GET', `/${path}/${String(id)}`)).externalId).toBeUndefined();
      await hr.ok('DELETE', `/${path}/${String(id)}`, undefined, 204);
    }
  });

  it('searches people and groups together at the root', async () => {
    const group = await hr.ok('POST', '/Groups', { displayName: 'Even all' });
    const search = (body: object) => hr.ok('POST', '/.search', body, 200);
    expect(await search({ filter: 'displayName sw "even"', startIndex: 6, count: 2 })).toMatchObject({
      totalResults: 7,
      itemsPerPage: 2,
      Resources: [{ id: ids[10] }, { id: group.id }],
    });
    expect(await search({ filter: 'userName eq "list1"' })).toMatchObject({ totalResults: 1 });
    expect(await hr.fails('POST', '/.search', { filter: 'salary eq "1"' })).toMatchObject({
      scimType: 'invalidFilter',
    });
    await hr.send('DELETE', `/Groups/${String(group.id)}`);
  });

  it('finds what was changed since a time, and ignores a language that is none', async () => {
    const user = await hr.ok('POST', '/Users', {
      userName: 'changed',
      preferredLanguage: 'de-CH, en;q=0.5',
      locale: '?',
    });
    const { lastModified } = user.meta as { lastModified: string };
    expect(await namesBy(`meta.lastModified ge "${lastModified}" and userName eq "changed"`)).toEqual(['changed']);
    expect(user).toMatchObject({ preferredLanguage: 'de-CH, en;q=0.5', locale: '?' });
    expect(await idp.services.accounts.find(String(user.id))).toMatchObject({ locale: 'de-CH' });
    await hr.send('DELETE', `/Users/${String(user.id)}`);
  });

  it('reads the names of groups that a directory has', async () => {
    for (const displayName of ['Sales / EMEA, Berlin', '#general [all]', 'R&D: "Lab" *1*']) {
      const { id } = await hr.ok('POST', '/Groups', { displayName });
      expect(await hr.ok('GET', `/Groups/${String(id)}`)).toMatchObject({ displayName });
      await hr.send('DELETE', `/Groups/${String(id)}`);
    }
  });
});

describe('hostile input', () => {
  it.each([
    ['a body that is no object', '[]'],
    ['a body that is no JSON', '{'],
    ['NUL', '{"userName":"a\\u0000b"}'],
    ['a name that is an object', '{"userName":{"a":1}}'],
    [
      'a list of addresses that is too long',
      JSON.stringify({ userName: 'x', emails: Array.from({ length: 101 }, () => ({ value: 'a' })) }),
    ],
    ['deep nesting', `{"userName":"deep","name":${'{"a":'.repeat(50)}1${'}'.repeat(50)}}`],
  ])('%s is rejected', async (_what, body) => {
    const headers = { authorization: `Bearer ${hr.token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${idp.issuer}/scim/v2/Users`, { method: 'POST', headers, body });
    expect(answer.status).toBe(400);
  });

  itOnSqlite('a name of the prototype is a name that nobody knows', async () => {
    const polluting = '{"userName":"proto","__proto__":{"active":false}}';
    const headers = { authorization: `Bearer ${hr.token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${idp.issuer}/scim/v2/Users`, { method: 'POST', headers, body: polluting });
    expect(answer.status).toBe(400);
    const user = await hr.ok('POST', '/Users', { userName: 'proto', constructor: { x: 1 }, toString: 'x' });
    expect(user).toMatchObject({ userName: 'proto', active: true });
    for (const path of ['__proto__', 'constructor.prototype', 'name.__proto__', 'emails[__proto__ eq "x"].value'])
      expect((await hr.patch(`/Users/${String(user.id)}`, { op: 'add', path, value: 'x' })).json()).toMatchObject({
        scimType: 'invalidPath',
      });
    expect({}).not.toHaveProperty('active');
    expect((await hr.send('DELETE', `/Users/${String(user.id)}`)).status).toBe(204);
  });

  itOnSqlite('too many operations and too long bodies are rejected', async () => {
    const operations = Array.from({ length: 1001 }, () => ({ op: 'replace', path: 'title', value: 'x' }));
    expect((await hr.patch(`/Users/${ids[1]}`, ...operations)).status).toBe(400);
    expect((await hr.send('POST', '/Users', { userName: 'x', title: 'x'.repeat(2_200_000) })).status).toBe(413);
    expect((await hr.send('POST', '/Users', { userName: 'x', title: 'x'.repeat(5000) })).status).toBe(400);
  });

  it('identifiers and names that are longer than an index takes are rejected, or found', async () => {
    // Random, so that PostgreSQL cannot compress them.
    const long = Array.from({ length: 4000 }, () => String.fromCharCode(0x4e00 + Math.random() * 20_000)).join('');
    for (const path of ['/Users', '/Groups'])
      expect(await hr.fails('POST', path, { userName: 'long', displayName: 'Long', externalId: long })).toMatchObject({
        status: 400,
        scimType: 'invalidValue',
      });
    const { id } = await hr.ok('POST', '/Groups', { displayName: `Long ${long}` });
    expect(await hr.find(`displayName eq "Long ${long.slice(0, 1900)}"`, 'Groups')).toMatchObject({ totalResults: 0 });
    await hr.send('DELETE', `/Groups/${String(id)}`);
  });
});
