// Whatever a user record holds arrives at the service provider, and nothing in it breaks the signature.
import { createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { describeAttributes } from '../../src/protocols/saml/messages/attributes.ts';
import { successResponse } from '../../src/protocols/saml/messages/signed-response.ts';
import { chooseEncryption } from '../../src/protocols/saml/xml/encrypt.ts';
import { nameIdFormats } from '../../src/protocols/saml/xml/names.ts';
import { replaceForbiddenCharacters } from '../../src/protocols/saml/xml/write.ts';
import fc, { anyCharacter, numRuns } from '../support/property.ts';
import { acceptedByNodeSaml, acceptedBySamlify, aSuccess } from './receivers.ts';
import { schemas, signer, spCredential } from './support.ts';

const encryption = chooseEncryption(createPublicKey(spCredential.certificatePem), [], false);
if (typeof encryption === 'string') throw new Error(encryption);
// node-saml trims the NameID and gives an empty attribute back as an object: both are limits of node-saml.
const value = fc
  .oneof(
    fc.string({ unit: anyCharacter, minLength: 1 }),
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom('{NameID}', ']]>', '<!-- -->', '&amp;', '\u2028', '\u0085', '\r\n', '"><script>', "O'Brien"),
  )
  .map((text) => `.${text}.`);
const record = fc.record({
  nameId: value,
  name: value,
  roles: fc.array(value, { minLength: 2, maxLength: 4 }),
  sign: fc.constantFrom('assertion' as const, 'both' as const),
  encrypted: fc.boolean(),
});

type UserRecord = typeof record extends fc.Arbitrary<infer T> ? T : never;

const response = ({ nameId, name, roles, sign, encrypted }: UserRecord) =>
  successResponse(
    aSuccess({
      nameId: { value: nameId, format: nameIdFormats.unspecified },
      attributes: describeAttributes({ displayName: [name], 'urn:oid:2.5.4.3': [name], role: roles }),
      sign,
      encryption: encrypted ? encryption : undefined,
    }),
    signer,
  );

/**
 * Both judges parse what they verified a second time with xmldom, which applies the line-end rules of XML 1.1 to XML
 * 1.0. The signature holds (that is what `wireForm` is for), but these two characters end as line feeds over there.
 */
const asXmldomReads = (text: string) => replaceForbiddenCharacters(text).replace(/[\u0085\u2028]/g, '\n');

const withoutLineEnds = (user: UserRecord): UserRecord => {
  const clean = (text: string) => text.replace(/[\r\u0085\u2028]/g, ' ');
  return { ...user, nameId: clean(user.nameId), name: clean(user.name), roles: user.roles.map(clean) };
};

describe('any Unicode user record', () => {
  it('reaches node-saml unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(record, async (user) => {
        const xml = response(user);
        expect(schemas.protocol(xml)).toBeUndefined();
        const profile = await acceptedByNodeSaml(xml, user.sign);
        expect(asXmldomReads(profile.nameID)).toBe(asXmldomReads(user.nameId));
        expect(asXmldomReads(String(profile.displayName))).toBe(asXmldomReads(user.name));
        expect(asXmldomReads(String(profile['urn:oid:2.5.4.3']))).toBe(asXmldomReads(user.name));
        expect((profile.role as string[]).map(asXmldomReads)).toEqual(user.roles.map(asXmldomReads));
      }),
      { numRuns: numRuns(150) },
    );
  });

  it('reaches samlify unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(record, async (anyone) => {
        // samlify verifies what it serialized itself, so that these characters break its own check, for any signer.
        const user = withoutLineEnds(anyone);
        const extract = await acceptedBySamlify(response(user), user.sign);
        expect(extract.nameID).toBe(replaceForbiddenCharacters(user.nameId));
        expect(extract.attributes.displayName).toBe(replaceForbiddenCharacters(user.name));
        expect(extract.attributes.role).toEqual(user.roles.map(replaceForbiddenCharacters));
      }),
      { numRuns: numRuns(60) },
    );
  });
});
