// Answers of a SAML upstream that must sign nobody in: wrapped, unsigned, swapped, replayed, meant for others, and the answers of
// other identity providers. Every answer goes to the real /saml/acs, and where that stores it, to the browser that began.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { algorithms } from '../../../src/protocols/saml/xml/names.ts';
import { accountOf, isAtApplication } from '../../federation/support.ts';
import { redirectUri } from '../../oidc/support.ts';
import { aCredential, signXml, unknownKey } from '../../saml/support.ts';
import { arrangements, partsOf } from '../../saml/wrapping.ts';
import { aClient } from '../../support/factories.ts';
import { httpClient, type Page } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { expectNotSignedIn, expectSignedIn } from '../../support/pages/enter.ts';
import { sharedIdpWithConnections } from '../../support/shared-idp.ts';
import {
  type AnswerParts,
  answerXml,
  aSamlUpstream,
  assertionXml,
  type BegunSignIn,
  beginAt,
  encrypted,
  postAnswer,
  responseXml,
  type SamlUpstream,
} from '../../support/upstream/saml-upstream.ts';

let idp: TestIdp;
let school: SamlUpstream;
let clientId: string;
let begun: BegunSignIn;
let victim: string;
let count = 0;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  school = await aSamlUpstream(idp);
  ({ clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] }));
  begun = await beginAt(idp, school, { clientId });
});
beforeEach(() => {
  count += 1;
  victim = `victim-${count}`;
});

const ownCertificate = () =>
  idp.services.keyring.serviceProviderCertificates('saml-sp-encryption')[0]?.certificatePem ?? '';
const keyOf = ({ credential }: SamlUpstream) => ({
  key: credential.privateKey,
  certificatePem: credential.certificatePem,
});
const answer = (parts: AnswerParts = {}, { requestId } = begun, upstream = school) =>
  answerXml(idp, upstream, requestId, { nameId: victim, ...parts });
const accountsOf = (subject: string) => accountOf(idp, school.connection, subject);

async function isRejected(page: Page, status: number, subject = victim): Promise<void> {
  expect(page.status, page.text).toBe(status);
  expect(page.location).toBeUndefined();
  expect(await accountsOf(subject)).toBeUndefined();
}

/** 401 at /saml/acs: no valid signature of the upstream over what would be read. */
async function isUnauthentic(xml: string, subject = victim): Promise<void> {
  await isRejected(await postAnswer(begun.browser, xml), 401, subject);
}

/** The answer is authentic, and rejected where it is redeemed. */
async function isNotRedeemed(parts: AnswerParts, expected: string): Promise<void> {
  const fresh = await beginAt(idp, school, { clientId });
  const posted = await postAnswer(fresh.browser, answer(parts, fresh));
  const page = await fresh.browser.follow(posted, isAtApplication);
  await isRejected(page, 400);
  const [rejection] = (await idp.services.rejections.list({ clientId: school.connection })).rejections;
  expect(rejection?.rules.find(({ state }) => state === 'failed')?.rule).toBe(expected);
}

