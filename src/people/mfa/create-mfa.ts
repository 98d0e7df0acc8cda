// Puts the second factors together. factors/README.md lists the steps for adding one.

import type { Clock } from '../../base/platform/clock.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { Db } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { Sql } from '../../base/storage/statements.ts';
import type { Audit } from '../../core/audit/audit.ts';
import { createFactors } from './account-factors.ts';
import { createOneTimeCodes } from './factors/one-time-codes.ts';
import { createPasskeys } from './factors/passkeys.ts';
import { createPhones } from './factors/phone-number.ts';
import { createRecoveryCodes } from './factors/recovery-codes.ts';
import { createTotp } from './factors/totp.ts';
import { createFirstEnrolmentRule, type FirstEnrolmentDependencies } from './first-enrolment-rule.ts';
import { createKnownBrowsers } from './known-browsers.ts';

export interface MfaDependencies extends Pick<FirstEnrolmentDependencies, 'settings' | 'requiredSince'> {
  db: Db;
  sql: Sql;
  vault: Vault;
  now: Clock;
  audit: Audit;
  protectedRows: ProtectedRows;
  issuerUrl: URL;
  /** The name of the brand. */
  brandName(): string | undefined;
}

export type Mfa = ReturnType<typeof createMfa>;

export function createMfa({
  db,
  sql,
  vault,
  now,
  audit,
  protectedRows,
  issuerUrl,
  brandName,
  settings,
  requiredSince,
}: MfaDependencies) {
  // A colon separates the name from the username.
  const issuerName = () => brandName()?.replaceAll(':', '') || issuerUrl.hostname;
  const totp = createTotp({ db, vault, now, audit, issuerName });
  const passkeys = createPasskeys({ db, sql, now, audit, protectedRows, issuerUrl, serviceName: 'Gatehouse' });
  const recoveryCodes = createRecoveryCodes({ db, vault, now, audit });
  const oneTimeCodes = createOneTimeCodes({ db, vault, now });
  const phones = createPhones({ db, vault, now, audit, protectedRows, oneTimeCodes });
  const factors = createFactors({ db, sql, now, audit, protectedRows, totp, passkeys, phones, recoveryCodes });
  return {
    totp,
    passkeys,
    recoveryCodes,
    oneTimeCodes,
    phones,
    knownBrowsers: createKnownBrowsers({ db, sql, now, protectedRows }),
    factors,
    firstEnrolment: createFirstEnrolmentRule({ db, now, audit, protectedRows, settings, requiredSince }),
  };
}
