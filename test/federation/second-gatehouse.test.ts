// A second Gatehouse as the upstream: its own engine, discovery, consent and claims.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redirectUri } from '../oidc/support.ts';
import { aClient, aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { expectSignedIn } from '../support/pages/enter.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import { aConnection, accountOf, callbackOf, isAtApplication, openSignIn } from './support.ts';

const id = `gatehouse-${process.pid}`;
let idp: TestIdp;
let upstream: TestIdp;

beforeAll(async () => {
  [idp, upstream] = await Promise.all([sharedIdpWithConnections(), startIdp()]);
  const { clientId: client_id, clientSecret: client_secret } = await aClient(upstream.services, {
    redirect_uris: [callbackOf(idp, id)],
    scope: 'openid profile email roles',
  });
  const groups = { groups_claim: 'roles', role_mappings: { 'upstream-staff': 'gatehouse-staff' } };
  await idp.services.roles.create({ name: 'gatehouse-staff' });
  await upstream.services.roles.create({ name: 'upstream-staff' });
  const scopes = ['openid', 'profile', 'email', 'roles'];
  const trusted = { trusted_acr: { mfa: ['urn:gatehouse:acr:mfa'] } };
  await aConnection(idp, {
    id,
    issuer: upstream.issuer,
    client_id,
    client_secret,
    scopes,
    create_users: true,
    ...groups,
    ...trusted,
  });
});
afterAll(async () => {
  await idp.services.connections.remove(id);
  await upstream.stop();
});

describe('a second Gatehouse as upstream', () => {
  it('signs its user in here, with address, role and the time of the sign-in', async () => {
    const user = await aUser(upstream.services, { username: 'upstream-ann', email: 'ann@upstream.example' });
    await upstream.services.roles.assign(user.account.id, 'upstream-staff');
    const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
    const browser = httpClient(idp.issuer);
    const form = await openSignIn(idp, { clientId, browser, prompt: 'login' });
    const there = await browser.follow(await browser.submit(form, {}, { form: `/connections/${id}` }), isAtApplication);
    expect(new URL(there.url).origin).toBe(upstream.issuer);
    const sent = await browser.submit(there, { username: user.username, password: user.password });
    const page = await browser.follow(sent, isAtApplication);
    // prompt=login is met: the upstream states auth_time, which follows the request.
    expectSignedIn(page);
    expect(await accountOf(idp, id, user.account.id)).toMatchObject({
      email: 'ann@upstream.example',
      emailVerified: true,
      roles: ['gatehouse-staff'],
    });
  });
});
