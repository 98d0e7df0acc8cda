// What a user owns, and its change to another owner: in the console, by the API and by the command line.
import { beforeAll, describe, expect, it } from 'vitest';
import { anApplication } from '../../oidc/support.ts';
import { itOnBothInLongRun } from '../../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import type { HttpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { consoleOf, staff } from '../console/support.ts';
import { aPerson, aService } from '../support.ts';

let idp: TestIdp;
let admin: HttpClient;
let count = 0;
beforeAll(async () => {
  idp = await sharedIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});

const mainOf = (text: string) => textOf(/<main[\s\S]*<\/main>/.exec(text)?.[0] ?? '');
const aGroup = async (owner: TestUser, until: Date | null = null) => {
  count += 1;
  const group = await idp.services.groups.create({ name: `Handed ${count}` });
  await idp.services.groups.appointOwner(group.id, { userId: owner.account.id, until });
  return group;
};
const ownersOf = async (id: string) =>
  (await idp.services.groups.owners(id)).map(({ userId, until }) => ({ userId, until }));
const contactsOf = async (id: string) =>
  ((await idp.services.applications.get(id)).metadata as { contacts?: string[] }).contacts;
const aKey = async ({ account: { id: ownerId } }: TestUser) =>
  (
    await idp.services.apiKeys.create(
      { ownerId, name: 'Nightly backup', permissions: ['gatehouse.users:read'], days: 30 },
      {},
    )
  ).key;

