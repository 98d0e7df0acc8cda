// Hostile SAML input over HTTP gets a 4xx page with the request ID; the server signs nothing, stores nothing, and serves the
// next request.
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aLiveSp, answerIn, type LiveSp, left, post, redirect } from '../../saml/live.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

let idp: TestIdp;
let sp: LiveSp;
let browser: HttpClient;

beforeAll(async () => {
  idp = await startIdp();
  sp = await aLiveSp(idp);
});
afterAll(() => idp?.stop());
beforeEach(() => {
  browser = httpClient(idp.issuer);
});

async function expectRejection(send: () => Promise<Page>, ...statuses: number[]): Promise<void> {
  const before = await left(idp);
  const page = await send();
  expect(statuses.length > 0 ? statuses : [400]).toContain(page.status);
  expect(page.headers['content-type']).toContain('text/html');
  expect(page.text).toContain(String(page.headers['x-request-id']));
  expect(page.location).toBeUndefined();
  expect(page.forms).toEqual([]);
  expect(answerIn(page)).toBeUndefined();
  expect(page.text).not.toMatch(/<script>|SAMLResponse|at \w+ \(/);
  expect(await left(idp)).toEqual(before);
  expect((await browser.get('/healthz')).status).toBe(200);
}

const laughs = `<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(10)}"><!ENTITY c "${'&b;'.repeat(10)}">]>`;
const deflated = (octets: string | Uint8Array) => encodeURIComponent(deflateRawSync(octets).toString('base64'));
const redirected = (octets: Buffer) =>
  browser.get(`/saml/sso?SAMLRequest=${encodeURIComponent(octets.toString('base64'))}`);
const posted = (octets: Buffer) =>
  browser.post('/saml/sso', {
    form: { SAMLRequest: octets.toString('base64') },
    headers: { 'sec-fetch-site': 'cross-site' },
  });
const utf7 = (xml: string) =>
  Buffer.from(
    `<?xml version="1.0" encoding="UTF-7"?>${xml.replace(/[<>]/g, (one) => (one === '<' ? '+ADw-' : '+AD4-'))}`,
  );
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const extensions = (content: string) => `<samlp:Extensions>${content}</samlp:Extensions>`;

type Change = (xml: string) => string;
const markup: Record<string, Change> = {
  'a DOCTYPE': (xml) => `<!DOCTYPE x>${xml}`,
  'an external DTD': (xml) => `<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">${xml}`,
  'an external entity': (xml) =>
    `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${xml.replace(sp.entityId, '&e;')}`,
  'a parameter entity': (xml) => `<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:1/p"> %p;]>${xml}`,
  'billion laughs': (xml) => `${laughs}${xml.replace(sp.entityId, '&c;')}`,
  'a processing instruction': (xml) => `<?xml-stylesheet href="x"?>${xml}`,
  'a comment inside the Issuer': (xml) => xml.replace(sp.entityId, `${sp.entityId}<!-- -->.evil.example`),
  CDATA: (xml) => xml.replace(sp.entityId, `<![CDATA[${sp.entityId}]]>`),
  'an undeclared entity': (xml) => xml.replace(sp.entityId, '&nbsp;'),
  'a NUL': (xml) => xml.replace('<saml:Issuer>', '<saml:Issuer>\u0000'),
  'no XML': () => 'hello',
  HTML: () => '<html><body><br></body></html>',
  'another root': () => '<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"/>',
  'a Response': (xml) => xml.replaceAll('samlp:AuthnRequest', 'samlp:Response'),
  'a LogoutRequest': () => sp.logout('alice'),
  'several roots': (xml) => xml + xml,
  'text around the root': (xml) => `x${xml}x`,
  'two Issuers': (xml) => xml.replace('</saml:Issuer>', '</saml:Issuer><saml:Issuer>x</saml:Issuer>'),
  'SAML 1.1': (xml) => xml.replace('Version="2.0"', 'Version="1.1"'),
  'another namespace': (xml) => xml.replaceAll('SAML:2.0:protocol', 'SAML:2.0:protoco1'),
  'too many elements': (xml) => xml.replace('</samlp:A', `${extensions('<a xmlns="urn:a"/>'.repeat(5000))}</samlp:A`),
  'too deep a tree': (xml) =>
    xml.replace('</samlp:A', `${extensions(`${'<a xmlns="urn:a">'.repeat(90)}${'</a>'.repeat(90)}`)}</samlp:A`),
  'too long a text': (xml) => xml.replace(sp.entityId, 'x'.repeat(150_000)),
};

describe.each(Object.keys(markup))('a message with %s', (name) => {
  const text = () => markup[name]?.(sp.request()) ?? '';
  it('is rejected by POST', () => expectRejection(() => post(browser, text()), 400, 413));
  it('is rejected by redirect', () => expectRejection(() => redirect(browser, text()), 400, 413));
  it('is rejected when it is signed, by redirect', () =>
    expectRejection(() => redirect(browser, text(), { key: sp.credential }), 400, 413));
});

const wire: Record<string, () => Promise<Page>> = {
  'no message': () => browser.get('/saml/sso'),
  'an empty one': () => browser.get('/saml/sso?SAMLRequest='),
  'a deflate bomb': () => browser.get(`/saml/sso?SAMLRequest=${deflated(Buffer.alloc(15 * 1024 * 1024))}`),
  'bad base64': () => browser.get('/saml/sso?SAMLRequest=ab!d'),
  'bad deflate': () => browser.get('/saml/sso?SAMLRequest=YWJjZGVm'),
  'bytes after the stream': () =>
    browser.get(
      `/saml/sso?SAMLRequest=${encodeURIComponent(Buffer.concat([deflateRawSync(sp.request()), Buffer.from('x')]).toString('base64'))}`,
    ),
  'bad percent-encoding': () => browser.get('/saml/sso?SAMLRequest=%'),
  'two messages': () => browser.get(`/saml/sso?SAMLRequest=${deflated(sp.request())}&SAMLRequest=${deflated('<a/>')}`),
  'a second message in disguise': () => browser.get(`/saml/sso?SAMLRequest=${deflated(sp.request())}&SAML%52equest=x`),
  'gzip instead of deflate': () => redirected(gzipSync(sp.request())),
  'deflate with the header of zlib': () => redirected(deflateSync(sp.request())),
  'deflate in deflate': () => redirected(deflateRawSync(deflateRawSync(sp.request()))),
  'a message that is not compressed': () => redirected(Buffer.from(sp.request())),
  'a compressed message by POST': () => posted(deflateRawSync(sp.request())),
  // UTF-16 itself is read (test/saml/spellings.test.ts); a document type in it is found.
  'a document type in UTF-16': () => posted(Buffer.from(`\ufeff<!DOCTYPE x>${sp.request()}`, 'utf16le')),
  'UTF-16 without a mark or a declaration': () => posted(Buffer.from(sp.request(), 'utf16le').subarray(1)),
  'UTF-7': () => posted(utf7(`<!DOCTYPE x>${sp.request()}`)),
  'an overlong form of a bracket': () => posted(Buffer.from([0xc0, 0xbc, ...Buffer.from(sp.request().slice(1))])),
  'surrogates in UTF-8': () => posted(Buffer.from([...Buffer.from(sp.request()), 0xed, 0xa0, 0x80])),
  'a byte order mark in the middle': () => posted(Buffer.from(`\ufeff\ufeff${sp.request()}`)),
  'a form in parts': () =>
    browser.post('/saml/sso', {
      body: 'SAMLRequest=x',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    }),
  'a form in another character set': () =>
    browser.post('/saml/sso', {
      body: 'SAMLRequest=x',
      headers: { 'content-type': `${FORM['content-type']}; charset=utf-16` },
    }),
  'the message in the address of a POST': () =>
    browser.post(`/saml/sso?SAMLRequest=${deflated(sp.request())}`, { body: 'RelayState=x', headers: FORM }),
  'the parameter as a list': () => browser.get(`/saml/sso?SAMLRequest[]=${deflated(sp.request())}`),
  'text that is not UTF-8': () => browser.get(`/saml/sso?SAMLRequest=${deflated(Buffer.from([0x3c, 0xff, 0xfe]))}`),
  'half a signature': () => browser.get(`/saml/sso?SAMLRequest=${deflated(sp.request())}&SigAlg=x`),
  'a body over 256 KB': () => post(browser, sp.request(), 'x'.repeat(260 * 1024)),
  'a body of separators': () => browser.post('/saml/sso', { body: '&'.repeat(200_000), headers: FORM }),
  'a body of another type': () => browser.post('/saml/sso', { json: { SAMLRequest: 'x' } }),
  'a compressed body': () =>
    browser.post('/saml/sso', { body: 'SAMLRequest=x', headers: { ...FORM, 'content-encoding': 'gzip' } }),
  'a POST as SimpleSign': () =>
    browser.post('/saml/sso', { body: 'SAMLRequest=YQ==&SigAlg=x&Signature=YQ==', headers: FORM }),
};

describe('a malformed transport encoding', () => {
  it.each(Object.keys(wire))('is rejected: %s', (name) =>
    expectRejection(wire[name] as () => Promise<Page>, 400, 413, 415),
  );
});
