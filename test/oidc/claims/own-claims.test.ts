// An application's own claims, alone or by a scope, and whether ID tokens hold the claims of scopes.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiCaller, aPerson } from '../../admin/support.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { actionsOf, textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { type Application, anApplication, authorizeUrl, type ClientInput, redirectUri, signIn } from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let admin: ApiCaller;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services, { name: 'Ann', attributes: { department: 'R&D', level: 3, desk: 'B7' } });
  admin = await aPerson(idp, ['admin']);
});

const claims = {
  desk: 'attributes.desk',
  department: { field: 'attributes.department', scope: 'hr' },
  level: { field: 'attributes.level', scope: 'profile' },
} as const;

/** What the application receives by this scope, in the ID token and at userinfo. */
async function received(app: Application, scope: string, browser = httpClient(idp.issuer)) {
  const { tokens } = await signIn(browser, app, user, { scope });
  const names = ['desk', 'department', 'level', 'name', 'email'];
  const pick = (all: object = {}) =>
    Object.keys(all)
      .filter((name) => names.includes(name))
      .sort();
  return { idToken: pick(tokens.claims()), userinfo: pick(await app.rp.userinfo(tokens)), tokens };
}

describe('own claims of an application', () => {
  it.each<[string, string[]]>([
    ['openid', ['desk']],
    ['openid hr', ['department', 'desk']],
    ['openid profile', ['desk', 'level', 'name']],
    ['openid profile hr', ['department', 'desk', 'level', 'name']],
  ])('are received by the scope "%s" as the registration ties them', async (scope, expected) => {
    const app = await anApplication(idp, { claims });
    const { idToken, userinfo, tokens } = await received(app, scope);
    expect([idToken, userinfo]).toEqual([expected, expected]);
    expect(tokens.scope?.split(' ').sort()).toEqual(scope.split(' ').sort());
  });

  it('go without a scope to the clients that list them, and to no other', async () => {
    const other = await anApplication(idp, { claims: { place: 'attributes.desk' } });
    expect(await received(other, 'openid hr profile')).toMatchObject({ idToken: ['name'], userinfo: ['name'] });
    const without = await anApplication(idp);
    const { userinfo, tokens } = await received(without, 'openid hr');
    expect(userinfo).toEqual([]);
    // Nor is the scope of another application granted.
    expect(tokens.scope).toBe('openid');
  });

  it('have scopes that need consent of their own, which goes on at the next sign-in and after a refresh', async () => {
    const app = await anApplication(idp, { claims, consent: 'explicit' });
    const browser = httpClient(idp.issuer);
    expect((await received(app, 'openid profile', browser)).userinfo).toEqual(['desk', 'level', 'name']);
    const page = await browser.follow(
      await browser.get(authorizeUrl(idp, app.clientId, { scope: 'openid profile hr' })),
      (url) => url.startsWith(redirectUri),
    );
    expect(textOf(page.text)).toContain('hr');
    expect(actionsOf(page)).toContainEqual(expect.stringMatching(/\/consent$/));
    const { userinfo, tokens } = await received(app, 'openid profile hr offline_access', browser);
    expect(userinfo).toEqual(['department', 'desk', 'level', 'name']);
    const refreshed = await app.rp.refresh(tokens.refresh_token ?? '');
    expect(await app.rp.userinfo(refreshed)).toMatchObject({ department: 'R&D' });
    const silent = authorizeUrl(idp, app.clientId, { scope: 'openid profile hr', prompt: 'none' });
    expect((await browser.get(silent)).location).toContain('code=');
  });

  it('have scopes that are limited by the scopes that the application may request', async () => {
    const declared = { protocol: 'oidc', redirect_uris: [redirectUri], scope: 'openid' };
    const sources = { department: claims.department };
    const page = await admin.send('POST', '/applications', { ...declared, claims: sources });
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('belongs to hr, which isn’t in scope')]);
    const allowed = await admin.send('POST', '/applications', { ...declared, scope: 'openid hr', claims: sources });
    expect(allowed.json()).toMatchObject({ declaration: { claims: sources } });
  });

  it.each<[string, unknown]>([
    ['an unknown field', { x: { field: 'password', scope: 'hr' } }],
    ['two scopes', { x: { field: 'name', scope: 'hr payroll' } }],
    ['no field', { x: { scope: 'hr' } }],
    ['the scope offline_access', { x: { field: 'name', scope: 'offline_access' } }],
    ['a claim of the protocol', { sub: { field: 'name', scope: 'hr' } }],
  ])('are rejected with %s', async (_what, wrong) => {
    const declared = { protocol: 'oidc', redirect_uris: [redirectUri], claims: wrong };
    expect((await admin.send('POST', '/applications', declared)).status).toBe(400);
  });
});

describe('the setting id_token_claims of a client', () => {
  it.each<[string, ClientInput, string[]]>([
    ['hold the claims of scopes by default', {}, ['desk', 'email', 'level', 'name']],
    ['hold them with always', { id_token_claims: 'always' }, ['desk', 'email', 'level', 'name']],
    ['hold own claims without a scope only, with conform', { id_token_claims: 'conform' }, ['desk']],
  ])('makes ID tokens %s, and userinfo holds them always', async (_what, input, expected) => {
    const app = await anApplication(idp, { claims, ...input });
    const { idToken, userinfo } = await received(app, 'openid profile email');
    expect([idToken, userinfo]).toEqual([expected, ['desk', 'email', 'level', 'name']]);
  });

  it('lets ID tokens hold a claim that the request names for them with conform', async () => {
    const app = await anApplication(idp, { id_token_claims: 'conform' });
    const named = JSON.stringify({ id_token: { email: null } });
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, { scope: 'openid profile', claims: named });
    expect(tokens.claims()).toMatchObject({ email: user.account.email });
    expect(tokens.claims()).not.toHaveProperty('name');
  });
});
