// The settings of one service provider apply to it alone: SHA-1, signing and encryption.
import { beforeAll, describe, expect, it } from 'vitest';
import { serviceProvider, serviceProviderRules } from '../../../src/applications/fields/service-provider.ts';
import { algorithms } from '../../../src/protocols/saml/xml/names.ts';
import { aLiveSp, answerIn, type LiveSp, post, redirect } from '../../saml/live.ts';
import { aCredential, signXml } from '../../saml/support.ts';
import { aUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';

let idp: TestIdp;
/** A browser that is signed in. */
let browser: HttpClient;

beforeAll(async () => {
  idp = await sharedIdp();
  const user = await aUser(idp.services);
  browser = httpClient(idp.issuer);
  const page = await browser.follow(await redirect(browser, (await aLiveSp(idp)).request()));
  await browser.follow(await browser.submit(page, { username: user.username, password: user.password }));
});

const answerTo = async (sp: LiveSp) => answerIn(await browser.follow(await redirect(browser, sp.request()))) ?? '';

describe('SHA-1', () => {
  const sha1 = { signatureAlgorithm: algorithms.rsaSha1, digestAlgorithm: algorithms.sha1 };
  const statuses = async (sp: LiveSp) => {
    const byPost = await post(browser, sp.sign(sp.request(), sha1));
    const signature = { key: sp.credential, algorithm: algorithms.rsaSha1, hash: 'sha1' };
    return [byPost.status, (await redirect(browser, sp.request(), signature)).status];
  };

  it('is accepted only from the service provider that may use it', async () => {
    const allowed = await aLiveSp(idp, { allow_sha1: true, require_signed_requests: true });
    expect(await statuses(allowed)).toEqual([303, 303]);
    expect(await statuses(await aLiveSp(idp))).toEqual([400, 400]);
  });

  it('does not weaken the Responses when it is allowed for one service provider', async () => {
    expect(await answerTo(await aLiveSp(idp, { allow_sha1: true }))).not.toMatch(/sha1"/);
  });
});

describe('the signature', () => {
  it.each([
    ['assertion', ['saml:Assertion']],
    ['response', ['samlp:Response']],
    ['both', ['samlp:Response', 'saml:Assertion']],
  ] as const)('is in the place that `sign: %s` states', async (sign, signed) => {
    const xml = await answerTo(await aLiveSp(idp, { sign }));
    const found = [...xml.matchAll(/<(samlp?:\w+)[^>]*><saml:Issuer[^>]*>[^<]*<\/saml:Issuer><ds:Signature/g)];
    expect(found.map(([, name]) => name)).toEqual(signed);
  });
});

describe('encryption', () => {
  const other = aCredential();
  const certificate = (use?: 'signing' | 'encryption') => ({ ...(use && { use }), pem: other.certificatePem });

  it('is left out with `auto` when the only key is marked for signing', async () => {
    const sp = await aLiveSp(idp, { encrypt_assertion: 'auto', certificates: [certificate('signing')] });
    expect(await answerTo(sp)).toContain('<saml:Assertion');
  });

  it.each(['encryption', undefined] as const)(
    'is done with `auto` and a key marked %s, by strong algorithms',
    async (use) => {
      const sp = await aLiveSp(idp, { encrypt_assertion: 'auto', certificates: [certificate(use)] });
      const xml = await answerTo(sp);
      expect(xml).toContain('<saml:EncryptedAssertion');
      expect(xml).not.toContain('<saml:Assertion');
      expect(xml).toContain('http://www.w3.org/2009/xmlenc11#aes256-gcm');
      expect(xml).toMatch(/rsa-oaep/);
    },
  );

  it('is left out with `never`, whatever keys there are', async () => {
    const sp = await aLiveSp(idp, { encrypt_assertion: 'never', certificates: [certificate('encryption')] });
    expect(await answerTo(sp)).toContain('<saml:Assertion');
  });

  it('has a key that signs no request', async () => {
    const sp = await aLiveSp(idp, { certificates: [certificate('encryption')] });
    expect((await post(browser, signXml(sp.request(), { key: other.privateKey }))).status).toBe(400);
  });
});

describe('SessionNotOnOrAfter', () => {
  it('is the time that `session_not_on_or_after` states, or left out', async () => {
    const until = async (seconds: number | 'none') => {
      const xml = await answerTo(await aLiveSp(idp, { session_not_on_or_after: seconds }));
      return /SessionNotOnOrAfter="([^"]+)"/.exec(xml)?.[1];
    };
    expect(Math.abs(Date.parse((await until(7200)) ?? '') - Date.now() - 7200_000)).toBeLessThan(60_000);
    expect(await until('none')).toBeUndefined();
  });
});

describe('`force_name_id_format`', () => {
  const forEmail =
    '<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress" AllowCreate="true"/>';
  const answer = async (sp: LiveSp) =>
    answerIn(await browser.follow(await redirect(browser, sp.request({ body: forEmail })))) ?? '';

  it('sends the configured format whatever the request asks for', async () => {
    const xml = await answer(await aLiveSp(idp, { name_id_format: 'persistent', force_name_id_format: true }));
    expect(xml).toContain('Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"');
    expect(await answer(await aLiveSp(idp, { name_id_format: 'persistent' }))).toContain('InvalidNameIDPolicy');
  });

  it('needs a format', async () => {
    const entry = { name: 'Wiki', entity_id: 'urn:wiki', acs_url: 'https://wiki.example/acs' };
    const faults = serviceProviderRules(serviceProvider.parse({ ...entry, force_name_id_format: true }));
    expect(faults).toEqual([{ path: ['force_name_id_format'], code: 'needs-key', values: { key: 'name_id_format' } }]);
  });
});
