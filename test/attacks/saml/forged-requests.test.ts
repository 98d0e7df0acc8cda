// Forged and modified SAML requests over HTTP: the server signs nothing, stores nothing and serves no sign-in page.
import { createHmac } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { algorithms } from '../../../src/protocols/saml/xml/names.ts';
import { aLiveSp, answerIn, type LiveSp, left, post, redirect } from '../../saml/live.ts';
import { aCredential, signQuery } from '../../saml/support.ts';
import { arrangements, partsOf } from '../../saml/wrapping.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

let idp: TestIdp;
/** A service provider whose requests must be signed. */
let sp: LiveSp;
let other: LiveSp;
let browser: HttpClient;
const unknownKey = aCredential();
const evilAcs = 'https://evil.example/acs';

beforeAll(async () => {
  idp = await startIdp();
  sp = await aLiveSp(idp, { require_signed_requests: true });
  other = await aLiveSp(idp);
  browser = httpClient(idp.issuer);
});
afterAll(() => idp?.stop());

async function expectRejection(send: () => Promise<Page>): Promise<void> {
  const before = await left(idp);
  const page = await send();
  expect([400, 413]).toContain(page.status);
  expect(page.text).toContain(String(page.headers['x-request-id']));
  expect([page.location, page.forms, answerIn(page)]).toEqual([undefined, [], undefined]);
  expect(page.text).not.toMatch(/evil\.example|SAMLResponse|name="username"/);
  expect(await left(idp)).toEqual(before);
}

const wrapped = (name: string) => {
  const bare = sp.request();
  const evil = (id: string, inside = '') =>
    sp.request({ id, body: inside, attributes: ` AssertionConsumerServiceURL="${evilAcs}"` });
  return arrangements[name]?.(partsOf(bare, sp.sign(bare), evil)) ?? '';
};

describe('a request with a wrapped signature', () => {
  it('is accepted without the wrapping', async () => {
    expect((await post(browser, sp.sign(sp.request()))).status).toBe(303);
  });

  it.each(Object.keys(arrangements))('is rejected: %s', (name) => expectRejection(() => post(browser, wrapped(name))));
});

const changed = (pattern: RegExp | string, replacement: string, xml = sp.sign(sp.request())) => {
  const result = xml.replace(pattern, replacement);
  if (result === xml) throw new Error('nothing was changed');
  return result;
};
const hmac = () => {
  const uri = 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256';
  const secret = sp.credential.publicKey.export({ format: 'pem', type: 'spki' });
  return { uri, mac: createHmac('sha256', secret).update('x').digest('base64') };
};
const sha1 = { signatureAlgorithm: algorithms.rsaSha1, digestAlgorithm: algorithms.sha1 };

const byPost: Record<string, () => string> = {
  'no signature': () => sp.request(),
  'the key of an unknown issuer': () => sp.sign(sp.request(), { key: unknownKey.privateKey }),
  'the key and the certificate of an unknown issuer': () =>
    sp.sign(sp.request(), { key: unknownKey.privateKey, certificatePem: unknownKey.certificatePem }),
  'the key of another service provider': () => sp.sign(sp.request(), { key: other.credential.privateKey }),
  'the signature of another request': () => sp.sign(sp.request()).replace(/ ID="[^"]*"/, ' ID="_another"'),
  'HMAC with the public key': () =>
    changed(algorithms.rsaSha256, hmac().uri, changed(/(<ds:SignatureValue>)[^<]*/, `$1${hmac().mac}`)),
  'SHA-1': () => sp.sign(sp.request(), sha1),
  'a SHA-1 digest': () => sp.sign(sp.request(), { digestAlgorithm: algorithms.sha1 }),
  'a changed attribute': () => changed(' Version="2.0"', ' Version="2.0" ForceAuthn="true"'),
  'an added element': () => changed('</samlp:AuthnRequest>', '<samlp:NameIDPolicy/></samlp:AuthnRequest>'),
  'a removed signature': () => changed(/<ds:Signature.*<\/ds:Signature>/s, ''),
  'two signatures': () => changed(/(<ds:Signature .*<\/ds:Signature>)/s, '$1$1'),
  'an empty signature': () => changed(/(<ds:SignatureValue>)[^<]*/, '$1'),
  'a reference elsewhere': () => changed(/URI="#[^"]*"/, 'URI=""'),
  'a reference to everything': () => changed(/URI="#[^"]*"/, 'URI="#xpointer(/)"'),
  'an ID under another name as well': () => changed('<samlp:AuthnRequest ', '<samlp:AuthnRequest xml:id="_x" '),
  'a shortened HMAC': () =>
    changed(
      `"${algorithms.rsaSha256}"/>`,
      `"${hmac().uri}"><ds:HMACOutputLength>8</ds:HMACOutputLength></ds:SignatureMethod>`,
    ),
  XSLT: () => changed(algorithms.enveloped, 'http://www.w3.org/TR/1999/REC-xslt-19991116'),
};

describe.each(Object.keys(byPost))('a POST with %s', (name) => {
  it('is rejected', () => expectRejection(() => post(browser, byPost[name]?.() ?? '')));
});

const deflated = (xml: string) => encodeURIComponent(deflateRawSync(xml).toString('base64'));
const signedQuery = (xml = sp.request()) =>
  signQuery(`SAMLRequest=${deflated(xml)}`, { key: sp.credential.privateKey });

