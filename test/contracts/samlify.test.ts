// What we rely on in samlify, and the reason why it is not trusted with more. A failure after an upgrade is news, not
// necessarily bad news.
import samlify from 'samlify';
import { beforeAll, describe, expect, it } from 'vitest';
import { readAuthnRequest } from '../../src/protocols/saml/messages/authn-request.ts';
import { readLogoutRequest } from '../../src/protocols/saml/messages/read-logout.ts';
import { readWithSamlify } from '../../src/protocols/saml/metadata/parse.ts';
import { receivePost, receiveRedirect } from '../saml/receive.ts';
import { ourMetadata } from '../saml/receivers.ts';
import { authnRequestXml, samlErrorCode, signXml, sp, spCredential } from '../saml/support.ts';

const post = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';
const serviceProvider = samlify.ServiceProvider({
  entityID: sp.entityId,
  authnRequestsSigned: true,
  wantLogoutRequestSigned: true,
  privateKey: spCredential.privatePem,
  signingCert: spCredential.certificatePem,
  requestSignatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  assertionConsumerService: [{ Binding: post, Location: sp.acs }],
});
const identityProvider = samlify.IdentityProvider({
  metadata: ourMetadata().replace('WantAuthnRequestsSigned="false"', 'WantAuthnRequestsSigned="true"'),
  wantLogoutRequestSigned: true,
});

beforeAll(() => samlify.setSchemaValidator({ validate: async () => 'ok' }));

describe('samlify as a service provider', () => {
  it('sends signed requests that we accept, by redirect and by POST', async () => {
    const { context: url } = serviceProvider.createLoginRequest(identityProvider, 'redirect');
    const byRedirect = await receiveRedirect(url.slice(url.indexOf('?') + 1));
    const { context: form } = serviceProvider.createLoginRequest(identityProvider, 'post');
    const byPost = await receivePost(Buffer.from(form, 'base64').toString());
    for (const message of [byRedirect, byPost]) {
      expect(readAuthnRequest(message)).toMatchObject({ issuer: sp.entityId, acsUrl: sp.acs, signed: true });
    }
  });

  it('sends signed logout requests that we accept', async () => {
    const { context: url } = serviceProvider.createLogoutRequest(identityProvider, 'redirect', {
      logoutNameID: 'opaque',
    });
    const message = await receiveRedirect(url.slice(url.indexOf('?') + 1));
    const expectation = { entityId: sp.entityId, endpoint: 'https://id.example/saml/slo', now: new Date() };
    expect(readLogoutRequest(message, expectation).nameId?.value).toBe('opaque');
  });
});

describe('samlify as the verifier of a POSTed request', () => {
  it('still accepts a wrapped request as signed, which this server rejects (tngan/samlify#634)', async () => {
    const original = authnRequestXml();
    const signature = /<ds:Signature .*<\/ds:Signature>/s.exec(signXml(original))?.[0] ?? '';
    const wrapped = authnRequestXml({
      id: '_evil',
      acs: ' AssertionConsumerServiceURL="https://evil.example/acs"',
      body: `${signature}<samlp:Extensions><x:box xmlns:x="urn:x">${original}</x:box></samlp:Extensions>`,
    });
    const body = { SAMLRequest: Buffer.from(wrapped).toString('base64') };
    const { extract } = await identityProvider.parseLoginRequest(serviceProvider, 'post', { body });
    expect(extract.request?.assertionConsumerServiceUrl).toBe('https://evil.example/acs');
    expect(await samlErrorCode(() => receivePost(wrapped))).toBe('signature_shape');
  });
});

describe('samlify as the second reader of metadata', () => {
  const metadata = (services: string) =>
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="urn:sp">` +
    `<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${services}</md:SPSSODescriptor></md:EntityDescriptor>`;
  const service = (url: string, index: number) =>
    `<md:AssertionConsumerService Binding="${post}" Location="${url}" index="${index}"/>`;

  it('reads the entity and all of its addresses', () => {
    expect(readWithSamlify(metadata(service('https://a.example/', 0)))).toEqual({
      entityId: 'urn:sp',
      acsUrls: ['https://a.example/'],
    });
    const two = readWithSamlify(metadata(service('https://a.example/', 0) + service('https://b.example/', 1)));
    expect(two?.acsUrls).toEqual(['https://a.example/', 'https://b.example/']);
  });

  it('returns nothing for metadata that it cannot read', () => {
    expect(readWithSamlify('<x/>')).toBeUndefined();
    expect(readWithSamlify('no XML')).toBeUndefined();
  });
});
