// Creates the services of users: accounts, roles, passwords, second factors, API keys, sign-up codes, and the limits on guessing.

import type { Tx } from '../base/storage/database.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import { createRejections } from '../core/rejections/rejections.ts';
import { createSmsGateway } from '../core/sms/gateway.ts';
import { createAccounts } from './accounts/accounts.ts';
import { createNotes } from './accounts/notes.ts';
import { type CheckImage, createPersonPictures } from './accounts/pictures.ts';
import { createNoteSeen } from './accounts/seen.ts';
import { createApiKeys, createKeyUses } from './api-keys/api-keys.ts';
import { createBulkChanges } from './bulk-changes.ts';
import { createBreached } from './credentials/breached.ts';
import { createCredentials } from './credentials/credentials.ts';
import { createPasswords } from './credentials/password.ts';
import { createStrengthMeter } from './credentials/strength.ts';
import { createGroupChanges } from './groups/changes.ts';
import { createGroupDomains, type GroupDomains } from './groups/domains.ts';
import { createEnds } from './groups/ends.ts';
import { createGroups } from './groups/groups.ts';
import { createGroupInvitations } from './groups/invitations.ts';
import { createGroupOwners } from './groups/owners.ts';
import { createLogoutOnRoleChange } from './groups/pieces.ts';
import { createGroupRequests } from './groups/requests.ts';
import { createFactors } from './mfa/account-factors.ts';
import { createCodeDelivery } from './mfa/factors/code-delivery.ts';
import { createOneTimeCodes } from './mfa/factors/one-time-codes.ts';
import { createPasskeys } from './mfa/factors/passkeys.ts';
import { createPhones } from './mfa/factors/phone-number.ts';
import { createRecoveryCodes } from './mfa/factors/recovery-codes.ts';
import { createTotp } from './mfa/factors/totp.ts';
import { createFirstEnrolmentRule } from './mfa/first-enrolment-rule.ts';
import { createKnownBrowsers } from './mfa/known-browsers.ts';
import { createAttemptCounters } from './rate-limits/attempt-counters.ts';
import { createCaptcha } from './rate-limits/captcha.ts';
import { createDirectoryBudget } from './rate-limits/directory-budget.ts';
import { createLockout } from './rate-limits/lockout.ts';
import { siteBlock } from './rate-limits/policies.ts';
import { createMailLimits, createRateLimits, type KnownBrowserLookup } from './rate-limits/rate-limits.ts';
import { createSignInQueue } from './rate-limits/sign-in-queue.ts';
import { createStorageBudget } from './rate-limits/storage-budget.ts';
import type { NameChanged } from './rbac/assign-roles.ts';
import { createAuthority, createPermissions } from './rbac/authority.ts';
import { createSetConnectionRoles } from './rbac/connection-roles.ts';
import { createRoles } from './rbac/roles.ts';
import { createSignUpCodes } from './sign-up-codes/sign-up-codes.ts';

export type People = Omit<ReturnType<typeof createPeople>, 'closePasswords'>;

export interface PeopleOptions {
  abandonSignIns: PasswordHooks['abandonSignIns'];
  endAppPasswords: PasswordHooks['endAppPasswords'];
  /** Ends the sessions of a user whose roles or groups change, if the settings say so. */
  signOutOnRoleChange(userId: string, by: Actor, tx: Tx): Promise<void>;
  /** Brings what names a role or group in line with its name. */
  nameChanged: NameChanged;
  checkImage: CheckImage;
}

