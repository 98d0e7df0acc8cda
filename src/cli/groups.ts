// `gatehouse group …`: groups, their members, owners, roles and place in the graph.

import { readFile } from 'node:fs/promises';
import { createNames } from '../admin/console/names.ts';
import type { MemberRows } from '../admin/groups/member-rows.ts';
import { limits } from '../base/limits.ts';
import { plural } from '../base/platform/plural.ts';
import { inChunks } from '../base/storage/chunks.ts';
import type { Db } from '../base/storage/database.ts';
import type { WantedChange } from '../people/groups/changes.ts';
import { isPersonal } from '../people/groups/groups.ts';
import type { Group } from '../people/groups/read.ts';
import type { Services } from '../server/services.ts';
import { type Commands, type Description, fail, type Input, noSuch, UsageError, type Work } from './command.ts';
import { factLines, formatDate, type Io, proofLine, tableLines } from './io.ts';
import { type Period, periodOption, timeOption, times } from './times.ts';
import { userOf } from './users.ts';

/** Rows read from the database at once. */
const PAGE = 500;
/** Mistakes of a file that are printed one by one. */
const MOST_NAMED = 20;
/** Between two lines of progress. */
const PROGRESS_MS = 2000;

const file = {
  file: { type: 'string', value: 'CSV', help: 'the users of a CSV file, instead of LOGIN' },
} as const;

