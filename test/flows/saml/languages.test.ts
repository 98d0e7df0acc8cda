// Names in the languages of their readers: those of service providers on pages, and those of this server in its metadata.
import { XmlDocument } from 'libxml2-wasm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceProvider, settingsOf } from '../../../src/applications/fields/service-provider.ts';
import { completeSignIn } from '../../oidc/support.ts';
import { schemas } from '../../saml/support.ts';
import { aServiceProvider } from '../../support/applications/sp.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';

let idp: TestIdp;
let user: TestUser;
beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
});
afterAll(() => idp?.stop());

const inGerman = () => httpClient(idp.issuer, { headers: { 'accept-language': 'de-AT' } });
const names = (tag: string, by: Record<string, string>) =>
  Object.entries(by)
    .map(([language, name]) => `<${tag} xml:lang="${language}">${name}</${tag}>`)
    .join('');
const ui = (by: Record<string, string>) =>
  `<md:Extensions><mdui:UIInfo xmlns:mdui="urn:oasis:names:tc:SAML:metadata:ui">${names('mdui:DisplayName', by)}</mdui:UIInfo></md:Extensions>`;
const service = (by: Record<string, string>) =>
  `<md:AttributeConsumingService index="0">${names('md:ServiceName', by)}<md:RequestedAttribute Name="mail"/></md:AttributeConsumingService>`;

/** A service provider whose metadata has these names; `name` is the one that it is registered with. */
async function withNames({ name, display, services }: { name: string; display?: object; services?: object }) {
  const sp = await aServiceProvider(idp.services);
  const { id } = await idp.services.db.asStored.application.findUniqueOrThrow({ where: { clientId: sp.entityId } });
  const xml = `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${sp.entityId}">
    <md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    ${display ? ui({ ...display }) : ''}
    <md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${sp.credential.certificatePem.replace(/-----[^-]+-----|\s/g, '')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
    <md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${sp.acsUrl}" index="0"/>
    ${services ? service({ ...services }) : ''}
    </md:SPSSODescriptor></md:EntityDescriptor>`;
  const entry = serviceProvider.parse({ name, metadata: xml, idp_initiated: true });
  await idp.services.applications.update('saml', id, { ...entry, settings: settingsOf(entry, xml) }, {});
  return sp;
}
type Provider = Awaited<ReturnType<typeof withNames>>;

/** The sign-in page that a request of the service provider leads to. */
async function signInPage({ saml }: Provider, browser = inGerman()) {
  return textOf((await browser.follow(await browser.get(await saml.getAuthorizeUrlAsync('', undefined, {})))).text);
}

describe('the name of a service provider', () => {
  it('is that of its metadata in the language of the page, on the sign-in page', async () => {
    const sp = await withNames({ name: 'Payroll', display: { en: 'Payroll', de: 'Lohnbüro', fr: 'Paie' } });
    expect(await signInPage(sp)).toContain('Lohnbüro');
    expect(await signInPage(sp, httpClient(idp.issuer))).toContain('Payroll');
    const japanese = httpClient(idp.issuer, { headers: { 'accept-language': 'ja' } });
    expect(await signInPage(sp, japanese)).toContain('Payroll');
  });

  it('is that of its AttributeConsumingService where it has no display name in that language', async () => {
    const both = await withNames({
      name: 'Travel',
      display: { en: 'Travel' },
      services: { de: 'Reisen', en: 'Trips' },
    });
    expect(await signInPage(both)).toContain('Reisen');
    const only = await withNames({ name: 'Library', services: { en: 'Library', de: 'Bibliothek' } });
    expect(await signInPage(only)).toContain('Bibliothek');
  });

  it('is what an administrator named it, in every language', async () => {
    const sp = await withNames({ name: 'Our payroll', display: { en: 'Payroll', de: 'Lohnabrechnung' } });
    const page = await signInPage(sp);
    expect(page).toContain('Our payroll');
    expect(page).not.toContain('Lohnabrechnung');
  });

  it('is found and displayed in the portal in the language of the page', async () => {
    await withNames({ name: 'Canteen', display: { en: 'Canteen', de: 'Mensa' } });
    const browser = inGerman();
    await completeSignIn(browser, '/login', { user, redirectUri: `${idp.issuer}/auth/callback` });
    expect((await browser.follow(await browser.get('/dashboard'))).text).toContain('<strong>Mensa</strong>');
    for (const search of ['mensa', 'canteen'])
      expect((await browser.get(`/dashboard?q=${search}`)).text).toContain('<strong>Mensa</strong>');
  });
});

describe('a value of a user in another language', () => {
  it('is an attribute of the assertion under the name that the service provider has for it', async () => {
    const reader = await aUser(idp.services, { name: 'Tanaka Hanako', attributes: { 'name#ja': '田中花子' } });
    const attributes = { displayName: 'name', 'displayName;lang-ja': 'attributes.name#ja', none: 'attributes.name#de' };
    const sp = await aServiceProvider(idp.services, { settings: { attributes } });
    const browser = inGerman();
    const page = await completeSignIn(browser, await sp.saml.getAuthorizeUrlAsync('', undefined, {}), {
      user: reader,
      redirectUri: sp.acsUrl,
    });
    const profile = await sp.accept(page.forms[0]?.fields ?? {});
    expect(profile).toMatchObject({ displayName: 'Tanaka Hanako', 'displayName;lang-ja': '田中花子' });
    expect(profile).not.toHaveProperty('none');
  });
});

describe('the metadata of this server', () => {
  const read = async (path: string) => {
    const { text } = await httpClient(idp.issuer).get(path);
    expect(schemas.metadata(text)).toBeUndefined();
    const document = XmlDocument.fromString(text);
    const spaces = { md: 'urn:oasis:names:tc:SAML:2.0:metadata', ui: 'urn:oasis:names:tc:SAML:metadata:ui' };
    const byLanguage = (name: string) =>
      document
        .find(`//${name}`, spaces)
        .map((node) => [
          (node as { attrs?: { name: string; value: string }[] }).attrs?.find((one) => one.name === 'lang')?.value,
          node.content,
        ]);
    return { text, byLanguage };
  };

  it('has the name of the brand in each offered language, the default language first', async () => {
    const { settings } = idp.services;
    expect((await read('/saml/metadata')).byLanguage('ui:DisplayName')).toContainEqual(['ja', 'Gatehouse']);
    await settings.set('languages', ['de', 'en', 'ja']);
    await settings.set('default_language', 'de');
    await settings.set('brand_name', 'Example & Co');
    await settings.set('brand_privacy_url', 'https://example.com/privacy');
    await settings.reload();
    const { byLanguage } = await read('/saml/metadata');
    const expected = ['de', 'en', 'ja'].map((language) => [language, 'Example & Co']);
    for (const name of ['ui:DisplayName', 'md:OrganizationName', 'md:OrganizationDisplayName'])
      expect(byLanguage(name)).toEqual(expected);
    expect(byLanguage('ui:Description')).toContainEqual(['en', 'Sign in with your account at Example & Co.']);
    expect(byLanguage('ui:PrivacyStatementURL')).toContainEqual(['de', 'https://example.com/privacy']);
    expect((await read('/saml/sp/metadata')).byLanguage('ui:DisplayName')).toEqual(expected);
  });
});
