// The NameID and the attributes that a service provider receives, and that RelayState comes back unchanged.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aLiveSp, answerIn, type LiveSp, post, redirect } from '../../saml/live.ts';
import { aSamlUser, type SamlUser } from '../../saml/sign-in-steps.ts';
import { aServiceProvider } from '../../support/applications/sp.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

let idp: TestIdp;
let ann: SamlUser;
let bob: SamlUser;

beforeAll(async () => {
  idp = await startIdp();
  ann = await aSamlUser(idp.services, { name: 'Ann', roles: [] } as never);
  bob = await aSamlUser(idp.services);
});
afterAll(() => idp?.stop());

/** The assertion for this service provider in this browser; signs in when a page requires it. */
async function assertion(browser: HttpClient, sp: LiveSp, who: SamlUser, body = ''): Promise<string> {
  const page = await browser.follow(await redirect(browser, sp.request({ body })));
  const answer = page.text.includes('name="username"') ? await who.withPassword(browser, page) : page;
  return answerIn(answer) ?? '';
}
const nameIdIn = (xml: string) => /<saml:NameID([^>]*)>([^<]+)</.exec(xml)?.slice(1) ?? [];
const policy = (format: string) => `<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:${format}"/>`;

describe('the identifier', () => {
  it('is opaque when persistent, stable, and different for each user and application', async () => {
    const [one, two] = [await aLiveSp(idp), await aLiveSp(idp)];
    const values = new Set<string>();
    for (const who of [ann, bob]) {
      for (const sp of [one, two]) {
        const [attributes, value = ''] = nameIdIn(await assertion(httpClient(idp.issuer), sp, who));
        expect(attributes).toContain('nameid-format:persistent');
        expect(attributes).toContain(`NameQualifier="${idp.issuer}/saml/metadata"`);
        expect(attributes).toContain(`SPNameQualifier="${sp.entityId}"`);
        expect(value).not.toContain(who.account.id);
        expect(value).not.toContain(who.username);
        expect(nameIdIn(await assertion(httpClient(idp.issuer), sp, who))[1]).toBe(value);
        values.add(value);
      }
    }
    expect(values.size).toBe(4);
  });

  it('is created once in simultaneous sign-ins when persistent', async () => {
    const sp = await aLiveSp(idp);
    const browsers = Array.from({ length: 6 }, () => httpClient(idp.issuer));
    const other = await aLiveSp(idp);
    await Promise.all(browsers.map((browser) => assertion(browser, other, ann)));
    const answers = await Promise.all(browsers.map((browser) => assertion(browser, sp, ann)));
    expect(new Set(answers.map((xml) => nameIdIn(xml)[1])).size).toBe(1);
  });

  it('is never given to another user when persistent, not even after a deletion', async () => {
    const sp = await aLiveSp(idp);
    const gone = await aSamlUser(idp.services, { username: 'recycled' });
    const [, before] = nameIdIn(await assertion(httpClient(idp.issuer), sp, gone));
    await idp.services.db.user.delete({ where: { id: gone.account.id } });
    const next = await aSamlUser(idp.services, { username: 'recycled' });
    expect(nameIdIn(await assertion(httpClient(idp.issuer), sp, next))[1]).not.toBe(before);
    expect(await idp.services.db.samlNameId.count({ where: { value: before } })).toBe(1);
  });

  it('lasts as long as the session when transient', async () => {
    const sp = await aLiveSp(idp, { name_id_format: 'transient' });
    const browser = httpClient(idp.issuer);
    const [attributes, first] = nameIdIn(await assertion(browser, sp, ann));
    expect(attributes).toContain('nameid-format:transient');
    expect(nameIdIn(await assertion(browser, sp, ann))[1]).toBe(first);
    expect(nameIdIn(await assertion(httpClient(idp.issuer), sp, ann))[1]).not.toBe(first);
  });

  it('is the verified address or the username where the application is configured so', async () => {
    const mails = await aLiveSp(idp, { name_id_format: 'emailAddress' });
    expect(nameIdIn(await assertion(httpClient(idp.issuer), mails, ann))[1]).toBe(ann.account.email);
    const names = await aLiveSp(idp, { name_id_format: 'unspecified' });
    const browser = httpClient(idp.issuer);
    expect(nameIdIn(await assertion(browser, names, ann))[1]).toBe(ann.username);
    expect(nameIdIn(await assertion(browser, names, ann, policy('1.1:nameid-format:unspecified')))[1]).toBe(
      ann.username,
    );
  });

  it('is a field of the user where the application has to know it in advance', async () => {
    const format = 'persistent';
    for (const [name_id_field, value] of [
      ['sub', ann.account.id],
      ['username', ann.username],
      ['email', ann.account.email],
    ] as const) {
      const sp = await aLiveSp(idp, { name_id_format: format, name_id_field, require_allow_create: true });
      const [attributes, nameId] = nameIdIn(await assertion(httpClient(idp.issuer), sp, ann));
      expect([attributes, nameId]).toEqual([expect.stringContaining('nameid-format:persistent'), value]);
      expect(await idp.services.db.samlNameId.count({ where: { value: value ?? '' } })).toBe(0);
    }
    const unproven = await aSamlUser(idp.services, { emailVerified: false });
    const sp = await aLiveSp(idp, { name_id_format: format, name_id_field: 'email' });
    expect(await assertion(httpClient(idp.issuer), sp, unproven)).toContain('status:InvalidNameIDPolicy');
  });
});

