// `groups:` in the configuration file: plan, apply, export, and what is wrong with a file.
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resourcesOf } from '../../src/applications/resources.ts';
import { readValidFile } from '../../src/config-file/read-file.ts';
import { testFolder } from '../support/database/database.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { configFileBench, lines } from './support.ts';

const FILE = `
roles: [{ name: lab-user, permissions: ['lab:use'] }, { name: reader }]
users:
  - { username: alice, sub: subject-alice }
  - { username: Zoe, sub: subject-zoe, roles: [{ name: reader, until: 2026-06-01T00:00:00Z }] }
  - { username: olga, sub: subject-olga }
groups:
  - { name: Science, description: All of it, groups: [Physics], roles: [lab-user] }
  - name: Physics
    members: [alice, { username: zoe, until: 2026-12-31T00:00:00Z }]
    owners: [{ username: olga, until: 2027-01-01T00:00:00Z }]
    requests: true
  - { name: Guests }
clients:
  - { client_id: lab, redirect_uris: [https://lab.example/cb], access: { roles: [reader, lab-user], groups: [Science, Guests] }, client_secret: ${'s'.repeat(43)} }
`;

type Bench = Awaited<ReturnType<typeof configFileBench>>;
let bench: Bench;
beforeAll(async () => {
  bench = await configFileBench();
});
afterAll(() => bench.close());
beforeEach(async () => {
  bench.clock.at = new Date('2026-03-01T12:00:00Z');
  expect(lines(await bench.apply(FILE))).toEqual(expect.not.arrayContaining([expect.stringMatching(/^f:/)]));
});

const account = async (name: string, at = bench) => (await at.accounts.findByLogin(name)) ?? expect.fail(name);
const group = async (name: string, at = bench) => (await at.groups.find(name)) ?? expect.fail(name);
const apply = async (text: string) => lines(await bench.apply(text));
const plan = async (text: string) => lines(await bench.plan(text));

