// The list of commands, in the order of the help.
import { type Variable, variables } from '../base/config/variables.ts';
import { apiKeyCommands } from './api-keys.ts';
import { apiCommands } from './apis.ts';
import { fileCommands } from './apply.ts';
import { appCommands } from './apps.ts';
import { auditCommands } from './audit.ts';
import { backupCommands } from './backup/backup.ts';
import { type Command, type Commands, jsonOption } from './command.ts';
import { connectionCommands } from './connections.ts';
import { doctorCommands } from './doctor/doctor.ts';
import { eventStreamCommands } from './event-streams.ts';
import { groupCommands } from './groups.ts';
import { keyCommands, secretCommands } from './keys.ts';
import { mailCommands } from './mail.ts';
import { signUpCodeCommands } from './sign-up-codes.ts';
import { upgradeCommands } from './upgrade/upgrade-check.ts';
import { userCommands } from './users.ts';

// `gatehouse serve`: the server, as `npm start` runs it.

const serverCommands: Commands = {
  serve: {
    summary: 'start the server; SIGTERM or SIGINT stops it when open requests are done',
    details: `Environment:\n${environmentTable()}`,
    async run() {
      // Loaded here: only this command needs the server.
      const { serve } = await import('../server/serve.ts');
      return serve();
    },
  },
};

function environmentTable(): string {
  const rows = Object.entries<Variable>(variables).map(([name, variable]) => [
    `  ${name}${variable.file ? ` or ${name}_FILE` : ''}`,
    `${variable.meaning} (default: ${variable.default})`,
  ]);
  const width = Math.max(...rows.map(([left = '']) => left.length));
  return rows.map(([left = '', right = '']) => `${left.padEnd(width)}  ${right}`).join('\n');
}

const all: Commands = {
  ...serverCommands,
  ...fileCommands,
  ...userCommands,
  ...groupCommands,
  ...appCommands,
  ...apiCommands,
  ...connectionCommands,
  ...eventStreamCommands,
  ...apiKeyCommands,
  ...signUpCodeCommands,
  ...mailCommands,
  ...keyCommands,
  ...auditCommands,
  ...secretCommands,
  ...backupCommands,
  ...upgradeCommands,
  ...doctorCommands,
};

export const commands: readonly Command[] = Object.entries(all).map(([name, command]) => ({
  name,
  ...command,
  options: { ...command.options, ...('act' in command && jsonOption) },
}));