describe('signature wrapping of an answer', () => {
  const evil = (id: string, inside = '') =>
    responseXml(idp, school, begun.requestId, assertionXml(idp, school, begun.requestId, { nameId: victim }), {
      responseId: id,
      extensions: 'EXTENSIONS',
    })
      .replace('<samlp:Extensions>EXTENSIONS</samlp:Extensions>', '')
      .replace('</saml:Issuer><samlp:Status>', `</saml:Issuer>${inside}<samlp:Status>`);

  it.each(Object.entries(arrangements))('rejects a wrapped Response: %s', async (_name, arrange) => {
    const bare = responseXml(
      idp,
      school,
      begun.requestId,
      assertionXml(idp, school, begun.requestId, { nameId: 'attacker' }),
    );
    const xml = arrange(partsOf(bare, signXml(bare, keyOf(school)), evil));
    const page = await postAnswer(begun.browser, xml);
    expect([400, 401], page.text).toContain(page.status);
    expect(await accountsOf(victim)).toBeUndefined();
    expect(await accountsOf('attacker')).toBeUndefined();
  });

  const forged = () => assertionXml(idp, school, begun.requestId, { nameId: victim, id: '_forged' });
  const genuine = () =>
    signXml(assertionXml(idp, school, begun.requestId, { nameId: 'attacker', id: '_genuine' }), keyOf(school));
  const inResponse = (content: string, extensions?: string) =>
    responseXml(idp, school, begun.requestId, content, extensions === undefined ? {} : { extensions });
  const signatureOf = (xml: string) => /<ds:Signature .*<\/ds:Signature>/s.exec(xml)?.[0] ?? '';
  const withoutSignature = (xml: string) => xml.replace(signatureOf(xml), '');

  const wrapped: Record<string, () => string> = {
    'XSW3: forged assertion before the signed one': () => inResponse(forged() + genuine()),
    'XSW4: signed assertion inside the forged one': () =>
      inResponse(forged().replace('<saml:Conditions', `${genuine()}<saml:Conditions`)),
    'XSW5: forged assertion carries the signature, the signed one follows': () =>
      inResponse(
        forged().replace('</saml:Issuer>', `</saml:Issuer>${signatureOf(genuine())}`) + withoutSignature(genuine()),
      ),
    'XSW6: signed assertion inside the signature of the forged one': () =>
      inResponse(
        forged().replace(
          '</saml:Issuer>',
          `</saml:Issuer>${signatureOf(genuine()).replace('</ds:Signature>', `<ds:Object>${withoutSignature(genuine())}</ds:Object></ds:Signature>`)}`,
        ),
      ),
    'XSW7: signed assertion in Extensions': () => inResponse(forged(), genuine()),
    'XSW8: the signature with the assertion in an Object': () =>
      inResponse(
        forged()
          .replace('_forged', '_genuine')
          .replace(
            '</saml:Issuer>',
            `</saml:Issuer>${signatureOf(genuine()).replace('</ds:Signature>', `<ds:Object>${withoutSignature(genuine())}</ds:Object></ds:Signature>`)}`,
          ),
      ),
    'an assertion in Advice': () =>
      inResponse(
        forged().replace('<saml:AuthnStatement', `<saml:Advice>${genuine()}</saml:Advice><saml:AuthnStatement`),
      ),
    'two signed assertions': () => inResponse(genuine() + genuine().replace('_genuine', '_second')),
    'a signed assertion beside an encrypted one': () =>
      inResponse(genuine() + encrypted(forged(), { certificate: ownCertificate() })),
    'the assertion in Extensions alone': () => inResponse('', genuine()),
  };
  it.each(Object.entries(wrapped))('rejects a wrapped assertion: %s', async (_name, arrange) => {
    const page = await postAnswer(begun.browser, arrange());
    expect([400, 401], page.text).toContain(page.status);
    expect(await accountsOf(victim)).toBeUndefined();
    expect(await accountsOf('attacker')).toBeUndefined();
  });
});

