import { SAML } from '@node-saml/node-saml';
import samlify from 'samlify';
import { describe, expect, it } from 'vitest';
import { parseServiceProviderMetadata } from '../../../src/protocols/saml/metadata/parse.ts';
import { bindings, nameIdFormats } from '../../../src/protocols/saml/xml/names.ts';
import { aCredential, now, samlErrorCode, sp, spCredential } from '../support.ts';

const other = aCredential();
const bare = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, '');
const key = (pem: string, use = '') =>
  `<md:KeyDescriptor${use}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>\n${bare(pem).replace(/.{64}/g, '$&\n')}\n</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;
const acs = (url: string, rest = 'index="0"', binding: string = bindings.post) =>
  `<md:AssertionConsumerService Binding="${binding}" Location="${url}" ${rest}/>`;
interface Parts {
  entity?: string;
  role?: string;
  keys?: string;
  services?: string;
  head?: string;
}
const metadata = ({ entity = '', role = '', keys = '', services = acs(sp.acs), head = '' }: Parts = {}) =>
  `${head}<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${sp.entityId}"${entity}>` +
  `<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:1.1:protocol urn:oasis:names:tc:SAML:2.0:protocol"${role}>` +
  `${keys}${services}</md:SPSSODescriptor></md:EntityDescriptor>`;
const parse = (xml: string) => parseServiceProviderMetadata(xml, now);

