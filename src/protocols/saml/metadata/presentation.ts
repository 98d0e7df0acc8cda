// The descriptive part of received metadata: display name, contacts and requested attributes, which are displayed to people and used for
// mails, and decide nothing in the protocol. Then the metadata of this identity provider, with its names in each offered language (Metadata
// Extensions for Login and Discovery User Interface 2.1), and its signer.

import type { BrandLook } from '../../../base/http/pages/brand-look.ts';
import { canonicalTag, type OfferedLanguages, SOURCE_LANGUAGE } from '../../../base/texts/languages.ts';
import { inLanguage, t } from '../../../base/texts/text.ts';
import type { Core } from '../../../core/core.ts';
import { bindings, nameIdFormats, namespaces } from '../xml/names.ts';
import { attribute, booleanAttribute, childOf, childrenOf, textOf } from '../xml/read.ts';
import { createSigner, type Signer, signElement } from '../xml/sign.ts';
import { acceptedUris } from '../xml/signature-algorithms.ts';
import { canonical, element, samlTime, wireFormat, type XmlElement } from '../xml/write.ts';

export interface Contact {
  type: string;
  name: string | undefined;
  emails: string[];
}

export interface RequestedAttribute {
  name: string;
  nameFormat: string | undefined;
  friendlyName: string | undefined;
  isRequired: boolean;
}

const MAX_NAME = 200;

/** mdui:DisplayName, else the service or organization name; English where there is a choice. */
export function readDisplayName(entity: Element, role: Element): string | undefined {
  const info = childOf(role, 'md:Extensions');
  const ui = info && childOf(info, 'mdui:UIInfo');
  const service = attributeConsumingService(role);
  const organization = childOf(role, 'md:Organization') ?? childOf(entity, 'md:Organization');
  const name =
    preferEnglish(ui ? childrenOf(ui, 'mdui:DisplayName') : []) ??
    preferEnglish(service ? childrenOf(service, 'md:ServiceName') : []) ??
    preferEnglish(organization ? childrenOf(organization, 'md:OrganizationDisplayName') : []);
  return name?.slice(0, MAX_NAME);
}

/** The names by language: mdui:DisplayName, and for other languages the name of the default AttributeConsumingService. */
export function readNames(role: Element): Record<string, string> {
  const info = childOf(role, 'md:Extensions');
  const ui = info && childOf(info, 'mdui:UIInfo');
  const service = attributeConsumingService(role);
  const named = [
    ...(service ? childrenOf(service, 'md:ServiceName') : []),
    ...(ui ? childrenOf(ui, 'mdui:DisplayName') : []),
  ].map((name) => [canonicalTag(attribute(name, 'xml:lang') ?? ''), textOf(name).slice(0, MAX_NAME)] as const);
  return Object.fromEntries(named.filter(([language, name]) => language && name));
}

/** md:ContactPerson with the addresses of its mailto: URIs. */
export function readContacts(entity: Element): Contact[] {
  return childrenOf(entity, 'md:ContactPerson').map((contact) => {
    const name = ['md:GivenName', 'md:SurName']
      .flatMap((part) => childrenOf(contact, part as 'md:GivenName'))
      .map(textOf)
      .join(' ');
    return {
      type: attribute(contact, 'contactType') ?? 'other',
      name: name || undefined,
      emails: childrenOf(contact, 'md:EmailAddress').map((email) => textOf(email).replace(/^mailto:/i, '')),
    };
  });
}

/** md:RequestedAttribute of the default AttributeConsumingService. */
export function readRequestedAttributes(role: Element): RequestedAttribute[] {
  const service = attributeConsumingService(role);
  if (!service) return [];
  return childrenOf(service, 'md:RequestedAttribute').map((requested) => ({
    name: attribute(requested, 'Name') ?? '',
    nameFormat: attribute(requested, 'NameFormat'),
    friendlyName: attribute(requested, 'FriendlyName'),
    isRequired: booleanAttribute(requested, 'isRequired') ?? false,
  }));
}

function attributeConsumingService(role: Element): Element | undefined {
  const services = childrenOf(role, 'md:AttributeConsumingService');
  return services.find((candidate) => booleanAttribute(candidate, 'isDefault')) ?? services[0];
}

function preferEnglish(names: Element[]): string | undefined {
  const english = names.find((name) => /^en\b/i.test(attribute(name, 'xml:lang') ?? ''));
  const chosen = english ?? names[0];
  return (chosen && textOf(chosen)) || undefined;
}

export interface Presentation {
  displayName: string;
  /** The default one first, because some software takes the first; English by default. */
  languages?: readonly string[];
  helpUrl?: string | undefined;
  privacyUrl?: string | undefined;
}

/** As the settings have it. */
export function presentationOf(brand: BrandLook | undefined, { tags, standard }: OfferedLanguages): Presentation {
  const link = (kind: 'help' | 'privacy') => brand?.links.find((one) => one.kind === kind)?.href;
  return {
    displayName: brand?.name ?? 'Gatehouse',
    languages: [standard, ...tags.filter((tag) => tag !== standard)],
    helpUrl: link('help'),
    privacyUrl: link('privacy'),
  };
}

/** An element for each language. */
export function inEachLanguage(
  name: Parameters<typeof element>[0],
  { languages = [SOURCE_LANGUAGE] }: Presentation,
  textIn: (language: string) => string,
): XmlElement[] {
  return languages.map((language) => element(name, { 'xml:lang': language }, textIn(language)));
}

/** The md:Extensions of a role. */
export function userInterface(presentation: Presentation, { describes }: { describes: boolean }): XmlElement {
  const { displayName, helpUrl, privacyUrl } = presentation;
  const each = (tag: Parameters<typeof element>[0], textIn: (language: string) => string) =>
    inEachLanguage(tag, presentation, textIn);
  const description = (language: string) =>
    inLanguage(language, () => String(t('page.idp-description', { name: displayName })));
  return element(
    'md:Extensions',
    {},
    element(
      'mdui:UIInfo',
      {},
      ...each('mdui:DisplayName', () => displayName),
      ...(describes ? each('mdui:Description', description) : []),
      ...(helpUrl ? each('mdui:InformationURL', () => helpUrl) : []),
      ...(privacyUrl ? each('mdui:PrivacyStatementURL', () => privacyUrl) : []),
    ),
  );
}

// The current signer and the IdP metadata with its certificates. Both are rebuilt when the keys or the signature setting
// change, not for each message.

export function createSigningIdentity(
  services: Core & {
    entityId: string;
    /** The name and the languages of the settings. */
    presentation(): Presentation;
  },
) {
  const { config, entityId, keyring, settings } = services;
  const { issuer: base } = config;
  let cached: { version: string; signer: Signer; metadata: string } | undefined;

  function currentMetadata() {
    const credential = keyring.samlCredential();
    const published = keyring.samlCertificates();
    const wantAuthnRequestsSigned = settings.latest().saml_signed_requests;
    const keys = published.map((certificate) => `${certificate.state}:${certificate.kid}`).join(' ');
    const presentation = services.presentation();
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
    signer: (): Signer => currentMetadata().signer,
    /** The document at /saml/metadata. */
    metadata: (): string => currentMetadata().metadata,
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
