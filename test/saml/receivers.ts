// Other SAML libraries as service providers, to check the messages of this server.
import { type Profile, SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import { DOMParser } from '@xmldom/xmldom';
import samlify from 'samlify';
import { SignedXml } from 'xml-crypto';
import { describeAttributes } from '../../src/protocols/saml/messages/attributes.ts';
import type { SuccessInput } from '../../src/protocols/saml/messages/signed-response.ts';
import { identityProviderMetadata } from '../../src/protocols/saml/metadata/presentation.ts';
import { contextClasses, nameIdFormats } from '../../src/protocols/saml/xml/names.ts';
import { idp, idpCredential, schemas, sp, spCredential } from './support.ts';

/** Times are the real ones here: the judges have clocks of their own. */
export function aSuccess(changes: Partial<SuccessInput> = {}): SuccessInput {
  return {
    id: '_response1',
    assertionId: '_assertion1',
    issuer: idp.entityId,
    audience: sp.entityId,
    acsUrl: sp.acs,
    inResponseTo: '_request1',
    nameId: { value: 'opaque-1', format: nameIdFormats.persistent },
    sessionIndex: 'session-1',
    authnInstant: new Date(Date.now() - 60_000),
    contextClass: contextClasses.mfa,
    attributes: describeAttributes({ email: ['alice@example.com'], role: ['editor', 'admin'] }),
    now: new Date(),
    sign: 'assertion',
    encryption: undefined,
    ...changes,
  };
}

/** node-saml, as demanding as it can be configured for what was signed. */
export async function acceptedByNodeSaml(
  xml: string,
  signed: 'assertion' | 'response' | 'both',
  inResponseTo: string | null = '_request1',
): Promise<Profile> {
  const receiver = new SAML({
    callbackUrl: sp.acs,
    entryPoint: idp.sso,
    issuer: sp.entityId,
    audience: sp.entityId,
    idpIssuer: idp.entityId,
    idpCert: idpCredential.certificatePem,
    decryptionPvk: spCredential.privatePem,
    wantAssertionsSigned: signed !== 'response',
    wantAuthnResponseSigned: signed !== 'assertion',
    validateInResponseTo: inResponseTo === null ? ValidateInResponseTo.never : ValidateInResponseTo.always,
    acceptedClockSkewMs: 0,
  });
  if (inResponseTo !== null) await receiver.cacheProvider.saveAsync(inResponseTo, new Date().toISOString());
  const { profile } = await receiver.validatePostResponseAsync({ SAMLResponse: Buffer.from(xml).toString('base64') });
  if (!profile) throw new Error('node-saml returned no profile');
  return profile;
}

interface Extract {
  nameID: string;
  attributes: Record<string, string | string[]>;
  sessionIndex: { sessionIndex: string };
  response: { inResponseTo: string };
}

/** samlify as a service provider that only knows our metadata. */
export async function acceptedBySamlify(xml: string, signed: 'assertion' | 'response' | 'both'): Promise<Extract> {
  samlify.setSchemaValidator({
    validate: async (text: string) => {
      const fault = schemas.protocol(text);
      if (fault) throw new Error(fault.reason);
      return 'ok';
    },
  });
  const receiver = samlify.ServiceProvider({
    entityID: sp.entityId,
    assertionConsumerService: [{ Binding: samlify.Constants.namespace.binding.post, Location: sp.acs }],
    wantAssertionsSigned: signed !== 'response',
    wantMessageSigned: signed !== 'assertion',
    privateKey: spCredential.privatePem,
    encPrivateKey: spCredential.privatePem,
    encryptCert: spCredential.certificatePem,
  });
  const sender = samlify.IdentityProvider({
    metadata: ourMetadata(),
    isAssertionEncrypted: xml.includes('EncryptedAssertion'),
  });
  const { extract } = await receiver.parseLoginResponse(sender, 'post', {
    body: { SAMLResponse: Buffer.from(xml).toString('base64') },
  });
  return extract as unknown as Extract;
}

/** Whether xml-crypto finds every signature in the message right under this certificate, and there is one. */
export function acceptedSignature(xml: string, certificatePem: string): boolean {
  const document = new DOMParser().parseFromString(xml);
  const signatures = [...Array(9).keys()].flatMap(
    (at) => document.getElementsByTagNameNS('http://www.w3.org/2000/09/xmldsig#', 'Signature')[at] ?? [],
  );
  const isRight = (signature: Element) => {
    const check = new SignedXml({ publicCert: certificatePem, getCertFromKeyInfo: () => null });
    try {
      check.loadSignature(signature);
      return check.checkSignature(xml);
    } catch {
      return false;
    }
  };
  return signatures.length > 0 && signatures.every(isRight);
}

export function ourMetadata(): string {
  return identityProviderMetadata({
    entityId: idp.entityId,
    ssoUrl: idp.sso,
    sloUrl: 'https://id.example/saml/slo',
    signingCertificates: [idpCredential.certificatePem],
    wantAuthnRequestsSigned: false,
    displayName: 'Gatehouse',
    url: 'https://id.example/',
  });
}
