// Attacks on this server and its rights by way of an upstream: endpoints that redirect to private networks, service providers that
// pose as upstreams, answers that name where the browser goes, and groups that give rights in Gatehouse.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redirectUri } from '../oidc/support.ts';
import { aServiceProvider } from '../support/applications/sp.ts';
import { aClient } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Listening, listen } from '../support/listen.ts';
import { expectNotSignedIn, expectSignedIn } from '../support/pages/enter.ts';
import { actionsOf } from '../support/pages/html.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import { answerXml, aSamlUpstream, beginAt, postAnswer } from '../support/upstream/saml-upstream.ts';
import { accountOf, anUpstream, callbackOf, isAtApplication, signInOver } from './support.ts';

let idp: TestIdp;
let internal: Listening;
let internalCalls = 0;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  internal = await listen((_request, response) => {
    internalCalls += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"sub":"redirected","keys":[]}');
  });
});
afterAll(() => internal.close());

describe('redirects of an upstream', () => {
  it.each(['/.well-known/openid-configuration', '/jwks', '/token', '/me'])(
    'are not followed to another server: %s',
    async (path) => {
      internalCalls = 0;
      const corp = await anUpstream(idp);
      corp.upstream.user = { sub: 'redirected' };
      corp.upstream.quirks = { redirects: { [path]: `${internal.origin}/secret` } };
      const { page } = await signInOver(idp, corp.connection);
      expectNotSignedIn(page);
      expect(page.status).toBeGreaterThanOrEqual(400);
      expect(page.text).not.toContain(internal.origin);
      expect(await accountOf(idp, corp.connection, 'redirected')).toBeUndefined();
      await corp.remove();
      expect(internalCalls).toBe(0);
    },
  );
});

describe('a callback', () => {
  it('does not redirect to an address in its state or its RelayState', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
    const corp = await anUpstream(idp);
    const forged = await httpClient(idp.issuer).get(
      `${callbackOf(idp, corp.connection)}?code=x&state=${encodeURIComponent('https://attacker.example/')}`,
    );
    await corp.remove();
    expect([forged.status, forged.location]).toEqual([400, undefined]);
    const school = await aSamlUpstream(idp);
    const begun = await beginAt(idp, school, { clientId });
    const posted = await postAnswer(begun.browser, answerXml(idp, school, begun.requestId, { nameId: 'relayed' }), {
      relayState: 'https://attacker.example/',
    });
    expect(new URL(posted.location ?? '', idp.issuer).origin).toBe(idp.issuer);
    const page = await begun.browser.follow(posted, isAtApplication);
    expectSignedIn(page);
    expect(page.location).not.toContain('attacker.example');
    await idp.services.connections.remove(school.connection);
  });

  it('rejects a Response that a service provider signed in place of the upstream', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
    const school = await aSamlUpstream(idp);
    const begun = await beginAt(idp, school, { clientId });
    const sp = await aServiceProvider(idp.services);
    // Under its own name, and under that of the upstream.
    for (const entityId of [sp.entityId, school.entityId]) {
      const forger = { ...school, entityId, credential: sp.credential };
      const xml = answerXml(idp, forger, begun.requestId, { nameId: 'posed' });
      const page = await postAnswer(begun.browser, xml);
      expect([page.status, page.location]).toEqual([401, undefined]);
    }
    expect(await accountOf(idp, school.connection, 'posed')).toBeUndefined();
    await idp.services.connections.remove(school.connection);
  });
});

describe('a group that a full administrator mapped to the role of administrators', () => {
  it('grants the admin role only with a second factor of this server, and revokes it with the group', async () => {
    const strict = await startIdp({ adminMfa: 'default' });
    const corp = await anUpstream(strict, { groups_claim: 'groups', role_mappings: { admins: 'admin' } });
    const rolesOf = async () => (await accountOf(strict, corp.connection, 'mapped'))?.roles;
    corp.upstream.user = { sub: 'mapped', groups: ['admins'], amr: ['mfa'], acr: 'urn:gatehouse:acr:mfa' };
    const { page, browser } = await signInOver(strict, corp.connection);
    expect(await rolesOf()).toEqual(['admin']);
    // The upstream claims a second factor, but the connection does not vouch for it.
    expect(actionsOf(page)).toContainEqual(expect.stringContaining('enrol-totp'));
    const opened = await browser.follow(await browser.get('/admin'));
    expect(opened.url).toContain('/signin/');
    corp.upstream.user = { sub: 'mapped', groups: [] };
    expectSignedIn((await signInOver(strict, corp.connection)).page);
    expect(await rolesOf()).toEqual([]);
    await corp.upstream.stop();
    await strict.stop();
  });
});
