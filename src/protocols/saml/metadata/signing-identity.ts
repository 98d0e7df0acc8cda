// The current signer and the IdP metadata with its certificates. Both are rebuilt when the keys or the signature setting
// change, not for each message.
import type { Keyring } from '../../../core/keys/keyring.ts';
import { createSigner, type Signer } from '../xml/sign.ts';
import { identityProviderMetadata } from './identity-provider.ts';
import type { Presentation } from './presentation.ts';

export type SigningIdentity = ReturnType<typeof createSigningIdentity>;

export interface SigningIdentityDependencies {
  /** Public base URL. */
  base: string;
  entityId: string;
  keyring: Keyring;
  /** The setting `saml_signed_requests`. */
  requireSignedRequests(): boolean;
  /** The name and the languages of the settings. */
  presentation(): Presentation;
}

export function createSigningIdentity(dependencies: SigningIdentityDependencies) {
  const { base, entityId, keyring, requireSignedRequests } = dependencies;
  let cached: { version: string; signer: Signer; metadata: string } | undefined;

  function current() {
    const credential = keyring.samlCredential();
    const published = keyring.samlCertificates();
    const wantAuthnRequestsSigned = requireSignedRequests();
    const keys = published.map((certificate) => `${certificate.state}:${certificate.kid}`).join(' ');
    const presentation = dependencies.presentation();
    const version = `${keys} ${wantAuthnRequestsSigned} ${JSON.stringify(presentation)}`;
    if (cached?.version !== version) {
      const metadata = identityProviderMetadata({
        entityId,
        ssoUrl: `${base}/saml/sso`,
        sloUrl: `${base}/saml/slo`,
        signingCertificates: published.map(({ certificatePem }) => certificatePem),
        wantAuthnRequestsSigned,
        ...presentation,
        url: base,
        cacheSeconds: 3600,
      });
      cached = { version, signer: createSigner(credential), metadata };
    }
    return cached;
  }

  return {
    signer: (): Signer => current().signer /** The document at /saml/metadata. */,
    metadata: (): string => current().metadata,
  };
}
