// What metadata says is done, or its registration says why not: encryption methods and keys, and endpoints that cannot be used.
import { beforeAll, describe, expect, it } from 'vitest';
import { decryptAssertion } from '../../../src/protocols/saml/xml/decrypt.ts';
import { algorithms, bindings } from '../../../src/protocols/saml/xml/names.ts';
import { parseXml } from '../../../src/protocols/saml/xml/parse.ts';
import { childOf } from '../../../src/protocols/saml/xml/read.ts';
import { consoleOf, staff } from '../../admin/console/support.ts';
import { type ApiCaller, aService } from '../../admin/support.ts';
import { aUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { some } from '../../support/long-run.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { sharedIdpWithConnections } from '../../support/shared-idp.ts';
import { aLiveSp, answerIn, redirect } from '../live.ts';
import { aCredential } from '../support.ts';

let idp: TestIdp;
let api: ApiCaller;
let browser: HttpClient;
const rsa = aCredential();
const curve = aCredential('ec', 256);
let count = 0;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  api = await aService(idp);
  const user = await aUser(idp.services);
  browser = httpClient(idp.issuer);
  const page = await browser.follow(await redirect(browser, (await aLiveSp(idp)).request()));
  await browser.follow(await browser.submit(page, { username: user.username, password: user.password }));
});

const bare = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, '');
const method = (uri: string, content = '') =>
  `<md:EncryptionMethod Algorithm="\n ${uri} ">${content}</md:EncryptionMethod>`;
const key = (pem: string, methods = '', use = 'encryption') =>
  `<md:KeyDescriptor use="${use}"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>` +
  `${bare(pem)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>${methods}</md:KeyDescriptor>`;
const acs = (url: string, index = 0) =>
  `<md:AssertionConsumerService Binding="${bindings.post}" Location="${url}" index="${index}"/>`;
const slo = (url: string) => `<md:SingleLogoutService Binding="${bindings.redirect}" Location="${url}"/>`;

function metadata({ keys = '', slos = '', services = '' } = {}) {
  count += 1;
  const entityId = `https://heard${count}.example/metadata`;
  const acsUrl = `https://heard${count}.example/acs`;
  const xml =
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">` +
    `<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${keys}${slos}` +
    `${services || acs(acsUrl)}</md:SPSSODescriptor></md:EntityDescriptor>`;
  return { entityId, acsUrl, xml };
}

/** Registers it over the API. */
const register = (xml: string, fields: Record<string, unknown> = {}) =>
  api.send('POST', '/applications', { protocol: 'saml', name: `Heard ${count}`, metadata: xml, ...fields });

