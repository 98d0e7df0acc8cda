// Creates the services of users: accounts, roles, passwords, second factors, API keys, sign-up codes, and the limits on guessing.
import type { Core } from '../core/core.ts';
import { createRejections } from '../core/rejections/rejections.ts';
import { createSmsGateway } from '../core/sms/gateway.ts';
import { createAccounts } from './accounts/accounts.ts';
import { createApiKeys } from './api-keys/api-keys.ts';
import { createKeyUses } from './api-keys/key-uses.ts';
import { createPasswordServices, type PasswordHooks } from './credentials/create-credentials.ts';
import { createMfa } from './mfa/create-mfa.ts';
import { createCodeDelivery } from './mfa/factors/code-delivery.ts';
import { createLimits } from './rate-limits/create-limits.ts';
import { siteBlock } from './rate-limits/network-limits.ts';
import { createAuthority } from './rbac/authority.ts';
import { createSetConnectionRoles, type LogoutOnRoleChange } from './rbac/connection-roles.ts';
import { createPermissions } from './rbac/permissions.ts';
import { createRoles } from './rbac/roles.ts';
import { createSignUpCodes } from './sign-up-codes/sign-up-codes.ts';

export type People = Omit<ReturnType<typeof createPeople>, 'closePasswords'>;

export interface PeopleOptions {
  abandonSignIns: PasswordHooks['abandonSignIns'];
  /** Called in the transaction in which a user got or lost a role. */
  logoutOnRoleChange: LogoutOnRoleChange;
}

export function createPeople(core: Core, { abandonSignIns, logoutOnRoleChange }: PeopleOptions) {
  const { config, settings, outgoing } = core;
  const { issuerUrl } = config;
  const setting = settings.latest;
  const accounts = createAccounts({
    ...core,
    attributeSchema: () => setting().user_attributes,
    usernameDomains: () => setting().username_domains,
  });
  const authority = createAuthority({ accounts });
  const mfa = createMfa(core);
  const { factors, knownBrowsers } = mfa;
  const { close: closePasswords, ...passwordServices } = createPasswordServices(core, {
    hasSecondFactor: factors.hasSecondFactor,
    abandonSignIns,
  });
  const limiters = createLimits(core, knownBrowsers);
  const { rateLimits } = limiters;
  const admit = async (address: string) => (await rateLimits.consume('rejections:address', siteBlock(address))).allowed;
  const sms = createSmsGateway({
    ...core,
    gateway: () => setting().sms_gateway,
    fetch: outgoing,
    host: issuerUrl.host,
  });
  return {
    accounts,
    authority,
    permissions: createPermissions({ accounts }),
    roles: createRoles({ ...core, authority, logoutOnRoleChange }),
    setConnectionRoles: createSetConnectionRoles({ ...core, logoutOnRoleChange }),
    mfa,
    ...passwordServices,
    ...limiters,
    rejections: createRejections({ ...core, admit }),
    sms,
    codeDelivery: createCodeDelivery({ ...core, ...limiters, ...mfa, sms, emailCodes: () => setting().email_codes }),
    apiKeys: createApiKeys(core),
    recordKeyUse: createKeyUses(core),
    signUpCodes: createSignUpCodes(core),
    closePasswords,
  };
}
