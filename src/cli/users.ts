// `gatehouse user …`: lists, imports and invites users, and unlocks, disables or resets them.
import { readFile, writeFile } from 'node:fs/promises';
import type { ImportRow } from '../admin/users/import.ts';
import { AppError } from '../base/http/errors.ts';
import { fullName } from '../base/http/pages/tokens.ts';
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
import { wayText } from './apps.ts';
import { type Commands, fail, type Input, noSuch, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { factLines, formatDate, plain, secretLines } from './io.ts';
import { periodOption, timeOption, times } from './times.ts';

const message = { type: 'string', value: 'TEXT', help: 'plain text that the invitation contains' } as const;
const yes = { type: 'boolean', help: 'delete the user' } as const;
const passwordStdin = {
  'password-stdin': { type: 'boolean', help: 'read the password from standard input' },
} as const;
/** Rows of a file between two lines of progress. */
const IMPORT_ROWS = 500;

// Without --password-stdin a temporary password is generated and printed once; a password on the command line would be in the shell's
// history and in the process list.
export const userCommands: Commands = {
  'user add': {
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
    },
    mayBegin: true,
    async act(services, input, io) {
      const { createAccountWithPassword } = await import('../config-file/new-account.ts');
      const user = {
        username: input.words[0] ?? '',
        email: input.text('email') ?? null,
        emailVerified: input.flag('email-verified'),
        name: input.text('name') ?? null,
        roles: input.texts('role'),
        activeUntil: timeOption(input, 'until'),
      };
      const invitation = messageOption(input);
      if (input.flag('invite')) {
        if (input.flag('password-stdin')) throw new UsageError("--invite and --password-stdin can't be used together");
        if (!user.email) throw new UsageError('--invite needs --email');
        const admin = await userAdmin(services);
        const { account } = await admin.create({ ...user, invite: true, message: invitation }, {});
        const { id, username, email } = account;
        return { json: { id, username, invited: true }, text: `Added ${username}. The invitation goes to ${email}.` };
      }
      if (invitation !== '') throw new UsageError('--message needs --invite');
      const password = input.flag('password-stdin') ? await io.stdin() : undefined;
      const created = await createAccountWithPassword(services, { ...user, password });
      if (created.outcome === 'rejected') return failPassword(services, created.faults, false);
      const { account, oneTimePassword } = created;
      const { id, username } = account;
      return {
        json: { id, username, ...(oneTimePassword ? { oneTimePassword } : {}) },
        text: [`Added ${username}.`, ...temporaryPassword(oneTimePassword)],
      };
    },
  },

  'user import': {
    args: ['FILE'],
    summary: 'create users from a CSV file, or change and disable them',
    details: `FILE is CSV with a header line; - reads standard input. Each row is carried out on its own. The exit code is 1 where a row failed.`,
    options: {
      trial: { type: 'boolean', help: 'do the same, and take each change back' },
      update: { type: 'boolean', help: 'change users who exist; otherwise their rows fail' },
      'ignore-unknown': { type: 'boolean', help: 'leave out unknown columns' },
      'create-groups': { type: 'boolean', help: 'create the groups that do not exist' },
      invite: { type: 'boolean', help: 'invite each new user who has an email address and no password' },
      message,
      report: {
        type: 'string',
        value: 'FILE',
        help: 'write a CSV with line, result, reason and the columns of the file, filled where a row failed',
      },
    },
    async act(services, input, io) {
      const [file = ''] = input.words;
      const text = file === '-' ? await io.stdin() : await readFile(file, 'utf8');
      const importing = await import('../admin/users/import.ts');
      const { createUserImport, importOptions, importOutcomes, reportHeader, reportOf } = importing;
      const options = importOptions.parse({
        existing: input.flag('update') ? 'update' : 'reject',
        unknown_columns: input.flag('ignore-unknown') ? 'ignore' : 'reject',
        missing_groups: input.flag('create-groups') ? 'create' : 'reject',
        invite: input.flag('invite'),
        message: messageOption(input),
      });
      const imports = createUserImport({ ...services, users: await userAdmin(services) });
      const read = await imports.read(text, options.unknown_columns);
      if (read.shared.length > 0)
        io.err(`not the own fields of these names, but the standard claims are filled: ${read.shared.join(', ')}`);
      const rows: ImportRow[] = [];
      const cellsIn = imports.reader(read.columns);
      for (const row of read.rows) {
        rows.push(await imports.carryOut(row, cellsIn, { isTrial: input.flag('trial'), by: {}, options }));
        if (rows.length % IMPORT_ROWS === 0) io.err(`${rows.length} of ${plural(read.rows.length, 'row')}`);
      }
      const report = input.text('report');
      if (report !== undefined) {
        const content = reportHeader(read) + reportOf(rows, read);
        await writeFile(report, content, { mode: 0o600 });
      }
      const words = importOutcomes.flatMap((one) => {
        const count = rows.filter(({ outcome }) => outcome === one).length;
        return count > 0 ? [`${count} ${one}`] : [];
      });
      const trial = input.flag('trial') ? ' (trial)' : '';
      return {
        json: rows.map(({ line, username, outcome, error }) => ({
          line,
          username,
          result: outcome,
          reason: error === undefined ? null : String(error),
        })),
        text: `${plural(rows.length, 'row')}: ${words.join(', ') || 'nothing to do'}${trial}`,
        errors: rows.flatMap(({ line, username, error }) =>
          error === undefined ? [] : [`line ${line}, ${username}: ${error}`],
        ),
        code: rows.some(({ error }) => error !== undefined) ? 1 : 0,
      };
    },
  },

  'user invite': {
    args: ['[LOGIN]'],
    summary: 'email a user a link to choose a password or create a passkey; again, too',
    details:
      'Without LOGIN, --invitation names the state of the users who get one, such as needed, expired or bounced.',
    options: {
      invitation: { type: 'string', value: 'STATE', help: `every user in this state: ${invitationStates.join(', ')}` },
      message,
    },
    async act(services, input) {
      const invitation = stateOption(input);
      if ((input.words[0] === undefined) === (invitation === undefined))
        throw new UsageError('give either LOGIN or --invitation');
      const text = messageOption(input);
      const { accounts } = services;
      const users = invitation ? await listed(accounts, { invitation }) : [await userOf(services, input)];
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
      return {
        json: results,
        text: results.map(({ username, error }) =>
          error === undefined ? `Queued an invitation for ${username}.` : `${username}: ${error}`,
        ),
        code: results.every(({ invited }) => invited) ? 0 : 1,
      };
    },
  },

  'user list': {
    summary: 'list all users',
    options: {
      search: { type: 'string', value: 'TEXT', help: 'part of the username, email address, or name' },
      invitation: {
        type: 'string',
        value: 'STATE',
        help: `state of the last invitation: ${invitationStates.join(', ')}`,
      },
    },
    async act({ accounts }, input) {
      const found = await listed(accounts, { search: input.text('search'), invitation: stateOption(input) });
      const rows = found.map((account) => {
        const { username, email, roles, state, invitation, source } = account;
        const about = [username, email ?? '-', fullName(account) ?? '-', roles.join(', ') || '-'];
        return [...about, state, invitation ?? '-', seenText(account), source];
      });
      const columns = ['USERNAME', 'EMAIL', 'NAME', 'ROLES', 'STATE', 'INVITATION', 'LAST USED', 'SOURCE'];
      return { json: found, table: [columns, rows] };
    },
  },

  'user show': {
    args: ['LOGIN'],
    summary: 'show a user, by username or email address',
    async act(services, input) {
      const { sessions, db } = services;
      const { id } = await userOf(services, input);
      const details = await (await userAdmin(services)).get(id, {});
      const { account, directory = null, password = null, factors, lockedSeconds, unusedEnd = null } = details;
      const { invitationState: invitation } = details;
      const live = await sessions.list(account.id);
      const grants = await db.userRole.findMany({ where: { userId: account.id }, include: { role: true } });
      const directRoles = grants
        .filter(({ via }) => via === '')
        .map(({ role: { name }, since, until }) => ({ name, since, until }));
      const state = { password, factors, sessions: live.length, lockedSeconds };
      const rolesByTime = directRoles.flatMap(periodText).join(', ');
      return {
        json: { ...account, directory, directRoles, ...state, invitation, unusedEnd },
        text: factLines([
          ['subject', account.id],
          ['username', account.username],
          ['name', fullName(account) ?? '-'],
          ['email', account.email ? `${account.email}${account.emailVerified ? '' : ' (not verified)'}` : '-'],
          ['roles', account.roles.join(', ') || '-'],
          ...(rolesByTime ? [['roles by time', rolesByTime] as const] : []),
          ['groups', account.groups.map(groupText).join(', ') || '-'],
          ['state', account.state],
          ['invitation', invitation ?? '-'],
          ['begins', account.activeFrom ? formatDate(account.activeFrom) : 'at once'],
          ['ends', account.activeUntil ? formatDate(account.activeUntil) : 'never'],
          ['last used', seenText(account)],
          ...(unusedEnd ? [['if unused', unusedText(unusedEnd)] as const] : []),
          ['source', account.source === 'file' ? 'the configuration file' : account.source],
          ...(directory ? [['directory', directoryText(directory)] as const] : []),
          ['created', formatDate(account.createdAt)],
          ['password', passwordText(password)],
          ['two-step', factorText(factors)],
          ['sessions', String(live.length)],
          ['locked', lockedSeconds > 0 ? `for ${lockedSeconds} s after wrong passwords` : 'no'],
        ]),
      };
    },
  },

  'user add-role': {
    args: ['LOGIN', 'ROLE'],
    summary: 'give a user a role, or change when it begins and ends',
    options: times,
    async act(services, input) {
      const { roles, db } = services;
      const { id, username } = await userOf(services, input);
      const role = input.words[1] ?? '';
      const held = await db.userRole.findFirst({ where: { userId: id, via: '', role: { name: role } } });
      const period = periodOption(input, held);
      const changed = await roles.assign(id, role, {}, undefined, period);
      return {
        json: { id, username, role, ...period, changed },
        text: changed
          ? `${username} was given the role ${periodText({ name: role, ...period })[0] ?? role}.`
          : `${username} already had the role ${role} for the same time.`,
      };
    },
  },

  'user remove-role': {
    args: ['LOGIN', 'ROLE'],
    summary: 'take a role that was given to a user directly',
    async act(services, input) {
      const { accounts, roles } = services;
      const { id, username } = await userOf(services, input);
      const role = input.words[1] ?? '';
      const changed = await roles.unassign(id, role);
      const stays = (await accounts.find(id))?.roles.includes(role) ?? false;
      return {
        json: { id, username, role, changed, stays },
        text: `${username} ${changed ? 'no longer has' : "didn't have"} the role ${role} directly.`,
        notes: stays ? [`warning: ${username} still has the role ${role} by a group or a connection.`] : [],
      };
    },
  },

  'user set-password': {
    args: ['LOGIN'],
    summary: 'set a new password for a user and end their sessions; prints a temporary password once',
    options: {
      ...passwordStdin,
      'must-change': {
        type: 'boolean',
        help: 'require a password change at the next sign-in, also with --password-stdin',
      },
      keep: { type: 'boolean', help: "don't set a password; require a password change at the next sign-in" },
    },
    async act(services, input, io) {
      const { credentials, endSession, mfa, notifyOwner } = services;
      const account = await userOf(services, input);
      const { id, username } = account;
      if (input.flag('keep')) {
        if (input.flag('password-stdin')) throw new UsageError("--keep and --password-stdin can't be used together");
        await credentials.forceChange(id);
        await endSession.all(id, 'ended-by-admin');
        return {
          json: { id, username },
          text: `${username} must choose a new password at the next sign-in, and is signed out everywhere.`,
        };
      }
      const given = input.flag('password-stdin') ? await io.stdin() : undefined;
      const { newOneTimePassword } = await import('../config-file/new-account.ts');
      const password = given ?? newOneTimePassword();
      const mustChange = given === undefined || input.flag('must-change');
      const outcome = await credentials.setPassword(account, password, { mustChange });
      if (outcome !== 'ok') return failPassword(services, outcome, await mfa.factors.hasSecondFactor(id));
      await mfa.knownBrowsers.endTrust(id);
      await endSession.all(id, 'password-reset');
      await notifyOwner(account, 'password-changed-by-admin');
      const oneTimePassword = given === undefined ? password : undefined;
      return {
        json: { id, username, ...(oneTimePassword ? { oneTimePassword } : {}) },
        text: [`${username} has a new password, and is signed out everywhere.`, ...temporaryPassword(oneTimePassword)],
      };
    },
  },

  'user set-period': {
    args: ['LOGIN'],
    summary: 'change when an account begins and ends',
    details: 'Before and after, sign-in is rejected, and no token works.',
    options: times,
    async act(services, input) {
      if (input.text('since') === undefined && input.text('until') === undefined)
        throw new UsageError('give --since or --until');
      const changes = {
        ...(input.text('since') !== undefined && { activeFrom: timeOption(input, 'since') }),
        ...(input.text('until') !== undefined && { activeUntil: timeOption(input, 'until') }),
      };
      const account = await userOf(services, input);
      const changed = await (await userAdmin(services)).update(account.id, changes, {});
      const { id, username, activeFrom, activeUntil, state } = changed;
      const from = activeFrom ? `from ${formatDate(activeFrom)}` : 'at once';
      const until = activeUntil ? `until ${formatDate(activeUntil)}` : 'without an end';
      return {
        json: { id, username, activeFrom, activeUntil, state },
        text: `${username} can be used ${from}, ${until}.`,
      };
    },
  },

  'user hand-over': {
    args: ['FROM', 'TO'],
    summary: 'make another user the owner of the groups of a user, and the contact of the applications',
    details:
      'Without --item, all that the user owns and the configuration file does not declare. API keys end with their user.',
    options: {
      item: { type: 'string', multiple: true, value: 'NAME', help: 'a group or application by its name or id' },
    },
    async act(services, input) {
      const from = await userOf(services, input);
      const to = await userOf(services, input, 1);
      const users = await userAdmin(services);
      const { items: owned, apiKeys } = await users.owned(from.id, {});
      const names = input.texts('item');
      const missing = names.find((name) => !owned.some((one) => one.name === name || one.id === name));
      if (missing !== undefined) fail(`${from.username} owns no group or application "${missing}".`);
      const wanted = owned.filter((one) => names.includes(one.name) || names.includes(one.id));
      const items = names.length > 0 ? wanted.map(({ id }) => id) : undefined;
      const handed = await users.handOver(from.id, { to: to.id, items }, {});
      const left = owned.filter(({ id }) => !handed.some((one) => one.id === id));
      const named = ({ kind, id, name }: (typeof owned)[number]) => ({ kind, id, name });
      const keys = apiKeys.map(({ id, name }) => ({ kind: 'api-key', id, name }));
      return {
        json: { from: from.id, to: to.id, handedOver: handed.map(named), left: [...left.map(named), ...keys] },
        text:
          handed.length === 0
            ? `${from.username} owns nothing that can be handed over.`
            : handed.map(({ kind, name }) => `${to.username} has the ${kind} ${name}.`),
        errors: [
          ...left.map(({ kind, name, obstacle }) => `left: the ${kind} ${name}${obstacle ? `. ${obstacle}` : ''}`),
          ...apiKeys.map(({ name, id }) => `left: the API key ${name} (${id}), which ends with the account`),
        ],
        code: 0,
      };
    },
  },

  'user disable': {
    args: ['LOGIN'],
    summary: 'disable a user and end their sessions',
    async act(services, input) {
      const { db, roles } = services;
      const { id, username, source } = await userOf(services, input);
      const { transaction } = await import('../base/storage/database.ts');
      const { disableAccount } = await import('../people/accounts/life.ts');
      const changed = await transaction(db, async (tx) => {
        await roles.assertNotLastAdmin(id, tx);
        return (await disableAccount(services, id, {}, tx)) !== undefined;
      });
      return {
        json: { id, username, changed },
        text: `${username} ${changed ? 'is disabled, and signed out everywhere.' : 'was already disabled.'}`,
        notes: fileNote(source, 'Set active: false there, or the next apply enables the user again.'),
      };
    },
  },

  'user enable': {
    args: ['LOGIN'],
    summary: 'enable a disabled user',
    async act(services, input) {
      const { id, username } = await userOf(services, input);
      const changed = await services.accounts.setActive(id, true);
      return {
        json: { id, username, changed },
        text: `${username} ${changed ? 'is enabled.' : 'was already enabled.'}`,
      };
    },
  },

  'user export': {
    args: ['LOGIN'],
    summary: 'print everything that is stored about a user, as JSON',
    details:
      'For a request of access (GDPR, article 15), with notes and fields that only administrators see: read it before you hand it out. The user sees in their activity that it was exported.',
    run: (input, io) =>
      withServices(io, async (services) => {
        let line = '';
        const account = await userOf(services, input);
        for await (const piece of await services.ownData.export(account, 'administrator', {})) {
          const lines = `${line}${piece}`.split('\n');
          line = lines.pop() ?? '';
          lines.forEach(io.out);
        }
        return 0;
      }),
  },

  'user delete': {
    args: ['LOGIN'],
    summary: 'delete a user permanently, even if another program changed its row',
    details: `LOGIN is a username, an email address or a user ID (sub). Sessions and tokens end; password, factors, roles, consents and connected
sign-ins are deleted too. The user ID is never used again. The audit log keeps what happened,
and forgets the person after erase_after_days. Without --yes, nothing is deleted.`,
    options: { yes },
    async act({ accounts, db, endSession, roles }, input, io) {
      const [login = ''] = input.words;
      if (login.trim() === '') throw new UsageError('LOGIN is empty');
      const found = await accounts.findStored(login);
      const [account = noSuch('user', 'user', login)] = found;
      const { id, username, source, isGenuine } = account;
      if (found.length > 1) {
        const each = found.map((one) => `  ${one.id}  ${one.username}${one.isGenuine ? '' : ', changed outside'}`);
        fail([`"${login}" matches several users. Use the user ID (sub) of one of them:`, ...each]);
      }
      const name = `${username} (${id})`;
      if (!isGenuine)
        io.err(plain(`warning: the row of ${name} was written by another program, so its names may be wrong.`));
      if (!input.flag('yes')) fail(`This deletes ${name} permanently. To confirm, add --yes.`);
      const { transaction } = await import('../base/storage/database.ts');
      await transaction(db, async (tx) => {
        await roles.assertNotLastAdmin(id, tx);
        await endSession.all(id, 'account-deleted', {}, tx);
        await accounts.removeStored(account, tx);
      });
      return {
        json: { id, username, deleted: true },
        text: `Deleted ${name} and every session of the account. The user ID (sub) is never used again.`,
        notes: fileNote(source, 'Remove the user there, or the next apply adds the user again.'),
      };
    },
  },

  'user unlock': {
    args: ['LOGIN'],
    summary: 'unlock a user after too many wrong passwords',
    async act(services, input) {
      const { audit, lockout } = services;
      const account = await userOf(services, input);
      const { id, username } = account;
      await lockout.unlock(account);
      await audit.record({ type: 'sign-in.unlocked', outcome: 'success', subjectId: id });
      return { json: { id, username }, text: `${username} is unlocked.` };
    },
  },

  'user apps': {
    args: ['LOGIN'],
    summary: 'list the applications that a user can open, and why',
    async act(services, input) {
      const { applications, applicationPeople } = services;
      const account = await userOf(services, input);
      const { openedJson, withWays } = await import('../admin/applications/people.ts');
      const found: Awaited<ReturnType<typeof withWays>> = [];
      let after: string | undefined;
      do {
        const page = await applications.openTo(account, { limit: 200, after });
        found.push(...(await withWays(page.applications, account, applicationPeople)));
        after = page.next;
      } while (after);
      const rows = found.flatMap(({ application: { clientId, name }, ways }) =>
        ways.map((way) => [clientId, name, wayText(way), formatDate(way.until)]),
      );
      return { json: found.map(openedJson), table: [['IDENTIFIER', 'NAME', 'BY', 'UNTIL'], rows] };
    },
  },

  'user agents': {
    args: ['LOGIN'],
    summary: 'list the apps and agents with access to an account, with the APIs and the last use',
    async act(services, input) {
      const { allowedApplications } = await import('../account/consents.ts');
      const found = await allowedApplications(services, (await userOf(services, input)).id);
      const rows = found.map(({ clientId, applicationName, granted, grantedAt, lastUsedAt }) => [
        ...[clientId, applicationName, Object.keys(granted.resources).join(', ') || '-'],
        ...[formatDate(grantedAt), lastUsedAt ? formatDate(lastUsedAt) : '-'],
      ]);
      return { json: found, table: [['CLIENT_ID', 'NAME', 'APIS', 'SINCE', 'LAST USE'], rows] };
    },
  },

  'user factors': {
    args: ['LOGIN'],
    summary: 'list the two-step verification methods of a user',
    async act(services, input) {
      const { id: userId } = await userOf(services, input);
      const factors = await (await userAdmin(services)).factorsOf(userId, {});
      const rows = factors.map(({ id, kind, name, addedAt, lastUsedAt, left }) => [
        ...[id, kind, left === undefined ? (name ?? '-') : `${left} left`],
        ...[formatDate(addedAt), formatDate(lastUsedAt)],
      ]);
      return { json: factors, table: [['ID', 'KIND', 'NAME', 'ADDED', 'LAST USED'], rows] };
    },
  },

  'user remove-factor': {
    args: ['LOGIN', 'ID'],
    summary: 'remove a two-step verification method of a user and end their sessions; user factors lists the IDs',
    async act(services, input) {
      const { id, username } = await userOf(services, input);
      const [, wanted = ''] = input.words;
      const admin = await userAdmin(services);
      const factor =
        (await admin.factorsOf(id, {})).find((one) => one.id === wanted && one.kind !== 'email') ??
        fail(`${username} has no method "${wanted}". To see all, run: gatehouse user factors ${username}`);
      await admin.removeFactor(id, factor.id, {});
      return {
        json: { id, username, removed: factor.id },
        text: `Removed ${factor.id} of ${username}, who is signed out everywhere.`,
      };
    },
  },

  'user reset-mfa': {
    args: ['LOGIN'],
    summary: 'remove all two-step verification methods of a user and end their sessions',
    async act(services, input) {
      const { id, username } = await userOf(services, input);
      await (await userAdmin(services)).resetFactors(id, {});
      return {
        json: { id, username },
        text: `Reset two-step verification for ${username}, who is signed out everywhere.`,
      };
    },
  },

  'user allow-factor': {
    args: ['LOGIN'],
    summary: 'let a user set up two-step verification in the next seven days (setting first_factor)',
    async act(services, input) {
      const { id, username } = await userOf(services, input);
      await services.mfa.firstEnrolment.allow(id, {});
      return { json: { id, username }, text: `${username} can set up two-step verification.` };
    },
  },
};

