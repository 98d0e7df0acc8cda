// A refusal reaches the service provider as a status, where its address is known and trusted, signed, with the RelayState
// and without an assertion; and the person reads why, where there is somebody to read.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aLiveSp, answerIn, type LiveSp, redirect } from '../saml/live.ts';
import { aPerson, type Person } from '../saml/people.ts';
import { acceptedSignature } from '../saml/receivers.ts';
import { schemas } from '../saml/support.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let sp: LiveSp;
let person: Person;
let browser: HttpClient;

beforeAll(async () => {
  idp = await startIdp();
  sp = await aLiveSp(idp, { name_id_format: 'persistent', access: 'everyone' });
  person = await aPerson(idp.services, { emailVerified: false });
});
afterAll(() => idp?.stop());
beforeEach(() => {
  browser = httpClient(idp.issuer);
});

const open = async (attributes = '', body = '', to = sp) => {
  const xml = to.request({ attributes, body });
  return browser.follow(await redirect(browser, xml, { relayState: 'back' }));
};

async function expectStatus(page: Page, ...codes: string[]): Promise<void> {
  const xml = answerIn(page) ?? '';
  expect(
    [...xml.matchAll(/StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:(\w+)"/g)].map(([, code]) => code),
  ).toEqual(codes);
  expect(xml).not.toContain('Assertion ');
  expect(schemas.protocol(xml)).toBeUndefined();
  expect(acceptedSignature(xml, idp.services.keyring.samlCredential().certificatePem)).toBe(true);
  expect(page.forms[0]).toMatchObject({ action: sp.acs, fields: { RelayState: 'back' } });
}

const signIn = async () => person.withPassword(browser, await open());

describe('a request that may ask nothing', () => {
  it('is NoPassive before the sign-in, and answered after it', async () => {
    await expectStatus(await open(' IsPassive="true"'), 'Responder', 'NoPassive');
    await signIn();
    expect(answerIn(await open(' IsPassive="true"'))).toContain('<saml:Assertion');
  });

  it('is NoPassive when it forces a sign-in as well', async () => {
    await signIn();
    await expectStatus(await open(' IsPassive="true" ForceAuthn="true"'), 'Responder', 'NoPassive');
  });
});

describe('a request that forces a sign-in', () => {
  it('asks although there is a session, and states the new moment', async () => {
    await signIn();
    const page = await open(' ForceAuthn="1"');
    expect(page.text).toContain('autocomplete="current-password"');
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const before = new Date(Math.floor(Date.now() / 1000) * 1000);
    const xml = answerIn(await person.withPassword(browser, page)) ?? '';
    expect(Date.parse(/AuthnInstant="([^"]+)"/.exec(xml)?.[1] ?? '')).toBeGreaterThanOrEqual(before.getTime());
  });
});

describe('a request for something that there is not', () => {
  it.each<[string, string, string, string[]]>([
    [
      'artifacts',
      ' ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact"',
      '',
      ['Requester', 'UnsupportedBinding'],
    ],
    ['an unknown NameID', '', '<samlp:NameIDPolicy Format="urn:x"/>', ['Requester', 'InvalidNameIDPolicy']],
    [
      'a NameID that it may not ask for',
      '',
      '<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"/>',
      ['Requester', 'InvalidNameIDPolicy'],
    ],
    [
      'the NameID of another',
      '',
      '<samlp:NameIDPolicy SPNameQualifier="https://other.example"/>',
      ['Requester', 'InvalidNameIDPolicy'],
    ],
    [
      'an unknown context',
      '',
      '<samlp:RequestedAuthnContext><saml:AuthnContextClassRef>urn:x</saml:AuthnContextClassRef></samlp:RequestedAuthnContext>',
      ['Responder', 'NoAuthnContext'],
    ],
    [
      'a declared context',
      '',
      '<samlp:RequestedAuthnContext><saml:AuthnContextDeclRef>urn:x</saml:AuthnContextDeclRef></samlp:RequestedAuthnContext>',
      ['Responder', 'NoAuthnContext'],
    ],
  ])('%s is told so at once', async (_what, attributes, body, codes) => {
    await expectStatus(await open(attributes, body), ...codes);
  });

  it('a new identifier for somebody who has none, when none may be made', async () => {
    const fresh = await aPerson(idp.services);
    const page = await open('', '<samlp:NameIDPolicy AllowCreate="false"/>');
    await expectStatus(await fresh.withPassword(browser, page), 'Requester', 'InvalidNameIDPolicy');
    expect(answerIn(await open('', '<samlp:NameIDPolicy AllowCreate="true"/>'))).toContain('<saml:Assertion');
    expect(answerIn(await open('', '<samlp:NameIDPolicy AllowCreate="false"/>'))).toContain('<saml:Assertion');
  });
});

describe('a person', () => {
  it('who cancels is RequestDenied', async () => {
    const page = await open();
    await expectStatus(
      await browser.follow(await browser.submit(page, {}, { form: '/cancel' })),
      'Responder',
      'RequestDenied',
    );
  });

  it('without a verified address has no e-mail identifier', async () => {
    const mails = await aLiveSp(idp, { name_id_format: 'emailAddress' });
    const page = await person.withPassword(browser, await open('', '', mails));
    expect(answerIn(page)).toContain('status:InvalidNameIDPolicy');
  });

  it('whom the access rule does not let in reads it, and the service provider is told RequestDenied', async () => {
    await idp.services.roles.create({ name: 'editor', description: '', permissions: [] });
    const closed = await aLiveSp(idp, { name: 'Editors only', access: { roles: ['editor'] } });
    const page = await person.withPassword(browser, await open('', '', closed));
    expect(page.status).toBe(403);
    expect(page.text).toContain('Editors only');
    const told = await browser.follow(await browser.submit(page, { decision: 'deny' }));
    expect(answerIn(told)).toContain('status:RequestDenied');
    expect(told.forms[0]?.action).toBe(closed.acs);
    const other = await browser.follow(await browser.submit(await open('', '', closed), { decision: 'other' }));
    expect(other.text).toContain('autocomplete="current-password"');
    await idp.services.roles.assign(person.account.id, 'editor').catch(() => undefined);
  });

  it('is told on a page what cannot be sent on, with the name of the application', async () => {
    const page = await redirect(
      browser,
      sp.request({ attributes: ' AssertionConsumerServiceURL="https://evil.example/"' }),
    );
    expect(page.status).toBe(400);
    expect(page.text).toContain(sp.name);
    expect(page.text).toContain('The address that the answer should go to is not registered');
  });
});