describe('a leaver', () => {
  it('hands over a selection, then the rest, with one form; keys end with the account', async () => {
    const [leaver, heir] = [await aUser(idp.services), await aUser(idp.services)];
    const [first, second] = [await aGroup(leaver), await aGroup(leaver, new Date('2099-01-01T00:00:00Z'))];
    const app = await anApplication(idp, { contacts: ['ops@example.com', leaver.account.email ?? ''] });
    const key = await aKey(leaver);
    const { id } = await idp.services.applications.find(app.clientId).then((one) => one ?? expect.fail('no app'));
    const at = `/admin/users/${leaver.account.id}`;
    expect(mainOf((await admin.get(at)).text)).not.toContain('still owns');
    await idp.services.accounts.setActive(leaver.account.id, false);
    expect(mainOf((await admin.get(at)).text)).toContain(
      'The user still owns 2 groups and 1 application. Hand over what the user owns before the account is deleted. 1 API key of the user ends with the account.',
    );
    for (const question of ['delete', 'disable'])
      expect((await admin.get(`${at}/${question}`)).text, question).toContain(`href="${at}/hand-over"`);
    const tab = mainOf((await admin.get(`${at}/roles`)).text);
    for (const text of [first.name, second.name, 'Nightly backup', 'knows the text of this one', 'Technical contact'])
      expect(tab).toContain(text);

    const form = await admin.get(`${at}/hand-over`);
    const toNobody = await admin.submit(form, { to: 'nobody-of-this-name' });
    expect([toNobody.status, mainOf(toNobody.text)]).toEqual([400, expect.stringContaining('nobody-of-this-name')]);
    const toSelf = await admin.submit(form, { to: leaver.username });
    expect([toSelf.status, mainOf(toSelf.text)]).toEqual([400, expect.stringContaining('Choose another user')]);
    const none = await admin.submit(form, { to: heir.username, items: [] });
    expect(none.status).toBe(400);
    const some = await admin.submit(form, { to: heir.username, items: [first.id] });
    expect(some.status, mainOf(some.text)).toBe(303);
    expect(mainOf((await admin.follow(some)).text)).toContain(
      `Handed over to ${heir.account.name ?? heir.username}: ${first.name}.`,
    );
    expect(await ownersOf(first.id)).toEqual([{ userId: heir.account.id, until: null }]);
    expect(await ownersOf(second.id)).toMatchObject([{ userId: leaver.account.id }]);

    await admin.submit(await admin.get(`${at}/hand-over`), { to: heir.username });
    expect(await ownersOf(second.id)).toEqual([{ userId: heir.account.id, until: new Date('2099-01-01T00:00:00Z') }]);
    expect(await contactsOf(id)).toEqual(['ops@example.com', heir.account.email]);
    expect((await idp.services.apiKeys.get(key.id)).ownerId).toBe(leaver.account.id);
    const after = await idp.services.accounts.find(heir.account.id);
    expect([after?.roles, after?.groups]).toEqual([[], []]);
    const events = await idp.services.audit.list({ subjectId: heir.account.id, limit: 10 });
    expect(events.map(({ type }) => type)).toContain('group.owner-added');
    const [changed] = await idp.services.audit.list({ types: ['application.updated'], clientId: app.clientId });
    expect(changed?.data).toMatchObject({ after: { contacts: ['ops@example.com', heir.account.email] } });
  });

  itOnBothInLongRun(
    'is announced only to who can hand over something, and not while a new person waits for the first day',
    async () => {
      const [leaver, starter] = [
        await aUser(idp.services),
        await aUser(idp.services, { activeFrom: new Date('2099-01-01T00:00:00Z') }),
      ];
      await aGroup(leaver);
      await aGroup(starter);
      await idp.services.accounts.setActive(leaver.account.id, false);
      const permissions = ['gatehouse.users:read', 'gatehouse.groups:read'];
      const role = await idp.services.roles.create({ name: `reads-${++count}`, permissions });
      const reader = await consoleOf(idp, await staff(idp, role.name));
      const textFor = async (client: HttpClient, { account: { id } }: TestUser) =>
        mainOf((await client.get(`/admin/users/${id}`)).text);
      expect(await textFor(admin, leaver)).toContain('still owns 1 group. Hand over what the user owns before');
      expect(await textFor(reader, leaver)).toContain(leaver.username);
      expect(await textFor(reader, leaver)).not.toContain('still owns');
      expect(await textFor(admin, starter)).not.toContain('still owns');
    },
  );

  it('is handed over by the API, where a longer ownership of the receiver stays', async () => {
    const [leaver, heir, service] = [await aUser(idp.services), await aUser(idp.services), await aService(idp)];
    const group = await aGroup(leaver, new Date('2099-01-01T00:00:00Z'));
    await idp.services.groups.appointOwner(group.id, { userId: heir.account.id });
    const key = await aKey(leaver);
    const at = `/users/${leaver.account.id}`;
    expect((await service.get(`${at}/owned`)).json()).toEqual({
      items: [{ kind: 'group', id: group.id, name: group.name, until: '2099-01-01T00:00:00.000Z', obstacle: null }],
      api_keys: [{ id: key.id, name: key.name, expires_at: key.expiresAt.toISOString(), last_used_at: null }],
    });
    const unknown = await service.send('POST', `${at}/hand-over`, { to: heir.account.id, items: ['nothing'] });
    expect(unknown.status).toBe(404);
    const to = { to: heir.account.id };
    expect((await service.send('POST', `${at}/hand-over`, to)).json()).toEqual({
      items: [{ kind: 'group', id: group.id, name: group.name }],
    });
    expect(await ownersOf(group.id)).toEqual([{ userId: heir.account.id, until: null }]);
    expect((await service.send('POST', `${at}/hand-over`, to)).json()).toEqual({ items: [] });
  });

  it('is handed over once by two at the same time, and a contact is the person in whatever case', async () => {
    const [leaver, service] = [await aUser(idp.services), await aService(idp)];
    const heirs = [await aUser(idp.services), await aUser(idp.services)];
    const group = await aGroup(leaver);
    const { applicationId } = await anApplication(idp, { contacts: [leaver.account.email?.toUpperCase() ?? ''] });
    const at = `/users/${leaver.account.id}`;
    expect((await service.get(`${at}/owned`)).json()).toMatchObject({
      items: [
        { id: group.id, kind: 'group' },
        { id: applicationId, kind: 'application' },
      ],
    });
    const sent = async (items: string[]) => {
      const answers = heirs.map((heir) =>
        service.send('POST', `${at}/hand-over`, { to: heir.account.id, items }).then(({ status }) => status),
      );
      return (await Promise.all(answers)).sort();
    };
    expect(await sent([group.id])).toEqual([200, 404]);
    expect(await ownersOf(group.id)).toHaveLength(1);
    expect(await sent([applicationId])).toEqual([200, 404]);
    const { clientId } = await idp.services.applications.get(applicationId);
    const events = await idp.services.audit.list({ types: ['application.updated'], clientId });
    expect(events).toHaveLength(1);
    expect(heirs.map(({ account }) => [account.email])).toContainEqual(await contactsOf(applicationId));
  });

  itOnBothInLongRun(
    'is handed over only by who may change each of these, and to an account that can be used',
    async () => {
      const [leaver, heir] = [await aUser(idp.services), await aUser(idp.services)];
      const group = await aGroup(leaver);
      const at = `/users/${leaver.account.id}`;
      const role = async (permissions: string[]) =>
        (await idp.services.roles.create({ name: `hand-over-${++count}`, permissions })).name;
      const reader = await aPerson(idp, [await role(['gatehouse.users:read', 'gatehouse.groups:read'])]);
      expect((await reader.get(`${at}/owned`)).json()).toMatchObject({
        items: [{ id: group.id, obstacle: expect.any(String) }],
        api_keys: [],
      });
      expect((await reader.send('POST', `${at}/hand-over`, { to: heir.account.id })).status).toBe(403);
      const given = await role([]);
      await idp.services.groups.addRole(group.id, given);
      const desk = await aPerson(idp, [
        await role(['gatehouse.users:read', 'gatehouse.groups:read', 'gatehouse.groups:write']),
      ]);
      const refused = await desk.send('POST', `${at}/hand-over`, { to: heir.account.id, items: [group.id] });
      expect(refused.status, refused.text).toBe(403);
      expect(await ownersOf(group.id)).toMatchObject([{ userId: leaver.account.id }]);
      const outsider = await aPerson(idp, [await role(['gatehouse.groups:read'])]);
      expect((await outsider.get(`${at}/owned`)).status).toBe(403);
      await idp.services.accounts.setActive(heir.account.id, false);
      const service = await aService(idp);
      expect((await service.send('POST', `${at}/hand-over`, { to: heir.account.id })).status).toBe(400);
      expect((await service.send('POST', `${at}/hand-over`, { to: leaver.account.id })).status).toBe(400);
    },
  );
});
