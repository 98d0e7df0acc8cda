// The authentication context that a RequestedAuthnContext requires and the assertion states (SAML Core 3.3.2.2.1). The service
// provider uses node-saml, which by default requires exactly the password class.
import type { Profile, SamlConfig } from '@node-saml/node-saml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextClasses } from '../../../src/protocols/saml/xml/names.ts';
import { answerIn } from '../../saml/live.ts';
import { aSamlUser, type SamlUser } from '../../saml/sign-in-steps.ts';
import { aServiceProvider, type TestServiceProvider } from '../../support/applications/sp.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

const { password, mfa, passkey } = contextClasses;
let idp: TestIdp;
const sps = new Map<string, TestServiceProvider>();

beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

async function request(browser: HttpClient, comparison: SamlConfig['racComparison'], ...authnContext: string[]) {
  const key = JSON.stringify([comparison, authnContext]);
  const library = { disableRequestedAuthnContext: false, racComparison: comparison, authnContext };
  const sp = sps.get(key) ?? (await aServiceProvider(idp.services, { library }));
  sps.set(key, sp);
  const url = await sp.saml.getAuthorizeUrlAsync('', undefined, {});
  return { sp, page: await browser.follow(await browser.get(url)) };
}

const classOf = (profile: Profile) => /<saml:AuthnContextClassRef>([^<]+)/.exec(profile.getAssertionXml?.() ?? '')?.[1];
const statusOf = (page: Page) =>
  [...(answerIn(page) ?? '').matchAll(/StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:(\w+)"/g)].map(
    ([, code]) => code,
  );
const accepted = async (sp: TestServiceProvider, page: Page) => classOf(await sp.accept(page.forms[0]?.fields ?? {}));
const hasField = (page: Page, what: 'password' | 'one-time-code') =>
  page.text.includes(`autocomplete="${what === 'password' ? 'current-password' : what}"`);

/** A browser in which this user signed in with the password or with the passkey. */
async function signedIn(person: SamlUser, how: 'withPassword' | 'withPasskey'): Promise<HttpClient> {
  const browser = httpClient(idp.issuer);
  const { page } = await request(browser, 'minimum', password);
  expect(answerIn(await person[how](browser, page))).toBeDefined();
  return browser;
}

describe('a requested class', () => {
  it('is stated when the sign-in meets it', async () => {
    const browser = httpClient(idp.issuer);
    const person = await aSamlUser(idp.services);
    const { sp, page } = await request(browser, 'exact', password);
    expect(await accepted(sp, await person.withPassword(browser, page))).toBe(password);
  });

  it('steps up from the password with the code alone when it is a second factor', async () => {
    const person = await aSamlUser(idp.services);
    const browser = await signedIn(person, 'withPassword');
    await person.addApp();
    for (const comparison of ['exact', 'minimum'] as const) {
      const { sp, page } = await request(browser, comparison, mfa);
      if (comparison === 'exact') {
        expect(hasField(page, 'password'), 'the page has a password field').toBe(false);
        expect(hasField(page, 'one-time-code'), 'the page has a code field').toBe(true);
      }
      const answer = comparison === 'exact' ? await person.withCode(browser, page) : page;
      expect(await accepted(sp, answer)).toBe(mfa);
    }
    const weaker = await request(browser, 'exact', password);
    expect(await accepted(weaker.sp, weaker.page)).toBe(password);
  });

  it('gets NoAuthnContext when it is a second factor, second factors are off and there is none', async () => {
    await idp.services.settings.set('mfa', 'off');
    const person = await aSamlUser(idp.services);
    const browser = await signedIn(person, 'withPassword');
    const { page } = await request(browser, 'exact', mfa);
    expect(statusOf(page)).toEqual(['Responder', 'NoAuthnContext']);
    expect(page.text).toContain('requires a stronger sign-in than your account allows.');
    await idp.services.settings.set('mfa', 'optional');
  });

  it('gets NoAuthnContext before any sign-in when it is unknown', async () => {
    const { page } = await request(httpClient(idp.issuer), 'exact', 'urn:oasis:names:tc:SAML:2.0:ac:classes:Kerberos');
    expect(statusOf(page)).toEqual(['Responder', 'NoAuthnContext']);
  });

  it('is met by a passkey when it is the one of passkeys', async () => {
    const person = await aSamlUser(idp.services, { passkey: true });
    const browser = await signedIn(person, 'withPasskey');
    for (const [comparison, requested] of [
      ['exact', passkey],
      ['minimum', password],
      ['better', mfa],
    ] as const) {
      const { sp, page } = await request(browser, comparison, requested);
      expect(await accepted(sp, page)).toBe(passkey);
    }
  });
});

describe('the exact password class, requested of a user who signed in with a passkey', () => {
  it('requires the password in addition, and the session has both', async () => {
    const person = await aSamlUser(idp.services, { passkey: true });
    const browser = await signedIn(person, 'withPasskey');
    const { sp, page } = await request(browser, 'exact', password);
    expect(hasField(page, 'password')).toBe(true);
    expect(page.text).not.toContain('data-webauthn');
    expect(page.forms[0]?.fields.username).toBe(person.username);
    expect(await accepted(sp, await person.withPassword(browser, page))).toBe(password);
    const stronger = await request(browser, 'exact', passkey);
    expect(await accepted(stronger.sp, stronger.page)).toBe(passkey);
  });

  it('requires the password and the second factor in a new sign-in, whichever comes first', async () => {
    const person = await aSamlUser(idp.services, { passkey: true });
    const other = httpClient(idp.issuer);
    const begun = await request(other, 'exact', password);
    const form = await person.withPasskey(other, begun.page);
    expect(form.text).toContain('This app requires your password.');
    expect(form.forms[0]?.fields.username).toBe(person.username);
    expect(await accepted(begun.sp, await person.withPassword(other, form))).toBe(password);
    const browser = httpClient(idp.issuer);
    const { sp, page } = await request(browser, 'exact', password);
    const second = await person.withPassword(browser, page);
    expect(second.text).toContain('data-webauthn="get"');
    expect(await accepted(sp, await person.withPasskey(browser, second))).toBe(password);
  });

  it('is NoPassive when the request is passive', async () => {
    const person = await aSamlUser(idp.services, { passkey: true });
    const browser = await signedIn(person, 'withPasskey');
    const library = { disableRequestedAuthnContext: false, authnContext: [password], passive: true };
    const sp = await aServiceProvider(idp.services, { library });
    const page = await browser.follow(await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {})));
    expect(statusOf(page)).toEqual(['Responder', 'NoPassive']);
  });
});

