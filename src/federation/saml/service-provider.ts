// This server as a service provider: its entity ID, its endpoints, the key that signs, and its metadata.

import type { Core } from '../../core/core.ts';
import { userInterface } from '../../protocols/saml/metadata/presentation.ts';
import type { SamlServices } from '../../protocols/saml/sso/saml-services.ts';
import { acceptedEncryption } from '../../protocols/saml/xml/decrypt.ts';
import { algorithms, bindings, nameIdFormats, namespaces } from '../../protocols/saml/xml/names.ts';
import { createSigner, type Signer } from '../../protocols/saml/xml/sign.ts';
import { canonical, element, wireFormat, type XmlElement } from '../../protocols/saml/xml/write.ts';
import type { SamlConnection } from '../connections/connection.ts';

/** This server as a service provider of its upstreams. */
export type OwnServiceProvider = ReturnType<typeof createOwnServiceProvider>;

const CACHE_SECONDS = 3600;

export function createOwnServiceProvider({ keyring, presentation, config: { issuer } }: Core & SamlServices) {
  const entityId = `${issuer}/saml/sp/metadata`;
  const [acsUrl, sloUrl] = [`${issuer}/saml/acs`, `${issuer}/saml/sp/slo`];
  const entityIdFor = ({ settings }: SamlConnection): string => settings.sp_entity_id ?? entityId;
  let cached: { kid: string; signer: Signer } | undefined;

  return {
    acsUrl,
    sloUrl,
    /** /saml/sp/metadata, or the name that the connection declares. */
    entityIdFor,
    decryptionKeys: keyring.decryptionKeys,

    signer(): Signer {
      const credential = keyring.serviceProviderCredential();
      if (cached?.kid !== credential.kid) cached = { kid: credential.kid, signer: createSigner(credential) };
      return cached.signer;
    },

    /** The document, for a connection with an entity ID of its own, or for all others. */
    metadata(connection: SamlConnection | undefined): string {
      const pemOf = (use: 'saml-sp' | 'saml-sp-encryption') =>
        keyring.serviceProviderCertificates(use).map(({ certificatePem }) => certificatePem);
      const descriptor = element(
        'md:EntityDescriptor',
        { cacheDuration: `PT${CACHE_SECONDS}S`, entityID: connection ? entityIdFor(connection) : entityId },
        element(
          'md:SPSSODescriptor',
          { AuthnRequestsSigned: 'true', WantAssertionsSigned: 'true', protocolSupportEnumeration: namespaces.samlp },
          userInterface(presentation(), { describes: false }),
          ...pemOf('saml-sp').map((pem) => keyDescriptor('signing', pem)),
          ...pemOf('saml-sp-encryption').map((pem) => keyDescriptor('encryption', pem)),
          ...(['redirect', 'post', 'soap'] as const).map((binding) =>
            element('md:SingleLogoutService', { Binding: bindings[binding], Location: sloUrl }),
          ),
          element('md:NameIDFormat', {}, nameIdFormats.persistent),
          element('md:AssertionConsumerService', {
            Binding: bindings.post,
            Location: acsUrl,
            index: '0',
            isDefault: 'true',
          }),
        ),
      );
      return wireFormat(canonical(descriptor));
    },
  };
}

function keyDescriptor(use: 'signing' | 'encryption', certificate: string): XmlElement {
  const base64 = certificate.replace(/-----(BEGIN|END) CERTIFICATE-----/g, '').replace(/\s+/g, '');
  const methods = use === 'encryption' ? acceptedEncryption.map(encryptionMethod) : [];
  const info = element('ds:KeyInfo', {}, element('ds:X509Data', {}, element('ds:X509Certificate', {}, base64)));
  return element('md:KeyDescriptor', { use }, info, ...methods);
}

/** With the digest of RSA-OAEP, which identity providers choose when none is named. */
function encryptionMethod(uri: string): XmlElement {
  const digest = uri === algorithms.rsaOaep ? element('ds:DigestMethod', { Algorithm: algorithms.sha1 }) : undefined;
  return element('md:EncryptionMethod', { Algorithm: uri }, digest);
}
