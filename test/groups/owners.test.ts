// Owners of groups at their account page: members, requests and ends, and what an owner must not reach.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import type { Group } from '../../src/people/groups/read.ts';
import { anApplication, completeSignIn } from '../oidc/support.ts';
import { testClock } from '../support/clock.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let owner: TestUser;
let browser: HttpClient;
const clock = testClock();
let count = 0;

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
  owner = await aUser(idp.services);
  browser = await signedIn(owner);
});
afterAll(() => idp?.stop());

async function signedIn(user: TestUser): Promise<HttpClient> {
  const client = httpClient(idp.issuer);
  await completeSignIn(client, '/login', { user, redirectUri: `${idp.issuer}/auth/callback` });
  await client.follow(await client.get('/account'));
  return client;
}

/** A group of this owner. */
async function aGroup({ acceptsRequests = false, by = owner } = {}): Promise<Group> {
  count += 1;
  const group = await idp.services.groups.create({ name: `Group ${count}`, acceptsRequests });
  await idp.services.groups.appointOwner(group.id, { userId: by.account.id });
  return group;
}

const open = async (path: string, client = browser) => client.follow(await client.get(path));
/** Sends a form of the page of a group, as its owner. */
async function send(group: Group, action: string, fields: Record<string, string>): Promise<Page> {
  const page = await open(`/account/groups/${group.id}`);
  const token = page.forms.find(({ fields: { _csrf } }) => _csrf)?.fields._csrf ?? '';
  const headers = { origin: idp.issuer, 'sec-fetch-site': 'same-origin' };
  const form = { _csrf: token, ...fields };
  return browser.follow(await browser.post(`/account/groups/${group.id}/${action}`, { form, headers }));
}
const memberIds = async (group: Group) => (await idp.services.groups.members(group.id)).map(({ userId }) => userId);
const subjectsTo = async ({ account: { email } }: TestUser) =>
  (await idp.services.db.mailMessage.findMany({ where: { recipient: email ?? '' } })).map(({ subject }) => subject);

