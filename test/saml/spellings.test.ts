// Messages and documents as other products write them: encodings and their labels, white space, line breaks, and addresses.
import { deflateRawSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { createMetadataFetch } from '../../src/protocols/saml/metadata/fetch.ts';
import { parseServiceProviderMetadata } from '../../src/protocols/saml/metadata/parse.ts';
import { isSameAddress } from '../../src/protocols/saml/xml/addresses.ts';
import { decodeXml } from '../../src/protocols/saml/xml/encoding.ts';
import { algorithms } from '../../src/protocols/saml/xml/names.ts';
import { redirectUri } from '../oidc/support.ts';
import { aClient } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { listen } from '../support/listen.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import { answerXml, aSamlUpstream, beginAt, type SamlUpstream } from '../support/upstream/saml-upstream.ts';
import { aLiveSp, type LiveSp } from './live.ts';
import { now, signQuery, signXml, spCredential } from './support.ts';

let idp: TestIdp;
let sp: LiveSp;
let school: SamlUpstream;
let clientId: string;
beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  sp = await aLiveSp(idp);
  school = await aSamlUpstream(idp);
  ({ clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] }));
});

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (text: string, isBigEndian = false, mark = '\ufeff') => {
  const octets = Buffer.from(`${mark}${text}`, 'utf16le');
  return isBigEndian ? octets.swap16() : octets;
};
const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>\n`;

/** Name -> the octets of a document; each says the same. */
const encodings: [string, (xml: string) => Buffer, string?][] = [
  ['UTF-8 with a byte order mark', (xml) => Buffer.from(`\ufeff${declared('utf-8')}${xml}`)],
  ['UTF-16 in the order of Intel, with its mark', (xml) => utf16(declared('utf-16') + xml)],
  ['UTF-16 in the order of the network, with its mark', (xml) => utf16(declared('UTF-16') + xml, true)],
  ['UTF-16 without a mark', (xml) => utf16(declared('utf-16le') + xml, false, '')],
  ['UTF-16 without a mark or a declaration', (xml) => utf16(xml, true, '')],
  ['UTF-8 that is declared as UTF-16, as .NET does', (xml) => Buffer.from(declared('utf-16') + xml)],
  ['UTF-8 that is declared as Latin-1', (xml) => Buffer.from(declared('ISO-8859-1') + xml)],
  ['Latin-1', (xml) => latin1(declared('ISO-8859-1') + xml)],
  ['Latin-1 as Windows calls it', (xml) => latin1(declared('windows-1252') + xml)],
  ['Latin-1 that is declared as UTF-8', (xml) => latin1(declared('UTF-8') + xml)],
  ['Latin-1 without a declaration', (xml) => latin1(xml)],
  ['UTF-8 that HTTP calls Latin-1', (xml) => Buffer.from(xml), 'text/xml; charset=iso-8859-1'],
  ['Latin-1 that HTTP calls so', (xml) => latin1(xml), 'text/xml; charset="ISO-8859-1"'],
  ['Latin-1 that HTTP calls UTF-8', (xml) => latin1(declared('iso-8859-1') + xml), 'text/xml;charset=utf-8'],
];

const isSignIn = (page: Page) =>
  expect(`${page.status} ${page.location}`).toMatch(/^303 .*\/(authorize|saml\/sso\/continue)\?/);
const CROSS_SITE = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' };
const post = (body: string, headers = {}) =>
  httpClient(idp.issuer).post('/saml/sso', { body, headers: { ...CROSS_SITE, ...headers } });
const inLines = (base64: string) => base64.replace(/.{60}/g, '$& \r\n\t');

describe('an encoding', () => {
  it.each(encodings)('is read by redirect and POST: %s', async (_name, encode) => {
    const request = () => sp.request({ attributes: ' ProviderName="Société générale"' });
    const byPost = sp.sign(request());
    expect(byPost).toContain('Société');
    isSignIn(await post(new URLSearchParams({ SAMLRequest: encode(byPost).toString('base64') }).toString()));
    const query = `SAMLRequest=${encodeURIComponent(deflateRawSync(encode(request())).toString('base64'))}`;
    isSignIn(await httpClient(idp.issuer).get(`/saml/sso?${signQuery(query, { key: sp.credential.privateKey })}`));
  });

  it.each(encodings)('is read in the answer of an upstream: %s', async (_name, encode) => {
    const { browser, requestId } = await beginAt(idp, school, { clientId });
    const xml = answerXml(idp, school, requestId, {
      nameId: `s-${crypto.randomUUID()}`,
      attributes: { sn: 'Société' },
    });
    const form = new URLSearchParams({ SAMLResponse: encode(xml).toString('base64'), RelayState: requestId });
    const answered = await browser.post('/saml/acs', { body: String(form), headers: CROSS_SITE });
    expect(`${answered.status} ${answered.location}`).toMatch(/^303 \/login\/callback|^303 /);
    expect(answered.location).not.toContain('error');
  });

  it.each(encodings)('is read in metadata over HTTP: %s', async (_name, encode, contentType = 'application/xml') => {
    const xml = metadataOf('Société générale');
    const server = await listen((_request, response) => {
      response.setHeader('content-type', contentType);
      response.end(encode(xml));
    });
    const text = await createMetadataFetch({ outgoing: fetch })(`${server.origin}/metadata`);
    expect(parseServiceProviderMetadata(text, now).displayName).toBe('Société générale');
    await server.close();
  });

  it('is read in an envelope of SOAP', async () => {
    const logout = (encode: (xml: string) => Buffer, contentType: string) => {
      const envelope = (xml: string) =>
        `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>${xml}</e:Body></e:Envelope>`;
      const message =
        `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"` +
        ` ID="_${crypto.randomUUID()}" Version="2.0" IssueInstant="${new Date().toISOString()}" Destination="${idp.issuer}/saml/sp/slo">` +
        `<saml:Issuer>${school.entityId}</saml:Issuer><saml:NameID>Société</saml:NameID></samlp:LogoutRequest>`;
      const { privateKey: key, certificatePem } = school.credential;
      const body = encode(envelope(signXml(message, { key, certificatePem })));
      return fetch(`${idp.issuer}/saml/sp/slo`, {
        method: 'POST',
        headers: { 'content-type': contentType },
        body: new Uint8Array(body),
      });
    };
    for (const [name, encode, contentType = 'text/xml'] of encodings) {
      const answer = await logout(encode, contentType);
      expect(`${name}: ${answer.status}`).toBe(`${name}: 200`);
      expect(await answer.text()).toContain('LogoutResponse');
    }
  });

  it('that is neither Unicode nor Latin is named', () => {
    expect(() => decodeXml(latin1(`${declared('Shift_JIS')}<a>é</a>`))).toThrow(
      expect.objectContaining({ code: 'bad_encoding', brokenRule: expect.objectContaining({ received: 'Shift_JIS' }) }),
    );
    expect(() => decodeXml(Buffer.from([0xff, 0xfe, 0x3c]))).toThrow(expect.objectContaining({ code: 'bad_encoding' }));
  });
});

