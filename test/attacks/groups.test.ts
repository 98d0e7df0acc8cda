// Attacks on groups: each way into a group by someone who may not give its roles (CVE-2026-94000), each way to lose the last administrator
// by a group, and names, graphs and lists that no group has. Ends, requests, invitations and domains: test/groups; the file: test/config-file.
import { beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, imported, staff, triedImport } from '../admin/console/support.ts';
import { type ApiCaller, aPerson, aService } from '../admin/support.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import type { HttpClient, Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdp } from '../support/shared-idp.ts';

const anyVersion = { 'if-match': '*' };
let idp: TestIdp;
let admin: ApiCaller;
let count = 0;
const fresh = (what: string) => `attack-${what}-${++count}`;
beforeAll(async () => {
  idp = await sharedIdp();
  admin = await aService(idp);
});
const status = async (answer: Promise<Page>) => (await answer).status;
const accountOf = async (id: string) => (await idp.services.accounts.find(id)) ?? expect.fail('no account');

describe('who manages groups and users, and may not give a role', () => {
  let actor: ApiCaller;
  let self: TestUser;
  let pages: HttpClient;
  let role: string;
  let guarded: string;
  let above: string;
  let own: string;
  beforeAll(async () => {
    const { groups, roles } = idp.services;
    role = (await roles.create({ name: fresh('role'), permissions: ['payroll:write'] })).name;
    [above, guarded, own] = [
      (await groups.create({ name: fresh('above') })).id,
      (await groups.create({ name: fresh('guarded') })).id,
      (await groups.create({ name: fresh('own') })).id,
    ];
    await groups.addRole(above, role);
    await groups.addChild(above, guarded);
    const rights = ['groups:read', 'groups:write', 'users:read', 'users:write', 'roles:read', 'roles:write'];
    const manager = await roles.create({
      name: fresh('manager'),
      permissions: rights.map((one) => `gatehouse.${one}`),
    });
    actor = await aPerson(idp, [manager.name]);
    self = actor.user ?? expect.fail('no user');
    pages = await consoleOf(idp, self);
  });

  /** What the actor sends, by each way in. `id`: the actor's own account. */
  const ways: Record<string, (id: string) => Promise<Page>> = {
    'a member of the group': (user) => actor.send('POST', `/groups/${guarded}/members`, { members: [{ user }] }),
    'a member of the group above': (user) => actor.send('POST', `/groups/${above}/members`, { members: [{ user }] }),
    'a group of the user': (user) => actor.send('PUT', `/users/${user}/groups/${guarded}`, {}),
    'a group of the actor below it': () => actor.send('PUT', `/groups/${guarded}/children/${own}`),
    'the role for a group of the actor': () => actor.send('PUT', `/groups/${own}/roles/${role}`),
    'the role itself': (user) => actor.send('PUT', `/users/${user}/roles/${role}`, {}),
    'an owner': (user) => actor.send('PUT', `/groups/${guarded}/owners/${user}`, {}),
    'a domain': () => actor.send('PUT', `/groups/${guarded}/domains/example.com`),
    requests: () => actor.send('PATCH', `/groups/${guarded}`, { accepts_requests: true }, anyVersion),
    'the name of the group': () => actor.send('PATCH', `/groups/${guarded}`, { name: fresh('x') }, anyVersion),
    'the group is deleted': () => actor.send('DELETE', `/groups/${guarded}`, undefined, anyVersion),
    'a group leaves the one above': () => actor.send('DELETE', `/groups/${above}/children/${guarded}`),
    'a new user with the role': () => actor.send('POST', '/users', { username: fresh('new'), roles: [role] }),
    'a connection': () =>
      actor.send('POST', '/connections', {
        id: fresh('corp'),
        kind: 'oidc',
        name: 'Corp',
        issuer: 'https://corp.example',
      }),
    'the form of the console': async () =>
      pages.submit(await pages.get(`/admin/groups/${own}`), { user: self.username }).then((page) =>
        // The form of the own group, sent to the other one.
        pages.post(`/admin/groups/${guarded}`, {
          form: { _csrf: page.forms[0]?.fields._csrf ?? '', user: self.username, since: '', until: '' },
          headers: { origin: idp.issuer, 'sec-fetch-site': 'same-origin' },
        }),
      ),
    'several people in the console': () => pages.get(`/admin/groups/${guarded}/bulk`),
    'the page of owners': () => pages.get(`/account/groups/${guarded}`),
  };
  itOnSqlite.each(Object.keys(ways))('gets nothing by %s', async (name) => {
    const { id } = self.account;
    const before = await accountOf(id);
    const answer = await (ways[name] ?? expect.fail())(id);
    expect([400, 403, 404], `${answer.status} ${answer.text.slice(0, 300)}`).toContain(answer.status);
    const after = await accountOf(id);
    expect(after.roles).toEqual(before.roles);
    expect(after.permissions).not.toContain('payroll:write');
    expect(after.groups.map((one) => one.id)).not.toContain(guarded);
    const { groups } = idp.services;
    expect(await groups.members(guarded)).toEqual([]);
    expect(await groups.owners(guarded)).toEqual([]);
    expect(await groups.relations(guarded)).toMatchObject({ children: [], roles: [] });
    expect(await groups.get(guarded)).toMatchObject({ acceptsRequests: false });
    expect((await groups.relations(own)).roles).toEqual([]);
  });

  itOnSqlite(
    'imports users into groups whose roles are the actor’s to give: every other row makes nobody and is named',
    async () => {
      const { groups, accounts } = idp.services;
      const nameOf = async (id: string) => (await groups.get(id)).name;
      const declared = await groups.create({ name: fresh('declared'), fileMembers: true }, { source: 'file' });
      const sensitive = await groups.create({ name: fresh('sensitive') });
      await groups.addRole(sensitive.id, 'auditor');
      const mine = await nameOf(own);
      const cells = [mine, `${mine}; ${await nameOf(guarded)}`, sensitive.name, declared.name, 'No such group'];
      const sent = async (browser: HttpClient, send: typeof imported) => {
        const users = cells.map(() => fresh('import'));
        const csv = ['username,groups', ...users.map((user, row) => `${user},${cells[row]}`)].join('\n');
        const page = await send(browser, csv);
        const made = await Promise.all(users.map(async (user) => (await accounts.findByLogin(user))?.groups));
        const wrong = users.filter((user) => textOf(page.text).includes(`${user} `));
        return { made: made.map((of) => of?.map(({ name }) => name)), wrong: wrong.length, page: page.text };
      };
      const nobody = cells.map(() => undefined);
      const tried = await sent(pages, triedImport);
      expect(tried).toMatchObject({ made: nobody, wrong: 4 });
      expect(textOf(tried.page)).toContain('5 of 5 rows: 1 can be created, 4 not.');
      const done = await sent(pages, imported);
      expect(done).toMatchObject({ made: [[mine], ...nobody.slice(1)], wrong: 4 });
      expect((await groups.members(own)).map(({ source }) => source)).toEqual(['direct', 'direct']);
      // Without the right of the groups a name that no group has is answered as that of a group.
      const manager = await sent(await consoleOf(idp, await staff(idp, 'user-manager')), imported);
      expect(manager).toMatchObject({ made: nobody, wrong: 5 });
      expect(textOf(manager.page)).not.toContain('No such group');
      for (const id of [guarded, sensitive.id, declared.id]) expect(await groups.members(id)).toEqual([]);
      for (const { userId } of await groups.members(own)) await groups.removeMembers(own, [userId]);
    },
  );

  itOnSqlite(
    'manages the groups whose roles are the actor’s to give, and takes over nobody who is in another',
    async () => {
      const { account } = await aUser(idp.services);
      const members = [{ user: account.id }];
      expect(await status(actor.send('POST', `/groups/${own}/members`, { members }))).toBe(200);
      await idp.services.groups.removeMembers(own, [account.id]);
      const plain = await idp.services.groups.create({ name: fresh('plain') });
      await idp.services.groups.addMembers(guarded, [{ userId: account.id }]);
      expect(await status(actor.send('POST', `/users/${account.id}/password`, {}))).toBe(403);
      await idp.services.groups.removeMembers(guarded, [account.id]);
      // A group without a role opens applications too: who manages users alone takes over nobody in it.
      await idp.services.groups.addMembers(plain.id, [{ userId: account.id }]);
      const manager = await aPerson(idp, ['user-manager']);
      expect(await status(manager.send('POST', `/users/${account.id}/password`, {}))).toBe(403);
      expect(await status(manager.send('PATCH', `/users/${account.id}`, { email: 'x@example.com' }, anyVersion))).toBe(
        403,
      );
    },
  );
});