describe('a file with groups', () => {
  itOnSqlite('gives the members the roles of the group and of those above it, until they end', async () => {
    expect(await account('alice')).toMatchObject({
      roles: ['lab-user'],
      groups: [{ path: '/Science/Physics' }, { path: '/Science' }],
    });
    expect((await account('zoe')).groups[0]?.until).toEqual(new Date('2026-12-31T00:00:00Z'));
    expect((await account('zoe')).roles.sort()).toEqual(['lab-user', 'reader']);
    expect(await bench.groups.owners((await group('Physics')).id)).toMatchObject([
      { userId: 'subject-olga', until: new Date('2027-01-01T00:00:00Z') },
    ]);
    const { access } = (await bench.applications.allGenuine())[0] ?? expect.fail('no application');
    expect(access).toEqual({ roles: ['lab-user', 'reader'], groups: ['Guests', 'Science'] });
  });

  it('has nothing left to change, also after the ends', async () => {
    expect(await plan(FILE)).toEqual([]);
    bench.clock.at = new Date('2027-02-01T00:00:00Z');
    expect(await plan(FILE)).toEqual([]);
  });

  it('owns its groups, and the members that it declares', async () => {
    const [physics, guests] = [await group('Physics'), await group('Guests')];
    const olga = [{ userId: 'subject-olga' }];
    await expect(bench.groups.addMembers(physics.id, olga)).rejects.toMatchObject({ code: 'owned_by_file' });
    await expect(bench.groups.update(guests.id, { name: 'X' })).rejects.toMatchObject({ code: 'owned_by_file' });
    expect(await bench.groups.addMembers(guests.id, olga)).toBe(1);
    expect(await plan(FILE)).toEqual([]);
    // A connection gives what it gives.
    await bench.groups.setMemberships('subject-olga', 'connection:corp', [physics.id]);
    expect(await plan(FILE)).toEqual([]);
    await bench.groups.setMemberships('subject-olga', 'connection:corp', []);

    const declared = FILE.replace('{ name: Guests }', '{ name: Guests, members: [olga, alice] }');
    expect(await apply(declared)).toEqual(['change groups Guests (members)']);
    expect((await bench.groups.members(guests.id)).map(({ userId, source }) => [userId, source])).toEqual([
      ['subject-alice', 'file'],
      ['subject-olga', 'file'],
    ]);
    expect(await plan(declared)).toEqual([]);
    expect(await apply(FILE)).toEqual(['change groups Guests (members)']);
    expect(await bench.groups.members(guests.id)).toEqual([]);
  });

  itOnSqlite('has roles that are limited to a group, which it makes in the same run, by its name', async () => {
    const desk = "{ name: desk, permissions: ['gatehouse.users[group:New%20Lab]:read', 'desk:use'] }";
    const limited = FILE.replace('{ name: reader }]', `{ name: reader }, ${desk}]`).replace(
      '  - { name: Guests }',
      '  - { name: Guests }\n  - { name: New Lab }',
    );
    expect(await apply(limited)).toEqual(['create roles desk', 'create groups New Lab']);
    const { id } = await group('New Lab');
    expect((await bench.roles.find('desk'))?.permissions).toEqual(['desk:use', `gatehouse.users[group:${id}]:read`]);
    expect(await plan(limited)).toEqual([]);
    const exported = JSON.stringify(await bench.export());
    expect(exported).toContain('gatehouse.users[group:New%20Lab]:read');
    const unknown = limited.replace('  - { name: New Lab }\n', '');
    expect(await plan(unknown)).toEqual([expect.stringContaining('roles[2].permissions[0]')]);
    expect(await apply(FILE)).toEqual(
      ['delete groups New Lab', 'delete roles desk'].sort((a) => (a.includes('roles') ? -1 : 1)),
    );
  });

  it('declares domains, which are proven, and takes over those that are not', async () => {
    const guests = await group('Guests');
    const declared = FILE.replace('{ name: Guests }', '{ name: Guests, domains: [Lab.example, bücher.example] }');
    expect(await apply(declared)).toEqual(['change groups Guests (domains)']);
    const domains = async (of = guests.id) =>
      (await bench.groupDomains.list(of)).map(({ domain, provenAt }) => [domain, provenAt !== null]);
    expect(await domains()).toEqual([
      ['lab.example', true],
      ['xn--bcher-kva.example', true],
    ]);
    expect(await plan(declared)).toEqual([]);
    const change = bench.groupDomains.add(guests.id, 'other.example');
    await expect(change).rejects.toMatchObject({ code: 'owned_by_file' });
    expect(await apply(FILE)).toEqual(['change groups Guests (domains)']);
    expect(await domains()).toEqual([]);
    const own = await bench.groups.create({ name: 'Own' });
    await bench.groupDomains.add(own.id, 'own.example');
    expect(await domains(own.id)).toEqual([['own.example', false]]);
    const owning = FILE.replace('{ name: Guests }', '{ name: Guests }\n  - { name: Own, domains: [own.example] }');
    expect(await apply(owning)).toEqual(['change groups Own (domains, source)']);
    expect(await domains(own.id)).toEqual([['own.example', true]]);
    expect(await plan(owning)).toEqual([]);
    const sensitive = FILE.replace('{ name: Guests }', '{ name: Guests, roles: [auditor], domains: [own.example] }');
    expect(await plan(sensitive)).toEqual([expect.stringMatching(/groups\[2\]\.domains.*gives/)]);
    const wrong = FILE.replace('{ name: Guests }', '{ name: Guests, domains: ["not a domain"] }');
    expect(await plan(wrong)).toEqual([expect.stringContaining('groups[2].domains[0]')]);
    await apply(FILE);
  });

  itOnSqlite('does not let a connection put people in a group that gives a permission in Gatehouse', async () => {
    const partner = `
connections:
  - id: partner
    kind: oidc
    name: Partner
    issuer: https://partner.example
    client_id: gatehouse
    client_secret: ${'p'.repeat(43)}
    group_mappings: { physicists: Guests }
`;
    const open = FILE.replace(
      '{ name: reader }]',
      "{ name: reader }, { name: guest, permissions: ['lab:see'] }]",
    ).replace('{ name: Guests }', '{ name: Guests, roles: [guest] }');
    const givesRight = (text: string) => text.replace("'lab:see'", "'gatehouse.users:read'");
    const refused = [expect.stringMatching(/groups\[2\].*Guests gives permissions/)];
    // All at once, and the permission after the mapping, which the file or the console declares.
    expect(await plan(givesRight(open) + partner)).toEqual(refused);
    expect(await apply(open + partner)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^f:/)]));
    expect(await plan(givesRight(open) + partner)).toEqual(refused);
    expect(await apply(givesRight(open) + partner)).toEqual(refused);
    await bench.db.connection.updateMany({ where: { id: 'partner' }, data: { source: 'local' } });
    expect(await plan(givesRight(open))).toEqual(refused);
    await bench.db.connection.updateMany({ where: { id: 'partner' }, data: { source: 'file' } });
    expect(await plan(givesRight(open))).not.toEqual(refused);
    // The role goes with the group's use of it.
    expect(await apply(FILE)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^f:/)]));
    expect(await plan(FILE)).toEqual([]);
  });

  itOnSqlite('changes and deletes what it declared before, whatever the order', async () => {
    const turned = FILE.replace(', groups: [Physics]', '')
      .replace('  - name: Physics\n', '  - name: Physics\n    groups: [Science]\n')
      .replace('[alice, { username: zoe, until: 2026-12-31T00:00:00Z }]', '[{ username: zoe }]');
    expect(await apply(turned)).toEqual([
      'change groups Science (groups)',
      'change groups Physics (groups, owners, members, owners)'.replace(', owners, members, owners', ', members'),
    ]);
    expect((await account('alice')).groups).toEqual([]);
    expect((await group('Science')).path).toBe('/Physics/Science');
    expect(
      await apply(FILE.replace(/groups:\n[\s\S]*?clients/, 'clients').replace(', groups: [Science, Guests]', '')),
    ).toEqual([
      'change clients lab (access)',
      'delete groups Guests',
      'delete groups Physics',
      'delete groups Science',
    ]);
    expect(await bench.groups.list()).toEqual([]);
  });

  itOnSqlite('takes a group of the console over, by a name that looks like it', async () => {
    const text = FILE.replace('{ name: Guests }', '{ name: Guests }\n  - { name: Night Shift, members: [olga] }');
    const { id } = await bench.groups.create({ name: 'night shift' });
    await bench.groups.addMembers(id, [{ userId: 'subject-alice' }]);
    expect(await apply(text)).toEqual(['change groups Night Shift (name, members, source)']);
    expect(await bench.groups.members(id)).toMatchObject([{ userId: 'subject-olga', source: 'file' }]);
    expect(await plan(text)).toEqual([]);
  });

  itOnSqlite('leaves the owners alone where it does not name them, and dismisses all by an empty list', async () => {
    const { id } = await bench.groups.create({ name: 'Owned' });
    await bench.groups.appointOwner(id, { userId: 'subject-olga' });
    const withOwned = (entry: string) => FILE.replace('{ name: Guests }', `{ name: Guests }\n  - ${entry}`);
    expect(await apply(withOwned('{ name: Owned }'))).toEqual(['change groups Owned (source)']);
    expect(await bench.groups.owners(id)).toMatchObject([{ userId: 'subject-olga' }]);
    expect(await apply(withOwned('{ name: Owned, owners: [] }'))).toEqual(['change groups Owned (owners)']);
    expect(await bench.groups.owners(id)).toEqual([]);
    expect(await apply(FILE)).toEqual(['delete groups Owned']);
  });

  itOnSqlite(
    'leaves no owner in a group that gives permissions in Gatehouse, also one that it does not name',
    async () => {
      const { id } = await bench.groups.create({ name: 'Owned' });
      await bench.groups.appointOwner(id, { userId: 'subject-olga' });
      const text = FILE.replace('{ name: Guests }', '{ name: Guests }\n  - { name: Owned, roles: [admin] }');
      expect(await plan(text)).toEqual([expect.stringContaining('the group Owned gives permissions in Gatehouse')]);
      await bench.groups.remove(id);
    },
  );

  itOnSqlite('confirms owners when it gives their group a role', async () => {
    const text = FILE.replace('roles: [lab-user] }', 'roles: [lab-user, reader] }');
    expect(await apply(text)).toEqual(['change groups Science (roles)', 'change groups Physics (owners)']);
    expect(await plan(text)).toEqual([]);
  });

  it('is exported so that a fresh server accepts it unchanged', async () => {
    const local = await bench.groups.create({
      name: 'Visitors',
      description: 'By the "console"',
      acceptsRequests: true,
    });
    await bench.groups.addMembers(local.id, [{ userId: 'subject-zoe', until: new Date('2026-05-01T00:00:00Z') }]);
    await bench.groups.appointOwner(local.id, { userId: 'subject-olga' });
    await bench.groups.addMembers((await group('Guests')).id, [{ userId: 'subject-alice' }]);
    const text = await bench.export();
    const fresh = await configFileBench();
    try {
      const secret = text.replace('client_id: lab', `client_id: lab\n    client_secret: ${'s'.repeat(43)}`);
      expect(lines(await fresh.apply(secret))).toContain('create groups Visitors');
      expect(await fresh.export()).toBe(text);
      expect(lines(await fresh.plan(secret))).toEqual([]);
      expect(await account('zoe', fresh)).toMatchObject({ roles: (await account('zoe')).roles });
    } finally {
      await fresh.close();
    }
    await bench.groups.remove(local.id);
  });

  itOnSqlite('opens an API to its groups, and is exported with that', async () => {
    const api =
      'resources: [{ identifier: https://api.example, scopes: [read], access: { groups: [Science, Guests] } }]\n';
    const declared = api + FILE;
    expect(await apply(declared)).toEqual(['create resources https://api.example']);
    const stored = async () =>
      (await resourcesOf(await bench.db.resource.findMany(), bench.db))[0] ?? expect.fail('no API');
    expect((await stored()).access).toEqual({ roles: [], groups: ['Guests', 'Science'] });
    expect(await plan(declared)).toEqual([]);
    expect(await plan(declared.replace(', Guests] } }]', '] } }]'))).toEqual([
      'change resources https://api.example (access)',
    ]);
    expect(await plan(declared.replace(', Guests] } }]', ', Nobody] } }]'))).toEqual([
      expect.stringMatching(/resources\[0\].*Nobody/),
    ]);
    const text = await bench.export();
    expect(text).toContain('access:\n      roles: []\n      groups:\n        - Guests\n        - Science');
    const fresh = await configFileBench();
    try {
      await fresh.apply(text.replace('client_id: lab', `client_id: lab\n    client_secret: ${'s'.repeat(43)}`));
      expect(await fresh.export()).toBe(text);
    } finally {
      await fresh.close();
    }
    // A group that is gone opens nothing, and the rule stays.
    const without = declared.replace('\n  - { name: Guests }', '').replaceAll(', Guests]', ']');
    expect(await apply(without)).toContain('change resources https://api.example (access)');
    expect((await stored()).access).toEqual({ roles: [], groups: ['Science'] });
    expect(await apply(FILE)).toContain('delete resources https://api.example');
  });

  it('is not planned again until a row of its groups changes', async () => {
    const name = path.join(testFolder(), 'gatehouse-groups.yaml');
    writeFileSync(name, FILE);
    const applyFile = async () => lines(await bench.configFile.apply(await readValidFile(name)));
    await applyFile();
    expect(await bench.configFile.isApplied(name)).toBe(true);
    await bench.groups.addMembers((await group('Guests')).id, [{ userId: 'subject-zoe' }]);
    expect(await bench.configFile.isApplied(name)).toBe(true);
    await bench.db.groupMember.deleteMany({ where: { userId: 'subject-alice' } });
    expect(await bench.configFile.isApplied(name)).toBe(false);
    expect(await applyFile()).toEqual(['change groups Physics (members)']);
    await bench.db.groupChild.deleteMany({});
    expect(await applyFile()).toEqual(['change groups Science (groups)']);
    rmSync(name);
  });
});

