// A rejected request gets a signed Response with a status and the RelayState, without an assertion, when the ACS is
// registered; otherwise the user gets an error page.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aLiveSp, answerIn, type LiveSp, redirect } from '../../saml/live.ts';
import { acceptedSignature } from '../../saml/receivers.ts';
import { aSamlUser, type SamlUser } from '../../saml/sign-in-steps.ts';
import { schemas } from '../../saml/support.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';

let idp: TestIdp;
let sp: LiveSp;
let person: SamlUser;
let browser: HttpClient;

beforeAll(async () => {
  idp = await sharedIdp();
  sp = await aLiveSp(idp, { name_id_format: 'persistent', access: 'everyone' });
  person = await aSamlUser(idp.services, { emailVerified: false });
});
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

describe('a passive request', () => {
  it('gets NoPassive before the sign-in and a success after it', async () => {
    await expectStatus(await open(' IsPassive="true"'), 'Responder', 'NoPassive');
    await signIn();
    expect(answerIn(await open(' IsPassive="true"'))).toContain('<saml:Assertion');
  });

  it('gets NoPassive when it has ForceAuthn too', async () => {
    await signIn();
    await expectStatus(await open(' IsPassive="true" ForceAuthn="true"'), 'Responder', 'NoPassive');
  });
});

describe('a request with ForceAuthn', () => {
  it('requires a new sign-in despite the session, and gets its time', async () => {
    await signIn();
    const page = await open(' ForceAuthn="1"');
    expect(page.text).toContain('autocomplete="current-password"');
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const before = new Date(Math.floor(Date.now() / 1000) * 1000);
    const xml = answerIn(await person.withPassword(browser, page)) ?? '';
    expect(Date.parse(/AuthnInstant="([^"]+)"/.exec(xml)?.[1] ?? '')).toBeGreaterThanOrEqual(before.getTime());
  });
});