/** The algorithms of the assertion that it gets, and whether the service provider decrypts it. */
async function received({ entityId, acsUrl }: ReturnType<typeof metadata>, allowCbc = false) {
  const request =
    `<p:AuthnRequest xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" ID="_${crypto.randomUUID()}" Version="2.0"` +
    ` IssueInstant="${new Date().toISOString()}" Destination="${idp.issuer}/saml/sso" AssertionConsumerServiceURL="${acsUrl}">` +
    `<a:Issuer xmlns:a="urn:oasis:names:tc:SAML:2.0:assertion">${entityId}</a:Issuer></p:AuthnRequest>`;
  const xml = answerIn(await browser.follow(await redirect(browser, request))) ?? '';
  const { root } = parseXml(xml, { kind: 'response' });
  const encrypted = childOf(root, 'saml:EncryptedAssertion');
  const algorithmsOf = [...xml.matchAll(/EncryptionMethod[^>]* Algorithm="[^"]*[#]([^"]+)"/g)].map((found) => found[1]);
  const plain = encrypted && decryptAssertion(encrypted, { decryptionKeys: [rsa.privateKey], allowCbc });
  return [
    ...algorithmsOf,
    plain?.includes('<saml:Assertion') ? 'read' : /StatusCode Value="[^"]+:(\w+)"/.exec(xml)?.[1],
  ];
}

const fields = (page: { json(): Record<string, unknown> }) => page.json().fields ?? page.json().errors ?? page.json();

describe('EncryptionMethod', () => {
  const { aes256Gcm, aes128Gcm, aes192Gcm, aes256Cbc, aes128Cbc, rsaOaep, rsaOaep11, sha256, mgf1Sha256 } = algorithms;
  const tripleDes = 'http://www.w3.org/2001/04/xmlenc#tripledes-cbc';
  const rsa15 = 'http://www.w3.org/2001/04/xmlenc#rsa-1_5';
  const digest = `<ds:DigestMethod xmlns:ds="http://www.w3.org/2000/09/xmldsig#" Algorithm="${sha256}"/>`;
  const mask = `<e:MGF xmlns:e="http://www.w3.org/2009/xmlenc11#" Algorithm="${mgf1Sha256}"/>`;

  it.each<[string, string, string[]]>(
    some(3, [
      ['nothing', '', ['aes256-gcm', 'rsa-oaep-mgf1p', 'read']],
      ['the shorter key first', method(aes128Gcm) + method(aes256Gcm), ['aes128-gcm', 'rsa-oaep-mgf1p', 'read']],
      ['a key of 192 bits', method(tripleDes) + method(aes192Gcm), ['aes192-gcm', 'rsa-oaep-mgf1p']],
      ['CBC before GCM', method(aes256Cbc) + method(aes128Gcm), ['aes128-gcm', 'rsa-oaep-mgf1p', 'read']],
      [
        'the transport of XML Encryption 1.1',
        method(rsaOaep11) + method(aes256Gcm),
        ['aes256-gcm', 'rsa-oaep', 'read'],
      ],
      ['SHA-256 in it', method(rsaOaep11, digest + mask), ['aes256-gcm', 'rsa-oaep', 'read']],
      [
        'a transport that is never used, and a good one',
        method(rsa15) + method(rsaOaep),
        ['aes256-gcm', 'rsa-oaep-mgf1p', 'read'],
      ],
    ]),
  )('is followed: %s', async (_name, methods, expected) => {
    const heard = metadata({ keys: key(rsa.certificatePem, methods) });
    expect((await register(heard.xml)).status).toBe(201);
    expect(
      (await received(heard).catch((error: Error) => expected.concat(error.message))).slice(0, expected.length),
    ).toEqual(expected);
  });

  it('that has CBC only is rejected with the two remedies, and followed where the switch allows it', async () => {
    const methods = method(aes256Cbc) + method(aes128Cbc) + method(rsaOaep);
    const rejected = await register(metadata({ keys: key(rsa.certificatePem, methods) }).xml);
    expect(rejected.status).toBe(400);
    expect(JSON.stringify(fields(rejected))).toMatch(/allow_cbc.*encrypt_assertion.*AES-CBC only/);
    const allowed = metadata({ keys: key(rsa.certificatePem, methods) });
    expect((await register(allowed.xml, { allow_cbc: true })).status).toBe(201);
    expect(await received(allowed, true)).toEqual(['aes256-cbc', 'rsa-oaep-mgf1p', 'read']);
    const never = metadata({ keys: key(rsa.certificatePem, methods) });
    expect((await register(never.xml, { encrypt_assertion: 'never' })).status).toBe(201);
    expect(await received(never)).toEqual(['Success']);
  });

  it.each([
    ['Triple DES', method(tripleDes) + method(rsaOaep)],
    ['PKCS #1 v1.5', method(aes256Gcm) + method(rsa15)],
  ])('that has only %s is rejected, even with the switch', async (_name, methods) => {
    const rejected = await register(metadata({ keys: key(rsa.certificatePem, methods) }).xml, { allow_cbc: true });
    expect([rejected.status, JSON.stringify(fields(rejected))]).toEqual([
      400,
      expect.stringMatching(/encrypt_assertion.*no algorithm/),
    ]);
  });

  it('that has CBC only is registered in the console after its switch', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const form = await admin.get('/admin/applications/new/saml');
    const { xml } = metadata({ keys: key(rsa.certificatePem, method(aes256Cbc)) });
    expect(form.text).not.toContain('name="allow_cbc"');
    const typed = { name: `CBC ${count}`, metadata: xml };
    const again = await admin.submit(form, typed);
    expect(again.status).toBe(400);
    expect(textOf(again.text)).toContain('decrypts AES-CBC only');
    const done = await admin.follow(await admin.submit(again, { allow_cbc: 'on' }));
    expect(done.status).toBe(200);
    expect(textOf(done.text)).toContain(`CBC ${count}`);
  });
});

