// Deputies: an owner of groups lets another person do the same until a day, on the account page; it ends by itself, and with the owner.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { inChunks } from '../../src/base/storage/chunks.ts';
import { aPerson } from '../admin/support.ts';
import { commandLine } from '../cli/support.ts';
import { anApplication } from '../oidc/support.ts';
import { testClock } from '../support/clock.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import type { HttpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { textOf } from '../support/pages/html.ts';

const DAY = 24 * 3600 * 1000;
let idp: TestIdp;
let count = 0;
const clock = testClock();
beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
});
afterAll(() => idp?.stop());

const dayIn = (days: number) => new Date(clock.now().getTime() + days * DAY).toISOString().slice(0, 10);
const aGroup = async (owner: TestUser) => {
  const group = await idp.services.groups.create({ name: `Deputies ${++count}`, acceptsRequests: true });
  await idp.services.groups.appointOwner(group.id, { userId: owner.account.id });
  return group;
};
const name = async (browser: HttpClient, fields: Record<string, string | string[]>) => {
  const page = await browser.get('/account/groups/deputies');
  const sent = await browser.submit(page, fields);
  return sent.status === 303 ? browser.follow(sent) : sent;
};
const mailsTo = ({ account }: TestUser) =>
  idp.services.db.mailMessage.count({ where: { recipient: account.email ?? '' } });
const ids = async (group: { id: string }) => (await idp.services.groups.members(group.id)).map(({ userId }) => userId);
const may = (user: TestUser, group: { id: string }) =>
  idp.services.groups.assertMayPut(group.id, 'owner', { by: { actorId: user.account.id } }).then(
    () => true,
    () => false,
  );

