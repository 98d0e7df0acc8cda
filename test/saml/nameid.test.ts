import { describe, expect, it } from 'vitest';
import {
  chooseNameIdFormat,
  mayCreateNameId,
  type NameIdPolicy,
  type NameIdSource,
  nameIdFor,
  sameNameId,
} from '../../src/saml/messages/name-id.ts';
import { nameIdFormats } from '../../src/saml/xml/names.ts';
import { samlErrorCode } from './support.ts';

const entityId = 'https://sp.example';
const policy = (format?: string): NameIdPolicy => ({ format, allowCreate: undefined, spNameQualifier: undefined });
const { persistent, transient, emailAddress, unspecified } = nameIdFormats;

describe('the format of a NameID', () => {
  it.each([
    ['no request and no registration', undefined, undefined, [], 'persistent'],
    ['no request and a configured format', undefined, 'transient', [persistent], 'transient'],
    ['no request and formats in the metadata', undefined, undefined, [unspecified, emailAddress], 'emailAddress'],
    ['a request for unspecified', policy(unspecified), 'emailAddress', [], 'emailAddress'],
    ['a request and no configured format', policy(emailAddress), undefined, [], 'emailAddress'],
    ['a request for the configured format', policy(transient), 'transient', [], 'transient'],
    ['a request for a format in the metadata', policy(transient), 'persistent', [transient], 'transient'],
  ] as const)('is chosen with %s', (_name, requested, configured, offered, expected) => {
    expect(chooseNameIdFormat(requested, { entityId, configured, offered })).toBe(expected);
  });

  it('is not one that neither the administrator nor the metadata allows', async () => {
    const choose = (format: string, configured?: 'persistent', offered: string[] = []) =>
      samlErrorCode(() => chooseNameIdFormat(policy(format), { entityId, configured, offered }));
    expect(await choose(emailAddress, 'persistent')).toBe('invalid_name_id_policy');
    expect(await choose(emailAddress, undefined, [transient])).toBe('invalid_name_id_policy');
    expect(await choose('urn:oasis:names:tc:SAML:2.0:nameid-format:encrypted')).toBe('invalid_name_id_policy');
  });

  it.each([
    ['no NameIDPolicy', undefined, false],
    ['no AllowCreate', policy(), false],
    ['AllowCreate="false"', { ...policy(), allowCreate: false }, false],
    ['AllowCreate="true"', { ...policy(), allowCreate: true }, true],
  ])('may be new with %s, unless AllowCreate is required and not true', (_what, requested, whenRequired) => {
    expect(mayCreateNameId(requested, false)).toBe(true);
    expect(mayCreateNameId(requested, true)).toBe(whenRequired);
  });
});

describe('a NameID', () => {
  const source = (format: NameIdSource['format'], verifiedEmail?: string): NameIdSource => ({
    format,
    identityProvider: 'https://id.example',
    serviceProvider: entityId,
    userId: 'id-of-alice',
    username: 'alice',
    verifiedEmail,
    persistent: () => 'opaque',
    transient: () => 'random',
  });

  it('has the value and qualifiers of its format', () => {
    const qualifiers = { nameQualifier: 'https://id.example', spNameQualifier: entityId };
    expect(nameIdFor(source('persistent'))).toEqual({ value: 'opaque', format: persistent, ...qualifiers });
    expect(nameIdFor(source('transient'))).toEqual({ value: 'random', format: transient, ...qualifiers });
    expect(nameIdFor(source('unspecified'))).toEqual({ value: 'alice', format: unspecified });
    expect(nameIdFor(source('emailAddress', 'a@b.example'))).toEqual({ value: 'a@b.example', format: emailAddress });
  });

  it('is not an unverified email address', async () => {
    expect(await samlErrorCode(() => nameIdFor(source('emailAddress')))).toBe('invalid_name_id_policy');
  });

  it('is recognized with and without its default qualifiers', () => {
    const parties = { identityProvider: 'https://id.example', serviceProvider: entityId };
    const issued = nameIdFor(source('persistent'));
    const back = { value: 'opaque', format: persistent };
    expect(sameNameId(issued, issued, parties)).toBe(true);
    expect(sameNameId(issued, back, parties)).toBe(true);
    expect(sameNameId(issued, { ...back, format: '' }, parties)).toBe(true);
    expect(sameNameId(issued, { ...back, format: emailAddress }, parties)).toBe(false);
    expect(sameNameId(issued, { ...back, value: 'Opaque' }, parties)).toBe(false);
    expect(sameNameId(issued, { ...back, spNameQualifier: 'https://other.example' }, parties)).toBe(false);
    expect(sameNameId(issued, { ...back, nameQualifier: 'https://other.example' }, parties)).toBe(false);
  });
});