describe('a format with the other version number', () => {
  it.each([
    ['2.0:nameid-format:emailAddress', '1.1:nameid-format:emailAddress'],
    ['1.1:nameid-format:persistent', '2.0:nameid-format:persistent'],
    ['1.1:nameid-format:transient', '2.0:nameid-format:transient'],
  ])('is an alias: %s', async (requested, received) => {
    const sp = await aLiveSp(idp);
    const [attributes] = nameIdIn(await assertion(httpClient(idp.issuer), sp, ann, policy(requested)));
    expect(attributes).toContain(`Format="urn:oasis:names:tc:SAML:${received}"`);
  });
});

describe('attributes', () => {
  it('have the names, formats and friendly names that receivers expect, and all values of the roles', async () => {
    for (const name of ['editor', 'author'])
      await idp.services.roles.create({ name, description: '', permissions: [] });
    const who = await aSamlUser(idp.services, { name: `Zoë "<&>'\u{1f600} ]]>` });
    for (const name of ['editor', 'author']) await idp.services.roles.assign(who.account.id, name);
    const attributes = { 'urn:oid:0.9.2342.19200300.100.1.3': 'email', displayName: 'name', role: 'roles' };
    const sp = await aServiceProvider(idp.services, { settings: { attributes } });
    const browser = httpClient(idp.issuer);
    const page = await browser.follow(await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {})));
    const profile = await sp.accept((await who.withPassword(browser, page)).forms[0]?.fields ?? {});
    expect(profile).toMatchObject({
      'urn:oid:0.9.2342.19200300.100.1.3': who.account.email,
      displayName: who.account.name,
      role: ['author', 'editor'],
    });
    const xml = profile.getAssertionXml?.() ?? '';
    expect(xml).toContain('FriendlyName="mail"');
    expect(xml).toContain('NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri"');
    expect(xml).toContain('NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic"');
  });
});

describe('the other parameters of a request', () => {
  const html = `<script>alert(1)</script>"'&amp;`;
  it.each([
    ['%'],
    ['a=b&c=d'],
    [html],
    ['ünïcødé 😀'],
    [' leading and trailing '],
    [''],
    ['x'.repeat(2048)],
    ['\t%00%0a'],
  ])('return the RelayState %j unchanged, by both bindings', async (relayState) => {
    const sp = await aLiveSp(idp);
    const browser = httpClient(idp.issuer);
    await assertion(browser, sp, ann);
    const byRedirect = await browser.follow(await redirect(browser, sp.request(), { relayState }));
    const byPost = await browser.follow(await post(browser, sp.request(), relayState));
    for (const page of [byRedirect, byPost]) {
      expect(page.forms[0]?.fields.RelayState).toBe(relayState);
      expect(page.text).not.toContain('<script>alert');
    }
  });

  it('return no RelayState when there was none', async () => {
    const sp = await aLiveSp(idp);
    const browser = httpClient(idp.issuer);
    await assertion(browser, sp, ann);
    const page = await browser.follow(await redirect(browser, sp.request()));
    expect(Object.keys(page.forms[0]?.fields ?? {})).toEqual(['SAMLResponse']);
  });

  it('use a Subject as a hint for the sign-in page only, and ignore Scoping', async () => {
    const sp = await aLiveSp(idp);
    const browser = httpClient(idp.issuer);
    const hinted = `<saml:Subject><saml:NameID>${bob.username}</saml:NameID></saml:Subject>`;
    const scoping = '<samlp:Scoping ProxyCount="0"><samlp:RequesterID>urn:x</samlp:RequesterID></samlp:Scoping>';
    const page = await browser.follow(await redirect(browser, sp.request({ body: hinted + scoping })));
    expect(page.forms[0]?.fields.username).toBe(bob.username);
    expect(answerIn(await ann.withPassword(browser, page))).toContain('<saml:Assertion');
    const evil = '<saml:Subject><saml:NameID>"&gt;&lt;script&gt;alert(1)&lt;/script&gt;</saml:NameID></saml:Subject>';
    const signInPage = await httpClient(idp.issuer).follow(
      await redirect(httpClient(idp.issuer), sp.request({ body: evil })),
    );
    expect(signInPage.text).not.toContain('<script>alert');
  });
});