describe('a group that gives a permission in Gatehouse', () => {
  itOnSqlite.each(['owners', 'requests', 'domains'] as const)(
    'has no %s, nor has one that is put below it',
    async (kind) => {
      const { groups } = idp.services;
      const sensitive = await groups.create({ name: fresh('staff') });
      await groups.addRole(sensitive.id, 'auditor');
      const { account } = await aUser(idp.services);
      const open = (id: string) =>
        ({
          owners: () => admin.send('PUT', `/groups/${id}/owners/${account.id}`, {}),
          requests: () => admin.send('PATCH', `/groups/${id}`, { accepts_requests: true }, anyVersion),
          domains: () => admin.send('PUT', `/groups/${id}/domains/staff.example`),
        })[kind]();
      expect(await status(open(sensitive.id))).toBe(409);
      const below = await groups.create({ name: fresh('below') });
      expect([200, 204]).toContain(await status(open(below.id)));
      expect(await status(admin.send('PUT', `/groups/${sensitive.id}/children/${below.id}`))).toBe(409);
      expect(await status(admin.send('PUT', `/groups/${below.id}/roles/auditor`))).toBe(409);
      expect((await groups.relations(below.id)).parents).toEqual([]);
    },
  );
});

describe('whose permission is limited to the people in a group', () => {
  itOnSqlite(
    'extends it by nobody as an owner, whenever the permission came: by name, request or invitation',
    async () => {
      const { groups, groupOwners, groupInvitations, roles } = idp.services;
      const [above, own] = [
        await groups.create({ name: fresh('above') }),
        await groups.create({ name: fresh('desk') }),
      ];
      const given = await roles.create({ name: fresh('given'), permissions: [] });
      await groups.addChild(above.id, own.id);
      await groups.addRole(own.id, given.name);
      const owner = await aUser(idp.services);
      const by = { actorId: owner.account.id };
      await groups.appointOwner(own.id, { userId: owner.account.id });
      const { account: victim } = await aUser(idp.services);
      const invite = (email: string) => groupInvitations.invite({ groupId: own.id, email, until: null }, { by });
      const { id, email } = await invite(victim.email ?? '');
      const invitation = { id, group: own, email, until: null, invitedBy: owner.account.id };
      const member = [{ userId: victim.id }];
      for (const limit of [`group:${above.id}`, `group:${own.id}`, `role:${given.name}`]) {
        const desk = await roles.create({
          name: fresh('desk'),
          permissions: [`gatehouse.users[${limit}]:reset-factors`],
        });
        await roles.assign(owner.account.id, desk.name);
        const forbidden = { code: 'forbidden' };
        for (const via of ['owner', 'request', 'invitation'] as const)
          for (const actor of [by, { ...by, grantedRights: [] }])
            await expect(groups.addMembers(own.id, member, { by: actor, via }), via).rejects.toMatchObject(forbidden);
        const add = groupOwners.add(own.id, { login: victim.username, until: null }, { by });
        await expect(add).rejects.toMatchObject(forbidden);
        await expect(invite('other@example.com')).rejects.toMatchObject(forbidden);
        const accept = groupInvitations.accept(invitation, victim.id, {});
        await expect(accept).rejects.toMatchObject({ code: 'invitation_closed' });
        const page = await (await consoleOf(idp, owner)).get(`/account/groups/${own.id}`);
        expect(textOf(page.text)).toContain('someone else decides who is in it');
        expect(await groups.members(own.id)).toEqual([]);
        // A permission for everyone is not extended.
        const wide = await roles.create({ name: fresh('wide'), permissions: ['gatehouse.users:reset-factors'] });
        await roles.assign(owner.account.id, wide.name);
        expect(await groups.addMembers(own.id, member, { by, via: 'owner' })).toBe(1);
        expect(await groups.removeMembers(own.id, [victim.id], { by, via: 'owner' })).toBe(1);
        for (const role of [desk, wide]) await roles.unassign(owner.account.id, role.name);
      }
      expect(await groups.addMembers(own.id, member, { by, via: 'owner' })).toBe(1);
    },
  );

  itOnSqlite(
    'extends it by nobody as a manager of groups: member, child group, role, domain, requests, owner',
    async () => {
      const { groups, roles } = idp.services;
      const [desk, child] = [
        await groups.create({ name: fresh('desk') }),
        await groups.create({ name: fresh('child') }),
      ];
      const limitedRole = await roles.create({ name: fresh('limited'), permissions: [] });
      const rights = ['gatehouse.groups:read', 'gatehouse.groups:write', 'gatehouse.users:read'];
      const limits = [`gatehouse.users[group:${desk.id}]:write`, `gatehouse.users[role:${limitedRole.name}]:write`];
      const manager = await roles.create({ name: fresh('manager'), permissions: [...rights, ...limits] });
      const actor = await aPerson(idp, [manager.name]);
      const { account: victim } = await aUser(idp.services);
      const at = `/groups/${desk.id}`;
      for (const [method, path, body] of [
        ['POST', `${at}/members`, { members: [{ user: victim.id }] }],
        ['PUT', `${at}/children/${child.id}`, undefined],
        ['PUT', `/groups/${child.id}/roles/${limitedRole.name}`, undefined],
        ['PUT', `${at}/domains/desk.example`, undefined],
        ['PATCH', at, { accepts_requests: true }],
        ['PUT', `${at}/owners/${victim.id}`, {}],
      ] as const)
        expect(await status(actor.send(method, path, body, anyVersion)), `${method} ${path}`).toBe(403);
      expect(await status(actor.send('POST', `/users/${victim.id}/password`, {}))).toBe(404);
      const members = [{ user: victim.id }];
      expect(await status(actor.send('POST', `/groups/${child.id}/members`, { members }))).toBe(200);
    },
  );
});