describe('white space', () => {
  it('is ignored in base64, in both bindings, encoded or not', async () => {
    const base64 = inLines(Buffer.from(sp.sign(sp.request())).toString('base64'));
    isSignIn(await post(`SAMLRequest=${encodeURIComponent(base64)}`));
    isSignIn(
      await post(
        `SAMLRequest=${encodeURIComponent(inLines(Buffer.from(sp.sign(sp.request())).toString('base64'))).replaceAll('%20', '+')}`,
      ),
    );
    const { privateKey } = sp.credential;
    const lines = inLines(deflateRawSync(sp.request()).toString('base64'));
    const signed = signQuery(`SAMLRequest=${encodeURIComponent(lines)}`, { key: privateKey });
    isSignIn(
      await httpClient(idp.issuer).get(`/saml/sso?${signed.replace(/Signature=(?:%..|[^%]){40}/, '$&%0D%0A%20')}`),
    );
  });

  it('stands for the plus of base64 where a sender did not encode it', async () => {
    for (;;) {
      const base64 = deflateRawSync(sp.request()).toString('base64');
      if (!base64.includes('+')) continue;
      const query = `SAMLRequest=${base64.replaceAll('/', '%2F').replaceAll('=', '%3D')}`;
      isSignIn(await httpClient(idp.issuer).get(`/saml/sso?${signQuery(query, { key: sp.credential.privateKey })}`));
      break;
    }
  });

  it('is ignored around each URI of a request', async () => {
    const around = (uri: string) => `\n    ${uri}\t\n  `;
    const request = sp.request({
      issuer: around(sp.entityId),
      destination: around(`${idp.issuer}/saml/sso`),
      attributes:
        ` AssertionConsumerServiceURL="${around(sp.acs)}"` +
        ` ProtocolBinding="${around('urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST')}"`,
      body:
        `<samlp:NameIDPolicy Format="${around('urn:oasis:names:tc:SAML:2.0:nameid-format:persistent')}"` +
        ` SPNameQualifier="${around(sp.entityId)}"/><samlp:RequestedAuthnContext><saml:AuthnContextClassRef>` +
        `${around('urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport')}</saml:AuthnContextClassRef></samlp:RequestedAuthnContext>`,
    });
    isSignIn(
      await post(new URLSearchParams({ SAMLRequest: Buffer.from(sp.sign(request)).toString('base64') }).toString()),
    );
  });

  it('is ignored in the signature, its algorithms and its certificate', async () => {
    const spaced = sp
      .sign(sp.request())
      .replace(/(<ds:SignatureValue>)([^<]+)/, (_, tag, base64) => `${tag}\n  ${inLines(base64)}\n`)
      .replace(/(<ds:X509Certificate>)([^<]+)/, (_, tag, base64) => `${tag}\n  ${inLines(base64)}\n`);
    isSignIn(await post(new URLSearchParams({ SAMLRequest: Buffer.from(spaced).toString('base64') }).toString()));
  });

  it('is ignored around each URI of an answer', async () => {
    const around = (uri: string) => `\n    ${uri}\t\n  `;
    const { browser, requestId } = await beginAt(idp, school, { clientId });
    const xml = answerXml(idp, school, requestId, {
      issuer: around(school.entityId),
      responseIssuer: around(school.entityId),
      destination: around(`${idp.issuer}/saml/acs`),
      recipient: around(`${idp.issuer}/saml/acs`),
      audience: around(`${idp.issuer}/saml/sp/metadata`),
      method: around('urn:oasis:names:tc:SAML:2.0:cm:bearer'),
      status: around('urn:oasis:names:tc:SAML:2.0:status:Success'),
      inResponseTo: ` ${requestId} `,
      responseInResponseTo: ` ${requestId} `,
    });
    const form = { SAMLResponse: inLines(Buffer.from(xml).toString('base64')), RelayState: requestId };
    const answered = await browser.post('/saml/acs', { form, headers: { 'sec-fetch-site': 'cross-site' } });
    const end = await browser.follow(answered, (to) => to.startsWith(redirectUri));
    expect(end.location).toContain('code=');
  });
});