const byRedirect: Record<string, () => Promise<Page>> = {
  'no signature': () => redirect(browser, sp.request()),
  'the key of an unknown issuer': () => redirect(browser, sp.request(), { key: unknownKey }),
  'SHA-1': () => redirect(browser, sp.request(), { key: sp.credential, algorithm: algorithms.rsaSha1, hash: 'sha1' }),
  HMAC: () =>
    browser.get(
      `/saml/sso?SAMLRequest=${deflated(sp.request())}&SigAlg=${encodeURIComponent(hmac().uri)}&Signature=${encodeURIComponent(hmac().mac)}`,
    ),
  'another algorithm than was signed': () =>
    browser.get(
      `/saml/sso?${signedQuery().replace(/SigAlg=[^&]*/, `SigAlg=${encodeURIComponent(algorithms.rsaSha512)}`)}`,
    ),
  'an algorithm that was encoded twice': () =>
    browser.get(
      `/saml/sso?${signedQuery().replace(/SigAlg=([^&]*)/, (_all, uri) => `SigAlg=${encodeURIComponent(uri)}`)}`,
    ),
  'another RelayState than was signed': () => browser.get(`/saml/sso?${signedQuery()}&RelayState=evil`),
  'another message than was signed': () =>
    browser.get(`/saml/sso?${signedQuery().replace(/SAMLRequest=[^&]*/, `SAMLRequest=${deflated(sp.request())}`)}`),
  'only a signature inside': () => redirect(browser, sp.sign(sp.request())),
  'the signature without its algorithm': () => browser.get(`/saml/sso?${signedQuery().replace(/&SigAlg=[^&]*/, '')}`),
};

describe.each(Object.keys(byRedirect))('a redirect with %s', (name) => {
  it('is rejected', () => expectRejection(byRedirect[name] as () => Promise<Page>));
});

const acsUrl = (url: string) => ` AssertionConsumerServiceURL="${url}"`;
const minutes = (count: number) => new Date(Date.now() + count * 60_000).toISOString();
const other5 = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';

const forgedRequests: Record<string, () => string> = {
  'an unknown issuer': () => other.request({ issuer: 'https://unknown.example/metadata' }),
  'an issuer with a blank': () => other.request({ issuer: `${other.entityId} x` }),
  'an issuer in other letters': () => other.request({ issuer: other.entityId.toUpperCase() }),
  'an issuer that is no entity': () => other.request().replace('<saml:Issuer>', `<saml:Issuer Format="${other5}">`),
  'a foreign address': () => other.request({ attributes: acsUrl(evilAcs) }),
  'a lookalike address': () => other.request({ attributes: acsUrl(other.acs.replace('e', '\u0435')) }),
  'an address with a port': () => other.request({ attributes: acsUrl(other.acs.replace('.example', '.example:8443')) }),
  'an address below the registered one': () => other.request({ attributes: acsUrl(`${other.acs}/../evil`) }),
  'an address with a query': () => other.request({ attributes: acsUrl(`${other.acs}?x`) }),
  'an address with credentials': () => other.request({ attributes: acsUrl(other.acs.replace('//', '//evil@')) }),
  'an address with a dot after the host': () =>
    other.request({ attributes: acsUrl(other.acs.replace('.example', '.example.')) }),
  'an address with backslashes': () => other.request({ attributes: acsUrl(other.acs.replaceAll('/', '\\')) }),
  'an address with a tab inside': () => other.request({ attributes: acsUrl(other.acs.replace('/acs', '/a&#9;cs')) }),
  'an address with a fragment': () => other.request({ attributes: acsUrl(`${other.acs}#@evil.example`) }),
  'an address spelt in percent': () => other.request({ attributes: acsUrl(other.acs.replace('/acs', '/%61cs')) }),
  'the address of another service provider': () => other.request({ attributes: acsUrl(sp.acs) }),
  'script for an address': () => other.request({ attributes: acsUrl('javascript:alert(1)') }),
  'an index with a sign': () => other.request({ attributes: ' AssertionConsumerServiceIndex="-0"' }),
  'an unknown index': () => other.request({ attributes: ' AssertionConsumerServiceIndex="7"' }),
  'an address and the index of another': () =>
    other.request({ attributes: `${acsUrl(other.acs)} AssertionConsumerServiceIndex="1"` }),
  'another destination': () => other.request({ destination: 'https://evil.example/saml/sso' }),
  'the destination of sign-out': () => other.request({ destination: `${idp.issuer}/saml/slo` }),
  'a time in the past': () => other.request({ issueInstant: minutes(-7) }),
  'a time in the future': () => other.request({ issueInstant: minutes(7) }),
  'an impossible time': () => other.request({ issueInstant: '2026-02-31T10:00:00Z' }),
};

describe.each(Object.keys(forgedRequests))('a request with %s', (name) => {
  it('is rejected by POST and by redirect', async () => {
    await expectRejection(() => post(browser, forgedRequests[name]?.() ?? ''));
    await expectRejection(() => redirect(browser, forgedRequests[name]?.() ?? ''));
  });
});

it.each([
  ['with the port that it has anyway', ['.example', '.example:443']],
  ['in capitals', ['live', 'LIVE']],
  ['in full-width letters', ['live', 'ｌive']],
  ['with a soft hyphen', ['live', 'li\u00adve']],
] as const)('an address %s is the registered one, which alone gets the answer', async (_how, [from, to]) => {
  const attributes = `${acsUrl(other.acs.replace(from, to))} IsPassive="true"`;
  const client = httpClient(idp.issuer);
  const page = await client.follow(await post(client, other.request({ attributes })));
  expect(page.forms.map(({ action }) => action)).toEqual([other.acs]);
});

describe('a signed request without a destination', () => {
  it('is rejected, because it could have been meant for another IdP', () =>
    expectRejection(() => post(browser, sp.sign(sp.request({ destination: null })))));
});
