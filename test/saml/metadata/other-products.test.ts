// Metadata in the shapes that the usual service providers generate: comments before the root, extensions of all kinds,
// keys without use, endpoints of bindings and protocols that are not spoken here.
import { describe, expect, it } from 'vitest';
import { parseServiceProviderMetadata } from '../../../src/protocols/saml/metadata/parse.ts';
import { now, spCredential } from '../support.ts';

const certificate = spCredential.certificatePem.replace(/-----[^-]+-----/g, '');
const saml2 = 'urn:oasis:names:tc:SAML:2.0';
const key = (use: string) =>
  `<md:KeyDescriptor${use}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:KeyName>sp</ds:KeyName>
    <ds:X509Data><ds:X509SubjectName>CN=sp</ds:X509SubjectName><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data>
  </ds:KeyInfo><md:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#aes128-gcm"/></md:KeyDescriptor>`;

describe('service provider metadata of other products', () => {
  it('is read as Shibboleth generates it', () => {
    const read = parseServiceProviderMetadata(
      `
<!--
This is example metadata only. Do *NOT* supply it as is without review.
-->
<md:EntityDescriptor xmlns:md="${saml2}:metadata" ID="_1" entityID="https://sp.example/shibboleth">
  <md:Extensions xmlns:alg="urn:oasis:names:tc:SAML:metadata:algsupport">
    <alg:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha512"/>
  </md:Extensions>
  <md:SPSSODescriptor protocolSupportEnumeration="${saml2}:protocol urn:oasis:names:tc:SAML:1.1:protocol">
    <md:Extensions>
      <init:RequestInitiator xmlns:init="urn:oasis:names:tc:SAML:profiles:SSO:request-init" Binding="urn:x" Location="https://sp.example/Shibboleth.sso/Login"/>
      <mdui:UIInfo xmlns:mdui="urn:oasis:names:tc:SAML:metadata:ui">
        <mdui:DisplayName xml:lang="cs">Černá díra</mdui:DisplayName><mdui:DisplayName xml:lang="en">Black Hole</mdui:DisplayName>
      </mdui:UIInfo>
    </md:Extensions>
    ${key('')}
    <!-- ------------------------- -->
    <md:ArtifactResolutionService Binding="${saml2}:bindings:SOAP" Location="https://sp.example/Shibboleth.sso/Artifact/SOAP" index="1"/>
    <md:SingleLogoutService Binding="${saml2}:bindings:SOAP" Location="https://sp.example/Shibboleth.sso/SLO/SOAP"/>
    <md:SingleLogoutService Binding="${saml2}:bindings:HTTP-Redirect" Location="https://sp.example/Shibboleth.sso/SLO/Redirect"/>
    <md:SingleLogoutService Binding="${saml2}:bindings:HTTP-POST" Location="https://sp.example/Shibboleth.sso/SLO/POST"/>
    <md:AssertionConsumerService Binding="${saml2}:bindings:HTTP-POST" Location="https://sp.example/Shibboleth.sso/SAML2/POST" index="1"/>
    <md:AssertionConsumerService Binding="${saml2}:bindings:HTTP-Artifact" Location="https://sp.example/Shibboleth.sso/SAML2/Artifact" index="3"/>
    <md:AssertionConsumerService Binding="${saml2}:bindings:PAOS" Location="https://sp.example/Shibboleth.sso/SAML2/ECP" index="4"/>
    <md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:1.0:profiles:browser-post" Location="https://sp.example/Shibboleth.sso/SAML/POST" index="5"/>
  </md:SPSSODescriptor>
</md:EntityDescriptor>
`,
      now,
    );
    expect(read).toMatchObject({ entityId: 'https://sp.example/shibboleth', displayName: 'Black Hole' });
    expect(read.acs).toHaveLength(4);
    expect(read.slo.map(({ binding }) => binding)).toEqual(['soap', 'redirect', 'post']);
    expect([read.signingCertificates.length, read.encryptionCertificates.length]).toEqual([1, 1]);
  });

  it('is read as SimpleSAMLphp and mod_auth_mellon generate it, with the metadata namespace as the default one', () => {
    const read = parseServiceProviderMetadata(
      `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<EntityDescriptor entityID="https://sp.example/mellon/metadata" xmlns="${saml2}:metadata">
  <SPSSODescriptor AuthnRequestsSigned="true" protocolSupportEnumeration="${saml2}:protocol">
    ${key(' use="signing"').replaceAll('md:', '')}
    <SingleLogoutService Binding="${saml2}:bindings:HTTP-Redirect" Location="http://localhost:8080/mellon/logout"/>
    <NameIDFormat>${saml2}:nameid-format:transient</NameIDFormat>
    <AssertionConsumerService index="0" isDefault="true" Binding="${saml2}:bindings:HTTP-POST" Location="http://localhost:8080/mellon/postResponse"/>
  </SPSSODescriptor>
  <ContactPerson contactType="technical"><GivenName>Admin</GivenName><EmailAddress>admin@sp.example</EmailAddress></ContactPerson>
</EntityDescriptor>`,
      now,
    );
    expect(read).toMatchObject({ authnRequestsSigned: true, acs: [{ isDefault: true, index: 0 }] });
    expect(read.contacts[0]?.emails).toEqual(['admin@sp.example']);
    expect([read.signingCertificates.length, read.encryptionCertificates.length]).toEqual([1, 0]);
  });
});
