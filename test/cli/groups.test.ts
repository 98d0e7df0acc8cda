// `gatehouse group …`, and the members of a CSV file.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itInLongRun } from '../support/it-in-long-run.ts';
import { commandLine } from './support.ts';

let cli: Awaited<ReturnType<typeof commandLine>>;
beforeAll(async () => {
  cli = await commandLine();
  const users = Array.from({ length: 30 }, (_, index) => `{ username: u${index}, email: u${index}@example.com }`);
  const file = path.join(cli.folder, 'users.yaml');
  writeFileSync(file, `users: [${users.join(', ')}]\nroles: [{ name: lab-user }]\n`);
  expect(await cli.gatehouse(['apply', file])).toMatchObject({ code: 0 });
});
afterAll(() => cli.close());

const group = (...args: string[]) => cli.gatehouse(['group', ...args]);
const show = async (name: string) => JSON.parse((await group('show', name, '--json')).out);
const usernames = async (name: string) => (await show(name)).members.map((one: { username: string }) => one.username);
function csv(text: string): string {
  const file = path.join(cli.folder, 'members.csv');
  writeFileSync(file, text);
  return file;
}

describe('gatehouse group', () => {
  it('creates groups, nests them and gives them roles, owners and members with an end', async () => {
    expect((await group('create', 'Lab')).out).toBe('Created the group Lab.\n');
    await group('create', 'Science', '--description', 'All of it');
    expect((await group('add-child', 'science', 'lab')).out).toBe('Lab is in Science.\n');
    expect((await group('add-role', 'Science', 'lab-user')).out).toBe('Science has the role lab-user.\n');
    expect((await group('add-owner', 'Lab', 'u1', '--until', '2040-01-01T00:00:00Z')).out).toContain('until 2040');
    const added = ['add', 'Lab', 'U0@example.com', '--until', '2041-01-01T00:00:00Z'];
    expect((await group(...added)).out).toBe('u0 is in Lab until 2041-01-01 00:00.\n');
    expect((await group(...added)).out).toBe('u0 was already in Lab until 2041-01-01 00:00.\n');
    // An end is ended by "never" alone, not by an addition that says no time.
    expect((await group('add', 'Lab', 'u0')).out).toBe('u0 was already in Lab until 2041-01-01 00:00.\n');
    expect((await group('add', 'Lab', 'u0', '--until', 'never')).out).toBe('u0 is in Lab.\n');
    await group(...added);
    expect(await show('Lab')).toMatchObject({
      path: '/Science/Lab',
      parents: ['Science'],
      owners: [{ username: 'u1', until: '2040-01-01T00:00:00.000Z' }],
      members: [{ username: 'u0', via: 'direct', until: '2041-01-01T00:00:00.000Z' }],
    });
    expect((await group('show', 'Science')).out).toMatch(/groups +Lab\nroles +lab-user/);
    expect((await group('list')).out).toMatch(/Lab +\/Science\/Lab +1/);
    expect(JSON.parse((await cli.gatehouse(['user', 'show', 'u0', '--json'])).out).roles).toEqual(['lab-user']);
    expect((await group('remove', 'Lab', 'u0')).out).toBe('u0 is no longer in Lab.\n');
  });

  it('shows the roles and groups of a user with their ends, and gives and takes a role for a time', async () => {
    const user = (...args: string[]) => cli.gatehouse(['user', ...args]);
    const until = '2040-01-01T00:00:00Z';
    await cli.gatehouse(['group', 'create', 'Desk']);
    await group('add', 'Desk', 'u9', '--until', until);
    expect((await user('add-role', 'u9', 'lab-user', '--until', until)).out).toContain('role lab-user until 2040');
    expect((await user('add-role', 'u9', 'lab-user', '--until', until)).out).toContain('for the same time');
    expect((await user('add-role', 'u9', 'lab-user')).out).toContain('for the same time');
    expect((await user('show', 'u9')).out).toMatch(
      /roles +lab-user\nroles by time +lab-user until 2040.*\ngroups +Desk until 2040/,
    );
    expect(JSON.parse((await user('show', 'u9', '--json')).out)).toMatchObject({
      directRoles: [{ name: 'lab-user', since: null, until: '2040-01-01T00:00:00.000Z' }],
      groups: [{ name: 'Desk', isDirect: true }],
    });
    expect(await user('add-role', 'u9', 'lab-user', '--until', 'tomorrow')).toMatchObject({ code: 2 });
    expect(await user('add-role', 'u9', 'lab-user', '--until', '2001-01-01T00:00:00Z')).toMatchObject({ code: 1 });
    expect((await user('remove-role', 'u9', 'lab-user')).out).toBe('u9 no longer has the role lab-user directly.\n');
    await group('add-role', 'Desk', 'lab-user');
    expect((await user('remove-role', 'u9', 'lab-user')).err).toContain('still has the role lab-user by a group');
  });

  it('adds the users of a CSV file, all or none', async () => {
    await group('create', 'Course');
    const good = csv('\uFEFFusername;until\r\nu2;2040-01-01T00:00:00Z\r\nu3@example.com;\r\n');
    expect(JSON.parse((await group('add', 'Course', '--file', good, '--json')).out)).toMatchObject({ changed: 2 });
    expect(await usernames('Course')).toEqual(['u2', 'u3']);
    const bad = csv(
      'username,until\nu4,\nnobody,\n,2040-01-01T00:00:00Z\nu5,tomorrow\nu6,2001-01-01T00:00:00Z\nu4,\nu7,,x\n',
    );
    expect(await group('add', 'Course', '--file', bad)).toMatchObject({
      code: 1,
      err: `Nothing was changed, because of 6 mistakes in the file:
  line 3: No user has the username or email address nobody.
  line 4: The username is missing.
  line 5: tomorrow is no time, such as 2026-12-31 or 2026-12-31T00:00:00Z.
  line 6: The end has passed, or is before the beginning.
  line 7: The same user is in line 2.
  line 8: The row has more cells than the first line.
`,
    });
    expect(await usernames('Course')).toEqual(['u2', 'u3']);
    expect(await group('remove', 'Course', '--file', csv('username\nu2\nnobody\n'))).toMatchObject({ code: 1 });
    expect(await usernames('Course')).toEqual(['u2', 'u3']);
    expect((await group('remove', 'Course', '--file', csv('username\nu2\nu4\n'))).out).toBe(
      "Removed 1 member from Course; 1 weren't in it directly.\n",
    );
    await group('add', 'Course', 'u2');
  });

  itInLongRun('names the mistakes of two hundred thousand rows', async () => {
    await group('create', 'Everybody');
    const rows = Array.from({ length: 200_000 }, (_, index) => (index < 30 ? `u${index}` : `stranger${index}`));
    const ended = await group('add', 'Everybody', '--file', csv(`username\n${rows.join('\n')}\n`));
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('because of 199,970 mistakes') });
    expect(ended.err).toContain('  line 32: No user has the username or email address stranger30.\n');
    expect(ended.err).toContain('  and 199950 more\n');
    expect(await usernames('Everybody')).toEqual([]);
  });

  it('says what the members lose before it deletes a group', async () => {
    await group('add-role', 'Course', 'lab-user');
    const asked = await group('delete', 'Course');
    expect(asked).toMatchObject({ code: 1, out: '' });
    expect(asked.err).toBe(
      'This deletes the group Course. To confirm, add --yes. 2 members would lose:\n  roles: lab-user\n  applications: none\n  APIs: none\n',
    );
    expect((await group('delete', 'Course', '--yes')).out).toBe('Deleted the group Course, which had 2 members.\n');
  });

  it('lets `gatehouse doctor` compare the stored graph with the groups below each other', async () => {
    const found = async () =>
      JSON.parse((await cli.gatehouse(['doctor', '--json'])).out).filter(
        ({ check }: { check: string }) => check === 'groups',
      );
    expect(await found()).toEqual([]);
    const { db } = cli;
    await db.groupAncestor.deleteMany({ where: { group: { name: 'Lab' } } });
    expect(await found()).toEqual([
      expect.objectContaining({ status: 'failure', message: expect.stringMatching(/: Lab$/) }),
    ]);
    await group('remove-child', 'Science', 'Lab');
    await group('add-child', 'Science', 'Lab');
    expect(await found()).toEqual([]);
  });

  it.each([
    [['show', 'None'], 1, 'There is no group "None". To see all groups, run: gatehouse group list'],
    [['create', 'A/B'], 1, 'for the name of the group'],
    [['create', 'x'.repeat(10_000)], 1, 'for the name of the group'],
    [['create', 'L\u0430b'], 1, 'looks like it'],
    [['add-child', 'Lab', 'Science'], 1, 'would be in itself'],
    [['add-role', 'Lab', 'admin'], 1, 'gives permissions in Gatehouse'],
    [['add', 'Lab'], 2, 'either LOGIN or --file is needed'],
    [['add', 'Lab', 'nobody'], 1, 'There is no user "nobody"'],
    [['add', 'Lab', 'u1', '--until', 'tomorrow'], 2, '--until is no time'],
    [['add', 'Lab', 'u1', '--until', '2099-02-30T00:00:00Z'], 2, '--until is no time'],
    [['add', 'Lab', 'u1', '--until', '9999-12-31T23:00:00-02:00'], 2, '--until is no time'],
    [['add', 'Lab', 'u1', '--until', '2001-01-01T00:00:00Z'], 1, 'time to come'],
    [['add', 'Lab', '--file', '/nowhere.csv'], 2, 'cannot be read (ENOENT)'],
  ])('rejects group %j', async (args, code, message) => {
    const ended = await group(...args);
    expect(ended).toMatchObject({ code, out: '' });
    expect(ended.err).toContain(message);
  });
});
