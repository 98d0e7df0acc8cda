// Second factors on a real database.
import { createFactors } from '../../src/people/mfa/account-factors.ts';
import { createOneTimeCodes } from '../../src/people/mfa/factors/one-time-codes.ts';
import { createPasskeys } from '../../src/people/mfa/factors/passkeys.ts';
import { createPhones } from '../../src/people/mfa/factors/phone-number.ts';
import { createRecoveryCodes } from '../../src/people/mfa/factors/recovery-codes.ts';
import { createTotp } from '../../src/people/mfa/factors/totp.ts';
import { createFirstEnrolmentRule, type FirstEnrolmentSetting } from '../../src/people/mfa/first-enrolment-rule.ts';
import { createKnownBrowsers } from '../../src/people/mfa/known-browsers.ts';
import { openPeople } from '../accounts/fixture.ts';
import { servicesOf } from '../support/services-of.ts';

export const ISSUER = new URL('https://login.example.org');

export async function openFactors() {
  const people = await openPeople();
  const totp = createTotp({ ...servicesOf(people), issuerName: () => ISSUER.host });
  const recoveryCodes = createRecoveryCodes(servicesOf(people));
  const passkeys = createPasskeys({
    ...servicesOf({ ...people, config: { issuerUrl: ISSUER } as never }),
    serviceName: 'Gatehouse',
  });
  const oneTimeCodes = createOneTimeCodes(people);
  const phones = createPhones({ ...servicesOf(people), oneTimeCodes });
  const factors = createFactors({ ...servicesOf(people), totp, passkeys, phones, recoveryCodes });
  const knownBrowsers = createKnownBrowsers(servicesOf(people));
  const setting = {
    first_factor: 'open' as FirstEnrolmentSetting,
    first_factor_days: 14,
    requiredSince: undefined as Date | undefined,
  };
  const settings = {
    latest: () => ({ ...setting, mfa: setting.requiredSince ? 'required' : 'optional' }),
    changedAt: async () => setting.requiredSince,
  } as never;
  const firstEnrolment = createFirstEnrolmentRule(servicesOf({ ...people, settings }));
  return {
    ...people,
    setting,
    firstEnrolment,
    totp,
    recoveryCodes,
    passkeys,
    phones,
    factors,
    oneTimeCodes,
    knownBrowsers,
  };
}

export type FactorsFixture = Awaited<ReturnType<typeof openFactors>>;
