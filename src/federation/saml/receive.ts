// An answer from its form to authenticated trees: at /saml/acs, where it arrives, and again in the browser that began.

import { limits } from '../../base/limits.ts';
import { decodePost } from '../../protocols/saml/messages/decode.ts';
import {
  authenticateResponse,
  openResponse,
  type TrustedResponse,
} from '../../protocols/saml/messages/open-response.ts';
import { SamlError } from '../../protocols/saml/xml/errors.ts';
import type { XmlValidator } from '../../protocols/saml/xml/schema.ts';
import type { SamlConnection } from '../connections/connection.ts';
import { FederationError } from '../faults.ts';
import type { IdentityProvider, IdentityProviders } from './identity-provider.ts';
import type { ServiceProvider } from './service-provider.ts';

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
  {
    identityProviders,
    serviceProvider,
    validateXml,
  }: { identityProviders: IdentityProviders; serviceProvider: ServiceProvider; validateXml: XmlValidator },
  connection: SamlConnection,
  xml: string,
): Promise<{ trusted: TrustedResponse; identityProvider: IdentityProvider }> {
  const { allow_sha1: allowSha1, allow_cbc: allowCbc, want_encrypted: wantEncrypted } = connection.settings;
  const accepted = { allowSha1, allowCbc, wantEncrypted, decryptionKeys: serviceProvider.decryptionKeys() };
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
  const { rule, received, expected } = error.violation;
  const detail = error.detail === undefined ? '' : ` (${String(error.detail)})`;
  return new FederationError('upstream_answer_invalid', {
    rule: rule === 'form' ? 'answer' : rule,
    message: `${error.message}${detail}`,
    expected,
    received,
    cause: error,
  });
}
