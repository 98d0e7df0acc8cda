// The URIs of SAML 2.0, XML Signature and XML Encryption that are used here, by short names.
import { REFEDS_MFA } from '../../../people/mfa/acr.ts';

/** Namespaces by the prefix that written documents use. */
export const namespaces = {
  saml: 'urn:oasis:names:tc:SAML:2.0:assertion',
  samlp: 'urn:oasis:names:tc:SAML:2.0:protocol',
  soap: 'http://schemas.xmlsoap.org/soap/envelope/',
  md: 'urn:oasis:names:tc:SAML:2.0:metadata',
  mdui: 'urn:oasis:names:tc:SAML:metadata:ui',
  alg: 'urn:oasis:names:tc:SAML:metadata:algsupport',
  ds: 'http://www.w3.org/2000/09/xmldsig#',
  xenc: 'http://www.w3.org/2001/04/xmlenc#',
  xenc11: 'http://www.w3.org/2009/xmlenc11#',
  xml: 'http://www.w3.org/XML/1998/namespace',
} as const;

export const bindings = {
  redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
  post: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
  soap: 'urn:oasis:names:tc:SAML:2.0:bindings:SOAP',
  deflate: 'urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE',
} as const;

/** SAML Core 8.3. `unspecified` and `emailAddress` still carry the number of SAML 1.1. */
export const nameIdFormats = {
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  emailAddress: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  unspecified: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
} as const;

export type NameIdFormatName = keyof typeof nameIdFormats;

/**
 * The URI of a name identifier format as Core 8.3 writes it. Much software swaps the version number, which names no other format:
 * `SAML:2.0:nameid-format:emailAddress` is an alias of `SAML:1.1:nameid-format:emailAddress`.
 */
export function standardFormat(uri: string): string {
  const [, name] = /^urn:oasis:names:tc:SAML:(?:1\.0|1\.1|2\.0):nameid-format:(\w+)$/.exec(uri.trim()) ?? [];
  if (name === undefined) return uri.trim();
  return `urn:oasis:names:tc:SAML:${FORMATS_OF_SAML_1.includes(name) ? '1.1' : '2.0'}:nameid-format:${name}`;
}

/** The formats of Core 8.3 that still carry the number of SAML 1.1. */
const FORMATS_OF_SAML_1 = ['unspecified', 'emailAddress', 'X509SubjectName', 'WindowsDomainQualifiedName'];

/** The supported format with this URI, or an alias of it. */
export function nameIdFormatOf(uri: string): NameIdFormatName | undefined {
  const names = Object.keys(nameIdFormats) as NameIdFormatName[];
  return names.find((name) => nameIdFormats[name] === standardFormat(uri));
}

/** The format of an Issuer that names an entity, the only one allowed there (SAML Profiles 4.1.4). */
export const entityFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity';

const status = 'urn:oasis:names:tc:SAML:2.0:status:';
/** SAML Core 3.2.2.2. */
export const statusCodes = {
  Success: `${status}Success`,
  Requester: `${status}Requester`,
  Responder: `${status}Responder`,
  VersionMismatch: `${status}VersionMismatch`,
  AuthnFailed: `${status}AuthnFailed`,
  InvalidNameIDPolicy: `${status}InvalidNameIDPolicy`,
  NoAuthnContext: `${status}NoAuthnContext`,
  NoPassive: `${status}NoPassive`,
  PartialLogout: `${status}PartialLogout`,
  RequestDenied: `${status}RequestDenied`,
  RequestUnsupported: `${status}RequestUnsupported`,
  UnknownPrincipal: `${status}UnknownPrincipal`,
  UnsupportedBinding: `${status}UnsupportedBinding`,
} as const;

/** The AuthnContextClassRefs of assertions, weakest first. */
export const contextClasses = {
  password: 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
  mfa: REFEDS_MFA,
  passkey: 'urn:gatehouse:ac:classes:passkey',
} as const;

export const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

const attrname = 'urn:oasis:names:tc:SAML:2.0:attrname-format:';
export const attributeNameFormats = {
  basic: `${attrname}basic`,
  uri: `${attrname}uri`,
  unspecified: `${attrname}unspecified`,
} as const;

export const algorithms = {
  exclusiveC14n: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  exclusiveC14nWithComments: 'http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
  enveloped: 'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  sha1: 'http://www.w3.org/2000/09/xmldsig#sha1',
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  sha384: 'http://www.w3.org/2001/04/xmldsig-more#sha384',
  sha512: 'http://www.w3.org/2001/04/xmlenc#sha512',
  rsaSha1: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
  rsaSha256: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  rsaSha384: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha384',
  rsaSha512: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  rsaPssSha256: 'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
  ecdsaSha256: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256',
  ecdsaSha384: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384',
  ecdsaSha512: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512',
  aes128Gcm: 'http://www.w3.org/2009/xmlenc11#aes128-gcm',
  aes192Gcm: 'http://www.w3.org/2009/xmlenc11#aes192-gcm',
  aes256Gcm: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
  aes128Cbc: 'http://www.w3.org/2001/04/xmlenc#aes128-cbc',
  aes192Cbc: 'http://www.w3.org/2001/04/xmlenc#aes192-cbc',
  aes256Cbc: 'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
  rsaOaep: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
  /** XML Encryption 1.1: the hash of the mask is named. */
  rsaOaep11: 'http://www.w3.org/2009/xmlenc11#rsa-oaep',
  mgf1Sha1: 'http://www.w3.org/2009/xmlenc11#mgf1sha1',
  mgf1Sha256: 'http://www.w3.org/2009/xmlenc11#mgf1sha256',
} as const;