describe('an answer without a valid signature', () => {
  it('is 401 in plain text for a program, and a page with a code for a browser', async () => {
    const xml = answer({ sign: 'none' });
    const program = await postAnswer(begun.browser, xml, { headers: { accept: '*/*' } });
    expect(program.status).toBe(401);
    expect(program.headers['content-type']).toContain('text/plain');
    expect(program.text).toBe('Invalid signature');
    const page = await postAnswer(begun.browser, xml);
    expect(page.status).toBe(401);
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.text).toMatch(/[2-9A-Z]{4}-[2-9A-Z]{4}/);
  });

  it('is rejected when an unknown key signed it, although its certificate is in KeyInfo', async () => {
    const other = aCredential();
    await isUnauthentic(answer({ signing: { key: unknownKey } }));
    await isUnauthentic(answer({ signing: { key: other.privateKey, certificatePem: other.certificatePem } }));
  });

  it('is rejected from an unknown issuer, and from another upstream with its own key', async () => {
    const other = await aSamlUpstream(idp);
    await isUnauthentic(answer({ issuer: 'https://unknown.example', responseIssuer: 'https://unknown.example' }));
    await isUnauthentic(answer({ signing: keyOf(other) }));
    const page = await postAnswer(begun.browser, answer({}, begun, other));
    expect(page.status).toBe(400);
  });

  it('is rejected when it was signed with SHA-1 or HMAC', async () => {
    await isUnauthentic(answer({ signing: { signatureAlgorithm: algorithms.rsaSha1 } }));
    await isUnauthentic(answer({ signing: { digestAlgorithm: algorithms.sha1 } }));
    const hmac = answer().replaceAll(algorithms.rsaSha256, 'http://www.w3.org/2000/09/xmldsig#hmac-sha1');
    await isUnauthentic(hmac);
  });

  it('is rejected when one of its two signatures is wrong', async () => {
    const xml = answer();
    const values = [...xml.matchAll(/<ds:SignatureValue>([^<]+)</g)].map(([, value]) => value ?? '');
    expect(values).toHaveLength(2);
    for (const value of values) {
      const changed = `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`;
      await isUnauthentic(xml.replace(value, changed));
    }
  });

  it('is rejected when the signed text was changed', async () => {
    await isUnauthentic(answer({ nameId: 'attacker' }).replace('>attacker<', `>${victim}<`));
    await isUnauthentic(answer({ nameId: 'attacker', sign: 'assertion' }).replace('>attacker<', `>${victim}<`));
  });

  it('is rejected with transforms that leave nothing, or something else, to sign', async () => {
    const xpath = 'http://www.w3.org/TR/1999/REC-xpath-19991116';
    const inclusive = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
    const xml = answer({ sign: 'response' });
    for (const uri of [xpath, inclusive]) {
      const changed = xml.replace(
        `<ds:Transform Algorithm="${algorithms.exclusiveC14n}"`,
        `<ds:Transform Algorithm="${uri}"`,
      );
      expect(changed).not.toBe(xml);
      await isUnauthentic(changed);
    }
    const digestOfNothing = xml.replace(
      /<ds:DigestValue>[^<]+/,
      '<ds:DigestValue>47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
    );
    await isUnauthentic(digestOfNothing);
  });

  it('is rejected when its signature refers to nothing, or to the whole document', async () => {
    for (const uri of ['', '#', '#xpointer(/)'])
      await isUnauthentic(
        answer({ sign: 'response' }).replace(/<ds:Reference URI="[^"]*"/, `<ds:Reference URI="${uri}"`),
      );
  });

  it('is rejected when it is encrypted and nobody signed it', async () => {
    await isUnauthentic(answer({ sign: 'none', encrypt: { certificate: ownCertificate() } }));
  });

  it('is rejected with AES-CBC, which the connection has to allow and the Response has to sign', async () => {
    const cbc = { certificate: ownCertificate(), algorithm: algorithms.aes256Cbc };
    await isUnauthentic(answer({ encrypt: cbc }));
    const lenient = await aSamlUpstream(idp, { allow_cbc: true });
    await isUnauthentic(answer({ encrypt: cbc, sign: 'assertion' }, begun, lenient));
    const fresh = await beginAt(idp, lenient, { clientId });
    const accepted = await postAnswer(fresh.browser, answer({ encrypt: cbc }, fresh, lenient));
    expectSignedIn(await fresh.browser.follow(accepted, isAtApplication));
  });

  it('names encryption, not the signature, on the page when its encryption is not accepted', async () => {
    const strict = await aSamlUpstream(idp, { want_encrypted: true });
    const cbc = answer({ encrypt: { certificate: ownCertificate(), algorithm: algorithms.aes128Cbc } });
    for (const [xml, received] of [
      [cbc, algorithms.aes128Cbc],
      [answer({}, begun, strict), 'not encrypted'],
    ] as const) {
      const page = await postAnswer(begun.browser, xml);
      expect(page.status).toBe(401);
      expect(page.text).toContain('uses an unsupported encryption');
      expect(page.text).not.toContain('valid signature');
      const [code = ''] = /[2-9A-Z]{4}-[2-9A-Z]{4}/.exec(page.text) ?? [];
      const broken = (await idp.services.rejections.find(code))?.rules.find(({ state }) => state === 'failed');
      expect(broken).toMatchObject({ rule: 'encryption', expected: expect.stringContaining('AES-GCM'), received });
      const program = await postAnswer(begun.browser, xml, { headers: { accept: '*/*' } });
      expect([program.status, program.text]).toEqual([401, 'Invalid signature']);
    }
  });

  it('is rejected unencrypted where the connection wants encryption', async () => {
    const strict = await aSamlUpstream(idp, { want_encrypted: true });
    await isUnauthentic(answer({}, begun, strict));
  });

  it('is rejected from our own identity provider, whose key signs for other service providers', async () => {
    const { privateKey, certificatePem } = idp.services.keyring.samlCredential();
    const own = { issuer: `${idp.issuer}/saml/metadata`, responseIssuer: `${idp.issuer}/saml/metadata` };
    await isUnauthentic(answer({ ...own, signing: { key: privateKey, certificatePem } }));
    await isUnauthentic(answer({ signing: { key: privateKey, certificatePem } }));
  });

  it('is rejected when only a key for encryption of the upstream signed it', async () => {
    const [signing, encryption] = [aCredential(), aCredential()];
    const entityId = `https://by-use-${process.pid}.example`;
    const base64 = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, '');
    const key = (use: string, pem: string) =>
      `<md:KeyDescriptor use="${use}"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data>` +
      `<ds:X509Certificate>${base64(pem)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;
    const metadata =
      `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">` +
      `<md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">` +
      `${key('signing', signing.certificatePem)}${key('encryption', encryption.certificatePem)}` +
      `<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${entityId}/sso"/>` +
      `</md:IDPSSODescriptor></md:EntityDescriptor>`;
    const fields = { entity_id: undefined, sso_url: undefined, certificates: [], metadata };
    const upstream = { ...(await aSamlUpstream(idp, fields)), entityId, credential: signing };
    const byEncryption = { key: encryption.privateKey, certificatePem: encryption.certificatePem };
    await isUnauthentic(answer({ signing: byEncryption }, begun, upstream));
    const fresh = await beginAt(idp, upstream, { clientId });
    const accepted = await postAnswer(fresh.browser, answer({}, fresh, upstream));
    expectSignedIn(await fresh.browser.follow(accepted, isAtApplication));
  });
});

