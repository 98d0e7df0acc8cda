// The requests of Microsoft Entra ID, Okta and authentik with their bodies, in the order in which they send them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { aConnection, type Connection, ENTERPRISE, GROUP, PATCH, USER } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

const empty = { totalResults: 0, Resources: [], startIndex: 1, itemsPerPage: 0 };

describe('Microsoft Entra ID', () => {
  let entra: Connection;
  let id: string;
  beforeAll(async () => {
    entra = await aConnection(idp, { owned_domains: ['contoso.example'] });
  });

  it('tests the connection with a random user name', async () => {
    expect(await entra.find('userName eq "4f1c2c33-0000-4a5b-9c50-nonexistent"')).toMatchObject(empty);
  });

  it('creates a user', async () => {
    const user = await entra.ok('POST', '/Users', {
      schemas: [USER, ENTERPRISE],
      externalId: '58342554-38d6-4ec8-948c-50044d0a33fd',
      userName: 'Test_User_fd0ea19b@contoso.example',
      active: true,
      addresses: [
        {
          primary: false,
          type: 'work',
          country: 'USA',
          formatted: '',
          locality: 'Seattle',
          postalCode: '',
          region: 'WA',
        },
      ],
      displayName: 'BobIsAmazing',
      emails: [{ primary: true, type: 'work', value: 'bob@contoso.example' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'Bob Amazing', familyName: 'Amazing', givenName: 'Bob' },
      phoneNumbers: [{ primary: false, type: 'mobile', value: '+1 425 555' }],
      preferredLanguage: 'en-US',
      roles: [],
      title: '',
      [ENTERPRISE]: { employeeNumber: '7', department: 'Sales', manager: '' },
    });
    id = String(user.id);
    expect(user).toMatchObject({ userName: 'Test_User_fd0ea19b@contoso.example', active: true });
    expect(await entra.find('externalId eq "58342554-38d6-4ec8-948c-50044d0a33fd"')).toMatchObject({
      totalResults: 1,
      Resources: [{ id }],
    });
    expect(await entra.find('userName eq "test_user_FD0EA19B@contoso.example"')).toMatchObject({ totalResults: 1 });
  });

  it('changes attributes with operations in capital letters, texts for booleans, and values that are not there yet', async () => {
    const page = await entra.patch(
      `/Users/${id}`,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'robert@contoso.example' },
      { op: 'Add', path: 'emails[type eq "home"].value', value: 'bob@home.example' },
      { op: 'Replace', path: 'name.familyName', value: 'Fine' },
      { op: 'Add', path: 'title', value: 'Director' },
      { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Board' },
      { op: 'Add', path: `${ENTERPRISE}:manager`, value: 'boss-7' },
      { op: 'Replace', path: 'phoneNumbers[type eq "work"].value', value: '+1 425 777' },
      { op: 'Replace', path: 'active', value: 'False' },
    );
    expect(page.status, page.text).toBe(200);
    expect(page.json()).toMatchObject({
      active: false,
      title: 'Director',
      name: { familyName: 'Fine', givenName: 'Bob' },
      emails: [
        { type: 'work', value: 'robert@contoso.example', primary: true },
        { type: 'home', value: 'bob@home.example' },
      ],
      phoneNumbers: [{ type: 'mobile' }, { type: 'work', value: '+1 425 777' }],
      [ENTERPRISE]: { department: 'Board', manager: { value: 'boss-7' } },
    });
    expect(await idp.services.accounts.find(id)).toMatchObject({
      isActive: false,
      email: 'robert@contoso.example',
      familyName: 'Fine',
    });
  });

  it('changes attributes without a path, whose names are paths', async () => {
    const value = {
      active: true,
      'name.givenName': 'Robert',
      'emails[type eq "work"].value': 'rob@contoso.example',
      [`${ENTERPRISE}:department`]: 'Lab',
    };
    const page = await entra.send('PATCH', `/Users/${id}?aadOptscim062020`, {
      schemas: [PATCH],
      Operations: [{ op: 'replace', value }],
    });
    expect(page.status, page.text).toBe(200);
    expect(page.json()).toMatchObject({
      active: true,
      name: { givenName: 'Robert' },
      [ENTERPRISE]: { department: 'Lab' },
    });
    await entra.patch(
      `/Users/${id}`,
      { op: 'Remove', path: `${ENTERPRISE}:manager` },
      { op: 'Remove', path: 'emails[type eq "home"]' },
    );
    const after = await entra.ok('GET', `/Users/${id}`);
    expect(after[ENTERPRISE]).toEqual({ employeeNumber: '7', department: 'Lab' });
    expect(after.emails).toEqual([{ type: 'work', value: 'rob@contoso.example', primary: true }]);
  });

  it('creates a group, adds and removes members by their values, and asks for it without members', async () => {
    const group = await entra.ok('POST', '/Groups', {
      schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'displayName',
      members: [],
      meta: { resourceType: 'Group' },
    });
    const path = `/Groups/${String(group.id)}`;
    const add = await entra.patch(path, { op: 'Add', path: 'members', value: [{ $ref: null, value: id }] });
    expect([add.status, add.text]).toEqual([204, '']);
    const filter = encodeURIComponent('displayName eq "displayName"');
    const listed = await entra.ok('GET', `/Groups?excludedAttributes=members&filter=${filter}`);
    expect(listed).toMatchObject({ totalResults: 1, Resources: [{ id: group.id, displayName: 'displayName' }] });
    expect(JSON.stringify(listed)).not.toContain('members');
    expect(await entra.find(`id eq "${String(group.id)}" and members eq "${id}"`, 'Groups')).toMatchObject({
      totalResults: 1,
    });
    await entra.patch(path, { op: 'Replace', path: 'displayName', value: 'renamed' });
    await entra.patch(path, { op: 'Remove', path: 'members', value: [{ $ref: null, value: id }] });
    const after = await entra.ok('GET', path);
    expect([after.displayName, after.members]).toEqual(['renamed', []]);
    expect((await entra.send('DELETE', path)).status).toBe(204);
  });

  it('takes out of a group only whom it names, in each of its ways, and changes five times at a moment', async () => {
    const people: string[] = [];
    for (const at of [1, 2, 3, 4, 5, 6]) {
      const userName = `member${at}@contoso.example`;
      people.push(String((await entra.ok('POST', '/Users', { schemas: [USER], userName, externalId: userName })).id));
    }
    const [one, two, three, ...others] = people;
    const members = people.map((value) => ({ $ref: null, value }));
    const body = { schemas: [GROUP], externalId: 'group-of-six', displayName: 'Six', members };
    const path = `/Groups/${String((await entra.ok('POST', '/Groups', body)).id)}`;
    const left = async () => ((await entra.ok('GET', path)).members as { value: string }[]).map(({ value }) => value);
    await entra.patch(path, { op: 'Remove', path: 'members', value: [{ $ref: null, value: one }] });
    expect(await left()).toEqual(people.slice(1).sort());
    await entra.send('PATCH', `${path}?aadOptscim062020`, {
      schemas: [PATCH],
      Operations: [{ op: 'remove', path: `members[value eq "${two}"]` }],
    });
    expect(await left()).toEqual([three, ...others].sort());
    const moves = [
      ...others.map((value) => ({ op: 'Remove', path: 'members', value: [{ $ref: null, value }] })),
      { op: 'Add', path: 'members', value: [{ $ref: null, value: one }] },
      { op: 'Add', path: 'members', value: [{ $ref: null, value: two }] },
    ];
    const answers = await Promise.all(moves.map((move) => entra.patch(path, move)));
    expect(answers.map(({ status }) => status)).toEqual(moves.map(() => 204));
    expect(await left()).toEqual([one, two, three].sort());
    const again = await entra.fails('POST', '/Groups', { ...body, externalId: 'another' });
    expect(again).toMatchObject({ status: 409, scimType: 'uniqueness' });
  });

  it('changes fifty members in one request, and the manager as a text or as an object', async () => {
    const people: string[] = [];
    for (let at = 0; at < 50; at += 1)
      people.push(
        String((await entra.ok('POST', '/Users', { schemas: [USER], userName: `fifty${at}@contoso.example` })).id),
      );
    const path = `/Groups/${String((await entra.ok('POST', '/Groups', { schemas: [GROUP], displayName: 'Fifty' })).id)}`;
    const value = people.map((one) => ({ $ref: null, value: one }));
    expect((await entra.patch(path, { op: 'Add', path: 'members', value })).status).toBe(204);
    expect((await entra.ok('GET', path)).members).toHaveLength(50);
    const user = `/Users/${people[0]}`;
    for (const manager of ['boss-1', { value: 'boss-1' }, [{ value: 'boss-1', $ref: null }]])
      expect(
        (await entra.patch(user, { op: 'Replace', path: `${ENTERPRISE}:manager`, value: manager })).json(),
      ).toMatchObject({ [ENTERPRISE]: { manager: { value: 'boss-1' } } });
  });

  it('reads a user by the address of the mailbox, and an inactive one', async () => {
    const userName = 'sick@contoso.example';
    const emails = [{ primary: true, type: 'work', value: userName }];
    const { id: sick } = await entra.ok('POST', '/Users', { schemas: [USER], userName, emails, active: 'False' });
    for (const filter of [
      `emails[type eq "work"].value eq "${userName}"`,
      `emails[type eq "work" and value eq "${userName}"]`,
    ])
      expect(await entra.find(filter), filter).toMatchObject({
        totalResults: 1,
        Resources: [{ id: sick, active: false }],
      });
  });

  it('disables a user, and deletes the user later', async () => {
    expect((await entra.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })).status).toBe(200);
    expect((await entra.send('DELETE', `/Users/${id}`)).status).toBe(204);
    expect(await entra.find('externalId eq "58342554-38d6-4ec8-948c-50044d0a33fd"')).toMatchObject(empty);
  });
});

