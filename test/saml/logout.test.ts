// Logout messages in both directions, with node-saml and samlify at the other end.
import { SAML } from '@node-saml/node-saml';
import { describe, expect, it } from 'vitest';
import { postMessage, redirectUrl } from '../../src/protocols/saml/messages/encode.ts';
import { readLogoutRequest, readLogoutResponse } from '../../src/protocols/saml/messages/read-logout.ts';
import { logoutRequest, logoutResponse } from '../../src/protocols/saml/messages/write-logout.ts';
import { selectSessions } from '../../src/protocols/saml/slo/session-participants.ts';
import { nameIdFormats, statusCodes } from '../../src/protocols/saml/xml/names.ts';
import { maySign, receivePost, receiveRedirect } from './receive.ts';
import {
  idp,
  idpCredential,
  logoutRequestXml,
  now,
  samlErrorCode,
  schemas,
  signer,
  signXml,
  sp,
  spCredential,
} from './support.ts';

const slo = 'https://id.example/saml/slo';
const theirs = 'https://sp.example/slo?tenant=1';
const expectation = { entityId: sp.entityId, endpoint: slo, now };
const issued = {
  value: 'opaque',
  format: nameIdFormats.persistent,
  nameQualifier: idp.entityId,
  spNameQualifier: sp.entityId,
};
const parties = { identityProvider: idp.entityId, serviceProvider: sp.entityId };
const nodeSaml = () =>
  new SAML({
    callbackUrl: sp.acs,
    entryPoint: idp.sso,
    logoutUrl: slo,
    logoutCallbackUrl: 'https://sp.example/slo',
    issuer: sp.entityId,
    idpIssuer: idp.entityId,
    idpCert: idpCredential.certificatePem,
    privateKey: spCredential.privatePem,
    signatureAlgorithm: 'sha256',
  });
const profile = {
  issuer: sp.entityId,
  ID: '_1',
  nameID: 'opaque',
  nameIDFormat: issued.format,
  nameQualifier: idp.entityId,
  spNameQualifier: sp.entityId,
  sessionIndex: 's1',
};
const queryOf = (url: string) => url.slice(url.indexOf('?') + 1);

describe('a LogoutRequest from a service provider', () => {
  it('is read from node-saml with everything that identifies the session', async () => {
    const url = await nodeSaml().getLogoutUrlAsync(profile, "it's here", {});
    const message = await receiveRedirect(queryOf(url));
    const request = readLogoutRequest(message, { ...expectation, now: new Date() });
    expect(request).toMatchObject({ issuer: sp.entityId, nameId: issued, sessionIndexes: ['s1'], signed: true });
  });

  it('ends the sessions that it names, of this user, and no others', () => {
    const session = (value: string, sessionIndex: string) => ({ nameId: { ...issued, value }, sessionIndex });
    const sessions = [session('opaque', 's1'), session('opaque', 's2'), session('other', 's1')];
    const pick = (...sessionIndexes: string[]) => selectSessions({ nameId: issued, sessionIndexes }, sessions, parties);
    expect(pick('s1')).toEqual([sessions[0]]);
    expect(pick('s1', 's2', 's9')).toEqual([sessions[0], sessions[1]]);
    expect(pick()).toEqual([sessions[0], sessions[1]]);
    expect(pick('s9')).toEqual([]);
  });

  it('counts with another format when it has the SessionIndex, and with an alias of the format without one', () => {
    const sessions = [{ nameId: issued, sessionIndex: 's1' }];
    const pick = (format: string, ...sessionIndexes: string[]) =>
      selectSessions({ nameId: { ...issued, format }, sessionIndexes }, sessions, parties);
    expect(pick(nameIdFormats.emailAddress, 's1')).toEqual(sessions);
    expect(pick(nameIdFormats.emailAddress)).toEqual([]);
    expect(pick(nameIdFormats.emailAddress, 's2')).toEqual([]);
    expect(pick('urn:oasis:names:tc:SAML:1.1:nameid-format:persistent')).toEqual(sessions);
  });

  it.each([
    ['of another issuer', signXml(logoutRequestXml().replace(sp.entityId, 'urn:x')), {}, 'wrong_issuer'],
    ['for another address', signXml(logoutRequestXml().replace(slo, idp.sso)), {}, 'wrong_destination'],
    ['without an address', signXml(logoutRequestXml().replace(` Destination="${slo}"`, '')), {}, 'wrong_destination'],
    ['that is old', signXml(logoutRequestXml()), { now: new Date(now.getTime() + 301_000) }, 'expired'],
    ['from the future', signXml(logoutRequestXml()), { now: new Date(now.getTime() - 301_000) }, 'from_future'],
    [
      'past its own end',
      signXml(logoutRequestXml().replace(' ID=', ` NotOnOrAfter="${now.toISOString()}" ID=`)),
      {},
      'expired',
    ],
  ])('is rejected %s', async (_name, xml, changes, code) => {
    expect(
      await samlErrorCode(async () => readLogoutRequest(await receivePost(xml), { ...expectation, ...changes })),
    ).toBe(code);
  });

  it('is rejected unsigned, also where requests for sign-in need no signature', async () => {
    const message = await receivePost(logoutRequestXml(), maySign);
    expect(await samlErrorCode(() => readLogoutRequest(message, expectation))).toBe('signature_missing');
  });

  it('has no NameID when the identifier is encrypted', async () => {
    const encrypted =
      '<saml:EncryptedID><x:EncryptedData xmlns:x="http://www.w3.org/2001/04/xmlenc#"><x:CipherData><x:CipherValue>AAAA</x:CipherValue></x:CipherData></x:EncryptedData></saml:EncryptedID>';
    const xml = signXml(logoutRequestXml().replace(/<saml:NameID>.*<\/saml:NameID>/, encrypted));
    expect(readLogoutRequest(await receivePost(xml), expectation).nameId).toBeUndefined();
  });
});