it('an uploaded file is read in the console, which says what it read, and has it again after a fault', async () => {
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const path = '/admin/applications/new/saml';
  const form = await admin.get(path);
  const send = (fields: Record<string, string>) => {
    const parts = Object.entries({ ...form.forms.at(-1)?.fields, ...fields }).map(([name, value]) => {
      const file = name === 'metadata_file' ? '; filename="sp.xml"\r\nContent-Type: text/xml' : '';
      return `--part\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
    });
    const headers = { 'content-type': 'multipart/form-data; boundary=part', origin: idp.issuer };
    return admin.request('POST', path, { headers, body: Buffer.from(`${parts.join('')}--part--\r\n`) });
  };
  const keys = key(rsa.certificatePem, '', 'signing') + key(rsa.certificatePem);
  const requested = (name: string, required: boolean) =>
    `<md:RequestedAttribute Name="${name}" isRequired="${required}"/>`;
  const services = `<md:AttributeConsumingService index="0"><md:ServiceName xml:lang="en">Wiki</md:ServiceName>${requested('urn:mail', true)}${requested('displayName', true)}${requested('urn:phone', false)}</md:AttributeConsumingService>`;
  const { entityId, acsUrl, ...document } = metadata({ keys });
  const xml = document.xml.replace('</md:SPSSODescriptor>', `${services}</md:SPSSODescriptor>`);
  const wrong = await send({ name: 'n'.repeat(256), metadata_file: xml });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('&lt;md:EntityDescriptor')]);
  const page = await admin.follow(await send({ metadata_file: xml }));
  const done = textOf(page.text);
  expect(done).toContain('Requested attributes urn:mail (required) displayName (required) urn:phone');
  // Of displayName, the form has a value.
  const unsent = 'requires the attribute urn:mail, which isn’t sent.';
  expect(done).toContain(unsent);
  const view = linksOf(page.text, page.url).find(({ label }) => label === 'View application');
  const attributes = await admin.get(`${view?.href}/claims`);
  expect(textOf(attributes.text)).toContain(unsent);
  const saved = await admin.follow(
    await admin.submit(attributes, { 'attributes.name': 'urn:mail', 'attributes.field': 'email' }),
  );
  expect(textOf(saved.text)).toContain('displayName, which isn’t sent.');
  expect(textOf(saved.text)).not.toContain(unsent);
  expect(done).toContain('Next: configure Wiki');
  expect(done).toContain(`Read from the metadata Entity ID ${entityId} ACS URLs ${acsUrl}`);
  expect(done).toMatch(/Key \(Signing\) expires .*20\d\d.* [0-9A-F]{2}(:[0-9A-F]{2}){31}.*Key \(Encryption\) expires/);
});

it('an application without a name has that of its metadata, which another one must not have', async () => {
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const send = async (xml: string) => admin.submit(await admin.get('/admin/applications/new/saml'), { metadata: xml });
  const organization = `<md:Organization><md:OrganizationName xml:lang="en">acme</md:OrganizationName>
    <md:OrganizationDisplayName xml:lang="en">Acme Wiki</md:OrganizationDisplayName>
    <md:OrganizationURL xml:lang="en">https://acme.example</md:OrganizationURL></md:Organization></md:EntityDescriptor>`;
  const named = () => metadata({}).xml.replace('</md:EntityDescriptor>', organization);
  expect(textOf((await admin.follow(await send(named()))).text)).toContain('Next: configure Acme Wiki');
  const taken = await send(named());
  expect([taken.status, textOf(taken.text)]).toEqual([400, expect.stringContaining('Name is already in use')]);
  const nothing = await admin.submit(await admin.get('/admin/applications/new/saml'), {});
  expect([nothing.status, textOf(nothing.text)]).toEqual([400, expect.stringContaining('Enter a name.')]);
});

describe('an encryption key on an elliptic curve', () => {
  it('is said to be of no use, and rejected where encryption is demanded', async () => {
    const heard = metadata({ keys: key(curve.certificatePem) + key(rsa.certificatePem, '', 'signing') });
    const read = await api.send('POST', '/saml-metadata', { metadata: heard.xml });
    expect(read.json().warnings).toEqual([expect.stringContaining('elliptic curve')]);
    const rejected = await register(heard.xml, { encrypt_assertion: 'always' });
    expect([rejected.status, JSON.stringify(fields(rejected))]).toEqual([
      400,
      expect.stringContaining('elliptic curve'),
    ]);
    const created = await register(heard.xml);
    expect(created.status).toBe(201);
    expect(await received(heard)).toEqual(['Success']);
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const page = await admin.get(`/admin/applications/${created.json().id}`);
    expect(textOf(page.text)).toContain('The only encryption key in the metadata is on an elliptic curve.');
  });
});

describe('an endpoint that cannot be used', () => {
  it.each([
    ['http', 'http://heard.example/acs', 'isn’t https'],
    ['empty', '', 'without an address'],
    ['of white space', ' \n ', 'without an address'],
    ['relative', '/acs', 'unusable address'],
    ['a script', 'javascript:alert(1)', 'unusable address'],
  ])('is left out with a warning: %s', async (_name, location, words) => {
    const good = `https://heard.example/good${count}`;
    const heard = metadata({ services: acs(location, 0) + acs(good, 1), slos: slo(location) });
    const read = await api.send('POST', '/saml-metadata', { metadata: heard.xml });
    expect(read.json()).toMatchObject({ acs: [{ url: good, index: 1 }], slo: [] });
    expect(read.json().warnings).toEqual([expect.stringContaining(words), expect.stringContaining(words)]);
    const created = await register(heard.xml);
    expect(created.status).toBe(201);
    expect(await received({ ...heard, acsUrl: good })).toEqual(['Success']);
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const page = textOf((await admin.get(`/admin/applications/${created.json().id}`)).text);
    expect(page).toContain('AssertionConsumerService');
    expect(page).toContain(words);
  });

  it('is the reason for the rejection where no other is left', async () => {
    const rejected = await register(metadata({ services: acs('http://heard.example/acs') }).xml);
    expect([rejected.status, JSON.stringify(fields(rejected))]).toEqual([400, expect.stringContaining('use https')]);
  });

  it('of an upstream is left out with a warning for administrators', async () => {
    count += 1;
    const id = `heard-${count}-${process.pid}`;
    const sso = (url: string) => `<md:SingleSignOnService Binding="${bindings.redirect}" Location="${url}"/>`;
    const xml =
      `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://${id}.example/metadata">` +
      `<md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${key(rsa.certificatePem, '', 'signing')}` +
      `${sso('http://insecure.example/sso')}${sso(`https://${id}.example/sso`)}</md:IDPSSODescriptor></md:EntityDescriptor>`;
    const created = await api.send('POST', '/connections', {
      id,
      kind: 'saml',
      name: 'Heard',
      metadata: xml,
      create_users: true,
    });
    expect([created.status, created.text]).toEqual([201, expect.anything()]);
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    expect(textOf((await admin.get('/admin')).text)).toContain('http://insecure.example/sso');
  });
});
