// Sign-in over a SAML connection: the request, the answer in its accepted forms, and what it says about the user.
import { beforeAll, describe, expect, it } from 'vitest';
import { identityProviderMetadata } from '../../src/protocols/saml/metadata/presentation.ts';
import { algorithms } from '../../src/protocols/saml/xml/names.ts';
import { redirectUri } from '../oidc/support.ts';
import { aCredential, type Credential, schemas } from '../saml/support.ts';
import { aClient } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { listen } from '../support/listen.ts';
import { expectNotSignedIn, expectSignedIn } from '../support/pages/enter.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import {
  type AnswerParts,
  answerXml,
  aSamlUpstream,
  beginAt,
  postAnswer,
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
  ({ clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] }));
});

const ownCertificate = () =>
  idp.services.keyring.serviceProviderCertificates('saml-sp-encryption')[0]?.certificatePem ?? '';

/** A whole sign-in with this answer. */
async function signIn(
  parts: AnswerParts = {},
  { upstream = school, ...parameters }: { upstream?: SamlUpstream } & Record<string, unknown> = {},
) {
  count += 1;
  const subject = parts.nameId === undefined ? `subject-${count}-${upstream.connection}` : (parts.nameId ?? '');
  const begun = await beginAt(idp, upstream, { clientId, ...parameters });
  const xml = answerXml(idp, upstream, begun.requestId, { nameId: subject, ...parts });
  const posted = await postAnswer(begun.browser, xml, { relayState: begun.requestId });
  const page = await begun.browser.follow(posted, isAtApplication);
  return { begun, posted, page, subject, account: () => accountOf(idp, upstream.connection, subject) };
}

describe('the request to a SAML upstream', () => {
  it('is signed by the key of the service provider, follows the schema and demands a persistent NameID', async () => {
    const { xml, location } = await beginAt(idp, school, { clientId });
    expect(schemas.protocol(xml)).toBeUndefined();
    expect(xml).toContain(`AssertionConsumerServiceURL="${idp.issuer}/saml/acs"`);
    expect(xml).toContain(
      `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${idp.issuer}/saml/sp/metadata`,
    );
    expect(xml).toContain('nameid-format:persistent');
    expect(xml).not.toContain('ForceAuthn');
    expect(location.searchParams.get('SigAlg')).toBe(algorithms.rsaSha256);
  });

  it('asks for a new authentication for prompt=login and for max_age', async () => {
    for (const parameters of [{ prompt: 'login' }, { max_age: '60' }])
      expect((await beginAt(idp, school, { clientId, ...parameters })).xml).toContain('ForceAuthn="true"');
  });

  it('names the classes of the connection, and another name for this server, where they are declared', async () => {
    const name = 'urn:example:gatehouse';
    const mfa = 'https://refeds.org/profile/mfa';
    const upstream = await aSamlUpstream(idp, { sp_entity_id: name, acr_values: { mfa: [mfa] } });
    const { xml } = await beginAt(idp, upstream, { clientId, acr_values: 'urn:gatehouse:acr:mfa' });
    expect(schemas.protocol(xml)).toBeUndefined();
    expect(xml).toContain(name);
    expect(xml).toContain(`<saml:AuthnContextClassRef xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${mfa}`);
    const metadata = await httpClient(idp.issuer).get(`/saml/sp/metadata?connection=${upstream.connection}`);
    expect(metadata.text).toContain(`entityID="${name}"`);
  });
});

describe('the metadata of the service provider', () => {
  it('follows the schema and has keys of its own', async () => {
    const { text, headers } = await httpClient(idp.issuer).get('/saml/sp/metadata');
    expect(headers['content-type']).toContain('application/samlmetadata+xml');
    expect(schemas.metadata(text)).toBeUndefined();
    expect(text).toContain(`Location="${idp.issuer}/saml/acs"`);
    const ofIdp = (await httpClient(idp.issuer).get('/saml/metadata')).text;
    const certificates = [...text.matchAll(/X509Certificate>([^<]+)</g)].map(([, one]) => one ?? '');
    expect(certificates).toHaveLength(2);
    for (const one of certificates) expect(ofIdp).not.toContain(one);
  });
});