describe('a message that is no answer', () => {
  it.each([
    ['an empty form', ''],
    ['a form without SAMLResponse', 'RelayState=x'],
    ['text that is not base64', 'SAMLResponse=%25%25'],
    ['base64 that is not XML', `SAMLResponse=${Buffer.from('hello').toString('base64')}`],
    ['an answer as SAMLRequest', `SAMLRequest=${Buffer.from('<a/>').toString('base64')}`],
    ['two answers', `SAMLResponse=PGEvPg%3D%3D&SAMLResponse=PGEvPg%3D%3D`],
    ['two answers with one name encoded', `SAMLResponse=PGEvPg%3D%3D&SAML%52esponse=PGEvPg%3D%3D`],
  ])('is answered with 400: %s', async (_name, body) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await begun.browser.post('/saml/acs', { body, headers })).status).toBe(400);
  });

  it.each([
    ['a comment in the NameID', (xml: string) => xml.replace('>vic', '>vic<!-- -->')],
    ['a processing instruction', (xml: string) => xml.replace('>vic', '>vic<?x ?>')],
    ['a DOCTYPE', (xml: string) => `<!DOCTYPE a>${xml}`],
    ['an entity', (xml: string) => `<!DOCTYPE a [<!ENTITY e "x">]>${xml.replace('>vic', '>&e;vic')}`],
    ['CDATA', (xml: string) => xml.replace('>vic', '><![CDATA[vic]]>')],
    ['another encoding', (xml: string) => `<?xml version="1.0" encoding="UTF-7"?>${xml}`],
    ['a second root', (xml: string) => `${xml}<a/>`],
  ])('is 400 with markup that two parsers read differently: %s', async (_name, change) => {
    await isRejected(await postAnswer(begun.browser, change(answer())), 400);
  });

  it('is 413 above the limit of its size', async () => {
    const page = await postAnswer(begun.browser, answer({ attributes: { note: 'x'.repeat(120_000) } }));
    expect(page.status).toBe(413);
  });
});

