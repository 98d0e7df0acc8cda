// `gatehouse group …`: groups, their members, owners, roles and place in the graph.

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { createNames } from '../admin/console/names.ts';
import type { MemberRows } from '../admin/groups/member-rows.ts';
import { limits } from '../base/limits.ts';
import { plural } from '../base/platform/plural.ts';
import { inChunks } from '../base/storage/chunks.ts';
import type { Db } from '../base/storage/database.ts';
import { isStorableTime } from '../base/storage/storable-text.ts';
import type { Account } from '../people/accounts/account.ts';
import type { WantedChange } from '../people/groups/changes.ts';
import { type Group, isPersonal, type NewMember } from '../people/groups/groups.ts';
import type { Services } from '../server/services.ts';
import { type Command, type Input, jsonOption, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { formatDate, type Io, plain, proofLine } from './io.ts';

/** Rows read from the database at once. */
const PAGE = 500;
/** Mistakes of a file that are printed one by one. */
const MOST_NAMED = 20;
/** Between two lines of progress. */
const PROGRESS_MS = 2000;

/** The options of what begins and ends. */
export const times = {
  since: { type: 'string', value: 'TIME', help: 'when it begins, such as 2026-12-01T00:00:00Z; default: now' },
  until: { type: 'string', value: 'TIME', help: 'when it ends, or never; default: as it is, or never' },
} as const;

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

const list: Command = {
  name: 'group list',
  summary: 'list all groups',
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async (services) => {
      const counts = await services.db.asStored.groupMember.groupBy({ by: ['groupId'], _count: { userId: true } });
      const members = new Map(counts.map(({ groupId, _count }) => [groupId, _count.userId]));
      const found = [];
      for await (const group of allGroups(services)) found.push({ ...group, members: members.get(group.id) ?? 0 });
      if (input.flag('json')) io.json(found);
      else {
        const rows = found.map((one) => [one.name, one.path, String(one.members), one.description || '-', one.source]);
        io.table(['NAME', 'PATH', 'MEMBERS', 'DESCRIPTION', 'SOURCE'], rows);
      }
      return 0;
    }),
};

const show: Command = {
  name: 'group show',
  args: ['NAME'],
  summary: 'show a group with its members',
  options: jsonOption,
  run: (input, io) =>
    withGroup(input, io, async (group, services) => {
      const { groups, groupDomains, db } = services;
      const { parents, children, roles } = await groups.relations(group.id);
      const owners = await groups.owners(group.id);
      const names = await usernamesOf(
        owners.map(({ userId }) => userId),
        db,
      );
      const details = {
        ...group,
        parents: parents.map(({ name }) => name),
        children: children.map(({ name }) => name),
        roles,
        domains: await groupDomains.list(group.id),
        owners: owners.map(({ userId, until, deputyOf }) => ({
          id: userId,
          username: names.get(userId) ?? userId,
          until,
          deputyOf: deputyOf && (names.get(deputyOf) ?? deputyOf),
        })),
        members: await membersOf(group.id, services),
      };
      if (input.flag('json')) {
        io.json(details);
        return 0;
      }
      const lines: [string, string][] = [
        ['id', group.id],
        ['name', group.name],
        ['path', group.path],
        ['description', group.description || '-'],
        ['source', group.source === 'file' ? 'the configuration file' : group.source],
        ['requests', group.acceptsRequests ? 'yes' : 'no'],
        ['in', details.parents.join(', ') || '-'],
        ['groups', details.children.join(', ') || '-'],
        ['roles', roles.join(', ') || '-'],
        ['owners', details.owners.map(ownerText).join(', ') || '-'],
        ['domains', details.domains.map(({ domain }) => domain).join(', ') || '-'],
        ['members', String(details.members.length)],
      ];
      for (const [label, value] of lines) io.out(`${label.padEnd(14)} ${plain(value)}`);
      for (const { domain, provenAt, record } of details.domains) io.out(proofLine({ domain, provenAt, record }));
      if (details.members.length > 0) {
        const wayOf = await createNames(services).ways(details.members.map(({ via }) => via));
        const rows = details.members.map((one) => [
          one.username,
          isPersonal(one.via) ? one.via : String(wayOf(one.via).text),
          formatDate(one.since),
          formatDate(one.until),
        ]);
        io.out('');
        io.table(['USERNAME', 'VIA', 'SINCE', 'UNTIL'], rows);
      }
      return 0;
    }),
};