export const groupCommands: Commands = {
  'group list': {
    summary: 'list all groups',
    async act(services) {
      const counts = await services.db.asStored.groupMember.groupBy({ by: ['groupId'], _count: { userId: true } });
      const members = new Map(counts.map(({ groupId, _count }) => [groupId, _count.userId]));
      const found = [];
      for await (const group of allGroups(services)) found.push({ ...group, members: members.get(group.id) ?? 0 });
      const rows = found.map((one) => [one.name, one.path, String(one.members), one.description || '-', one.source]);
      return { json: found, table: [['NAME', 'PATH', 'MEMBERS', 'DESCRIPTION', 'SOURCE'], rows] };
    },
  },

  'group show': {
    args: ['NAME'],
    summary: 'show a group with its members',
    async act(services, input) {
      const { groups, groupDomains, db } = services;
      const group = await groupOf(services, input);
      const { parents, children, roles } = await groups.relations(group.id);
      const appointed = await groups.owners(group.id);
      const names = await usernamesOf(
        appointed.map(({ userId }) => userId),
        db,
      );
      const owners = appointed.map(({ userId, until, deputyOf }) => ({
        id: userId,
        username: names.get(userId) ?? userId,
        until,
        deputyOf: deputyOf && (names.get(deputyOf) ?? deputyOf),
      }));
      const domains = await groupDomains.list(group.id);
      const members = await membersOf(group.id, services);
      const related = { parents: parents.map(({ name }) => name), children: children.map(({ name }) => name) };
      const wayOf = await createNames(services).ways(members.map(({ via }) => via));
      const rows = members.map(({ username, via, since, until }) => [
        ...[username, isPersonal(via) ? via : String(wayOf(via).text)],
        ...[formatDate(since), formatDate(until)],
      ]);
      return {
        json: { ...group, ...related, roles, domains, owners, members },
        text: [
          ...factLines([
            ['id', group.id],
            ['name', group.name],
            ['path', group.path],
            ['description', group.description || '-'],
            ['source', group.source === 'file' ? 'the configuration file' : group.source],
            ['requests', group.acceptsRequests ? 'yes' : 'no'],
            ['in', related.parents.join(', ') || '-'],
            ['groups', related.children.join(', ') || '-'],
            ['roles', roles.join(', ') || '-'],
            ['owners', owners.map(ownerText).join(', ') || '-'],
            ['domains', domains.map(({ domain }) => domain).join(', ') || '-'],
            ['members', String(members.length)],
          ]),
          ...domains.map(proofLine),
          ...(rows.length > 0 ? ['', ...tableLines(['USERNAME', 'VIA', 'SINCE', 'UNTIL'], rows)] : []),
        ],
      };
    },
  },

  'group create': {
    args: ['NAME'],
    summary: 'create a group',
    options: {
      description: { type: 'string', value: 'TEXT', help: 'what the group is for' },
      requests: { type: 'boolean', help: 'people may ask to become members' },
    },
    async act({ groups }, input) {
      const [name = ''] = input.words;
      const acceptsRequests = input.flag('requests');
      const group = await groups.create({ name, description: input.text('description'), acceptsRequests });
      return { json: group, text: `Created the group ${group.name}.` };
    },
  },

  'group delete': {
    args: ['NAME'],
    summary: 'delete a group; its child groups stay',
    details: 'Without --yes, nothing is deleted, and what the members lose is printed.',
    options: { yes: { type: 'boolean', help: 'delete the group' } },
    async act(services, input) {
      const { groups } = services;
      const { id, name } = await groupOf(services, input);
      const lost = await groups.losses(id);
      const { totals } = lost;
      const named = (kind: keyof typeof totals) => {
        const more = totals[kind] - lost[kind].length;
        return (lost[kind].join(', ') || 'none') + (more > 0 ? ` and ${more} more` : '');
      };
      const { counted } = limits.lists;
      const members = lost.members > counted ? `over ${counted} members` : plural(lost.members, 'member');
      if (!input.flag('yes'))
        fail([
          `This deletes the group ${name}. To confirm, add --yes. ${members} would lose:`,
          `  roles: ${named('roles')}`,
          `  applications: ${named('applications')}`,
          ...(totals.closed > 0 ? [`  nothing else opens: ${named('closed')}`] : []),
          `  APIs: ${named('apis')}`,
          ...(totals.limited > 0 ? [`Permissions of these roles are limited to it, and end: ${named('limited')}`] : []),
        ]);
      await groups.remove(id);
      return { json: { id, name, lost }, text: `Deleted the group ${name}, which had ${members}.` };
    },
  },

  'group add': {
    args: ['NAME', '[LOGIN]'],
    summary: 'add a user to a group, or the users of a file; or change the end',
    details: `LOGIN is a username or email address. The first line of a CSV file names its columns: username (or an email address in it), and if you
like since and until. With a mistake in any row, no user is added. More than ${limits.groups.atOnce} are stored piece by piece: after an interruption, run it again.`,
    options: { ...times, ...file },
    async act(services, input, io) {
      const { id, name } = await groupOf(services, input);
      const from = fileOption(input);
      if (from !== undefined) {
        const { members } = await membersInFile(from, periodOption(input), services);
        const changed = await changeAll({ kind: 'add', groupId: id, members, by: {} }, services, io);
        const text = `Added or changed ${plural(changed, 'member')} of ${name}; ${members.length - changed} unchanged.`;
        return { json: { group: name, members: members.length, changed }, text };
      }
      const { id: userId, username } = await userOf(services, input, 1);
      const { PERSONAL } = await import('../people/groups/rights.ts');
      const where = { groupId: id, userId, source: { in: [...PERSONAL] } };
      const period = periodOption(input, await services.db.groupMember.findFirst({ where }));
      const members = [{ userId, ...period }];
      const changed = await changeAll({ kind: 'add', groupId: id, members, by: {} }, services, io);
      const text = `${username} ${changed > 0 ? 'is' : 'was already'} in ${name}${periodText(period)}.`;
      return { json: { group: name, members: 1, changed }, text };
    },
  },

  'group remove': {
    args: ['NAME', '[LOGIN]'],
    summary: 'take a user out of a group, or the users of a file',
    details: 'The file is as that of `gatehouse group add`.',
    options: file,
    async act(services, input, io) {
      const { id, name } = await groupOf(services, input);
      const from = fileOption(input);
      const user = from === undefined ? await userOf(services, input, 1) : undefined;
      const read = from === undefined ? undefined : await membersInFile(from, { since: null, until: null }, services);
      const members = read?.members ?? [{ userId: user?.id ?? '' }];
      const changed = await changeAll({ kind: 'remove', groupId: id, members, by: {} }, services, io);
      const message = user
        ? `${user.username} ${changed > 0 ? 'is no longer in' : "wasn't in"} ${name}${changed > 0 ? '' : ' directly'}.`
        : `Removed ${plural(changed, 'member')} from ${name}; ${members.length - changed} weren't in it directly.`;
      return { json: { group: name, message, ...(read && { members: members.length, changed }) }, text: message };
    },
  },

  'group add-child': change('GROUP', 'put a group in a group', async (services, { id, name }, input) => {
    const child = await groupOf(services, input, 1);
    const isNew = await services.groups.addChild(id, child.id);
    return isNew ? `${child.name} is in ${name}.` : `${child.name} was already in ${name}.`;
  }),

  'group remove-child': change('GROUP', 'take a group out of a group', async (services, { id, name }, input) => {
    const child = await groupOf(services, input, 1);
    const wasIn = await services.groups.removeChild(id, child.id);
    return wasIn ? `${child.name} is no longer in ${name}.` : `${child.name} wasn't in ${name}.`;
  }),

  'group add-role': change(
    'ROLE',
    'give the members of a group a role',
    async ({ groups }, { id, name }, { words: [, role = ''] }) =>
      (await groups.addRole(id, role)) ? `${name} has the role ${role}.` : `${name} already had the role ${role}.`,
  ),

  'group remove-role': change(
    'ROLE',
    'take a role from the members of a group',
    async ({ groups }, { id, name }, { words: [, role = ''] }) =>
      (await groups.removeRole(id, role))
        ? `${name} no longer has the role ${role}.`
        : `${name} didn't have the role ${role}.`,
  ),

  'group add-owner': {
    ...change(
      'LOGIN',
      'make a user an owner of a group, change the end, or confirm new roles of the group',
      async (services, { id, name }, input) => {
        const { id: userId, username } = await userOf(services, input, 1);
        const until = timeOption(input, 'until');
        await services.groups.appointOwner(id, { userId, until });
        return `${username} is an owner of ${name}${untilText(until)}.`;
      },
    ),
    options: { until: times.until },
  },

  'group remove-owner': change('LOGIN', 'end the ownership of a user', async (services, { id, name }, input) => {
    const { id: userId, username } = await userOf(services, input, 1);
    const was = await services.groups.dismissOwner(id, userId);
    return was ? `${username} is no longer an owner of ${name}.` : `${username} wasn't an owner of ${name}.`;
  }),
};

