// Puts together what people do with mailed links: reset, invitation, proof of an address, unlock, registration.
import { createPasswordByLink } from '../credentials/password-by-link.ts';
import { createReset } from '../credentials/reset.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Csrf } from '../http/csrf.ts';
import { createLinkTokens } from '../mail/link-tokens.ts';
import { createInvitations } from '../self-service/invitation.ts';
import { invitationRoutes } from '../self-service/invitation-routes.ts';
import { passwordResetRoutes } from '../self-service/password-reset-routes.ts';
import { createRegistration } from '../self-service/registration.ts';
import { registrationRoutes } from '../self-service/registration-routes.ts';
import { createUnlock } from '../self-service/unlock.ts';
import { unlockRoutes } from '../self-service/unlock-routes.ts';
import { createEmailProof } from '../self-service/verify-email.ts';
import { verifyEmailRoutes } from '../self-service/verify-email-routes.ts';
import type { Services } from '../services.ts';

/** The functions alone; for the server, and for a command line that invites. */
export function createMailedLinks(services: Services) {
  const {
    db,
    vault,
    now,
    audit,
    accounts,
    credentials,
    endSession,
    mfa,
    outbox,
    rateLimits,
    mailLimits,
    settings,
    signInGuard,
  } = services;
  const linkTokens = createLinkTokens({ db, now });
  const passwordByLink = createPasswordByLink({
    db,
    credentials,
    endAllSessions: (accountId, by, tx) => endSession.all(accountId, 'password-reset', by, tx),
    forgetBrowsers: (accountId, tx) => mfa.knownBrowsers.forget(accountId, undefined, tx),
    unlock: signInGuard.unlock,
  });
  const common = { db, now, audit, accounts, outbox, linkTokens, rateLimits, mailLimits };
  const minutes = () => settings.latest().reset_token_minutes;
  const hasPassword = async (accountId: string) => (await credentials.status(accountId)) !== undefined;
  return {
    reset: createReset({ ...common, passwordByLink, minutes, hasPassword }),
    invitations: createInvitations({ ...common, passwordByLink }),
    emailProof: createEmailProof(common),
    unlock: createUnlock({ ...common, guard: signInGuard }),
    registration: createRegistration({
      ...common,
      vault,
      credentials,
      isOpen: () => settings.latest().self_registration,
    }),
  };
}

export type MailedLinks = ReturnType<typeof createMailedLinks>;

export interface MailedLinkPagesParts {
  services: Services;
  links: MailedLinks;
  cookies: Cookies;
  csrf: Csrf;
}

export function assembleMailedLinkPages({ services, links, cookies, csrf }: MailedLinkPagesParts) {
  const { mfa, rateLimits, settings } = services;
  const common = { ...links, cookies, rateLimits, protect: csrf.protect };
  return [
    passwordResetRoutes({
      ...common,
      hasSecondFactor: mfa.factors.hasSecondFactor,
      minutes: () => settings.latest().reset_token_minutes,
    }),
    invitationRoutes(common),
    verifyEmailRoutes(common),
    unlockRoutes({ ...common, knownBrowsers: mfa.knownBrowsers }),
    registrationRoutes(common),
  ];
}

/** Who writes which draft (mail/outbox.ts). */
export function draftWriters({ reset, unlock, registration }: MailedLinks) {
  return {
    'password-reset': reset.writeMail,
    unlock: unlock.writeMail,
    registration: registration.writeMail,
  };
}
