// `gatehouse user add` and `set-password`. Without --password-stdin a temporary password is generated and printed once; a password
// on the command line would be in the shell's history and in the process list.
import { passwordAdvice } from '../people/credentials/password-advice.ts';
import type { PasswordFault } from '../people/credentials/password-policy.ts';
import { type Command, jsonOption, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { type Io, plain } from './io.ts';
import { withUser } from './users.ts';

const passwordStdin = {
  'password-stdin': { type: 'boolean', help: 'read the password from standard input' },
} as const;

export const userAdd: Command = {
  name: 'user add',
  args: ['USERNAME'],
  summary: 'add a user; prints a temporary password once',
  options: {
    email: { type: 'string', value: 'ADDRESS', help: 'email address' },
    'email-verified': {
      type: 'boolean',
      help: 'mark the email address as verified; some applications reject unverified addresses',
    },
    name: { type: 'string', value: 'NAME', help: 'display name' },
    role: { type: 'string', value: 'ROLE', multiple: true, help: 'role, such as admin' },
    ...passwordStdin,
    ...jsonOption,
  },
  run: (input, io) =>
    withServices(
      io,
      async (services) => {
        const { createAccountWithPassword } = await import('../config-file/new-account.ts');
        const [username = ''] = input.words;
        const password = input.flag('password-stdin') ? await io.stdin() : undefined;
        const created = await createAccountWithPassword(services, {
          username,
          email: input.text('email') ?? null,
          emailVerified: input.flag('email-verified'),
          name: input.text('name') ?? null,
          roles: input.texts('role'),
          password,
        });
        if (created.outcome === 'rejected') return printPasswordFaults(created.faults, false, io);
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
    withUser(input, io, async (account, { credentials, endSession, mfa, notifyOwner }) => {
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
      if (outcome !== 'ok') return printPasswordFaults(outcome, await mfa.factors.hasSecondFactor(account.id), io);
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

function printPasswordFaults(faults: readonly PasswordFault[], hasSecondFactor: boolean, io: Io): number {
  io.err("This password doesn't meet the requirements:");
  for (const fault of faults) io.err(`  ${passwordAdvice(fault, hasSecondFactor)}`);
  return 1;
}
