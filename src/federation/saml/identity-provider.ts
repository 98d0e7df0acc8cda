// The upstream identity provider behind a SAML connection: what its metadata says, replaced by what the administrator declared.

import type { KeyObject } from 'node:crypto';
import { limits } from '../../base/limits.ts';
import type { Core } from '../../core/core.ts';
import type { SessionServices } from '../../protocols/logout/session-services.ts';
import { decodePost } from '../../protocols/saml/messages/decode.ts';
import {
  authenticateResponse,
  openResponse,
  type TrustedResponse,
} from '../../protocols/saml/messages/open-response.ts';
import type { SloEndpoint } from '../../protocols/saml/metadata/entity.ts';
import {
  type IdpMetadata,
  parseIdentityProviderMetadata,
  type SsoEndpoint,
} from '../../protocols/saml/metadata/parse-identity-provider.ts';
import type { SamlServices } from '../../protocols/saml/sso/saml-services.ts';
import { readCertificate } from '../../protocols/saml/xml/certificates.ts';
import { SamlError } from '../../protocols/saml/xml/errors.ts';
import type { SamlConnection } from '../connections/connection.ts';
import { FederationError } from '../faults.ts';
import type { FederationServices } from '../federation-services.ts';
import type { OwnServiceProvider } from './service-provider.ts';

export interface IdentityProvider {
  entityId: string;
  sso: SsoEndpoint;
  slo: SloEndpoint[];
  signingKeys: KeyObject[];
  wantsSignedRequests: boolean;
}

/** What the parts of SAML as a service provider share. */
export type UpstreamSamlServices = Core &
  SessionServices &
  FederationServices &
  SamlServices & { identityProviders: IdentityProviders; ownServiceProvider: OwnServiceProvider };

export type IdentityProviders = ReturnType<typeof createIdentityProviders>;

// Whether a document is valid now is checked when it is read: an upstream that is late with a new one stops no sign-in.
const LONG_AGO = new Date(0);

export function createIdentityProviders({ connectionDocuments: documents }: FederationServices) {
  // Parsing takes milliseconds, so each document is parsed once.
  const parsed = new Map<string, { content: string; metadata: IdpMetadata }>();

  async function metadataOf(connection: SamlConnection): Promise<IdpMetadata | undefined> {
    if (connection.settings.metadata === undefined && connection.settings.metadata_url === undefined) return undefined;
    const { content } = await documents.get(connection, 'metadata');
    const known = parsed.get(connection.id);
    if (known?.content === content) return known.metadata;
    const metadata = parseIdentityProviderMetadata(content, LONG_AGO);
    parsed.set(connection.id, { content, metadata });
    return metadata;
  }

  async function identityProviderOf(connection: SamlConnection): Promise<IdentityProvider> {
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
    of: identityProviderOf,

    /**
     * Reads the metadata again because none of its keys verifies an answer, at most every ten minutes. Undefined when that brings no
     * other metadata, or the administrator declared the keys.
     */
    async withNewKeys(connection: SamlConnection): Promise<IdentityProvider | undefined> {
      const { metadata_url, metadata, certificates } = connection.settings;
      if (metadata_url === undefined || metadata !== undefined || certificates.length > 0) return undefined;
      const before = await documents.get(connection, 'metadata');
      const { content } = await documents.getWithNewKeys(connection);
      return content === before.content ? undefined : identityProviderOf(connection);
    },
  };
}

/** By the preferred binding, else by the other one. */
function endpointOf(metadata: IdpMetadata | undefined, binding: SsoEndpoint['binding']): SsoEndpoint | undefined {
  return metadata?.sso.find((one) => one.binding === binding) ?? metadata?.sso[0];
}

function unavailable(reason: string): FederationError {
  return new FederationError('upstream_unavailable', { rule: 'answer', reason, expected: 'metadata' });
}

// An answer from its form to authenticated trees: at /saml/acs, where it arrives, and again in the browser that began.

/** The message in the form of the HTTP-POST binding, not verified. Throws SamlError. */
export function decodeAnswer(body: string): { xml: string; relayState: string | undefined } {
  const { xml, parameter, relayState } = decodePost(body, limits.saml.responseBytes);
  if (parameter !== 'SAMLResponse') throw new SamlError('parameter_missing', { detail: 'SAMLResponse' });
  return { xml, relayState };
}

/**
 * Verifies an answer with the keys of the connection; when none verifies it, the metadata is read again. Throws
 * FederationError.
 */
export async function authenticAnswer(
  { identityProviders, ownServiceProvider, validateXml }: UpstreamSamlServices,
  connection: SamlConnection,
  xml: string,
): Promise<{ trusted: TrustedResponse; identityProvider: IdentityProvider }> {
  const { allow_sha1: allowSha1, allow_cbc: allowCbc, want_encrypted: wantEncrypted } = connection.settings;
  const accepted = { allowSha1, allowCbc, wantEncrypted, decryptionKeys: ownServiceProvider.decryptionKeys() };
  const verify = async (identityProvider: IdentityProvider) => {
    const { signingKeys, entityId } = identityProvider;
    const opened = openResponse(xml, validateXml);
    if (opened.claimedIssuer !== entityId)
      throw new SamlError('wrong_issuer', { received: opened.claimedIssuer, expected: entityId });
    const trusted = await authenticateResponse(opened, { ...accepted, signingKeys }, validateXml);
    return { trusted, identityProvider };
  };
  try {
    return await verify(await identityProviders.of(connection));
  } catch (error) {
    if (!(error instanceof SamlError)) throw error;
    const changed = error.code === 'signature_invalid' ? await identityProviders.withNewKeys(connection) : undefined;
    if (!changed) throw asFederationError(error);
    try {
      return await verify(changed);
    } catch (again) {
      throw again instanceof SamlError ? asFederationError(again) : again;
    }
  }
}

/** The error with its rule, as that of a sign-in. */
export function asFederationError(error: SamlError): FederationError {
  const { rule, received, expected } = error.brokenRule;
  const detail = error.detail === undefined ? '' : ` (${String(error.detail)})`;
  return new FederationError('upstream_answer_invalid', {
    rule: rule === 'form' ? 'answer' : rule,
    reason: `${error.message}${detail}`,
    expected,
    received,
    cause: error,
  });
}
