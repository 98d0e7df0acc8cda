// SAML applications whose users sign in over an OpenID Connect connection: what they request goes across the hop, and what the
// upstream proved is what the assertion states.
import type { Profile } from '@node-saml/node-saml';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contextClasses } from '../../src/protocols/saml/xml/names.ts';
import { answerIn } from '../saml/live.ts';
import { aServiceProvider, type ServiceProviderOptions } from '../support/applications/sp.ts';
import { aUser, PASSWORD } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import { accountOf, anUpstream, type Connected, pressConnection } from './support.ts';

let idp: TestIdp;
let corp: Connected;
let count = 0;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  corp = await anUpstream(idp, { trusted_amr: { mfa: ['mfa'] }, acr_values: { mfa: ['https://corp.example/mfa'] } });
});
beforeEach(() => {
  count += 1;
  corp.upstream.quirks = {};
  corp.upstream.user = { sub: `saml-${count}` };
  corp.upstream.lastRequest = new URLSearchParams();
});
afterAll(() => corp.remove());

const seconds = () => Math.floor(Date.now() / 1000);

/** An AuthnRequest of a new service provider, up to the sign-in page or the Response. */
async function open(library: ServiceProviderOptions['library'] = {}, browser: HttpClient = httpClient(idp.issuer)) {
  const sp = await aServiceProvider(idp.services, { library });
  const page = await browser.follow(await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {})));
  return { sp, page, browser };
}

async function signIn(library: ServiceProviderOptions['library'] = {}, browser?: HttpClient) {
  const begun = await open(library, browser);
  return { ...begun, page: await pressConnection(begun.browser, begun.page, corp.connection) };
}

const statement = (profile: Profile, name: RegExp) => name.exec(profile.getAssertionXml?.() ?? '')?.[1];
const statusOf = (page: Page) => answerIn(page) ?? '';

