// The services behind mailed links (reset, unlock, invitation, verification, self-registration) of a running server, to
// be called without HTTP.

import { createMailedLinks } from '../../src/account/mailed-links/create-mailed-links.ts';
import { createRecovery } from '../../src/account/recovery/create-recovery.ts';
import { createRegistration } from '../../src/account/registration/create-registration.ts';
import { createCookies } from '../../src/base/http/cookies.ts';
import type { Services } from '../../src/server/services.ts';

export type LinkServices = ReturnType<typeof linkServices>;

export function linkServices(services: Services) {
  const hasMailServer = services.config.smtpUrl !== undefined;
  const cookies = createCookies({ secure: false });
  const csrf = { check: () => Promise.reject(new Error('there are no requests here')) };
  const { factors, firstEnrolment, knownBrowsers } = services.mfa;
  const mailedLinks = createMailedLinks({
    ...services,
    cookies,
    knownBrowsers,
    unlock: services.lockout.unlock,
    endAllSessions: (accountId, by, tx) => services.endSession.all(accountId, 'password-reset', by, tx),
  });
  const { passwordReset, unlock } = createRecovery({
    ...services,
    cookies,
    csrf: csrf as never,
    factors,
    firstEnrolment,
    knownBrowsers,
    mailedLinks,
    hasMailServer,
  });
  const { invitations, emailVerification } = createRegistration({
    ...services,
    hasMailServer,
    cookies,
    csrf: csrf as never,
    factors,
    firstEnrolment,
    mailedLinks,
  });
  return { passwordReset, unlock, invitations, emailVerification };
}
