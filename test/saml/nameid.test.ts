import { describe, expect, it } from 'vitest';
import {
  chooseNameIdFormat,
  mayCreateNameId,
  type NameIdPolicy,
  type NameIdSource,
  nameIdFor,
  sameFormat,
  sameNameId,
} from '../../src/protocols/saml/messages/name-id.ts';
import { nameIdFormats } from '../../src/protocols/saml/xml/names.ts';
import { samlErrorCode } from './support.ts';

const entityId = 'https://sp.example';
const policy = (format?: string): NameIdPolicy => ({ format, allowCreate: undefined, spNameQualifier: undefined });
const { persistent, transient, emailAddress, unspecified } = nameIdFormats;
/** The same format with the other version number, which much software sends. */
const swapped = (format: string) =>
  format.includes('1.1') ? format.replace('1.1', '2.0') : format.replace('2.0', '1.1');

describe('the format of a NameID', () => {
  it.each([
    ['no request and no registration', undefined, undefined, [], 'persistent'],
    ['no request and a configured format', undefined, 'transient', [persistent], 'transient'],
    ['no request and formats in the metadata', undefined, undefined, [unspecified, emailAddress], 'emailAddress'],
    ['a request for unspecified', policy(unspecified), 'emailAddress', [], 'emailAddress'],
    ['a request and no configured format', policy(emailAddress), undefined, [], 'emailAddress'],
    ['a request for the configured format', policy(transient), 'transient', [], 'transient'],
    ['a request for a format in the metadata', policy(transient), 'persistent', [transient], 'transient'],
    ['a request for 2.0 emailAddress', policy(swapped(emailAddress)), 'emailAddress', [], 'emailAddress'],
    ['a request for 2.0 unspecified', policy(swapped(unspecified)), 'emailAddress', [], 'emailAddress'],
    ['a request for 1.1 transient', policy(swapped(transient)), undefined, [], 'transient'],
    ['a request for 1.1 persistent', policy(swapped(persistent)), 'transient', [persistent], 'persistent'],
    ['2.0 emailAddress in the metadata', undefined, undefined, [swapped(emailAddress)], 'emailAddress'],
    [
      'a request for what the metadata names as 1.1',
      policy(transient),
      'persistent',
      [swapped(transient)],
      'transient',
    ],
  ] as const)('is chosen with %s', (_name, requested, configured, offered, expected) => {
    expect(chooseNameIdFormat(requested, { entityId, configured, offered })).toBe(expected);
  });

  it.each([policy(emailAddress), policy('urn:x'), policy(unspecified), policy(), undefined])(
    'is the configured one for %j where that is forced',
    (requested) => {
      const choice = { entityId, configured: 'persistent', isForced: true, offered: [emailAddress] } as const;
      expect(chooseNameIdFormat(requested, choice)).toBe('persistent');
    },
  );

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
    persistent: 'opaque',
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
    expect(sameNameId(issued, { ...back, value: 'Opaque' }, parties)).toBe(false);
    expect(sameNameId(issued, { ...back, spNameQualifier: 'https://other.example' }, parties)).toBe(false);
    expect(sameNameId(issued, { ...back, nameQualifier: 'https://other.example' }, parties)).toBe(false);
  });

  it.each([
    [persistent, true],
    ['urn:oasis:names:tc:SAML:1.1:nameid-format:persistent', true],
    ['', true],
    [unspecified, true],
    ['urn:oasis:names:tc:SAML:2.0:nameid-format:unspecified', true],
    [` ${persistent}\n`, true],
    [emailAddress, false],
    ['urn:oasis:names:tc:SAML:2.0:nameid-format:emailAddress', false],
    ['urn:oasis:names:tc:SAML:3.0:nameid-format:persistent', false],
  ])('with the format %j is one of the format that was issued: %s', (received, expected) => {
    expect(sameFormat(persistent, received)).toBe(expected);
  });
});
