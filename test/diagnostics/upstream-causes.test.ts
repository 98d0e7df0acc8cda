// Faulty answers of upstream identity providers: each has its own check with its own words among the rejected requests.
import { beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { anUpstream, type Connected, openSignIn, pressConnection } from '../federation/support.ts';
import { redirectUri } from '../oidc/support.ts';
import { aCredential } from '../saml/support.ts';
import { aClient } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import type { OidcQuirks } from '../support/upstream/oidc-upstream.ts';
import {
  type AnswerParts,
  answerXml,
  aSamlUpstream,
  beginAt,
  postAnswer,
  type SamlUpstream,
} from '../support/upstream/saml-upstream.ts';

let idp: TestIdp;
let admin: HttpClient;
let corp: Connected;
let school: SamlUpstream;
let clientId: string;
beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  corp = await anUpstream(idp);
  school = await aSamlUpstream(idp);
  ({ clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] }));
  return () => corp.remove();
});

/** The failed check, and its words in the console. */
async function causeOf(page: Page): Promise<{ rule: string | undefined; words: string }> {
  const code = /rror reference:? ([2-9A-Z]{4}-[2-9A-Z]{4})\b/.exec(textOf(page.text))?.[1] ?? 'no code';
  const found = await idp.services.rejections.find(code);
  const details = await admin.get(`/admin/rejections/${code}`);
  const failed = /<li class="failed">([\s\S]*?)<\/li>/.exec(details.text)?.[1] ?? '';
  return { rule: found?.rules.find(({ state }) => state === 'failed')?.rule, words: textOf(failed) };
}

const now = () => Math.floor(Date.now() / 1000);
const ofOidc: [string, OidcQuirks, string, (string | RegExp)[]][] = [
  ['another issuer', { idToken: { iss: 'https://evil.example' } }, 'issuer', ['https://evil.example']],
  ['no issuer', { idToken: { iss: undefined } }, 'claim', ['iss: nothing']],
  ['another audience', { idToken: { aud: 'other-client' } }, 'audience', ['other-client', 'gatehouse']],
  ['another nonce', { idToken: { nonce: 'other' } }, 'nonce', ['other']],
  ['no nonce', { idToken: { nonce: undefined } }, 'nonce', ['nothing']],
  ['an expired token', { idToken: { exp: now() - 3600 } }, 'time', [/clocks differ/]],
  ['a token of an earlier request', { idToken: { iat: now() - 3600 } }, 'time', [/clocks differ/]],
  ['no end', { idToken: { exp: undefined } }, 'claim', ['exp: nothing']],
  ['an end that is no number', { idToken: { exp: 'tomorrow' } }, 'claim', ['exp: tomorrow']],
  ['no subject', { idToken: { sub: undefined } }, 'subject', ['identifies the user']],
  ['another key', { signature: 'other-key' }, 'token_signature', ['verifies the signature of the ID token']],
  ['an unknown key', { signature: 'unknown-kid' }, 'token_key', ['The key of the ID token is published']],
  ['no signature', { signature: 'none' }, 'algorithm', ['Received none']],
  ['an HMAC with the public key', { signature: 'hmac' }, 'algorithm', ['Received HS256']],
  ['UserInfo about another user', { userinfo: { sub: 'other' } }, 'userinfo', ['Received other']],
  ['another issuer beside the code', { answer: { iss: 'https://evil.example' } }, 'issuer', ['https://evil.example']],
  ['an error', { answer: { error: 'invalid_scope', code: undefined } }, 'answer', ['invalid_scope']],
  ['no code', { answer: { code: undefined } }, 'parameters', ['Registered code']],
  ['no state', { answer: { state: undefined } }, 'replay', ['Registered state']],
  ['a token endpoint that fails', { tokenStatus: 500 }, 'answer', ['500']],
];

