// Puts the second factors together. factors/README.md lists the steps for adding one.

import type { Core } from '../../core/core.ts';
import { createFactors } from './account-factors.ts';
import { createOneTimeCodes } from './factors/one-time-codes.ts';
import { createPasskeys } from './factors/passkeys.ts';
import { createPhones } from './factors/phone-number.ts';
import { createRecoveryCodes } from './factors/recovery-codes.ts';
import { createTotp } from './factors/totp.ts';
import { createFirstEnrolmentRule } from './first-enrolment-rule.ts';
import { createKnownBrowsers } from './known-browsers.ts';

export type Mfa = ReturnType<typeof createMfa>;

export function createMfa(core: Core) {
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
