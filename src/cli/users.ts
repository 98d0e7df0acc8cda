// `gatehouse user …`: lists, imports and invites users, and unlocks, disables or resets them.
import { readFile, writeFile } from 'node:fs/promises';
import type { ImportRow } from '../admin/users/import.ts';
import { AppError } from '../base/http/errors.ts';
import { limits } from '../base/limits.ts';

import { plural } from '../base/platform/plural.ts';
import { type InvitationState, invitationStates } from '../core/mail/link-tokens.ts';
import type { Account } from '../people/accounts/account.ts';
import type { AccountPage, AccountSummary } from '../people/accounts/account-list.ts';
import type { Accounts, Directory } from '../people/accounts/accounts.ts';
import { seenAt } from '../people/accounts/active.ts';
import type { UnusedEnd } from '../people/accounts/inactivity.ts';
import type { PasswordFault } from '../people/credentials/password-policy.ts';
import type { OwnFactors } from '../people/mfa/account-factors.ts';
import type { Services } from '../server/services.ts';
import { type Command, type Input, jsonOption, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { periodOption, timeOption, times } from './groups.ts';
import { formatDate, type Io, plain } from './io.ts';

export const userList: Command = {
  name: 'user list',
  summary: 'list all users',
  options: {
    search: { type: 'string', value: 'TEXT', help: 'part of the username, email address, or name' },
    invitation: {
      type: 'string',
      value: 'STATE',
      help: `state of the last invitation: ${invitationStates.join(', ')}`,
    },
    ...jsonOption,
  },
  run: (input, io) =>
    withServices(io, async ({ accounts }) => {
      const found = await listed(accounts, { search: input.text('search'), invitation: stateOption(input) });
      if (input.flag('json')) io.json(found);
      else {
        const rows = found.map(({ username, email, name, roles, state, lastSeenAt, createdAt, source }) => [
          username,
          email ?? '-',
          name ?? '-',
          roles.join(', ') || '-',
          state,
          seenText({ lastSeenAt, createdAt }),
          source,
        ]);
        io.table(['USERNAME', 'EMAIL', 'NAME', 'ROLES', 'STATE', 'LAST USED', 'SOURCE'], rows);
      }
      return 0;
    }),
};

async function listed(
  accounts: Accounts,
  query: { search?: string | undefined; invitation?: InvitationState | undefined },
) {
  const found: AccountSummary[] = [];
  let after: string | undefined;
  do {
    const page: AccountPage = await accounts.list({ ...query, hiddenFields: [], limit: 500, after });
    found.push(...page.accounts);
    after = page.next;
  } while (after !== undefined);
  return found;
}

function stateOption(input: Input): InvitationState | undefined {
  const text = input.text('invitation');
  const state = invitationStates.find((one) => one === text);
  if (text !== undefined && !state) throw new UsageError(`--invitation is one of ${invitationStates.join(', ')}`);
  return state;
}

/** The actions of users, as the console has them. */
async function userAdmin(services: Services) {
  const [actions, links, invitation, recovery] = await Promise.all([
    import('../admin/users/actions.ts'),
    import('../account/mailed-links.ts'),
    import('../account/registration/invitation.ts'),
    import('../account/recovery.ts'),
  ]);
  const accountLinks = links.createAccountLinks(services);
  const all = { ...services, accountLinks, setPasswordByLink: links.createSetPasswordByLink(services, accountLinks) };
  const invitations = invitation.createInvitations(all);
  const passwordReset = recovery.createPasswordReset(all);
  return actions.createUserAdmin({ ...services, registration: { invitations }, recovery: { passwordReset } });
}

const message = { type: 'string', value: 'TEXT', help: 'plain text that the invitation contains' } as const;

function messageOption(input: Input): string {
  const text = input.text('message') ?? '';
  if (text.length > limits.invitation.message)
    throw new UsageError(`--message has more than ${limits.invitation.message} characters`);
  return text;
}

export const userInvite: Command = {
  name: 'user invite',
  args: ['[LOGIN]'],
  summary: 'email a user a link to choose a password or create a passkey; again, too',
  details:
    'Without LOGIN, --invitation names the state of the last invitation of the users who get another one, such as expired or bounced.',
  options: {
    invitation: { type: 'string', value: 'STATE', help: `every user in this state: ${invitationStates.join(', ')}` },
    message,
    ...jsonOption,
  },
  run: (input, io) =>
    withServices(io, async (services) => {
      const [login] = input.words;
      const invitation = stateOption(input);
      if ((login === undefined) === (invitation === undefined))
        throw new UsageError('give either LOGIN or --invitation');
      const text = messageOption(input);
      const one = login === undefined ? undefined : await services.accounts.findByLogin(login);
      if (login !== undefined && !one) return noUser(login, io);
      const users = one ? [one] : await listed(services.accounts, { invitation });
      const admin = await userAdmin(services);
      const results = [];
      for (const { id, username } of users) {
        const error = await admin.invite(id, {}, text).then(
          () => undefined,
          (thrown: unknown) => {
            if (!(thrown instanceof AppError)) throw thrown;
            return String(thrown.text);
          },
        );
        results.push({ id, username, invited: error === undefined, ...(error !== undefined && { error }) });
      }
      if (input.flag('json')) io.json(results);
      else
        for (const { username, error } of results)
          io.out(plain(error === undefined ? `Queued an invitation for ${username}.` : `${username}: ${error}`));
      return results.every(({ invited }) => invited) ? 0 : 1;
    }),
};

/** Rows between two lines of progress. */
const IMPORT_ROWS = 500;

export const userImport: Command = {
  name: 'user import',
  args: ['FILE'],
  summary: 'create users from a CSV file, or change and disable them',
  details: `FILE is CSV with a header line; - reads standard input. Each row is carried out on its own. The exit code is 1 where a row failed.`,
  options: {
    trial: { type: 'boolean', help: 'do the same, and take each change back' },
    update: { type: 'boolean', help: 'change users who exist; otherwise their rows fail' },
    'ignore-unknown': { type: 'boolean', help: 'leave out unknown columns' },
    invite: { type: 'boolean', help: 'invite each new user who has an email address and no password' },
    message,
    report: { type: 'string', value: 'FILE', help: 'write a CSV with line, username, result and reason' },
    ...jsonOption,
  },
  run: (input, io) =>
    withServices(io, async (services) => {
      const [file = ''] = input.words;
      const text = file === '-' ? await io.stdin() : await readFile(file, 'utf8');
      const importing = await import('../admin/users/import.ts');
      const { createUserImport, importOptions, importOutcomes, REPORT_HEADER, reportOf } = importing;
      const options = importOptions.parse({
        existing: input.flag('update') ? 'update' : 'reject',
        unknown_columns: input.flag('ignore-unknown') ? 'ignore' : 'reject',
        invite: input.flag('invite'),
        message: messageOption(input),
      });
      const imports = createUserImport({ ...services, users: await userAdmin(services) });
      const read = await imports.read(text, options.unknown_columns);
      const rows: ImportRow[] = [];
      for (const row of read.rows) {
        rows.push(await imports.carryOut(row, { isTrial: input.flag('trial'), by: {}, options }));
        if (rows.length % IMPORT_ROWS === 0) io.note(`${rows.length} of ${plural(read.rows.length, 'row')}`);
      }
      const failed = rows.flatMap(({ error, ...row }) =>
        error === undefined ? [] : [{ ...row, reason: String(error) }],
      );
      const report = input.text('report');
      if (report !== undefined) await writeFile(report, REPORT_HEADER + reportOf(rows), { mode: 0o600 });
      if (input.flag('json'))
        io.json(
          rows.map(({ line, username, outcome, error }) => ({
            line,
            username,
            result: outcome,
            reason: error === undefined ? null : String(error),
          })),
        );
      else {
        for (const { line, username, reason } of failed) io.err(plain(`line ${line}, ${username}: ${reason}`));
        const words = importOutcomes.flatMap((one) => {
          const count = rows.filter(({ outcome }) => outcome === one).length;
          return count > 0 ? [`${count} ${one}`] : [];
        });
        io.out(
          `${plural(rows.length, 'row')}: ${words.join(', ') || 'nothing to do'}${input.flag('trial') ? ' (trial)' : ''}`,
        );
      }
      return failed.length > 0 ? 1 : 0;
    }),
};

export const userShow: Command = {
  name: 'user show',
  args: ['LOGIN'],
  summary: 'show a user, by username or email address',
  options: jsonOption,
  run: (input, io) =>
    withUser(input, io, async (account, services) => {
      const { accounts, credentials, inactivity, mfa, sessions, lockout, db } = services;
      const directory = (await accounts.directoriesOf([account.id])).get(account.id) ?? null;
      const password = await credentials.status(account.id);
      const factors = await mfa.factors.of(account.id);
      const live = await sessions.list(account.id);
      const lockedSeconds = await lockout.lockedSeconds(account);
      const unusedEnd = (await inactivity.endOf(account)) ?? null;
      const grants = await db.userRole.findMany({ where: { userId: account.id }, include: { role: true } });
      const directRoles = grants
        .filter(({ via }) => via === '')
        .map(({ role: { name }, since, until }) => ({ name, since, until }));
      const state = { password: password ?? null, factors, sessions: live.length, lockedSeconds };
      const details = { ...account, directory, directRoles, ...state, unusedEnd };
      if (input.flag('json')) {
        io.json(details);
        return 0;
      }
      const lines: [string, string][] = [
        ['subject', account.id],
        ['username', account.username],
        ['name', account.name ?? '-'],
        ['email', account.email ? `${account.email}${account.emailVerified ? '' : ' (not verified)'}` : '-'],
        ['roles', account.roles.join(', ') || '-'],
        ...(directRoles.some(({ since, until }) => since ?? until)
          ? [['roles by time', directRoles.flatMap(periodText).join(', ')] as [string, string]]
          : []),
        ['groups', account.groups.map(groupText).join(', ') || '-'],
        ['state', account.state],
        ['begins', account.activeFrom ? formatDate(account.activeFrom) : 'at once'],
        ['ends', account.activeUntil ? formatDate(account.activeUntil) : 'never'],
        ['last used', seenText(account)],
        ...(unusedEnd ? [['if unused', unusedText(unusedEnd)] as [string, string]] : []),
        ['source', account.source === 'file' ? 'the configuration file' : account.source],
        ...(directory ? [['directory', directoryText(directory)] as [string, string]] : []),
        ['created', formatDate(account.createdAt)],
        [
          'password',
          password
            ? `changed ${formatDate(password.changedAt)}${password.mustChange ? ', must be changed' : ''}`
            : 'none',
        ],
        ['two-step', factorText(factors)],
        ['sessions', String(live.length)],
        ['locked', lockedSeconds > 0 ? `for ${lockedSeconds} s after wrong passwords` : 'no'],
      ];
      for (const [label, value] of lines) io.out(`${label.padEnd(14)} ${plain(value)}`);
      return 0;
    }),
};

const directoryText = ({ name, id, deletedAt }: Directory): string =>
  `${name} (SCIM connection ${id})${deletedAt ? `, which deleted the user ${formatDate(deletedAt)}` : ''}`;

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const seenText = (account: Pick<Account, 'lastSeenAt' | 'createdAt'>): string => {
  const day = seenAt(account);
  return day ? dayOf(day) : 'never';
};

const unusedText = ({ what, at, toldAt, tellAt }: UnusedEnd): string =>
  [
    `${what} on ${dayOf(at)}`,
    ...(toldAt ? [`email sent on ${dayOf(toldAt)}`] : []),
    ...(tellAt ? [`email on ${dayOf(tellAt)}`] : []),
  ].join(', ');

function periodText({ name, since, until }: { name: string; since: Date | null; until: Date | null }): string[] {
  if (!since && !until) return [];
  return [`${name}${since ? ` since ${formatDate(since)}` : ''}${until ? ` until ${formatDate(until)}` : ''}`];
}

const groupText = ({ name, isDirect, via, until }: Account['groups'][number]): string =>
  `${name}${isDirect ? '' : ` via ${via}`}${until ? ` until ${formatDate(until)}` : ''}`;

export const userAddRole: Command = {
  name: 'user add-role',
  args: ['LOGIN', 'ROLE'],
  summary: 'give a user a role, or change when it begins and ends',
  options: { ...times, ...jsonOption },
  run: (input, io) =>
    withUser(input, io, async ({ id, username }, { roles, db }) => {
      const role = input.words[1] ?? '';
      const held = await db.userRole.findFirst({ where: { userId: id, via: '', role: { name: role } } });
      const period = periodOption(input, held);
      const changed = await roles.assign(id, role, {}, undefined, period);
      if (input.flag('json')) io.json({ id, username, role, ...period, changed });
      else if (!changed) io.out(plain(`${username} already had the role ${role} for the same time.`));
      else io.out(plain(`${username} was given the role ${periodText({ name: role, ...period })[0] ?? role}.`));
      return 0;
    }),
};

export const userRemoveRole: Command = {
  name: 'user remove-role',
  args: ['LOGIN', 'ROLE'],
  summary: 'take a role that was given to a user directly',
  options: jsonOption,
  run: (input, io) =>
    withUser(input, io, async ({ id, username }, { accounts, roles }) => {
      const role = input.words[1] ?? '';
      const changed = await roles.unassign(id, role);
      const isLeft = (await accounts.find(id))?.roles.includes(role) ?? false;
      if (input.flag('json')) io.json({ id, username, role, changed, stays: isLeft });
      else io.out(plain(`${username} ${changed ? 'no longer has' : "didn't have"} the role ${role} directly.`));
      if (isLeft) io.note(plain(`warning: ${username} still has the role ${role} by a group or a connection.`));
      return 0;
    }),
};

export const userSetPeriod: Command = {
  name: 'user set-period',
  args: ['LOGIN'],
  summary: 'change when an account begins and ends',
  details: 'Before and after, sign-in is rejected, and no token works.',
  options: { ...times, ...jsonOption },
  run: (input, io) =>
    withUser(input, io, async (account, services) => {
      if (input.text('since') === undefined && input.text('until') === undefined)
        throw new UsageError('give --since or --until');
      const changes = {
        ...(input.text('since') !== undefined && { activeFrom: timeOption(input, 'since') }),
        ...(input.text('until') !== undefined && { activeUntil: timeOption(input, 'until') }),
      };
      const changed = await (await userAdmin(services)).update(account.id, changes, {});
      const { id, username, activeFrom, activeUntil, state } = changed;
      if (input.flag('json')) io.json({ id, username, activeFrom, activeUntil, state });
      else
        io.out(
          plain(
            `${username} can be used ${activeFrom ? `from ${formatDate(activeFrom)}` : 'at once'}, ${activeUntil ? `until ${formatDate(activeUntil)}` : 'without an end'}.`,
          ),
        );
      return 0;
    }),
};

export const userHandOver: Command = {
  name: 'user hand-over',
  args: ['FROM', 'TO'],
  summary: 'make another user the owner of the groups of a user, and the contact of the applications',
  details:
    'Without --item, all that the user owns and the configuration file does not declare. API keys end with their user.',
  options: {
    item: { type: 'string', multiple: true, value: 'NAME', help: 'a group or application by its name or id' },
    ...jsonOption,
  },
  run: (input, io) =>
    withUser(input, io, async (from, services) => {
      const [, login = ''] = input.words;
      const to = await services.accounts.findByLogin(login);
      if (!to) return noUser(login, io);
      const users = await userAdmin(services);
      const { items: owned, apiKeys } = await users.owned(from.id, {});
      const names = input.texts('item');
      const missing = names.find((name) => !owned.some((one) => one.name === name || one.id === name));
      if (missing !== undefined) {
        io.err(plain(`${from.username} owns no group or application "${missing}".`));
        return 1;
      }
      const wanted = owned.filter((one) => names.includes(one.name) || names.includes(one.id));
      const items = names.length > 0 ? wanted.map(({ id }) => id) : undefined;
      const handed = await users.handOver(from.id, { to: to.id, items }, {});
      const left = owned.filter(({ id }) => !handed.some((one) => one.id === id));
      if (input.flag('json')) {
        const named = ({ kind, id, name }: (typeof owned)[number]) => ({ kind, id, name });
        const keys = apiKeys.map(({ id, name }) => ({ kind: 'api-key', id, name }));
        io.json({ from: from.id, to: to.id, handedOver: handed.map(named), left: [...left.map(named), ...keys] });
        return 0;
      }
      if (handed.length === 0) io.out(plain(`${from.username} owns nothing that can be handed over.`));
      for (const { kind, name } of handed) io.out(plain(`${to.username} has the ${kind} ${name}.`));
      for (const { kind, name, obstacle } of left)
        io.note(plain(`left: the ${kind} ${name}${obstacle ? `. ${obstacle}` : ''}`));
      for (const { name, id } of apiKeys)
        io.note(plain(`left: the API key ${name} (${id}), which ends with the account`));
      return 0;
    }),
};

export const userDisable: Command = {
  name: 'user disable',
  args: ['LOGIN'],
  summary: 'disable a user and end their sessions',
  run: (input, io) =>
    withUser(input, io, async (account, services) => {
      const { db, roles } = services;
      const { transaction } = await import('../base/storage/database.ts');
      const { disableAccount } = await import('../people/accounts/life.ts');
      const changed = await transaction(db, async (tx) => {
        await roles.assertNotLastAdmin(account.id, tx);
        return (await disableAccount(services, account.id, {}, tx)) !== undefined;
      });
      io.out(
        changed
          ? `${plain(account.username)} is disabled, and signed out everywhere.`
          : `${plain(account.username)} was already disabled.`,
      );
      if (account.source === 'file')
        io.note(
          'warning: the configuration file declares this user. Set active: false there, or the next apply enables the user again.',
        );
      return 0;
    }),
};

export const userEnable: Command = {
  name: 'user enable',
  args: ['LOGIN'],
  summary: 'enable a disabled user',
  run: (input, io) =>
    withUser(input, io, async (account, { accounts }) => {
      const changed = await accounts.setActive(account.id, true);
      io.out(`${plain(account.username)} ${changed ? 'is enabled.' : 'was already enabled.'}`);
      return 0;
    }),
};

export const userExport: Command = {
  name: 'user export',
  args: ['LOGIN'],
  summary: 'print everything that is stored about a user, as JSON',
  details:
    'For a request of access (GDPR, article 15), with notes and fields that only administrators see: read it before you hand it out. The user sees in their activity that it was exported.',
  run: (input, io) =>
    withUser(input, io, async (account, { ownData }) => {
      let line = '';
      for await (const piece of await ownData.export(account, 'administrator', {})) {
        const lines = `${line}${piece}`.split('\n');
        line = lines.pop() ?? '';
        lines.forEach(io.out);
      }
      return 0;
    }),
};

export const userDelete: Command = {
  name: 'user delete',
  args: ['LOGIN'],
  summary: 'delete a user permanently, even if another program changed its row',
  details: `LOGIN is a username, an email address or a user ID (sub). Sessions and tokens end; password, factors, roles, consents and connected
sign-ins are deleted too. The user ID is never used again. The audit log keeps what happened,
and forgets the person after erase_after_days. Without --yes, nothing is deleted.`,
  options: { yes: { type: 'boolean', help: 'delete the user' } },
  run(input, io) {
    const [login = ''] = input.words;
    if (login.trim() === '') throw new UsageError('LOGIN is empty');
    return withServices(io, async ({ accounts, db, endSession, roles }) => {
      const found = await accounts.findStored(login);
      const [account] = found;
      if (!account) return noUser(login, io);
      const { id, username, source, isGenuine } = account;
      if (found.length > 1) {
        io.err(`"${plain(login)}" matches several users. Use the user ID (sub) of one of them:`);
        for (const one of found)
          io.err(plain(`  ${one.id}  ${one.username}${one.isGenuine ? '' : ', changed outside'}`));
        return 1;
      }
      const name = plain(`${username} (${id})`);
      if (!isGenuine) io.note(`warning: the row of ${name} was written by another program, so its names may be wrong.`);
      if (!input.flag('yes')) {
        io.err(`This deletes ${name} permanently. To confirm, add --yes.`);
        return 1;
      }
      const { transaction } = await import('../base/storage/database.ts');
      await transaction(db, async (tx) => {
        await roles.assertNotLastAdmin(id, tx);
        await endSession.all(id, 'account-deleted', {}, tx);
        await accounts.removeStored(account, tx);
      });
      io.out(`Deleted ${name} and every session of the account. The user ID (sub) is never used again.`);
      if (source === 'file')
        io.note(
          'warning: the configuration file declares this user. Remove the user there, or the next apply adds the user again.',
        );
      return 0;
    });
  },
};

export const userUnlock: Command = {
  name: 'user unlock',
  args: ['LOGIN'],
  summary: 'unlock a user after too many wrong passwords',
  run: (input, io) =>
    withUser(input, io, async (account, { audit, lockout }) => {
      await lockout.unlock(account);
      await audit.record({ type: 'sign-in.unlocked', outcome: 'success', subjectId: account.id });
      io.out(`${plain(account.username)} is unlocked.`);
      return 0;
    }),
};

export const userResetMfa: Command = {
  name: 'user reset-mfa',
  args: ['LOGIN'],
  summary: 'remove all two-step verification methods of a user and end their sessions',
  run: (input, io) =>
    withUser(input, io, async (account, { endSession, mfa, notifyOwner }) => {
      await mfa.factors.reset(account.id);
      await mfa.knownBrowsers.endTrust(account.id);
      await endSession.all(account.id, 'ended-by-admin');
      await notifyOwner(account, 'factors-reset');
      io.out(`Reset two-step verification for ${plain(account.username)}, who is signed out everywhere.`);
      return 0;
    }),
};

export const userFactors: Command = {
  name: 'user factors',
  args: ['LOGIN'],
  summary: 'list the two-step verification methods of a user',
  options: jsonOption,
  run: (input, io) =>
    withUser(input, io, async ({ id }, services) => {
      const factors = await (await userAdmin(services)).factorsOf(id, {});
      if (input.flag('json')) io.json(factors);
      else {
        const date = (at: Date | null) => (at ? formatDate(at) : '-');
        const rows = factors.map(({ id: factor, kind, name, addedAt, lastUsedAt, left }) => [
          factor,
          kind,
          left === undefined ? (name ?? '-') : `${left} left`,
          date(addedAt),
          date(lastUsedAt),
        ]);
        io.table(['ID', 'KIND', 'NAME', 'ADDED', 'LAST USED'], rows);
      }
      return 0;
    }),
};

export const userRemoveFactor: Command = {
  name: 'user remove-factor',
  args: ['LOGIN', 'ID'],
  summary: 'remove a two-step verification method of a user and end their sessions; user factors lists the IDs',
  run: (input, io) =>
    withUser(input, io, async ({ id, username }, services) => {
      const admin = await userAdmin(services);
      const factor = (await admin.factorsOf(id, {})).find((one) => one.id === input.words[1] && one.kind !== 'email');
      if (!factor) {
        io.err(
          plain(
            `${username} has no method "${input.words[1] ?? ''}". To see all, run: gatehouse user factors ${username}`,
          ),
        );
        return 1;
      }
      await admin.removeFactor(id, factor.id, {});
      io.out(plain(`Removed ${factor.id} of ${username}, who is signed out everywhere.`));
      return 0;
    }),
};

export const userAllowFactor: Command = {
  name: 'user allow-factor',
  args: ['LOGIN'],
  summary: 'let a user set up two-step verification in the next seven days (setting first_factor)',
  run: (input, io) =>
    withUser(input, io, async (account, { mfa }) => {
      await mfa.firstEnrolment.allow(account.id, {});
      io.out(`${plain(account.username)} can set up two-step verification.`);
      return 0;
    }),
};

/** Runs `work` with the account that the first argument names. */
export function withUser(
  input: Input,
  io: Io,
  work: (account: Account, services: Services) => Promise<number>,
): Promise<number> {
  const [login = ''] = input.words;
  if (login.trim() === '') throw new UsageError('LOGIN is empty');
  return withServices(io, async (services) => {
    const account = await services.accounts.findByLogin(login);
    if (account) return work(account, services);
    return noUser(login, io);
  });
}

function noUser(login: string, io: Io): number {
  io.err(`There is no user "${plain(login)}". To see all users, run: gatehouse user list`);
  return 1;
}

function factorText({ totp, passkeys, phone, recoveryCodes }: OwnFactors): string {
  const parts = [
    totp ? 'authenticator app' : '',
    passkeys > 0 ? plural(passkeys, 'passkey') : '',
    phone ? 'text messages' : '',
    recoveryCodes > 0 ? plural(recoveryCodes, 'recovery code') : '',
  ];
  return parts.filter(Boolean).join(', ') || 'none';
}

// `gatehouse user add` and `set-password`. Without --password-stdin a temporary password is generated and printed once; a password
// on the command line would be in the shell's history and in the process list.

const passwordStdin = {
  'password-stdin': { type: 'boolean', help: 'read the password from standard input' },
} as const;

export const userAdd: Command = {
  name: 'user add',
  args: ['USERNAME'],
  summary: 'add a user; prints a temporary password once, or invites the user',
  options: {
    email: { type: 'string', value: 'ADDRESS', help: 'email address' },
    'email-verified': {
      type: 'boolean',
      help: 'mark the email address as verified; some applications reject unverified addresses',
    },
    name: { type: 'string', value: 'NAME', help: 'display name' },
    role: { type: 'string', value: 'ROLE', multiple: true, help: 'role, such as admin' },
    until: { ...times.until, help: 'when the account ends, such as 2026-12-31T00:00:00Z' },
    invite: { type: 'boolean', help: 'email a link to choose a password or create a passkey; no temporary password' },
    message,
    ...passwordStdin,
    ...jsonOption,
  },
  run: (input, io) =>
    withServices(
      io,
      async (services) => {
        const { createAccountWithPassword } = await import('../config-file/new-account.ts');
        const [username = ''] = input.words;
        const user = {
          username,
          email: input.text('email') ?? null,
          emailVerified: input.flag('email-verified'),
          name: input.text('name') ?? null,
          roles: input.texts('role'),
          activeUntil: timeOption(input, 'until'),
        };
        const invitation = messageOption(input);
        if (input.flag('invite')) {
          if (input.flag('password-stdin'))
            throw new UsageError("--invite and --password-stdin can't be used together");
          if (!user.email) throw new UsageError('--invite needs --email');
          const { account } = await (await userAdmin(services)).create(
            { ...user, invite: true, message: invitation },
            {},
          );
          if (input.flag('json')) io.json({ id: account.id, username: account.username, invited: true });
          else io.out(plain(`Added ${account.username}. The invitation goes to ${account.email}.`));
          return 0;
        }
        if (invitation !== '') throw new UsageError('--message needs --invite');
        const password = input.flag('password-stdin') ? await io.stdin() : undefined;
        const created = await createAccountWithPassword(services, { ...user, password });
        if (created.outcome === 'rejected') return printPasswordFaults(services, created.faults, false, io);
        const { account, oneTimePassword } = created;
        if (input.flag('json')) {
          io.json({ id: account.id, username: account.username, ...(oneTimePassword ? { oneTimePassword } : {}) });
          return 0;
        }
        io.out(`Added ${plain(account.username)}.`);
        if (oneTimePassword) printTemporaryPassword(oneTimePassword, io);
        return 0;
      },
      { mayBegin: true },
    ),
};

export const userSetPassword: Command = {
  name: 'user set-password',
  args: ['LOGIN'],
  summary: 'set a new password for a user and end their sessions; prints a temporary password once',
  options: {
    ...passwordStdin,
    'must-change': {
      type: 'boolean',
      help: 'require a password change at the next sign-in, also with --password-stdin',
    },
    keep: { type: 'boolean', help: "don't set a password; require a password change at the next sign-in" },
    ...jsonOption,
  },
  run: (input, io) =>
    withUser(input, io, async (account, services) => {
      const { credentials, endSession, mfa, notifyOwner } = services;
      if (input.flag('keep')) {
        if (input.flag('password-stdin')) throw new UsageError("--keep and --password-stdin can't be used together");
        await credentials.forceChange(account.id);
        await endSession.all(account.id, 'ended-by-admin');
        io.out(
          `${plain(account.username)} must choose a new password at the next sign-in, and is signed out everywhere.`,
        );
        return 0;
      }
      const given = input.flag('password-stdin') ? await io.stdin() : undefined;
      const { newOneTimePassword } = await import('../config-file/new-account.ts');
      const password = given ?? newOneTimePassword();
      const mustChange = given === undefined || input.flag('must-change');
      const outcome = await credentials.setPassword(account, password, { mustChange });
      if (outcome !== 'ok') {
        return printPasswordFaults(services, outcome, await mfa.factors.hasSecondFactor(account.id), io);
      }
      await mfa.knownBrowsers.endTrust(account.id);
      await endSession.all(account.id, 'password-reset');
      await notifyOwner(account, 'password-changed-by-admin');
      if (input.flag('json')) {
        io.json({
          id: account.id,
          username: account.username,
          ...(given === undefined ? { oneTimePassword: password } : {}),
        });
        return 0;
      }
      io.out(`${plain(account.username)} has a new password, and is signed out everywhere.`);
      if (given === undefined) printTemporaryPassword(password, io);
      return 0;
    }),
};

function printTemporaryPassword(password: string, io: Io): void {
  io.out(`Temporary password: ${password}`);
  io.out("Copy it now. You won't see it again. The user must change it at the first sign-in.");
}

function printPasswordFaults(
  { credentials }: Services,
  faults: readonly PasswordFault[],
  hasSecondFactor: boolean,
  io: Io,
): number {
  io.err("This password doesn't meet the requirements:");
  for (const fault of faults) io.err(`  ${credentials.advice(fault, hasSecondFactor)}`);
  return 1;
}
