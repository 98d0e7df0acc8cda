// LogoutRequests of a SAML upstream: they end our session and everything downstream, by each binding, when they are signed.
import { beforeAll, describe, expect, it } from 'vitest';
import { redirectUri } from '../oidc/support.ts';
import { aCredential, postBody, redirectQuery, schemas, signQuery, signXml } from '../saml/support.ts';
import { anRsaKey } from '../support/applications/rsa-keys.ts';
import { aClient } from '../support/factories.ts';
import type { HttpClient, Page } from '../support/http.ts';
import { httpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { expectSignedIn } from '../support/pages/enter.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import {
  answerXml,
  aSamlUpstream,
  beginAt,
  postAnswer,
  requestIn,
  type SamlUpstream,
} from '../support/upstream/saml-upstream.ts';
import { accountOf, isAtApplication } from './support.ts';

let idp: TestIdp;
let school: SamlUpstream;
let clientId: string;
let count = 0;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  school = await aSamlUpstream(idp);
  const slo_url = `https://${school.connection}.example/slo`;
  school = await aSamlUpstream(idp, { slo_url });
  ({ clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] }));
});

interface SignedIn {
  browser: HttpClient;
  nameId: string;
  sessions(): Promise<number>;
}

async function signedIn(application = clientId): Promise<SignedIn> {
  count += 1;
  const nameId = `logout-${count}`;
  const { browser, requestId } = await beginAt(idp, school, { clientId: application });
  const posted = await postAnswer(browser, answerXml(idp, school, requestId, { nameId }));
  expectSignedIn(await browser.follow(posted, isAtApplication));
  const account = await accountOf(idp, school.connection, nameId);
  return { browser, nameId, sessions: async () => (await idp.services.sessions.list(account?.id ?? '')).length };
}

/** A LogoutRequest as text; `sessionIndex` is that of the answers. */
function logoutRequest(nameId: string, { sessionIndex = 'session-1', issuer = school.entityId } = {}): string {
  const format = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
  return (
    `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"` +
    ` ID="_l${crypto.randomUUID()}" Version="2.0" IssueInstant="${new Date().toISOString()}" Destination="${idp.issuer}/saml/sp/slo">` +
    `<saml:Issuer>${issuer}</saml:Issuer><saml:NameID Format="${format}">${nameId}</saml:NameID>` +
    `<samlp:SessionIndex>${sessionIndex}</samlp:SessionIndex></samlp:LogoutRequest>`
  );
}

const ownKey = () => ({ key: school.credential.privateKey, certificatePem: school.credential.certificatePem });
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' };
const post = (browser: HttpClient, xml: string) =>
  browser.post('/saml/sp/slo', { body: postBody(xml, 'state of the upstream'), headers: FORM });
const atUpstream = (url: string) => url.includes('SAMLResponse=');

/** The LogoutResponse that the browser brings to the upstream, through the steps of the logout run. */
async function answerOf(browser: HttpClient, first: Page): Promise<string> {
  let page = await browser.follow(first, atUpstream);
  for (let hops = 0; page.location === undefined && hops < 5; hops += 1)
    page = await browser.follow(await browser.get(page.url), atUpstream);
  expect(new URL(page.location ?? '').searchParams.get('RelayState')).toBe('state of the upstream');
  return requestIn((page.location ?? '').replace('SAMLResponse=', 'SAMLRequest=')).xml;
}

