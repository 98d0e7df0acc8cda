// The composition root of the pages for users: sign-in, account, registration and recovery.
import { createAccountPages } from '../account/account-pages.ts';
import { createMailedLinks } from '../account/mailed-links.ts';
import { createRecovery } from '../account/recovery.ts';
import { createRegistration } from '../account/registration/create-registration.ts';
import { createRp } from '../account/rp/create-rp.ts';
import { createFederation } from '../federation/create-federation.ts';
import { logoutBrowserOf } from '../protocols/logout/logout-run.ts';
import { FIRST_PARTY_CLIENT_ID } from '../protocols/oidc/in-process-clients.ts';
import { createSignIn } from '../sign-in/create-sign-in.ts';
import { createRecoveryCodesPages } from '../sign-in/second-factor/recovery-codes-page.ts';
import type { Parts } from './protocols.ts';

export type UserPages = ReturnType<typeof createUserPages>;

/** Creates them in the order in which they depend on each other. */
export function createUserPages({ services, http, protocols }: Parts) {
  const { brand, config, directoryUsers, now, signInPolicy, storedPages } = services;
  const { cookies } = http;
  const { oidc, saml } = protocols;
  const brandName = () => brand.current()?.name;

  const mailedLinks = createMailedLinks({ ...services, ...http });
  const recovery = createRecovery({ ...services, ...http, mailedLinks });
  const recoveryCodesPages = createRecoveryCodesPages({
    storedPages,
    server: { address: config.issuer, brandName },
    now,
  });
  const registration = createRegistration({ ...services, ...http, mailedLinks, recoveryCodesPages });

  // The account pages and the console are a relying party of this server.
  const rp = createRp({
    ...services,
    ...http,
    provider: oidc.engine.current,
    strongestProof: signInPolicy.strongestProof,
    staffAcr: signInPolicy.staffAcr,
    checkDirectories: directoryUsers.check,
  });
  const federation = createFederation({
    ...services,
    samlUpstream: protocols.samlUpstream,
    logoutBrowserOf: (ctx) => logoutBrowserOf(ctx, cookies),
    async confirmAddress(to, email, request) {
      await registration.emailVerification.requestEmailChange(to, email, { actorId: to.id, request });
    },
  });
  const account = createAccountPages({
    ...services,
    ...http,
    brandName,
    rpSessions: rp.rpSessions,
    confirmation: rp.confirmation,
    signedIn: rp.signedIn,
    logoutBrowserOf: (ctx) => logoutBrowserOf(ctx, cookies),
    titleOf: saml.titleOf,
    emailVerification: registration.emailVerification,
    links: federation.links,
    recoveryCodesPages,
  });
  const signIn = createSignIn({
    ...services,
    ...http,
    serviceProviderTitle: saml.titleOfEntity,
    directories: federation.directories,
    clients: oidc.clients,
    engine: oidc.engine.current,
    ownClientId: FIRST_PARTY_CLIENT_ID,
    samlRequirements: saml.requirements,
    upstream: federation.signIns,
    recoveryCodesPages,
    async takeAccepted(ctx) {
      const signIn = cookies.get(ctx, 'accepted');
      if (signIn === undefined) return undefined;
      cookies.clear(ctx, 'accepted');
      return registration.invitations.redeem(signIn);
    },
    async invitedId(ctx) {
      const token = cookies.get(ctx, 'reset');
      return token === undefined ? undefined : (await registration.invitations.find(token))?.id;
    },
  });
  return { recovery, registration, rp, account, signIn, federation };
}
