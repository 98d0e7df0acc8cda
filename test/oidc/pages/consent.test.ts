// The consent page: what it lists, when it is displayed, and what is granted.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminApi } from '../../../src/people/rbac/built-in.ts';
import { createRegistrationTokens } from '../../../src/protocols/oidc/store/registration-tokens.ts';
import { aPng } from '../../brand/pictures.ts';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  completeSignIn,
  forApi,
  outcome,
  redirectUri,
  signIn,
} from '../support.ts';

const api = 'https://api.example.com';
let idp: TestIdp;
let user: TestUser;

beforeAll(async () => {
  idp = await startIdp();
  await idp.services.db.asStored.resource.create({
    data: { identifier: api, scopes: '["articles:read","articles:write"]' },
  });
  await signRows(idp.services);
});
afterAll(() => idp?.stop());

const asking = (more = {}): Promise<Application> =>
  anApplication(idp, {
    consent: 'explicit',
    client_name: 'Photo <Album>',
    client_uri: 'https://photos.example/',
    ...more,
  });
const isThere = (url: string) => url.startsWith(redirectUri);

/** A signed-in user on the consent page of this application. */
async function atQuestion(
  app: Pick<Application, 'clientId'>,
  parameters: Record<string, string> = {},
): Promise<{ browser: HttpClient; page: Page }> {
  user = await aUser(idp.services, { name: 'Ann Example' });
  const browser = httpClient(idp.issuer);
  const form = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId, parameters)));
  const submitted = await browser.submit(form, { username: user.username, password: user.password });
  return { browser, page: await browser.follow(submitted, isThere) };
}

const open = async (browser: HttpClient, app: Application, parameters: Record<string, string> = {}) =>
  browser.follow(await browser.get(authorizeUrl(idp, app.clientId, parameters)), isThere);
const isQuestion = (page: Page) => page.text.includes('will be able to');

