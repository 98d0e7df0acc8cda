// The second factors of one server, put together.
import type { Audit } from '../audit/audit.ts';
import type { Clock } from '../platform/clock.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import type { Db } from '../platform/db.ts';
import type { Sql } from '../platform/sql.ts';
import type { Vault } from '../platform/vault.ts';
import { createFactors } from './factors.ts';
import { createKnownBrowsers } from './known-browsers.ts';
import { createOneTimeCodes } from './one-time-code.ts';
import { createPasskeys } from './passkeys.ts';
import { createPhones } from './phone.ts';
import { createRecoveryCodes } from './recovery-codes.ts';
import { createTotp } from './totp.ts';

export interface FactorNeeds {
  db: Db;
  sql: Sql;
  kind: DatabaseKind;
  vault: Vault;
  now: Clock;
  audit: Audit;
  issuerUrl: URL;
}

export function assembleFactors({ db, sql, kind, vault, now, audit, issuerUrl }: FactorNeeds) {
  const totp = createTotp({ db, vault, now, audit, issuerName: issuerUrl.hostname });
  const passkeys = createPasskeys({ db, now, audit, issuerUrl, serviceName: 'Gatehouse' });
  const recoveryCodes = createRecoveryCodes({ db, vault, now, audit });
  const oneTimeCodes = createOneTimeCodes({ db, vault, now });
  const phones = createPhones({ db, vault, now, audit, oneTimeCodes });
  return {
    totp,
    passkeys,
    recoveryCodes,
    oneTimeCodes,
    phones,
    knownBrowsers: createKnownBrowsers({ db, sql, kind, now }),
    factors: createFactors({ db, sql, kind, audit, totp, passkeys, phones, recoveryCodes }),
  };
}