describe('a deputy', () => {
  it('decides requests and adds people until the day, is told, and both see it', async () => {
    const [owner, deputy, asking] = [await aUser(idp.services), await aUser(idp.services), await aUser(idp.services)];
    const [first, second] = [await aGroup(owner), await aGroup(owner)];
    const browser = await signedIn(idp, owner);
    expect(textOf((await browser.get('/account/groups')).text)).toContain('Deputies');
    const named = await name(browser, { login: deputy.username, until: dayIn(10), group: [first.id] });
    expect(textOf(named.text)).toContain('that person is now your deputy');
    expect(textOf(named.text)).toContain(`${deputy.username} ${first.name} · Until`);
    expect([await may(deputy, first), await may(deputy, second)]).toEqual([true, false]);
    const mails = async () =>
      (await idp.services.db.mailMessage.findMany({ where: { recipient: deputy.account.email ?? '' } })).map(
        ({ subject }) => subject,
      );
    expect(await mails()).toEqual([`You now manage the group ${first.name}`]);

    const own = await signedIn(idp, deputy);
    expect(textOf((await own.get('/account/groups')).text)).toMatch(/Deputy for .* until/);
    const { applicationId } = await anApplication(idp, { access: { roles: [], groups: [first.name] } });
    const asked = { userId: asking.account.id, groupId: first.id, applicationId, reason: 'Work', until: null };
    await idp.services.groupRequests.ask(asked);
    expect(await mails()).toContain(`Request to join the group ${first.name}`);
    const group = await own.get(`/account/groups/${first.id}`);
    await own.submit(group, { decision: 'approve' }, { form: '/decide' });
    expect(await ids(first)).toEqual([asking.account.id]);
    const types = (await idp.services.audit.list({ partyId: deputy.account.id, limit: 20 })).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['group.deputy-added', 'group.request-granted']));

    clock.advance({ days: 11 });
    expect(await may(deputy, first)).toBe(false);
    expect((await idp.services.groups.deputies(owner.account.id)).length).toBe(0);
    await idp.services.ends.tidy();
    expect(await idp.services.db.groupOwner.count({ where: { deputyOf: owner.account.id } })).toBe(0);
    const [ended] = await idp.services.audit.list({ subjectId: deputy.account.id, types: ['group.deputy-removed'] });
    expect(ended?.data).toMatchObject({ groupName: first.name, ended: true });
    clock.set({ days: -11 });
  });

  it('names nobody else, is no owner, and ends with the owner or by the owner', async () => {
    const [owner, deputy, third] = [await aUser(idp.services), await aUser(idp.services), await aUser(idp.services)];
    const group = await aGroup(owner);
    const browser = await signedIn(idp, owner);
    await name(browser, { login: deputy.username, until: dayIn(10), group: [group.id] });
    const by = { actorId: deputy.account.id };
    const until = new Date(clock.now().getTime() + DAY);
    await expect(
      idp.services.groups.appointDeputy(group.id, { userId: third.account.id, until }, { by }),
    ).rejects.toMatchObject({ code: 'forbidden' });
    const page = await (await signedIn(idp, deputy)).get('/account/groups/deputies');
    expect(page.forms.some(({ action }) => action.endsWith('/deputies'))).toBe(false);
    const admin = await aPerson(idp, ['admin']);
    const owners = await admin.get(`/groups/${group.id}/owners`);
    expect(owners.json()).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ user: deputy.account.id, deputy_of: owner.account.id, confirmed: true }),
        expect.objectContaining({ user: owner.account.id, deputy_of: null }),
      ]),
    });
    expect((await admin.get(`/users/${deputy.account.id}/owned`)).json()).toMatchObject({ items: [] });
    // A role that the group gets stops both until the owner is confirmed.
    const role = (await idp.services.roles.create({ name: `deputy-role-${++count}`, permissions: [] })).name;
    await idp.services.groups.addRole(group.id, role);
    expect([await may(owner, group), await may(deputy, group)]).toEqual([false, false]);
    await idp.services.groups.appointOwner(group.id, { userId: owner.account.id });
    expect([await may(owner, group), await may(deputy, group)]).toEqual([true, true]);

    await idp.services.accounts.setActive(owner.account.id, false);
    expect(await may(deputy, group)).toBe(false);
    await idp.services.accounts.setActive(owner.account.id, true);
    const ending = await browser.get('/account/groups/deputies');
    await browser.submit(ending, {}, { form: '/deputies/end' });
    expect(await may(deputy, group)).toBe(false);
    await name(browser, { login: deputy.username, until: dayIn(10), group: [group.id] });
    await idp.services.groups.dismissOwner(group.id, owner.account.id);
    expect(await may(deputy, group)).toBe(false);
    expect(await idp.services.db.groupOwner.count({ where: { groupId: group.id } })).toBe(0);
  });

  it('has a day within 90 days, and the answer is the same for a name that nobody has', async () => {
    const [owner, other] = [await aUser(idp.services), await aUser(idp.services)];
    const group = await aGroup(owner);
    const browser = await signedIn(idp, owner);
    const notice = async (fields: Record<string, string>) =>
      textOf((await name(browser, { group: [group.id], ...fields })).text);
    expect(await notice({ login: 'nobody-at-all', until: dayIn(3) })).toContain('If nobody-at-all has an account');
    expect(await notice({ login: other.username, until: dayIn(91) })).toContain('in the next 90 days');
    expect(await notice({ login: other.username, until: dayIn(-1) })).toContain('in the next 90 days');
    expect(await notice({ login: owner.username, until: dayIn(3) })).toContain('has an account');
    expect(await idp.services.groups.deputies(owner.account.id)).toEqual([]);
    const foreign = await aGroup(other);
    const sent = await name(browser, { login: other.username, until: dayIn(3), group: [foreign.id] });
    expect(sent.status).toBe(403);
    // An owner who is named as a deputy stays an owner.
    await idp.services.groups.appointOwner(group.id, { userId: other.account.id });
    await name(browser, { login: other.username, until: dayIn(3), group: [group.id] });
    expect(await idp.services.groups.ownershipsOf(other.account.id)).toEqual(
      expect.arrayContaining([expect.objectContaining({ groupId: group.id, until: null, deputyOf: null })]),
    );
  });

  it('gets one email for each end, and counts in each group', async () => {
    const [owner, deputy] = [await aUser(idp.services), await aUser(idp.services)];
    const [first, second] = [await aGroup(owner), await aGroup(owner)];
    const browser = await signedIn(idp, owner);
    const fields = { login: deputy.username, until: dayIn(10), group: [first.id, second.id] };
    const entries = async () =>
      (await idp.services.audit.list({ subjectId: deputy.account.id, types: ['group.deputy-added'] })).length;
    await name(browser, fields);
    await name(browser, fields);
    expect([await mailsTo(deputy), await entries()]).toEqual([2, 2]);
    await name(browser, { ...fields, until: dayIn(11) });
    expect([await mailsTo(deputy), await entries()]).toEqual([4, 4]);
    const { points } = limits.rateLimits.groupAdditionsPerAccount;
    for (let counted = 6; counted < points; counted += 2) await name(browser, { ...fields, until: dayIn(11) });
    expect((await name(browser, { ...fields, until: dayIn(12) })).status).toBe(429);
    expect(await mailsTo(deputy)).toBe(4);
  });

  it('of whom a deputy of another owner is named, once the row of that one does not count', async () => {
    const [owner, other, deputy] = [await aUser(idp.services), await aUser(idp.services), await aUser(idp.services)];
    const group = await aGroup(owner);
    await idp.services.groups.appointOwner(group.id, { userId: other.account.id });
    const userId = deputy.account.id;
    const until = (days: number) => new Date(clock.now().getTime() + days * DAY);
    const as = (user: TestUser) => ({ by: { actorId: user.account.id } });
    await idp.services.groups.appointDeputy(group.id, { userId, until: until(80) }, as(owner));
    await idp.services.groups.appointDeputy(group.id, { userId, until: until(30) }, as(other));
    expect(await idp.services.groups.deputies(other.account.id)).toEqual([]);
    await idp.services.accounts.setActive(owner.account.id, false);
    await idp.services.groups.appointDeputy(group.id, { userId, until: until(30) }, as(other));
    expect([await may(deputy, group), await mailsTo(deputy)]).toEqual([true, 2]);
    // As an owner, the person has no end any more.
    await idp.services.groups.appointOwner(group.id, { userId });
    await idp.services.groups.appointOwner(group.id, { userId });
    expect(await mailsTo(deputy)).toBe(3);
  });

  it('ends with the time of the owner, and does not come back with it', async () => {
    const [owner, deputy] = [await aUser(idp.services), await aUser(idp.services)];
    const group = await aGroup(owner);
    const browser = await signedIn(idp, owner);
    await name(browser, { login: deputy.username, until: dayIn(10), group: [group.id] });
    const { groupInvitations, groups, db, audit, ends } = idp.services;
    const invited = { groupId: group.id, email: 'new@example.com', until: null };
    await groupInvitations.invite(invited, { by: { actorId: owner.account.id } });
    const until = new Date(clock.now().getTime() + 5 * DAY);
    await groups.appointOwner(group.id, { userId: owner.account.id, until });
    clock.advance({ days: 6 });
    await ends.tidy();
    expect(await db.groupOwner.count({ where: { groupId: group.id } })).toBe(0);
    expect(await db.groupInvitation.count({ where: { groupId: group.id } })).toBe(0);
    const [ended] = await audit.list({ subjectId: deputy.account.id, types: ['group.deputy-removed'] });
    expect(ended?.data).toMatchObject({ groupName: group.name, ended: true });
    await groups.appointOwner(group.id, { userId: owner.account.id });
    expect(await may(deputy, group)).toBe(false);
    clock.set({ days: -6 });
  });

  it('keeps no owner from the emails of a group, also where many deputies do not count', async () => {
    const [gone, asking] = [await aUser(idp.services), await aUser(idp.services)];
    const group = await aGroup(gone);
    const until = new Date(clock.now().getTime() + 30 * DAY);
    const people: TestUser[] = [];
    for (let made = 0; made < 22; made += 1) people.push(await aUser(idp.services));
    people.sort((one, other) => (one.account.id < other.account.id ? -1 : 1));
    const owner = people.pop() ?? expect.fail();
    const by = { actorId: gone.account.id };
    for (const { account } of people)
      await idp.services.groups.appointDeputy(group.id, { userId: account.id, until }, { by });
    await idp.services.accounts.setActive(gone.account.id, false);
    await idp.services.groups.appointOwner(group.id, { userId: owner.account.id });
    const { applicationId } = await anApplication(idp, { access: { roles: [], groups: [group.name] } });
    const asked = { userId: asking.account.id, groupId: group.id, applicationId, reason: 'Work', until: null };
    await idp.services.groupRequests.ask(asked);
    const recipient = owner.account.email ?? '';
    const subject = `Request to join the group ${group.name}`;
    expect(await idp.services.db.mailMessage.count({ where: { recipient, subject } })).toBe(1);
  });

  it('is named for as many groups as a day allows by the form as it is, and can be one in very many', async () => {
    const [owner, deputy] = [await aUser(idp.services), await aUser(idp.services)];
    const { db, groups } = idp.services;
    const at = clock.now();
    const names = Array.from({ length: 600 }, (_, index) => `many-${index + 100}`);
    const flags = { acceptsRequests: false, fileMembers: false };
    const rest = { path: '', description: '', source: 'local', ...flags, createdAt: at, updatedAt: at };
    await inChunks(names, async (some) => {
      await db.group.createMany({ data: some.map((id) => ({ ...rest, id, name: id, nameKey: id })) });
      await db.groupAncestor.createMany({ data: some.map((id) => ({ groupId: id, ancestorId: id })) });
      return [];
    });
    type Row = { userId: string; covers: string; createdAt: Date; until: Date | null; deputyOf: string | null };
    const own: Row = { userId: owner.account.id, covers: '[]', until: null, deputyOf: null, createdAt: at };
    const make = (some: readonly string[], row: Row) =>
      inChunks(some, async (piece) => {
        await db.groupOwner.createMany({ data: piece.map((groupId) => ({ ...row, groupId })) });
        return [];
      });
    await make(names.slice(0, 101), own);
    const browser = await signedIn(idp, owner);
    const page = await browser.get('/account/groups/deputies');
    const fields = { login: deputy.username, until: dayIn(3) };
    expect((await browser.submit(page, fields)).status).toBe(303);
    expect(await groups.deputies(owner.account.id)).toHaveLength(limits.rateLimits.groupAdditionsPerAccount.points);

    await make(names.slice(101), own);
    const until = new Date(at.getTime() + 5 * DAY);
    await make(names.slice(101), { ...own, userId: deputy.account.id, until, deputyOf: owner.account.id });
    expect((await groups.deputies(deputy.account.id)).length).toBeGreaterThan(500);
    expect(await groups.owns(deputy.account.id, names[599] ?? '', db)).toBe(true);
  });

  it('is told apart from owners by the command line, and in the own data', async () => {
    const [owner, deputy] = [await aUser(idp.services), await aUser(idp.services)];
    const group = await aGroup(owner);
    const until = new Date(clock.now().getTime() + 30 * DAY);
    const { groups, ownData, accounts } = idp.services;
    await groups.appointDeputy(group.id, { userId: deputy.account.id, until }, { by: { actorId: owner.account.id } });
    const cli = await commandLine();
    const env = idp.environment as Record<string, string>;
    const show = async (...more: string[]) =>
      (await cli.gatehouse(['group', 'show', group.name, ...more], { env })).out;
    expect(await show()).toMatch(new RegExp(`${deputy.username} until .* \\(deputy of ${owner.username}\\)`));
    expect(JSON.parse(await show('--json')).owners).toEqual(
      expect.arrayContaining([
        { id: owner.account.id, username: owner.username, until: null, deputyOf: null },
        { id: deputy.account.id, username: deputy.username, until: until.toISOString(), deputyOf: owner.username },
      ]),
    );
    await cli.close();

    const exported = async ({ account }: TestUser) => {
      const pieces = await ownData.export((await accounts.find(account.id)) ?? expect.fail(), 'person', {});
      let text = '';
      for await (const piece of pieces) text += piece;
      const { groups_managed, groups_as_deputy, group_deputies } = JSON.parse(text);
      return [groups_managed.length, groups_as_deputy.length, group_deputies.length];
    };
    expect([await exported(owner), await exported(deputy)]).toEqual([
      [1, 0, 1],
      [0, 1, 0],
    ]);
    const page = textOf((await (await signedIn(idp, deputy)).get('/account/data')).text);
    expect(page).toContain(`Groups in which you are a deputy ${group.name}`);
  });

  it('is not named by a session without a recent proof', async () => {
    const owner = await aUser(idp.services);
    await aGroup(owner);
    const browser = await signedIn(idp, owner);
    clock.advance({ hours: 2 });
    const page = await browser.follow(await browser.get('/account/groups/deputies'));
    expect(page.forms.some(({ action }) => action.includes('/deputies'))).toBe(false);
  });
});
