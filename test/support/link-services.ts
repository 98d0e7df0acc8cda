// The services behind mailed links (reset, unlock, invitation, verification, self-registration) of a running server, to
// be called without HTTP.

import { createMailedLinks } from '../../src/account/mailed-links.ts';
import { createRecovery } from '../../src/account/recovery.ts';
import { createRegistration } from '../../src/account/registration/create-registration.ts';
import { createCookies } from '../../src/base/http/cookies.ts';
import type { Services } from '../../src/server/services.ts';
import { servicesOf } from './services-of.ts';

export type LinkServices = ReturnType<typeof linkServices>;

export function linkServices(services: Services) {
  const cookies = createCookies({ secure: false });
  const csrf = { check: () => Promise.reject(new Error('there are no requests here')) } as never;
  const all = servicesOf({ ...services, cookies, csrf });
  const mailedLinks = createMailedLinks(all);
  const { passwordReset, unlock } = createRecovery({ ...all, mailedLinks });
  const { invitations, emailVerification } = createRegistration({
    ...all,
    mailedLinks,
    recoveryCodesPages: undefined as never,
  });
  return { passwordReset, unlock, invitations, emailVerification };
}
