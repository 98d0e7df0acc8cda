import { XmlDocument } from 'libxml2-wasm';
import samlify from 'samlify';
import { describe, expect, it } from 'vitest';
import { identityProviderMetadata } from '../../../src/protocols/saml/metadata/presentation.ts';
import { bindings, nameIdFormats } from '../../../src/protocols/saml/xml/names.ts';
import { aCredential, idp, idpCredential, schemas, signer } from '../support.ts';

const next = aCredential();
const input = {
  entityId: idp.entityId,
  ssoUrl: idp.sso,
  sloUrl: 'https://id.example/saml/slo',
  signingCertificates: [idpCredential.certificatePem, next.certificatePem],
  wantAuthnRequestsSigned: true,
  displayName: 'Gate <House> & "Söhne" 😀',
  url: 'https://id.example/?a=1&b=2',
  cacheSeconds: 3600,
  validUntil: new Date('2040-01-01T00:00:00Z'),
};

describe('the IdP metadata', () => {
  it('follows the schema, with and without signature', () => {
    expect(schemas.metadata(identityProviderMetadata(input))).toBeUndefined();
    expect(schemas.metadata(identityProviderMetadata({ ...input, id: '_m1' }, signer))).toBeUndefined();
  });

  it('gives samlify the endpoints and the certificates', () => {
    const meta = samlify.IdentityProvider({ metadata: identityProviderMetadata(input) }).entityMeta;
    expect(meta.getEntityID()).toBe(idp.entityId);
    expect(meta.getSingleSignOnService('redirect')).toBe(idp.sso);
    expect(meta.getSingleSignOnService('post')).toBe(idp.sso);
    expect(meta.getSingleLogoutService('redirect')).toBe(input.sloUrl);
    expect(meta.isWantAuthnRequestsSigned()).toBe(true);
    expect(meta.getNameIDFormat()).toEqual(Object.values(nameIdFormats));
    const bare = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, '');
    expect(meta.getX509Certificate('signing')).toEqual(input.signingCertificates.map(bare));
  });

  it('preserves names with special characters', () => {
    const document = XmlDocument.fromString(identityProviderMetadata(input));
    const spaces = { md: 'urn:oasis:names:tc:SAML:2.0:metadata', ui: 'urn:oasis:names:tc:SAML:metadata:ui' };
    expect(document.get('//ui:DisplayName', spaces)?.content).toBe(input.displayName);
    expect(document.get('//md:OrganizationURL', spaces)?.content).toBe(input.url);
    expect(document.eval(`count(//md:SingleSignOnService[@Binding="${bindings.post}"])`, spaces)).toBe(1);
    document.dispose();
  });
});
