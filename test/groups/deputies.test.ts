// Deputies: an owner of groups lets another person do the same until a day, on the account page; it ends by itself, and with the owner.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPerson } from '../admin/support.ts';
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
  const sent = await browser.submit(page, fields, { form: '/account/groups/deputies' });
  return sent.status === 303 ? browser.follow(sent) : sent;
};
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

  it('is not named by a session without a recent proof', async () => {
    const owner = await aUser(idp.services);
    await aGroup(owner);
    const browser = await signedIn(idp, owner);
    clock.advance({ hours: 2 });
    const page = await browser.follow(await browser.get('/account/groups/deputies'));
    expect(page.forms.some(({ action }) => action.includes('/deputies'))).toBe(false);
  });
});