const ownerText = ({ username, until, deputyOf }: { username: string; until: Date | null; deputyOf: string | null }) =>
  username + untilText(until) + (deputyOf ? ` (deputy of ${deputyOf})` : '');

const untilText = (until: Date | null) => (until ? ` until ${formatDate(until)}` : '');

const periodText = ({ since, until }: Period) => (since ? ` from ${formatDate(since)}` : '') + untilText(until);

const create: Command = {
  name: 'group create',
  args: ['NAME'],
  summary: 'create a group',
  options: {
    description: { type: 'string', value: 'TEXT', help: 'what the group is for' },
    requests: { type: 'boolean', help: 'people may ask to become members' },
    ...jsonOption,
  },
  run: (input, io) =>
    withServices(io, async ({ groups }) => {
      const [name = ''] = input.words;
      const acceptsRequests = input.flag('requests');
      const group = await groups.create({ name, description: input.text('description'), acceptsRequests });
      if (input.flag('json')) io.json(group);
      else io.out(`Created the group ${plain(group.name)}.`);
      return 0;
    }),
};

const remove: Command = {
  name: 'group delete',
  args: ['NAME'],
  summary: 'delete a group; its child groups stay',
  details: 'Without --yes, nothing is deleted, and what the members lose is printed.',
  options: { yes: { type: 'boolean', help: 'delete the group' }, ...jsonOption },
  run: (input, io) =>
    withGroup(input, io, async ({ id, name }, { groups }) => {
      const lost = await groups.losses(id);
      const { totals } = lost;
      const named = (kind: keyof typeof totals) => {
        const more = totals[kind] - lost[kind].length;
        return plain(lost[kind].join(', ') || 'none') + (more > 0 ? ` and ${more} more` : '');
      };
      const { counted } = limits.lists;
      const members = lost.members > counted ? `over ${counted} members` : plural(lost.members, 'member');
      if (!input.flag('yes')) {
        io.err(`This deletes the group ${plain(name)}. To confirm, add --yes. ${members} would lose:`);
        io.err(`  roles: ${named('roles')}`);
        io.err(`  applications: ${named('applications')}`);
        if (totals.closed > 0) io.err(`  nothing else opens: ${named('closed')}`);
        io.err(`  APIs: ${named('apis')}`);
        if (totals.limited > 0) io.err(`Permissions of these roles are limited to it, and end: ${named('limited')}`);
        return 1;
      }
      await groups.remove(id);
      if (input.flag('json')) io.json({ id, name, lost });
      else io.out(`Deleted the group ${plain(name)}, which had ${members}.`);
      return 0;
    }),
};