/** A command that adds something to a group, or takes it away; `work` says what came of it. */
function change(
  argument: string,
  summary: string,
  work: (services: Services, group: Group, input: Input) => Promise<string>,
): Description & Work {
  return {
    args: ['NAME', argument],
    summary,
    async act(services, input) {
      const group = await groupOf(services, input);
      const message = await work(services, group, input);
      return { json: { group: group.name, message }, text: message };
    },
  };
}

/** The group that an argument names, the first one unless `at` says otherwise. */
async function groupOf({ groups }: Services, { words }: Input, at = 0): Promise<Group> {
  const name = words[at] ?? '';
  if (name.trim() === '') throw new UsageError('NAME is empty');
  return (await groups.find(name)) ?? noSuch('group', 'group', name);
}

/** The file with the users, which stands instead of LOGIN. */
function fileOption(input: Input): string | undefined {
  const found = input.text('file');
  if ((input.words[1] === undefined) === (found === undefined))
    throw new UsageError('either LOGIN or --file is needed');
  return found;
}

async function* allGroups({ groups }: Services): AsyncGenerator<Group> {
  for (let page = await groups.list({ limit: PAGE }); page.length > 0; ) {
    yield* page;
    page = await groups.list({ limit: PAGE, after: page.at(-1)?.name ?? '' });
  }
}

async function membersOf(id: string, { groups, db }: Services) {
  const rows = [];
  for (let page = await groups.members(id, { limit: PAGE }); page.length > 0; ) {
    // A user may be in by several ways; a page begins after the last user of the one before.
    rows.push(...page);
    page = await groups.members(id, { limit: PAGE, after: page.at(-1)?.userId ?? '' });
  }
  const names = await usernamesOf(
    rows.map(({ userId }) => userId),
    db,
  );
  return rows
    .map(({ userId, source, since, until }) => ({
      id: userId,
      username: names.get(userId) ?? userId,
      via: source,
      since,
      until,
    }))
    .sort((one, other) => one.username.localeCompare(other.username));
}

async function usernamesOf(ids: readonly string[], db: Db): Promise<Map<string, string>> {
  const rows = await inChunks([...new Set(ids)], (piece) =>
    db.user.findMany({ where: { id: { in: piece } }, select: { id: true, username: true } }),
  );
  return new Map(rows.map(({ id, username }) => [id, username]));
}

const ownerText = ({ username, until, deputyOf }: { username: string; until: Date | null; deputyOf: string | null }) =>
  username + untilText(until) + (deputyOf ? ` (deputy of ${deputyOf})` : '');

const untilText = (until: Date | null) => (until ? ` until ${formatDate(until)}` : '');

const periodText = ({ since, until }: Period) => (since ? ` from ${formatDate(since)}` : '') + untilText(until);

const failMistakes = ({ mistakes, wrong }: MemberRows): never =>
  fail([
    `Nothing was changed, because of ${plural(wrong, 'mistake')} in the file:`,
    ...mistakes.slice(0, MOST_NAMED).map(({ line, text }) => `  line ${line}: ${text}`),
    ...(wrong > MOST_NAMED ? [`  and ${wrong - MOST_NAMED} more`] : []),
  ]);

/** The members that a file lists; `period` is that of the rows without one. */
async function membersInFile(file: string, period: Period, services: Services) {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code ?? error.message})`);
  });
  const { readMembers } = await import('../admin/groups/member-rows.ts');
  const read = await readMembers(text, period, services);
  return read.wrong > 0 ? failMistakes(read) : read;
}

/** Changes the people at once, or in pieces, of which each is stored by itself: the same command goes on after it was stopped. */
async function changeAll(wanted: WantedChange, { groups, groupChanges }: Services, io: Io): Promise<number> {
  const { kind, groupId, members } = wanted;
  const ids = members.map(({ userId }) => userId);
  if (members.length <= limits.groups.atOnce)
    return kind === 'add' ? groups.addMembers(groupId, members) : groups.removeMembers(groupId, ids);
  let said = performance.now();
  return groupChanges.runNow(wanted, (done) => {
    if (performance.now() - said < PROGRESS_MS && done < members.length) return;
    said = performance.now();
    io.err(`${done} of ${members.length}`);
  });
}