describe('a user without a password', () => {
  const withoutPassword = async () => {
    const person = await aSamlUser(idp.services, { passkey: true });
    await idp.services.db.passwordCredential.deleteMany({ where: { userId: person.account.id } });
    return person;
  };

  it.each(['new', 'old'] as const)(
    'reads why, and the application gets NoAuthnContext, in a %s session',
    async (session) => {
      const person = await withoutPassword();
      const browser = session === 'old' ? await signedIn(person, 'withPasskey') : httpClient(idp.issuer);
      const { page } = await request(browser, 'exact', password);
      const answer = session === 'old' ? page : await person.withPasskey(browser, page);
      expect(statusOf(answer)).toEqual(['Responder', 'NoAuthnContext']);
      expect(answer.text).toContain('accepts only a sign-in with a password, and you signed in without one.');
      expect(answer.text).not.toContain('autosubmit');
      const [code = ''] = /\b[2-9A-Z]{4}-[2-9A-Z]{4}\b/.exec(answer.text) ?? [];
      const rejection = await idp.services.rejections.find(code);
      expect(rejection).toMatchObject({ reason: 'no_authn_context', subjectId: person.account.id });
      expect(rejection?.rules.find(({ state }) => state === 'failed')?.rule).toBe('context');
    },
  );

  it('reads nothing when the request is passive', async () => {
    const browser = await signedIn(await withoutPassword(), 'withPasskey');
    const library = { disableRequestedAuthnContext: false, authnContext: [password], passive: true };
    const sp = await aServiceProvider(idp.services, { library });
    const page = await browser.follow(await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {})));
    expect(statusOf(page)).toEqual(['Responder', 'NoAuthnContext']);
    expect(page.text).toContain('autosubmit');
  });

  it('gets NoAuthnContext after a new sign-in with ForceAuthn', async () => {
    const person = await withoutPassword();
    const browser = await signedIn(person, 'withPasskey');
    const library = { disableRequestedAuthnContext: false, authnContext: [password], forceAuthn: true };
    const sp = await aServiceProvider(idp.services, { library });
    const page = await browser.follow(await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {})));
    expect(statusOf(await person.withPasskey(browser, page))).toEqual(['Responder', 'NoAuthnContext']);
  });
});

it('a RequestedAuthnContext that the application has Gatehouse ignore demands nothing, and the assertion states what is true', async () => {
  const person = await aSamlUser(idp.services, { passkey: true });
  const browser = await signedIn(person, 'withPasskey');
  const settings = { ignore_requested_authn_context: true };
  for (const authnContext of [[password], ['urn:oasis:names:tc:SAML:2.0:ac:classes:Kerberos']]) {
    const library = { disableRequestedAuthnContext: false, authnContext };
    const sp = await aServiceProvider(idp.services, { library, settings });
    const page = await browser.follow(await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {})));
    expect(await accepted(sp, page)).toBe(passkey);
  }
});