const add: Command = {
  name: 'group add',
  args: ['NAME', '[LOGIN]'],
  summary: 'add a user to a group, or the users of a file; or change the end',
  details: `LOGIN is a username or email address. The first line of a CSV file names its columns: username (or an email address in it), and if you
like since and until. With a mistake in any row, no user is added. More than ${limits.groups.atOnce} are stored piece by piece: after an interruption, run it again.`,
  options: {
    ...times,
    file: { type: 'string', value: 'CSV', help: 'the users of a CSV file, instead of LOGIN' },
    ...jsonOption,
  },
  run: (input, io) =>
    withGroup(input, io, async ({ id, name }, services) => {
      const [, login] = input.words;
      const file = input.text('file');
      if ((login === undefined) === (file === undefined)) throw new UsageError('either LOGIN or --file is needed');
      let period = periodOption(input);
      let members: NewMember[];
      let username: string | undefined;
      if (file === undefined) {
        const account = await services.accounts.findByLogin(login ?? '');
        if (!account) return noUser(login ?? '', io);
        ({ username } = account);
        const { PERSONAL } = await import('../people/groups/rights.ts');
        const where = { groupId: id, userId: account.id, source: { in: [...PERSONAL] } };
        period = periodOption(input, await services.db.groupMember.findFirst({ where }));
        members = [{ userId: account.id, ...period }];
      } else {
        const read = await membersInFile(file, period, services);
        if (read.wrong > 0) return printMistakes(read, io);
        ({ members } = read);
      }
      const changed = await changeAll({ kind: 'add', groupId: id, members, by: {} }, services, io);
      if (input.flag('json')) io.json({ group: name, members: members.length, changed });
      else if (username !== undefined)
        io.out(plain(`${username} ${changed > 0 ? 'is' : 'was already'} in ${name}${periodText(period)}.`));
      else
        io.out(
          `Added or changed ${plural(changed, 'member')} of ${plain(name)}; ${members.length - changed} unchanged.`,
        );
      return 0;
    }),
};

const leave: Command = {
  name: 'group remove',
  args: ['NAME', '[LOGIN]'],
  summary: 'take a user out of a group, or the users of a file',
  details: 'The file is as that of `gatehouse group add`.',
  options: { file: { type: 'string', value: 'CSV', help: 'the users of a CSV file, instead of LOGIN' }, ...jsonOption },
  run: (input, io) =>
    withGroup(input, io, async ({ id, name }, services) => {
      const [, login] = input.words;
      const file = input.text('file');
      if ((login === undefined) === (file === undefined)) throw new UsageError('either LOGIN or --file is needed');
      const account = login === undefined ? undefined : await accountOf(services, login);
      const read = file === undefined ? undefined : await membersInFile(file, { since: null, until: null }, services);
      if (read && read.wrong > 0) return printMistakes(read, io);
      const members = read?.members ?? [{ userId: account?.id ?? '' }];
      const changed = await changeAll({ kind: 'remove', groupId: id, members, by: {} }, services, io);
      const message = account
        ? `${account.username} ${changed > 0 ? 'is no longer in' : "wasn't in"} ${name}${changed > 0 ? '' : ' directly'}.`
        : `Removed ${plural(changed, 'member')} from ${name}; ${members.length - changed} weren't in it directly.`;
      if (input.flag('json')) io.json({ group: name, message, ...(read && { members: members.length, changed }) });
      else io.out(plain(message));
      return 0;
    }),
};

function printMistakes({ mistakes, wrong }: MemberRows, io: Io): number {
  io.err(`Nothing was changed, because of ${plural(wrong, 'mistake')} in the file:`);
  for (const { line, text } of mistakes.slice(0, MOST_NAMED)) io.err(plain(`  line ${line}: ${text}`));
  if (wrong > MOST_NAMED) io.err(`  and ${wrong - MOST_NAMED} more`);
  return 1;
}