describe('an owner', () => {
  itOnSqlite('adds a person by exact username or address, sets an end, and removes the person', async () => {
    const group = await aGroup();
    const [one, other] = [await aUser(idp.services), await aUser(idp.services)];
    expect((await send(group, 'add', { login: one.username })).text).toContain('is now a member');
    await send(group, 'add', { login: other.account.email ?? '', until: '2099-07-31' });
    const page = textOf((await open(`/account/groups/${group.id}`)).text);
    expect(page).toContain(one.username);
    expect(page).toContain('Until July 31, 2099');
    await send(group, 'end', { user: one.account.id, until: '2099-12-31' });
    expect((await idp.services.accounts.find(one.account.id))?.groups).toMatchObject([
      { name: group.name, until: new Date('2099-12-31T23:59:59Z') },
    ]);
    expect((await send(group, 'end', { user: one.account.id, until: '2001-01-01' })).text).toContain('later day');
    const timed = await send(group, 'end', { user: one.account.id, until: '2099-12-31', 'until.time': '18:30' });
    expect(textOf(timed.text)).toContain('Until Dec 31, 2099, 6:30 PM UTC');
    const ends = timed.forms.filter(({ action }) => action.endsWith('/end')).map(({ fields }) => fields);
    expect(ends.find(({ user }) => user === one.account.id)).toMatchObject({
      until: '2099-12-31',
      'until.time': '18:30',
    });
    const timeAlone = { user: one.account.id, until: '', 'until.time': '18:30' };
    expect((await send(group, 'end', timeAlone)).text).toContain('later day');
    expect((await idp.services.accounts.find(one.account.id))?.groups).toMatchObject([
      { name: group.name, until: new Date('2099-12-31T18:30:00Z') },
    ]);
    expect((await send(group, 'remove', { user: one.account.id })).text).toContain('Member removed.');
    expect((await send(group, 'remove', { user: one.account.id })).text).toContain('Nothing changed.');
    expect(await memberIds(group)).toEqual([other.account.id]);
    const [event] = await idp.services.audit.list({ types: ['group.member-removed'], partyId: one.account.id });
    expect(event).toMatchObject({ actorId: owner.account.id, data: { via: 'owner' } });
  });

  itOnSqlite('gets the same answer for a person who exists and for one who does not, 30 times a day', async () => {
    const searching = await aUser(idp.services);
    const group = await aGroup({ by: searching });
    const client = await signedIn(searching);
    const add = async (login: string) => {
      const page = await open(`/account/groups/${group.id}`, client);
      return client.submit(page, { login }, { form: '/add' });
    };
    const { username } = await aUser(idp.services);
    const shape = async (login: string) => {
      const answer = await add(login);
      return [
        answer.status,
        answer.location,
        textOf((await client.follow(answer)).text)
          .split('Members')[0]
          ?.replace(login, '…'),
      ];
    };
    expect(await shape(username)).toEqual(await shape('nobody-of-this-name'));
    await add('%');
    await add(username.slice(0, -1));
    expect(await memberIds(group)).toHaveLength(1);
    const statuses = new Set<number>();
    for (let tries = 4; tries < limits.rateLimits.groupAdditionsPerAccount.points; tries += 1)
      statuses.add((await add(`guess-${tries}`)).status);
    expect([...statuses]).toEqual([303]);
    const last = await add('one-more');
    expect([last.status, textOf(last.text)]).toEqual([429, expect.stringContaining('Wait 24 hours')]);
  });

  itOnSqlite('has no page of a sibling group, nor of one that does not exist', async () => {
    const sibling = await idp.services.groups.create({ name: 'Sibling' });
    const parent = await idp.services.groups.create({ name: 'Parent' });
    const own = await aGroup();
    await idp.services.groups.addChild(parent.id, sibling.id);
    await idp.services.groups.addChild(parent.id, own.id);
    const { id } = (await aUser(idp.services)).account;
    const token = (await open(`/account/groups/${own.id}`)).forms[0]?.fields._csrf ?? '';
    const headers = { origin: idp.issuer, 'sec-fetch-site': 'same-origin' };
    for (const group of [sibling.id, parent.id, 'unknown']) {
      expect((await open(`/account/groups/${group}`)).status).toBe(404);
      for (const [action, form] of [
        ['add', { login: owner.username }],
        ['end', { user: id }],
        ['remove', { user: id }],
        ['decide', { request: 'x', decision: 'approve' }],
      ] as const) {
        const path = `/account/groups/${group}/${action}`;
        expect((await browser.post(path, { form: { _csrf: token, ...form }, headers })).status, path).toBe(404);
      }
    }
  });

  itOnSqlite('adds nobody after the group got a role, until the appointment is confirmed', async () => {
    const group = await aGroup();
    await idp.services.roles.create({ name: 'late-role', permissions: ['late:use'] });
    await idp.services.groups.addRole(group.id, 'late-role');
    const { account, username } = await aUser(idp.services);
    const page = await open(`/account/groups/${group.id}`);
    expect(textOf(page.text)).toContain('has got a role since you became its owner');
    expect(page.forms.some(({ action }) => action.endsWith('/add'))).toBe(false);
    const token = (await open(`/account/groups/${(await aGroup()).id}`)).forms[0]?.fields._csrf ?? '';
    const headers = { origin: idp.issuer, 'sec-fetch-site': 'same-origin' };
    const path = `/account/groups/${group.id}/add`;
    expect((await browser.post(path, { form: { _csrf: token, login: username }, headers })).status).toBe(403);
    expect(await memberIds(group)).toEqual([]);
    await idp.services.groups.appointOwner(group.id, { userId: owner.account.id });
    await send(group, 'add', { login: username });
    expect((await idp.services.accounts.find(account.id))?.roles).toContain('late-role');
  });

  itOnSqlite('sets no end for a person who is not a member, so that this finds nobody', async () => {
    const group = await aGroup();
    const { id } = (await aUser(idp.services)).account;
    for (const user of [id, 'unknown']) expect((await send(group, 'end', { user })).status).toBe(404);
    expect(await memberIds(group)).toEqual([]);
  });
});

