// Registrations of clients that can never work, whatever way they come: keys that do not fit the algorithm, no scope `openid`, and wrong
// addresses of logout.

import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultLine } from '../../src/base/texts/faults.ts';
import { parseFile } from '../../src/config-file/file.ts';
import { createRegistrationTokens } from '../../src/protocols/oidc/store/registration-tokens.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../admin/support.ts';
import { ec, ed, good, payroll, REDIRECT, rsa, startOf, storedClient } from '../support/applications/registrations.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let admin: HttpClient;
let german: HttpClient;
let api: ApiCaller;
let initialToken: string;
beforeAll(async () => {
  idp = await startIdp();
  const boss = await staff(idp, 'admin');
  [admin, german] = [await consoleOf(idp, boss), await consoleOf(idp, boss)];
  await german.get('/language/de?next=/admin');
  api = await aPerson(idp, ['admin']);
  initialToken = (await createRegistrationTokens(idp.services).issue()).token;
});
afterAll(() => idp?.stop());

const app = (input?: Parameters<typeof payroll>[1]) => payroll(idp, input);
const stored = (metadata: object) => storedClient(idp, metadata);
const authorize = (clientId: string) => httpClient(idp.issuer).get(startOf(clientId));
async function save(id: string, tab: string, values: Record<string, string>, by = admin): Promise<Page> {
  const page = await by.get(`/admin/applications/${id}/${tab}`);
  return by.submit(page, values, { button: by === german ? 'Änderungen speichern' : 'Save changes' });
}
const file = (clients: object[]) => ({ ...parseFile(JSON.stringify({ clients })), path: 'gatehouse.yaml' });

type Metadata = Record<string, unknown>;
const keyFaults: [string, Metadata, string, string, string][] = [
  ['an RSA key without n', { kty: 'RSA', e: 'AQAB' }, 'n', 'Key 1 needs n as text', 'Schlüssel 1 braucht n als Text'],
  ['an EC key without x', { ...ec(), x: undefined }, 'x', 'Key 1 needs x as text', 'braucht x'],
  ['an OKP key without x', { kty: 'OKP', crv: 'Ed25519' }, 'x', 'Key 1 needs x as text', 'braucht x'],
  ['an empty n', { ...rsa(), n: '' }, 'n', 'Key 1 needs n as text', 'braucht n'],
  ['a number as x', { ...ec(), x: 5 }, 'x', 'Key 1 needs x as text', 'braucht x'],
  ['a number as kid', { ...good, kid: 5 }, 'kid', 'Key 1 must have text as kid', 'kid muss Text sein'],
  ['a list as use', { ...good, use: ['sig'] }, 'use', 'Key 1 must have text as use', 'use muss Text sein'],
  ['a number as alg', { ...good, alg: 256 }, 'alg', 'Key 1 must have text as alg', 'alg muss Text sein'],
  ['text as x5c', { ...good, x5c: 'MIIB' }, 'x5c', 'Key 1 must have a list of text values as x5c', 'Liste von Texten'],
  [
    'text as key_ops',
    { ...good, key_ops: 'verify' },
    'key_ops',
    'Key 1 must have a list of text values as key_ops',
    'Liste von Texten',
  ],
  ['a private prime', { ...good, p: 'AQAB' }, 'p', 'Key 1 has the private member p', 'den privaten Teil p'],
  ['a point off the curve', { ...ec(), y: ec().y }, '', 'Key 1 isn’t a valid EC key', 'kein gültiger EC-Schlüssel'],
  ['an exponent of 1', { ...rsa(), e: 'AQ' }, '', 'Key 1 has an RSA exponent that isn’t an odd number', 'Exponent'],
  [
    'a short RSA key',
    rsa(1024),
    '',
    'Key 1 has an RSA modulus of 1024 bits; 2048 to 8192 are accepted.',
    'Schlüssel 1: Der RSA-Modulus hat 1024 Bit',
  ],
  ['an exponent of 33 bits', { ...rsa(), e: 'AQAAAAE' }, '', 'Key 1 has an RSA exponent that isn’t', 'Exponent'],
  ['an even exponent', { ...rsa(), e: 'AQAC' }, '', 'Key 1 has an RSA exponent that isn’t an odd number', 'Exponent'],
  [
    'a curve that nothing here uses',
    generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({ format: 'jwk' }),
    '',
    'Key 1 has a curve that isn’t accepted: secp256k1.',
    'Schlüssel 1: Diese Kurve wird nicht akzeptiert',
  ],
];

