// The portal: the applications that it lists for a user, how each one opens, and its warnings.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPng } from '../brand/pictures.ts';
import { anApplication, completeSignIn, signIn } from '../oidc/support.ts';
import { aServiceProvider } from '../support/applications/sp.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aClient, aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { linksOf } from '../support/pages/html.ts';

let idp: TestIdp;
let user: TestUser;
let browser: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  browser = httpClient(idp.issuer);
  await completeSignIn(browser, '/login', { user, redirectUri: `${idp.issuer}/auth/callback` });
});
afterAll(() => idp?.stop());

const portal = async (query = ''): Promise<Page> => {
  const page = await browser.follow(await browser.get(`/dashboard${query}`));
  expect([page.status, new URL(page.url).pathname]).toEqual([200, '/dashboard']);
  return page;
};
/** Name -> URL, in the order of the page. */
const tilesOf = ({ text }: Page) =>
  [...text.matchAll(/<li><a href="([^"]+)">.*?<strong>(.*?)<\/strong>/g)].map(([, url = '', name = '']) => [
    name,
    url.replaceAll('&amp;', '&'),
  ]);
const tile = async (name: string) => tilesOf(await portal()).find(([found]) => found === name)?.[1];

it('is where the start page leads: visitors by Sign in, and the addresses for applications are closed', async () => {
  const visitor = httpClient(idp.issuer);
  const start = await visitor.get('/');
  expect(linksOf(start.text, idp.issuer)[0]).toEqual({ label: 'Sign in', href: `${idp.issuer}/dashboard` });
  expect(start.text).not.toContain('Your account');
  expect(start.text).toMatch(/<details[^>]*>\s*<summary>Connect an application<\/summary>[\s\S]*openid-configuration/);
  expect((await visitor.follow(await visitor.get('/dashboard'))).url).toContain('/signin/');
  await portal();
  const own = linksOf((await browser.get('/')).text, idp.issuer);
  expect(own.slice(0, 2).map(({ label }) => label)).toEqual(['Your apps', 'Your account']);
});