describe('no group', () => {
  const wrong: Record<string, string> = {
    'is empty': '',
    'is a space': ' ',
    'is a path': '../Lab',
    'has a line break': 'La\nb',
    'has NUL': 'La\0b',
    'changes the direction': 'La\u202eb',
    'has half a character': 'La\ud800b',
    'has 10,000 characters': 'x'.repeat(10_000),
  };
  it.each(Object.keys(wrong))('has a name that %s', async (kind) => {
    const name = wrong[kind] ?? '';
    expect(await status(admin.send('POST', '/groups', { name }))).toBe(400);
    expect(await idp.services.groups.find(name)).toBeUndefined();
  });

  it('has a name that looks like that of another one', async () => {
    const name = fresh('Lab é');
    await idp.services.groups.create({ name });
    for (const alike of [
      name.toUpperCase(),
      name.normalize('NFD'),
      name.replace('L', 'Ｌ'),
      name.replace('a', 'а'),
      name.replace('L', 'L\u200b'),
      `${name} `,
    ])
      expect([400, 409], JSON.stringify(alike)).toContain(await status(admin.send('POST', '/groups', { name: alike })));
    expect(await idp.services.groups.list({ search: name })).toHaveLength(1);
  });

  itOnSqlite('is in itself, in a circle, or nine levels deep', async () => {
    const ids: string[] = [];
    for (let level = 0; level < 9; level += 1)
      ids.push((await idp.services.groups.create({ name: fresh('level') })).id);
    const nest = (parent: number, child: number) =>
      status(admin.send('PUT', `/groups/${ids[parent]}/children/${ids[child]}`));
    expect(await nest(0, 0)).toBe(400);
    for (let level = 0; level < 7; level += 1) expect(await nest(level, level + 1)).toBe(204);
    expect(await nest(7, 8)).toBe(400);
    expect(await nest(7, 0)).toBe(400);
    expect(await nest(3, 1)).toBe(400);
    expect((await idp.services.groups.relations(ids[8] ?? '')).parents).toEqual([]);
  });
});