describe('the consent page', () => {
  it('lists what the application will receive, with the values of the user', async () => {
    const app = await asking({ policy_uri: 'https://photos.example/privacy', tos_uri: 'https://photos.example/terms' });
    const { page } = await atQuestion(app, { scope: 'openid profile email roles offline_access' });
    const words = textOf(page.text);
    for (const text of [
      'Photo <Album>',
      'photos.example',
      'Sign you in',
      'See your name and profile',
      'Ann Example',
      'See your email address',
      user.account.email ?? '',
      'See your roles',
      'Keep access while you’re away',
      'privacy policy',
      'Terms of service',
    ]) {
      expect(words).toContain(text);
    }
    expect(page.text).not.toContain('<Album>');
  });

  it('names the host of the redirect URI, not the claimed page, of a client that registered itself', async () => {
    const { token } = await createRegistrationTokens(idp.services).issue();
    const registered = await httpClient(idp.issuer).post('/register', {
      json: { client_name: 'Photo Album', redirect_uris: [redirectUri], client_uri: 'https://photos.example/' },
      headers: { authorization: `Bearer ${token}` },
    });
    const { page } = await atQuestion({ clientId: registered.json<{ client_id: string }>().client_id });
    expect(textOf(page.text)).toContain(`This app registered itself. It takes you to ${new URL(redirectUri).host}`);
    expect(page.text).not.toContain('photos.example');
    const byAdministrator = (await atQuestion(await asking())).page;
    expect(byAdministrator.text).toContain('href="https://photos.example/"');
    expect(byAdministrator.text).not.toContain('This app registered itself');
  });

  it('names the language of the user in the language of the page', async () => {
    const app = await asking({ scope: 'openid profile' });
    const { browser } = await atQuestion(app);
    const words = async (locale: string, more = {}) => {
      await idp.services.accounts.update(user.account.id, { locale });
      return textOf((await open(browser, app, { scope: 'openid profile', ...more })).text);
    };
    expect(await words('fr', { ui_locales: 'en' })).toContain('Ann Example · French');
    expect(await words('de_CH', { ui_locales: 'en' })).toContain('Ann Example · German (Switzerland)');
    expect(await words('fr', { ui_locales: 'de' })).toContain('Ann Example · Französisch');
    await idp.services.db.asStored.user.update({
      where: { id: user.account.id },
      data: { locale: 'Deutsch', mac: '' },
    });
    await signRows(idp.services);
    expect(textOf((await open(browser, app, { scope: 'openid profile' })).text)).toContain('Ann Example · Deutsch');
  });

  it('names requested claims and APIs', async () => {
    const app = await asking(forApi(api, 'articles:read', 'articles:write'));
    const claims = JSON.stringify({ userinfo: { phone_number: null, birthdate: null } });
    const request = { scope: 'openid articles:read', claims, resource: api };
    const words = textOf((await atQuestion(app, request)).page.text);
    expect(words).toContain('Phone number');
    expect(words).toContain('Date of birth');
    const german = textOf((await atQuestion(app, { ...request, ui_locales: 'de' })).page.text);
    expect(german).toContain('Telefonnummer');
    expect(german).toContain('Geburtsdatum');
    expect(words).toContain(api);
    expect(words).toContain('articles:read');
    expect(words).not.toContain('articles:write');
  });

  it('is not displayed again, in another browser either', async () => {
    const app = await asking();
    const { browser, page } = await atQuestion(app);
    expect(isQuestion(page)).toBe(true);
    const allowed = await browser.follow(await browser.submit(page, {}, { button: 'Allow' }), isThere);
    expect(allowed.location).toMatch(/[?&]code=/);
    expect((await open(browser, app)).location).toMatch(/[?&]code=/);
    const elsewhere = httpClient(idp.issuer);
    const form = await elsewhere.follow(await elsewhere.get(authorizeUrl(idp, app.clientId)));
    const back = await elsewhere.follow(
      await elsewhere.submit(form, { username: user.username, password: user.password }),
      isThere,
    );
    expect(back.location).toMatch(/[?&]code=/);
  });

  it('is displayed again for more than was granted, and for prompt=consent', async () => {
    const app = await asking();
    const { browser, page } = await atQuestion(app, { scope: 'openid email' });
    await completeSignIn(browser, page, { user });
    expect((await open(browser, app, { scope: 'openid' })).location).toMatch(/code=/);
    expect(isQuestion(await open(browser, app, { scope: 'openid email profile' }))).toBe(true);
    expect(isQuestion(await open(browser, app, { prompt: 'consent' }))).toBe(true);
    expect(
      (await outcome(browser, authorizeUrl(idp, app.clientId, { scope: 'openid roles', prompt: 'none' }))).get('error'),
    ).toBe('consent_required');
  });

  it('returns access_denied when consent is denied, and is displayed again', async () => {
    const app = await asking();
    const { browser, page } = await atQuestion(app);
    const denied = await browser.follow(await browser.submit(page, {}, { button: 'Don’t allow' }), isThere);
    expect(Object.fromEntries(new URL(denied.location ?? '').searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'the-state',
      iss: idp.issuer,
    });
    expect(isQuestion(await open(browser, app))).toBe(true);
  });

  it('is not displayed for a first-party application', async () => {
    const app = await anApplication(idp, { consent: 'implicit' });
    const { page } = await atQuestion(app, { scope: 'openid profile email roles offline_access' });
    expect(page.location).toMatch(/[?&]code=/);
  });

  it('lists rights in Gatehouse, also of a first-party application that a manager registered', async () => {
    const admin = adminApi(idp.issuer);
    const scope = 'openid gatehouse.applications:write';
    const app = await anApplication(idp, { consent: 'implicit', resources: [admin], scope });
    const { browser, page } = await atQuestion(app, { scope, resource: admin });
    expect(isQuestion(page)).toBe(true);
    expect(textOf(page.text)).toContain('applications');
    const allowed = await browser.follow(await browser.submit(page, {}, { button: 'Allow' }), isThere);
    expect(allowed.location).toMatch(/[?&]code=/);
    expect((await open(browser, app, { scope, resource: admin })).location).toMatch(/[?&]code=/);
  });

  it('is displayed each time for a native application that is not first-party', async () => {
    const app = await asking({ application_type: 'native', token_endpoint_auth_method: 'none' });
    const { browser, page } = await atQuestion(app);
    expect((await completeSignIn(browser, page, { user })).location).toMatch(/code=/);
    expect(isQuestion(await open(browser, app))).toBe(true);
  });

  it('is displayed again after consent was withdrawn', async () => {
    const app = await asking();
    const { browser, page } = await atQuestion(app);
    await completeSignIn(browser, page, { user });
    const { consents, db } = idp.services;
    expect(await consents.withdraw(user.account.id, app.applicationId)).toBe(true);
    await db.oidcArtifact.deleteMany({ where: { accountId: user.account.id, clientId: app.clientId, model: 'Grant' } });
    expect(isQuestion(await open(browser, app))).toBe(true);
  });

  it('grants only what it lists, whatever else is posted', async () => {
    const app = await asking();
    const { browser, page } = await atQuestion(app, { scope: 'openid' });
    const posted = await browser.submit(page, { scope: 'openid email', scopes: 'email', decision: 'allow' });
    await browser.follow(posted, isThere);
    expect(await idp.services.consents.find(user.account.id, app.applicationId)).toEqual({
      scopes: ['openid'],
      claims: [],
      resources: {},
    });
    const strange = await open(browser, app, { scope: 'openid email' });
    expect((await browser.submit(strange, { decision: 'everything' })).status).toBe(400);
  });

  it('grants tokens for what was allowed and no more', async () => {
    const app = await asking();
    const { browser, page } = await atQuestion(app, { scope: 'openid email' });
    await completeSignIn(browser, page, { user });
    const { tokens } = await signIn(browser, app, user, { scope: 'openid email' });
    expect(tokens.scope).toBe('openid email');
    expect(await app.rp.userinfo(tokens)).not.toHaveProperty('name');
  });
});