/** The members that a file lists; `period` is that of the rows without one. */
async function membersInFile(file: string, period: Period, services: Services) {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${error.code ?? error.message})`);
  });
  const { readMembers } = await import('../admin/groups/member-rows.ts');
  return readMembers(text, period, services);
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
    io.note(`${done} of ${members.length}`);
  });
}

// RFC 3339, section 5.6.
const instant = z.iso.datetime({ offset: true });

/** Throws UsageError for text that is no time. */
export function timeOption(input: Input, name: string): Date | null {
  const text = input.text(name);
  if (!text || text === NEVER) return null;
  const at = new Date(text);
  if (instant.safeParse(text).success && isStorableTime(at)) return at;
  throw new UsageError(`--${name} is no time such as 2026-12-31T00:00:00Z`);
}

/** `--until never` ends an end. */
const NEVER = 'never';

/** The times that the options say; those of `held`, what the user has already, where they say nothing. */
export function periodOption(input: Input, held?: Period | null): Period {
  const isSilent = input.text('since') === undefined && input.text('until') === undefined;
  if (isSilent && held) return { since: held.since, until: held.until };
  return { since: timeOption(input, 'since'), until: timeOption(input, 'until') };
}

interface Period {
  since: Date | null;
  until: Date | null;
}

/** A command that adds something to a group, or takes it away. */
function change(
  name: string,
  argument: string,
  summary: string,
  run: (services: Services, group: Group, word: string, input: Input) => Promise<string>,
  options: Command['options'] = {},
): Command {
  return {
    name: `group ${name}`,
    args: ['NAME', argument],
    summary,
    options: { ...options, ...jsonOption },
    run: (input, io) =>
      withGroup(input, io, async (group, services) => {
        const message = await run(services, group, input.words[1] ?? '', input);
        if (input.flag('json')) io.json({ group: group.name, message });
        else io.out(plain(message));
        return 0;
      }),
  };
}

async function accountOf({ accounts }: Services, login: string): Promise<Account> {
  const account = await accounts.findByLogin(login);
  if (!account) throw new UsageError(`there is no user "${plain(login)}"`);
  return account;
}

async function groupOf({ groups }: Services, name: string): Promise<Group> {
  const group = await groups.find(name);
  if (!group) throw new UsageError(`there is no group "${plain(name)}"`);
  return group;
}

export const groupCommands: readonly Command[] = [
  list,
  show,
  create,
  remove,
  add,
  leave,
  change('add-child', 'GROUP', 'put a group in a group', async (services, { id, name }, word) => {
    const child = await groupOf(services, word);
    const isNew = await services.groups.addChild(id, child.id);
    return isNew ? `${child.name} is in ${name}.` : `${child.name} was already in ${name}.`;
  }),
  change('remove-child', 'GROUP', 'take a group out of a group', async (services, { id, name }, word) => {
    const child = await groupOf(services, word);
    const wasIn = await services.groups.removeChild(id, child.id);
    return wasIn ? `${child.name} is no longer in ${name}.` : `${child.name} wasn't in ${name}.`;
  }),
  change('add-role', 'ROLE', 'give the members of a group a role', async ({ groups }, { id, name }, role) =>
    (await groups.addRole(id, role)) ? `${name} has the role ${role}.` : `${name} already had the role ${role}.`,
  ),
  change('remove-role', 'ROLE', 'take a role from the members of a group', async ({ groups }, { id, name }, role) =>
    (await groups.removeRole(id, role))
      ? `${name} no longer has the role ${role}.`
      : `${name} didn't have the role ${role}.`,
  ),
  change(
    'add-owner',
    'LOGIN',
    'make a user an owner of a group, change the end, or confirm new roles of the group',
    async (services, { id, name }, login, input) => {
      const { id: userId, username } = await accountOf(services, login);
      const until = timeOption(input, 'until');
      await services.groups.appointOwner(id, { userId, until });
      return `${username} is an owner of ${name}${untilText(until)}.`;
    },
    { until: times.until },
  ),
  change('remove-owner', 'LOGIN', 'end the ownership of a user', async (services, { id, name }, login) => {
    const { id: userId, username } = await accountOf(services, login);
    const was = await services.groups.dismissOwner(id, userId);
    return was ? `${username} is no longer an owner of ${name}.` : `${username} wasn't an owner of ${name}.`;
  }),
];

/** Runs `work` with the group that the first argument names. */
function withGroup(input: Input, io: Io, work: (group: Group, services: Services) => Promise<number>): Promise<number> {
  const [name = ''] = input.words;
  if (name.trim() === '') throw new UsageError('NAME is empty');
  return withServices(io, async (services) => {
    const group = await services.groups.find(name);
    if (group) return work(group, services);
    io.err(`There is no group "${plain(name)}". To see all groups, run: gatehouse group list`);
    return 1;
  });
}

function noUser(login: string, io: Io): number {
  io.err(`There is no user "${plain(login)}". To see all users, run: gatehouse user list`);
  return 1;
}
