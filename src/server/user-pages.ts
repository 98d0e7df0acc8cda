// The composition root of the pages for users: sign-in, account, registration and recovery.
import { createAccountPages } from '../account/create-account-pages.ts';
import { createFederation } from '../federation/create-federation.ts';
import { createLogoutBrowserOf } from '../logout/logout-browser.ts';
import { createMailedLinks } from '../mailed-links/create-mailed-links.ts';
import { createRecovery } from '../recovery/create-recovery.ts';
import { createRegistration } from '../registration/create-registration.ts';
import { createRp } from '../rp/create-rp.ts';
import { FIRST_PARTY_CLIENT_ID } from '../rp/first-party-client.ts';
import type { Services } from '../services.ts';
import { createSignIn } from '../sign-in/create-sign-in.ts';
import type { HttpServices } from './http-services.ts';
import type { Protocols } from './protocols.ts';

export type UserPages = ReturnType<typeof createUserPages>;

export function createUserPages(services: Services, http: HttpServices, { oidc, saml, samlUpstream }: Protocols) {
  const { accounts, audit, captcha, codeDelivery, config, consents, credentials, db, endSession, lockout } = services;
  const { mailLimits, mfa, notifyOwner, now, outbox, rateLimits, rejections, serviceNames, sessions } = services;
  const { repeatedEntries, settings, signInPolicy, sql, strengthMeter, vault } = services;
  const { issuer } = config;
  const { cookies, csrf, metrics } = http;
  const { factors, firstFactor, knownBrowsers } = mfa;

  const mailedLinks = createMailedLinks({
    db,
    now,
    protectedRows: services.protectedRows,
    accounts,
    cookies,
    credentials,
    knownBrowsers,
    unlock: lockout.unlock,
    endAllSessions: (accountId, by, tx) => endSession.all(accountId, 'password-reset', by, tx),
  });
  const mailed = { db, now, accounts, audit, cookies, credentials, csrf, mailedLinks, mailLimits, outbox, rateLimits };
  const recovery = createRecovery({ ...mailed, settings, factors, firstFactor, knownBrowsers, lockout });
  const registration = createRegistration({
    ...{ ...mailed, settings, vault, factors, firstFactor, identities: services.identities },
  });
  const rp = createRp({
    db,
    now,
    issuer,
    accounts,
    cookies,
    csrf,
    sessions,
    protectedRows: services.protectedRows,
    provider: oidc.engine.current,
    strongestProof: signInPolicy.strongestProof,
    staffAcr: signInPolicy.staffAcr,
  });
  const { rpSessions, signedIn } = rp;
  const federation = createFederation({
    ...{
      db,
      now,
      issuer,
      accounts,
      audit,
      repeatedEntries,
      rejections,
      credentials,
      factors,
      signInPolicy,
      notifyOwner,
      outbox: services.outbox,
    },
    ...{ connections: services.connections, setConnectionRoles: services.setConnectionRoles },
    ...{ requests: services.upstreamRequests, sessions: services.upstreamSessions, identities: services.identities },
    protocols: services.upstreamProtocols,
    ...{ endSession, vault, logoutBrowserOf: createLogoutBrowserOf({ cookies }) },
    logout: { sql, rateLimits, runs: services.runs, documents: services.connectionDocuments },
    ...{ directory: services.directory, rateLimits },
    samlUpstream,
    async confirmAddress(to, email, request) {
      await registration.emailVerification.requestEmailChange(to, email, { actorId: to.id, request });
    },
  });
  const account = createAccountPages({
    db,
    vault,
    now,
    issuer,
    accounts,
    audit,
    codeDelivery,
    consents,
    cookies,
    credentials,
    csrf,
    endSession,
    mfa,
    rateLimits,
    rpSessions,
    serviceNames,
    sessions,
    signedIn,
    strengthMeter,
    notifyOwner,
    logoutBrowserOf: createLogoutBrowserOf({ cookies }),
    emailVerification: registration.emailVerification,
    links: federation.links,
  });
  const signIn = createSignIn({
    directories: federation.directories,
    db,
    sql,
    protectedRows: services.protectedRows,
    now,
    issuer,
    accounts,
    audit,
    repeatedEntries,
    captcha,
    codeDelivery,
    consents,
    cookies,
    credentials,
    csrf,
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
    async invitedId(ctx) {
      const token = cookies.get(ctx, 'reset');
      return token === undefined ? undefined : (await registration.invitations.find(token))?.id;
    },
    async endOtherSessions(accountId, keptSession, by) {
      await endSession.everywhere(accountId, { ...by, ...(keptSession && { except: keptSession }) });
    },
  });
  return { recovery, registration, rp, account, signIn, federation };
}
