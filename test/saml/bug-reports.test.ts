// What service providers send that other identity providers had bug reports about, each with the report.
import { sign } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { SAML } from '@node-saml/node-saml';
import { beforeAll, describe, expect, it } from 'vitest';
import { algorithms } from '../../src/protocols/saml/xml/names.ts';
import { aUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdp } from '../support/shared-idp.ts';
import { aLiveSp, answerIn, type LiveSp, type MessageParts, post, redirect } from './live.ts';
import { signQuery } from './support.ts';

let idp: TestIdp;
let sp: LiveSp;
const acs = (path: string) => `https://multi.example/${path}`;
beforeAll(async () => {
  idp = await sharedIdp();
  sp = await aLiveSp(idp, {
    acs_url: [
      { url: acs('a'), index: 0, default: true },
      { url: acs('b'), index: 1 },
    ],
  });
});

const browser = () => httpClient(idp.issuer);
const get = (query: string) => browser().get(`/saml/sso?${query}`);
const isSignIn = (page: Page) =>
  expect(`${page.status} ${page.location ?? textOf(page.text)}`).toMatch(/^303 .*\/(authorize|saml\/sso\/continue)\?/);
const message = (parts?: MessageParts) =>
  `SAMLRequest=${encodeURIComponent(deflateRawSync(sp.request(parts)).toString('base64'))}`;
const signed = (query: string) => signQuery(query, { key: sp.credential.privateKey });
const lowerCased = (query: string) => query.replace(/%../g, (octet) => octet.toLowerCase());
const posted = (parts: MessageParts, relayState?: string) => post(browser(), sp.sign(sp.request(parts)), relayState);

/** The Response after a sign-in. */
async function answerTo(parts: MessageParts) {
  const user = await aUser(idp.services);
  const client = browser();
  const page = await client.follow(await post(client, sp.sign(sp.request(parts))));
  const answer = await client.follow(await client.submit(page, { username: user.username, password: user.password }));
  const xml = answerIn(answer) ?? expect.fail(textOf(answer.text));
  const nameId = /<saml:NameID[^>]*>([^<]+)/.exec(xml)?.[1] ?? '';
  const sessionIndex = /SessionIndex="([^"]+)/.exec(xml)?.[1] ?? '';
  return { user, client, xml, nameId, sessionIndex, acs: answer.forms[0]?.action };
}

describe('the signature of a redirect', () => {
  it('may cover lower-case percent-encoding (FusionAuth#1496, java-saml#225), which a gateway spells anew', async () => {
    const query = lowerCased(`${message()}&RelayState=${encodeURIComponent('https://a/b?c=d')}`);
    const octets = `${query}&SigAlg=${lowerCased(encodeURIComponent(algorithms.rsaSha256))}`;
    const signature = sign('sha256', Buffer.from(octets), sp.credential.privateKey).toString('base64');
    isSignIn(await get(`${octets}&Signature=${encodeURIComponent(signature)}`));
    const again = sp.request();
    const values: [string, string][] = [
      ['SAMLRequest', deflateRawSync(again).toString('base64')],
      ['RelayState', 'https://a/b?c=d'],
      ['SigAlg', algorithms.rsaSha256],
    ];
    const spelled = values.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
    const made = sign('sha256', Buffer.from(lowerCased(spelled)), sp.credential.privateKey).toString('base64');
    isSignIn(await get(`${spelled}&Signature=${encodeURIComponent(made)}`));
  });

  it('may leave out an empty RelayState (java-saml#82, OpenConext-engineblock#40), but no other', async () => {
    isSignIn(await get(signed(`${message()}&RelayState=`)));
    isSignIn(await get(`${signed(message())}&RelayState=`));
    expect((await get(`${signed(message())}&RelayState=yay`)).status).toBe(400);
  });

  it('covers the parameters in the order of the specification, however they were sent (samlify#103)', async () => {
    const parts = signed(`${message()}&RelayState=yay`).split('&');
    const [samlRequest, relayState, sigAlg, signature] = parts;
    isSignIn(await get(['whr=x', samlRequest, sigAlg, relayState, signature, 'login_hint=me&'].join('&')));
  });
});