describe('a request that cannot be met', () => {
  it.each<[string, string, string, string[]]>([
    [
      'artifacts',
      ' ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact"',
      '',
      ['Requester', 'UnsupportedBinding'],
    ],
    ['an unknown NameID', '', '<samlp:NameIDPolicy Format="urn:x"/>', ['Requester', 'InvalidNameIDPolicy']],
    [
      'a NameID format that it may not request',
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
  ])('gets its status at once for %s', async (_what, attributes, body, codes) => {
    await expectStatus(await open(attributes, body), ...codes);
  });

  it('gets InvalidNameIDPolicy when the user needs a new identifier, and the registration requires AllowCreate', async () => {
    const strict = await aLiveSp(idp, { name_id_format: 'persistent', require_allow_create: true });
    const fresh = await aSamlUser(idp.services);
    const openWith = (policy: string) => open('', policy, strict);
    const status = 'status:InvalidNameIDPolicy';
    const page = await openWith('<samlp:NameIDPolicy AllowCreate="false"/>');
    expect(answerIn(await fresh.withPassword(browser, page))).toContain(status);
    expect(answerIn(await openWith('<samlp:NameIDPolicy/>'))).toContain(status);
    expect(answerIn(await openWith(''))).toContain(status);
    expect(answerIn(await openWith('<samlp:NameIDPolicy AllowCreate="true"/>'))).toContain('<saml:Assertion');
    expect(answerIn(await openWith('<samlp:NameIDPolicy AllowCreate="false"/>'))).toContain('<saml:Assertion');
  });
});

describe('a first sign-in', () => {
  it.each([
    '',
    '<samlp:NameIDPolicy/>',
    '<samlp:NameIDPolicy AllowCreate="false"/>',
    '<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent" AllowCreate="false"/>',
  ])('gets a new identifier by default, also with %j', async (policy) => {
    const fresh = await aSamlUser(idp.services);
    expect(answerIn(await fresh.withPassword(browser, await open('', policy)))).toContain('<saml:Assertion');
  });
});

describe('a user', () => {
  it('causes RequestDenied by cancelling', async () => {
    const page = await open();
    await expectStatus(
      await browser.follow(await browser.submit(page, {}, { form: '/cancel' })),
      'Responder',
      'RequestDenied',
    );
  });

  it('is counted as a rejected Response after cancelling', async () => {
    const token = 'c4'.repeat(16);
    const counting = await startIdp({ environment: { METRICS_TOKEN: token } });
    const client = httpClient(counting.issuer);
    const { request } = await aLiveSp(counting, { access: 'everyone' });
    const page = await client.follow(await redirect(client, request()));
    const canceled = await client.follow(await client.submit(page, {}, { form: '/cancel' }));
    expect(answerIn(canceled)).toContain('status:RequestDenied');
    const metrics = await client.get('/metrics', { headers: { authorization: `Bearer ${token}` } });
    expect(metrics.text).toContain('gatehouse_saml_responses_total{outcome="rejected"} 1');
    await counting.stop();
  });

  it('gets no email identifier without a verified address', async () => {
    const mails = await aLiveSp(idp, { name_id_format: 'emailAddress' });
    const page = await person.withPassword(browser, await open('', '', mails));
    expect(answerIn(page)).toContain('status:InvalidNameIDPolicy');
  });

  it('sees the reason when the access rule denies access, and the service provider gets RequestDenied', async () => {
    await idp.services.roles.create({ name: 'saml-editor', description: '', permissions: [] });
    const closed = await aLiveSp(idp, { name: 'Editors only', access: { roles: ['saml-editor'] } });
    const page = await person.withPassword(browser, await open('', '', closed));
    expect(page.status).toBe(403);
    expect(page.text).toContain('Editors only');
    const decided = await browser.follow(await browser.submit(page, { decision: 'deny' }));
    expect(answerIn(decided)).toContain('status:RequestDenied');
    expect(decided.forms[0]?.action).toBe(closed.acs);
    const about = { clientId: closed.entityId, limit: 9 };
    const { rejections } = await idp.services.rejections.list(about);
    expect(rejections.map(({ endpoint }) => endpoint)).toEqual(['access']);
    const other = await browser.follow(await browser.submit(await open('', '', closed), { decision: 'other' }));
    expect(other.text).toContain('autocomplete="current-password"');
    await idp.services.roles.assign(person.account.id, 'saml-editor').catch(() => undefined);
  });

  it('sees a page with the name of the application when no Response can be sent', async () => {
    const page = await redirect(
      browser,
      sp.request({ attributes: ' AssertionConsumerServiceURL="https://evil.example/"' }),
    );
    expect(page.status).toBe(400);
    expect(page.text).toContain(sp.name);
    expect(page.text).toContain('The ACS URL in the request isn&#39;t registered');
  });

  it.each([
    ['breaks the schema', ' ForceAuthn="False"', 'not_schema_valid'],
    ['has another version', ' Version="1.1"', 'wrong_version'],
  ])(
    'sees that name too when the request %s, and the rejection is one of the application',
    async (_what, attribute, reason) => {
      const [name = ''] = attribute.trim().split('=');
      const xml = sp
        .request()
        .replace(new RegExp(` ${name}="[^"]*"`), '')
        .replace(' ID=', `${attribute} ID=`);
      const page = await redirect(browser, xml);
      expect(page.status).toBe(400);
      expect(page.text).toContain(sp.name);
      const { rejections } = await idp.services.rejections.list({ clientId: sp.entityId });
      const received = { Issuer: sp.entityId, binding: 'redirect' };
      expect(rejections[0]).toMatchObject({ reason, received });
      expect(page.text).toContain(rejections[0]?.code);
    },
  );
});

describe('a message of an application whose stored metadata is not valid any more', () => {
  it.each(['AuthnRequest', 'LogoutRequest'])('gets an error page, and is recorded: %s', async (kind) => {
    const old = await aLiveSp(idp);
    const { db } = idp.services;
    const row = await db.asStored.application.findUniqueOrThrow({ where: { clientId: old.entityId } });
    const metadata = JSON.stringify({ ...JSON.parse(row.metadata), metadata_xml: '<EntityDescriptor/>' });
    await db.asStored.application.update({ where: { id: row.id }, data: { metadata, mac: '' } });
    await signRows(idp.services);
    const isLogout = kind === 'LogoutRequest';
    const [xml, path] = isLogout ? [old.logout('ann'), '/saml/slo'] : [old.request(), '/saml/sso'];
    const page = await redirect(browser, xml, { path });
    expect(page.status).toBe(400);
    const { rejections } = await idp.services.rejections.list({ clientId: old.entityId });
    expect(rejections).toHaveLength(1);
    expect(page.text).toContain(rejections[0]?.code);
  });
});
