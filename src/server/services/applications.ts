// Registered applications and the metadata of service providers.

import { FIRST_PARTY_CLIENT_ID } from '../../account/rp/first-party-client.ts';
import { createApplications } from '../../applications/applications.ts';
import { imageLimits } from '../../applications/brand/limits.ts';
import { createApplicationPictures } from '../../applications/pictures/pictures.ts';
import { createOutgoingFetch } from '../../base/network/outgoing-fetch.ts';
import { createAuthority } from '../../people/rbac/authority.ts';
import { ownResources } from '../../people/rbac/built-in.ts';
import { removeClientArtifacts } from '../../protocols/oidc/store/removals.ts';
import { createMetadataFetch } from '../../protocols/saml/metadata/fetch.ts';
import { removeServiceProviderData } from '../../protocols/saml/slo/removals.ts';
import type { Base } from './base.ts';
import type { UserServices } from './users.ts';

export interface ApplicationServicesDependencies {
  base: Base;
  users: UserServices;
  wakePictureFetch(): void;
}

export type ApplicationServices = ReturnType<typeof createApplicationServices>;

export function createApplicationServices({
  base,
  users: { accounts },
  wakePictureFetch,
}: ApplicationServicesDependencies) {
  const { config, now, db, sql, vault, audit, logger, protectedRows, outgoing, outgoingRules, brandImages, settings } =
    base;
  const { issuer } = config;
  const applications = createApplications({
    db,
    vault,
    audit,
    now,
    protectedRows,
    removeClientArtifacts,
    removeServiceProviderData,
    wakePictureFetch,
    signingAlgorithms: () => settings.latest().signing_algorithms,
    authority: createAuthority({ accounts }),
    reservedIdentifiers: [
      FIRST_PARTY_CLIENT_ID,
      issuer,
      `${issuer}/saml/metadata`,
      ...Object.keys(ownResources(issuer)),
    ],
  });
  const pictures = createApplicationPictures({
    db,
    sql,
    now,
    audit,
    logger,
    protectedRows,
    images: brandImages,
    outgoing: createOutgoingFetch({
      rules: outgoingRules,
      timeoutMs: imageLimits.fetchMs,
      maxBytes: imageLimits.bytes,
    }),
    wakeFetch: wakePictureFetch,
  });
  return { applications, pictures, fetchMetadata: createMetadataFetch({ outgoing }) };
}
