// The current signer and the IdP metadata with its certificates. Both are rebuilt when the keys or the signature setting
// change, not for each message.

import type { Core } from '../../../core/core.ts';
import { bindings, nameIdFormats, namespaces } from '../xml/names.ts';
import { createSigner, type Signer, signElement } from '../xml/sign.ts';
import { acceptedUris } from '../xml/signature-algorithms.ts';
import { canonical, element, samlTime, wireFormat, type XmlElement } from '../xml/write.ts';
import { inEachLanguage, type Presentation, userInterface } from './presentation.ts';

export type SigningIdentity = ReturnType<typeof createSigningIdentity>;

export function createSigningIdentity(
  dependencies: Core & {
    entityId: string;
    /** The setting `saml_signed_requests`. */
    requireSignedRequests(): boolean;
    /** The name and the languages of the settings. */
    presentation(): Presentation;
  },
) {
  const {
    entityId,
    keyring,
    requireSignedRequests,
    config: { issuer: base },
  } = dependencies;
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

// The IdP metadata at /saml/metadata (SAML Metadata 2.4.3). During a key rollover it contains both certificates before the
// new key signs.

interface IdpMetadataInput extends Presentation {
  entityId: string;
  ssoUrl: string;
  sloUrl: string;
  /** PEM or base64 DER; the active one first. */
  signingCertificates: readonly string[];
  wantAuthnRequestsSigned: boolean;
  /** Home page of the organization. */
  url: string;
  cacheSeconds?: number;
  validUntil?: Date;
  /** Needed when the document is signed. */
  id?: string;
}

/** The document as XML text; signed when a signer is given. */
export function identityProviderMetadata(input: IdpMetadataInput, signer?: Signer): string {
  const descriptor = element(
    'md:EntityDescriptor',
    {
      ID: signer ? input.id : undefined,
      cacheDuration: input.cacheSeconds === undefined ? undefined : `PT${input.cacheSeconds}S`,
      entityID: input.entityId,
      validUntil: input.validUntil && samlTime(input.validUntil),
    },
    acceptedAlgorithms(),
    roleDescriptor(input),
    organization(input),
  );
  return wireFormat(signer ? signElement(descriptor, 0, signer) : canonical(descriptor));
}

/** Metadata Profile for Algorithm Support 2.2: without it Shibboleth signs POST messages with SHA-1. */
function acceptedAlgorithms(): XmlElement {
  const method = (name: 'DigestMethod' | 'SigningMethod') => (uri: string) =>
    element(`alg:${name}`, { Algorithm: uri });
  const { digests, signatures } = acceptedUris;
  return element(
    'md:Extensions',
    {},
    ...digests.map(method('DigestMethod')),
    ...signatures.map(method('SigningMethod')),
  );
}

function roleDescriptor(input: IdpMetadataInput): XmlElement {
  const endpoint = (name: 'SingleSignOnService' | 'SingleLogoutService', binding: 'redirect' | 'post', url: string) =>
    element(`md:${name}`, { Binding: bindings[binding], Location: url });
  return element(
    'md:IDPSSODescriptor',
    {
      WantAuthnRequestsSigned: String(input.wantAuthnRequestsSigned),
      protocolSupportEnumeration: namespaces.samlp,
    },
    userInterface(input, { describes: true }),
    ...input.signingCertificates.map(signingKey),
    endpoint('SingleLogoutService', 'redirect', input.sloUrl),
    endpoint('SingleLogoutService', 'post', input.sloUrl),
    ...Object.values(nameIdFormats).map((format) => element('md:NameIDFormat', {}, format)),
    endpoint('SingleSignOnService', 'redirect', input.ssoUrl),
    endpoint('SingleSignOnService', 'post', input.ssoUrl),
  );
}

function signingKey(certificate: string): XmlElement {
  const base64 = certificate.replace(/-----(BEGIN|END) CERTIFICATE-----/g, '').replace(/\s+/g, '');
  return element(
    'md:KeyDescriptor',
    // For signing only: encrypted identifiers (EncryptedID) are not supported.
    { use: 'signing' },
    element('ds:KeyInfo', {}, element('ds:X509Data', {}, element('ds:X509Certificate', {}, base64))),
  );
}

function organization({ url, ...presentation }: IdpMetadataInput): XmlElement {
  const name = () => presentation.displayName;
  return element(
    'md:Organization',
    {},
    ...inEachLanguage('md:OrganizationName', presentation, name),
    ...inEachLanguage('md:OrganizationDisplayName', presentation, name),
    ...inEachLanguage('md:OrganizationURL', presentation, () => url),
  );
}
