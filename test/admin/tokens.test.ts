// Access tokens for the admin API: which are accepted, and what they permit.
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminApi } from '../../src/people/rbac/built-in.ts';
import { anApplication, postAs } from '../oidc/support.ts';
import { signRows } from '../support/database/row-macs.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { aPerson, aService, aTool, caller } from './support.ts';

let idp: TestIdp;
let later = 0;
beforeAll(async () => {
  idp = await startIdp({ now: () => new Date(Date.now() + later) });
});
afterAll(() => idp?.stop());

describe('a token of the admin API', () => {
  it('lets an application act without a user', async () => {
    const service = await aService(idp);
    const me = await service.get('/me');
    expect(me.status).toBe(200);
    expect(me.json()).toEqual({ application: service.app.clientId, user: null, permissions: 'everything' });
    const users = await service.get('/users');
    expect(users.status).toBe(200);
    expect(users.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('lets a user act through an application, as the roles of the user permit', async () => {
    const admin = await aPerson(idp, ['admin']);
    expect((await admin.get('/me')).json()).toMatchObject({
      user: { username: admin.user?.username },
      permissions: 'everything',
    });
    const auditor = await aPerson(idp, ['auditor'], { tool: admin.app });
    const { permissions } = (await auditor.get('/me')).json<{ permissions: string[] }>();
    expect(permissions).toContain('gatehouse.users:read');
    expect(permissions.filter((name) => !name.endsWith(':read'))).toEqual([]);
    expect((await auditor.get('/users')).status).toBe(200);
  });
});

describe('a call to the admin API', () => {
  const expectRejected = async (token: string, code = 'invalid_token') => {
    const page = await caller(idp, token, app).get('/me');
    expect(page.status).toBe(401);
    expect(page.headers['content-type']).toBe('application/problem+json');
    expect(page.json().code).toBe(code);
    expect(page.headers['www-authenticate']).toContain(`Bearer realm="${adminApi(idp.issuer)}"`);
  };
  let app: Awaited<ReturnType<typeof aService>>['app'];
  beforeAll(async () => {
    app = (await aService(idp)).app;
  });

  it('is rejected without a token, with an unknown one, or with one for another audience', async () => {
    await expectRejected('', 'unauthenticated');
    await expectRejected('made-up');
    const { access_token } = await oidc.clientCredentialsGrant(app.rp.config);
    await expectRejected(access_token);
    await idp.services.db.asStored.resource.create({
      data: { identifier: 'https://other.example', scopes: '["admin:*"]' },
    });
    await signRows(idp.services);
    const other = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: ['https://other.example'],
    });
    const jwt = await oidc.clientCredentialsGrant(other.rp.config, {
      resource: 'https://other.example',
      scope: 'admin:*',
    });
    await expectRejected(jwt.access_token);
  });

  it.each<[string, (service: Awaited<ReturnType<typeof aService>>) => unknown]>([
    ['has expired', () => (later = 15 * 60_000)],
    ['was revoked', ({ app, token }) => app.rp.revoke(token)],
    ['belongs to a disabled application', ({ app }) => idp.services.applications.setEnabled(app.applicationId, false)],
    ['belongs to a deleted application', ({ app }) => idp.services.applications.remove(app.applicationId)],
  ])('is rejected with a token that %s', async (_what, end) => {
    const service = await aService(idp);
    await end(service);
    await expectRejected(service.token);
    later = 0;
  });

  it('is rejected with the token of a user who was disabled or signed out', async () => {
    const person = await aPerson(idp, ['auditor']);
    await idp.services.accounts.setActive(person.user?.account.id ?? '', false);
    await expectRejected(person.token);
    const other = await aPerson(idp, ['auditor']);
    await idp.services.endSession.all(other.user?.account.id ?? '', 'ended-by-admin', {});
    await expectRejected(other.token);
  });

  it('is rejected with a token that is bound to a key (DPoP)', async () => {
    const options = { DPoP: oidc.getDPoPHandle(app.rp.config, await oidc.randomDPoPKeyPair()) };
    const parameters = { resource: adminApi(idp.issuer), scope: 'admin:*' };
    const { access_token, token_type } = await oidc.clientCredentialsGrant(app.rp.config, parameters, options);
    expect(token_type).toBe('dpop');
    await expectRejected(access_token);
  });

  it('needs an application that is registered for the API and its scopes', async () => {
    const resource = adminApi(idp.issuer);
    const ask = async (client: Parameters<typeof postAs>[1], scope: string) => {
      const answer = await postAs(idp, client, '/token', { grant_type: 'client_credentials', resource, scope });
      return [answer.status, answer.json().error ?? answer.json().scope];
    };
    const machine = { redirect_uris: [], grant_types: ['client_credentials' as const] };
    expect(await ask(await anApplication(idp, machine), 'admin:*')).toEqual([400, 'invalid_target']);
    const other = await anApplication(idp, { ...machine, resources: ['https://other.example'], scope: 'admin:*' });
    expect(await ask(other, 'admin:*')).toEqual([400, 'invalid_target']);
    const reader = await aService(idp, 'gatehouse.users:read');
    expect(await ask(reader.app, 'admin:* gatehouse.users:read gatehouse.users:write')).toEqual([
      200,
      'gatehouse.users:read',
    ]);
    expect((await reader.get('/users')).status).toBe(200);
    const roles = await reader.get('/roles');
    expect([roles.status, roles.json().code]).toEqual([403, 'forbidden']);
    expect(roles.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="gatehouse.roles:read"');
  });

  it('has no scope that was taken from the application after the token was issued', async () => {
    const { applications } = idp.services;
    const resource = adminApi(idp.issuer);
    const both = 'admin:* gatehouse.users:read';
    const service = await aService(idp, both);
    const tool = await aTool(idp, { scope: `openid ${both}` });
    const person = await aPerson(idp, ['admin'], { tool, scope: `openid ${both}` });
    const machine = { redirect_uris: [], grant_types: ['client_credentials' as const] };
    const narrow = { resources: [resource], scope: 'openid gatehouse.users:read' };
    for (const { app, get, send, input } of [
      { ...service, input: machine },
      { ...person, input: { redirect_uris: [person.app.redirectUri] } },
    ]) {
      await applications.update('oidc', app.applicationId, { ...input, ...narrow });
      expect((await get('/me')).json()).toMatchObject({ permissions: ['gatehouse.users:read'] });
      // Not even to give the scope back to itself.
      const patch = { scope: 'openid admin:*' };
      const updated = await send('PATCH', `/applications/${app.applicationId}`, patch, { 'if-match': '*' });
      expect(updated.status).toBe(403);
      await applications.update('oidc', app.applicationId, { ...input, ...narrow, resources: [] });
      expect((await get('/users')).status).toBe(401);
    }
  });

  it('is limited to the permissions of the user, whatever the scopes of the token', async () => {
    const nobody = await aPerson(idp, []);
    expect((await nobody.get('/me')).json()).toMatchObject({ permissions: [] });
    expect((await nobody.get('/users')).status).toBe(403);
    const narrow = await aPerson(idp, ['admin'], {
      scope: 'openid gatehouse.audit:read',
      tool: await aTool(idp, { scope: 'openid gatehouse.audit:read' }),
    });
    expect((await narrow.get('/me')).json()).toMatchObject({ permissions: ['gatehouse.audit:read'] });
    expect((await narrow.get('/users')).status).toBe(403);
  });
});
