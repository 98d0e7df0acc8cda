// Roles, permissions and custom attributes as claims: in ID token, userinfo and JWT access token.
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { anApplication, type ClientInput, forApi, signIn } from '../support.ts';

let idp: TestIdp;
let user: TestUser;
const api = 'https://api.example.com';

beforeAll(async () => {
  idp = await startIdp();
  const { roles, db } = idp.services;
  await roles.create({ name: 'wiki-editor', permissions: ['articles:read', 'articles:write'] });
  await roles.create({ name: 'payroll', permissions: ['salaries:read'] });
  user = await aUser(idp.services, { attributes: { department: 'Library', floors: ['1', '2'], level: 7 } });
  await roles.setRoles(user.account.id, ['wiki-editor', 'payroll']);
  await db.asStored.resource.create({ data: { identifier: api, scopes: '["read"]' } });
  await signRows(idp.services);
});
afterAll(() => idp?.stop());

async function claimsOf(input: ClientInput, parameters: Record<string, string>) {
  const application = await anApplication(idp, input);
  const { tokens, callback } = await signIn(httpClient(idp.issuer), application, user, parameters);
  return { tokens, callback, id: tokens.claims() ?? {}, application };
}

describe('roles and permissions', () => {
  it('are in ID token and userinfo when their scopes are requested, and not otherwise', async () => {
    const { id, tokens, application } = await claimsOf({}, { scope: 'openid roles permissions' });
    const all = {
      roles: ['payroll', 'wiki-editor'],
      permissions: ['articles:read', 'articles:write', 'salaries:read'],
    };
    expect(id).toMatchObject(all);
    expect(await application.rp.userinfo(tokens)).toMatchObject(all);
    const { id: without } = await claimsOf({}, { scope: 'openid profile' });
    expect(without).not.toHaveProperty('roles');
    expect(without).not.toHaveProperty('permissions');
  });

  it('are filtered and renamed for the application', async () => {
    const { id } = await claimsOf(
      { roles_filter: ['wiki-*'], roles_rename: { 'wiki-editor': 'Editors' }, permissions_filter: ['articles:*'] },
      { scope: 'openid roles permissions' },
    );
    expect(id).toMatchObject({ roles: ['Editors'], permissions: ['articles:read', 'articles:write'] });
  });

  it('are in the JWT access token of an API, by the same scopes and filters', async () => {
    const view = { roles_filter: ['wiki-*'], permissions_filter: ['articles:*'], ...forApi(api, 'read') };
    const { tokens, application } = await claimsOf(view, {
      scope: 'openid roles permissions read offline_access',
      resource: api,
    });
    const refreshed = await application.rp.refresh(tokens.refresh_token ?? '', { resource: api });
    expect(decodeJwt(refreshed.access_token)).toMatchObject({
      aud: api,
      roles: ['wiki-editor'],
      permissions: ['articles:read', 'articles:write'],
    });
    const plain = await claimsOf(view, { scope: 'openid read offline_access', resource: api });
    const other = await plain.application.rp.refresh(plain.tokens.refresh_token ?? '', { resource: api });
    expect(decodeJwt(other.access_token)).toMatchObject({ aud: api, scope: 'read' });
    expect(decodeJwt(other.access_token)).not.toHaveProperty('roles');
  });
});

describe('claims of an application', () => {
  it('hold any user field or custom attribute, in ID token and userinfo', async () => {
    const claims = {
      groups: 'roles',
      dept: 'attributes.department',
      'https://x.example/floors': 'attributes.floors',
      level: 'attributes.level',
      login: 'username',
      nothing: 'attributes.missing',
    };
    const { id, tokens, application } = await claimsOf({ claims, roles_filter: ['wiki-*'] }, { scope: 'openid' });
    const expected = {
      groups: ['wiki-editor'],
      dept: 'Library',
      'https://x.example/floors': ['1', '2'],
      level: 7,
      login: user.username,
    };
    expect(id).toMatchObject(expected);
    expect(id).not.toHaveProperty('nothing');
    expect(await application.rp.userinfo(tokens)).toEqual({ sub: user.account.id, ...expected });
  });

  it('are received by that application alone', async () => {
    await claimsOf({ claims: { dept: 'attributes.department' } }, { scope: 'openid' });
    expect((await claimsOf({}, { scope: 'openid' })).id).not.toHaveProperty('dept');
  });

  it.each(['sub', 'iss', 'aud', 'exp', 'acr', 'nonce', 'email', 'email_verified', 'sub#ja', 'a b', ''])(
    'cannot be named %j',
    async (claim) => {
      const claims = JSON.parse(`{${JSON.stringify(claim)}: "username"}`) as Record<string, string>;
      await expect(anApplication(idp, { claims })).rejects.toMatchObject({ code: 'invalid_input' });
    },
  );

  it('must name an existing field, and never the subject beside pairwise subjects', async () => {
    await expect(anApplication(idp, { claims: { x: 'password' } })).rejects.toMatchObject({ code: 'invalid_input' });
    const pairwise = { subject_type: 'pairwise', claims: { x: 'sub' } } as const;
    await expect(anApplication(idp, pairwise)).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