describe('an authentic answer', () => {
  it.each<[string, AnswerParts, string]>([
    ['for another audience', { audience: 'https://other.example' }, 'audience'],
    ['without an audience', { audience: null }, 'audience'],
    [
      'with two audience restrictions, one for another',
      { conditions: '<saml:AudienceRestriction><saml:Audience>urn:x</saml:Audience></saml:AudienceRestriction>' },
      'audience',
    ],
    ['for another recipient', { recipient: 'https://other.example/acs' }, 'recipient'],
    ['without a recipient', { recipient: null }, 'recipient'],
    ['for another destination', { destination: 'https://other.example/acs' }, 'destination'],
    ['without a destination', { destination: null }, 'destination'],
    ['whose Response answers another request', { responseInResponseTo: '_other' }, 'in_response_to'],
    ['whose Response answers no request', { responseInResponseTo: null }, 'in_response_to'],
    ['that has ended', { notOnOrAfter: new Date(Date.now() - 120_000).toISOString() }, 'time'],
    [
      'that has not begun',
      // Far away: these times are made when the file is read, and the test may run a minute later.
      {
        notBefore: new Date(Date.now() + 600_000).toISOString(),
        notOnOrAfter: new Date(Date.now() + 900_000).toISOString(),
      },
      'time',
    ],
    ['whose confirmation has ended', { confirmationEnds: new Date(Date.now() - 120_000).toISOString() }, 'time'],
    ['whose confirmation never ends', { confirmationEnds: null }, 'time'],
    [
      'whose confirmation has a NotBefore',
      { confirmationAttributes: ` NotBefore="${new Date(Date.now() - 60_000).toISOString()}"` },
      'time',
    ],
    ['that is older than the request', { issueInstant: new Date(Date.now() - 600_000).toISOString() }, 'time'],
    ['that is from the future', { issueInstant: new Date(Date.now() + 600_000).toISOString() }, 'time'],
    ['of a sign-in in the future', { authnInstant: new Date(Date.now() + 600_000).toISOString() }, 'time'],
    [
      'of a session that has ended',
      { sessionAttributes: ` SessionNotOnOrAfter="${new Date(Date.now() - 120_000).toISOString()}"` },
      'time',
    ],
    ['without a sign-in', { authnStatement: '', attributes: { a: 'b' } }, 'statement'],
    ['with a transient NameID', { format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }, 'subject'],
    [
      'with an email address as NameID',
      { format: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress' },
      'subject',
    ],
    ['without a NameID', { nameId: null }, 'subject'],
    ['that forbids further assertions', { conditions: '<saml:ProxyRestriction Count="0"/>' }, 'conditions'],
  ])('is rejected in its browser: %s', async (_name, parts, rule) => {
    await isNotRedeemed(parts, rule);
  });

  it('is rejected without a bearer confirmation', async () => {
    const holder = 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key';
    await isNotRedeemed({ method: holder }, 'confirmation');
  });

  it('signs in once', async () => {
    const fresh = await beginAt(idp, school, { clientId });
    const xml = answer({}, fresh);
    const posted = await postAnswer(fresh.browser, xml);
    expectSignedIn(await fresh.browser.follow(posted, isAtApplication));
    const again = await postAnswer(fresh.browser, xml);
    expect(again.status).toBe(400);
    expect((await fresh.browser.get(posted.location ?? '')).status).not.toBe(200);
  });

  it('signs in once also when another request is named by the same assertion ID', async () => {
    const id = `_same${count}`;
    const [first, second] = [await beginAt(idp, school, { clientId }), await beginAt(idp, school, { clientId })];
    const one = await postAnswer(first.browser, answer({ id }, first));
    expectSignedIn(await first.browser.follow(one, isAtApplication));
    const two = await postAnswer(second.browser, answer({ id }, second));
    const page = await second.browser.follow(two, isAtApplication);
    expect(page.status).toBe(400);
  });

  it('is worth nothing in another browser', async () => {
    const fresh = await beginAt(idp, school, { clientId });
    const thief = httpClient(idp.issuer);
    const posted = await postAnswer(thief, answer({}, fresh));
    const page = await thief.follow(posted, isAtApplication);
    expectNotSignedIn(page);
    expect(await accountsOf(victim)).toBeUndefined();
  });

  it('is rejected for a request of another connection', async () => {
    const other = await aSamlUpstream(idp);
    const fresh = await beginAt(idp, other, { clientId });
    await isRejected(await postAnswer(fresh.browser, answer({}, fresh)), 400);
  });

  it('is rejected for a request that nobody sent', async () => {
    await isRejected(await postAnswer(begun.browser, answer({}, { ...begun, requestId: '_nobody' })), 400);
  });

  it('signs nobody in when it is unsolicited, and begins a real request', async () => {
    const unsolicited = { inResponseTo: null, responseInResponseTo: null };
    const browser = httpClient(idp.issuer);
    const page = await postAnswer(browser, answer(unsolicited), { relayState: 'https://evil.example/' });
    expect(page.status).toBe(303);
    expect(page.location).toBe(`${idp.issuer}/login?connection=${school.connection}`);
    expect(page.setCookie).toEqual([]);
    const sent = await browser.follow(page, (to) => to.includes('SAMLRequest='));
    expect(sent.location).toContain(`${school.connection}.example/sso`);
    expect(await accountsOf(victim)).toBeUndefined();
  });

  it('is no endless loop when the upstream leaves InResponseTo out', async () => {
    const unsolicited = { inResponseTo: null, responseInResponseTo: null };
    await isRejected(await postAnswer(begun.browser, answer(unsolicited), { relayState: begun.requestId }), 400);
  });

  it('never redirects to its RelayState', async () => {
    const fresh = await beginAt(idp, school, { clientId });
    const posted = await postAnswer(fresh.browser, answer({}, fresh), { relayState: 'https://evil.example/' });
    expect(new URL(posted.location ?? '').origin).toBe(idp.issuer);
    const page = await fresh.browser.follow(posted, isAtApplication);
    expect(page.location).toContain(redirectUri);
  });

  it('signs nobody in when its connection is disabled', async () => {
    const closing = await aSamlUpstream(idp);
    const fresh = await beginAt(idp, closing, { clientId });
    await idp.services.connections.setEnabled(closing.connection, false);
    const posted = await postAnswer(fresh.browser, answer({}, fresh, closing));
    const page = await fresh.browser.follow(posted, isAtApplication);
    expect(page.status).toBe(403);
    expectNotSignedIn(page);
  });

  it('is not passed off as fresh when its sign-in is old', async () => {
    const fresh = await beginAt(idp, school, { clientId, prompt: 'login' });
    const old = { authnInstant: new Date(Date.now() - 3_600_000).toISOString() };
    const posted = await postAnswer(fresh.browser, answer(old, fresh));
    const page = await fresh.browser.follow(posted, isAtApplication);
    expect(page.location).toContain('error=login_required');
  });
});
