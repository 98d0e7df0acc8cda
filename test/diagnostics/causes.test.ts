// Faulty AuthnRequests: each has its own check with its own words, and a fix only where the same request passes after it.
import { deflateRawSync, gzipSync, inflateRawSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { algorithms } from '../../src/protocols/saml/xml/names.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { aLiveSp, answerIn, type LiveSp, post, redirect } from '../saml/live.ts';
import { aCredential, postBody, signQuery } from '../saml/support.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { some } from '../support/long-run.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdp } from '../support/shared-idp.ts';

let idp: TestIdp;
let admin: HttpClient;
beforeAll(async () => {
  idp = await sharedIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});

const CODE = /rror reference:? ([2-9A-Z]{4}-[2-9A-Z]{4})\b/;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const browser = () => httpClient(idp.issuer);
const codeOf = (page: Page) => CODE.exec(answerIn(page) ?? textOf(page.text))?.[1] ?? 'no code';
const get = (query: string) => browser().get(`/saml/sso?${query}`);
const posted = (sp: LiveSp, xml: string) => post(browser(), sp.sign(xml));
const value = (octets: Buffer | string) => `SAMLRequest=${encodeURIComponent(Buffer.from(octets).toString('base64'))}`;
const deflated = (xml: string) => value(deflateRawSync(xml));
const edit = (xml: string, from: RegExp | string, to: string) => {
  const edited = xml.replace(from, to);
  if (edited === xml) throw new Error('the edit changed nothing');
  return edited;
};
const context = (content: string, comparison = 'exact') =>
  `<samlp:RequestedAuthnContext Comparison="${comparison}">${content}</samlp:RequestedAuthnContext>`;
const classRef = (name: string) => `<saml:AuthnContextClassRef>${name}</saml:AuthnContextClassRef>`;
const policy = (attributes: string) => `<samlp:NameIDPolicy ${attributes}/>`;
const EMAIL = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

type Send = (sp: LiveSp) => Promise<Page>;
type Settings = Parameters<typeof aLiveSp>[1];

