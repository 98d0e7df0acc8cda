// The upstream identity provider behind a SAML connection: what its metadata says, replaced by what the administrator declared.
import type { KeyObject } from 'node:crypto';
import type { SloEndpoint } from '../../protocols/saml/metadata/entity.ts';
import {
  type IdpMetadata,
  parseIdentityProviderMetadata,
  type SsoEndpoint,
} from '../../protocols/saml/metadata/parse-identity-provider.ts';
import { readCertificate } from '../../protocols/saml/xml/certificates.ts';
import type { SamlConnection } from '../connections/connection.ts';
import { type ConnectionDocuments, DocumentError } from '../connections/documents.ts';
import { FederationError } from '../faults.ts';

export interface IdentityProvider {
  entityId: string;
  sso: SsoEndpoint;
  slo: SloEndpoint[];
  signingKeys: KeyObject[];
  wantsSignedRequests: boolean;
}

export type IdentityProviders = ReturnType<typeof createIdentityProviders>;

// Whether a document is valid now is checked when it is read: an upstream that is late with a new one stops no sign-in.
const LONG_AGO = new Date(0);

export function createIdentityProviders({ documents }: { documents: ConnectionDocuments }) {
  // Parsing takes milliseconds, so each document is parsed once.
  const parsed = new Map<string, { content: string; metadata: IdpMetadata }>();

  async function metadataOf(connection: SamlConnection): Promise<IdpMetadata | undefined> {
    if (connection.settings.metadata === undefined && connection.settings.metadata_url === undefined) return undefined;
    const { content } = await documents.get(connection, 'metadata').catch((cause: unknown) => {
      throw cause instanceof DocumentError ? unavailable(cause.message, cause) : cause;
    });
    const known = parsed.get(connection.id);
    if (known?.content === content) return known.metadata;
    const metadata = parseIdentityProviderMetadata(content, LONG_AGO);
    parsed.set(connection.id, { content, metadata });
    return metadata;
  }

  async function of(connection: SamlConnection): Promise<IdentityProvider> {
    const metadata = await metadataOf(connection);
    const { entity_id, sso_url, slo_url, certificates, binding } = connection.settings;
    const entityId = entity_id ?? metadata?.entityId;
    const sso = sso_url === undefined ? endpointOf(metadata, binding) : { binding, location: sso_url };
    if (entityId === undefined || !sso) throw unavailable('The connection has no metadata.');
    const pinned = certificates.map((certificate) => readCertificate(certificate).publicKey);
    const published = metadata?.signingCertificates.map(({ publicKey }) => publicKey) ?? [];
    return {
      entityId,
      sso,
      slo: slo_url === undefined ? (metadata?.slo ?? []) : [{ binding: 'redirect', location: slo_url }],
      signingKeys: pinned.length > 0 ? pinned : published,
      wantsSignedRequests: metadata?.wantAuthnRequestsSigned ?? false,
    };
  }

  return {
    /** Throws upstream_unavailable while its metadata was never read. */
    of,

    /**
     * Reads the metadata again because none of its keys verifies an answer, at most every ten minutes. Undefined when that brings no
     * other metadata, or the administrator declared the keys.
     */
    async withNewKeys(connection: SamlConnection): Promise<IdentityProvider | undefined> {
      const { metadata_url, metadata, certificates } = connection.settings;
      if (metadata_url === undefined || metadata !== undefined || certificates.length > 0) return undefined;
      const before = await documents.get(connection, 'metadata');
      const { content } = await documents.getWithNewKeys(connection);
      return content === before.content ? undefined : of(connection);
    },
  };
}

/** By the preferred binding, else by the other one. */
function endpointOf(metadata: IdpMetadata | undefined, binding: SsoEndpoint['binding']): SsoEndpoint | undefined {
  return metadata?.sso.find((one) => one.binding === binding) ?? metadata?.sso[0];
}

function unavailable(message: string, cause?: unknown): FederationError {
  return new FederationError('upstream_unavailable', { rule: 'answer', message, expected: 'metadata', cause });
}
