// A stronger sign-in that is requested in a session from an upstream: it goes back there where the connection trusts what proves it.
import type { Profile } from '@node-saml/node-saml';
import { decodeJwt } from 'jose';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contextClasses } from '../../src/protocols/saml/xml/names.ts';
import { anApplication, authorizeUrl, outcome, redirectUri } from '../oidc/support.ts';
import { aServiceProvider } from '../support/applications/sp.ts';
import { aClient } from '../support/factories.ts';
import type { HttpClient, Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { expectSignedIn } from '../support/pages/enter.ts';
import { actionsOf } from '../support/pages/html.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import { answerXml, aSamlUpstream, beginAt, postAnswer, requestIn } from '../support/upstream/saml-upstream.ts';
import { accountOf, anUpstream, type Connected, isAtApplication, openSignIn, signInOver } from './support.ts';

const MFA = 'urn:gatehouse:acr:mfa';
const UPSTREAM_MFA = 'https://corp.example/mfa';
const vouching = { trusted_amr: { mfa: ['mfa'] }, acr_values: { mfa: [UPSTREAM_MFA] } };

let idp: TestIdp;
let corp: Connected;
let count = 0;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  corp = await anUpstream(idp, vouching);
});
beforeEach(() => {
  count += 1;
  corp.upstream.quirks = {};
  corp.upstream.user = { sub: `step-${count}` };
});
afterAll(() => corp.remove());

/** A session from the upstream, where `amr` is what the upstream states from then on. */
async function session(amr: string[], { upstream, connection }: Connected = corp) {
  const { sub, auth_time } = upstream.user;
  const begun = await signInOver(idp, connection);
  expectSignedIn(begun.page);
  upstream.user = { sub, amr, auth_time };
  upstream.lastRequest = new URLSearchParams();
  return begun;
}

const errorOf = (page: Page) => new URL(page.location ?? 'http://none.example').searchParams.get('error');
const classOf = (profile: Profile) => /<saml:AuthnContextClassRef>([^<]+)/.exec(profile.getAssertionXml?.() ?? '')?.[1];

/** The request of a SAML application for MFA, in this browser. */
async function openSaml(browser: HttpClient) {
  const library = {
    disableRequestedAuthnContext: false,
    racComparison: 'exact' as const,
    authnContext: [contextClasses.mfa],
  };
  const sp = await aServiceProvider(idp.services, { library });
  const sent = await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {}));
  return { sp, sent };
}

