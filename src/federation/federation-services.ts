// Creates what is stored of upstream identity providers and of the sign-ins there, and the protocols that verify their answers.
import type { Core } from '../core/core.ts';
import { certificateEnds } from '../core/keys/key-rows.ts';
import type { People } from '../people/people.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import { createMetadataFetch } from '../protocols/saml/metadata/fetch.ts';
import { parseIdentityProviderMetadata } from '../protocols/saml/metadata/parse-identity-provider.ts';
import { createClientSecrets } from './client-secrets.ts';
import { createConnections } from './connections/connections.ts';
import { createConnectionDocuments } from './connections/documents.ts';
import { createDomainChecks } from './connections/domains.ts';
import { connectionJobs, createExpiryNotices, connectionWarnings as readWarnings } from './connections/warnings.ts';
import { createDirectoryUsers } from './directory-users.ts';
import { createExternalIdentities } from './identities.ts';
import { createDirectory } from './ldap/directory.ts';
import { createPlanUpstream, type UpstreamLogoutProtocols } from './logout/upstream-participants.ts';
import { createOAuth2Protocol } from './oauth2/protocol.ts';
import { createReadAssertion } from './oidc/id-jag.ts';
import { createOidcLogout, createOidcProtocol } from './oidc/protocol.ts';
import { createUpstreamRequests } from './requests.ts';
import { createUpstreamSessions } from './sessions.ts';
import { createOtherSignIns, createSsoIds } from './sso-ids.ts';
import { createStepUps } from './step-up.ts';
import type { Protocols } from './upstream.ts';

export type FederationServices = ReturnType<typeof createFederationServices>;

export function createFederationServices(services: Core & People & SessionServices) {
  const { config, db, now, outgoing, authority } = services;
  const connections = createConnections({ ...services, assertMay: authority.assertMay });
  const parseMetadata = (xml: string) => parseIdentityProviderMetadata(xml, now());
  const connectionDocuments = createConnectionDocuments({
    ...services,
    connections,
    parseMetadata,
    fetchMetadata: createMetadataFetch({ outgoing }),
  });
  const domainChecks = createDomainChecks({ ...services, connections });
  const ownCertificates = () => certificateEnds(db, ['saml-sp', 'saml-sp-encryption']);
  const connectionWarnings = () =>
    readWarnings({ ...services, connections, documents: connectionDocuments, parseMetadata, ownCertificates });
  const notifyOfExpiry = createExpiryNotices({ ...services, warnings: connectionWarnings });
  const oidc = { ...services, connections, documents: connectionDocuments };
  const upstreamProtocols: Protocols = {
    oidc: createOidcProtocol(oidc),
    oauth2: createOAuth2Protocol({ ...services, connections }),
  };
  const upstreamLogoutProtocols: UpstreamLogoutProtocols = { oidc: createOidcLogout(oidc, config.issuer) };
  const directory = createDirectory({ ...services, connections });
  const clientSecrets = createClientSecrets({
    connections,
    directory,
    protocols: upstreamProtocols,
    issuer: config.issuer,
    now,
  });
  const upstreamSessions = createUpstreamSessions(services);
  const identities = createExternalIdentities(services);
  const stored = { connections, identities };
  return {
    connections,
    connectionDocuments,
    domainChecks,
    connectionWarnings,
    notifyOfExpiry,
    upstreamProtocols,
    upstreamLogoutProtocols,
    directory,
    clientSecrets,
    upstreamSessions,
    identities,
    readAssertion: createReadAssertion({ ...services, ...stored, connectionDocuments }),
    planUpstream: createPlanUpstream({ connections, upstreamSessions }),
    otherSignIns: createOtherSignIns(stored),
    upstreamRequests: createUpstreamRequests(services),
    stepUps: createStepUps({ ...stored, sessions: upstreamSessions }),
    ssoIds: createSsoIds({ ...services, ...stored }),
    directoryUsers: createDirectoryUsers({ ...services, ...stored, directory }),
    federationJobs: [
      ...connectionJobs({ ...services, documents: connectionDocuments, domainChecks, notifyOfExpiry }),
      { name: 'connection-trials', everySeconds: 60, run: clientSecrets.checkNew },
    ],
  };
}