describe('logo, terms and policy of an application', () => {
  const links = {
    logo_uri: 'https://cdn.photos.example/logo.png',
    tos_uri: 'https://photos.example/terms',
    policy_uri: 'https://photos.example/privacy',
  };
  const csp = (page: Page) => /img-src ([^;]*)/.exec(String(page.headers['content-security-policy']))?.[1];

  it('are on the sign-in page and on the consent page, which load the logo from this server', async () => {
    const app = await asking(links);
    await idp.services.pictures.choose(app.applicationId, aPng());
    const logo = await idp.services.pictures.addressOf(app.clientId);
    const browser = httpClient(idp.issuer);
    const signInPage = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
    user = await aUser(idp.services);
    const sent = await browser.submit(signInPage, { username: user.username, password: user.password });
    for (const page of [signInPage, await browser.follow(sent, isThere)]) {
      expect(page.text).toContain(`<img class="logo lg" src="${logo}" alt=""`);
      expect(page.text).toContain(
        '<a href="https://photos.example/privacy" rel="noreferrer">Photo &lt;Album&gt; privacy policy</a>',
      );
      expect(page.text).toContain('<a href="https://photos.example/terms" rel="noreferrer">Terms of service</a>');
      expect(page.text).not.toContain('cdn.photos.example');
      expect(csp(page)).toBe("'self' data:");
    }
  });

  it('are left out where the application registers none, or a logo that is not there', async () => {
    const app = await asking({ logo_uri: 'http://127.0.0.1:9/logo.png' });
    const { page } = await atQuestion(app);
    const other = httpClient(idp.issuer);
    for (const one of [page, await other.follow(await other.get(authorizeUrl(idp, app.clientId)))]) {
      expect(one.text).not.toContain('<img');
      expect(one.text).not.toContain('Terms of service');
      expect(csp(one)).toBe("'self' data:");
    }
  });
});