const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
const ofSaml: [string, AnswerParts, string, (string | RegExp)[]][] = [
  [
    'another issuer in the assertion',
    { issuer: 'https://evil.example', sign: 'response' },
    'issuer',
    ['https://evil.example'],
  ],
  [
    'another audience',
    { audience: 'https://other.example' },
    'audience',
    ['https://other.example', '/saml/sp/metadata'],
  ],
  ['no audience', { audience: null }, 'audience', ['nothing']],
  ['another recipient', { recipient: 'https://other.example/acs' }, 'recipient', ['https://other.example/acs']],
  ['another Destination', { destination: 'https://other.example/acs' }, 'destination', ['https://other.example/acs']],
  ['another request', { inResponseTo: '_other' }, 'replay', ['_other', 'belongs to an open sign-in']],
  ['an old assertion', { issueInstant: '2020-01-01T00:00:00Z' }, 'time', ['2020-01-01']],
  ['an assertion that has ended', { notOnOrAfter: at(-3600) }, 'time', [at(-3600).slice(0, 10)]],
  ['an assertion that begins later', { notBefore: at(3600) }, 'time', [/clocks differ/]],
  ['a confirmation that has ended', { confirmationEnds: at(-3600) }, 'time', [/clocks differ/]],
  ['another confirmation', { method: 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key' }, 'confirmation', ['bearer']],
  [
    'an unknown condition',
    { conditions: '<saml:OneTimeUse/><saml:ProxyRestriction Count="0"/>' },
    'conditions',
    ['ProxyRestriction'],
  ],
  ['no statement', { authnStatement: '' }, 'statement', []],
  ['no NameID', { nameId: null }, 'subject', []],
  ['no signature', { sign: 'none' }, 'signed', ['no signature']],
  [
    'another key',
    { signing: (({ privateKey: key, certificatePem }) => ({ key, certificatePem }))(aCredential()) },
    'signature',
    [/Registered [0-9A-F]{2}:[0-9A-F]{2}/, 'The identity provider signs with another key'],
  ],
  ['a rejection', { status: 'urn:oasis:names:tc:SAML:2.0:status:Requester' }, 'answer', ['Requester']],
];

describe('an answer of an OpenID Connect upstream', () => {
  it.each(ofOidc)('names its cause: %s', async (_name, quirks, rule, words) => {
    corp.upstream.quirks = quirks;
    const browser = httpClient(idp.issuer);
    const form = await openSignIn(idp, { clientId, browser });
    const cause = await causeOf(await pressConnection(browser, form, corp.connection));
    expect(cause.rule).toBe(rule);
    for (const word of words) expect(cause.words).toMatch(word);
    expect(cause.words).not.toContain('The application');
  });

  it.each([
    ['a parameter twice', 'state=a&state=b', 'state'],
    ['too many parameters', Array.from({ length: 60 }, (_, n) => `p${n}=1`).join('&'), 'too many'],
    ['a parameter that is too long', `state=${'x'.repeat(9000)}`, 'state'],
  ])('that cannot be read is recorded: %s', async (_name, query, word) => {
    const page = await httpClient(idp.issuer).get(`/upstream/${corp.connection}/callback?${query}`);
    expect(page.status).toBe(400);
    const cause = await causeOf(page);
    expect(cause.rule).toBe('parameters');
    expect(cause.words).toContain(word);
  });
});

const form = (SAMLResponse: string) => ({
  body: new URLSearchParams({ SAMLResponse }).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
});
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('an answer of a SAML upstream', () => {
  it.each(ofSaml)('names its cause: %s', async (_name, parts, rule, words) => {
    const begun = await beginAt(idp, school, { clientId });
    const xml = answerXml(idp, school, begun.requestId, parts);
    const posted = await postAnswer(begun.browser, xml, { relayState: begun.requestId });
    const cause = await causeOf(await begun.browser.follow(posted));
    expect(cause.rule).toBe(rule);
    for (const word of words) expect(cause.words).toMatch(word);
    expect(cause.words).not.toContain('The application');
  });

  it.each([
    ['no base64', '***', 'base64'],
    ['base64url', 'ab-_', 'base64'],
    ['no XML', base64('hello'), 'xml'],
    ['a DOCTYPE', base64('<!DOCTYPE x><a/>'), 'xml'],
    ['another message', base64('<a/>'), 'schema'],
  ])('that cannot be decoded is recorded: %s', async (_name, value, rule) => {
    const page = await httpClient(idp.issuer).post('/saml/acs', form(value));
    expect(page.status).toBe(400);
    expect((await causeOf(page)).rule).toBe(rule);
  });
});