describe('a step-up in a session from an OpenID Connect upstream', () => {
  it('is requested there with acr_values and max_age, and states what was proven', async () => {
    corp.upstream.user = { sub: `step-${count}`, auth_time: Math.floor(Date.now() / 1000) - 60 };
    const { browser } = await session(['mfa']);
    const application = await anApplication(idp);
    const started = await application.rp.start({ acr_values: MFA, max_age: '3600' });
    const page = await browser.follow(await browser.get(started.url), isAtApplication);
    expectSignedIn(page);
    expect(corp.upstream.lastRequest.get('acr_values')).toBe(UPSTREAM_MFA);
    expect(corp.upstream.lastRequest.get('max_age')).toBe('3600');
    expect(corp.upstream.lastRequest.get('prompt')).toBeNull();
    const { id_token } = await application.rp.finish(page.location ?? '', started);
    expect(decodeJwt(id_token ?? '')).toMatchObject({ acr: MFA, amr: ['fed', 'mfa'] });
  });

  it('serves the SAML application that requests the class', async () => {
    const { browser } = await session(['mfa']);
    const { sp, sent } = await openSaml(browser);
    const page = await browser.follow(sent);
    expect(corp.upstream.lastRequest.get('acr_values')).toBe(UPSTREAM_MFA);
    expect(classOf(await sp.accept(page.forms[0]?.fields ?? {}))).toBe(contextClasses.mfa);
  });

  it('leads to a factor of this server when the upstream proves less, and is not requested again', async () => {
    const { browser, clientId } = await session(['pwd']);
    const page = await openSignIn(idp, { clientId, browser, acr_values: MFA });
    expect(corp.upstream.lastRequest.get('acr_values')).toBe(UPSTREAM_MFA);
    expect(page.text).toContain('Example Corp didn’t confirm two-step verification');
    expect(actionsOf(page)).toContainEqual(expect.stringMatching(/\/enrol-totp$/));
    corp.upstream.lastRequest = new URLSearchParams();
    await browser.get(new URL(page.url).pathname);
    expect(corp.upstream.lastRequest.size).toBe(0);
    // The user can still choose it.
    corp.upstream.user = { sub: `step-${count}`, amr: ['mfa'] };
    const choice = await browser.get(`${new URL(page.url).pathname}?method=upstream`);
    const sent = await browser.submit(choice, {}, { form: `/connections/${corp.connection}` });
    expectSignedIn(await browser.follow(sent, isAtApplication));
  });

  it('has the factor of the account as alternative', async () => {
    await signInOver(idp, corp.connection);
    const account = await accountOf(idp, corp.connection, `step-${count}`);
    if (!account) throw new Error('no account');
    const { totp } = idp.services.mfa;
    const { secret, sealed } = totp.begin(account);
    await totp.confirm(account, sealed, generateSync({ secret }));
    const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
    for (const way of ['upstream', 'here']) {
      corp.upstream.user = { sub: `step-${count}` };
      // The setting demands the second factor as soon as there is one: the choice is in the same sign-in.
      const { page, browser } = await signInOver(idp, corp.connection, { clientId });
      expect(page.text).toContain('Continue to Example Corp');
      corp.upstream.user = { sub: `step-${count}`, amr: ['mfa'] };
      const code = generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + 30 });
      const own = await browser.get(`${new URL(page.url).pathname}?method=totp`);
      const sent =
        way === 'here'
          ? await browser.submit(own, { code }, { form: '/code' })
          : await browser.submit(page, {}, { form: `/connections/${corp.connection}` });
      expectSignedIn(await browser.follow(sent, isAtApplication), way);
    }
  });

  it('changes nothing when another user authenticates there', async () => {
    const { browser, clientId } = await session(['mfa']);
    const { identities } = idp.services;
    for (const sub of [`other-${count}`, `step-${count - 1}`]) {
      const before = await identities.find(corp.connection, sub);
      corp.upstream.user = { sub, amr: ['mfa'] };
      const page = await openSignIn(idp, { clientId, browser, acr_values: MFA });
      expect(page.status).toBe(409);
      expect(page.text).toContain('Example Corp signed in a different user');
      expect(await identities.find(corp.connection, sub)).toEqual(before);
    }
    const silent = await outcome(browser, authorizeUrl(idp, clientId, { prompt: 'none', acr_values: MFA }));
    expect(silent.get('error')).toBe('login_required');
  });

  it('begins with a new authentication where the connection has no value to request', async () => {
    const one = await anUpstream(idp, { trusted_amr: { mfa: ['mfa'] } });
    one.upstream.user = { sub: `step-${count}` };
    const { browser, clientId } = await session(['mfa'], one);
    expectSignedIn(await openSignIn(idp, { clientId, browser, acr_values: MFA }));
    expect(one.upstream.lastRequest.get('prompt')).toBe('login');
    await one.remove();
  });

  it('does not go to a connection that trusts nothing, or was disabled', async () => {
    const one = await anUpstream(idp, { acr_values: { mfa: [UPSTREAM_MFA] } });
    one.upstream.user = { sub: `step-${count}` };
    const first = await session(['mfa'], one);
    const page = await openSignIn(idp, { ...first, acr_values: MFA });
    expect(actionsOf(page)).toContainEqual(expect.stringMatching(/\/enrol-totp$/));
    expect(one.upstream.lastRequest.size).toBe(0);
    await one.remove();
    const two = await anUpstream(idp, vouching);
    two.upstream.user = { sub: `step-${count}` };
    const second = await session(['mfa'], two);
    await idp.services.connections.setEnabled(two.connection, false);
    await openSignIn(idp, { ...second, acr_values: MFA });
    expect(two.upstream.lastRequest.size).toBe(0);
    await two.remove();
  });

  it('is requested once where factors of this server are off, and the application learns the acr', async () => {
    const own = await startIdp();
    await own.services.settings.set('mfa', 'off');
    await own.services.settings.reload();
    const one = await anUpstream(own, vouching);
    const auth_time = Math.floor(Date.now() / 1000) - 600;
    one.upstream.user = { sub: 'off' };
    const { browser, clientId } = await signInOver(own, one.connection);
    for (const [amr, result] of [
      [['pwd'], 'unmet_authentication_requirements'],
      [['mfa'], null],
    ] as const) {
      one.upstream.user = { sub: 'off', amr, auth_time };
      const claims = JSON.stringify({ id_token: { acr: { essential: true, value: MFA } } });
      if (amr[0] === 'pwd') expectSignedIn(await openSignIn(own, { clientId, browser, acr_values: MFA }));
      expect(errorOf(await openSignIn(own, { clientId, browser, claims }))).toBe(result);
    }
    // With a factor here that is too weak for the request nothing is proven either, so auth_time stays.
    const account = await accountOf(own, one.connection, 'off');
    await own.services.mfa.totp.importSecret(account?.id ?? '', 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP');
    const application = await anApplication(own);
    const started = await application.rp.start({ acr_values: 'phr' });
    const page = await browser.follow(await browser.get(started.url), isAtApplication);
    const { id_token } = await application.rp.finish(page.location ?? '', started);
    expect(decodeJwt(id_token ?? '')).toMatchObject({ acr: MFA, amr: ['fed', 'mfa'], auth_time });
    await one.upstream.stop();
    await own.stop();
  });
});