describe('a key of a JWK Set', () => {
  it.each(keyFaults)('is rejected with %s, in the console, the API and registration by clients', async (...one) => {
    const [, key, member, sentence, deutsch] = one;
    const jwks = { keys: [key] };
    const { applicationId } = await app();
    const typed = { jwks: JSON.stringify(jwks) };
    const page = await save(applicationId, 'credentials', typed);
    expect([page.status, textOf(page.text)]).toEqual([400, expect.stringContaining(sentence)]);
    expect(textOf((await save(applicationId, 'credentials', typed, german)).text)).toContain(deutsch);
    const sent = await api.send('PATCH', `/applications/${applicationId}`, { jwks }, { 'if-match': '*' });
    const field = ['jwks.keys[0]', member].filter(Boolean).join('.');
    expect([sent.status, sent.json().errors]).toMatchObject([
      400,
      [{ path: field, message: expect.stringContaining(sentence) }],
    ]);
    const made = await api.send('POST', '/applications', { protocol: 'oidc', redirect_uris: [REDIRECT], jwks });
    expect(made.status).toBe(400);
    const registered = await httpClient(idp.issuer).post('/register', {
      json: { redirect_uris: [REDIRECT], jwks },
      headers: { authorization: `Bearer ${initialToken}` },
    });
    expect([registered.status, registered.json().error]).toEqual([400, 'invalid_client_metadata']);
    const result = await idp.services.configFile.plan(file([{ client_id: 'filed', redirect_uris: [REDIRECT], jwks }]));
    expect(result.ok ? '' : result.faults.map(faultLine).join()).toContain(sentence);
    expect(result.ok).toBe(false);
  });

  it('is accepted in every kind, also one that Gatehouse does not use (RFC 7517 5)', async () => {
    const jwks = { keys: [good, ec(), ec('P-521'), ed(), { ...ec(), use: 'enc', x5c: ['MIIB'], key_ops: ['verify'] }] };
    const { applicationId, clientId } = await app();
    expect((await save(applicationId, 'credentials', { jwks: JSON.stringify(jwks) })).status).toBe(303);
    expect((await authorize(clientId)).location).toContain('/signin/');
  });
});

const machine = { token_endpoint_auth_method: 'private_key_jwt' };
const combinations: [string, Metadata, string, string][] = [
  ['scopes about users without openid', { scope: 'profile' }, 'scope', 'must include openid'],
  [
    'no key for the algorithm',
    { ...machine, token_endpoint_auth_signing_alg: 'RS256', jwks: { keys: [ec()] } },
    'jwks',
    'has no key for RS256',
  ],
  [
    'no key for signatures',
    { ...machine, jwks: { keys: [{ ...good, use: 'enc' }] } },
    'jwks',
    'has no key for signatures',
  ],
  [
    'no key for its request objects',
    { request_object_signing_alg: 'ES256', jwks: { keys: [good] } },
    'jwks',
    'has no key for ES256',
  ],
  [
    'a fragment in the back-channel logout URI',
    { backchannel_logout_uri: 'https://app.example.com/out#x' },
    'backchannel_logout_uri',
    'must not have a fragment',
  ],
  ...['https://other.example.com/out', 'https://app.example.com:444/out', 'http://127.0.0.1/out'].map(
    (uri): [string, Metadata, string, string] => [
      `the front-channel logout URI ${uri}`,
      { frontchannel_logout_uri: uri },
      'frontchannel_logout_uri',
      'must have the scheme, host and port of a redirect URI',
    ],
  ),
];

describe('a registration that can never work', () => {
  it.each(combinations)('is rejected with %s, and can be corrected where it is stored', async (...one) => {
    const [, metadata, field, message] = one;
    const { applicationId } = await app();
    const patch = (id: string, more: Metadata) => api.send('PATCH', `/applications/${id}`, more, { 'if-match': '*' });
    const sent = await patch(applicationId, metadata);
    expect([sent.status, sent.json().errors]).toMatchObject([
      400,
      [{ path: field, message: expect.stringContaining(message) }],
    ]);
    const declared = { client_id: 'filed', client_secret: 's'.repeat(32), redirect_uris: [REDIRECT], ...metadata };
    if (metadata.token_endpoint_auth_method) Reflect.deleteProperty(declared, 'client_secret');
    const planned = await idp.services.configFile.plan(file([declared]));
    expect({ ok: planned.ok, text: planned.ok ? '' : planned.faults.map(faultLine).join() }).toEqual({
      ok: false,
      text: expect.stringContaining(message),
    });
    const old = await stored(metadata);
    expect((await patch(old.applicationId, { client_uri: 'https://app.example.com/' })).status).toBe(400);
    expect(
      (await patch(old.applicationId, { [field]: null, ...(field === 'jwks' && { jwks: { keys: [good, ec()] } }) }))
        .status,
    ).toBe(200);
    expect((await patch(old.applicationId, { [field]: metadata[field] })).status).toBe(400);
  });

  it('is rejected at the field of its form', async () => {
    const { applicationId } = await app();
    const page = await save(applicationId, 'settings', {
      scope: 'profile',
      frontchannel_logout_uri: 'https://x.example/',
    });
    expect(page.status).toBe(400);
    expect(textOf(page.text)).toContain('Scopes must include openid.');
    expect(textOf(page.text)).toContain('must have the scheme, host and port of a redirect URI.');
  });
});