describe('a tile', () => {
  it('opens an OpenID Connect application at its initiate_login_uri or its home page', async () => {
    const initiate_login_uri = 'https://start.example.com/login?tenant=7';
    await aClient(idp.services, {
      client_name: 'Begins',
      redirect_uris: ['https://start.example.com/cb'],
      initiate_login_uri,
    });
    expect(await tile('Begins')).toBe(`${initiate_login_uri}&iss=${encodeURIComponent(idp.issuer)}`);
    const client_uri = 'https://home.example.com/';
    await aClient(idp.services, { client_name: 'At home', redirect_uris: ['https://home.example.com/cb'], client_uri });
    expect(await tile('At home')).toBe(client_uri);
  });

  it('opens a SAML application by an IdP-initiated sign-in, or at its own start page', async () => {
    const sp = await aServiceProvider(idp.services, { settings: { name: 'Ours', idp_initiated: true } });
    const url = (await tile('Ours')) ?? '';
    expect(url).toBe(`/saml/sso/start?sp=${encodeURIComponent(sp.entityId)}`);
    const answer = await browser.follow(await browser.get(url));
    expect(answer.forms[0]).toMatchObject({ action: sp.acsUrl, fields: { SAMLResponse: expect.any(String) } });
    const start_url = 'https://wiki.example.com/sso';
    await aServiceProvider(idp.services, { settings: { name: 'Its own', idp_initiated: true, start_url } });
    expect(await tile('Its own')).toBe(start_url);
  });

  it('is absent for an application that has no start URL, is disabled, or is not for this user', async () => {
    const home = { redirect_uris: ['https://x.example.com/cb'], client_uri: 'https://x.example.com/' };
    await aClient(idp.services, { client_name: 'No start', redirect_uris: home.redirect_uris });
    await aServiceProvider(idp.services, { settings: { name: 'Asks only' } });
    await aClient(idp.services, { ...home, client_name: 'Off', enabled: false });
    await aClient(idp.services, { ...home, client_name: 'For support', access: { roles: ['support'] } });
    const names = tilesOf(await portal()).map(([name]) => name);
    for (const name of ['No start', 'Asks only', 'Off', 'For support']) expect(names).not.toContain(name);
    await idp.services.roles.assign(user.account.id, 'support');
    expect(tilesOf(await portal()).map(([name]) => name)).toContain('For support');
  });

  it('has the picture that this server serves, whatever address the application registered', async () => {
    const home = { redirect_uris: ['https://l.example.com/cb'], client_uri: 'https://l.example.com/' };
    const { pictures } = idp.services;
    const client = await aClient(idp.services, { ...home, client_name: 'Logo', logo_uri: 'https://127.0.0.1:9/l.png' });
    const sp = await aServiceProvider(idp.services, {
      settings: { name: 'SAML logo', idp_initiated: true, logo_uri: 'https://127.0.0.1:9/l.png' },
    });
    await pictures.choose(client.applicationId, aPng());
    await pictures.choose(String((await idp.services.applications.find(sp.entityId))?.id), aPng({ width: 9 }));
    await aClient(idp.services, { ...home, client_name: 'Plain', logo_uri: 'http://127.0.0.1:9/l.png' });
    const page = await portal();
    for (const id of [client.clientId, sp.entityId])
      expect(page.text).toContain(`src="${await pictures.addressOf(id)}"`);
    expect(page.text).toMatch(/<span class="logo[^>]*>P<\/span><strong>Plain/);
    expect(page.text).not.toContain('127.0.0.1:9');
    expect(String(page.headers['content-security-policy'])).toMatch(/img-src 'self' data:(;|$)/);
  });

  it('comes by its name, whatever its case is', async () => {
    const names = ['CRM of sales', 'Calendar of sales', 'VPN of sales', 'Vault of sales', 'audit of sales'];
    const home = { redirect_uris: ['https://s.example.com/cb'], client_uri: 'https://s.example.com/' };
    for (const client_name of names) await aClient(idp.services, { ...home, client_name });
    const sorted = ['audit of sales', 'Calendar of sales', 'CRM of sales', 'Vault of sales', 'VPN of sales'];
    expect(tilesOf(await portal('?q=of+sales')).map(([name]) => name)).toEqual(sorted);
  });

  it('displays a name without interpreting HTML', async () => {
    const client_uri = 'https://m.example.com/';
    const client_name = '<img src=x onerror=alert(1)>';
    await aClient(idp.services, { client_name, redirect_uris: ['https://m.example.com/cb'], client_uri });
    const { text } = await portal();
    expect(text).not.toContain(client_name);
    expect(text).toContain('&lt;img src=x');
  });
});

describe('the portal', () => {
  it('finds an application by a part of its name, in any case', async () => {
    const client_uri = 'https://found.example.com/';
    await aClient(idp.services, { client_name: 'Findling', redirect_uris: [`${client_uri}cb`], client_uri });
    expect(tilesOf(await portal('?q=NDLIN'))).toEqual([['Findling', client_uri]]);
    const none = await portal('?q=%3Cscript%3E');
    expect(tilesOf(none)).toEqual([]);
    expect(none.text).toContain('No apps match');
    expect(none.text).toContain('value="&lt;script&gt;"');
  });

  it('lists the last used application first, also after the end of that session', async () => {
    const used = await anApplication(idp, { client_name: 'Zebra', client_uri: 'https://zebra.example.com/' });
    expect(tilesOf(await portal())[0]?.[0]).not.toBe('Zebra');
    const elsewhere = httpClient(idp.issuer);
    await signIn(elsewhere, used, user);
    const page = await portal();
    expect(tilesOf(page)[0]?.[0]).toBe('Zebra');
    expect(page.text).toContain('Used recently');
    await elsewhere.follow(await elsewhere.get('/logout', { headers: { 'sec-fetch-site': 'same-origin' } }));
    expect(tilesOf(await portal())[0]?.[0]).toBe('Zebra');
  });

  it('counts an application that was opened in an existing session, also after that session', async () => {
    const home = 'https://quiet.example.com/';
    const quiet = await anApplication(idp, { client_name: 'Quietly opened', client_uri: home });
    const elsewhere = httpClient(idp.issuer);
    await completeSignIn(elsewhere, '/login', { user, redirectUri: `${idp.issuer}/auth/callback` });
    const opened = () => idp.services.audit.list({ types: ['authorization.granted'], clientId: quiet.clientId });
    for (let turn = 0; turn < 3; turn += 1) await signIn(elsewhere, quiet, user);
    await elsewhere.follow(await elsewhere.get('/logout', { headers: { 'sec-fetch-site': 'same-origin' } }));
    expect(tilesOf(await portal())[0]).toEqual(['Quietly opened', home]);
    // Recorded in the audit log once an hour, not for each request.
    expect(await opened()).toMatchObject([{ subjectId: user.account.id, outcome: 'success' }]);
  });

  it('warns about what the user has to do', async () => {
    const { db } = idp.services;
    expect((await portal()).text).not.toContain('class="note warn"');
    const userId = user.account.id;
    const at = new Date();
    await db.totpCredential.create({
      data: { userId, secretSealed: 'x', createdAt: at, confirmedAt: at },
    });
    await db.passwordCredential.updateMany({ where: { userId }, data: { mustChange: true } });
    await db.asStored.user.update({ where: { id: userId }, data: { emailVerified: false, mac: '' } });
    await signRows(idp.services);
    const { text } = await portal();
    for (const notice of [
      'You have no recovery codes left',
      'You need to change your password',
      'You haven’t confirmed your email address',
    ])
      expect(text).toContain(notice);
  });

  it('redirects to the sign-in without a session', async () => {
    const anonymous = await httpClient(idp.issuer).get('/dashboard');
    expect(anonymous.location).toContain('/login');
  });
});