describe('an address', () => {
  it.each([
    ['https://id.example/saml/sso', 'HTTPS://ID.Example:443/saml/sso', true],
    ['http://id.example/a', 'http://id.example:80/a', true],
    ['https://id.example', 'https://id.example/', true],
    ['https://id.example?a=1', 'https://id.example/?a=1', true],
    ['https://bücher.example/a', 'https://xn--bcher-kva.example/a', true],
    ['https://id.example/a', 'http://id.example/a', false],
    ['https://id.example/a', 'https://id.example:8443/a', false],
    ['https://id.example/a', 'https://id.example/A', false],
    ['https://id.example/a', 'https://id.example/a/', false],
    ['https://id.example/a', 'https://id.example/b/../a', false],
    ['https://id.example/a', 'https://id.example/%61', false],
    ['https://id.example/a', 'https://id.example/a?', false],
    ['https://id.example/a', 'https://id.example/a#b', false],
    ['https://id.example/a', 'https://evil@id.example/a', false],
    ['https://id.example/a', 'https://id.example\\@evil.example/a', false],
    ['https://id.example/a', 'https://id.example:443@evil.example/a', false],
    ['https://id.example/a', 'https:/id.example/a', false],
    ['https://id.example/a', 'https://id.example\t/a', false],
    ['https://id.example/a', 'https://id。example/a', true],
    ['javascript:alert(1)', 'JavaScript:alert(1)', false],
    ['urn:example:a', 'URN:example:a', false],
  ])('%s and %s: the same, %s', (one, other, expected) => {
    expect(isSameAddress(one, other)).toBe(expected);
    expect(isSameAddress(other, one)).toBe(expected);
  });

  it('of a request may have capitals and the default port; the Response goes to the registered one', async () => {
    const origin = new URL(idp.issuer);
    const capitals = `${origin.protocol.toUpperCase()}//${origin.host.toUpperCase()}/saml/sso`;
    const acs = sp.acs.replace('https://live', 'HTTPS://Live').replace('.example/', '.EXAMPLE:443/');
    const browser = httpClient(idp.issuer);
    const request = sp.request({
      destination: capitals,
      attributes: ` AssertionConsumerServiceURL="${acs}" IsPassive="true"`,
    });
    const body = new URLSearchParams({ SAMLRequest: Buffer.from(sp.sign(request)).toString('base64') }).toString();
    const page = await browser.follow(await browser.post('/saml/sso', { body, headers: CROSS_SITE }));
    expect(page.forms[0]?.action).toBe(sp.acs);
    expect(Buffer.from(page.forms[0]?.fields.SAMLResponse ?? '', 'base64').toString()).toContain(
      `Destination="${sp.acs}"`,
    );
    const other = sp.request({ attributes: ` AssertionConsumerServiceURL="${sp.acs.replace('/acs', '/ACS')}"` });
    const rejected = await post(
      new URLSearchParams({ SAMLRequest: Buffer.from(sp.sign(other)).toString('base64') }).toString(),
    );
    expect(rejected.status).toBe(400);
  });

  it('of an answer may have capitals', async () => {
    const acs = `${idp.issuer.replace('http', 'HTTP').replace('localhost', 'LocalHost')}/saml/acs`;
    const { browser, requestId } = await beginAt(idp, school, { clientId });
    const form = {
      SAMLResponse: Buffer.from(answerXml(idp, school, requestId, { destination: acs, recipient: acs })).toString(
        'base64',
      ),
      RelayState: requestId,
    };
    const answered = await browser.post('/saml/acs', { form, headers: { 'sec-fetch-site': 'cross-site' } });
    const end = await browser.follow(answered, (to) => to.startsWith(redirectUri));
    expect(end.location).toContain('code=');
  });

  it('is nothing that a name is: an Issuer in capitals is another one', async () => {
    const request = sp.request({ issuer: sp.entityId.replace('https', 'HTTPS') });
    const page = await post(
      new URLSearchParams({ SAMLRequest: Buffer.from(sp.sign(request)).toString('base64') }).toString(),
    );
    expect(page.status).toBe(400);
  });
});

