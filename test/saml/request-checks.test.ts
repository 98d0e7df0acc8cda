import { describe, expect, it } from 'vitest';
import { readAuthnRequest } from '../../src/protocols/saml/messages/authn-request.ts';
import { checkAuthnRequest, type RequestSender } from '../../src/protocols/saml/sso/request-checks.ts';
import { bindings, nameIdFormats, statusCodes } from '../../src/protocols/saml/xml/names.ts';
import { maySign, receivePost } from './receive.ts';
import { authnRequestXml, idp, now, type RequestParts, samlErrorCode, signXml, sp } from './support.ts';

const sender: RequestSender = {
  entityId: sp.entityId,
  offered: [],
  acs: [
    { url: 'https://sp.example/artifact', binding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact', index: 0 },
    { url: sp.acs, binding: bindings.post, index: 1 },
    { url: 'https://sp.example/acs2', binding: bindings.post, index: 7, isDefault: true },
  ],
};
const at = (seconds: number) => ({ endpoint: idp.sso, now: new Date(now.getTime() + seconds * 1000) });
const check = async (parts: RequestParts, changes: Partial<RequestSender> = {}, expectation = at(0)) =>
  checkAuthnRequest(
    readAuthnRequest(await receivePost(authnRequestXml(parts), maySign)),
    { ...sender, ...changes },
    expectation,
  );
const policy = (attributes: string) => `<samlp:NameIDPolicy ${attributes}/>`;
const context = (comparison: string, ...classes: string[]) =>
  `<samlp:RequestedAuthnContext Comparison="${comparison}">${classes
    .map(
      (name) =>
        `<a:AuthnContextClassRef xmlns:a="urn:oasis:names:tc:SAML:2.0:assertion">${name}</a:AuthnContextClassRef>`,
    )
    .join('')}</samlp:RequestedAuthnContext>`;

describe('an AuthnRequest', () => {
  it('is read in full', async () => {
    const subject =
      '<a:Subject xmlns:a="urn:oasis:names:tc:SAML:2.0:assertion"><a:NameID>alice@example.com</a:NameID></a:Subject>';
    const body = `${subject}${policy(`Format="${nameIdFormats.persistent}" AllowCreate="1" SPNameQualifier="${sp.entityId}"`)}${context('minimum', 'urn:a', ' urn:b\n')}<samlp:Scoping ProxyCount="0"/>`;
    const attributes = ` ForceAuthn="1" IsPassive=" false " ProtocolBinding="${bindings.post}" Consent="urn:x" ProviderName="&lt;b>"`;
    const request = readAuthnRequest(await receivePost(authnRequestXml({ body, attributes }), maySign));
    expect(request).toEqual({
      id: '_request1',
      issuer: sp.entityId,
      issueInstant: now,
      destination: idp.sso,
      signed: false,
      forceAuthn: true,
      isPassive: false,
      acsUrl: sp.acs,
      acsIndex: undefined,
      protocolBinding: bindings.post,
      nameIdPolicy: { format: nameIdFormats.persistent, allowCreate: true, spNameQualifier: sp.entityId },
      requestedAuthnContext: { comparison: 'minimum', classes: ['urn:a', 'urn:b'], declarations: [] },
      subject: { value: 'alice@example.com', format: '' },
    });
  });

  it('is rejected when it requests too many contexts, or too long names of them', async () => {
    expect(await samlErrorCode(() => check({ body: context('exact', 'x'.repeat(513)) }))).toBe('too_large');
    expect(await samlErrorCode(() => check({ body: context('exact', ...Array<string>(33).fill('urn:x')) }))).toBe(
      'too_large',
    );
  });

  it('is answered at the registered ACS that it names', async () => {
    expect(await check({})).toMatchObject({ outcome: 'accepted', acs: { url: sp.acs }, nameIdFormat: 'persistent' });
    expect(await check({ acs: '' })).toMatchObject({ acs: { url: 'https://sp.example/acs2' } });
    expect(await check({ acs: ' AssertionConsumerServiceIndex="1"' })).toMatchObject({ acs: { url: sp.acs } });
    const both = ` AssertionConsumerServiceURL="${sp.acs}" AssertionConsumerServiceIndex="1"`;
    expect(await check({ acs: both })).toMatchObject({ acs: { url: sp.acs } });
  });

  it.each([
    ['a foreign address', ' AssertionConsumerServiceURL="https://evil.example/acs"'],
    ['a longer address', ` AssertionConsumerServiceURL="${sp.acs}/x"`],
    ['a lookalike in case', ` AssertionConsumerServiceURL="${sp.acs.toUpperCase()}"`],
    ['a lookalike in letters', ' AssertionConsumerServiceURL="https://ѕp.example/acs"'],
    ['another host by user info', ' AssertionConsumerServiceURL="https://sp.example@evil.example/acs"'],
    ['dots in the path', ' AssertionConsumerServiceURL="https://sp.example/x/../acs"'],
    ['a script', ' AssertionConsumerServiceURL="javascript:alert(1)"'],
    ['the address of another binding', ' AssertionConsumerServiceURL="https://sp.example/artifact"'],
    ['the index of another binding', ' AssertionConsumerServiceIndex="0"'],
    ['an index that nobody registered', ' AssertionConsumerServiceIndex="3"'],
    [
      'the address of one and the index of another',
      ` AssertionConsumerServiceURL="${sp.acs}" AssertionConsumerServiceIndex="7"`,
    ],
    ['an address and an index of nobody', ` AssertionConsumerServiceURL="${sp.acs}" AssertionConsumerServiceIndex="3"`],
  ])('is rejected with a page for %s', async (_name, acs) => {
    expect(await samlErrorCode(() => check({ acs }))).toBe('acs_not_registered');
  });

  it.each([
    ['of another issuer', { issuer: 'https://other.example' }, {}, 'wrong_issuer'],
    ['for another destination', { destination: 'https://other.example/sso' }, {}, 'wrong_destination'],
    ['for our logout endpoint', { destination: 'https://id.example/saml/slo' }, {}, 'wrong_destination'],
    ['that is older than five minutes', {}, at(301), 'expired'],
    ['from more than five minutes ahead', {}, at(-301), 'from_future'],
  ])('is rejected with a page %s', async (_name, parts, expectation, code) => {
    expect(await samlErrorCode(() => check(parts, {}, { ...at(0), ...expectation }))).toBe(code);
  });

  it('is accepted at the edges of the five minutes, and beyond them by the skew', async () => {
    expect((await check({}, {}, at(300))).outcome).toBe('accepted');
    expect((await check({}, {}, at(-300))).outcome).toBe('accepted');
    expect((await check({}, {}, { ...at(330), skewSeconds: 60 } as ReturnType<typeof at>)).outcome).toBe('accepted');
  });

  it('needs a Destination once it is signed', async () => {
    const bare = authnRequestXml().replace(/ Destination="[^"]*"/, '');
    const read = async (xml: string) => readAuthnRequest(await receivePost(xml, maySign));
    expect(checkAuthnRequest(await read(bare), sender, at(0)).outcome).toBe('accepted');
    expect(await samlErrorCode(async () => checkAuthnRequest(await read(signXml(bare)), sender, at(0)))).toBe(
      'wrong_destination',
    );
  });

  it.each([
    [
      'another binding',
      { attributes: ' ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:PAOS"' },
      statusCodes.UnsupportedBinding,
    ],
    ['force and passive together', { attributes: ' ForceAuthn="true" IsPassive="true"' }, statusCodes.NoPassive],
    ['an unknown NameID format', { body: policy('Format="urn:x"') }, statusCodes.InvalidNameIDPolicy],
    [
      'the qualifier of another service provider',
      { body: policy('SPNameQualifier="urn:x"') },
      statusCodes.InvalidNameIDPolicy,
    ],
    ['an unknown context class', { body: context('exact', 'urn:x') }, statusCodes.NoAuthnContext],
  ])('is answered with a status for %s', async (_name, parts, subcode) => {
    expect(await check(parts)).toMatchObject({
      outcome: 'rejected',
      acs: { url: sp.acs },
      reason: { status: { subcode } },
    });
  });

  it('is rejected with a page, not a status, when its address is not registered either', async () => {
    const parts = { acs: ' AssertionConsumerServiceURL="https://evil.example/"', body: context('exact', 'urn:x') };
    expect(await samlErrorCode(() => check(parts))).toBe('acs_not_registered');
  });
});