describe('an AuthnRequest', () => {
  it.each([
    ['an index (spid-testenv2#57)', ' AssertionConsumerServiceIndex="1"', 'b'],
    [
      'an index with ProtocolBinding and AttributeConsumingServiceIndex (spid-testenv2#84)',
      ' ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" AssertionConsumerServiceIndex="1" AttributeConsumingServiceIndex="99"',
      'b',
    ],
    [
      'URL and index of the same ACS',
      ` AssertionConsumerServiceIndex="1" AssertionConsumerServiceURL="${acs('b')}"`,
      'b',
    ],
    ['an empty URL', ' AssertionConsumerServiceURL=""', 'a'],
  ])('names its ACS by %s', async (_what, attributes, path) => {
    expect((await answerTo({ attributes })).acs).toBe(acs(path));
  });

  it('with the URL of one ACS and the index of another is rejected in these words', async () => {
    const page = await posted({
      attributes: ` AssertionConsumerServiceIndex="1" AssertionConsumerServiceURL="${acs('a')}"`,
    });
    expect([page.status, textOf(page.text)]).toEqual([400, expect.stringContaining('the index of another one')]);
  });

  it.each([
    ['Scoping (pac4j#1937, spring-boot-security-saml#73)', { body: '<samlp:Scoping ProxyCount="2"/>' }],
    [
      'an IDPList (crewjam/saml#635)',
      {
        body: '<samlp:Scoping><samlp:IDPList><samlp:IDPEntry ProviderID="https://x.example"/></samlp:IDPList></samlp:Scoping>',
      },
    ],
    [
      'the extension of eIDAS',
      {
        body: '<samlp:Extensions><eidas:SPType xmlns:eidas="http://eidas.europa.eu/saml-extensions">public</eidas:SPType></samlp:Extensions>',
      },
    ],
    ['an empty NameIDPolicy', { body: '<samlp:NameIDPolicy Format=""/>' }],
    ['seven digits of a second, as .NET writes', { issueInstant: new Date().toISOString().replace('Z', '4567Z') }],
    ['no fraction of a second', { issueInstant: new Date().toISOString().replace(/\.\d+/, '') }],
  ] satisfies [string, MessageParts][])('may have %s', async (_what, parts) => {
    isSignIn(await posted(parts));
  });

  it('has booleans as 0 and 1, too (logto#9569)', async () => {
    const passive = async (attributes: string) => {
      const client = browser();
      return answerIn(await client.follow(await post(client, sp.sign(sp.request({ attributes })))));
    };
    expect(await passive(' IsPassive="1"')).toContain('status:NoPassive');
    expect(await passive(' IsPassive=" true "')).toContain('status:NoPassive');
    expect(await passive(' IsPassive="0" ForceAuthn="0"')).toBeUndefined();
  });

  it('for a Response by redirect gets UnsupportedBinding at its ACS (pysaml2#163)', async () => {
    const page = await posted({ attributes: ' ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"' });
    expect(answerIn(page)).toContain('status:UnsupportedBinding');
  });

  it.each([
    ['by POST', () => posted({}, 'x'.repeat(9000))],
    ['by redirect', () => get(signed(`${message()}&RelayState=${'x'.repeat(9000)}`))],
  ])('with a RelayState of more than 8 KB gets its status at the application: %s', async (_how, send) => {
    const page = await send();
    expect(answerIn(page)).toMatch(/status:Requester".*status:RequestUnsupported".*RelayState is too long/s);
    expect(page.forms[0]).toMatchObject({ action: acs('a') });
    expect(page.forms[0]?.fields).not.toHaveProperty('RelayState');
  });

  it('of node-saml with RelayState, ForceAuthn, Scoping and passive false is accepted (node-saml#660)', async () => {
    const saml = new SAML({
      callbackUrl: acs('b'),
      entryPoint: `${idp.issuer}/saml/sso`,
      issuer: sp.entityId,
      idpCert: sp.credential.certificatePem,
      privateKey: sp.credential.privatePem,
      signatureAlgorithm: 'sha512',
      forceAuthn: true,
      disableRequestedAuthnContext: true,
      identifierFormat: null,
      providerName: 'Société & <Söhne>',
      attributeConsumingServiceIndex: '3',
      scoping: { proxyCount: 2, requesterId: 'https://requester.example' },
    });
    const url = await saml.getAuthorizeUrlAsync(`it's (a) state*~!`, undefined, {});
    isSignIn(await browser().get(url));
  });
});

describe('a LogoutRequest', () => {
  it.each([
    ['no qualifiers (esaml#1)', () => ''],
    ['SPNameQualifier (php-saml#70)', () => ` SPNameQualifier="${sp.entityId}"`],
    [
      'exchanged qualifiers (moodle-auth_saml2#769)',
      () => ` NameQualifier="${sp.entityId}" SPNameQualifier="${idp.issuer}/saml/metadata"`,
    ],
    ['the qualifier of an earlier issuer (Rocket.Chat#7194)', () => ' NameQualifier="https://old.example"'],
  ])('of a proven sender with SessionIndex may have %s', async (_what, qualifiers) => {
    const { client, user, nameId, sessionIndex } = await answerTo({});
    const xml = sp.logout(nameId, { body: `<samlp:SessionIndex>${sessionIndex}</samlp:SessionIndex>` });
    const request = xml.replace('<saml:NameID>', `<saml:NameID${qualifiers()}>`);
    await redirect(client, request, { key: sp.credential, path: '/saml/slo' });
    expect(await idp.services.sessions.list(user.account.id)).toHaveLength(0);
  });
});
