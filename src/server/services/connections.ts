// Registered upstream identity providers.

import { createTxtResolver, type ResolveTxt } from '../../base/network/txt-records.ts';
import { certificateEnds } from '../../core/keys/key-rows.ts';
import { createDomainChecks } from '../../federation/connections/check-domains.ts';
import { createConnections } from '../../federation/connections/connections.ts';
import { createConnectionDocuments } from '../../federation/connections/documents.ts';
import { createExpiryNotices } from '../../federation/connections/expiry-notices.ts';
import { connectionJobs } from '../../federation/connections/jobs.ts';
import { connectionWarnings as readWarnings } from '../../federation/connections/warnings.ts';
import { createAuthority } from '../../people/rbac/authority.ts';
import { createMetadataFetch } from '../../protocols/saml/metadata/fetch.ts';
import { parseIdentityProviderMetadata } from '../../protocols/saml/metadata/parse-identity-provider.ts';
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
