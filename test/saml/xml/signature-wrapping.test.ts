// Signature wrapping (XSW): the attacker holds one message that was truly signed, and builds around it another that
// says something else. The eight arrangements of Somorovsky et al. (2012), carried over from assertions to requests,
// and the hiding places of SAML: Extensions, ds:Object, KeyInfo, Subject, duplicated IDs and comments.
import { describe, expect, it } from 'vitest';
import { readAuthnRequest } from '../../../src/protocols/saml/messages/authn-request.ts';
import { readLogoutRequest } from '../../../src/protocols/saml/messages/read-logout.ts';
import { validateWellFormed } from '../../../src/protocols/saml/xml/schema.ts';
import { mustSign, receivePost } from '../receive.ts';
import { authnRequestXml, logoutRequestXml, now, samlErrorCode, signXml, sp } from '../support.ts';
import { arrangements, type Parts, partsOf } from '../wrapping.ts';

const evilAcs = 'https://evil.example/acs';
const parts = (bare: string, evil: Parts['evil']) => partsOf(bare, signXml(bare), evil);

const messages: Record<string, Parts> = {
  AuthnRequest: parts(authnRequestXml(), (id, inside = '') =>
    authnRequestXml({ id, acs: ` AssertionConsumerServiceURL="${evilAcs}"`, body: inside }),
  ),
  LogoutRequest: parts(logoutRequestXml('alice'), (id, inside = '') =>
    logoutRequestXml('victim', '', id).replace('</saml:Issuer>', `</saml:Issuer>${inside}`),
  ),
};

describe.each(Object.entries(messages))('a signed %s', (name, message) => {
  it('is accepted without wrapping', async () => {
    expect(await receivePost(message.signed)).toMatchObject({ name, signed: true });
  });

  it.each(Object.keys(arrangements))('is rejected when it is wrapped: %s', async (arrangement) => {
    const xml = arrangements[arrangement]?.(message) ?? '';
    expect(xml).not.toBe(message.signed);
    await samlErrorCode(() => receivePost(xml));
  });

  it.each(Object.keys(arrangements))(
    'is rejected without the help of the schema when it is wrapped: %s',
    async (arrangement) => {
      const xml = arrangements[arrangement]?.(message) ?? '';
      const code = await samlErrorCode(() => receivePost(xml, mustSign, 'SAMLRequest', validateWellFormed));
      expect(['signature_shape', 'signature_invalid', 'forbidden_markup', 'not_xml']).toContain(code);
    },
  );
});

describe('reading a signed message', () => {
  it('returns the signed values and none of the attacker', async () => {
    const request = readAuthnRequest(await receivePost(messages.AuthnRequest?.signed ?? ''));
    expect(request.acsUrl).toBe(sp.acs);
    const expectation = { entityId: sp.entityId, endpoint: 'https://id.example/saml/slo', now };
    const logout = readLogoutRequest(await receivePost(messages.LogoutRequest?.signed ?? ''), expectation);
    expect(logout.nameId?.value).toBe('alice');
  });
});