describe('a LogoutRequest of the IdP', () => {
  const message = () =>
    logoutRequest({
      id: '_l1',
      issuer: idp.entityId,
      destination: theirs,
      now: new Date(),
      nameId: issued,
      sessionIndexes: ['s1', 's2'],
    });

  it('is accepted by node-saml by redirect and by POST, NameID as issued', async () => {
    const url = redirectUrl(
      { location: theirs, parameter: 'SAMLRequest', message: message(), relayState: `it's "so" (far)!*` },
      signer,
    );
    expect(url.slice(0, url.indexOf('=', theirs.length))).toBe(`${theirs}&SAMLRequest`);
    expect(url).not.toMatch(/['"()!* ]/);
    const byRedirect = await nodeSaml().validateRedirectAsync(
      Object.fromEntries(new URL(url).searchParams),
      queryOf(url),
    );
    const byPost = await nodeSaml().validatePostRequestAsync({ SAMLRequest: postMessage(message(), signer) });
    const { value, format, nameQualifier, spNameQualifier } = issued;
    const expected = { nameID: value, nameIDFormat: format, ID: '_l1' };
    expect(byRedirect.profile).toMatchObject(expected);
    // node-saml drops the qualifiers when it reads a request; that they were sent is checked on the text.
    expect(byPost.profile).toMatchObject(expected);
    const text = Buffer.from(postMessage(message(), signer), 'base64').toString();
    expect(text).toContain(` NameQualifier="${nameQualifier}" SPNameQualifier="${spNameQualifier}">${value}<`);
  });

  it('stays valid when the browser rewrites the URL', async () => {
    const url = redirectUrl(
      { location: theirs, parameter: 'SAMLRequest', message: message(), relayState: "O'Brien" },
      signer,
    );
    expect(new URL(url).href).toBe(url);
  });

  it('follows the schema', () => {
    expect(schemas.protocol(Buffer.from(postMessage(message(), signer), 'base64').toString())).toBeUndefined();
  });
});

describe('a LogoutResponse', () => {
  const ownResponse = (subcode?: string) =>
    logoutResponse({
      id: '_r1',
      issuer: idp.entityId,
      destination: theirs,
      now: new Date(),
      inResponseTo: '_l1',
      status: { code: statusCodes.Success, ...(subcode ? { subcode } : {}) },
    });

  it('follows the schema and is accepted by node-saml', async () => {
    const post = postMessage(ownResponse(statusCodes.PartialLogout), signer);
    expect(schemas.protocol(Buffer.from(post, 'base64').toString())).toBeUndefined();
    const url = redirectUrl({ location: theirs, parameter: 'SAMLResponse', message: ownResponse() }, signer);
    const seen = await nodeSaml().validateRedirectAsync(Object.fromEntries(new URL(url).searchParams), queryOf(url));
    expect(seen.loggedOut).toBe(true);
    await expect(
      nodeSaml().validatePostResponseAsync({ SAMLResponse: postMessage(ownResponse(), signer) }),
    ).resolves.toMatchObject({ loggedOut: true });
  });

  it('is accepted from node-saml for the request that it answers, and for no other', async () => {
    for (const success of [true, false]) {
      const url = await nodeSaml().getLogoutResponseUrlAsync({ ...profile, ID: '_l1' }, '', {}, success);
      const message = await receiveRedirect(queryOf(url));
      const at = { ...expectation, now: new Date() };
      expect(readLogoutResponse(message, { ...at, requestId: '_l1' })).toMatchObject({
        succeeded: success,
        inResponseTo: '_l1',
      });
      expect(await samlErrorCode(() => readLogoutResponse(message, { ...at, requestId: '_l2' }))).toBe(
        'unexpected_response',
      );
    }
  });
});
