// The claims preview of an application in the access check: what it displays is what the application receives.
import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../../admin/console/support.ts';
import { aPerson } from '../../admin/support.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { unescapeHtml } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { anApplication, type ClientInput, forApi, signIn } from '../support.ts';

let idp: TestIdp;
let browser: HttpClient;
let user: TestUser;
beforeAll(async () => {
  idp = await sharedIdp();
  browser = await consoleOf(idp, await staff(idp, 'admin'));
  const admin = await aPerson(idp, ['admin']);
  user = await aUser(idp.services, { name: 'Ann', nickname: 'Annie', attributes: { department: 'R&D', desk: 'B7' } });
  const address = { locality: 'Zürich', country: 'Switzerland' };
  const change = { address, phone_number: '+41441234567' };
  await admin.send('PATCH', `/users/${user.account.id}`, change, { 'if-match': '*' });
});

const claims = { desk: 'attributes.desk', dept: { field: 'attributes.department', scope: 'hr' } } as const;
const all = 'openid profile email phone address roles permissions groups';

/** The ID token and UserInfo on the page of the access check. */
async function previewOf(clientId: string): Promise<Record<string, unknown>[]> {
  const query = new URLSearchParams({ user: user.username, app: clientId });
  const { text } = await browser.get(`/admin/access-check?${query}`);
  const plain = text.replace(/<\/?span[^>]*>/g, '');
  return [...plain.matchAll(/<pre[^>]*>(?:<code[^>]*>)?(\{[^<]*\})/g)].map(([, json = '']) =>
    JSON.parse(unescapeHtml(json)),
  );
}
/** What one sign-in alone has. */
const ofSignIn = ['iat', 'exp', 'nonce', 'at_hash', 'sid', 'acr', 'amr', 'auth_time'];
const withoutThose = (one: object = {}) =>
  Object.fromEntries(Object.entries(one).filter(([name]) => !ofSignIn.includes(name)));

describe('the claims preview', () => {
  it.each<[string, ClientInput, string]>([
    ['without own claims', {}, all],
    ['with own claims, alone and by a scope', { claims }, `${all} hr`],
    [
      'with own claims of a scope that it may not request',
      { claims: { desk: claims.desk }, scope: 'openid email' },
      'openid email',
    ],
    ['with id_token_claims: conform', { claims, id_token_claims: 'conform' }, `${all} hr`],
    ['with a limited scope', { claims, scope: 'openid address hr' }, 'openid address hr'],
  ])('is what an application receives %s', async (_what, input, scope) => {
    const app = await anApplication(idp, input);
    const [idToken, userinfo, opaque] = await previewOf(app.clientId);
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, { scope });
    expect(idToken).toEqual(withoutThose(tokens.claims()));
    expect(userinfo).toEqual(await app.rp.userinfo(tokens));
    const { active, sub, client_id, iss } = await app.rp.introspect(tokens.access_token);
    expect(opaque).toMatchObject({ active, sub, client_id, iss });
  });

  it('is what an API receives, for its access token', async () => {
    const identifier = 'https://preview-api.example';
    const api = { identifier, scopes: '["read","pay"]', scopePermissions: '{"pay":"money:pay"}', signingAlg: 'RS256' };
    await idp.services.db.asStored.resource.create({ data: api });
    await signRows(idp.services);
    const app = await anApplication(idp, forApi(identifier, 'read', 'pay'));
    const [, , , token] = await previewOf(app.clientId);
    const scope = 'openid roles permissions groups offline_access read pay';
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, { scope, resource: identifier });
    const { jti: _, ...received } = decodeJwt(
      (await app.rp.refresh(tokens.refresh_token ?? '', { resource: identifier })).access_token,
    );
    expect(token).toEqual(withoutThose(received));
    expect(token).toMatchObject({ aud: identifier, scope: 'read', roles: [] });
    await idp.services.db.resource.delete({ where: { identifier } });
  });
});