describe('a LogoutRequest of a SAML upstream', () => {
  it('ends the session by redirect, and is answered', async () => {
    const { browser, nameId, sessions } = await signedIn();
    expect(await sessions()).toBe(1);
    const query = signQuery(redirectQuery(logoutRequest(nameId), 'state of the upstream'), {
      key: school.credential.privateKey,
    });
    const xml = await answerOf(browser, await browser.get(`/saml/sp/slo?${query}`));
    expect(await sessions()).toBe(0);
    expect(schemas.protocol(xml)).toBeUndefined();
    expect(xml).toContain('status:Success');
  });

  it('is recorded among the rejected requests when it cannot be decoded, by each binding', async () => {
    const reference = /Error reference: <strong[^>]*>([A-Z0-9-]+)</;
    const browser = httpClient(idp.issuer);
    const soap = { 'content-type': 'text/xml' };
    const pages = [
      await browser.get('/saml/sp/slo/browser?SAMLRequest=%21%21'),
      await browser.post('/saml/sp/slo', { body: 'SAMLRequest=%21%21', headers: FORM }),
      await browser.post('/saml/sp/slo', { body: '<x/>', headers: { ...soap, accept: 'text/html' } }),
    ];
    for (const page of pages) {
      expect(page.status).toBe(400);
      const code = reference.exec(page.text)?.[1] ?? expect.fail(page.text);
      expect(await idp.services.rejections.find(code)).toMatchObject({ endpoint: 'upstream' });
    }
  });

  it('stays usable for the browser after a probe of the upstream, by GET or HEAD and without cookies', async () => {
    const { browser, nameId, sessions } = await signedIn();
    const query = signQuery(redirectQuery(logoutRequest(nameId), 'state of the upstream'), {
      key: school.credential.privateKey,
    });
    const url = `${idp.issuer}/saml/sp/slo?${query}`;
    for (const method of ['GET', 'HEAD']) {
      const probe = await fetch(url, { method, redirect: 'manual' });
      // To its own address: a probe does not go on, and a browser does.
      expect([probe.status, new URL(probe.headers.get('location') ?? '', url).pathname]).toEqual([
        303,
        '/saml/sp/slo/browser',
      ]);
      expect(await sessions()).toBe(1);
    }
    const xml = await answerOf(browser, await browser.get(`/saml/sp/slo?${query}`));
    expect(await sessions()).toBe(0);
    expect(xml).toContain('status:Success');
  });

  it('ends the session at once without cookies: by GET after the redirect, and by POST', async () => {
    const first = await signedIn();
    const query = signQuery(redirectQuery(logoutRequest(first.nameId), 'state of the upstream'), {
      key: school.credential.privateKey,
    });
    const head = await fetch(`${idp.issuer}/saml/sp/slo/browser?${query}`, { method: 'HEAD', redirect: 'manual' });
    expect([head.status, await first.sessions()]).toEqual([303, 1]);
    const got = await fetch(`${idp.issuer}/saml/sp/slo/browser?${query}`, { redirect: 'manual' });
    expect(got.headers.get('location')).toContain('SAMLResponse=');
    const second = await signedIn();
    const body = postBody(signXml(logoutRequest(second.nameId), ownKey()));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const posted = await fetch(`${idp.issuer}/saml/sp/slo`, { method: 'POST', body, headers, redirect: 'manual' });
    expect(posted.headers.get('location')).toContain('SAMLResponse=');
    expect([await first.sessions(), await second.sessions()]).toEqual([0, 0]);
  });

  it('is answered at once inside a frame, where no page opens: the server notifies the applications that it can reach', async () => {
    const uri = `${idp.issuer}/none`;
    const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';
    for (const [metadata, statuses] of [
      [{ backchannel_logout_uri: uri }, [success]],
      [{ frontchannel_logout_uri: uri }, [success, 'urn:oasis:names:tc:SAML:2.0:status:PartialLogout']],
    ] as const) {
      const application = await aClient(idp.services, {
        redirect_uris: [redirectUri, `${idp.issuer}/cb`],
        ...metadata,
      });
      const { browser, nameId, sessions } = await signedIn(application.clientId);
      const query = signQuery(redirectQuery(logoutRequest(nameId), 'state of the upstream'), {
        key: school.credential.privateKey,
      });
      const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' };
      const answered = await browser.get(`/saml/sp/slo?${query}`, { headers });
      expect([new URL(answered.location ?? idp.issuer).pathname, await sessions()]).toEqual(['/slo', 0]);
      const { xml } = requestIn((answered.location ?? '').replace('SAMLResponse=', 'SAMLRequest='));
      expect([...xml.matchAll(/StatusCode Value="([^"]+)"/g)].map(([, status]) => status)).toEqual(statuses);
      await idp.services.db.logoutDelivery.deleteMany({ where: { clientId: application.clientId } });
    }
  });

  it('is answered by POST from a page that only the upstream may frame', async () => {
    const entity_id = 'https://framing.example/metadata';
    const metadata = `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entity_id}">
      <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
      <md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://framing.example/slo"/>
      <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://framing.example/sso"/>
      </md:IDPSSODescriptor></md:EntityDescriptor>`;
    const framing = { ...(await aSamlUpstream(idp, { entity_id, metadata })), entityId: entity_id };
    const { browser, requestId } = await beginAt(idp, framing, { clientId });
    await browser.follow(
      await postAnswer(browser, answerXml(idp, framing, requestId, { nameId: 'framed' })),
      isAtApplication,
    );
    const { privateKey: key, certificatePem } = framing.credential;
    const body = postBody(signXml(logoutRequest('framed', { issuer: entity_id }), { key, certificatePem }));
    const page = await browser.post('/saml/sp/slo', { body, headers: { ...FORM, 'sec-fetch-dest': 'iframe' } });
    expect([page.status, page.forms[0]?.action, Object.keys(page.forms[0]?.fields ?? {})]).toEqual([
      200,
      'https://framing.example/slo',
      ['SAMLResponse'],
    ]);
    expect(page.headers['x-frame-options']).toBeUndefined();
    expect(page.headers['content-security-policy']).toMatch(/frame-ancestors 'self' https:\/\/framing\.example(;|$)/);
  });

  it('ends the session by POST, and is answered', async () => {
    const { browser, nameId, sessions } = await signedIn();
    const xml = await answerOf(browser, await post(browser, signXml(logoutRequest(nameId), ownKey())));
    expect(await sessions()).toBe(0);
    expect(xml).toContain('status:Success');
  });

  it('ends the session of each connection to that upstream, by the keys of the connection', async () => {
    const same = { entity_id: school.entityId, slo_url: `https://${school.connection}.example/slo` };
    const first = await aSamlUpstream(idp, same);
    const second = await aSamlUpstream(idp, { ...same, certificates: [school.credential.certificatePem] });
    const through = async (connection: string, credential: SamlUpstream['credential'], nameId: string) => {
      const upstream = { connection, entityId: school.entityId, credential };
      const { browser, requestId } = await beginAt(idp, upstream, { clientId });
      await browser.follow(await postAnswer(browser, answerXml(idp, upstream, requestId, { nameId })), isAtApplication);
      const account = await accountOf(idp, connection, nameId);
      return { browser, sessions: async () => (await idp.services.sessions.list(account?.id ?? '')).length };
    };
    const other = await through(first.connection, first.credential, 'in-two');
    const ended = await through(second.connection, school.credential, 'in-two');
    expect([await other.sessions(), await ended.sessions()]).toEqual([1, 1]);
    await answerOf(ended.browser, await post(ended.browser, signXml(logoutRequest('in-two'), ownKey())));
    expect([await other.sessions(), await ended.sessions()]).toEqual([1, 0]);
  });

  it('ends the session by SOAP, without the browser', async () => {
    const { nameId, sessions } = await signedIn();
    const request = signXml(logoutRequest(nameId), ownKey());
    const body = `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${request}</soap:Body></soap:Envelope>`;
    const page = await httpClient(idp.issuer).post('/saml/sp/slo', { body, headers: { 'content-type': 'text/xml' } });
    expect(page.status, page.text).toBe(200);
    expect(page.text).toContain('status:Success');
    expect(await sessions()).toBe(0);
  });

  it('ends no session without a valid signature, or when it is used again', async () => {
    const { browser, nameId, sessions } = await signedIn();
    const other = aCredential();
    expect((await post(browser, logoutRequest(nameId))).status).toBe(400);
    expect(
      (
        await post(
          browser,
          signXml(logoutRequest(nameId), { key: other.privateKey, certificatePem: other.certificatePem }),
        )
      ).status,
    ).toBe(400);
    const query = redirectQuery(logoutRequest(nameId));
    expect((await browser.get(`/saml/sp/slo?${query}`)).status).toBe(400);
    const { privateKey } = anRsaKey();
    expect((await browser.get(`/saml/sp/slo?${signQuery(query, { key: privateKey })}`)).status).toBe(400);
    const used = signXml(logoutRequest('nobody'), ownKey());
    expect((await post(browser, used)).status).toBe(303);
    expect((await post(browser, used)).status).toBe(400);
    expect(await sessions()).toBe(1);
  });

  it('ends no session of another user, another session or another connection', async () => {
    const { browser, nameId, sessions } = await signedIn();
    const other = await aSamlUpstream(idp, { slo_url: 'https://other.example/slo' });
    const byOther = { key: other.credential.privateKey, certificatePem: other.credential.certificatePem };
    for (const xml of [
      signXml(logoutRequest('another-user'), ownKey()),
      signXml(logoutRequest(nameId, { sessionIndex: 'session-2' }), ownKey()),
      signXml(logoutRequest(nameId, { issuer: other.entityId }), byOther),
    ]) {
      const page = await post(browser, xml);
      expect(page.location).toContain('SAMLResponse=');
      expect(requestIn((page.location ?? '').replace('SAMLResponse=', 'SAMLRequest=')).xml).toContain(
        'UnknownPrincipal',
      );
    }
    expect(await sessions()).toBe(1);
  });
});

describe('a logout that begins here', () => {
  it('sends a signed LogoutRequest to the upstream at last, and only its signed answer counts', async () => {
    const results: string[] = [];
    for (const isSigned of [true, false]) {
      const { browser, nameId, sessions } = await signedIn();
      const page = await browser.follow(await browser.get('/logout'));
      const out = await browser.submit(page, { logout: 'yes' });
      const run = await browser.follow(out);
      const account = await accountOf(idp, school.connection, nameId);
      const where = { channel: 'upstream', run: { userId: account?.id ?? '' } };
      const { id, runId } = await idp.services.db.asStored.logoutParticipant.findFirstOrThrow({ where });
      // The upstream of this test answers no probe.
      await idp.services.db.asStored.logoutParticipant.update({
        where: { id },
        data: { probeResult: 'answers', state: 'waiting', reason: null, settledAt: null },
      });
      const sent = await browser.get(`/signout/${runId}/to/${id}`);
      const request = requestIn(sent.location ?? '');
      expect(run.status).toBe(200);
      expect(request.xml).toContain(nameId);
      expect(await sessions()).toBe(0);
      expect(new URL(sent.location ?? '').searchParams.get('Signature')).toBeTruthy();
      const requestId = /ID="([^"]+)"/.exec(request.xml)?.[1];
      const response =
        `<samlp:LogoutResponse xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"` +
        ` ID="_r${crypto.randomUUID()}" Version="2.0" IssueInstant="${new Date().toISOString()}" Destination="${idp.issuer}/saml/sp/slo"` +
        ` InResponseTo="${requestId}"><saml:Issuer>${school.entityId}</saml:Issuer><samlp:Status><samlp:StatusCode` +
        ` Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status></samlp:LogoutResponse>`;
      const body = new URLSearchParams({
        SAMLResponse: Buffer.from(isSigned ? signXml(response, ownKey()) : response).toString('base64'),
      });
      const back = await browser.post('/saml/sp/slo', { body: body.toString(), headers: FORM });
      expect([back.status, new URL(back.location ?? idp.issuer).pathname]).toEqual([303, `/signout/${runId}`]);
      results.push(textOf((await browser.get(back.location ?? '')).text));
    }
    expect(results[0]).toContain('Signed out.');
    expect(results[1]).toContain('The app sent an invalid response.');
  });
});