/** The user whom an argument names, the first one unless `at` says otherwise. */
export async function userOf({ accounts }: Services, { words }: Input, at = 0): Promise<Account> {
  const login = words[at] ?? '';
  if (login.trim() === '') throw new UsageError('LOGIN is empty');
  return (await accounts.findByLogin(login)) ?? noSuch('user', 'user', login);
}

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

function messageOption(input: Input): string {
  const text = input.text('message') ?? '';
  if (text.length > limits.invitation.message)
    throw new UsageError(`--message has more than ${limits.invitation.message} characters`);
  return text;
}

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

function passwordText(password: { changedAt: Date; mustChange: boolean } | null): string {
  if (!password) return 'none';
  return `changed ${formatDate(password.changedAt)}${password.mustChange ? ', must be changed' : ''}`;
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

const fileNote = (source: string, advice: string): string[] =>
  source === 'file' ? [`warning: the configuration file declares this user. ${advice}`] : [];

const temporaryPassword = (password: string | undefined): string[] =>
  password === undefined
    ? []
    : secretLines('Temporary password', password, 'The user must change it at the first sign-in.');

const failPassword = ({ credentials }: Services, faults: readonly PasswordFault[], hasSecondFactor: boolean): never =>
  fail([
    "This password doesn't meet the requirements:",
    ...faults.map((fault) => `  ${credentials.advice(fault, hasSecondFactor)}`),
  ]);