describe('a SAML application over an OpenID Connect connection', () => {
  it('gets the class unspecified and the time of the authentication at the upstream', async () => {
    const authTime = seconds() - 1800;
    corp.upstream.user = { sub: `saml-${count}`, auth_time: authTime };
    const { sp, page } = await signIn();
    const profile = await sp.accept(page.forms[0]?.fields ?? {});
    expect(statement(profile, /<saml:AuthnContextClassRef>([^<]+)/)).toContain(':unspecified');
    expect(Date.parse(statement(profile, /AuthnInstant="([^"]+)"/) ?? '')).toBe(authTime * 1000);
  });

  it('passes ForceAuthn on, and is not met by an old authentication', async () => {
    corp.upstream.quirks = { idToken: { auth_time: seconds() } };
    const fresh = await signIn({ forceAuthn: true });
    expect(corp.upstream.lastRequest.get('prompt')).toBe('login');
    await fresh.sp.accept(fresh.page.forms[0]?.fields ?? {});
    corp.upstream.quirks = { idToken: { auth_time: seconds() - 600 } };
    const old = await signIn({ forceAuthn: true });
    expect(statusOf(old.page)).not.toContain('status:Success');
    expect(statusOf(old.page)).toContain('StatusCode');
    const entries = await idp.services.audit.list({ types: ['saml.response'], clientId: old.sp.entityId });
    expect(entries).toMatchObject([{ outcome: 'failure', reason: 'login_required' }]);
  });

  it('does not go to the upstream with IsPassive, and accepts the session that began there', async () => {
    const silent = await open({ passive: true });
    expect(statusOf(silent.page)).toContain('NoPassive');
    expect(corp.upstream.lastRequest.size).toBe(0);
    const { browser } = await signIn();
    const { sp, page } = await open({ passive: true }, browser);
    expect(await sp.accept(page.forms[0]?.fields ?? {})).toBeTruthy();
  });

  it('gets the second factor that it requests from the upstream, where the connection vouches for it', async () => {
    const library = {
      disableRequestedAuthnContext: false,
      racComparison: 'exact' as const,
      authnContext: [contextClasses.mfa],
    };
    corp.upstream.user = { sub: `saml-${count}`, amr: ['mfa'] };
    const { sp, page } = await signIn(library);
    expect(corp.upstream.lastRequest.get('acr_values')).toBe('https://corp.example/mfa');
    const profile = await sp.accept(page.forms[0]?.fields ?? {});
    expect(statement(profile, /<saml:AuthnContextClassRef>([^<]+)/)).toBe(contextClasses.mfa);
  });

  it('gets no second factor that the connection does not vouch for', async () => {
    const library = {
      disableRequestedAuthnContext: false,
      racComparison: 'exact' as const,
      authnContext: [contextClasses.mfa],
    };
    corp.upstream.user = { sub: `saml-${count}`, amr: ['otp'] };
    const { page } = await signIn(library);
    expect(statusOf(page)).not.toContain('status:Success');
  });

  it('gets no password sign-in that it requests of an account whose domain requires a connection', async () => {
    const domain = `saml${process.pid}.example`;
    const required = await anUpstream(idp, { domains: [domain], required_for_domains: true }, { proven: true });
    const user = await aUser(idp.services, { email: `user@${domain}` });
    const { page, browser } = await open({
      disableRequestedAuthnContext: false,
      racComparison: 'exact',
      authnContext: [contextClasses.password],
    });
    const chosen = await browser.follow(
      await browser.submit(page, { username: user.username }, { form: '/identifier' }),
    );
    const sent = await browser.submit(chosen, { username: user.username, password: PASSWORD }, { form: '/password' });
    expect(sent.status).toBe(403);
    await required.remove();
  });

  it('gets NoAuthnContext when it requests the password and accepts none here', async () => {
    const library = { disableRequestedAuthnContext: false, authnContext: [contextClasses.password] };
    const settings = { connections: [corp.connection], local_sign_in: false };
    const sp = await aServiceProvider(idp.services, { library, settings });
    const browser = httpClient(idp.issuer);
    const form = await browser.follow(await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {})));
    expect(statusOf(await pressConnection(browser, form, corp.connection))).toContain('NoAuthnContext');
  });

  const exactPassword = {
    disableRequestedAuthnContext: false,
    racComparison: 'exact' as const,
    authnContext: [contextClasses.password],
  };

  it('gets NoAuthnContext when it requests exactly the password of a user who has none, and the user reads why', async () => {
    const { page, browser } = await signIn(exactPassword);
    expect(statusOf(page)).toContain('NoAuthnContext');
    expect(page.text).toContain('accepts only a sign-in with a password');
    expect(page.text).not.toContain('autosubmit');
    // The same in the session that has begun, by the other comparison, and with ForceAuthn.
    for (const library of [exactPassword, { ...exactPassword, racComparison: 'maximum' as const }]) {
      const again = await open(library, browser);
      expect(statusOf(again.page)).toContain('NoAuthnContext');
    }
    corp.upstream.quirks = { idToken: { auth_time: seconds() } };
    const forced = await open({ ...exactPassword, forceAuthn: true }, browser);
    expect(statusOf(await pressConnection(browser, forced.page, corp.connection))).toContain('NoAuthnContext');
  });

  it('gets a Response when it has Gatehouse ignore RequestedAuthnContext', async () => {
    const settings = { ignore_requested_authn_context: true };
    const sp = await aServiceProvider(idp.services, { library: exactPassword, settings });
    const browser = httpClient(idp.issuer);
    const form = await browser.follow(await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {})));
    const page = await pressConnection(browser, form, corp.connection);
    expect(await sp.accept(page.forms[0]?.fields ?? {})).toBeTruthy();
  });

  it('gets the password class when the user has a password too, and enters it after the connection', async () => {
    const { page: first, browser } = await signIn();
    expect(statusOf(first)).toContain('status:Success');
    const account = await accountOf(idp, corp.connection, `saml-${count}`);
    if (!account) throw new Error('no account');
    expect(await idp.services.credentials.setPassword(account, PASSWORD)).toBe('ok');
    const fresh = httpClient(idp.issuer);
    for (const who of [browser, fresh]) {
      const begun = await open(exactPassword, who);
      const form = who === fresh ? await pressConnection(who, begun.page, corp.connection) : begun.page;
      expect(form.text).toContain('This app requires your password.');
      const fields = { username: account.username, password: PASSWORD };
      const page = await who.follow(await who.submit(form, fields, { form: '/password' }));
      const profile = await begun.sp.accept(page.forms[0]?.fields ?? {});
      expect(statement(profile, /<saml:AuthnContextClassRef>([^<]+)/)).toBe(contextClasses.password);
    }
  });

  it('gets the password class from an upstream that the connection trusts with it, in a session without it', async () => {
    const trusting = await anUpstream(idp, {
      trusted_acr: { password: ['urn:corp:password'] },
      acr_values: { password: ['urn:corp:password'] },
    });
    trusting.upstream.user = { sub: `pwd-${count}`, acr: 'urn:corp:weak' };
    const browser = httpClient(idp.issuer);
    const begun = await open({}, browser);
    expect(statusOf(await pressConnection(browser, begun.page, trusting.connection))).toContain('status:Success');
    trusting.upstream.user = { sub: `pwd-${count}`, acr: 'urn:corp:password' };
    const { sp, page } = await open(exactPassword, browser);
    const profile = await sp.accept(page.forms[0]?.fields ?? {});
    expect(trusting.upstream.lastRequest.get('acr_values')).toBe('urn:corp:password');
    expect(statement(profile, /<saml:AuthnContextClassRef>([^<]+)/)).toBe(contextClasses.password);
    trusting.upstream.user = { sub: `weak-${count}`, acr: 'urn:corp:weak' };
    const weak = httpClient(idp.issuer);
    const form = await open(exactPassword, weak);
    expect(statusOf(await pressConnection(weak, form.page, trusting.connection))).toContain('NoAuthnContext');
    await trusting.remove();
  });
});
