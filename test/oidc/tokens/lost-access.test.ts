// Lost access to an application (a removed role, a disabled application or account): all its tokens end.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, postAs, signIn } from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let application: Application;
let refreshToken: string;
let accessToken: string;

beforeAll(async () => {
  idp = await startIdp();
  await idp.services.roles.create({ name: 'member' });
});
afterAll(() => idp?.stop());

beforeEach(async () => {
  user = await aUser(idp.services);
  await idp.services.roles.assign(user.account.id, 'member');
  application = await anApplication(idp, { access: { roles: ['member'] } });
  const { tokens } = await signIn(httpClient(idp.issuer), application, user, { scope: 'openid offline_access' });
  refreshToken = tokens.refresh_token ?? '';
  accessToken = tokens.access_token;
});

const refresh = () => postAs(idp, application, '/token', { grant_type: 'refresh_token', refresh_token: refreshToken });
const held = () => idp.services.db.oidcArtifact.count({ where: { clientId: application.clientId } });

describe('a user whose role was removed', () => {
  it('is rejected at the next refresh, which removes the grant', async () => {
    await idp.services.roles.unassign(user.account.id, 'member');
    const rejected = await refresh();
    expect([rejected.status, rejected.json().error]).toEqual([400, 'invalid_grant']);
    expect(await held()).toBe(0);
    const [revoked] = await idp.services.audit.list({ types: ['token.revoked'], subjectId: user.account.id });
    expect(revoked).toMatchObject({
      reason: 'access_lost',
      clientId: application.clientId,
      data: { access: 'no_role' },
    });
  });

  it('is rejected after that refresh even when the role is given back', async () => {
    await idp.services.roles.unassign(user.account.id, 'member');
    expect((await refresh()).json().error).toBe('invalid_grant');
    await idp.services.roles.assign(user.account.id, 'member');
    expect((await refresh()).json().error).toBe('invalid_grant');
  });

  it('has an access token that is not valid anywhere', async () => {
    await idp.services.roles.unassign(user.account.id, 'member');
    const headers = { authorization: `Bearer ${accessToken}` };
    expect((await httpClient(idp.issuer).get('/userinfo', { headers })).status).toBe(401);
    const introspection = await postAs(idp, application, '/introspect', { token: accessToken });
    expect(introspection.json()).toEqual({ active: false });
  });

  it('keeps access when another role allows the application', async () => {
    await idp.services.roles.create({ name: 'guest' });
    await idp.services.roles.assign(user.account.id, 'guest');
    const { redirect_uris } = { redirect_uris: [application.redirectUri] };
    const access = { roles: ['member', 'guest'] };
    const grant_types = ['authorization_code' as const, 'refresh_token' as const];
    await idp.services.applications.update('oidc', application.applicationId, { redirect_uris, grant_types, access });
    await idp.services.roles.unassign(user.account.id, 'member');
    expect((await refresh()).status).toBe(200);
  });
});

describe('a disabled application', () => {
  it('cannot authenticate, and has no tokens when it is enabled again', async () => {
    await idp.services.applications.setEnabled(application.applicationId, false);
    expect(await held()).toBe(0);
    expect((await refresh()).json().error).toBe('invalid_client');
    await idp.services.applications.setEnabled(application.applicationId, true);
    expect((await refresh()).json().error).toBe('invalid_grant');
  });
});