describe('a request', () => {
  /** An application that a group opens, and a person who asks. */
  async function aClosedApplication() {
    const group = await aGroup({ acceptsRequests: true });
    const application = await anApplication(idp, {
      client_name: `App ${count}`,
      access: { roles: [], groups: [group.name] },
    });
    const person = await aUser(idp.services);
    const wish = { userId: person.account.id, groupId: group.id, applicationId: application.applicationId };
    const ask = () => idp.services.groupRequests.ask({ ...wish, reason: 'For the audit', until: null });
    return { group, application, person, ask, wish };
  }
  const openOf = async (person: TestUser) =>
    (await idp.services.groupRequests.of(person.account.id)).find(({ state }) => state === 'open')?.id ?? '';

  itOnSqlite('begins on the app list, tells the owner, is granted with an end, and tells the person', async () => {
    const { group, application, person } = await aClosedApplication();
    const client = await signedIn(person);
    const list = await open('/dashboard', client);
    expect(textOf(list.text)).toContain(`App ${count}`);
    expect(textOf(list.text)).toContain('You don’t have any apps yet.');
    expect(textOf(list.text)).not.toContain('Ask an administrator');
    const path = `/account/groups/ask?application=${application.applicationId}`;
    expect(list.text).toContain(path);
    const asked = await client.follow(await client.submit(await open(path, client), { reason: 'For <b>audits</b>' }));
    expect(textOf(asked.text)).toMatch(new RegExp(`App ${count} ${group.name}\\s*Waiting for an answer`));
    expect(await subjectsTo(owner)).toContain(`Request to join the group ${group.name}`);
    const page = await open(`/account/groups/${group.id}`);
    expect(page.text).toContain('For &lt;b&gt;audits&lt;/b&gt;');
    expect(textOf(page.text)).toContain(`Wants to use App ${count}. Asked on`);
    await browser.follow(
      await browser.submit(page, { until: '2099-07-31', answer: 'Welcome' }, { form: '/decide', button: 'decision' }),
    );
    expect((await idp.services.accounts.find(person.account.id))?.groups).toMatchObject([
      { name: group.name, until: new Date('2099-07-31T23:59:59Z') },
    ]);
    expect(textOf((await open('/account/groups', client)).text)).toMatch(/Approved\s*Welcome/);
    expect(await subjectsTo(person)).toContain(`Your request for the group ${group.name} was approved`);
    const types = ['group.request-made', 'group.request-granted'] as const;
    const events = await idp.services.audit.list({ types: [...types], subjectId: person.account.id });
    expect(events.map(({ type, actorId }) => [type, actorId])).toEqual([
      ['group.request-granted', owner.account.id],
      ['group.request-made', person.account.id],
    ]);
    expect(textOf((await open('/account/activity', client)).text)).toContain(`asked to join the group ${group.name}`);
    await idp.services.groups.removeMembers(group.id, [person.account.id]);
    const ended = textOf((await open('/account/groups', client)).text);
    expect(ended).toContain('Membership ended');
    expect(ended).not.toContain('Approved');
  });

  it('is found on the app list by the name of the application, however many there are', async () => {
    const group = await aGroup({ acceptsRequests: true });
    const person = await aUser(idp.services);
    const client = await signedIn(person);
    const access = { roles: [], groups: [group.name] };
    for (let made = 0; made < 52; made += 1)
      await anApplication(idp, { client_name: `Many ${String(made).padStart(3, '0')}`, access });
    const list = await open('/dashboard', client);
    expect(textOf(list.text)).toContain('There are more. Search for an app by its name.');
    const found = await client.follow(await client.submit(list, { q: 'many 051' }, { form: '/dashboard' }));
    expect(textOf(found.text)).toContain('Many 051');
    expect(textOf(found.text)).not.toContain('Many 050');
    expect(textOf(found.text)).not.toContain('There are more');
    const path = /\/account\/groups\/ask\?application=[^"]+/.exec(found.text)?.[0] ?? '';
    await client.follow(await client.submit(await open(path, client), { reason: 'x' }));
    expect(await openOf(person)).not.toBe('');
    expect(textOf((await open('/dashboard?q=many+051', client)).text)).toContain('Asked');
    // Once a member, the person opens them, and asks for none.
    await idp.services.groups.addMembers(group.id, [{ userId: person.account.id }]);
    expect((await open('/dashboard?q=many', client)).text).not.toContain('/account/groups/ask');
  });

  it('is one, however often it is asked at once, and is decided once', async () => {
    const { person, ask, group } = await aClosedApplication();
    await Promise.all([ask(), ask(), ask()]);
    expect(await idp.services.db.groupRequest.count({ where: { userId: person.account.id } })).toBe(1);
    const id = await openOf(person);
    const by = { actorId: owner.account.id };
    const outcomes = await Promise.allSettled(
      [true, false].map((isGranted) => idp.services.groupRequests.decide(id, { isGranted }, { by })),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const isMember = (await memberIds(group)).includes(person.account.id);
    expect(await idp.services.groupRequests.of(person.account.id)).toMatchObject([
      { state: isMember ? 'granted' : 'denied' },
    ]);
  });

  itOnSqlite('is decided by nobody but an owner of the group, or who may give what it gives', async () => {
    const { person, ask, group } = await aClosedApplication();
    await ask();
    const id = await openOf(person);
    const other = await aUser(idp.services);
    await aGroup({ by: other });
    for (const actor of [other, person])
      for (const isGranted of [true, false])
        await expect(
          idp.services.groupRequests.decide(id, { isGranted }, { by: { actorId: actor.account.id } }),
        ).rejects.toMatchObject({ code: 'forbidden' });
    await idp.services.groups.dismissOwner(group.id, owner.account.id);
    await expect(
      idp.services.groupRequests.decide(id, { isGranted: true }, { by: { actorId: owner.account.id } }),
    ).rejects.toMatchObject({ code: 'forbidden' });
    await idp.services.groupRequests.decide(id, { isGranted: true });
    expect(await memberIds(group)).toEqual([person.account.id]);
  });

  itOnSqlite(
    'is not granted by an owner whose appointment does not cover a later role, and may be declined',
    async () => {
      const { person, ask, group } = await aClosedApplication();
      await ask();
      await idp.services.roles.create({ name: `later-${count}` });
      await idp.services.groups.addRole(group.id, `later-${count}`);
      const by = { actorId: owner.account.id };
      const id = await openOf(person);
      await expect(idp.services.groupRequests.decide(id, { isGranted: true }, { by })).rejects.toMatchObject({
        code: 'group_unconfirmed',
      });
      expect(await openOf(person)).toBe(id);
      const other = await aUser(idp.services);
      await idp.services.groups.addMembers(group.id, [{ userId: other.account.id }]);
      const page = await open(`/account/groups/${group.id}`);
      expect(page.forms.map(({ action }) => action.split('/').at(-1))).toEqual(['decide', 'remove']);
      expect((await send(group, 'remove', { user: other.account.id })).text).toContain('Member removed.');
      await idp.services.groupRequests.decide(id, { isGranted: false }, { by });
      expect(await memberIds(group)).toEqual([]);
    },
  );

  itOnSqlite('is for a group that takes requests, has an owner and opens the application', async () => {
    const { wish, group } = await aClosedApplication();
    const { groupRequests, groups } = idp.services;
    const reason = 'x';
    const other = await aGroup({ acceptsRequests: true });
    await expect(groupRequests.ask({ ...wish, groupId: other.id, reason, until: null })).rejects.toMatchObject({
      code: 'not_found',
    });
    await groups.update(group.id, { acceptsRequests: false });
    await expect(groupRequests.ask({ ...wish, reason, until: null })).rejects.toMatchObject({ code: 'not_found' });
    await groups.update(group.id, { acceptsRequests: true });
    await groups.dismissOwner(group.id, owner.account.id);
    await expect(groupRequests.ask({ ...wish, reason, until: null })).rejects.toMatchObject({ code: 'not_found' });
  });

  itOnSqlite('is withdrawn by its person only, and asked ten times a day', async () => {
    const { person, ask } = await aClosedApplication();
    const { groupRequests } = idp.services;
    await ask();
    const id = await openOf(person);
    await expect(groupRequests.withdraw(id, owner.account.id)).rejects.toMatchObject({ code: 'not_found' });
    await groupRequests.withdraw(id, person.account.id);
    await expect(groupRequests.withdraw(id, person.account.id)).rejects.toMatchObject({ code: 'changed_meanwhile' });
    for (let asked = 1; asked < limits.groups.requestsPerDay; asked += 1) {
      await ask();
      await groupRequests.withdraw(await openOf(person), person.account.id);
    }
    await expect(ask()).rejects.toMatchObject({ code: 'too_many_requests' });
  });

  it('lapses after 14 days, on read and by the job', async () => {
    const { person, ask } = await aClosedApplication();
    await ask();
    const id = await openOf(person);
    clock.advance({ days: limits.groups.requestDays });
    const stateOf = async () => (await idp.services.groupRequests.of(person.account.id))[0]?.state;
    expect(await stateOf()).toBe('lapsed');
    const by = { actorId: owner.account.id };
    await expect(idp.services.groupRequests.decide(id, { isGranted: true }, { by })).rejects.toMatchObject({
      code: 'changed_meanwhile',
    });
    await idp.services.ends.tidy();
    const events = await idp.services.audit.list({ types: ['group.request-lapsed'], subjectId: person.account.id });
    expect(events).toHaveLength(1);
    expect(await stateOf()).toBe('lapsed');
  });
});

describe('an end', () => {
  const inDays = (days: number) => new Date(clock.now().getTime() + days * 24 * 3_600_000);

  it('is told to the person and the owner seven days before, once', async () => {
    const group = await aGroup();
    const [soon, later, kept] = [await aUser(idp.services), await aUser(idp.services), await aUser(idp.services)];
    const { groups, ends } = idp.services;
    await groups.addMembers(group.id, [
      { userId: soon.account.id, until: inDays(6) },
      { userId: later.account.id, until: inDays(8) },
      { userId: kept.account.id, until: inDays(6) },
    ]);
    await groups.setMemberships(kept.account.id, 'connection:corp', [group.id]);
    await Promise.all([ends.warn(), ends.warn()]);
    await ends.warn();
    expect((await subjectsTo(soon)).filter((subject) => subject.includes(group.name))).toHaveLength(1);
    expect(await subjectsTo(later)).toEqual([]);
    // The connection keeps the person in.
    expect(await subjectsTo(kept)).toEqual([]);
    const toOwner = (await subjectsTo(owner)).filter(
      (one) => one === `Memberships in the group ${group.name} end soon`,
    );
    expect(toOwner).toHaveLength(1);
    // A later end is told again.
    await groups.addMembers(group.id, [{ userId: soon.account.id, until: inDays(20) }]);
    clock.advance({ days: 14 });
    await ends.warn();
    expect((await subjectsTo(soon)).filter((subject) => subject.includes(group.name))).toHaveLength(2);
  });

  it('is told although another program wrote more ends than a batch has', async () => {
    const { db, groups, ends, roles } = idp.services;
    const group = await aGroup();
    const person = await aUser(idp.services);
    await groups.addMembers(group.id, [{ userId: person.account.id, until: inDays(6) }]);
    await roles.create({ name: 'forged-ends' });
    await roles.assign(person.account.id, 'forged-ends', {}, undefined, { until: inDays(6) });
    const member = await db.asStored.groupMember.findFirst({ where: { groupId: group.id, userId: person.account.id } });
    const grant = await db.asStored.userRole.findFirst({ where: { userId: person.account.id } });
    if (!member || !grant) expect.fail('not stored');
    const forged = Array.from({ length: 101 }, (_, at) => ({ at, until: inDays(5) }));
    await db.asStored.groupMember.createMany({
      data: forged.map(({ at, until }) => ({ ...member, source: `connection:${at}`, until })),
    });
    await db.asStored.userRole.createMany({
      data: forged.map(({ at, until }) => ({ ...grant, via: `connection:${at}`, until })),
    });
    await ends.warn();
    const subjects = await subjectsTo(person);
    expect(subjects.filter((subject) => subject.includes(group.name))).toHaveLength(1);
    expect(subjects.filter((subject) => subject.includes('forged-ends'))).toHaveLength(1);
  });

  itOnSqlite('of a role is told to the person', async () => {
    const { account, ...user } = await aUser(idp.services);
    await idp.services.roles.create({ name: 'stand-in' });
    await idp.services.roles.assign(account.id, 'stand-in', {}, undefined, { until: inDays(3) });
    await idp.services.ends.warn();
    await idp.services.ends.warn();
    expect(await subjectsTo({ account, ...user })).toEqual([expect.stringMatching(/^Your role stand-in ends on /)]);
  });
});