describe('an answer of a SAML upstream', () => {
  it.each(['assertion', 'response', 'both'] as const)('signs in with a signature over %s', async (sign) => {
    const { posted, page } = await signIn({ sign });
    expect(posted.status, posted.text).toBe(303);
    expect(posted.setCookie.join()).not.toContain('session');
    expectSignedIn(page);
  });

  it.each(['assertion', 'response', 'both'] as const)('signs in encrypted with a signature over %s', async (sign) => {
    const { aes256Gcm, aes128Gcm, rsaOaep, rsaOaep11 } = algorithms;
    for (const algorithm of [aes256Gcm, aes128Gcm])
      for (const transport of [rsaOaep, rsaOaep11]) {
        const { page } = await signIn({ sign, encrypt: { certificate: ownCertificate(), algorithm, transport } });
        expectSignedIn(page, `${algorithm} ${transport}`);
      }
  });

  it('makes an account from attributes by their OID, WS-Federation or plain names', async () => {
    const oids = {
      'urn:oid:0.9.2342.19200300.100.1.3': 'otto@oid.example',
      'urn:oid:2.16.840.1.113730.3.1.241': 'O. Id',
      'urn:oid:2.5.4.42': 'Otto',
      'urn:oid:2.5.4.4': 'Id',
    };
    const ws = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/';
    const wsFed = {
      [`${ws}emailaddress`]: 'wanda@wsfed.example',
      [`${ws}givenname`]: 'Wanda',
      [`${ws}surname`]: 'Fed',
    };
    const upstream = await aSamlUpstream(idp, { domains: ['oid.example', 'wsfed.example'] }, { proven: true });
    const byOid = await signIn({ attributes: oids }, { upstream });
    expect(await byOid.account()).toMatchObject({
      email: 'otto@oid.example',
      name: 'O. Id',
      givenName: 'Otto',
      familyName: 'Id',
    });
    const byWs = await signIn({ attributes: wsFed }, { upstream });
    expect(await byWs.account()).toMatchObject({ email: 'wanda@wsfed.example', givenName: 'Wanda', familyName: 'Fed' });
    // Its domains would make the sign-in page of other tests ask for the address first.
    await idp.services.connections.remove(upstream.connection, { source: 'file' });
  });

  it('never trusts an address of a domain that is not proven', async () => {
    const { account } = await signIn({ attributes: { mail: 'claimed@elsewhere.example', email_verified: 'true' } });
    expect(await account()).toMatchObject({ email: null, emailVerified: false });
  });

  it('trusts every address where the connection says so, but one that the upstream calls unverified', async () => {
    const upstream = await aSamlUpstream(idp, { trusted_email: 'verified' });
    const attributes = { mail: 'trusted@upstream.example' };
    const trusted = await signIn({ attributes }, { upstream });
    expect(await trusted.account()).toMatchObject({ email: attributes.mail, emailVerified: true });
    const unverified = { mail: 'unverified@upstream.example', email_verified: 'false' };
    const { account } = await signIn({ attributes: unverified }, { upstream });
    expect(await account()).toMatchObject({ email: null, emailVerified: false });
  });

  it('signs the same user in again by the persistent NameID', async () => {
    const first = await signIn();
    const before = await first.account();
    const again = await signIn({ nameId: first.subject });
    expectSignedIn(again.page);
    expect((await again.account())?.id).toBe(before?.id);
  });

  it('takes an attribute as subject where the connection names one, whatever the NameID is', async () => {
    const upstream = await aSamlUpstream(idp, { subject_attribute: 'employeeNumber' });
    const format = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
    const { page } = await signIn({ nameId: 'changes', format, attributes: { employeeNumber: '4711' } }, { upstream });
    expectSignedIn(page);
    expect(await accountOf(idp, upstream.connection, '4711')).toBeDefined();
    expect(await accountOf(idp, upstream.connection, 'changes')).toBeUndefined();
  });

  it('gives the roles of its groups, and takes them away when they are gone', async () => {
    const role = `teacher-${process.pid}`;
    await idp.services.roles.create({ name: role });
    const upstream = await aSamlUpstream(idp, { groups_claim: 'memberOf', role_mappings: { staff: role } });
    const first = await signIn({ attributes: { memberOf: ['staff', 'library'] } }, { upstream });
    expect((await first.account())?.roles).toContain(role);
    const later = await signIn({ nameId: first.subject, attributes: { memberOf: 'library' } }, { upstream });
    expect((await later.account())?.roles).not.toContain(role);
  });

  it('explains a signed answer with an error status', async () => {
    const status = 'urn:oasis:names:tc:SAML:2.0:status:Responder';
    const { page } = await signIn({ status, sign: 'response' });
    expect(page.status).toBe(400);
    expectNotSignedIn(page);
  });
});

describe('a SAML upstream with a new key', () => {
  it('signs users in by it without waiting for the daily reading of its metadata, which answers cause every ten minutes at most', async () => {
    const [first, second, forger] = [aCredential(), aCredential(), aCredential()];
    const entityId = 'https://rolling.example/metadata';
    let published = first;
    let reads = 0;
    const server = await listen((_request, response) => {
      reads += 1;
      response.end(
        identityProviderMetadata({
          entityId,
          ssoUrl: 'https://rolling.example/sso',
          sloUrl: 'https://rolling.example/slo',
          url: entityId,
          signingCertificates: [published.certificatePem],
          wantAuthnRequestsSigned: false,
          displayName: 'Rolling',
        }),
      );
    });
    const location = { sso_url: undefined, certificates: undefined, metadata_url: `${server.origin}/metadata` };
    const { connection } = await aSamlUpstream(idp, { entity_id: entityId, ...location });
    const statusOf = async (credential: Credential) =>
      (await signIn({}, { upstream: { connection, entityId, credential } })).posted.status;
    const laterBy = (seconds: number) =>
      idp.services.db.asStored.connectionDocument.updateMany({
        where: { connectionId: connection },
        data: { readAt: new Date(Date.now() - seconds * 1000) },
      });
    expect(await statusOf(first)).toBe(303);
    published = second;
    expect([await statusOf(second), reads]).toEqual([401, 1]);
    await laterBy(601);
    expect([await statusOf(forger), await statusOf(forger), reads]).toEqual([401, 401, 2]);
    expect([await statusOf(second), await statusOf(first), reads]).toEqual([303, 401, 2]);
    published = first;
    await laterBy(601);
    expect([await statusOf(first), reads]).toEqual([303, 3]);
    await server.close();
    await idp.services.connections.remove(connection);
  });
});
