// An SP-initiated SAML sign-in; the service provider uses node-saml.
import { beforeAll, describe, expect, it } from 'vitest';
import { relyingParty } from '../../support/applications/rp.ts';
import { aServiceProvider, type TestServiceProvider } from '../../support/applications/sp.ts';
import { aClient, aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';

let idp: TestIdp;
let user: TestUser;
let sp: TestServiceProvider;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services, { name: 'Änn <Example>' });
  sp = await aServiceProvider(idp.services, { settings: { attributes: { email: 'email', displayName: 'name' } } });
});

/** The form with the Response that is posted to the service provider after the sign-in. */
async function openSaml(browser: HttpClient, url: string, { username, password }: TestUser = user) {
  const page = await browser.follow(await browser.get(url));
  if (!page.text.includes('name="username"')) return page;
  return browser.follow(await browser.submit(page, { username, password }));
}

describe('a SAML sign-in', () => {
  it('gives the service provider the user and their attributes', async () => {
    const page = await openSaml(
      httpClient(idp.issuer),
      await sp.saml.getAuthorizeUrlAsync('back/to?x=ü', undefined, {}),
    );
    const [form] = page.forms;
    expect(form?.action).toBe(sp.acsUrl);
    expect(form?.fields.RelayState).toBe('back/to?x=ü');
    const profile = await sp.accept(form?.fields ?? {});
    expect(profile).toMatchObject({
      email: user.account.email,
      displayName: 'Änn <Example>',
      issuer: `${idp.issuer}/saml/metadata`,
    });
    expect(profile.nameIDFormat).toBe('urn:oasis:names:tc:SAML:2.0:nameid-format:persistent');
  });

  it('states the latest end of the session as SessionNotOnOrAfter, whatever the idle time, also later in the session', async () => {
    const until = (xml: string) => Date.parse(/SessionNotOnOrAfter="([^"]+)"/.exec(xml)?.[1] ?? '');
    const answerFor = async (browser: HttpClient, library = {}) => {
      const wiki = await aServiceProvider(idp.services, { library });
      const page = await openSaml(browser, await wiki.saml.getAuthorizeUrlAsync('', undefined, {}));
      return Buffer.from(page.forms[0]?.fields.SAMLResponse ?? '', 'base64').toString();
    };
    const { session_hours: hours } = idp.services.settings.latest();
    const browser = httpClient(idp.issuer);
    const end = until(await answerFor(browser));
    expect(Math.abs(end - Date.now() - hours * 3600_000)).toBeLessThan(60_000);
    expect(until(await answerFor(browser, { passive: true }))).toBe(end);
  });

  it('gives the service provider the configured roles, permissions and attributes', async () => {
    const { roles, accounts } = idp.services;
    await roles.create({ name: 'wiki-editor', permissions: ['articles:read', 'articles:write'] });
    await roles.create({ name: 'payroll', permissions: ['salaries:read'] });
    await roles.setRoles(user.account.id, ['wiki-editor', 'payroll']);
    await accounts.update(user.account.id, { attributes: { department: 'Library', floors: ['1', '2'] } });
    const wiki = await aServiceProvider(idp.services, {
      settings: {
        attributes: {
          groups: 'roles',
          rights: 'permissions',
          nothing: 'attributes.missing',
          'urn:oid:2.5.4.11': 'attributes.department',
          floors: 'attributes.floors',
        },
        roles_filter: ['wiki-*'],
        roles_rename: { 'wiki-editor': 'Editors' },
        permissions_filter: ['*:read'],
      },
    });
    const page = await openSaml(httpClient(idp.issuer), await wiki.saml.getAuthorizeUrlAsync('', undefined, {}));
    const profile = await wiki.accept(page.forms[0]?.fields ?? {});
    expect(profile).toMatchObject({
      groups: 'Editors',
      'urn:oid:2.5.4.11': 'Library',
      floors: ['1', '2'],
      rights: ['articles:read', 'salaries:read'],
    });
    expect(profile).not.toHaveProperty('nothing');
  });

  it('shares one session with OpenID Connect, both ways', async () => {
    const redirectUri = 'http://127.0.0.1:4000/cb';
    const client = await aClient(idp.services, { redirect_uris: [redirectUri] });
    const rp = await relyingParty({ issuer: idp.issuer, ...client, redirectUri });
    const browser = httpClient(idp.issuer);
    await openSaml(browser, await sp.saml.getAuthorizeUrlAsync('', undefined, {}));
    const started = await rp.start();
    const back = await browser.follow(await browser.get(started.url), (url) => url.startsWith(redirectUri));
    const tokens = await rp.finish(back.location ?? '', started);
    expect(tokens.claims()?.sub).toBe(user.account.id);
    const again = await browser.follow(await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {})));
    expect(again.text).not.toContain('name="username"');
    expect((await sp.accept(again.forms[0]?.fields ?? {})).nameID).toBeTruthy();
  });
});
