// Registered upstream identity providers.
import { createDomainChecks } from '../connections/check-domains.ts';
import { createConnections } from '../connections/connections.ts';
import { createConnectionDocuments } from '../connections/documents.ts';
import { createExpiryNotices } from '../connections/expiry-notices.ts';
import { connectionJobs } from '../connections/jobs.ts';
import { connectionWarnings as readWarnings } from '../connections/warnings.ts';
import { certificateEnds } from '../keys/key-rows.ts';
import { createTxtResolver, type ResolveTxt } from '../network/txt-records.ts';
import { createAuthority } from '../rbac/authority.ts';
import { createMetadataFetch } from '../saml/metadata/fetch.ts';
import { parseIdentityProviderMetadata } from '../saml/metadata/parse-identity-provider.ts';
import type { Base } from './base.ts';
import type { UserServices } from './users.ts';

export interface ConnectionServicesDependencies {
  base: Base;
  users: UserServices;
  /** The look-up of DNS records. */
  resolveTxt?: ResolveTxt | undefined;
}

export type ConnectionServices = ReturnType<typeof createConnectionServices>;

export function createConnectionServices({
  base,
  users,
  resolveTxt = createTxtResolver(),
}: ConnectionServicesDependencies) {
  const { db, sql, vault, audit, now, logger, protectedRows, outgoing, notifyAdministrators } = base;
  const { assertMay } = createAuthority({ accounts: users.accounts });
  const connections = createConnections({
    db,
    sql,
    vault,
    audit,
    now,
    logger,
    protectedRows,
    assertMay,
    notifyAdministrators,
  });
  const stored = { db, sql, audit, now, logger, protectedRows, connections };
  const parseMetadata = (xml: string) => parseIdentityProviderMetadata(xml, now());
  const connectionDocuments = createConnectionDocuments({
    ...stored,
    outgoing,
    parseMetadata,
    fetchMetadata: createMetadataFetch({ outgoing }),
  });
  const domainChecks = createDomainChecks({ ...stored, resolveTxt });
  const ownCertificates = () => certificateEnds(db, ['saml-sp', 'saml-sp-encryption']);
  const connectionWarnings = () =>
    readWarnings({ connections, documents: connectionDocuments, parseMetadata, ownCertificates, now });
  const notifyOfExpiry = createExpiryNotices({ db, sql, now, warnings: connectionWarnings, notifyAdministrators });
  const jobs = connectionJobs({ documents: connectionDocuments, domains: domainChecks, notifyOfExpiry, now });
  return { connections, connectionDocuments, domainChecks, connectionWarnings, notifyOfExpiry, connectionJobs: jobs };
}