function metadataOf(name: string): string {
  return (
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://enc.example/metadata">` +
    `<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">` +
    `<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://enc.example/acs" index="0"/>` +
    `</md:SPSSODescriptor><md:Organization><md:OrganizationName xml:lang="fr">${name}</md:OrganizationName>` +
    `<md:OrganizationDisplayName xml:lang="fr">${name}</md:OrganizationDisplayName>` +
    `<md:OrganizationURL xml:lang="fr">https://enc.example</md:OrganizationURL></md:Organization></md:EntityDescriptor>`
  );
}

describe('pinned metadata', () => {
  it.each([algorithms.exclusiveC14n, algorithms.exclusiveC14nWithComments])(
    'is verified without its comments, as a reference to an ID says: %s',
    async (transform) => {
      const plain = metadataOf('Example').replace('entityID', 'ID="_m" entityID');
      const signed = signXml(plain, { transforms: [algorithms.enveloped, transform], firstIn: '/*' });
      const xml = signed.replaceAll('>Example<', '>Exam<!-- x -->ple<').replace('<md:SPSSO', '<!-- y --><md:SPSSO');
      const served = (text: string) =>
        createMetadataFetch({ outgoing: async () => new Response(text) })(
          'https://enc.example/m',
          spCredential.certificatePem,
        );
      expect(parseServiceProviderMetadata(await served(xml), now).displayName).toBe('Example');
      await expect(served(xml.replace('enc.example/acs', 'evil.example/acs'))).rejects.toThrow(
        'not signed with the pinned key',
      );
    },
  );
});
