// The composition root of the pages for users: sign-in, account, registration and recovery.
import { createAccountPages } from '../account/create-account-pages.ts';
import { createMailedLinks } from '../account/mailed-links/create-mailed-links.ts';
import { createRecovery } from '../account/recovery/create-recovery.ts';
import { createRegistration, type Registration } from '../account/registration/create-registration.ts';
import { createRp, type Rp } from '../account/rp/create-rp.ts';
import { FIRST_PARTY_CLIENT_ID } from '../account/rp/first-party-client.ts';
import type { Http } from '../base/http/http.ts';
import { createFederation, type Federation } from '../federation/create-federation.ts';
import { createLogoutBrowserOf } from '../protocols/logout/front-channel/logout-browser.ts';
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
  const { accounts, audit, credentials, db, endSession, lockout, mailLimits, now, outbox, protectedRows, rateLimits } =
    services;
  const { cookies, csrf } = http;
  const { identities, otherSignIns, settings, vault } = services;
  const { factors, firstEnrolment, knownBrowsers } = services.mfa;
  const mailedLinks = createMailedLinks({
    db,
    now,
    protectedRows,
    accounts,
    cookies,
    credentials,
    knownBrowsers,
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
    recovery: createRecovery({ ...mailed, settings, factors, firstEnrolment, knownBrowsers, lockout, otherSignIns }),
    registration: createRegistration({
      ...mailed,
      settings,
      vault,
      factors,
      firstEnrolment,
      identities,
      otherSignIns,
      repeatedEntries: services.repeatedEntries,
      signUpCodes: services.signUpCodes,
    }),
  };
}

/** The account pages and the console as a relying party of this server. */
function relyingParty({ services, http, protocols }: UserPagesDependencies): Rp {
  const { accounts, config, db, directoryUsers, now, protectedRows, sessions, signInPolicy } = services;
  return createRp({
    db,
    now,
    issuer: config.issuer,
    accounts,
    cookies: http.cookies,
    csrf: http.csrf,
    sessions,
    protectedRows,
    provider: protocols.oidc.engine.current,
    strongestProof: signInPolicy.strongestProof,
    staffAcr: signInPolicy.staffAcr,
    checkDirectories: directoryUsers.check,
  });
}

/** Sign-in at upstream identity providers. */
function federationPages({ services, http, protocols }: UserPagesDependencies, registration: Registration): Federation {
  const { accounts, audit, config, connections, credentials, db, directory, endSession, identities, mfa } = services;
  const { notifyOwner, now, outbox, rateLimits, rejections, repeatedEntries, runs, setConnectionRoles } = services;
  const { signInPolicy, sql, vault } = services;
  return createFederation({
    clientSecrets: services.clientSecrets,
    db,
    now,
    issuer: config.issuer,
    accounts,
    audit,
    repeatedEntries,
    rejections,
    connections,
    credentials,
    directory,
    endSession,
    logger: services.logger,
    factors: mfa.factors,
    identities,
    notifyOwner,
    outbox,
    protocols: services.upstreamProtocols,
    directoryBudget: services.directoryBudget,
    requests: services.upstreamRequests,
    samlUpstream: protocols.samlUpstream,
    sessions: services.upstreamSessions,
    stepUps: services.stepUps,
    setConnectionRoles,
    signInPolicy,
    vault,
    logout: { sql, rateLimits, runs, documents: services.connectionDocuments },
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
  const { accounts, audit, codeDelivery, config, consents, credentials, db, endSession, mfa, notifyOwner } = services;
  const { now, rateLimits, serviceNames, sessions, strengthMeter, vault } = services;
  const { cookies, csrf } = http;
  const { rpSessions, signedIn } = rp;
  return createAccountPages({
    db,
    vault,
    now,
    issuer: config.issuer,
    accounts,
    audit,
    brandName: () => services.brand.current()?.name,
    codeDelivery,
    consents,
    cookies,
    credentials,
    csrf,
    endSession,
    mfa,
    pictures: services.pictures,
    protectedRows: services.protectedRows,
    rateLimits,
    rpSessions,
    serviceNames,
    sessions,
    signedIn,
    strengthMeter,
    notifyOwner,
    logoutBrowserOf: createLogoutBrowserOf({ cookies }),
    titleOf: protocols.saml.titleOf,
    emailVerification: registration.emailVerification,
    hasMailServer: services.config.smtpUrl !== undefined,
    links: federation.links,
    recoveryCodesPages,
  });
}

function signInPages(
  { services, http, protocols }: UserPagesDependencies,
  { registration, federation, recoveryCodesPages }: Made,
) {
  const { accounts, audit, captcha, codeDelivery, config, consents, credentials, db, endSession, lockout } = services;
  const { mfa, notifyOwner, now, outbox, protectedRows, rateLimits, rejections, repeatedEntries, sessions } = services;
  const { brand, settings, signInPolicy, sql } = services;
  const { cookies, csrf, metrics } = http;
  const { oidc, saml } = protocols;
  return createSignIn({
    brand,
    pictures: services.pictures,
    serviceProviderTitle: saml.titleOfEntity,
    db,
    sql,
    protectedRows,
    now,
    issuer: config.issuer,
    hasMailServer: config.smtpUrl !== undefined,
    accounts,
    audit,
    repeatedEntries,
    captcha,
    codeDelivery,
    consents,
    cookies,
    credentials,
    csrf,
    directories: federation.directories,
    lockout,
    metrics,
    mfa,
    outbox,
    rateLimits,
    rejections,
    settings,
    signInPolicy,
    notifyOwner,
    sessions,
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