describe('Okta', () => {
  let okta: Connection;
  beforeAll(async () => {
    okta = await aConnection(idp, { owned_domains: ['okta.example'] });
  });
  const okUser = (given: object = {}) => ({
    schemas: [USER],
    userName: 'mulder@okta.example',
    name: { givenName: 'Fox', familyName: 'Mulder' },
    emails: [{ primary: true, value: 'mulder@okta.example', type: 'work' }],
    displayName: 'Fox Mulder',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
    ...given,
  });

  it('reads two users, looks for one, creates, and sends the whole user with every change', async () => {
    expect(await okta.ok('GET', '/Users?startIndex=1&count=2')).toMatchObject(empty);
    const filter = encodeURIComponent('userName eq "mulder@okta.example"');
    expect(await okta.ok('GET', `/Users?filter=${filter}&startIndex=1&count=100`)).toMatchObject(empty);
    const user = await okta.ok('POST', '/Users', okUser());
    expect(JSON.stringify(user)).not.toContain('password');
    const group = await okta.ok('POST', '/Groups', {
      schemas: [GROUP],
      displayName: 'X Files',
      members: [{ value: user.id, display: 'mulder' }],
    });
    const put = await okta.ok('PUT', `/Users/${String(user.id)}`, okUser({ displayName: 'Spooky', groups: [] }));
    expect(put).toMatchObject({ displayName: 'Spooky', groups: [{ value: group.id }] });
    expect(await okta.ok('PUT', `/Users/${String(user.id)}`, okUser({ active: false }))).toMatchObject({
      active: false,
    });
    const page = await okta.patch(`/Users/${String(user.id)}`, { op: 'replace', value: { active: true } });
    expect([page.status, page.json()]).toMatchObject([200, { active: true }]);
  });

  it('renames a group with its id in the value, and adds and removes members in one request', async () => {
    const [ann, bob] = await Promise.all(
      ['ann', 'bob'].map((name) => okta.ok('POST', '/Users', { schemas: [USER], userName: name })),
    );
    const group = await okta.ok('POST', '/Groups', {
      schemas: [GROUP],
      displayName: 'Pushed',
      members: [{ value: ann?.id }],
    });
    const path = `/Groups/${String(group.id)}`;
    const rename = { op: 'replace', value: { id: group.id, displayName: 'Pushed again' } };
    expect((await okta.patch(path, rename)).status).toBe(204);
    const page = await okta.patch(
      path,
      { op: 'remove', path: `members[value eq "${String(ann?.id)}"]` },
      { op: 'add', path: 'members', value: [{ value: bob?.id, display: 'bob' }] },
    );
    expect(page.status).toBe(204);
    expect(await okta.ok('GET', path)).toMatchObject({ displayName: 'Pushed again', members: [{ value: bob?.id }] });
    const other = { op: 'replace', value: { id: 'another', displayName: 'Taken' } };
    expect((await okta.patch(path, other)).json()).toMatchObject({ status: '400', scimType: 'mutability' });
    expect((await okta.send('DELETE', path)).status).toBe(204);
    expect((await okta.send('GET', path)).status).toBe(404);
  });

  it('disables a user of its catalog by an operation without a path, and reads all users in one order', async () => {
    const names = ['scully', 'skinner', 'krycek'];
    for (const userName of names)
      await okta.ok('POST', '/Users', okUser({ userName, externalId: `ext-${userName}`, emails: [] }));
    const [found] = (await okta.find('userName eq "scully"')).Resources;
    const off = await okta.patch(`/Users/${String(found?.id)}`, { op: 'replace', value: { active: false } });
    expect([off.status, off.json()]).toMatchObject([200, { id: found?.id, active: false }]);
    const pages = [];
    for (let startIndex = 1; startIndex < 8; startIndex += 2)
      pages.push(await okta.ok('GET', `/Users?startIndex=${startIndex}&count=2`));
    const walked = pages.flatMap(({ Resources }) => (Resources as { userName: string }[]).map((one) => one.userName));
    const all = (await okta.ok('GET', '/Users?startIndex=1&count=100')).Resources as { userName: string }[];
    expect(walked.slice(0, all.length)).toEqual(all.map(({ userName }) => userName));
    expect(pages.map(({ itemsPerPage, totalResults }) => [typeof itemsPerPage, typeof totalResults])).toEqual(
      pages.map(() => ['number', 'number']),
    );
  });

  it('sends JSON as application/json too, and gets the user with every 201', async () => {
    const json = { 'content-type': 'application/json; charset=utf-8', accept: 'application/scim+json' };
    const page = await okta.send(
      'POST',
      '/Users',
      okUser({ userName: 'doggett', externalId: 'ext-doggett', emails: [] }),
      json,
    );
    expect([page.status, page.json()]).toMatchObject([201, { userName: 'doggett', externalId: 'ext-doggett' }]);
  });
});

