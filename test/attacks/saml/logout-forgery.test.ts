// A LogoutRequest ends a session only when it is signed, from a service provider of that session, about the user that it
// knows, and addressed to this IdP.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { algorithms } from '../../../src/protocols/saml/xml/names.ts';
import { aLiveSp, answerIn, type LiveSp, left, post, redirect } from '../../saml/live.ts';
import { aCredential } from '../../saml/support.ts';
import { arrangements, partsOf } from '../../saml/wrapping.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

let idp: TestIdp;
let sp: LiveSp;
let other: LiveSp;
let user: TestUser;
let victim: HttpClient;
let nameId: string;
let sessionIndex: string;
const unknownKey = aCredential();
const slo = '/saml/slo';

beforeAll(async () => {
  idp = await startIdp();
  sp = await aLiveSp(idp, { name_id_format: 'unspecified' });
  other = await aLiveSp(idp, { name_id_format: 'unspecified' });
  user = await aUser(idp.services);
});
afterAll(() => idp?.stop());
beforeEach(async () => {
  victim = httpClient(idp.issuer);
  const page = await victim.follow(await redirect(victim, sp.request()));
  const answer = await victim.follow(await victim.submit(page, { username: user.username, password: user.password }));
  const assertion = answerIn(answer) ?? '';
  nameId = /<saml:NameID[^>]*>([^<]+)/.exec(assertion)?.[1] ?? '';
  sessionIndex = /SessionIndex="([^"]+)/.exec(assertion)?.[1] ?? '';
  expect(nameId).toBe(user.username);
});

const isSignedIn = async () => !(await victim.follow(await redirect(victim, sp.request()))).text.includes('username');
const attacker = () => httpClient(idp.issuer);

async function expectRejection(send: () => Promise<Page>): Promise<void> {
  const before = await left(idp);
  const page = await attacker().follow(await send());
  expect(page.status).toBe(400);
  expect([page.location, page.forms]).toEqual([undefined, []]);
  expect(await left(idp)).toEqual(before);
  expect(await isSignedIn()).toBe(true);
}

const forgeries: Record<string, () => Promise<Page>> = {
  'unsigned by POST': () => post(attacker(), sp.logout(nameId), '', slo),
  'unsigned by redirect': () => redirect(attacker(), sp.logout(nameId), { path: slo }),
  'signed with an unknown key': () =>
    post(attacker(), sp.sign(sp.logout(nameId), { key: unknownKey.privateKey }), '', slo),
  'signed with an unknown key, by redirect': () =>
    redirect(attacker(), sp.logout(nameId), { key: unknownKey, path: slo }),
  'signed by another service provider': () =>
    post(attacker(), sp.sign(sp.logout(nameId), { key: other.credential.privateKey }), '', slo),
  'signed with SHA-1': () =>
    post(attacker(), sp.sign(sp.logout(nameId), { signatureAlgorithm: algorithms.rsaSha1 }), '', slo),
  'changed after it was signed': () =>
    post(attacker(), sp.sign(sp.logout('nobody')).replace('>nobody<', `>${nameId}<`), '', slo),
  'with another destination': () =>
    post(attacker(), sp.sign(sp.logout(nameId, { destination: `${idp.issuer}/saml/sso` })), '', slo),
  'without a destination': () => post(attacker(), sp.sign(sp.logout(nameId, { destination: null })), '', slo),
  'from the past': () =>
    post(attacker(), sp.sign(sp.logout(nameId, { issueInstant: '2026-01-01T00:00:00Z' })), '', slo),
  'past its own end': () =>
    post(attacker(), sp.sign(sp.logout(nameId, { attributes: ' NotOnOrAfter="2026-01-01T00:00:00Z"' })), '', slo),
  'as an AuthnRequest': () => post(attacker(), sp.sign(sp.request()), '', slo),
  'at the address of sign-in': () => post(attacker(), sp.sign(sp.logout(nameId)), ''),
  'with a comment in the NameID': () =>
    post(attacker(), sp.sign(sp.logout(`${nameId}<!-- -->x`)).replaceAll('x</saml', 'x</saml'), '', slo),
};

describe('a LogoutRequest', () => {
  it.each(Object.keys(forgeries))('is rejected %s', (name) => expectRejection(forgeries[name] as () => Promise<Page>));

  it.each(Object.keys(arrangements))('is rejected when it is wrapped: %s', (name) => {
    const bare = sp.logout('nobody');
    const evil = (id: string, inside = '') =>
      sp.logout(nameId, { id }).replace('</saml:Issuer>', `</saml:Issuer>${inside}`);
    const wrapped = arrangements[name]?.(partsOf(bare, sp.sign(bare), evil)) ?? '';
    return expectRejection(() => post(attacker(), wrapped, '', slo));
  });
});

describe('a signed LogoutRequest', () => {
  it.each<[string, () => string]>([
    ['of a service provider that takes no part', () => other.sign(other.logout(nameId))],
    ['about another user', () => sp.sign(sp.logout('other-user'))],
    [
      'about another session',
      () => sp.sign(sp.logout(nameId, { body: '<samlp:SessionIndex>guessed</samlp:SessionIndex>' })),
    ],
  ])('ends nothing and gets a status when it is %s', async (_what, xml) => {
    const browser = attacker();
    const page = await browser.follow(await post(browser, xml(), 'state', slo));
    expect(answerIn(page)).toContain('status:UnknownPrincipal');
    expect(page.forms[0]?.fields.RelayState).toBe('state');
    expect(await isSignedIn()).toBe(true);
  });

  it('ends the session that it is about in any browser', async () => {
    const body = `<samlp:SessionIndex>${sessionIndex}</samlp:SessionIndex>`;
    const page = await post(attacker(), sp.sign(sp.logout(nameId, { body })), 'state', slo);
    expect(answerIn(page)).toContain('status:Success');
    expect(await isSignedIn()).toBe(false);
  });
});