describe('a step-up in a session from a SAML upstream', () => {
  it('is requested there by its class, for both protocols, and counts only with the class that is trusted', async () => {
    const refeds = 'https://refeds.org/profile/mfa';
    const school = await aSamlUpstream(idp, { trusted_acr: { mfa: [refeds] } });
    const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
    const nameId = `saml-step-${count}`;
    const answer = async (browser: HttpClient, requestId: string, parts: object = {}) => {
      const posted = await postAnswer(browser, answerXml(idp, school, requestId, { nameId, ...parts }), {
        relayState: requestId,
      });
      return browser.follow(posted, isAtApplication);
    };
    /** The request that a step-up sends to the upstream. */
    const requested = async (browser: HttpClient, sent: Page) => {
      const isThere = (url: string) => url.startsWith(`https://${school.connection}.example`);
      const request = requestIn((await browser.follow(sent, isThere)).location ?? '');
      expect(request.xml).toContain(`>${refeds}</saml:AuthnContextClassRef>`);
      expect(request.xml).not.toContain('ForceAuthn');
      return request.requestId;
    };
    for (const protocol of ['oidc', 'saml'] as const) {
      const { browser, requestId } = await beginAt(idp, school, { clientId });
      expectSignedIn(await answer(browser, requestId));
      if (protocol === 'oidc') {
        const url = authorizeUrl(idp, clientId, { acr_values: MFA });
        const weak = await answer(browser, await requested(browser, await browser.get(url)));
        expect(weak.text).toContain('Example School didn’t confirm two-step verification');
        const id = await requested(browser, await browser.get(url));
        expectSignedIn(await answer(browser, id, { contextClass: refeds }));
        continue;
      }
      const { sp, sent } = await openSaml(browser);
      const page = await answer(browser, await requested(browser, sent), { contextClass: refeds });
      expect(classOf(await sp.accept(page.forms[0]?.fields ?? {}))).toBe(contextClasses.mfa);
    }
    await idp.services.connections.remove(school.connection);
  });
});