/** Name, request, failed check, words of the page, and the button of the fix. */
const faults: [string, Send, string, (string | RegExp)[], string?, Settings?][] = [
  ['no message', () => get('RelayState=x'), 'parameters', ['one SAMLRequest']],
  ['wrong percent-encoding', () => get('SAMLRequest=%zz'), 'parameters', ['wrong percent-encoding']],
  [
    'two messages',
    (sp) => get(`${deflated(sp.request())}&${deflated(sp.request())}`),
    'parameters',
    ['each parameter once'],
  ],
  ['base64url', () => get('SAMLRequest=ab-_'), 'base64', ['base64url']],
  [
    'an index that no ACS has',
    (sp) => post(browser(), edit(sp.request(), ' Version=', ' AssertionConsumerServiceIndex="7" Version=')),
    'acs',
    ['index 7', /index \d+: https?:/, 'the index must be registered'],
  ],
  ['XML that is not compressed', (sp) => get(value(sp.request())), 'compression', ['XML that is not compressed']],
  ['gzip', (sp) => get(value(gzipSync(sp.request()))), 'compression', ['gzip']],
  ['a DOCTYPE', (sp) => post(browser(), `<!DOCTYPE x>${sp.request()}`), 'xml', ['without DOCTYPE']],
  [
    'Shift_JIS',
    (sp) => post(browser(), `<?xml version="1.0" encoding="Shift_JIS"?>${sp.request()}`),
    'charset',
    ['Shift_JIS'],
  ],
  [
    'a wrong attribute',
    (sp) => post(browser(), edit(sp.request(), 'IssueInstant="', 'IssueInstant="x')),
    'schema',
    ['IssueInstant'],
  ],
  [
    'a LogoutRequest',
    (sp) => post(browser(), sp.logout('alice')),
    'kind',
    ['LogoutRequest in SAMLRequest', 'AuthnRequest in SAMLRequest'],
  ],
  [
    'SAML 1.1',
    (sp) => post(browser(), edit(sp.request(), 'Version="2.0"', 'Version="1.1"')),
    'version',
    ['1.1', '2.0'],
  ],
  [
    'no signature',
    (sp) => post(browser(), sp.request()),
    'signed',
    ['no signature'],
    undefined,
    { require_signed_requests: true },
  ],
  [
    'no certificate',
    (sp) => posted(sp, sp.request()),
    'signing_key',
    ['a signature'],
    'Add certificate',
    { certificates: [] },
  ],
  [
    'a signature inside a redirect',
    (sp) => redirect(browser(), sp.sign(sp.request())),
    'signature_place',
    ['inside the message', 'HTTP-Redirect'],
  ],
  [
    'SimpleSign',
    (sp) =>
      browser().post('/saml/sso', {
        body: signQuery(postBody(sp.request()), { key: sp.credential.privateKey }),
        headers: FORM,
      }),
    'signature_place',
    ['SimpleSign'],
  ],
  ['SigAlg alone', (sp) => get(`${deflated(sp.request())}&SigAlg=x`), 'signature_form', ['SigAlg alone']],
  [
    'another transform',
    (sp) => post(browser(), sp.sign(sp.request(), { transforms: [algorithms.enveloped] })),
    'canonicalization',
    ['exclusive canonicalization'],
  ],
  [
    'a reference elsewhere',
    (sp) => post(browser(), edit(sp.sign(sp.request()), /URI="#[^"]+"/, 'URI="#_other"')),
    'reference',
    ['Reference to #_other'],
  ],
  [
    'SHA-1',
    (sp) => redirect(browser(), sp.request(), { key: sp.credential, algorithm: algorithms.rsaSha1, hash: 'sha1' }),
    'algorithm',
    ['rsa-sha1'],
  ],
  [
    'a digest with SHA-1',
    (sp) => post(browser(), sp.sign(sp.request(), { digestAlgorithm: algorithms.sha1 })),
    'digest_algorithm',
    ['#sha1'],
  ],
  [
    'another key by redirect',
    (sp) => redirect(browser(), sp.request(), { key: aCredential() }),
    'signature',
    ['in the query that no registered certificate verifies'],
  ],
  [
    'a signature without RelayState',
    (sp) =>
      get(
        edit(signQuery(deflated(sp.request()), { key: sp.credential.privateKey }), '&SigAlg', '&RelayState=x&SigAlg'),
      ),
    'signature',
    ['a signature without RelayState'],
  ],
  [
    'a change after the signature',
    (sp) => post(browser(), edit(sp.sign(sp.request()), 'Version="2.0"', 'Version="2.0" ForceAuthn="true"')),
    'digest',
    ['which was signed'],
  ],
  [
    'another Destination',
    (sp) => posted(sp, sp.request({ destination: 'https://other.example/sso' })),
    'destination',
    ['https://other.example/sso'],
  ],
  ['an old message', (sp) => posted(sp, sp.request({ issueInstant: '2020-01-01T00:00:00Z' })), 'time', ['2020-01-01']],
  [
    'another ACS URL',
    (sp) => posted(sp, sp.request({ attributes: ` AssertionConsumerServiceURL="${sp.acs}/2"` })),
    'acs',
    [/acs\/2/],
    'Add ACS URL',
  ],
  [
    'an ACS URL without https, which cannot be registered',
    (sp) => posted(sp, sp.request({ attributes: ' AssertionConsumerServiceURL="http://live.example/acs"' })),
    'acs',
    ['http://live.example/acs'],
  ],
  [
    'the artifact binding',
    (sp) =>
      posted(sp, sp.request({ attributes: ' ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact"' })),
    'binding',
    ['HTTP-Artifact', 'HTTP-POST'],
  ],
  [
    'a contradiction',
    (sp) => posted(sp, sp.request({ attributes: ' ForceAuthn="1" IsPassive="1"' })),
    'passive',
    ['at most one of them'],
  ],
  [
    'another qualifier',
    (sp) => posted(sp, sp.request({ body: policy('SPNameQualifier="urn:other"') })),
    'qualifier',
    ['urn:other'],
  ],
  [
    'another NameID format',
    (sp) => posted(sp, sp.request({ body: policy(`Format="${EMAIL}"`) })),
    'name_id',
    [EMAIL, 'persistent'],
    'Use emailAddress identifiers',
    { name_id_format: 'persistent' },
  ],
  [
    'a NameID format that nobody has',
    (sp) => posted(sp, sp.request({ body: policy('Format="urn:example:badge"') })),
    'name_id',
    ['urn:example:badge'],
  ],
  [
    'an unknown context',
    (sp) => posted(sp, sp.request({ body: context(classRef('urn:example:kerberos'), 'minimum') })),
    'context',
    ['minimum: urn:example:kerberos', 'PasswordProtectedTransport'],
    'Ignore the requested kind of sign-in',
  ],
  [
    'a context by declaration',
    (sp) =>
      posted(sp, sp.request({ body: context('<saml:AuthnContextDeclRef>urn:example:d</saml:AuthnContextDeclRef>') })),
    'context_declaration',
    ['urn:example:d', 'AuthnContextClassRef'],
  ],
];

const logout = (sp: LiveSp, xml: string) => redirect(browser(), xml, { key: sp.credential, path: '/saml/slo' });
const logoutFaults: [string, Send, string, (string | RegExp)[], Settings?][] = [
  ['no message', () => browser().get('/saml/slo'), 'parameters', ['one SAMLRequest']],
  [
    'a message compressed for POST',
    (sp) =>
      browser().post('/saml/slo', {
        form: { SAMLRequest: deflateRawSync(sp.logout('alice')).toString('base64') },
      }),
    'compression',
    ['compressed with DEFLATE', 'not compressed'],
  ],
  ['an AuthnRequest', (sp) => logout(sp, sp.request()), 'kind', ['AuthnRequest in SAMLRequest']],
  ['an unknown sender', (sp) => logout(sp, sp.logout('alice', { issuer: `${sp.entityId}/` })), 'client', []],
  ['no signature', (sp) => redirect(browser(), sp.logout('alice'), { path: '/saml/slo' }), 'signed', ['no signature']],
  ['no certificate', (sp) => logout(sp, sp.logout('alice')), 'signing_key', ['a signature'], { certificates: [] }],
  [
    'SHA-1',
    (sp) =>
      redirect(browser(), sp.logout('alice'), {
        key: sp.credential,
        algorithm: algorithms.rsaSha1,
        hash: 'sha1',
        path: '/saml/slo',
      }),
    'algorithm',
    ['rsa-sha1'],
  ],
  [
    'another key',
    (sp) => redirect(browser(), sp.logout('alice'), { key: aCredential(), path: '/saml/slo' }),
    'signature',
    ['in the query that no registered certificate verifies'],
  ],
  [
    'another key by POST, whose certificate is in the message',
    (sp) => {
      const { privateKey: key, certificatePem } = aCredential();
      return post(browser(), sp.sign(sp.logout('alice'), { key, certificatePem }), undefined, '/saml/slo');
    },
    'certificate',
    [/[0-9A-F]{2}:[0-9A-F]{2}/],
  ],
  [
    'a signature without RelayState',
    async (sp) => {
      const query = `SAMLRequest=${encodeURIComponent(deflateRawSync(sp.logout('alice')).toString('base64'))}`;
      return browser().get(`/saml/slo?${signQuery(query, { key: sp.credential.privateKey })}&RelayState=x`);
    },
    'signature',
    ['a signature without RelayState'],
  ],
  [
    'another Destination',
    (sp) => logout(sp, sp.logout('alice', { destination: `${idp.issuer}/saml/sso` })),
    'destination',
    [/saml\/sso/, /saml\/slo/],
  ],
  [
    'an old message',
    (sp) => logout(sp, sp.logout('alice', { issueInstant: '2020-01-01T00:00:00Z' })),
    'time',
    ['2020'],
  ],
  ['no session', (sp) => logout(sp, sp.logout('alice')), 'session', []],
];

describe('a rejected LogoutRequest', () => {
  it.each(some(4, logoutFaults))('names its cause: %s', async (_name, send, rule, words, settings = {}) => {
    const sp = await aLiveSp(idp, settings);
    const client = browser();
    const page = await client.follow(await send(sp), (address) => !address.startsWith(idp.issuer));
    const code = page.location ? codeOfAddress(page.location) : codeOf(page);
    expect((await idp.services.rejections.find(code))?.rules.find(({ state }) => state === 'failed')?.rule).toBe(rule);
    const failed = textOf(
      /<li class="failed">([\s\S]*?)<\/li>/.exec((await admin.get(`/admin/rejections/${code}`)).text)?.[1] ?? '',
    );
    for (const word of words) expect(failed).toMatch(word);
    expect(failed).not.toMatch(/Received nothing Registered nothing/);
  });
});

/** In the LogoutResponse of a redirect. */
function codeOfAddress(address: string): string {
  const message = new URL(address).searchParams.get('SAMLResponse') ?? '';
  return CODE.exec(inflateRawSync(Buffer.from(message, 'base64')).toString())?.[1] ?? 'no code';
}

describe('a rejected AuthnRequest', () => {
  it.each(some(12, faults))('names its cause: %s', async (_name, send, rule, words, button, settings = {}) => {
    const sp = await aLiveSp(idp, settings);
    const code = codeOf(await send(sp));
    const found = await idp.services.rejections.find(code);
    expect(found?.rules.find(({ state }) => state === 'failed')?.rule).toBe(rule);
    const page = await admin.get(`/admin/rejections/${code}`);
    const failed = textOf(/<li class="failed">([\s\S]*?)<\/li>/.exec(page.text)?.[1] ?? '');
    for (const word of words) expect(failed).toMatch(word);
    expect(failed).not.toMatch(/Received nothing Registered nothing/);
    if (button === undefined) return expect(page.text).not.toMatch(/name="fix"/);
    await admin.follow(await admin.submit(page, {}, { button }));
    expect([303, 200]).toContain((await send(sp)).status);
    expect(await idp.services.rejections.find(codeOf(await send(sp)))).toBeUndefined();
  });

  it('has words of its own for each check', async () => {
    const rules = [...new Set(faults.map(([, , rule]) => rule))];
    expect(rules.length).toBeGreaterThan(25);
  });
});