describe('service provider metadata', () => {
  it('is read in full', () => {
    const slo = `<md:SingleLogoutService Binding="${bindings.redirect}" Location="https://sp.example/slo" ResponseLocation="https://sp.example/slo/done"/><md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:SOAP" Location="https://sp.example/soap"/>`;
    const wishes = `<md:AttributeConsumingService index="0"><md:ServiceName xml:lang="de">Dienst</md:ServiceName><md:ServiceName xml:lang="en">Service</md:ServiceName><md:RequestedAttribute Name="urn:oid:0.9.2342.19200300.100.1.3" FriendlyName="mail" isRequired="1"/></md:AttributeConsumingService>`;
    const read = parse(
      metadata({
        head: '<?xml version="1.0" encoding="utf-8"?>\n<!-- made by hand -->\n',
        entity: ` validUntil="2032-01-01T00:00:00Z"`,
        role: ' AuthnRequestsSigned="1" WantAssertionsSigned="true"',
        keys: key(spCredential.certificatePem, ' use="signing"') + key(other.certificatePem),
        services: `${slo}<md:NameIDFormat>${nameIdFormats.transient}</md:NameIDFormat>${acs(sp.acs)}${acs('https://sp.example/2', 'index="1" isDefault="1"')}${wishes}`,
      }).replace(
        '</md:EntityDescriptor>',
        '<md:ContactPerson contactType="technical"><md:GivenName>A</md:GivenName><md:EmailAddress>mailto:a@sp.example</md:EmailAddress></md:ContactPerson></md:EntityDescriptor>',
      ),
    );
    expect(read).toMatchObject({
      entityId: sp.entityId,
      displayName: 'Service',
      acs: [
        { url: sp.acs, binding: bindings.post, index: 0, isDefault: undefined },
        { url: 'https://sp.example/2', index: 1, isDefault: true },
      ],
      slo: [
        { binding: 'redirect', location: 'https://sp.example/slo', responseLocation: 'https://sp.example/slo/done' },
        { binding: 'soap', location: 'https://sp.example/soap' },
      ],
      authnRequestsSigned: true,
      wantAssertionsSigned: true,
      nameIdFormats: [nameIdFormats.transient],
      requestedAttributes: [{ name: 'urn:oid:0.9.2342.19200300.100.1.3', friendlyName: 'mail', isRequired: true }],
      contacts: [{ type: 'technical', name: 'A', emails: ['a@sp.example'] }],
      validUntil: new Date('2032-01-01T00:00:00Z'),
    });
    expect(read.signingCertificates).toHaveLength(2);
    expect(read.encryptionCertificates.map(({ pem }) => bare(pem))).toEqual([bare(other.certificatePem)]);
  });

  it('never offers a signing key, nor a curve, for encryption', () => {
    const signing = parse(metadata({ keys: key(spCredential.certificatePem, ' use="signing"') }));
    expect(signing.encryptionCertificates).toEqual([]);
    const curve = parse(metadata({ keys: key(aCredential('ec', 256).certificatePem) }));
    expect(curve.encryptionCertificates).toEqual([]);
    expect(curve.signingCertificates).toHaveLength(1);
  });

  it('is read as node-saml and samlify generate it', () => {
    const nodeSaml = new SAML({
      callbackUrl: sp.acs,
      issuer: sp.entityId,
      entryPoint: 'https://x.example',
      idpCert: spCredential.certificatePem,
      privateKey: spCredential.privatePem,
    });
    const fromNodeSaml = parse(nodeSaml.generateServiceProviderMetadata(null, spCredential.certificatePem));
    expect(fromNodeSaml).toMatchObject({
      entityId: sp.entityId,
      acs: [{ url: sp.acs }],
      nameIdFormats: [nameIdFormats.emailAddress],
    });
    const theirs = samlify.ServiceProvider({
      entityID: sp.entityId,
      authnRequestsSigned: true,
      signingCert: spCredential.certificatePem,
      assertionConsumerService: [{ Binding: bindings.post, Location: sp.acs }],
    });
    expect(parse(theirs.getMetadata())).toMatchObject({
      entityId: sp.entityId,
      acs: [{ url: sp.acs }],
      authnRequestsSigned: true,
    });
  });

  it('may be the only entity of a list', () => {
    const list = (...entities: string[]) =>
      `<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">${entities.join('')}</md:EntitiesDescriptor>`;
    expect(parse(list(metadata())).entityId).toBe(sp.entityId);
    expect(() => parse(list(metadata(), metadata()))).toThrow('exactly one entity');
    expect(() => parse(list())).toThrow('exactly one entity');
  });

  it('allows plain http on a loopback address', () => {
    for (const url of [
      'http://localhost:4000/acs',
      'http://app.localhost/acs',
      'http://127.0.0.1/acs',
      'http://[::1]:1/acs',
    ]) {
      expect(parse(metadata({ services: acs(url) })).acs[0]?.url).toBe(url);
    }
  });

  it.each([
    ['an expired entity', metadata({ entity: ` validUntil="${now.toISOString()}"` }), 'expired on'],
    ['an expired role', metadata({ role: ' validUntil="2020-01-01T00:00:00Z"' }), 'expired on'],
    ['an unreadable expiry', metadata({ entity: ' validUntil="soon"' }), 'not a time'],
    [
      'an identity provider',
      metadata().replaceAll('SPSSODescriptor', 'IDPSSODescriptor'),
      'one SAML 2.0 service provider',
    ],
    ['another protocol', metadata().replace('SAML:2.0:protocol', 'SAML:1.0:protocol'), 'one SAML 2.0 service provider'],
    ['another namespace', metadata().replace('2.0:metadata"', '3.0:metadata"'), 'This is not metadata'],
    ['no entity ID', metadata().replace(/entityID="[^"]*"/, ''), 'entity ID'],
    ['a long entity ID', metadata().replace(sp.entityId, `urn:${'x'.repeat(1024)}`), 'entity ID'],
    ['no POST service', metadata({ services: acs(sp.acs, 'index="0"', bindings.redirect) }), 'HTTP-POST'],
    ['two services of one index', metadata({ services: acs(sp.acs) + acs('https://sp.example/2') }), 'same index'],
    ['http on the network', metadata({ services: acs('http://sp.example/acs') }), 'use https'],
    ['http on a lookalike of loopback', metadata({ services: acs('http://localhost.evil.example/acs') }), 'use https'],
    ['http on another lookalike', metadata({ services: acs('http://evillocalhost/acs') }), 'use https'],
    ['a script', metadata({ services: acs('javascript:alert(1)') }), 'javascript:'],
    ['a script in disguise', metadata({ services: acs('java&#10;script:alert(1)') }), 'characters'],
    ['data', metadata({ services: acs('data:text/html,x') }), 'data:'],
    ['credentials in a URL', metadata({ services: acs('https://sp.example@evil.example/') }), 'credentials'],
    ['a fragment', metadata({ services: acs('https://sp.example/#x') }), 'fragment'],
    ['a relative URL', metadata({ services: acs('/acs') }), 'absolute'],
    ['markup in a URL', metadata({ services: acs('https://sp.example/&quot;&gt;&lt;script&gt;') }), 'characters'],
    ['a weak RSA key', metadata({ keys: key(aCredential('rsa', 1024).certificatePem) }), '1024 bits'],
    ['what is no certificate', metadata({ keys: key('AAAA') }), 'could not be read'],
    ['an unknown use of a key', metadata({ keys: key(spCredential.certificatePem, ' use="both"') }), 'unknown use'],
    ['signed requests without a key', metadata({ role: ' AuthnRequestsSigned="1"' }), 'no signing certificate'],
    [
      'two readings',
      metadata().replace(
        '<md:SPSSO',
        '<md:SPSSODescriptor protocolSupportEnumeration="urn:x"><x:AssertionConsumerService xmlns:x="urn:oasis:names:tc:SAML:2.0:metadata" Binding="b" Location="https://evil.example/" index="9"/></md:SPSSODescriptor><md:SPSSO',
      ),
      'ambiguous',
    ],
  ])('is rejected with the reason: %s', (_name, xml, reason) => {
    expect(() => parse(xml)).toThrow(reason);
  });

  it.each([
    ['a DOCTYPE', metadata({ head: '<!DOCTYPE x>' }), 'forbidden_markup'],
    ['a style sheet', metadata({ head: '<?xml-stylesheet href="x"?>' }), 'forbidden_markup'],
    ['no XML', 'https://sp.example/metadata', 'not_xml'],
    ['more than a megabyte', metadata({ head: ' '.repeat(1024 * 1024) }), 'too_large'],
  ])('is rejected with %s', async (_name, xml, code) => {
    expect(await samlErrorCode(() => parse(xml))).toBe(code);
  });
});
