// Which identifier and which facts about the person an application gets, and that they come through as they are.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aLiveSp, answerIn, type LiveSp, post, redirect } from '../saml/live.ts';
import { aPerson, type Person } from '../saml/people.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { aServiceProvider } from '../support/sp.ts';

let idp: TestIdp;
let ann: Person;
let bob: Person;

beforeAll(async () => {
  idp = await startIdp();
  ann = await aPerson(idp.services, { name: 'Ann', roles: [] } as never);
  bob = await aPerson(idp.services);
});
afterAll(() => idp?.stop());

/** The assertion that this browser gets of this service provider; signs in when asked. */
async function assertion(browser: HttpClient, sp: LiveSp, who: Person, body = ''): Promise<string> {
  const page = await browser.follow(await redirect(browser, sp.request({ body })));
  const answer = page.text.includes('name="username"') ? await who.withPassword(browser, page) : page;
  return answerIn(answer) ?? '';
}
const nameIdIn = (xml: string) => /<saml:NameID([^>]*)>([^<]+)</.exec(xml)?.slice(1) ?? [];
const policy = (format: string) => `<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:${format}"/>`;

describe('the identifier', () => {
  it('persistent is opaque, the same each time, and another for each person and application', async () => {
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

  it('persistent is made once by many sign-ins at the same moment', async () => {
    const sp = await aLiveSp(idp);
    const browsers = Array.from({ length: 6 }, () => httpClient(idp.issuer));
    const other = await aLiveSp(idp);
    await Promise.all(browsers.map((browser) => assertion(browser, other, ann)));
    const answers = await Promise.all(browsers.map((browser) => assertion(browser, sp, ann)));
    expect(new Set(answers.map((xml) => nameIdIn(xml)[1])).size).toBe(1);
  });

  it('persistent is never given to somebody else, not even when the person is gone', async () => {
    const sp = await aLiveSp(idp);
    const gone = await aPerson(idp.services, { username: 'recycled' });
    const [, before] = nameIdIn(await assertion(httpClient(idp.issuer), sp, gone));
    await idp.services.db.user.delete({ where: { id: gone.account.id } });
    const next = await aPerson(idp.services, { username: 'recycled' });
    expect(nameIdIn(await assertion(httpClient(idp.issuer), sp, next))[1]).not.toBe(before);
    expect(await idp.services.db.samlNameId.count({ where: { value: before } })).toBe(1);
  });

  it('transient lives as long as the session, and no longer', async () => {
    const sp = await aLiveSp(idp, { name_id_format: 'transient' });
    const browser = httpClient(idp.issuer);
    const [attributes, first] = nameIdIn(await assertion(browser, sp, ann));
    expect(attributes).toContain('nameid-format:transient');
    expect(nameIdIn(await assertion(browser, sp, ann))[1]).toBe(first);
    expect(nameIdIn(await assertion(httpClient(idp.issuer), sp, ann))[1]).not.toBe(first);
  });

  it('is the verified address, or the user name, where the application is set up so', async () => {
    const mails = await aLiveSp(idp, { name_id_format: 'emailAddress' });
    expect(nameIdIn(await assertion(httpClient(idp.issuer), mails, ann))[1]).toBe(ann.account.email);
    const names = await aLiveSp(idp, { name_id_format: 'unspecified' });
    const browser = httpClient(idp.issuer);
    expect(nameIdIn(await assertion(browser, names, ann))[1]).toBe(ann.username);
    expect(nameIdIn(await assertion(browser, names, ann, policy('1.1:nameid-format:unspecified')))[1]).toBe(
      ann.username,
    );
  });
});

describe('attributes', () => {
  it('have the names, formats and friendly names that receivers expect, and all values of the roles', async () => {
    for (const name of ['editor', 'author'])
      await idp.services.roles.create({ name, description: '', permissions: [] });
    const who = await aPerson(idp.services, { name: `Zoë "<&>'\u{1f600} ]]>` });
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

describe('what the request says beside', () => {
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
  ])('RelayState %j comes back as it was, by both bindings', async (relayState) => {
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

  it('no RelayState stays none', async () => {
    const sp = await aLiveSp(idp);
    const browser = httpClient(idp.issuer);
    await assertion(browser, sp, ann);
    const page = await browser.follow(await redirect(browser, sp.request()));
    expect(Object.keys(page.forms[0]?.fields ?? {})).toEqual(['SAMLResponse']);
  });

  it('a Subject is a hint for the sign-in page and proves nothing; Scoping is ignored', async () => {
    const sp = await aLiveSp(idp);
    const browser = httpClient(idp.issuer);
    const hinted = `<saml:Subject><saml:NameID>${bob.username}</saml:NameID></saml:Subject>`;
    const scoping = '<samlp:Scoping ProxyCount="0"><samlp:RequesterID>urn:x</samlp:RequesterID></samlp:Scoping>';
    const page = await browser.follow(await redirect(browser, sp.request({ body: hinted + scoping })));
    expect(page.forms[0]?.fields.username).toBe(bob.username);
    expect(answerIn(await ann.withPassword(browser, page))).toContain('<saml:Assertion');
    const evil = '<saml:Subject><saml:NameID>"&gt;&lt;script&gt;alert(1)&lt;/script&gt;</saml:NameID></saml:Subject>';
    const shown = await httpClient(idp.issuer).follow(
      await redirect(httpClient(idp.issuer), sp.request({ body: evil })),
    );
    expect(shown.text).not.toContain('<script>alert');
  });
});
