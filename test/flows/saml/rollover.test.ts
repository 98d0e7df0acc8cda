// The IdP metadata during a certificate rollover, and the two settings for accepted requests.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aLiveSp, answerIn, type LiveSp, post, redirect } from '../../saml/live.ts';
import { acceptedSignature } from '../../saml/receivers.ts';
import { aSamlUser, type SamlUser } from '../../saml/sign-in-steps.ts';
import { schemas } from '../../saml/support.ts';
import { httpClient } from '../../support/http.ts';
import { freePort, startIdp, type TestIdp } from '../../support/idp.ts';

let idp: TestIdp;
let sp: LiveSp;
let person: SamlUser;

beforeAll(async () => {
  idp = await startIdp();
  sp = await aLiveSp(idp);
  person = await aSamlUser(idp.services);
});
afterAll(() => idp?.stop());

const metadata = async () => (await httpClient(idp.issuer).get('/saml/metadata')).text;
const certificates = async () =>
  [...(await metadata()).matchAll(/<ds:X509Certificate>([^<]+)</g)].map(([, base64 = '']) => base64);
const pem = (base64 = '') => `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;

async function answered(): Promise<string> {
  const browser = httpClient(idp.issuer);
  const page = await browser.follow(await redirect(browser, sp.request()));
  return answerIn(await person.withPassword(browser, page)) ?? '';
}

describe('the IdP metadata', () => {
  it('follows the schema and names every endpoint and format', async () => {
    const page = await httpClient(idp.issuer).get('/saml/metadata');
    expect(page.headers['content-type']).toContain('application/samlmetadata+xml');
    expect(schemas.metadata(page.text)).toBeUndefined();
    expect(page.text).toContain(`entityID="${idp.issuer}/saml/metadata"`);
    for (const binding of ['HTTP-Redirect', 'HTTP-POST']) {
      for (const [service, path] of [
        ['SingleSignOnService', 'sso'],
        ['SingleLogoutService', 'slo'],
      ])
        expect(page.text).toContain(
          `<md:${service} Binding="urn:oasis:names:tc:SAML:2.0:bindings:${binding}" Location="${idp.issuer}/saml/${path}">`,
        );
    }
    expect(page.text.match(/<md:NameIDFormat>/g)).toHaveLength(4);
    expect(page.text).toContain('WantAuthnRequestsSigned="false"');
  });

  it('contains the next certificate before it signs, and the old one after the new one during the overlap', async () => {
    const [old = ''] = await certificates();
    expect(await certificates()).toHaveLength(1);
    await idp.services.keyring.rotate({ use: 'saml' });
    const [first, next = ''] = await certificates();
    expect(first).toBe(old);
    expect(next.length).toBeGreaterThan(100);
    expect(schemas.metadata(await metadata())).toBeUndefined();
    expect(acceptedSignature(await answered(), pem(old))).toBe(true);
    await idp.services.keyring.rotate({ use: 'saml', activate: true, force: true });
    expect(await certificates()).toEqual([next, old]);
    const xml = await answered();
    expect(acceptedSignature(xml, pem(next))).toBe(true);
    expect(acceptedSignature(xml, pem(old))).toBe(false);
  });

  it('follows a new key on another instance', async () => {
    const environment = { ...idp.environment, ISSUER: idp.issuer, PORT: String(await freePort()) };
    const twin = await startIdp({ environment: environment as Record<string, string> });
    await idp.services.keyring.rotate({ use: 'saml' });
    await twin.services.keyring.refresh();
    const host = { host: new URL(idp.issuer).host };
    const page = await httpClient(`http://localhost:${twin.port}`).get('/saml/metadata', { headers: host });
    expect(page.text).toBe(await metadata());
    await twin.stop();
  });
});

describe('the setting', () => {
  it('saml_signed_requests rejects every unsigned request and is stated in the metadata', async () => {
    await idp.services.settings.set('saml_signed_requests', true);
    await idp.services.settings.reload();
    expect(await metadata()).toContain('WantAuthnRequestsSigned="true"');
    expect((await post(httpClient(idp.issuer), sp.request())).status).toBe(400);
    expect((await post(httpClient(idp.issuer), sp.sign(sp.request()))).status).toBe(303);
    expect((await redirect(httpClient(idp.issuer), sp.request(), { key: sp.credential })).status).toBe(303);
    await idp.services.settings.unset('saml_signed_requests');
    await idp.services.settings.reload();
    expect((await post(httpClient(idp.issuer), sp.request())).status).toBe(303);
  });

  it('clock_skew_seconds widens the five minutes, on both sides', async () => {
    const at = (seconds: number) => sp.request({ issueInstant: new Date(Date.now() + seconds * 1000).toISOString() });
    const statuses = async () =>
      Promise.all([-330, 330, -390, 390].map(async (s) => (await post(httpClient(idp.issuer), at(s))).status));
    expect(await statuses()).toEqual([303, 303, 400, 400]);
    await idp.services.settings.set('clock_skew_seconds', 0);
    await idp.services.settings.reload();
    expect(await statuses()).toEqual([400, 400, 400, 400]);
    await idp.services.settings.set('clock_skew_seconds', 120);
    await idp.services.settings.reload();
    expect(await statuses()).toEqual([303, 303, 303, 303]);
  });
});