describe('a list of members with one mistake', () => {
  it.each(['an unknown id', 'an end in the past', 'an end before the beginning', 'a beginning in the year 0'])(
    'adds nobody: %s',
    async (kind) => {
      const { groups } = idp.services;
      const group = await groups.create({ name: fresh('list') });
      const people = await Promise.all(Array.from({ length: 3 }, () => aUser(idp.services)));
      const members: Record<string, string>[] = people.map(({ account }) => ({ user: account.id }));
      const user = (await aUser(idp.services)).account.id;
      const mistakes: Record<string, Record<string, string>> = {
        'an unknown id': { user: 'nobody' },
        'an end in the past': { user, until: '2001-01-01T00:00:00Z' },
        'an end before the beginning': { user, since: '2099-02-01T00:00:00Z', until: '2099-01-01T00:00:00Z' },
        'a beginning in the year 0': { user, since: '0000-01-01T00:00:00Z' },
      };
      members.push(mistakes[kind] ?? {});
      const answer = await admin.send('POST', `/groups/${group.id}/members`, { members });
      expect([400, 404]).toContain(answer.status);
      expect(await groups.members(group.id)).toEqual([]);
    },
  );
});

describe('a cursor that names no group and nobody', () => {
  it.each([
    ['\0', 400],
    ['a \0', 400],
    ['\ud800', 400],
    ['%', 200],
  ])('begins somewhere, or is rejected where nothing can have it: %j', async (key, expected) => {
    const { id } = await idp.services.groups.create({ name: fresh('cursor') });
    const cursor = Buffer.from(JSON.stringify([key])).toString('base64url');
    for (const path of ['/groups', `/groups/${id}/members`])
      expect(await status(admin.send('GET', `${path}?cursor=${cursor}`)), path).toBe(expected);
  });
});

describe('what the file declares', () => {
  itOnSqlite('is changed by nobody else: 403 owned_by_file', async () => {
    const { groups } = idp.services;
    const file = { source: 'file' } as const;
    const group = await groups.create({ name: fresh('file'), fileMembers: true }, file);
    const { account } = await aUser(idp.services);
    await groups.appointOwner(group.id, { userId: account.id }, file);
    const at = `/groups/${group.id}`;
    for (const [method, path, body] of [
      ['PATCH', at, { name: 'x' }],
      ['DELETE', at, undefined],
      ['POST', `${at}/members`, { members: [{ user: account.id }] }],
      ['PUT', `${at}/domains/file.example`, undefined],
      ['PUT', `${at}/owners/${account.id}`, {}],
    ] as const) {
      const answer = await admin.send(method, path, body, anyVersion);
      expect(answer.status, `${method} ${path}`).toBe(403);
      expect(answer.text).toContain('owned_by_file');
    }
    const byOwner = { via: 'owner', by: { actorId: account.id } } as const;
    const change = groups.addMembers(group.id, [{ userId: account.id }], byOwner);
    await expect(change).rejects.toMatchObject({ code: 'owned_by_file' });
  });
});
