// Users: accounts, passwords, second factors, rights, and the limits on guessing them.

import { createConsents } from '../../applications/consents/consents.ts';
import { createRejections } from '../../core/rejections/rejections.ts';
import { createSmsGateway } from '../../core/sms/gateway.ts';
import { createAccounts } from '../../people/accounts/accounts.ts';
import { createApiKeys } from '../../people/api-keys/api-keys.ts';
import { createKeyUses } from '../../people/api-keys/key-uses.ts';
import { createPasswordServices } from '../../people/credentials/create-credentials.ts';
import { createMfa } from '../../people/mfa/create-mfa.ts';
import { createCodeDelivery } from '../../people/mfa/factors/code-delivery.ts';
import { createLimits } from '../../people/rate-limits/create-limits.ts';
import { siteBlock } from '../../people/rate-limits/network-limits.ts';
import { createPermissions } from '../../people/rbac/permissions.ts';
import { createSignUpCodes } from '../../people/sign-up-codes/sign-up-codes.ts';
import { abandonSignIns } from '../../sign-in/abandon-sign-ins.ts';
import { createSignInPolicy } from '../../sign-in/sign-in-policy.ts';
import type { Base } from './base.ts';

export type UserServices = Omit<ReturnType<typeof createUserServices>, 'closePasswords'>;

export function createUserServices(base: Base) {
  const { config, logger, now, db, sql, vault, audit, protectedRows, repeatedEntries, settings, outgoing, outbox } =
    base;
  const { issuerUrl } = config;
  const setting = settings.latest;
  const accounts = createAccounts({
    db,
    sql,
    now,
    audit,
    protectedRows,
    attributeSchema: () => setting().user_attributes,
    usernameDomains: () => setting().username_domains,
  });
  const permissions = createPermissions({ accounts });
  const apiKeys = createApiKeys({ db, vault, now, audit, protectedRows });
  const signUpCodes = createSignUpCodes({ db, sql, vault, now, audit, protectedRows });
  const recordKeyUse = createKeyUses({ db, audit, now, logger });
  const consents = createConsents({ db, sql, now, protectedRows });
  const mfa = createMfa({
    db,
    sql,
    vault,
    now,
    audit,
    protectedRows,
    issuerUrl,
    settings: setting,
    brandName: () => setting().brand_name,
    requiredSince: async () => (setting().mfa === 'required' ? settings.changedAt('mfa') : undefined),
  });
  const { factors, knownBrowsers, oneTimeCodes, phones } = mfa;
  const isLookupOn = () => setting().breached_password_lookup;
  const { hasSecondFactor } = factors;
  const { close: closePasswords, ...passwordServices } = createPasswordServices({
    db,
    sql,
    now,
    audit,
    protectedRows,
    logger,
    issuerUrl,
    outgoing,
    isLookupOn,
    brandName: () => setting().brand_name,
    hasSecondFactor,
    abandonSignIns,
  });
  const { credentials } = passwordServices;
  const limiters = createLimits({ db, sql, now, vault, knownBrowsers, isEnabled: () => setting().rate_limits });
  const { rateLimits, mailLimits } = limiters;
  const admit = async (address: string) => (await rateLimits.consume('rejections:address', siteBlock(address))).allowed;
  const rejections = createRejections({ db, now, logger, protectedRows, admit });
  const sms = createSmsGateway({ gateway: () => setting().sms_gateway, fetch: outgoing, logger, host: issuerUrl.host });
  const emailCodes = () => setting().email_codes;
  const sending = { outbox, sms, rateLimits, mailLimits };
  const codeDelivery = createCodeDelivery({ ...sending, oneTimeCodes, phones, audit, repeatedEntries, emailCodes });
  const signInPolicy = createSignInPolicy({
    credentials,
    factors,
    firstEnrolment: mfa.firstEnrolment,
    codeDelivery,
    settings: setting,
  });
  return {
    accounts,
    permissions,
    consents,
    mfa,
    ...passwordServices,
    ...limiters,
    rejections,
    sms,
    codeDelivery,
    apiKeys,
    recordKeyUse,
    signUpCodes,
    signInPolicy,
    closePasswords,
  };
}