describe('a wrong file', () => {
  const groups = (...entries: string[]) =>
    `${FILE.replace(/groups:\n[\s\S]*/, '')}groups:\n${entries.map((one) => `  - ${one}\n`).join('')}`;
  const chain = (length: number) =>
    groups(
      ...Array.from(
        { length },
        (_, index) => `{ name: g${index}${index < length - 1 ? `, groups: [g${index + 1}]` : ''} }`,
      ),
    );

  itOnSqlite.each<[string, () => string, string]>([
    ['a cycle', () => groups('{ name: A, groups: [B] }', '{ name: B, groups: [A] }'), 'would be in itself'],
    [
      'a group in itself',
      () => groups('{ name: A, groups: [A] }'),
      'groups[0].groups[0]: the group A would be in itself.',
    ],
    ['nine levels', () => chain(9), 'at most 8 groups can be one below the other.'],
    ['a chain of five thousand', () => chain(5000), 'at most 8 groups can be one below the other.'],
    ['a long name', () => groups(`{ name: ${'x'.repeat(10_000)} }`), 'Use up to 100 letters'],
    ['a slash', () => groups('{ name: A/B }'), 'Use up to 100 letters'],
    [
      'names that look alike',
      () => groups('{ name: Admins }', '{ name: "\u0410dmins" }'),
      'groups[1].name is already declared in groups[0]',
    ],
    [
      'an unknown member',
      () => groups('{ name: A, members: [alice, nobody] }'),
      'f:8:33: groups[0].members[1]: this user doesn’t exist: nobody.',
    ],
    [
      'an unknown owner',
      () => groups('{ name: A, owners: [nobody] }'),
      'groups[0].owners[0]: this user doesn’t exist: nobody.',
    ],
    [
      'a member twice',
      () => groups('{ name: A, members: [alice, { username: ALICE }] }'),
      'groups[0].members[1] is already declared in members[0]',
    ],
    ['an unknown child', () => groups('{ name: A, groups: [B] }'), 'groups[0].groups[0]: this group doesn’t exist: B.'],
    [
      'an unknown role',
      () => groups('{ name: A, roles: [none] }'),
      'groups[0].roles[0]: this role doesn’t exist: none.',
    ],
    [
      'a time without a zone',
      () => groups('{ name: A, members: [{ username: alice, until: tomorrow }] }'),
      'groups[0].members[0].until',
    ],
    [
      'an end before the beginning',
      () =>
        groups('{ name: A, members: [{ username: alice, since: 2027-01-01T00:00:00Z, until: 2026-12-31T00:00:00Z }] }'),
      'choose a time',
    ],
    [
      'an owner of administrators',
      () => groups('{ name: A, roles: [admin], groups: [B] }', '{ name: B, owners: [alice] }'),
      'groups[1].owners: the group B gives permissions in Gatehouse',
    ],
    [
      'requests to administrators',
      () => groups('{ name: A, roles: [admin], requests: true }'),
      'groups[0].requests: the group A gives permissions in Gatehouse',
    ],
    [
      'a key that no group has',
      () => FILE.replace('{ name: Guests }', '{ name: Guests, __proto__: { roles: [admin] } }'),
      'groups[2].__proto__ isn’t a known field.',
    ],
    [
      'a key that no member has',
      () => FILE.replace('members: [alice,', 'members: [{ username: alice, __proto__: { until: null } },'),
      'groups[1].members[0].__proto__ isn’t a known field.',
    ],
    [
      'an unknown group of an application',
      () => FILE.replace('[Science, Guests]', '[Science, science]'),
      'clients[0].access.groups[1]: this group doesn’t exist: science.',
    ],
  ])('says where: %s; and nothing changes', async (_what, text, expected) => {
    const before = await bench.export();
    expect(await plan(text())).toContainEqual(expect.stringContaining(expected));
    expect(await apply(text())).toContainEqual(expect.stringContaining(expected));
    expect(await bench.export()).toBe(before);
  });

  itOnSqlite('leaves nothing half done when the last administrator would be lost', async () => {
    const admins = (members: string) =>
      `${FILE.replace('  - { name: Guests }', `  - { name: Guests }\n  - { name: Admins, roles: [admin], members: [${members}] }`)}`;
    await apply(admins('alice'));
    const before = await bench.export();
    await expect(
      bench.apply(admins('').replace('name: Guests', 'name: Hosts').replace(', Guests', '')),
    ).rejects.toMatchObject({ code: 'last_admin' });
    expect(await bench.export()).toBe(before);
    // Given to another group by the same file.
    expect(await apply(admins('alice').replaceAll('Admins', 'Roots'))).toEqual([
      'create groups Roots',
      'delete groups Admins',
    ]);
    const { id } = await bench.accounts.create({ username: 'root' });
    await bench.roles.assign(id, 'admin');
    await apply(FILE);
  });
});
