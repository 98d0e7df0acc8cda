// The list of commands, in the order of the help.
import { type Variable, variables } from '../base/config/variables.ts';
import { apiKeyCreate, apiKeyList, apiKeyRevoke } from './api-keys.ts';
import { applyCommand, exportCommand, planCommand, releaseCommand } from './apply.ts';
import { appAdd, appList, appPeople, appProvision, appRegistrationToken, appSecret, appShow } from './apps.ts';
import { auditAcceptRestore, auditCheckpoints, auditPublicKey, auditVerify } from './audit.ts';
import { backupCommand, restoreCommand, verifyCommand } from './backup/backup.ts';
import type { Command } from './command.ts';
import { connectionCommands } from './connections.ts';
import { doctorCommand } from './doctor/doctor.ts';
import { eventStreamCommands } from './event-streams.ts';
import { groupCommands } from './groups.ts';
import { keysList, keysRotate } from './keys.ts';
import { mailTest } from './mail.ts';
import { secretsRotate } from './secrets.ts';
import { signUpCodeCreate, signUpCodeList, signUpCodeRevoke } from './sign-up-codes.ts';
import { upgradeCheck } from './upgrade/upgrade-check.ts';
import {
  userAdd,
  userAddRole,
  userAllowFactor,
  userDelete,
  userDisable,
  userEnable,
  userExport,
  userFactors,
  userHandOver,
  userImport,
  userInvite,
  userList,
  userRemoveFactor,
  userRemoveRole,
  userResetMfa,
  userSetPassword,
  userSetPeriod,
  userShow,
  userUnlock,
} from './users.ts';

// `gatehouse serve`: the server, as `npm start` runs it.

const serveCommand: Command = {
  name: 'serve',
  summary: 'start the server; SIGTERM or SIGINT stops it when open requests are done',
  details: `Environment:\n${environmentTable()}`,
  async run() {
    // Loaded here: only this command needs the server.
    const { serve } = await import('../server/serve.ts');
    return serve();
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

export const commands: readonly Command[] = [
  ...[serveCommand, planCommand, applyCommand, releaseCommand, exportCommand],
  ...[
    userAdd,
    userImport,
    userInvite,
    userList,
    userShow,
    userAddRole,
    userRemoveRole,
    userSetPassword,
    userSetPeriod,
    userHandOver,
    userDisable,
    userEnable,
    userExport,
    userDelete,
    userUnlock,
    userFactors,
    userRemoveFactor,
    userResetMfa,
    userAllowFactor,
  ],
  ...[
    ...groupCommands,
    appList,
    appShow,
    appPeople,
    appProvision,
    appAdd,
    appSecret,
    appRegistrationToken,
    ...connectionCommands,
    ...eventStreamCommands,
    apiKeyCreate,
    apiKeyList,
    apiKeyRevoke,
    signUpCodeCreate,
    signUpCodeList,
    signUpCodeRevoke,
    mailTest,
    keysList,
    keysRotate,
    auditVerify,
    auditCheckpoints,
    auditPublicKey,
    auditAcceptRestore,
    secretsRotate,
    backupCommand,
    verifyCommand,
    restoreCommand,
    upgradeCheck,
    doctorCommand,
  ],
];
