// Addresses as people type and paste them: blank characters around them are left out, and one inside is rejected by its name. The same at
// every door, because the schemas of the fields are the same.

import { describe, expect, it } from 'vitest';
import { oidcClient } from '../../src/applications/fields/oidc-client.ts';
import { serviceProvider } from '../../src/applications/fields/service-provider.ts';
import { oidcRules } from '../../src/applications/oidc-rules.ts';
import { check, type Fault, sentenceOf } from '../../src/base/texts/faults.ts';
import { checkConnection } from '../../src/federation/connections/schema.ts';

const URL_HERE = 'https://app.example.com/path';
const client = { client_id: 'app', client_name: 'App', redirect_uris: [URL_HERE] };
const sp = { name: 'App', entity_id: 'https://app.example.com/sp', acs_url: [URL_HERE] };
const oidc = {
  kind: 'oidc',
  id: 'corp',
  name: 'Corp',
  issuer: 'https://corp.example',
  client_id: 'x',
  client_secret: 's',
};
const saml = { kind: 'saml', id: 'corp', name: 'Corp', metadata_url: URL_HERE };

type Door = (address: string) => { ok: boolean; value?: unknown; faults?: Fault[] };
const clientWith =
  (field: string, asList = false): Door =>
  (address) =>
    check(oidcClient, { ...client, [field]: asList ? [address] : address }, oidcRules) as never;
const connectionWith =
  (entry: object, field: string): Door =>
  (address) =>
    checkConnection({ ...entry, [field]: address }) as never;

const doors: [name: string, Door][] = [
  ['redirect_uris', clientWith('redirect_uris', true)],
  ['post_logout_redirect_uris', clientWith('post_logout_redirect_uris', true)],
  ['jwks_uri', clientWith('jwks_uri')],
  ['backchannel_logout_uri', clientWith('backchannel_logout_uri')],
  ['frontchannel_logout_uri', clientWith('frontchannel_logout_uri')],
  ['initiate_login_uri', clientWith('initiate_login_uri')],
  ['logo_uri', clientWith('logo_uri')],
  ['acs_url', (address) => check(serviceProvider, { ...sp, acs_url: [address] }) as never],
  ['entity_id', (address) => check(serviceProvider, { ...sp, entity_id: address }) as never],
  ['slo_url', (address) => check(serviceProvider, { ...sp, slo_url: address }) as never],
  ['metadata_url', (address) => check(serviceProvider, { name: 'App', metadata_url: address }) as never],
  ['the issuer of a connection', connectionWith(oidc, 'issuer')],
  ['the discovery_url of a connection', connectionWith(oidc, 'discovery_url')],
  ['the metadata_url of a connection', connectionWith(saml, 'metadata_url')],
  ['the entity_id of a connection', connectionWith(saml, 'entity_id')],
];

const AROUND = [
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\u00a0',
  '\u200b',
  '\u2060',
  '\ufeff',
  '\u3000',
  '\u00ad',
  '\u202a',
  '\u2028',
];
const INSIDE: [character: string, words: string][] = [
  [' ', 'must not contain a space'],
  ['\n', 'must not contain a line break'],
  ['\r', 'must not contain a line break'],
  ['\u2028', 'must not contain a line break'],
  ['\t', 'must not contain the invisible character U+0009'],
  ['\u00a0', 'must not contain the invisible character U+00A0'],
  ['\u200b', 'must not contain the invisible character U+200B'],
  ['\u2060', 'must not contain the invisible character U+2060'],
  ['\ufeff', 'must not contain the invisible character U+FEFF'],
  ['\u00ad', 'must not contain the invisible character U+00AD'],
  ['\u0000', 'must not contain the invisible character U+0000'],
  ['\\', 'must not contain a backslash'],
];

describe.each(doors)('%s', (_name, door) => {
  it('is stored without the blank characters around it', () => {
    const plain = door(URL_HERE);
    expect(plain, JSON.stringify(plain)).toMatchObject({ ok: true });
    for (const blank of AROUND) expect(door(`${blank}${URL_HERE}${blank}${blank}`)).toEqual(plain);
  });

  it('is rejected with a character inside that no address has, which the sentence names', () => {
    for (const [character, words] of INSIDE) {
      const { faults = [] } = door(`https://app.example.com/pa${character}th`);
      expect(
        faults.map((one) => sentenceOf(one, 'It')),
        character,
      ).toEqual([`It ${words}.`]);
    }
  });
});