describe('authentik', () => {
  it('reads the configuration, creates, finds what is there, sends whole users and the members one by one', async () => {
    const authentik = await aConnection(idp, { owned_domains: ['ak.example'] });
    expect(await authentik.ok('GET', '/ServiceProviderConfig')).toMatchObject({
      bulk: { supported: false, maxOperations: 1000 },
    });
    const sent = {
      schemas: [USER],
      userName: 'akadmin',
      name: { formatted: 'authentik Default Admin', familyName: 'Default Admin', givenName: 'authentik' },
      displayName: 'authentik Default Admin',
      photos: [{ value: 'https://ak.example/static/avatar.png', type: 'photo' }],
      active: true,
      emails: [{ value: 'root@ak.example', type: 'other', primary: true }],
      externalId: '5d6a1c6a7bd9b3b2',
    };
    const user = await authentik.ok('POST', '/Users', sent);
    expect((await authentik.fails('POST', '/Users', sent)).status).toBe(409);
    expect(await authentik.find('userName eq "akadmin"')).toMatchObject({ Resources: [{ id: user.id }] });
    expect(
      await authentik.ok('PUT', `/Users/${String(user.id)}`, { ...sent, id: user.id, active: false }),
    ).toMatchObject({
      active: false,
    });
    const named = { schemas: [GROUP], externalId: 'f3a0', displayName: 'authentik Admins' };
    const group = await authentik.ok('POST', '/Groups', named);
    const path = `/Groups/${String(group.id)}`;
    // It compares the members only where there is a list.
    expect((await authentik.ok('GET', path)).members).toEqual([]);
    const value = [{ value: user.id }];
    expect((await authentik.patch(path, { op: 'add', path: 'members', value })).status).toBe(204);
    const whole = { op: 'replace', value: { ...named, id: group.id, displayName: 'Admins' } };
    expect((await authentik.patch(path, whole)).status).toBe(204);
    expect(await authentik.ok('GET', path)).toMatchObject({ displayName: 'Admins', members: value });
    expect((await authentik.patch(path, { op: 'remove', path: 'members', value })).status).toBe(204);
    expect((await authentik.ok('GET', path)).members).toEqual([]);
    for (const one of [path, `/Users/${String(user.id)}`])
      expect((await authentik.send('DELETE', one)).status).toBe(204);
  });
});
