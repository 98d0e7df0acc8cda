// Registrations with which nobody can sign in, as an earlier version stored them: the access check, the claims preview and the rejected
// request say what is wrong with one and lead to its tab.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkDatabase } from '../../src/cli/doctor/check-database.ts';
import { prepareData } from '../../src/server/start.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../admin/support.ts';
import { ec, good, payroll, rsa, startOf, storedClient } from '../support/applications/registrations.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { linksOf, textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let admin: HttpClient;
let german: HttpClient;
let api: ApiCaller;
let user: TestUser;
beforeAll(async () => {
  idp = await startIdp();
  const boss = await staff(idp, 'admin');
  [admin, german] = [await consoleOf(idp, boss), await consoleOf(idp, boss)];
  await german.get('/language/de?next=/admin');
  api = await aPerson(idp, ['admin']);
  user = await aUser(idp.services, { name: 'Ann' });
});
afterAll(() => idp?.stop());

const app = (input?: Parameters<typeof payroll>[1]) => payroll(idp, input);
const stored = (metadata: object) => storedClient(idp, metadata);
const authorize = (clientId: string) => httpClient(idp.issuer).get(startOf(clientId));
const check = (clientId: string, by = admin) =>
  by.get(`/admin/access-check?${new URLSearchParams({ user: user.username, app: clientId })}`);

type Metadata = Record<string, unknown>;
const machine = { token_endpoint_auth_method: 'private_key_jwt' };

describe('a registration that can never work', () => {
  it('is none with scopes of APIs alone', async () => {
    const { clientId } = await app({ scope: 'articles:read' });
    expect(textOf((await check(clientId)).text)).toContain('Ann can sign in to Payroll');
  });

  it.each<[string, Metadata, string, string]>([
    ['scopes', { scope: 'profile' }, 'The scopes of Payroll don’t include openid', 'Change its scopes'],
    [
      'keys',
      { ...machine, token_endpoint_auth_signing_alg: 'RS256', jwks: { keys: [ec()] } },
      'The JWK Set of Payroll has no usable key for RS256, so the application can’t authenticate.',
      'Change its keys',
    ],
    ['short keys', { ...machine, jwks: { keys: [rsa(1024)] } }, 'has no usable key for signatures', 'Change its keys'],
    [
      'request objects',
      { request_object_signing_alg: 'ES256', require_signed_request_object: true, jwks: { keys: [good] } },
      'so its signed requests are rejected',
      'Change its keys',
    ],
  ])('turns the access check red where it is stored: %s', async (_what, metadata, sentence, button) => {
    const { clientId, applicationId } = await stored(metadata);
    const page = await check(clientId);
    expect(textOf(page.text)).toContain('Ann can’t sign in to Payroll');
    expect(textOf(page.text)).toContain(sentence);
    const link = linksOf(page.text, page.url).find(({ label }) => label === button);
    expect(link?.href).toMatch(new RegExp(`/admin/applications/${applicationId}/(settings|credentials)$`));
    const { json } = await api.get(
      `/access-check?${new URLSearchParams({ user: user.username, application: clientId })}`,
    );
    expect(json()).toMatchObject({ may_open: true, can_sign_in: false });
  });
});

describe('a stored registration that the engine rejects', () => {
  it.each<[string, Metadata, string, string, string]>([
    [
      'a key without members',
      { jwks: { keys: [{ kty: 'RSA' }] } },
      'Key 1 needs n as text',
      'Schlüssel 1 braucht n',
      'credentials',
    ],
    [
      'a sector_identifier_uri that no server answers',
      { subject_type: 'pairwise', sector_identifier_uri: 'https://127.0.0.1:1/x' },
      'The document at the sector identifier URI https://127.0.0.1:1/x can’t be used',
      'Das Dokument an der Sector-Identifier-URI',
      'claims',
    ],
  ])('is named by the access check, the preview and the rejected request: %s', async (...one) => {
    const [, metadata, sentence, deutsch, tab] = one;
    const { clientId, applicationId } = await stored(metadata);
    const tabPath = `/admin/applications/${applicationId}/${tab}`;
    const page = await check(clientId);
    expect([page.status, textOf(page.text)]).toEqual([200, expect.stringContaining('Ann can’t sign in to Payroll')]);
    expect(textOf(page.text)).toContain('The registration is complete');
    expect(textOf(page.text)).toContain(sentence);
    expect(linksOf(page.text, page.url).find(({ label }) => label === 'Complete the registration')?.href).toContain(
      tabPath,
    );
    expect(textOf((await check(clientId, german)).text)).toContain(deutsch);
    const preview = await admin.get(`/admin/applications/${applicationId}/claims?user=${user.username}`);
    expect([preview.status, textOf(preview.text)]).toEqual([
      200,
      expect.stringContaining('The application receives nothing.'),
    ]);
    expect(textOf(preview.text)).toContain(sentence);

    const rejected = await authorize(clientId);
    expect([rejected.status, textOf(rejected.text)]).toEqual([
      400,
      expect.stringContaining('The app’s registration here is incomplete, so it can’t sign you in.'),
    ]);
    const [code = ''] = /\b[2-9A-Z]{4}-[2-9A-Z]{4}\b/.exec(textOf(rejected.text)) ?? [];
    const details = await admin.get(`/admin/rejections/${code}`);
    const [failed = ''] = /<li class="failed">[\s\S]*?<\/li>/.exec(details.text) ?? [];
    expect(textOf(failed)).toContain('The registration is complete');
    expect(textOf(failed)).toContain(sentence);
    expect(textOf(failed)).not.toContain('Received');
    expect(
      linksOf(details.text, details.url).find(({ label }) => label === 'Complete the registration')?.href,
    ).toContain(tabPath);
    const rules = (await api.get(`/rejections/${code}`)).json<{ rules: Metadata[] }>().rules;
    expect(rules.filter(({ state }) => state === 'failed')).toEqual([
      expect.objectContaining({
        rule: 'The registration is complete',
        received: null,
        registered: expect.stringMatching(/jwks|sector/),
      }),
    ]);

    // The start and doctor read every application.
    await prepareData(idp.services);
    const { config, logger, now } = idp.services;
    const findings = await checkDatabase({ config, logger, now });
    expect(findings.filter(({ status }) => status === 'failure')).toEqual([]);
    const patch = { jwks: null, subject_type: null, sector_identifier_uri: null };
    expect((await api.send('PATCH', `/applications/${applicationId}`, patch, { 'if-match': '*' })).status).toBe(200);
    expect(textOf((await check(clientId)).text)).toContain('Ann can sign in to Payroll');
    expect(textOf((await admin.get(`/admin/rejections/${code}`)).text)).toContain(
      'This is fixed. The failed check now passes.',
    );
  });
});

it('the overview names pasted metadata that expires soon, or has expired', async () => {
  const paste = async (name: string, days: number) => {
    const validUntil = new Date(Date.now() + days * 86_400_000).toISOString();
    const metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://${name}.example.com" validUntil="${validUntil}">
      <SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><AssertionConsumerService index="0"
      Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://${name}.example.com/acs"/></SPSSODescriptor></EntityDescriptor>`;
    const made = await api.send('POST', '/applications', { protocol: 'saml', name, metadata });
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  };
  await paste('soon', 10);
  await paste('later', 40);
  const { text } = await admin.get('/admin');
  expect(textOf(text)).toContain('Metadata of soon');
  expect(textOf(text)).not.toContain('Metadata of later');
});
