// The requests of Microsoft Entra ID and Okta with their bodies, in the order in which they send them.
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
    expect([after.displayName, after.members]).toEqual(['renamed', undefined]);
    expect((await entra.send('DELETE', path)).status).toBe(204);
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
  });
});
