// The composition root of the pages for users: sign-in, account, registration and recovery.
import { createAccountPages } from '../account/create-account-pages.ts';
import { createMailedLinks } from '../account/mailed-links/create-mailed-links.ts';
import { createRecovery } from '../account/recovery/create-recovery.ts';
import { createRegistration, type Registration } from '../account/registration/create-registration.ts';
import { createRp, type Rp } from '../account/rp/create-rp.ts';
import { FIRST_PARTY_CLIENT_ID } from '../account/rp/first-party-client.ts';
import type { Http } from '../base/http/http.ts';
import { createFederation, type Federation } from '../federation/create-federation.ts';
import { createLogoutBrowserOf } from '../protocols/logout/logout-run.ts';
import { createSignIn } from '../sign-in/create-sign-in.ts';
import { createRecoveryCodesPages, type RecoveryCodesPages } from '../sign-in/second-factor/recovery-codes-page.ts';
import type { Protocols } from './protocols.ts';
import type { Services } from './services.ts';

export type UserPages = ReturnType<typeof createUserPages>;

export interface UserPagesDependencies {
  services: Services;
  http: Http;
  protocols: Protocols;
}

/** What the account pages and the sign-in are made with. */
interface Made {
  registration: Registration;
  federation: Federation;
  recoveryCodesPages: RecoveryCodesPages;
}

/** Creates them in the order in which they depend on each other. */
export function createUserPages(dependencies: UserPagesDependencies) {
  const { recovery, registration } = mailedLinkPages(dependencies);
  const rp = relyingParty(dependencies);
  const federation = federationPages(dependencies, registration);
  const { brand, config, now, storedPages } = dependencies.services;
  const server = { address: config.issuer, brandName: () => brand.current()?.name };
  const recoveryCodesPages = createRecoveryCodesPages({ storedPages, server, now });
  const account = accountPages(dependencies, { rp, registration, federation, recoveryCodesPages });
  const signIn = signInPages(dependencies, { registration, federation, recoveryCodesPages });
  return { recovery, registration, rp, account, signIn, federation };
}

/** Recovery and registration: their pages are behind mailed links. */
function mailedLinkPages({ services, http }: UserPagesDependencies) {
  const { accounts, audit, credentials, db, endSession, lockout, mailLimits, now, outbox, rateLimits } = services;
  const { cookies, csrf } = http;
  const mailedLinks = createMailedLinks({
    ...services,
    ...http,
    unlock: lockout.unlock,
    endAllSessions: (accountId, by, tx) => endSession.all(accountId, 'password-reset', by, tx),
  });
  const hasMailServer = services.config.smtpUrl !== undefined;
  const mailed = {
    db,
    hasMailServer,
    now,
    accounts,
    audit,
    cookies,
    credentials,
    csrf,
    mailedLinks,
    mailLimits,
    outbox,
    rateLimits,
  };
  return {
    recovery: createRecovery({ ...services, ...http, ...mailed }),
    registration: createRegistration({ ...services, ...http, ...mailed }),
  };
}

/** The account pages and the console as a relying party of this server. */
function relyingParty({ services, http, protocols }: UserPagesDependencies): Rp {
  const { directoryUsers, signInPolicy } = services;
  return createRp({
    ...services,
    ...http,
    provider: protocols.oidc.engine.current,
    strongestProof: signInPolicy.strongestProof,
    staffAcr: signInPolicy.staffAcr,
    checkDirectories: directoryUsers.check,
  });
}

/** Sign-in at upstream identity providers. */
function federationPages({ services, http, protocols }: UserPagesDependencies, registration: Registration): Federation {
  const { signInPolicy } = services;
  return createFederation({
    ...services,
    samlUpstream: protocols.samlUpstream,
    signInPolicy,
    logoutBrowserOf: createLogoutBrowserOf({ cookies: http.cookies }),
    async confirmAddress(to, email, request) {
      await registration.emailVerification.requestEmailChange(to, email, { actorId: to.id, request });
    },
  });
}

function accountPages(
  { services, http, protocols }: UserPagesDependencies,
  { rp, registration, federation, recoveryCodesPages }: Made & { rp: Rp },
) {
  const { cookies } = http;
  const { rpSessions, signedIn } = rp;
  return createAccountPages({
    ...services,
    ...http,
    brandName: () => services.brand.current()?.name,
    rpSessions,
    signedIn,
    logoutBrowserOf: createLogoutBrowserOf({ cookies }),
    titleOf: protocols.saml.titleOf,
    emailVerification: registration.emailVerification,
    links: federation.links,
    recoveryCodesPages,
  });
}

function signInPages(
  { services, http, protocols }: UserPagesDependencies,
  { registration, federation, recoveryCodesPages }: Made,
) {
  const { endSession } = services;
  const { signInPolicy } = services;
  const { cookies } = http;
  const { oidc, saml } = protocols;
  return createSignIn({
    ...services,
    ...http,
    serviceProviderTitle: saml.titleOfEntity,
    directories: federation.directories,
    signInPolicy,
    clients: oidc.clients,
    engine: oidc.engine.current,
    ownClientId: FIRST_PARTY_CLIENT_ID,
    samlRequirements: saml.requirements,
    upstream: federation.signIns,
    recoveryCodesPages,
    async invitedId(ctx) {
      const token = cookies.get(ctx, 'reset');
      return token === undefined ? undefined : (await registration.invitations.find(token))?.id;
    },
    async endOtherSessions(accountId, keptSession, by) {
      await endSession.everywhere(accountId, { ...by, ...(keptSession && { except: keptSession }) });
    },
  });
}