export function createPeople(
  core: Core,
  { abandonSignIns, endAppPasswords, signOutOnRoleChange, nameChanged, checkImage }: PeopleOptions,
) {
  const { config, settings, outgoing } = core;
  const { issuerUrl } = config;
  const setting = settings.latest;
  const accounts = createAccounts(core, (account, by, tx) => groupDomains.addressChanged(account, by, tx));
  const authority = createAuthority({ accounts });
  const mfa = createMfa(core);
  const { factors, knownBrowsers } = mfa;
  const { close: closePasswords, ...passwordServices } = createPasswordServices(core, {
    hasSecondFactor: factors.hasSecondFactor,
    abandonSignIns,
    endAppPasswords,
  });
  const limiters = createLimits(core, knownBrowsers);
  const { rateLimits } = limiters;
  const sms = createSmsGateway({
    ...core,
    gateway: () => setting().sms_gateway,
    fetch: outgoing,
    host: issuerUrl.host,
  });
  const logoutOnRoleChange = createLogoutOnRoleChange(core, signOutOnRoleChange);
  const groups = createGroups({ ...core, authority, logoutOnRoleChange, nameChanged });
  const bulkChanges = createBulkChanges({ ...core, authority });
  const groupDomains: GroupDomains = createGroupDomains({ ...core, groups, accounts });
  return {
    accounts,
    noteSeen: createNoteSeen(core),
    notes: createNotes(core),
    personPictures: createPersonPictures({ ...core, accounts, checkImage }),
    authority,
    permissions: createPermissions({ accounts }),
    ends: createEnds({ ...core, logoutOnRoleChange }),
    groups,
    bulkChanges,
    groupChanges: createGroupChanges({ ...core, groups, bulkChanges, signOutOnRoleChange }),
    groupDomains,
    groupRequests: createGroupRequests({ ...core, groups, accounts }),
    groupInvitations: createGroupInvitations({ ...core, ...limiters, groups, accounts }),
    groupOwners: createGroupOwners({ ...core, ...limiters, groups, accounts }),
    roles: createRoles({ ...core, authority, logoutOnRoleChange, nameChanged }),
    logoutOnRoleChange,
    setConnectionRoles: createSetConnectionRoles({ ...core, logoutOnRoleChange }),
    mfa,
    ...passwordServices,
    ...limiters,
    rejections: createRejections({ ...core, limit: rateLimits.remembered('rejections:address'), networkOf: siteBlock }),
    sms,
    codeDelivery: createCodeDelivery({ ...core, ...limiters, ...mfa, sms, emailCodes: () => setting().email_codes }),
    apiKeys: createApiKeys(core),
    recordKeyUse: createKeyUses(core),
    signUpCodes: createSignUpCodes(core),
    closePasswords,
  };
}

// Builds the password services: hashing, strength, breached passwords, and the passwords of accounts.

interface PasswordHooks {
  hasSecondFactor(userId: string, tx?: Tx): Promise<boolean>;
  /** Ends the account's sign-ins that are not finished. */
  abandonSignIns(userId: string, tx: Tx): Promise<void>;
  /** Ends the app passwords of the account. */
  endAppPasswords(userId: string, by: Actor, tx: Tx): Promise<void>;
}

// One thread each for all servers of a process, which ends when it is idle. The meter of the pages is separate from the one that decides, so
// that a flood of estimates cannot block new passwords.
const strength = createStrengthMeter();
const strengthMeter = createStrengthMeter({ maxWaiting: 8 });

/** Builds the services; `close` ends the worker thread of the hashes. */
function createPasswordServices(core: Core, hooks: PasswordHooks) {
  const { config, settings, outgoing } = core;
  const passwords = createPasswords();
  const isLookupOn = () => settings.latest().breached_password_lookup;
  const breached = createBreached({ ...core, strength, rangeFetch: outgoing, isLookupOn });
  const serviceNames = () => ['gatehouse', config.issuerUrl.hostname, settings.latest().brand_name ?? ''];
  return {
    passwords,
    strengthMeter,
    serviceNames,
    credentials: createCredentials({ ...core, ...hooks, passwords, breached, serviceNames }),
    close: passwords.close,
  };
}

// Builds the protection against brute force: rate limits, lockout, CAPTCHA and the limits of mail.

function createLimits(core: Core, knownBrowsers: KnownBrowserLookup) {
  const isEnabled = () => core.settings.latest().rate_limits;
  const rateLimits = createRateLimits({ ...core, isEnabled });
  return {
    rateLimits,
    storageBudget: createStorageBudget({ ...core, rateLimits, isEnabled }),
    lockout: createLockout({
      rateLimits,
      counters: createAttemptCounters({ ...core, isEnabled }),
      queue: createSignInQueue(),
    }),
    directoryBudget: createDirectoryBudget({ ...core, isEnabled }),
    captcha: createCaptcha({ ...core, rateLimits }),
    mailLimits: createMailLimits(rateLimits, knownBrowsers),
  };
}

// Puts the second factors together. factors/README.md lists the steps for adding one.

function createMfa(core: Core) {
  const { config, settings } = core;
  const { issuerUrl } = config;
  // A colon separates the name from the username.
  const issuerName = () => settings.latest().brand_name?.replaceAll(':', '') || issuerUrl.hostname;
  const totp = createTotp({ ...core, issuerName });
  const passkeys = createPasskeys({ ...core, serviceName: 'Gatehouse' });
  const recoveryCodes = createRecoveryCodes(core);
  const oneTimeCodes = createOneTimeCodes(core);
  const phones = createPhones({ ...core, oneTimeCodes });
  return {
    totp,
    passkeys,
    recoveryCodes,
    oneTimeCodes,
    phones,
    knownBrowsers: createKnownBrowsers(core),
    factors: createFactors({ ...core, totp, passkeys, phones, recoveryCodes }),
    firstEnrolment: createFirstEnrolmentRule(core),
  };
}
