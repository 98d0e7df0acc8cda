// The list of commands, in the order of the help.
import { apiKeyCreate, apiKeyList, apiKeyRevoke } from './api-keys.ts';
import { appAdd, appRegistrationToken } from './app-add.ts';
import { applyCommand, exportCommand } from './apply.ts';
import { appList, appSecret, appShow } from './apps.ts';
import { auditAcceptRestore, auditCheckpoints, auditPublicKey, auditVerify } from './audit.ts';
import { backupCommand } from './backup/backup.ts';
import { restoreCommand } from './backup/restore.ts';
import { verifyCommand } from './backup/verify.ts';
import type { Command } from './command.ts';
import { connectionCommands } from './connections.ts';
import { doctorCommand } from './doctor/doctor.ts';
import { keysList, keysRotate } from './keys.ts';
import { secretsRotate } from './secrets/rotate.ts';
import { serveCommand } from './serve.ts';
import { signUpCodeCreate, signUpCodeList, signUpCodeRevoke } from './sign-up-codes.ts';
import { upgradeCheck } from './upgrade/upgrade-check.ts';
import { userAdd, userSetPassword } from './user-passwords.ts';
import {
  userAllowFactor,
  userDelete,
  userDisable,
  userEnable,
  userList,
  userResetMfa,
  userShow,
  userUnlock,
} from './users.ts';

export const commands: readonly Command[] = [
  ...[serveCommand, applyCommand, exportCommand],
  ...[
    userAdd,
    userList,
    userShow,
    userSetPassword,
    userDisable,
    userEnable,
    userDelete,
    userUnlock,
    userResetMfa,
    userAllowFactor,
  ],
  ...[
    appList,
    appShow,
    appAdd,
    appSecret,
    appRegistrationToken,
    ...connectionCommands,
    apiKeyCreate,
    apiKeyList,
    apiKeyRevoke,
    signUpCodeCreate,
    signUpCodeList,
    signUpCodeRevoke,
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
